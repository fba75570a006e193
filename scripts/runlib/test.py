#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/test: runs all stages and sums up."""

import argparse
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import child  # noqa: E402
import record  # noqa: E402
import results  # noqa: E402
import stages  # noqa: E402

KERNELS = ("6.1", "6.12", "6.12-rt", "current", "next")
REPORT = "docs/test-report.md"

DESCRIPTION = """\
Installs what is needed, builds everything, and runs all tests: user space
plain and under sanitizers, fuzzers, checks of the sources, the kernel module
on four kernels and one with PREEMPT_RT with all warnings, its installation by
DKMS in private Debian 12 and 13 roots, the tests in guests with these kernels
(those with PREEMPT_RT that have to do with it), and the demo, also with a
register that misbehaves.  --full adds the rest with PREEMPT_RT, and a kernel
that has the kernel's own checkers (built once, about 15 minutes on 2 CPUs).
Nothing is loaded into this machine's own kernel.  Logs are in
build/test-logs.
"""


def parse(argv):
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/test", description=DESCRIPTION,
        epilog="exit status: 0 all passed or skipped with a reason, 1 not, "
        "125 tests could not be run",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true",
                        help="no guests: all that runs on this machine itself")
    parser.add_argument("--full", action="store_true",
                        help="also what takes long, and a report with all "
                        f"figures in {REPORT}")
    parser.add_argument("--kernel", metavar="V", action="append",
                        help="kernel to test, again for more (default: "
                        f"{', '.join(KERNELS)}; with --full also "
                        f"{stages.DEBUG})")
    parser.add_argument("-k", dest="select", metavar="EXPR",
                        help="only guest tests whose name matches, as in "
                        "pytest")
    opt = parser.parse_args(argv)
    for spec in opt.kernel or []:
        if spec not in (*KERNELS, stages.DEBUG):
            parser.error(f"--kernel: '{spec}' is not one of "
                         f"{', '.join(KERNELS)}, {stages.DEBUG}")
    if opt.quick and opt.select:
        parser.error("-k chooses guest tests, which --quick leaves out")
    if opt.full and (opt.quick or opt.select or opt.kernel):
        parser.error("--full is everything: it goes with no other option")
    chosen = opt.kernel or list(KERNELS)
    opt.kernels = [spec for spec in chosen if spec != stages.DEBUG]
    opt.debug = opt.full or (stages.DEBUG in chosen and not opt.quick)
    opt.gone = []
    return opt


def run_stages(clock, opt, done):
    """Each stage in turn, until one says that the others cannot run."""
    for name, function in stages.plan(opt):
        stage = results.Stage(name)
        done.append(stage)
        begin = clock.elapsed()
        clock.say(f"{name}: {function.__doc__.splitlines()[0].rstrip('.')}")
        try:
            function(stage, opt)
        except stages.CannotGoOn as error:
            clock.say(f"{name}: {error}; no further stage can run")
            return False
        finally:
            stage.seconds = clock.elapsed() - begin
        clock.say(f"{name}: {stage.count(results.PASSED)} passed, "
                  f"{stage.count(results.FAILED)} failed, "
                  f"{stage.count(results.SKIPPED)} skipped in "
                  f"{stage.seconds:.1f} s")
    return True


def main(argv):
    """Entry point; returns the exit status."""
    clock = child.Clock()
    opt = parse(argv)
    child.catch_signals()
    done = []
    complete = False
    try:
        if re.search(r"[\s,]", str(child.TREE)):
            print(f"test: the path {child.TREE} has a space or comma, which "
                  "QEMU and make cannot take", file=sys.stderr)
            return 125
        if child.need_root():
            print(f"test: {child.need_root()}", file=sys.stderr)
            return 125
        shutil.rmtree(stages.LOGS, ignore_errors=True)
        stages.LOGS.mkdir(parents=True)
        complete = run_stages(clock, opt, done)
    except child.Interrupted as signal:
        print(f"test: ended by {signal}", file=sys.stderr)
        return signal.status
    finally:
        child.stop_all()
    sums = results.report(done, clock.elapsed())
    if opt.full:
        record.write(child.TREE / REPORT, done, clock.elapsed(), complete)
        print(f"\nreport: {REPORT}", flush=True)
    if sums[results.FAILED]:
        return 1
    return 0 if complete else 125


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
