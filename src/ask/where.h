/*
 * Filters of one side of a comparison: --base-where and --new-where.
 *
 *     WHERE  = FILTER { "," FILTER }
 *     FILTER = NAME "=" VALUE | FLAG
 *
 * The names are those of the options that choose events and filter, without dashes in front. A comma ends a
 * value only where another filter follows; in a value that is quoted, by ' or ", or after a backslash, it
 * never does.
 */
#ifndef SP_WHERE_H
#define SP_WHERE_H

#include "ask/options.h"
#include "base/buf.h"
#include "base/diag.h"

struct sp_where_filter {
    const struct sp_option *option;
    char *value; /* owned */
};

struct sp_side_where {
    SP_VEC(struct sp_where_filter) filters;
};

/* side: 0 base, 1 new. SPAA_ERR_USAGE, reported, for what is none. */
spaa_status sp_where_parse(const struct sp_options *v, unsigned side, struct sp_diags *d,
                           struct sp_side_where *out);
void sp_where_free(struct sp_side_where *w);
/* The options with these filters in place of those of the same name. */
struct sp_options sp_where_values(const struct sp_side_where *w, const struct sp_options *v);
bool sp_where_has(const struct sp_side_where *w, const char *name);

#endif
