#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""One row for each case of the grammar; most end before any request."""
from random import Random

import harness
from harness import CommandTest

KNOWN = 'known: l2_stream, l2_adjacent, l1_stream, l1_ip'

GOOD = [
    (0, 'set pid=100 l2_stream=off', 'pid 100 (server): l2_stream=off', None),
    (0, 'set --pid 100 l2_stream=off', 'pid 100 (server)', None),
    (0, 'set --pid=100 l2_stream=off', 'pid 100 (server)', None),
    (0, 'set -p 100 l2_stream=off', 'pid 100 (server)', None),
    (0, 'set -p100 l2_stream=off', 'pid 100 (server)', None),
    (0, 'set l2_stream=off pid=100', 'pid 100 (server)', None),
    (0, 'set tid=101 l1_ip=off', 'tid 101 of pid 100 (worker): l1_ip=off',
     None),
    (0, 'set --tid 101 l1_ip=off', 'tid 101', None),
    (0, 'set -t 101 l1_ip=off', 'tid 101', None),
    (0, 'set pid=100,200 l2_stream=off', ['pid 100', 'pid 200'], None),
    (0, 'set pid=100 l2-stream=off', 'l2_stream=off', None),
    (0, 'set pid=100 L2_STREAM=off', 'l2_stream=off', None),
    (0, 'set pid=100 l2_stream=OFF', 'l2_stream=off', None),
    (0, 'set pid=100 l2_stream=On', 'l2_stream=on', None),
    (0, 'set pid=100 L2=Off l2_stream=Default', ': l2_adjacent=off', None),
    (0, 'set pid=100 --L2-Stream OFF', 'l2_stream=off', None),
    (0, 'set PID=100 l1_ip=off', 'pid 100 (server): l1_ip=off', None),
    (0, 'set --Pid 100 l1_ip=off', 'pid 100 (server): l1_ip=off', None),
    (0, 'set Tid=101 l1_ip=off', 'tid 101', None),
    (0, 'set Tree=100 l1_ip=off', 'pid 100 (server)', None),
    (0, 'set pid=100 l1_ip=off Inherit=ON', 'inherit=on', None),
    (0, 'set pid=100 l1_ip=off inherit=Off', 'inherit=off', None),
    (0, 'set pid=100 l1_ip=off Start_Time=1000000', 'l1_ip=off', None),
    (0, 'set Default l2_stream=off', 'machine default: l2_stream=off', None),
    (0, 'clear All', 'no settings', None),
    (0, 'disable L2_Stream,L1 100', 'l2_stream=off', None),
    (0, 'info L1-IP', ['l1_ip', '!l2_stream'], None),
    (0, 'set pid=100 --l2-stream off', 'l2_stream=off', None),
    (0, 'set pid=100 --l2_stream=off', 'l2_stream=off', None),
    (0, 'set pid=100 dcu=off', 'l1_stream=off', None),
    (0, 'set pid=100 dcu-ip=on', 'l1_ip=on', None),
    (0, 'set pid=100 mlc_streamer=off', 'l2_stream=off', None),
    (0, ['set', 'pid=100', 'Hardware Prefetcher=off'], 'l2_stream=off', None),
    (0, ['set', 'pid=100', 'Adjacent Cache Line Prefetch=off'],
     'l2_adjacent=off', None),
    (0, 'set pid=100 l1=off', 'l1_stream=off l1_ip=off', None),
    (0, 'set pid=100 l2=off', 'l2_stream=off l2_adjacent=off', None),
    (0, 'set pid=100 all=off',
     'l2_stream=off l2_adjacent=off l1_stream=off l1_ip=off', None),
    (0, 'set pid=100 l1=off l1_ip=on', 'l1_stream=off l1_ip=on', None),
    (0, 'set pid=100 l1_ip=on l1=off', 'l1_stream=off l1_ip=off', None),
    (0, 'set pid=100 all=off l2=default', 'l1_stream=off l1_ip=off',
     None),
    (0, 'set pid=100 l1_ip=off inherit=on', 'inherit=on', None),
    (0, 'set pid=100 l1_ip=off inherit=off', 'inherit=off', None),
    (0, 'set pid=100 l1_ip=off --inherit on', 'inherit=on', None),
    (0, 'set pid=100 l1_ip=off start-time=1000000', 'l1_ip=off', None),
    (0, 'set pid=100 l1_ip=off start_time=1000000', 'l1_ip=off', None),
    (0, 'set default l2_stream=off', 'machine default: l2_stream=off', None),
    (0, 'get pid=100', 'pid 100 (server): no setting', None),
    (0, 'get -p 100 -j', '"schema": 1', None),
    (0, 'get default', 'machine default: as the firmware left it', None),
    (0, 'clear pid=100', 'pid 100 (server): no setting', None),
    (0, 'clear all', 'no settings', None),
    (0, 'clear default', 'machine default: as the firmware left it', None),
    (0, 'list', 'no settings', None),
    (0, 'cores', ['CORE', '0,1', '2,3'], None),
    (0, 'cores --verify', 'the registers of 2 cores hold what was programmed', None),
    (0, 'cores -v', 'the registers of 2 cores hold what was programmed', None),
    (0, 'repair', 'nothing differed', None),
    (0, 'info', ['backend: msr', 'l2_stream', '0x1a4 bit 0'], None),
    (0, 'info l1_ip', ['l1_ip', '!l2_stream'], None),
    (0, 'info llc', ['Not on this machine', 'llc_page'], None),
    (0, 'disable l2_stream 100', 'l2_stream=off inherit=off', None),
    (0, 'disable l2_stream,l1 100,200', ['pid 200', 'l1_ip=off'], None),
    (0, 'disable l2_stream pid=100', 'l2_stream=off', None),
    (0, 'disable all 100', 'l1_ip=off', None),
    (0, 'enable l2_stream 100', 'l2_stream=on', None),
    (0, 'version', ['prefetchctl ', 'library ', 'module '], None),
    (0, '--version', 'prefetchctl ', None),
    (0, '-V', 'prefetchctl ', None),
    (0, '--json version', '"module"', None),
    (0, 'help', 'Usage: prefetchctl', None),
    (0, '--help', 'Usage: prefetchctl', None),
    (0, '-h', 'Usage: prefetchctl', None),
    (0, 'help set', 'Usage: prefetchctl set', None),
    (0, 'help names', ['l2_stream', 'l2_updown', 'llc'], None),
    (0, 'set --help', 'Usage: prefetchctl set', None),
    (0, 'set pid=100 -h', 'Usage: prefetchctl set', None),
    (0, '-j list', '"settings": []', None),
    (0, 'list --json', '"settings": []', None),
]

