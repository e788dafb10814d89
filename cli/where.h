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
#ifndef SP_CLI_WHERE_H
#define SP_CLI_WHERE_H

#include "cli.h"

struct cli_filter {
    const struct sp_option *option;
    char *value; /* owned */
};

struct cli_where {
    SP_VEC(struct cli_filter) filters;
};

/* side: 0 base, 1 new. EXIT_FINE, or what was wrong, said. */
int cli_where_parse(struct cli *c, unsigned side, struct cli_where *out);
void cli_where_free(struct cli_where *w);
/* The options with these filters in place of those of the same name. */
struct sp_options cli_where_values(const struct cli_where *w, const struct sp_options *v);
/* "--comm 'A b' --time 1..2", appended; nothing without filters. */
void cli_where_text(const struct cli_where *w, struct sp_buf *out);
bool cli_where_has(const struct cli_where *w, const char *name);

#endif
