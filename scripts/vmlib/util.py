# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors, progress lines and child processes, the same way everywhere."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TREE = Path(__file__).resolve().parents[2]

_start = time.monotonic()
_verbose = False
_children = set()
_downloads = 0
_ending = False

# How long a child may take to clean up after itself.
CLEANUP_SECONDS = 20


class VmError(Exception):
    """What the user can read and act on; scripts/vm ends with 125."""


def set_verbose(verbose):
    """Whether detail() is shown."""
    global _verbose
    _verbose = verbose


def say(text):
    """A line on what takes long; on stderr, as stdout is the guest's."""
    print(f"vm: [{time.monotonic() - _start:6.1f} s] {text}",
          file=sys.stderr, flush=True)


def detail(text):
    """A line on what is quick, for those who want to see it."""
    if _verbose:
        say(text)


def warn(text):
    """A line on what the user should know."""
    print(f"vm: {text}", file=sys.stderr, flush=True)


def child_env(**extra):
    """Environment of child processes: messages in English, no questions."""
    env = dict(os.environ, LC_ALL="C.UTF-8", DEBIAN_FRONTEND="noninteractive")
    env.pop("LANGUAGE", None)
    # A root has its own programs in the usual places, whatever the caller has.
    env["PATH"] = PATH
    env.update(extra)
    return env


def run(argv, what, cwd=None, env=None):
    """Run a command and return its stdout; a failure shows its last lines."""
    if _ending:
        raise VmError(f"{what}: interrupted")
    argv = [str(a) for a in argv]
    try:
        child = subprocess.Popen(argv, cwd=cwd, env=env or child_env(),
                                 stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE,
                                 text=True, errors="replace",
                                 process_group=0)
    except OSError as err:
        raise VmError(f"{what}: cannot run {argv[0]}: {err.strerror}") from err
    _children.add(child)
    try:
        out, err = child.communicate()
    except BaseException:
        _end(child)
        raise
    finally:
        _children.discard(child)
    _count_downloads(out + err)
    if child.returncode:
        lines = (out + err).rstrip().splitlines()[-25:]
        raise VmError(f"{what} failed (status {child.returncode}):\n  "
                      + "\n  ".join(lines or ["no output"]))
    return out


def _end(child):
    """End a child that may have to clean up: mmdebstrap has mounts to undo."""
    _signal(child, signal.SIGTERM)
    try:
        child.wait(CLEANUP_SECONDS)
    except subprocess.TimeoutExpired:
        _signal(child, signal.SIGKILL)
        child.wait()


def _signal(child, number):
    """Signal a child with all that it started; it leads a group."""
    if child.poll() is None:
        os.killpg(child.pid, number)


def end_children():
    """End what run() has started, in all threads, and start no more."""
    global _ending
    _ending = True
    running = list(_children)
    for child in running:
        _signal(child, signal.SIGTERM)
    for child in running:
        _end(child)


def ending():
    """True when a signal has asked this run to end."""
    return _ending


def _count_downloads(text):
    """apt tells how long it fetched: Fetched 60.1 MB in 1min 2s (...)."""
    global _downloads
    for minutes, seconds in re.findall(
            r"^Fetched .* in (?:(\d+)min )?(\d+)s", text, re.M):
        _downloads += int(minutes or 0) * 60 + int(seconds)


def download_seconds():
    """Time spent with downloads so far; parallel ones count each."""
    return _downloads


def need_program(name, package):
    """The path of a host program, or an error that says how to get it."""
    path = shutil.which(name, path=child_env()["PATH"])
    if not path:
        raise VmError(f"{name} is not installed (package {package}): "
                      "run scripts/vm --prepare")
    return path
