# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/bench switch: instructions that a context switch costs more.

tests/bench/switch-cost.c runs in guests in which the emulator counts
instructions instead of time.  Each case is the difference to the same kernel
without the module; the tolerance is what two such runs without it differ by.
"""

import re
import shutil
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import bench_shared
import child
from bench_shared import KERNELS, Failed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vmlib import build, kernels  # noqa: E402
from vmlib.util import VmError, run as run_program  # noqa: E402

PROGRAM = child.TREE / "build/tests/bench/switch-cost"
FLOOR = child.TREE / "tests/bench/floor"

GUEST_LIMIT = 1200
BOOTS = 3
BASE, AGAIN = ("without", 0), ("without-again", 0)
# A difference this small is none: half an instruction is a rounding.
LEAST_TOLERANCE = 1.0

# Instructions that each case may cost, and what it is.
BOUNDS = {
    "unused": (0, "loaded, nothing set"),
    "others": (25, "settings exist, but not for these tasks"),
    "same": (30, "both tasks have the same mask"),
    "change": (70, "the effective mask changes at every switch"),
}
# What the kernel takes for any probe; no bound of ours.
FLOOR_CASE = ("floor", 0)
FLOOR_WORDS = "a module with an empty probe (the floor)"

# The quick form guards what was reached, on a kernel that does not move.
QUICK_KERNEL = "6.1"
QUICK_LIMITS = {case: bound for case, (bound, _) in BOUNDS.items()}
# 162; of that, some 90 to ask whether anybody listens, which later kernels
# tell. See the page.
QUICK_LIMITS["change"] = 165


def options(parser):
    """Words of `scripts/bench switch`."""
    bench_shared.options(parser)
    parser.add_argument("--boots", metavar="N", type=int, default=BOOTS,
                        choices=range(1, 21),
                        help="boots of each kernel, 1 to 20 (default "
                        f"{BOOTS})")
    parser.add_argument("--quick", action="store_true",
                        help=f"one short boot of {QUICK_KERNEL}: is any case "
                        "dearer than it was?")


def _floor(kernel, to):
    """The module with an empty probe, built where ours is built."""
    try:
        info, _ = kernels.kernel(kernel)
        root = kernels.build_root(info)
        with tempfile.TemporaryDirectory(prefix="floor-",
                                         dir=root / "tmp") as work:
            work = Path(work)
            shutil.copytree(FLOOR, work / "floor",
                            ignore=shutil.ignore_patterns(*build.PRODUCTS))
            inside = Path("/") / (work / "floor").relative_to(root)
            run_program(["sh", "-c", build.ENTER, root, "make", "-C",
                         f"/usr/src/linux-headers-{info['release']}",
                         f"M={inside}", "modules"], "building floor.ko")
            return Path(shutil.copy(work / "floor/floor.ko", to))
    except VmError as error:
        raise Failed(str(error)) from error


def _boot(kernel, floor=None):
    """{(case, settings): [instructions per switch, ...]} of one boot.

    Under "about" is what the guest says of its kernel.
    """
    words = ["--quick"]
    more = ["--memory", "1024M", "--no-module"]
    if floor:
        words = [f"/usr/bin/{floor.name}"]
        more += ["--with", floor]
    found = defaultdict(list)
    found["about"] = {}
    for line in bench_shared.guest(kernel, PROGRAM, words, GUEST_LIMIT, *more):
        word, case, *numbers = line.split()
        if word == "about":
            found["about"][case] = " ".join(numbers)
            continue
        if word != "cost":
            raise Failed(f"not understood: {line}")
        settings, instructions, switches, writes = map(int, numbers)
        if (writes == switches) != (case == "change") or \
                (writes and case != "change"):
            raise Failed(f"{case}: {writes} register writes in {switches} "
                         "switches")
        found[case, settings].append(instructions / switches)
    return found


def measure(kernel, boots):
    """(figures, tolerance, base, about): medians above the kernel without."""
    runs = defaultdict(list)
    gaps = []
    about = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        floor = _floor(kernel, place)
        for number in range(boots):
            print(f"   kernel {kernel}, boot {number + 1} of {boots}",
                  flush=True)
            _add_boot(_boot(kernel, floor), runs, gaps, about)
    return *_sums(runs, gaps), about


def quick(kernel=QUICK_KERNEL):
    """[(what, whether its limit is kept, figures)] of one short boot."""
    runs = defaultdict(list)
    gaps = []
    _add_boot(_boot(kernel), runs, gaps, {})
    figures, tolerance, _ = _sums(runs, gaps)
    return [(BOUNDS[case][1], figure <= QUICK_LIMITS[case] + tolerance,
             f"{figure:.1f}, limit {QUICK_LIMITS[case]}, tolerance "
             f"{tolerance:.1f}") for (case, _), figure in figures.items()]


def _add_boot(found, runs, gaps, about):
    about.update(found.pop("about"))
    for key, values in found.items():
        runs[key] += values
    gaps.append(abs(statistics.median(found[BASE])
                    - statistics.median(found[AGAIN])))


def _sums(runs, gaps):
    base = statistics.median(runs[BASE] + runs[AGAIN])
    figures = {key: statistics.median(values) - base
               for key, values in runs.items() if key not in (BASE, AGAIN)}
    return figures, max(LEAST_TOLERANCE, *gaps), base


def table(kernel, result):
    """Lines of a Markdown table, and whether all bounds are kept."""
    figures, tolerance, base, about = result
    counts = sorted({settings for _, settings in figures} - {0})
    lines = [f"Kernel {kernel}, {time.strftime('%F', time.gmtime())}: a "
             f"switch without the module takes {base:.0f} instructions; "
             f"tolerance {tolerance:.1f}. Compiler of kernel and module: "
             f"{_compiler(about['kernel'])}; mitigations: "
             f"{_mitigations(about['cmdline'])}.", "",
             "| per switch | bound | "
             + " | ".join(f"{n:,} other settings" for n in counts) + " | |",
             "|---|---|" + "---|" * (len(counts) + 1)]
    lines.append(f"| {FLOOR_WORDS} |  | {figures.pop(FLOOR_CASE):.1f} "
                 + "|  " * (len(counts) - 1) + "| |")
    kept = True
    for case, (bound, what) in BOUNDS.items():
        values = [figures[key] for key in sorted(figures) if key[0] == case]
        good = all(v <= bound + tolerance for v in values)
        even = max(values) - min(values) <= 2 * tolerance
        kept = kept and good and even
        words = [f"{v:.1f}" for v in values]
        words += [""] * (len(counts) - len(words))
        said = "kept" if good else "**not kept**"
        if not even:
            said += ", **uneven**"
        lines.append(f"| {what} | {bound} | {' | '.join(words)} | {said} |")
    return [*lines, ""], kept


def _compiler(version):
    """The compiler in a line of /proc/version."""
    found = re.search(r"\((\S*gcc\S*) (?:\([^)]*\) )?([\d.]+)", version)
    return f"{found[1]} {found[2]}" if found else "not told"


def _mitigations(cmdline):
    return "off" if "mitigations=off" in cmdline.split() else "on"


def _run_quick():
    """Returns the exit status."""
    good = True
    for what, kept, figures in quick():
        good = good and kept
        print(f"{'ok' if kept else 'not ok'}: {what}: {figures}")
    return 0 if good else 1


def run(opt):
    """Returns the exit status."""
    chosen = [QUICK_KERNEL] if opt.quick else opt.kernel or KERNELS
    bench_shared.make_ready(chosen[0])
    if opt.quick:
        return _run_quick()
    lines = []
    all_kept = True
    for kernel in chosen:
        more, kept = table(bench_shared.release(kernel),
                           measure(kernel, opt.boots))
        lines += more
        all_kept = all_kept and kept
    said = bench_shared.command("switch", opt, {"boots": BOOTS})
    return bench_shared.tell(
        "switch", opt, "\n".join([f"Measured with `{said}`.", "", *lines]),
        all_kept)
