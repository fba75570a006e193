# SPDX-License-Identifier: GPL-2.0-or-later
"""The reference model: replays the steps and judges every write.

Three things have no place of their own in the trace: when a request takes
effect between its markers, when a running CPU is told of it, and when within
a switch the register is programmed.  So the model keeps, per domain, the set
of all states that the module may be in (hypotheses).  A write must be what
one of them can do at that moment; the others are dropped.  When a window ends,
what had to happen in it must have happened; a hypothesis in which it would
have taken a write that nobody saw is dropped.  No hypothesis left means that
the module did something wrong.

Each domain places a request on its own, anywhere in the window: a change that
reaches two domains at different moments of the window is accepted.
"""

from typing import NamedTuple

from .recording import RecordingError
from .semantics import (ABSENT, DEFAULT, NO_OPINION, default_mask,
                        resolve)
from .settings import Settings, comes_too_late, insert

# More than this many states at once would mean that the recording is too
# ambiguous to be worth anything.
MAX_HYPOTHESES = 20000

# A CPU that is asked by interrupt may be about to record a switch, with
# interrupts off.  It answers before it records anything after that.
LATE_RECORDS = 2


class Pending(NamedTuple):
    """What is left of a change that takes several registers.

    The CPU writes them one after the other, with interrupts off: before it
    makes another record it is through.
    """
    cpu: int
    writes: frozenset   # pairs of register and value


class Hypothesis(NamedTuple):
    """One possible state of a domain."""
    view: tuple     # changes in effect beyond the settled ones, in order
    wishes: tuple   # per CPU of the domain; None: no wish; ABSENT: offline
    held: object    # the wish that counts while no CPU has one
    mask: int       # what is programmed, or is about to be
    early: int      # bit per CPU: already programmed for its next task
    pending: object = None  # registers that are still to be written


class Disagreement(Exception):
    """The module did what no correct module does."""

    def __init__(self, index, seen, expected, states):
        super().__init__(seen)
        self.index = index
        self.seen = seen
        self.expected = expected
        self.states = states


