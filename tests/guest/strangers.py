#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients that know nothing of us drive the family, in a Debian guest.

The kernel's own `ynl` command with our spec, `genl` of iproute2, and the
generic netlink class of pyroute2. Prints "ok NAME" or "not ok NAME: reason",
as the other guest programs do.
"""

import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import yaml
from pyroute2.netlink import NLM_F_DUMP, NLM_F_REQUEST, genlmsg
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.generic import GenericNetlinkSocket

SHARE = Path("/share")
CLI = SHARE / "ynl/cli.py"
SPEC = SHARE / "specs/prefetch.yaml"
ALL_FOUR = ["l2-stream", "l2-adjacent", "l1-stream", "l1-ip"]
LIMIT = 120
PATIENCE = 60


def ynl_command(*words, schema=False):
    """The command line of the kernel's ynl with our spec."""
    return [sys.executable, str(CLI), "--spec", str(SPEC), "--output-json",
            *([] if schema else ["--no-schema"]), *words]


def ynl(*words, status=0, schema=False):
    """What ynl printed, as JSON or, when it fails, as text."""
    done = subprocess.run(ynl_command(*words, schema=schema), text=True,
                          check=False, timeout=LIMIT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode == status, \
        f"ynl {words} ended with {done.returncode}: {done.stdout[-600:]}"
    return json.loads(done.stdout) if status == 0 else done.stdout


def multi(*requests):
    """Several do operations; their replies in that order."""
    words = []
    for name, attrs in requests:
        words += ["--multi", name, json.dumps(attrs)]
    return ynl(*words)


def same(found, expected):
    """Lists of flags have no order."""
    assert sorted(found) == sorted(expected), f"{found} is not {expected}"


class Sleeper:
    """A process that sleeps for as long as a test needs it."""

    def __enter__(self):
        self._child = subprocess.Popen(["sleep", "1000"])
        self.pid = self._child.pid
        return self

    def __exit__(self, *_):
        self._child.kill()
        self._child.wait()


def ynl_looks():
    """Every operation that only looks; the spec against its schema, too."""
    info = ynl("--do", "info-get", schema=True)
    assert info["backend"] == "msr", info
    assert info["domains"] == 2 and info["settings"] == 0, info
    same(info["supported"], ALL_FOUR)
    for name in ("max-settings", "core-total", "setting-total"):
        assert isinstance(info[name], int), info
    same([p["name"] for p in ynl("--dump", "prefetcher-get")],
         [name.replace("-", "_") for name in ALL_FOUR])
    core, seen = multi(("core-get", {"domain": 1}),
                       ("core-get", {"domain": 0, "verify": 1}))
    assert core["domain"] == 1 and len(core["cpu"]) == 2, core
    assert "register" not in core, core
    assert seen["register"][0]["value"] == "0x0", seen
    assert seen["differs"] == 0, seen
    cores = ynl("--dump", "core-get", "--json", '{"verify": 1}')
    assert [c["domain"] for c in cores] == [0, 1], cores
    assert all("register" in c for c in cores), cores


def ynl_sets():
    """Each attribute of setting-set, and what the replies say."""
    with Sleeper() as task:
        pid = {"pid": task.pid}
        replies = multi(
            ("setting-set", {**pid, "off": ["l2-stream", "l1-ip"]}),
            ("setting-set", {**pid, "on": ["l1-stream"]}),
            ("setting-set", {**pid, "inherit": 1}),
            ("setting-set", {**pid, "clear": ["l2-stream"]}),
            ("setting-get", pid))
        same(replies[0]["off"], ["l2-stream", "l1-ip"])
        assert replies[0]["scope"] == "process", replies[0]
        same(replies[1]["on"], ["l1-stream"])
        assert [r["inherit"] for r in replies] == [0, 0, 1, 1, 1], replies
        same(replies[3]["off"], ["l1-ip"])
        got = replies[4]
        same(got["off"], ["l1-ip"])
        same(got["wish-on"], ["l1-stream"])
        assert (got["comm"], got["uid"]) == ("sleep", 0), got
        thread, listed_of = multi(
            ("setting-set", {"tid": task.pid, "off": ["l2-adjacent"],
                             "start-time": got["start-time"]}),
            ("setting-get", {"tid": task.pid}))
        assert thread["scope"] == "thread", thread
        same(listed_of["wish-off"], ["l1-ip", "l2-adjacent"])
        listed = ynl("--dump", "setting-get")
        same([s["scope"] for s in listed], ["process", "thread"])
        one = ynl("--dump", "setting-get", "--json",
                  json.dumps({"tid": task.pid}))
        assert [s["scope"] for s in one] == ["thread"], one


def ynl_default():
    """Off, on and clear of the machine default; repair."""
    replies = multi(("default-set", {"off": ["l2-stream", "l1-ip"]}),
                    ("default-set", {"on": ["l1-ip"]}),
                    ("core-get", {"domain": 0}),
                    ("core-repair", {"domain": 0}),
                    ("core-repair", {}),
                    ("default-set", {"clear": ALL_FOUR}))
    same(replies[0]["off"], ["l2-stream", "l1-ip"])
    same(replies[1]["off"], ["l2-stream"])
    same(replies[1]["on"], ["l1-ip"])
    same(replies[2]["effective"], ["l2-stream"])
    # No core differs, so there is nothing to tell, and an answer all the same.
    assert not replies[3] and not replies[4], replies
    assert not replies[5]["off"] and not replies[5]["on"], replies[5]


def ynl_refused():
    """The kernel's words reach the user."""
    said = ynl("--do", "setting-get", "--json", '{"pid": 4000000}', status=1)
    assert "no such task" in said and "pid" in said, said
    said = ynl("--do", "setting-set", "--json", '{"pid": 1}', status=1)
    assert "no off, on or clear mask" in said, said


def in_group(pid):
    """Has the process joined a multicast group?"""
    for line in Path("/proc/net/netlink").read_text().splitlines()[1:]:
        words = line.split()
        # Family 16 is generic netlink; the third column is the port.
        if words[1] == "16" and int(words[2]) == pid and int(words[3], 16):
            return True
    return False


def listen(group, act, seconds):
    """What ynl hears in a group in that time, or None if it was too short."""
    with subprocess.Popen(
            ynl_command("--subscribe", group, "--sleep", str(seconds)),
            text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT) as listener:
        end = time.monotonic() + PATIENCE
        while not in_group(listener.pid) and time.monotonic() < end:
            assert listener.poll() is None, listener.stdout.read()
            time.sleep(0.05)
        start = time.monotonic()
        act()
        in_time = time.monotonic() - start < seconds / 2
        out, _ = listener.communicate(timeout=LIMIT)
    assert listener.returncode == 0, out
    return json.loads(out) if in_time else None


def heard(group, act):
    """What ynl hears in a group while something is done."""
    for seconds in (6, 20, 60):
        events = listen(group, act, seconds)
        if events is not None:
            return events
    raise AssertionError("the guest is too slow")


def set_default(*words):
    """By our own command: here it is only the cause of an event."""
    subprocess.run(["prefetchctl", "set", "default", *words], check=True,
                   stdout=subprocess.DEVNULL, timeout=LIMIT)


def ynl_hears_core():
    """Events of the core group."""
    def act():
        set_default("l2_stream=off")
        time.sleep(0.5)
        set_default("l2_stream=default")

    events = heard("core", act)
    assert {e["name"] for e in events} == {"core-ntf"}, events
    events = [e["msg"] for e in events]
    for domain in (0, 1):
        mine = [e for e in events if e["domain"] == domain]
        assert len(mine) == 2, events
        assert [e["new"] for e in mine] == [["l2-stream"], []], mine
        assert len(mine[0]["cpus"]) == 2 and mine[0]["folded"] == 1, mine
        assert mine[0]["cause"] == "default", mine
    assert [e["seq"] for e in events] == \
        list(range(events[0]["seq"], events[0]["seq"] + 4)), events


def ynl_hears_setting():
    """Notifications of the setting group."""
    with Sleeper() as task:
        def act():
            for word in ("off", "default"):
                subprocess.run(["prefetchctl", "set", f"pid={task.pid}",
                                f"l1_ip={word}"], check=True,
                               stdout=subprocess.DEVNULL, timeout=LIMIT)

        events = heard("setting", act)
    assert {e["name"] for e in events} == {"setting-ntf"}, events
    events = [e["msg"] for e in events if e["msg"]["pid"] == task.pid]
    assert [e["change"] for e in events] == ["set", "cleared"], events
    same(events[0]["off"], ["l1-ip"])


def genl(*words):
    """What genl of iproute2 printed."""
    return subprocess.run(["genl", "ctrl", *words], text=True, check=True,
                          stdout=subprocess.PIPE, timeout=LIMIT).stdout


def genl_family():
    """Family, commands and groups."""
    said = genl("get", "name", "prefetch")
    assert "Name: prefetch" in said and "Version: 0x1" in said, said
    for group in ("setting", "core"):
        assert f"name: {group}" in said, said
    for command in range(1, 8):
        assert f"ID-0x{command:x}" in said, said
    assert "Name: prefetch" in genl("list")


def genl_policy():
    """Each command has a policy, with ranges and no more than it needs."""
    said = genl("policy", "name", "prefetch")
    ops = {}
    for line in said.splitlines():
        words = line.split()
        if "policies:" in words:
            ops[int(words[3])] = dict(w.split("=") for w in words[5:])
    assert set(ops) == set(range(1, 8)), said

    def attrs(policy):
        found = {}
        for line in said.splitlines():
            mark = f"policy[{policy}]:attr["
            if mark in line:
                number, rest = line.split(mark)[1].split("]", 1)
                found[int(number)] = rest
        return found

    setting = attrs(ops[4]["do"])
    assert set(setting) == {1, 2, 4, 5, 6, 7, 10}, setting
    assert "type=U64" in setting[10] and "range:[0,1]" in setting[7], said
    assert "range:[1,4294967295]" in setting[1], said
    assert set(attrs(ops[3]["dump"])) == {1, 2}, said
    assert set(attrs(ops[5]["do"])) == {1, 2, 3}, said
    assert set(attrs(ops[7]["do"])) == {1}, said


def pyroute2_class():
    """Attributes for pyroute2 out of the spec: names and types."""
    spec = yaml.safe_load(SPEC.read_text(encoding="utf-8"))
    types = {"u32": "uint32", "u64": "uint64", "string": "asciiz",
             "pad": "hex"}
    attrs = next(s for s in spec["attribute-sets"]
                 if s["name"] == "setting")["attributes"]

    class Setting(genlmsg):
        """A message of the setting set."""

        nla_map = (("unspec", "none"),
                   *((a["name"], types[a["type"]]) for a in attrs))

    return Setting


def pyroute2_works():
    """Set, list, clear, and an error with its number."""
    message = pyroute2_class()
    sock = GenericNetlinkSocket()
    sock.bind("prefetch", message)

    def request(cmd, flags, **attrs):
        msg = message()
        msg["cmd"] = cmd
        msg["version"] = 1
        msg["attrs"] = [(name.replace("_", "-"), value)
                        for name, value in attrs.items()]
        return sock.nlm_request(msg, msg_type=sock.prid, msg_flags=flags)

    with Sleeper() as task:
        done = request(4, NLM_F_REQUEST, pid=task.pid, off=3)
        assert done[0].get_attr("off") == 3, done
        listed = request(3, NLM_F_REQUEST | NLM_F_DUMP)
        found = {m.get_attr("pid"): m for m in listed}
        assert set(found) == {task.pid}, listed
        assert found[task.pid].get_attr("comm") == "sleep", listed
        request(4, NLM_F_REQUEST, pid=task.pid, clear=3)
        assert not list(request(3, NLM_F_REQUEST | NLM_F_DUMP))
        try:
            request(4, NLM_F_REQUEST, pid=task.pid, off=1, on=1)
        except NetlinkError as error:
            assert error.code == 22, error
        else:
            raise AssertionError("off and on were granted")
    sock.close()


TESTS = (ynl_looks, ynl_sets, ynl_default, ynl_refused, ynl_hears_core,
         ynl_hears_setting, genl_family, genl_policy, pyroute2_works)


def main():
    """Runs the tests; returns the exit status."""
    status = 0
    for test in TESTS:
        start = time.monotonic()
        try:
            test()
            print(f"ok {test.__name__}", flush=True)
        except Exception as error:  # whatever it is, it is told
            why = " ".join(str(error).split())[:700]
            print(f"not ok {test.__name__}: {type(error).__name__} {why}",
                  flush=True)
            traceback.print_exc()
            status = 1
        print(f"figure {test.__name__} {time.monotonic() - start:.1f} s",
              flush=True)
    return status


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.exit(main())
