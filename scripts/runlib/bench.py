#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/bench: what this tree costs."""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bench_client  # noqa: E402
import bench_shared  # noqa: E402
import bench_switch  # noqa: E402
import child  # noqa: E402

DESCRIPTION = """\
Measures what this tree costs.  Nothing is timed against a clock: figures are
numbers of instructions, counted by the emulator.
"""

EPILOG = """\
exit status: 0 measured and all bounds kept, 1 some bound is not kept, 125 it
could not be measured.
"""


def parse(argv):
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    bench_switch.options(what.add_parser(
        "switch", help="instructions that a context switch costs more"))
    bench_client.options(what.add_parser(
        "client", help="the library and the programs beside others"))
    return parser.parse_args(argv)


def main(argv):
    """Entry point; returns the exit status."""
    opt = parse(argv)
    child.catch_signals()
    try:
        if child.need_root():
            raise bench_shared.Failed(child.need_root())
        part = {"switch": bench_switch, "client": bench_client}[opt.what]
        return part.run(opt)
    except bench_shared.Failed as error:
        print(f"bench: {error}", file=sys.stderr)
        return 125
    except child.Interrupted as signal:
        print(f"bench: ended by {signal}", file=sys.stderr)
        return signal.status
    finally:
        child.stop_all()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
