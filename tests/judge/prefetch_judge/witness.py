# SPDX-License-Identifier: GPL-2.0-or-later
"""The witnesses: the twin's log, the kernel's write records, the events."""

import json
from typing import NamedTuple

from .recording import MARK_MSR, MARK_START, MARK_STOP, RecordingError

# The register of which the twin tells where it knows no other.
CLASSIC = 0x1A4

# The text form of a trace shows other clocks than `counter` in microseconds:
# two writes closer than this may stand in either order.
CLOCK_RESOLUTION = 0.000001

# How many writes may slip between the instruction that marks the end and its
# record: one of another CPU or two.
EDGE = 4


class Write(NamedTuple):
    """One register write, whole values."""
    old: object     # None where the witness does not tell
    new: int
    stamp: float
    place: str      # for messages
    msr: int = CLASSIC
    # By the CPU of the write before, which made no other record in between:
    # the two may be one change of the mask.
    joined: bool = False


class Witness(NamedTuple):
    """A domain's writes in the span, and those that came after it."""
    writes: list
    after: list


# ---- the kernel's records ----

def span(records):
    """Indices of the records at which the judged span begins and ends.

    The end is the record of the register write that marks it in the twin's
    log, so both witnesses are cut at the same instruction.
    """
    first = last = None
    for record in records:
        if record.kind == "write" and record.a == MARK_MSR:
            if record.b == MARK_START and first is None:
                first = record.index
            elif record.b == MARK_STOP and first is not None:
                last = record.index
                break
    if first is None or last is None:
        raise RecordingError("the trace lacks the marks of prefetch-record")
    return first, last


def trace_writes(recording, first, last):
    """Per domain, the writes that the kernel recorded."""
    result = {domain: Witness([], []) for domain in recording.baseline}
    registers = recording.registers()
    wrote = {}      # domain -> CPU that wrote last and made no record since
    for record in recording.records[first:]:
        domain = recording.domain_of[record.cpu]
        if record.kind != "write" or record.a not in registers:
            if wrote.get(domain) == record.cpu:
                del wrote[domain]
            continue
        witness = result[domain]
        write = Write(None, record.b, record.stamp,
                      f"trace line {record.line + 1}", record.a,
                      wrote.get(domain) == record.cpu)
        wrote[domain] = record.cpu
        (witness.writes if record.index < last else
         witness.after).append(write)
    return result


# ---- the twin ----

def _twin_fields(words, place):
    fields = {}
    for word in words:
        name, equals, value = word.partition("=")
        try:
            fields[name] = int(value, 0)
        except ValueError:
            equals = ""
        if not equals:
            raise RecordingError(f"{place}: not understood: {word}")
    return fields


def _twin_header(line, path):
    """Hyperthreads of a core, or None with a profile."""
    words = line.split()
    if words[:3] != ["#", "prefetch-twin", "1"]:
        raise RecordingError(f"{path}: not a twin log of version 1")
    if any(word.startswith("profile=") for word in words):
        return None
    return _twin_fields(words[3:], path).get("threads", 1)


def twin_writes(path, recording):
    """Per domain, the writes that the twin logged between the marks.

    With a profile the twin numbers its cores itself: in the order of their
    lowest CPUs, as the domains are.
    """
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: {error}") from None
    if not lines:
        raise RecordingError(f"{path}: empty")
    threads = _twin_header(lines[0], path)
    domain_of_core = {}
    for domain in recording.baseline:
        core = recording.cpus(domain)[0] // threads if threads else domain
        domain_of_core[core] = domain
    result = {domain: Witness([], []) for domain in recording.baseline}
    phase = 0
    expected = 0
    for number, line in enumerate(lines[1:], 2):
        place = f"twin log line {number}"
        if line.startswith("#"):
            continue
        words = line.split()
        if len(words) < 3 or words[0] != str(expected):
            raise RecordingError(f"{place}: record {expected} expected: "
                                 f"{line}")
        expected += 1
        fields = _twin_fields(words[3:], place)
        if words[2] == "mark":
            if fields.get("value") == MARK_START and phase == 0:
                phase = 1
            elif fields.get("value") == MARK_STOP and phase == 1:
                phase = 2
        elif words[2] == "write" and phase:
            try:
                domain = domain_of_core[fields["core"]]
                write = Write(fields["old"], fields["new"], float(words[1]),
                              place, fields.get("msr", CLASSIC))
            except KeyError:
                raise RecordingError(f"{place}: not understood: "
                                     f"{line}") from None
            witness = result[domain]
            (witness.writes if phase == 1 else witness.after).append(write)
    if phase != 2:
        raise RecordingError(f"{path}: lacks the marks of prefetch-record")
    return result


# ---- comparing ----

def check_values(witness, baseline, layout):
    """Reserved bits and the chain of old values: a message, or None."""
    now = dict(baseline)
    for write in witness.writes:
        before = now.get(write.msr)
        if before is None:
            return (f"{write.place}: {write.msr:#x} is not a register of this "
                    "kind of core")
        if write.old is not None and write.old != before:
            return (f"{write.place}: the register was {write.old:#x}, but the "
                    f"write before left {before:#x}")
        if (write.new ^ baseline[write.msr]) & ~layout.bits(write.msr):
            return (f"{write.place}: {write.new:#x} changes bits that are "
                    f"not a prefetcher's (firmware: "
                    f"{baseline[write.msr]:#x})")
        now[write.msr] = write.new
    return None


