# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs a boot with its programs, and takes apart what they printed."""

import re
import shlex
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import boots
import twinlog

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
VM = ROOT / "scripts/vm"
PROGRAMS = BUILD / "tests/guest"
EXAMPLES = BUILD / "libprefetchnl/examples"
JUDGED = ROOT / "tests/guest/judged"
TOUR = ROOT / "tests/guest/tour"
ARTIFACTS = BUILD / "test-artifacts/guest"

TROUBLE = 70
GONE = 77
# For COMMAND in the guest, and for all of scripts/vm with its boot.
GUEST_LIMIT = 600
BOOT_LIMIT = 180
PROGRAM_LIMIT = 330
COMMAND_LIMIT = 20
# In a slow guest the programs do less, but not all of them can do as much
# less as it is slower.
SLOW_LIMIT = 6

LINE = re.compile(r"(ok|not ok|skip) (\w+)(?:: (.*))?$")
SPAN = re.compile(r"span (\w+) from=(\w+) to=(\w+) domain=(\d+) "
                  r"least=(\d+) most=(\d+)$")
TWIN = re.compile(r"twin at=(\w+) domain=(\d+) value=(\w+)$")
LOST = re.compile(r"lost from=(\w+) to=(\w+) domain=(\d+)$")


@dataclass
class Said:
    """What one program of a boot said."""

    status: int = None
    checks: dict = field(default_factory=dict)
    spans: dict = field(default_factory=dict)
    twin: list = field(default_factory=list)  # (mark, core, value)
    lost: list = field(default_factory=list)  # (mark, mark, core)
    lines: list = field(default_factory=list)


@dataclass
class Outcome:
    """What came out of a boot."""

    folder: Path
    status: int
    stderr: str
    seconds: float
    said: list
    twin: str
    console: list
    answers: dict = field(default_factory=dict)  # command: (status, out, err)

    def problem(self):
        """Why nothing in this boot counts, or ''."""
        if self.status == 0:
            return ""
        what = {TROUBLE: "kernel trouble", 124: "took too long"}.get(
            self.status, "scripts/vm failed")
        return f"{what} (status {self.status}):\n{self.stderr[-3000:]}"

    def records(self):
        """The twin's log as records."""
        return twinlog.parse(self.twin)


def recording(index, program):
    """Name of the folder that a judged program is recorded in."""
    return f"{index}-{program.name}"


