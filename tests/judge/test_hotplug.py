# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs go offline and come back: what the judge accepts of a module."""

import pytest

from runs import begin, verdict, writes


def _leave(machine, cpu, kthread):
    """Takes a CPU offline: from its own thread, as the kernel does."""
    machine.switch(cpu, kthread)
    machine.turn(3, cpu, False)


def _come(machine, cpu, kthread):
    machine.switch(cpu, kthread)
    machine.turn(3, cpu, True)
    machine.switch(cpu)


def _run(bugs=(), layout="classic", **more):
    """Core 0 goes with a task that has a setting, and comes back to it."""
    machine, (one, two, kthread) = begin(bugs=bugs, layout=layout,
                                         kernel=True, **more)
    machine.request(3, "pid", one.pid, off=1)
    machine.request(3, "pid", two.pid, off=4)
    machine.switch(0, one)
    machine.switch(1, two)
    machine.switch(1, None, "R")
    machine.switch(0, kthread, "R")
    # Until the kernel moves them away tasks run there, and count no more.
    machine.turn(3, 0, False, lambda: machine.switch(0, two, "R"))
    machine.switch(1, two)
    machine.switch(1, kthread, "R")
    machine.turn(3, 1, False)
    # Nobody is there for whom the default could be changed.
    machine.request(3, "default", 0, off=4)
    _come(machine, 1, kthread)
    machine.switch(1, one)
    machine.request(3, "default", 0, kind="clear")
    _come(machine, 0, kthread)
    machine.switch(0, two)
    machine.switch(0, None, "R")
    machine.switch(1, None, "R")
    machine.stop()
    return machine


@pytest.mark.parametrize("layout", ["classic", "gracemont"])
@pytest.mark.parametrize("baseline", [0, 0x5])
def test_right(tmp_path, layout, baseline):
    machine = _run(layout=layout, baseline=baseline)
    assert writes(machine) >= 1
    assert not verdict(machine, tmp_path)


# What is wrong, and a part of what is said of it.
BUGS = [
    ("stays", "no write, up to"),
    ("counts on", "no write, up to"),
    ("not back", "no write, up to"),
    ("elsewhere", "writes"),
]


@pytest.mark.parametrize("bug,text", BUGS)
def test_wrong(tmp_path, bug, text):
    said = verdict(_run(bugs={bug}), tmp_path)
    assert text in str(said), said


def test_held_while_a_sibling_goes(tmp_path):
    machine, (one, _, kthread) = begin(kernel=True)
    machine.request(3, "pid", one.pid, off=1)
    machine.switch(1, one)
    machine.switch(1)
    before = writes(machine)
    _leave(machine, 1, kthread)
    assert machine.register[0] == 1 and writes(machine) == before
    machine.request(3, "pid", one.pid, kind="clear")
    assert machine.register[0] == 0
    _come(machine, 1, kthread)
    machine.stop()
    assert not verdict(machine, tmp_path)
