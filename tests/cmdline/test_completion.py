#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Shell completion: bash's is run, of the others the syntax is checked."""
import os
import shutil
import subprocess

import harness
from harness import MACHINE, CommandTest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                      '..', '..', 'prefetchctl', 'completion')

# bash hands the words split at "=", as COMP_WORDBREAKS says.
DRIVER = """
source "$1"
shift
COMP_LINE=$1 COMP_POINT=${#1}
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
compopt() { :; }
_prefetchctl
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(CommandTest):
    """The command in PATH is the one on the fake kernel."""

    def complete(self, line, words, scenario=MACHINE):
        self.write('scenario', scenario)
        link = self.path('bin/prefetchctl')
        if not os.path.exists(link):
            os.makedirs(self.path('bin'))
            os.symlink(harness.PROGRAM, link)
        env = self.environment({
            'PATH': self.path('bin') + ':' + os.environ['PATH']})
        done = subprocess.run(
            ['bash', '-c', DRIVER, 'bash',
             os.path.join(FOLDER, 'prefetchctl.bash'), line] + words,
            capture_output=True, encoding='utf-8', env=env, timeout=60,
            check=True)
        self.assertEqual(done.stderr, '')
        return done.stdout.split()

    def test_commands(self):
        offered = self.complete('prefetchctl ', ['prefetchctl', ''])
        for word in ('set', 'get', 'clear', 'list', 'cores', 'repair',
                     'info', 'run', 'batch', 'exec', 'disable', 'enable',
                     'version', 'help', '--json'):
            self.assertIn(word, offered)
        self.assertNotIn('prefetchctl', offered)
        self.assertEqual(self.complete('prefetchctl co',
                                       ['prefetchctl', 'co']), ['cores'])

    def test_names_of_this_machine(self):
        offered = self.complete('prefetchctl set l',
                                ['prefetchctl', 'set', 'l'])
        self.assertEqual(sorted(offered), [
            'l1=', 'l1_ip=', 'l1_stream=', 'l2=', 'l2_adjacent=',
            'l2_stream='])
        offered = self.complete('prefetchctl disable ',
                                ['prefetchctl', 'disable', ''])
        self.assertIn('l1_ip', offered)
        self.assertNotIn('amp', offered)

    def test_all_names_without_module(self):
        offered = self.complete('prefetchctl set a',
                                ['prefetchctl', 'set', 'a'],
                                'module loaded=0\n')
        self.assertEqual(sorted(offered), ['all=', 'amp=', 'aop='])

    def test_states(self):
        for line, words in (
                ('prefetchctl set l1_ip=o', ['l1_ip', '=', 'o']),
                ('prefetchctl run l1_ip=o', ['l1_ip', '=', 'o'])):
            self.assertEqual(
                self.complete(line, line.split()[:2] + words), ['off', 'on'])
        self.assertEqual(
            self.complete('prefetchctl set inherit=',
                          ['prefetchctl', 'set', 'inherit', '=']),
            ['on', 'off'])

    def test_pids(self):
        offered = self.complete('prefetchctl set pid=',
                                ['prefetchctl', 'set', 'pid', '='])
        self.assertIn(str(os.getpid()), offered)
        offered = self.complete('prefetchctl clear pid=',
                                ['prefetchctl', 'clear', 'pid', '='],
                                MACHINE + 'setting pid=100 off=1\n')
        self.assertEqual(offered, ['100'])

    def test_command_of_run_is_left_alone(self):
        self.assertEqual(
            self.complete('prefetchctl -- l',
                          ['prefetchctl', '--', 'l']), [])

    def test_zsh_syntax(self):
        self.syntax('zsh', '_prefetchctl')

    def test_fish_syntax(self):
        self.syntax('fish', 'prefetchctl.fish')

    def syntax(self, shell, name):
        if not shutil.which(shell):
            self.skipTest(f'{shell} is not installed')
        done = subprocess.run([shell, '-n', os.path.join(FOLDER, name)],
                              capture_output=True, encoding='utf-8',
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ''))


if __name__ == '__main__':
    harness.main()
