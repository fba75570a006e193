# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/vm: from options to a finished guest."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import build, image, kernels, qemu
from .options import parse
from .util import (TREE, VmError, child_env, detail, download_seconds,
                   end_children, say, set_verbose, warn)

STATUS_TROUBLE = 70
STATUS_GONE = 77
STATUS_TIMEOUT = 124
STATUS_VM = 125

# A boot that dies before the module is loaded says nothing about the module.
BOOT_TRIES = 4
SLOW_TRIES = 2


def _prepare_kernel(spec, update):
    info, place = kernels.kernel(spec, update)
    kernels.build_root(info)
    image.base_archive(place)
    say(f"kernel {spec} is {info['release']} of Debian {info['suite']}")


def _prepare(opt):
    """Make the host ready and fill the cache."""
    host = Path(__file__).resolve().parent / "host.sh"
    if subprocess.run([str(host)], env=child_env(), check=False).returncode:
        raise VmError("this host is not ready")
    gone = None
    with ThreadPoolExecutor(max_workers=3) as pool:
        jobs = [pool.submit(qemu.qemu_root)]
        if opt.debian:
            jobs.append(pool.submit(image.debian_image))
        jobs += [pool.submit(_prepare_kernel, spec, opt.update)
                 for spec in opt.kernels]
        for job in jobs:
            try:
                job.result()
            except kernels.KernelGone as err:
                gone = err
    say(f"prepared; {download_seconds()} s of this were downloads")
    if gone:
        raise gone


def _stty():
    """Size of the terminal, for the guest's."""
    size = shutil.get_terminal_size()
    return f"rows {size.lines} cols {size.columns} sane"


def _guest_env(opt, modules):
    args = [f"backend={opt.backend}"] if opt.backend else []
    return {
        "VM_MODULE": "" if opt.no_module else "1",
        "VM_MODULE_ARGS": " ".join(args + opt.module_args),
        "VM_DEBIAN": "1" if opt.debian else "",
        "VM_MODULES": modules,
        "VM_SHARE": "trans=virtio,version=9p2000.L,msize=512000,cache=none"
                    if opt.share else "",
        "VM_STDIN": "1" if opt.stdin else "",
        "VM_STTY": "" if opt.command else _stty(),
        "TERM": os.environ.get("TERM", "linux"),
    }


def _initrd(opt, kernel_dir, module, temp):
    """The initramfs of this run: cached part and changing part joined."""
    over = image.Overlay()
    for name, path in build.programs():
        over.add_program(path, name)
    for word in opt.programs:
        over.add_program(build.find_program(word))
    wanted = {"virtio_pci", "virtio_console", "msr"}
    if opt.share:
        wanted |= {"9p", "9pnet_virtio"}
    if opt.debian:
        wanted |= {"virtio_blk", "ext4", "crc32c_cryptoapi", "crc32c_generic"}
    folder = over.add_modules(kernel_dir, module, wanted)
    env = _guest_env(opt, folder)
    changing = over.finish(env, opt.command)
    place = temp / "initrd"
    with open(place, "wb") as out:
        out.write(image.base_archive(kernel_dir).read_bytes())
        out.write(changing)
    return place


def _judge_end(opt, outcome, console):
    """The exit status of a boot that got as far as it should."""
    if console.trouble:
        warn(f"KERNEL TROUBLE in the guest, {len(console.trouble)} lines:")
        print(console.report(), file=sys.stderr)
        return STATUS_TROUBLE
    if console.forgiven:
        warn(f"{console.forgiven} console lines allowed by --allow-console")
    if outcome.failure:
        raise VmError(outcome.failure)
    if outcome.timed_out:
        what, limit = ("COMMAND", opt.timeout) \
            if outcome.phase == "command" else ("the boot", opt.boot_timeout)
        warn(f"{what} took longer than {limit} s: stopped")
        return STATUS_TIMEOUT
    if outcome.status is not None:
        return outcome.status
    if opt.reboot_ok and outcome.qemu_status == 0:
        return 0
    tail = "\n".join("  | " + line for line in console.lines[-15:])
    raise VmError("the guest ended before COMMAND did (QEMU status "
                  f"{outcome.qemu_status}); last console lines:\n{tail}")


