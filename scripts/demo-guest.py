#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts/demo shows, run inside the guest: demo-guest.py DIR.

DIR receives the recording that the judge on the host needs.  Lines that begin
with '== ' are steps; ends with 0 if all was as it must be.

CPUs 0 and 1 are the hyperthreads of core 0, CPUs 2 and 3 those of core 1.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

SERVER_CPU, SIBLING_CPU, FAR_CPU, CLIENT_CPU = range(4)
REGISTER = 0x1A4
MODULE = Path("/sys/module/prefetch/parameters")
BITS = {"l2_stream": 1, "l2_adjacent": 2, "l1_stream": 4, "l1_ip": 8}

# The judge needs enough register writes for its word to mean something.
WANTED_WRITES = 1200
MOVES = 20
STEP_LIMIT = 120
# A core's changes are folded over this time, so that one can read along: under
# load there are hundreds a second, in the steps between only a few.
LOAD_INTERVAL_MS, STEP_INTERVAL_MS = 1000, 250

# A neighbour that never sleeps, and one that works in short bursts.
SIBLING = "while :; do :; done"
FAR = "exec 9<> fifo; while :; do for i in {1..400}; do :; done; " \
      "read -t 0.02 -u 9; done"


class Broken(Exception):
    """The show cannot go on."""


def step(text):
    """One more step, for the host to put a time before it."""
    print(f"== {text}", flush=True)


# The monitor's lines come in between, but not within what a command printed.
_whole = threading.Lock()


def show(text):
    """Lines that explain, or that a command has printed."""
    with _whole:
        for line in text.rstrip().splitlines():
            print(f"   {line}".rstrip(), flush=True)


def wait_for(what, probe):
    """Poll until probe() is true."""
    end = time.monotonic() + STEP_LIMIT
    while not probe():
        if time.monotonic() > end:
            raise Broken(f"{what}: not within {STEP_LIMIT} s")
        time.sleep(0.1)


def output(*argv):
    """Standard output of a command that must succeed."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise Broken(f"'{' '.join(argv)}' ended with {done.returncode}: "
                     f"{done.stdout.strip()}")
    return done.stdout


def marker(text):
    """Tell the judge, through the kernel's trace."""
    with open("/sys/kernel/tracing/trace_marker", "w",
              encoding="ascii") as file:
        file.write(text)


def cores():
    """What the module says about each core."""
    return json.loads(output("prefetchctl", "--json", "cores"))["cores"]


def effective(domain=0):
    """The mask that is programmed on a core now."""
    return cores()[domain]["effective"]


def both_wish():
    """Core 0's mask if both its CPUs wish something now, else None.

    A kernel thread that takes a CPU for a moment has no wish.
    """
    core = cores()[0]
    if all(cpu.get("has_wish") for cpu in core["per_cpu"]):
        return core["effective"]
    return None


def mask_of_both():
    """Core 0's mask while server and sibling run."""
    found = []

    def probe():
        found.append(both_wish())
        return found[-1] is not None

    wait_for("server and sibling run at the same time", probe)
    return found[-1]


def info(field):
    """A counter of the module."""
    return json.loads(output("prefetchctl", "--json", "info"))[field]


def register(cpu):
    """The register itself, read without our module."""
    with open(f"/dev/cpu/{cpu}/msr", "rb", buffering=0) as file:
        return int.from_bytes(os.pread(file.fileno(), 8, REGISTER), "little")


def fold_over(milliseconds):
    """How often the monitors hear of a core."""
    (MODULE / "event_interval_ms").write_text(str(milliseconds))


def gather(cpus):
    """All that runs already, runs on these CPUs from now on, where it can.

    Else the kernel's workers and the guest's own helpers take a CPU of core 0
    for a moment every now and then, and each time the core's mask changes.
    """
    mask = sum(1 << cpu for cpu in cpus)
    with contextlib.suppress(OSError):
        Path("/sys/devices/virtual/workqueue/cpumask").write_text(f"{mask:x}")
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                os.sched_setaffinity(int(name), cpus)


