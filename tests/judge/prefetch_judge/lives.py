# SPDX-License-Identifier: GPL-2.0-or-later
"""Who ran where, and who lived when: the trace turned into steps.

A pid is not an identity: pids are reused, and a thread that calls exec takes
the pid of its group's leader.  Here each record is tied to Thread and Process
objects, and each change of settings gets the window in which it happened.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from .recording import RecordingError
from .semantics import DEFAULT, Change

CLONE_THREAD = 0x10000
KTHREADD = 2

# The last threads of a process drop its "live" count a little before the
# record of their exit.  So the process's setting may go with an earlier
# thread's exit, but only if all later ones were that far by then.  A thread
# does not get through that stretch of code with more switches than this.
EXIT_SWITCHES = 8
EXIT_THREADS = 256


@dataclass(eq=False)
class Process:
    """What Linux calls a signal_struct: survives exec by any thread."""
    tgid: int
    live: int = 0
    alive_at: int = -1      # record that proves that it was not dying
    exits: list = field(default_factory=list)   # (index, thread)

    def __repr__(self):
        return f"process {self.tgid}"


@dataclass(eq=False)
class Thread:
    """What Linux calls a task_struct."""
    pid: int
    process: Process
    kthread: bool
    comm: str = "?"
    exited: bool = False
    alive_at: int = -1          # record that proves that it had not exited
    gone: bool = False          # has left its CPU for the last time
    switch_ins: list = field(default_factory=list)
    windows: list = field(default_factory=list)
    born: Change = None         # its fork, until the window has closed

    def __repr__(self):
        kind = "kernel thread" if self.kthread else "thread"
        return f"{kind} {self.pid} ({self.comm})"


class Step(NamedTuple):
    """One thing for the model to digest."""
    # touch, switch, upcoming, leaving, write, open, close; and where a CPU
    # goes or comes: its window's begin and end
    op: str
    index: int      # of the record
    cpu: int = -1
    what: object = None


class Lives:
    """Builds the steps.  `early`: hooks ran before the trace's own."""

    def __init__(self, recording, early=False):
        self._recording = recording
        self._records = recording.records
        self._early = early
        self._by_pid = {}
        self._processes = {}
        self._idle = Thread(0, Process(0), True, "idle")
        self._opens = {}
        self._closes = {}
        self._effects = {}
        self._before = self._previous_on_cpu()
        self._requests = {r.begin: r for r in recording.requests}
        self._request_ends = {r.end: r for r in recording.requests}
        self._waiting = {}
        self._takeovers = [(r.index, r.a, r.b) for r in self._records
                           if r.kind == "exec" and r.a != r.b]
        self.current = {}
        self.initial = {}

    def steps(self):
        """All steps, in order; `initial` then has what ran at first."""
        self._read_snapshot()
        for record in self._records:
            self._follow(record)
        for number, waiting in self._waiting.items():
            for request in waiting:
                raise RecordingError(f"no task {number} in the trace for "
                                     f"the request: {request.text}")
        for cpu in self._recording.domain_of:
            self.initial.setdefault(cpu, self._idle)
        return self._merge()

    # ---- identities ----

    def _pids_given_out(self):
        """Pids that the trace saw given out and that nobody had before."""
        seen = set()
        fresh = set()
        for record in self._records:
            if record.kind == "newtask" and record.a not in seen:
                fresh.add(record.a)
            seen.update((record.pid, record.a, record.b)
                        if record.kind == "switch" else (record.pid, record.a))
        return fresh

    def _previous_on_cpu(self):
        last = {}
        before = [None] * len(self._records)
        for record in self._records:
            if record.kind != "write":
                before[record.index] = last.get(record.cpu)
                last[record.cpu] = record.index
        return before

    def _new_thread(self, pid, process, kthread, comm="?"):
        thread = Thread(pid, process, kthread, comm)
        process.live += 1
        self._by_pid[pid] = thread
        return thread

    def _read_snapshot(self):
        """Tasks born while the snapshot was taken are in the trace too."""
        born = self._pids_given_out()
        running = {}
        for seen in self._recording.tasks:
            process = self._processes.setdefault(seen.tgid,
                                                 Process(seen.tgid))
            if seen.tid in born:
                continue
            thread = self._new_thread(seen.tid, process, seen.kthread,
                                      seen.comm)
            if seen.state == "R":
                running.setdefault(seen.cpu, []).append(thread)
        # A CPU that never switches shows what it runs in no other way.
        silent = set(self._recording.domain_of) - {
            r.cpu for r in self._records}
        for cpu in silent:
            if len(running.get(cpu, ())) == 1:
                self.initial[cpu] = self.current[cpu] = running[cpu][0]

    def _lookup(self, pid):
        if not pid:
            return self._idle
        thread = self._by_pid.get(pid)
        if not thread:
            # Gone before the snapshot, so before any setting.
            thread = self._new_thread(pid, Process(pid), False)
        return thread

    def _lookup_next(self, pid, record):
        """The thread that comes in; it may have just taken over the pid."""
        thread = self._lookup(pid)
        elsewhere = any(t is thread for c, t in self.current.items()
                        if c != record.cpu)
        if not pid or not (thread.gone or (thread.exited and elsewhere)):
            return thread
        for index, new, old in self._takeovers:
            taker = self._by_pid.get(old)
            if (index > record.index and new == pid and taker
                    and taker.process is thread.process):
                self._take_over(taker, pid)
                return taker
        return thread

    def _takes_over(self, here, record):
        """Has the thread become pid `record.b`, ahead of its exec record?"""
        return any(index > record.index and new == record.b
                   and old == here.pid
                   for index, new, old in self._takeovers)

    def _take_over(self, thread, pid):
        """exec exchanges pids: the old leader has exited, but it may still
        have to leave its CPU, with the thread's pid."""
        old = thread.pid
        leader = self._by_pid.get(pid)
        if self._by_pid.get(old) is thread:
            del self._by_pid[old]
        thread.pid = pid
        self._by_pid[pid] = thread
        # The thread's old pid may have been given to somebody new by now.
        if leader and not leader.gone and old not in self._by_pid:
            leader.pid = old
            self._by_pid[old] = leader

    # ---- following the trace ----

    def _follow(self, record):
        cpu = record.cpu
        here = self.current.get(cpu)
        if here is None:
            here = self._lookup(record.pid)
            self.current[cpu] = self.initial[cpu] = here
        if record.kind == "write":
            self._effects[record.index] = Step("write", record.index, cpu,
                                               record)
            return
        preempted = record.kind == "switch" and record.text.startswith("R")
        if here.windows and not preempted:
            for change in here.windows:
                change.holders -= 1
                if not change.holders:
                    self._close(change, record.index)
            here.windows = []
        if record.kind in ("newtask", "exec", "mark"):
            here.process.alive_at = record.index
        getattr(self, "_on_" + record.kind)(record, here)

    def _on_switch(self, record, here):
        if here.pid != record.b and self._takes_over(here, record):
            self._take_over(here, record.b)
        if here.pid != record.b and not here.exited:
            raise RecordingError(
                f"CPU {record.cpu} ran {here}, but pid {record.b} leaves it: "
                f"{self._recording.lines[record.line].strip()}")
        if record.text[0] in "XZ":
            here.gone = True
        thread = self._lookup_next(record.a, record)
        if thread.born:
            self._close(thread.born, record.index)
            thread.born = None
        thread.switch_ins.append(record.index)
        self.current[record.cpu] = thread
        self._effects[record.index] = Step("switch", record.index, record.cpu,
                                           thread)

    def _on_newtask(self, record, here):
        if record.b & CLONE_THREAD:
            process = here.process
        else:
            process = Process(record.a)
        kthread = here.pid == KTHREADD and process is not here.process
        thread = self._new_thread(record.a, process, kthread)
        for request in self._waiting.pop(record.a, ()):
            self._open_change(request, thread if request.scope == "tid"
                              else process)

    def _on_fork(self, record, here):
        child = self._lookup(record.a)
        if child.process is here.process:
            return
        change = Change("fork", child.process,
                        f"fork of {child.process} from {here.process}",
                        record.index, source=here.process)
        self._open(change, record.index)
        self._hold(change, here)
        child.born = change

    def _on_exit(self, record, here):
        here.exited = True
        process = here.process
        process.live -= 1
        process.exits.append((record.index, here))
        self._remove(here, record.index, here)
        if not process.live:
            self._remove(process, self._first_removal(process), here)

    def _remove(self, key, index, here):
        change = Change("exit", key, f"exit of {key}", index,
                        of_thread=key is here)
        if self._early and self._before[index] is not None:
            # Who was given a setting after that record was still alive.
            index = max(self._before[index], key.alive_at)
        self._open(change, index)
        self._hold(change, here)
        if change.of_thread:
            return
        # On other CPUs its last threads may be on their way out: those are
        # asked to look again, and not waited for.
        for thread in set(self.current.values()):
            if thread is not here and thread.process is key:
                self._hold(change, thread)
                change.beside.add(thread)

    @staticmethod
    def _hold(change, thread):
        thread.windows.append(change)
        change.holders += 1

    def _on_idle(self, record, here):
        """Shows no more than that the switch to idle is over."""

    def _on_exec(self, record, here):
        if here.pid != record.a:
            self._take_over(here, record.a)

    def _on_mark(self, record, here):
        request = self._requests.get(record.index)
        if request and not request.errno:
            if request.scope == "cpu":
                self._turn(request)
            else:
                self._begin(request)
        request = self._request_ends.get(record.index)
        if request and not request.errno:
            if request.kind == "offline":
                # Its last switch, when it is no CPU any more, is not traced.
                self.current.update(dict.fromkeys(request.targets,
                                                  self._idle))
            for change in request.changes:
                self._close(change, record.index)
                if request.scope != "default" and request.kind == "set":
                    change.key.alive_at = max(change.key.alive_at,
                                              request.begin)

    # ---- windows ----

    def _open(self, change, index):
        self._opens.setdefault(index, []).append(change)

    def _close(self, change, index):
        places = self._closes.setdefault(index, [])
        if not change.closed:
            places.append(change)
        change.closed = True

    @staticmethod
    def _first_removal(process):
        """The first exit with which the process's setting may have gone."""
        exits = process.exits
        first = len(exits) - 1
        while first > 0 and len(exits) - first < EXIT_THREADS:
            index = exits[first - 1][0]
            if index < process.alive_at:
                break
            for at, thread in exits[first:]:
                ins = thread.switch_ins
                if (bisect_right(ins, at) - bisect_right(ins, index)
                        > EXIT_SWITCHES):
                    return exits[first][0]
            first -= 1
        return exits[first][0]

    def _turn(self, request):
        """A CPU goes offline or comes online between the markers."""
        ops = ("going", "gone") if request.kind == "offline" \
            else ("coming", "come")
        for cpu in request.targets:
            if cpu not in self._recording.domain_of:
                raise RecordingError(f"no CPU {cpu}: {request.text}")
            for op, index in zip(ops, (request.begin, request.end)):
                self._effects[index] = Step(op, index, cpu, self._idle)

    def _begin(self, request):
        """A dying task can still be found until its removal is over."""
        if request.scope == "default":
            self._open_change(request, DEFAULT)
            return
        for number in request.targets:
            thread = self._by_pid.get(number)
            if thread and request.scope == "pid" and (
                    thread.process.live or
                    any(t.windows for _, t in thread.process.exits)):
                self._open_change(request, thread.process)
            elif thread and request.scope == "tid" and (
                    not thread.exited or thread.windows):
                self._open_change(request, thread)
            else:
                self._waiting.setdefault(number, []).append(request)

    def _open_change(self, request, key):
        change = Change(request.kind, key, request.text, request.begin,
                        off=request.off, on=request.on, clear=request.clear,
                        inherit=request.inherit)
        request.changes.append(change)
        self._open(change, request.begin)

    def _merge(self):
        """Puts effects and windows in order.

        A record proves first of all that the CPU's last switch is complete
        (touch).  Windows that it ends close before its own effect, windows
        that it begins open after.
        """
        upcoming = {}
        if self._early:
            last = {}
            for record in reversed(self._records):
                if record.kind == "write":
                    continue
                upcoming[record.index] = last.get(record.cpu)
                last[record.cpu] = (self._effects[record.index].what
                                    if record.kind == "switch" else None)
        leaving = self._falling_asleep()
        steps = []
        under_way = []
        for record in self._records:
            index = record.index
            if record.kind != "write":
                steps.append(Step("touch", index, record.cpu))
            for change in self._closes.get(index, ()):
                steps.append(Step("close", index, record.cpu, change))
                if change in under_way:
                    under_way.remove(change)
            if index in self._effects:
                steps.append(self._effects[index])
            if index in upcoming:
                steps.append(Step("upcoming", index, record.cpu,
                                  upcoming[index]))
            if index in leaving:
                steps.append(Step("leaving", index, record.cpu))
            for change in self._opens.get(index, ()):
                steps.append(Step("open", index, record.cpu, change))
                for other in under_way:
                    if change.conflicts(other):
                        change.alone = other.alone = False
                under_way.append(change)
        return steps

    def _falling_asleep(self):
        """Records after which the CPU's task leaves to sleep, as far as its
        CPU shows.

        Such a task is taken off the run queue a little before the record of
        its switch, with interrupts off from then on.  So there is no record
        in between; a write only if it belongs to the switch, which can be
        when the module's probes come before the trace's.
        """
        last = {}
        found = set()
        for record in self._records:
            if record.kind == "write" and self._early:
                continue
            if (record.kind == "switch" and record.cpu in last
                    and not record.text.startswith("R")):
                found.add(last[record.cpu])
            last[record.cpu] = record.index
        return found
