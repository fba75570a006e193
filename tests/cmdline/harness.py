# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the command on a fake kernel and checks tables of expectations.

A row is (exit status, arguments, stdout, stderr); stdout and stderr are a text
that must be there, a list of such texts, or None for "must be empty". A text
that starts with "!" must not be there.
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM = None

# Four CPUs on two cores, a server with two threads, somebody else's process.
MACHINE = """
task pid=100 tid=100 comm=server start=1000000
task pid=100 tid=101 comm=worker start=1000001
task pid=200 tid=200 comm=shell start=2000000
task pid=300 tid=300 comm=other start=3000000 denied=1
"""


class Result:
    """What one run of the command gave."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return (f'exit {self.status}\n--- stdout\n{self.out}'
                f'--- stderr\n{self.err}---')


class CommandTest(unittest.TestCase):
    """A test with a folder of its own and a fake kernel."""

    maxDiff = None
    scenario = MACHINE

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='prefetch-cmdline-')
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.saved = ''

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path

    def environment(self, extra):
        env = dict(os.environ)
        for name in ('NO_COLOR', 'PREFETCH_TEST_ROOT', 'PREFETCH_FAKE_SAVE'):
            env.pop(name, None)
        env['LC_ALL'] = 'C.UTF-8'
        env['PREFETCH_FAKE'] = self.path('scenario')
        env['PREFETCH_FAKE_SAVE'] = self.path('saved')
        env.update(extra or {})
        return env

    def run_command(self, arguments, scenario=None, stdin='', env=None,
                    keep=False):
        """Run with a scenario; keep=True: with what the last run left."""
        if isinstance(arguments, str):
            arguments = shlex.split(arguments)
        text = self.scenario if scenario is None else scenario
        if keep:
            text += self.saved
        self.write('scenario', text)
        done = subprocess.run([PROGRAM] + arguments, input=stdin,
                              capture_output=True, encoding='utf-8',
                              env=self.environment(env), timeout=60,
                              check=False)
        self.saved = ''
        if os.path.exists(self.path('saved')):
            with open(self.path('saved'), encoding='utf-8') as file:
                self.saved = file.read()
        result = Result(done.returncode, done.stdout, done.stderr)
        for word in ('Sanitizer', 'runtime error', 'Aborted'):
            self.assertNotIn(word, done.stderr, str(result))
        return result

    def check_text(self, where, text, expected, result):
        if expected is None:
            self.assertEqual(text, '', f'{where} is not empty\n{result}')
            return
        if isinstance(expected, str):
            expected = [expected]
        for part in expected:
            if part.startswith('!'):
                self.assertNotIn(part[1:], text, f'{where}\n{result}')
            else:
                self.assertIn(part, text, f'{where}\n{result}')

    def check_row(self, row, scenario=None, **more):
        status, arguments, out, err = row
        with self.subTest(arguments=arguments):
            result = self.run_command(arguments, scenario, **more)
            self.assertEqual(result.status, status, str(result))
            self.check_text('stdout', result.out, out, result)
            self.check_text('stderr', result.err, err, result)
            if status not in (0, 6) and err is not None:
                # Each error once.
                self.assertEqual(result.err.count('prefetchctl: '), 1,
                                 str(result))
            return result

    def check_table(self, rows, scenario=None):
        for row in rows:
            self.check_row(row, scenario)


def main():
    global PROGRAM
    if len(sys.argv) < 2:
        sys.exit(f'usage: {sys.argv[0]} PROGRAM [unittest options]')
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main(module='__main__', verbosity=1)
