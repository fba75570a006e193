/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef FUZZ_WORDS_H
#define FUZZ_WORDS_H

/* Both programs have an enum status: this half knows prefetch-monitor's. */
void monitor_words(char **words);

#endif
