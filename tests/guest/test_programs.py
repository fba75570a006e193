# SPDX-License-Identifier: GPL-2.0-or-later
"""Each check of each guest program, and the spans that the twin confirms."""

import re

import pytest

import boots
import twinlog

FAULTY = {f"fault-{fault}" for fault in boots.FAULTS}
# What the guest's init says when it has asked the debug kernel's checkers.
CHECKERS = re.compile(r"at the end: lockdep is on, "
                      r"(lock_classes=(\d+) leaks=(\d+))$")


def _programs():
    for boot in boots.BOOTS.values():
        for i, program in enumerate(boot.programs):
            yield boot, i, program


def _cases(names):
    """One parameter set for each name that a program promises."""
    return [pytest.param(boot.name, i, name,
                         id=f"{boot.name}-{program.name}-{name}")
            for boot, i, program in _programs() for name in names(program)]


@pytest.mark.parametrize("boot, index, name", _cases(lambda p: p.checks))
def test_check(outcome, index, name):
    """The program has said "ok NAME"."""
    said = outcome.said[index]
    if name not in said.checks:
        tail = "\n".join(said.lines[-15:])
        pytest.fail(f"no word of {name}; the program ended with "
                    f"{said.status}:\n{tail}\n{outcome.stderr[-1500:]}",
                    pytrace=False)
    state, reason = said.checks[name]
    if state == "skip":
        pytest.skip(reason)
    if state != "ok":
        pytest.fail(reason, pytrace=False)


@pytest.mark.parametrize("boot, index, name", _cases(lambda p: p.spans))
def test_span(outcome, index, name):
    """The twin has logged as many writes as the program says."""
    said = outcome.said[index]
    assert name in said.spans, f"the program has not said 'span {name}'"
    first, last, core, least, most = said.spans[name]
    records = twinlog.between(outcome.records(), first, last)
    count = len(twinlog.writes(records, core))
    assert least <= count <= most, f"{count} register writes"


@pytest.mark.parametrize("boot, index", [
    pytest.param(boot.name, i, id=f"{boot.name}-{program.name}")
    for boot, i, program in _programs() if program.twin])
def test_twin(outcome, boot, index):
    """Registers that nobody in the guest could read, as the twin has them."""
    said = outcome.said[index]
    records = outcome.records()
    firmware = boots.BOOTS[boot].baseline
    assert said.twin or said.lost, "the program has not said anything"
    for mark, core, value in said.twin:
        found = twinlog.value_at(records, mark, core, firmware)
        assert found == value, f"at mark {mark:#x} core {core}"
    for first, last, core in said.lost:
        piece = twinlog.between(records, first, last)
        assert twinlog.losses(piece, core), \
            f"core {core} has lost nothing after mark {first:#x}"


@pytest.mark.parametrize("boot, index", [
    pytest.param(boot.name, i, id=f"{boot.name}-{i}-{program.name}")
    for boot, i, program in _programs() if program.checks])
def test_status(outcome, index, record_property):
    """The program itself ended well; its figures are for scripts/test."""
    said = outcome.said[index]
    for line in said.lines:
        if line.startswith("figure "):
            record_property("figure", line.removeprefix("figure "))
    assert said.status == 0, "\n".join(said.lines[-15:])


# Loading and unloading is told; nothing that these programs send may be.
@pytest.mark.parametrize("boot", ["plain", "migrate", "many"])
def test_kernel_log(outcome):
    """No line of the module in the kernel's log because of a request."""
    lines = outcome.console
    starts = [i for i, line in enumerate(lines) if "guest test: " in line]
    assert starts and "all done" in lines[starts[-1]], \
        "the programs' own lines are missing in the console"
    ours, reloads = [], ("rights", "limits", "permission", "events")
    for begin, end in zip(starts, starts[1:]):
        if any(f"guest test: {name} " in lines[begin] for name in reloads):
            continue
        ours += [line for line in lines[begin + 1:end]
                 if "prefetch" in line.lower()]
    assert not ours, "\n".join(ours)


# A guest that reboots does not come to its end.
@pytest.mark.debug_kernel
@pytest.mark.parametrize("boot", [
    boot.name for boot in boots.BOOTS.values()
    if "--reboot-ok" not in boot.options])
def test_checkers(outcome, record_property):
    """Lockdep was on to the end, and no memory was lost."""
    said = [match for line in outcome.console
            if (match := CHECKERS.search(line))]
    assert len(said) == 1, "\n".join(outcome.console[-15:])
    record_property("figure", f"{outcome.folder.name} {said[0][1]}")
    assert int(said[0][2]) > 100, "lockdep has seen hardly any lock"
    assert int(said[0][3]) == 0


# The mark that the next kernel makes, see unload.c.
NEXT_KERNEL = 0xF0000


@pytest.mark.parametrize("boot", ["reboot", "kexec"])
def test_reboot_restores(outcome, boot):
    """Masks were in force when the guest rebooted, and are gone after it."""
    kexec, boot = boot == "kexec", boots.BOOTS[boot]
    records = outcome.records()
    marks = [i for i, r in enumerate(records)
             if r.kind == "mark" and r.value >= 0x10000]
    assert marks, "the guest did not get as far as reboot:\n" + \
        "\n".join(outcome.said[0].lines[-15:])
    before, after = records[:marks[0]], records[marks[0]:]
    ends = {r.core: r.value for r in records if r.kind == "end"}
    assert set(ends) == {0, 1}
    for core, value in ends.items():
        in_force = twinlog.writes(before, core)[-1].new
        assert in_force != boot.baseline, f"nothing was set on core {core}"
        assert value == boot.baseline
        assert twinlog.writes(after, core)[-1].new == boot.baseline
        if kexec:
            assert twinlog.value_at(after, NEXT_KERNEL, core,
                                    in_force) == boot.baseline
