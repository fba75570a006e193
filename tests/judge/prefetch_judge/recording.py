# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads a recording: the files that prefetch-record left in a folder."""

import re
from dataclasses import dataclass, field

from .layouts import LAYOUTS

MARK_MSR = 0x400000F9
MARK_START = 0x100
MARK_STOP = 0x101


class RecordingError(Exception):
    """The recording cannot be judged; the message says why."""


@dataclass
class SeenTask:
    """A thread that existed when the recording began."""
    tid: int
    tgid: int
    kthread: bool
    state: str
    cpu: int
    comm: str


@dataclass(slots=True)
class Record:
    """One line of the trace; the fields used depend on the kind."""
    index: int
    stamp: float
    cpu: int
    pid: int            # the task in whose context it was made
    kind: str
    a: int = 0          # switch: next pid; fork, newtask: child; exit: pid;
    #                     exec: new pid; write: register
    b: int = 0          # switch: prev pid; newtask: clone flags;
    #                     exec: old pid; write: value
    text: str = ""      # switch: state of prev; mark: the text
    line: int = 0       # in the trace file, from 0


@dataclass
class Request:
    """A request, as told by the markers around it."""
    ident: str
    kind: str                   # set, clear
    scope: str                  # pid, tid, default
    targets: tuple
    off: int
    on: int
    clear: int
    inherit: object             # None if the request did not name it
    begin: int
    text: str
    end: int = -1
    errno: int = 0
    changes: list = field(default_factory=list)


@dataclass
class Recording:
    """All that is known of a run."""
    tasks: list
    domain_of: dict             # cpu -> domain
    baseline: dict              # domain -> register -> value
    layouts: dict               # domain -> Layout
    records: list
    lines: list                 # of the trace, for messages
    requests: list = field(default_factory=list)
    stats: dict = field(default_factory=dict)

    def cpus(self, domain):
        """The domain's CPUs, in order."""
        return sorted(c for c, d in self.domain_of.items() if d == domain)

    def registers(self):
        """The registers of all domains."""
        return {msr for values in self.baseline.values() for msr in values}


_HEAD = re.compile(r"\s*.*?-(\d+)\s+(?:\([- \d]+\)\s+)?\[(\d+)\]\s+"
                   r"(?:\S+\s+)?([\d.]+): (\w+): ?(.*)$", re.S)
_SWITCH = re.compile(r"prev_comm=.* prev_pid=(\d+) prev_prio=-?\d+ "
                     r"prev_state=(\S+) ==> next_comm=.* next_pid=(\d+) "
                     r"next_prio=-?\d+$", re.S)
_FORK = re.compile(r"comm=.* pid=(\d+) child_comm=.* child_pid=(\d+)$", re.S)
_NEWTASK = re.compile(r"pid=(\d+) comm=.* clone_flags=([0-9a-f]+) "
                      r"oom_score_adj=-?\d+$", re.S)
_EXIT = re.compile(r"comm=.* pid=(\d+) prio=-?\d+(?: group_dead=\w+)?$", re.S)
_EXEC = re.compile(r"filename=.* pid=(\d+) old_pid=(\d+)$", re.S)
_WRITE = re.compile(r"([0-9a-f]+), value ([0-9a-f]+)( #GP)?$")


def _switch(record, text):
    match = _SWITCH.match(text)
    if match:
        record.kind = "switch"
        record.b, record.text, record.a = (
            int(match[1]), match[2], int(match[3]))
    return match


def _fork(record, text):
    match = _FORK.match(text)
    if match:
        record.kind = "fork"
        record.a = int(match[2])
    return match


def _newtask(record, text):
    match = _NEWTASK.match(text)
    if match:
        record.kind = "newtask"
        record.a, record.b = int(match[1]), int(match[2], 16)
    return match


def _exit(record, text):
    match = _EXIT.match(text)
    if match:
        record.kind = "exit"
        record.a = int(match[1])
    return match


def _exec(record, text):
    match = _EXEC.match(text)
    if match:
        record.kind = "exec"
        record.a, record.b = int(match[1]), int(match[2])
    return match


def _write(record, text):
    match = _WRITE.match(text)
    if match:
        record.kind = "write"
        record.a, record.b = int(match[1], 16), int(match[2], 16)
        record.text = "fault" if match[3] else ""
    return match


def _mark(record, text):
    record.kind = "mark"
    record.text = text.strip()
    return True


def _idle(record, _):
    record.kind = "idle"
    return True


_PARSERS = {
    "sched_switch": _switch,
    "sched_process_fork": _fork,
    "sched_process_exit": _exit,
    "sched_process_exec": _exec,
    "task_newtask": _newtask,
    "write_msr": _write,
    "tracing_mark_write": _mark,
    "cpu_idle": _idle,
}


def parse_trace(lines):
    """The records of a trace in text form, in the order of the file.

    Other events, such as the module's own, are left out: the judge takes
    nothing from them.
    """
    records = []
    for number, line in enumerate(lines):
        if not line or line.startswith("#"):
            continue
        if line.startswith("CPU:") and "LOST" in line:
            raise RecordingError(f"the trace has lost records: {line.strip()}")
        head = _HEAD.match(line)
        if not head:
            raise RecordingError(
                f"trace line {number + 1} not understood: {line.strip()}")
        parser = _PARSERS.get(head[4])
        if not parser:
            continue
        record = Record(len(records), float(head[3]), int(head[2]),
                        int(head[1]), "", line=number)
        if not parser(record, head[5]):
            raise RecordingError(
                f"trace line {number + 1} not understood: {line.strip()}")
        records.append(record)
    return records


