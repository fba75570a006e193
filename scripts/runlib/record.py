# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of scripts/test --full: what ran, on what, with which figures."""

import os
import re
import subprocess
import time

import child
from results import FAILED, PASSED, SKIPPED

# Keys of figure lines that are summed up, and what to call them.
SUMS = (
    ("leaks", "leaks that kmemleak found at the end of these"),
    ("requests", "requests in recordings, and while memory was short"),
    ("switches", "task switches that the judge has followed"),
    ("register_writes", "register writes on which twin and trace agree"),
    ("changes_told", "changes of a core told as events, and compared"),
    ("faults", "allocations that were made to fail"),
    ("rounds", "rounds of other tests"),
)


def _git(*words):
    done = subprocess.run(["git", "-C", child.TREE, *words], text=True,
                          check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)
    return done.stdout.strip()


def _commit():
    commit = _git("rev-parse", "--short=12", "HEAD")
    if not commit:
        return "not a git checkout"
    dirty = _git("status", "--porcelain", "--untracked-files=no")
    return commit + (" with changes that are not committed" if dirty else "")


def _memory():
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / 2 ** 30:.0f} GB"


def _stage_rows(stages):
    yield "| stage | passed | failed | skipped | seconds |"
    yield "|---|---:|---:|---:|---:|"
    for stage in stages:
        yield (f"| {stage.name} | {stage.count(PASSED)} | "
               f"{stage.count(FAILED)} | {stage.count(SKIPPED)} | "
               f"{stage.seconds:.0f} |")


def _sums(stages):
    """The sums over all figure lines, by key."""
    sums = dict.fromkeys((key for key, _ in SUMS), 0)
    for stage in stages:
        for kind, text in stage.notes:
            if kind == "figure":
                for key, number in re.findall(r"\b(\w+)=(\d+)\b", text):
                    if key in sums:
                        sums[key] += int(number)
    return sums


def _checked(stages):
    """Guests at whose end the debug kernel's checkers were asked."""
    return sum(kind == "figure" and "lock_classes=" in text
               for stage in stages for kind, text in stage.notes)


def _reports(stages):
    """Guests whose kernel complained: the tests of each of them failed."""
    return sum(kind == "trouble" for stage in stages
               for kind, _ in stage.notes)


def _skips(stages):
    found = {}
    for stage in stages:
        for check in stage.checks:
            if check.outcome == SKIPPED:
                key = (stage.name, check.detail)
                found[key] = found.get(key, 0) + 1
    if not found:
        return ["Nothing was skipped."]
    return [f"- {name}: {number} skipped: {reason}"
            for (name, reason), number in found.items()]


def _figures(stages):
    for stage in stages:
        lines = [text for kind, text in stage.notes if kind == "figure"]
        if lines:
            yield from ("", f"### {stage.name}", "")
            yield from (f"    {line}" for line in lines)


def text(stages, seconds, complete):
    """The whole report."""
    boots = {(stage.name, value) for stage in stages
             for kind, value in stage.notes if kind == "boot"}
    sums = _sums(stages)
    lines = [
        "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->",
        "# The last complete run of the tests",
        "",
        "Written by `scripts/test --full`. All machines are simulated; no "
        "hardware register",
        "was read or written.",
        "",
        f"- date: {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}",
        f"- commit: {_commit()}",
        f"- on: {os.cpu_count()} CPUs, {_memory()} of memory",
        f"- time: {seconds / 60:.1f} minutes",
    ]
    if not complete:
        lines.append("- **not complete**: a stage said that the others "
                     "cannot run")
    lines += ["", *_stage_rows(stages), "", "## Figures", "",
              "| what | how many |", "|---|---:|",
              f"| guests that were booted | {len(boots)} |",
              "| guests at whose end lockdep was still on | "
              f"{_checked(stages)} |",
              *(f"| {what} | {sums[key]} |" for key, what in SUMS),
              "| tests that failed by a report of a guest's kernel | "
              f"{_reports(stages)} |",
              "", "## Skipped", "", *_skips(stages),
              "", "## Each figure", "",
              "As the programs in the guests have printed it.",
              *_figures(stages)]
    return "\n".join(lines) + "\n"


def write(path, stages, seconds, complete):
    """Write the report."""
    path.write_text(text(stages, seconds, complete), encoding="utf-8")
