# SPDX-License-Identifier: GPL-2.0-or-later
"""What the guest boots from: initramfs and, with --debian, a disk image."""

import os
import re
import shlex
import subprocess
from pathlib import Path

from .cache import (cache_dir, digest, locked, new_entry, remove_tree,
                    write_file)
from .cpio import Cpio
from .roots import make_root
from .suites import host_release
from .util import VmError, child_env, need_program, run, say

HERE = Path(__file__).resolve().parent
SYSTEM_LIBS = ("/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/")
LIB_DIR = "/usr/lib/x86_64-linux-gnu"

# Terminal descriptions, for the full-screen view of the monitor.
TERMINALS = ("linux", "vt220", "xterm", "xterm-256color", "screen", "tmux",
             "tmux-256color", "screen-256color", "dumb")

# The guest root of --debian: what people try the module with.
DEBIAN_PACKAGES = (
    "bash", "coreutils", "iproute2", "kmod", "procps", "util-linux",
    "python3", "python3-yaml", "python3-jsonschema", "python3-pyroute2",
    "redis-server", "redis-tools", "bpftrace", "trace-cmd", "libncursesw6",
    "libnl-3-200", "libnl-genl-3-200", "libjansson4", "libsmartcols1", "libmnl0", "gawk",
    "less")


def busybox():
    """The static busybox and the names that it answers to."""
    tool = need_program("busybox", "busybox-static")
    if libraries(tool):
        raise VmError(f"{tool} is not static: install busybox-static")
    return tool, run([tool, "--list"], "busybox").split()


def base_archive(kernel_dir):
    """The part of the initramfs that goes with the kernel (cached)."""
    tool, applets = busybox()
    key = digest(Path(tool), HERE / "image.py", HERE / "cpio.py")
    place = cache_dir("images") / f"base-{kernel_dir.name}-{key}.cpio"
    if place.exists():
        return place
    box = Cpio()
    box.merged_usr()
    for name in ("dev", "proc", "sys", "run", "tmp", "root", "share", "etc",
                 ".root", "usr/local/bin", "var/tmp"):
        box.folder(name)
    box.device("dev/console", 5, 1)
    box.device("dev/null", 1, 3, 0o666)
    box.file(".vm/busybox", tool, 0o755)
    for applet in applets:
        box.link(f"usr/bin/{applet}", "/.vm/busybox")
    box.data("etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
             "user:x:1000:1000:user:/tmp:/bin/sh\n"
             "other:x:1001:1001:other:/tmp:/bin/sh\n"
             "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n")
    box.data("etc/group", "root:x:0:\nuser:x:1000:\nother:x:1001:\n"
             "nogroup:x:65534:\n")
    for name in TERMINALS:
        for folder in ("/lib/terminfo", "/usr/share/terminfo"):
            source = Path(folder, name[0], name)
            if source.is_file():
                box.file(f"usr/lib/terminfo/{name[0]}/{name}", source)
                break
    release = _release(kernel_dir)
    folder = f"usr/lib/modules/{release}"
    for module in sorted((kernel_dir / "modules").glob("*.ko")):
        box.file(f"{folder}/{module.name}", module, 0o644)
    write_file(place, box.pack())
    return place


def _release(kernel_dir):
    text = (kernel_dir / "info.json").read_text(encoding="utf-8")
    return re.search(r'"release": "([^"]+)"', text)[1]


