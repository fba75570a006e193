# SPDX-License-Identifier: GPL-2.0-or-later
"""What settings mean: entries, changes to them, wishes, register masks.

Masks have one bit per prefetcher id; a 1 in an off or effective mask means
that the prefetcher is off.
"""

from typing import NamedTuple

DEFAULT = "default"


class Entry(NamedTuple):
    """A setting.  `version` changes whenever its masks do."""
    off: int
    on: int
    inherit: int
    version: object


class Wish(NamedTuple):
    """What a CPU asks for, unresolved, and the settings it came from."""
    off: int
    on: int
    owners: tuple = ()      # pairs of key and version


NO_OPINION = Wish(0, 0)
# In place of the wish of a CPU that is offline. One that is online and wishes
# nothing, as it is idle, has None.
ABSENT = "absent"


class Change:
    """Something that changes settings at a moment that nobody sees.

    The moment lies between two records, `open` and `close`: a request between
    its markers, the removal at a task's exit, the copy at a fork.  The key is
    the Thread or Process object itself, or DEFAULT.
    """

    def __init__(self, kind, key, text, index, **masks):
        self.kind = kind            # set, clear, exit, fork, pin
        self.key = key
        self.text = text
        self.index = index
        self.closed = False         # is the end of its window known?
        self.holders = 0            # threads with whose next record it ends
        self.beside = set()         # exit: threads that end on other CPUs
        self.alone = True           # no other in its window that conflicts?
        self.off = masks.get("off", 0)
        self.on = masks.get("on", 0)
        self.clear = masks.get("clear", 0)
        self.inherit = masks.get("inherit")
        self.source = masks.get("source")   # fork: the parent's Process
        self.of_thread = masks.get("of_thread")     # exit: not the process
        self.entry = masks.get("entry")     # pin: the result

    def touches(self):
        """The keys that it writes and reads."""
        return (self.key, self.source) if self.source else (self.key,)

    def conflicts(self, other):
        """Does the order of the two matter?"""
        return (self.key in other.touches() or other.key in self.touches()
                or self._is_in(other) or other._is_in(self))

    def _is_in(self, other):
        """Does a thread end beside the end of its process?

        What it wishes meanwhile comes from both of them.
        """
        return self.key in other.beside

    def apply(self, entry, source_entry=None):
        """The entry after the change, None if there is none any more."""
        if self.kind in ("clear", "exit"):
            return None
        if self.kind == "pin":
            return self.entry
        if self.kind == "fork":
            # What somebody already set on the visible child stands.
            if entry or not source_entry or not source_entry.inherit:
                return entry
            return Entry(source_entry.off, source_entry.on, 1, self)
        old = entry or Entry(0, 0, 0, None)
        off = old.off & ~(self.on | self.clear) | self.off
        on = old.on & ~(self.off | self.clear) | self.on
        if not off and not on:
            return None
        same = entry and (off, on) == (old.off, old.on)
        inherit = old.inherit if self.inherit is None else self.inherit
        return Entry(off, on, inherit, old.version if same else self)


def combine(thread_entry, process_entry, owner_thread, owner_process):
    """Thread setting over process setting, prefetcher by prefetcher."""
    off = on = 0
    owners = ()
    if process_entry:
        off, on = process_entry.off, process_entry.on
        owners = ((owner_process, process_entry.version),)
    if thread_entry:
        opinion = thread_entry.off | thread_entry.on
        off = off & ~opinion | thread_entry.off
        on = on & ~opinion | thread_entry.on
        owners = ((owner_thread, thread_entry.version),) + owners
    return Wish(off, on, owners)


def default_mask(mask, default_entry):
    """The machine default of a domain whose firmware left this mask."""
    if default_entry:
        mask = mask & ~default_entry.on | default_entry.off
    return mask


def resolve(wish, default):
    """The prefetchers that the wish wants off."""
    return default & ~wish.on | wish.off
