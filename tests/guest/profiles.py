# SPDX-License-Identifier: GPL-2.0-or-later
"""What the module must make of each profile of the twin.

Written from vendor documents, not from the module's table of CPUs.
"""

from dataclasses import dataclass, field

IDS = ("l2_stream", "l2_adjacent", "l1_stream", "l1_ip", "l1_next_page",
       "amp", "llc_page", "aop", "code_stream", "l2_next_line", "llc_stream",
       "l1_stride", "l1_region", "l2_updown")

# Register and bit of each prefetcher.
CLASSIC = {"l2_stream": (0x1a4, 0), "l2_adjacent": (0x1a4, 1),
           "l1_stream": (0x1a4, 2), "l1_ip": (0x1a4, 3)}
P_CORE = {**CLASSIC, "amp": (0x1a4, 5)}
GRACEMONT = {"l2_stream": (0x1a4, 0), "l1_stream": (0x1a4, 2),
             "l1_ip": (0x1a4, 3), "amp": (0x1a4, 5),
             "l2_next_line": (0x1321, 40)}
DARKMONT = {**CLASSIC, "l1_next_page": (0x1a4, 4), "amp": (0x1a4, 5),
            "llc_page": (0x1a4, 6), "aop": (0x1a4, 7),
            "code_stream": (0x1a4, 8), "l2_next_line": (0x1321, 40),
            "llc_stream": (0x1320, 43)}
GOLDMONT = {"l2_stream": (0x1a4, 0), "l1_stream": (0x1a4, 2)}
KNIGHTS = {"l1_stream": (0x1a4, 0), "l2_stream": (0x1a4, 1)}
AMD = {"l1_stream": (0xc0000108, 0), "l1_stride": (0xc0000108, 1),
       "l1_region": (0xc0000108, 2), "l2_stream": (0xc0000108, 3),
       "l2_updown": (0xc0000108, 5)}

# Where the judge knows the kind of core, its name for it.
JUDGED_KINDS = ((CLASSIC, "classic"), (P_CORE, "p-core"),
                (GRACEMONT, "gracemont"), (GOLDMONT, "goldmont"),
                (KNIGHTS, "knights"), (AMD, "amd"))
# Machines on which the judge has the last word.
JUDGED = ("xeon-2-sockets", "hybrid", "goldmont", "knights", "zen4", "zen5",
          "firmware-one-core")
TOUR = "tour"

NOTHING = "no core of this machine has a prefetcher register that can be used"


@dataclass(frozen=True)
class Core:
    """One core: the guest's CPUs, and what is switched where."""

    cpus: tuple
    has: dict
    firmware: dict = field(default_factory=dict)  # register: value, if not 0
    kind: str = "uniform"
    steer: int = 0       # set in 0x1a4 while anything is switched
    # What is wrong with 0x1a4: kind, bits, and the prefetchers they are of.
    fault: tuple = ()

    @property
    def works(self):
        """The module can use it."""
        return not self.fault

    @property
    def registers(self):
        """The registers that the module may touch."""
        return sorted({msr for msr, _ in self.has.values()})

    def values(self, names):
        """What each register must hold with these switched off."""
        values = {msr: self.firmware.get(msr, 0) for msr in self.registers}
        before = dict(values)
        for name in names:
            if name in self.has:
                msr, bit = self.has[name]
                values[msr] |= 1 << bit
        if values != before:
            values[0x1a4] = values.get(0x1a4, 0) | self.steer
            if 0x1a4 not in self.registers:
                del values[0x1a4]
        return values

    def bits(self, msr):
        """All bits of a register that may ever change."""
        bits = sum(1 << bit for reg, bit in self.has.values() if reg == msr)
        return bits | (self.steer if msr == 0x1a4 else 0)

    def off_by_firmware(self):
        """Names that are off with the firmware's values."""
        return {name for name, (msr, bit) in self.has.items()
                if self.firmware.get(msr, 0) >> bit & 1}


