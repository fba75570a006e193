// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * pidfds. A module cannot look one up, so its pid is read from /proc and sent
 * with the start time of the process, which is asked for while the pidfd shows
 * that the process lives.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* "Pid:" of the file's lines: 0, -EBADF if it has no such line. */
static int read_pid(FILE *file, long *pid)
{
	char line[256];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Pid: %ld", pid) == 1)
			return 0;
	return ferror(file) ? -EIO : -EBADF;
}

int pfnl_pidfd_pid(int pidfd, pid_t *pid)
{
	char path[64];
	long found;
	FILE *file;
	int r;

	if (pidfd < 0)
		return -EBADF;
	snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%d", pidfd);
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? -EBADF : -errno;
	r = read_pid(file, &found);
	fclose(file);
	if (r)
		return r;
	/* -1: reaped; 0: of a pid namespace that cannot be seen from here. */
	if (found <= 0)
		return -ESRCH;
	*pid = (pid_t)found;
	return 0;
}

/* A pidfd is readable once its process has exited. */
static int check_lives(struct pfnl *h, int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int r;

	do {
		r = poll(&p, 1, 0);
	} while (r < 0 && errno == EINTR);
	if (r == 0)
		return 0;
	if (r < 0)
		return pfnl_fail(h, -errno, "cannot poll the pidfd");
	return pfnl_fail(h, -ESRCH, "the process has exited");
}

static int find_pid(struct pfnl *h, int pidfd, pid_t *pid)
{
	char buf[64];
	int r;

	r = pfnl_pidfd_pid(pidfd, pid);
	if (r == -EBADF)
		return pfnl_fail(h, r, "descriptor %d is not a pidfd", pidfd);
	if (r == -ESRCH)
		return pfnl_fail(h, r,
				 "the process has exited, or is not "
				 "visible in this pid namespace");
	if (r)
		return pfnl_fail(h, r, "cannot read the pid of a pidfd: %s",
				 pfnl_strerror(r, buf, sizeof(buf)));
	return 0;
}

int pfnl_setting_get_pidfd(struct pfnl *h, int pidfd,
			   struct pfnl_setting *setting)
{
	pid_t pid;
	int r;

	pfnl_clear_error(h);
	r = find_pid(h, pidfd, &pid);
	if (!r)
		r = pfnl_setting_get(h, pid, 0, setting);
	return r ? r : check_lives(h, pidfd);
}

int pfnl_setting_set_pidfd(struct pfnl *h, int pidfd,
			   const struct pfnl_setting_request *request,
			   struct pfnl_setting *result)
{
	struct pfnl_setting_request with_pid = *request;
	struct pfnl_setting now;
	int r;

	pfnl_clear_error(h);
	if (request->pid || request->tid || request->start_time)
		return pfnl_fail(h, -EINVAL,
				 "a request for a pidfd has its own pid, tid "
				 "or start time");
	r = pfnl_setting_get_pidfd(h, pidfd, &now);
	if (r)
		return r;
	/* Without a time nothing would keep the pid from being another's. */
	if (!now.start_time)
		return pfnl_fail(h, -EOPNOTSUPP,
				 "the module tells no start times");
	with_pid.pid = now.pid;
	with_pid.start_time = now.start_time;
	return pfnl_setting_set(h, &with_pid, result);
}
