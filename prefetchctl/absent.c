// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module is not there: what the machine tells about the reason. Whatever
 * cannot be read is left unsaid.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "absent.h"

const char *machine_root(void)
{
	/* Only the programs of the tests look at another root. */
#ifdef PREFETCH_TEST_ROOT
	const char *root = getenv("PREFETCH_TEST_ROOT");

	if (root)
		return root;
#endif
	return "";
}

#define SECURE_BOOT_VARIABLE         \
	"/sys/firmware/efi/efivars/" \
	"SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static FILE *open_file(const char *path)
{
	char full[512];
	int n = snprintf(full, sizeof(full), "%s%s", machine_root(), path);

	if (n < 0 || (size_t)n >= sizeof(full))
		return NULL;
	return fopen(full, "re");
}

/* The word in brackets of "none [integrity] confidentiality". */
static void read_lockdown(struct machine *machine)
{
	FILE *file = open_file("/sys/kernel/security/lockdown");
	char line[128];

	if (!file)
		return;
	if (fgets(line, sizeof(line), file)) {
		char *begin = strchr(line, '[');
		char *end = begin ? strchr(begin, ']') : NULL;

		if (end)
			snprintf(machine->lockdown, sizeof(machine->lockdown),
				 "%.*s", (int)(end - begin - 1), begin + 1);
	}
	fclose(file);
}

/* Four bytes of attributes, then one byte of value. */
static void read_secure_boot(struct machine *machine)
{
	FILE *file = open_file(SECURE_BOOT_VARIABLE);
	unsigned char bytes[5];

	if (!file)
		return;
	if (fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes))
		machine->secure_boot = bytes[4] == 1;
	fclose(file);
}

static void read_installed(struct machine *machine)
{
	char *line = NULL;
	size_t size = 0;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep",
		 machine->release);
	file = open_file(path);
	if (!file)
		return;
	machine->module_installed = 0;
	while (getline(&line, &size, file) > 0) {
		size_t len = strcspn(line, ":");
		char *name;

		line[len] = '\0';
		name = strrchr(line, '/');
		name = name ? name + 1 : line;
		if (!strncmp(name, "prefetch.ko", strlen("prefetch.ko"))) {
			machine->module_installed = 1;
			break;
		}
	}
	free(line);
	fclose(file);
}

/* "model name\t: Some CPU": the words after the colon, if the key is this. */
static const char *cpu_field(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) != 0)
		return NULL;
	line += length;
	line += strspn(line, " \t");
	if (*line != ':')
		return NULL;
	return line + 1 + strspn(line + 1, " \t");
}

static void copy_line(char *to, size_t size, const char *from)
{
	size_t i;

	for (i = 0; i < size - 1 && from[i] >= ' ' && from[i] <= '~'; i++)
		to[i] = from[i];
	to[i] = '\0';
}

static void read_cpu_line(struct machine *machine, const char *line)
{
	const char *value;

	if ((value = cpu_field(line, "vendor_id")))
		sscanf(value, "%31s", machine->vendor);
	else if ((value = cpu_field(line, "model name")))
		copy_line(machine->cpu_name, sizeof(machine->cpu_name), value);
	else if ((value = cpu_field(line, "microcode")))
		copy_line(machine->microcode, sizeof(machine->microcode),
			  value);
	else if ((value = cpu_field(line, "cpu family")))
		machine->family = strtol(value, NULL, 10);
	else if ((value = cpu_field(line, "model")))
		machine->model = strtol(value, NULL, 10);
	else if ((value = cpu_field(line, "stepping")))
		machine->stepping = strtol(value, NULL, 10);
	else if ((value = cpu_field(line, "flags")))
		machine->hypervisor = strstr(value, " hypervisor");
}

static void read_cpu(struct machine *machine)
{
	FILE *file = open_file("/proc/cpuinfo");
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return;
	while (getline(&line, &size, file) > 0 && line[0] != '\n')
		read_cpu_line(machine, line);
	free(line);
	fclose(file);
}

/* "0-3,8": how many are these? */
unsigned long machine_cpus(const char *which)
{
	char path[64];
	FILE *file;
	unsigned long first, last;
	unsigned long count = 0;
	int got;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", which);
	file = open_file(path);
	if (!file)
		return 0;
	while ((got = fscanf(file, "%lu-%lu", &first, &last)) > 0) {
		if (got == 1)
			last = first;
		if (last < first || last - first > 65535)
			break;
		count += last - first + 1;
		if (fgetc(file) != ',')
			break;
	}
	fclose(file);
	return count;
}

