# SPDX-License-Identifier: GPL-2.0-or-later
name      Knights Landing: the two switches the other way round
vendor    GenuineIntel
family    6
model     0x57
stepping  1
machine   cpus=4 sockets=1 cores=2 threads=2

core      0,1
core      2,3
register  0x1a4 cores=0,1 reserved=0xfffffffffffffffc
