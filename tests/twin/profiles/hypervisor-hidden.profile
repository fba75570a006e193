# SPDX-License-Identifier: GPL-2.0-or-later
name      A hypervisor that swallows the writes and does not tell that it is there
vendor    GenuineIntel
family    6
model     0x55
stepping  7
hypervisor no
machine   cpus=4 sockets=1 cores=2 threads=2

core      0,1
core      2,3
register  0x1a4 cores=0,1 ignores-writes
