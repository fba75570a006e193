# SPDX-License-Identifier: GPL-2.0-or-later
"""What the runners said, in one form, and the table at the end."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

# A skip's reason and a failure's detail, cut to what fits on a screen.
DETAIL_LINES = 25

# What a test says whose guest's kernel had something to say.
TROUBLE = "kernel trouble"


@dataclass
class Check:
    """One test or check and its outcome."""
    name: str
    outcome: str
    detail: str = ""


@dataclass
class Stage:
    """A stage with its checks and its time."""
    name: str
    seconds: float = 0.0
    checks: list = field(default_factory=list)
    notes: list = field(default_factory=list)  # (kind, text) for the report

    def add(self, name, good, detail=""):
        """One check that passed or failed."""
        self.checks.append(Check(name, PASSED if good else FAILED,
                                 "" if good else detail))

    def skip(self, name, reason):
        """One check that cannot be made here."""
        self.checks.append(Check(name, SKIPPED, reason))

    def count(self, outcome):
        """How many checks ended so."""
        return sum(check.outcome == outcome for check in self.checks)

    def runner_ended(self, status, expected=(0,), detail=""):
        """A runner that fails without a failed test, or ran none, failed."""
        if status not in expected and not self.count(FAILED):
            self.add(f"the runner (status {status})", False, detail)
        elif not self.checks:
            self.add("the runner ran no test", False, detail)


def tail(path, lines=DETAIL_LINES):
    """The last lines of a file."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return str(error)
    return "\n".join(text.rstrip().splitlines()[-lines:])


def read_meson(stage, path):
    """The outcomes of `meson test` from its JSON log."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        test = json.loads(line)
        said = (test.get("stdout") or "") + (test.get("stderr") or "")
        said = "\n".join(said.rstrip().splitlines()[-DETAIL_LINES:])
        name = test["name"].split(" / ")[-1]
        result = test["result"]
        if result == "SKIP":
            stage.skip(name, said.splitlines()[-1] if said else "no reason")
        else:
            stage.add(name, result in ("OK", "EXPECTEDFAIL"),
                      f"{result}\n{said}")


def read_junit(stage, path):
    """The outcomes of pytest from its JUnit file."""
    if not path.exists():
        return
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name')}"
        stage.notes += [(note.get("name"), note.get("value"))
                        for note in case.iter("property")]
        bad = [part for kind in ("failure", "error")
               for part in case.findall(kind)]
        skipped = case.find("skipped")
        if bad:
            text = "\n".join(part.text or part.get("message", "")
                             for part in bad)
            # Before the cut: it stands above the kernel's report.
            if TROUBLE in text:
                stage.notes.append(("trouble", name))
            stage.add(name, False,
                      "\n".join(text.splitlines()[-DETAIL_LINES:]))
        elif skipped is not None:
            stage.skip(name, skipped.get("message", "no reason"))
        else:
            stage.add(name, True)


def report(stages, total):
    """Failures, skips with reasons, table of stages, and the sum."""
    for stage in stages:
        for check in stage.checks:
            if check.outcome == FAILED:
                print(f"\nFAILED {stage.name}: {check.name}")
                for line in check.detail.splitlines():
                    print(f"    {line}")
    skips = {}
    for stage in stages:
        for check in stage.checks:
            if check.outcome == SKIPPED:
                skips.setdefault((stage.name, check.detail),
                                 []).append(check.name)
    if skips:
        print()
    for (stage, reason), names in skips.items():
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        print(f"skipped {stage}: {names[0]}{more}: {reason}")
    width = max(len(stage.name) for stage in stages)
    print(f"\n{'stage':{width}}  passed  failed  skipped   seconds")
    for stage in stages:
        print(f"{stage.name:{width}}  {stage.count(PASSED):6}  "
              f"{stage.count(FAILED):6}  {stage.count(SKIPPED):7}  "
              f"{stage.seconds:8.1f}")
    print(f"{'in all':{width}}  {'':6}  {'':6}  {'':7}  {total:8.1f}\n")
    sums = {outcome: sum(stage.count(outcome) for stage in stages)
            for outcome in (PASSED, FAILED, SKIPPED)}
    print(", ".join(f"{number} {outcome}" for outcome, number in sums.items()),
          flush=True)
    return sums
