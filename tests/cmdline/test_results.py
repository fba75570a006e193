#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What requests do, how their results look, and each exit status."""
import harness
from harness import MACHINE, CommandTest

SOFT = MACHINE + 'machine backend=soft\n'
USER = MACHINE + 'caller privileged=0\n'
SOFT_LINE = 'backend: soft (no effect on hardware)'


class Settings(CommandTest):
    """set, get, clear and list."""

    def test_set_is_proved(self):
        self.check_row((0, 'set pid=100 l2_stream=off l1_ip=on',
                        ['pid 100 (server): l2_stream=off l1_ip=on '
                         'inherit=off',
                         'wish: l2_stream=off l1_ip=on, the rest as the '
                         'firmware left it'], None))
        self.assertIn('pid=100', self.saved)
        self.check_row((0, 'get pid=100', 'l2_stream=off l1_ip=on', None),
                       keep=True)

    def test_set_keeps_what_is_not_named(self):
        self.run_command('set pid=100 l2_stream=off inherit=on')
        self.check_row((0, 'set pid=100 l1_ip=off',
                        'l2_stream=off l1_ip=off inherit=on', None),
                       keep=True)
        self.check_row((0, 'set pid=100 l2_stream=default',
                        ['l1_ip=off inherit=on', '!l2_stream=off'], None),
                       keep=True)
        self.check_row((0, 'set pid=100 inherit=off', 'inherit=off', None),
                       keep=True)
        self.check_row((0, 'set pid=100 all=default', 'no setting', None),
                       keep=True)

    def test_thread_over_process(self):
        self.run_command('set pid=100 l2_stream=off')
        self.check_row((0, 'set tid=101 l2_stream=on',
                        ['tid 101 of pid 100 (worker): l2_stream=on',
                         'wish: l2_stream=on'], None), keep=True)

    def test_clear(self):
        self.run_command('set pid=100 l2_stream=off')
        self.check_row((0, 'clear pid=100', 'no setting', None), keep=True)
        self.check_row((0, 'list', 'no settings', None), keep=True)

    def test_clear_all(self):
        scenario = MACHINE + ('setting pid=100 off=1\nsetting tid=101 off=2\n'
                              'setting pid=200 on=1\n')
        self.check_row((0, 'clear all', ['pid 100', 'tid 101', 'pid 200'],
                        None), scenario)
        self.check_row((0, 'list', 'no settings', None), keep=True)

    def test_clear_all_of_others(self):
        scenario = USER + 'setting pid=100 off=1\nsetting pid=300 off=1\n'
        self.check_row((6, 'clear all', 'pid 100 (server): no setting',
                        ['1 setting is not yours to clear',
                         'CAP_SYS_NICE']), scenario)
        scenario = USER + 'setting pid=300 off=1\n'
        self.check_row((3, 'clear all', None,
                        '1 setting is not yours to clear'), scenario)

    def test_list(self):
        scenario = MACHINE + ('setting pid=200 on=8 inherit=1\n'
                              'setting tid=101 off=2\n'
                              'setting pid=100 off=1\n')
        result = self.check_row((0, 'list', ['PID', 'SETTING', 'WISH'], None),
                                scenario)
        rows = [line.split() for line in result.out.splitlines()[1:]]
        self.assertEqual(rows[0][:4], ['100', 'all', 'l2_stream=off', 'off'])
        self.assertEqual(rows[1][:4], ['100', '101', 'l2_adjacent=off', '-'])
        self.assertEqual(rows[2][:4], ['200', 'all', 'l1_ip=on', 'on'])
        self.assertEqual(rows[2][-1], 'shell')

    def test_list_interrupted(self):
        scenario = MACHINE + ('setting pid=100 off=1\n'
                              'fault cmd=setting-get kind=interrupt '
                              'count=1000\n')
        self.check_row((0, 'list', 'server', 'one may be missing'), scenario)

    def test_default(self):
        self.check_row((0, 'set default l2_stream=off l1_ip=on',
                        'machine default: l2_stream=off l1_ip=on, the rest',
                        None))
        self.check_row((0, 'get default', 'l2_stream=off l1_ip=on', None),
                       keep=True)
        self.check_row((0, 'clear default', 'as the firmware left it', None),
                       keep=True)
        self.check_row((0, 'get default', 'as the firmware left it', None),
                       keep=True)

    def test_self_is_the_caller(self):
        """`self` is the process that called the command: this one."""
        result = self.run_command('set self l2_stream=off')
        self.assertEqual(result.status, 0, str(result))
        self.assertIn(f'pid {harness.os.getpid()} (', result.out)
        self.check_row((0, 'get self', 'l2_stream=off', None), keep=True)
        self.check_row((0, 'get SELF', 'l2_stream=off', None), keep=True)
        self.check_row((0, 'clear self', 'no setting', None), keep=True)

    def test_several(self):
        self.check_row((6, 'set pid=100,999999999,200 l2_stream=off',
                        ['pid 100', 'pid 200', '!999999999'],
                        'pid 999999999: '))
        result = self.run_command('get pid=999999999,999999998')
        self.assertEqual(result.status, 5, str(result))
        self.assertEqual(result.err.count('prefetchctl: '), 2)

    def test_hostile_name(self):
        """A task's name must not reach the terminal as it is."""
        scenario = 'task pid=100 tid=100 comm=\033[31m\x07red\n'
        self.check_row((0, 'get pid=100', ['pid 100 (?[31m?red)', '!\033'],
                        None), scenario)
        for turner in '\u061c\u200e\u202e\u2066\u2069':
            scenario = f'task pid=100 tid=100 comm=a{turner}b\n'
            self.check_row((0, 'get pid=100', ['(a?', f'!{turner}'], None),
                           scenario)
        scenario = 'task pid=100 tid=100 comm=caf\u00e9\n'
        self.check_row((0, 'get pid=100', 'caf\u00e9', None), scenario)