@dataclass(frozen=True)
class Machine:
    """A profile: what must be seen, or why the module must refuse."""

    cores: tuple = ()
    lines: tuple = ()     # of the module, in the kernel's log
    refuses: bool = False
    args: str = ""        # the module's
    # Registers that must never be written, whatever is asked for.
    untouched: tuple = ()

    def names(self):
        """Prefetchers that some working core has, in order of their ids."""
        return [n for n in IDS
                if any(n in core.has for core in self.cores if core.works)]

    def partial(self):
        """Those that not all cores have."""
        return [n for n in self.names()
                if not all(n in core.has and core.works
                           for core in self.cores)]


def _pairs(*firmware, has, **more):
    """Cores of two CPUs each, one for each firmware value."""
    msr = next(iter(has.values()))[0]
    return tuple(Core((2 * i, 2 * i + 1), has, {msr: value} if value else {},
                      **more) for i, value in enumerate(firmware))


BAD_0 = "core 0 (CPU 0), register 0x1a4: "
BAD_1 = "core 1 (CPU 2), register 0x1a4: "
BAD_2 = "core 2 (CPU 4), register 0x1a4: "

MACHINES = {
    "xeon-2-sockets": Machine(_pairs(0x40, 0x40, 0x40, 0x40, has=CLASSIC)),
    "hybrid": Machine(
        (Core((0, 1), P_CORE, {0x1a4: 0x800}, "performance"),
         Core((2, 3), P_CORE, {0x1a4: 0x800}, "performance"),
         Core((4, 5, 6, 7), GRACEMONT, {0x1321: 0x100010}, "efficient")),
        untouched=(0x1320,)),
    "darkmont": Machine(
        tuple(Core((i, i + 1), DARKMONT, {0x1320: 5, 0x1321: 0x100000},
                   "efficient", steer=1 << 12) for i in (0, 2)),
        untouched=(0x1327,)),
    "goldmont": Machine(tuple(Core((i,), GOLDMONT) for i in range(4))),
    "knights": Machine(_pairs(0, 0, has=KNIGHTS)),
    "zen4": Machine(_pairs(0, 0, has=AMD), untouched=(0x1a4,)),
    "zen5": Machine(_pairs(0x3c0, 0x3c0, has=AMD), untouched=(0x1a4,)),
    "firmware-one-core": Machine(_pairs(0, 8, has=CLASSIC)),
    "changes": Machine(_pairs(0, 0, has=CLASSIC)),
    "stuck-bit": Machine(
        (Core((0, 1), CLASSIC, fault=("stuck", 2, "l2_adjacent")),
         Core((2, 3), CLASSIC)),
        (BAD_0 + "some bits of the register cannot be changed: 0x2 "
         "(l2_adjacent)",)),
    "dropped-bit": Machine(
        (Core((0, 1), CLASSIC),
         Core((2, 3), CLASSIC, fault=("stuck", 8, "l1_ip"))),
        (BAD_1 + "some bits of the register cannot be changed: 0x8 (l1_ip)",)),
    "one-core-faults": Machine(
        (Core((0, 1), CLASSIC), Core((2, 3), CLASSIC, fault=("absent", 0)),
         Core((4, 5), CLASSIC, fault=("write", 0))),
        (BAD_1 + "the register is not there: reading it faults",
         BAD_2 + "writing the register faults")),
    "write-faults": Machine(
        lines=(BAD_0 + "writing the register faults", NOTHING), refuses=True),
    "hypervisor": Machine(
        lines=(BAD_0 + "the hypervisor ignores writes to the register",
               NOTHING), refuses=True, args="trust_hypervisor=1"),
    "hypervisor-hidden": Machine(
        lines=(BAD_0 + "writes have no effect: firmware locked it, or a "
               "hidden hypervisor ignores them", NOTHING), refuses=True),
    "unknown-model": Machine(
        lines=("CPU 0: undocumented on this CPU (GenuineIntel family 0x6 "
               "model 0xfe, core type 0x0 id 0)", NOTHING),
        refuses=True, untouched=(0x1a4,)),
    "airmont": Machine(
        lines=("CPU 0: left alone on purpose (GenuineIntel family 0x6 "
               "model 0x4c, core type 0x0 id 0): there are reports that "
               "writing the register faults", NOTHING),
        refuses=True, untouched=(0x1a4,)),
    "no-l2": Machine(
        lines=(*(f"CPU {cpu}: does not say which CPUs share its L2 cache, and "
                 "so its registers; left alone" for cpu in range(4)), NOTHING),
        refuses=True, untouched=(0x1a4, 0x1320, 0x1321)),
    "zen2": Machine(
        lines=("CPU 0: undocumented on this CPU (AuthenticAMD family 0x17 "
               "model 0x31, core type 0x0 id 0)", NOTHING),
        refuses=True, untouched=(0x1a4, 0xc0000108)),
}

