# SPDX-License-Identifier: GPL-2.0-or-later
"""Private Debian roots in the cache, made with mmdebstrap.

They are plain folders.  Programs in them run by chroot (compilers) or through
their own dynamic loader (QEMU); no service is ever started in one, and the
host's /tmp and /dev are not visible in it.
"""

import os
import tempfile

from .cache import cache_dir, digest, locked, new_entry, remove_tree
from .suites import Suite
from .util import VmError, child_env, need_program, run, say

# A chroot with /proc, which objtool reads.  A mount namespace keeps that mount
# from anybody else; inside a chroot of the user's, whose / is no mount point,
# it cannot be made private, so it is undone as well.
ENTER = """
mode=private
unshare --mount --propagation private true 2>/dev/null || mode=unchanged
exec unshare --mount --propagation $mode sh -c '
        mount -t proc proc "$0/proc" || exit
        chroot "$0" "$@"
        status=$?
        umount "$0/proc"
        exit $status' "$0" "$@"
"""


def make_root(name, suite, packages, hooks=()):
    """The folder of a root with these packages, made when missing."""
    key = digest(suite, *sorted(packages), *hooks)
    place = cache_dir("roots") / f"{name}-{suite}-{key}"
    if place.is_dir():
        return place
    if os.geteuid():
        raise VmError(f"making the root {place.name} needs root privilege")
    with locked(f"root-{name}-{suite}"):
        if place.is_dir():
            return place
        tool = need_program("mmdebstrap", "mmdebstrap")
        line, options = Suite(suite).source()
        say(f"root {place.name}: mmdebstrap with {', '.join(packages)}")
        argv = [tool, "--variant=essential", "--mode=root",
                "--architectures=amd64", f"--include={','.join(packages)}",
                *[f"--aptopt={opt}" for opt in options],
                '--aptopt=APT::Install-Recommends "false";',
                # A root that was not finished is thrown away.
                "--dpkgopt=force-unsafe-io",
                "--dpkgopt=path-exclude=/usr/share/man/*",
                "--dpkgopt=path-exclude=/usr/share/locale/*",
                "--dpkgopt=path-exclude=/usr/share/doc/*",
                *[f"--customize-hook={hook}" for hook in hooks]]
        with new_entry(place) as temp, \
                tempfile.TemporaryDirectory(prefix=".tmp-",
                                            dir=place.parent) as work:
            run([*argv, suite, temp, line], f"making the root {place.name}",
                env=child_env(TMPDIR=work))
        _drop_older(place, name, suite)
    return place


def _drop_older(place, name, suite):
    """Roots with an earlier package list are never used again."""
    for old in place.parent.glob(f"{name}-{suite}-*"):
        if old != place:
            remove_tree(old)


def first_suite(suites, package, wanted=lambda version: True):
    """The first of some suites whose version of a package is good enough."""
    seen = []
    for name in suites:
        version = Suite(name).field(package, "Version")
        if version and wanted(version):
            return name
        seen.append(f"{name}: {version or 'none'}")
    raise VmError(f"no suite has a fitting {package} ({'; '.join(seen)})")
