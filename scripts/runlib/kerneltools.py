#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's own checks: checkpatch, its netlink generator, sparse, W=1.

kerneltools.py fetch         fill the cache, print nothing
kerneltools.py source        print the folder of the kernel source parts
kerneltools.py kernel-doc    print the path of the kernel's kernel-doc
kerneltools.py build KERNEL  build the module with all warnings, under sparse
kerneltools.py window KERNEL see that the build stops on kernels out of the
                             window, with the headers of this one
"""

import contextlib
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vmlib import build, kernels  # noqa: E402
from vmlib.cache import cache_dir, digest, locked, new_entry  # noqa: E402
from vmlib.suites import Suite, unpack  # noqa: E402
from vmlib.util import TREE, VmError, run, say  # noqa: E402

# One generator and one set of style rules, whatever the host has.
SOURCE_SUITE, SOURCE_PACKAGE = "trixie", "linux-source-6.12"
SOURCE_PARTS = ("tools/net/ynl", "Documentation/netlink",
                "scripts/checkpatch.pl", "scripts/spelling.txt",
                "scripts/const_structs.checkpatch")

STATUS_GONE = 77


def source():
    """The parts of the kernel source that are tools for us."""
    place = cache_dir("tools") / \
        f"{SOURCE_PACKAGE}-{digest(SOURCE_SUITE, *SOURCE_PARTS)}"
    if place.is_dir():
        return place
    with locked("tools-source"):
        if place.is_dir():
            return place
        say(f"kernel tools: downloading {SOURCE_PACKAGE}")
        with new_entry(place) as temp, \
                Suite(SOURCE_SUITE).download([SOURCE_PACKAGE]) as debs:
            run(["bash", "-c", 'set -o pipefail; dpkg-deb --fsys-tarfile "$1" '
                 '| tar -xO "./usr/src/$2.tar.xz" '
                 '| tar -xJ -C "$3" --strip-components=1 --wildcards '
                 '"${@:4}"', "unpack", debs[0], SOURCE_PACKAGE, temp,
                 *[f"*/{part}" for part in SOURCE_PARTS]],
                f"unpacking {SOURCE_PACKAGE}")
    return place


def sparse(suite):
    """The sparse program of a suite; it needs nothing but the C library.

    That of the kernel's own suite, as newer headers need a newer one: from
    6.16 on they have __typeof_unqual__, which 0.6.4 does not know.
    """
    place = cache_dir("tools") / f"sparse-{suite}"
    program = place / "usr/bin/sparse"
    if program.exists():
        return program
    with locked(f"tools-sparse-{suite}"):
        if not program.exists():
            say(f"kernel tools: downloading sparse of {suite}")
            with new_entry(place) as temp, \
                    Suite(suite).download(["sparse"]) as debs:
                unpack(debs[0], temp)
    return program


def kernel_doc():
    """The script as the packages have it that the 6.1 module is built with."""
    info, _ = kernels.kernel("6.1")
    return next(kernels.build_root(info).glob(
        "usr/lib/linux-kbuild-*/scripts/kernel-doc"))


@contextlib.contextmanager
def _copy(spec):
    """The module's sources in a root for this kernel: a function for make."""
    info, _ = kernels.kernel(spec)
    root = kernels.build_root(info)
    work = Path(tempfile.mkdtemp(prefix="check-", dir=root / "tmp"))
    try:
        for name in ("kernel", "genl-family"):
            shutil.copytree(TREE / name, work / name, symlinks=True,
                            ignore=shutil.ignore_patterns(*build.PRODUCTS))
        inside = Path("/") / work.relative_to(root)
        shutil.copy(sparse(kernels.tools_suite(info)), work / "sparse")

        def make(*words):
            # The compiler's words are on stderr, which run() keeps to itself.
            return run(["sh", "-c", "exec 2>&1\n" + build.ENTER, root, "make",
                        "-C", inside / "kernel", f"-j{os.cpu_count()}",
                        f"KDIR=/usr/src/linux-headers-{info['release']}",
                        f"CHECK={inside / 'sparse'}", *words],
                       f"building prefetch.ko for {info['release']}")
        yield make
    finally:
        shutil.rmtree(work, ignore_errors=True)


