# SPDX-License-Identifier: GPL-2.0-or-later
name      Airmont (Braswell): the register is there, and writing it faults
vendor    GenuineIntel
family    6
model     0x4c
stepping  3
machine   cpus=4 sockets=1 cores=4 threads=1

core      0
core      1
core      2
core      3
register  0x1a4 cores=0-3 write-faults
