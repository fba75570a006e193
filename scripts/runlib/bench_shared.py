# SPDX-License-Identifier: GPL-2.0-or-later
"""What the parts of scripts/bench share: guests that count, and the page."""

import subprocess
import sys

import child

VM = child.TREE / "scripts/vm"
HOST = child.TREE / "scripts/vmlib/host.sh"
PAGE = child.TREE / "docs/performance.md"
# Around the table of each part.
BEGIN = "<!-- {0}: begin, written by scripts/bench {0} --write -->\n"
END = "<!-- {0}: end -->\n"

KERNELS = ["6.1", "current"]


class Failed(Exception):
    """It cannot be measured."""


def options(parser):
    """Words that each part knows."""
    parser.add_argument("--kernel", metavar="V", action="append",
                        help="kernel to measure, again for more (default: "
                        f"{' and '.join(KERNELS)})")
    parser.add_argument("--write", action="store_true",
                        help=f"put the tables into {PAGE.name}")


def make_ready(kernel, *words):
    """What a guest with this kernel needs, fetched and built."""
    if child.run([HOST]) or child.run([VM, "--prepare", "--kernel", kernel,
                                       *words]):
        raise Failed("this host is not ready, see above")


def guest(kernel, program, words, limit, *more):
    """Lines that a program says in a guest that counts instructions."""
    done = subprocess.run(
        [VM, "--kernel", kernel, "--icount", "--cpus", "1", "--threads", "1",
         "--boot-timeout", "600", "--timeout", str(limit), *more,
         "--with", program, "--", program.name, *words], text=True,
        stdout=subprocess.PIPE, check=False, env=child.environment())
    if done.returncode:
        raise Failed(f"the guest with kernel {kernel} ended with "
                     f"{done.returncode}")
    return done.stdout.splitlines()


def release(kernel):
    """The full version of a kernel."""
    done = subprocess.run([VM, "--kernel", kernel, "--no-module", "--",
                           "uname", "-r"], text=True, check=False,
                          stdout=subprocess.PIPE, env=child.environment())
    return done.stdout.strip() or kernel


def command(part, opt, defaults):
    """How scripts/bench was called: a part, and what is not its default."""
    words = ["scripts/bench", part]
    for kernel in opt.kernel or []:
        words += ["--kernel", kernel]
    for name, default in defaults.items():
        value = getattr(opt, name)
        if value != default:
            words += [f"--{name}", str(value)]
    return " ".join(words)


def write_page(text, part):
    """The table of a part, between its marks in the page."""
    page = PAGE.read_text(encoding="utf-8")
    head, begin, rest = page.partition(BEGIN.format(part))
    _, end, tail = rest.partition(END.format(part))
    if not end:
        raise Failed(f"{PAGE} has no place for the table")
    PAGE.write_text(head + begin + "\n" + text + "\n" + end + tail,
                    encoding="utf-8")


def tell(part, opt, text, all_kept):
    """Print what was measured, keep it if asked; returns the exit status."""
    print(text)
    if opt.write:
        write_page(text, part)
    if not all_kept:
        print("bench: not every bound is kept", file=sys.stderr)
    return 0 if all_kept else 1
