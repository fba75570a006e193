# SPDX-License-Identifier: GPL-2.0-or-later
"""Which programs run in which guest, and what each of them must have said.

A boot costs seconds, so programs share one. A check that is named here and
does not turn up in a guest's output has failed.
"""

from dataclasses import dataclass

import gifts
import profiles

# The one with PREEMPT_RT: there the locks sleep that are not raw.
RT = "6.12-rt"
KERNELS = ("6.1", "6.12", RT, "current", "next")
# The kernel with the kernel's own checkers: only when it is asked for.
DEBUG = "debug"
ALL_KERNELS = (*KERNELS, DEBUG)
# It is so many times slower: programs do the less, and get the more time.
SLOW = {DEBUG: 10}
FAULTS = ("drop", "flip", "misattribute")

# Register writes that a judged scenario must at least have had.
MIGRATE_MIN = 10_000
# In the scenario with a fault: less will do, and the fault lies within.
FAULT_MIN = 1_000
FAULT_AT = 500


@dataclass(frozen=True)
class Program:
    """A guest program: its arguments, its checks, and spans for the twin."""

    name: str
    checks: tuple = ()
    spans: tuple = ()
    args: tuple = ()
    judged: bool = False
    least: int = 1  # register writes, where it is judged
    twin: bool = False  # it says what must stand in the twin's log
    helpers: tuple = ()  # programs that it starts
    script: bool = False  # NAME.py in /share, instead of a compiled program

    @property
    def command(self):
        """Words of the command, without those that depend on the boot."""
        return (self.name, *self.args)


@dataclass(frozen=True)
class Boot:
    """A guest: its options for scripts/vm, and what runs in it."""

    name: str
    programs: tuple
    options: tuple = ()
    baseline: int = 0
    commands: tuple = ()  # command lines, instead of programs
    gifts: tuple = ()  # functions that put something into /share
    host_mb: int = 0  # free memory that the host must have for it
    alone: bool = False  # no other guest may take the host's CPUs meanwhile
    # No device of QEMU's may survive what happens in it, neither /share nor
    # those for the output: it comes by a serial line.
    unshared: bool = False
    kernels: tuple = ()  # only on these; else on all


# What needs the module. Each must say that it is absent, and end with 4.
NEED_MODULE = (
    "prefetchctl set pid=1 l2_stream=off",
    "prefetchctl set tid=1 l2_stream=off",
    "prefetchctl set self l2_stream=off",
    "prefetchctl set tree=1 l2_stream=off",
    "prefetchctl set default l2_stream=off",
    "prefetchctl get pid=1",
    "prefetchctl get self",
    "prefetchctl get default",
    "prefetchctl --json get pid=1",
    "prefetchctl clear pid=1",
    "prefetchctl clear all",
    "prefetchctl list",
    "prefetchctl --json list",
    "prefetchctl cores",
    "prefetchctl cores --verify",
    "prefetchctl repair",
    "prefetchctl info",
    "prefetchctl run l2_stream=off -- true",
    "prefetchctl exec l2_stream -- true",
    "prefetchctl disable l2_stream 1",
    "prefetchctl enable l2_stream 1",
    "prefetch-monitor",
    "prefetch-monitor --json",
    "prefetch-monitor --tshort",
    "prefetch-monitor --top --count 1",
    "prefetch-monitor --count 1",
)

# What nobody knows: a usage error, with the module and without it.
UNKNOWN = (
    "prefetchctl set pid=1 nonsense=off",
    "prefetchctl set pid=1 l2_stream=nonsense",
    "prefetchctl set nonsense=1 l2_stream=off",
    "prefetchctl get nonsense",
    "prefetchctl clear nonsense",
    "prefetchctl list nonsense",
    "prefetchctl cores --nonsense",
    "prefetchctl run nonsense=off -- true",
    "prefetchctl exec nonsense -- true",
    "prefetchctl disable nonsense 1",
    "prefetchctl enable nonsense 1",
    "prefetchctl nonsense",
    "prefetch-monitor --nonsense",
    "prefetch-monitor event=nonsense",
)

# What works in any case.
ALWAYS = (
    "prefetchctl version",
    "prefetchctl help",
    "prefetchctl help set",
    "prefetch-monitor --help",
    "prefetch-monitor --version",
)


IDLE = Program(
    "idle",
    ("idle_nothing_set", "idle_something_set", "idle_default_alone",
     "idle_toggle"),
    ("idle_since_load_0", "idle_since_load_1"))

MASKS = Program(
    "masks",
    ("masks_all_pairs", "masks_nine", "masks_nine_default",
     "masks_nine_default_on"),
    judged=True, least=200)

HOLD = Program(
    "hold",
    ("hold_alone", "hold_busy_sibling", "hold_clear", "hold_killed",
     "hold_changed", "hold_moved", "hold_of_thread", "hold_follows_default",
     "hold_set_asleep"),
    ("hold_alone",), judged=True, least=200)

