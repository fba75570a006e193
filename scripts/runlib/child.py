# SPDX-License-Identifier: GPL-2.0-or-later
"""Child processes of demo and test: streamed, timed, and never left behind."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

PR_SET_PDEATHSIG = 1

# What a child gets to end by itself, with its own clean-up, when we are ended.
GRACE = 20

_children = set()
_lock = threading.Lock()


class Interrupted(BaseException):
    """A signal has told us to end."""

    def __init__(self, number):
        super().__init__(signal.Signals(number).name)
        self.status = 128 + number


class Clock:
    """Time since the command was typed."""

    def __init__(self):
        now = time.time()
        try:
            began = float(os.environ["RUN_BEGAN"].replace(",", "."))
        except (KeyError, ValueError):
            began = now
        self.late = max(0.0, now - began)
        self._start = time.monotonic() - self.late

    def elapsed(self):
        """Seconds since the begin."""
        return time.monotonic() - self._start

    def say(self, text):
        """A progress line."""
        print(f"[{self.elapsed():6.1f} s] {text}", flush=True)


def need_root():
    """Why we cannot go on without root's privilege, or ''."""
    if os.geteuid() == 0:
        return ""
    return ("must be run as root: packages are installed, and compilers run "
            "in private Debian roots (chroot)")


def _on_signal(number, _frame):
    # A second signal must not disturb the clean-up.
    for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(other, signal.SIG_IGN)
    raise Interrupted(number)


def catch_signals():
    """SIGINT, SIGTERM and SIGHUP end us in order."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _on_signal)


def environment(**extra):
    """Debian's own programs, messages in English, no questions."""
    env = dict(os.environ, LC_ALL="C.UTF-8", PATH=PATH,
               DEBIAN_FRONTEND="noninteractive", PYTHONDONTWRITEBYTECODE="1")
    for name in ("LANGUAGE", "PYTHONPATH", "PYTHONHOME", "MAKEFLAGS",
                 "RUN_BEGAN"):
        env.pop(name, None)
    env.update(extra)
    return env


def _end_with_parent():
    """In the child: SIGTERM when we are killed without a chance to act."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def start(argv, **options):
    """A child in a session of its own, which is ended with us."""
    options.setdefault("stdin", subprocess.DEVNULL)
    options.setdefault("cwd", TREE)
    options.setdefault("env", environment())
    with _lock:
        process = subprocess.Popen([str(word) for word in argv],
                                   start_new_session=True,
                                   preexec_fn=_end_with_parent, **options)
        _children.add(process)
    return process


def finish(process, timeout=None):
    """Wait for a child; its status, or 124 if it had to be stopped."""
    try:
        status = process.wait(timeout)
    except subprocess.TimeoutExpired:
        stop([process])
        status = 124
    with _lock:
        _children.discard(process)
    return status


def stop(processes):
    """End children with all that they have started."""
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    end = time.monotonic() + GRACE
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.1, end - time.monotonic()))
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def stop_all():
    """End everything that still runs."""
    with _lock:
        left = list(_children)
        _children.clear()
    if left:
        print("ending what still runs ...", file=sys.stderr, flush=True)
        stop(left)


def run(argv, log=None, timeout=None, **options):
    """Run to the end; output goes to a file, or is shown as it comes."""
    if log is None:
        return finish(start(argv, **options), timeout)
    with open(log, "ab") as out:
        return finish(start(argv, stdout=out, stderr=subprocess.STDOUT,
                            **options), timeout)


def relay(argv, each_line, timeout=None, **options):
    """Run to the end; each line of its output is handed on as it comes."""
    process = start(argv, stdout=subprocess.PIPE, text=True,
                    errors="replace", **options)
    timer = threading.Timer(timeout, stop, ([process],)) if timeout else None
    if timer:
        timer.daemon = True
        timer.start()
    try:
        for line in process.stdout:
            each_line(line.rstrip("\n"))
        return finish(process)
    finally:
        if timer:
            timer.cancel()
