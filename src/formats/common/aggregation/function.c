#include "formats/common/aggregation/function.h"

#include <string.h>

static const char *const names[] = {"count", "sum", "min", "max", "avg", "stddev", NULL};
enum { COUNT, SUM, MIN, MAX, AVG, STDDEV, UNKNOWN = -1 };

static const struct {
    const char *word;
    int function;
} words[] = {{"count", COUNT},   {"counts", COUNT}, {"calls", COUNT},  {"hits", COUNT},
             {"samples", COUNT}, {"num", COUNT},    {"number", COUNT}, {"sum", SUM},
             {"min", MIN},       {"minimum", MIN},  {"max", MAX},      {"maximum", MAX},
             {"avg", AVG},       {"average", AVG},  {"mean", AVG},     {"stddev", STDDEV}};

/* The next of "NAME=FUNCTION,FUNCTION": false at the end. */
static bool aggregation_next_item(const char **p, struct sp_str *name, int *function)
{
    if (!*p || !**p)
        return false;
    size_t n = strcspn(*p, ",");
    const char *equals = memrchr(*p, '=', n), *word = equals ? equals + 1 : *p;
    *name = (struct sp_str){*p, equals ? (uint32_t)(equals - *p) : 0};
    *function = sp_name_index(names, word, (size_t)(*p + n - word));
    *p += n + ((*p)[n] == ',');
    return true;
}

spaa_status sp_agg_functions_init(struct sp_agg_functions *f, struct sp_profile *p,
                                  const struct sp_read_opts *opts, struct sp_diags *d)
{
    struct sp_str name;
    int function = COUNT;
    *f =
        (struct sp_agg_functions){.p = p, .d = d, .option = sp_own_opt(opts->own, opts->nown, "aggregation")};
    sp_buf_init(&f->guessed, 0);
    sp_buf_init(&f->taken, 0);
    bool ok = !f->option || *f->option;
    for (const char *at = f->option; ok && aggregation_next_item(&at, &name, &function);)
        ok = function != UNKNOWN;
    if (ok)
        return SPAA_OK;
    sp_emit_hint(d, SP_E037, SP_AT_NOTHING,
                 "count, sum, min, max, avg or stddev; of one of several: NAME=avg",
                 "--aggregation has no value \"%.60s\"", f->option);
    return SPAA_ERR_USAGE;
}

void sp_agg_functions_free(struct sp_agg_functions *f)
{
    sp_buf_free(&f->guessed);
    sp_buf_free(&f->taken);
}

/* What --aggregation says of this name: what names it, before what names none. */
static int aggregation_function_asked(const struct sp_agg_functions *f, struct sp_str name)
{
    struct sp_str item;
    int function, of_all = UNKNOWN, of_this = UNKNOWN;
    for (const char *at = f->option; aggregation_next_item(&at, &item, &function);) {
        if (!item.n)
            of_all = function;
        else if (item.n == name.n && memcmp(item.p, name.p, item.n) == 0)
            of_this = function;
    }
    return of_this != UNKNOWN ? of_this : of_all;
}

static bool aggregation_function_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int aggregation_function_of_word(const char *p, size_t n)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == n && strncasecmp(words[i].word, p, n) == 0)
            return words[i].function;
    return UNKNOWN;
}

/*
 * The function that a name has among its words: "@avg_us", "@readMax", "@min". Words that count come before
 * the others: "@max_depth_count". In prose it must be the first or the last word: "Top 10, max 20 frames"
 * says nothing.
 */
static int aggregation_function_of_name(struct sp_str name, bool prose)
{
    const char *p = name.p, *end = name.p + name.n;
    int found = UNKNOWN;
    for (bool first = true; p < end;) {
        const char *stop = p;
        while (stop < end && aggregation_function_letter(*stop) &&
               (stop == p || *stop > 'Z' || stop[-1] <= 'Z'))
            stop++;
        if (stop == p) {
            p++;
            continue;
        }
        int function = aggregation_function_of_word(p, (size_t)(stop - p));
        if (function == COUNT)
            return COUNT;
        if (function != UNKNOWN && (!prose || first || stop == end))
            found = function;
        first = false;
        p = stop;
    }
    return found;
}

static bool aggregation_function_list(struct sp_buf *b, struct sp_str name, const char *function)
{
    sp_buf_printf(b, "%s%.*s%s%s", b->len ? ", " : "", (int)(name.n < 80 ? name.n : 80), name.p,
                  *function ? " as " : "", function);
    return !b->failed;
}

bool sp_agg_function_settle(struct sp_agg_functions *f, uint32_t event, struct sp_str name, bool prose,
                            const struct sp_agg_seen *seen)
{
    int function = seen->bare ? aggregation_function_asked(f, name) : COUNT;
    bool ok = true;
    if (function == UNKNOWN && seen->averages)
        function = AVG;
    if (function == UNKNOWN) {
        function = aggregation_function_of_name(name, prose);
        if (function == UNKNOWN && seen->negative)
            function = SUM;
        else if (function == UNKNOWN)
            ok = name.n < 2 || aggregation_function_list(&f->taken, name, "");
        else if (function != COUNT)
            ok = aggregation_function_list(&f->guessed, name, names[function]);
        else if (seen->negative)
            function = SUM;
    }
    if (!ok || function == UNKNOWN || function == COUNT) /* as the event was made */
        return ok;
    uint32_t metric = sp_metric_intern(f->p, names[function], strlen(names[function]));
    f->p->events.v[event].primary = metric;
    return metric != SP_NONE;
}

bool sp_agg_functions_say(struct sp_agg_functions *f)
{
    if (f->guessed.len)
        sp_emit_hint(f->d, SP_I322, SP_AT_NOTHING, "--aggregation NAME=count says otherwise",
                     "values that are understood by their names: %s", f->guessed.data);
    if (f->taken.len)
        sp_emit_hint(f->d, SP_I322, SP_AT_NOTHING,
                     "the output does not tell; --aggregation NAME=avg (sum, min, max) says otherwise",
                     "values that are taken for counts: %s", f->taken.data);
    return !f->guessed.failed && !f->taken.failed;
}
