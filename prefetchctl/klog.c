// SPDX-License-Identifier: GPL-2.0-or-later
/* What the module said in the kernel's log: it alone knows why it refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "absent.h"

/* Longer than any record of the kernel's log. */
#define RECORD_SIZE 8192

#define PREFIX	    "prefetch: "

/* The first that it says when it is loaded. */
#define FIRST "loading version "

/* Each line once, the last ones. */
static void keep(struct machine *machine, const char *line)
{
	size_t i;

	for (i = 0; i < machine->said_count; i++)
		if (!strcmp(machine->said[i], line))
			return;
	if (machine->said_count == MACHINE_SAID) {
		memmove(machine->said[0], machine->said[1],
			sizeof(machine->said[0]) * (MACHINE_SAID - 1));
		machine->said_count--;
	}
	snprintf(machine->said[machine->said_count++], sizeof(machine->said[0]),
		 "%s", line);
}

/* "6,339,5140900,-;prefetch: 2 cores, backend msr" */
static void read_record(struct machine *machine, char *record)
{
	char line[sizeof(machine->said[0])];
	char *text = strchr(record, ';');
	size_t i;

	if (!text || strncmp(text + 1, PREFIX, strlen(PREFIX)) != 0)
		return;
	text += 1 + strlen(PREFIX);
	/* The kernel says this of every module from outside its tree. */
	if (strstr(text, "taint"))
		return;
	for (i = 0; text[i] >= ' ' && text[i] <= '~' && i < sizeof(line) - 1;
	     i++)
		line[i] = text[i];
	line[i] = '\0';
	/* What was said before is of another time, with other parameters. */
	if (!strncmp(line, FIRST, strlen(FIRST)))
		machine->said_count = 0;
	keep(machine, line);
}

void machine_read_log(struct machine *machine)
{
	char buffer[RECORD_SIZE];
	char path[512];
	size_t used = 0;
	ssize_t got;
	char *end;
	int fd;

	snprintf(path, sizeof(path), "%s/dev/kmsg", machine_root());
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		machine->said_error = errno;
		return;
	}
	/* A record for each read, until there is none, or we were too slow. */
	while ((got = read(fd, buffer + used, sizeof(buffer) - 1 - used)) > 0) {
		char *begin = buffer;

		used += (size_t)got;
		buffer[used] = '\0';
		while ((end = strchr(begin, '\n'))) {
			*end = '\0';
			read_record(machine, begin);
			begin = end + 1;
		}
		used -= (size_t)(begin - buffer);
		memmove(buffer, begin, used);
		if (used > sizeof(buffer) / 2)
			used = 0;
	}
	/* There is no more now; anything else is an error. */
	if (got < 0 && errno != EAGAIN && errno != EPIPE)
		machine->said_error = errno;
	close(fd);
}
