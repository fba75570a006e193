# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs QEMU with the twin: command line, ports to the guest, and its end."""

import contextlib
import ctypes
import os
import selectors
import signal
import socket
import subprocess
import sys
import termios
import time
import tty

from .cache import cache_dir
from .console import Console
from .roots import first_suite, make_root
from .util import VmError, child_env, warn

# The plugin needs write_register and set_pc, which came with QEMU 11.
QEMU_SUITES = ("forky", "sid")
QEMU_MIN = 11

END_LIMIT = 30

CPU = ("Skylake-Server-v1,vendor=GenuineIntel,family=6,model=85,stepping=7,"
       "-hypervisor,ucode-rev=0x500390100000000")
# Features of that model which the emulator lacks; each would be a warning.
CPU_LACKS = ("-pcid,-tsc-deadline,-hle,-rtm,-invpcid,-mpx,-avx512f,-avx512dq,"
             "-avx512cd,-avx512bw,-avx512vl,-spec-ctrl,-xsavec")


def qemu_root():
    """A root with a QEMU that can carry the twin."""
    for suite in QEMU_SUITES:
        found = sorted(cache_dir("roots").glob(f"qemu-{suite}-*"))
        if found:
            return make_root("qemu", suite, ["qemu-system-x86"])
    suite = first_suite(
        QEMU_SUITES, "qemu-system-x86",
        lambda v: int(v.split(":")[-1].split(".")[0]) >= QEMU_MIN)
    return make_root("qemu", suite, ["qemu-system-x86"])


def qemu_program(root):
    """QEMU run through its own root's loader, so that any host will do."""
    lib = root / "usr/lib/x86_64-linux-gnu"
    return [str(root / "usr/lib64/ld-linux-x86-64.so.2"), "--library-path",
            str(lib), str(root / "usr/bin/qemu-system-x86_64"),
            "-L", str(root / "usr/share/qemu"),
            "-L", str(root / "usr/share/seabios")]


