#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The stream: flushed, ended cleanly, and never ended by trouble."""
import json
import os
import select
import signal
import socket
import subprocess
import time

import harness
from monitor_harness import CORE0, CORE1, END, MACHINE, SETTING, MonitorTest

LONG = 60
# Seconds that the end in a storm may take, where this machine is busy.
STORM_MOST = 20


class Trouble(MonitorTest):
    """Overflow, gaps, and a module that goes and comes."""

    def after_start(self, lines):
        """The lines after the first complete state."""
        for index, line in enumerate(lines):
            if line['kind'] == 'resync' and line['complete']:
                return lines[index + 1:]
        self.fail('no complete state')
        return None

    def test_overflow(self):
        """Lost events are counted, the state comes again, and it goes on."""
        lines = self.after_start(self.lines(
            '', CORE0 + 'play overflow count=5\n' + CORE1))
        kinds = self.kinds(lines)
        self.assertEqual(kinds[0], 'core')
        self.assertEqual(kinds[-1], 'bye')
        self.assertIn('lost', kinds)
        last_lost = len(kinds) - 1 - kinds[::-1].index('lost')
        resyncs = [x for x in lines[last_lost + 1:] if x['kind'] == 'resync']
        self.assertEqual([(x['complete'], x['reason']) for x in resyncs],
                         [(False, 'lost'), (True, 'lost')])
        self.assertEqual(sum(x['count'] for x in lines
                             if x['kind'] == 'lost' and x['exact']), 5)
        self.assertIn('state', kinds)
        self.assertEqual(sum(k == 'core' for k in kinds), 2)

    def test_gap(self):
        """A gap in the numbers alone tells of the loss, too."""
        lines = self.after_start(self.lines(
            '', CORE0 + 'play gap count=4\n' + CORE1))
        lost = [x for x in lines if x['kind'] == 'lost']
        self.assertEqual([(x['count'], x['exact'], x['unit'])
                          for x in lost], [(4, True, 'events')])
        self.assertEqual([(x['changes'], x['changes_exact']) for x in lost],
                         [(4, True)])
        self.assertEqual([x['domain'] for x in lines if x['kind'] == 'core'],
                         [0, 1])

    def test_lost_in_text(self):
        out = self.monitor('', CORE0 + 'play gap count=4\n' + CORE1 +
                           END).out
        self.assertIn(' lost 4 events (4 changes) of group core\n', out)
        self.assertIn(' resync (lost): the state follows\n', out)

    def test_reload(self):
        lines = self.after_start(self.lines(
            '', CORE0 + 'play unload\nplay load\n' + CORE1))
        kinds = self.kinds(lines)
        self.assertEqual(kinds[:4], ['core', 'gone', 'hello', 'resync'])
        self.assertEqual(lines[3]['reason'], 'module-loaded')
        self.assertEqual(kinds[-2:], ['core', 'bye'])
        self.assertEqual(lines[-2]['domain'], 1)

    def test_unloaded_at_the_end(self):
        bye = self.lines('', 'play unload\n')[-1]
        self.assertEqual((bye['kind'], bye['reason']), ('bye', 'signal'))
        self.assertNotIn('core_seq', bye)

    def test_many_events(self):
        lines = self.lines('event=core', CORE0 * 3000)
        seqs = [x['seq'] for x in lines if x['kind'] == 'core']
        self.assertEqual(seqs, list(range(1, 3001)))

    def test_what_has_come_is_told(self):
        """Events that wait in the socket when the signal comes."""
        result = self.monitor('--json event=core', CORE0 + END + CORE1 * 3)
        lines = [json.loads(line) for line in result.out.splitlines()]
        self.assertEqual(self.kinds(lines), ['core'] * 4 + ['bye'])
        self.assertEqual(lines[-1]['events'], 4)

    def test_signal_under_load(self):
        """There is always an event to tell: a signal is seen all the same."""
        result = self.monitor('--json event=core --count 9',
                              CORE0 + END + CORE1 * 20)
        bye = json.loads(result.out.splitlines()[-1])
        self.assertEqual((bye['reason'], bye['events']), ('signal', 9))

    def storm(self, kind, arguments='', number=15):
        """The last line of a run on a slow machine, in a storm that the signal
        comes into after 20 readings, or never."""
        scenario = ('play storm kind=' + kind + ' delay=5000 domain=0 '
                    'new=l1_ip cause=switch')
        if number:
            scenario += f' after=20 signal={number}'
        result = self.monitor('--json ' + arguments, scenario + '\n')
        return json.loads(result.out.splitlines()[-1])

    def test_signal_in_a_storm(self):
        """The end does not wait until the stream dries up.

        Telling what has come may take half a second; by then there can be
        100 events of 5 ms."""
        for kind in ('core', 'overflow', 'reload', 'noise'):
            for number in (signal.SIGINT, signal.SIGTERM):
                with self.subTest(kind=kind, number=number):
                    began = time.monotonic()
                    bye = self.storm(kind, number=int(number))
                    self.assertEqual((bye['kind'], bye['reason']),
                                     ('bye', 'signal'))
                    self.assertLess(bye['events'], 150)
                    self.assertLess(time.monotonic() - began, STORM_MOST)

    def test_duration_in_a_storm(self):
        for kind in ('core', 'overflow', 'reload', 'noise'):
            with self.subTest(kind=kind):
                began = time.monotonic()
                bye = self.storm(kind, '--duration 0.2', None)
                self.assertEqual((bye['kind'], bye['reason']),
                                 ('bye', 'duration'))
                self.assertLess(bye['events'], 170)
                self.assertLess(time.monotonic() - began, STORM_MOST)

    def test_changes_nothing(self):
        """No request of the monitor changes a setting."""
        self.monitor('', CORE0 + SETTING + END)
        settings = sorted(line for line in self.saved.splitlines()
                          if line.startswith('setting'))
        self.assertEqual(len(settings), 2, self.saved)


