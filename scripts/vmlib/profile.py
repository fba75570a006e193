# SPDX-License-Identifier: GPL-2.0-or-later
"""Profiles of the twin: what QEMU itself must be told of the machine.

The twin reads the same file for the rest: registers and CPUID leaves.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from .util import TREE, VmError

FOLDER = TREE / "tests/twin/profiles"

VENDORS = {
    "GenuineIntel": "Skylake-Server-v1",
    "AuthenticAMD": "EPYC-v1",
}
# Features of those models which the emulator lacks; each would be a warning.
LACKS = {
    "GenuineIntel": "-pcid,-tsc-deadline,-hle,-rtm,-invpcid,-mpx,-avx512f,"
                    "-avx512dq,-avx512cd,-avx512bw,-avx512vl,-spec-ctrl,"
                    "-xsavec",
    "AuthenticAMD": "-fxsr-opt,-misalignsse,-osvw,-topoext,-ibpb,-xsavec,"
                    "-perfctr-core,-monitor",
}
# Microcode that no erratum asks to be replaced.
UCODE = {"GenuineIntel": "0x500390100000000", "AuthenticAMD": "0xfffffff"}
EXTENDED = 0x80000000
LEAST_LEVEL = 0xd
# Leaf of the last word on topology in QEMU's own answers.
LEAST_EXTENDED = 0x8000001e

NUMBERS = ("family", "model", "stepping")
MACHINE = ("cpus", "sockets", "cores", "threads")
MOST_CPUS = 255  # as many as have a local APIC id of eight bits
TWIN_WORDS = ("core", "register", "missing", "cpuid")


@dataclass
class Profile:
    """What one file says."""

    path: Path
    name: str = ""
    vendor: str = ""
    family: int = None
    model: int = None
    stepping: int = 0
    hypervisor: bool = False
    machine: dict = None
    plugs: list = field(default_factory=list)
    leaves: list = field(default_factory=list)
    cores: list = field(default_factory=list)  # (where, ids of its CPUs)

    @property
    def cpu(self):
        """QEMU's -cpu value."""
        basic = max([n for n in self.leaves if n < EXTENDED] + [LEAST_LEVEL])
        extended = max([n for n in self.leaves if n >= EXTENDED]
                       + [LEAST_EXTENDED])
        sign = "+" if self.hypervisor else "-"
        return (f"{VENDORS[self.vendor]},vendor={self.vendor},"
                f"family={self.family},model={self.model},"
                f"stepping={self.stepping},level={basic:#x},"
                f"xlevel={extended:#x},{sign}hypervisor,-x2apic,"
                f"ucode-rev={UCODE[self.vendor]},{LACKS[self.vendor]}")

    @property
    def cpus(self):
        """How many CPUs the guest has."""
        return self.machine["cpus"] + len(self.plugs)

    @property
    def places(self):
        """How many CPUs there is place for."""
        m = self.machine
        return m["sockets"] * m["cores"] * m["threads"]

    def ids(self):
        """Local APIC ids of the CPUs."""
        m = self.machine
        thread_bits = (m["threads"] - 1).bit_length()
        core_bits = (m["cores"] - 1).bit_length() + thread_bits
        all_ids = [socket << core_bits | core << thread_bits | thread
                   for socket in range(m["sockets"])
                   for core in range(m["cores"])
                   for thread in range(m["threads"])]
        return all_ids[:m["cpus"]] + [core << thread_bits
                                      for core in self.plugs]

    def arguments(self):
        """QEMU's arguments for the processors."""
        m = self.machine
        smp = f"{m['cpus']},sockets={m['sockets']},cores={m['cores']}," \
              f"threads={m['threads']}"
        argv = ["-cpu", self.cpu, "-smp", f"{smp},maxcpus={self.places}"]
        for core in self.plugs:
            argv += ["-device", f"{VENDORS[self.vendor]}-x86_64-cpu,"
                                f"socket-id=0,core-id={core},thread-id=0"]
        return argv


def names():
    """Names of the profiles of this tree."""
    return sorted(path.stem for path in FOLDER.glob("*.profile"))


def find(text):
    """Path of a profile that is given by name or as a file."""
    if "," in text:
        raise VmError(f"--twin-profile: '{text}' has a comma, which QEMU "
                      "cannot pass on")
    place = FOLDER / f"{text}.profile"
    if "/" not in text and place.is_file():
        return place
    if Path(text).is_file():
        return Path(text).resolve()
    raise VmError(f"--twin-profile: '{text}' is neither a file nor one of: "
                  f"{', '.join(names())}")


