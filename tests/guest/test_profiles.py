# SPDX-License-Identifier: GPL-2.0-or-later
"""The module on each machine that a profile of the twin describes."""

import json
import re

import pytest

import profiles
import twinlog

MACHINES = profiles.MACHINES
WORKING = {name: m for name, m in MACHINES.items() if not m.refuses}
# There a core does not keep what was written: looked at in a test of its own.
STEADY = {name: m for name, m in WORKING.items() if name != "changes"}

# CPUID leaf 0x1A, EAX bits 31 to 24.
TYPES = {"uniform": 0, "performance": 0x40, "efficient": 0x20}


def _each(machines):
    return pytest.mark.parametrize(
        "boot, profile", [pytest.param(f"profile-{name}", name, id=name)
                          for name in machines])


def _answer(outcome, command, status=0):
    got, out, err = outcome.answers[command]
    assert got is not None, f"the guest did not get as far as: {command}"
    assert got == status, f"{command}: ended with {got}: {out}{err}"
    return out, err


def _cores(outcome, command):
    return json.loads(_answer(outcome, command)[0])["cores"]


def _baselines(core):
    return {r["address"]: r["baseline"] for r in core["registers"]}


def _writes(records, core, msr=None):
    return [r for r in records if r.kind == "write" and r.core == core
            and msr in (None, r.msr)]


def _expected(machine, names):
    """{(core, register): value} that change from what the firmware left."""
    return {(i, msr): value
            for i, core in enumerate(machine.cores) if core.works
            for msr, value in core.values(names).items()
            if value != core.firmware.get(msr, 0)}


@_each(MACHINES)
def test_load(outcome, profile):
    """It loads, or refuses, and says what it has found."""
    machine = MACHINES[profile]
    status, _out, err = outcome.answers[profiles.load(machine)]
    assert (status != 0) == machine.refuses, err
    said = [line.partition("prefetch: ")[2] for line in outcome.console
            if "] prefetch: " in line and "taint" not in line]
    for line in machine.lines:
        assert line in said, "\n".join(said)
    if not machine.refuses:
        assert f"{len(machine.cores)} cores, backend msr" in said
        # Nothing else is to complain of but the first line.
        assert len(said) == len(machine.lines) + 2, "\n".join(said)


@_each(MACHINES)
def test_nothing_else_changes(outcome, profile):
    """No bit outside the named fields, and no other register, ever."""
    machine = MACHINES[profile]
    for r in outcome.records():
        if r.kind not in ("write", "write-fault"):
            continue
        assert r.msr not in machine.untouched, r.line
        if machine.refuses:
            continue
        core = machine.cores[r.core]
        asked = r.fields.get("asked", r.fields.get("new", r.fields.get(
            "value")))
        changed = asked ^ core.firmware.get(r.msr, 0)
        assert not changed & ~core.bits(r.msr), r.line


@_each(WORKING)
def test_restored(outcome, profile):
    """Unloaded with all of them off: as the firmware left it, everywhere."""
    machine = MACHINES[profile]
    _answer(outcome, profiles.IN_FORCE)
    _answer(outcome, profiles.UNLOAD)
    records = outcome.records()
    ends = {(r.core, r.msr): r.value for r in records if r.kind == "end"}
    assert ends, "the twin's log has no end"
    full = _expected(machine, machine.names())
    for i, core in enumerate(machine.cores):
        for msr in core.registers:
            before = core.firmware.get(msr, 0)
            if (i, msr) in ends:
                assert ends[i, msr] == before, (i, msr)
            if (i, msr) in full:
                last = _writes(records, i, msr)[-1]
                assert (last.old, last.new) == (full[i, msr], before)


@_each(WORKING)
def test_cores(outcome, profile):
    """Which CPUs share a core, its type, what is off by firmware, failures."""
    machine = MACHINES[profile]
    seen = _cores(outcome, profiles.CORES)
    assert [core["cpus"] for core in seen] == \
        [list(core.cpus) for core in machine.cores]
    for core, have in zip(machine.cores, seen):
        assert have["core_type"] == core.kind
        assert have["failed"] == (not core.works)
        assert have["supported"] == profiles.mask(core.has)
        assert (have["hybrid_id"] or 0) >> 24 == TYPES[core.kind]
        assert _baselines(have) == {
            msr: None if "absent" in core.fault else value
            for msr, value in core.values(()).items()}
        if core.fault:
            kind, bits, *names = core.fault
            assert have["fault"] == {
                "kind": kind, "register": 0x1a4, "bits": bits,
                "stuck": profiles.mask(names)}
            continue
        assert have["fault"] is None
        off = profiles.mask(core.off_by_firmware())
        assert (have["baseline"], have["effective"], have["read"]) == \
            (off, off, off)
        assert not have["differs"]
        assert {r["address"]: r["value"] for r in have["registers"]} == \
            core.values(())


