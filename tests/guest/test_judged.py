# SPDX-License-Identifier: GPL-2.0-or-later
"""The judge's word on recorded programs, and proof that it judges."""

import re
import subprocess

import pytest

import boots
import guest
import profiles
import twinlog

JUDGE = guest.ROOT / "tests/judge/judge"
LIMIT = 300


def _judged(faulty):
    return [pytest.param(boot.name, i, id=f"{boot.name}-{program.name}")
            for boot in boots.BOOTS.values()
            for i, program in enumerate(boot.programs)
            if program.judged and boot.name.startswith("fault-") == faulty]


def _judge(outcome, kernel, boot, index):
    """Run the judge on a recording; returns the finished process."""
    programs = boots.BOOTS[boot].programs
    program = programs[index]
    return _judge_folder(
        outcome, outcome.folder / "share" / guest.recording(index, program),
        sum(p.judged for p in programs[:index]),
        max(1, program.least // boots.slowness(kernel)))


def _judge_folder(outcome, folder, number, least):
    """The same for the recording in a folder, the number-th of the boot."""
    pieces = twinlog.recordings(outcome.twin)
    assert number < len(pieces), "the twin's log lacks this recording's marks"
    log = folder / "twin.log"
    log.write_text(pieces[number], encoding="utf-8")
    done = subprocess.run(
        [JUDGE, folder, "--twin-log", log, "--events", folder / "events",
         "--min", str(least), "--exact"], text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    print(done.stdout)
    return done


def _stats(outcome, boot, index):
    program = boots.BOOTS[boot].programs[index]
    text = (outcome.folder / "share" / guest.recording(index, program) /
            "stats").read_text(encoding="ascii")
    return {words[0]: words[1] for words in map(str.split, text.splitlines())}


def _figures(outcome, boot, index, table):
    """How much the judge had before it, in the form of a figure line."""
    program = boots.BOOTS[boot].programs[index]
    trace = (outcome.folder / "share" / guest.recording(index, program) /
             "trace").read_text(encoding="utf-8", errors="replace")
    # The judge's last line: the sums over all domains.
    sums = re.findall(r"^all +(\d+) +\d+ +\d+ +(\d+)", table, re.M)
    return (f"judged_{program.name} switches={trace.count('sched_switch:')} "
            f"requests={trace.count('prefetch-req begin')} "
            f"register_writes={sums[-1][0]} changes_told={sums[-1][1]}")


@pytest.mark.parametrize("boot, index", _judged(faulty=False))
def test_agree(outcome, kernel, boot, index, record_property):
    """Judge, twin, trace and events agree, and nothing was lost."""
    stats = _stats(outcome, boot, index)
    assert (stats["overrun"], stats["dropped"]) == ("0", "0")
    done = _judge(outcome, kernel, boot, index)
    assert done.returncode == 0, done.stdout[-4000:]
    record_property("figure", _figures(outcome, boot, index, done.stdout))


@pytest.mark.parametrize("boot, index", _judged(faulty=True))
def test_fault_is_noticed(outcome, kernel, boot, index):
    """With a register that misbehaves the judge says no, for that reason."""
    assert re.search(r"^# .*fault", outcome.twin, re.M), \
        "the fault did not happen"
    done = _judge(outcome, kernel, boot, index)
    assert done.returncode == 1, done.stdout[-4000:]
    problems = re.findall(r"^domain \d+: (.*)$", done.stdout, re.M)
    assert problems, "it says no without a word on any domain"
    # The module did its part: the model, the trace and the events agree.
    assert all("twin" in p for p in problems), problems
    assert not any(p.startswith(("judge:", "events:")) for p in problems), \
        problems


@pytest.mark.parametrize("boot, profile", [
    pytest.param(f"profile-{name}", name, id=f"profile-{name}")
    for name in profiles.JUDGED])
def test_other_machines(outcome, profile):
    """All agree on each machine, whatever its registers are."""
    machine = profiles.MACHINES[profile]
    command = profiles.judged(machine)
    status, _out, err = outcome.answers[command]
    assert status == 0, err
    folder = outcome.folder / "share" / profiles.TOUR
    # One for each prefetcher, core and way at the very least.
    least = 2 * len(machine.names()) * len(machine.cores)
    done = _judge_folder(outcome, folder, 0, least)
    assert done.returncode == 0, done.stdout[-4000:]
    # The same registers are right for one kind of core only.
    layout = folder / "layout"
    was = layout.read_text(encoding="ascii")
    if profile == "knights":
        layout.write_text(was.replace(profile, "classic"), encoding="ascii")
        done = _judge_folder(outcome, folder, 0, least)
        layout.write_text(was, encoding="ascii")
        assert done.returncode == 1, "classic would be right as well"
