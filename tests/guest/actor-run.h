/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the two halves of actors: the test's and the actor's own. */
#ifndef PREFETCH_TEST_ACTOR_RUN_H
#define PREFETCH_TEST_ACTOR_RUN_H

#include "actor.h"

extern struct actor *actors;
extern int actors_fd;

void actors_map(int fd);
void actor_begin(struct actor *a) __attribute__((noreturn));

#endif
