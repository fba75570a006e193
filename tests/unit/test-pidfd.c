// SPDX-License-Identifier: GPL-2.0-or-later
/* pidfds of real children; the kernel that is asked is the fake one. */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"
#include "message.h"

struct child {
	pid_t pid;
	int fd;
};

static bool start(struct child *c)
{
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (!c->pid) {
		pause();
		_exit(0);
	}
	c->fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return c->fd >= 0;
}

static void end(struct child *c)
{
	assert_int_equal(kill(c->pid, SIGKILL), 0);
	assert_int_equal(waitpid(c->pid, NULL, 0), c->pid);
}

static struct fake_task *know(struct bench *b, const struct child *c)
{
	return fake_add_task(b->fake, (uint32_t)c->pid, (uint32_t)c->pid,
			     "child");
}

static void test_pid(void **state)
{
	struct child c;
	pid_t pid = 0;

	(void)state;
	assert_true(start(&c));
	assert_int_equal(pfnl_pidfd_pid(c.fd, &pid), 0);
	assert_int_equal(pid, c.pid);
	end(&c);
	assert_int_equal(pfnl_pidfd_pid(c.fd, &pid), -ESRCH);
	close(c.fd);
	assert_int_equal(pfnl_pidfd_pid(c.fd, &pid), -EBADF);
	assert_int_equal(pfnl_pidfd_pid(-1, &pid), -EBADF);
	/* A descriptor of something else. */
	c.fd = dup(0);
	assert_int_equal(pfnl_pidfd_pid(c.fd, &pid), -EBADF);
	close(c.fd);
	assert_int_equal(pid, c.pid);
}

static void test_set(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting s;
	struct child c;

	assert_true(start(&c));
	know(b, &c);
	q.off = 1;
	assert_int_equal(pfnl_setting_set_pidfd(b->h, c.fd, &q, &s), 0);
	assert_int_equal(s.pid, c.pid);
	assert_int_equal(s.off, 1);
	assert_int_equal(pfnl_setting_get_pidfd(b->h, c.fd, &s), 0);
	assert_int_equal(s.off, 1);
	end(&c);
	assert_int_equal(pfnl_setting_set_pidfd(b->h, c.fd, &q, NULL), -ESRCH);
	assert_int_equal(pfnl_setting_get_pidfd(b->h, c.fd, &s), -ESRCH);
	close(c.fd);
	assert_int_equal(pfnl_setting_set_pidfd(b->h, c.fd, &q, NULL), -EBADF);
}

static struct child dying;

/* Whoever looks up the pid gets the answer of another process. */
static void die(struct fake_bytes *bytes, void *arg)
{
	(void)bytes;
	(void)arg;
	if (dying.pid)
		end(&dying);
	dying.pid = 0;
}

static void test_dies_before_the_answer(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_info info;

	assert_int_equal(pfnl_info(b->h, &info), 0);
	assert_true(start(&dying));
	know(b, &dying);
	b->fake->edit = die;
	q.off = 1;
	assert_int_equal(pfnl_setting_set_pidfd(b->h, dying.fd, &q, NULL),
			 -ESRCH);
	assert_string_equal(pfnl_errmsg(b->h), "the process has exited");
	assert_int_equal(b->fake->n_settings, 0);
	close(dying.fd);
}

/* The pid is another's between the answer and the change. */
static void replace(struct fake_bytes *bytes, void *arg)
{
	struct fake *f = arg;

	(void)bytes;
	f->tasks[f->n_tasks - 1].start_time = 2;
}

static void test_start_time_is_sent(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct child c;

	assert_true(start(&c));
	know(b, &c)->start_time = 1;
	q.off = 1;
	assert_int_equal(pfnl_setting_set_pidfd(b->h, c.fd, &q, NULL), 0);
	b->fake->n_settings = 0;
	b->fake->edit = replace;
	b->fake->edit_arg = b->fake;
	b->fake->tasks[b->fake->n_tasks - 1].start_time = 1;
	assert_int_equal(pfnl_setting_set_pidfd(b->h, c.fd, &q, NULL), -ESRCH);
	assert_string_equal(pfnl_errattr(b->h), "start-time");
	assert_int_equal(b->fake->n_settings, 0);
	b->fake->edit = NULL;
	/* A module that tells none cannot be trusted with this. */
	b->fake->tasks[b->fake->n_tasks - 1].start_time = 0;
	assert_int_equal(pfnl_setting_set_pidfd(b->h, c.fd, &q, NULL),
			 -EOPNOTSUPP);
	end(&c);
	close(c.fd);
}

static void test_misuse(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;

	q.pid = 5;
	assert_int_equal(pfnl_setting_set_pidfd(b->h, 0, &q, NULL), -EINVAL);
	q.pid = 0;
	q.start_time = 1;
	assert_int_equal(pfnl_setting_set_pidfd(b->h, 0, &q, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_pid),
		BENCH_TEST(test_set),
		BENCH_TEST(test_dies_before_the_answer),
		BENCH_TEST(test_start_time_is_sent),
		BENCH_TEST(test_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
