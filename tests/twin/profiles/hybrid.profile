# SPDX-License-Identifier: GPL-2.0-or-later
name      Alder Lake: two P-cores with hyperthreads, one module of four E-cores
vendor    GenuineIntel
family    6
model     0x97
stepping  2
machine   cpus=4 sockets=1 cores=8 threads=2
plug      core=4
plug      core=5
plug      core=6
plug      core=7

core      0,1
core      2,3
core      8,10,12,14
# Bit 11 is a counter's, 20 and others of 0x1321 a throttler's.
register  0x1a4  cores=0,1 value=0x800
register  0x1a4  cores=2 reserved=0x2
register  0x1320 cores=2 value=0x123
register  0x1321 cores=2 value=0x100010

cpuid     0x1a cpus=0-3 eax=0x40000001
cpuid     0x1a cpus=8,10,12,14 eax=0x20000001
# Caches: type, level and CPUs that share; L2 for two, or for eight ids.
cpuid     4.0 cpus=0-3 eax=0x1c004121 ebx=0x02c0003f ecx=0x3f
cpuid     4.1 cpus=0-3 eax=0x1c004122 ebx=0x01c0003f ecx=0x3f
cpuid     4.2 cpus=0-3 eax=0x1c004143 ebx=0x0240003f ecx=0x7ff
cpuid     4.3 cpus=0-3 eax=0x1c03c163 ebx=0x02c0003f ecx=0x7fff edx=4
cpuid     4.0 cpus=8,10,12,14 eax=0x1c000121 ebx=0x01c0003f ecx=0x3f
cpuid     4.1 cpus=8,10,12,14 eax=0x1c000122 ebx=0x01c0003f ecx=0x7f
cpuid     4.2 cpus=8,10,12,14 eax=0x1c01c143 ebx=0x03c0003f ecx=0x7ff
cpuid     4.3 cpus=8,10,12,14 eax=0x1c03c163 ebx=0x02c0003f ecx=0x7fff edx=4
cpuid     4 eax=0
# Topology: two ids a core everywhere, also where only one is used.
cpuid     0xb.0 cpus=0-3 eax=1 ebx=2 ecx=0x100 edx=apic-id
cpuid     0xb.0 cpus=8,10,12,14 eax=1 ebx=1 ecx=0x100 edx=apic-id
cpuid     0xb.1 eax=4 ebx=8 ecx=0x201 edx=apic-id
cpuid     0xb.2 ecx=2 edx=apic-id
