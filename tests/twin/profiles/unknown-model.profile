# SPDX-License-Identifier: GPL-2.0-or-later
name      An Intel model that no document of ours has
vendor    GenuineIntel
family    6
model     0xfe
stepping  0
machine   cpus=4 sockets=1 cores=2 threads=2

core      0,1
core      2,3
register  0x1a4 cores=0,1
