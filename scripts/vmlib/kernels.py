# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's kernels: which there are, their image, modules and headers."""

import json
import lzma
import re
import struct
import subprocess
import time
from pathlib import Path

from . import debug_kernel
from .cache import (cache_dir, digest, locked, new_entry, remove_tree,
                    write_file)
from .roots import make_root
from .suites import Suite, SuiteGone, unpack
from .util import VmError, need_program, run, say, warn

# Where a kernel of some version can be found, in the order of trying.
SUITES = ("bookworm", "trixie", "forky", "sid", "experimental")
# The module builds on no older one; see kernel/compat/Kbuild.features.
OLDEST = (6, 1)
# Words for kernels that move: the suites, and the oldest that will do.
MOVING = {
    "current": (("forky", "sid"), (7, 2)),
    "next": (("experimental", "sid"), (7, 3)),
}

# What makes any of these words mean the PREEMPT_RT kernel of that version.
RT = "-rt"

# Modules that the guest may need; what is built in or absent is passed over.
GUEST_MODULES = ("virtio_pci", "virtio_console", "virtio_blk", "virtio_rng",
                 "ext4", "9pnet_virtio", "9p", "msr", "cpuid")

HEADERS = re.compile(r"linux-headers-(\d+\.\d+\S*?)-amd64")


class KernelGone(VmError):
    """No suite on the mirror has this kernel any more."""


def version_key(release):
    """(7, 2, 12) and the rest, for comparing kernel releases."""
    return [int(word) for word in re.findall(r"\d+", release)]


def check_spec(spec):
    """Complain about a word that cannot name a kernel."""
    word = spec.removesuffix(RT)
    if word in MOVING or spec == "debug":
        return
    if not re.fullmatch(r"\d+\.\d+", word):
        raise VmError(f"--kernel: '{spec}' is not a kernel: give 'current', "
                      "'next', a version such as 6.1, one of these with "
                      f"{RT} at its end, or 'debug'")
    if version_key(word) < list(OLDEST):
        raise VmError(f"--kernel: {spec} is older than "
                      f"{'.'.join(map(str, OLDEST))}, which the module needs")


def _releases(suite, flavour):
    """Releases of one flavour ("", or "-rt") in a suite, the newest last."""
    names = suite.names(HEADERS.pattern)
    found = [HEADERS.fullmatch(n)[1] + "-amd64" for n in names]
    flavours = {r: "".join(re.findall(r"-(?:rt|cloud)(?=-)", r))
                for r in found}
    return sorted((r for r in found if flavours[r] == flavour),
                  key=version_key)


def resolve(spec, update=False):
    """What a --kernel word stands for now: a dictionary, kept in the cache."""
    check_spec(spec)
    file = cache_dir("kernels") / f"{spec}.json"
    if file.exists() and not update:
        return json.loads(file.read_text(encoding="utf-8"))
    word = spec.removesuffix(RT)
    flavour = spec.removeprefix(word)
    suites, wanted = MOVING.get(word, (SUITES, version_key(word)))
    best = None
    for name in suites:
        try:
            releases = _releases(Suite(name), flavour)
        except SuiteGone:
            say(f"this mirror has no suite {name}")
            continue
        if word not in MOVING:
            releases = [r for r in releases if version_key(r)[:2] == wanted]
        if not releases:
            continue
        if not best or version_key(releases[-1]) > version_key(best[1]):
            best = (name, releases[-1])
        if version_key(best[1])[:2] >= list(wanted):
            break
    if not best:
        raise KernelGone(f"no kernel {spec} for amd64 on this mirror (looked "
                         f"in {', '.join(suites)})")
    suite, release = best
    if version_key(release)[:2] < list(wanted):
        warn(f"no kernel {wanted[0]}.{wanted[1]} or newer in "
             f"{', '.join(suites)}: taking {release} of {suite}")
    headers = f"linux-headers-{release}"
    depends = Suite(suite).field(headers, "Depends")
    gcc = re.search(r"gcc-(\d+)", depends)
    if not gcc:
        raise VmError(f"{headers} of {suite} names no compiler: {depends}")
    info = {"release": release, "suite": suite, "gcc": f"gcc-{gcc[1]}",
            "version": Suite(suite).field(headers, "Version"),
            "headers": [headers, *re.findall(
                r"linux-(?:headers-[^\s,]*common(?:-rt)?|kbuild-[^\s,]*)",
                depends)]}
    write_file(file, json.dumps(info, indent=1) + "\n")
    return info


def _image_packages(info):
    """Packages that hold the image and the modules, by the suite's layout."""
    suite = Suite(info["suite"])
    image = f"linux-image-{info['release']}"
    depends = suite.field(image, "Depends")
    split = re.findall(r"linux-(?:binary|modules)-[^\s,]+", depends)
    return split or [image]


