#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""info: why a prefetcher is missing; info --report: the block for a report."""
import os
import platform

import harness
from harness import MACHINE, CommandTest

CPUINFO = """processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 254
model name\t: Some CPU of Intel\x1b[31m
stepping\t: 3
microcode\t: 0x2b000603
flags\t\t: fpu msr sse

processor\t: 1
model\t\t: 7
"""

KMSG = """6,1,1000,-;Linux version 6.1.0 (somebody@example)
4,2,2000,-;prefetch: loading out-of-tree module taints kernel.
4,3,3000,-;prefetch: CPU 0: undocumented on this CPU (GenuineIntel family 0x6)
 SUBSYSTEM=cpu
3,4,4000,-;prefetch: no core of this machine has a prefetcher register
4,5,5000,-;prefetch: CPU 0: undocumented on this CPU (GenuineIntel family 0x6)
6,6,6000,-;other: prefetch: not ours
"""

LOCKED = MACHINE + """machine supported=l2_stream,l1_ip hypervisor={hypervisor}
domain id=0 supported=l2_stream,l1_ip baseline=l1_ip
cpu id=0 domain=0 pid=100 tid=101
domain id=1 supported=l2_stream,l2_adjacent,l1_ip failed=1
cpu id=1 domain=1
"""


class Report(CommandTest):
    """A made-up root folder stands in for /proc, /sys and /dev."""

    def setUp(self):
        super().setUp()
        os.makedirs(self.path('root'))
        self.env = {'PREFETCH_TEST_ROOT': self.path('root')}

    def say(self, kmsg=KMSG, cpuinfo=CPUINFO):
        if kmsg is not None:
            self.write('root/dev/kmsg', kmsg)
        self.write('root/proc/cpuinfo', cpuinfo)

    def test_not_in_register(self):
        self.check_row((0, 'info llc', [
            'Not on this machine:\n'
            "  llc_page     not in this CPU's register\n"
            "  llc_stream   not in this CPU's register\n", '!l2_updown'],
            None), env=self.env)
        self.check_row((0, 'info l2_stream', '!Not on this machine', None),
                       env=self.env)
        value = self.run_command('info llc_page -j', env=self.env).json()
        self.assertEqual(value['missing'], [
            {'id': 6, 'name': 'llc_page', 'reason': 'not-in-register',
             'text': "not in this CPU's register"}])

    def test_locked(self):
        scenario = LOCKED.format(hypervisor=0)
        self.check_row((0, 'info', [
            'out of service: 1 core;',
            '  core 1 (CPUs 1): why is not known; the kernel log may say it',
            '  l2_adjacent  its register is out of service on each core that '
            'has it\n',
            "  l1_stream    not in this CPU's register"], None), scenario,
            env=self.env)
        value = self.run_command('info -j', scenario, env=self.env).json()
        reasons = {m['name']: m['reason'] for m in value['missing']}
        self.assertEqual(reasons['l2_adjacent'], 'locked')
        self.assertEqual(reasons['l1_stream'], 'not-in-register')
        self.assertNotIn('l2_stream', reasons)

    def test_cpus_of_no_core(self):
        said = 'CPUs whose registers are left alone'
        for online, text in (('0-1\n', f'!{said}'), ('0\n', f'!{said}'),
                             ('0-2,8\n', f'{said}: 2 (the'), ('', f'!{said}'),
                             ('0-2,junk', f'{said}: 1 (the'),
                             ('9-3\n', f'!{said}')):
            self.write('root/sys/devices/system/cpu/online', online)
            self.check_row((0, 'info', text, None),
                           LOCKED.format(hypervisor=0), env=self.env)

    def test_set_tells_of_cpus_of_no_core(self):
        said = 'warning: no effect on 2 of 4 CPUs, whose registers are left ' \
            'alone'
        for online, text in (('0-3\n', said), ('0-1\n', f'!{said}'),
                             ('', f'!{said}')):
            self.write('root/sys/devices/system/cpu/online', online)
            self.check_row((0, 'set default l2_stream=off', 'l2_stream=off',
                            [text, 'no effect on CPUs 1: 1 core of 2 out']),
                           LOCKED.format(hypervisor=0), env=self.env)

    def test_hypervisor(self):
        scenario = LOCKED.format(hypervisor=1)
        self.check_row((0, 'info l2_adjacent',
                        'the hypervisor does not pass the register on', None),
                       scenario, env=self.env)

    def test_undocumented(self):
        self.say()
        self.check_row((4, 'info', None, [
            'CPU 0: undocumented on this CPU',
            'no core of this machine', 'family 6 model 254 (0xFE)',
            "report yours with the output of 'prefetchctl info --report' to "
            'where you got prefetchctl from',
            '!taint', '!not ours', '!SUBSYSTEM']), 'module loaded=0\n',
            env=self.env)
        self.say(kmsg='')
        self.check_row((4, 'info', None, ['!loaded last', '!report']),
                       'module loaded=0\n', env=self.env)

    def test_kernel_log(self):
        lines = ''.join(f'4,{i},1,-;prefetch: line {i}\n' for i in range(99))
        for kmsg, said in (
                (lines, [f'line {i}' for i in range(83, 99)]),
                ('4,1,1,-;prefetch: x\x1b[2Jy\n', ['x']),
                ('4,1,1,-;prefetch: ' + 'a' * 5000 + '\n', ['a' * 255]),
                ('z' * 20000 + '\n4,1,1,-;prefetch: b\n', ['b']),
                ('prefetch: no semicolon\n;\n;prefetch: \n', [''])):
            self.say(kmsg=kmsg)
            value = self.run_command('info --report -j', env=self.env).json()
            self.assertEqual(value['kernel_log'], said)

    def test_text(self):
        self.say()
        scenario = LOCKED.format(hypervisor=0).replace(
            'failed=1', 'failed=1 fault=stuck stuck=l2_adjacent')
        result = self.check_row((0, 'info --report', [
            '----- prefetch report -----\n', '----- end of report -----\n',
            'CPU: GenuineIntel family 6 model 254 (0xFE) stepping 3, '
            'microcode 0x2b000603\n', 'CPU name: Some CPU of Intel\n',
            f'kernel: {platform.release()}\n', 'backend: msr',
            'core 0: CPU 0, uniform, ok; off by firmware: l1_ip\n',
            'core 1: CPU 1, uniform, FAILED; off by firmware: -\n',
            '  register 0x1a4: firmware left 0x8, programmed 0x8, holds '
            '0x8\n',
            '  out of service: register 0x1a4: some bits cannot be changed: '
            '0x2 (l2_adjacent)\n'
            '  register 0x1a4: firmware left 0x0, nothing programmed, holds '
            '0x0\n',
            'kernel log: CPU 0: undocumented'], None), scenario, env=self.env)
        self.check_private(result)

    def test_json(self):
        self.say()
        scenario = LOCKED.format(hypervisor=0)
        result = self.run_command('info --report --json', scenario,
                                  env=self.env)
        self.check_private(result)
        value = result.json()
        self.assertEqual(value['microcode'], '0x2b000603')
        self.assertEqual((value['cpu_family'], value['cpu_model'],
                          value['cpu_stepping']), (6, 254, 3))
        self.assertEqual([core['baseline'] for core in value['cores']], [8, 0])
        self.assertEqual([core['failed'] for core in value['cores']],
                         [False, True])
        self.assertEqual(value['cores'][0]['registers'][0]['value'], 8)
        self.assertEqual(value['module']['backend'], 'msr')
        self.assertEqual(len(value['kernel_log']), 2)
        self.assertIsNone(value['kernel_log_error'])
        # It failed, and a module that does not say how is no reason to fail.
        self.assertIsNone(value['cores'][1]['fault'])
        self.assertEqual([p['name'] for p in value['module']['prefetchers']],
                         ['l2_stream', 'l1_ip'])
        self.assertIn('l2_adjacent', [m['name']
                                      for m in value['module']['missing']])
        # What is not known is null, not missing.
        for other in (value, self.run_command(
                'info --json', scenario, env=self.env).json()):
            self.assertIsNone(other['lockdown'])
            self.assertIsNone(other['secure_boot'])

    def check_private(self, result):
        for word in ('server', 'worker', 'shell', 'comm', 'pid', 'tid',
                     'somebody', os.uname().nodename + '\n'):
            self.assertNotIn(word, result.out, str(result))

    def test_without_module(self):
        self.say()
        scenario = 'module loaded=0\n'
        self.check_row((0, 'info --report', ['module not loaded',
                                             'family 6 model 254', '!backend'],
                        None), scenario, env=self.env)
        value = self.run_command('info -r -j', scenario, env=self.env).json()
        self.assertIsNone(value['module'])
        self.assertEqual(value['cores'], [])

    def test_nothing_known(self):
        self.check_row((0, 'info --report', ['CPU: ?\n', 'kernel log: (not '
                                             'readable: No such file',
                                             'lockdown: ?, Secure Boot: ?'],
                        None), 'module loaded=0\n', env=self.env)

    def test_not_root(self):
        scenario = ('error cmd=core-get attr=verify errno=EPERM count=1\n' +
                    MACHINE)
        self.check_row((0, 'info --report', ['core 0', '!holds',
                                             'needs root'], None),
                       scenario, env=self.env)

    def test_after_settings(self):
        """What the firmware left stays in the report."""
        self.say()
        scenario = MACHINE + (
            'default off=l1_ip\n'
            'domain id=0 baseline=l2_stream type=performance '
            'hybrid_id=0x40000001\ncpu id=0 domain=0\n'
            'domain id=1 failed=1 fault=absent\ncpu id=1 domain=1\n')
        self.run_command('set default l1_ip=on l1_stream=off', scenario,
                         env=self.env)
        self.check_row((0, 'info --report', [
            'core 0: CPU 0, performance, CPUID 0x1A 0x40000001, ok; off by '
            'firmware: l2_stream\n  register 0x1a4: firmware left 0x1, ',
            '  register 0x1a4: what firmware left was not readable, nothing '
            'programmed, '], None), scenario, env=self.env)

    def test_offline(self):
        """Nobody looked at a core that is offline as a whole."""
        self.say()
        scenario = MACHINE + (
            'domain id=0\ncpu id=0 domain=0\n'
            'domain id=1\ncpu id=2 domain=1 online=0\n')
        self.check_row((0, 'info --report', [
            'core 0: CPU 0, uniform, ok; ',
            'core 1: CPU 2, uniform, offline, not read; '], None), scenario,
            env=self.env)

    def test_offline_cpus(self):
        said = 'offline CPUs: '
        for online, present, text in (
                ('0-1\n', '0-3\n', f'{said}2; what'),
                ('0-1\n', '0-1\n', f'!{said}'), ('0-1\n', '', f'!{said}')):
            self.write('root/sys/devices/system/cpu/online', online)
            self.write('root/sys/devices/system/cpu/present', present)
            self.check_row((0, 'info', text, None),
                           LOCKED.format(hypervisor=0), env=self.env)

    def test_log_not_readable(self):
        self.say(kmsg=None)
        os.makedirs(self.path('root/dev/kmsg'))
        self.check_row((0, 'info --report', [
            'kernel log: (not readable: Is a directory)\n'], None),
            env=self.env)
        value = self.run_command('info --report -j', env=self.env).json()
        self.assertEqual(value['kernel_log_error'], 'Is a directory')
        self.assertEqual(value['kernel_log'], [])
        self.check_row((4, 'info', None,
                        'what it said in the kernel log is not readable (Is a '
                        'directory)'), 'module loaded=0\n', env=self.env)

    def test_log_says_nothing(self):
        self.say(kmsg='')
        self.check_row((0, 'info --report',
                        'kernel log: (nothing of the module)\n', None),
                       env=self.env)

    def test_last_load_only(self):
        lines = ['loading version 0.1.0', 'said long ago',
                 'loading version 0.1.0', 'core 0 (CPU 0), register 0x1a4: '
                 'writes have no effect: firmware locked it, or a hidden '
                 'hypervisor ignores them', 'no core of this machine']
        self.say(kmsg=''.join(f'4,{i},1,-;prefetch: {line}\n'
                              for i, line in enumerate(lines)))
        self.check_row((4, 'info', None, [
            'when it was loaded last:\n    loading version', *lines[3:],
            '!said long ago', "next: see whether the firmware's "
            'setup locks']), 'module loaded=0\n', env=self.env)
        value = self.run_command('info --report -j', env=self.env).json()
        self.assertEqual(value['kernel_log'], lines[2:])

    def test_simulation(self):
        self.say()
        self.check_row((0, 'info --report', [
            'backend: soft, a simulation without registers; settings: 0, '
            'simulated register writes: 0,',
            '  variable for register 0x1a4: began as 0x0, programmed 0x0, '
            'holds 0x0\n', 'ok; off at first: -\n', '!  register',
            '!firmware'], None),
            MACHINE + 'machine backend=soft\n', env=self.env)

    def test_usage(self):
        self.check_row((2, 'info --report llc', None,
                        'about the whole machine'), env=self.env)
        self.check_row((2, 'cores --report', None, 'not an option'),
                       env=self.env)


if __name__ == '__main__':
    harness.main()
