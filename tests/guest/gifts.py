# SPDX-License-Identifier: GPL-2.0-or-later
"""What a guest gets in /share besides what its boot makes by itself."""

import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/runlib"))

import kerneltools  # noqa: E402


def strangers(share):
    """The kernel's own ynl, the schemas that it wants, and our spec."""
    source = kerneltools.source()
    shutil.copytree(source / "tools/net/ynl", share / "ynl")
    (share / "specs").mkdir()
    for schema in (source / "Documentation/netlink").glob("*.yaml"):
        shutil.copy(schema, share)
    shutil.copy(ROOT / "genl-family/prefetch.yaml", share / "specs")
    shutil.copy(ROOT / "tests/guest/strangers.py", share)
