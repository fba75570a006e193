# SPDX-License-Identifier: GPL-2.0-or-later
"""The judge accepts what a right module does, and nothing else."""

import re
import subprocess
from pathlib import Path

import pytest

from prefetch_judge import recording, report
from runs import begin, lines_with, random_run, verdict, writes
from synth import Machine


# ---- right modules ----

def test_sibling_and_hold(tmp_path):
    machine, (one, two, _) = begin()
    machine.request(3, "pid", one.pid, off=1)
    machine.request(3, "pid", two.pid, off=2)
    for _ in range(5):
        machine.switch(0, one)
        machine.switch(1, two)
        machine.switch(0)
        machine.switch(1)
    assert writes(machine) == 15
    machine.request(3, "pid", two.pid, kind="clear")
    machine.stop()
    assert machine.register[0] == 0
    assert not verdict(machine, tmp_path)


def test_held_task_dies_elsewhere(tmp_path):
    machine, (one, _, _) = begin()
    machine.request(3, "pid", one.pid, off=1)
    machine.switch(0, one)
    machine.switch(0)
    machine.switch(2, one)
    machine.exit(2)
    machine.stop()
    assert machine.register == [0, 0]
    assert not verdict(machine, tmp_path)


def test_default_changes_under_a_hold(tmp_path):
    machine, (one, _, _) = begin(baseline=0x5)
    machine.request(3, "pid", one.pid, off=8, on=1)
    machine.switch(0, one)
    machine.switch(0)
    machine.request(3, "default", 0, off=2, on=4)
    assert machine.register == [0xA, 0x3]
    machine.request(3, "default", 0, kind="clear")
    machine.stop()
    assert not verdict(machine, tmp_path)


def test_inherit_over_three_generations(tmp_path):
    machine, (one, _, _) = begin()
    machine.request(3, "pid", one.pid, off=4, inherit=1)
    for cpu in (0, 1, 0):
        machine.switch(cpu, one)
        one = machine.spawn(cpu)
        machine.switch(cpu)
    machine.switch(2, one)
    assert machine.register[1] == 4
    machine.stop()
    assert not verdict(machine, tmp_path)


def test_threads_and_exec(tmp_path):
    machine, (one, _, _) = begin()
    machine.request(3, "pid", one.pid, off=1)
    machine.switch(0, one)
    two = machine.spawn(0, thread_of=one)
    machine.request(3, "tid", two.pid, off=2, on=1)
    machine.request(3, "tid", one.pid, off=8)
    machine.switch(2, two)
    assert machine.register == [9, 2]
    machine.exit(0)
    machine.exec(2)
    assert two.pid == one.pid
    machine.switch(2)
    machine.switch(0, two)
    machine.request(3, "tid", two.pid, kind="clear")
    assert machine.register[0] == 1
    machine.exit(0)
    machine.stop()
    assert not verdict(machine, tmp_path)


def test_preempted_in_its_exit_and_the_next_comes_late(tmp_path):
    machine, (one, two, three) = begin()
    machine.switch(0, one)
    worker = machine.spawn(0, thread_of=one)
    machine.switch(0)
    machine.request(3, "pid", one.pid, off=1)
    machine.request(3, "tid", worker.pid, off=2)
    machine.request(3, "pid", two.pid, off=7)
    machine.switch(1, worker)
    machine.switch(0, two)
    machine.exit(1, switch=False)
    # The next task is on the CPU, and the register is not programmed for it:
    # what the other CPU leaves is what the dying one wished last.
    refresh, machine.refresh = machine.refresh, lambda cpu: None
    machine.switch(1, three, "R+")
    machine.refresh = refresh
    machine.switch(0)
    assert machine.register[0] == 1
    machine.refresh(1)
    machine.switch(1, worker)
    machine.switch(1, None, "X")
    machine.stop()
    assert not verdict(machine, tmp_path)


