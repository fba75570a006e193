# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands in a guest without the module, and words that nobody knows."""

import pytest

import boots


def _answer(outcome, command):
    status, out, err = outcome.answers[command]
    assert status is not None, "the guest did not get that far"
    return status, out, err


@pytest.mark.parametrize("boot", ["absent"])
@pytest.mark.parametrize("command", boots.NEED_MODULE)
def test_absent(outcome, command):
    """Said once, on stderr, and exit status 4."""
    status, _out, err = _answer(outcome, command)
    assert status == 4, f"ended with {status}: {err}"
    assert "module" in err and "load" in err, err
    assert "unknown" not in err.lower(), err


@pytest.mark.parametrize("boot", ["absent", "present"])
@pytest.mark.parametrize("command", boots.UNKNOWN)
def test_unknown(outcome, command):
    """A usage error that names the word."""
    status, out, err = _answer(outcome, command)
    assert status == 2, f"ended with {status}: {err}"
    assert "nonsense" in err, err
    assert out == ""


@pytest.mark.parametrize("boot", ["absent", "present"])
@pytest.mark.parametrize("command", boots.ALWAYS)
def test_always(outcome, command):
    """Help and version do not need the module."""
    status, out, err = _answer(outcome, command)
    assert status == 0, f"ended with {status}: {err}"
    assert out


@pytest.mark.parametrize("boot", ["absent"])
def test_absent_writes_nothing(outcome):
    """Nobody touches the register in a guest without the module."""
    assert not [r.line for r in outcome.records() if r.kind == "write"]
