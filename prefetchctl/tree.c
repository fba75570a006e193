// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process and all its descendants.
 *
 * A child that is born before its parent has the setting does not inherit it,
 * so /proc is read again until a whole pass finds nobody to set. The exact
 * start time is asked of the kernel before /proc is looked at a second time: so
 * a process that got the pid of a dead one in between is refused or not taken.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "absent.h"
#include "ctl.h"

/* A tree that grows faster than it is walked shall not hang its caller. */
#define MAX_PASSES 64

struct process {
	pid_t pid, parent;
	unsigned long long start; /* in clock ticks: coarse */
	bool member;
};

struct scan {
	struct process *processes;
	size_t count, room;
};

struct tree {
	struct report *report;
	const struct masks *masks;
	int inherit;
	pid_t root;
	uint64_t root_start;
	struct scan scan;
	pid_t *refused; /* told once, not tried again */
	size_t refused_count, refused_room;
};

/* /proc/PID/stat: the parent and the start; the name may hold anything. */
static int read_stat(pid_t pid, struct process *process)
{
	char path[512], text[1024];
	const char *after;
	FILE *file;
	size_t len;

	snprintf(path, sizeof(path), "%s/proc/%d/stat", machine_root(), pid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	after = strrchr(text, ')');
	*process = (struct process){ .pid = pid };
	/* The parent is the 4th field, the start the 22nd; the name the 2nd. */
	if (!after || sscanf(after + 1,
			     " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			     "%*s %*s %*s %*s %*s %*s %*s %llu",
			     &process->parent, &process->start) != 2)
		return -1;
	return 0;
}

static int scan_add(struct scan *scan, const struct process *process)
{
	if (scan->count == scan->room) {
		size_t room = scan->room ? scan->room * 2 : 256;
		struct process *more;

		more = reallocarray(scan->processes, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		scan->processes = more;
		scan->room = room;
	}
	scan->processes[scan->count++] = *process;
	return 0;
}

static int compare_pids(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct process *find(struct scan *scan, pid_t pid)
{
	struct process key = { .pid = pid };

	return bsearch(&key, scan->processes, scan->count, sizeof(key),
		       compare_pids);
}

static int scan_read(struct scan *scan)
{
	char path[512];
	struct dirent *entry;
	DIR *dir;
	int err = 0;

	scan->count = 0;
	snprintf(path, sizeof(path), "%s/proc", machine_root());
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);
		struct process process;

		if (*end || pid <= 0 || pid > INT32_MAX)
			continue;
		if (!read_stat((pid_t)pid, &process))
			err = scan_add(scan, &process);
	}
	closedir(dir);
	if (scan->count)
		qsort(scan->processes, scan->count, sizeof(*scan->processes),
		      compare_pids);
	return err;
}

/* Mark the descendants of @root; a parent may have a higher pid. */
static void scan_mark(struct scan *scan, pid_t root)
{
	bool more = true;
	size_t i;

	while (more) {
		more = false;
		for (i = 0; i < scan->count; i++) {
			struct process *p = &scan->processes[i];
			struct process *parent;

			if (p->member || p->pid == root)
				continue;
			parent = find(scan, p->parent);
			if (p->parent == root || (parent && parent->member)) {
				p->member = true;
				more = true;
			}
		}
	}
}

static bool covered(const struct tree *tree, const struct pfnl_setting *s)
{
	const struct masks *m = tree->masks;

	if ((s->off & m->off) != m->off || (s->on & m->on) != m->on)
		return false;
	if ((s->off | s->on) & m->clear)
		return false;
	return tree->inherit < 0 || !s->present || s->inherit;
}

static bool was_refused(const struct tree *tree, pid_t pid)
{
	size_t i;

	for (i = 0; i < tree->refused_count; i++)
		if (tree->refused[i] == pid)
			return true;
	return false;
}

static void refuse(struct tree *tree, pid_t pid, int err)
{
	char what[32];

	if (tree->refused_count == tree->refused_room) {
		size_t room = tree->refused_room ? tree->refused_room * 2 : 16;
		pid_t *more = reallocarray(tree->refused, room, sizeof(*more));

		if (more) {
			tree->refused = more;
			tree->refused_room = room;
		}
	}
	if (tree->refused_count < tree->refused_room)
		tree->refused[tree->refused_count++] = pid;
	snprintf(what, sizeof(what), "pid %d", pid);
	report_failure(tree->report, say_kernel_error(tree->report->ctl, err,
						      what, NEED_TASK));
}

static int set_process(struct tree *tree, const struct pfnl_setting *seen)
{
	struct pfnl_setting_request request = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting result;
	int err;

	request.pid = seen->pid;
	request.start_time = seen->start_time;
	request.off = tree->masks->off;
	request.on = tree->masks->on;
	request.clear = tree->masks->clear;
	request.inherit = tree->inherit;
	err = pfnl_setting_set(tree->report->ctl->kernel, &request, &result);
	if (!err)
		report_setting(tree->report, &result);
	return err;
}

/* An orphan has another parent and the same start: it stays in the tree. */
static bool still_there(const struct process *process)
{
	struct process now;

	return !read_stat(process->pid, &now) &&
	       (now.parent == process->parent || now.start == process->start);
}

/* 1: was set; 0: nothing to do; -ENODEV: no use to go on. */
static int visit_child(struct tree *tree, const struct process *process)
{
	struct pfnl_setting seen;
	int err;

	if (was_refused(tree, process->pid))
		return 0;
	err = pfnl_setting_get(tree->report->ctl->kernel, process->pid, 0,
			       &seen);
	if (!err) {
		if (!still_there(process) || covered(tree, &seen))
			return 0;
		err = set_process(tree, &seen);
	}
	if (!err)
		return 1;
	if (err == -ESRCH)
		return 0;
	refuse(tree, process->pid, err);
	return tree->report->ctl->module_absent ? -ENODEV : 0;
}

static int visit_root(struct tree *tree)
{
	struct pfnl *kernel = tree->report->ctl->kernel;
	struct pfnl_setting seen;
	int err;

	err = pfnl_setting_get(kernel, tree->root, 0, &seen);
	if (!err) {
		tree->root_start = seen.start_time;
		err = set_process(tree, &seen);
	}
	if (err)
		refuse(tree, tree->root, err);
	return err;
}

static bool root_lives(struct tree *tree)
{
	struct pfnl_setting seen;

	return !pfnl_setting_get(tree->report->ctl->kernel, tree->root, 0,
				 &seen) &&
	       seen.start_time == tree->root_start;
}

/* Number of processes that had to be set in this pass, or -errno. */
static int walk(struct tree *tree)
{
	int err = scan_read(&tree->scan);
	int changed = 0;
	size_t i;

	if (err)
		return err;
	scan_mark(&tree->scan, tree->root);
	for (i = 0; i < tree->scan.count; i++) {
		if (!tree->scan.processes[i].member)
			continue;
		err = visit_child(tree, &tree->scan.processes[i]);
		if (err < 0)
			return err;
		changed += err;
	}
	return changed;
}

void tree_set(struct report *report, pid_t root, const struct masks *masks,
	      int inherit)
{
	struct tree tree = {
		.report = report,
		.masks = masks,
		.inherit = inherit,
		.root = root,
	};
	int pass, changed = 1;

	if (!visit_root(&tree)) {
		for (pass = 0; changed > 0 && pass < MAX_PASSES; pass++)
			changed = root_lives(&tree) ? walk(&tree) : 0;
		if (changed > 0)
			report_failure(report,
				       say_error(report->ctl, STATUS_FAILED,
						 "tree %d: it grows "
						 "faster than it can be "
						 "walked",
						 root));
		else if (changed < 0 && !report->ctl->module_absent)
			report_failure(report,
				       say_error(report->ctl, STATUS_FAILED,
						 "tree %d: cannot read /proc: "
						 "%s",
						 root, strerror(-changed)));
	}
	free(tree.scan.processes);
	free(tree.refused);
}
