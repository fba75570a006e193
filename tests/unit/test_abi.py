#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The library's ABI against its baseline, libprefetchnl/prefetchnl.abi.

usage: test_abi.py BASELINE LIBRARY
       test_abi.py --update BASELINE LIBRARY HEADER_FOLDER...

What is in the baseline must be as it was; more may be there. The comparison is
tried out on broken baselines each time. With --update the baseline is made
anew: only for a new soname, or after an addition, to protect that as well.
Constants are no part of it, as the debug information does not tie them to a
function.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77

WRITE = ('abidw', '--drop-private-types', '--no-corpus-path',
         '--no-comp-dir-path', '--no-show-locs', '--type-id-style', 'hash',
         '--exported-interfaces-only')
# Bits of abidiff's exit status.
ERROR, CHANGE = 3, 4

SPDX = '<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->'

# Each makes another library of the baseline, which the real one then breaks.
BREAKS = (
    ('a function is gone', 'pfnl_errattr', 'pfnl_gone'),
    ('a function returns something else',
     r"(<function-decl name='pfnl_info'.*?<return type-id=')\w+(')", None),
    ('a struct has grown', r"(name='pfnl_setting' size-in-bits=')\d+(')",
     r'\g<1>64\g<2>'),
    ('a member has moved',
     r"(layout-offset-in-bits=')\d+('[^>]*>\s*<var-decl name='wish_off')",
     r'\g<1>8\g<2>'),
)
# This makes one of fewer functions, to which the real one adds.
ADDITION = r"<elf-symbol name='pfnl_version'[^>]*/>|" \
    r"<function-decl name='pfnl_version'.*?</function-decl>"


def fold(text):
    """The same with one line for each declaration."""
    lines = text.splitlines()
    out = [lines[0], SPDX]
    for line in lines[1:]:
        if len(line) - len(line.lstrip()) <= 4:
            out.append(line.strip())
        else:
            out[-1] += line.strip()
    return '\n'.join(out) + '\n'


def update(baseline, library, folders):
    """Writes the baseline."""
    words = [word for folder in folders for word in ('--headers-dir', folder)]
    done = subprocess.run([*WRITE, *words, library], text=True, check=True,
                          stdout=subprocess.PIPE)
    pathlib.Path(baseline).write_text(fold(done.stdout), encoding='ascii')
    return 0


def differs(text, library):
    """What abidiff says of a baseline, or '' if it finds no change."""
    with tempfile.NamedTemporaryFile('w', suffix='.abi',
                                     encoding='ascii') as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            ['abidiff', '--no-added-syms', file.name, library], text=True,
            check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode & ERROR:
        sys.exit(f'abidiff failed:\n{done.stdout}')
    return (done.stdout or 'a change') if done.returncode & CHANGE else ''


def altered(text, pattern, new):
    """The text with a change that must be possible."""
    if new is None:
        other = re.search(r"<function-decl name='pfnl_version'.*?"
                          r"<return type-id='(\w+)'", text, re.S)
        new = rf'\g<1>{other[1]}\g<2>'
    changed, count = re.subn(pattern, new, text, flags=re.S)
    if not count or changed == text:
        sys.exit(f'{pattern} is not in the baseline')
    return changed


def main(argv):
    """Returns the exit status."""
    if not (shutil.which('abidiff') and shutil.which('abidw')):
        print('skipped: no abidiff (package abigail-tools)')
        return SKIP
    if argv[0] == '--update':
        return update(argv[1], argv[2], argv[3:])
    baseline, library = argv
    text = pathlib.Path(baseline).read_text(encoding='ascii')
    failed = 0
    said = differs(text, library)
    if said:
        failed += 1
        print(f'the ABI has changed:\n{said}')
    if differs(altered(text, ADDITION, ''), library):
        failed += 1
        print('an addition is taken for a change')
    for what, pattern, new in BREAKS:
        if not differs(altered(text, pattern, new), library):
            failed += 1
            print(f'not noticed: {what}')
    print(f'{len(BREAKS) + 2 - failed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
