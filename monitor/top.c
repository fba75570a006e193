// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --top: a table of cores, read again each second. It needs no events, so it
 * works for everybody; who may not see running tasks sees none.
 */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor.h"
#include "text.h"

#define SECOND	     INT64_C(1000000000)
#define INTERVAL     SECOND
#define HEADER_LINES 3

struct row {
	struct pfnl_core core;
	uint64_t writes_before;
	bool seen_before, seen_now;
};

struct top {
	struct pfnl *kernel;
	const struct options *options;
	struct pfnl_info info;
	struct row *rows;
	size_t count;
	size_t first;		/* first line shown */
	uint64_t read_at, span; /* ns */
	int err;		/* of the last reading */
	char message[160];
	/* while one picture is drawn */
	size_t line;
	int y;
};

static struct row *find_row(struct top *top, uint32_t domain)
{
	struct row *more;
	size_t i;

	for (i = 0; i < top->count; i++)
		if (top->rows[i].core.domain == domain)
			return &top->rows[i];
	more = reallocarray(top->rows, top->count + 1, sizeof(*more));
	if (!more)
		return NULL;
	top->rows = more;
	more += top->count++;
	memset(more, 0, sizeof(*more));
	more->core.domain = domain;
	return more;
}

static bool is_wanted(const struct options *options, uint32_t domain)
{
	size_t i;

	for (i = 0; i < options->cores_count; i++)
		if (options->cores[i] == domain)
			return true;
	return !options->cores_count;
}

static int keep_core(const struct pfnl_core *core, void *arg)
{
	struct top *top = arg;
	struct row *row;

	if (!is_wanted(top->options, core->domain))
		return 0;
	row = find_row(top, core->domain);
	if (!row)
		return -ENOMEM;
	row->seen_before = row->core.n_cpus > 0;
	row->writes_before = row->core.writes;
	pfnl_core_clear(&row->core);
	row->seen_now = true;
	return pfnl_core_copy(&row->core, core);
}

static void drop_rows(struct top *top)
{
	size_t i;

	for (i = 0; i < top->count; i++)
		pfnl_core_clear(&top->rows[i].core);
	free(top->rows);
	top->rows = NULL;
	top->count = 0;
}

static void read_state(struct top *top)
{
	uint64_t now = now_monotonic();

	top->span = now - top->read_at;
	top->read_at = now;
	top->err = pfnl_info(top->kernel, &top->info);
	if (!top->err)
		top->err = pfnl_core_list(top->kernel, false, NULL, keep_core,
					  top);
	if (top->err) {
		snprintf(top->message, sizeof(top->message), "%s",
			 pfnl_module_missing(top->kernel)
				 ? "the module is not loaded; waiting for it"
				 : pfnl_errmsg(top->kernel));
		drop_rows(top);
	}
}

static double writes_per_second(const struct top *top, const struct row *row)
{
	if (!row->seen_before || !top->span ||
	    row->core.writes < row->writes_before)
		return 0;
	return (double)(row->core.writes - row->writes_before) *
	       (double)SECOND / (double)top->span;
}

/* The next line of the table, or false if it is not on the screen. */
static bool next_line(struct top *top)
{
	if (top->line++ < top->first)
		return false;
	if (top->y + 1 >= LINES)
		return false;
	move(++top->y, 0);
	return true;
}

static void draw_cpu(const struct pfnl_cpu *cpu)
{
	char text[STATES_TEXT_SIZE], comm[SAFE_TEXT_SIZE];

	printw(" %4" PRIu32 "  ", cpu->id);
	if (!cpu->online) {
		addstr("offline");
		return;
	}
	if (cpu->has_task)
		printw("%-16s %7" PRIu32 "  ", safe_text(cpu->comm, comm),
		       cpu->tid);
	else
		printw("%-16s %7s  ", "-", "-");
	addstr(cpu->has_wish ? states_text(cpu->wish_off, cpu->wish_on,
					   "default", text)
			     : "-");
}

static void draw_row(struct top *top, const struct row *row)
{
	const struct pfnl_core *core = &row->core;
	char text[PFNL_MASK_NAMES_SIZE];
	size_t i;

	for (i = 0; i < core->n_cpus; i++) {
		if (!next_line(top))
			continue;
		if (i) {
			printw("%44s", "");
		} else {
			printw("%4" PRIu32 "  ", core->domain);
			if (core->effective && !core_untouched(core))
				attron(A_BOLD);
			printw("%-22.22s", core_off_text(core, text));
			attroff(A_BOLD);
			printw(" %-6s %8.0f",
			       core->failed ? "FAILED"
			       : core->held ? "held"
					    : "-",
			       writes_per_second(top, row));
		}
		draw_cpu(&core->cpus[i]);
	}
}

