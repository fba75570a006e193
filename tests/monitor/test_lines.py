#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of the monitor, its filters, and what a line says."""
import re

import harness
from monitor_harness import CORE0, CORE1, END, MACHINE, SETTING, MonitorTest

BAD = [
    ('banana', "unknown word 'banana'"),
    ('--banana', "unknown word '--banana'"),
    ('banana=1', "unknown word 'banana'"),
    ('pid=', "'' is not a number for pid="),
    ('pid=0', "'0' is not a number for pid="),
    ('pid=1,,2', "'' is not a number for pid="),
    ('pid=x', "'x' is not a number for pid="),
    ('pid=2147483648', 'is not a number for pid='),
    ('-p', "'-p' needs a value"),
    ('core=x', "'x' is not a number for core="),
    ('core=-1', "'-1' is not a number for core="),
    ('event=banana', ["'banana' is not a kind for event=", 'hello, state']),
    ('event=', "'' is not a kind for event="),
    ('--count 0', "'0' is not a count"),
    ('--count x', "'x' is not a count"),
    ('--count', "'--count' needs a value"),
    ('--duration 0', "'0' is not a duration"),
    ('--duration -1', "'-1' is not a duration"),
    ('--duration nan', "'nan' is not a duration"),
    ('--duration inf', "'inf' is not a duration"),
    ('--duration 1x', "'1x' is not a duration"),
    ('--duration 1e99', "'1e99' is not a duration"),
    ('--duration 1e3', "'1e3' is not a duration"),
    ('--duration 0x5', "'0x5' is not a duration"),
    ('--duration 5.', "'5.' is not a duration"),
    ('--duration .', "'.' is not a duration"),
    ('--duration 0.00', "'0.00' is not a duration"),
    ('--duration 315360001', "'315360001' is not a duration"),
    ('--duration ' + 'x' * 100000, "'" + 'x' * 60 + "' is not a duration"),
    ('pid=' + 'x' * 100000, "'" + 'x' * 60 + "' is not a number"),
    ('x' * 100000, "unknown word '" + 'x' * 60 + "'; allowed: pid="),
    ('--top --json', '--top does not go with --json'),
]


class CommandLine(MonitorTest):
    """Options, and each reason not to start."""

    def test_bad(self):
        for scenario in (MACHINE, 'module loaded=0\n'):
            for arguments, err in BAD:
                with self.subTest(arguments=arguments):
                    result = self.monitor(arguments, '', scenario, 2)
                    self.check_text('stderr', result.err, err, result)
                    self.assertEqual(result.out, '')
                    self.assertEqual(result.err.count('prefetch-monitor: '),
                                     1)

    def test_help_and_version(self):
        for arguments in ('--help', '-h'):
            result = self.monitor(arguments, scenario='module loaded=0\n')
            self.assertIn('Usage: prefetch-monitor', result.out)
            for line in result.out.splitlines():
                self.assertLess(len(line), 80)
        for arguments in ('--version', '-V'):
            self.assertRegex(self.monitor(arguments).out,
                             r'^prefetch-monitor \d+\.\d+')

    def test_no_such_core(self):
        for arguments in ('core=9', 'core=0,9', 'core=2 --top',
                          'core=9 --json'):
            result = self.monitor(arguments, '', MACHINE, 2)
            self.assertIn('there is no core', result.err)
            self.assertEqual(result.out, '')

    def test_module_absent(self):
        for arguments in ('', '--json', '--top', 'event=setting'):
            result = self.monitor(arguments, '', 'module loaded=0\n', 4)
            self.assertIn("the kernel module 'prefetch' is not loaded",
                          result.err)
            self.assertIn('modprobe prefetch', result.err)
            self.assertEqual(result.out, '')

    def test_other_namespace(self):
        result = self.monitor('', '', 'module events-here=0\n', 3)
        self.assertIn('do not reach this network namespace', result.err)
        self.assertEqual(result.out, '')

    def test_not_permitted(self):
        user = MACHINE + 'caller privileged=0\n'
        for arguments in ('', 'event=core', 'event=setting', '--json'):
            result = self.monitor(arguments, END, user, 3)
            self.assertIn('CAP_SYS_ADMIN', result.err)
            self.assertEqual(result.err.count('prefetch-monitor: '), 1)
            self.assertEqual(result.out, '')

    def test_older_module(self):
        """A group that the module lacks is told, and the rest works."""
        result = self.monitor('', CORE0 + END,
                              MACHINE + 'module groups=core\n')
        self.assertIn('no events of group setting', result.err)
        self.assertIn('core 0 (cpus 0,1)', result.out)


