/*
 * Which contexts a name means: a thread's name as it stands, else numbers of threads with commas, else a pool
 * as views show it (`http-* (40)`), else a glob (`http-*`), else a regular expression between slashes. The
 * first of these that fits some context of the profile is what was meant, so that a name with a `*` or a `[`
 * in it can be asked for too.
 */
#ifndef SP_WHO_H
#define SP_WHO_H

#include "model/profile.h"

/*
 * (*out)[i] is 1 for each context that is meant; the caller frees it. SPAA_ERR_USAGE for a bad regular
 * expression, reported. Of threads, a tid (`0x1f` too, or several with commas)
 * is as good as a name, and so are the label of the queue that it served and a row of `--by thread`.
 */
spaa_status sp_who_comms(const struct sp_profile *p, const char *asked, struct sp_diags *d,
                         unsigned char **out);
spaa_status sp_who_threads(const struct sp_profile *p, const char *asked, struct sp_diags *d,
                           unsigned char **out);

/* The number alone, or in a list: "12", "5,12". */
bool sp_who_lists(const char *list, int64_t number);

#endif