def _module(opt, info):
    """The module; with --no-module a guest can do without it."""
    try:
        return build.module(info, not opt.no_build)
    except VmError as err:
        if not opt.no_module:
            raise
        warn(f"no prefetch.ko in this guest: {str(err).splitlines()[0]}")
        return None


def _run_guest(opt, temp):
    root = qemu.qemu_root()
    info, kernel_dir = kernels.kernel(opt.kernel)
    if not opt.no_build:
        build.user_space()
    module = _module(opt, info)
    if not build.TWIN.is_file():
        raise VmError(f"{build.TWIN.relative_to(TREE)} is missing: build it, "
                      "or do without --no-build")
    disk = image.debian_image() if opt.debian else None
    initrd = _initrd(opt, kernel_dir, module, temp)
    argv = qemu.command_line(root, opt, kernel_dir / "image", initrd,
                             build.TWIN, disk)
    detail(f"booting {info['release']}, {opt.cpus} CPUs")
    return _boot(opt, argv, temp)


def _boot(opt, argv, temp):
    """Boot, again if need be, until the module had its chance."""
    for attempt in range(1, BOOT_TRIES + 1):
        outcome, console = qemu.boot(
            argv, opt.boot_timeout, opt.timeout,
            allowed=opt.allow_console, verbose=opt.verbose,
            interactive=not opt.command, stdin=opt.stdin,
            qemu_log=temp / "qemu.log")
        if opt.console_log:
            Path(opt.console_log).write_text("\n".join(console.lines) + "\n")
        early = outcome.phase in ("start", "boot") and not outcome.failure
        if early and outcome.qemu_status and not console.lines:
            # It did not even begin: the same would come of it again.
            log = (temp / "qemu.log").read_text(errors="replace").strip()
            raise VmError(f"QEMU cannot start (status {outcome.qemu_status}):"
                          f" {log or 'it does not say why'}")
        tries = SLOW_TRIES if outcome.timed_out else BOOT_TRIES
        if not early or attempt >= tries:
            break
        how = "was spoiled" if outcome.spoiled else "died"
        warn(f"boot {attempt} {how} before the module was loaded"
             f"{' (too slow)' if outcome.timed_out else ''}: trying again")
    if attempt > 1:
        warn(f"boots that died or were spoiled before the module was loaded: {attempt - 1}"
             + (", this one too" if early else ""))
    if early:
        log = (temp / "qemu.log").read_text(errors="replace").strip()
        if log:
            warn("QEMU said: " + log)
    if outcome.boot_seconds:
        detail(f"booted in {outcome.boot_seconds:.1f} s, "
               f"{outcome.seconds:.1f} s in all")
    return _judge_end(opt, outcome, console)


def _on_signal(number, _frame):
    end_children()
    raise SystemExit(128 + number)


def main(argv):
    """Entry point; returns the exit status."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _on_signal)
    temp = None
    try:
        opt = parse(argv)
        set_verbose(opt.verbose)
        if opt.prepare:
            _prepare(opt)
            return 0
        temp = Path(tempfile.mkdtemp(prefix="prefetch-vm-"))
        opt.twin_log = opt.twin_log or temp / "twin.log"
        return _run_guest(opt, temp)
    except kernels.KernelGone as err:
        warn(f"error: {err}")
        return STATUS_GONE
    except VmError as err:
        warn(f"error: {err}")
        return STATUS_VM
    except BrokenPipeError:
        # The reader of our output has gone; nobody is left to be told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    finally:
        if temp:
            shutil.rmtree(temp, ignore_errors=True)