static size_t total_lines(const struct top *top)
{
	size_t lines = 0;
	size_t i;

	for (i = 0; i < top->count; i++)
		lines += top->rows[i].core.n_cpus;
	return lines;
}

static void draw(struct top *top)
{
	char vendor[SAFE_TEXT_SIZE];
	size_t i;

	erase();
	if (top->err) {
		mvaddnstr(0, 0, top->message, COLS);
		refresh();
		return;
	}
	mvprintw(0, 0, "backend: %s%s   %s family %" PRIu32 " model 0x%" PRIX32,
		 pfnl_backend_name(top->info.backend),
		 is_soft(&top->info) ? " (no effect on hardware)" : "",
		 safe_text(top->info.cpu_vendor, vendor), top->info.cpu_family,
		 top->info.cpu_model);
	mvprintw(1, 0,
		 "%" PRIu32 " settings, %" PRIu64
		 " register writes, q to quit, arrows to scroll",
		 top->info.settings, top->info.register_writes);
	attron(A_REVERSE);
	mvprintw(2, 0, "%-*.*s", COLS, COLS,
		 "CORE  OFF                    STATE  WRITES/s  CPU  TASK"
		 "                 TID  WISH");
	attroff(A_REVERSE);
	top->line = 0;
	top->y = HEADER_LINES - 1;
	for (i = 0; i < top->count; i++)
		draw_row(top, &top->rows[i]);
	refresh();
}

static void scroll_by(struct top *top, long lines)
{
	long first = (long)top->first + lines;
	long room = LINES > HEADER_LINES ? LINES - HEADER_LINES : 1;
	long last = (long)total_lines(top) - room;

	if (first > last)
		first = last;
	top->first = first > 0 ? (size_t)first : 0;
}

/* False: quit. */
static bool handle_keys(struct top *top)
{
	int key;

	/* Keys may come faster than they are handled. */
	while (!output_stopped() && (key = getch()) != ERR) {
		switch (key) {
		case 'q':
		case 'Q':
			return false;
		case KEY_DOWN:
			scroll_by(top, 1);
			break;
		case KEY_UP:
			scroll_by(top, -1);
			break;
		case KEY_NPAGE:
			scroll_by(top, LINES - HEADER_LINES);
			break;
		case KEY_PPAGE:
			scroll_by(top, HEADER_LINES - LINES);
			break;
		default:
			/* KEY_RESIZE too: the next picture fits. */
			break;
		}
	}
	return true;
}

static void show(struct top *top)
{
	uint64_t pictures = 0;
	uint64_t due = 0;

	for (;;) {
		uint64_t now = now_monotonic();
		int64_t left;

		if (now >= due) {
			read_state(top);
			due = now + INTERVAL;
			if (top->options->count &&
			    pictures++ >= top->options->count)
				return;
		}
		output_terminal_begin();
		draw(top);
		output_terminal_end();
		now = now_monotonic();
		left = due > now ? (int64_t)(due - now) : 0;
		if (!output_wait(STDIN_FILENO, left) || !handle_keys(top))
			return;
	}
}

int monitor_top(struct pfnl *h, const struct options *options)
{
	struct top top = { .kernel = h, .options = options };
	int err = pfnl_info(h, &top.info);
	SCREEN *screen;

	if (err)
		return complain_kernel(h, err, "info");
	err = monitor_check_cores(h, options, &top.info);
	if (err)
		return err;
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return complain(STATUS_FAILED, "--top needs a terminal");
	setlocale(LC_ALL, "");
	screen = newterm(NULL, stdout, stdin);
	if (!screen)
		return complain(STATUS_FAILED,
				"--top does not know this terminal; is TERM "
				"set right?");
	/* After newterm(), which has handlers of its own. */
	output_begin(options->duration);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	top.read_at = now_monotonic();
	show(&top);
	output_terminal_begin();
	endwin();
	output_terminal_end();
	delscreen(screen);
	drop_rows(&top);
	return STATUS_DONE;
}