BAD = [
    ('', 'no command given'),
    ('frobnicate', ["unknown command 'frobnicate'", 'known: set, get, clear']),
    ('--frob list', "unknown option '--frob'"),
    ('help frob', "unknown command 'frob'"),
    ('set', 'no target given; allowed: pid=PID, tid=TID, tree=PID, self, '
     'default'),
    ('set l2_stream=off', 'no target given'),
    ('set pid=100', 'nothing to set'),
    ('set pid=100 tid=101 l1=off', "there is a target already: 'pid=100'"),
    ('set pid=100 self l1=off', 'there is a target already'),
    ('set pid=100 default l1=off', 'there is a target already'),
    ('set all l1=off', "'all': not a target of this command"),
    ('set pid=0 l1=off', ["'0' is not a process id", 'pid=0']),
    ('set pid= l1=off', "'' is not a process id"),
    ('set pid=abc l1=off', "'abc' is not a process id"),
    ('set pid=12x l1=off', "'12x' is not a process id"),
    ('set pid=-5 l1=off', "'-5' is not a process id"),
    ('set pid=+5 l1=off', "'+5' is not a process id"),
    ('set pid=0x10 l1=off', "'0x10' is not a process id"),
    ('set pid=2147483648 l1=off', "'2147483648' is not a process id"),
    ('set pid=99999999999999999999999 l1=off', 'is not a process id'),
    ('set pid=100,,200 l1=off', "'' is not a process id"),
    ('set pid=100, l1=off', "'' is not a process id"),
    ('set tid=x l1=off', "'x' is not a thread id"),
    ('set --pid', "'--pid' needs a value"),
    ('set -p', "'-p' needs a value"),
    ('set pid=100 l2_strem=off', ["unknown prefetcher 'l2_strem'", KNOWN,
                                  'l1, l2, llc, all']),
    ('set pid=100 =off', "unknown prefetcher ''"),
    ('set pid=100 l2_stream=of', ["'of' is not a state", 'off, on, default']),
    ('set pid=100 l2_stream=', "'' is not a state"),
    ('set pid=100 l2_stream=OF', ["'OF' is not a state", 'off, on, default']),
    ('SET pid=100 l1=off', "unknown command 'SET'"),
    ('list --JSON', "unknown option '--JSON'"),
    ('cores --Verify', "unknown option '--Verify'"),
    ('set pid=100 l2_stream', ["'l2_stream'", 'l2_stream=off']),
    ('set pid=100 banana', "unknown word 'banana'"),
    ('set pid=100 --l2_stream', "'--l2_stream' needs a value"),
    ('set pid=100 --frob 1', "unknown option '--frob'"),
    ('set pid=100 -x', "unknown option '-x'"),
    ('set pid=100 -kj l1=off', "unknown option '-kj'"),
    ('set pid=100 --json=1 l1=off', 'takes no value'),
    ('set pid=100 l1=off --verify', "'--verify': not an option of this"),
    ('set pid=100 l1=off inherit=yes', ["'yes' is not a state of inherit",
                                        'on, off']),
    ('set tid=101 l1=off inherit=on', 'inherit belongs to a process'),
    ('set tid=101 l1=off inherit=off', 'inherit belongs to a process'),
    ('set tree=100 l1=off inherit=off', 'inherit=off does not go with tree='),
    ('set default l1=off inherit=on', 'inherit does not go with default'),
    ('set pid=100 l1=off start-time=x', "'x' is not a start time"),
    ('set pid=100 l1=off start-time=0', "'0' is not a start time"),
    ('set pid=100,200 l1=off start-time=5', 'one pid or tid only'),
    ('set tree=100 l1=off start-time=5', 'one pid or tid only'),
    ('set pid=100 l1=off -- ls', "'--': this command runs no other"),
    ('get', 'no target given; allowed: pid=PID, tid=TID, self, default'),
    ('get all', "'all': not a target of this command"),
    ('get tree=1', "'tree=1': not a target of this command"),
    ('get pid=100 l1=off', "'l1=off': this command takes no prefetchers"),
    ('get pid=100 inherit=on', 'takes no inherit'),
    ('get pid=100 start-time=5', 'takes no start-time'),
    ('clear', 'no target given'),
    ('clear pid=100 all', 'there is a target already'),
    ('clear banana', "unknown word 'banana'"),
    ('list pid=100', "'pid=100': not a target of this command"),
    ('list banana', "unknown word 'banana'"),
    ('list --verify', "'--verify': not an option of this command"),
    ('cores banana', "unknown word 'banana'"),
    ('repair banana', "unknown word 'banana'"),
    ('info banana', ["unknown prefetcher 'banana'", KNOWN]),
    ('info l1 l2', "unknown word 'l2'"),
    ('run', 'nothing to set'),
    ('run -- true', 'nothing to set'),
    ('run inherit=on -- true', 'nothing to set'),
    ('run l1=off', 'no command given'),
    ('run l1=off --', 'no command given'),
    ('run l1=off true', "'true': put -- before the command"),
    ('run pid=100 l1=off -- true', "'pid=100': not a target"),
    ('run l2_strem=off -- true', "unknown prefetcher 'l2_strem'"),
    ('batch', 'no file given'),
    ('batch a b', "unknown word 'b'"),
    ('exec -- true', 'no prefetcher named'),
    ('exec banana -- true', "unknown prefetcher 'banana'"),
    ('exec l1', 'no command given'),
    ('exec l1 true', "'true': put -- before the command"),
    ('disable', 'no prefetcher named'),
    ('disable l2_stream', 'no process id given'),
    ('disable banana 100', "unknown prefetcher 'banana'"),
    ('disable l1,,l2 100', "unknown prefetcher ''"),
    ('disable l2_stream x', "'x' is not a process id"),
    ('disable l2_stream 100 200', "unknown word '200'"),
    ('enable l2_stream 100 inherit=on', 'takes no inherit'),
    ('version banana', "unknown word 'banana'"),
    ('x' * 100000, ["unknown command '" + 'x' * 60 + "'; known: set"]),
    ('--' + 'x' * 100000, "unknown option '--" + 'x' * 58 + "'; allowed"),
    ('help ' + 'x' * 100000, "unknown command '" + 'x' * 60 + "'; 'pre"),
    ('get ' + 'x' * 100000, "unknown word '" + 'x' * 60 + "'"),
    ('set pid=1 ' + 'x' * 99999 + '=off',
     ["unknown prefetcher '" + 'x' * 60 + "'; known:", KNOWN]),
]


