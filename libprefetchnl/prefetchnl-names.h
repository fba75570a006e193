/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libprefetchnl: names of prefetchers and of the values of the wire format.
 * Include <prefetchnl.h>. None of this needs a handle, a kernel or the module.
 */
#ifndef PREFETCHNL_NAMES_H
#define PREFETCHNL_NAMES_H

#ifndef PREFETCHNL_H
#error "include <prefetchnl.h>"
#endif

/**
 * struct pfnl_name - A prefetcher that the library knows.
 * @id: number of its bit in every mask.
 * @name: such as "l2_stream".
 * @description: one line.
 * @aliases: other names that vendors and firmware menus give it; ends with
 * NULL.
 */
struct pfnl_name {
	uint32_t id;
	const char *name;
	const char *description;
	const char *const *aliases;
};

/**
 * pfnl_names() - All prefetchers that the library knows, on any machine.
 * @count: set to their number; may be NULL.
 *
 * Return: an array in order of ids, followed by an entry whose name is NULL.
 * Never freed.
 */
const struct pfnl_name *pfnl_names(size_t *count);

/**
 * struct pfnl_group_name - A word that stands for several prefetchers.
 * @name: "l1", "l2", "llc" or "all".
 * @mask: the prefetchers of it that the library knows. A machine may lack some:
 *     see supported in struct pfnl_info.
 */
struct pfnl_group_name {
	const char *name;
	uint32_t mask;
};

/**
 * pfnl_group_names() - All groups of prefetchers.
 * @count: set to their number; may be NULL.
 *
 * Return: an array followed by an entry whose name is NULL. Never freed.
 */
const struct pfnl_group_name *pfnl_group_names(size_t *count);

/**
 * pfnl_name_to_mask() - Find a prefetcher by a name that a user gave.
 * @name: name, alias or group. Upper and lower case are the same, and so are
 *     '-', '_' and ' '.
 * @mask: set on success.
 * @is_group: set on success: true if @name is a group, whose mask one takes
 *     together with what the machine supports; may be NULL.
 *
 * Return: 0 or -ENOENT: unknown.
 */
int pfnl_name_to_mask(const char *name, uint32_t *mask, bool *is_group);

/**
 * pfnl_mask_names() - Write the names of a mask, separated by commas.
 * @mask: mask. A bit without a name is written as "bit17".
 * @buf: where the names go, always with a NUL byte if @size > 0; "" for an
 *     empty mask.
 * @size: size of @buf in bytes. PFNL_MASK_NAMES_SIZE is always enough.
 *
 * Return: the length of the whole text without its NUL byte, as snprintf(3).
 */
size_t pfnl_mask_names(uint32_t mask, char *buf, size_t size);

/** PFNL_MASK_NAMES_SIZE - Size that is enough for the names of any mask. */
#define PFNL_MASK_NAMES_SIZE 512

/**
 * pfnl_backend_name() - Name of a backend.
 * @backend: enum prefetch_backend.
 *
 * Return: "soft" or "msr"; "unknown" for a value of a newer module. Never
 * freed. The same holds for the functions below.
 */
const char *pfnl_backend_name(uint32_t backend);

/**
 * pfnl_core_type_name() - Name of a core type.
 * @core_type: enum prefetch_core_type.
 *
 * Return: "uniform", "performance", "efficient" or "unknown".
 */
const char *pfnl_core_type_name(uint32_t core_type);

/**
 * pfnl_scope_name() - Name of a scope.
 * @scope: enum prefetch_scope.
 *
 * Return: "process", "thread" or "unknown".
 */
const char *pfnl_scope_name(uint32_t scope);

/**
 * pfnl_change_name() - Name of what happened to a setting.
 * @change: enum prefetch_change.
 *
 * Return: "set", "cleared", "inherited", "dropped", "exited" or "unknown".
 */
const char *pfnl_change_name(uint32_t change);

/**
 * pfnl_cause_name() - Name of the cause of a core's change.
 * @cause: enum prefetch_cause.
 *
 * Return: "switch", "setting", "exit", "default", "hotplug", "resume",
 * "repair", "foreign", "refused", "shutdown" or "unknown".
 */
const char *pfnl_cause_name(uint32_t cause);

/**
 * pfnl_fault_name() - Name of what is wrong with a core.
 * @fault: enum prefetch_fault.
 *
 * Return: "none", "absent", "write", "read-back", "ignored", "stuck",
 * "restore" or "unknown".
 */
const char *pfnl_fault_name(uint32_t fault);

/**
 * pfnl_group_name() - Name of an event group.
 * @group: PFNL_GROUP_CORE or PFNL_GROUP_SETTING.
 *
 * Return: "core", "setting" or "unknown".
 */
const char *pfnl_group_name(unsigned int group);

#endif /* PREFETCHNL_NAMES_H */
