// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process that is built like a virtual machine: vCPU threads that spin, each
 * on its CPU, an emulator thread, a worker. It stands in for QEMU, and is dealt
 * with as docs/virtual-machines.md says.
 */
#include "actor.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "harness.h"
#include "request.h"

#define VCPUS 3

struct machine {
	struct actor *emulator; /* the first thread; sleeps */
	struct actor *vcpu[VCPUS];
	struct actor *worker;
};

static int take_name(long number)
{
	char name[32]; /* more than the kernel takes */

	if (number < 0)
		snprintf(name, sizeof(name), "vhost-%ld", -number);
	else
		snprintf(name, sizeof(name), "CPU %ld/KVM", number);
	return prctl(PR_SET_NAME, name);
}

static struct actor *named_thread(struct machine *m, int cpu, long number)
{
	struct actor *a = actor_thread(m->emulator, cpu);

	if (actor_call(a, take_name, number))
		die("a thread cannot have its name");
	return a;
}

/* The first two on the hyperthreads of one core, the third on another. */
static int cpu_of(int vcpu)
{
	return vcpu < 2 ? domain_cpu(0) + vcpu : domain_cpu(1);
}

static void boot(struct machine *m)
{
	m->emulator = actor_new(home_cpu());
	for (int i = 0; i < VCPUS; i++) {
		m->vcpu[i] = named_thread(m, cpu_of(i), i);
		actor_spin(m->vcpu[i]);
	}
	m->worker = named_thread(m, home_cpu(), -m->emulator->pid);
}

/* As one finds it by hand: by the name of a thread. */
static pid_t find_thread(pid_t pid, const char *name)
{
	char path[64 + 256], comm[32];
	struct dirent *entry;
	pid_t found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", pid,
			 entry->d_name);
		f = fopen(path, "re");
		if (f && fgets(comm, sizeof(comm), f)) {
			comm[strcspn(comm, "\n")] = '\0';
			if (!strcmp(comm, name))
				found = atoi(entry->d_name);
		}
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void expect_reg(struct check *c, const struct actor *a, uint32_t want,
		       const char *when)
{
	uint64_t value = reg_of(a);

	expect(c, value == want, "%s: the register of CPU %d is 0x%llx", when,
	       a->cpu, (unsigned long long)value);
}

static void whole(struct check *c)
{
	struct actor *more, *helper;
	struct machine m;
	struct pfnl_setting s;

	boot(&m);
	expect(c, !set_pid(m.emulator->pid, L2_STREAM, 0), "set failed");
	for (int i = 0; i < VCPUS; i++)
		expect_reg(c, m.vcpu[i], L2_STREAM, "set by the pid");
	expect(c, request_settings() == 1, "%ld settings for one machine",
	       request_settings());
	s = get_tid(m.worker->tid);
	expect(c, s.wish_off == L2_STREAM, "the worker wishes 0x%x",
	       s.wish_off);
	actor_sleep(m.vcpu[2]);
	actor_move(m.worker, cpu_of(2));
	actor_spin(m.worker);
	expect_reg(c, m.worker, L2_STREAM, "the worker busy");
	actor_sleep(m.worker);

	/* A vCPU is plugged in; a helper is started. */
	more = named_thread(&m, cpu_of(2), VCPUS);
	actor_spin(more);
	expect_reg(c, more, L2_STREAM, "plugged in later");
	actor_exit_thread(more);
	helper = actor_fork(m.emulator, cpu_of(2));
	expect(c, get_pid(helper->pid).id == 0, "a helper has inherited");
	actor_spin(helper);
	expect_reg(c, helper, 0, "a helper");
	actor_kill(helper);

	expect(c, !clear_pid(m.emulator->pid), "clear failed");
	expect_reg(c, m.vcpu[0], 0, "cleared");
	expect(c, !set_pid(m.emulator->pid, L2_STREAM, 0), "set failed");
	expect_reg(c, m.vcpu[1], L2_STREAM, "set again");
	actor_kill(m.emulator);
	expect(c, wait_for(request_settings() == 0),
	       "the machine's setting outlives it");
	expect(c, wait_for(reg(cpu_of(0)) == 0 && reg(cpu_of(2)) == 0),
	       "the machine's mask outlives it");
}

static void one_vcpu(struct check *c)
{
	struct machine m;
	pid_t tid;

	boot(&m);
	tid = find_thread(m.emulator->pid, "CPU 2/KVM");
	expect(c, tid == m.vcpu[2]->tid, "thread %d instead of %d", tid,
	       m.vcpu[2]->tid);
	expect(c, !set_tid(tid, L1_IP, 0), "set tid failed");
	expect_reg(c, m.vcpu[2], L1_IP, "one vCPU");
	expect_reg(c, m.vcpu[0], 0, "another vCPU");

	/* Over the setting of the machine, prefetcher by prefetcher. */
	expect(c, !set_pid(m.emulator->pid, L2_STREAM | L1_STREAM, 0),
	       "set pid failed");
	expect(c, !set_tid(tid, L1_IP, L2_STREAM), "set tid failed");
	expect_reg(c, m.vcpu[2], L1_IP | L1_STREAM, "over the machine's");
	expect_reg(c, m.vcpu[0], L2_STREAM | L1_STREAM, "the machine's");

	/* Unplugged: what is plugged in then has the machine's. */
	actor_exit_thread(m.vcpu[2]);
	expect(c, wait_for(request_settings() == 1),
	       "%ld settings after unplug", request_settings());
	m.vcpu[2] = named_thread(&m, cpu_of(2), 2);
	actor_spin(m.vcpu[2]);
	expect_reg(c, m.vcpu[2], L2_STREAM | L1_STREAM, "plugged in again");
	actor_kill(m.emulator);
}

/* vcpupin: the setting goes where the thread goes, and off wins where it is. */
static void pinned(struct check *c)
{
	struct machine m;
	struct actor *neighbour;

	boot(&m);
	expect(c, !set_tid(m.vcpu[2]->tid, L1_IP, 0), "set tid failed");
	expect_reg(c, m.vcpu[2], L1_IP, "before it is pinned");
	/* Off the first core with the others. */
	actor_sleep(m.vcpu[0]);
	actor_sleep(m.vcpu[1]);
	neighbour = actor_new(cpu_of(1));
	actor_spin(neighbour);
	expect_reg(c, neighbour, 0, "the neighbour alone");
	pin(m.vcpu[2]->tid, cpu_of(0));
	m.vcpu[2]->cpu = cpu_of(0);
	expect_reg(c, m.vcpu[2], L1_IP, "pinned to another core");
	expect(c, reg_of_both(m.vcpu[2], neighbour) == L1_IP,
	       "the neighbour does not feel it");
	/* Halted in the guest: the neighbour is rid of it. */
	actor_sleep(m.vcpu[2]);
	expect_reg(c, neighbour, 0, "a halted vCPU still counts");
	actor_kill(neighbour);
	actor_spin(m.vcpu[2]);
	expect_reg(c, m.vcpu[2], L1_IP, "runs again");
	/* Halted alone on its core, it is held. */
	actor_sleep(m.vcpu[2]);
	expect(c, reg(cpu_of(0)) == L1_IP, "not held while halted");
	actor_kill(m.emulator);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "machines_whole", whole },
		{ "machines_one_vcpu", one_vcpu },
		{ "machines_pinned", pinned },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
