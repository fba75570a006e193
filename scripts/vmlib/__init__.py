# SPDX-License-Identifier: GPL-2.0-or-later
"""What scripts/vm is made of: private roots, kernels, images and QEMU."""