LIVES = Program(
    "lives",
    ("exec_leader", "exec_thread", "exec_setuid", "fork_drops",
     "inherit_generations", "inherit_exec", "new_threads",
     "thread_over_process", "inherit_tid_refused"),
    judged=True, least=50)

EXITS = Program(
    "exits",
    ("exits_kill_100_threads", "exits_thread", "exits_leader", "exits_zombie"),
    args=("exits_kill_100_threads", "exits_thread", "exits_leader",
          "exits_zombie"),
    judged=True, least=30)

PIDS = Program("exits", ("exits_pid_reuse",), args=("exits_pid_reuse",))

RUNNING = Program("running", ("running_spinner", "running_eight_threads"),
                  judged=True, least=500)

RIGHTS = Program(
    "rights",
    ("rights_own", "rights_others", "rights_machine", "rights_listeners",
     "rights_sockets", "rights_refusals", "rights_unprivileged_off"))

MACHINES = Program(
    "machines", ("machines_whole", "machines_one_vcpu", "machines_pinned"))

PERMISSION = Program(
    "permission",
    ("permission_targets", "permission_targets_off", "permission_machine",
     "permission_container_list"))

LIMITS = Program(
    "limits",
    ("limits_user", "limits_exempt", "limits_inherit", "limits_exact",
     "limits_changes_of_user", "limits_taken_over", "limits_namespaces",
     "limits_parameters"))

EVENTS = Program("events", ("events_sum", "events_each", "events_settings"),
                 ("events_sum",))

LISTEN = Program("listen", ("listen_lost", "listen_settles", "listen_reload"))

LIVE = Program("pfnl-live", tuple(f"live_{part}" for part in (
    "machine", "settings", "refusals", "pidfd", "repair", "events", "overrun",
    "reload", "unprivileged")))

EXAMPLES = Program(
    "examples",
    ("examples_set_and_verify", "examples_follow_cores", "examples_agent"),
    helpers=("example-set-and-verify", "example-follow-cores",
             "example-agent"))

MANY = Program("many", ("many_threads",))

MIGRATE = Program("migrate", ("migrate_forced",), judged=True,
                  least=MIGRATE_MIN)

FAULTY = Program("migrate", ("migrate_forced",), args=("--rounds=300",),
                 judged=True, least=FAULT_MIN)

RACE = Program("race", ("race_all_at_once", "race_all_killed"))

# The same as above without a recording, for CPUs that run in parallel: what
# attaches the kernel's trace patches its text, and there the emulator may
# stumble.
EXITS_ALONE = Program("exits", EXITS.checks, args=EXITS.args)
HOLD_ALONE = Program("hold", HOLD.checks, HOLD.spans)

_HOTPLUG = ("hotplug_sibling", "hotplug_core", "hotplug_all_but_one")
HOTPLUG = Program("hotplug", _HOTPLUG, args=_HOTPLUG, twin=True, judged=True,
                  least=50)

_HOTPLUG = ("hotplug_away_at_load", "hotplug_stress")
HOTPLUG_RELOAD = Program("hotplug", _HOTPLUG, args=_HOTPLUG)

SUSPEND = Program(
    "suspend", ("suspend_to_ram", "suspend_to_idle", "suspend_unused"),
    ("suspend_unused_0", "suspend_unused_1"), twin=True)

TARGETS = Program(
    "targets",
    ("targets_stopped", "targets_traced", "targets_frozen", "targets_zombie",
     "targets_kernel_thread", "targets_first_process", "targets_realtime"),
    judged=True, least=20)

FOREIGN = Program(
    "foreign",
    ("foreign_running", "foreign_held", "foreign_unset", "foreign_unloaded",
     "inherit_dropped"))

REFUSED = Program("refused", ("refused_in_switch",))

RELOAD = Program("reload", ("reload_under_load",))

ROUNDS = ("fork", "thread", "exec", "exit")


def race(what, rounds=None):
    """Requests against one kind of event; 200,000 if not said."""
    return Program("rounds", (f"rounds_{what}",),
                   args=(*((f"--rounds={rounds}",) if rounds else ()),
                         f"rounds_{what}"), helpers=("again",))


WIRE_TABLE = Program("wire-table", ("wire_table", "wire_headers",
                                    "wire_lengths"))

WIRE_DUMPS = Program(
    "wire-dumps",
    ("dumps_whole", "dumps_tiny", "dumps_other_process",
     "dumps_into_namespace", "dumps_out_of_namespace", "dumps_changes",
     "dumps_closed", "dumps_unload"))

WIRE_RANDOM = Program(
    "wire-random", ("random_messages", "random_broken", "random_unload"))

MULTITUDE = Program("multitude", ("multitude",))

STRANGERS = Program(
    "strangers",
    ("ynl_looks", "ynl_sets", "ynl_default", "ynl_refused", "ynl_hears_core",
     "ynl_hears_setting", "genl_family", "genl_policy", "pyroute2_works"),
    script=True)

