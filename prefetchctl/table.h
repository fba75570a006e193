/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thin layer over libsmartcols: rows of text under headings. */
#ifndef PREFETCHCTL_TABLE_H
#define PREFETCHCTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct libscols_table;
struct libscols_line;

struct column {
	const char *heading;
	bool right; /* a number */
};

struct table {
	struct libscols_table *table;
	struct libscols_line *line;
	size_t columns;
	int err; /* the first error; the rest does nothing */
};

void table_begin(struct table *table, const struct column *columns,
		 size_t count);
void table_row(struct table *table);
void table_cell(struct table *table, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The colour of the last row's cell, by its terminfo name such as "red". */
void table_colour(struct table *table, size_t column, const char *colour);
/* Print on stdout and free. Returns 0 or -errno. */
int table_end(struct table *table);
/* Free without printing. */
void table_drop(struct table *table);

#endif