class Domain:
    """The CPUs that share a register, and what may have become of it."""

    def __init__(self, number, cpus, layout, baseline, model):
        self.number = number
        self.cpus = cpus
        self._layout = layout
        self._firmware = layout.mask(baseline)
        self._model = model
        self._settings = model.settings
        self.writes = []        # (register, bits) of each right write
        self.failure = None
        self._late = {}         # key -> CPU -> records until it must be gone
        self.states = {Hypothesis((), (NO_OPINION,) * len(cpus), NO_OPINION,
                                  self._firmware, 0)}

    # ---- the rules ----

    def _resolve(self, wish, view):
        entry = self._settings.entry(DEFAULT, view)
        default = default_mask(self._firmware, entry)
        return resolve(wish, default) & self._layout.supported

    def _target(self, view, wishes, held):
        """The mask that these wishes ask for: `off` wins. With no CPU left
        it is what firmware wanted."""
        if self._all_gone(wishes):
            return self._firmware
        mask = None
        for wish in wishes:
            if wish not in (None, ABSENT):
                mask = (mask or 0) | self._resolve(wish, view)
        return self._resolve(held, view) if mask is None else mask

    def _outdated(self, wish, view):
        """Has a setting that the wish came from changed or gone?"""
        for key, version in wish.owners:
            entry = self._settings.entry(key, view)
            if not entry or entry.version is not version:
                return True
        return False

    def _released(self, state):
        """The domain is held for nothing any more."""
        return state._replace(held=NO_OPINION, mask=self._target(
            state.view, state.wishes, NO_OPINION))

    def _refreshed(self, state, place, wish, early):
        """The CPU at `place` takes up a wish: one state, rarely more."""
        view = state.view
        wishes = state.wishes[:place] + (wish,) + state.wishes[place + 1:]
        if not self._nobody(wishes):
            helds = (NO_OPINION,)
        elif state.wishes[place] in (None, ABSENT):
            helds = (state.held,)
        else:
            helds = self._new_holds(self.cpus[place], view,
                                    early >> place & 1)
        for held in helds:
            yield Hypothesis(view, wishes, held,
                             self._target(view, wishes, held), early,
                             state.pending)

    def _without_cpu(self, state, place):
        """The CPU at `place` goes. It runs a kernel thread then, for which
        nothing is held; and what is held outlives it only on the others."""
        wishes = state.wishes[:place] + (ABSENT,) + state.wishes[place + 1:]
        held = NO_OPINION if self._all_gone(wishes) else state.held
        return state._replace(wishes=wishes, held=held, mask=self._target(
            state.view, wishes, held))

    def _new_holds(self, cpu, view, early):
        """What the domain is held for when this CPU was the last to wish:
        what the settings say at that moment of the task that it ran."""
        model = self._model
        last = model.current[cpu]
        if cpu in model.switching and not early:
            last = model.previous[cpu]
        for wish in self._settings.past_wishes(last, view):
            yield wish or NO_OPINION

    def _possible_wishes(self, state, place, cpu):
        """Wishes that the CPU may take up now, with the `early` bits after."""
        model = self._model
        early = state.early
        if early >> place & 1:
            yield self._settings.wish(model.upcoming[cpu], state.view), early
            return
        thread = model.current[cpu]
        if cpu in model.switching:
            for wish in self._settings.past_wishes(thread, state.view):
                yield wish, early
        else:
            yield self._settings.wish(thread, state.view), early
        coming = model.upcoming.get(cpu)
        if coming:
            yield (self._settings.wish(coming, state.view),
                   early | 1 << place)

    def moves(self, state):
        """What the module may do next: pairs of a state and the CPU that does
        it, None if any of the domain's may."""
        view, wishes, held, mask, early, _ = state
        for change in self._settings.open:
            if change not in view and not comes_too_late(change, view):
                yield state._replace(view=insert(view, change)), None
        for place, cpu in enumerate(self.cpus):
            if wishes[place] is ABSENT and cpu not in self._model.coming:
                continue
            if wishes[place] is None and cpu in self._model.going:
                yield self._without_cpu(state, place), cpu
            for wish, bits in self._possible_wishes(state, place, cpu):
                if wish != wishes[place] or bits != early:
                    for after in self._refreshed(state, place, wish, bits):
                        yield after, cpu
        target = self._target(view, wishes, held)
        if target != mask:
            yield state._replace(mask=target), None
        if self._nobody(wishes) and self._outdated(held, view):
            yield self._released(state), None

    @staticmethod
    def _nobody(wishes):
        return all(wish in (None, ABSENT) for wish in wishes)

    @staticmethod
    def _all_gone(wishes):
        return all(wish is ABSENT for wish in wishes)

    def _done(self, state):
        """Has everything happened that no open window excuses?"""
        view, wishes, held, mask, early, _ = state
        settings = self._settings
        model = self._model
        for place, cpu in enumerate(self.cpus):
            if cpu in model.switching - model.ending or \
                    wishes[place] is ABSENT:
                continue
            if early >> place & 1:
                continue
            if wishes[place] in model.outdated.get(cpu, ()):
                continue
            if wishes[place] not in settings.past_wishes(model.current[cpu],
                                                         view):
                return False
        if (self._nobody(wishes) and self._outdated(held, view)
                and not settings.in_motion(*(k for k, _ in held.owners))
                and not any(k in self._late for k, _ in held.owners)):
            return False
        return (mask == self._target(view, wishes, held)
                or settings.in_motion(DEFAULT))

    # ---- following the module ----

    def _silently(self, states, goal):
        """The states in which `goal` holds that are reached without a write.

        By as little as it takes, since what is left out can come later.  Not
        so while a change is under way: the task that it is for may leave its
        CPU, and then the CPU cannot take up its new wish any more.
        """
        thorough = bool(self._settings.open)
        reached = set()
        seen = set(states)
        work = list(states)
        while work:
            state = work.pop()
            if goal(state):
                reached.add(state)
                if not thorough:
                    continue
            for after, _ in self.moves(state):
                if after.mask == state.mask and after not in seen:
                    seen.add(after)
                    work.append(after)
            if len(seen) > MAX_HYPOTHESES:
                raise RecordingError("too much happens at once: the recording "
                                     "is ambiguous")
        return reached

    def _visible(self, states):
        """All changes of the mask that may come next: old and new mask, the
        CPU, and the state after."""
        found = []

        def collect(state):
            for after, cpu in self.moves(state):
                if after.mask != state.mask:
                    found.append((state.mask, after.mask, cpu, after))
            return False

        # Whoever has written in part holds the domain.
        self._silently({s for s in states if not s.pending}, collect)
        return found

    def has(self, msr):
        """Is it a register of this domain?"""
        return msr in self._layout.registers

    def write(self, index, cpu, msr, value):
        """A write was seen."""
        part = (msr, value & self._layout.bits(msr))
        possible = self._visible(self.states)
        # When the first CPU comes back nobody knows what the registers went
        # through, so they are written even if that changes nothing.
        after = {state for state in self.states
                 if cpu in self._model.coming and self._all_gone(state.wishes)
                 and part == (msr, self._layout.value(msr, state.mask))}
        for old, new, by, state in possible:
            if by in (None, cpu):
                writes = self._layout.writes(old, new)
                if part in writes:
                    after.add(_without(state, cpu, writes, part))
        for state in self.states:
            if state.pending and state.pending.cpu == cpu and \
                    part in state.pending.writes:
                after.add(_without(state, cpu, state.pending.writes, part))
        if not after:
            was = next(iter(self.states)).mask
            raise Disagreement(
                index, f"CPU {cpu} writes {part[1]:#x} to {msr:#x}, while "
                f"{was:#x} is off", self._describe(possible), self.states)
        self.writes.append(part)
        self.states = after

    def whole(self, index, cpu):
        """The CPU made a record, so it is not in the middle of a change."""
        torn = {s for s in self.states if s.pending and s.pending.cpu == cpu}
        if not torn:
            return
        if torn == self.states:
            left = sorted({f"{value:#x} to {msr:#x}" for s in torn
                           for msr, value in s.pending.writes})
            raise Disagreement(index, f"CPU {cpu} goes on after a part of "
                               "what it had to write",
                               [f"first {one}" for one in left], torn)
        self.states -= torn

    def _describe(self, possible):
        """For people: which writes would have been right."""
        found = {(f"{old:#x} -> {new:#x} off", -1 if cpu is None else cpu)
                 for old, new, cpu, _ in possible}
        found |= {(f"{value:#x} to {msr:#x}", s.pending.cpu)
                  for s in self.states if s.pending
                  for msr, value in s.pending.writes}
        return [f"{text} by " + (f"CPU {cpu}" if cpu >= 0 else
                                 "any CPU of the domain")
                for text, cpu in sorted(found)] or ["no write"]

    def require(self, index, goal, reason):
        """Here `goal` must hold, without a write that nobody saw."""
        if not self._settings.open and all(map(goal, self.states)):
            return
        after = self._silently(self.states, goal)
        if not after:
            possible = self._visible(self.states)
            raise Disagreement(index, f"no write, up to {reason}",
                               self._describe(possible), self.states)
        self.states = after

    def released_late(self, change):
        """A task died for which this domain may be held.

        A CPU of the domain is asked to release it, and the dying task does
        not wait for that.
        """
        if any(key is change.key for state in self.states
               for key, _ in state.held.owners):
            self._late[change.key] = dict.fromkeys(self.cpus, LATE_RECORDS)

    def passed(self, index, cpu):
        """The CPU made a record, so it has answered what it was asked."""
        over = []
        for key, left in self._late.items():
            left[cpu] -= 1
            if all(count < 0 or other in self._model.gone
                   for other, count in left.items()):
                over.append(key)
        for key in over:
            del self._late[key]
            self.require(index, self._done,
                         f"two more records on its CPUs after the exit of "
                         f"{key}")

    def touched(self, index, cpu):
        """The CPU's switch is complete."""
        self.require(index, self._done, f"the end of CPU {cpu}'s last switch")

    def turned(self, index, cpu, absent):
        """The CPU has gone, or is back: in every hypothesis."""
        place = self.cpus.index(cpu)
        self.require(index, lambda state:
                     (state.wishes[place] is ABSENT) == absent,
                     f"CPU {cpu} " + ("offline" if absent else "online"))

    def commit(self, change):
        """The change takes effect, in all hypotheses."""
        self.states = {state._replace(view=insert(state.view, change))
                       for state in self.states}

    def ended(self, index, change):
        """A change's window ends; called before it is taken off the open."""
        self.require(index, lambda state: change in state.view, change.text)

    def seen_wishes(self, thread):
        """What the thread wishes, now or before what is under way."""
        return {wish for state in self.states
                for wish in self._settings.past_wishes(thread, state.view)}

    def settled(self, index, change):
        """The same, after it was taken off."""
        self.require(index, self._done, f"the end of: {change.text}")

    def leaves(self):
        """A task for which a change is under way leaves its CPU. What the CPU
        has taken up of that without a write stays until it is programmed for
        the next task, which other CPUs may see."""
        self.states = self._silently(self.states, lambda state: True)

    def switched(self, cpu):
        """A switch begins: an early programming was the right one."""
        bit = 1 << self.cpus.index(cpu)
        if any(state.early & bit for state in self.states):
            self.states = {state._replace(early=state.early & ~bit)
                           for state in self.states}

    def rewrite(self, ripe, doubtful):
        """Replaces the changes of the keys in `ripe` by what came of them:
        nothing, if that is beyond doubt, else a pin."""
        settings = self._settings
        after = set()
        for state in self.states:
            pins = [settings.pin(key, settings.entry(key, state.view))
                    for key in doubtful]
            rest = [c for c in state.view if c.key not in ripe]
            pins += [c for c in rest if c.kind == "pin"]
            pins.sort(key=lambda pin: pin.index)
            after.add(state._replace(view=tuple(pins) + tuple(
                c for c in rest if c.kind != "pin")))
        return after


