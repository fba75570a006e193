# SPDX-License-Identifier: GPL-2.0-or-later
"""The stages of scripts/test, in the order in which they run."""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bench_shared
import bench_switch
import build
import child
import demo
import dkms
import kerneltools
import results
import sources

TREE = child.TREE
BUILD = TREE / "build"
ASAN = TREE / "build-asan"
FUZZ = TREE / "build-fuzz"
LOGS = BUILD / "test-logs"
PYTHON = ["/usr/bin/python3", "-B"]

# Tests of compiled code; the others would be the same under a sanitizer.
COMPILED_SUITES = ("unit", "cmdline", "monitor", "fuzz")
GONE = 77

BUILD_LIMIT = 1800
MESON_LIMIT = 1200
GUEST_LIMIT = 2400
# On the debug kernel, and with all that takes long.
LONG_LIMIT = 7200
# Making the debug kernel takes a quarter of an hour on two CPUs.
CACHE_LIMIT = 5400
DEBUG = "debug"
DEMO_LIMIT = 1200
FUZZ_SECONDS, FUZZ_LIMIT = 60, 900

SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:halt_on_error=1",
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
}


class CannotGoOn(Exception):
    """What later stages need is missing."""


def _log(stage):
    return LOGS / (re.sub(r"\W+", "-", stage.name) + ".log")


def _must(stage, what, argv, timeout=BUILD_LIMIT):
    """A step that all later ones need."""
    log = _log(stage)
    status = child.run(argv, log=log, timeout=timeout)
    stage.add(what, status == 0, results.tail(log))
    if status:
        raise CannotGoOn(f"{what} failed")


def host(stage, _opt):
    """Packages of this host."""
    if child.run([demo.HOST, Path(__file__).with_name("test-packages")]):
        stage.add("host packages", False, "see the lines of host.sh above")
        raise CannotGoOn("this host is not ready")


def fetch(stage, opt):
    """What the cache lacks."""
    if child.run([*PYTHON, kerneltools.__file__, "fetch"]):
        stage.add("kernel tools", False, "see above")
        raise CannotGoOn("the kernel's tools could not be fetched")
    wanted = [*opt.kernels, *([DEBUG] if opt.debug else [])]
    for spec in wanted:
        more = [] if opt.quick or spec == DEBUG else ["--debian"]
        status = child.run([demo.VM, "--prepare", "--kernel", spec, *more],
                           timeout=CACHE_LIMIT)
        if status == GONE:
            opt.gone.append(spec)
        elif status:
            stage.add(f"kernel {spec}", False, "see above")
            raise CannotGoOn("the cache could not be filled")
    if not opt.quick and not opt.select:
        for spec in _dkms_kernels(opt):
            if child.run([*PYTHON, dkms.__file__, "fetch", spec],
                         timeout=CACHE_LIMIT) not in (0, GONE):
                stage.add(f"root with DKMS and {spec}", False, "see above")
                raise CannotGoOn("the cache could not be filled")


def plain(stage, opt):
    """User space as it is installed, and its tests."""
    _must(stage, "meson and ninja, without a warning",
          [*PYTHON, build.__file__, "user-space"])
    if not opt.select:
        _meson_test(stage, BUILD, [])


def sanitized(stage, _opt):
    """The same with AddressSanitizer and UBSan."""
    if not (ASAN / "build.ninja").exists():
        _must(stage, "meson setup",
              ["meson", "setup", ASAN, TREE, "-Dbuildtype=debug",
               "-Db_sanitize=address,undefined", "-Db_lundef=false"])
    _must(stage, "ninja, without a warning", ["ninja", "-C", ASAN])
    words = [word for suite in COMPILED_SUITES for word in ("--suite", suite)]
    _meson_test(stage, ASAN, words, **SANITIZERS)


def fuzz(stage, _opt):
    """Fuzzers of the library and the programs, each for a minute."""
    if not (FUZZ / "build.ninja").exists():
        _must(stage, "meson setup with clang",
              ["env", "CC=clang", "meson", "setup", FUZZ, TREE,
               "-Dfuzzers=true", "-Dbuildtype=debugoptimized",
               "-Db_sanitize=address,undefined", "-Db_lundef=false"])
    names = ("replies", "events", "extack", "argv", "batch")
    _must(stage, "fuzzers build, without a warning",
          ["ninja", "-C", FUZZ,
           *[f"tests/fuzz/fuzz-{name}" for name in names]])
    said = []

    def each_line(line):
        said.append(line)
        print("   " + line, flush=True)

    status = child.relay(
        [TREE / "tests/fuzz/run", "search", FUZZ, "--seconds",
         str(FUZZ_SECONDS), "--work", LOGS / "fuzz"], each_line,
        timeout=FUZZ_LIMIT, stderr=subprocess.STDOUT)
    for name in names:
        stage.add(f"fuzzer of {name} finds nothing in {FUZZ_SECONDS} s",
                  any(re.match(f"{name}: .*, no finding$", line)
                      for line in said), "\n".join(said[-60:]))
    stage.runner_ended(status, detail="\n".join(said[-60:]))


