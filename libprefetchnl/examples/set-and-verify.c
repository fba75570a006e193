// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Switches prefetchers off for a process, and verifies it on the cores that run
 * it: set-and-verify PID NAME...
 *
 *	cc set-and-verify.c $(pkg-config --cflags --libs prefetchnl)
 */
#include <prefetchnl.h>
#include <stdio.h>
#include <stdlib.h>

struct question {
	uint32_t pid;
	uint32_t off;
	int cores; /* that run it */
	int wrong;
};

static int check_core(const struct pfnl_core *core, void *arg)
{
	struct question *q = arg;
	size_t i;

	for (i = 0; i < core->n_cpus; i++) {
		if (!core->cpus[i].has_task || core->cpus[i].pid != q->pid)
			continue;
		q->cores++;
		/* A prefetcher that this kind of core lacks needs no switch. */
		if ((core->read & core->supported) !=
		    (core->read | (q->off & core->supported)))
			q->wrong++;
		return 0;
	}
	return 0;
}

static int fail(struct pfnl *h, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, pfnl_errmsg(h));
	pfnl_close(h);
	return 1;
}

int main(int argc, char **argv)
{
	struct pfnl_setting_request request = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting setting;
	struct question q = { 0 };
	uint32_t mask;
	struct pfnl *h;
	int i;

	if (argc < 3 || pfnl_open(&h))
		return 2;
	request.pid = q.pid = (uint32_t)strtoul(argv[1], NULL, 10);
	for (i = 2; i < argc; i++) {
		if (pfnl_name_to_mask(argv[i], &mask, NULL)) {
			fprintf(stderr, "unknown prefetcher %s\n", argv[i]);
			pfnl_close(h);
			return 2;
		}
		request.off |= mask;
	}
	/* The answer is the setting that results, not what was asked for. */
	if (pfnl_setting_set(h, &request, &setting))
		return fail(h, "set");
	q.off = request.off;
	if ((setting.wish_off & q.off) != q.off)
		printf("a thread's setting wins over that of its process\n");
	/* Reading the registers back needs CAP_SYS_ADMIN. */
	if (pfnl_core_list(h, true, NULL, check_core, &q))
		return fail(h, "verify");
	pfnl_close(h);
	printf("pid %u runs on %d cores, %d of them wrong\n", q.pid, q.cores,
	       q.wrong);
	return q.wrong ? 1 : 0;
}
