# SPDX-License-Identifier: GPL-2.0-or-later
name      Goldmont (Apollo Lake): two switches only, reserved bits fault
vendor    GenuineIntel
family    6
model     0x5c
stepping  9
machine   cpus=4 sockets=1 cores=4 threads=1

core      0
core      1
core      2
core      3
register  0x1a4 cores=0-3 reserved=0xfffffffffffffffa
