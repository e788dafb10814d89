/*
 * Several profiles as one: weights of equal stacks add up. The result depends neither on the order of the
 * inputs nor on how they are bracketed: merging merged profiles gives the same as merging all at once.
 *
 * Threads: merging needs its profiles alone; afterwards they are as they were.
 */
#ifndef SPAA_MERGE_H
#define SPAA_MERGE_H

#include <spaa/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero everywhere, or NULL instead of the structure: the defaults. */
struct spaa_merge_options {
    size_t size;
    const char *frames;   /* what makes two frames one: "address", "line", "function", or what the coarsest
                             input   has; NULL: that */
    const char *group_by; /* keys to keep of those that all inputs have, "pid,tid,comm,cpu,state", or "none";
                             NULL: all */
    int samples;          /* keep raw samples and windows, where they were read */
    int skip_bad;         /* of spaa_merge_files: leave out files that cannot be read, and say so */
    const struct spaa_watch *watch; /* hears "merging", in files; may leave. NULL: nobody. That of the
                                       spaa_open_options of spaa_merge_files is not asked */
};

/*
 * Of profiles that are there. On SPAA_OK *merged is the caller's, to be given to spaa_profile_free; the
 * others stay the caller's, too. Its format is "spaa".
 *
 * SPAA_ERR_USAGE: an event has another kind, mode or primary metric in another profile, a sum cannot be had
 * exactly, or no profile is given. SPAA_ERR_LIMIT: a cap was reached.
 */
SPAA_API spaa_status spaa_merge(struct spaa_profile *const *profiles, size_t count,
                                const struct spaa_merge_options *options, struct spaa_profile **merged,
                                struct spaa_diagnostics **diagnostics);

/*
 * Of files of any formats, each read as spaa_profile_open does it (open may be NULL), open->jobs at a time,
 * and freed when it is added: memory holds the distinct stacks. The result does not depend on jobs. Fails as
 * opening does for the first file that cannot be read, unless skip_bad.
 */
SPAA_API spaa_status spaa_merge_files(const char *const *paths, size_t count,
                                      const struct spaa_open_options *open,
                                      const struct spaa_merge_options *options, struct spaa_profile **merged,
                                      struct spaa_diagnostics **diagnostics);

#ifdef __cplusplus
}
#endif
#endif
