// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A general protection fault, raised by QEMU itself.
 *
 * Before the WRMSR or RDMSR that must fault, the number of the register is
 * replaced by one at which QEMU raises #GP: a hole among the registers of the
 * x2APIC.  The exception comes at the right instruction, so the kernel's fixup
 * works.  When its handler is entered the number is put back, before the
 * handler has saved any register.
 */

#include <inttypes.h>

#include "profile.h"
#include "qemu-api.h"
#include "twin.h"

/* Last of the x2APIC's registers; none is there, whatever its mode. */
#define MSR_THAT_FAULTS 0x8FFu

/* Each vCPU touches only its own. */
static struct {
	bool pending;
	uint64_t rcx;
} saved[PROFILE_MAX_CPUS];

static void on_exception(unsigned int index, enum qemu_plugin_discon_type type,
			 uint64_t from, uint64_t to, void *udata)
{
	unsigned int vcpu;

	(void)type;
	(void)from;
	(void)to;
	(void)udata;
	if ((uint32_t)vcpu_read(VCPU_RCX) != MSR_THAT_FAULTS)
		return;
	vcpu = vcpu_current(index);
	if (vcpu >= PROFILE_MAX_CPUS || !saved[vcpu].pending)
		return;
	saved[vcpu].pending = false;
	vcpu_write(VCPU_RCX, saved[vcpu].rcx);
}

void fault_setup(uint64_t plugin)
{
	qemu_plugin_register_vcpu_discon_cb(plugin,
					    QEMU_PLUGIN_DISCON_EXCEPTION,
					    on_exception, NULL);
}

void fault_raise(unsigned int vcpu)
{
	if (vcpu >= PROFILE_MAX_CPUS)
		return;
	if (saved[vcpu].pending) {
		log_lock();
		log_comment("fault: no exception came of the one before");
		log_unlock();
	}
	saved[vcpu].rcx = vcpu_read(VCPU_RCX);
	saved[vcpu].pending = true;
	vcpu_write(VCPU_RCX, MSR_THAT_FAULTS);
}
