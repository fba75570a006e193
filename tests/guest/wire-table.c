// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each case of the table is asked, and error, words and attribute compared.
 * Nothing that was refused may have changed anything.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"
#include "wire.h"
#include "wire-cases.h"

#define USER	   1000
#define HIGHEST_ID 4194303 /* of a pid, and far more than a guest gets to */

static uint32_t number_of[THE_DEAD + 1];
static struct request req;

static void *sleeper(void *arg)
{
	*(volatile pid_t *)arg = (pid_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

static pid_t second_thread(void)
{
	static volatile pid_t tid;
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleeper, (void *)&tid))
		die("no second thread");
	while (!tid)
		nap();
	return tid;
}

/* A child with two threads; tells the number of the second. */
static pid_t two_threads(pid_t *second)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		die("no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		pid_t tid = second_thread();

		if (write(ends[1], &tid, sizeof(tid)) != sizeof(tid))
			_exit(1);
		for (;;)
			pause();
	}
	if (pid < 0 ||
	    read(ends[0], second, sizeof(*second)) != sizeof(*second))
		die("no child: %s", strerror(errno));
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static pid_t dead_child(void)
{
	siginfo_t info;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		die("no zombie: %s", strerror(errno));
	return pid;
}

static void find_people(void)
{
	pid_t second;

	number_of[NOBODY] = HIGHEST_ID;
	number_of[THE_DEAD] = dead_child();
	waitpid(number_of[THE_DEAD], NULL, 0);
	number_of[A_ZOMBIE] = dead_child();
	number_of[A_CHILD] = two_threads(&second);
	number_of[ITS_THREAD] = second;
	number_of[ME] = getpid();
	number_of[MY_THREAD] = second_thread();
}

static void end_people(void)
{
	kill(number_of[A_CHILD], SIGKILL);
	waitpid(number_of[A_CHILD], NULL, 0);
	waitpid(number_of[A_ZOMBIE], NULL, 0);
}

static int put_piece(struct request *r, const struct piece *p)
{
	static const char zeros[WIRE_MAX];
	uint32_t inner[2] = { NLA_HDRLEN + 4, (uint32_t)p->value };
	uint64_t start;
	int at;

	switch (p->kind) {
	case PIECE_U32:
		return request_u32(r, p->type, p->value);
	case PIECE_U64:
		return request_u64(r, p->type, p->value);
	case PIECE_WHO:
		return request_u32(r, p->type, number_of[p->who]);
	case PIECE_START:
		start = get_pid(number_of[p->who]).start_time + p->value;
		return request_u64(r, p->type, start);
	case PIECE_LONG:
		return request_raw(r, p->type, NLA_HDRLEN + p->value, zeros,
				   p->value);
	case PIECE_LIE:
		return request_raw(r, p->type, p->value, zeros, 4);
	case PIECE_NEST:
		return request_raw(r, p->type | NLA_F_NESTED,
				   NLA_HDRLEN + sizeof(inner), inner,
				   sizeof(inner));
	case PIECE_TAIL:
		at = (int)r->nlh->nlmsg_len;
		memset(r->bytes + at, 0xff, p->value);
		r->nlh->nlmsg_len += p->value;
		return at;
	default:
		die("a piece of kind %d", p->kind);
	}
}

/* 6.1 gives the start of a dump no place for its words. */
static bool dumps_are_mute(void)
{
	struct utsname u;
	int major, minor;

	if (uname(&u) || sscanf(u.release, "%d.%d", &major, &minor) != 2)
		die("which kernel is this?");
	return major == 6 && minor < 7;
}

static void ask(struct check *c, struct wire *w, const struct wire_case *k)
{
	int at[ARRAY_SIZE(k->pieces)];
	int expected_at = -1;
	bool mute = k->ours && dumps_are_mute();
	const char *text = k->text && !mute ? k->text : "";
	struct answer a;

	request_begin(&req, w, k->cmd,
		      NLM_F_REQUEST | (k->flags & NLM_F_DUMP ? 0 : NLM_F_ACK) |
			      k->flags);
	for (size_t i = 0; i < ARRAY_SIZE(at) && k->pieces[i].kind; i++)
		at[i] = put_piece(&req, &k->pieces[i]);
	if (k->at && !mute)
		expected_at = at[k->at - 1];
	wire_ask(w, &req, &a);

	expect(c, a.error == k->error, "%s: %s, expected %s (\"%s\")", k->name,
	       strerror(a.error), strerror(k->error), a.text);
	expect(c, strstr(a.text, text), "%s: \"%s\" lacks \"%s\"", k->name,
	       a.text, text);
	if (!k->error)
		expect(c, !a.text[0], "%s: granted, and says \"%s\"", k->name,
		       a.text);
	/* The kernel itself has no words for commands that there are not. */
	else if (k->error != EOPNOTSUPP && !mute)
		expect(c, a.text[0], "%s: refused without a word", k->name);
	expect(c, a.at == expected_at, "%s: attribute at %d, expected %d",
	       k->name, a.at, expected_at);
	expect(c, a.missing == (k->missing ? k->missing : -1),
	       "%s: missing %d, expected %d", k->name, a.missing, k->missing);
	expect(c, k->error ? !a.objects : a.objects || k->flags == NLM_F_DUMP,
	       "%s: %lu objects", k->name, a.objects);
}

