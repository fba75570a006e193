# SPDX-License-Identifier: GPL-2.0-or-later
name      Skylake: one core lacks the register, one refuses to be written
vendor    GenuineIntel
family    6
model     0x55
stepping  4
machine   cpus=6 sockets=1 cores=3 threads=2

core      0,1
core      2,3
core      4,5
register  0x1a4 cores=0
register  0x1a4 cores=2 write-faults