def check_build(spec):
    """Build in the kernel's own root, in a copy; prints what make says."""
    with _copy(spec) as make:
        # Newer header packages lack the script that tries the checker out,
        # and make then goes on without it: KBUILD_CHECKSRC says it once more.
        said = make("W=1", "C=2", "KBUILD_CHECKSRC=2", "PF_UNTRIED=y")
    print(said)
    _all_checked(said)


# Kernel versions, further words for make, and the sentence it must stop with.
WINDOW = (
    ("6.0", "", "prefetch needs a kernel of version 6.1 or newer; "
     "this is 6.0.0"),
    ("5.10", "", "prefetch needs a kernel of version 6.1 or newer; "
     "this is 5.10.0"),
    ("5.10", "PF_UNTRIED=y", "prefetch needs a kernel of version 6.1 or "
     "newer; this is 5.10.0"),
    ("7.4", "", "prefetch was not tried on kernels after 7.3, and this is "
     "7.4.0: take a newer prefetch, or try it with make PF_UNTRIED=y"),
    ("8.0", "", "prefetch was not tried on kernels after 7.3, and this is "
     "8.0.0: take a newer prefetch, or try it with make PF_UNTRIED=y"),
    ("7.4", "PF_UNTRIED=y", ""),
    ("7.3", "", ""),
    ("6.1", "", ""),
)


def check_window(spec):
    """Headers that say they were of other versions: does the build stop?

    Nothing is compiled: with -n make shows how far it would go. Without its
    products it then misses some, after what counts here.
    """
    with _copy(spec) as make:
        for version, more, sentence in WINDOW:
            major, minor = version.split(".")
            words = [f"VERSION={major}", f"PATCHLEVEL={minor}",
                     f"KERNELVERSION={version}.0", "-n", *more.split()]
            try:
                said = make(*words)
            except VmError as error:
                said = str(error)
            said = " ".join(said.split())
            stops = re.findall(r"\*\*\* (prefetch .*?)\. Stop\.", said)
            links = "LD [M] " in said
            if stops != [sentence] * bool(sentence) or links == bool(sentence):
                raise VmError(f"headers of a kernel {version}, {more or '-'}: "
                              f"expected '{sentence or 'a build'}', "
                              f"make said: ... {said[-400:]}")
            print(f"{version} {more}: {sentence or 'builds'}")


def _all_checked(said):
    """Complain about a file that was compiled and not seen by sparse."""
    seen = {word: set(re.findall(rf"^\s+{word}(?: \[M\])?\s+(\S+)\.[co]$",
                                 said, re.M)) for word in ("CC", "CHECK")}
    ours = {Path(name).name for name in seen["CC"]}
    ours -= {"prefetch.mod", ".module-common"}
    left = ours - {Path(name).name for name in seen["CHECK"]}
    if left or not ours:
        raise VmError("sparse did not see "
                      f"{', '.join(sorted(left)) or 'any file'}")


def main(argv):
    """Returns the exit status."""
    try:
        if argv == ["fetch"]:
            source()
        elif argv == ["source"]:
            print(source())
        elif argv == ["kernel-doc"]:
            print(kernel_doc())
        elif len(argv) == 2 and argv[0] == "build":
            check_build(argv[1])
        elif len(argv) == 2 and argv[0] == "window":
            check_window(argv[1])
        else:
            print(f"usage: {__doc__}", file=sys.stderr)
            return 2
    except kernels.KernelGone as error:
        print(error, file=sys.stderr)
        return STATUS_GONE
    except VmError as error:
        print(f"kerneltools: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
