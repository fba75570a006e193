# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache folder: what is slow to get is kept there between runs.

Several runs may share it at once.  So each entry is made under a temporary
name beside its place and renamed when complete, with a lock file held
meanwhile: an entry that exists is whole, and nobody makes it twice.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .util import TREE, VmError, warn


def cache_dir(*parts):
    """A folder of the cache, created when missing."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    path = Path(base, "prefetch", *parts)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise VmError(f"cannot create {path}: {err.strerror}") from err
    return path


@contextlib.contextmanager
def locked(name):
    """Hold the lock of one cache entry; says so when it has to wait."""
    path = cache_dir("locks") / (name.replace("/", "_") + ".lock")
    with open(path, "w", encoding="ascii") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            warn(f"waiting for another run that makes {name}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _mounts_below(path):
    """Mount points in a folder, the deepest first."""
    with open("/proc/self/mountinfo", encoding="utf-8") as lines:
        points = [line.split()[4] for line in lines]
    points = [p.encode().decode("unicode_escape") for p in points]
    inside = str(Path(path).resolve()) + "/"
    return sorted((p for p in points if p.startswith(inside)), key=len,
                  reverse=True)


def remove_tree(path):
    """Remove a folder; what cannot be removed is left.

    mmdebstrap mounts parts of the host in a root that it makes.  If it was
    killed they may still be there, and must not be emptied.
    """
    for point in _mounts_below(path):
        subprocess.run(["umount", "-l", point], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if _mounts_below(path):
        warn(f"{path} has mounts that cannot be undone: left as it is")
        return
    shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def new_entry(place):
    """Make a cache folder: yields a temporary one, renamed at the end."""
    place.parent.mkdir(parents=True, exist_ok=True)
    temp = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))
    try:
        # mkdtemp makes it private, but a root's top folder is world-readable.
        temp.chmod(0o755)
        yield temp
        if place.exists():
            old = Path(tempfile.mkdtemp(prefix=".old-", dir=place.parent))
            os.rename(place, old / "entry")
            os.rename(temp, place)
            remove_tree(old)
        else:
            os.rename(temp, place)
    finally:
        if temp.exists():
            remove_tree(temp)


def write_file(place, data):
    """Write a cache file in one step."""
    if isinstance(data, str):
        data = data.encode()
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, temp = tempfile.mkstemp(prefix=".new-", dir=place.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(temp, 0o644)
        os.rename(temp, place)
    except BaseException:
        os.unlink(temp)
        raise


def digest(*parts):
    """A short name for contents: strings, bytes, files or folders."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            files = sorted(part.rglob("*")) if part.is_dir() else [part]
            for file in files:
                if file.is_file():
                    total.update(str(file.relative_to(TREE)).encode()
                                 if file.is_relative_to(TREE)
                                 else file.name.encode())
                    total.update(b"\0" + file.read_bytes() + b"\0")
        else:
            data = part if isinstance(part, bytes) else str(part).encode()
            total.update(data + b"\0")
    return total.hexdigest()[:12]
