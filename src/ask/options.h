/*
 * The options of commands and questions, once, by options.def and groups.def: the command line parses words
 * into a struct sp_options, the library names and values, SQL the argument of a question's table. Texts are
 * lent.
 */
#ifndef SP_OPTIONS_H
#define SP_OPTIONS_H

#include "base/vec.h"
#include "io/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sp_option_group_number {
#define SPAA_GROUP(name, title) G_NUMBER_##name,
#include "groups.def"
#undef SPAA_GROUP
};

enum sp_option_group {
#define SPAA_GROUP(name, title) G_##name = (uint64_t)1 << G_NUMBER_##name, /* there is room for 64 */
#include "groups.def"
#undef SPAA_GROUP
};

struct sp_option {
    const char *name;
    char letter;
    const char *value; /* NULL: a flag */
    uint64_t groups;
    const char *help;
    size_t offset; /* of its field in struct sp_options */
};

extern const struct sp_option sp_option_table[]; /* name NULL ends */

/* What was given: NULL where an option was not, "" for flags; of those that may stand several times, each. */
struct sp_options {
#define SPAA_OPT(field, name, letter, value, groups, help) const char *field;
#include "options.def"
#undef SPAA_OPT
    /* each --param, --with, --ratio, --map, --label, --source-path, --redact, --base-source-path;
     * --base-where and --new-where */
    struct sp_option_values {
        const char **v;
        size_t n, cap;
    } params, withs, ratios, maps, labels, source_paths, redacts, base_paths, wheres[2];
    struct sp_file_gate source_gate; /* who opens source files: spaa_run_options.open_source */
};

/* --names full: names are shown whole. */
bool sp_options_full_names(const struct sp_options *o);

/* Whether each value that is given counts, not only the last. */
bool sp_option_repeats(const struct sp_option *option);
/* The last value counts, but for options of which each does. False: out of memory. */
bool sp_option_set(struct sp_options *o, const struct sp_option *option, const char *value);
/* The filters --label; lent. */
size_t sp_option_labels(const struct sp_options *o, const char *const **out);
void sp_options_free(struct sp_options *o); /* its lists */

#endif
