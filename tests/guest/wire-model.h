/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A second opinion on requests: reads the bytes of a message as the contract
 * says, and tells how it has to be answered. Shares no code with the module.
 */
#ifndef PREFETCH_TEST_WIRE_MODEL_H
#define PREFETCH_TEST_WIRE_MODEL_H

#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>

/* The tasks that the model knows; every other number is nobody's. */
enum model_task {
	MODEL_CHILD,	    /* its first thread has the same number */
	MODEL_CHILD_THREAD, /* a thread that is not the first */
	MODEL_ZOMBIE,
	MODEL_TASKS
};

struct model_setting {
	uint32_t off;
	uint32_t on;
	bool inherit;
};

struct model {
	uint16_t family;
	uint32_t domains;
	uint32_t supported;
	uint32_t number[MODEL_TASKS];
	uint64_t start[MODEL_TASKS];
	struct model_setting process[MODEL_TASKS];
	struct model_setting thread[MODEL_TASKS];
	uint32_t default_off;
	uint32_t default_on;
};

/* How a message is to be answered. */
struct verdict {
	bool silent; /* not a request: nothing but an ACK, if asked for */
	int error;
	bool wordless; /* the kernel itself has no words for it */
	bool masks;    /* these are told in the reply */
	uint32_t off, on;
};

/* Judges, and does in the model what the message does in the kernel. */
struct verdict model_judge(struct model *m, const struct nlmsghdr *nlh);

/* Number of settings that there are. */
unsigned int model_settings(const struct model *m);

#endif
