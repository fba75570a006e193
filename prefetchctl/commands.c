// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of subcommands with their grammar and help. */
#include <string.h>

#include "ctl.h"

/* Texts stay as they will be read. */
/* clang-format off */
#define TASKS                                                                  \
	(TARGET_BIT(TARGET_PID) | TARGET_BIT(TARGET_TID) |                     \
	 TARGET_BIT(TARGET_SELF))

#define ABOUT_NAMES                                                            \
	"NAME is a prefetcher, one of its vendor or BIOS names, or one of the\n" \
	"groups l1, l2, llc and all; '-' and '_' are the same in it. A later\n"  \
	"word overrides an earlier one: l1=off l1_ip=on. 'prefetchctl info'\n"   \
	"shows what this machine has.\n"

#define ABOUT_IDS                                                              \
	"pid=12, --pid 12 and -p 12 mean the same; so do tid=12, --tid 12 and\n" \
	"-t 12. Several ids are separated by commas.\n"

const struct command commands[] = {
	{
		.name = "set",
		.run = cmd_set,
		.targets = TASKS | TARGET_BIT(TARGET_TREE) |
			   TARGET_BIT(TARGET_DEFAULT),
		.takes = TAKES_STATES | TAKES_INHERIT | TAKES_START |
			 NEEDS_STATES | NEEDS_TARGET,
		.usage = "set TARGET NAME=off|on|default ... [inherit=on|off]",
		.summary = "change the setting of a task or of the machine",
		.details =
			"TARGET is one of\n"
			"  pid=PID[,PID]   a process: all its threads, present and future\n"
			"  tid=TID[,TID]   one thread; what it names wins over its process\n"
			"  tree=PID[,PID]  a process and all its descendants, with inherit\n"
			"  self            the process that called prefetchctl, as a shell\n"
			"  default         the machine: tasks without a setting\n"
			"\n" ABOUT_IDS "\n" ABOUT_NAMES
			"\n"
			"off and on switch, default takes the opinion back. What is not\n"
			"named stays as it was. inherit=on hands the setting to each new\n"
			"child process; without it a child starts with none.\n"
			"start-time=NS refuses a process that reuses the pid; the time is\n"
			"the start_time that 'prefetchctl get --json' shows.\n",
	},
	{
		.name = "get",
		.run = cmd_get,
		.targets = TASKS | TARGET_BIT(TARGET_DEFAULT),
		.takes = NEEDS_TARGET,
		.usage = "get pid=PID|tid=TID|self|default",
		.summary = "show the setting of a task or of the machine",
		.details =
			"Shows what was set, and the wish that comes out of thread,\n"
			"process and machine default together. self is the process that\n"
			"called prefetchctl.\n"
			"\n" ABOUT_IDS,
	},
	{
		.name = "clear",
		.run = cmd_clear,
		.targets = TASKS | TARGET_BIT(TARGET_DEFAULT) |
			   TARGET_BIT(TARGET_TREE) | TARGET_BIT(TARGET_ALL),
		.takes = TAKES_START | NEEDS_TARGET,
		.usage = "clear pid=PID|tid=TID|tree=PID|self|default|all",
		.summary = "remove settings",
		.details =
			"A task without a setting follows the machine default again.\n"
			"clear pid= removes the setting of the process and leaves those\n"
			"of single threads. clear default makes the machine default what\n"
			"the firmware left. clear all removes each setting of a task that\n"
			"you may change, and leaves the machine default.\n"
			"\n" ABOUT_IDS,
	},
	{
		.name = "list",
		.run = cmd_list,
		.usage = "list",
		.summary = "show all settings",
		.details =
			"Shows the settings of all tasks that you can see: what was set,\n"
			"WISH, what comes out of thread, process and machine default\n"
			"together, and SET-BY, the id of the user who set it last. A group\n"
			"such as l2 or all stands for all that this machine has of it.\n",
	},
	{
		.name = "cores",
		.run = cmd_cores,
		.takes = TAKES_VERIFY,
		.usage = "cores [--verify]",
		.summary = "show what is programmed on each core",
		.details =
			"A core is the CPUs that share one register: the hyperthreads of a\n"
			"core, or the E-cores of a module. Its first line shows what is off\n"
			"there now, what the firmware had switched off, and the register\n"
			"writes. 'held' marks a core that keeps the mask of its last task\n"
			"while that sleeps, FAILED one that is out of service: its register\n"
			"does not do what is written; 'prefetchctl info' says what is wrong.\n"
			"\n"
			"Each CPU has a line with its WISH, what the task that runs there\n"
			"asks for: 'default' is nothing beyond the machine default, '-' no\n"
			"task that counts, as idle. OFF is what comes out of the wishes of\n"
			"all CPUs of the core. For root there is the running task, too.\n"
			"\n"
			"--verify reads the registers back, which needs CAP_SYS_ADMIN,\n"
			"and says where somebody else has written.\n",
	},
	{
		.name = "repair",
		.run = cmd_repair,
		.usage = "repair",
		.summary = "write back what somebody else has changed",
		.details =
			"Writes the registers again that differ from what was\n"
			"programmed, and shows them before and after. A core whose\n"
			"register failed since the module was loaded is tried again, too.\n"
			"Needs CAP_SYS_ADMIN.\n",
	},
	{
		.name = "info",
		.run = cmd_info,
		.takes = TAKES_TOPIC | TAKES_REPORT,
		.usage = "info [NAME[,NAME]] [--report]",
		.summary = "show what this machine has, and why something is missing",
		.details =
			"Shows the backend, the CPU, the counters of the module, and each\n"
			"prefetcher with its other names, its register and what the\n"
			"firmware left; or only the prefetchers that are named. Those that\n"
			"the machine lacks are listed with the reason.\n"
			"\n"
			"With --report it prints one block to paste into a bug report: CPU,\n"
			"microcode, kernel, what the firmware left on each core, and what\n"
			"the module said of it. Nothing in it is private.\n",
	},
	{
		.name = "run",
		.run = cmd_run,
		.takes = TAKES_STATES | TAKES_INHERIT | TAKES_COMMAND |
			 NEEDS_STATES,
		.not_in_batch = true,
		.usage = "run NAME=off|on ... [inherit=off] -- COMMAND [ARG ...]",
		.summary = "run a command with a setting",
		.details =
			"The command and its children get the setting; with inherit=off\n"
			"the command alone. If the setting is refused, the command is not\n"
			"run.\n"
			"\n" ABOUT_NAMES
			"\n"
			"Ends with the status of COMMAND; 126 if it cannot be run, 127 if\n"
			"it is not found.\n",
	},
	{
		.name = "batch",
		.run = cmd_batch,
		.takes = TAKES_FILE | TAKES_KEEP_GOING,
		.not_in_batch = true,
		.usage = "batch [-k] FILE|-",
		.summary = "read requests from a file, one a line",
		.details =
			"A line is a request as on the command line, without\n"
			"'prefetchctl'. Empty lines and lines that start with # are\n"
			"skipped. Stops at the first request that fails; -k or\n"
			"--keep-going goes on with the next line. Ends with 6 if a\n"
			"request failed.\n",
	},
	{
		.name = "exec",
		.run = cmd_exec,
		.takes = TAKES_NAMES | TAKES_COMMAND,
		.not_in_batch = true,
		.usage = "exec NAME[,NAME] -- COMMAND [ARG ...]",
		.summary = "run a command with prefetchers off (no inheritance)",
		.details =
			"The same as 'run NAME=off ... inherit=off -- COMMAND'.\n"
			"\n" ABOUT_NAMES,
	},
	{
		.name = "disable",
		.run = cmd_disable,
		.targets = TARGET_BIT(TARGET_PID),
		.takes = TAKES_NAMES | TAKES_PID_WORD,
		.usage = "disable NAME[,NAME] PID[,PID]",
		.summary = "switch prefetchers off for a process (no inheritance)",
		.details =
			"The same as 'set pid=PID NAME=off ...'.\n"
			"\n" ABOUT_NAMES,
	},
	{
		.name = "enable",
		.run = cmd_enable,
		.targets = TARGET_BIT(TARGET_PID),
		.takes = TAKES_NAMES | TAKES_PID_WORD,
		.usage = "enable NAME[,NAME] PID[,PID]",
		.summary = "switch prefetchers on for a process (no inheritance)",
		.details =
			"The same as 'set pid=PID NAME=on ...'. To follow the machine\n"
			"default again, use 'set pid=PID NAME=default'.\n"
			"\n" ABOUT_NAMES,
	},
	{
		.name = "version",
		.run = cmd_version,
		.usage = "version",
		.summary = "show the version of this program and of the module",
		.details = "Does not fail if the module is not loaded.\n",
	},
	{
		.name = "help",
		.run = cmd_help,
		.takes = TAKES_TOPIC,
		.not_in_batch = true,
		.usage = "help [COMMAND|names]",
		.summary = "show this help, or that of one command",
		.details = "'prefetchctl help names' lists all prefetchers that are known, on\n"
			   "any machine.\n",
	},
	{ .name = NULL },
};
/* clang-format on */

const struct command *command_find(const char *name)
{
	const struct command *command;

	for (command = commands; command->name; command++)
		if (!strcmp(command->name, name))
			return command;
	return NULL;
}
