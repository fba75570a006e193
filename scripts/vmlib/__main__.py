# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot a guest with the prefetch module and run a command in it."""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from vmlib.main import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
