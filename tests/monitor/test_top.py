#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--top on a terminal of its own."""
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time

import harness
from monitor_harness import MACHINE, MonitorTest

BUSY = MACHINE + ('module attached=1\n'
                  'domain id=0 type=performance held=1\n'
                  'cpu id=0 domain=0 pid=100 tid=100\n'
                  'cpu id=1 domain=0 online=0\n'
                  'domain id=1 failed=1\ncpu id=2 domain=1\n')
LONG = 60


class Terminal:
    """A program on a pseudo terminal of 100 columns."""

    def __init__(self, test, arguments, scenario, lines=24):
        test.write('scenario', scenario)
        self.primary, secondary = os.openpty()
        test.addCleanup(os.close, self.primary)
        fcntl.ioctl(secondary, termios.TIOCSWINSZ,
                    struct.pack('HHHH', lines, 100, 0, 0))
        self.process = subprocess.Popen(
            [harness.PROGRAM, '--top'] + arguments, stdin=secondary,
            stdout=secondary, stderr=subprocess.PIPE, encoding='utf-8',
            env=test.environment({'TERM': 'xterm'}), start_new_session=True)
        os.close(secondary)
        test.addCleanup(self.process.stderr.close)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)
        self.seen = ''

    def read(self, *until):
        """What was drawn, until one of the texts comes or it ends."""
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline:
            if any(text in self.seen for text in until):
                return self.seen
            if not select.select([self.primary], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self.primary, 65536)
            except OSError:
                data = b''
            if not data:
                break
            self.seen += data.decode('utf-8', 'replace')
        if until and not any(text in self.seen for text in until):
            raise AssertionError(f'{until!r} did not come: {self.seen!r}')
        return self.seen

    def key(self, keys):
        os.write(self.primary, keys)


class Top(MonitorTest):
    """The table, the keys, and each way to end."""

    def test_table(self):
        top = Terminal(self, ['--count', '1'], BUSY)
        seen = top.read()
        self.assertEqual(top.process.wait(timeout=LONG), 0, seen)
        for text in ('backend: msr', 'GenuineIntel', 'CORE  OFF', 'held',
                     'FAILED', 'server', 'offline', 'l2_stream=off'):
            self.assertIn(text, seen)

    def test_quit(self):
        top = Terminal(self, [], BUSY)
        top.read('FAILED')
        top.key(b'q')
        top.read()
        self.assertEqual(top.process.wait(timeout=LONG), 0)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            top = Terminal(self, [], BUSY)
            top.read('FAILED')
            top.process.send_signal(number)
            # The terminal is left as it was found.
            self.assertIn('\033[?1049l', top.read())
            self.assertEqual(top.process.wait(timeout=LONG), 0)

    def test_signal_under_keys(self):
        """Keys without end, as of one that is stuck: a signal is seen."""
        top = Terminal(self, [], BUSY)
        top.read('FAILED')
        os.set_blocking(top.primary, False)
        stop = time.monotonic() + 2
        deadline = stop + 10
        while top.process.poll() is None and time.monotonic() < deadline:
            if stop and time.monotonic() > stop:
                top.process.send_signal(signal.SIGTERM)
                stop = None
            try:
                top.key(b'x' * 4096)
            except OSError:
                pass  # full for now, or the program has ended
            try:
                os.read(top.primary, 65536)
            except OSError:
                pass
        self.assertEqual(top.process.poll(), 0)

    def test_stopped_terminal(self):
        """Nothing can be drawn any more, as after Control-S: it ends."""
        top = Terminal(self, [], BUSY)
        top.read('FAILED')
        top.key(b'\x13')
        time.sleep(2.5)  # it draws, and is kept
        top.process.send_signal(signal.SIGTERM)
        self.assertEqual(top.process.wait(timeout=60), 0)

    def test_control_c(self):
        top = Terminal(self, [], BUSY)
        fcntl.ioctl(top.primary, termios.TIOCSWINSZ,
                    struct.pack('HHHH', 30, 80, 0, 0))
        top.read('FAILED')
        os.killpg(top.process.pid, signal.SIGINT)
        top.read()
        self.assertEqual(top.process.wait(timeout=LONG), 0)

    def test_duration(self):
        top = Terminal(self, ['--duration', '0.3'], BUSY)
        top.read()
        self.assertEqual(top.process.wait(timeout=LONG), 0)

    def test_scroll(self):
        scenario = MACHINE + ''.join(
            f'domain id={n} type=uniform\ncpu id={n} domain={n}\n'
            for n in range(7100, 7140))
        top = Terminal(self, [], scenario, lines=10)
        self.assertNotIn('7139', top.read('7106'))
        top.key(b'\033[6~' * 8)
        # The whole number, or what differs from the one before it there.
        top.read('7139', 'H39')
        top.key(b'q')
        top.read()
        self.assertEqual(top.process.wait(timeout=LONG), 0)

    def test_core_filter(self):
        top = Terminal(self, ['core=1', '--count', '1'], BUSY)
        seen = top.read()
        self.assertIn('FAILED', seen)
        self.assertNotIn('held', seen)
        # It failed at load: nothing was programmed there.
        self.assertRegex(seen, r'1  \?\x1b.*FAILED')

    def test_soft(self):
        top = Terminal(self, ['--count', '1'],
                       BUSY + 'machine backend=soft\n')
        self.assertIn('backend: soft (no effect on hardware)', top.read())

    def test_module_goes(self):
        top = Terminal(self, ['--count', '2'], BUSY +
                       'error cmd=core-get errno=EIO count=1 skip=1 '
                       'text=the core is on holiday\n')
        self.assertIn('the core is on holiday', top.read())
        self.assertEqual(top.process.wait(timeout=LONG), 0)

    def test_no_terminal(self):
        result = self.monitor('--top', '', BUSY, 1)
        self.assertIn('--top needs a terminal', result.err)

    def test_unknown_terminal(self):
        self.write('scenario', BUSY)
        primary, secondary = os.openpty()
        self.addCleanup(os.close, primary)
        done = subprocess.run(
            [harness.PROGRAM, '--top'], stdin=secondary, stdout=secondary,
            stderr=subprocess.PIPE, encoding='utf-8', timeout=LONG,
            env=self.environment({'TERM': 'no-such-terminal'}), check=False)
        os.close(secondary)
        self.assertEqual(done.returncode, 1)
        self.assertIn('does not know this terminal', done.stderr)


if __name__ == '__main__':
    harness.main()