def _without(state, cpu, writes, part):
    """The state when one of these writes is done."""
    rest = writes - {part}
    return state._replace(pending=Pending(cpu, rest) if rest else None)


class Model:
    """All domains together."""

    def __init__(self, recording, initial, first):
        self.settings = Settings()
        self.current = initial
        self.previous = dict(initial)
        self.switching = set()  # CPUs whose last switch may be under way
        self.ending = set()     # those of them for which it is over by now
        self.leaving = set()    # CPUs whose task may be off the run queue
        self.outdated = {}      # those not told of a change -> old wishes
        self.going = set()      # CPUs that are being taken offline
        self.gone = set()       # those that are
        self.coming = set()     # those that are being brought back
        self._switched_at = {}
        self.upcoming = {}
        self._first = first
        self._idle_changes = {}     # key -> changes that mattered to nobody
        self.domains = [
            Domain(number, recording.cpus(number), recording.layouts[number],
                   values, self)
            for number, values in sorted(recording.baseline.items())]
        self._of_cpu = {cpu: domain for domain in self.domains
                        for cpu in domain.cpus}

    def run(self, steps, last):
        """Digests the steps up to the record `last`."""
        for step in steps:
            if step.index >= last:
                break
            getattr(self, "_do_" + step.op)(step)

    def _domains(self):
        return [d for d in self.domains if not d.failure]

    def _judge(self, domain, method, *args):
        if domain.failure:
            return
        try:
            method(*args)
        except Disagreement as found:
            domain.failure = found

    def _do_touch(self, step):
        domain = self._of_cpu[step.cpu]
        self._judge(domain, domain.whole, step.index, step.cpu)
        if step.cpu in self.switching:
            self.ending = {step.cpu}
            self._judge(domain, domain.touched, step.index, step.cpu)
            self._end_switches()
        self._judge(domain, domain.passed, step.index, step.cpu)

    def _end_switches(self):
        self.switching -= self.ending
        self.ending = set()

    def _do_upcoming(self, step):
        self.upcoming[step.cpu] = step.what

    def _do_leaving(self, step):
        self.leaving.add(step.cpu)

    def _do_switch(self, step):
        self.leaving.discard(step.cpu)
        self.outdated.pop(step.cpu, None)
        domain = self._of_cpu[step.cpu]
        last = self.current[step.cpu]
        if not domain.failure:
            if self.settings.in_motion(last, last.process):
                domain.leaves()
            domain.switched(step.cpu)
        self.previous[step.cpu] = self.current[step.cpu]
        self.current[step.cpu] = step.what
        self._switched_at[step.cpu] = step.index
        self.switching.add(step.cpu)

    def _do_going(self, step):
        self.going.add(step.cpu)

    def _do_gone(self, step):
        domain = self._of_cpu[step.cpu]
        self._judge(domain, domain.turned, step.index, step.cpu, True)
        self.going.discard(step.cpu)
        self.gone.add(step.cpu)
        # Its last switches, the one to idle among them, were nobody's.
        self.previous[step.cpu] = self.current[step.cpu] = step.what
        self.switching.discard(step.cpu)
        self.leaving.discard(step.cpu)
        self.outdated.pop(step.cpu, None)

    def _do_coming(self, step):
        self.gone.discard(step.cpu)
        self.coming.add(step.cpu)

    def _do_come(self, step):
        domain = self._of_cpu[step.cpu]
        self._judge(domain, domain.turned, step.index, step.cpu, False)
        self.coming.discard(step.cpu)

    def _do_write(self, step):
        record = step.what
        domain = self._of_cpu[step.cpu]
        if step.index > self._first and domain.has(record.a):
            self._judge(domain, domain.write, step.index, step.cpu, record.a,
                        record.b)

    def _do_open(self, step):
        change = step.what
        if not self.settings.matters(change):
            # Most exits and forks.  A later request can change that.
            for key in change.touches():
                self._idle_changes.setdefault(key, []).append(change)
            return
        self._begin(change)
        for waiting in self._idle_changes.get(change.key, ()):
            if waiting not in self.settings.open:
                self._begin(waiting)

    def _begin(self, change):
        """Opens the window.  Where nothing else is under way it makes no
        difference when in the window a thread's exit or a fork takes effect:
        the thread is on its CPU all the time, the child has not run yet.
        Beside the end of its process it does: for the wish is of both."""
        at_once = change.alone and (
            change.kind == "exit" and change.of_thread
            or change.kind == "fork") and not any(
                change.conflicts(other) for other in self.settings.open)
        self.settings.begin(change)
        if at_once:
            for domain in self._domains():
                domain.commit(change)

    def _do_close(self, step):
        change = step.what
        for key in change.touches():
            waiting = self._idle_changes.get(key, [])
            if change in waiting:
                waiting.remove(change)
                if not waiting:
                    del self._idle_changes[key]
        if change not in self.settings.open:
            return
        if change.kind in ("set", "clear"):
            # The requester waited for the CPUs that ran its target, so the
            # switches that brought it there are over.
            self.ending = {cpu for cpu, thread in self.current.items()
                           if change.key in (thread, thread.process)
                           and self._switched_at.get(cpu, 0) < change.index}
        for domain in self._domains():
            self._judge(domain, domain.ended, step.index, change)
            if change.kind == "exit":
                domain.released_late(change)
        if change.kind in ("set", "clear"):
            self._excuse(change)
        self.settings.end(change)
        for domain in self._domains():
            self._judge(domain, domain.settled, step.index, change)
        self._end_switches()
        self._settle()

    def _excuse(self, change):
        """A task that has left the run queue to sleep needs not be told,
        though it is still on its CPU: it finds its setting when it runs again.
        Its CPU may keep the wish that it has until the switch."""
        for cpu in self.leaving:
            thread = self.current[cpu]
            domain = self._of_cpu[cpu]
            if change.key in (thread, thread.process) and not domain.failure:
                self.outdated.setdefault(cpu, set()).update(
                    domain.seen_wishes(thread))

    def _settle(self):
        """Settles what has ended.  If hypotheses differ in what came of it,
        each keeps its own result."""
        ripe = self.settings.ripe()
        if not ripe:
            return
        entries = {key: {self.settings.entry(key, state.view)
                         for domain in self._domains()
                         for state in domain.states} or {None}
                   for key in ripe}
        doubtful = [key for key in ripe if len(entries[key]) > 1]
        rewritten = [(domain, domain.rewrite(ripe, doubtful))
                     for domain in self._domains()]
        for key in ripe:
            self.settings.settle(key, entries[key])
        for domain, states in rewritten:
            domain.states = states
