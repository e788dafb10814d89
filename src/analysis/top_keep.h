/* Rows of a top by their names: what a person would look for in a long list. */
#ifndef SP_TOP_KEEP_H
#define SP_TOP_KEEP_H

#include "analysis/top.h"

/* What of a row has to match. */
enum sp_top_keep_by { SP_KEEP_ANY, SP_KEEP_NAME, SP_KEEP_BINARY };

/*
 * Takes away rows that do not match (PCRE2); weights stay. SPAA_ERR_NOT_FOUND, reported: none does.
 */
spaa_status sp_top_keep(struct sp_top *t, const char *pattern, enum sp_top_keep_by by, struct sp_diags *d);

#endif