class Text(MonitorTest):
    """Lines for people."""

    def test_all_kinds(self):
        out = self.monitor('', CORE0 + CORE1 + SETTING + END).out
        for text in (
                ' hello backend: msr, 2 cores, prefetchers: l2_stream,',
                ' state core 0 (cpus 0,1) off: -  by firmware: -\n',
                ' state pid 100 (server): l2_stream=off inherit=off',
                ' state pid 200 (shell): l1_ip=on inherit=on',
                ' resync done: 2 cores, 2 settings\n',
                ' core 0 (cpus 0,1) off: - -> l2_stream  switch on cpu 1 by '
                'pid 100 tid 101 (server)\n',
                ' core 1 (cpus 2,3) off: l1_ip -> -  exit on cpu 2 by pid '
                '200 tid 200 (shell), 7 changes\n',
                ' setting set pid 100 (server): l2_stream=off '
                'l2_adjacent=off l1_ip=on inherit=off',
                ' bye (signal) after 3 events\n'):
            self.assertIn(text, out)

    def test_time(self):
        for line in self.monitor('', CORE0 + END).out.splitlines():
            self.assertRegex(line, r'^\d\d:\d\d:\d\d\.\d{6} [a-z]')
        for option in ('-t', '--tshort'):
            for line in self.monitor(option, CORE0 + END).out.splitlines():
                self.assertRegex(
                    line, r'^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\] [a-z]')

    def test_soft(self):
        out = self.monitor('', END, MACHINE + 'machine backend=soft\n').out
        self.assertIn('backend: soft (no effect on hardware)', out)

    def test_hostile_name(self):
        play = CORE0.replace('comm=server', 'comm=\033[2J\x07')
        out = self.monitor('', play + END).out
        self.assertNotIn('\033', out)
        self.assertIn('(?[2J?)', out)


class Json(MonitorTest):
    """Lines for programs."""

    def test_order(self):
        """The state first, complete, then the events, then the end."""
        lines = self.lines('', CORE0 + SETTING)
        self.assertEqual(self.kinds(lines), [
            'hello', 'resync', 'state', 'state', 'state', 'state', 'resync',
            'core', 'setting', 'bye'])
        self.assertEqual((lines[1]['complete'], lines[1]['reason']),
                         (False, 'start'))
        self.assertEqual((lines[6]['complete'], lines[6]['cores'],
                          lines[6]['settings']), (True, 2, 2))

    def test_hello(self):
        hello = self.lines()[0]
        self.assertEqual({k: hello[k] for k in (
            'kind', 'backend', 'domains', 'supported', 'events_here',
            'event_interval', 'groups')}, {
                'kind': 'hello', 'backend': 'msr', 'domains': 2,
                'supported': 15, 'events_here': True, 'event_interval': 10,
                'groups': ['core', 'setting']})
        self.assertGreater(hello['receive_buffer'], 0)

    def test_state(self):
        state = [line for line in self.lines() if line['kind'] == 'state']
        core, setting = state[0], state[2]
        self.assertEqual((core['domain'], core['cpus'], core['effective'],
                          core['baseline'], core['held']),
                         (0, [0, 1], 0, 0, False))
        self.assertEqual((setting['pid'], setting['off'],
                          setting['inherit'], setting['comm']),
                         (100, 1, False, 'server'))
        self.assertNotIn('domain', setting)

    def test_nothing_programmed(self):
        """Of a core that failed at load there is no mask to tell."""
        scenario = MACHINE + ('domain id=0 failed=1 baseline=l1_ip\n'
                              'cpu id=0 domain=0\n')
        result = self.monitor('--json event=state', END, scenario)
        state = harness.json.loads(result.out.splitlines()[0])
        self.assertEqual((state['effective'], state['baseline']), (None, 8))
        result = self.monitor('event=state', END, scenario)
        self.assertIn(' off: ?  by firmware: l1_ip, FAILED\n', result.out)

    def test_core(self):
        [event] = [x for x in self.lines('', CORE0) if x['kind'] == 'core']
        self.assertEqual(event, {
            'schema': 1, 'kind': 'core', 'time': 5000000000, 'domain': 0,
            'cpus': [0, 1], 'old': 0, 'new': 1, 'cause': 'switch', 'cpu': 1,
            'pid': 100, 'tid': 101, 'comm': 'server', 'seq': 1, 'folded': 1,
            'lost': 0, 'total': 1})

    def test_folded_and_lost(self):
        play = CORE0 + CORE1.replace('folded=7', 'folded=7 lost=3')
        lines = self.lines('', play)
        events = [x for x in lines if x['kind'] == 'core']
        self.assertEqual([(e['folded'], e['lost'], e['seq'], e['total'])
                          for e in events], [(1, 0, 1, 1), (7, 3, 2, 11)])
        [lost] = [x for x in lines if x['kind'] == 'lost']
        self.assertEqual((lost['count'], lost['exact'], lost['unit'],
                          lost['group']), (3, True, 'changes', 'core'))

    def test_setting(self):
        for change in ('set', 'cleared', 'inherited', 'dropped', 'exited'):
            play = SETTING.replace('change=set', f'change={change}')
            [event] = [x for x in self.lines('', play)
                       if x['kind'] == 'setting']
            self.assertEqual((event['change'], event['pid'], event['off'],
                              event['on'], event['seq']),
                             (change, 100, 3, 8, 1))

    def test_bye(self):
        bye = self.lines('', CORE0 + CORE1)[-1]
        self.assertEqual((bye['kind'], bye['reason'], bye['events'],
                          bye['core_seq'], bye['core_events_lost']),
                         ('bye', 'signal', 2, 2, 0))


