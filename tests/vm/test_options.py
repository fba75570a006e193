# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of scripts/vm: what is taken, and what is refused how."""

import re
import subprocess
from pathlib import Path

import pytest
from vmlib import profile
from vmlib.options import parse
from vmlib.util import VmError

VM = Path(__file__).resolve().parents[2] / "scripts/vm"

# Words, and what the refusal must name.
REFUSED = [
    (["--kernal", "6.1", "--", "true"], "--kernal"),
    (["uname", "-a"], "'uname' (a command comes after --)"),
    (["--kernel", "six", "--", "true"], "'six' is not a kernel"),
    (["--kernel", "5.10", "--", "true"], "5.10 is older than 6.1"),
    (["--kernel", "5.10-rt", "--", "true"], "5.10-rt is older than 6.1"),
    (["--kernel", "debug-rt", "--", "true"], "'debug-rt' is not a kernel"),
    (["--kernel", "6.1/../..", "--", "true"], "'6.1/../..' is not a kernel"),
    (["--cpus", "0", "--", "true"], "'0' is not a number from 1 to 256"),
    (["--cpus", "many", "--", "true"], "'many' is not a number"),
    (["--cpus", "3", "--", "true"], "--cpus 3 is not a multiple"),
    (["--threads", "9", "--", "true"], "'9' is not a number from 1 to 8"),
    (["--memory", "12", "--", "true"], "'12' is not a size"),
    (["--memory", "2T", "--", "true"], "'2T' is not a size"),
    (["--backend", "fpga", "--", "true"], "'fpga'"),
    (["--baseline", "five", "--", "true"], "'five' is not a register value"),
    (["--baseline", "-1", "--", "true"], "'-1' is not a register value"),
    (["--twin-fault", "burn", "--", "true"], "'burn' is not a fault"),
    (["--twin-fault", "drop@0", "--", "true"], "'drop@0' is not a fault"),
    (["--twin-fault", "drop@", "--", "true"], "'drop@' is not a fault"),
    (["--twin-log", "/a,b", "--", "true"], "'/a,b' has a comma"),
    (["--twin-log", "/nonsuch/log", "--", "true"], "'/nonsuch'"),
    (["--share", "/nonsuch", "--", "true"], "'/nonsuch' is not a folder"),
    (["--timeout", "0", "--", "true"], "'0' is not a number"),
    (["--module-args", "a='b", "--", "true"], "--module-args"),
    (["--no-module", "--backend", "msr", "--", "true"], "--no-module"),
    (["--prepare", "--", "true"], "--prepare takes no COMMAND"),
    (["--serial-log", "/nowhere/at/all", "--", "true"],
     "--serial-log: '/nowhere/at' is not a folder"),
    (["--update", "--", "true"], "--update goes with --prepare"),
    (["--"], "no COMMAND after --"),
    (["--kernel"], "--kernel"),
    (["--memo", "512M", "--", "true"], "--memo"),
]


NAMED = [
    (["--twin-profile", "pentium"], "'pentium' is neither a file nor one of: "
     "airmont, careless-kernel, "),
    (["--twin-profile", ""], "'' is neither a file nor one of: "),
    (["--twin-profile", "a,b"], "'a,b' has a comma"),
    *((["--twin-profile", "zen4", option, value],
       f"{option} does not go with --twin-profile")
      for option, value in (("--cpus", "4"), ("--threads", "2"),
                            ("--baseline", "0"), ("--cpu", "max"),
                            ("--twin-fault", "drop"))),
]
PROFILE = """vendor GenuineIntel
family 6
model 0x55   # a comment
machine cpus=2 sockets=1 cores=2 threads=1
"""
BAD_LINES = [
    ("vendor Cyrix", "vendor 'Cyrix' is not one of"),
    ("family six", "'six' is not a number"),
    ("machine cpus=2", "needs cpus=, sockets=, cores=, threads="),
    ("machine cpus=2 dies=1", "'dies=1' is not one of"),
    ("plug cores=1", "'cores=1' is not one of: core="),
    ("hypervisor maybe", "hypervisor is yes or no, not 'maybe'"),
    ("cpuid x.1", "'x' is not a number"),
    ("nonsense 1", "unknown word 'nonsense'"),
]


# Each line is right, but not together with the others.
CORES = "core 0\ncore 1\n"
BAD_MACHINES = [
    ("cpus=4", "machine: 4 CPUs, but sockets, cores and threads are 2"),
    ("cores=0", "machine: cores= is from 1 to 255"),
    ("sockets=200", "machine: place for 400 CPUs, which is more than 256"),
    ("core 0,2", ":6: core names CPU 2; with the lines 'machine' and 'plug' "
     "they are 0, 1"),
    ("core 0-300", ":6: '0-300': CPUs are below 255"),
    ("core x", ":6: 'x' is not a number"),
    ("core 0", "CPU 1 is in no core"),
    ("plug core=2", "plug core=2: with the line 'machine' cores are below 2"),
    ("plug core=1", "plug: a core has a CPU already"),
]


