// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions that the twin plays: it watches each WRMSR and keeps the
 * value, watches HLT where power is lost, and it executes a RDMSR of its
 * registers, and a CPUID that a profile answers, in QEMU's stead.
 */

#include <stddef.h>

#include "profile.h"
#include "qemu-api.h"
#include "twin.h"

#define PAGE_MASK     0xFFFu
#define MAX_INSN      15

#define CR0_PROTECTED 1u

static const struct profile *profile;

enum insn_kind {
	INSN_OTHER,
	INSN_WRMSR,
	INSN_RDMSR,
	INSN_CPUID,
	INSN_HLT,
};

/*
 * What a callback that replaces its instruction has to know of it: the place in
 * its page and its length.  Both fit into the user pointer, so nothing has to
 * be kept and freed for each translation.
 */
static void *pack_insn(uint64_t vaddr, size_t length)
{
	return (void *)(uintptr_t)(length << 12 | (vaddr & PAGE_MASK));
}

/*
 * Address of the instruction after the one with the packed description.
 *
 * The address that was passed at translation will not do: one translation
 * serves all virtual addresses at which its page is mapped.  The live rip
 * will, but it can still be that of an earlier instruction of the block.
 * A block ends with its page, so the distance is less than a page.
 */
static uint64_t next_insn(const void *packed)
{
	uint64_t length = (uintptr_t)packed >> 12;
	uint64_t place = (uintptr_t)packed & PAGE_MASK;
	uint64_t rip = vcpu_read(VCPU_RIP);
	uint64_t base = 0;

	/* In real mode rip counts from the segment's base. */
	if (!(vcpu_read(VCPU_CR0) & CR0_PROTECTED))
		base = vcpu_read(VCPU_CS) << 4;
	return rip + ((place - rip - base) & PAGE_MASK) + length;
}

/* Outside the kernel both instructions fault, and have no other effect. */
static bool in_kernel(void)
{
	return !(vcpu_read(VCPU_CS) & 3);
}

static void on_wrmsr(unsigned int index, void *udata)
{
	uint32_t msr = (uint32_t)vcpu_read(VCPU_RCX);
	bool done = true;
	unsigned int vcpu;
	uint64_t value;

	(void)udata;
	if (msr != TWIN_MSR_LEARN && msr != TWIN_MSR_MARK &&
	    msr != TWIN_MSR_LOSE && !register_plays(msr))
		return;
	if (!in_kernel())
		return;

	value = vcpu_read(VCPU_RDX) << 32 | (uint32_t)vcpu_read(VCPU_RAX);
	if (msr == TWIN_MSR_LEARN) {
		vcpu_learn(index, value);
		return;
	}

	vcpu = vcpu_current(index);
	log_lock();
	if (msr == TWIN_MSR_MARK)
		register_mark(vcpu, value);
	else if (msr == TWIN_MSR_LOSE)
		power_command(value);
	else
		done = register_write(vcpu, msr, value);
	log_unlock();
	if (!done)
		fault_raise(vcpu);
}

static void on_rdmsr(unsigned int index, void *udata)
{
	uint32_t msr = (uint32_t)vcpu_read(VCPU_RCX);
	unsigned int vcpu;
	uint64_t value;
	uint64_t next;
	bool done;

	if (!register_plays(msr) || !in_kernel())
		return;

	vcpu = vcpu_current(index);
	log_lock();
	done = register_read(vcpu, msr, &value);
	log_unlock();
	if (!done) {
		fault_raise(vcpu);
		return;
	}

	next = next_insn(udata);
	vcpu_write(VCPU_RAX, (uint32_t)value);
	vcpu_write(VCPU_RDX, value >> 32);
	/* Does not return, so nothing may be held here. */
	qemu_plugin_set_pc(next);
}

static void on_hlt(unsigned int index, void *udata)
{
	unsigned int vcpu;
	uint64_t eflags;

	(void)udata;
	if (!power_armed() || !in_kernel())
		return;
	vcpu = vcpu_current(index);
	eflags = vcpu_read(VCPU_EFLAGS);
	log_lock();
	power_halt(vcpu, eflags);
	log_unlock();
}

static void on_cpuid(unsigned int index, void *udata)
{
	static const enum vcpu_reg regs[CPUID_NR_REGS] = {
		[CPUID_EAX] = VCPU_RAX,
		[CPUID_EBX] = VCPU_RBX,
		[CPUID_ECX] = VCPU_RCX,
		[CPUID_EDX] = VCPU_RDX,
	};
	unsigned int vcpu = vcpu_current(index);
	const struct profile_leaf *leaf =
		profile_find_leaf(profile, vcpu, (uint32_t)vcpu_read(VCPU_RAX),
				  (uint32_t)vcpu_read(VCPU_RCX));
	uint64_t next;

	if (!leaf)
		return;
	next = next_insn(udata);
	for (int i = 0; i < CPUID_NR_REGS; i++)
		vcpu_write(regs[i],
			   leaf->is_apic_id[i] ? vcpu : leaf->value[i]);
	qemu_plugin_set_pc(next);
}

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: /* segments */
	case 0x2E:
	case 0x36:
	case 0x3E:
	case 0x64:
	case 0x65:
	case 0x66: /* operand and address size */
	case 0x67:
		return true;
	default:
		return (byte & 0xF0) == 0x40; /* REX */
	}
}

/* Newer kernels pad WRMSR with a prefix, to patch a longer form over it. */
static enum insn_kind classify(const uint8_t *bytes, size_t length)
{
	size_t i = 0;

	while (i < length && is_prefix(bytes[i]))
		i++;
	if (length - i == 1 && bytes[i] == 0xF4)
		return INSN_HLT;
	if (length - i != 2 || bytes[i] != 0x0F)
		return INSN_OTHER;
	if (bytes[i + 1] == 0x30)
		return INSN_WRMSR;
	if (bytes[i + 1] == 0x32)
		return INSN_RDMSR;
	if (bytes[i + 1] == 0xA2)
		return INSN_CPUID;
	return INSN_OTHER;
}

static void on_translate(struct qemu_plugin_tb *tb, void *udata)
{
	size_t count = qemu_plugin_tb_n_insns(tb);

	(void)udata;
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint8_t bytes[MAX_INSN];
		size_t length =
			qemu_plugin_insn_data(insn, bytes, sizeof(bytes));

		switch (classify(bytes, length)) {
		case INSN_WRMSR:
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_wrmsr, QEMU_PLUGIN_CB_RW_REGS, NULL);
			break;
		case INSN_RDMSR:
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_rdmsr, QEMU_PLUGIN_CB_RW_REGS_PC,
				pack_insn(qemu_plugin_insn_vaddr(insn),
					  length));
			break;
		case INSN_CPUID:
			if (profile)
				qemu_plugin_register_vcpu_insn_exec_cb(
					insn, on_cpuid,
					QEMU_PLUGIN_CB_RW_REGS_PC,
					pack_insn(qemu_plugin_insn_vaddr(insn),
						  length));
			break;
		case INSN_HLT:
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_hlt, QEMU_PLUGIN_CB_R_REGS, NULL);
			break;
		case INSN_OTHER:
			break;
		}
	}
}

void insn_setup(uint64_t plugin, const struct profile *answers)
{
	profile = answers;
	qemu_plugin_register_vcpu_tb_trans_cb(plugin, on_translate, NULL);
}
