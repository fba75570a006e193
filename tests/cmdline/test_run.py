#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run and exec: the setting first, then the command."""
import os
import signal

import harness
from harness import CommandTest


class Run(CommandTest):
    """The setting is on the process that becomes the command."""

    scenario = ''

    def pid_of(self, result):
        """The command was `sh -c 'echo $$'`."""
        return int(result.out.split()[0])

    def saved_setting(self):
        for line in self.saved.splitlines():
            if line.startswith('setting '):
                return dict(word.split('=', 1) for word in line.split()[1:])
        self.fail(f'no setting was left: {self.saved!r}')
        return None

    def test_default_is_no_opinion(self):
        """It changes nothing for a command that has no setting yet."""
        for words in (['run', 'l2=default'], ['run'], ['run', 'inherit=on']):
            result = self.run_command([*words, '--', 'true'])
            self.assertEqual(result.status, 2, str(result))
            self.assertIn("NAME=off", result.err)

    def test_run_inherits(self):
        result = self.run_command(
            ['run', 'l2_stream=off', '--', 'sh', '-c', 'echo $$'])
        self.assertEqual((result.status, result.err), (0, ''), str(result))
        setting = self.saved_setting()
        self.assertEqual(int(setting['pid']), self.pid_of(result))
        self.assertEqual(setting['inherit'], '1')
        self.assertEqual(int(setting['off'], 0), 1)

    def test_run_without_inherit(self):
        self.run_command(['run', 'l2_stream=off', 'inherit=off', '--',
                          'true'])
        self.assertEqual(self.saved_setting()['inherit'], '0')

    def test_exec_never_inherits(self):
        result = self.run_command(['exec', 'l2_stream,l1_ip', '--', 'sh',
                                   '-c', 'echo $$'])
        self.assertEqual((result.status, result.err), (0, ''), str(result))
        setting = self.saved_setting()
        self.assertEqual(int(setting['off'], 0), 9)
        self.assertEqual(setting['inherit'], '0')
        self.assertEqual(int(setting['pid']), self.pid_of(result))

    def test_status_of_command(self):
        for status in (0, 1, 5, 42, 126, 127, 255):
            for start in (['run', 'l1=off'], ['exec', 'l1']):
                result = self.run_command(
                    start + ['--', 'sh', '-c', f'exit {status}'])
                self.assertEqual(result.status, status, str(result))
                self.assertEqual(result.err, '')

    def test_signal_of_command(self):
        result = self.run_command(['run', 'l1=off', '--', 'sh', '-c',
                                   'kill -TERM $$'])
        self.assertEqual(result.status, -signal.SIGTERM)

    def test_not_found(self):
        self.check_table([
            (127, 'run l1=off -- /no/such/command', None,
             "cannot run '/no/such/command': No such file"),
            (127, 'exec l1 -- no-such-command-at-all', None,
             "cannot run 'no-such-command-at-all'"),
        ])

    def test_not_executable(self):
        path = self.write('plain', 'text\n')
        self.check_table([
            (126, ['run', 'l1=off', '--', path], None, 'Permission denied'),
            (126, ['exec', 'l1', '--', self.folder], None,
             'Permission denied'),
        ])

    def test_arguments_are_kept(self):
        result = self.run_command(
            ['run', 'l1=off', '--', 'printf', '%s|', 'a b', '', '--', '-k',
             'l1=off', '--json'])
        self.assertEqual(result.out, 'a b||--|-k|l1=off|--json|')

    def test_standard_input_is_kept(self):
        result = self.run_command('run l1=off -- cat', stdin='hello\n')
        self.assertEqual(result.out, 'hello\n')

    def test_no_descriptor_is_left(self):
        result = self.run_command(['run', 'l1=off', '--', 'ls', '-l',
                                   '/proc/self/fd'])
        numbers = [line.split(' -> ')[0].split()[-1]
                   for line in result.out.splitlines() if ' -> ' in line]
        # 3 is the folder that ls itself reads.
        self.assertLessEqual({int(n) for n in numbers}, {0, 1, 2, 3},
                             result.out)

    def test_closed_descriptors_stay_closed(self):
        self.write('scenario', '')
        done = harness.subprocess.run(
            ['sh', '-c', 'exec "$0" run l1=off -- readlink /proc/self/fd/0 '
             '<&-', harness.PROGRAM], capture_output=True, encoding='utf-8',
            env=self.environment(None), timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ''))

    def test_refused_setting_runs_nothing(self):
        mark = self.path('mark')
        for scenario, status in (
                ('module loaded=0\n', 4),
                ('error cmd=setting-set errno=EPERM count=9 text=not you\n',
                 3),
                ('error cmd=setting-set errno=ENOSPC count=9 text=full\n',
                 1),
                ('machine supported=l2_stream\n', 4)):
            for start in (['run', 'l1=off'], ['exec', 'l1']):
                result = self.run_command(start + ['--', 'touch', mark],
                                          scenario)
                self.assertEqual(result.status, status, str(result))
                self.assertIn("'touch' was not run\n", result.err)
                self.assertFalse(os.path.exists(mark))


if __name__ == '__main__':
    harness.main()
