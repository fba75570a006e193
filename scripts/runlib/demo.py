#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/demo: from an empty Debian to the judge's table."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import build  # noqa: E402
import child  # noqa: E402

VM = child.TREE / "scripts/vm"
HOST = child.TREE / "scripts/vmlib/host.sh"
SCENARIO = child.TREE / "scripts/demo-guest.py"
JUDGE = child.TREE / "tests/judge/judge"

FAULTS = ("drop", "flip", "misattribute")
# Among the writes under load, where nobody reads the registers back: who does
# finds the fault, and that is one event more than there were writes.
FAULT_AT = 600
MIN_WRITES = 1000
GUEST_LIMIT = 900

STATUS_DISAGREE = 1
STATUS_FAILED = 125
STATUS_TROUBLE = 70  # of scripts/vm

DESCRIPTION = """\
Shows in a simulated machine how a prefetcher is switched off for one running
server: redis-server under load, its neighbours, the monitor, and in the end
whether four independent witnesses agree on every single register write.

Everything is simulated: the machine is QEMU, and a plugin of ours (the twin)
plays the prefetcher register.  No real hardware register is read or written,
and nothing is said about speed.
"""

EPILOG = """\
exit status: 0 all agree, 1 they do not (or the show went wrong), 125 the demo
could not be made ready.
"""


class Failed(Exception):
    """The demo cannot go on."""

    def __init__(self, text, status=STATUS_FAILED):
        super().__init__(text)
        self.status = status


def parse(argv):
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/demo", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", metavar="V", default="current",
                        help="kernel of the guest: current (default) or 6.1")
    parser.add_argument("--twin-fault", metavar="F",
                        help="let the simulated register misbehave once, to "
                        f"see it noticed: {', '.join(FAULTS)} (F@N: at the "
                        "N-th write)")
    parser.add_argument("--keep", metavar="DIR", type=Path,
                        help="keep recording and log in this new folder")
    opt = parser.parse_args(argv)
    if opt.twin_fault:
        name, at, number = opt.twin_fault.partition("@")
        if name not in FAULTS or (at and not number.isdigit()):
            parser.error(f"--twin-fault: '{opt.twin_fault}' is not one of "
                         f"{', '.join(FAULTS)}, each with @N if wanted")
        if not at:
            opt.twin_fault = f"{name}@{FAULT_AT}"
    if opt.keep and opt.keep.exists():
        parser.error(f"--keep: {opt.keep} exists already")
    return opt


def get_ready(clock, opt):
    """Checks, packages, downloads, builds; seconds spent on downloads."""
    clock.say("checking disk, memory and mirror; installing what is missing")
    begin = clock.elapsed() - clock.late
    if child.run([HOST]):
        raise Failed("this host is not ready, see above")
    clock.say("fetching what the cache lacks: QEMU, kernel, compiler, "
              "guest root")
    if child.run([VM, "--prepare", "--debian", "--kernel", opt.kernel]):
        raise Failed("the cache could not be filled, see above")
    fetched = clock.elapsed() - begin
    clock.say("building user space, the twin and the tools")
    _build(["user-space"])
    clock.say("building the kernel module")
    _build(["module", opt.kernel])
    return fetched


def _build(words):
    if child.run([sys.executable, "-B", build.__file__, *words]):
        raise Failed("the build failed, see above")


def play(clock, opt, place):
    """The guest with the show; its exit status."""
    share = place / "share"
    share.mkdir()
    shutil.copy(SCENARIO, share)
    argv = [VM, "--debian", "--no-build", "--kernel", opt.kernel,
            "--share", share, "--twin-log", place / "twin.log",
            "--timeout", GUEST_LIMIT]
    if opt.twin_fault:
        argv += ["--twin-fault", opt.twin_fault]
        clock.say(f"the twin will misbehave once: {opt.twin_fault}")
    clock.say("booting the simulated machine: 2 cores with 2 hyperthreads "
              "each (QEMU and twin, no real hardware)")

    def each_line(line):
        if line.startswith("== "):
            clock.say(line[3:])
        else:
            print(line, flush=True)

    return child.relay([*argv, "--", "/usr/bin/python3",
                        "/share/" + SCENARIO.name, "/share"], each_line)


def judge(clock, place):
    """The witnesses compared; the judge's exit status."""
    clock.say("the judge compares: its own model, the twin's log, the "
              "kernel's trace, our events")
    share = place / "share"
    status = child.run([JUDGE, share, "--twin-log", place / "twin.log",
                        "--events", share / "events", "--exact",
                        "--min", MIN_WRITES])
    if status not in (0, STATUS_DISAGREE):
        raise Failed("the recording could not be judged", STATUS_DISAGREE)
    return status


def demo(clock, opt, place):
    """All of it; returns the exit status."""
    fetched = get_ready(clock, opt)
    status = play(clock, opt, place)
    if status == STATUS_TROUBLE:
        raise Failed("the guest's kernel complained, see above",
                     STATUS_DISAGREE)
    if status not in (0, 1):
        raise Failed(f"the guest ended with status {status}, see above")
    disagree = judge(clock, place)
    print()
    if disagree:
        print("The witnesses do NOT agree: not every register write was "
              "right.")
    else:
        print("All four witnesses agree on every register write.")
    if status:
        print("The show did not go as it must: see 'failed in the guest' "
              "above.")
    if opt.twin_fault:
        print(f"The twin had been told to misbehave: {opt.twin_fault}.")
    print("Simulated: QEMU and the twin; no real hardware register was read "
          "or written.")
    total = clock.elapsed()
    print(f"Time: {fetched:.1f} s checks and downloads, "
          f"{total - fetched:.1f} s all the rest, {total:.1f} s in all.")
    return STATUS_DISAGREE if disagree or status else 0


def main(argv):
    """Entry point; returns the exit status."""
    clock = child.Clock()
    opt = parse(argv)
    child.catch_signals()
    place = Path(tempfile.mkdtemp(prefix="prefetch-demo-"))
    try:
        if child.need_root():
            raise Failed(child.need_root())
        status = demo(clock, opt, place)
        if opt.keep:
            shutil.copytree(place, opt.keep)
        return status
    except Failed as error:
        print(f"demo: {error}", file=sys.stderr)
        return error.status
    except child.Interrupted as signal:
        print(f"demo: ended by {signal}", file=sys.stderr)
        return signal.status
    finally:
        child.stop_all()
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
