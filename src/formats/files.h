/*
 * Several inputs as one profile: what `merge` and views of several files share.
 *
 * Inputs are read one by one, or `jobs` at a time while one thread adds them up in their order, and freed as
 * soon as they are added: memory holds the distinct stacks and the inputs being read. The result does not
 * depend on `jobs`.
 */
#ifndef SP_FORMATS_FILES_H
#define SP_FORMATS_FILES_H

#include "formats/open.h"
#include "model/merge.h"

/* Distinct formats in the order in which they came. */
struct sp_formats {
    const struct spaa_format *v[128];
    size_t n;
};

struct sp_files_opts {
    const char *from; /* a format's name, or NULL: by content */
    struct sp_read_opts read;
    struct sp_merge_opts merge;
    unsigned jobs;
    bool skip_bad; /* an input that cannot be read is left out, as data loss (SP_L300) */
    size_t *done;  /* inputs added so far, stored atomically, for a progress display; may be NULL */
};

/*
 * Fails, reported with the input's name, for the first input in order that cannot be read or does not fit the
 * others; with skip_bad only for the latter, and when no input is left. `seen` gets the formats that were
 * read, the first one first.
 */
spaa_status sp_read_files(const char *const *paths, size_t n, const struct sp_files_opts *opts,
                          struct sp_diags *d, struct sp_profile **out, struct sp_formats *seen);

#endif
