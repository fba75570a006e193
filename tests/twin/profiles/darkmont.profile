# SPDX-License-Identifier: GPL-2.0-or-later
name      Darkmont: two modules of two E-cores, three registers
vendor    GenuineIntel
family    6
model     0xcc
stepping  1
machine   cpus=4 sockets=1 cores=4 threads=1

core      0,1
core      2,3
register  0x1a4  cores=0,1 reserved=0xffffffffffffe000
register  0x1320 cores=0,1 value=0x5
register  0x1321 cores=0,1 value=0x100000
register  0x1327 cores=0,1 value=0x4000000

cpuid     0x1a eax=0x20000004
cpuid     4.0 eax=0x0c000121 ebx=0x01c0003f ecx=0x3f
cpuid     4.1 eax=0x0c000122 ebx=0x01c0003f ecx=0x7f
cpuid     4.2 eax=0x0c004143 ebx=0x03c0003f ecx=0x7ff
cpuid     4 eax=0
