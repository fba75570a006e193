# SPDX-License-Identifier: GPL-2.0-or-later
"""Kinds of core: other bits, other registers, and several of them."""

import pytest

from prefetch_judge import recording, report
from prefetch_judge.layouts import LAYOUTS, NAMES
from runs import begin, lines_with, random_run, verdict, writes


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("layout", sorted(set(LAYOUTS) - {"classic"}))
def test_other_layouts(tmp_path, layout, seed):
    machine = random_run(seed, (), layout=layout, baseline=0xFF0055)
    assert writes(machine) > 30
    assert not verdict(machine, tmp_path)


def test_layouts_are_as_documented():
    """One trap of each, by hand."""
    everything = (1 << len(NAMES)) - 1
    assert {name: {msr: layout.value(msr, everything)
                   for msr in layout.registers}
            for name, layout in LAYOUTS.items()} == {
                "classic": {0x1A4: 0xF}, "p-core": {0x1A4: 0x2F},
                "gracemont": {0x1A4: 0x2D, 0x1321: 1 << 40},
                "goldmont": {0x1A4: 0x5}, "knights": {0x1A4: 0x3},
                "amd": {0xC0000108: 0x2F}}
    assert LAYOUTS["knights"].value(0x1A4, 1) == 2
    assert LAYOUTS["amd"].mask({0xC0000108: 0x3C8}) == 1


def test_second_register_is_not_written(tmp_path):
    """The first tells of a change that never came to its end."""
    machine, (one, _, _) = begin(("half",), layout="gracemont")
    machine.request(3, "pid", one.pid, off=0x201)
    machine.switch(0, one)
    machine.stop()
    assert any("goes on after a part" in p
               for p in verdict(machine, tmp_path))


def test_second_register_is_written_by_another(tmp_path):
    machine, (one, two, _) = begin(layout="gracemont")
    machine.request(3, "pid", one.pid, off=0x201)
    machine.switch(0, one)
    place = lines_with(machine.lines, "write_msr: 1321")[0]
    machine.lines[place] = machine.lines[place].replace("[000]", "[001]")
    machine.stop()
    assert any(p.startswith("judge:") for p in verdict(machine, tmp_path))


def test_register_of_another_kind_of_core(tmp_path):
    machine, (one, _, _) = begin(layout="gracemont")
    machine.request(3, "pid", one.pid, off=0x201)
    machine.switch(0, one)
    machine.stop()
    machine.save(tmp_path)
    for name, old, new in (("layout", "0 gracemont", "0 p-core"),
                           ("baseline", "0 1321 0000000000000000\n", "")):
        file = tmp_path / name
        text = file.read_text(encoding="ascii")
        assert old in text
        file.write_text(text.replace(old, new), encoding="ascii")
    verdicts = report.judge(recording.load(tmp_path), tmp_path / "twin.log",
                            tmp_path / "events")
    assert any("0x1321 is not a register" in p
               for v in verdicts for p in v.problems)


def test_bits_the_other_way_round(tmp_path):
    """Only the layout says which bit is whose."""
    machine = random_run(1, (), layout="knights")
    machine.save(tmp_path)
    (tmp_path / "layout").write_text("0 classic\n1 classic\n",
                                     encoding="ascii")
    verdicts = report.judge(recording.load(tmp_path), tmp_path / "twin.log",
                            tmp_path / "events")
    assert any(p.startswith("judge:") for v in verdicts for p in v.problems)


@pytest.mark.parametrize("masks, good", [
    ([(0, 0x201, 1)], True),
    ([(0, 1, 1), (1, 0x201, 1)], True),     # nobody can tell the two apart
    ([(0, 0x201, 2)], True),
    ([(0, 0x201, 3)], False),
    ([(0, 1, 1)], False),
    ([(0, 0x200, 1)], False),
])
def test_events_of_two_registers(tmp_path, masks, good):
    machine, (one, _, _) = begin(layout="gracemont")
    machine.request(3, "pid", one.pid, off=0x201)
    machine.switch(0, one)
    machine.stop()
    assert len(machine.events) == 1
    machine.events = [dict(machine.events[0], old=old, new=new, folded=folded)
                      for old, new, folded in masks]
    problems = verdict(machine, tmp_path)
    assert all(p.startswith("events:") for p in problems)
    assert bool(problems) != good
