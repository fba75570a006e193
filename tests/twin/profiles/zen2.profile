# SPDX-License-Identifier: GPL-2.0-or-later
name      Zen 2 (Rome): no documented register
vendor    AuthenticAMD
family    0x17
model     0x31
stepping  0
machine   cpus=4 sockets=1 cores=2 threads=2

core      0,1
core      2,3
missing   0x1a4
missing   0xc0000108

cpuid     0x80000021 eax=0
