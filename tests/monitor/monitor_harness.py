# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the monitor on a fake kernel that plays events."""
import json
import subprocess

import harness

MACHINE = """
task pid=100 tid=100 comm=server start=1000000
task pid=200 tid=200 comm=shell start=2000000
setting pid=100 off=1
setting pid=200 on=8 inherit=1
"""

CORE0 = ('play core domain=0 old=0 new=l2_stream cause=switch cpu=1 pid=100 '
         'tid=101 comm=server time=5000000000 folded=1\n')
CORE1 = ('play core domain=1 old=l1_ip new=0 cause=exit cpu=2 pid=200 '
         'tid=200 comm=shell time=6000000000 folded=7\n')
SETTING = 'play setting pid=100 tid=0 off=3 on=8 change=set\n'
# What is played last: the monitor ends by itself.
END = 'play raise signal=15\n'


class MonitorTest(harness.CommandTest):
    """A test with a fake kernel; the program is the monitor."""

    scenario = MACHINE

    def monitor(self, arguments='', play='', scenario=None, status=0):
        text = (self.scenario if scenario is None else scenario) + play
        result = self.run_command(arguments, text)
        self.assertEqual(result.status, status, str(result))
        return result

    def lines(self, arguments='', play='', scenario=None):
        """The JSON lines of a run that plays @play and ends."""
        result = self.monitor('--json ' + arguments, play + END, scenario)
        self.assertEqual(result.err, '')
        lines = [json.loads(line) for line in result.out.splitlines()]
        for line in lines:
            self.assertEqual(line['schema'], 1)
            self.assertIsInstance(line['time'], int)
        return lines

    def kinds(self, lines):
        return [line['kind'] for line in lines]

    def start(self, arguments, scenario, **more):
        """A monitor that goes on; the caller ends it."""
        self.write('scenario', scenario)
        process = subprocess.Popen(
            [harness.PROGRAM] + arguments, encoding='utf-8',
            env=self.environment(None), stderr=subprocess.PIPE, **more)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process
