// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A million generated messages, each answer held against a second opinion.
 *
 * Every message comes from its own number alone, so a run is the same again,
 * and one that fails can be made again.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"
#include "wire.h"
#include "wire-generate.h"
#include "wire-model.h"

#define MESSAGES   rounds_of(1000000UL)
#define BROKEN	   rounds_of(50000UL)
#define BATCH	   64
#define WARM_UP	   (MESSAGES / 50)
#define GROWTH_KB  256
#define RECEIVE_KB 4096

struct sent {
	struct verdict verdict;
	bool ack;	      /* it asks for one */
	unsigned int objects; /* what came back */
	unsigned int errors;  /* of NLMSG_ERROR */
};

struct run {
	struct check *c;
	struct wire w;
	struct model m;
	bool broken; /* also what the netlink core itself logs */
	unsigned long granted, refused, dumps;
	struct sent sent[BATCH];
	uint32_t first; /* sequence number of the batch */
	unsigned int count;
	unsigned int expected; /* datagrams */
	_Alignas(4) unsigned char bytes[BATCH * 1024];
	size_t len;
};

static struct run run;
static struct request req;

static void add(unsigned long number)
{
	struct sent *s = &run.sent[run.count];
	const struct request *r;

	run.w.seq = run.first + run.count - 1;
	r = wire_generate(&run.m, &run.w, run.broken, number);
	memset(s, 0, sizeof(*s));
	s->ack = r->nlh->nlmsg_flags & NLM_F_ACK;
	s->verdict = model_judge(&run.m, r->nlh);
	if (s->verdict.silent)
		run.expected += s->ack;
	else if (s->verdict.error)
		run.expected++;
	else
		run.expected += 1 + s->ack;
	run.refused += !!s->verdict.error;
	run.granted += !s->verdict.error && !s->verdict.silent;
	memcpy(run.bytes + run.len, r->bytes, r->nlh->nlmsg_len);
	run.len += NLMSG_ALIGN(r->nlh->nlmsg_len);
	run.count++;
}

static void check_object(const struct nlmsghdr *nlh, const struct sent *s,
			 unsigned long number)
{
	const struct nlattr *attr;

	if (!s->verdict.masks)
		return;
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
	{
		uint16_t type = mnl_attr_get_type(attr);

		if (type == PREFETCH_A_SETTING_OFF)
			expect(run.c, mnl_attr_get_u32(attr) == s->verdict.off,
			       "message %lu: off is 0x%x, expected 0x%x",
			       number, mnl_attr_get_u32(attr), s->verdict.off);
		if (type == PREFETCH_A_SETTING_ON)
			expect(run.c, mnl_attr_get_u32(attr) == s->verdict.on,
			       "message %lu: on is 0x%x, expected 0x%x", number,
			       mnl_attr_get_u32(attr), s->verdict.on);
	}
}

static void check_error(const struct nlmsghdr *nlh, const struct sent *s,
			unsigned long number)
{
	struct answer a;

	answer_init(&a);
	answer_error(nlh, &a);
	expect(run.c, a.error == s->verdict.error,
	       "message %lu: %s (\"%s\"), expected %s", number,
	       strerror(a.error), a.text, strerror(s->verdict.error));
	if (a.error && !s->verdict.wordless)
		expect(run.c, a.text[0], "message %lu: %s without a word",
		       number, strerror(a.error));
}

/* A datagram is one message: an object, or an error or ACK. */
static void take(const struct nlmsghdr *nlh, size_t len, unsigned long number)
{
	uint32_t index = nlh->nlmsg_seq - run.first;
	struct sent *s = &run.sent[index];

	if (len < NLMSG_HDRLEN || nlh->nlmsg_len > len || index >= run.count) {
		expect(run.c, false, "near message %lu: a stray answer",
		       number);
		return;
	}
	number += index;
	if (nlh->nlmsg_type == NLMSG_ERROR) {
		s->errors++;
		check_error(nlh, s, number);
	} else {
		s->objects++;
		check_object(nlh, s, number);
	}
}

static void receive(unsigned long number)
{
	static _Alignas(4) unsigned char bufs[BATCH][8192];
	static struct mmsghdr msgs[BATCH];
	static struct iovec iovs[BATCH];
	unsigned int left = run.expected;
	int got;

	for (int i = 0; i < BATCH; i++) {
		iovs[i] = (struct iovec){ bufs[i], sizeof(bufs[i]) };
		msgs[i].msg_hdr.msg_iov = &iovs[i];
		msgs[i].msg_hdr.msg_iovlen = 1;
	}
	/* All answers are there when the sender is back. */
	for (;;) {
		got = recvmmsg(mnl_socket_get_fd(run.w.nl), msgs, BATCH,
			       MSG_DONTWAIT, NULL);
		if (got <= 0)
			break;
		for (int i = 0; i < got; i++)
			take((const void *)bufs[i], msgs[i].msg_len, number);
		left -= got;
	}
	expect(run.c, errno == EAGAIN, "reading: %s", strerror(errno));
	expect(run.c, !left, "near message %lu: %d answers too few", number,
	       (int)left);
}

static void flush(unsigned long number)
{
	if (mnl_socket_sendto(run.w.nl, run.bytes, run.len) < 0)
		die("cannot send a batch: %s", strerror(errno));
	receive(number);
	for (unsigned int i = 0; i < run.count; i++) {
		const struct sent *s = &run.sent[i];
		bool good = !s->verdict.silent && !s->verdict.error;

		expect(run.c, s->objects == good,
		       "message %lu: %u objects, expected %d", number + i,
		       s->objects, good);
		expect(run.c, s->errors == (s->ack || s->verdict.error),
		       "message %lu: %u errors and ACKs", number + i,
		       s->errors);
	}
	run.first += run.count;
	run.count = 0;
	run.len = 0;
	run.expected = 0;
}

