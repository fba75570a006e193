// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest's CPUs.
 *
 * With one host thread per vCPU (-accel tcg,thread=multi) the index that QEMU
 * passes to an execution callback is right.  With one thread for all of them
 * (thread=single, icount) it is the index of the vCPU that *translated* the
 * code, since they share translations.  The registers that a callback reads
 * are always those of the vCPU that runs, and in the kernel gs_base points to
 * that CPU's own data, so it tells them apart: the guest introduces each CPU
 * once, by writing its number to TWIN_MSR_LEARN on that CPU.
 *
 * A profile must tell CPUs apart from their first instruction on.  There the
 * local APIC is asked: the page where the guest finds it shows QEMU's running
 * vCPU its own, with both kinds of thread.  Reading the id has no effect.
 */

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu-api.h"
#include "twin.h"

struct vcpu {
	bool started;
	bool learned;
	pthread_t thread;
	uint64_t gs_base;
};

static struct vcpu *vcpus;
static unsigned int nr_vcpus;
static bool by_apic;
static bool shares_thread;
static bool told_guess;

/* NULL is a valid handle: that of the first register. */
static struct qemu_plugin_register *handles[VCPU_NR_REGS];
static bool handle_found[VCPU_NR_REGS];
static const char *const names[VCPU_NR_REGS] = {
	[VCPU_RAX] = "rax",	  [VCPU_RBX] = "rbx",
	[VCPU_RCX] = "rcx",	  [VCPU_RDX] = "rdx",
	[VCPU_RIP] = "rip",	  [VCPU_CS] = "cs",
	[VCPU_CR0] = "cr0",	  [VCPU_GS_BASE] = "gs_base",
	[VCPU_EFLAGS] = "eflags",
};

/* Callbacks of several vCPUs can run at once, each on its own thread. */
static __thread GByteArray *buffer;

/* Where the id of the local APIC is seen; it is in the upper byte. */
#define APIC_ID_ADDRESS 0xFEE00020u

bool vcpu_setup(unsigned int max, bool by_apic_id)
{
	by_apic = by_apic_id;
	vcpus = calloc(max, sizeof(*vcpus));
	nr_vcpus = max;
	if (!vcpus)
		log_complain("no memory for %u vCPUs", max);
	return vcpus;
}

static GByteArray *get_buffer(void)
{
	if (!buffer)
		buffer = g_byte_array_new();
	return buffer;
}

uint64_t vcpu_read(enum vcpu_reg reg)
{
	GByteArray *bytes = get_buffer();
	uint64_t value = 0;

	g_byte_array_set_size(bytes, 0);
	if (qemu_plugin_read_register(handles[reg], bytes))
		memcpy(&value, bytes->data,
		       bytes->len < sizeof(value) ? bytes->len : sizeof(value));
	return value;
}

void vcpu_write(enum vcpu_reg reg, uint64_t value)
{
	GByteArray *bytes = get_buffer();

	g_byte_array_set_size(bytes, sizeof(value));
	memcpy(bytes->data, &value, sizeof(value));
	qemu_plugin_write_register(handles[reg], bytes);
}

/* A handle names the register, not the vCPU: one set serves them all. */
static void find_registers(void)
{
	GArray *array = qemu_plugin_get_registers();
	const qemu_plugin_reg_descriptor *found = (void *)array->data;

	for (unsigned int i = 0; i < array->len; i++)
		for (int reg = 0; reg < VCPU_NR_REGS; reg++)
			if (!strcmp(found[i].name, names[reg])) {
				handles[reg] = found[i].handle;
				handle_found[reg] = true;
			}
	g_array_free(array, 1);

	for (int reg = 0; reg < VCPU_NR_REGS; reg++) {
		if (!handle_found[reg]) {
			log_complain("this QEMU does not show the register %s",
				     names[reg]);
			/* QEMU's exit handlers cannot run on this thread. */
			_exit(EXIT_FAILURE);
		}
	}
}

void vcpu_started(unsigned int index)
{
	if (index >= nr_vcpus) {
		log_complain("vCPU %u beyond the announced %u", index,
			     nr_vcpus);
		_exit(EXIT_FAILURE);
	}

	log_lock();
	if (!handle_found[0])
		find_registers();
	for (unsigned int i = 0; i < nr_vcpus; i++)
		if (i != index && vcpus[i].started &&
		    pthread_equal(vcpus[i].thread, pthread_self()))
			shares_thread = true;
	vcpus[index].thread = pthread_self();
	vcpus[index].started = true;
	log_unlock();
}

static unsigned int read_apic_id(void)
{
	GByteArray *bytes = get_buffer();
	uint32_t value;

	g_byte_array_set_size(bytes, 0);
	/* QEMU's own lock is taken in there: no lock of ours may be held. */
	if (qemu_plugin_read_memory_hwaddr(APIC_ID_ADDRESS, bytes,
					   sizeof(value)) ||
	    bytes->len < sizeof(value)) {
		log_complain("this QEMU does not show the local APIC");
		_exit(EXIT_FAILURE);
	}
	memcpy(&value, bytes->data, sizeof(value));
	return value >> 24;
}

static unsigned int find_by_gs_base(unsigned int index)
{
	uint64_t gs_base = vcpu_read(VCPU_GS_BASE);

	for (unsigned int i = 0; i < nr_vcpus; i++)
		if (vcpus[i].learned && vcpus[i].gs_base == gs_base)
			return i;

	if (!told_guess)
		log_comment("vcpu= is a guess until the guest has introduced "
			    "its CPUs (twin-mark learn)");
	told_guess = true;
	return index;
}

unsigned int vcpu_current(unsigned int index)
{
	unsigned int found;

	if (by_apic)
		return read_apic_id();
	if (!shares_thread)
		return index;
	log_lock();
	found = find_by_gs_base(index);
	log_unlock();
	return found;
}

static void learn(unsigned int index, uint64_t cpu)
{
	uint64_t gs_base = vcpu_read(VCPU_GS_BASE);

	if (cpu >= nr_vcpus) {
		log_comment("learn: no CPU %" PRIu64, cpu);
		return;
	}
	/* Where the index is reliable the guest's number must agree with it. */
	if (!shares_thread && cpu != index)
		log_comment("learn: the guest's CPU %" PRIu64 " is vCPU %u",
			    cpu, index);

	/* After a reboot in the same QEMU the guest's memory lies elsewhere. */
	for (unsigned int i = 0; i < nr_vcpus; i++)
		if (vcpus[i].learned && vcpus[i].gs_base == gs_base)
			vcpus[i].learned = false;
	vcpus[cpu].gs_base = gs_base;
	vcpus[cpu].learned = true;
}

void vcpu_learn(unsigned int index, uint64_t cpu)
{
	unsigned int id = by_apic ? read_apic_id() : 0;

	log_lock();
	if (by_apic)
		log_comment("learn: the guest's CPU %" PRIu64 " is vcpu=%u",
			    cpu, id);
	else
		learn(index, cpu);
	log_unlock();
}
