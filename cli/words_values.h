/* Values of other tools' options, as ours take them; to be freed. NULL: out of memory. */
#ifndef SP_CLI_WORDS_VALUES_H
#define SP_CLI_WORDS_VALUES_H

#include <stdbool.h>

/* A list of exact names, of threads or of rows, as an expression. */
char *words_list_as_regex(const char *list, bool threads);
/* perf's sort keys, as --by has them; *bad set: one of them has no equal. */
char *words_keys_as_by(const char *keys, const char **bad);
/* perf's "1.2,3.4" of the recording's clock, as --time has it. */
char *words_span_as_range(const char *value);
/* An expression where ours takes a name too. */
char *words_name_as_regex(const char *value);

#endif
