# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel's log says after raw messages: nothing of ours."""

import re

import pytest

import boots

# The netlink core of every kernel tells of two kinds of malformed messages,
# to whatever family they go, before the family hears of them.
CORE_TELLS = re.compile(
    r"netlink: (\d+ bytes leftover after parsing attributes in process "
    r"|'wire-[a-z]+': attribute type \d+ has an invalid length\.)"
    r"|__nla_validate\w*: \d+ callbacks suppressed"
    r"|validate_nla: \d+ callbacks suppressed")

# Loading it again is told, too.
LOADED = re.compile(r"prefetch: (loading version |\d+ cores, backend )")

WIRE = [pytest.param(boot, program.name, id=program.name)
        for boot in ("wire", "wire-random")
        for program in boots.BOOTS[boot].programs]


def said_during(console, name):
    """Lines of the console from the begin of a program to the next one."""
    lines = []
    within = False
    for line in console:
        match = re.search(r"guest test: (?:(\S+) begins|all done)", line)
        if match:
            within = match[1] == name
        elif within:
            lines.append(line)
    return lines


@pytest.mark.parametrize("boot, name", WIRE)
def test_log(outcome, name):
    """Nothing, but for what the netlink core itself says."""
    lines = [line for line in said_during(outcome.console, name)
             if not CORE_TELLS.search(line) and not LOADED.search(line)]
    assert not lines, "\n".join(lines[:20])


@pytest.mark.parametrize("boot", ["wire"])
def test_log_is_seen(outcome):
    """The console has those lines: so it would have others, too."""
    lines = said_during(outcome.console, "wire-table")
    assert any(CORE_TELLS.search(line) for line in lines)