def lacks_memory(boot):
    """Why this host is too small for a boot, or ''."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        free = next(int(line.split()[1]) // 1024 for line in lines
                    if line.startswith("MemAvailable:"))
    return f"needs {boot.host_mb} MB of free memory, there are {free}" \
        if free < boot.host_mb else ""


def limit(seconds, kernel):
    """A limit of time, with more of it on a slow kernel."""
    return seconds * min(boots.slowness(kernel), SLOW_LIMIT)


def guest_script(boot, kernel):
    """The shell script that runs the programs one after the other."""
    lines = ["set -u"]
    if boot.unshared:
        lines += ["umount /share", "stty -F /dev/ttyS1 raw",
                  "exec > /dev/ttyS1"]
    slow = boots.slowness(kernel)
    for i, command in enumerate(boot.commands):
        most = COMMAND_LIMIT
        if " judged " in command:
            most = limit(PROGRAM_LIMIT, kernel)
        lines += [f"timeout -s KILL {most} {command} > /share/{i}.out 2> "
                  f"/share/{i}.err < /dev/null",
                  f"echo $? > /share/{i}.status"]
    for i, program in enumerate(boot.programs):
        words = [program.name, f"--mark={0x10000 * (i + 1):#x}",
                 f"--baseline={boot.baseline:#x}"]
        if slow > 1:
            words.append(f"--slow={slow}")
        words += program.args
        if program.script:
            words = ["/usr/bin/python3", f"/share/{program.name}.py"]
        if program.judged:
            words[:0] = ["judged", f"/share/{recording(i, program)}"]
        command = shlex.join(
            ["timeout", "-s", "KILL", str(limit(PROGRAM_LIMIT, kernel)),
             *words])
        lines += [f"echo begin {i}",
                  f"echo 'guest test: {program.name} begins' > /dev/kmsg",
                  command,
                  f"echo end {i} $?"]
    lines += ["echo 'guest test: all done' > /dev/kmsg",
              # Its end would not arrive either.
              "/.vm/checkers; poweroff -f" if boot.unshared else "exit 0",
              ""]
    return "\n".join(lines)


def read_output(text, count):
    """Split the output of the guest by program."""
    said = [Said() for _ in range(count)]
    now = None
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["begin"] and len(words) == 2:
            now = said[int(words[1])]
            continue
        if words[:1] == ["end"] and len(words) == 3:
            said[int(words[1])].status = int(words[2])
            now = None
            continue
        if now is None:
            continue
        now.lines.append(line)
        match = LINE.match(line)
        if match:
            # A name that comes twice keeps its failure.
            if now.checks.get(match[2], ("ok",))[0] != "not ok":
                now.checks[match[2]] = (match[1], match[3] or "")
        match = SPAN.match(line)
        if match:
            now.spans[match[1]] = tuple(int(n, 0) for n in match.groups()[1:])
        for pattern, place in ((TWIN, now.twin), (LOST, now.lost)):
            match = pattern.match(line)
            if match:
                place.append(tuple(int(n, 0) for n in match.groups()))
    return said


def run_vm(folder, kernel, options, command):
    """scripts/vm with all that it can keep kept in the folder."""
    argv = [str(VM), "--kernel", kernel,
            "--timeout", str(limit(GUEST_LIMIT, kernel)),
            "--share", str(folder / "share"),
            "--console-log", str(folder / "console.log"),
            *options, "--", *command]
    (folder / "command").write_text(shlex.join(argv) + "\n", encoding="utf-8")
    most = limit(GUEST_LIMIT + BOOT_LIMIT, kernel)
    start = time.monotonic()
    with open(folder / "stdout", "wb") as out, \
            open(folder / "stderr", "wb") as err:
        try:
            status = subprocess.run(argv, stdout=out, stderr=err, check=False,
                                    stdin=subprocess.DEVNULL,
                                    timeout=most).returncode
        except subprocess.TimeoutExpired:
            err.write(f"stopped after {most} s".encode())
            status = 124
    return status, time.monotonic() - start


def new_folder(kernel, name):
    """A fresh folder for what a boot leaves behind."""
    folder = ARTIFACTS / f"{kernel}-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "share").mkdir(parents=True)
    return folder


def _answers(boot, share):
    answers = {}
    for i, command in enumerate(boot.commands):
        status = _text(share / f"{i}.status").strip()
        answers[command] = (int(status) if status else None,
                            _text(share / f"{i}.out"),
                            _text(share / f"{i}.err"))
    return answers


def _text(path):
    return path.read_text(encoding="utf-8", errors="replace") \
        if path.exists() else ""


def run_boot(boot, kernel):
    """Boot the guest, run its programs; returns the Outcome."""
    folder = new_folder(kernel, boot.name)
    script = folder / "share/run.sh"
    script.write_text(guest_script(boot, kernel), encoding="utf-8")
    options = ["--twin-log", str(folder / "twin.log"), *boot.options]
    if boot.baseline:
        options += ["--baseline", f"{boot.baseline:#x}"]
    serial = folder / "serial"
    if boot.unshared:
        options += ["--serial-log", str(serial), "--reboot-ok"]
    for give in boot.gifts:
        give(folder / "share")
    for name in sorted({name for program in boot.programs
                        if not program.script
                        for name in (program.name, *program.helpers)}):
        folder_of = EXAMPLES if name.startswith("example-") else PROGRAMS
        options += ["--with", str(folder_of / name)]
    if any(program.judged for program in boot.programs):
        options += ["--with", str(JUDGED)]
    if any(" judged " in command for command in boot.commands):
        options += ["--with", str(JUDGED), "--with", str(TOUR)]
    status, seconds = run_vm(folder, kernel, options,
                             ["sh", "-c", "cp /share/run.sh /tmp && "
                              "exec sh /tmp/run.sh"])
    return Outcome(folder, status, _text(folder / "stderr"), seconds,
                   read_output(_text(serial if boot.unshared
                                     else folder / "stdout"),
                               len(boot.programs)),
                   _text(folder / "twin.log"),
                   _text(folder / "console.log").splitlines(),
                   _answers(boot, folder / "share"))
