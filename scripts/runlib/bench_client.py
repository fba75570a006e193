# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/bench client: the library and the programs beside others.

tests/bench/bench-client.c runs in a Debian guest in which the emulator counts
instructions instead of time.  The other side of each comparison is measured
twice in each turn: the tolerance is what these two differ by.
"""

import datetime

import bench_shared
import child
from bench_shared import KERNELS, Failed

PROGRAM = child.TREE / "build/tests/bench/bench-client"

# So many settings, or routes, are listed.
OBJECTS = 100_000
CHANGES = 1_000_000
GUEST_LIMIT = 7200
# What the monitor may grow by: what it does not need for each event.
GROWTH_KB = 64

# Each ratio with its bound. One of two that belong together has to keep it.
SPEED = "at least 0.8"
TIME = "at most 1.5"
RATIOS = {
    "set_taskstats": (SPEED, "setting-set, round trips / taskstats"),
    "set_nlctrl": (SPEED, "setting-set, round trips / nlctrl"),
    "get_taskstats": (SPEED, "setting-get, round trips / taskstats"),
    "get_nlctrl": (SPEED, "setting-get, round trips / nlctrl"),
    "get_taskset": (TIME, "`prefetchctl get`, process / `taskset -p`"),
    "get_genl": (TIME, "`prefetchctl get`, process / `genl ctrl list`"),
    "dump": (SPEED, "list of {objects:,} settings / dump of IPv4 routes"),
}


def options(parser):
    """Words of `scripts/bench client`."""
    bench_shared.options(parser)
    parser.add_argument("--objects", metavar="N", type=int, default=OBJECTS,
                        help="settings and routes to list (default "
                        f"{OBJECTS})")
    parser.add_argument("--changes", metavar="N", type=int, default=CHANGES,
                        help="changes of a core that the monitor follows "
                        f"(default {CHANGES}; 10000000 take hours)")


def _measure(kernel, opt):
    """(ratios, figures) of one boot."""
    ratios, figures = {}, {}
    for line in bench_shared.guest(
            kernel, PROGRAM, [str(opt.objects), str(opt.changes)],
            GUEST_LIMIT, "--debian", "--memory", "4G"):
        match line.split():
            case ["ratio", name, *numbers]:
                ratios[name] = [float(n) for n in numbers]
            case ["figure", name, number]:
                figures[name] = float(number)
            case _:
                raise Failed(f"not understood: {line}")
    return ratios, figures


def _kept(name, ratios):
    """Whether the bound of a ratio is kept, with its tolerance."""
    def within(key):
        median, _, _, tolerance = ratios[key]
        if RATIOS[key][0] == SPEED:
            return median >= 0.8 - tolerance
        return median <= 1.5 + tolerance
    # The slower of two counts.
    if RATIOS[name][0] == TIME:
        return within("get_taskset") or within("get_genl")
    return within(name)


def _memory(figures, ms):
    early, late = (figures[f"monitor_{when}_kb_{ms}ms"]
                   for when in ("early", "late"))
    return early, late, late - early <= GROWTH_KB


def table(kernel, opt, measured):
    """Lines of Markdown, and whether all bounds are kept."""
    ratios, figures = measured
    all_kept = True
    lines = [f"Kernel {kernel}:", "",
             "| compared | bound | median | least to most | tolerance | |",
             "|---|---|---|---|---|---|"]
    for name, (bound, words) in RATIOS.items():
        if name not in ratios:
            continue
        median, least, most, tolerance = ratios[name]
        kept = _kept(name, ratios)
        all_kept = all_kept and kept
        lines.append(
            f"| {words.format(objects=opt.objects)} | {bound} | {median:.2f} "
            f"| {least:.2f} to {most:.2f} | {tolerance:.2f} | "
            f"{'kept' if kept else '**not kept**'} |")
    lines.append("")
    if "dump_ns" in figures:
        lines += [f"One of {opt.objects:,} settings in a list: "
                  f"{figures['dump_ns']:,.0f} instructions, kernel and "
                  "library together.", ""]
    if opt.changes:
        lines += ["| prefetch-monitor, folding at | CPU time for a million "
                  f"changes | memory after {opt.changes // 10:,} changes | "
                  f"after {opt.changes:,} | |", "|---|---|---|---|---|"]
        for ms in (10, 1):
            early, late, flat = _memory(figures, ms)
            all_kept = all_kept and flat
            lines.append(
                f"| {ms} ms | {figures[f'monitor_seconds_{ms}ms']:.3f} s | "
                f"{early:,.0f} kB | {late:,.0f} kB | "
                f"{'flat' if flat else '**grows**'} |")
        lines.append("")
    return lines, all_kept


def run(opt):
    """Returns the exit status."""
    if min(opt.objects, opt.changes) < 0:
        raise Failed("--objects and --changes take numbers from 0 on")
    chosen = opt.kernel or KERNELS
    bench_shared.make_ready(chosen[0], "--debian")
    lines = []
    all_kept = True
    for kernel in chosen:
        print(f"   kernel {kernel}", flush=True)
        more, kept = table(bench_shared.release(kernel), opt,
                           _measure(kernel, opt))
        lines += more
        all_kept = all_kept and kept
    said = bench_shared.command("client", opt, {"objects": OBJECTS,
                                                "changes": CHANGES})
    return bench_shared.tell(
        "client", opt,
        "\n".join([f"Measured on {datetime.date.today()} with `{said}`.", "",
                   *lines]), all_kept)