class Filters(MonitorTest):
    """What passes each filter; the end is always told."""

    def passed(self, arguments):
        found = []
        for line in self.lines(arguments, CORE0 + CORE1 + SETTING):
            what = line['kind']
            if what in ('core', 'state', 'setting'):
                what += ':' + str(line.get('domain', line.get('pid')))
            found.append(what)
        self.assertEqual(found[-1], 'bye')
        return [x for x in found[:-1] if x not in ('hello', 'resync')]

    def test_pid(self):
        self.assertEqual(self.passed('pid=100'),
                         ['state:100', 'core:0', 'setting:100'])
        self.assertEqual(self.passed('-p 200'), ['state:200', 'core:1'])
        self.assertEqual(self.passed('--pid 100,200'),
                         ['state:100', 'state:200', 'core:0', 'core:1',
                          'setting:100'])
        self.assertEqual(self.passed('pid=100,100'), self.passed('PID=100'))
        self.assertEqual(self.passed('pid=7'), [])

    def test_core(self):
        self.assertEqual(self.passed('core=1'), ['state:1', 'core:1'])
        self.assertEqual(self.passed('core=0,1'),
                         ['state:0', 'state:1', 'core:0', 'core:1'])
        self.assertEqual(self.passed('CORE=1'), ['state:1', 'core:1'])
        self.assertEqual(self.passed('core=0 pid=200'), [])
        self.assertEqual(self.passed('core=1,1'), ['state:1', 'core:1'])
        self.assertEqual(self.passed('core=1 pid=200'), ['core:1'])

    def test_event(self):
        self.assertEqual(self.passed('event=core'), ['core:0', 'core:1'])
        self.assertEqual(self.passed('event=setting'), ['setting:100'])
        self.assertEqual(self.passed('Event=SETTING'), ['setting:100'])
        self.assertEqual(self.passed('event=state'),
                         ['state:0', 'state:1', 'state:100', 'state:200'])
        self.assertEqual(self.passed('event=core,setting core=0'), ['core:0'])
        self.assertEqual(self.kinds(self.lines('event=core', CORE0)),
                         ['core', 'bye'])
        self.assertEqual(self.kinds(self.lines('event=hello')),
                         ['hello', 'bye'])

    def test_loss_is_never_hidden(self):
        kinds = self.kinds(self.lines('event=setting core=1 pid=7',
                                      'play overflow count=2\n'))
        self.assertIn('lost', kinds)
        kinds = self.kinds(self.lines('event=core', 'play unload\n'))
        self.assertIn('gone', kinds)


class Ends(MonitorTest):
    """--count and --duration."""

    def test_count(self):
        play = CORE0 * 3 + SETTING
        for count, expected in ((1, ['core']), (3, ['core'] * 3),
                                (4, ['core'] * 3 + ['setting'])):
            result = self.monitor(f'-j event=core,setting --count {count}',
                                  play)
            kinds = re.findall(r'"kind":"(\w+)"', result.out)
            self.assertEqual(kinds, expected + ['bye'])
            self.assertIn('"reason":"count"', result.out)

    def test_count_counts_what_passes(self):
        result = self.monitor('-j event=core core=1 -c 1', CORE0 * 5 + CORE1)
        self.assertEqual(re.findall(r'"kind":"(\w+)"', result.out),
                         ['core', 'bye'])

    def test_duration(self):
        for option in ('--duration 0.2', '-d 0.2'):
            result = self.monitor(option, CORE0)
            self.assertIn('core 0', result.out)
            self.assertIn('bye (duration) after 1 events', result.out)


if __name__ == '__main__':
    harness.main()