@_each(WORKING)
def test_info(outcome, profile):
    """Each prefetcher, where it is switched, and on how many cores."""
    machine = MACHINES[profile]
    info = json.loads(_answer(outcome, profiles.INFO)[0])
    assert info["supported"] == profiles.mask(machine.names())
    assert info["domains"] == len(machine.cores)
    where = {}
    for i, core in enumerate(machine.cores):
        for name, (msr, bit) in core.has.items():
            place = where.setdefault((name, core.kind, msr, bit), [0, 0])
            # Cores whose register failed have it, too.
            place[0] += 1
            place[1] += name in core.off_by_firmware()
    seen = {(p["name"], w["core_type"], w["register"], w["shift"]):
            [w["domains"], w["baseline_off"]]
            for p in info["prefetchers"] for w in p["locations"]}
    assert seen == where


@_each(MACHINES)
def test_report(outcome, profile):
    """info says why something is missing; the report has all of it."""
    machine = MACHINES[profile]
    report = _answer(outcome, profiles.REPORT)[0]
    for line in machine.lines:
        assert f"kernel log: {line}\n" in report
    if machine.refuses:
        _out, err = _answer(outcome, profiles.WHY, 4)
        for line in machine.lines:
            assert f"    {line}\n" in err
        assert ("please report" in err) == \
            any("undocumented" in line or line.endswith("left alone")
                for line in machine.lines)
        return
    for i, core in enumerate(machine.cores):
        state = "ok" if core.works else "FAILED"
        names = [n for n in profiles.IDS if n in core.off_by_firmware()]
        first, _, rest = report.partition(f"core {i}: CPU")[2].partition(
            f"{state}; off by firmware: {','.join(names) or '-'}\n")
        assert f", {core.kind}, " in first and "\n" not in first, report
        assert ("CPUID 0x1A 0x" in first) == (core.kind != "uniform")
        if core.fault and core.fault[1]:
            assert rest.startswith(
                "  out of service: register 0x1a4: some bits cannot be "
                f"changed: {core.fault[1]:#x} ({core.fault[2]})\n")
        elif core.fault:
            assert rest.startswith("  out of service: register 0x1a4: ")
        for msr, value in core.values(()).items():
            if core.works:
                assert f"  register {msr:#x}: firmware left {value:#x}, " \
                    f"programmed {value:#x}, holds {value:#x}\n" in report
    out, _err = _answer(outcome, profiles.WHY)
    failed = [core for core in machine.cores if core.fault]
    assert out.count("): register 0x1a4: ") == len(failed), out
    assert ("out of service: " in out) == bool(failed), out
    for name in machine.names():
        lacking = [core for core in machine.cores if name not in core.has]
        about = out.partition(f"  {name} ")[2].partition("\n  ")[2]
        about = re.split(r"\n  (?=\w)|\nNot ", about)[0]
        assert ("not in the register of " in about) == bool(lacking), about
        assert ("out of service); " in about) == bool(failed), about
    missing = out.partition("Not on this machine:\n")[2].splitlines()
    assert {line.split()[0]: line.split(maxsplit=1)[1] for line in missing} \
        == {name: "not in this CPU's register" for name in profiles.IDS
            if name not in machine.names()}


@_each(["stuck-bit"])
def test_report_as_nobody(outcome, profile):
    """What only root may know is said to be so, and the rest is there."""
    report = _answer(outcome, profiles.NOBODY)[0]
    assert "  out of service: register 0x1a4: some bits cannot be changed: " \
        "0x2 (l2_adjacent)\n" in report
    assert "registers: (not readable: that needs root)\n" in report
    assert "kernel log: (not readable: " in report
    assert "holds" not in report
    assert MACHINES[profile].lines[0] not in report


