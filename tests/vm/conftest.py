# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes scripts/vmlib importable."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
