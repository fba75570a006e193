# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds what a guest runs: user space, and the module in a private root."""

import os
import shutil
import tempfile
from fnmatch import fnmatch
from pathlib import Path

from .cache import cache_dir, digest, locked, new_entry, remove_tree
from .kernels import build_root
from .roots import ENTER
from .util import TREE, VmError, need_program, run, say, warn

BUILD = TREE / "build"

# Programs that every guest has: name there, and where it comes from.
PROGRAMS = {
    "prefetchctl": "build/prefetchctl/prefetchctl",
    "prefetch-monitor": "build/monitor/prefetch-monitor",
    "twin-mark": "build/tests/twin/twin-mark",
    "prefetch-record": "tests/judge/prefetch-record",
    "prefetch-req": "tests/judge/prefetch-req",
}
# What Kbuild and editors leave in the folder of the sources.
PRODUCTS = ("*.o", "*.ko", "*.mod", "*.mod.c", ".*", "*~", "*.orig", "*.rej",
            "Module.symvers", "modules.order", "__pycache__")

# Modules that are kept for each kernel.
KEEP = 6
TWIN = BUILD / "tests/twin/prefetch-twin.so"


def user_space():
    """Bring build/ up to date."""
    with locked(f"build-{digest(str(TREE))}"):
        if not (BUILD / "build.ninja").exists():
            say("meson setup build")
            run([need_program("meson", "meson"), "setup", BUILD, TREE],
                "meson setup build")
        need_program("ninja", "ninja-build")
        run(["ninja", "-C", BUILD], "ninja -C build")


def programs():
    """(name, path) of our programs."""
    found = []
    for name, place in PROGRAMS.items():
        if not (TREE / place).is_file():
            raise VmError(f"{place} is missing: build it, or do without "
                          "--no-build")
        found.append((name, TREE / place))
    return found


def find_program(word):
    """The file that a --with word names: a path, or a program of the host."""
    path = Path(word)
    if path.is_file():
        return path
    if "/" not in word:
        found = shutil.which(word)
        if found:
            return Path(found)
    raise VmError(f"--with: no program '{word}'")


def _modules(info):
    """Modules made for a kernel, the newest first."""
    made = cache_dir("modules").glob(f"{info['release']}-*/prefetch.ko")
    return sorted(made, key=lambda file: file.stat().st_mtime, reverse=True)


def module(info, may_build=True):
    """prefetch.ko for a kernel, built when its sources have changed."""
    key = digest(_sources(TREE / "kernel"), _sources(TREE / "genl-family"),
                 info["release"], info["version"])
    place = cache_dir("modules") / f"{info['release']}-{key}"
    if (place / "prefetch.ko").exists():
        return place / "prefetch.ko"
    if not may_build:
        made = _modules(info)
        if not made:
            raise VmError(f"no prefetch.ko for {info['release']} has been "
                          "built: do without --no-build")
        warn("the module's sources have changed since this one was built: "
             f"{made[0]}")
        return made[0]
    root = build_root(info)
    with locked(f"module-{info['release']}-{key}"):
        if not (place / "prefetch.ko").exists():
            say(f"building prefetch.ko for {info['release']}")
            _build_module(info, root, place)
            for old in _modules(info)[KEEP:]:
                remove_tree(old.parent)
    return place / "prefetch.ko"


def _sources(folder):
    """Contents of a folder's sources; what a build leaves there is not one."""
    parts = []
    for file in sorted(folder.rglob("*")):
        name = file.name
        if file.is_file() and not any(fnmatch(name, p) for p in PRODUCTS):
            parts += [str(file.relative_to(TREE)), file.read_bytes().hex()]
    return "\0".join(parts)


def _build_module(info, root, place):
    if os.geteuid():
        raise VmError("building the module in a private root needs root "
                      "privilege")
    work = Path(tempfile.mkdtemp(prefix="module-", dir=root / "tmp"))
    try:
        for name in ("kernel", "genl-family"):
            shutil.copytree(TREE / name, work / name, symlinks=True,
                            ignore=shutil.ignore_patterns(*PRODUCTS))
        inside = Path("/") / work.relative_to(root)
        log = run(["sh", "-c", ENTER, root, "make", "-C", inside / "kernel",
                   f"-j{os.cpu_count()}",
                   f"KDIR=/usr/src/linux-headers-{info['release']}",
                   "PF_UNTRIED=y"],
                  f"building prefetch.ko for {info['release']}")
        with new_entry(place) as temp:
            shutil.copy(work / "kernel/prefetch.ko", temp)
            (temp / "build.log").write_text(log)
    finally:
        shutil.rmtree(work, ignore_errors=True)