def _number(where, text):
    try:
        return int(text, 0)
    except ValueError:
        raise VmError(f"{where}: '{text}' is not a number") from None


def _ids(where, text):
    """The numbers of a list such as 0-3,8; other lists fail in the twin."""
    ids = set()
    for part in text.split(","):
        ends = [_number(where, end) for end in part.split("-", 1)]
        if not all(0 <= end < MOST_CPUS for end in ends):
            raise VmError(f"{where}: '{part}': CPUs are below {MOST_CPUS}")
        ids.update(range(ends[0], ends[-1] + 1))
    return ids


def _pairs(where, words, allowed):
    pairs = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in allowed:
            raise VmError(f"{where}: '{word}' is not one of: "
                          f"{', '.join(f'{n}=' for n in allowed)}")
        pairs[name] = _number(where, value)
    if set(pairs) != set(allowed):
        raise VmError(f"{where}: needs {', '.join(f'{n}=' for n in allowed)}")
    return pairs


def _line(profile, where, word, rest):
    words = rest.split()
    if word == "name":
        profile.name = rest
    elif word == "vendor":
        if rest not in VENDORS:
            raise VmError(f"{where}: vendor '{rest}' is not one of: "
                          f"{', '.join(VENDORS)}")
        profile.vendor = rest
    elif word in NUMBERS:
        setattr(profile, word, _number(where, rest))
    elif word == "hypervisor":
        if rest not in ("yes", "no"):
            raise VmError(f"{where}: hypervisor is yes or no, not '{rest}'")
        profile.hypervisor = rest == "yes"
    elif word == "machine":
        profile.machine = _pairs(where, words, MACHINE)
    elif word == "plug":
        profile.plugs.append(_pairs(where, words, ("core",))["core"])
    elif word == "core" and words:
        profile.cores.append((where, _ids(where, words[0])))
    elif word == "cpuid" and words:
        profile.leaves.append(_number(where, words[0].partition(".")[0]))
    elif word not in TWIN_WORDS:
        raise VmError(f"{where}: unknown word '{word}'")


def _check_machine(profile):
    """All CPUs have a place, and the cores are made of those that exist."""
    for name in MACHINE:
        if not 1 <= profile.machine[name] <= MOST_CPUS:
            raise VmError(f"{profile.path}: machine: {name}= is from 1 to "
                          f"{MOST_CPUS}")
    if profile.places > MOST_CPUS + 1:
        raise VmError(f"{profile.path}: machine: place for {profile.places} "
                      f"CPUs, which is more than {MOST_CPUS + 1}")
    for core in profile.plugs:
        if not 0 <= core < profile.machine["cores"]:
            raise VmError(f"{profile.path}: plug core={core}: with the line "
                          f"'machine' cores are below "
                          f"{profile.machine['cores']}")
    ids = set(profile.ids())
    if len(ids) < len(profile.ids()):
        raise VmError(f"{profile.path}: plug: a core has a CPU already")
    if profile.cpus > profile.places:
        raise VmError(f"{profile.path}: machine: {profile.cpus} CPUs, but "
                      f"sockets, cores and threads are {profile.places}")
    listed = ", ".join(str(n) for n in sorted(ids))
    for where, core in profile.cores:
        if core - ids:
            raise VmError(f"{where}: core names CPU {min(core - ids)}; with "
                          f"the lines 'machine' and 'plug' they are {listed}")
    idle = ids.difference(*(core for _, core in profile.cores))
    if idle:
        raise VmError(f"{profile.path}: CPU {min(idle)} is in no core, with "
                      "the lines 'machine' and 'plug' the CPUs are "
                      f"{listed}")


def read(text):
    """The profile with that name or in that file; VmError if it is wrong."""
    path = find(text)
    profile = Profile(path)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as err:
        raise VmError(f"{path}: {err.strerror}") from err
    except UnicodeDecodeError as err:
        raise VmError(f"{path}: not a profile: no text in UTF-8") from err
    for number, line in enumerate(lines, 1):
        line = line.partition("#")[0].strip(" \t")
        # No message shall carry such a line to a terminal.
        if not line.replace("\t", " ").isprintable():
            raise VmError(f"{path}:{number}: characters that cannot be printed")
        if line:
            word, *rest = re.split(r"\s+", line, maxsplit=1)
            _line(profile, f"{path}:{number}", word, rest[0] if rest else "")
    for need in ("vendor", "family", "model", "machine"):
        if getattr(profile, need) in ("", None):
            raise VmError(f"{path}: no line '{need}'")
    _check_machine(profile)
    return profile
