// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * twin-mark: speaks to the twin from inside the guest, through the msr driver.
 *
 *   twin-mark learn        introduce every online CPU
 *   twin-mark mark VALUE   put a mark into the twin's log
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "twin.h"

/* Returns 0, or -1 after it has said what went wrong. */
static int write_msr(int cpu, uint32_t msr, uint64_t value)
{
	char path[64];
	ssize_t done;
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "twin-mark: %s: %s\n", path, strerror(errno));
		return -1;
	}
	done = pwrite(fd, &value, sizeof(value), (off_t)msr);
	if (done != (ssize_t)sizeof(value))
		fprintf(stderr, "twin-mark: %s: register 0x%x: %s\n", path, msr,
			done < 0 ? strerror(errno) : "short write");
	close(fd);
	return done == (ssize_t)sizeof(value) ? 0 : -1;
}

/* The driver executes the write on the CPU that the file is for. */
static int learn(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int learned = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		char path[64];

		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
		if (access(path, F_OK))
			continue; /* offline */
		if (write_msr(cpu, TWIN_MSR_LEARN, (uint64_t)cpu))
			return EXIT_FAILURE;
		learned++;
	}
	if (!learned) {
		fprintf(stderr,
			"twin-mark: no /dev/cpu/*/msr: load the msr driver\n");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static int mark(const char *text)
{
	uint64_t value;
	char *end;
	int cpu;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-') {
		fprintf(stderr, "twin-mark: %s: not a number\n", text);
		return 2;
	}
	cpu = sched_getcpu();
	if (cpu < 0)
		cpu = 0;
	return write_msr(cpu, TWIN_MSR_MARK, value) ? EXIT_FAILURE
						    : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "learn"))
		return learn();
	if (argc == 3 && !strcmp(argv[1], "mark"))
		return mark(argv[2]);
	fprintf(stderr, "usage: twin-mark learn | twin-mark mark VALUE\n");
	return 2;
}
