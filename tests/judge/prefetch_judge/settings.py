# SPDX-License-Identifier: GPL-2.0-or-later
"""Who has which setting, as far as that is known.

Ended changes whose outcome is the same in all hypotheses are the ground.  What
is still open, or in doubt, is told by a hypothesis' view: a tuple of changes
that are in effect, in order.
"""

from itertools import combinations

from .semantics import NO_OPINION, Change, combine


class Settings:
    """Settled settings, and the changes that are still open."""

    def __init__(self):
        self._settled = {}
        self.open = []          # changes whose window has not ended
        self.unsettled = []     # ended, but not yet part of the ground
        self.doubtful = set()   # keys with more than one possible outcome
        self._touched = {}      # key -> number of open changes
        self._wishes = {}
        self._pins = {}

    def entry(self, key, view):
        """The setting with this key, None if there is none."""
        entry = self._settled.get(key)
        for place, change in enumerate(view):
            if key is change.key:
                source = None
                if change.source:
                    source = self.entry(change.source, view[:place])
                entry = change.apply(entry, source)
        return entry

    def wish(self, thread, view):
        """What a CPU wishes that runs the thread."""
        if not thread.pid:
            return None
        if not view and thread in self._wishes:
            return self._wishes[thread]
        mine = self.entry(thread, view)
        shared = self.entry(thread.process, view)
        if mine or shared:
            wish = combine(mine, shared, thread, thread.process)
        else:
            wish = None if thread.kthread else NO_OPINION
        if not view:
            self._wishes[thread] = wish
        return wish

    def past_wishes(self, thread, view):
        """What a CPU may still wish that looked the thread's setting up
        before the changes that are under way: the present wish first."""
        yield self.wish(thread, view)
        recent = [c for c in view if c in self.open
                  and c.key in (thread, thread.process)]
        for count in range(1, len(recent) + 1):
            for absent in combinations(recent, count):
                yield self.wish(thread, tuple(c for c in view
                                              if c not in absent))

    def matters(self, change):
        """Can the change have an effect, as things stand?"""
        if change.kind == "set" or any(
                key in self._touched or key in self.doubtful
                for key in change.touches()) or any(
                    change.conflicts(other) for other in self.unsettled):
            return True
        if change.kind == "fork":
            entry = self._settled.get(change.source)
            return bool(entry and entry.inherit)
        return change.key in self._settled

    def begin(self, change):
        """Its window begins."""
        self.open.append(change)
        self._touched[change.key] = self._touched.get(change.key, 0) + 1

    def end(self, change):
        """Its window ends; it stays in the views until settled."""
        self.open.remove(change)
        self.unsettled.append(change)
        self._touched[change.key] -= 1
        if not self._touched[change.key]:
            del self._touched[change.key]

    def in_motion(self, *keys):
        """Is a change of one of these under way?"""
        return any(key in self._touched for key in keys)

    def ripe(self):
        """Keys whose ended changes can be replaced by what came of them.

        Not those that an open change touches or reads: where in the order it
        belongs is not known yet.
        """
        keys = {change.key for change in self.unsettled}
        while True:
            waiting = [c for c in self.open + self.unsettled
                       if c.key in self._touched or c.key not in keys]
            late = {key for key in keys
                    if key in self._touched
                    or any(c.source is key for c in waiting)}
            if not late:
                return keys
            keys -= late

    def pin(self, key, entry):
        """A change that stands for a result: the same for the same result."""
        if (key, entry) not in self._pins:
            self._pins[key, entry] = Change(
                "pin", key, f"setting of {key}", -1e9 + len(self._pins),
                entry=entry)
        return self._pins[key, entry]

    def settle(self, key, entries):
        """Puts what came of the key's changes in their place.

        @entries: what it may be; more than one if the order of the changes
        is in doubt.
        """
        self.unsettled = [c for c in self.unsettled if c.key is not key]
        self._settled.pop(key, None)
        self.doubtful.discard(key)
        if len(entries) > 1:
            self.doubtful.add(key)
        else:
            entry = next(iter(entries))
            if entry:
                self._settled[key] = entry
        self._wishes.clear()


def comes_too_late(change, view):
    """Nobody can give a setting to a task that has exited."""
    return change.kind == "set" and any(
        other.kind == "exit" and other.key is change.key for other in view)


def insert(view, change):
    """The view with the change in effect.

    Where order does not matter it is made the same, so that equal states are
    equal.
    """
    place = len(view)
    while place and not change.conflicts(view[place - 1]) \
            and change.index < view[place - 1].index:
        place -= 1
    return view[:place] + (change,) + view[place:]
