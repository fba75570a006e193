/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libprefetchnl: cores, that is domains: the CPUs that share one copy of the
 * registers. Include <prefetchnl.h>.
 */
#ifndef PREFETCHNL_CORES_H
#define PREFETCHNL_CORES_H

#ifndef PREFETCHNL_H
#error "include <prefetchnl.h>"
#endif

/**
 * struct pfnl_cpu - A CPU of a domain.
 * @id: number of the CPU.
 * @online: it is online.
 * @has_wish: a task with a wish runs there.
 * @has_task: @pid, @tid and @comm are known (the privileged only).
 * @wish_off: off-wish, before the machine default is added.
 * @wish_on: on-wish.
 * @pid: running process.
 * @tid: running thread.
 * @comm: its name.
 * @reserved: zero.
 */
struct pfnl_cpu {
	uint32_t id;
	bool online;
	bool has_wish;
	bool has_task;
	uint32_t wish_off;
	uint32_t wish_on;
	uint32_t pid;
	uint32_t tid;
	char comm[PREFETCH_COMM_LEN];
	uint32_t reserved[4];
};

/**
 * struct pfnl_register - A register of a domain.
 * @address: address of the model specific register.
 * @error: positive errno if it could not be read, else 0.
 * @programmed: value that the module put there, or found there at load.
 * @value: value as read.
 * @baseline: value that firmware left, as found at load.
 * @has_baseline: @baseline is known.
 * @reserved: zero.
 */
struct pfnl_register {
	uint32_t address;
	uint32_t error;
	uint64_t programmed;
	uint64_t value;
	uint64_t baseline;
	bool has_baseline;
	uint64_t reserved[2];
};

/**
 * struct pfnl_core - A domain: the CPUs that share one copy of the registers.
 * @domain: its number.
 * @core_type: enum prefetch_core_type.
 * @supported: prefetchers that it has.
 * @baseline: what firmware had off at load.
 * @effective: what is programmed now.
 * @held: no CPU has a wish, and the mask of the last one stands.
 * @failed: a register write failed, and the domain is out of service.
 * @verified: @read, @differs and @registers are known.
 * @differs: a register holds what the module did not write.
 * @read: the mask as read from the registers.
 * @writes: register writes on this domain since load.
 * @cpus: array of @n_cpus entries.
 * @n_cpus: number of CPUs.
 * @registers: array of @n_registers entries; NULL if there is none.
 * @n_registers: number of registers.
 * @fault: with @failed, enum prefetch_fault: what is wrong.
 * @fault_register: address of the register that it is wrong with.
 * @fault_bits: bits of that register that did not become what was written.
 * @stuck: prefetchers to which these bits belong.
 * @hybrid_id: CPUID leaf 0x1A, EAX, on the first of its CPUs: kind of core and
 *     native model; 0 where there is no such leaf.
 * @reserved: zero.
 */
struct pfnl_core {
	uint32_t domain;
	uint32_t core_type;
	uint32_t supported;
	uint32_t baseline;
	uint32_t effective;
	uint32_t read;
	bool held;
	bool failed;
	bool verified;
	bool differs;
	uint64_t writes;
	struct pfnl_cpu *cpus;
	size_t n_cpus;
	struct pfnl_register *registers;
	size_t n_registers;
	uint32_t fault;
	uint32_t fault_register;
	uint64_t fault_bits;
	uint32_t stuck;
	uint32_t hybrid_id;
	uint64_t reserved[4];
};

/**
 * pfnl_core_get() - Ask for one domain.
 * @h: handle.
 * @domain: its number.
 * @verify: read the registers back (CAP_SYS_ADMIN).
 * @core: filled on success; then the caller owns its arrays and gives them back
 *     with pfnl_core_clear(). Untouched after a failure.
 *
 * Return: 0; -ENOENT with pfnl_module_missing() false: no such domain; -EPERM;
 * or -errno.
 */
int pfnl_core_get(struct pfnl *h, uint32_t domain, bool verify,
		  struct pfnl_core *core);

/**
 * pfnl_core_clear() - Free the arrays of a core and zero it.
 * @core: from pfnl_core_get() or pfnl_core_copy(), or all zero.
 */
void pfnl_core_clear(struct pfnl_core *core);

/**
 * pfnl_core_copy() - Copy a core with its arrays.
 * @to: overwritten (not freed before); the caller owns its arrays.
 * @from: such as a core that a callback was given.
 *
 * Return: 0 or -ENOMEM (then @to is all zero).
 */
int pfnl_core_copy(struct pfnl_core *to, const struct pfnl_core *from);

/**
 * typedef pfnl_core_cb - Called once per domain.
 * @core: belongs to the library with its arrays, and holds until the callback
 *     returns; see pfnl_core_copy().
 * @arg: as given to pfnl_core_list().
 *
 * Return: 0 to go on; else the listing ends and returns this value.
 */
typedef int (*pfnl_core_cb)(const struct pfnl_core *core, void *arg);

/**
 * pfnl_core_list() - List the domains.
 * @h: handle.
 * @verify: read the registers back (CAP_SYS_ADMIN).
 * @flags: set to 0 or PFNL_LIST_INTERRUPTED on success; may be NULL.
 * @cb: called once per domain, in order, after all have been received.
 * @arg: passed to @cb.
 *
 * Return: 0, -EPERM, -errno, or what @cb returned.
 */
int pfnl_core_list(struct pfnl *h, bool verify, unsigned int *flags,
		   pfnl_core_cb cb, void *arg);

/** PFNL_DOMAIN_ALL - Every domain. */
#define PFNL_DOMAIN_ALL UINT32_MAX

/**
 * struct pfnl_repair - A domain that differed and was repaired.
 * @domain: its number.
 * @before: mask that was found.
 * @after: mask that it has now.
 * @registers: array of @n_registers entries: programmed is what the module
 *     wanted, value what was found.
 * @n_registers: number of registers.
 * @reserved: zero.
 */
struct pfnl_repair {
	uint32_t domain;
	uint32_t before;
	uint32_t after;
	const struct pfnl_register *registers;
	size_t n_registers;
	uint64_t reserved[4];
};

/**
 * typedef pfnl_repair_cb - Called once per domain that differed.
 * @repair: belongs to the library, and holds until the callback returns.
 * @arg: as given to pfnl_core_repair().
 *
 * Return: 0 to go on; else the rest is not told, and this value is returned.
 * The repair itself has happened on all domains.
 */
typedef int (*pfnl_repair_cb)(const struct pfnl_repair *repair, void *arg);

/**
 * pfnl_core_repair() - Write again what the registers should hold
 *     (CAP_SYS_ADMIN).
 * @h: handle.
 * @domain: number of the domain, or PFNL_DOMAIN_ALL.
 * @cb: called once per domain that differed; may be NULL.
 * @arg: passed to @cb.
 *
 * Return: 0, also if none differed; -ENOENT as in pfnl_core_get(); -EPERM;
 * -errno; or what @cb returned.
 */
int pfnl_core_repair(struct pfnl *h, uint32_t domain, pfnl_repair_cb cb,
		     void *arg);

#endif /* PREFETCHNL_CORES_H */
