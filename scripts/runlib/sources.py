# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of the tree's own text: licences, sizes, style."""

import os
import re
import shutil
import subprocess

import child

TREE = child.TREE
MAX_LINES = 600

# The tree is formatted with this release; others differ in details.
CLANG_FORMAT = 14

SPDX = re.compile(r"SPDX-License-Identifier: \S")
SKIP_FOLDERS = re.compile(r"(build|build-.*|\..*|__pycache__)$")
# Texts that cannot or need not carry a licence line of ours.
NO_SPDX = re.compile(r"^(LICENSES/.*|kernel/VERSION|(.*/)?\.[^/]*)$")
FORMATTED = ("libprefetchnl/", "prefetchctl/", "monitor/", "tests/")


def files():
    """The tree's files, as git knows them, or all but what a build made."""
    done = subprocess.run(
        ["git", "-c", f"safe.directory={TREE}", "ls-files", "-z"], cwd=TREE,
        text=True, check=False, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL) if shutil.which("git") else None
    if done and done.returncode == 0 and done.stdout:
        names = done.stdout.split("\0")
    else:
        names = []
        for folder, folders, found in os.walk(TREE):
            top = os.path.relpath(folder, TREE)
            folders[:] = [f for f in folders if not SKIP_FOLDERS.match(f)]
            names += [os.path.normpath(os.path.join(top, n)) for n in found]
    return sorted(n for n in names if n and (TREE / n).is_file()
                  and not (TREE / n).is_symlink())


def _first_lines(name):
    with open(TREE / name, encoding="utf-8", errors="replace") as file:
        return [file.readline() for _ in range(3)]


def _scripts(names, words):
    """Files whose first line names one of these interpreters."""
    rule = re.compile(r"#!.*\b(" + "|".join(words) + r")\b")
    return [n for n in names if rule.match(_first_lines(n)[0])]


def check_tree(stage, names):
    """A licence line in each file, and no program of more than one job."""
    bare = [n for n in names if not NO_SPDX.match(n)
            and not any(map(SPDX.search, _first_lines(n)))]
    stage.add("each file names its licence", not bare, "\n".join(bare))
    long = []
    for name in names:
        # A spec is one list, and so is a licence.
        if name.startswith("LICENSES/") or name.endswith(".yaml"):
            continue
        count = (TREE / name).read_bytes().count(b"\n")
        if count > MAX_LINES:
            long.append(f"{name}: {count} lines")
    stage.add(f"no file has more than {MAX_LINES} lines", not long,
              "\n".join(long))


def _run_check(stage, name, argv, log, good=lambda text: True, cwd=TREE):
    """A checker over files: passes with status 0 and a good output."""
    done = subprocess.run([str(a) for a in argv], cwd=cwd, text=True,
                          env=child.environment(), errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    with open(log, "a", encoding="utf-8") as out:
        out.write(f"$ {name}\n{done.stdout}\n")
    stage.add(name, done.returncode == 0 and good(done.stdout),
              "\n".join(done.stdout.splitlines()[:60])
              or f"status {done.returncode}")


def check_scripts(stage, names, log):
    """shellcheck and pycodestyle."""
    shell = _scripts(names, ("sh", "bash", "dash"))
    shell += [n for n in names if n.endswith(".sh") and n not in shell]
    _run_check(stage, f"shellcheck of {len(shell)} files",
               ["shellcheck", "-x", "-P", "SCRIPTDIR", *shell], log)
    python = _scripts(names, ("python3",))
    python += [n for n in names if n.endswith(".py") and n not in python]
    _run_check(stage, f"pycodestyle of {len(python)} files",
               ["/usr/bin/pycodestyle", "--max-line-length=100", *python],
               log)


def check_format(stage, names, log):
    """clang-format of what runs in user space."""
    text = subprocess.run(["/usr/bin/clang-format", "--version"], text=True,
                          stdout=subprocess.PIPE, check=False).stdout
    found = re.search(r"version (\d+)", text)
    wanted = [n for n in names if n.endswith((".c", ".h"))
              and n.startswith(FORMATTED)]
    title = f"clang-format of {len(wanted)} files"
    if not found or int(found[1]) != CLANG_FORMAT:
        stage.skip(title, f"the tree is formatted with clang-format "
                   f"{CLANG_FORMAT}, this host has "
                   f"{found[1] if found else 'none'}")
        return
    _run_check(stage, title, ["/usr/bin/clang-format", "--dry-run",
                              "--Werror", *wanted], log)


def check_kernel_style(stage, names, tools, log):
    """checkpatch --strict of what is written for the kernel."""
    wanted = [n.removeprefix("kernel/") for n in names
              if n.startswith("kernel/") and n.endswith((".c", ".h"))]
    script = tools / "scripts/checkpatch.pl"
    _run_check(stage, f"checkpatch --strict of {len(wanted)} files",
               ["perl", script, "--no-tree", "--strict", "--terse",
                "--show-types", "--no-summary", "-f", *wanted], log,
               good=lambda text: not text.strip(), cwd=TREE / "kernel")
