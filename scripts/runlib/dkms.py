#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The README's installation with DKMS, and its removal, in a private root.

dkms.py fetch KERNEL    make the root of the Debian release with this kernel
dkms.py install KERNEL  install there from this checkout, look, remove, look

Packages and commands are taken from the README. The root itself is not
changed: it lies under an overlay in memory, which ends with its namespace.
"""

import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import child  # noqa: E402
import sources  # noqa: E402
from vmlib import kernels  # noqa: E402
from vmlib.roots import make_root  # noqa: E402
from vmlib.suites import SuiteGone  # noqa: E402
from vmlib.util import TREE, VmError, run  # noqa: E402

# The kernels of Debian 12 and 13.
KERNELS = ("6.1", "6.12")
STATUS_GONE = 77
LIMIT = 540

INSTALL, REMOVE = "Install it on a real machine", "Remove it"
MODULE = f"prefetch/{(TREE / 'kernel/VERSION').read_text().strip()}"

# Kernels before and after those in dkms.conf, and what dkms says of them.
OUT_OF_WINDOW = ("5.10.0-1-amd64", "6.0.0-1-amd64", "7.4.0-amd64")
REFUSAL = re.compile("a BUILD_EXCLUSIVE directive,? which does not match")

# Whatever dkms may try, nothing in the root can load a module.
CONFINED = ["setpriv", "--bounding-set=-sys_module,-sys_rawio,-sys_boot"]
ENVIRONMENT = {"PATH": child.PATH, "HOME": "/root", "LC_ALL": "C.UTF-8",
               "DEBIAN_FRONTEND": "noninteractive"}


def _expect(good, what):
    if not good:
        raise VmError(what)


def block(title):
    """The lines of the first block of commands in a section of the README."""
    text = (TREE / "README.md").read_text("utf-8").partition(f"# {title}\n")[2]
    found = re.search(r"(?:^    .*\n)+", text, re.M)
    _expect(found, f"the README has no commands under '{title}'")
    lines = found[0].replace("\\\n", " ").splitlines()
    return [" ".join(re.sub(r"\s#.*", "", line).split()) for line in lines]


def _root(spec):
    """A root with what the README has installed first, and its kernel."""
    info = kernels.resolve(spec)
    line = block(INSTALL)[0].replace("$(uname -r)", info["release"])
    _expect(line.startswith("apt-get install "), f"not apt-get: {line}")
    return make_root("dkms", info["suite"], line.split()[2:]), info["release"]


class Root:
    """A root with a checkout in it, under an overlay."""

    def __init__(self, lower, work, release):
        self.lower, self.work, self.release = lower, work, release
        self.top = work / "root"

    def __enter__(self):
        run(["mount", "-t", "tmpfs", "tmpfs", self.work], "mounting memory")
        for name in ("upper", "work", "root"):
            (self.work / name).mkdir()
        run(["mount", "-t", "overlay", "-o", f"lowerdir={self.lower},upperdir="
             f"{self.work}/upper,workdir={self.work}/work", "overlay",
             self.top], "mounting an overlay")
        run(["mount", "-t", "proc", "proc", self.top / "proc"], "proc")
        for name in sources.files():
            place = self.top / "root/prefetch" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TREE / name, place)
        return self

    def __exit__(self, *_):
        # Where the mounts could not be made private they must not stay.
        child.run(["umount", "-l", self.top / "proc", self.top, self.work])

    def command(self, line):
        """Run a line of shell in the checkout; what it says, both ways."""
        begin = time.monotonic()
        print("#", line, flush=True)
        said = run([*CONFINED, "chroot", self.top, "sh", "-c", "exec 2>&1; "
                    f"cd /root/prefetch && {line}"], line, env=ENVIRONMENT)
        print(f"{said}# {time.monotonic() - begin:.1f} s", flush=True)
        return said

    def modules(self, release):
        """What there is of ours for a kernel, below its folder."""
        base = self.top / "lib/modules" / release
        return [str(f.relative_to(base)) for f in base.rglob("prefetch.ko*")]

    def check_installed(self):
        """The module is there, of this kernel and this version."""
        said = self.command(f"dkms status {MODULE}")
        _expect(said.strip() == f"{MODULE}, {self.release}, x86_64: installed",
                f"dkms status does not say installed: {said}")
        found = " ".join(self.modules(self.release))
        _expect(re.fullmatch(r"updates/dkms/prefetch\.ko(\.xz)?", found),
                f"not one module in updates/dkms, but '{found}'")
        said = [self.command(f"modinfo -F {field} /lib/modules/"
                             f"{self.release}/{found}").split()[:1]
                for field in ("version", "vermagic")]
        _expect(said == [[MODULE.split("/")[1]], [self.release]],
                f"version and kernel that modinfo names are {said}")

    def check_window(self, release):
        """There seem to be headers, so that only dkms.conf can say no."""
        (self.top / "lib/modules" / release / "build").mkdir(parents=True)
        said = " ".join(self.command(
            f"dkms install {MODULE} -k {release}; echo status $?").split())
        _expect(REFUSAL.search(said) and not said.endswith(" status 0"),
                f"dkms does not refuse {release}: {said}")
        _expect(not self.modules(release), f"it is installed for {release}")

    def check_removed(self):
        """Nothing of it is left."""
        _expect(not self.command(f"dkms status {MODULE}").strip(),
                "dkms still knows it")
        left = [place for pattern in ("src/prefetch*", "local/**/*prefetch*")
                for place in self.top.glob(f"usr/{pattern}")]
        _expect(not left, f"left after removal: {left}")


def _inside(lower, work, release):
    """All steps, in a namespace of their own."""
    with Root(Path(lower), Path(work), release) as root:
        for line in block(INSTALL)[1:]:
            if line.startswith("meson setup"):
                # The programs are tested elsewhere: no time for optimizing.
                line = f"export CFLAGS='-O0 -g0'; {line}"
            if line.startswith("dkms install"):
                line += f" -k {release}"  # not for the running one
            if not line.startswith("modprobe"):
                root.command(line)
        root.check_installed()
        for other in OUT_OF_WINDOW:
            root.check_window(other)
        for line in block(REMOVE):
            if not line.startswith("modprobe"):
                root.command(line)
            if line.startswith("dkms remove"):
                _expect(not root.modules(release), "the module is left")
        root.check_removed()
    return 0


def _install(lower, release):
    """Returns the exit status of the steps inside."""
    # As in vmlib.roots: not possible in a chroot whose / is no mount point.
    mode = "unchanged" if child.run(["unshare", "--mount", "--propagation",
                                     "private", "true"]) else "private"
    work = Path(tempfile.mkdtemp(prefix=".tmp-dkms-", dir=lower.parent))
    try:
        return child.run(
            ["unshare", "--mount", "--propagation", mode, "--pid", "--fork",
             "--kill-child", "/usr/bin/python3", "-B", __file__, "inside",
             lower, work, release], timeout=LIMIT)
    finally:
        child.stop_all()
        work.rmdir()


def main(argv):
    """Returns the exit status."""
    child.catch_signals()
    try:
        if len(argv) == 4 and argv[0] == "inside":
            return _inside(*argv[1:])
        if len(argv) != 2 or argv[0] not in ("fetch", "install"):
            sys.exit(f"usage: {__doc__}")
        root = _root(argv[1])
        return _install(*root) if argv[0] == "install" else 0
    except (kernels.KernelGone, SuiteGone) as error:
        print(error, file=sys.stderr)
        return STATUS_GONE
    except VmError as error:
        print(f"dkms: {error}", file=sys.stderr)
        return 1
    except child.Interrupted as signal:
        return signal.status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
