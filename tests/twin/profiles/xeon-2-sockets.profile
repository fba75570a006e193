# SPDX-License-Identifier: GPL-2.0-or-later
name      Xeon (Cascade Lake), two sockets of two cores with hyperthreads
vendor    GenuineIntel
family    6
model     0x55
stepping  7
machine   cpus=8 sockets=2 cores=2 threads=2

core      0,1
core      2,3
core      4,5
core      6,7
# Bits 4 to 63 are nobody's: firmware left some, and setting others faults.
register  0x1a4 cores=0-3 value=0x40 reserved=0xffffffffffffff00