class Output(MonitorTest):
    """Where the lines go."""

    def wait_for(self, path, text):
        deadline = time.monotonic() + LONG
        while time.monotonic() < deadline:
            with open(path, encoding='utf-8') as file:
                data = file.read()
            if text in data:
                return data
            time.sleep(0.01)
        self.fail(f'{text!r} did not come: {data!r}')
        return None

    def test_file_is_flushed(self):
        """Each line is in the file while the monitor still runs."""
        path = self.path('out')
        with open(path, 'w', encoding='utf-8') as out:
            process = self.start(['--json'], MACHINE + CORE0, stdout=out)
        data = self.wait_for(path, '"kind":"core"')
        self.assertTrue(data.endswith('}\n'))
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=LONG), 0)
        last = self.wait_for(path, '"kind":"bye"').splitlines()[-1]
        self.assertEqual(json.loads(last)['kind'], 'bye')

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(['--json'], MACHINE + CORE0,
                                 stdout=subprocess.PIPE)
            for line in process.stdout:
                if json.loads(line)['kind'] == 'core':
                    break
            process.send_signal(number)
            rest = process.stdout.read().splitlines()
            process.stdout.close()
            self.assertEqual(process.wait(timeout=LONG), 0)
            self.assertEqual(json.loads(rest[-1])['reason'], 'signal')
            self.assertEqual(process.stderr.read(), '')

    def test_signal_while_blocked(self):
        """Started with the signals blocked, as by some supervisors."""
        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK,
                                   {signal.SIGINT, signal.SIGTERM})

        process = self.start([], MACHINE, stdout=subprocess.PIPE,
                             preexec_fn=block)
        while 'resync done' not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=LONG), 0)

    def test_closed_pipe_while_idle(self):
        """The reader goes while nothing happens: a clean end at once."""
        process = self.start([], MACHINE, stdout=subprocess.PIPE)
        while 'resync done' not in process.stdout.readline():
            pass
        process.stdout.close()
        self.assertEqual(process.wait(timeout=LONG), 0)
        self.assertEqual(process.stderr.read(), '')

    def test_closed_pipe_while_busy(self):
        """As `prefetch-monitor | head -1`."""
        process = self.start([], MACHINE + CORE0 * 3000,
                             stdout=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=LONG), 0)
        self.assertEqual(process.stderr.read(), '')

    def test_slow_reader_can_be_left(self):
        """The pipe is full and nobody reads: a signal still ends it."""
        process = self.start([], MACHINE + CORE0 * 3000,
                             stdout=subprocess.PIPE)
        process.stdout.read(1)
        time.sleep(0.5)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=LONG), 0)
        data = process.stdout.read()
        process.stdout.close()
        # Nothing was written after the line that was cut, if one was.
        for line in data.splitlines()[1:-1]:
            self.assertRegex(line, r'^\d\d:\d\d:\d\d\.\d{6} [a-z]')

    def test_terminal_that_is_not_read(self):
        """It has room for a part of a line, so the write waits for more."""
        primary, secondary = os.openpty()
        self.addCleanup(os.close, primary)
        process = self.start([], MACHINE + CORE0 * 3000, stdout=secondary)
        os.close(secondary)
        # Once it writes it is ready for a signal; soon there is no room left.
        select.select([primary], [], [], LONG)
        time.sleep(2)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=LONG), 0)
        self.assertEqual(process.stderr.read(), '')

    def test_slow_reader_and_duration(self):
        process = self.start(['--duration', '0.5'], MACHINE + CORE0 * 3000,
                             stdout=subprocess.PIPE)
        self.assertEqual(process.wait(timeout=LONG), 0)
        process.stdout.close()
        self.assertEqual(process.stderr.read(), '')

    def test_full_disk(self):
        with open('/dev/full', 'w', encoding='utf-8') as full:
            process = self.start([], MACHINE + CORE0, stdout=full)
        self.assertEqual(process.wait(timeout=LONG), 1)
        self.assertIn('cannot write: No space left', process.stderr.read())

    def test_closed_socket(self):
        """Of a socket poll() does not tell; the write does."""
        ours, theirs = socket.socketpair()
        ours.close()
        process = self.start([], MACHINE + CORE0, stdout=theirs.fileno())
        theirs.close()
        self.assertEqual(process.wait(timeout=LONG), 0)
        self.assertEqual(process.stderr.read(), '')

    def test_output_closed(self):
        """No socket takes the place of a closed standard output."""
        process = self.start([], MACHINE + CORE0,
                             preexec_fn=lambda: os.close(1))
        self.assertEqual(process.wait(timeout=LONG), 1)
        self.assertIn('cannot write: Bad file', process.stderr.read())

    def test_no_reader_is_not_killed(self):
        """SIGPIPE does not kill it: the status is 0, not 141."""
        read, write = os.pipe()
        os.close(read)
        process = self.start([], MACHINE + CORE0, stdout=write)
        os.close(write)
        self.assertEqual(process.wait(timeout=LONG), 0)


if __name__ == '__main__':
    harness.main()
