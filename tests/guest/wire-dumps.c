// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dumps that somebody handles badly: closed half way, read in tiny pieces,
 * read on by another process or from another pid namespace; and dumps while
 * settings change, step by step.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crowd.h"
#include "harness.h"
#include "request.h"
#include "wire.h"

#define THREADS	  300
#define CLOSED	  rounds_of(6000)
#define WARM_UP	  (CLOSED / 6)
#define PIDS_MAX  65536
#define DONE_LEN  NLMSG_LENGTH(sizeof(int))
#define GROWTH_KB 200

struct board {
	pid_t tid[THREADS];
	unsigned char seen[PIDS_MAX];
	unsigned int strangers; /* objects that name nobody */
	bool interrupted;
	bool sent;
};

static struct board *board;
static struct request req;
static pid_t people;

static void see(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;
	uint32_t tid = 0;

	(void)arg;
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
	{
		if (mnl_attr_get_type(attr) == PREFETCH_A_SETTING_TID)
			tid = mnl_attr_get_u32(attr);
	}
	if (!tid || tid >= PIDS_MAX)
		board->strangers++;
	else
		board->seen[tid]++;
}

static void dump_send(struct wire *w, uint32_t pid)
{
	memset(board->seen, 0, sizeof(board->seen));
	board->strangers = 0;
	board->interrupted = false;
	request_begin(&req, w, PREFETCH_CMD_SETTING_GET,
		      NLM_F_REQUEST | NLM_F_DUMP);
	if (pid)
		request_u32(&req, PREFETCH_A_SETTING_PID, pid);
	request_send(w, &req);
}

/* Returns the number of messages that it came in. */
static unsigned int dump_read(struct check *c, struct wire *w)
{
	unsigned int parts = 1;
	struct answer a;

	answer_init(&a);
	while (!answer_read(w, &a, see, NULL))
		parts++;
	expect(c, !a.error, "the dump ended with %s", strerror(a.error));
	board->interrupted |= a.interrupted;
	return parts;
}

static void dump_read_one(struct check *c, struct wire *w)
{
	struct answer a;

	answer_init(&a);
	expect(c, !answer_read(w, &a, see, NULL), "the dump ended at once");
	board->interrupted |= a.interrupted;
}

/* Each thread from the first on is listed so often. */
static void expect_seen(struct check *c, const char *what, int first, int last,
			int times)
{
	for (int i = first; i < last; i++)
		expect(c, board->seen[board->tid[i]] == times,
		       "%s: thread %d of %d is listed %d times", what, i,
		       THREADS, board->seen[board->tid[i]]);
}

static void expect_flag(struct check *c, const char *what, bool flag)
{
	expect(c, board->interrupted == flag, "%s: %s", what,
	       flag ? "something was missed, and it was not said"
		    : "said to be interrupted, and nothing was missed");
}

static void begin(struct check *c, struct wire *w)
{
	people = crowd_start(THREADS, board->tid);
	for (int i = 0; i < THREADS; i++)
		expect(c, !set_tid(board->tid[i], L1_IP, 0), "set of thread %d",
		       i);
	wire_open(w);
}

static void end(struct wire *w)
{
	wire_close(w);
	crowd_end(people);
}

static void whole(struct check *c)
{
	unsigned int parts;
	struct wire w;

	begin(c, &w);
	dump_send(&w, 0);
	parts = dump_read(c, &w);
	expect(c, parts >= 4, "it came in %u messages only", parts);
	expect_seen(c, "whole", 0, THREADS, 1);
	expect_flag(c, "whole", false);
	expect(c, !board->strangers, "%u strangers", board->strangers);
	end(&w);
}

/* What is too long for the buffer is cut off; the dump goes on all the same. */
static void tiny(struct check *c)
{
	static const size_t sizes[] = { 0, 1, NLMSG_HDRLEN, 100 };
	unsigned char buf[100];
	struct wire w;

	begin(c, &w);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int fd = mnl_socket_get_fd(w.nl);
		unsigned int parts = 0;
		ssize_t len;

		dump_send(&w, 0);
		do {
			len = recv(fd, buf, sizes[i], MSG_TRUNC);
			parts++;
		} while (len > (ssize_t)DONE_LEN);
		expect(c, len == (ssize_t)DONE_LEN,
		       "buffer of %zu: no end: %zd", sizes[i], len);
		expect(c, parts >= 3, "buffer of %zu: %u messages", sizes[i],
		       parts);
		dump_send(&w, 0);
		dump_read(c, &w);
		expect_seen(c, "after tiny buffers", 0, THREADS, 1);
	}
	end(&w);
}

