// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of prefetch-monitor. */
#include "fuzz.h"
#include "monitor.h"
#include "words.h"

void monitor_words(char **words)
{
	struct options options;
	char why[256] = "";
	size_t i;

	if (options_parse(&options, words, why, sizeof(why))) {
		HOLDS(why[0]);
		must_be_text(why, sizeof(why));
	} else {
		HOLDS(options.duration >= 0);
		HOLDS(!(options.kinds & ~(KIND_BIT(KINDS) - 1)));
		HOLDS(!options.pids_count || options.pids);
		for (i = 0; i < options.pids_count; i++)
			HOLDS(options.pids[i] > 0 &&
			      options.pids[i] <= INT32_MAX);
		for (i = 0; i < options.cores_count; i++)
			HOLDS(options.cores[i] <= INT32_MAX);
	}
	options_free(&options);
}
