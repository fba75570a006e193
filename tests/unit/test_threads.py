#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_threads.py PROGRAM: what ThreadSanitizer says of handles and threads."""
import subprocess
import sys

# As ThreadSanitizer ends a program in which it has found a race.
RACE = 66

SKIP = 77


def run(*words):
    """Exit status and output, at addresses that the sanitizer can use."""
    done = subprocess.run(['setarch', '-R', *words], text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors='replace')
    return done.returncode, done.stdout


def main(program):
    """Returns the exit status."""
    status, said = run('true')
    if status:
        print(f'skipped: {said.strip()}')
        return SKIP
    status, said = run(program)
    if status or 'ThreadSanitizer' in said:
        print(f'a handle for each thread: status {status}\n{said[-5000:]}')
        return 1
    status, said = run(program, 'shared')
    if status != RACE or 'data race' not in said:
        print(f'a shared handle, and nothing is seen: status {status}\n'
              f'{said[-5000:]}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