static void clear_all(void)
{
	clear_pid(number_of[A_CHILD]);
	clear_pid(number_of[ME]);
}

/* As another user, in a child of its own. */
static void ask_as_nobody(struct check *c, const struct wire_case *k)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct check mine = { .name = k->name };
		struct wire w;

		if (setgid(USER) || setuid(USER))
			_exit(2);
		wire_open(&w);
		ask(&mine, &w, k);
		if (mine.failed)
			printf("as a user: %s\n", mine.reason);
		fflush(stdout);
		_exit(mine.failed ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	expect(c, status == 0, "%s: see above, status %d", k->name, status);
}

static void table(struct check *c)
{
	struct wire w;

	find_people();
	wire_open(&w);
	for (size_t i = 0; i < wire_case_count; i++) {
		const struct wire_case *k = &wire_cases[i];

		if (k->nobody)
			ask_as_nobody(c, k);
		else
			ask(c, &w, k);
		if (k->error)
			expect(c, request_settings() == 0,
			       "%s: refused, and a setting is there", k->name);
		clear_all();
	}
	wire_close(&w);
	end_people();
	printf("figure %s cases=%zu\n", c->name, wire_case_count);
}

struct header_case {
	const char *name;
	uint32_t len;	   /* of the message; 0: as it is */
	uint16_t reserved; /* in the header of genetlink */
	uint8_t version;
	uint16_t type; /* 0: the family */
	int error;
	const char *text;
};

static const struct header_case header_cases[] = {
	{ "as it is", .version = PREFETCH_FAMILY_VERSION },
	{ "another version", .version = 99 },
	{ "reserved bits", .reserved = 1, .error = EINVAL, .text = "reserved" },
	{ "no header of genetlink", .len = NLMSG_HDRLEN, .error = EINVAL },
	{ "half a header of genetlink", .len = NLMSG_HDRLEN + 2,
	  .error = EINVAL },
	{ "no such family", .type = 0x3ff, .error = ENOENT },
};

static void headers(struct check *c)
{
	struct answer a;
	struct wire w;

	wire_open(&w);
	for (size_t i = 0; i < ARRAY_SIZE(header_cases); i++) {
		const struct header_case *k = &header_cases[i];
		struct genlmsghdr *genl;

		request_begin(&req, &w, PREFETCH_CMD_INFO_GET,
			      NLM_F_REQUEST | NLM_F_ACK);
		genl = mnl_nlmsg_get_payload(req.nlh);
		genl->version = k->version;
		genl->reserved = k->reserved;
		if (k->len)
			req.nlh->nlmsg_len = k->len;
		if (k->type)
			req.nlh->nlmsg_type = k->type;
		wire_ask(&w, &req, &a);
		expect(c, a.error == k->error, "%s: %s, expected %s", k->name,
		       strerror(a.error), strerror(k->error));
		if (k->text)
			expect(c, strstr(a.text, k->text), "%s: \"%s\"",
			       k->name, a.text);
	}
	wire_close(&w);
}

/* Whose length is a lie is not answered; the socket and the rest live on. */
static void lengths(struct check *c)
{
	static const uint32_t lies[] = { 0,    1,	   NLMSG_HDRLEN - 1,
					 4096, 0x7fffffff, 0xffffffff };
	struct answer a;
	struct wire w;

	wire_open(&w);
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		uint32_t len;

		request_begin(&req, &w, PREFETCH_CMD_INFO_GET,
			      NLM_F_REQUEST | NLM_F_ACK);
		len = req.nlh->nlmsg_len;
		req.nlh->nlmsg_len = lies[i];
		if (mnl_socket_sendto(w.nl, req.bytes, len) < 0)
			die("cannot send: %s", strerror(errno));
		request_begin(&req, &w, PREFETCH_CMD_INFO_GET,
			      NLM_F_REQUEST | NLM_F_ACK);
		wire_ask(&w, &req, &a);
		expect(c, !a.error && a.objects == 1,
		       "after a length of %u: %s, %lu objects", lies[i],
		       strerror(a.error), a.objects);
	}
	wire_close(&w);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "wire_table", table },
		{ "wire_headers", headers },
		{ "wire_lengths", lengths },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
