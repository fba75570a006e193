// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

/* Characters without a shape of their own that turn the text around them. */
static bool turns_text(uint32_t c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Length of the well-formed UTF-8 character at @s, 0 if there is none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t len, i;
	uint32_t c;

	if (s[0] < 0x80)
		return s[0] >= 0x20 && s[0] != 0x7f;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4;
	else
		return 0;
	c = s[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	/* No overlong forms, surrogates, C1 controls or beyond Unicode. */
	if ((len == 3 && c < 0x800) || (len == 4 && c < 0x10000))
		return 0;
	if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff || c < 0xa0)
		return 0;
	return turns_text(c) ? 0 : len;
}

const char *safe_text(const char *from, char to[SAFE_TEXT_SIZE])
{
	const unsigned char *s = (const unsigned char *)from;
	size_t used = 0;

	while (*s) {
		size_t len = utf8_length(s);

		if (used + (len ? len : 1) >= SAFE_TEXT_SIZE)
			break;
		if (len)
			memcpy(to + used, s, len);
		else
			to[used] = '?';
		used += len ? len : 1;
		s += len ? len : 1;
	}
	to[used] = '\0';
	return to;
}

void safe_vprint(FILE *out, const char *fmt, va_list ap)
{
	const unsigned char *s;
	char *text;

	if (vasprintf(&text, fmt, ap) < 0) {
		fputs("out of memory", out);
		return;
	}
	for (s = (const unsigned char *)text; *s;) {
		size_t len = utf8_length(s);
		bool end = *s == '\n' && !s[1];

		if (len || end)
			fwrite(s, 1, len ? len : 1, out);
		else
			fputc('?', out);
		s += len ? len : 1;
	}
	free(text);
}

const char *mask_text(uint32_t mask, const char *none,
		      char text[PFNL_MASK_NAMES_SIZE])
{
	if (!mask)
		return none;
	pfnl_mask_names(mask, text, PFNL_MASK_NAMES_SIZE);
	return text;
}

/* The largest group that says it for two or more of @mask, and for no other. */
static const struct pfnl_group_name *group_in(uint32_t mask, uint32_t bit,
					      uint32_t supported)
{
	const struct pfnl_group_name *group, *found = NULL;

	for (group = pfnl_group_names(NULL); group->name; group++) {
		uint32_t here = group->mask & supported;

		if (here & bit && !(here & ~mask) && here & (here - 1))
			found = group;
	}
	return found;
}

const char *short_states_text(uint32_t off, uint32_t on, uint32_t supported,
			      const char *none, char text[STATES_TEXT_SIZE])
{
	uint32_t left = off | on;
	size_t used = 0;
	uint32_t bit;

	text[0] = '\0';
	for (bit = 1; bit; bit <<= 1) {
		uint32_t mask = off & bit ? off : on & ~off;
		const struct pfnl_group_name *group;
		char name[PFNL_MASK_NAMES_SIZE];

		if (!(left & bit))
			continue;
		group = group_in(mask, bit, supported);
		left &= ~(group ? group->mask & supported : bit);
		if (!group)
			pfnl_mask_names(bit, name, sizeof(name));
		snprintf(text + used, STATES_TEXT_SIZE - used, "%s%s=%s",
			 used ? " " : "", group ? group->name : name,
			 off & bit ? "off" : "on");
		used = strlen(text);
	}
	return used ? text : none;
}

const char *states_text(uint32_t off, uint32_t on, const char *none,
			char text[STATES_TEXT_SIZE])
{
	/* No group has two or more of nothing. */
	return short_states_text(off, on, 0, none, text);
}

static int compare_cpus(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

const char *cpus_text(const uint32_t *cpus, size_t count,
		      char text[CPUS_TEXT_SIZE])
{
	uint32_t *sorted;
	size_t used = 0;
	size_t i, end;

	text[0] = '\0';
	if (!count)
		return text;
	sorted = malloc(count * sizeof(*sorted));
	if (!sorted)
		return text;
	memcpy(sorted, cpus, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_cpus);
	for (i = 0; i < count && used + 32 < CPUS_TEXT_SIZE; i = end) {
		for (end = i + 1; end < count; end++)
			if (sorted[end] != sorted[end - 1] + 1)
				break;
		if (end - i > 2)
			snprintf(text + used, CPUS_TEXT_SIZE - used, "%s%u-%u",
				 used ? "," : "", sorted[i], sorted[end - 1]);
		else if (end - i == 2)
			snprintf(text + used, CPUS_TEXT_SIZE - used, "%s%u,%u",
				 used ? "," : "", sorted[i], sorted[end - 1]);
		else
			snprintf(text + used, CPUS_TEXT_SIZE - used, "%s%u",
				 used ? "," : "", sorted[i]);
		used = strlen(text);
	}
	free(sorted);
	return text;
}

const char *core_cpus_text(const struct pfnl_core *core,
			   char text[CPUS_TEXT_SIZE])
{
	uint32_t *cpus = calloc(core->n_cpus + 1, sizeof(*cpus));
	size_t i;

	text[0] = '\0';
	if (!cpus)
		return text;
	for (i = 0; i < core->n_cpus; i++)
		cpus[i] = core->cpus[i].id;
	cpus_text(cpus, core->n_cpus, text);
	free(cpus);
	return text;
}

bool core_untouched(const struct pfnl_core *core)
{
	return core->failed && !core->writes;
}

const char *core_off_text(const struct pfnl_core *core,
			  char text[PFNL_MASK_NAMES_SIZE])
{
	return core_untouched(core) ? "?"
				    : mask_text(core->effective, "-", text);
}

int text_number(const char *text, size_t len, uint64_t max, uint64_t *number)
{
	uint64_t n = 0;
	size_t i;

	if (!len)
		return -1;
	for (i = 0; i < len; i++) {
		unsigned int digit = (unsigned char)text[i] - '0';

		if (digit > 9 || n > (max - digit) / 10)
			return -1;
		n = n * 10 + digit;
	}
	*number = n;
	return 0;
}

bool same_word(const char *known, const char *given, size_t len)
{
	size_t i;

	for (i = 0; i < len && known[i]; i++) {
		char c = given[i] == '_' ? '-' : given[i];

		/* Not tolower(): the result shall not depend on the locale. */
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c != known[i])
			return false;
	}
	return i == len && !known[i];
}

int shown(size_t len)
{
	return len < SHOWN ? (int)len : SHOWN;
}

void hold_standard_descriptors(void)
{
	int fd;

	/* Who reads where no input is shall fail, not find an empty one. */
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (fd > STDIN_FILENO)
		close(fd);
	/* Reading only: what is written there fails, and that is told. */
	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}
