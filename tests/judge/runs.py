# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs of the toy machine for the tests of the judge."""

import random

from prefetch_judge import recording, report
from synth import Machine


def verdict(machine, folder, exact=True):
    """Judges the toy machine's run: a list of all problems."""
    log, events = machine.save(folder)
    verdicts = report.judge(recording.load(folder), log, events, exact)
    return [p for v in verdicts for p in v.problems]


def writes(machine):
    return sum(" write " in " " + line for line in machine.twin)


def begin(bugs=(), baseline=0, tasks=3, layout="classic", kernel=False):
    """A machine with a control task on CPU 3 and some more that sleep; the
    last of them may be a kernel thread."""
    machine = Machine(4, baseline, bugs, layout)
    made = [machine.spawn(3) for _ in range(tasks + 1)]
    made[-1].kthread = kernel
    # All of them were there before: the snapshot tells of them.
    if kernel:
        machine.lines = machine.lines[:2]
    machine.switch(3, made[0], "R")
    machine.start()
    return machine, made[1:]


def lines_with(lines, word):
    return [i for i, line in enumerate(lines) if word in line]


def random_run(seed, bugs, rounds=300, baseline=0x5, layout="classic"):
    """Everything that the machine can do, in random order."""
    rng = random.Random(seed)
    machine, _ = begin(bugs, baseline, 6, layout)
    masks = 1 << machine.layout.supported.bit_length()
    control = machine.running[3]

    def sleeping():
        return [t for t in machine.tasks if t.cpu is None and t is not control]

    def one_step():
        cpu = rng.randrange(3)
        here = machine.running[cpu]
        dice = rng.random()
        if dice < 0.75 or not here.pid:
            if rng.random() < 0.3 and here.pid:
                machine.switch(cpu)
            elif sleeping():
                machine.switch(cpu, rng.choice(sleeping()), "R")
        elif dice < 0.80 and len(machine.tasks) < 12:
            machine.spawn(cpu)
        elif dice < 0.85 and len(machine.tasks) < 12:
            machine.spawn(cpu, thread_of=here)
        elif dice < 0.88:
            machine.exit(cpu)

    def one_request():
        mask = rng.randrange(masks)
        off = rng.randrange(masks) & mask
        between = one_step if rng.random() < 0.5 else lambda: None
        after = one_step if rng.random() < 0.5 else lambda: None
        scope = rng.choice(("pid", "pid", "tid", "tid", "default"))
        # A target that may die meanwhile would need the kernel's answer.
        target = control if rng.random() < 0.1 else rng.choice(machine.tasks)
        if between is after is not one_step or target is control \
                or scope == "default":
            kind = "clear" if rng.random() < 0.2 else "set"
            machine.request(
                3, scope, target.pid if scope == "tid" else target.group[0],
                off, mask & ~off, rng.randrange(masks) & ~mask, kind=kind,
                inherit=int(scope == "pid" and rng.random() < 0.5),
                between=between, after=after)
        else:
            machine.request(
                3, scope, target.pid if scope == "tid" else target.group[0],
                off, mask & ~off, rng.randrange(masks) & ~mask,
                inherit=int(scope == "pid" and rng.random() < 0.5))

    for _ in range(rounds):
        one_step()
        if rng.random() < 0.15:
            one_request()
    machine.stop()
    return machine
