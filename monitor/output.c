// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines on stdout. Signals are blocked but while we wait, so that no line is
 * cut in two by one, and a reader that has stopped reading cannot keep the
 * monitor from ending.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "monitor.h"

#define SECOND INT64_C(1000000000)
/* How long the last lines may take, with a slow reader or in a storm. */
#define LAST_WAIT (SECOND / 2)
/* A pipe that polls as writable takes this much without blocking. */
#define CHUNK ((size_t)PIPE_BUF)
/* How often a terminal that does not take what we write is looked at. */
#define TICK_US 100000

static volatile sig_atomic_t stop;
static sigset_t waiting_mask; /* while we wait, signals come in */
static bool closed, expired;
static bool terminal;
static bool torn; /* a line was left half written: nothing may follow it */
static uint64_t deadline; /* monotonic; 0: none */
static uint64_t last;	  /* after a stop, when waiting ends; 0: no stop yet */

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

bool output_closed(void)
{
	return closed;
}

bool output_expired(void)
{
	return expired;
}

/* Time that may still be waited, negative: any. */
static int64_t time_left(void)
{
	uint64_t now = now_monotonic();
	uint64_t end = deadline;

	if (stop) {
		if (!last)
			last = now + (uint64_t)LAST_WAIT;
		end = last;
	}
	if (!end)
		return -1;
	return end > now ? (int64_t)(end - now) : 0;
}

bool output_stopped(void)
{
	sigset_t pending;

	/* While there is always something to do, ppoll() lets no signal in. */
	if (!stop && !sigpending(&pending))
		stop = sigismember(&pending, SIGINT) == 1 ||
		       sigismember(&pending, SIGTERM) == 1;
	if (!stop && deadline && !time_left())
		stop = expired = true;
	return stop;
}

bool output_may_go_on(void)
{
	return !closed && !torn && time_left() != 0;
}

/*
 * A terminal that takes a part may not take the rest: it was stopped, or nobody
 * reads what it shows. When the time is up, what it holds is thrown away.
 */
static void on_tick(int number)
{
	int err = errno;

	(void)number;
	if (output_stopped() && !time_left()) {
		/* Only what was stopped in this way can be started. */
		tcflow(STDOUT_FILENO, TCOOFF);
		tcflow(STDOUT_FILENO, TCOON);
		tcflush(STDOUT_FILENO, TCOFLUSH);
	}
	errno = err;
}

static void tick_every(int us)
{
	const struct itimerval interval = {
		.it_interval.tv_usec = us,
		.it_value.tv_usec = us,
	};

	if (terminal)
		setitimer(ITIMER_REAL, &interval, NULL);
}

void output_terminal_begin(void)
{
	tick_every(TICK_US);
}

void output_terminal_end(void)
{
	tick_every(0);
}

void output_begin(int64_t duration)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction tick = { .sa_handler = on_tick };
	sigset_t mask;

	stop = 0;
	closed = false;
	expired = false;
	torn = false;
	last = 0;
	deadline = duration ? now_monotonic() + (uint64_t)duration : 0;
	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigprocmask(SIG_BLOCK, &mask, &waiting_mask);
	/* A caller may have started us with the two blocked. */
	sigdelset(&waiting_mask, SIGINT);
	sigdelset(&waiting_mask, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	terminal = isatty(STDOUT_FILENO) == 1;
	if (!terminal)
		return;
	/* As it may belong to others, who stop those in the background. */
	sigemptyset(&tick.sa_mask);
	sigaddset(&tick.sa_mask, SIGTTOU);
	sigaction(SIGALRM, &tick, NULL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
}

static struct timespec *to_timespec(int64_t ns, struct timespec *ts)
{
	if (ns < 0)
		return NULL;
	ts->tv_sec = (time_t)(ns / SECOND);
	ts->tv_nsec = (long)(ns % SECOND);
	return ts;
}

/* Wait until stdout takes something. */
static enum written wait_writable(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	struct timespec ts;
	int n;

	/* A signal makes it time to end, which time_left() knows. */
	do {
		n = ppoll(&out, 1, to_timespec(time_left(), &ts),
			  &waiting_mask);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return WRITE_FAILED;
	if (!n) {
		expired |= !stop;
		stop = 1;
		return WRITE_STOPPED;
	}
	if (out.revents & POLLERR) {
		closed = true;
		return WRITE_CLOSED;
	}
	return WRITTEN;
}

enum written output_line(const char *text, size_t len)
{
	size_t whole = len;

	while (len) {
		enum written state = torn ? WRITE_STOPPED : wait_writable();
		ssize_t n;

		if (state != WRITTEN) {
			torn |= len < whole;
			return state;
		}
		output_terminal_begin();
		n = write(STDOUT_FILENO, text, len < CHUNK ? len : CHUNK);
		output_terminal_end();
		if (n < 0 && errno == EPIPE) {
			closed = true;
			return WRITE_CLOSED;
		}
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return WRITE_FAILED;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return WRITTEN;
}

bool output_readable(int fd)
{
	struct pollfd in = { .fd = fd, .events = POLLIN };

	return poll(&in, 1, 0) > 0;
}

bool output_wait(int fd, int64_t timeout)
{
	int64_t left = time_left();

	struct pollfd fds[2] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = STDOUT_FILENO, .events = 0 },
	};
	struct timespec ts;
	int n;

	if (timeout < 0 || (left >= 0 && left < timeout))
		timeout = left;
	n = ppoll(fds, 2, to_timespec(timeout, &ts), &waiting_mask);
	if (output_stopped())
		return false;
	/* The reader of a pipe or socket has gone: do not wait for an event. */
	if (n > 0 && (fds[1].revents & (POLLERR | POLLHUP))) {
		closed = true;
		return false;
	}
	return true;
}