/* Now and then all settings are listed, and compared in number. */
static void list(void)
{
	struct answer a;

	run.w.seq = run.first;
	request_begin(&req, &run.w, PREFETCH_CMD_SETTING_GET,
		      NLM_F_REQUEST | NLM_F_DUMP);
	wire_ask(&run.w, &req, &a);
	run.first = run.w.seq + 1;
	run.dumps++;
	expect(run.c, a.objects == model_settings(&run.m),
	       "%lu settings listed, expected %u", a.objects,
	       model_settings(&run.m));
}

static void send_many(unsigned long from, unsigned long to)
{
	for (unsigned long i = from; i < to;) {
		unsigned long begin = i;

		while (i < to && run.count < BATCH)
			add(i++);
		flush(begin);
		if (i / BATCH % 64 == 0)
			list();
		if (run.c->failed)
			return;
	}
}

static void *sleeper(void *arg)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	if (write(*(int *)arg, &tid, sizeof(tid)) != sizeof(tid))
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

static void find_people(void)
{
	siginfo_t info;
	int ends[2];
	pid_t pid, tid;

	pid = fork();
	if (!pid)
		_exit(0);
	if (pid < 0 || waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		die("no zombie: %s", strerror(errno));
	run.m.number[MODEL_ZOMBIE] = pid;
	if (pipe(ends))
		die("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, sleeper, &ends[1]))
			_exit(1);
		for (;;)
			pause();
	}
	if (pid < 0 || read(ends[0], &tid, sizeof(tid)) != sizeof(tid))
		die("no child: %s", strerror(errno));
	close(ends[0]);
	close(ends[1]);
	run.m.number[MODEL_CHILD] = pid;
	run.m.start[MODEL_CHILD] = get_pid(pid).start_time;
	run.m.number[MODEL_CHILD_THREAD] = tid;
	run.m.start[MODEL_CHILD_THREAD] = get_tid(tid).start_time;
}

static void begin(struct check *c, bool broken)
{
	struct pfnl_info i = info();
	int size = RECEIVE_KB * 1024;
	int on = 1;

	memset(&run, 0, sizeof(run));
	run.c = c;
	run.broken = broken;
	wire_open(&run.w);
	setsockopt(mnl_socket_get_fd(run.w.nl), SOL_SOCKET, SO_RCVBUFFORCE,
		   &size, sizeof(size));
	mnl_socket_setsockopt(run.w.nl, NETLINK_CAP_ACK, &on, sizeof(on));
	run.m.family = run.w.family;
	run.m.supported = i.supported;
	run.m.domains = i.domains;
	run.first = run.w.seq + 1;
	find_people();
}

static void end(void)
{
	kill(run.m.number[MODEL_CHILD], SIGKILL);
	waitpid(run.m.number[MODEL_CHILD], NULL, 0);
	waitpid(run.m.number[MODEL_ZOMBIE], NULL, 0);
	set_default(0, 0);
	wire_close(&run.w);
}

/* The kernel's log from here on. */
static int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
		die("cannot read the kernel's log: %s", strerror(errno));
	return fd;
}

static void expect_no_log(struct check *c, int fd)
{
	char line[1024];
	ssize_t len = read(fd, line, sizeof(line) - 1);

	if (len > 0)
		line[len] = '\0';
	expect(c, len < 0 && errno == EAGAIN, "the kernel's log: %.200s",
	       len > 0 ? line : strerror(errno));
	close(fd);
}

static void expect_no_growth(struct check *c, long before)
{
	long grown;

	/* What waits for RCU goes by and by. */
	wait_within(5000, (grown = read_field("/proc/meminfo", "SUnreclaim") -
				   before) < GROWTH_KB);
	expect(c, grown < GROWTH_KB || !memory_is_exact(), "%ld kB more memory",
	       grown);
	printf("figure %s messages=%lu refused=%lu granted=%lu dumps=%lu "
	       "growth_kb=%ld seed=0x%llx\n",
	       c->name, run.refused + run.granted, run.refused, run.granted,
	       run.dumps, grown, (unsigned long long)WIRE_SEED);
}

static void random_messages(struct check *c)
{
	unsigned long count = MESSAGES;
	long before;
	int log;

	begin(c, false);
	log = log_open();
	send_many(0, WARM_UP);
	before = read_field("/proc/meminfo", "SUnreclaim");
	send_many(WARM_UP, count);
	expect_no_growth(c, before);
	expect_no_log(c, log);
	expect(c,
	       info().default_off == run.m.default_off &&
		       info().default_on == run.m.default_on,
	       "the default is 0x%x off and 0x%x on, expected 0x%x and 0x%x",
	       info().default_off, info().default_on, run.m.default_off,
	       run.m.default_on);
	expect(c, run.granted > count / 5 && run.refused > count / 5,
	       "%lu granted and %lu refused say little", run.granted,
	       run.refused);
	end();
}

/* Also wrong lengths, of which the netlink core itself tells the log. */
static void broken_messages(struct check *c)
{
	begin(c, true);
	send_many(0, BROKEN);
	expect_no_growth(c, read_field("/proc/meminfo", "SUnreclaim"));
	end();
}

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
		{ "random_messages", random_messages },
		{ "random_broken", broken_messages },
		{ "random_unload", unload },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