def _number(text, what):
    try:
        return int(text, 0)
    except ValueError:
        raise RecordingError(f"{what}: {text!r} is not a number") from None


def _parse_begin(words, record):
    if len(words) < 3 or words[1] not in ("set", "clear", "offline",
                                          "online"):
        raise RecordingError(f"marker not understood: {record.text}")
    ident, kind, target = words[:3]
    scope, _, numbers = target.partition("=")
    if scope == "default":
        targets = ()
    elif numbers and scope in (("cpu",) if kind in ("offline", "online")
                               else ("pid", "tid")):
        targets = tuple(_number(n, record.text) for n in numbers.split(","))
    else:
        raise RecordingError(f"marker with an unknown target: {record.text}")
    values = {"off": 0, "on": 0, "clear": 0, "inherit": None}
    for word in words[3:]:
        name, _, value = word.partition("=")
        if name not in values:
            raise RecordingError(f"marker with unknown {name!r}: "
                                 f"{record.text}")
        values[name] = _number(value, record.text)
    return Request(ident, kind, scope, targets, values["off"], values["on"],
                   values["clear"], values["inherit"], record.index,
                   record.text)


def parse_requests(records):
    """The requests that the markers tell of, failed ones included."""
    requests = []
    running = {}
    for record in records:
        if record.kind != "mark" or not record.text.startswith(
                "prefetch-req "):
            continue
        words = record.text.split()[1:]
        if words[:1] == ["begin"]:
            request = _parse_begin(words[1:], record)
            if request.ident in running:
                raise RecordingError(f"request {request.ident} begins twice")
            running[request.ident] = request
            requests.append(request)
        elif words[:1] == ["end"] and len(words) == 3:
            request = running.pop(words[1], None)
            if not request:
                raise RecordingError(
                    f"request {words[1]} ends but did not begin")
            request.end = record.index
            request.errno = _number(words[2], record.text)
        else:
            raise RecordingError(f"marker not understood: {record.text}")
    for ident in running:
        raise RecordingError(f"request {ident} does not end in the recording")
    return requests


def _read_lines(path):
    try:
        # Task names are bytes of anybody's choice.
        text = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror}") from None
    return text.split("\n")


def _rows(path, columns):
    for number, line in enumerate(_read_lines(path), 1):
        words = line.split(None, columns - 1)
        if not words:
            continue
        if len(words) != columns:
            raise RecordingError(f"{path}:{number}: expected {columns} "
                                 f"columns: {line}")
        yield words


def _parse_tasks(path):
    tasks = []
    for words in _rows(path, 6):
        try:
            tasks.append(SeenTask(int(words[0]), int(words[1]),
                                  words[2] == "1", words[3], int(words[4]),
                                  words[5]))
        except ValueError:
            raise RecordingError(f"{path}: {' '.join(words)}") from None
    return tasks


def _parse_stats(path):
    stats = {}
    for line in _read_lines(path):
        name, _, value = line.strip().partition(" ")
        stats[name] = value
    for loss in ("overrun", "dropped"):
        if not stats.get(loss):
            raise RecordingError(
                f"{path} has no line '{loss}': the recording is incomplete, "
                "`prefetch-record stop` did not get that far")
        if stats[loss] != "0":
            raise RecordingError(f"the trace lost records "
                                 f"({loss} {stats[loss]})")
    return stats


def _parse_layouts(path):
    layouts = {}
    for domain, name in _rows(path, 2):
        if name not in LAYOUTS:
            raise RecordingError(f"{path}: no layout {name!r}; there are "
                                 f"{', '.join(LAYOUTS)}")
        layouts[int(domain)] = LAYOUTS[name]
    return layouts


def _parse_baseline(path, layouts):
    baseline = {}
    for domain, register, value in _rows(path, 3):
        baseline.setdefault(int(domain), {})[int(register, 16)] = \
            int(value, 16)
    for domain, values in baseline.items():
        if domain in layouts and set(values) != layouts[domain].registers:
            raise RecordingError(f"{path}: the registers of domain {domain} "
                                 "are not those of its layout")
    return baseline


def load(folder):
    """Reads the folder that prefetch-record filled."""
    for name in ("stats", "topology", "layout", "baseline", "tasks", "trace"):
        if not (folder / name).exists():
            raise RecordingError(f"{folder}: the recording is incomplete, "
                                 f"there is no {name}")
    stats = _parse_stats(folder / "stats")
    domain_of = {int(cpu): int(domain)
                 for cpu, domain in _rows(folder / "topology", 2)}
    layouts = _parse_layouts(folder / "layout")
    baseline = _parse_baseline(folder / "baseline", layouts)
    if not domain_of or not (set(domain_of.values()) == set(baseline) ==
                             set(layouts)):
        raise RecordingError(f"{folder}: topology, layout and baseline do "
                             "not fit")
    lines = _read_lines(folder / "trace")
    records = parse_trace(lines)
    unknown = {r.cpu for r in records} - set(domain_of)
    if unknown:
        raise RecordingError(f"the trace has CPUs without a domain: "
                             f"{sorted(unknown)}")
    return Recording(_parse_tasks(folder / "tasks"), domain_of, baseline,
                     layouts, records, lines, parse_requests(records), stats)
