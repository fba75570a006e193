/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small kernel in memory that stands in for the real one behind
 * libprefetchnl: it has CPUs, tasks, settings and the module, answers requests
 * as the module does, sends events, and misbehaves on request.
 *
 * In C:
 *
 *	struct fake *f = fake_new();		a machine of 4 CPUs, 2 cores
 *	fake_add_task(f, 100, 100, "server");
 *	pfnl_open_transport(&h, &fake_transport, f);
 *	fake_fault(f, PREFETCH_CMD_SETTING_GET, FAKE_INTERRUPT)->count = 2;
 *	...
 *	pfnl_close(h);				frees the fake, too
 *
 * For a whole program: compile it with -Dpfnl_open=pfnl_fake_open (the meson
 * dependency prefetchnl_fake_dep does), and run it with PREFETCH_FAKE naming a
 * scenario file. Its lines are words; # begins a comment; masks are numbers or
 * names with commas. All lines are optional, and so are most words:
 *
 *	machine backend=msr|soft vendor=GenuineIntel family=6 model=85
 *		stepping=4 hypervisor=0|1 supported=MASK
 *	module loaded=1|0 version=1.0 max-settings=N unprivileged=1|0
 *		events-here=1|0 groups=core,setting interval=10 attached=0|1
 *	caller privileged=1|0		0: as without any capability
 *	default off=MASK on=MASK
 *	domain id=0 type=uniform|performance|efficient baseline=MASK
 *		supported=MASK held=0|1 failed=0|1 foreign=MASK writes=N
 *	cpu id=0 domain=0 online=1|0 pid=100 tid=100
 *	task pid=100 tid=100 comm=NAME uid=0 start=NS denied=0|1
 *	setting pid=100|tid=100 off=MASK on=MASK inherit=0|1
 *	error cmd=setting-set errno=EPERM count=1 skip=0 attr=off text=WORDS...
 *	fault cmd=setting-get kind=interrupt|silence|overrun|... count=1 skip=0
 *	play core domain=0 old=MASK new=MASK cause=switch cpu=0 pid=100
 *		tid=100 comm=NAME time=NS folded=1 lost=0
 *	play setting pid=100 tid=0 off=MASK on=MASK change=exited lost=0
 *	play overflow count=N		N core events are dropped: ENOBUFS
 *	play gap count=N		N core events are dropped without a word
 *	play unload | play load
 *	play raise signal=15		the program gets a signal
 *	play storm kind=core|noise|overflow|reload after=N signal=15 delay=US
 *					from now on the socket is never empty,
 *					and reading takes US microseconds; the
 *					Nth reading brings the signal
 *
 * The first line of domain or cpu replaces the machine's own domains and CPUs.
 * What is played comes in order, one step each time that the program has read
 * all there was. A task that has no line is looked up in the real /proc, so a
 * program can set itself and its children. With PREFETCH_FAKE_SAVE naming a
 * file, what setting and default lines say is written there at the end, in the
 * form of a scenario: append it to the scenario for the next run.
 */
#ifndef FAKE_H
#define FAKE_H

#include "transport.h"

#define FAKE_MAX_CPUS	64
#define FAKE_MAX_FAULTS 16

struct fake_cpu {
	uint32_t id;
	uint32_t domain;
	bool online;
	uint32_t pid; /* running task; 0: idle */
	uint32_t tid;
};

struct fake_domain {
	uint32_t id;
	uint32_t core_type;
	uint32_t supported;
	uint32_t baseline;
	uint32_t effective;
	bool held;
	bool failed;
	uint32_t fault; /* with failed, enum prefetch_fault */
	uint32_t stuck; /* prefetchers that cannot be switched */
	uint32_t hybrid_id;
	bool foreign; /* somebody else wrote foreign_value */
	uint32_t foreign_value;
	uint64_t writes;
};

struct fake_task {
	uint32_t pid;
	uint32_t tid;
	uint32_t uid;
	uint64_t start_time;
	char comm[PREFETCH_COMM_LEN];
	bool denied; /* belongs to somebody else */
};

struct fake_setting {
	uint32_t pid;
	uint32_t tid; /* 0: of the process */
	uint32_t off;
	uint32_t on;
	bool inherit;
	uint32_t uid;
	uint64_t id;
};

/* How an answer goes wrong. */
enum fake_fault_kind {
	FAKE_REFUSE = 1, /* with error, and text and attr if they are given */
	FAKE_DONE_ERROR, /* a dump ends with error in NLMSG_DONE */
	FAKE_INTERRUPT,	 /* a dump is marked as interrupted */
	FAKE_SILENCE,	 /* no answer */
	FAKE_OVERRUN,	 /* ENOBUFS instead of the answer */
	FAKE_STRAY,	 /* answers to others come first */
	FAKE_TRUNCATE,	 /* each message is cut by size bytes, header and all */
	FAKE_CUT_DATAGRAM, /* the datagram is cut by size bytes */
	FAKE_DROP_ATTR,	   /* attribute of type attr_type is left out */
	FAKE_RESIZE_ATTR,  /* its length is made size */
	FAKE_DOUBLE_ATTR,  /* it comes twice */
	FAKE_ENDLESS,	   /* a dump has no end, then silence */
	FAKE_HUGE, /* the datagram is said to be larger than any buffer */
	FAKE_ACK,  /* a bare acknowledgement instead of the answer */
};