class Grammar(CommandTest):
    """What is understood, and what is refused before any request."""

    def test_good(self):
        self.check_table(GOOD)

    def test_bad(self):
        for arguments, err in BAD:
            self.check_row((2, arguments, None, err))

    def test_bad_without_module(self):
        """Usage errors come first, whether or not the module is there."""
        for arguments, err in BAD:
            self.check_row((2, arguments, None, err),
                           'module loaded=0\n')

    def test_random_words(self):
        """Any words end with a documented status, and harm nothing."""
        random = Random(2)
        words = ['set', 'get', 'clear', 'list', 'cores', 'repair', 'info',
                 'disable', 'enable', 'version', 'help', 'pid=100', 'pid=',
                 'tid=101', '-p', '-t', '100', '1,2,3', '=', '==', '-', '--',
                 '---', '--=', '--pid', '--pid=', '-p=', 'l1=off', '--l1',
                 'off', 'on', 'default', 'self', 'all', 'inherit=on', '--json',
                 '-j', '-k', '-v', '--verify', 'start-time=1', 'x' * 300, '',
                 'l2_stream', 'l2_stream=', ',', 'l1,l2', '\n', '%s%n', '\xff']
        for _ in range(150):
            arguments = random.choices(words, k=random.randint(0, 6))
            result = self.run_command(arguments)
            with self.subTest(arguments=arguments):
                self.assertIn(result.status, (0, 2, 3, 4, 5, 6), str(result))
                self.assertEqual(bool(result.err), result.status != 0,
                                 str(result))

    def test_help_within_80_columns(self):
        text = self.run_command('help').out
        commands = [line.split()[0] for line in text.splitlines()
                    if line.startswith('  ') and
                    not line.startswith('  prefetchctl')]
        self.assertIn('batch', commands)
        self.assertEqual(len(commands), 14)
        for command in commands:
            text += self.run_command(['help', command]).out
        text += self.run_command('help names').out
        text += self.run_command('info').out
        for line in text.splitlines():
            self.assertLess(len(line), 80, line)

    def test_every_command_has_help(self):
        listed = self.run_command('help --json').json()['commands']
        for command in listed:
            result = self.run_command([command['name'], '--help'])
            self.assertEqual(result.status, 0)
            self.assertIn('Usage: prefetchctl ' + command['usage'],
                          result.out)
            self.assertEqual(result.err, '')


if __name__ == '__main__':
    harness.main()
