/* Regular expressions (PCRE2) over a profile's names: one test per name, not per frame or stack. */
#ifndef SP_MATCH_H
#define SP_MATCH_H

#include "model/profile.h"

/*
 * *out[i] is 1 for each function (DSO) whose name matches anywhere; the caller frees it. Where no function's
 * does, names without arguments of templates and calls are looked at, as answers show them. A bad pattern is
 * SPAA_ERR_USAGE, reported with the place of the mistake. UTF-8 names match as UTF-8.
 */
spaa_status sp_match_functions(const struct sp_profile *p, const char *pattern, struct sp_diags *d,
                               unsigned char **out);
spaa_status sp_match_dsos(const struct sp_profile *p, const char *pattern, struct sp_diags *d,
                          unsigned char **out);
/* Whether it is an expression; what is wrong with it is reported, SPAA_ERR_USAGE. */
spaa_status sp_match_check(const char *pattern, struct sp_diags *d);
/* The same for any strings: *out[i] is of items[i], of which SP_STR_NONE never matches; NULL: of string i. */
spaa_status sp_match_strings(const struct sp_strtab *strs, const uint32_t *items, size_t n,
                             const char *pattern, struct sp_diags *d, unsigned char **out);

#endif
