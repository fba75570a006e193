// SPDX-License-Identifier: GPL-2.0-or-later
#include "caller.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int keep_capability(uid_t uid, int cap)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = { 0 };

	data[CAP_TO_INDEX(cap)].permitted = CAP_TO_MASK(cap);
	data[CAP_TO_INDEX(cap)].effective = CAP_TO_MASK(cap);
	if (prctl(PR_SET_KEEPCAPS, 1) || setgid(uid) || setuid(uid) ||
	    syscall(SYS_capset, &head, data))
		return errno;
	/* Or the test could not look at it in /proc. */
	prctl(PR_SET_DUMPABLE, 1);
	return 0;
}