class Requests:
    """prefetchctl, with each request told to the judge."""

    def __init__(self):
        self._number = 0

    def set(self, target, *words):
        """prefetchctl set TARGET NAME=STATE..."""
        masks = {"off": 0, "on": 0, "default": 0}
        for word in words:
            name, state = word.split("=")
            masks[state] |= BITS[name]
        self._run("set", target, words, masks)

    def clear(self, target):
        """prefetchctl clear TARGET"""
        self._run("clear", target, (), {"off": 0, "on": 0, "default": 15})

    def _run(self, verb, target, words, masks):
        self._number += 1
        show(f"$ prefetchctl {' '.join((verb, target, *words))}")
        marker(f"prefetch-req begin {self._number} {verb} {target} "
               f"off={masks['off']:#x} on={masks['on']:#x} "
               f"clear={masks['default']:#x} inherit=0")
        text = output("prefetchctl", verb, target, *words)
        marker(f"prefetch-req end {self._number} 0")
        show(text)


class Checks:
    """What must hold; a failure does not stop the show."""

    def __init__(self):
        self.failures = []

    def that(self, good, text):
        """One statement, and whether it is true."""
        show(f"{'ok' if good else 'FAILED'}: {text}")
        if not good:
            self.failures.append(text)


class Monitors:
    """prefetch-monitor twice: for the reader, and for the judge."""

    def __init__(self, place):
        self._file = place / "events"
        with open(self._file, "wb") as out:
            # pylint: disable=consider-using-with
            self._json = subprocess.Popen(["prefetch-monitor", "--json"],
                                          stdout=out)
        self._text = subprocess.Popen(
            ["prefetch-monitor", "event=core,setting"], text=True,
            stdout=subprocess.PIPE)
        threading.Thread(target=self._relay, daemon=True).start()
        wait_for("the monitor begins",
                 lambda: '"complete":true' in self._file.read_text())

    def _relay(self):
        for line in self._text.stdout:
            with _whole:
                print(f"   | {line}", end="", flush=True)

    def told(self):
        """How many register changes the events stand for."""
        return sum(json.loads(line)["folded"]
                   for line in self._file.read_text().splitlines()
                   if '"kind":"core"' in line)

    def end(self):
        """Stop both; they must end well."""
        for monitor in (self._json, self._text):
            monitor.send_signal(signal.SIGINT)
        for monitor in (self._json, self._text):
            if monitor.wait(STEP_LIMIT):
                raise Broken(f"a monitor ended with {monitor.returncode}")


