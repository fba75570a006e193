# SPDX-License-Identifier: GPL-2.0-or-later
name      Zen 5 (Turin): bits 9 to 6 are firmware's
vendor    AuthenticAMD
family    0x1a
model     0x02
stepping  1
machine   cpus=4 sockets=1 cores=2 threads=2

core      0,1
core      2,3
register  0xc0000108 cores=0,1 value=0x3c0 reserved=0xfffffffffffffc10
missing   0x1a4

cpuid     0x80000021 eax=0x2044
