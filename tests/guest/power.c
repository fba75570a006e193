// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs that go and come, and what the twin makes of their registers.
 */
#include "power.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "request.h"

#define MSR_TWIN_LOSE 0x400000fa

void twin_loses(uint32_t cores, uint64_t when)
{
	uint64_t value = when | cores;
	int fd = open("/dev/cpu/0/msr", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || pwrite(fd, &value, sizeof(value), MSR_TWIN_LOSE) !=
			      (ssize_t)sizeof(value))
		die("cannot speak to the twin: %s", strerror(errno));
	close(fd);
}

static int put_cpu(int cpu, const char *text, const char *what)
{
	unsigned long long id;
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	id = judge_turn(what, cpu);
	if (write(fd, text, 1) != 1)
		err = -errno;
	judge_turned(id, err);
	close(fd);
	return err;
}

int cpu_offline(int cpu)
{
	return put_cpu(cpu, "0", "offline");
}

int cpu_online(int cpu)
{
	return put_cpu(cpu, "1", "online");
}

void cpus_online(void)
{
	for (int cpu = 1; cpu < cpu_count(); cpu++)
		if (cpu_online(cpu))
			die("CPU %d does not come back", cpu);
	/* The kernel forgets where a task was pinned when its CPU goes. */
	pin(0, home_cpu());
}

void expect_in_twin(int domain, uint32_t value)
{
	mark_twin(options.mark);
	printf("twin at=0x%llx domain=%d value=0x%x\n",
	       (unsigned long long)options.mark, domain, value);
	options.mark++;
}