def _meson_test(stage, folder, words, **env):
    log = _log(stage)
    notes = folder / "meson-logs/testlog.json"
    notes.unlink(missing_ok=True)
    status = child.run(
        ["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs",
         *words], log=log, timeout=MESON_LIMIT,
        env=child.environment(**env))
    before = len(stage.checks)
    results.read_meson(stage, notes)
    if len(stage.checks) == before:
        stage.add("meson test ran no test", False, results.tail(log))
    stage.runner_ended(status, detail=results.tail(log))


def _kernel_tool(name):
    return Path(subprocess.run(
        [*PYTHON, kerneltools.__file__, name], text=True, check=True,
        stdout=subprocess.PIPE).stdout.strip())


def text(stage, _opt):
    """Sources: what is generated, licences, sizes, style."""
    names = sources.files()
    tools = _kernel_tool("source")
    log = _log(stage)
    status = child.run([TREE / "genl-family/generate", "--check", "--source",
                        tools], log=log, timeout=BUILD_LIMIT)
    stage.add("generated files are what prefetch.yaml says", status == 0,
              results.tail(log))
    status = child.run([TREE / "docs/man/generate", "--check",
                        _kernel_tool("kernel-doc")], log=log,
                       timeout=BUILD_LIMIT)
    stage.add("pages of section 3 are what the headers say", status == 0,
              results.tail(log))
    sources.check_tree(stage, names)
    sources.check_scripts(stage, names, log)
    sources.check_format(stage, names, log)
    sources.check_kernel_style(stage, names, tools, log)


def module(stage, opt):
    """The module with all warnings on each kernel, and under sparse."""
    for spec in opt.kernels:
        name = f"module for {spec}: W=1 and sparse without a warning"
        if spec in opt.gone:
            stage.skip(name, "the mirror no longer has this kernel")
            continue
        log = LOGS / f"module-{spec}.log"
        log.unlink(missing_ok=True)
        status = child.run([*PYTHON, kerneltools.__file__, "build", spec],
                           log=log, timeout=BUILD_LIMIT)
        said = [line for line in log.read_text(errors="replace").splitlines()
                if re.search(r"\b(warning|error)\b", line, re.I)]
        stage.add(name, status == 0 and not said,
                  "\n".join(said[:results.DETAIL_LINES])
                  or results.tail(log))
    spec = next((s for s in opt.kernels if s not in opt.gone), None)
    if spec:
        log = LOGS / "module-window.log"
        log.unlink(missing_ok=True)
        status = child.run([*PYTHON, kerneltools.__file__, "window", spec],
                           log=log, timeout=BUILD_LIMIT)
        stage.add("the build stops with a sentence on kernels out of the "
                  "window", status == 0, results.tail(log))
    # The guests get theirs as it is installed.
    wanted = [spec for spec in opt.kernels if spec not in opt.gone]
    if not opt.quick and wanted:
        _must(stage, "module for the guests",
              [*PYTHON, build.__file__, "module", *wanted])


def _dkms_kernels(opt):
    return [spec for spec in dkms.KERNELS
            if spec in opt.kernels and spec not in opt.gone]


def dkms_installs(stage, opt):
    """The README's installation with DKMS, and its removal."""
    def install(spec):
        log = LOGS / f"dkms-{spec}.log"
        log.unlink(missing_ok=True)
        return log, child.run([*PYTHON, dkms.__file__, "install", spec],
                              log=log, timeout=BUILD_LIMIT)

    wanted = _dkms_kernels(opt)
    with ThreadPoolExecutor(max_workers=2) as pool:
        done = dict(zip(wanted, pool.map(install, wanted)))
    for spec in dkms.KERNELS:
        name = f"DKMS builds, installs and removes the module for {spec}"
        if spec not in opt.kernels:
            stage.skip(name, "this kernel is not tested here")
        elif spec in opt.gone or done[spec][1] == GONE:
            stage.skip(name, "the mirror no longer has this kernel")
        else:
            stage.add(name, done[spec][1] == 0, results.tail(done[spec][0]))


