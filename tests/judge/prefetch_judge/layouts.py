# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of core: which bit of which register switches which prefetcher off.

Written from the vendors' documents, for the judge alone: it shares nothing
with the module's table of CPUs, and knows no more than it is asked for.
"""

NAMES = ("l2_stream", "l2_adjacent", "l1_stream", "l1_ip", "l1_next_page",
         "amp", "llc_page", "aop", "code_stream", "l2_next_line",
         "llc_stream", "l1_stride", "l1_region", "l2_updown")


class Layout:
    """The registers of one kind of core.

    A mask has a 1 for each prefetcher that is off, in the order of NAMES.
    """

    def __init__(self, **places):
        self._places = {NAMES.index(name): place
                        for name, place in places.items()}
        self.registers = {msr for msr, _ in self._places.values()}
        self.supported = sum(1 << ident for ident in self._places)

    def bits(self, msr):
        """The bits of the register that may change."""
        return sum(1 << bit for reg, bit in self._places.values()
                   if reg == msr)

    def mask(self, values):
        """The prefetchers that these register values switch off."""
        return sum(1 << ident for ident, (msr, bit) in self._places.items()
                   if values[msr] >> bit & 1)

    def value(self, msr, mask):
        """The bits of the register with this mask."""
        return sum(1 << bit for ident, (reg, bit) in self._places.items()
                   if reg == msr and mask >> ident & 1)

    def writes(self, old, new):
        """The registers that a change of the mask writes, and their bits."""
        return frozenset((msr, self.value(msr, new)) for msr in self.registers
                         if self.value(msr, old) != self.value(msr, new))


_FOUR = {"l2_stream": (0x1A4, 0), "l2_adjacent": (0x1A4, 1),
         "l1_stream": (0x1A4, 2), "l1_ip": (0x1A4, 3)}

LAYOUTS = {
    "classic": Layout(**_FOUR),
    "p-core": Layout(**_FOUR, amp=(0x1A4, 5)),
    "gracemont": Layout(l2_stream=(0x1A4, 0), l1_stream=(0x1A4, 2),
                        l1_ip=(0x1A4, 3), amp=(0x1A4, 5),
                        l2_next_line=(0x1321, 40)),
    "goldmont": Layout(l2_stream=(0x1A4, 0), l1_stream=(0x1A4, 2)),
    "knights": Layout(l1_stream=(0x1A4, 0), l2_stream=(0x1A4, 1)),
    "amd": Layout(l1_stream=(0xC0000108, 0), l1_stride=(0xC0000108, 1),
                  l1_region=(0xC0000108, 2), l2_stream=(0xC0000108, 3),
                  l2_updown=(0xC0000108, 5)),
}
