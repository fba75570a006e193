// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes docs/cpus.md from the table that is compiled into the module, or
 * checks that it is what would be written.
 *
 *   cpus-doc              write to standard output
 *   cpus-doc FILE         write to FILE
 *   cpus-doc --check FILE compare, and say where FILE differs
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "registers.h"

#define WIDTH 78

/* Writes words, and begins a new line before one that would be too long. */
struct lines {
	FILE *out;
	unsigned int indent;
	unsigned int column;
};

static void put_word(struct lines *l, const char *word, int length)
{
	if (l->column && l->column + 1 + length > WIDTH) {
		fputc('\n', l->out);
		l->column = 0;
	} else if (l->column) {
		l->column += fprintf(l->out, " ");
	}
	/* The first line of a list item has its mark instead. */
	if (!l->column)
		l->column += fprintf(l->out, "%*s", l->indent, "");
	l->column += fprintf(l->out, "%.*s", length, word);
}

static void put_text(struct lines *l, const char *text)
{
	size_t length;

	for (;;) {
		text += strspn(text, " ");
		length = strcspn(text, " ");
		if (!length)
			return;
		put_word(l, text, (int)length);
		text += length;
	}
}

__attribute__((format(printf, 2, 3))) static void
put_format(struct lines *l, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_text(l, text);
}

static void put_paragraph(FILE *out, const char *text)
{
	struct lines l = { .out = out };

	put_text(&l, text);
	fputs("\n\n", out);
}

static void put_item(FILE *out, const char *name, const char *text)
{
	struct lines l = { .out = out, .indent = 2 };

	l.column = fprintf(out, "-");
	put_format(&l, "**%s**:", name);
	put_text(&l, text);
	fputs(".\n", out);
}

static void put_models(struct lines *l, const struct pf_row *row)
{
	unsigned int i;

	put_text(l, row->nr_models > 1 ? "models" : "model");
	for (i = 0; i < row->nr_models; i++)
		put_format(l, "%02X%s", row->models[i],
			   i + 1 < row->nr_models ? "," : "");
}

static void put_found(FILE *out, const struct pf_row *row)
{
	struct lines l = { .out = out, .indent = 2 };

	put_format(&l, "Found by: vendor %s,", row->vendor);
	if (row->family)
		put_format(&l, "family %X,", row->family);
	switch (row->match) {
	case PF_MATCH_MODEL:
		put_models(&l, row);
		break;
	case PF_MATCH_NATIVE:
		put_format(&l, "native model id %u", row->native_model);
		break;
	case PF_MATCH_BIT:
		put_text(&l, "bit 13 of EAX in CPUID leaf 8000_0021");
		break;
	}
	if (row->core_type)
		put_format(&l, "and %s-core (type %X) in CPUID leaf 1A",
			   row->core_type == PF_CPUID_CORE_ATOM ? "E" : "P",
			   row->core_type);
	fputs(".\n\n", out);
}

static void put_row(FILE *out, const struct pf_row *row)
{
	struct lines l = { .out = out, .indent = 2 };

	fprintf(out, "- **%s**\n\n", row->cpus);
	put_found(out, row);
	put_text(&l, "Source:");
	put_text(&l, row->source);
	fputs(".\n\n", out);
}

static void put_field(FILE *out, const struct pf_layout *layout,
		      const struct pf_field *f)
{
	const struct pf_prefetcher *p = &pf_prefetchers[f->id];
	char name[32], bits[32], address[32], off[32];

	snprintf(name, sizeof(name), "`%s`", p->name);
	snprintf(address, sizeof(address), "%X", layout->regs[f->reg]);
	if (f->width > 1)
		snprintf(bits, sizeof(bits), "%u:%u", f->shift + f->width - 1,
			 f->shift);
	else
		snprintf(bits, sizeof(bits), "%u", f->shift);
	snprintf(off, sizeof(off), "%u", f->off);
	fprintf(out, "| %-14s | %-8s | %-5s | %-3s | %s |\n", name, address,
		bits, off, p->description);
}

static void put_steered(FILE *out, unsigned int bit, uint32_t address)
{
	struct lines l = { .out = out };

	put_format(&l,
		   "Bit %u of register %X stops the core from changing these "
		   "fields by itself.",
		   bit, address);
	put_text(&l, "It is set while a task or the machine default asks for "
		     "anything, and else is as firmware left it.");
	fputs("\n\n", out);
}

static void put_registers(FILE *out, const struct pf_layout *layout)
{
	unsigned int i;

	put_paragraph(
		out,
		layout->shared == PF_SHARED_MODULE
			? "The cores on one L2 cache (a module) share the "
			  "registers."
			: "The hyperthreads of a core share the register.");
	fprintf(out,
		"| prefetcher     | register | bit   | off | what it is |\n");
	fprintf(out,
		"|----------------|----------|-------|-----|------------|\n");
	for (i = 0; i < layout->nr_fields; i++)
		put_field(out, layout, &layout->fields[i]);
	fputc('\n', out);
	for (i = 0; i < 64; i++) {
		if (layout->steer_bits >> i & 1)
			put_steered(out, i, layout->regs[layout->steer_reg]);
	}
}

static bool first_with(unsigned int row)
{
	unsigned int i;

	for (i = 0; i < row; i++) {
		if (pf_rows[i].layout == pf_rows[row].layout)
			return false;
	}
	return pf_rows[row].layout;
}