@_each(STEADY)
def test_default(outcome, profile):
    """Each prefetcher alone and all: exactly its registers and values."""
    machine = MACHINES[profile]
    for number, names, command in profiles.steps(machine):
        _out, err = _answer(outcome, command)
        partial = [n for n in names if n in machine.partial()]
        lacking = [n for n in names
                   if not all(n in core.has for core in machine.cores)]
        assert ("only some cores of this machine have: " in err) == \
            bool(lacking), err
        for name in lacking:
            assert name in err, err
        broken = sum(not core.works for core in machine.cores)
        assert (f" {broken} core" in err and "out of service" in err) == \
            bool(broken), err
        assert bool(err) == bool(partial), err
        mark = profiles.STEP + number
        last = number == len(machine.names())
        records = twinlog.between(
            outcome.records(), mark,
            profiles.STEPS_END if last else mark + 1)
        expected = _expected(machine, names)
        for (i, msr), value in expected.items():
            before = machine.cores[i].firmware.get(msr, 0)
            assert [(r.old, r.new) for r in _writes(records, i, msr)] == \
                [(before, value), (value, before)], (command, i, hex(msr))
        assert len([r for r in records if r.kind == "write"]) == \
            2 * len(expected), "\n".join(r.line for r in records)
        for core, have in zip(machine.cores, _cores(outcome,
                                                    profiles.look(number))):
            if core.works:
                off = set(names) & set(core.has) | core.off_by_firmware()
                assert have["effective"] == have["read"] == profiles.mask(off)
                assert not have["differs"]


@_each(STEADY)
def test_switch(outcome, profile):
    """A task with a setting on one CPU: its core, and no other."""
    machine = MACHINES[profile]
    for i, core in enumerate(machine.cores):
        records = twinlog.between(outcome.records(), profiles.STEPS_END + i,
                                  profiles.STEPS_END + i + 1)
        wrote = [r for r in records if r.kind == "write"]
        assert {r.core for r in wrote} <= {i}, \
            "\n".join(r.line for r in records)
        if not core.works:
            assert not wrote
            continue
        full = core.values(core.has)
        for msr in core.registers:
            of = _writes(records, i, msr)
            before = core.firmware.get(msr, 0)
            if full[msr] == before:
                assert not of
                continue
            assert {(r.old, r.new) for r in of} == \
                {(before, full[msr]), (full[msr], before)}
            assert of[-1].new == before
        have = _cores(outcome, profiles.visit(core))[i]
        # What firmware left is known also while it is not there.
        assert _baselines(have) == core.values(())
        assert have["effective"] == have["read"] == profiles.mask(core.has)
        assert not have["differs"]


@_each(["one-core-faults", "write-faults"])
def test_faults(outcome, profile):
    """The faults were real, each was survived, and none was lost."""
    assert "no exception came" not in outcome.twin
    kinds = {r.kind for r in outcome.records()}
    assert "write-fault" in kinds
    if profile == "one-core-faults":
        assert "read-fault" in kinds
        seen = _cores(outcome, profiles.CORES)
        assert [("error" in r) for core in seen for r in core["registers"]] \
            == [False, True, False]


@_each(["stuck-bit", "dropped-bit", "one-core-faults"])
def test_failed_core(outcome, profile):
    """After the probe nobody tries that core again."""
    machine = MACHINES[profile]
    records = twinlog.between(outcome.records(), profiles.STEP,
                              profiles.STEPS_END + len(machine.cores))
    assert [r for r in records if r.kind == "write"]
    for i, core in enumerate(machine.cores):
        tried = [r for r in records if r.fields.get("core") == i
                 and r.kind in ("write", "write-fault")]
        assert bool(tried) == core.works


@pytest.mark.parametrize("boot", ["profile-changes"])
def test_changed_behind_our_back(outcome):
    """--verify sees it on that core only, and repair puts it right."""
    machine = MACHINES["changes"]
    changed = [r for r in outcome.records() if r.kind == "change"]
    assert [(r.core, r.old, r.new) for r in changed] == [(0, 1, 5)]
    step = next(profiles.steps(machine))
    assert step[1] == ["l2_stream"]
    first, second = _cores(outcome, profiles.look(0))
    assert first["differs"] and not second["differs"]
    assert (first["effective"], first["read"]) == (1, 5)
    assert (second["effective"], second["read"]) == (1, 1)


@pytest.mark.parametrize("boot", ["careless-kernel"])
def test_fault_leaves_registers_alone(outcome):
    """The kernel's own words on a fault name the register that it used."""
    said = [line.partition("unchecked MSR access error: ")[2]
            for line in outcome.console if "unchecked MSR" in line]
    # 7.2 tells of the read as well; 6.1 was seen to tell of the write only.
    assert any(line.startswith("WRMSR to 0x8b ") for line in said), said
    assert all(" 0x8b " in line for line in said), said
