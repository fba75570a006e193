#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON output: parsed, and every promised member looked at."""
import harness
from harness import MACHINE, CommandTest

L2_STREAM, L2_ADJACENT, L1_STREAM, L1_IP = 1, 2, 4, 8


class Json(CommandTest):
    """Schema 1."""

    def parse(self, arguments, scenario=None, **more):
        result = self.run_command(arguments, scenario, **more)
        self.assertEqual(result.status, 0, str(result))
        value = result.json()
        self.assertEqual(value['schema'], 1)
        return value

    def test_set_and_get(self):
        value = self.parse('set pid=100 l2_stream=off l1_ip=on inherit=on -j')
        self.assertEqual(value['backend'], 'msr')
        [setting] = value['settings']
        self.assertEqual({k: setting[k] for k in (
            'pid', 'scope', 'present', 'off', 'on', 'inherit', 'wish_off',
            'wish_on', 'start_time', 'comm', 'partial')}, {
                'pid': 100, 'scope': 'process', 'present': True,
                'off': L2_STREAM, 'on': L1_IP, 'inherit': True,
                'wish_off': L2_STREAM, 'wish_on': L1_IP,
                'start_time': 1000000, 'comm': 'server', 'partial': 0})
        self.assertNotIn('tid', setting)
        self.assertGreater(setting['id'], 0)
        self.assertIsInstance(setting['uid'], int)
        again = self.parse('--json get pid=100', keep=True)
        self.assertEqual(again['settings'][0]['off'], L2_STREAM)

    def test_start_time_guards(self):
        """What get told is what set accepts."""
        [seen] = self.parse('get pid=100 -j')['settings']
        self.assertFalse(seen['present'])
        self.parse(f'set pid=100 l1=off start-time={seen["start_time"]} -j')

    def test_thread(self):
        [setting] = self.parse('set tid=101 l1=off -j')['settings']
        self.assertEqual(setting['scope'], 'thread')
        self.assertEqual((setting['pid'], setting['tid']), (100, 101))
        self.assertEqual(setting['off'], L1_STREAM | L1_IP)

    def test_several(self):
        value = self.parse('set pid=100,200 l2_adjacent=off -j')
        self.assertEqual([s['pid'] for s in value['settings']], [100, 200])

    def test_partly_failed(self):
        result = self.run_command('set pid=100,999999999 l1=off -j')
        self.assertEqual(result.status, 6)
        self.assertEqual([s['pid'] for s in result.json()['settings']], [100])
        self.assertEqual(result.err.count('prefetchctl: '), 1)

    def test_failed(self):
        for arguments in ('get pid=999999999 -j', 'set pid=300 l1=off -j'):
            result = self.run_command(
                arguments, MACHINE + 'caller privileged=0\n')
            self.assertEqual(result.out, '')
            self.assertNotEqual(result.status, 0)

    def test_clear(self):
        scenario = MACHINE + 'setting pid=100 off=1\nsetting pid=200 off=1\n'
        value = self.parse('clear pid=100 -j', scenario)
        self.assertFalse(value['settings'][0]['present'])
        value = self.parse('clear all -j', scenario)
        self.assertEqual([s['present'] for s in value['settings']],
                         [False, False])
        self.assertEqual(self.parse('clear all -j')['settings'], [])

    def test_default(self):
        value = self.parse('set default l2_stream=off l1_ip=on -j')
        self.assertEqual(value['default'],
                         {'off': L2_STREAM, 'on': L1_IP, 'partial': 0})
        value = self.parse('get default -j', keep=True)
        self.assertEqual(value['default']['off'], L2_STREAM)
        value = self.parse('clear default -j', keep=True)
        self.assertEqual(value['default']['off'], 0)

    def test_list(self):
        scenario = MACHINE + ''.join(
            f'task pid={pid} tid={pid} comm=t{pid}\nsetting pid={pid} off=1\n'
            for pid in range(1000, 1200))
        pids = [s['pid'] for s in self.parse('list -j', scenario)['settings']]
        self.assertEqual(pids, list(range(1000, 1200)))

    def test_cores(self):
        scenario = MACHINE + (
            'module attached=1\nsetting pid=100 off=1\n'
            'domain id=0 baseline=l1_ip\n'
            'cpu id=0 domain=0 pid=100 tid=100\ncpu id=4 domain=0\n'
            'domain id=1 held=1\ncpu id=1 domain=1 online=0\n')
        value = self.parse('cores -j', scenario)
        first, second = value['cores']
        self.assertEqual((first['domain'], first['cpus']), (0, [0, 4]))
        self.assertEqual(first['core_type'], 'uniform')
        self.assertEqual(first['supported'], 15)
        self.assertEqual(first['baseline'], L1_IP)
        self.assertIsInstance(first['effective'], int)
        self.assertIsInstance(first['writes'], int)
        cpu = first['per_cpu'][0]
        self.assertEqual((cpu['id'], cpu['online'], cpu['has_wish']),
                         (0, True, True))
        self.assertEqual((cpu['pid'], cpu['tid'], cpu['comm'],
                          cpu['wish_off']), (100, 100, 'server', L2_STREAM))
        self.assertFalse(first['per_cpu'][1]['has_wish'])
        self.assertTrue(second['held'])
        self.assertFalse(second['failed'])
        self.assertFalse(second['per_cpu'][0]['online'])
        for name in ('read', 'differs', 'registers'):
            self.assertNotIn(name, first)

    def test_verify_and_repair(self):
        scenario = MACHINE + (
            'domain id=0 foreign=l2_adjacent\ncpu id=0 domain=0\n'
            'domain id=1\ncpu id=1 domain=1\n')
        first, second = self.parse('cores -v -j', scenario)['cores']
        self.assertTrue(first['differs'])
        self.assertFalse(second['differs'])
        self.assertEqual(first['read'], L2_ADJACENT)
        [register] = first['registers']
        self.assertEqual(register, {'address': 0x1a4, 'programmed': 0,
                                    'value': L2_ADJACENT, 'baseline': 0})
        [repaired] = self.parse('repair -j', scenario)['repaired']
        self.assertEqual((repaired['domain'], repaired['before'],
                          repaired['after']), (0, L2_ADJACENT, 0))
        self.assertEqual(self.parse('repair -j')['repaired'], [])

    def test_fault(self):
        scenario = MACHINE + (
            'domain id=0 failed=1 fault=stuck stuck=l2_adjacent baseline=l1_ip\n'
            'cpu id=0 domain=0\n'
            'domain id=1 hybrid_id=0x20000001\ncpu id=1 domain=1\n'
            'domain id=2 failed=1 fault=absent\ncpu id=2 domain=2\n')
        first, second, third = self.parse('cores -v -j', scenario)['cores']
        self.assertEqual(first['fault'], {
            'kind': 'stuck', 'register': 0x1a4, 'bits': L2_ADJACENT,
            'stuck': L2_ADJACENT})
        self.assertEqual(first['registers'][0]['baseline'], 8)
        self.assertIsNone(first['hybrid_id'])
        self.assertIsNone(second['fault'])
        self.assertEqual(second['hybrid_id'], 0x20000001)
        self.assertEqual(third['fault']['kind'], 'absent')
        self.assertIsNone(third['registers'][0]['baseline'])
        self.assertIsInstance(second['effective'], int)
        self.assertIsInstance(second['registers'][0]['programmed'], int)

    def test_nothing_programmed(self):
        """A core that failed at load has no number that was programmed."""
        scenario = MACHINE + (
            'domain id=0 failed=1 fault=stuck baseline=l1_ip\n'
            'cpu id=0 domain=0\n'
            'domain id=1 failed=1 fault=write writes=3 baseline=l1_ip\n'
            'cpu id=1 domain=1\n')
        for arguments in ('cores -v -j', 'info --report -j'):
            first, second = self.parse(arguments, scenario)['cores']
            self.assertIsNone(first['effective'], arguments)
            self.assertEqual(first['registers'], [
                {'address': 0x1a4, 'programmed': None, 'value': 8,
                 'baseline': 8}])
            self.assertIsInstance(second['effective'], int)
            self.assertIsInstance(second['registers'][0]['programmed'], int)
        first, second = self.parse('cores -j', scenario)['cores']
        self.assertIsNone(first['effective'])
        self.assertIsInstance(second['effective'], int)
        rows = self.run_command('cores', scenario).out.splitlines()
        self.assertEqual([row.split()[3] for row in rows[1:3]],
                         ['?', 'l1_ip'], rows)

    def test_info(self):
        value = self.parse('info -j')
        self.assertEqual(value['backend'], 'msr')
        self.assertEqual((value['cpu_family'], value['cpu_model']), (6, 85))
        self.assertEqual((value['domains'], value['supported']), (2, 15))
        self.assertEqual(value['events_here'], True)
        self.assertEqual((value['user_settings'], value['max_user_settings']),
                         (0, 4096))
        names = {p['name']: p for p in value['prefetchers']}
        self.assertEqual(set(names), {'l2_stream', 'l2_adjacent', 'l1_stream',
                                      'l1_ip'})
        self.assertIn('dcu', names['l1_stream']['aliases'])
        [location] = names['l1_ip']['locations']
        self.assertEqual((location['register'], location['shift'],
                          location['width']), (0x1a4, 3, 1))

    def test_soft(self):
        scenario = MACHINE + 'machine backend=soft\n'
        for arguments in ('set pid=100 l1=off -j', 'list -j', 'cores -j',
                          'repair -j', 'info -j', 'get default -j'):
            self.assertEqual(self.parse(arguments, scenario)['backend'],
                             'soft')

    def test_version(self):
        value = self.parse('version -j')
        self.assertEqual(value['prefetchctl'], value['library'])
        self.assertIsInstance(value['module'], str)
        value = self.parse('version -j', 'module loaded=0\n')
        self.assertIsNone(value['module'])

    def test_bad_utf8_name(self):
        """A name that is no UTF-8 still gives valid JSON."""
        path = self.path('scenario')
        with open(path, 'wb') as file:
            file.write(b'task pid=100 tid=100 comm=a\xff\xc3b\x1b\n')
        done = harness.subprocess.run(
            [harness.PROGRAM, 'get', 'pid=100', '--json'],
            capture_output=True, env=self.environment(None), timeout=60,
            check=True)
        value = harness.json.loads(done.stdout.decode('utf-8'))
        self.assertEqual(value['settings'][0]['comm'], 'a??b?')

    def test_run_tells_on_stderr(self):
        result = self.run_command('run l1=off --json -- echo hello')
        self.assertEqual(result.out, 'hello\n')
        value = harness.json.loads(result.err)
        self.assertEqual(value['schema'], 1)
        self.assertEqual(value['setting']['off'], L1_STREAM | L1_IP)
        self.assertTrue(value['setting']['inherit'])


if __name__ == '__main__':
    harness.main()
