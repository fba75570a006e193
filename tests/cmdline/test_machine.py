#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The module is absent: the advice fits what the machine tells."""
import os

import harness
from harness import CommandTest

SECURE_BOOT = ('sys/firmware/efi/efivars/'
               'SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c')


class Machine(CommandTest):
    """A made-up root folder stands in for /sys, /proc and /lib."""

    scenario = 'module loaded=0\n'

    def make(self, lockdown=None, secure_boot=None, installed=None,
             hypervisor=None, loaded=False):
        os.makedirs(self.path('root'), exist_ok=True)
        if lockdown is not None:
            self.write('root/sys/kernel/security/lockdown', lockdown)
        if secure_boot is not None:
            path = self.write(f'root/{SECURE_BOOT}', '')
            with open(path, 'wb') as file:
                file.write(b'\x06\0\0\0' + secure_boot)
        if installed is not None:
            release = os.uname().release
            self.write(f'root/lib/modules/{release}/modules.dep',
                       'kernel/fs/ext4/ext4.ko: kernel/fs/jbd2/jbd2.ko\n' +
                       ('updates/dkms/prefetch.ko.xz:\n' if installed
                        else 'kernel/x/prefetcher.ko:\n'))
        if hypervisor is not None:
            self.write('root/proc/cpuinfo',
                       'processor\t: 0\nvendor_id\t: GenuineIntel\n'
                       'flags\t\t: fpu msr%s sse\n\n' %
                       (' hypervisor' if hypervisor else ''))
        if loaded:
            os.makedirs(self.path('root/sys/module/prefetch'))

    def advice(self, *expected):
        env = {'PREFETCH_TEST_ROOT': self.path('root')}
        self.check_row((4, 'list', None,
                        ["prefetchctl: the kernel module 'prefetch' is not "
                         'loaded'] + list(expected)), env=env)

    def test_nothing_known(self):
        self.make()
        self.advice('load it as root with: modprobe prefetch', '!locked down',
                    '!Secure Boot', '!virtual')

    def test_refused_for_good(self):
        """Where the module has said why, nobody is told to load it."""
        self.make(installed=True, hypervisor=True)
        for said, text in (
                ('CPU 0: undocumented on this CPU (GenuineIntel)',
                 'nothing is documented for this CPU'),
                ('CPU 0: left alone on purpose (GenuineIntel): reports',
                 'there is nothing to do about it'),
                ('core 0: the hypervisor ignores writes to the register',
                 'next: ask those who run the host')):
            self.write('root/dev/kmsg', f'4,1,1,-;prefetch: {said}\n')
            self.advice(said, text, '!load it as root', '!trust_hypervisor')

    def test_left_alone(self):
        """Registers that are left alone for once, and not for good."""
        self.make(installed=True)
        self.write('root/dev/kmsg',
                   '4,1,1,-;prefetch: CPU 0: does not say which CPUs share '
                   'its L2 cache, and so its registers; left alone\n')
        self.advice('which CPUs share its L2 cache',
                    "report that with the output of 'prefetchctl info",
                    '!on purpose', '!load it as root')

    def test_installed(self):
        self.make(installed=True)
        self.advice('modprobe prefetch', '!not installed')

    def test_not_installed(self):
        self.make(installed=False)
        self.advice(f'not installed for kernel {os.uname().release}')

    def test_locked_down(self):
        self.make(lockdown='none [integrity] confidentiality\n',
                  secure_boot=b'\1')
        self.advice('locked down (integrity), Secure Boot is on',
                    'unsigned module')

    def test_locked_down_without_secure_boot(self):
        self.make(lockdown='none integrity [confidentiality]\n',
                  secure_boot=b'\0')
        self.advice('locked down (confidentiality): ', '!Secure Boot is on')

    def test_not_locked_down(self):
        self.make(lockdown='[none] integrity confidentiality\n')
        self.advice('the kernel is not locked down')

    def test_secure_boot_alone(self):
        self.make(secure_boot=b'\1')
        self.advice('Secure Boot is on: if modprobe is refused')

    def test_odd_files(self):
        self.make(lockdown='garbage\n', secure_boot=b'')
        self.advice('modprobe prefetch', '!locked down', '!Secure Boot')
        self.make(lockdown='[' + 'x' * 1000 + ']\n')
        self.advice('modprobe prefetch')
        self.make(lockdown=']none[\n')
        self.advice('modprobe prefetch', '!locked down')

    def test_hypervisor(self):
        self.make(hypervisor=True)
        self.advice('virtual machine', 'trust_hypervisor=1', 'backend=soft')

    def test_bare_metal(self):
        self.make(hypervisor=False)
        self.advice('!virtual machine')

    def test_module_without_family(self):
        self.make(loaded=True)
        self.advice('/sys/module/prefetch exists', '!modprobe')

    def test_info_tells_of_lockdown(self):
        self.make(lockdown='none [integrity] confidentiality\n',
                  secure_boot=b'\1')
        env = {'PREFETCH_TEST_ROOT': self.path('root')}
        self.check_row((0, 'info', ['kernel lockdown: integrity',
                                    'Secure Boot: on'], None), '', env=env)
        result = self.run_command('info --json', '', env=env)
        self.assertEqual(result.json()['lockdown'], 'integrity')
        self.assertEqual(result.json()['secure_boot'], True)


if __name__ == '__main__':
    harness.main()
