/*
 * Filters by labels of contexts: "KEY=VALUE" fits a context that has a label of this key and value (a number
 * with or without its unit), "KEY~REGEX" one of which a label of this key matches.
 */
#ifndef SP_LABEL_FILTERS_H
#define SP_LABEL_FILTERS_H

#include "model/profile.h"

/* The key of a filter, before its first = or ~; n 0: it is no filter. */
struct sp_str sp_label_filter_key(const char *filter);
/*
 * *out[i] is 1 for each context that all filters fit; the caller frees it. SPAA_ERR_USAGE, reported, for what
 * is no filter or no regular expression.
 */
spaa_status sp_label_contexts(const struct sp_profile *p, const char *const *filters, size_t n,
                              struct sp_diags *d, unsigned char **out);

#endif