class Machine:
    """The server, its load, and its two neighbours."""

    def __init__(self):
        self.all = []
        for name, script in (("sibling", SIBLING), ("far", FAR)):
            Path(name).write_text(f"#!/bin/bash\n{script}\n",
                                  encoding="ascii")
            Path(name).chmod(0o755)
        if not Path("fifo").exists():
            os.mkfifo("fifo")
        self.server = self._start(
            SERVER_CPU, "redis-server", "--save", "", "--appendonly", "no",
            "--bind", "127.0.0.1", "--lua-time-limit", "100")
        self.sibling = self._start(SIBLING_CPU, "./sibling")
        self.far = self._start(FAR_CPU, "./far")
        wait_for("redis-server answers", self._answers)
        self.load = self._start(CLIENT_CPU, "redis-benchmark", "-q", "-l",
                                "-c", "1", "-t", "get,set", "-n", "100000")
        self._script = None

    def _start(self, cpu, *argv):
        process = subprocess.Popen(
            argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        self.all.append(process)
        return process

    @staticmethod
    def _answers():
        return subprocess.run(["redis-cli", "ping"], text=True, check=False,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL
                              ).stdout.strip() == "PONG"

    def alive(self):
        """Whether all of them still run."""
        return all(p.poll() is None for p in self.all)

    def never_idle(self):
        """The server computes without a pause: a script of its client."""
        self.load.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
        self._script = self._start(CLIENT_CPU, "redis-cli", "eval",
                                   "while true do end", "0")
        wait_for("the server computes", lambda: both_wish() is not None)

    def as_before(self):
        """Back to answering the load."""
        wait_for("the server's script ends", lambda: "OK" in subprocess.run(
            ["redis-cli", "script", "kill"], text=True, check=False,
            stdout=subprocess.PIPE).stdout)
        self._script.wait()
        self.all.remove(self._script)
        self.load.send_signal(signal.SIGCONT)

    def move_server(self, cpu):
        """All threads of the server to another CPU, by force."""
        for tid in os.listdir(f"/proc/{self.server.pid}/task"):
            os.sched_setaffinity(int(tid), {cpu})

    def kill(self, process):
        """SIGKILL, and wait until it is gone."""
        process.kill()
        process.wait()
        self.all.remove(process)

    def end(self):
        """Nobody is left."""
        for process in list(self.all):
            process.send_signal(signal.SIGCONT)
            self.kill(process)


def sibling_rule(ask, check, machine):
    """Both directions of it, while both hyperthreads of core 0 are busy."""
    server, sibling = f"pid={machine.server.pid}", f"pid={machine.sibling.pid}"
    step("sibling rule, one way: off wins over the neighbour's on")
    show("redis-server computes without a pause now, and so does 'sibling' "
         "on the other\nhyperthread of core 0: both wish at the same time.")
    machine.never_idle()
    fold_over(STEP_INTERVAL_MS)
    ask.set(sibling, "l2_stream=on")
    check.that(mask_of_both() == BITS["l2_stream"],
               "l2_stream stays off on core 0, although its other "
               "hyperthread wishes it on")
    ask.clear(sibling)
    step("sibling rule: a neighbour's default counts, too")
    ask.set("default", "l1_ip=off")
    ask.set(server, "l1_ip=on")
    check.that(mask_of_both() & BITS["l1_ip"],
               "l1_ip is off on core 0: 'sibling' has no setting, so it "
               "wishes the machine default")
    ask.set(server, "l1_ip=default")
    ask.clear("default")
    check.that(mask_of_both() == BITS["l2_stream"],
               "only l2_stream is off again")
    step("sibling rule, the other way: the neighbour's off reaches the "
         "server's core")
    ask.set(sibling, "l2_adjacent=off")
    check.that(mask_of_both() == BITS["l2_stream"] | BITS["l2_adjacent"],
               "l2_adjacent is off on core 0, although redis-server never "
               "asked for that")
    ask.clear(sibling)
    check.that(mask_of_both() == BITS["l2_stream"],
               "and back with its setting")
    check.that(effective(1) == 0, "nothing is off on core 1, where 'far' runs")
    fold_over(LOAD_INTERVAL_MS)
    machine.as_before()


def under_load(check, machine):
    """Enough register writes for the judge, and the server on the move."""
    step("the setting follows the server: moved to core 1 and back, "
         f"{MOVES} times under load")
    before = cores()[1]["writes"]
    for number in range(MOVES):
        machine.move_server(CLIENT_CPU if number % 2 == 0 else SERVER_CPU)
        time.sleep(0.1)
    check.that(cores()[1]["writes"] > before,
               "core 1 was programmed whenever the server ran there")
    step(f"under load until core 0 has had {WANTED_WRITES} register writes")
    last, stuck = -1, 0
    while True:
        now = cores()[0]["writes"]
        if now >= WANTED_WRITES:
            break
        stuck = stuck + 1 if now == last else 0
        if stuck > 10:
            raise Broken(f"no register write any more after {now}")
        last = now
        time.sleep(1)
    check.that(machine.alive(), "server, load and neighbours all still run")


def _held_for_server():
    core = cores()[0]
    return core["held"] and core["effective"] == BITS["l2_stream"]


def the_end(check, machine):
    """The server asleep, then killed."""
    step("load and 'sibling' stopped: the server sleeps alone on its core")
    machine.kill(machine.load)
    machine.kill(machine.sibling)
    fold_over(STEP_INTERVAL_MS)
    # The last that ran may have been 'sibling'; the server wakes up 10 times a
    # second for its housekeeping.
    wait_for("core 0 is held for the server", _held_for_server)
    before = cores()[0]["writes"]
    time.sleep(1)
    core = cores()[0]
    show(output("prefetchctl", "cores"))
    check.that(core["effective"] == BITS["l2_stream"]
               and core["writes"] - before <= 2,
               "core 0 keeps the mask while the server sleeps, so its "
               f"wake-ups cost no register write ({core['writes'] - before} "
               "in a second)")
    step("the server is killed (SIGKILL)")
    machine.kill(machine.server)
    check.that(register(SERVER_CPU) == 0,
               "the register of core 0 is back at its default at once "
               f"(MSR 0x1a4 reads {register(SERVER_CPU):#x})")
    check.that(info("settings") == 0, "no setting has outlived it")
    text = output("prefetchctl", "cores", "--verify")
    show(f"$ prefetchctl cores --verify\n{text}")
    check.that("DIFFERS" not in text, "both cores hold what was programmed")


def play(place):
    """The whole show; returns what failed."""
    check, ask = Checks(), Requests()
    gather({FAR_CPU, CLIENT_CPU})
    # The tools share the client's CPU, so that they disturb nobody else.
    os.sched_setaffinity(0, {CLIENT_CPU})
    fold_over(LOAD_INTERVAL_MS)
    step("recording for the judge begins, and prefetch-monitor streams: its "
         "lines have a |")
    output("prefetch-record", "start", str(place))
    show("One line stands for all changes of a core in a second of load: "
         "'A -> A, 124\nchanges' went forth and back 124 times, as server "
         "and neighbours take turns.")
    monitors = Monitors(place)
    step("redis-server on CPU 0 under redis-benchmark; 'sibling' on CPU 1 of "
         "the same core; 'far' on core 1")
    machine = Machine()
    try:
        show(output("prefetchctl", "cores"))
        check.that(info("register_writes") == 0,
                   "nothing is set: no register was written")
        step("the main job: l2_stream off for the server alone")
        ask.set(f"pid={machine.server.pid}", "l2_stream=off")
        wait_for("core 0 is programmed", lambda: cores()[0]["writes"] > 20)
        # Between two requests the server sleeps: better seen while it runs.
        for _ in range(10):
            text = output("prefetchctl", "cores", "--verify")
            if re.search(r"redis-server\s+l2_stream\s+ok", text):
                break
        show(f"$ prefetchctl cores --verify\n{text}")
        check.that("DIFFERS" not in text,
                   "the registers, read back, hold what was programmed")
        check.that(cores()[1]["writes"] == 0,
                   "core 0 is programmed when the server runs; core 1 is not "
                   "touched")
        sibling_rule(ask, check, machine)
        under_load(check, machine)
        the_end(check, machine)
    finally:
        machine.end()
    step("the recording ends")
    writes = info("register_writes")
    try:
        wait_for("all events are told", lambda: monitors.told() >= writes)
    except Broken as error:
        # The judge will say what is missing.
        check.that(False, str(error))
    monitors.end()
    output("prefetch-record", "stop", str(place))
    return check.failures


def main(argv):
    """Returns the exit status."""
    if len(argv) != 1:
        print("usage: demo-guest.py DIR", file=sys.stderr)
        return 2
    os.chdir("/root")
    try:
        failures = play(Path(argv[0]))
    except Broken as error:
        failures = [str(error)]
        show(f"FAILED: {error}")
    for failure in failures:
        print(f"demo: failed in the guest: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
