/*
 * What a record of memory weighs, and what is known of how it was sampled.
 */
#ifndef SP_HEAP_WEIGHTS_H
#define SP_HEAP_WEIGHTS_H

#include "model/profile.h"

enum sp_leak_metric {
    SP_LEAK_LIVE_BYTES,
    SP_LEAK_LIVE_COUNT,
    SP_LEAK_ALLOC_BYTES,
    SP_LEAK_ALLOC_COUNT,
    SP_LEAK_FREE_BYTES,
    SP_LEAK_FREE_COUNT,
    SP_LEAK_TEMPORARY,
    SP_LEAK_PEAK_BYTES,
    SP_LEAK_METRICS,
};
extern const char *const sp_leak_metric_names[]; /* "live_bytes", …; NULL ends */

struct sp_leak_sums {
    int64_t v[SP_LEAK_METRICS]; /* SP_ABSENT: not known */
};

/* The profile's metric of each enum sp_leak_metric; SP_NONE: it has none. */
void sp_heap_metrics(const struct sp_profile *p, uint32_t out[SP_LEAK_METRICS]);
/* A weight as a whole number, decimals rounded; SP_ABSENT. */
int64_t sp_heap_weight(const struct sp_profile *p, uint32_t stack, uint32_t metric);
/* All weights of a record; live ones from the others where they are not stated. */
struct sp_leak_sums sp_heap_weights(const struct sp_profile *p, const uint32_t metric[SP_LEAK_METRICS],
                                    uint32_t stack);
/*
 * The probability that one of these blocks was sampled, by a profiler that takes one byte in `period` on
 * average: 1 - exp(-size / period), blocks of one record being of the size that they have on average.
 */
double sp_heap_chance(int64_t period, double bytes, double blocks);
/*
 * A pprof file of Go's runtime, as far as its functions show: a collector freed what could not be reached,
 * and the file is of the last collection.
 */
bool sp_heap_is_of_go(const struct sp_profile *p);

#endif
