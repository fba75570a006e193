/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages out of numbers: mostly right ones, with something wrong in a third
 * of them.
 */
#ifndef PREFETCH_TEST_WIRE_GENERATE_H
#define PREFETCH_TEST_WIRE_GENERATE_H

#include <stdbool.h>

#include "wire.h"
#include "wire-model.h"

#define WIRE_SEED 0x70726566657463ULL

/*
 * The message with that number, always the same for the same tasks. It gets
 * the next sequence number. With lengths: also attributes of a wrong length
 * and bytes behind them, of which the netlink core itself tells the log.
 */
const struct request *wire_generate(const struct model *m, struct wire *w,
				    bool with_lengths, unsigned long number);

#endif