def libraries(program):
    """Shared libraries of a host program: (path here, path in the guest)."""
    with open(program, "rb") as start:
        if start.read(4) != b"\x7fELF":
            return []
    done = subprocess.run(["ldd", str(program)], env=child_env(), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if "not a dynamic executable" in done.stdout or \
            "statically linked" in done.stdout:
        return []
    missing = re.findall(r"^\s*(\S+) => not found", done.stdout, re.M)
    if missing:
        raise VmError(f"{program} needs libraries that this host lacks: "
                      f"{', '.join(missing)}")
    found = []
    for path in re.findall(r"(/\S+) \(0x", done.stdout):
        name = path if path.startswith(SYSTEM_LIBS) else \
            f"{LIB_DIR}/{Path(path).name}"
        found.append((path, name))
    return found


class Overlay:
    """The changing part of the initramfs: our programs, module, command."""

    def __init__(self):
        self.box = Cpio()
        self.box.file(".vm/init", HERE / "guest-init", 0o755)
        self.box.link("init", "/.vm/init")
        self.box.file(".vm/checkers", HERE / "guest-checkers", 0o755)
        self._files = []
        # Busybox's own shell runs its applets before what is in PATH, and so
        # would hide a program that was asked for by --with.
        dash = need_program("dash", "dash")
        self.box.file("usr/bin/dash", dash, 0o755)
        self.box.link("usr/bin/sh", "dash")
        for path, place in libraries(dash):
            self.box.file(place, path, 0o755)

    def add_file(self, name, source, mode=None, keep=False):
        """A host file; keep: the Debian guest's own one goes first."""
        self.box.file(name, source, mode)
        self._files.append(("keep" if keep else "new", name))

    def add_program(self, source, name=None):
        """A program into /usr/bin, with its libraries."""
        source = Path(source)
        target = f"/usr/bin/{name or source.name}"
        self.add_file(target, source, 0o755)
        for path, place in libraries(source):
            self.add_file(place, path, 0o755,
                          keep=path.startswith(SYSTEM_LIBS))

    def add_modules(self, kernel_dir, prefetch, wanted):
        """Modules to load, modprobe's table, and our module if it is built."""
        release = _release(kernel_dir)
        folder = f"/usr/lib/modules/{release}"
        order = (kernel_dir / "modules/order").read_text(encoding="ascii")
        table = []
        load = set()
        for line in reversed(order.splitlines()):
            name, *needs = line.split()
            if name in load or name[:-3].replace("-", "_") in wanted:
                load.update([name, *needs])
            table.append(f"{name}: {' '.join(needs)}")
            self._files.append(("new", f"{folder}/{name}"))
        if prefetch:
            self.add_file("/usr/lib/modules/prefetch.ko", prefetch, 0o644)
            self.box.link(f"{folder}/prefetch.ko", "../prefetch.ko")
            self._files.append(("new", f"{folder}/prefetch.ko"))
            table.append("prefetch.ko:")
        self.box.data(".vm/modules", "".join(
            line.split()[0] + "\n" for line in order.splitlines()
            if line.split()[0] in load))
        self.box.data(f"{folder}/modules.dep", "\n".join(table) + "\n")
        self.box.data(f"{folder}/modules.order", "")
        self.box.data(f"{folder}/modules.builtin", "")
        for name in ("modules.dep", "modules.order", "modules.builtin"):
            self._files.append(("new", f"{folder}/{name}"))
        return folder

    def finish(self, env, command):
        """Add the settings and the command; returns the archive."""
        lines = [f"{key}={shlex.quote(str(value))}"
                 for key, value in env.items()]
        self.box.data(".vm/env", "\n".join(lines) + "\n")
        self.box.data(".vm/command", "exec " + shlex.join(command) + "\n"
                      if command else "")
        self.box.data(".vm/files", "".join(
            f"{keep} {name}\n" for keep, name in dict.fromkeys(self._files)))
        return self.box.pack()


def debian_image():
    """The ext4 image of the Debian guest, of the host's own release."""
    suite = host_release()
    hooks = (
        # The guest's own init starts what is wanted; nothing else runs.
        'rm -f "$1"/etc/resolv.conf "$1"/etc/machine-id',
        'chroot "$1" useradd -m -s /bin/bash user',
        'chroot "$1" useradd -m -s /bin/bash other',
        'echo twin > "$1"/etc/hostname',
        'mkdir -p "$1"/share "$1"/.vm',
    )
    key = digest(suite, *sorted(DEBIAN_PACKAGES), *hooks)
    place = cache_dir("images") / f"debian-{suite}-{key}"
    if (place / "root.ext4").exists():
        return place / "root.ext4"
    with locked(f"image-{suite}"):
        if (place / "root.ext4").exists():
            return place / "root.ext4"
        root = make_root("guest", suite, DEBIAN_PACKAGES, hooks)
        say(f"packing the Debian guest's root ({suite})")
        with new_entry(place) as temp:
            image = temp / "root.ext4"
            used = _folder_size(root)
            with open(image, "wb") as out:
                os.truncate(out.fileno(), used * 5 // 4 + (256 << 20))
            run([need_program("mke2fs", "e2fsprogs"), "-q", "-t", "ext4",
                 "-O", "^has_journal,^metadata_csum", "-m", "0", "-d", root,
                 image], "packing the Debian guest's root")
        # Only the image is used from here on.
        remove_tree(root)
    return place / "root.ext4"


def _folder_size(root):
    total = 0
    for folder, _, files in os.walk(root):
        total += 4096
        for name in files:
            size = os.lstat(os.path.join(folder, name)).st_size
            total += (size + 4095) // 4096 * 4096
    return total
