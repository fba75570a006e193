# SPDX-License-Identifier: GPL-2.0-or-later
"""The options of scripts/vm."""

import argparse
import re
import shlex
import sys
from pathlib import Path

from . import debug_kernel, profile
from .kernels import check_spec
from .util import VmError

FAULTS = ("drop", "flip", "misattribute")

DESCRIPTION = """\
Boot a small guest under QEMU with the prefetch module loaded and the tools of
this tree in PATH, run COMMAND in it, and end with its exit status.  A plugin
(the "twin") plays the prefetcher register, so it works on any machine.
Without COMMAND you get an interactive shell; it ends with 'exit'.

What is missing is fetched or built first; the cache is in
${XDG_CACHE_HOME:-$HOME/.cache}/prefetch.
"""

EPILOG = """\
exit status: that of COMMAND, or
   70  kernel trouble in the guest (panic, oops, warning, lockdep, KASAN ...)
   77  the mirror no longer has this kernel
  124  COMMAND took longer than --timeout
  125  scripts/vm itself could not do its work

examples:
  scripts/vm                                  a shell, to try things
  scripts/vm -- prefetchctl info
  scripts/vm --kernel 6.1 --with build/tests/guest/hold -- hold
  scripts/vm --debian --share /tmp/out -- sh -c 'ip -V > /share/version'
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise VmError(f"{message} (see scripts/vm --help)")


def _number(low, high):
    def convert(text):
        if not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(
                f"'{text}' is not a number from {low} to {high}")
        return int(text)
    return convert


def _memory(text):
    match = re.fullmatch(r"(\d+)([MG]?)", text, re.I)
    size = int(match[1]) * (1024 if match[2].upper() == "G" else 1) \
        if match else 0
    if not 128 <= size <= 65536:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a size from 128M to 64G")
    return size


def _register(text):
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << 64:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a register value such as 0x5")
    return value


def _fault(text):
    name, at, number = text.partition("@")
    if name not in FAULTS or (at and not re.fullmatch(r"[1-9]\d*", number)):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a fault: {', '.join(FAULTS)}, each with @N if "
            "wanted")
    return text


def _parser():
    parser = _Parser(prog="scripts/vm", description=DESCRIPTION,
                     epilog=EPILOG, usage="scripts/vm [OPTION...] "
                     "[-- COMMAND [ARGUMENT...]]", allow_abbrev=False,
                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    guest = parser.add_argument_group("guest").add_argument
    guest("--kernel", metavar="V",
          help="'current' (newest 7.2 or later, the default), 'next' "
               "(newest 7.3 or later, from experimental), a version such as "
               "6.1, any of these with -rt at its end for its PREEMPT_RT "
               "kernel, or 'debug' (7.3 with the kernel's checkers, built once "
               "in about 15 minutes)")
    guest("--cpus", type=_number(1, 256), metavar="N",
          help="CPUs of the guest (default 4)")
    guest("--threads", type=_number(1, 8), metavar="T",
          help="hyperthreads of a core (default 2)")
    guest("--memory", type=_memory, metavar="M",
          help="memory, such as 768M or 2G (default 512M, with --debian 1G, "
               f"with the debug kernel {debug_kernel.MEMORY}M)")
    guest("--debian", action="store_true",
          help="a small Debian as guest root: python3, iproute2, redis, "
               "bpftrace, trace-cmd")
    guest("--with", dest="programs", action="append", default=[],
          metavar="PROGRAM", help="put a program of the host and the "
          "libraries it needs into PATH (again for more)")
    guest("--share", metavar="DIR", help="show this folder as /share; what "
          "the guest writes there comes back")
    guest("--smp-parallel", action="store_true",
          help="CPUs really run in parallel (a few boots die, and are tried "
               "again)")
    guest("--icount", action="store_true",
          help="time in the guest is the number of instructions, one a "
               "nanosecond; a sleep takes none of ours")
    guest("--append", action="append", default=[], metavar="WORDS",
          help="more words for the kernel's command line")
    guest("--cpu", metavar="MODEL", help="QEMU's -cpu value instead of a "
          "Skylake server without hypervisor bit")
    module = parser.add_argument_group("module").add_argument
    module("--no-module", action="store_true",
           help="do not load the module (/lib/modules/prefetch.ko is there)")
    module("--backend", choices=("auto", "msr", "soft"),
           help="the module's backend= parameter")
    module("--module-args", action="append", default=[], metavar="A",
           help="more module parameters, such as 'unprivileged=0'")
    twin = parser.add_argument_group("twin (the simulated register)")
    twin = twin.add_argument
    twin("--baseline", type=_register, metavar="V",
         help="the register's value from the firmware (default 0)")
    twin("--twin-log", metavar="FILE", help="where each register write is "
         "logged")
    twin("--twin-fault", type=_fault, metavar="F",
         help=f"make the register misbehave: {', '.join(FAULTS)} (F@N: at "
              "the N-th write)")
    twin("--twin-profile", metavar="P", help="the machine that a profile "
         "describes: a file, or a name out of tests/twin/profiles")
    running = parser.add_argument_group("running").add_argument
    running("--timeout", type=_number(1, 86400), default=600, metavar="S",
            help="seconds that COMMAND may take (default 600)")
    running("--boot-timeout", type=_number(1, 86400), metavar="S",
            help="seconds that the boot may take (default 120, with the "
                 f"debug kernel {debug_kernel.BOOT_TIMEOUT})")
    running("--stdin", action="store_true",
            help="COMMAND reads the standard input of scripts/vm")
    running("--reboot-ok", action="store_true",
            help="a guest that reboots or powers off in COMMAND ends with 0")
    running("--allow-console", action="append", default=[], metavar="TEXT",
            help="a console line with this text is no trouble")
    running("--console-log", metavar="FILE", help="keep the kernel's messages")
    running("--serial-log", metavar="FILE",
            help="keep what the guest writes to /dev/ttyS1, which works even "
                 "where /share and the standard output do not, as after a "
                 "suspend")
    running("--no-build", action="store_true",
            help="take programs and module as they were last built")
    running("--verbose", action="store_true",
            help="show progress and the kernel's messages on stderr")
    running("--prepare", action="store_true",
            help="only fetch and make what the cache lacks: QEMU, compilers, "
                 "kernels (--kernel, or 6.1 and current), with --debian its "
                 "root")
    running("--update", action="store_true",
            help="with --prepare: look for newer kernels")
    return parser


def parse(argv):
    """Options of a command line; a VmError names what is wrong."""
    command = []
    if "--" in argv:
        cut = argv.index("--")
        argv, command = argv[:cut], argv[cut + 1:]
        if not command:
            raise VmError("no COMMAND after -- (see scripts/vm --help)")
    opt, rest = _parser().parse_known_args(argv)
    if rest:
        hint = "" if rest[0].startswith("-") else \
            " (a command comes after --)"
        raise VmError(f"unknown word '{rest[0]}'{hint}; see scripts/vm --help")
    opt.command = command
    _check(opt)
    return opt


def _check_profile(opt):
    """Either a profile says what the machine is, or the other options do."""
    if opt.twin_profile is None:
        opt.cpus = opt.cpus or 4
        opt.threads = opt.threads or 2
        opt.baseline = opt.baseline or 0
        return
    for name in ("cpu", "cpus", "threads", "baseline", "twin_fault"):
        if getattr(opt, name) is not None:
            raise VmError(f"--{name.replace('_', '-')} does not go with "
                          "--twin-profile, which says it itself")
    opt.twin_profile = profile.read(opt.twin_profile)
    opt.cpus = opt.twin_profile.cpus
    opt.threads = 1


def _check(opt):
    _check_profile(opt)
    opt.kernels = [opt.kernel] if opt.kernel else ["current", "6.1"]
    opt.kernel = opt.kernels[0]
    check_spec(opt.kernel)
    if opt.cpus % opt.threads:
        raise VmError(f"--cpus {opt.cpus} is not a multiple of --threads "
                      f"{opt.threads}")
    if opt.icount and opt.smp_parallel:
        raise VmError("--icount counts what runs in turn: it does not go with "
                      "--smp-parallel")
    debug = opt.kernel == "debug"
    if opt.memory is None:
        opt.memory = debug_kernel.MEMORY if debug else \
            1024 if opt.debian else 512
    if opt.boot_timeout is None:
        opt.boot_timeout = debug_kernel.BOOT_TIMEOUT if debug else 120
    if debug:
        opt.append = [*debug_kernel.APPEND, *opt.append]
    if opt.serial_log:
        opt.serial_log = Path(opt.serial_log).resolve()
        if not opt.serial_log.parent.is_dir():
            raise VmError(f"--serial-log: '{opt.serial_log.parent}' is not a "
                          "folder")
    if opt.share:
        if not Path(opt.share).is_dir():
            raise VmError(f"--share: '{opt.share}' is not a folder")
        opt.share = Path(opt.share).resolve()
    if opt.twin_log:
        if "," in opt.twin_log:
            raise VmError(f"--twin-log: '{opt.twin_log}' has a comma, which "
                          "QEMU cannot pass on")
        opt.twin_log = Path(opt.twin_log).resolve()
        if not opt.twin_log.parent.is_dir():
            raise VmError(f"--twin-log: no folder '{opt.twin_log.parent}'")
    try:
        opt.module_args = [word for text in opt.module_args
                           for word in shlex.split(text)]
    except ValueError as err:
        raise VmError(f"--module-args: {err}") from err
    if opt.no_module and (opt.backend or opt.module_args):
        raise VmError("--no-module does not go with --backend and "
                      "--module-args")
    if opt.command and opt.prepare:
        raise VmError("--prepare takes no COMMAND")
    if opt.update and not opt.prepare:
        raise VmError("--update goes with --prepare")
    if opt.command and opt.command[0].startswith("/share/") \
            and not opt.share:
        raise VmError(f"'{opt.command[0]}' is in /share: give --share DIR")
    if not opt.command and not opt.prepare:
        if opt.stdin:
            raise VmError("--stdin needs a COMMAND")
        if not sys.stdin.isatty() or not sys.stdout.isatty():
            raise VmError("a shell needs a terminal: give a COMMAND after --")
