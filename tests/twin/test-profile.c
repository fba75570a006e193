// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading profiles: those of the tree, given as arguments, are good; each bad
 * line is refused with its number and the bad word.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile.h"
#include "twin.h"

static char said[512];

void log_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

static const struct {
	const char *line, *word;
} bad[] = {
	{ "core 1", "two cores: '1'" },
	{ "core x", "'x'" },
	{ "core 5-3", "'5-3'" },
	{ "core 255", "'255'" },
	{ "core 5,", "'5,'" },
	{ "register", "not the number of a register" },
	{ "register 0x1a4 cores=1",
	  "names core 1, and the lines above have 1" },
	{ "register 0x1a4 value=3", "lacks cores=" },
	{ "register 0x1a4 cores=0 value=zz", "'zz'" },
	{ "register 0x1a4 cores=0 value=-1", "'-1'" },
	{ "register 0x1a4 cores=0 changes=1", "lacks the @" },
	{ "register 0x1a4 cores=0 changes=1@0", "'0'" },
	{ "register 0x1a4 cores=0 refuses=1", "lacks the -" },
	{ "register 0x1a4 cores=0 refuses=0-1", "not WRITE-WRITE: '1'" },
	{ "register 0x1a4 cores=0 refuses=3-2", "not WRITE-WRITE: '2'" },
	{ "register 0x1a4 cores=0 melts", "'melts'" },
	{ "register 0x8 cores=0", "twice" },
	{ "cpuid", "not a CPUID leaf" },
	{ "cpuid 4.x", "'x'" },
	{ "cpuid 4 eax", "'eax'" },
	{ "cpuid 4 eax=0x100000000", "'0x100000000'" },
	{ "cpuid 4 efx=1", "'efx'" },
	{ "missing 1 2", "too many: '2'" },
	{ "nonsense", "'nonsense'" },
};

static int failures;

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "failed: %s (said: %s)\n", what, said);
	failures++;
}

static void forget(struct profile *p)
{
	free(p->leaves);
	free(p->registers);
	free(p->msrs);
}

static bool read_text(const char *line, struct profile *p)
{
	char path[] = "/tmp/prefetch-profile-XXXXXX";
	int fd = mkstemp(path);
	bool good;

	if (fd < 0)
		abort();
	dprintf(fd, "core 0-1 # a comment\nregister 8 cores=0 value=3\n%s\n",
		line);
	close(fd);
	said[0] = '\0';
	good = profile_read(path, p);
	unlink(path);
	return good;
}

/* What stands behind a NUL byte must not be lost in silence. */
static void check_nul(void)
{
	static const char text[] = "core 0\0,1\nnonsense\n";
	char path[] = "/tmp/prefetch-profile-XXXXXX";
	int fd = mkstemp(path);
	struct profile p;

	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	check(!profile_read(path, &p) && strstr(said, ":1: ") &&
		      strstr(said, "NUL"),
	      "a NUL byte");
	unlink(path);
	forget(&p);
}

static void check_answers(void)
{
	const struct profile_leaf *leaf;
	struct profile p;

	check(read_text("cpuid 4.1 cpus=0,2 edx=apic-id eax=7\ncpuid 4 eax=9",
			&p),
	      "a good profile");
	check(p.cores == 1 && p.core_of[1] == 0 && p.core_of[2] == -1, "cores");
	check(p.nr_registers == 1 && p.registers[0].value == 3, "registers");
	leaf = profile_find_leaf(&p, 2, 4, 1);
	check(leaf && leaf->value[CPUID_EAX] == 7 &&
		      leaf->is_apic_id[CPUID_EDX],
	      "subleaf");
	leaf = profile_find_leaf(&p, 1, 4, 1);
	check(leaf && leaf->value[CPUID_EAX] == 9, "any subleaf");
	check(!profile_find_leaf(&p, 0, 5, 0), "a leaf that is QEMU's");
	forget(&p);
}

int main(int argc, char **argv)
{
	struct profile p;

	for (int i = 1; i < argc; i++) {
		check(profile_read(argv[i], &p), argv[i]);
		check(p.cores && p.nr_msrs, argv[i]);
		forget(&p);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check(!read_text(bad[i].line, &p) && strstr(said, ":3: ") &&
			      strstr(said, bad[i].word),
		      bad[i].line);
		forget(&p);
	}
	check_answers();
	check_nul();
	check(!profile_read("/nonsuch", &p) && strstr(said, "/nonsuch"),
	      "no file");
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