# Only where the kernel has fault injection.
FAULTS_IN_REQUESTS = Program(
    "faults",
    ("faults_set", "faults_set_thread", "faults_change", "faults_clear",
     "faults_get", "faults_list", "faults_list_pid", "faults_default",
     "faults_default_clear", "faults_info", "faults_prefetchers",
     "faults_core", "faults_cores", "faults_repair", "faults_subscribe"))

SHORTAGE = Program(
    "shortage",
    ("shortage_attach", "shortage_inherit", "shortage_events",
     "shortage_online", "shortage_unload", "shortage_load"))

UNLOAD = Program("unload", ("unload_restores",), args=("unload_restores",))

REBOOT = Program("unload", args=("reboot_in_force",))
KEXEC = Program("unload", args=("kexec_in_force",))

BOOTS = {boot.name: boot for boot in (
    Boot("plain", (IDLE, MASKS, HOLD, LIVES, EXITS, RUNNING, RIGHTS, LIMITS,
                   PERMISSION, MACHINES, EVENTS)),
    Boot("library", (LISTEN, LIVE, EXAMPLES)),
    Boot("migrate", (MIGRATE,)),
    Boot("many", (PIDS, MANY), ("--memory", "1536M")),
    Boot("parallel", (RACE, HOLD_ALONE, EXITS_ALONE), ("--smp-parallel",),
         alone=True),
    Boot("hotplug", (HOTPLUG, HOTPLUG_RELOAD), ("--cpus", "6")),
    Boot("suspend", (SUSPEND,), unshared=True),
    Boot("life", (TARGETS, FOREIGN, RELOAD)),
    Boot("refused", (REFUSED,), ("--twin-profile", "refuses-later")),
    # In full on one kernel, as that takes minutes.
    Boot("races", tuple(race(what, 40000) for what in ROUNDS),
         ("--smp-parallel",), alone=True),
    *(Boot(f"races-{what}", (race(what),), ("--smp-parallel",), alone=True,
           kernels=("current",)) for what in ROUNDS),
    # Under the checkers CPUs in parallel get in each other's way: fewer still.
    Boot("races-slow", tuple(race(what, 4000) for what in ROUNDS),
         ("--smp-parallel",), alone=True, kernels=(DEBUG,)),
    Boot("wire", (WIRE_TABLE, WIRE_DUMPS)),
    Boot("wire-random", (WIRE_RANDOM,)),
    Boot("multitude", (MULTITUDE,), ("--memory", "4G"), host_mb=6000,
         kernels=("6.1", "current")),
    Boot("strangers", (STRANGERS,), ("--debian",), gifts=(gifts.strangers,)),
    Boot("firmware", (MASKS, UNLOAD), baseline=0x5),
    Boot("reboot", (REBOOT,), ("--reboot-ok",), baseline=0x5),
    Boot("kexec", (KEXEC,), ("--reboot-ok",), baseline=0x5),
    Boot("faults", (FAULTS_IN_REQUESTS, SHORTAGE), kernels=(DEBUG,)),
    *(Boot(f"fault-{fault}", (FAULTY,),
           ("--twin-fault", f"{fault}@{FAULT_AT}")) for fault in FAULTS),
    Boot("absent", (), ("--no-module",),
         commands=NEED_MODULE + UNKNOWN + ALWAYS),
    Boot("present", (), commands=UNKNOWN + ALWAYS),
    # Eight CPUs on one thread of a busy host: RCU has to be patient.
    *(Boot(f"profile-{name}", (),
           ("--no-module", "--twin-profile", name,
            "--append", "rcupdate.rcu_cpu_stall_timeout=300"),
           commands=profiles.commands(machine))
      for name, machine in profiles.MACHINES.items()),
    # The kernel itself falls over the register, and says so with a trace.
    Boot("careless-kernel", (),
         ("--no-module", "--twin-profile", "careless-kernel",
          "--allow-console", "unchecked MSR access error",
          "--allow-console", "Call Trace:"), commands=("true",)),
)}

# On the debug kernel: what works the module hardest, and in a full run some
# more. The simulated machines show there what they show elsewhere.
DEBUG_BOOTS = ("plain", "migrate", "many", "parallel", "hotplug", "life",
               "wire", "firmware", "reboot")
DEBUG_FULL = ("absent", "present", "library", "suspend", "refused",
              "wire-random", "strangers", "kexec",
              *(f"fault-{fault}" for fault in FAULTS))


# With PREEMPT_RT: where locks, interrupts and life events are, which are other
# there. The rest is what it is on 6.12, and comes with a full run.
RT_BOOTS = ("plain", "library", "migrate", "parallel", "hotplug", "life",
            "refused", "races", "reboot")


def slowness(kernel):
    """How many times slower than others this kernel is."""
    return SLOW.get(kernel, 1)


def is_meant(kernel, name, full=False):
    """Whether a boot is done on this kernel."""
    only = BOOTS[name].kernels
    if only:
        return kernel in only
    if kernel == DEBUG:
        return name in DEBUG_BOOTS or (full and name in DEBUG_FULL)
    return full or kernel != RT or name in RT_BOOTS
