/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the module may be absent, read from the machine. */
#ifndef PREFETCHCTL_ABSENT_H
#define PREFETCHCTL_ABSENT_H

#include <stdbool.h>
#include <stdio.h>

/* Put before each path that is read from the machine; "" but in tests. */
const char *machine_root(void);

#define MACHINE_SAID 16

struct machine {
	char release[128];    /* of the kernel */
	char lockdown[32];    /* none, integrity, confidentiality; "" unknown */
	int secure_boot;      /* 1 on, 0 off, -1 unknown */
	bool module_here;     /* /sys/module/prefetch exists */
	int module_installed; /* 1 yes, 0 no, -1 unknown */
	bool hypervisor;      /* the CPU says that it runs under one */
	char vendor[32];      /* of the CPU; "" unknown */
	char cpu_name[64];    /* what it calls itself */
	char microcode[24];   /* its revision */
	long family, model, stepping; /* -1 unknown */
	unsigned long online_cpus;    /* how many; 0 unknown */
	unsigned long present_cpus;   /* online or not; 0 unknown */
	/* What the module said in the kernel's log since it was loaded last. */
	char said[MACHINE_SAID][256];
	size_t said_count;
	int said_error; /* errno: the log cannot be read */
};

void machine_read(struct machine *machine);
/* Part of it: how many CPUs are "online" or "present"; 0 if that is not known.
 */
unsigned long machine_cpus(const char *which);
/* Part of it: the kernel's log (klog.c), if we may read it. */
void machine_read_log(struct machine *machine);
/* The advice, one indented line a reason. */
void machine_advise(const struct machine *machine, FILE *out);

#endif
