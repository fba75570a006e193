/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every guest program shares: named checks, the register, the machine.
 *
 * A program has a table of tests. Each prints one line:
 *
 *	ok NAME
 *	not ok NAME: reason
 *	skip NAME: reason
 *
 * and may print spans, which the host compares with the twin's log:
 *
 *	span NAME from=0xA to=0xB domain=D least=N most=N
 *
 * The program lives on the last CPU, together with everything else that runs
 * in user space, so that the first core belongs to the tests alone.
 */
#ifndef PREFETCH_TEST_HARNESS_H
#define PREFETCH_TEST_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define PRINTF(f, a)  __attribute__((format(printf, f, a)))

/* Prefetchers as the wire numbers them; the classic register has the same. */
#define L2_STREAM   0x1
#define L2_ADJACENT 0x2
#define L1_STREAM   0x4
#define L1_IP	    0x8
#define ALL_FOUR    0xf

/* Longest wait for something that must come; far more than it ever takes. */
#define PATIENCE_MS   (30000 * (uint64_t)options.slow)
#define IMPATIENCE_MS 200

struct check {
	const char *name;
	unsigned long asked;
	unsigned long failed;
	bool skipped;
	char reason[400];
};

struct test {
	const char *name;
	void (*run)(struct check *c);
};

/* What the command line said. */
struct options {
	uint32_t baseline;    /* the register's value from the firmware */
	uint64_t mark;	      /* first value for marks in the twin's log */
	unsigned long rounds; /* 0: the program's own number */
	unsigned long slow;   /* so many times slower than usual is the guest */
};

extern struct options options;

/* Runs the tests in order, or those named in argv. Returns the exit status. */
int harness_main(int argc, char **argv, const struct test *tests, size_t count);

/*
 * How many rounds to do: as the command line says, else the program's own
 * number, and in a slow guest the less of them.
 */
unsigned long rounds_of(unsigned long own);

/* Part of a check: remembers the first failure and its reason. */
bool expect(struct check *c, bool good, const char *fmt, ...) PRINTF(3, 4);
void skip(struct check *c, const char *fmt, ...) PRINTF(2, 3);

/* The test cannot go on: ends the program with a reason. */
void die(const char *fmt, ...) PRINTF(1, 2) __attribute__((noreturn));

/* CPUs: those of the first core are the stage, the last CPU is home. */
int cpu_count(void);
int home_cpu(void);
int domain_count(void);
int domain_of(int cpu);
int domain_cpu(int domain); /* its lowest CPU */
void pin(pid_t tid, int cpu);

/* The register of a CPU's core, as the CPU itself reads it. */
uint64_t reg(int cpu);
/* As somebody else does, behind the module's back. */
void reg_write(int cpu, uint64_t value);
void mark_twin(uint64_t value);

/* A piece of time in which the twin must log least to most writes. */
struct span {
	const char *name;
	uint64_t from;
};

struct span span_begin(const char *name);
void span_end(struct span *s, int domain, unsigned long least,
	      unsigned long most);

/*
 * Waiting: polls until the condition holds or patience is over. Once it was in
 * vain there is less patience for the rest of the test, which has failed.
 */
extern uint64_t patience_ms;

uint64_t now_ms(void);
void nap(void);

#define wait_within(ms, cond)                               \
	({                                                  \
		uint64_t end_ = now_ms() + (ms);            \
		bool met_;                                  \
                                                            \
		while (!(met_ = (cond)) && now_ms() < end_) \
			nap();                              \
		met_;                                       \
	})

#define wait_for(cond)                                         \
	({                                                     \
		bool came_ = wait_within(patience_ms, (cond)); \
                                                               \
		if (!came_)                                    \
			patience_ms = IMPATIENCE_MS;           \
		came_;                                         \
	})

/* /proc: state letter, or 0 when there is no such thread. */
char task_state(pid_t tid);
long task_status(pid_t tid, const char *field); /* -1: no such thread */
unsigned long task_switches(pid_t tid);
unsigned long task_sleeps(pid_t tid);
/* A number in a file, behind a word if one is given; -1: none there. */
long read_number(const char *path);
long read_field(const char *path, const char *word);
void write_text(const char *path, const char *text);
bool have_file(const char *path);
/*
 * Does /proc/meminfo show what is in use, and no more? A kernel with checkers
 * keeps for a while what was freed, and looks for leaks itself.
 */
bool memory_is_exact(void);

/* The module, loaded and unloaded; each returns 0 or -errno. */
int module_load(const char *args);
int module_unload(void);

/* A line into the kernel's log, so that the host can cut it into pieces. */
void log_line(const char *text);

#endif
