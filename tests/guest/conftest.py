# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests for the tests: each is booted once, two at a time."""

import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import boots  # noqa: E402
import guest  # noqa: E402


def pytest_addoption(parser):
    """--kernel, --guests and --full."""
    parser.addoption("--kernel", action="append", choices=boots.ALL_KERNELS,
                     help="kernel to test, again for more (default: "
                     f"{' and '.join(boots.KERNELS)})")
    parser.addoption("--full", action="store_true",
                     help="also what takes long: more guests on the debug "
                     "kernel")
    parser.addoption("--guests", type=int, default=2,
                     help="guests that run at the same time (default: 2)")


def pytest_configure(config):
    """Our own mark."""
    config.addinivalue_line("markers", "debug_kernel: only there")


def pytest_generate_tests(metafunc):
    """Tests with a `kernel` are run for each of them."""
    if "kernel" in metafunc.fixturenames:
        kernels = metafunc.config.getoption("--kernel") or boots.KERNELS
        metafunc.parametrize("kernel", kernels, scope="session")


class Cpus:
    """The host's CPUs, for some guests together or for one alone.

    CPUs of a guest that run in parallel wait for each other, busily. Where
    the host takes one of them away for another guest, each such wait is a
    time slice long, and ten times as much time is needed.
    """

    def __init__(self):
        self._changed = threading.Condition()
        self._running = 0
        self._alone = False

    @contextmanager
    def taken(self, alone):
        """While a guest runs that may have neighbours, or may not."""
        with self._changed:
            self._changed.wait_for(lambda: not self._alone)
            self._alone = alone
            if alone:
                self._changed.wait_for(lambda: not self._running)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._alone = self._alone and not alone
                self._changed.notify_all()


class Guests:
    """Starts what is going to be needed, in order of need."""

    def __init__(self, workers):
        self._pool = ThreadPoolExecutor(max_workers=workers)
        self._cpus = Cpus()
        self._outcomes = {}
        self.failed = set()

    def need(self, kernel, name):
        """Queue a boot if it is not queued yet."""
        key = (kernel, name)
        if key not in self._outcomes:
            self._outcomes[key] = self._pool.submit(
                self._run, boots.BOOTS[name], kernel)
        return self._outcomes[key]

    def _run(self, boot, kernel):
        with self._cpus.taken(boot.alone):
            return guest.run_boot(boot, kernel)

    def known(self, kernel, name):
        """Is it queued, or has it run?"""
        return (kernel, name) in self._outcomes

    def end(self):
        """Nothing more is needed; what passed leaves nothing behind."""
        self._pool.shutdown(cancel_futures=True)
        for key, future in self._outcomes.items():
            if key not in self.failed and not future.cancelled() and \
                    not future.exception():
                shutil.rmtree(future.result().folder, ignore_errors=True)


def _boot_of(item):
    spec = getattr(item, "callspec", None)
    if not spec or "boot" not in spec.params or "kernel" not in spec.params:
        return None
    return spec.params["kernel"], spec.params["boot"]


def pytest_collection_modifyitems(config, items):
    """Leave out boots, and single tests, that are not for this kernel."""
    full = config.getoption("--full")
    out = {item for item in items if (key := _boot_of(item)) and
           (not boots.is_meant(*key, full) or
            (item.get_closest_marker("debug_kernel") and
             key[0] != boots.DEBUG))}
    config.hook.pytest_deselected(items=list(out))
    items[:] = [item for item in items if item not in out]


@pytest.fixture(scope="session")
def guests(request):
    """All guests of the session, the needed ones on their way."""
    # The programs that a guest gets must be there before it is started.
    built = subprocess.run(["ninja", "-C", str(guest.BUILD)], check=False,
                           text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=600)
    if built.returncode:
        pytest.fail(f"the programs cannot be built:\n{built.stdout[-3000:]}",
                    pytrace=False)
    made = Guests(request.config.getoption("--guests"))
    request.config.stash[GUESTS] = made
    for item in request.session.items:
        key = _boot_of(item)
        if key and not guest.lacks_memory(boots.BOOTS[key[1]]):
            made.need(*key)
    yield made
    made.end()


GUESTS = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Remember which boots had a failure: their files are kept."""
    report = (yield).get_result()
    key = _boot_of(item)
    if report.failed and key and GUESTS in item.config.stash:
        item.config.stash[GUESTS].failed.add(key)
        report.sections.append(
            ("guest", f"kept in {guest.ARTIFACTS / '-'.join(key)}"))


@pytest.fixture
def outcome(guests, kernel, boot, record_property):
    """What came out of a boot in which nothing went wrong as such."""
    if not guests.known(kernel, boot):
        lack = guest.lacks_memory(boots.BOOTS[boot])
        if lack:
            pytest.skip(lack)
    result = guests.need(kernel, boot).result()
    record_property("boot", f"{kernel}-{boot}")
    if result.status == guest.GONE:
        pytest.skip(f"the mirror no longer has kernel {kernel}")
    if result.problem():
        pytest.fail(result.problem(), pytrace=False)
    return result