def test_leader_is_still_on_its_cpu_when_exec_takes_its_pid(tmp_path):
    machine, (one, _, _) = begin()
    machine.switch(0, one)
    two = machine.spawn(0, thread_of=one)
    machine.request(3, "tid", two.pid, off=2)
    machine.switch(2, two)
    machine.exit(0, switch=False)
    machine.switch(2)

    # From here on each has the other's pid, but the record is yet to come.
    leader, taker = one.pid, two.pid
    one.pid, two.pid = taker, leader
    machine.settings = {("tid", leader): (2, 0, 0)}
    machine.switch(2, two)
    machine.switch(2)
    machine.switch(2, two)
    machine.switch(0, None, "X")
    machine.line(2, f"sched_process_exec: filename=/x y pid={leader} "
                    f"old_pid={taker}")
    machine.switch(2)
    machine.switch(0, two)
    machine.stop()
    assert machine.register == [2, 0]
    assert not verdict(machine, tmp_path)


def test_leader_runs_once_more_with_the_pid_that_exec_gave_it(tmp_path):
    machine, (one, _, _) = begin()
    machine.request(3, "pid", one.pid, off=1)
    machine.switch(0, one)
    two = machine.spawn(0, thread_of=one)
    machine.request(3, "tid", two.pid, off=2)
    machine.exit(0, switch=False)
    # Preempted in its exit, it has yet to leave its CPU for good.
    machine.switch(0, two, "R+")
    leader, taker = one.pid, two.pid
    one.pid, two.pid = taker, leader
    machine.settings[("tid", leader)] = machine.settings.pop(("tid", taker))
    machine.switch(0, one, "R+")
    assert machine.register[0] == 1
    machine.switch(0, two, "X")
    assert machine.register[0] == 3
    machine.line(0, f"sched_process_exec: filename=/x y pid={leader} "
                    f"old_pid={taker}")
    machine.switch(0)
    machine.stop()
    assert not verdict(machine, tmp_path)


def test_kernel_threads_have_no_wish(tmp_path):
    machine = Machine(4)
    kthreadd = machine.spawn(3)
    kthreadd.pid, kthreadd.kthread = 2, True
    machine.lines = machine.lines[:2]
    kernel = machine.spawn(3, parent=kthreadd)
    machine.lines = machine.lines[:2]
    one, control = machine.spawn(3), machine.spawn(3)
    machine.switch(3, control, "R")
    machine.start()
    machine.request(3, "pid", one.pid, off=1)
    machine.switch(0, one)
    machine.switch(0, kernel)
    assert machine.register[0] == 1
    machine.request(3, "pid", kernel.pid, off=2)
    assert machine.register[0] == 2
    machine.exit(0)
    machine.stop()
    assert not verdict(machine, tmp_path)


def test_failed_request_changes_nothing(tmp_path):
    machine, (one, _, _) = begin()
    machine.request(3, "pid", one.pid, off=1, errno=1)
    machine.switch(0, one)
    machine.stop()
    assert not verdict(machine, tmp_path)


def test_request_takes_effect_anywhere_in_its_window(tmp_path):
    machine, (one, two, _) = begin()

    def some_switches():
        machine.switch(0, one)
        machine.switch(1, two)
        machine.switch(0)

    machine.request(3, "pid", one.pid, off=1, between=some_switches,
                    after=some_switches)
    machine.request(3, "pid", one.pid, off=2, after=some_switches)
    machine.request(3, "pid", one.pid, kind="clear", between=some_switches)
    machine.stop()
    assert not verdict(machine, tmp_path)


def test_two_requests_at_once_on_one_task(tmp_path):
    machine, (one, _, _) = begin()
    machine.switch(0, one)

    def inner():
        machine.request(3, "pid", one.pid, off=2)

    machine.request(3, "pid", one.pid, off=1, between=inner)
    machine.request(3, "pid", one.pid, off=4, after=inner)
    machine.request(3, "pid", one.pid, off=8, kind="clear", between=inner)
    machine.switch(0)
    machine.stop()
    assert not verdict(machine, tmp_path)


