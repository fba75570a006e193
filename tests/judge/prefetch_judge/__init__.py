# SPDX-License-Identifier: GPL-2.0-or-later
"""The judge: an independent model of what the registers had to show."""
