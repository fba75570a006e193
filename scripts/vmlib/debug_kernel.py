# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel with the kernel's own checkers: `scripts/vm --kernel debug`.

It is built once, from Debian's source package and the configuration in
tests/debug-kernel, with the compiler of a private root.  What is needed to
build a module for it stays in that root.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from .cache import (cache_dir, digest, locked, new_entry, remove_tree,
                    write_file)
from .roots import ENTER, make_root
from .suites import Suite, SuiteGone
from .util import (TREE, VmError, child_env, ending, need_program, run, say,
                   warn)

# The kernel that is asked for, and the oldest one that will do instead.
WANTED = (7, 3)
OLDEST = (7, 2)
SOURCE_SUITES = ("experimental", "sid", "forky")
TOOL_SUITES = ("forky", "sid")
SOURCE = re.compile(r"linux-source-(\d+)\.(\d+)")

CONFIG = TREE / "tests/debug-kernel"
PARTS = ("guest.config", "checkers.config")

# Checkers slow an emulated CPU down by a factor of ten and more.
MEMORY = 1536
BOOT_TIMEOUT = 900
# A checker's report that is a warning ends the guest, with the report as
# the last thing on its console; others are found by scripts/vm.
#
# A leak is told as soon as two scans have seen it.  For that the caches from
# which a module's memory comes may keep no arrays of free objects: an object
# that was taken from one and lost is still found there, and counts as in use.
# A cache with a debugging flag has none.
APPEND = ["panic_on_warn=1", "kmemleak.min_unref_scans=1",
          "slab_debug=F,kmalloc-*,skbuff*,pf_*"]

PROGRESS_SECONDS = 60


class SourceGone(VmError):
    """No suite on the mirror has a source to make the kernel from."""


def _sources():
    """(version, suite, package) of the kernel sources on the mirror."""
    found = []
    for name in SOURCE_SUITES:
        try:
            packages = Suite(name).names(SOURCE.pattern)
        except SuiteGone:
            say(f"this mirror has no suite {name}")
            continue
        for package in packages:
            version = tuple(map(int, SOURCE.fullmatch(package).groups()))
            if version >= OLDEST:
                found.append((version, name, package))
    return found


def _resolve(update):
    """Which source and compiler to take, kept in the cache."""
    file = cache_dir("kernels") / "debug.json"
    if file.exists() and not update:
        return json.loads(file.read_text(encoding="utf-8"))
    found = _sources()
    exact = [entry for entry in found if entry[0] == WANTED]
    if not found:
        raise SourceGone("no kernel source of version 7.2 or newer on this "
                         f"mirror (looked in {', '.join(SOURCE_SUITES)})")
    # Of equals the first: suites are in order of preference.
    version, suite, package = exact[0] if exact else \
        max(found, key=lambda entry: entry[0])
    if not exact:
        warn("no source of kernel 7.3 on this mirror: the debug kernel is "
             f"made from {package} of {suite}")
    tools, gcc = _compiler()
    info = {"suite": suite, "package": package, "tools": tools, "gcc": gcc,
            "version": Suite(suite).field(package, "Version")}
    write_file(file, json.dumps(info, indent=1) + "\n")
    return info


def _compiler():
    for name in TOOL_SUITES:
        try:
            depends = Suite(name).field("gcc", "Depends")
        except SuiteGone:
            continue
        match = re.search(r"\b(gcc-\d+)", depends)
        if match:
            return name, match[1]
    raise VmError("this mirror has no compiler for the debug kernel "
                  f"(looked in {', '.join(TOOL_SUITES)})")


def _root(info):
    return make_root("debug", info["tools"], [
        info["gcc"], "make", "libc6-dev", "libelf-dev", "flex", "bison", "bc"])


def _config():
    """The lines that we ask for; a remark is no reason to build again."""
    text = "".join((CONFIG / part).read_text(encoding="ascii")
                   for part in PARTS)
    return "".join(line + "\n" for line in text.splitlines()
                   if re.match(r"CONFIG_\w+=|# CONFIG_\w+ is not set$", line))


def _headers(root, release):
    return root / "usr/src" / f"linux-headers-{release}"


def _complete(place, root, key):
    """The information of a kernel whose image and headers are both there."""
    if not (place / "info.json").exists():
        return None
    info = json.loads((place / "info.json").read_text(encoding="utf-8"))
    mark = _headers(root, info["release"]) / ".key"
    if mark.exists() and mark.read_text(encoding="ascii") == key:
        return info
    return None


def kernel(update=False):
    """The debug kernel's information and its folder in the cache."""
    source = _resolve(update)
    root = _root(source)
    key = digest(_config(), source["version"], root.name)
    place = cache_dir("kernels") / f"debug-{key}"
    info = _complete(place, root, key)
    if not info:
        if os.geteuid():
            raise VmError("building the debug kernel needs root privilege")
        with locked("kernel-debug"):
            info = _complete(place, root, key)
            if not info:
                _build(source, root, place, key)
                info = _complete(place, root, key)
    return info, place


def build_root(info):
    """The root that has the compiler and the headers of the debug kernel."""
    return _root(info)


