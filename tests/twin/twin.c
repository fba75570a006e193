// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entry point of the twin, a QEMU TCG plugin.
 *
 * QEMU ignores a guest's write to the prefetcher register and lets it read
 * zero.  The twin plays the register.  It is outside the guest, so the code
 * under test cannot influence what it says.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "qemu-api.h"
#include "twin.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static void on_vcpu_init(unsigned int index, void *udata)
{
	(void)udata;
	vcpu_started(index);
}

static void on_end(void *udata)
{
	(void)udata;
	log_lock();
	register_log_end();
	log_close();
	log_unlock();
}

static bool parse_number(const char *name, const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-') {
		log_complain("%s=%s: not a number", name, text);
		return false;
	}
	return true;
}

struct arguments {
	const char *log;
	const char *profile;
	bool plain; /* something was said that a profile says itself */
	struct register_config registers;
};

static bool parse_argument(char *argument, struct arguments *out)
{
	char *value = strchr(argument, '=');
	uint64_t number;

	if (!value) {
		log_complain("%s: expected NAME=VALUE", argument);
		return false;
	}
	*value++ = '\0';

	if (!strcmp(argument, "log")) {
		out->log = value;
		return true;
	}
	if (!strcmp(argument, "profile")) {
		out->profile = value;
		return true;
	}
	if (!strcmp(argument, "fault")) {
		out->registers.fault = value;
		return true;
	}
	if (!strcmp(argument, "threads")) {
		if (!parse_number(argument, value, &number))
			return false;
		if (number < 1 || number > 1024) {
			log_complain("threads=%s: not 1 to 1024", value);
			return false;
		}
		out->registers.threads = (unsigned int)number;
		out->plain = true;
		return true;
	}
	if (!strcmp(argument, "baseline")) {
		out->plain = true;
		return parse_number(argument, value, &out->registers.baseline);
	}
	if (!strcmp(argument, "reads")) {
		if (!parse_number(argument, value, &number))
			return false;
		out->registers.log_reads = number != 0;
		return true;
	}
	log_complain("%s: not one of log, threads, baseline, fault, profile, "
		     "reads",
		     argument);
	return false;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
			char **argv)
{
	static struct profile profile;
	struct arguments arguments = { .registers.threads = 1 };
	unsigned int vcpus;

	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		log_complain("works with qemu-system-x86_64 only");
		return -1;
	}
	for (int i = 0; i < argc; i++)
		if (!parse_argument(argv[i], &arguments))
			return -1;
	if (!arguments.log) {
		log_complain("log=FILE is missing");
		return -1;
	}

	if (arguments.profile) {
		if (arguments.plain) {
			log_complain("threads= and baseline= do not go with "
				     "profile=, which says both");
			return -1;
		}
		if (!profile_read(arguments.profile, &profile))
			return -1;
		arguments.registers.profile = &profile;
	}

	vcpus = (unsigned int)info->system.max_vcpus;
	if (!vcpu_setup(vcpus, arguments.profile) ||
	    !register_setup(&arguments.registers, vcpus) ||
	    !power_setup(vcpus) || !log_open(arguments.log))
		return -1;

	if (arguments.profile)
		log_comment("prefetch-twin 1 vcpus=%u profile=%s", vcpus,
			    profile.name);
	else
		log_comment("prefetch-twin 1 vcpus=%u threads=%u "
			    "baseline=0x%" PRIx64,
			    vcpus, arguments.registers.threads,
			    arguments.registers.baseline);

	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init, NULL);
	insn_setup(id, arguments.registers.profile);
	if (arguments.profile)
		fault_setup(id);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
	return 0;
}