def move_switch_records_after_writes(machine):
    """What the trace looks like if the module's probes come first."""
    lines = machine.lines
    for i, line in enumerate(lines):
        if "sched_switch:" in line or "sched_process_exit:" in line:
            cpu = re.search(r"\[\d+\]", line)[0]
            if i + 1 < len(lines) and cpu in lines[i + 1] \
                    and "write_msr: 1a4" in lines[i + 1]:
                lines[i], lines[i + 1] = lines[i + 1], lines[i]


def test_module_attached_before_the_recorder(tmp_path):
    machine = random_run(7, ())
    move_switch_records_after_writes(machine)
    assert not verdict(machine, tmp_path)


# ---- windows in which the module need not have acted ----

def falls_asleep(state="S", kind="set", between=False, **more):
    """A request for a task that is off the run queue, but still on its CPU.

    The toy machine does not tell its CPU, which shows at the switch only.
    more: scope; sibling, a task that CPU 1 runs meanwhile; after, the task
    that CPU 0 runs next; holds_old, bug of that name.
    """
    machine, (one, two, three) = begin(baseline=0x4)
    machine.mark(1, "visit")
    machine.mark(2, "visit")
    scope = more.get("scope", "pid")
    machine.request(3, scope, one.pid, off=1)
    machine.request(3, "pid", two.pid, off=8)
    for _ in range(4):
        machine.switch(0, one)
        machine.switch(0, three)
    machine.switch(0, one)
    machine.mark(0, "runs")
    machine.bugs.add("not told")
    machine.request(3, scope, one.pid, off=2, kind=kind)
    if kind == "set":
        machine.request(3, scope, one.pid, off=2, on=4)
    machine.bugs.clear()
    if more.get("sibling"):
        machine.switch(1, two)
    if between:
        machine.mark(0, "still here")
    if not more.get("holds_old"):
        machine.wishes[0] = machine.wish_of(one)
    machine.switch(0, three if more.get("after") else None, state)
    machine.switch(1)
    machine.switch(2, one)
    machine.stop()
    assert machine.register[1] == (7 if kind == "set" else 4)
    return machine


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("kind", ["set", "clear"])
@pytest.mark.parametrize("more", [{}, {"scope": "tid"}, {"sibling": 1},
                                  {"after": 1}, {"state": "D"}])
def test_sleeping_task_is_not_told(tmp_path, early, kind, more):
    machine = falls_asleep(kind=kind, **more)
    if early:
        move_switch_records_after_writes(machine)
    assert not verdict(machine, tmp_path)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("kind", ["set", "clear"])
@pytest.mark.parametrize("more", [{"state": "R"}, {"state": "R+"},
                                  {"between": True}, {"holds_old": 1},
                                  {"state": "R", "after": 1}])
def test_running_task_is_not_told(tmp_path, early, kind, more):
    machine = falls_asleep(kind=kind, **more)
    if early:
        move_switch_records_after_writes(machine)
    assert any(p.startswith("judge:") for p in verdict(machine, tmp_path))


def dies_after_requests(bugs=()):
    """The task makes no record between the requests and its exit."""
    machine, (one, two, _) = begin(bugs)
    machine.request(3, "pid", two.pid, off=8)
    for _ in range(6):
        machine.switch(0, one)
        machine.switch(0, two)
    machine.switch(0, one)
    for mask in (1, 2, 3):
        machine.request(3, "tid", one.pid, off=mask, on=15 & ~mask)
        machine.request(3, "pid", one.pid, off=4 + mask)
    machine.exit(0)
    machine.stop()
    move_switch_records_after_writes(machine)
    return machine


def test_requests_long_before_an_exit(tmp_path):
    assert not verdict(dies_after_requests(), tmp_path)
    machine = dies_after_requests(["outlives"])
    assert any(p.startswith("judge:") for p in verdict(machine, tmp_path))