def guest(spec):
    """The stage with the guest tests on one kernel."""
    def run(stage, opt):
        if spec in opt.gone:
            stage.skip("all guest tests",
                       f"the mirror no longer has kernel {spec}")
            return
        words = ["-k", opt.select] if opt.select else []
        if opt.full:
            words.append("--full")
        _pytest(stage, ["tests/guest", f"--kernel={spec}", *words],
                LONG_LIMIT if opt.full or spec == DEBUG else GUEST_LIMIT)
    run.__doc__ = f"Guest tests on kernel {spec}."
    return run


def _pytest(stage, words, timeout):
    """A run of pytest, with a line for each test as it ends."""
    notes = LOGS / (re.sub(r"\W+", "-", stage.name) + ".xml")
    notes.unlink(missing_ok=True)

    def each_line(line):
        # Progress, without what the table at the end repeats.
        if re.search(r"::.* (PASSED|FAILED|ERROR|SKIPPED)", line):
            print("   " + re.sub(r"^\S*/", "", line), flush=True)
        with open(_log(stage), "a", encoding="utf-8") as out:
            out.write(line + "\n")

    status = child.relay(
        [*PYTHON, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-rN",
         "--junitxml", notes, *words], each_line, timeout=timeout,
        stderr=subprocess.STDOUT,
        env=child.environment(PYTHONUNBUFFERED="1"))
    results.read_junit(stage, notes)
    stage.runner_ended(status, detail=results.tail(_log(stage)))


def debug_kernel(stage, opt):
    """The module's logic in KUnit, and whether the checkers find mistakes."""
    if DEBUG in opt.gone:
        stage.skip("all tests of the debug kernel",
                   "the mirror no longer has a source for it")
        return
    _pytest(stage, ["tests/debug-kernel"], LONG_LIMIT)


def switch_cost(stage, opt):
    """Instructions that a context switch costs, against what it cost."""
    spec = bench_switch.QUICK_KERNEL
    if spec not in opt.kernels or spec in opt.gone:
        stage.skip("all cases", f"the limits are those of kernel {spec}, "
                   "which is not tested here")
        return
    try:
        for what, kept, figures in bench_switch.quick():
            print(f"   {what}: {figures}", flush=True)
            stage.add(what, kept, figures)
    except bench_shared.Failed as error:
        stage.add("measured", False, str(error))


def _demo(log, *words):
    log.unlink(missing_ok=True)
    status = child.run([TREE / "scripts/demo", *words], log=log,
                       timeout=DEMO_LIMIT)
    return status, log.read_text(encoding="utf-8", errors="replace")


def demo_agrees(stage, _opt):
    """The demo as the README has it."""
    log = LOGS / "demo.log"
    status, said = _demo(log)
    stage.add("demo", status == 0 and "All four witnesses agree" in said,
              f"status {status}\n{results.tail(log, 60)}")


def demo_faults(stage, _opt):
    """The demo with a register that misbehaves: it must say so."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        logs = {fault: LOGS / f"demo-{fault}.log" for fault in demo.FAULTS}
        jobs = {fault: pool.submit(_demo, logs[fault], "--twin-fault", fault)
                for fault in demo.FAULTS}
        for fault, job in jobs.items():
            status, said = job.result()
            why = _why_not_for_that_reason(status, said)
            stage.add(f"demo with {fault} says no", not why,
                      f"{why}\n{results.tail(logs[fault], 40)}")


def _why_not_for_that_reason(status, said):
    """'' if the judge said no, and because of the twin alone."""
    if status != demo.STATUS_DISAGREE:
        return f"status {status}, expected {demo.STATUS_DISAGREE}"
    if "do NOT agree" not in said:
        return "the judge did not say no"
    problems = re.findall(r"^domain \d+: (.*)$", said, re.M)
    if not problems or not all("twin" in p for p in problems):
        return f"not because of the twin: {problems}"
    return ""


def plan(opt):
    """(name, function) of the stages that the options call for."""
    guests = [(f"guest tests, kernel {spec}", guest(spec))
              for spec in opt.kernels]
    if opt.debug:
        guests.append(("guest tests, debug kernel", guest(DEBUG)))
    ready = [("host packages", host), ("cache", fetch)]
    if opt.select:
        return [*ready, ("user space", plain), *guests]
    checks = [("user space", plain), ("user space, sanitized", sanitized),
              ("fuzzers", fuzz), ("sources", text), ("module", module)]
    if opt.quick:
        return [*ready, *checks]
    if opt.debug:
        guests.append(("debug kernel", debug_kernel))
    return [*ready, *checks, ("DKMS", dkms_installs), *guests,
            ("cost of a switch", switch_cost), ("demo", demo_agrees),
            ("demo with faults", demo_faults)]
