# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/bench client: the library and the programs beside others.

tests/bench/bench-client.c runs in a Debian guest in which the emulator counts
instructions instead of time.  The other side of each comparison is measured
twice in each turn: the tolerance is what these two differ by.
"""

import datetime
import subprocess

import bench_switch
import child
from bench_switch import HOST, VM, Failed

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
    parser.add_argument("--kernel", metavar="V", action="append",
                        help="kernel to measure, again for more (default: "
                        "6.1 and current)")
    parser.add_argument("--objects", metavar="N", type=int, default=OBJECTS,
                        help="settings and routes to list (default "
                        f"{OBJECTS})")
    parser.add_argument("--changes", metavar="N", type=int, default=CHANGES,
                        help="changes of a core that the monitor follows "
                        f"(default {CHANGES}; 10000000 take hours)")
    parser.add_argument("--write", action="store_true",
                        help=f"put the tables into {bench_switch.PAGE.name}")


def _measure(kernel, opt):
    """(ratios, figures) of one boot."""
    done = subprocess.run(
        [VM, "--kernel", kernel, "--debian", "--icount", "--cpus", "1",
         "--threads", "1", "--memory", "4G", "--boot-timeout", "600",
         "--timeout", str(GUEST_LIMIT), "--with", PROGRAM, "--",
         PROGRAM.name, str(opt.objects), str(opt.changes)], text=True,
        stdout=subprocess.PIPE, check=False, env=child.environment())
    if done.returncode:
        raise Failed(f"the guest with kernel {kernel} ended with "
                     f"{done.returncode}")
    ratios, figures = {}, {}
    for line in done.stdout.splitlines():
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


def _command(opt):
    words = ["scripts/bench", "client"]
    for kernel in opt.kernel or []:
        words += ["--kernel", kernel]
    if opt.objects != OBJECTS:
        words += ["--objects", str(opt.objects)]
    if opt.changes != CHANGES:
        words += ["--changes", str(opt.changes)]
    return " ".join(words)


def run(opt):
    """Returns the exit status."""
    kernels = opt.kernel or ["6.1", "current"]
    if min(opt.objects, opt.changes) < 0:
        raise Failed("--objects and --changes take numbers from 0 on")
    if child.run([HOST]) or child.run([VM, "--prepare", "--debian",
                                       "--kernel", kernels[0]]):
        raise Failed("this host is not ready, see above")
    lines = []
    all_kept = True
    for kernel in kernels:
        print(f"   kernel {kernel}", flush=True)
        more, kept = table(bench_switch.release(kernel), opt,
                           _measure(kernel, opt))
        lines += more
        all_kept = all_kept and kept
    text = "\n".join([f"Measured on {datetime.date.today()} with "
                      f"`{_command(opt)}`.", "", *lines])
    print(text)
    if opt.write:
        bench_switch.write_page(text, "client")
    if not all_kept:
        print("bench: not every bound is kept")
    return 0 if all_kept else 1