@pytest.mark.parametrize("change,text", BAD_MACHINES)
def test_profile_machine(tmp_path, change, text):
    good = PROFILE + "name one more\n" + CORES
    path = tmp_path / "own.profile"
    path.write_text(good)
    profile.read(str(path))
    name = change.partition("=")[0]
    if change.startswith("core "):
        path.write_text(PROFILE + "name one more\n" + change + "\n")
    elif change.startswith("plug "):
        path.write_text(good + change + "\n")
    else:
        path.write_text(re.sub(rf"{name}=\d+", change, good))
    with pytest.raises(VmError) as refusal:
        profile.read(str(path))
    assert text in str(refusal.value)


@pytest.mark.parametrize("words,text", NAMED)
def test_profile_refused(words, text):
    with pytest.raises(VmError) as refusal:
        parse([*words, "--", "true"])
    assert text in str(refusal.value)


@pytest.mark.parametrize("line,text", BAD_LINES)
def test_profile_line(tmp_path, line, text):
    path = tmp_path / "own.profile"
    path.write_text(PROFILE + line + "\n")
    with pytest.raises(VmError) as refusal:
        profile.read(str(path))
    assert f"{path}:5: " in str(refusal.value)
    assert text in str(refusal.value)


@pytest.mark.parametrize("data,text", [
    (b"\x7fELF\xff\xfe\0\x80", ": not a profile: no text in UTF-8"),
    (PROFILE.encode() + b"name \xc3", ": not a profile: no text in UTF-8"),
    (PROFILE.encode("utf-16"), ": not a profile: no text in UTF-8"),
    (b"\0\1\2\x1b[2J", ":1: characters that cannot be printed"),
    (b"vendor GenuineIntel\nname a\x1c\n", ":2: characters that cannot be printed"),
])
def test_profile_garbage(tmp_path, data, text):
    """One line that names the file, and nothing of what is in it."""
    path = tmp_path / "own.profile"
    path.write_bytes(data)
    done = run("--twin-profile", str(path), "--", "true")
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.endswith(f"{path}{text}\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("line", PROFILE.splitlines())
def test_profile_lacks(tmp_path, line):
    path = tmp_path / "own.profile"
    path.write_text(PROFILE.replace(line, ""))
    with pytest.raises(VmError) as refusal:
        profile.read(str(path))
    assert f"no line '{line.split()[0]}'" in str(refusal.value)


def test_profiles():
    """Each of the tree's profiles makes a command line."""
    assert len(profile.names()) >= 11
    for name in profile.names():
        argv = profile.read(name).arguments()
        assert argv[::2][:2] == ["-cpu", "-smp"]
    hybrid = parse(["--twin-profile", "hybrid", "--", "true"])
    assert hybrid.cpus == 8
    argv = hybrid.twin_profile.arguments()
    assert "level=0x1a" in argv[1] and "-hypervisor" in argv[1]
    assert argv[3] == "4,sockets=1,cores=8,threads=2,maxcpus=16"
    assert argv.count("-device") == 4
    assert "+hypervisor" in profile.read("hypervisor").cpu


@pytest.mark.parametrize("words,text", REFUSED)
def test_refused(words, text):
    with pytest.raises(VmError) as refusal:
        parse(words)
    assert text in str(refusal.value)


def test_defaults():
    opt = parse(["--", "true"])
    assert (opt.cpus, opt.threads, opt.memory) == (4, 2, 512)
    assert (opt.kernel, opt.baseline) == ("current", 0)
    assert parse(["--debian", "--", "true"]).memory == 1024
    assert parse(["--prepare"]).kernels == ["current", "6.1"]
    assert parse(["--prepare", "--kernel", "6.1"]).kernels == ["6.1"]


def test_command_is_kept():
    words = ["sh", "-c", "a  'b' \"c\" $d", "--", "--cpus", "", "\n"]
    assert parse(["--cpus", "8", "--", *words]).command == words


def test_values():
    opt = parse(["--memory", "2G", "--baseline", "0x5", "--twin-fault",
                 "flip@12", "--module-args", "a=1 b='c d'", "--module-args",
                 "e=2", "--with", "x", "--with", "y", "--", "true"])
    assert opt.memory == 2048
    assert opt.baseline == 5
    assert opt.twin_fault == "flip@12"
    assert opt.module_args == ["a=1", "b=c d", "e=2"]
    assert opt.programs == ["x", "y"]


def run(*words):
    return subprocess.run([VM, *words], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)


def test_program_refuses():
    done = run("--cpus", "x", "--", "true")
    assert done.returncode == 125
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "'x' is not a number" in done.stderr


def test_shell_needs_terminal():
    done = run()
    assert done.returncode == 125
    assert "needs a terminal" in done.stderr


def test_help_fits():
    done = run("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
