#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The library's examples on a fake kernel: test_examples.py BUILD_FOLDER"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

FOLDER = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else None

MACHINE = """
task pid=100 tid=100 comm=server start=1000000
task pid=200 tid=200 comm=other start=2000000
"""
RUNNING = MACHINE + """
cpu id=0 domain=0 pid=100 tid=100
cpu id=1 domain=1
"""
CHANGE = ("play core domain=1 old=0 new=l1_ip cause=switch cpu=1 pid=100 "
          "tid=100 comm=server time=5 folded=1\n")


class Examples(unittest.TestCase):
    """Each does what it is there to show."""

    def run_example(self, name, arguments, scenario):
        with tempfile.NamedTemporaryFile('w', encoding='utf-8') as file:
            file.write(scenario)
            file.flush()
            return subprocess.run(
                [FOLDER / f'fake-{name}', *arguments.split()], text=True,
                env=dict(os.environ, PREFETCH_FAKE=file.name), timeout=60,
                check=False, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def expect(self, done, status, out, err=''):
        self.assertEqual((done.returncode, done.stdout), (status, out),
                         done.stderr)
        self.assertIn(err, done.stderr)

    def test_set_and_verify(self):
        self.expect(self.run_example('set-and-verify', '100 l1_ip dcu',
                                     RUNNING),
                    0, 'pid 100 runs on 1 cores, 0 of them wrong\n')
        # Somebody else has written the register.
        self.expect(self.run_example('set-and-verify', '100 l1_ip',
                                     RUNNING + 'domain id=0 foreign=0\n'
                                     'domain id=1\n'),
                    1, 'pid 100 runs on 1 cores, 1 of them wrong\n')
        self.expect(self.run_example('set-and-verify', '100 banana', RUNNING),
                    2, '', 'unknown prefetcher banana')
        self.expect(self.run_example('set-and-verify', '999999999 l1_ip',
                                     RUNNING), 1, '', 'set: ')

    def test_follow_cores(self):
        self.expect(self.run_example('follow-cores', '1', MACHINE + CHANGE),
                    0, 'core 0: off are none\ncore 1: off are none\n'
                    'core 1: off are l1_ip\n')
        state = 'core 0: off are none\ncore 1: off are none\n'
        changed = 'core 1: off are l1_ip\n'
        done = self.run_example('follow-cores', '2', MACHINE +
                                'play overflow count=7\n' + CHANGE * 2)
        self.expect(done, 0, state + 'lost 7 changes\n' + changed * 2)
        done = self.run_example('follow-cores', '1', MACHINE +
                                'play unload\nplay load\n' + CHANGE)
        self.expect(done, 0, state + 'the module was unloaded\n' + state +
                    'core 1: off are l1_ip\n')
        self.expect(self.run_example('follow-cores', '',
                                     'module loaded=0\n'), 1, '', 'not loaded')

    def test_agent(self):
        end = ('play setting pid=100 tid=0 off=8 change=exited\n'
               'play setting pid=200 tid=0 off=1 change=exited\n')
        done = self.run_example('agent', '100=l1_ip 200=l2_stream',
                                MACHINE + 'play unload\nplay load\n' + end)
        both = 'pid 100 is set\npid 200 is set\n'
        self.expect(done, 0, both + 'the module is not loaded; waiting\n' +
                    both)
        done = self.run_example('agent', '100=l1_ip 200=l2_stream',
                                MACHINE + 'module loaded=0\nplay load\n' + end)
        self.expect(done, 0, 'the module is not loaded; waiting\n' + both)
        done = self.run_example('agent', '999999999=l1_ip', MACHINE)
        self.assertEqual(done.returncode, 0)
        self.assertIn('no such', done.stdout)
        self.expect(self.run_example('agent', '1=banana', MACHINE), 2, '',
                    'not PID=NAME')


if __name__ == '__main__':
    unittest.main()
