/* What options say: numbers and words among some, and what is reported of those that say nothing. */
#ifndef SP_USAGE_H
#define SP_USAGE_H

#include "base/diag.h"

#include <stdarg.h>

/* Reports bad usage (SPAA-E037), hint NULL: none; returns SPAA_ERR_USAGE. */
spaa_status sp_usage(struct sp_diags *d, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
spaa_status sp_usage_of(struct sp_diags *d, const char *hint, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));
/* "did you mean …" where some of the names (NULL ends) is near; else "". */
void sp_near_hint(const char *asked, const char *const *names, char *out, size_t n);
/* A whole number within lo..hi, or otherwise where value is NULL; false: reported. */
bool sp_option_number(struct sp_diags *d, const char *name, const char *value, long lo, long hi,
                      long otherwise, long *out);
/* The number of the value among names (NULL ends); false: reported, with the nearest. */
bool sp_option_choice(struct sp_diags *d, const char *name, const char *value, const char *const *names,
                      int otherwise, int *out);
/* --sort: self, or total; older words for them are taken, too. */
bool sp_option_sort(struct sp_diags *d, const char *value, bool *by_total);

#endif
