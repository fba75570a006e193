#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""batch: requests from a file or standard input."""
import subprocess

import harness
from harness import MACHINE, CommandTest


class Batch(CommandTest):
    """One request a line; the exit status is 6 if one failed."""

    def batch(self, lines, options='', scenario=None):
        path = self.write('requests', lines)
        return self.run_command(f'batch {options} {path}', scenario)

    def test_all_good(self):
        result = self.batch('# a comment\n\n   \nset pid=100 l2_stream=off\n'
                            '\tset\tpid=200   l1=off\r\n'
                            'set default l1_ip=off\nget pid=100\n'
                            'disable l1 100\nlist\ncores\ninfo\nversion\n'
                            'clear all')
        self.assertEqual((result.status, result.err), (0, ''), str(result))
        for text in ('pid 100 (server): l2_stream=off', 'pid 200 (shell)',
                     'machine default: l1_ip=off', 'CORE', 'Prefetchers:'):
            self.assertIn(text, result.out)

    def test_standard_input(self):
        result = self.run_command('batch -', stdin='set pid=100 l1=off\n')
        self.assertEqual(result.status, 0, str(result))
        self.assertIn('pid 100', result.out)

    def test_closed_standard_input(self):
        self.write('scenario', self.scenario)
        done = subprocess.run(
            ['sh', '-c', 'exec "$0" batch - <&-', harness.PROGRAM],
            env=self.environment(None), capture_output=True, check=False,
            encoding='utf-8')
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn('standard input: Bad file descriptor', done.stderr)

    def test_empty(self):
        result = self.batch('')
        self.assertEqual((result.status, result.out, result.err), (0, '', ''))

    def test_stops_at_failure(self):
        result = self.batch('set pid=100 l1=off\nset pid=999999999 l1=off\n'
                            'set pid=200 l1=off\n')
        self.assertEqual(result.status, 6, str(result))
        self.assertIn('pid 100', result.out)
        self.assertNotIn('pid 200', result.out)
        self.assertIn('requests:2: pid 999999999: ', result.err)
        self.assertEqual(result.err.count('prefetchctl: '), 1)

    def test_goes_on(self):
        for option in ('-k', '--keep-going'):
            result = self.batch('set pid=999999999 l1=off\nfrobnicate\n'
                                'set pid=100 l9=off\nrun l1=off -- true\n'
                                'batch x\nhelp\nset pid=200 l1=off\n', option)
            self.assertEqual(result.status, 6, str(result))
            self.assertIn('pid 200', result.out)
            for text in ('requests:1: pid 999999999: ',
                         "requests:2: unknown command 'frobnicate'",
                         "requests:3: set: unknown prefetcher 'l9'",
                         "requests:4: 'run' is not allowed in a batch",
                         "requests:5: 'batch' is not allowed",
                         "requests:6: 'help' is not allowed"):
                self.assertIn(text, result.err)

    def test_first_line_fails(self):
        self.assertEqual(self.batch('frobnicate\n').status, 6)

    def test_no_file(self):
        self.check_row((1, ['batch', self.path('absent')], None,
                        'absent: No such file or directory'))

    def test_file_named_as_a_target(self):
        for name in ('all', 'self', 'default'):
            self.check_row((1, ['batch', name], None,
                            f'{name}: No such file or directory'))

    def test_folder(self):
        self.check_row((1, ['batch', self.folder], None, 'directory'))

    def test_nul_byte(self):
        result = self.batch('set pid=100 l1=off\0junk\n')
        self.assertEqual(result.status, 6)
        self.assertIn('requests:1: a NUL byte in the line', result.err)
        self.assertEqual(result.out, '')

    def test_long_line(self):
        result = self.batch('set pid=100 ' + 'l1=off ' * 20000 + '\n')
        self.assertEqual(result.status, 0, str(result)[:2000])

    def test_many_repeated(self):
        """More of them than a command line can hold."""
        many = ','.join(['100'] * 300000 + ['200'])
        result = self.batch(f'get pid={many}\n')
        self.assertEqual(result.status, 0, str(result)[:2000])
        self.assertEqual(result.out.count('no setting'), 2)

    def test_module_absent(self):
        """Said once, whatever -k says, with its own exit status."""
        result = self.batch('list\nlist\nlist\n', '-k', 'module loaded=0\n')
        self.assertEqual(result.status, 4, str(result))
        self.assertEqual(result.err.count('is not loaded'), 1)

    def test_json_lines(self):
        result = self.batch('set pid=100 l2_stream=off\n'
                            'set pid=999999999 l1=off\nlist\n', '-k --json')
        self.assertEqual(result.status, 6)
        values = [harness.json.loads(line)
                  for line in result.out.splitlines()]
        self.assertEqual(len(values), 2)
        self.assertEqual([v['schema'] for v in values], [1, 1])
        self.assertEqual(values[1]['settings'][0]['pid'], 100)

    def test_json_of_one_line(self):
        result = self.batch('--json list\nlist\nget pid=100 -j\n')
        lines = result.out.splitlines()
        self.assertEqual(harness.json.loads(lines[0])['settings'], [])
        self.assertEqual(lines[1], 'no settings')
        self.assertEqual(harness.json.loads(lines[2])['settings'][0]['pid'],
                         100)

    def test_answers_as_it_goes(self):
        """Whoever talks to it over pipes gets each answer at once."""
        self.write('scenario', MACHINE)
        with harness.subprocess.Popen(
                [harness.PROGRAM, 'batch', '-'], encoding='utf-8',
                stdin=harness.subprocess.PIPE,
                stdout=harness.subprocess.PIPE,
                env=self.environment(None)) as process:
            for _ in range(3):
                process.stdin.write('get default\n')
                process.stdin.flush()
                self.assertEqual(process.stdout.readline(),
                                 'machine default: as the firmware left it\n')
            process.stdin.close()
            self.assertEqual(process.wait(timeout=60), 0)


if __name__ == '__main__':
    harness.main()
