# SPDX-License-Identifier: GPL-2.0-or-later
"""The mark of tests that read what came out of a guest."""


def pytest_configure(config):
    """guest(name): the test needs that run."""
    config.addinivalue_line("markers", "guest(name): needs this guest")