class Refusals(CommandTest):
    """Each reason has a message and an exit status of its own."""

    def test_no_such_task(self):
        self.check_table([
            (5, 'get pid=999999999', None, 'pid 999999999: no such task'),
            (5, 'set pid=999999999 l1=off', None, 'pid 999999999: '),
            (5, 'set tid=999999999 l1=off', None, 'tid 999999999: '),
            (5, 'clear pid=999999999', None, 'pid 999999999: '),
            (5, 'set tree=999999999 l1=off', None, 'pid 999999999: '),
            (5, 'disable l1 999999999', None, 'pid 999999999: '),
        ])

    def test_start_time_differs(self):
        self.check_row((5, 'set pid=100 l1=off start-time=7', None,
                        'pid 100: '))
        self.check_row((5, 'clear pid=100 start-time=7', None, 'pid 100: '))

    def test_not_permitted(self):
        self.check_row((3, 'set pid=300 l1=off', None,
                        ['pid 300: ', 'CAP_SYS_NICE']), USER)
        self.check_row((0, 'set pid=100 l1=off', 'pid 100', None), USER)
        self.check_table([
            (3, 'set default l1=off', None, ['machine default: ',
                                             'CAP_SYS_ADMIN']),
            (3, 'clear default', None, 'CAP_SYS_ADMIN'),
            (3, 'cores --verify', None, 'CAP_SYS_ADMIN'),
            (3, 'repair', None, 'CAP_SYS_ADMIN'),
        ], USER)
        self.check_row((0, 'cores', 'running tasks are hidden', None),
                       USER + 'module attached=1\n')

    def test_not_on_this_machine(self):
        self.check_table([
            (4, 'set pid=100 amp=off', None,
             ['pid 100: ', 'this machine has: l2_stream,l2_adjacent']),
            (4, 'set default amp=off', None, 'this machine has: '),
            (4, 'set pid=100 llc=off', None,
             'this machine has none of: llc_page,llc_stream'),
            (4, 'set pid=100 l2=off amp=off', None, 'this machine has: '),
            (4, 'set pid=100 amp=off l2=off', None, 'this machine has: '),
            (4, 'disable l2,amp 100', None, 'this machine has: '),
            (4, 'disable amp,l2 100', None, 'this machine has: '),
            (0, 'set pid=100 amp=off l2=on', 'l2_stream=on', None),
            (0, 'set pid=100 l2=off l2=off', 'l2_stream=off', None),
            (0, 'set pid=100 l2_stream=on l2_stream=off', 'l2_stream=off',
             None),
            (0, 'disable l2_stream,l2,l2_stream 100',
             ': l2_stream=off l2_adjacent=off', None),
            (4, 'run amp=off -- true', None, ['this machine has: ', "'true' was not run"]),
        ])

    def test_named_twice(self):
        """A task that is named twice is meant once, in its first place."""
        scenario = MACHINE + 'setting pid=100 off=1\nsetting pid=200 off=1\n'
        for words, ids in (
                ('set pid=200,100,200,100 l1=off', [200, 100]),
                ('set pid=0100,100 l1=off', [100]),
                ('set pid=100,100 l1=off start-time=1000000', [100]),
                ('set tid=101,101,100 l1=off', [101, 100]),
                ('set tree=100,100 l1=off', [100]),
                ('get pid=100,100', [100]), ('get tid=101,101', [101]),
                ('clear pid=200,100,200', [200, 100]),
                ('clear tid=101,101', [101]), ('clear tree=100,100', [100]),
                ('disable l1 100,200,100', [100, 200]),
                ('enable l1 pid=100,100', [100])):
            with self.subTest(words=words):
                result = self.run_command(words + ' -j', scenario)
                self.assertEqual((result.status, result.err), (0, ''))
                self.assertEqual([s.get('tid', s['pid'])
                                  for s in result.json()['settings']], ids)
        result = self.run_command('get pid=999999999,999999999')
        self.assertEqual(result.status, 5, str(result))
        self.assertEqual(result.err.count('prefetchctl: '), 1)

    def test_list_names_groups(self):
        """What is all of a group is called so, short, and set takes it."""
        for machine, words, said in (
                ('', 'all=off', 'all=off'), ('', 'l1=off l2=on', 'l2=on l1=off'),
                ('', 'all=on', 'all=on'), ('', 'l1=on', 'l1=on'),
                ('', 'l2=off l1_ip=on', 'l2=off l1_ip=on'),
                ('', 'l2_adjacent=off l1=off', 'l2_adjacent=off l1=off'),
                ('', 'l1_ip=off l1_stream=on', 'l1_stream=on l1_ip=off'),
                ('machine supported=l2_stream\n', 'all=off', 'l2_stream=off'),
                ('machine supported=l2_stream,l1_ip\n', 'all=off', 'all=off'),
                ('machine supported=l2_stream,l1_ip,llc_page,llc_stream\n',
                 'llc=off l1=off', 'l1_ip=off llc=off')):
            with self.subTest(machine=machine, words=words):
                scenario = MACHINE + machine
                self.run_command(f'set pid=100 {words}', scenario)
                listed = self.run_command('list', scenario, keep=True).out
                for line in listed.splitlines():
                    self.assertLessEqual(len(line), 80)
                row = listed.splitlines()[1]
                self.assertRegex(row, f'^ *100 +all +{said} +off +{said} +')
                self.run_command(f'set pid=100 {said}', scenario)
                self.assertEqual(
                    self.run_command('list', scenario, keep=True).out, listed)

    def test_limit_shown(self):
        self.check_row((0, 'info', 'settings of this user: 0 of at most 4096 '
                        'without CAP_SYS_RESOURCE', None))

    def test_limit(self):
        scenario = MACHINE + 'module max-settings=1\nsetting pid=200 off=1\n'
        result = self.check_row((1, 'set pid=100 l1=off', None,
                                 'max_settings'), scenario)
        self.assertEqual(result.err.count('max_settings'), 1)

    def test_kernel_words(self):
        """The kernel's own words, whatever they are."""
        scenario = MACHINE + ('error cmd=setting-set errno=EINVAL count=9 '
                              'text=the moon is in the way\n')
        self.check_row((1, 'set pid=100 l1=off', None,
                        'pid 100: the moon is in the way'), scenario)

    def test_module_absent(self):
        rows = []
        for arguments in ('set pid=100 l1=off', 'set default l1=off',
                          'set self l1=off', 'set tree=100 l1=off',
                          'get pid=100', 'get default', 'clear pid=100',
                          'clear all', 'clear default', 'list', 'cores',
                          'cores --verify', 'repair', 'info',
                          'run l1=off -- true', 'exec l1 -- true',
                          'disable l1 100', 'enable l1 100', 'list --json',
                          'set pid=100,200 l1=off'):
            rows.append((4, arguments, None,
                         ["the kernel module 'prefetch' is not loaded"]))
        rows.append((0, 'version', 'module not loaded', None))
        rows.append((0, 'help', 'Usage', None))
        self.check_table(rows, 'module loaded=0\n')

    def test_output_full(self):
        """Output that does not reach its file is a failure."""
        self.write('scenario', MACHINE)
        with open('/dev/full', 'w', encoding='utf-8') as full:
            done = harness.subprocess.run(
                [harness.PROGRAM, 'list'], stdout=full,
                stderr=harness.subprocess.PIPE, encoding='utf-8',
                env=self.environment(None), timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('cannot write the output', done.stderr)

    def test_output_closed(self):
        """No socket takes the place of a closed standard output."""
        self.write('scenario', MACHINE)
        done = harness.subprocess.run(
            ['sh', '-c', 'exec "$0" list <&- >&-', harness.PROGRAM],
            stderr=harness.subprocess.PIPE, encoding='utf-8',
            env=self.environment(None), timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('cannot write the output: Bad file', done.stderr)


class Cores(CommandTest):
    """cores, repair and info."""

    def test_running_and_wish(self):
        scenario = MACHINE + ('module attached=1\nsetting pid=100 off=1\n'
                              'cpu id=0 domain=0 pid=100 tid=100\n'
                              'cpu id=1 domain=0\ncpu id=2 domain=1 online=0\n')
        self.check_row((0, 'cores', ['l2_stream=off 100 server', 'offline'],
                        None), scenario)

    def test_held_failed_baseline(self):
        scenario = MACHINE + (
            'domain id=0 baseline=l1_ip held=1\ncpu id=0 domain=0\n'
            'domain id=1 failed=1 type=efficient\ncpu id=1 domain=1\n')
        self.check_row((0, 'cores', ['held', 'FAILED', 'l1_ip',
                                     'efficient'], None), scenario)

    def test_verify_differs(self):
        scenario = MACHINE + (
            'domain id=0\ncpu id=0 domain=0\n'
            'domain id=1 foreign=l2_adjacent\ncpu id=1 domain=1\n')
        self.check_row((0, 'cores --verify',
                        ['DIFFERS', 'verify: the registers of 1 core hold',
                         'verify: the registers of 1 core differ',
                         "'prefetchctl repair'"],
                        'core 1: register 0x1a4 holds 0x2, 0x0 was '
                        'programmed: it differs'), scenario)
        self.check_row((0, 'cores', '!DIFFERS', None), scenario)
        self.check_row((0, 'repair',
                        ['core 1: off was l2_adjacent, is now -',
                         'was 0x2, is now 0x0', '!core 0'], None), scenario)

    def test_out_of_service(self):
        """A core that cannot be used: counted, explained, never called ok."""
        scenario = MACHINE + (
            'domain id=0 failed=1 fault=stuck stuck=l2_adjacent\n'
            'cpu id=0 domain=0\ncpu id=1 domain=0\n'
            'domain id=1\ncpu id=2 domain=1\ncpu id=3 domain=1\n')
        said = "out of service: 1 core; 'prefetchctl info' says why"
        result = self.check_row((0, 'cores --verify', [
            'out of service\n', f'verify: {said}\n',
            'verify: the registers of 1 core hold what was programmed\n'],
            None), scenario)
        self.assertEqual(result.out.count(' ok\n'), 1, str(result))
        self.check_row((0, 'cores', [said, '!verify'], None), scenario)
        self.check_row((0, 'repair', ['nothing differed', said], None),
                       scenario)
        self.check_row((0, 'info', [
            'cores with registers of their own: 2 cores\n',
            'out of service: 1 core; settings have no effect there\n'
            '  core 0 (CPUs 0,1): register 0x1a4: some bits cannot be '
            'changed: 0x2 (l2_adjacent)\n',
            'bit 0, on 1 of 2 cores (1 out of service); on by firmware\n'], None), scenario)
        value = self.run_command('info -j', scenario).json()
        self.assertEqual(value['failed_domains'], 1)
        self.assertEqual([(place['domains'], place['failed'])
                          for p in value['prefetchers']
                          for place in p['locations']], [(2, 1)] * 4)
        warning = ("warning: no effect on CPUs 0,1: 1 core of 2 out of "
                   "service; 'prefetchctl info' says why")
        self.check_table([
            (0, 'set pid=100 l1_ip=off', 'l1_ip=off',
             [warning, '!only some cores']),
            (0, 'set default l1_ip=off', 'l1_ip=off',
             [warning, '!only some cores']),
            (0, 'run l1_ip=off -- true', None,
             [warning, '!only some cores'])], scenario)

    def test_verify_offline(self):
        """A core that nobody can read is not vouched for."""
        scenario = MACHINE + (
            'domain id=0\ncpu id=0 domain=0\n'
            'domain id=1\ncpu id=1 domain=1 online=0\n')
        self.check_row((0, 'cores --verify', [
            'offline, not read\n', 'verify: the registers of 1 core hold',
            'verify: 1 core offline, not read\n'], None), scenario)
        self.check_row((0, 'cores', '!not read', None), scenario)

    def test_next_step_when_failed(self):
        """What can be tried depends on whether it ever worked."""
        failed = MACHINE + ('domain id=0 failed=1 fault=write{}\n'
                            'cpu id=0 domain=0\n')
        repair = "tried again by 'prefetchctl repair'"
        load = 'is tried again when the module is loaded again'
        report = "Please report it with the output of 'prefetchctl info"
        self.check_row((0, 'info', [repair, f'!{load}', report], None),
                       failed.format(' writes=3'))
        self.check_row((0, 'info', [load, f'!{repair}', report], None),
                       failed.format(''))

    def test_messages_are_clean(self):
        """What a message repeats does not reach the terminal as it is."""
        for word in ('a\x1b[2Jb=off', 'a\nb=off', 'a\x9bb=off'):
            result = self.run_command(['set', 'pid=100', word])
            self.assertEqual(result.status, 2, str(result))
            self.assertNotIn('\x1b', result.err)
            self.assertNotIn('\x9b', result.err)
            self.assertNotIn('a\nb', result.err)
            self.assertIn('a?', result.err)

    def test_group_without_members(self):
        """A group of which nothing is here is not dropped in silence."""
        said = "warning: this machine has none of group 'llc'"
        for words, text in (('set pid=100 llc=off l2=off', said),
                            ('exec l2,llc -- true', said),
                            ('set pid=100 all=off', None),
                            ('set pid=100 l2=off', None)):
            out = None if words.startswith('exec') else 'l2_stream=off'
            self.check_row((0, words, out, text), MACHINE)

    def test_faults(self):
        """Each fault has words of its own, without bits where none is known."""
        for fault, words in (
                ('absent', 'it is not there: reading it faults'),
                ('write', 'writing it faults'),
                ('read-back', 'reading it faults once it was written'),
                ('ignored', 'writes have no effect: firmware locked it, or a '
                 'hidden hypervisor ignores them'),
                ('restore', 'it did not take its own value back: 0x8 '
                 '(l1_ip)')):
            stuck = ' stuck=l1_ip' if fault in ('ignored', 'restore') else ''
            scenario = MACHINE + (f'domain id=0 failed=1 fault={fault}{stuck}\n'
                                  'cpu id=0 domain=0\n')
            self.check_row((0, 'info', [
                f'  core 0 (CPUs 0): register 0x1a4: {words}\n'], None),
                scenario)
        scenario = MACHINE + ('machine hypervisor=1\n'
                              'domain id=0 failed=1 fault=ignored\n'
                              'cpu id=0 domain=0\n')
        self.check_row((0, 'info', 'the hypervisor ignores writes\n', None),
                       scenario)

    def test_kinds_of_core(self):
        """Modules are called so, and what a kind of core lacks is said."""
        scenario = MACHINE + (
            'machine supported=l2_stream,l2_adjacent\n'
            'domain id=0 type=performance supported=l2_stream,l2_adjacent\n'
            'cpu id=0 domain=0\n'
            'domain id=1 type=performance supported=l2_stream,l2_adjacent\n'
            'cpu id=1 domain=1\n'
            'domain id=2 type=efficient supported=l2_stream\n'
            'cpu id=2 domain=2\ncpu id=3 domain=2\n')
        self.check_row((0, 'info', [
            'cores with registers of their own: 2 performance cores and 1 '
            'efficient module\n', ', on 2 performance cores; on by firmware\n',
            ', on 1 efficient module; on by firmware\n',
            'bit 1, on 2 performance cores; on by firmware\n'
            '      not in the register of 1 efficient module\n'], None),
            scenario)
        self.check_row((0, 'info l2_stream', '!not in the register', None),
                       scenario)
        value = self.run_command('info -j', scenario).json()
        self.assertEqual([p['missing_on'] for p in value['prefetchers']], [
            [], [{'core_type': 'efficient', 'domains': 1,
                  'reason': 'not-in-register'}]])
        self.check_row((0, 'cores --verify',
                        'the registers of 2 performance cores and 1 efficient '
                        'module hold', None), scenario)

    def test_wish_is_explained(self):
        self.check_row((0, 'cores', 'WISH: not followed while there is no '
                        'setting\n', None))
        self.check_row((0, 'cores', "WISH: what the task on that CPU asks for",
                        None), MACHINE + 'module attached=1\n')
        self.check_row((0, 'help cores', 'WISH', None))

    def test_simulation_is_called_so(self):
        self.check_row((0, 'cores --verify', [
            'simulated\n', '!ok\n', 'verify: the variables in place of the '
            'registers of 2 cores hold'], None), SOFT)
        self.check_row((0, 'info', [
            '  a simulation: no register is read or written; on a CPU that is '
            'not known\n',
            'simulated register writes: 0', '\nsimulated',
            '      simulated: variable for register 0x1a4 bit 0, on 2 cores; on '
            'at first\n', '!by firmware',
            '!\nregister writes'], None), SOFT)

    def test_info(self):
        scenario = MACHINE + (
            'machine hypervisor=1 model=143 supported='
            'l2_stream,l2_adjacent,l1_stream,l1_ip,amp\n'
            'default off=l1_ip\nmodule unprivileged=0 events-here=0\n'
            'domain id=0 type=performance baseline=l2_stream\n'
            'cpu id=0 domain=0\n'
            'domain id=1 type=performance\ncpu id=1 domain=1\n')
        self.check_row((0, 'info',
                        ['backend: msr', 'model 143 (0x8F)',
                         'under a hypervisor',
                         'users may set their own tasks: no',
                         'machine default: l1_ip=off',
                         'do not reach this network namespace',
                         'off by firmware on 1 of 2\n', 'on by firmware',
                         'register 0x1a4 bit 0, on 2 performance cores; ',
                         'dcu_streamer', 'Not on this machine',
                         'llc_page'], None), scenario)

    def test_soft_is_always_announced(self):
        rows = [(0, arguments, SOFT_LINE, None) for arguments in (
            'set pid=100 l1=off', 'set default l1=off', 'get pid=100',
            'get default', 'clear pid=100', 'clear all', 'clear default',
            'list', 'cores', 'cores --verify', 'repair', 'info',
            'disable l1 100')]
        rows += [(0, 'run l1=off -- true', None, SOFT_LINE),
                 (0, 'exec l1 -- true', None, SOFT_LINE)]
        self.check_table(rows, SOFT)
        self.check_row((0, 'set pid=100 l1=off', '!soft', None))

    def test_partial_is_warned(self):
        scenario = MACHINE + (
            'domain id=0 type=performance\ncpu id=0 domain=0\n'
            'domain id=1 type=efficient supported=l2_stream,l1_stream\n'
            'cpu id=1 domain=1\n')
        warning = 'warning: only some cores of this machine have: l1_ip'
        self.check_row((0, 'set pid=100 l1_ip=off', 'l1_ip=off', warning),
                       scenario)
        self.check_row((0, 'set default l1_ip=off', 'l1_ip=off', warning),
                       scenario)
        self.check_row((0, 'run l1_ip=off -- true', None, warning), scenario)
        self.check_row((0, 'set pid=100 l2_stream=off', 'l2_stream', None),
                       scenario)


class Colour(CommandTest):
    """Colour on a terminal only, and never with NO_COLOR."""

    scenario = MACHINE + ('domain id=0 foreign=l2_adjacent\n'
                          'cpu id=0 domain=0\n')

    def on_terminal(self, env):
        """The output on a terminal of its own."""
        self.write('scenario', self.scenario)
        primary, secondary = harness.os.openpty()
        with harness.subprocess.Popen(
                [harness.PROGRAM, 'cores', '--verify'], stdout=secondary,
                stderr=harness.subprocess.DEVNULL,
                env=self.environment(env)) as process:
            harness.os.close(secondary)
            data = b''
            while True:
                try:
                    more = harness.os.read(primary, 4096)
                except OSError:
                    break
                if not more:
                    break
                data += more
            self.assertEqual(process.wait(timeout=60), 0)
        harness.os.close(primary)
        return data.decode()

    def test_terminal(self):
        self.assertIn('\033[', self.on_terminal({'TERM': 'xterm'}))
        self.assertNotIn('\033[', self.on_terminal({'TERM': 'xterm',
                                                    'NO_COLOR': '1'}))
        self.assertNotIn('\033[', self.on_terminal({'TERM': 'dumb'}))
        self.assertIn('\033[', self.on_terminal({'TERM': 'xterm',
                                                 'NO_COLOR': ''}))

    def test_pipe(self):
        self.check_row((0, 'cores --verify', '!\033[', '!\033['))


if __name__ == '__main__':
    harness.main()
