# SPDX-License-Identifier: GPL-2.0-or-later
"""A toy machine with a toy module, to make recordings of known quality.

It does everything at once and in the simplest way, so it has none of the
judge's trouble with order.  `bugs` makes the module wrong in one named way.
"""

import json

from prefetch_judge.layouts import LAYOUTS

CLONE_THREAD = 0x10000
BASE_PID = 100


class Task:
    """A thread of the toy machine."""

    def __init__(self, pid, group, kthread=False):
        self.pid = pid
        self.group = group      # a list shared by the threads: [tgid]
        self.kthread = kthread
        self.comm = f"task {pid}"
        self.cpu = None


class Machine:
    """CPUs 2d and 2d+1 are domain d.  Settings are (off, on, inherit)."""

    def __init__(self, cpus=4, baseline=0, bugs=(), layout="classic"):
        self.cpus = cpus
        self.layout_name = layout
        self.layout = LAYOUTS[layout]
        self.registers = sorted(self.layout.registers)
        # In the first register.
        self.baseline = baseline
        self.bugs = set(bugs)
        self.lines = ["# tracer: nop", "#"]
        self.stamp = 0
        self.twin = []
        self.events = []
        self.idle = Task(0, [0], True)
        self.idle.comm = "swapper/0"
        self.running = [self.idle] * cpus
        self.settings = {}
        self.default = (0, 0)
        self.wishes = [None] * cpus
        self.offline = set()
        self.held = [((0, 0), ())] * (cpus // 2)
        self.values = [dict(self.firmware()) for _ in range(cpus // 2)]
        self.tasks = []
        self.next_pid = BASE_PID
        self.request_id = 0
        self.time = 10 ** 9
        self.snapshot = []

    def firmware(self):
        """What firmware left in each register."""
        return dict.fromkeys(self.registers, 0) | {
            self.registers[0]: self.baseline}

    @property
    def register(self):
        """The first register of each domain."""
        return [values[self.registers[0]] for values in self.values]

    # ---- what the kernel and the witnesses write down ----

    def line(self, cpu, text, task=None):
        self.stamp += 1
        task = task or self.running[cpu]
        comm = task.comm if task.pid else "<idle>"
        self.lines.append(f"{comm:>16}-{task.pid:<7} [{cpu:03}] d..2. "
                          f"{self.stamp:12}: {text}")

    def mark(self, cpu, text):
        self.line(cpu, f"tracing_mark_write: {text}")

    def twin_mark(self, cpu, value):
        self.twin.append(f"mark value={value:#x} vcpu={cpu}")
        self.line(cpu, f"write_msr: 400000f9, value {value:x}")

    def start(self):
        self.snapshot = [f"{t.pid} {t.group[0]} {int(t.kthread)} S 0 {t.comm}"
                         for t in self.tasks]
        self.mark(0, "prefetch-record start")
        self.twin_mark(0, 0x100)

    def stop(self):
        for cpu in range(self.cpus):
            self.mark(cpu, "prefetch-record visit")
        self.mark(0, "prefetch-record stop")
        self.twin_mark(0, 0x101)

    def save(self, folder):
        """Writes the recording; returns the paths of log and events."""
        def put(name, lines):
            (folder / name).write_text("".join(f"{x}\n" for x in lines),
                                       encoding="utf-8")
            return folder / name
        put("trace", self.lines)
        put("tasks", self.snapshot)
        put("topology", [f"{c} {c // 2}" for c in range(self.cpus)])
        put("layout", [f"{d} {self.layout_name}"
                       for d in range(self.cpus // 2)])
        put("baseline", [f"{d} {msr:x} {value:016x}"
                         for d in range(self.cpus // 2)
                         for msr, value in self.firmware().items()])
        put("stats", ["start 0.50", "stop 9.00", "clock counter",
                      "overrun 0", "dropped 0", "entries 1"])
        log = put("twin.log", [
            f"# prefetch-twin 1 vcpus={self.cpus} threads=2 "
            f"baseline={self.baseline:#x}",
            "# a comment"] + [f"{i} {1000 + i} {text}"
                              for i, text in enumerate(self.twin)])
        return log, put("events", [json.dumps(e) for e in self.events])

    # ---- the toy module ----

    def write(self, cpu, mask):
        domain = cpu // 2
        old = self.layout.mask(self.values[domain])
        if old == mask:
            return
        for msr in self.registers:
            before = self.values[domain][msr]
            value = before & ~self.layout.bits(msr) | \
                self.layout.value(msr, mask)
            if before == value or (msr != self.registers[0]
                                   and "half" in self.bugs):
                continue
            self.values[domain][msr] = value
            self.line(cpu, f"write_msr: {msr:x}, value {value:x}")
            self.twin.append(f"write vcpu={cpu} core={domain} "
                             f"old={before:#x} new={value:#x} msr={msr:#x}")
        self.time += 1000
        self.events.append({
            "schema": 1, "kind": "core", "time": self.time, "domain": domain,
            "cpus": [domain * 2, domain * 2 + 1], "old": old,
            "new": mask, "cpu": cpu, "pid": 1, "tid": 1, "comm": "x",
            "seq": len(self.events), "folded": 1, "lost": 0})

    def default_mask(self):
        off, on = self.default
        return self.layout.mask(self.firmware()) & ~on | off

    def wish_of(self, task):
        mine = self.settings.get(("tid", task.pid))
        group = self.settings.get(("pid", task.group[0]))
        if not task.pid or task.kthread and not mine and not group:
            return None
        off, on = (group or (0, 0))[:2]
        if mine:
            named = mine[0] | mine[1]
            off, on = off & ~named | mine[0], on & ~named | mine[1]
        owners = (("tid", task.pid),) if mine else ()
        owners += (("pid", task.group[0]),) if group else ()
        return (off, on), owners

    def program(self, cpu):
        """Brings the domain's register up to date, on this CPU."""
        domain = cpu // 2
        if {domain * 2, domain * 2 + 1} <= self.offline:
            if "stays" not in self.bugs:
                self.write(cpu, self.layout.mask(self.firmware()))
            return
        wishes = [w for w in self.wishes[domain * 2:domain * 2 + 2] if w]
        if "no union" in self.bugs:
            wishes = [w for w in (self.wishes[cpu],) if w]
        if not wishes:
            wishes = [self.held[domain]]
            if "no hold" in self.bugs:
                wishes = [((0, 0), ())]
        default = self.default_mask()
        mask = 0
        for (off, on), _ in wishes:
            mask |= default & ~on | off
        self.write(cpu, mask & self.layout.supported)

    def refresh(self, cpu):
        domain = cpu // 2
        if cpu in self.offline and "counts on" not in self.bugs:
            return
        wish = self.wish_of(self.running[cpu])
        before = self.wishes[cpu]
        self.wishes[cpu] = wish
        if before and not any(self.wishes[domain * 2:domain * 2 + 2]):
            self.held[domain] = before
        self.program(cpu)

    def changed(self, *keys):
        """Settings with these keys have changed or gone."""
        for cpu, task in enumerate(self.running):
            if ("tid", task.pid) in keys or ("pid", task.group[0]) in keys:
                self.refresh(cpu)
        for domain, (_, owners) in enumerate(self.held):
            idle = not any(self.wishes[domain * 2:domain * 2 + 2])
            if (idle and any(key in keys for key in owners)
                    and "left over" not in self.bugs):
                self.held[domain] = ((0, 0), ())
                self.program(domain * 2 + 1)

    # ---- what happens on the machine ----

    def spawn(self, cpu=0, thread_of=None, parent=None):
        """A new task, made by the one that runs on the CPU."""
        parent = parent or self.running[cpu]
        pid = self.next_pid
        self.next_pid += 1
        task = Task(pid, thread_of.group if thread_of else [pid],
                    parent.pid == 2)
        flags = CLONE_THREAD if thread_of else 0x1200000
        self.line(cpu, f"task_newtask: pid={pid} comm={parent.comm} "
                       f"clone_flags={flags:x} oom_score_adj=0")
        self.line(cpu, f"sched_process_fork: comm={parent.comm} "
                       f"pid={parent.pid} child_comm={parent.comm} "
                       f"child_pid={pid}")
        self.tasks.append(task)
        setting = self.settings.get(("pid", parent.group[0]))
        if not thread_of and setting and (
                setting[2] or "inherits" in self.bugs):
            self.settings[("pid", pid)] = setting
        return task

    def switch(self, cpu, task=None, state="S"):
        task = task or self.idle
        old = self.running[cpu]
        self.line(cpu, f"sched_switch: prev_comm={old.comm} "
                       f"prev_pid={old.pid} prev_prio=120 prev_state={state}"
                       f" ==> next_comm={task.comm} next_pid={task.pid} "
                       "next_prio=120")
        old.cpu = None
        if task.pid:
            task.cpu = cpu
        self.running[cpu] = task
        self.refresh(cpu)
        if task is self.idle:
            self.line(cpu, f"cpu_idle: state=1 cpu_id={cpu}")

    def exit(self, cpu, switch=True):
        """The task that runs on the CPU dies."""
        task = self.running[cpu]
        self.line(cpu, f"sched_process_exit: comm={task.comm} "
                       f"pid={task.pid} prio=120")
        self.tasks.remove(task)
        keys = [("tid", task.pid)]
        if not any(t.group is task.group for t in self.tasks):
            keys.append(("pid", task.group[0]))
        if "outlives" not in self.bugs:
            for key in keys:
                self.settings.pop(key, None)
            self.changed(*keys)
        if switch:
            self.switch(cpu, None, "Z")

    def exec(self, cpu):
        """exec by the running thread, the last of its group."""
        task = self.running[cpu]
        old = task.pid
        task.pid = task.group[0]
        mine = self.settings.pop(("tid", old), None)
        if mine:
            self.settings[("tid", task.pid)] = mine
            self.wishes[cpu] = self.wish_of(task)
        self.line(cpu, f"sched_process_exec: filename=/bin/x pid={task.pid} "
                       f"old_pid={old}")

    def turn(self, by, cpu, online, after=lambda: None):
        """A CPU comes or goes, at the wish of the task on another.

        after: called when it counts no more, but still runs.
        """
        self.request_id += 1
        self.mark(by, f"prefetch-req begin {self.request_id} "
                      f"{'online' if online else 'offline'} cpu={cpu}")
        domain = cpu // 2
        if online:
            if {domain * 2, domain * 2 + 1} <= self.offline:
                self.rewrite(cpu)
            if "not back" not in self.bugs:
                self.offline.discard(cpu)
                self.refresh(cpu)
        else:
            self.offline.add(cpu)
            if "counts on" not in self.bugs:
                self.wishes[cpu] = None
            if {domain * 2, domain * 2 + 1} <= self.offline:
                self.held[domain] = ((0, 0), ())
            self.program(cpu)
            after()
            # The last switch, to idle, is not traced.
            self.running[cpu].cpu = None
            self.running[cpu] = self.idle
        self.mark(by, f"prefetch-req end {self.request_id} 0")

    def rewrite(self, cpu):
        """Nobody knows what the registers went through."""
        for msr, value in self.values[cpu // 2].items():
            if "elsewhere" in self.bugs:
                value ^= 1
            self.line(cpu, f"write_msr: {msr:x}, value {value:x}")
            self.twin.append(f"write vcpu={cpu} core={cpu // 2} "
                             f"old={value:#x} new={value:#x} msr={msr:#x}")

    def request(self, cpu, scope, number, off=0, on=0, clear=0, **more):
        """A request by the task that runs on the CPU.

        more: inherit; kind "clear" removes everything; errno: it fails;
        between: a function called before it takes effect.
        """
        self.request_id += 1
        ident = self.request_id
        kind = more.get("kind", "set")
        target = scope if scope == "default" else f"{scope}={number}"
        inherit = more.get("inherit", 0)
        self.mark(cpu, f"prefetch-req begin {ident} {kind} {target}"
                       f" off={off:#x} on={on:#x} clear={clear:#x} "
                       f"inherit={inherit}")
        more.get("between", lambda: None)()
        if not more.get("errno"):
            self._apply(cpu, scope, number, (off, on, clear, inherit), kind)
        more.get("after", lambda: None)()
        self.mark(cpu, f"prefetch-req end {ident} "
                       f"{more.get('errno', 0)}")

    def _apply(self, cpu, scope, number, masks, kind):
        off, on, clear, inherit = masks
        if kind == "clear":
            off, on, clear = 0, 0, ~0
        if scope == "default":
            old_off, old_on = self.default
            self.default = (old_off & ~(on | clear) | off,
                            old_on & ~(off | clear) | on)
            for domain in range(self.cpus // 2):
                self.program(domain * 2)
            return
        key = (scope, number)
        old = self.settings.get(key, (0, 0, 0))
        new = (old[0] & ~(on | clear) | off, old[1] & ~(off | clear) | on)
        if any(new):
            self.settings[key] = new + (inherit,)
        else:
            self.settings.pop(key, None)
        if new != old[:2] and "not told" not in self.bugs:
            self.changed(key)