def _same(one, other):
    return (one.msr, one.new) == (other.msr, other.new)


def _text(write):
    return f"{write.new:#x} to {write.msr:#x} ({write.place})"


def _swapped(trace, twin, place):
    """Two neighbours that the trace's clock cannot order."""
    pair = trace[place:place + 2]
    return (len(pair) == 2 and len(twin) > place + 1
            and _same(pair[0], twin[place + 1])
            and _same(pair[1], twin[place])
            and abs(pair[1].stamp - pair[0].stamp) <= CLOCK_RESOLUTION)


def compare_writes(trace, twin, exact):
    """The two sequences must be one: a message, or None.

    A write of another CPU can fall between the marking instruction and its
    record; then one witness has it inside the span and the other right after.
    """
    mine, theirs = list(trace.writes), list(twin.writes)
    missing = len(theirs) - len(mine)
    if 0 < missing <= EDGE:
        mine += trace.after[:missing]
    elif -EDGE <= missing < 0:
        theirs += twin.after[:-missing]
    place = 0
    while place < min(len(mine), len(theirs)):
        if not _same(mine[place], theirs[place]):
            if exact or not _swapped(mine, theirs, place):
                return (f"write {place + 1}: trace has "
                        f"{_text(mine[place])}, twin has "
                        f"{_text(theirs[place])}")
            place += 1
        place += 1
    if len(mine) != len(theirs):
        longer, name, other = ((mine, "trace", "twin") if len(mine) >
                               len(theirs) else (theirs, "twin", "trace"))
        extra = longer[min(len(mine), len(theirs))]
        return (f"the {name} has {abs(len(mine) - len(theirs))} more writes "
                f"than the {other}; the first: {_text(extra)}")
    return None


# ---- events ----

class Event(NamedTuple):
    """A change of a domain's mask, as the monitor told it."""
    domain: int
    old: int
    new: int
    folded: int
    place: str


def load_events(path, stats):
    """The `core` events of the span, in order.

    The monitor may have run longer than the recording.  The guest's clock in
    its uptime file is exact to 10 ms only, but nothing may happen at the
    edges: no setting is in force when a recording begins.
    """
    events = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RecordingError(f"{path}: {error}") from None
    begin = int(float(stats.get("start", "0")) * 1e9)
    for number, line in enumerate(lines, 1):
        place = f"{path.name}:{number}"
        try:
            item = json.loads(line)
            kind = item["kind"]
            if kind == "core":
                if item["time"] < begin:
                    continue
                event = Event(item["domain"], item["old"], item["new"],
                              item["folded"], place)
                lost = item["lost"]
            else:
                lost = item.get("count", 1) if kind == "lost" else 0
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RecordingError(f"{place}: not an event: {line}") from None
        if lost:
            raise RecordingError(f"{place}: {lost} events were lost")
        if kind == "core":
            events.append(event)
    return events


def _states(baseline, layout, writes):
    """The masks that the writes went through, and for each whether it may
    be the middle of one change."""
    values = dict(baseline)
    states = [layout.mask(values)]
    between = [False]
    for write in writes:
        values[write.msr] = write.new
        if layout.mask(values) != states[-1]:
            if write.joined:
                between[-1] = True
            states.append(layout.mask(values))
            between.append(False)
    return states, between


def compare_events(events, baseline, layout, trace):
    """Each event must lead from one state to a later one: a message or None.

    An event stands for `folded` changes: it begins at the state before the
    first of them and ends at the state after the last. What may be one change
    of several registers, or several changes, is counted as either.
    """
    states, between = _states(baseline, layout, trace.writes)
    places = {0}
    for event in events:
        place = min(places)
        if event.folded < 1 or place + event.folded >= len(states):
            return (f"{event.place}: stands for {event.folded} changes, but "
                    f"there were {len(states) - 1 - place} more")
        after = set()
        for begin in places:
            if states[begin] != event.old:
                continue
            at_least = 0
            for end in range(begin + 1, len(states)):
                at_least += not between[end]
                if at_least > event.folded:
                    break
                # If it ends in between, that was a change of its own.
                if states[end] == event.new and end - begin >= event.folded \
                        >= at_least + between[end]:
                    after.add(end)
        if not after:
            end = place + event.folded
            return (f"{event.place}: {event.old:#x} -> {event.new:#x}, but "
                    f"changes {place + 1} to {end} were {states[place]:#x} "
                    f"-> {states[end]:#x}")
        places = after
    place = max(places)
    if place != len(states) - 1:
        return (f"{len(states) - 1 - place} changes have no event; the first: "
                f"{states[place]:#x} -> {states[place + 1]:#x}")
    return None


def count_events(events, domain):
    """How many changes the events stand for."""
    return sum(e.folded for e in events if e.domain == domain)