void machine_read(struct machine *machine)
{
	struct utsname uts;
	char path[512];

	*machine = (struct machine){ .secure_boot = -1,
				     .module_installed = -1,
				     .family = -1,
				     .model = -1,
				     .stepping = -1 };
	if (!uname(&uts))
		snprintf(machine->release, sizeof(machine->release), "%s",
			 uts.release);
	snprintf(path, sizeof(path), "%s/sys/module/prefetch", machine_root());
	machine->module_here = !access(path, F_OK);
	read_lockdown(machine);
	read_secure_boot(machine);
	read_installed(machine);
	read_cpu(machine);
	machine->online_cpus = machine_cpus("online");
	machine->present_cpus = machine_cpus("present");
	machine_read_log(machine);
}

/* Why the module cannot work here, by what it said. */
struct refusal {
	bool undocumented;
	bool on_purpose; /* this CPU's registers are known to be trouble */
	bool left_alone; /* they are, for another reason */
	bool no_effect;
	bool ignored; /* by a hypervisor that was to be trusted */
};

static struct refusal refusal_of(const struct machine *machine)
{
	struct refusal why = { false };
	size_t i;

	for (i = 0; i < machine->said_count; i++) {
		const char *said = machine->said[i];

		why.undocumented |= strstr(said, "undocumented") != NULL;
		if (strstr(said, "left alone on purpose"))
			why.on_purpose = true;
		else
			why.left_alone |= strstr(said, "left alone") != NULL;
		why.no_effect |= strstr(said, "writes have no effect") != NULL;
		why.ignored |= strstr(said, "hypervisor ignores writes") !=
			       NULL;
	}
	return why;
}

/* What the module said when it was loaded in vain. */
static void advise_log(const struct machine *machine, const struct refusal *why,
		       FILE *out)
{
	size_t i;

	if (machine->said_error)
		fprintf(out,
			"  what it said in the kernel log is not readable "
			"(%s): "
			"'prefetchctl info' as root shows it\n",
			strerror(machine->said_error));
	if (machine->said_count)
		fputs("  the module said, when it was loaded last:\n", out);
	for (i = 0; i < machine->said_count; i++)
		fprintf(out, "    %s\n", machine->said[i]);
	if (why->ignored)
		fputs("  next: ask those who run the host whether the register "
		      "can be passed on; 'modprobe prefetch backend=soft' "
		      "tries everything without effect on hardware\n",
		      out);
	if (why->on_purpose)
		fputs("  this is on purpose, and there is nothing to do about "
		      "it\n",
		      out);
	if (why->left_alone)
		fprintf(out,
			"  please report that with the output of "
			"'prefetchctl info --report' to %s\n",
			PREFETCH_REPORT_TO);
	if (why->no_effect)
		fputs("  next: see whether the firmware's setup locks the "
		      "prefetchers or the CPU's registers; if this is a "
		      "virtual machine, its host must pass the register on\n",
		      out);
	if (why->undocumented)
		fprintf(out,
			"  nothing is documented for this CPU (%s family %ld "
			"model %ld (0x%lX)); cpus.md of the documentation "
			"lists those that are known: please report yours with "
			"the output of "
			"'prefetchctl info --report' to %s\n",
			machine->vendor, machine->family, machine->model,
			(unsigned long)machine->model, PREFETCH_REPORT_TO);
}

void machine_advise(const struct machine *machine, FILE *out)
{
	bool locked = machine->lockdown[0] &&
		      strcmp(machine->lockdown, "none") != 0;
	struct refusal why = refusal_of(machine);

	if (machine->module_here) {
		fputs("  /sys/module/prefetch exists: it is being loaded or "
		      "removed, or another module has this name\n",
		      out);
		return;
	}
	/* To load it once more would be in vain. */
	if (why.undocumented || why.on_purpose || why.left_alone ||
	    why.ignored) {
		advise_log(machine, &why, out);
		return;
	}
	if (machine->module_installed == 0)
		fprintf(out,
			"  it is not installed for kernel %s; build it as the "
			"README says, then: modprobe prefetch\n",
			machine->release);
	else
		fputs("  load it as root with: modprobe prefetch; if that is "
		      "refused, the kernel log says why: dmesg | grep "
		      "prefetch\n",
		      out);
	if (locked)
		fprintf(out,
			"  the kernel is locked down (%s)%s: it refuses an "
			"unsigned module; sign it with a key that this machine "
			"knows (mokutil), or switch Secure Boot off\n",
			machine->lockdown,
			machine->secure_boot == 1 ? ", Secure Boot is on" : "");
	else if (machine->secure_boot == 1)
		fputs("  Secure Boot is on: if modprobe is refused, the module "
		      "must be signed with a key that this machine knows\n",
		      out);
	else if (machine->lockdown[0])
		fputs("  the kernel is not locked down\n", out);
	if (machine->hypervisor)
		fputs("  this is a virtual machine: its hypervisor may ignore "
		      "the registers, so the module refuses there unless "
		      "trust_hypervisor=1; 'modprobe prefetch backend=soft' "
		      "tries everything without effect on hardware\n",
		      out);
	advise_log(machine, &why, out);
}
