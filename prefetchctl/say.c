// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages on stderr, and the exit status that goes with each error. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "ctl.h"
#include "names.h"
#include "text.h"

static void start_line(struct ctl *ctl, const char *kind, const char *colour)
{
	/* What went before on stdout shall stand before the message. */
	fflush(stdout);
	fprintf(stderr, "prefetchctl: %s", ctl->where);
	if (*kind && colour_wanted(stderr))
		fprintf(stderr, "%s%s\033[0m", colour, kind);
	else
		fputs(kind, stderr);
}

int say_error(struct ctl *ctl, int status, const char *fmt, ...)
{
	va_list ap;

	start_line(ctl, "", "");
	va_start(ap, fmt);
	safe_vprint(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return status;
}

void say_warning(struct ctl *ctl, const char *fmt, ...)
{
	va_list ap;

	start_line(ctl, "warning: ", "\033[33m");
	va_start(ap, fmt);
	safe_vprint(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void say_more(const char *fmt, ...)
{
	va_list ap;

	fputs("  ", stderr);
	va_start(ap, fmt);
	safe_vprint(stderr, fmt, ap);
	va_end(ap);
}

int status_of_errno(int err)
{
	switch (err < 0 ? -err : err) {
	case 0:
		return STATUS_DONE;
	case EPERM:
	case EACCES:
		return STATUS_DENIED;
	case ESRCH:
		return STATUS_NO_TASK;
	case EOPNOTSUPP:
	case ENODEV:
		return STATUS_UNSUPPORTED;
	default:
		return STATUS_FAILED;
	}
}

int status_join(size_t done, size_t failed, int first_failure)
{
	if (!failed)
		return STATUS_DONE;
	return done ? STATUS_PARTLY : first_failure;
}
