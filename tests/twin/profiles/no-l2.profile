# SPDX-License-Identifier: GPL-2.0-or-later
name      Crestmont whose CPUID tells of no L2 cache, as under some hypervisors
vendor    GenuineIntel
family    6
model     0xaf
stepping  0
machine   cpus=4 sockets=1 cores=4 threads=1

core      0-3
register  0x1a4  cores=0
register  0x1320 cores=0
register  0x1321 cores=0

cpuid     0x1a eax=0x20000002
cpuid     4.0 eax=0x0c000121 ebx=0x01c0003f ecx=0x3f
cpuid     4.1 eax=0x0c000122 ebx=0x01c0003f ecx=0x7f
cpuid     4 eax=0
