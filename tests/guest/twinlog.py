# SPDX-License-Identifier: GPL-2.0-or-later
"""The twin's log: what reached the registers, seen from outside the guest."""

from dataclasses import dataclass

RECORD_START = 0x100
RECORD_STOP = 0x101


@dataclass(frozen=True)
class Record:
    """A line of the log."""

    kind: str
    fields: dict
    line: str

    def __getattr__(self, name):
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(name) from None


def parse(text):
    """The records of a log; comments are left out."""
    records = []
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        _seq, _time, kind, *pairs = line.split()
        fields = {name: int(value, 0) for name, value in
                  (pair.split("=", 1) for pair in pairs)}
        records.append(Record(kind, fields, line))
    return records


def _mark(records, value, after=0):
    for i in range(after, len(records)):
        if records[i].kind == "mark" and records[i].value == value:
            return i
    raise ValueError(f"the twin's log has no mark 0x{value:x}")


def between(records, first, last):
    """The records between two marks, given by their values."""
    start = _mark(records, first)
    return records[start + 1:_mark(records, last, start + 1)]


def value_at(records, mark, core, firmware):
    """What the core's register held when the mark was made."""
    value = firmware
    for record in records[:_mark(records, mark)]:
        if record.kind in ("write", "lost") and record.core == core:
            value = record.new
    return value


def losses(records, core):
    """The times that the core really lost something."""
    return [r for r in records
            if r.kind == "lost" and r.core == core and r.old != r.new]


def writes(records, core):
    """The register writes of a core."""
    return [r for r in records if r.kind == "write" and r.core == core]


def recordings(text):
    """The log in pieces, one for each recording, each as a log of its own."""
    head, *lines = text.splitlines() or [""]
    pieces, piece, number = [], None, 0
    for line in lines:
        words = line.split()
        is_mark = len(words) > 3 and words[2] == "mark"
        value = int(words[3].split("=")[1], 0) if is_mark else None
        if value == RECORD_START and piece is None:
            piece, number = [head], 0
        if piece is None:
            continue
        if not line.startswith("#"):
            # The judge insists on numbers without a gap, from 0 on.
            line = f"{number} {line.split(maxsplit=1)[1]}"
            number += 1
        piece.append(line)
        if value == RECORD_STOP:
            pieces.append("\n".join(piece) + "\n")
            piece = None
    return pieces
