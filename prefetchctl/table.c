// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <libsmartcols.h>

#include "ctl.h"
#include "table.h"

void table_begin(struct table *table, const struct column *columns,
		 size_t count)
{
	size_t i;

	*table = (struct table){ .columns = count };
	table->table = scols_new_table();
	if (!table->table) {
		table->err = -ENOMEM;
		return;
	}
	scols_table_set_stream(table->table, stdout);
	if (colour_wanted(stdout))
		scols_table_enable_colors(table->table, 1);
	for (i = 0; i < count; i++)
		if (!scols_table_new_column(table->table, columns[i].heading, 0,
					    columns[i].right ? SCOLS_FL_RIGHT
							     : 0))
			table->err = -ENOMEM;
}

void table_row(struct table *table)
{
	if (table->err)
		return;
	table->line = scols_table_new_line(table->table, NULL);
	if (!table->line)
		table->err = -ENOMEM;
}

void table_cell(struct table *table, size_t column, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int len;

	if (table->err)
		return;
	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		table->err = -ENOMEM;
	else
		table->err = scols_line_refer_data(table->line, column, text);
}

void table_colour(struct table *table, size_t column, const char *colour)
{
	if (!table->err)
		table->err = scols_cell_set_color(
			scols_line_get_cell(table->line, column), colour);
}

int table_end(struct table *table)
{
	if (!table->err)
		table->err = scols_print_table(table->table);
	scols_unref_table(table->table);
	table->table = NULL;
	return table->err;
}

void table_drop(struct table *table)
{
	scols_unref_table(table->table);
	table->table = NULL;
}
