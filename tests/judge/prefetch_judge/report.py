# SPDX-License-Identifier: GPL-2.0-or-later
"""Brings model and witnesses together, and says what came of it."""

from dataclasses import dataclass, field

from . import witness
from .lives import Lives
from .model import Model
from .recording import RecordingError
from .semantics import ABSENT

CONTEXT = 12
DECIDING_WRITES = 15


@dataclass
class Verdict:
    """The outcome for one domain."""
    domain: int
    cpus: list
    twin: int = 0
    trace: int = 0
    judge: int = 0
    events: object = None
    problems: list = field(default_factory=list)


def hooks_first(recording, first):
    """Did the module's probes run before the trace's own?

    They run in the order in which they were attached; normally the recorder
    was first.  If not, the write that belongs to a switch stands right before
    the switch instead of right after it.  The first writes that stand next
    to one switch only tell.
    """
    records = recording.records
    registers = recording.registers()
    hooked = ("switch", "exit")
    score = seen = 0
    for record in records[first + 1:-1]:
        if record.kind != "write" or record.a not in registers:
            continue
        sides = [other.kind in hooked and other.cpu == record.cpu
                 for other in (records[record.index - 1],
                               records[record.index + 1])]
        if sides[0] != sides[1]:
            score += 1 if sides[1] else -1
            seen += 1
            if seen == DECIDING_WRITES:
                break
    return score > 0


def _replay(recording, first, last):
    """The model after the run."""
    lives = Lives(recording, hooks_first(recording, first))
    steps = lives.steps()
    model = Model(recording, lives.initial, first)
    model.run(steps, last)
    return model


def _context(recording, index, domain):
    """The trace lines around a record that have to do with the domain."""
    cpus = set(recording.cpus(domain))

    def relevant(record):
        return record.cpu in cpus or record.kind in ("mark", "exit")

    before = [r for r in recording.records[max(0, index - 400):index]
              if relevant(r)][-CONTEXT:]
    after = [r for r in recording.records[index:index + 100]
             if relevant(r)][:4]
    return [("=> " if r.index == index else "   ")
            + recording.lines[r.line].strip() for r in before + after]


def _asks(wish):
    if wish is None:
        return "nothing"
    if wish is ABSENT:
        return "offline"
    return f"off {wish.off:#x} on {wish.on:#x}" + "".join(
        f", from {key}" for key, _ in wish.owners)


def _explain(recording, domain):
    failure = domain.failure
    line = recording.records[failure.index].line + 1
    text = [f"judge: trace line {line}: {failure.seen}",
            "  what would have been right here:"]
    text += [f"    {item}" for item in failure.expected]
    text.append("  what the domain's CPUs wish:")
    for state in list(failure.states)[:3]:
        for cpu, wish in zip(domain.cpus, state.wishes):
            text.append(f"    CPU {cpu}: {_asks(wish)}")
        if all(wish in (None, ABSENT) for wish in state.wishes):
            text.append(f"    held: {_asks(state.held)}")
    text.append("  the trace there:")
    text += _context(recording, failure.index, domain.number)
    return "\n".join(text)


def judge(recording, twin_log, events_file=None, exact=False):
    """The verdicts, one a domain."""
    if exact and recording.stats.get("clock") != "counter":
        raise RecordingError("only the trace clock 'counter' is exact; this "
                             f"is {recording.stats.get('clock', 'unknown')}")
    exact = exact or recording.stats.get("clock") == "counter"
    first, last = witness.span(recording.records)
    trace = witness.trace_writes(recording, first, last)
    twin = witness.twin_writes(twin_log, recording)
    events = None
    if events_file:
        events = witness.load_events(events_file, recording.stats)
        for event in events:
            if event.domain not in recording.baseline:
                raise RecordingError(f"{event.place}: no domain "
                                     f"{event.domain}")
    model = _replay(recording, first, last)
    verdicts = []
    for domain in model.domains:
        number = domain.number
        layout = recording.layouts[number]
        baseline = recording.baseline[number]
        verdict = Verdict(number, domain.cpus, len(twin[number].writes),
                          len(trace[number].writes), len(domain.writes))
        problems = [witness.check_values(twin[number], baseline, layout),
                    witness.check_values(trace[number], baseline, layout),
                    witness.compare_writes(trace[number], twin[number],
                                           exact)]
        verdict.problems = [p for p in problems if p]
        if domain.failure:
            verdict.problems.append(_explain(recording, domain))
        if events is not None:
            verdict.events = witness.count_events(events, number)
            problem = witness.compare_events(
                [e for e in events if e.domain == number], baseline, layout,
                trace[number])
            if problem:
                verdict.problems.append("events: " + problem)
        verdicts.append(verdict)
    return verdicts


def table(verdicts):
    """The verdicts as text."""
    rows = [("domain", "cpus", "twin", "trace", "judge", "events", "agree")]
    for v in verdicts:
        rows.append((str(v.domain), ",".join(map(str, v.cpus)), str(v.twin),
                     str(v.trace), str(v.judge),
                     "-" if v.events is None else str(v.events),
                     "NO" if v.problems else "yes"))
    total = ["all", "", str(sum(v.twin for v in verdicts)),
             str(sum(v.trace for v in verdicts)),
             str(sum(v.judge for v in verdicts)),
             "-" if verdicts[0].events is None else
             str(sum(v.events for v in verdicts)),
             "NO" if any(v.problems for v in verdicts) else "yes"]
    rows.append(tuple(total))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(
        cell.ljust(width) if i in (0, 1, 6) else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(row, widths))).rstrip()
        for row in rows)
