#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tree=: a process and all its descendants, on real processes."""
import os
import signal
import subprocess

import harness
from harness import CommandTest

# Three generations; says a word when all are there.
FAMILY = """
sh -c 'sh -c "sleep 600 & sleep 600 & echo ready; wait" & sleep 600 & wait' &
wait
"""


class Tree(CommandTest):
    """The fake kernel takes real processes as they are in /proc."""

    scenario = ''

    def family(self):
        """A shell with descendants, in a session of its own."""
        process = subprocess.Popen(['sh', '-c', FAMILY],
                                   stdout=subprocess.PIPE, encoding='utf-8',
                                   start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdout.close)
        self.addCleanup(os.killpg, process.pid, signal.SIGKILL)
        self.assertEqual(process.stdout.readline(), 'ready\n')
        return process.pid

    def members(self, session):
        """All processes of the session."""
        found = []
        for name in os.listdir('/proc'):
            if not name.isdigit():
                continue
            try:
                if os.getsid(int(name)) == session:
                    found.append(int(name))
            except ProcessLookupError:
                pass
        return sorted(found)

    def test_all_are_set(self):
        root = self.family()
        members = self.members(root)
        self.assertGreaterEqual(len(members), 6)
        result = self.run_command(f'set tree={root} l2_stream=off --json')
        self.assertEqual(result.status, 0, str(result))
        settings = result.json()['settings']
        self.assertEqual(sorted(s['pid'] for s in settings), members)
        for setting in settings:
            self.assertEqual((setting['off'], setting['inherit']), (1, True))

    def test_nobody_else_is_set(self):
        root, other = self.family(), self.family()
        self.run_command(f'set tree={root} l2_stream=off')
        listed = self.run_command('list --json', keep=True).json()
        pids = {s['pid'] for s in listed['settings']}
        self.assertFalse(pids & set(self.members(other)))
        self.assertNotIn(os.getpid(), pids)

    def test_twice(self):
        """What is covered already is left alone, but for the root."""
        root = self.family()
        self.run_command(f'set tree={root} l2_stream=off')
        result = self.run_command(f'set tree={root} l2_stream=off --json',
                                  keep=True)
        self.assertEqual([s['pid'] for s in result.json()['settings']],
                         [root])

    def test_clear(self):
        root = self.family()
        self.run_command(f'set tree={root} l2_stream=off')
        result = self.run_command(f'clear tree={root}', keep=True)
        self.assertEqual(result.status, 0, str(result))
        listed = self.run_command('list --json', keep=True).json()
        self.assertEqual(listed['settings'], [])

    def test_take_back(self):
        root = self.family()
        self.run_command(f'set tree={root} l2_stream=off l1_ip=off')
        result = self.run_command(f'set tree={root} all=default', keep=True)
        self.assertEqual(result.status, 0, str(result))
        listed = self.run_command('list --json', keep=True).json()
        self.assertEqual(listed['settings'], [])

    def proc(self, processes):
        """A made-up /proc of (pid, parent, start); names are nasty."""
        for pid, parent, start in processes:
            fields = [str(pid), '(a) S 1 (b)', 'S', str(parent)]
            fields += ['0'] * 17 + [str(start), '0', '0']
            self.write(f'root/proc/{pid}/stat', ' '.join(fields) + '\n')
        return {'PREFETCH_TEST_ROOT': self.path('root')}

    def tasks(self, pids, more=''):
        return ''.join(f'task pid={pid} tid={pid} comm=t{pid} start={pid}000 '
                       f'{more}\n' for pid in pids)

    def test_any_order_of_pids(self):
        """A parent may have a higher pid than its child."""
        env = self.proc([(5000, 1, 9), (300, 5000, 9), (7000, 300, 9),
                         (200, 7000, 9), (400, 1, 9)])
        result = self.run_command('set tree=5000 l1_ip=off --json',
                                  self.tasks([5000, 300, 7000, 200, 400]),
                                  env=env)
        self.assertEqual([s['pid'] for s in result.json()['settings']],
                         [5000, 200, 300, 7000])

    def test_refused_child(self):
        """One that is refused is told once; the others are set."""
        env = self.proc([(10, 1, 9), (11, 10, 9), (12, 11, 9)])
        scenario = (self.tasks([10, 12]) + self.tasks([11], 'denied=1') +
                    'caller privileged=0\n')
        result = self.run_command('set tree=10 l1_ip=off --json', scenario,
                                  env=env)
        self.assertEqual(result.status, 6, str(result))
        self.assertEqual([s['pid'] for s in result.json()['settings']],
                         [10, 12])
        self.assertEqual(result.err.count('pid 11: '), 1, result.err)

    def test_child_that_is_gone(self):
        """It is in /proc no more when the kernel is asked: no error."""
        env = self.proc([(10, 1, 9), (999999999, 10, 9)])
        result = self.run_command('set tree=10 l1_ip=off --json',
                                  self.tasks([10]), env=env)
        self.assertEqual(result.status, 0, str(result))
        self.assertEqual([s['pid'] for s in result.json()['settings']], [10])

    def test_reused_pid(self):
        """Between the two looks at /proc somebody else got the pid."""
        env = self.proc([(10, 1, 9), (11, 10, 9)])
        stat = self.path('root/proc/11/stat')
        os.remove(stat)
        os.mkfifo(stat)
        writer = subprocess.Popen(
            ['sh', '-c', f'echo "11 (x) S 10 {"0 " * 17}9 0" > {stat}; sleep 0.3; '
             f'echo "11 (y) S 1 {"0 " * 17}77 0" > {stat}'])
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        result = self.run_command(
            'set tree=10 l1_ip=off --json', self.tasks([10, 11]), env=env)
        self.assertEqual(result.status, 0, str(result))
        self.assertEqual([s['pid'] for s in result.json()['settings']], [10])

    def test_no_proc(self):
        env = {'PREFETCH_TEST_ROOT': self.path('nothing')}
        result = self.run_command('set tree=10 l1_ip=off', self.tasks([10]),
                                  env=env)
        self.assertEqual(result.status, 6, str(result))
        self.assertIn('cannot read /proc', result.err)


if __name__ == '__main__':
    harness.main()