@pytest.mark.parametrize("scope", ["tid", "pid"])
def test_request_between_exit_and_removal(tmp_path, scope):
    """The exit's record comes first, the removal only after the request."""
    machine, (one, _, _) = begin()
    machine.request(3, scope, one.pid, off=1)
    machine.switch(0, one)
    machine.request(3, scope, one.pid, off=2,
                    after=lambda: machine.exit(0, switch=False))
    machine.switch(0, None, "Z")
    machine.stop()
    lines = machine.lines
    place = lines_with(lines, "sched_process_exit")[0]
    lines.insert(lines_with(lines, "req begin 2")[0], lines.pop(place))
    assert not verdict(machine, tmp_path)


# ---- random runs ----

@pytest.mark.parametrize("seed", range(20))
def test_random_runs_are_accepted(tmp_path, seed):
    machine = random_run(seed, ())
    assert writes(machine) > 50
    assert not verdict(machine, tmp_path)


@pytest.mark.parametrize("bug", ["no hold", "no union", "left over",
                                 "inherits", "outlives", "not told"])
def test_a_wrong_module_is_rejected(tmp_path, bug):
    """All witnesses agree with each other here: only the model can tell."""
    different = 0
    for seed in range(30):
        folder = tmp_path / str(seed)
        folder.mkdir()
        machine = random_run(seed, (bug,))
        problems = verdict(machine, folder)
        assert all(p.startswith("judge:") for p in problems)
        wrong = machine.lines != random_run(seed, ()).lines
        assert bool(problems) == wrong, seed
        different += wrong
    assert different


# ---- single faults ----

def test_twin_drops_a_write(tmp_path):
    machine = random_run(1, ())
    del machine.twin[lines_with(machine.twin, "write")[40]]
    assert verdict(machine, tmp_path)


def test_twin_has_an_extra_write(tmp_path):
    machine = random_run(1, ())
    machine.twin.insert(lines_with(machine.twin, "write")[40],
                        "write vcpu=0 core=0 old=0x1 new=0x2")
    assert verdict(machine, tmp_path)


def test_twin_flips_a_bit(tmp_path):
    machine = random_run(1, ())
    place = lines_with(machine.twin, "write")[40]
    head, value = machine.twin[place].rsplit("=", 1)
    machine.twin[place] = f"{head}={int(value, 16) ^ 1:#x}"
    assert verdict(machine, tmp_path)


def test_twin_has_the_wrong_sibling(tmp_path):
    machine = random_run(1, ())
    place = lines_with(machine.twin, "write")[40]
    machine.twin[place] = re.sub(
        r"core=(\d)", lambda m: f"core={1 - int(m[1])}", machine.twin[place])
    assert verdict(machine, tmp_path)


def test_all_witnesses_lack_a_write(tmp_path):
    """The module forgot one; nobody saw it."""
    machine, (one, two, _) = begin()
    machine.request(3, "pid", one.pid, off=1)
    machine.request(3, "pid", two.pid, off=2)
    for cpu, task in ((0, one), (1, two), (0, None), (1, None), (1, one)):
        machine.switch(cpu, task)
    machine.mark(1, "still here")
    machine.request(3, "pid", one.pid, kind="clear")
    machine.stop()
    places = lines_with(machine.lines, "write_msr: 1a4")
    assert len(places) == 5
    lines = machine.lines
    for place in places:
        machine.lines = lines[:place] + lines[place + 1:]
        assert any(p.startswith("judge:") for p in verdict(machine, tmp_path))


def test_all_witnesses_have_an_extra_write(tmp_path):
    machine, (one, _, _) = begin()
    machine.request(3, "pid", one.pid, off=1)
    machine.switch(0, one)
    machine.write(0, 3)
    machine.write(0, 1)
    machine.stop()
    assert any("CPU 0 writes 0x3 to 0x1a4" in p
               for p in verdict(machine, tmp_path))


def test_a_write_that_changes_nothing(tmp_path):
    machine, (one, _, _) = begin()
    machine.request(3, "pid", one.pid, off=1)
    machine.switch(0, one)
    machine.values[0][0x1A4] = 0
    machine.write(0, 1)
    machine.twin[-1] = machine.twin[-1].replace("old=0x0", "old=0x1")
    machine.stop()
    assert any(p.startswith("judge:") for p in verdict(machine, tmp_path))