/* Unreclaimable memory, once what waits for RCU is gone. */
static long settled_kb(void)
{
	long least = read_field("/proc/meminfo", "SUnreclaim");

	for (int i = 0; i < 100; i++) {
		long now = read_field("/proc/meminfo", "SUnreclaim");

		if (now < least)
			least = now;
		nap();
	}
	return least;
}

static void close_some(struct check *c, unsigned long rounds)
{
	struct answer a;

	for (unsigned long i = 0; i < rounds; i++) {
		struct wire w;
		int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);

		if (fd < 0)
			die("no socket: %s", strerror(errno));
		w.nl = mnl_socket_fdopen(fd);
		w.family = req.nlh->nlmsg_type;
		w.seq = 0;
		dump_send(&w, i % 3 ? 0 : people);
		answer_init(&a);
		for (unsigned long part = 0; part < i % 4; part++)
			expect(c, !answer_read(&w, &a, NULL, NULL),
			       "the dump ended too soon");
		wire_close(&w);
	}
}

static void closed(struct check *c)
{
	unsigned long rounds = CLOSED;
	struct wire w;
	long before, after;

	begin(c, &w);
	dump_send(&w, 0);
	dump_read(c, &w);
	close_some(c, WARM_UP);
	before = settled_kb();
	close_some(c, rounds);
	if (memory_is_exact()) {
		wait_within(3000, settled_kb() - before < GROWTH_KB);
		after = settled_kb();
		expect(c, after - before < GROWTH_KB,
		       "%ld kB more after %lu dumps that were closed",
		       after - before, rounds);
	} else {
		after = settled_kb();
	}
	dump_send(&w, 0);
	dump_read(c, &w);
	expect_seen(c, "after closed ones", 0, THREADS, 1);
	end(&w);
	printf("figure %s closed=%lu growth_kb=%ld\n", c->name, rounds,
	       after - before);
}

/* In a child: goes on with a dump that its parent began. */
static void read_on(struct wire *w, const char *name)
{
	struct check mine = { .name = name };

	dump_read(&mine, w);
	_exit(mine.failed ? 1 : 0);
}

static void expect_good_end(struct check *c, pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("no child: %s", strerror(errno));
	expect(c, status == 0, "the child ended with status %d", status);
}

static void other_process(struct check *c)
{
	struct wire w;
	pid_t pid;

	begin(c, &w);
	dump_send(&w, 0);
	dump_read_one(c, &w);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (setgid(1000) || setuid(1000))
			_exit(2);
		read_on(&w, c->name);
	}
	expect_good_end(c, pid);
	expect_seen(c, "read by another", 0, THREADS, 1);
	expect(c, !board->strangers, "%u strangers", board->strangers);
	end(&w);
}

/* Begun here, read on from a namespace in which none of these tasks is. */
static void into_namespace(struct check *c)
{
	struct wire w;
	pid_t pid;
	int status;

	begin(c, &w);
	dump_send(&w, 0);
	dump_read_one(c, &w);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(2);
		pid = fork();
		if (!pid)
			read_on(&w, c->name);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			_exit(3);
		_exit(WEXITSTATUS(status));
	}
	expect_good_end(c, pid);
	expect_seen(c, "read in a namespace", 0, THREADS, 1);
	expect(c, !board->strangers, "%u strangers", board->strangers);
	end(&w);
}

/* Process 1 of a namespace, with threads and settings and a dump of them. */
static void live_in_namespace(struct wire *w)
{
	struct answer a;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	crowd_start(THREADS, board->tid);
	for (int i = 0; i < THREADS; i++) {
		request_begin(&req, w, PREFETCH_CMD_SETTING_SET,
			      NLM_F_REQUEST | NLM_F_ACK);
		request_u32(&req, PREFETCH_A_SETTING_TID, board->tid[i]);
		request_u32(&req, PREFETCH_A_SETTING_OFF, L1_STREAM);
		wire_ask(w, &req, &a);
		if (a.error)
			_exit(1);
	}
	dump_send(w, 0);
	board->sent = true;
	for (;;)
		pause();
}