struct fake_fault {
	uint8_t cmd; /* PREFETCH_CMD_...; 0: of nlctrl */
	enum fake_fault_kind kind;
	int skip;  /* answers that are good before */
	int count; /* answers that go wrong */
	int error; /* positive */
	const char *text;
	int attr_type; /* in the request (FAKE_REFUSE) or the answer */
	bool missing;  /* FAKE_REFUSE: the attribute is a missing one */
	size_t size;
	char text_space[160];
};

struct fake_bytes {
	uint8_t *data;
	size_t used;
	size_t size;
};

struct fake_datagram {
	struct fake_datagram *next;
	int error;    /* recv() fails with it, as errno */
	size_t claim; /* length that recv() returns, if not 0 */
	struct fake_bytes bytes;
};

struct fake_queue {
	struct fake_datagram *first;
	struct fake_datagram **last;
};

struct fake_step;

struct fake {
	/* The machine. */
	uint32_t backend;
	char vendor[16];
	uint32_t cpu_family, cpu_model, cpu_stepping;
	bool hypervisor;
	uint32_t supported;
	struct fake_domain domains[FAKE_MAX_CPUS];
	size_t n_domains;
	struct fake_cpu cpus[FAKE_MAX_CPUS];
	size_t n_cpus;

	/* The module. */
	bool loaded;
	char version[32];
	uint16_t family; /* number; another one after each load */
	bool core_group, setting_group; /* it has them */
	bool events_here, unprivileged, attached;
	uint32_t default_off, default_on;
	uint32_t max_settings, interval;
	uint32_t core_seq, setting_seq;
	uint64_t core_lost, setting_lost; /* to be told by the next event */
	uint64_t register_writes, foreign_writes;
	uint64_t core_sent, setting_sent;
	uint64_t core_total, setting_total; /* changes, told or lost */

	/* Tasks and their settings. */
	struct fake_task *tasks;
	size_t n_tasks;
	struct fake_setting *settings;
	size_t n_settings;
	uint64_t last_id;
	bool real_tasks; /* look in /proc for others */

	/* The caller. */
	bool privileged;
	/* Positive errnos for our groups; 0: by privilege. */
	int core_join_error, setting_join_error;

	/* The sockets. */
	bool open[2]; /* by enum pfnl_channel */
	int event_fd;
	bool joined_core, joined_setting, joined_notify;
	size_t buffer;
	struct fake_queue queues[2];
	int opens;    /* how often the request socket was opened */
	int requests; /* how many came */

	/* Misbehaviour. */
	struct fake_fault faults[FAKE_MAX_FAULTS];
	size_t n_faults;
	/* If set, called for each request of our family before it is handled.
	 */
	void (*on_request)(struct fake *f, uint8_t cmd);
	/* If set, called where the event socket would be empty, to fill it. */
	void (*on_empty)(struct fake *f);
	/* If set (errno), the event socket never gives anything else. */
	int event_error_always;
	/* If set, called for each datagram before it is queued. */
	void (*edit)(struct fake_bytes *bytes, void *arg);
	void *edit_arg;

	/* The scenario, if there is one. */
	struct fake_step *steps;
	struct fake_step *storm; /* the step that never ends */
	char *save;
};

/* ctx is a struct fake, freed by pfnl_close(). */
extern const struct pfnl_transport fake_transport;

/*
 * A machine of 2 cores with 2 CPUs each, backend msr, all four classic
 * prefetchers, firmware value 0, the module loaded, no task, all idle, and a
 * privileged caller. Aborts if memory is short, as everything here does.
 */
struct fake *fake_new(void);

/* A thread; the process is that with tid == pid. Its start time is made up. */
struct fake_task *fake_add_task(struct fake *f, uint32_t pid, uint32_t tid,
				const char *comm);

/* A setting of a process (tid 0) or thread, without a check or an event. */
struct fake_setting *fake_add_setting(struct fake *f, uint32_t pid,
				      uint32_t tid, uint32_t off, uint32_t on);

/* Lets a task run on a CPU (pid 0: lets it idle), as a context switch does. */
void fake_run(struct fake *f, uint32_t cpu, uint32_t pid, uint32_t tid);

/* The task dies, with its settings. */
void fake_exit(struct fake *f, uint32_t pid, uint32_t tid);

/* The next answers to cmd go wrong, count (1) times. */
struct fake_fault *fake_fault(struct fake *f, uint8_t cmd,
			      enum fake_fault_kind kind);

void fake_unload(struct fake *f);
void fake_load(struct fake *f);

struct fake_core_event {
	uint32_t domain, old_mask, new_mask, cause, cpu, pid, tid, folded;
	uint64_t time, lost;
	const char *comm;
};

/* Sends a core event, whether or not the state says so. */
void fake_core_event(struct fake *f, const struct fake_core_event *event);

void fake_setting_event(struct fake *f, const struct fake_setting *s,
			uint32_t change);

/* Events of one change each that were sent and did not arrive. */
void fake_drop_core_events(struct fake *f, uint32_t count);
void fake_drop_setting_events(struct fake *f, uint32_t count);

/* The event socket's next recv() fails so (ENOBUFS...), once. */
void fake_event_error(struct fake *f, int error);

/* A message of the module that this library cannot know. */
void fake_unknown_event(struct fake *f);

/* Raw bytes on a channel. */
void fake_raw(struct fake *f, enum pfnl_channel channel, const void *data,
	      size_t size);

/* Reads a scenario; false after a message on stderr if there is a mistake. */
bool fake_scenario(struct fake *f, const char *path);

/* pfnl_open() of a program under test; see above. */
int pfnl_fake_open(struct pfnl **h);

#endif /* FAKE_H */
