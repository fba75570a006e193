# SPDX-License-Identifier: GPL-2.0-or-later
name      Skylake: writing one core's register faults for a while
vendor    GenuineIntel
family    6
model     0x55
stepping  4
machine   cpus=4 sockets=1 cores=2 threads=2

core      0,1
core      2,3
register  0x1a4 cores=0 refuses=200-202
register  0x1a4 cores=1
