/*
 * Raw samples: rows of fixed size in an unlinked temporary file, never in memory.
 *
 * Append in any order; sp_samples_sort puts them in time order (ties in the order they came);
 * sp_samples_rows maps the file for reading. Rows name stacks and strings by their numbers in the
 * profile that owns them. Not thread-safe.
 */
#ifndef SP_SAMPLES_H
#define SP_SAMPLES_H

#include "base/diag.h"

#include <stddef.h>
#include <stdint.h>

struct sp_samples;

enum sp_sample_flag {
    SP_SAMPLE_TIME = 1,    /* time is set: nanoseconds in the profile's clock */
    SP_SAMPLE_CONTEXT = 2, /* `context` was written (it may be empty) */
    SP_SAMPLE_LASTED = 4,  /* it is no moment: it lasted for its period, until its time */
};

struct sp_sample {
    int64_t time;          /* ns */
    int64_t pid, tid, cpu; /* INT64_MIN: absent */
    int64_t period;        /* INT64_MIN: absent; SP_DECIMAL: see period_text */
    uint32_t stack;        /* SP_NONE: the id is unknown */
    uint32_t event;        /* SP_NONE: not stated */
    uint32_t time_text;    /* number text where it is no exact nanosecond count in seconds; else 0 */
    uint32_t period_text;
    uint32_t context; /* raw members of the context object */
    uint32_t more;
    uint32_t flags;
    uint32_t zero;
};

spaa_status sp_samples_new(struct sp_diags *d, struct sp_samples **out);
void sp_samples_free(struct sp_samples *s); /* NULL is fine */
spaa_status sp_samples_add(struct sp_samples *s, const struct sp_sample *row);
uint64_t sp_samples_count(const struct sp_samples *s);
/* All rows, in order; lent until the next add, sort or free. *rows is NULL when there are none. */
spaa_status sp_samples_rows(struct sp_samples *s, struct sp_sample **rows, size_t *n);
/* By time, stable; rows without a time come first. */
spaa_status sp_samples_sort(struct sp_samples *s);

#endif
