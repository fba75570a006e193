// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A whole run of prefetchctl with a batch file, on a fake kernel. The first
 * byte has the options, the rest is the file.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl.h"
#include "fuzz.h"

#define MODE_KEEP_GOING 1u
#define MODE_JSON	2u
#define MODE_ABSENT	4u /* the module is not loaded */

static const char machine[] =
	"task pid=100 tid=100 comm=server start=1000000\n"
	"task pid=100 tid=101 comm=worker start=1000001\n"
	"task pid=200 tid=200 comm=other start=2000000 denied=1\n"
	"cpu id=0 domain=0 pid=100 tid=100\n"
	"cpu id=1 domain=0\n"
	"cpu id=2 domain=1\n"
	"setting pid=100 off=1 inherit=1\n";

static int memory_file(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	size_t done = 0;

	HOLDS(fd >= 0);
	while (done < size) {
		ssize_t n = write(fd, (const char *)data + done, size - done);

		HOLDS(n > 0);
		done += (size_t)n;
	}
	return fd;
}

static const char *path_of(int fd, char path[32])
{
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return path;
}

static void scenario(bool loaded)
{
	static char paths[2][32];
	static int fds[2] = { -1, -1 };
	static const char absent[] = "module loaded=0\n";

	if (fds[0] < 0) {
		fds[0] = memory_file(machine, sizeof(machine) - 1);
		fds[1] = memory_file(absent, sizeof(absent) - 1);
		path_of(fds[0], paths[0]);
		path_of(fds[1], paths[1]);
		/* Nothing of this machine gets into what is found. */
		setenv("PREFETCH_TEST_ROOT", "/nonexistent", 1);
	}
	setenv("PREFETCH_FAKE", paths[loaded ? 0 : 1], 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t mode = take_u8(&in);
	char program[] = "prefetchctl";
	char json[] = "--json";
	char batch[] = "batch";
	char keep_going[] = "-k";
	char path[32];
	char *argv[6] = { program };
	size_t n = 1;
	int status;
	int fd;

	/* These look at the processes of this machine, by the thousand. */
	if (memmem(in.data, in.size, "tree", 4))
		return 0;
	scenario(!(mode & MODE_ABSENT));
	fd = memory_file(in.data, in.size);
	if (mode & MODE_JSON)
		argv[n++] = json;
	argv[n++] = batch;
	if (mode & MODE_KEEP_GOING)
		argv[n++] = keep_going;
	path_of(fd, path);
	argv[n++] = path;
	status = ctl_main(argv);
	HOLDS(status == STATUS_DONE || status == STATUS_PARTLY ||
	      (status == STATUS_UNSUPPORTED && mode & MODE_ABSENT));
	close(fd);
	return 0;
}
