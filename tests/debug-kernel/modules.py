# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds modules of the tests for the debug kernel, in its own root."""

import shutil
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "scripts"))

# pylint: disable=wrong-import-position
from vmlib import build, kernels, roots, util  # noqa: E402


def make(folders, where, name, to):
    """NAME.ko from folder `where`, one of `folders` of the tree or below.

    All warnings are on, and what the compiler says is kept beside it.
    """
    info, _ = kernels.kernel("debug")
    root = kernels.build_root(info)
    work = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=root / "tmp"))
    try:
        for folder in folders:
            shutil.copytree(TREE / folder, work / folder, symlinks=True,
                            ignore=shutil.ignore_patterns(*build.PRODUCTS))
        inside = "/" + str((work / where).relative_to(root))
        # The compiler's words are on stderr, which run() keeps to itself.
        said = util.run(["sh", "-c", "exec 2>&1\n" + roots.ENTER, root, "make",
                         "-C", f"/usr/src/linux-headers-{info['release']}",
                         f"M={inside}", "W=1", "modules"],
                        f"building {name}.ko")
        shutil.copy(work / where / f"{name}.ko", to)
        return said
    finally:
        shutil.rmtree(work)


def trouble(to):
    """The module that makes mistakes."""
    return make(["tests/debug-kernel/trouble"], "tests/debug-kernel/trouble",
                "trouble", to)


def kunit(to):
    """The KUnit tests of the module's logic."""
    return make(["kernel", "genl-family"], "kernel/kunit", "prefetch-test",
                to)