def test_reserved_bits_are_changed(tmp_path):
    machine, (one, _, _) = begin(baseline=0x21)
    machine.request(3, "pid", one.pid, off=2)
    machine.switch(0, one)
    machine.values[0][0x1A4] = 0x1
    machine.write(0, 0x3)
    machine.stop()
    assert any("not a prefetcher's" in p for p in verdict(machine, tmp_path))


def test_wrong_cpu_does_the_write(tmp_path):
    machine = random_run(1, ())
    place = lines_with(machine.lines, "write_msr: 1a4")[40]
    machine.lines[place] = re.sub(
        r"\[00(\d)\]", lambda m: f"[00{int(m[1]) ^ 1}]", machine.lines[place])
    assert any(p.startswith("judge:") for p in verdict(machine, tmp_path))


def test_setting_takes_effect_after_the_end_of_the_request(tmp_path):
    machine, (one, _, _) = begin()
    machine.switch(0, one)
    machine.request(3, "pid", one.pid, off=1)
    place = lines_with(machine.lines, "write_msr: 1a4")[0]
    machine.lines[place:place + 2] = machine.lines[place:place + 2][::-1]
    machine.stop()
    assert any("end of: prefetch-req begin 1" in p
               for p in verdict(machine, tmp_path))


def test_event_missing(tmp_path):
    machine = random_run(1, ())
    del machine.events[20]
    assert any(p.startswith("events:") for p in verdict(machine, tmp_path))


def test_last_event_missing(tmp_path):
    machine = random_run(1, ())
    del machine.events[-1]
    assert any("have no event" in p for p in verdict(machine, tmp_path))


def test_folded_events(tmp_path):
    machine = random_run(1, ())
    mine = [e for e in machine.events if e["domain"] == 0][10:13]
    for event in mine[1:]:
        machine.events.remove(event)
    mine[0].update(new=mine[2]["new"], folded=3)
    assert not verdict(machine, tmp_path)
    mine[0].update(folded=2)
    assert any(p.startswith("events:") for p in verdict(machine, tmp_path))


# ---- recordings that cannot be judged ----

@pytest.mark.parametrize("name, old, new", [
    ("stats", "overrun 0", "overrun 3"),
    ("stats", "overrun 0\ndropped 0\nentries 1\n", ""),
    ("stats", "overrun 0\ndropped 0\nentries 1\n", "overrun"),
    ("trace", "prefetch-req end 1 0", "prefetch-req end 9 0"),
    ("trace", "400000f9, value 101", "400000f9, value 102"),
    ("trace", "sched_switch: prev_comm", "sched_switch: next_comm"),
    ("twin.log", "# prefetch-twin 1", "# prefetch-twin 2"),
    ("twin.log", "\n3 ", "\n4 "),
    ("events", '"lost": 0', '"lost": 1'),
    ("baseline", "1 1a4 0000000000000000\n", ""),
    ("layout", "1 classic", "1 baroque"),
    ("layout", "1 classic", "1 amd"),
    ("layout", "1 classic\n", ""),
    ("topology", "3 1\n", ""),
])
def test_bad_recording(tmp_path, name, old, new):
    machine, (one, _, _) = begin()
    machine.request(3, "pid", one.pid, off=1)
    machine.switch(0, one)
    machine.switch(2, one)
    machine.stop()
    log, events = machine.save(tmp_path)
    path = tmp_path / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(recording.RecordingError):
        report.judge(recording.load(tmp_path), log, events, True)


@pytest.mark.parametrize("name", ["stats", "trace", "tasks"])
def test_incomplete_recording(tmp_path, name):
    machine, _ = begin()
    machine.stop()
    log, _ = machine.save(tmp_path)
    (tmp_path / name).unlink()
    judge = Path(report.__file__).parents[1] / "judge"
    done = subprocess.run([judge, tmp_path, "--twin-log", log],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "incomplete" in done.stderr and name in done.stderr