INFO = "prefetchctl --json info"
CORES = "prefetchctl --json cores --verify"
REPAIR = "prefetchctl --json repair"
IN_FORCE = "prefetchctl set default all=off"
REPORT = "prefetchctl info --report"
WHY = "prefetchctl info"
NOBODY = f"su -s /bin/sh nobody -c '{REPORT}'"
UNLOAD = "rmmod prefetch"
RESTRICT = "sh -c 'echo 1 > /proc/sys/kernel/dmesg_restrict'"
# Marks in the twin's log: one before and after each step.
STEP = 0x1000
STEPS_END = 0x2000


def load(machine):
    """The command that loads the module."""
    return f"insmod /lib/modules/prefetch.ko {machine.args}".strip()


def steps(machine):
    """(number, names that are off, command that does it, commands in all).

    With the machine default each prefetcher alone, all of them, and none; each
    core's first CPU then runs a command with all of them off.
    """
    sets = [[name] for name in machine.names()] + [machine.names()]
    for number, names in enumerate(sets):
        words = " ".join(f"{name}=off" for name in names)
        yield number, names, f"prefetchctl set default {words}"


def look(number):
    """What the cores hold, asked at a step: a command of its own."""
    return f"env STEP={number} {CORES}"


def visit(core):
    """A command with all prefetchers off on the core's last CPU."""
    return f"taskset -c {core.cpus[-1]} prefetchctl run all=off -- " \
           f"env CPU={core.cpus[-1]} {CORES}"


def mask(names):
    """The mask of these prefetchers."""
    return sum(1 << IDS.index(name) for name in names)


def judged(machine):
    """The command that records two tasks on their tour of all CPUs."""
    kinds = [next(kind for has, kind in JUDGED_KINDS if has == core.has)
             for core in machine.cores]
    layouts = " ".join(f"{core.cpus[0]}-{core.cpus[-1]}={kind}"
                       for core, kind in zip(machine.cores, kinds))
    last = " ".join(str(mask(core.has)) for core in machine.cores)
    pairs = " ".join(f"{name}:{mask([name]):#x}" for name in machine.names())
    everything = f"{mask(machine.names()):#x}"
    # Linux 6.1 does not see the threads of an AMD that lacks topology
    # extensions, as the emulator's does.
    shared = " ".join(f"{core.cpus[0]}-{core.cpus[-1]}"
                      for core in machine.cores if core.has == AMD)
    return f"env 'PREFETCH_RECORD_LAYOUTS={layouts}' " \
           f"'PREFETCH_RECORD_SHARED={shared}' " \
           f"JUDGED_OFF={everything} 'JUDGED_LAST={last}' " \
           f"judged /share/{TOUR} {TOUR} {everything} {pairs}"


def commands(machine):
    """All that is run in the guest, in order."""
    made = [load(machine), REPORT, WHY]
    if machine.refuses:
        return tuple(made)
    made += [INFO, CORES]
    if machine is MACHINES["stuck-bit"]:
        made += [RESTRICT, NOBODY]
    if machine in [MACHINES[name] for name in JUDGED]:
        made.append(judged(machine))
    for number, _names, command in steps(machine):
        made += [f"twin-mark mark {STEP + number:#x}", command, look(number),
                 f"env STEP={number} prefetchctl clear default"]
    for i, core in enumerate(machine.cores):
        made += [f"twin-mark mark {STEPS_END + i:#x}", visit(core)]
    made += [f"twin-mark mark {STEPS_END + len(machine.cores):#x}", REPAIR,
             IN_FORCE, UNLOAD]
    return tuple(made)