class _Builder:
    """Runs make in the root, with progress lines."""

    def __init__(self, root, work, gcc):
        self._root = root
        self._log = work.parent / (work.name + ".log")
        # The same name, user and time in each build.
        self._make = ["make", "-C", "/" + str(work.relative_to(root)),
                      f"-j{os.cpu_count()}", f"CC={gcc}", f"HOSTCC={gcc}",
                      "KBUILD_BUILD_USER=debug", "KBUILD_BUILD_HOST=kernel",
                      "KBUILD_BUILD_TIMESTAMP=@0", "KBUILD_BUILD_VERSION=1"]
        self._log.write_bytes(b"")

    def make(self, what, *words):
        """Make targets; a failure shows the last lines."""
        argv = ["sh", "-c", ENTER, str(self._root), *self._make, *words]
        begin = time.monotonic()
        with open(self._log, "ab") as log:
            start = log.tell()
            process = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log,
                                       start_new_session=True,
                                       env=child_env())
            try:
                self._wait(process, what, begin)
            finally:
                # After the end of make the group is empty.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
                process.wait()
        text = self._log.read_bytes()[start:].decode("utf-8", "replace")
        if process.returncode:
            lines = text.rstrip().splitlines()
            # With several jobs the error is not among the last lines.
            errors = [ln for ln in lines
                      if re.search(r"error|\*\*\*", ln, re.I)]
            raise VmError("\n  ".join([
                f"{what} failed (status {process.returncode}):",
                *errors[:15], *lines[-10:]]))
        return text

    def _wait(self, process, what, begin):
        told = begin
        while True:
            try:
                process.wait(1)
                return
            except subprocess.TimeoutExpired:
                pass
            if ending():
                raise VmError(f"{what}: interrupted")
            now = time.monotonic()
            if now - told >= PROGRESS_SECONDS:
                told = now
                done = self._log.read_bytes().count(b"\n  CC ")
                say(f"{what}: {(now - begin) / 60:.0f} min, "
                    f"{done} files compiled")


def _unpack(source, work):
    """The kernel source, unless an interrupted build has left it."""
    if work.is_dir():
        say(f"going on with an interrupted build in {work}")
        return
    package = source["package"]
    say(f"{package} {source['version']} of Debian {source['suite']}: "
        "downloading")
    with new_entry(work) as temp, \
            Suite(source["suite"]).download([package]) as debs:
        say(f"{package}: unpacking")
        tarball = f"./usr/src/{package}.tar.xz"
        run(["bash", "-c", 'set -o pipefail; dpkg-deb --fsys-tarfile "$1" '
             '| tar -xO -f - "$2" | "$3" -dc '
             '| tar -x --strip-components=1 -C "$4" -f -', "unpack", debs[0],
             tarball, need_program("xz", "xz-utils"), temp],
            f"unpacking {package}")


def _check_config(text):
    """Each line that we ask for must have made it into the configuration."""
    have = set(text.splitlines())
    names = {line.split("=")[0] for line in have if "=" in line}
    missing = []
    for line in _config().splitlines():
        off = re.fullmatch(r"# (CONFIG_\w+) is not set", line)
        if off and off[1] in names:
            missing.append(line)
        elif line.startswith("CONFIG_") and line not in have:
            missing.append(line)
    if missing:
        raise VmError("this kernel does not take these lines of "
                      "tests/debug-kernel:\n  " + "\n  ".join(missing))


def _build(source, root, place, key):
    begin = time.monotonic()
    work = root / "usr/src" / f"debug-{key}"
    _unpack(source, work)
    build = _Builder(root, work, source["gcc"])
    (work / "debug.config").write_text(_config(), encoding="ascii")
    build.make("configuring the debug kernel", "allnoconfig",
               "KCONFIG_ALLCONFIG=debug.config")
    _check_config((work / ".config").read_text(encoding="utf-8"))
    say(f"building the debug kernel from {source['package']} "
        f"{source['version']}: about 15 minutes on 2 CPUs, once")
    build.make("building the debug kernel", "bzImage", "modules")
    release = (work / "include/config/kernel.release").read_text().strip()
    _install(build, source, root, work, place, release, key)
    minutes = (time.monotonic() - begin) / 60
    say(f"the debug kernel {release} is ready, after {minutes:.1f} min")


def _install(build, source, root, work, place, release, key):
    headers = _headers(root, release)
    inside = "/" + str(headers.relative_to(root))
    remove_tree(headers)
    build.make("headers of the debug kernel", "run-command",
               "KBUILD_RUN_COMMAND=$(srctree)/scripts/package/"
               f"install-extmod-build {inside}")
    # Modules are built by the same compiler, without being told which.
    makefile = headers / "Makefile"
    makefile.write_text(f"override CC := {source['gcc']}\n"
                        + makefile.read_text(encoding="utf-8"),
                        encoding="utf-8")
    info = {"release": release, "suite": source["suite"],
            "tools": source["tools"], "gcc": source["gcc"], "debug": True,
            "version": f"{source['version']} {key}"}
    with new_entry(place) as temp:
        # Not vmlinux, as for other kernels: its entry for QEMU dies at once
        # with KASAN.
        shutil.copy(work / "arch/x86/boot/bzImage", temp / "image")
        for name in ("vmlinux", "System.map"):
            shutil.copy(work / name, temp)
        shutil.copy(work / ".config", temp / "config")
        (temp / "modules").mkdir()
        (temp / "modules/order").touch()
        (temp / "info.json").write_text(json.dumps(info, indent=1) + "\n")
    (headers / ".key").write_text(key, encoding="ascii")
    _drop_older(place)
    remove_tree(work)


def _drop_older(place):
    """Kernels of an earlier source or configuration."""
    for old in place.parent.glob("debug-*"):
        if old != place and old.is_dir():
            remove_tree(old)
