# SPDX-License-Identifier: GPL-2.0-or-later
"""The module under the kernel's own checkers, and the checkers themselves.

The first run builds the debug kernel, which takes about 15 minutes on 2 CPUs.
The guest suite runs there with `pytest tests/guest --kernel debug`; here is
what has no place in it.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
TREE = HERE.parents[1]
BUILD = TREE / "build/tests"
sys.path[:0] = [str(HERE), str(TREE / "scripts")]

# pylint: disable=wrong-import-position
import modules  # noqa: E402
from vmlib.console import TROUBLE  # noqa: E402

STATUS_TROUBLE = 70
LIMIT = 1500
HOST_LIMIT = LIMIT + 900
# Guests that run at the same time.
GUESTS = 2

# The parts of `smoke`; each says "ok NAME" or "not ok NAME".
SMOKE = ("reload", "requests", "storm", "massacre", "hotplug")

# Mistake, and what the kernel says about it. The order matters: after some
# reports lockdep, and with it the check of RCU, is off.
MISTAKES = {
    "warning": "WARNING: ",
    "sleep": "BUG: sleeping function called from invalid context",
    "rcu": "WARNING: suspicious RCU usage",
    "object": "ODEBUG: free active",
    "deadlock": "WARNING: possible circular locking dependency detected",
    "use-after-free": "BUG: KASAN: slab-use-after-free",
    "leak": "kmemleak: ",
}

needs_root = pytest.mark.skipif(os.geteuid() != 0,
                                reason="builds a module in a root")


def kunit_cases():
    """The test cases that the sources have."""
    return [name for file in sorted((TREE / "kernel/kunit").glob("*-test.c"))
            for name in re.findall(r"^\tKUNIT_CASE\w*\((\w+)",
                                   file.read_text(encoding="utf-8"), re.M)]


@dataclass
class Run:
    """What came out of a run of scripts/vm on the debug kernel."""

    status: int
    output: str
    console: str
    compiler: str = ""


def run(folder, options, command):
    """A run of scripts/vm on the debug kernel."""
    console = folder / "console.log"
    argv = [str(TREE / "scripts/vm"), "--kernel", "debug", "--timeout",
            str(LIMIT), "--console-log", str(console), *options, "--",
            *command]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace", check=False, timeout=HOST_LIMIT)
    text = console.read_text(encoding="utf-8") if console.exists() else ""
    return Run(done.returncode, done.stdout, text)


def run_smoke(folder):
    """A bit of everything."""
    return run(folder, ["--with", str(HERE / "smoke"),
                        "--with", str(BUILD / "debug-kernel/threads")],
               ["smoke"])


def run_kunit(folder):
    """The module's logic, tested in a module of its own."""
    share = folder / "share"
    share.mkdir()
    said = modules.kunit(share)
    done = run(folder, ["--no-module", "--share", str(share),
                        "--append", "kunit.enable=1",
                        "--append", "kunit.autorun=1"],
               ["sh", "-c",
                "insmod /share/prefetch-test.ko && rmmod prefetch_test"])
    done.compiler = said
    return done


def run_mistakes(folder):
    """All mistakes one after the other."""
    share = folder / "share"
    share.mkdir()
    modules.trouble(share)
    script = "\n".join(
        f"echo 'mistake {kind}' > /dev/kmsg\n"
        f"insmod /share/trouble.ko kind={kind}; rmmod trouble"
        for kind in MISTAKES)
    # No panic, or the first report would be the only one.
    return run(folder, ["--no-module", "--share", str(share),
                        "--append", "panic_on_warn=0"], ["sh", "-c", script])


RUNS = {"smoke": run_smoke, "kunit": run_kunit, "mistakes": run_mistakes}


@pytest.fixture(scope="session", name="runs")
def all_runs(request, tmp_path_factory):
    """The guests that the chosen tests need, two at a time."""
    built = subprocess.run(["ninja", "-C", str(TREE / "build")], check=False,
                           text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=600)
    if built.returncode:
        pytest.fail(f"the programs cannot be built:\n{built.stdout[-3000:]}",
                    pytrace=False)
    wanted = {item.get_closest_marker("guest").args[0]
              for item in request.session.items
              if item.get_closest_marker("guest")}
    with ThreadPoolExecutor(max_workers=GUESTS) as pool:
        yield {name: pool.submit(RUNS[name], tmp_path_factory.mktemp(name))
               for name in RUNS if name in wanted}


@pytest.mark.guest("smoke")
@pytest.mark.parametrize("part", SMOKE)
def test_smoke(runs, part):
    """A bit of everything, with no report of any checker."""
    done = runs["smoke"].result()
    assert done.status == 0, done.output[-4000:]
    said = re.findall(r"^(not ok|ok) ([\w-]+)", done.output, re.M)
    assert [word for word, name in said if name == part] == ["ok"], \
        done.output


@needs_root
@pytest.mark.guest("kunit")
def test_kunit_ends_well(runs):
    """The compiler has no warning, and the checkers no report."""
    done = runs["kunit"].result()
    assert done.status == 0, done.output[-4000:]
    warnings = [line for line in done.compiler.splitlines()
                if re.search(r"\b(warning|error)\b", line)]
    assert not warnings, "\n".join(warnings)


@needs_root
@pytest.mark.guest("kunit")
@pytest.mark.parametrize("case", kunit_cases())
def test_kunit(runs, case):
    """What the kernel's log says of the test case, in KTAP."""
    console = runs["kunit"].result().console
    lines = [re.sub(r"^\[[ \d.]+\] ", "", line)
             for line in console.splitlines()]
    said = [line.strip() for line in lines
            if re.fullmatch(rf"    (not ok|ok) \d+ {case}( # .*)?", line)]
    if len(said) == 1 and " # SKIP" in said[0]:
        pytest.skip(said[0])
    # Of a test that fails, the lines before its result say why.
    end = next((i for i, line in enumerate(lines)
                if line.strip() in said), len(lines))
    assert len(said) == 1 and said[0].startswith("ok "), \
        "\n".join(lines[max(0, end - 25):end + 1])


@needs_root
@pytest.mark.guest("mistakes")
@pytest.mark.parametrize("kind", MISTAKES)
def test_checker(runs, kind):
    """Each checker finds its mistake, and scripts/vm finds the report."""
    done = runs["mistakes"].result()
    pieces = re.split(r"mistake ([\w-]+)$", done.console, flags=re.M)
    said = dict(zip(pieces[1::2], pieces[2::2])).get(kind, "")
    found = [line for line in said.splitlines()
             if MISTAKES[kind] in line and TROUBLE.search(line)]
    assert found, f"{said}\n{done.output[-3000:]}"


@needs_root
@pytest.mark.guest("mistakes")
def test_checkers_are_heeded(runs):
    """A report is trouble, and lockdep that is off at the end is another."""
    done = runs["mistakes"].result()
    assert "lockdep is off at the end" in done.console
    assert done.status == STATUS_TROUBLE, done.output[-3000:]
