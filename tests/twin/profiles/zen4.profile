# SPDX-License-Identifier: GPL-2.0-or-later
name      Zen 4 (Genoa)
vendor    AuthenticAMD
family    0x19
model     0x11
stepping  1
machine   cpus=4 sockets=1 cores=2 threads=2

core      0,1
core      2,3
register  0xc0000108 cores=0,1 reserved=0xffffffffffffffd0
missing   0x1a4

cpuid     0x80000021 eax=0x2044
