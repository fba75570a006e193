# SPDX-License-Identifier: GPL-2.0-or-later
"""Parts of scripts/vm that need no guest."""

import lzma
import stat
import struct

import pytest
from vmlib import kernels
from vmlib.console import Console
from vmlib.cpio import Cpio
from vmlib.suites import source_entries

ONE_LINE = """\
# deb http://old.example/debian bookworm main
deb http://m.example/debian bookworm main contrib # a remark
deb-src http://m.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://n.example/debian trixie main
"""

STANZAS = """\
Types: deb deb-src
URIs: http://m.example/debian
# a remark
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
Enabled: no
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://src.example/debian
Suites: bookworm
Components: main
"""


def test_one_line_sources():
    assert source_entries(ONE_LINE) == [
        ("", "http://m.example/debian", "bookworm", ["main", "contrib"]),
        ("/k.gpg", "http://n.example/debian", "trixie", ["main"])]


def test_stanza_sources():
    found = source_entries(STANZAS)
    assert [entry[2] for entry in found] == ["bookworm", "bookworm-updates"]
    assert {entry[1] for entry in found} == {"http://m.example/debian"}
    assert found[0][0].splitlines()[2:4] == [".", "abc"]


def read_cpio(data):
    """Entries of an archive: name -> (mode, contents)."""
    found = {}
    at = 0
    while True:
        assert data[at:at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * i:at + 14 + 8 * i], 16)
                  for i in range(13)]
        size, length = fields[6], fields[11]
        name = data[at + 110:at + 110 + length - 1].decode()
        at = (at + 110 + length + 3) // 4 * 4
        if name == "TRAILER!!!":
            return found
        found[name] = (fields[1], data[at:at + size])
        at = (at + size + 3) // 4 * 4


def test_cpio():
    box = Cpio()
    box.merged_usr()
    box.data("/bin/tool", b"12345", 0o755)
    box.data("etc/deep/file", "text")
    box.link("usr/bin/alias", "tool")
    box.data("etc/deep/file", "later")
    found = read_cpio(box.pack())
    assert found["usr/bin/tool"] == (stat.S_IFREG | 0o755, b"12345")
    assert found["etc/deep/file"][1] == b"later"
    assert found["usr/bin/alias"] == (stat.S_IFLNK | 0o777, b"tool")
    assert found["bin"][1] == b"usr/bin"
    names = list(found)
    assert names.index("etc") < names.index("etc/deep") \
        < names.index("etc/deep/file")


TROUBLES = [
    "WARNING: CPU: 1 PID: 10 at kernel/sched/core.c:1 x+0x1/0x2",
    "BUG: kernel NULL pointer dereference, address: 0",
    "Oops: int3: 0000 [#1] SMP NOPTI",
    "Kernel panic - not syncing: Fatal exception",
    "WARNING: possible circular locking dependency detected",
    "WARNING: suspicious RCU usage",
    "BUG: KASAN: slab-use-after-free in f+0x1/0x2",
    "kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "rcu: INFO: rcu_preempt self-detected stall on CPU",
    "watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [x:1]",
    "unchecked MSR access error: WRMSR to 0x1a4 at rIP: 0x1 (f+0x1/0x2)",
    "general protection fault, probably for non-canonical address 0x1",
    "INFO: task x:1 blocked for more than 120 seconds.",
    "clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as "
    "unstable because the skew is too large:",
]

HARMLESS = [
    "prefetch: loading out-of-tree module taints kernel.",
    "traps: x[10] general protection fault ip:1 sp:2 error:0 in x[1+2]",
    "Spectre V2 : Vulnerable",
    "rcu: Hierarchical SRCU implementation.",
    "acpi PNP0A03:00: fail to add MMCONFIG information",
    "Switched to clocksource tsc",
    "x[10]: segfault at 0 ip 1 sp 2 error 4 in x[1+2]",
]


@pytest.mark.parametrize("line", TROUBLES)
def test_trouble(line):
    console = Console()
    console.feed(b"[    1.0] fine\n[    2.0] " + line.encode() + b"\r\n")
    console.close()
    assert console.trouble == [1]
    assert line in console.report()


@pytest.mark.parametrize("line", HARMLESS)
def test_no_trouble(line):
    console = Console()
    console.feed(f"[    2.0] {line}\n".encode())
    console.close()
    assert console.trouble == []


def test_trouble_in_pieces():
    console = Console()
    for byte in b"x\n[ 1.0] Kernel pa\x1b[0mnic - not":
        console.feed(bytes([byte]))
    console.close()
    assert console.trouble == [1]


def test_allowed_trouble():
    text = "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:"
    console = Console(allowed=[text])
    console.feed(f"[ 1.0] {text}\n[ 2.0] WARNING: CPU: 0\n".encode())
    assert console.forgiven == 1
    assert console.trouble == [1]


def test_vmlinux_from_bzimage():
    kernel = b"\x7fELF" + b"kernel" * 1000
    payload = lzma.compress(kernel) + struct.pack("<I", len(kernel))
    image = bytearray(5 * 512)
    image[0x1F1] = 4
    struct.pack_into("<II", image, 0x248, 16, len(payload))
    image += b"\0" * 16 + payload
    assert kernels.extract_vmlinux(bytes(image)) == kernel
    image[-len(payload):-len(payload) + 6] = b"abcdef"
    assert kernels.extract_vmlinux(bytes(image)) == b""


def test_kernel_order():
    found = ["7.2.9+deb14-amd64", "7.2.12+deb14-amd64", "6.1.0-50-amd64"]
    assert sorted(found, key=kernels.version_key)[::-1][0] == found[1]
