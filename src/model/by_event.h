/*
 * The stacks and contexts of each event, for who asks about many events in turn: the time for each is then
 * that of its own stacks, not that of all there are.
 */
#ifndef SP_BY_EVENT_H
#define SP_BY_EVENT_H

#include "model/profile.h"

struct sp_by_event {
    /* Numbers in the profile, event by event; those of event e are from first[e] up to first[e + 1]. */
    uint32_t *stacks, *stacks_first;
    uint32_t *contexts, *contexts_first;
    unsigned char finest[SP_METRICS_MAX]; /* per metric: digits behind the point of the decimal with most */
};

/* False: out of memory. */
bool sp_by_event_of(const struct sp_profile *p, struct sp_by_event *out);
void sp_by_event_free(struct sp_by_event *b);

/* Numbers that are gone through; v NULL: all from 0 on. */
struct sp_among {
    const uint32_t *v;
    size_t n;
};
static inline uint32_t sp_among_at(struct sp_among part, size_t i)
{
    return part.v ? part.v[i] : (uint32_t)i;
}

/* Where the stacks and the contexts of an event are among; b NULL: all of the profile. */
struct sp_among sp_stacks_among(const struct sp_profile *p, const struct sp_by_event *b, uint32_t event);
struct sp_among sp_contexts_among(const struct sp_profile *p, const struct sp_by_event *b, uint32_t event);

/* Digits behind the point of a value that is none of 64 bits. */
unsigned sp_decimal_digits(const struct sp_profile *p, const struct sp_decimal *d);

#endif
