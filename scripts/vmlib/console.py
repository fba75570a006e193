# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel trouble in a guest's console, which fails a run in any case."""

import re

TROUBLE = re.compile("|".join((
    r"\bWARNING:",
    r"\bBUG:",
    r"kernel BUG at",
    r"\bOops\b",
    r"Kernel panic",
    r"\[ cut here \]",
    r"Call Trace:",
    r"(?<!traps: )general protection fault",
    r"double fault",
    r"possible (?:circular|recursive) locking",
    r"inconsistent lock state",
    r"bad unlock balance",
    r"held lock freed",
    r"suspicious RCU usage",
    r"DEBUG_LOCKS_WARN_ON",
    r"turning off the locking correctness validator",
    r"KASAN:",
    r"UBSAN:",
    r"KCSAN:",
    r"ODEBUG:",
    r"kmemleak: \d+ new suspected memory leak",
    r"rcu.*(?:self-)?detected stall",
    r"rcu.*kthread starved",
    r"INFO: task .* blocked for more than",
    r"(?:soft|hard) lockup",
    r"hard LOCKUP",
    r"unchecked MSR access error",
    r"refcount_t:",
    r"list_(?:add|del) corruption",
    r"Marking clocksource .* as unstable",
    r"Bad page state",
    r"unregister_netdevice: waiting",
)))

# A starved emulator lets the guest's kernel measure a wrong clock rate: its
# time runs too fast, and what it then calls a stall is none.
MISCALIBRATED = "PIT calibration deviates from"

# A user program that faults is told by the kernel, and no fault of it.
USER_FAULT = re.compile(r"traps: .*\[\d+\] general protection")

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f]")


class Console:
    """Collects the console's lines and finds trouble among them."""

    def __init__(self, allowed=(), echo=None):
        self.lines = []
        self.trouble = []
        self.forgiven = 0
        self.miscalibrated = False
        self._allowed = tuple(allowed)
        self._echo = echo
        self._rest = b""

    def feed(self, data):
        """More bytes from the console."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)

    def close(self):
        """The console has ended: a last line may lack its newline."""
        if self._rest:
            self._line(self._rest)
            self._rest = b""

    def _line(self, raw):
        line = CONTROL.sub("", raw.decode("utf-8", "replace")).rstrip()
        self.lines.append(line)
        if self._echo:
            self._echo(line)
        self.miscalibrated |= MISCALIBRATED in line
        if TROUBLE.search(line) and not USER_FAULT.search(line):
            if any(text in line for text in self._allowed):
                self.forgiven += 1
            else:
                self.trouble.append(len(self.lines) - 1)

    def report(self, before=3, after=30):
        """The first trouble with the lines around it."""
        first = self.trouble[0]
        shown = self.lines[max(0, first - before):first + after]
        return "\n".join("  | " + line for line in shown)