/* Begun in a namespace, read on by one who sees far more. */
static void out_of_namespace(struct check *c)
{
	pid_t *outside = calloc(THREADS, sizeof(*outside));
	pid_t family;
	struct wire w;

	if (!outside)
		die("no memory");
	begin(c, &w);
	memcpy(outside, board->tid, sizeof(board->tid));
	board->sent = false;
	fflush(stdout);
	family = fork();
	if (!family) {
		if (unshare(CLONE_NEWPID))
			_exit(2);
		family = fork();
		if (!family)
			live_in_namespace(&w);
		for (;;)
			pause();
	}
	expect(c, wait_for(*(volatile bool *)&board->sent),
	       "no dump from the namespace");
	if (board->sent)
		dump_read(c, &w);
	expect_seen(c, "from a namespace", 0, THREADS, 1);
	expect(c, !board->strangers, "%u strangers", board->strangers);
	for (int i = 0; i < THREADS; i++)
		expect(c,
		       outside[i] <= THREADS + 10 || !board->seen[outside[i]],
		       "thread %d outside is told of", outside[i]);
	free(outside);
	kill(family, SIGKILL);
	waitpid(family, NULL, 0);
	/* Process 1 goes with its parent, and all of the namespace with it. */
	expect(c, wait_for(request_settings() == THREADS),
	       "%ld settings, although the namespace has ended",
	       request_settings());
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	end(&w);
}

struct meantime {
	const char *what;
	void (*act)(struct check *c, pid_t other);
	uint32_t filtered; /* a dump of the crowd's process alone */
	bool flag;	   /* something is missed */
	int first;	   /* threads from here on are listed once */
};

static void nothing(struct check *c, pid_t other)
{
	(void)c;
	(void)other;
}

static void change_all(struct check *c, pid_t other)
{
	(void)other;
	for (int i = 0; i < THREADS; i++)
		expect(c, !set_tid(board->tid[i], L2_STREAM, L1_IP),
		       "change of thread %d", i);
}

static void clear_half(struct check *c, pid_t other)
{
	(void)other;
	for (int i = 0; i < THREADS / 2; i++)
		expect(c, !clear_tid(board->tid[i]), "clear of thread %d", i);
}

static void come_and_go(struct check *c, pid_t other)
{
	expect(c, !set_pid(other, L1_IP, 0), "set of another");
	expect(c, !clear_pid(other), "clear of another");
}

static void come(struct check *c, pid_t other)
{
	expect(c, !set_pid(other, L1_IP, 0), "set of another");
}

static void come_to_people(struct check *c, pid_t other)
{
	(void)other;
	expect(c, !set_pid(people, L1_IP, 0), "set of the process");
}

static void again(struct check *c, pid_t other)
{
	(void)other;
	expect(c, !clear_tid(board->tid[0]), "clear of the first thread");
	expect(c, !set_tid(board->tid[0], L1_IP, 0), "set of the first thread");
}

static const struct meantime meantimes[] = {
	{ "nothing", nothing, 0, false, 0 },
	{ "each one changed", change_all, 0, false, 0 },
	{ "half of them cleared", clear_half, 0, false, THREADS / 2 },
	{ "one came and went", come_and_go, 0, false, 0 },
	{ "one came", come, 0, true, 0 },
	{ "one cleared and set again", again, 0, true, 1 },
	{ "nothing, of one process", nothing, 1, false, 0 },
	{ "one came elsewhere, of one process", come, 1, false, 0 },
	{ "one came, of one process", come_to_people, 1, true, 0 },
};

static void changes(struct check *c)
{
	pid_t other;
	struct wire w;

	fflush(stdout);
	other = fork();
	if (!other) {
		for (;;)
			pause();
	}
	for (size_t i = 0; i < ARRAY_SIZE(meantimes); i++) {
		const struct meantime *m = &meantimes[i];

		begin(c, &w);
		dump_send(&w, m->filtered ? people : 0);
		dump_read_one(c, &w);
		m->act(c, other);
		dump_read(c, &w);
		expect_seen(c, m->what, m->first, THREADS, 1);
		expect_flag(c, m->what, m->flag);
		clear_pid(other);
		end(&w);
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/* Nothing of all this holds on to the module. */
static void unload(struct check *c)
{
	int err = module_unload();

	expect(c, !err, "unload: %s", strerror(-err));
	err = module_load("");
	expect(c, !err, "load: %s", strerror(-err));
	request_end();
	request_init();
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "dumps_whole", whole },
		{ "dumps_tiny", tiny },
		{ "dumps_other_process", other_process },
		{ "dumps_into_namespace", into_namespace },
		{ "dumps_out_of_namespace", out_of_namespace },
		{ "dumps_changes", changes },
		{ "dumps_closed", closed },
		{ "dumps_unload", unload },
	};

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return 1;
	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
