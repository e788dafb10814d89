/*
 * Functions named by a person: an exact name, a handle (f:1a2b, analysis/function_handle.h), a full
 * name that says which of several is meant (`hash (table.c)`, analysis/full_name.h), a short name that fits
 * one (analysis/short_name.h), or /a regular expression/.
 */
#ifndef SP_FUNCTION_LOOKUP_H
#define SP_FUNCTION_LOOKUP_H

#include "base/buf.h"
#include "model/profile.h"

struct sp_function_lookup {
    unsigned char *hits; /* per function */
    size_t n;            /* how many */
    uint32_t first;      /* one of them, in canonical order of names: the one to echo */
};

/*
 * An unknown name or handle is SPAA_ERR_NOT_FOUND, reported with the nearest names; so is a handle that
 * fits several functions of different names. A bad expression is SPAA_ERR_USAGE. Several functions of one
 * name, in several DSOs, are one lookup. Free on success.
 */
spaa_status sp_lookup_functions(const struct sp_profile *p, const char *text, struct sp_diags *d,
                                struct sp_function_lookup *out);
void sp_function_lookup_free(struct sp_function_lookup *k);
/* The functions that were found, the first few, each with its handle and label: "f:1a2b hash (a.c), f:…". */
spaa_status sp_function_candidates(const struct sp_profile *p, const struct sp_function_lookup *k,
                                   struct sp_buf *out);
/* Reports names as "did you mean …" and returns SPAA_ERR_NOT_FOUND. */
spaa_status sp_no_such(struct sp_diags *d, enum sp_code code, const char *asked, const struct sp_str *names,
                       size_t n);

#endif
