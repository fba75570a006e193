#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""build.py user-space | module KERNEL...: what scripts/vm builds, beforehand.

For progress that can be seen: scripts/vm builds the same, but in silence.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from vmlib import build, kernels  # noqa: E402
from vmlib.util import VmError  # noqa: E402

STATUS_GONE = 77


def main(argv):
    """Returns the exit status."""
    try:
        if argv == ["user-space"]:
            build.user_space()
        elif len(argv) > 1 and argv[0] == "module":
            for spec in argv[1:]:
                build.module(kernels.kernel(spec)[0])
        else:
            print(f"usage: {__doc__}", file=sys.stderr)
            return 2
    except kernels.KernelGone as error:
        print(f"build: {error}", file=sys.stderr)
        return STATUS_GONE
    except VmError as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
