/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a task asks for: prefetchers to switch off, prefetchers to switch on,
 * no opinion on the rest. One word, so that it is read and written whole.
 */
#ifndef PF_WISH_H
#define PF_WISH_H

#include <linux/types.h>

typedef u64 pf_wish_t;

/* Nobody asks: the CPU is idle, or runs a kernel thread without a setting. */
#define PF_WISH_NONE (~0ULL)

/* A task without an opinion, which has what the machine default says. */
#define PF_WISH_DEFAULT 0ULL

static inline pf_wish_t pf_wish(u32 off, u32 on)
{
	return (u64)on << 32 | off;
}

static inline u32 pf_wish_off(pf_wish_t wish)
{
	return wish;
}

static inline u32 pf_wish_on(pf_wish_t wish)
{
	return wish >> 32;
}

/* @first where it has an opinion, else @second. */
static inline pf_wish_t pf_wish_over(pf_wish_t first, pf_wish_t second)
{
	u32 said = pf_wish_off(first) | pf_wish_on(first);

	return first | (second & ~pf_wish(said, said));
}

/* The mask for a wish where the machine default is @def. */
static inline u32 pf_wish_resolve(pf_wish_t wish, u32 def)
{
	return (def & ~pf_wish_on(wish)) | pf_wish_off(wish);
}

#endif /* PF_WISH_H */