def extract_vmlinux(image):
    """The kernel inside a bzImage.

    Unpacking it here saves seconds at each boot: the emulated CPU would do it
    several times slower.  QEMU starts the result through its PVH entry.
    """
    sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (sectors + 1) * 512 + offset
    # The last four bytes are the unpacked size, not part of the stream.
    payload = image[start:start + length]
    if payload[:6] == b"\xfd7zXZ\0":
        kernel = lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(payload)
    elif payload[:4] == b"\x28\xb5\x2f\xfd":
        kernel = _zstd(payload[:-4])
    else:
        return b""
    return kernel if kernel[:4] == b"\x7fELF" else b""


def _zstd(payload):
    tool = need_program("zstd", "zstd")
    done = subprocess.run([tool, "-dcq"], input=payload, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout


def _read_module(file):
    data = file.read_bytes()
    if file.suffix == ".xz":
        return lzma.decompress(data)
    if file.suffix == ".zst":
        return _zstd(data)
    return data


def _pick_modules(tree, release, place):
    """Copy the guest's modules, unpacked, and write their loading order."""
    run([need_program("depmod", "kmod"), "-b", tree, release],
        f"depmod for {release}")
    base = tree / "lib/modules" / release
    depends = {}
    for line in (base / "modules.dep").read_text().splitlines():
        name, _, rest = line.partition(":")
        depends[name] = rest.split()
    by_name = {Path(n).name.split(".ko")[0].replace("-", "_"): n
               for n in depends}
    order = []

    def add(name):
        for other in reversed(depends[name]):
            add(other)
        if name not in order:
            order.append(name)

    for module in GUEST_MODULES:
        if module in by_name:
            add(by_name[module])
    # crc32c for ext4 is asked for by name at run time, not by a symbol.
    for module in ("crc32c_cryptoapi", "crc32c_generic"):
        if module in by_name:
            add(by_name[module])
    place.mkdir()
    lines = []
    for name in order:
        short = Path(name).name.split(".ko")[0] + ".ko"
        (place / short).write_bytes(_read_module(base / name))
        needs = [Path(d).name.split(".ko")[0] + ".ko" for d in depends[name]]
        lines.append(" ".join([short, *needs]))
    (place / "order").write_text("\n".join(lines) + "\n")


def kernel(spec, update=False):
    """A kernel ready to boot: its information and its folder in the cache."""
    if spec == "debug":
        try:
            return debug_kernel.kernel(update)
        except debug_kernel.SourceGone as error:
            raise KernelGone(str(error)) from error
    info = resolve(spec, update)
    key = digest(*GUEST_MODULES, info["version"])
    place = cache_dir("kernels") / f"{info['release']}-{key}"
    if not place.is_dir():
        with locked(f"kernel-{info['release']}"):
            if not place.is_dir():
                _fetch(info, place)
    return info, place


def _fetch(info, place):
    release = info["release"]
    packages = _image_packages(info)
    say(f"kernel {release} of Debian {info['suite']}: downloading")
    begin = time.monotonic()
    with new_entry(place) as temp, \
            Suite(info["suite"]).download(packages) as debs:
        say(f"kernel {release}: downloaded in "
            f"{time.monotonic() - begin:.0f} s, unpacking")
        tree = temp / "tree"
        # One layout for suites with modules in /lib and in /usr/lib.
        (tree / "usr/lib").mkdir(parents=True)
        (tree / "lib").symlink_to("usr/lib")
        for deb in debs:
            unpack(deb, tree)
        base = tree / "lib/modules" / release
        images = [tree / f"boot/vmlinuz-{release}", base / "vmlinuz"]
        images += sorted(tree.rglob("vmlinuz*"))
        image = next((i for i in images if i.is_file()), None)
        if image is None:
            raise VmError(f"no kernel image in {', '.join(packages)}")
        data = image.read_bytes()
        vmlinux = extract_vmlinux(data)
        (temp / "image").write_bytes(vmlinux or data)
        _pick_modules(tree, release, temp / "modules")
        remove_tree(tree)
        (temp / "info.json").write_text(json.dumps(info, indent=1) + "\n")


def tools_suite(info):
    """The suite of a kernel's compiler and checkers."""
    # experimental is not a whole distribution; it lies on top of sid.
    return "sid" if info["suite"] == "experimental" else info["suite"]


def build_root(info):
    """A root with the compiler and the headers of a kernel."""
    if info.get("debug"):
        return debug_kernel.build_root(info)
    suite = info["suite"]
    tools = tools_suite(info)
    # perl: for what W=1 runs besides the compiler.
    root = make_root("build", tools, [info["gcc"], "make", "libc6-dev",
                                      "libelf-dev", "pahole", "perl"])
    mark = root / f".headers-{info['release']}-{info['version']}"
    if not mark.exists():
        with locked(f"headers-{info['release']}"):
            if not mark.exists():
                say(f"headers of {info['release']}: downloading")
                with Suite(suite).download(info["headers"]) as debs:
                    for deb in debs:
                        unpack(deb, root)
                mark.touch()
    return root
