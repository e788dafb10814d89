/*
 * Places where threads wait for work in one run and not in another. A sleep of half of what a thread waits
 * sets its pace, one of less is a wait: whoever compares runs of which this is the one and that the other
 * compares nothing with all. So what is not idle for certain in some run is a wait in every run.
 *
 * A place is the name of a thread or a pool, numbers aside, the own function that waited, or without one what
 * it called, and the reason. Names of threads that only one side has are one name: a program that is called
 * otherwise now calls its main thread so, too.
 */
#ifndef SP_IDLE_PLACES_H
#define SP_IDLE_PLACES_H

#include "analysis/wait_reason.h"
#include "base/buf.h"
#include "base/strtab.h"
#include "base/vec.h"

struct sp_idle_place {
    uint32_t where, who; /* texts */
};

struct sp_idle_places {
    struct sp_strtab texts, names[2], waits; /* names: of threads, by side; waits: places that are waits */
    SP_VEC(struct sp_idle_place) list;
    bool other_threads; /* the sides are of other threads of the same runs: names say nothing */
    struct sp_buf b;
};

bool sp_idle_places_init(struct sp_idle_places *x);
void sp_idle_places_free(struct sp_idle_places *x);
/* A run of side 0 or 1: all stacks of its event. False: out of memory. */
bool sp_idle_places_add(struct sp_idle_places *x, unsigned side, const struct sp_profile *p, uint32_t event,
                        const struct sp_wait_reasons *why);
/* Once all runs were added, before the next. False: out of memory. */
bool sp_idle_places_settle(struct sp_idle_places *x);
/* Waits of a run that are idle by what else their thread does, and a wait in some run, are idle no more.
 * False: out of memory. */
bool sp_idle_places_apply(struct sp_idle_places *x, const struct sp_profile *p, struct sp_wait_reasons *why);

#endif