def _die_with_parent():
    """In the child: end when scripts/vm is killed without a chance to act."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Outcome:
    """How a boot ended."""

    def __init__(self):
        self.status = None      # exit status of COMMAND
        self.failure = None     # what the guest's init complained about
        self.phase = "start"    # start, boot, loading, command
        self.timed_out = False
        self.spoiled = False    # trouble before the module was loaded
        self.qemu_status = None
        self.boot_seconds = None
        self.seconds = 0.0


class Guest:
    """One boot of the guest."""

    def __init__(self, argv, boot_timeout, timeout, console,
                 interactive=False, stdin=False, qemu_log=None):
        self._argv = argv
        self._timeout = timeout
        self._console = console
        self._interactive = interactive
        self._stdin = stdin
        self._log = qemu_log
        self._select = selectors.DefaultSelector()
        self._control = b""
        self._here = {}
        self._open = set()
        self._begin = time.monotonic()
        self._deadline = self._begin + boot_timeout
        self.outcome = Outcome()

    def _channel(self, name):
        """A socket pair; returns the end for QEMU."""
        here, there = socket.socketpair()
        os.set_inheritable(there.fileno(), True)
        self._here[name] = here
        self._open.add(name)
        self._select.register(here, selectors.EVENT_READ, name)
        return there

    def _devices(self):
        there = {}
        argv = []
        names = ["console", "control", "out", "err", "in"]
        if self._interactive:
            names.append("tty")
        for name in names:
            there[name] = self._channel(name)
            argv += ["-chardev",
                     f"socket,id={name},fd={there[name].fileno()}"]
        # Places on the bus are fixed: the guest's init knows the ports by the
        # number of their device, which follows that order.
        argv += ["-serial", "chardev:console",
                 "-device", "virtio-serial-pci,max_ports=8,addr=2"]
        for number, name in enumerate(("control", "out", "err", "in"), 1):
            argv += ["-device", f"virtserialport,nr={number},chardev={name},"
                                f"name={name}"]
        if self._interactive:
            argv += ["-device", "virtconsole,nr=0,chardev=tty"]
        return argv, there

    def run(self):
        """Boot, relay, and wait for the end."""
        devices, there = self._devices()
        with contextlib.ExitStack() as stack:
            log = stack.enter_context(open(self._log, "wb"))
            process = subprocess.Popen(
                [*self._argv, *devices], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True,
                preexec_fn=_die_with_parent,
                pass_fds=[s.fileno() for s in there.values()],
                env=child_env())
            stack.callback(self._stop, process)
            for end in there.values():
                end.close()
            if self._interactive:
                stack.enter_context(_raw_terminal())
                self._select.register(sys.stdin, selectors.EVENT_READ,
                                      "keys")
            elif self._stdin:
                self._register_stdin()
            else:
                self._here["in"].shutdown(socket.SHUT_WR)
            self._loop(process)
        self.outcome.qemu_status = process.returncode
        self.outcome.seconds = time.monotonic() - self._begin
        self._console.close()
        return self.outcome

    def _register_stdin(self):
        try:
            self._select.register(sys.stdin, selectors.EVENT_READ, "stdin")
        except PermissionError:
            # A plain file is always readable, so epoll refuses it: send all.
            self._pending = os.read(0, 1 << 24)
            self._here["in"].sendall(self._pending)
            self._here["in"].shutdown(socket.SHUT_WR)

    def _loop(self, process):
        while self._open:
            left = self._deadline - time.monotonic()
            if left <= 0:
                self.outcome.timed_out = self.outcome.status is None
                return
            for key, _ in self._select.select(min(left, 1.0)):
                self._serve(key)
            if process.poll() is not None:
                self._drain()
                return

    def _drain(self):
        """What QEMU had written before it ended."""
        limit = time.monotonic() + 2
        while self._open and time.monotonic() < limit:
            for key, _ in self._select.select(0.1):
                if key.data not in ("keys", "stdin"):
                    self._serve(key)

    def _serve(self, key):
        name = key.data
        if name in ("keys", "stdin"):
            data = os.read(0, 65536)
            port = self._here["tty" if name == "keys" else "in"]
            if data:
                port.sendall(data)
            else:
                self._select.unregister(sys.stdin)
                port.shutdown(socket.SHUT_WR)
            return
        try:
            data = key.fileobj.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._select.unregister(key.fileobj)
            self._open.discard(name)
        elif name == "console":
            self._console.feed(data)
        elif name == "control":
            self._control += data
            *lines, self._control = self._control.split(b"\n")
            for line in lines:
                self._message(line.decode("utf-8", "replace"))
        elif name in ("out", "tty"):
            _write_all(1, data)
        elif name == "err":
            _write_all(2, data)

    def _message(self, line):
        word, _, rest = line.partition(" ")
        outcome = self.outcome
        if outcome.phase == "boot" and word in ("loading", "command") \
                and (self._console.trouble or self._console.miscalibrated):
            # Not ours: the module is not loaded yet. This boot is worthless.
            outcome.spoiled = True
            self._open.clear()
        elif word == "boot":
            outcome.boot_seconds = time.monotonic() - self._begin
            outcome.phase = "boot"
        elif word == "loading":
            outcome.phase = "loading"
        elif word == "command":
            outcome.phase = "command"
            self._deadline = time.monotonic() + self._timeout
        elif word == "exit" and rest.isdigit():
            outcome.status = int(rest)
            self._deadline = time.monotonic() + END_LIMIT
        elif word == "fail":
            outcome.failure = rest
            self._deadline = time.monotonic() + END_LIMIT

    def _stop(self, process):
        """End what still runs: first so that the twin can close its log."""
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for end in self._here.values():
            end.close()
        self._select.close()


def _write_all(fd, data):
    while data:
        try:
            data = data[os.write(fd, data):]
        except BlockingIOError:
            time.sleep(0.01)


@contextlib.contextmanager
def _raw_terminal():
    saved = termios.tcgetattr(0)
    try:
        tty.setraw(0)
        yield
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, saved)


def _quoted(path):
    return str(path).replace(",", ",,")


def _processors(opt):
    if opt.twin_profile:
        return opt.twin_profile.arguments()
    return ["-cpu", f"{CPU},{CPU_LACKS}" if not opt.cpu else opt.cpu,
            "-smp", f"{opt.cpus},sockets=1,cores={opt.cpus // opt.threads},"
                    f"threads={opt.threads}"]


def command_line(root, opt, kernel_image, initrd, twin, disk):
    """QEMU's arguments, devices for the ports apart."""
    mode = "multi" if opt.smp_parallel else "single"
    append = ["console=ttyS0", "panic=-1", "rdinit=/init", "nokaslr",
              "mitigations=off", "tsc=reliable", "printk.devkmsg=on",
              "loglevel=7", *opt.append]
    argv = [*qemu_program(root), "-name", "twin", "-nodefaults",
            "-no-user-config", "-display", "none", "-no-reboot",
            "-machine", "pc,usb=off,vmport=off,dump-guest-core=off",
            "-accel", f"tcg,thread={mode}",
            *(("-icount", "shift=0,sleep=off") if opt.icount else ()),
            *_processors(opt), "-m", str(opt.memory), "-kernel", str(kernel_image),
            "-initrd", str(initrd), "-append", " ".join(append)]
    if "," in str(twin):
        raise VmError(f"{twin}: QEMU cannot take a plugin from a path with a "
                      "comma")
    words = [str(twin), f"log={opt.twin_log}"]
    if opt.twin_profile:
        words.append(f"profile={opt.twin_profile.path}")
    else:
        words += [f"threads={opt.threads}", f"baseline={opt.baseline:#x}"]
    if opt.twin_fault:
        words.append(f"fault={opt.twin_fault}")
    argv += ["-plugin", ",".join(words)]
    if opt.share:
        argv += ["-fsdev", "local,id=share,path=" + _quoted(opt.share)
                 + ",security_model=none,multidevs=remap",
                 "-device", "virtio-9p-pci,fsdev=share,mount_tag=share,addr=3"]
    if opt.serial_log:
        argv += ["-chardev", "file,id=serial,path=" + _quoted(opt.serial_log),
                 "-device", "isa-serial,chardev=serial,index=1"]
    if disk:
        argv += ["-drive", f"file={_quoted(disk)},format=raw,if=none,id=disk,"
                           "snapshot=on",
                 "-device", "virtio-blk-pci,drive=disk,addr=4"]
    return argv


def boot(argv, boot_timeout, timeout, allowed=(), verbose=False, **more):
    """One boot; returns its outcome and console."""
    echo = (lambda line: warn("console: " + line)) if verbose else None
    console = Console(allowed, echo)
    try:
        guest = Guest(argv, boot_timeout, timeout, console, **more)
        return guest.run(), console
    except OSError as err:
        if isinstance(err, BrokenPipeError):
            raise
        raise VmError(f"cannot run QEMU: {err}") from err
