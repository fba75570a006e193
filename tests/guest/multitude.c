// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hundred thousand threads with a setting each, and dumps of them while
 * settings change, end and come.
 */
#include <errno.h>
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

#define THREADS	   100000
#define EXTRAS	   2000 /* threads whose settings come and go */
#define BATCH	   64
#define DUMPS	   3
#define PIDS	   4194304
#define RECEIVE_KB 4096

enum what { NOTHING, CHANGE_AND_CLEAR, COME_AND_GO, STOP };

struct board {
	pid_t tid[THREADS];
	pid_t extra[EXTRAS];
	volatile unsigned int what;
	volatile unsigned long changed, cleared, came;
	volatile unsigned int failed;
};

static struct board *board;
static unsigned char *seen; /* by tid */
static struct request req;

static void open_wide(struct wire *w)
{
	int size = RECEIVE_KB * 1024;

	wire_open(w);
	setsockopt(mnl_socket_get_fd(w->nl), SOL_SOCKET, SO_RCVBUFFORCE, &size,
		   sizeof(size));
}

/* The same change to some threads, in one datagram; returns what failed. */
static unsigned int set_some(struct wire *w, const pid_t *tid,
			     unsigned int count, uint16_t mask, uint32_t value)
{
	static _Alignas(4) unsigned char bytes[BATCH * 64];
	unsigned int failed = 0;
	size_t len = 0;

	for (unsigned int i = 0; i < count; i++) {
		request_begin(&req, w, PREFETCH_CMD_SETTING_SET, NLM_F_REQUEST);
		request_u32(&req, PREFETCH_A_SETTING_TID, tid[i]);
		request_u32(&req, mask, value);
		memcpy(bytes + len, req.bytes, req.nlh->nlmsg_len);
		len += req.nlh->nlmsg_len;
	}
	if (mnl_socket_sendto(w->nl, bytes, len) < 0)
		die("cannot send: %s", strerror(errno));
	for (unsigned int i = 0; i < count; i++) {
		struct answer a;

		answer_init(&a);
		answer_read(w, &a, NULL, NULL);
		failed += a.objects != 1;
	}
	return failed;
}

static void set_all(struct check *c, struct wire *w, const pid_t *tid,
		    unsigned int count)
{
	for (unsigned int i = 0; i < count; i += BATCH) {
		unsigned int n = count - i < BATCH ? count - i : BATCH;
		unsigned int failed =
			set_some(w, tid + i, n, PREFETCH_A_SETTING_OFF, L1_IP);

		expect(c, !failed, "%u threads from %u on got no setting",
		       failed, i);
	}
}

/* Changes what stays, and ends what does not; or lets others come, too. */
static void churn(void)
{
	unsigned int i = 0, gone = 0;
	struct wire w;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_wide(&w);
	while (board->what != STOP) {
		if (board->what == NOTHING) {
			nap();
			continue;
		}
		i = (i * 5 + 12345) % THREADS;
		board->failed += set_some(&w, &board->tid[i], 1,
					  PREFETCH_A_SETTING_OFF,
					  1 + i % ALL_FOUR);
		board->changed++;
		if (board->what == COME_AND_GO) {
			board->failed += set_some(&w, &board->extra[i % EXTRAS],
						  1, PREFETCH_A_SETTING_OFF,
						  L1_IP);
			board->came++;
		}
		board->failed += set_some(&w, &board->extra[gone++ % EXTRAS], 1,
					  PREFETCH_A_SETTING_CLEAR, ALL_FOUR);
		board->cleared++;
	}
	_exit(0);
}

static void see(const struct nlmsghdr *nlh, void *arg)
{
	const struct nlattr *attr;

	(void)arg;
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
	{
		uint32_t tid;

		if (mnl_attr_get_type(attr) != PREFETCH_A_SETTING_TID)
			continue;
		tid = mnl_attr_get_u32(attr);
		if (tid < PIDS && seen[tid] < 255)
			seen[tid]++;
		break;
	}
}

/* Returns whether something was missed, as the kernel says. */
static bool dump(struct check *c, struct wire *w, const char *when)
{
	uint64_t start = now_ms();
	struct answer a;

	memset(seen, 0, PIDS);
	request_begin(&req, w, PREFETCH_CMD_SETTING_GET,
		      NLM_F_REQUEST | NLM_F_DUMP);
	request_send(w, &req);
	answer_init(&a);
	while (!answer_read(w, &a, see, NULL))
		;
	expect(c, !a.error, "%s: the dump ended with %s", when,
	       strerror(a.error));
	for (int i = 0; i < THREADS; i++)
		expect(c, seen[board->tid[i]] == 1,
		       "%s: thread %d is listed %d times", when, i,
		       seen[board->tid[i]]);
	for (int i = 0; i < EXTRAS; i++)
		expect(c, seen[board->extra[i]] <= 1,
		       "%s: one that comes and goes is listed %d times", when,
		       seen[board->extra[i]]);
	printf("figure %s objects=%lu ms=%llu interrupted=%d\n", when,
	       a.objects, (unsigned long long)(now_ms() - start),
	       a.interrupted);
	return a.interrupted;
}

static void dump_while(struct check *c, struct wire *w, enum what what,
		       const char *when, bool may_miss)
{
	unsigned int missed = 0;

	board->what = what;
	board->changed = 0;
	board->cleared = 0;
	board->came = 0;
	for (int i = 0; i < DUMPS; i++)
		missed += dump(c, w, when);
	expect(c, may_miss || !missed, "%s: interrupted, and nothing had come",
	       when);
	expect(c,
	       what == NOTHING ||
		       (board->changed > DUMPS && board->cleared > DUMPS),
	       "%s: only %lu changes", when, board->changed);
	expect(c, what != COME_AND_GO || board->came > DUMPS,
	       "%s: only %lu came", when, board->came);
	printf("figure %s changed=%lu cleared=%lu came=%lu missed=%u of %d\n",
	       when, board->changed, board->cleared, board->came, missed,
	       DUMPS);
}

static void multitude(struct check *c)
{
	pid_t people, others, churner;
	struct wire w;

	crowd_allow(THREADS + EXTRAS);
	people = crowd_start(THREADS, board->tid);
	others = crowd_start(EXTRAS, board->extra);
	open_wide(&w);
	set_all(c, &w, board->tid, THREADS);
	set_all(c, &w, board->extra, EXTRAS);
	expect(c, request_settings() == THREADS + EXTRAS, "%ld settings",
	       request_settings());

	fflush(stdout);
	churner = fork();
	if (!churner) {
		pin(0, domain_cpu(0));
		churn();
	}
	dump_while(c, &w, NOTHING, "multitude_quiet", false);
	dump_while(c, &w, CHANGE_AND_CLEAR, "multitude_less", false);
	dump_while(c, &w, COME_AND_GO, "multitude_churn", true);
	board->what = STOP;
	if (waitpid(churner, NULL, 0) != churner)
		die("cannot reap %d: %s", churner, strerror(errno));
	expect(c, !board->failed, "%u changes were refused", board->failed);
	wire_close(&w);
	crowd_end(others);
	crowd_end(people);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "multitude", multitude },
	};

	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	seen = malloc(PIDS);
	if (board == MAP_FAILED || !seen)
		return 1;
	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
