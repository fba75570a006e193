# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes cpio archives (newc) for the kernel's initramfs, without staging.

The kernel unpacks several archives one after the other, and a later entry
replaces an earlier one, so a fixed part and a changing part are simply joined.
"""

import os
import stat
from pathlib import Path, PurePosixPath


class Cpio:
    """An archive in memory; parent folders are added by themselves."""

    # Debian's merged /usr: entries below these names go to the folder behind.
    MERGED = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib",
              "lib64": "usr/lib64"}

    def __init__(self):
        self._entries = {}

    def _place(self, name):
        parts = PurePosixPath(name.lstrip("/")).parts
        if len(parts) > 1 and parts[0] in self.MERGED:
            parts = (*PurePosixPath(self.MERGED[parts[0]]).parts, *parts[1:])
        for depth in range(1, len(parts)):
            self._entries.setdefault("/".join(parts[:depth]),
                                     (stat.S_IFDIR | 0o755, b"", 0))
        return "/".join(parts)

    def merged_usr(self):
        """The links /bin, /sbin, /lib and /lib64."""
        for name, target in self.MERGED.items():
            self.folder(target)
            self.link(name, target)

    def folder(self, name, mode=0o755):
        """A folder."""
        self._entries[self._place(name)] = (stat.S_IFDIR | mode, b"", 0)

    def link(self, name, target):
        """A symbolic link."""
        self._entries[self._place(name)] = (stat.S_IFLNK | 0o777,
                                            target.encode(), 0)

    def device(self, name, major, minor, mode=0o600):
        """A character device."""
        self._entries[self._place(name)] = (stat.S_IFCHR | mode, b"",
                                            os.makedev(major, minor))

    def data(self, name, data, mode=0o644):
        """A file with these contents."""
        if isinstance(data, str):
            data = data.encode()
        self._entries[self._place(name)] = (stat.S_IFREG | mode, data, 0)

    def file(self, name, source, mode=None):
        """A copy of a host file."""
        source = Path(source)
        if mode is None:
            mode = stat.S_IMODE(source.stat().st_mode)
        self.data(name, source.read_bytes(), mode)

    def names(self):
        """Names of all entries."""
        return list(self._entries)

    def pack(self):
        """The archive."""
        out = bytearray()
        inode = 0
        # A folder must come before what is in it: parents were added first
        # unless a folder was named later, and sorting settles that too.
        for name in sorted(self._entries):
            mode, data, device = self._entries[name]
            inode += 1
            self._add(out, name, inode, mode, data, device)
        self._add(out, "TRAILER!!!", 0, 0, b"", 0)
        return bytes(out)

    @staticmethod
    def _add(out, name, inode, mode, data, device):
        links = 2 if stat.S_ISDIR(mode) else 1
        fields = (inode, mode, 0, 0, links, 0, len(data), 0, 0,
                  os.major(device), os.minor(device), len(name) + 1, 0)
        out += b"070701" + b"".join(b"%08x" % f for f in fields)
        out += name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4)
        out += data
        out += b"\0" * (-len(out) % 4)
