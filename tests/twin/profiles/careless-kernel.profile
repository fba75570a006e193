# SPDX-License-Identifier: GPL-2.0-or-later
name      A register that the kernel itself touches without care is missing
vendor    GenuineIntel
family    6
model     0x55
stepping  4
machine   cpus=2 sockets=1 cores=1 threads=2

core      0,1
register  0x1a4 cores=0
# Revision of the microcode: the kernel names the register that faulted.
missing   0x8b
