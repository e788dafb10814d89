/*
 * What `--event` and `--metric` name: an event and a metric by the profile's names, or by pprof's. And what
 * a thread is called.
 */
#ifndef SP_ANALYSIS_NAMES_H
#define SP_ANALYSIS_NAMES_H

#include "base/buf.h"
#include "model/profile.h"

/*
 * The metric of that name that records of an event have: its own name, else what pprof calls it
 * (`inuse_space` is live_bytes of an event of allocations). SP_NONE: they have none.
 */
uint32_t sp_event_metric(const struct sp_profile *p, uint32_t event, const char *name);
struct sp_by_event;
/* The same, of stacks that were sorted by event (NULL: they were not). */
uint32_t sp_event_metric_among(const struct sp_profile *p, const struct sp_by_event *b, uint32_t event,
                               const char *name);
/* The first event whose records have it, the default event before the others; SP_NONE: none. */
uint32_t sp_metric_event(const struct sp_profile *p, const char *name);
/* "self" for flat and own, "total" for cum, as weights of functions used to be called; else the word. */
const char *sp_weight_word(const char *asked);
/* "comm (tid N)", with "?" for what is not known. */
void sp_thread_name(struct sp_buf *b, const struct sp_profile *p, const struct sp_context *c);

#endif