static void put_layout(FILE *out, const struct pf_layout *layout)
{
	unsigned int i;

	fprintf(out, "## %s\n\n", layout->name);
	put_registers(out, layout);
	for (i = 0; i < pf_nr_rows; i++) {
		if (pf_rows[i].layout == layout)
			put_row(out, &pf_rows[i]);
	}
}

/* What the table has no row for, and why. */
static const struct {
	const char *what;
	const char *why;
} left_out[] = {
	{ "Intel Core 2 and older",
	  "the bits are in IA32_MISC_ENABLE (1A0), among others that have "
	  "nothing to do with prefetching" },
	{ "Bits 14 and 42 of register 6D on recent Xeons",
	  "a vendor's tool knows them (homeless and last level cache "
	  "prefetch); no document describes them" },
	{ "Bit 11 of register 1A4 on Alder Lake and Raptor Lake",
	  "it belongs to a three-strike counter, not to a prefetcher" },
	{ "Bits 4, 6, 7 and 8 of register 1A4 on the P-cores of Meteor Lake "
	  "and Arrow Lake",
	  "it is not settled which of them belong to which kind of core" },
	{ "Throttlers of the E-cores (1321 bit 20, 1327 bit 26)",
	  "they are not prefetchers, and in them 1 means on" },
	{ "A prefetcher of the last level cache on Xeons before Granite Rapids",
	  "there is none in register 1A4" },
	{ "Bits 9 to 6 of AMD's register on Zen 5",
	  "a master switch and a setting of three bits for how eager the "
	  "prefetchers are. They keep the value that firmware gave them" },
	{ "AMD without the CPUID bit (before Zen 3)",
	  "the registers are known by reverse engineering only, and the kernel "
	  "itself writes a neighbour of theirs" },
	{ "E-cores with another native model id, and models that are not "
	  "listed",
	  "a register of the same number need not mean the same there" },
	{ "ARM",
	  "the register is open to the kernel only where firmware allows it" },
	{ "POWER",
	  "the kernel has a setting of its own for each task there (DSCR)" },
};

static void put_left_out(FILE *out)
{
	size_t i;

	fprintf(out, "## Not used, and why\n\n");
	for (i = 0; i < pf_nr_rows; i++) {
		if (!pf_rows[i].layout)
			put_item(out, pf_rows[i].cpus, pf_rows[i].source);
	}
	for (i = 0; i < ARRAY_SIZE(left_out); i++)
		put_item(out, left_out[i].what, left_out[i].why);
}

static void put_document(FILE *out)
{
	unsigned int i;

	fprintf(out, "<!-- SPDX-License-Identifier: GPL-2.0-or-later -->\n");
	fprintf(out, "<!-- Written by tests/registers/cpus-doc.c from "
		     "kernel/cputable.c. -->\n\n");
	fprintf(out, "# CPUs and their registers\n\n");
	put_paragraph(
		out,
		"This page is generated from the table that the module uses. "
		"Registers, families and models are hexadecimal, bits are "
		"decimal. Each CPU is asked by CPUID on that CPU, so the cores "
		"of one machine may belong to different sections.");
	put_paragraph(
		out,
		"Only the bits that are listed are ever changed. All others "
		"keep the value that firmware left. On load each listed bit is "
		"tried out: a register that cannot be read or written, or that "
		"does not keep what is written, is not used.");
	put_paragraph(out, "On a CPU that is not listed the module answers "
			   "\"undocumented on this CPU\".");
	for (i = 0; i < pf_nr_rows; i++) {
		if (first_with(i))
			put_layout(out, pf_rows[i].layout);
	}
	put_left_out(out);
}

static int check(const char *path, const char *want, size_t size)
{
	unsigned int line = 1;
	size_t at;
	FILE *file;
	int c = 0;

	file = fopen(path, "re");
	if (!file) {
		fprintf(stderr, "cpus-doc: %s: %s\n", path, strerror(errno));
		return 1;
	}
	for (at = 0; at < size; at++) {
		c = fgetc(file);
		if (c != (unsigned char)want[at])
			break;
		line += c == '\n';
	}
	if (at == size)
		c = fgetc(file);
	fclose(file);
	if (at == size && c == EOF)
		return 0;
	fprintf(stderr,
		"cpus-doc: %s, line %u: differs from the table of the module. "
		"Write it again: meson compile -C build docs-cpus\n",
		path, line);
	return 1;
}

static int write_file(const char *path, const char *text, size_t size)
{
	FILE *file = fopen(path, "we");

	if (!file)
		goto failed;
	if (fwrite(text, 1, size, file) != size) {
		fclose(file);
		goto failed;
	}
	if (!fclose(file))
		return 0;
failed:
	fprintf(stderr, "cpus-doc: %s: %s\n", path, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	char *text = NULL;
	size_t size = 0;
	int status;
	FILE *out;

	if (argc > 3 || (argc == 3 && strcmp(argv[1], "--check"))) {
		fprintf(stderr, "usage: cpus-doc [[--check] FILE]\n");
		return 2;
	}
	out = open_memstream(&text, &size);
	if (!out) {
		perror("cpus-doc");
		return 1;
	}
	put_document(out);
	if (fclose(out)) {
		perror("cpus-doc");
		free(text);
		return 1;
	}
	if (argc == 3)
		status = check(argv[2], text, size);
	else if (argc == 2)
		status = write_file(argv[1], text, size);
	else
		status = fwrite(text, 1, size, stdout) != size ||
			 fflush(stdout) == EOF;
	free(text);
	return status;
}
