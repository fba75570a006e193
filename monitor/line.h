/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PREFETCH_MONITOR_LINE_H
#define PREFETCH_MONITOR_LINE_H

#include "monitor.h"

struct line {
	const struct options *options;
	enum written written;	  /* of the last line */
	uint64_t cores, settings; /* counted in this resync */
};

void line_hello(struct line *line, const struct pfnl_info *info,
		unsigned int groups, size_t buffer);
void line_event(struct line *line, const struct pfnl_event *event);
void line_gone(struct line *line);
/* @info: the counters at the end, or NULL if there is no module. */
void line_bye(struct line *line, const char *reason, uint64_t events,
	      const struct pfnl_info *info);

#endif
