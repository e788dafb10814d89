#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum word_do {
    WORD_NOTHING,
    WORD_FLAG,
    WORD_VALUE,
    WORD_FILE,
    WORD_LIST,
    WORD_BY,
    WORD_RANGE,
    WORD_COMMAND,
    WORD_SAY,
};

struct word {
    const char *name;
    enum word_do what;
    const char *ours, *value;
};

struct word_command {
    const char *name, *ours; /* ours NULL: none */
    const char *why, *type;
};

static const struct word words[] = {
#define WORD(name, what, ours, value) {name, WORD_##what, ours, value},
#define WORD_COMMAND(name, ours)
#define WORD_COMMAND_SAY(name, why, type)
#include "words.def"
#undef WORD
#undef WORD_COMMAND
#undef WORD_COMMAND_SAY
};

static const struct word_command word_commands[] = {
#define WORD(name, what, ours, value)
#define WORD_COMMAND(name, ours)          {name, ours, NULL, NULL},
#define WORD_COMMAND_SAY(name, why, type) {name, NULL, why, type},
#include "words.def"
#undef WORD
#undef WORD_COMMAND
#undef WORD_COMMAND_SAY
};

bool cli_words_command(struct cli *c, const char *word, int *rc)
{
    *rc = EXIT_FINE;
    for (size_t i = 0; i < sizeof word_commands / sizeof *word_commands; i++) {
        const struct word_command *w = &word_commands[i];
        if (strcmp(w->name, word) != 0)
            continue;
        if (w->ours)
            return cli_find_command(c, w->ours);
        *rc = cli_usage(c, w->type, "%s is no command here: %s", word, w->why);
        return false;
    }
    return false;
}

/* Its name without dashes and value: a letter has one dash, a longer name may have one as pprof's have. */
static const struct word *word_of(const char *arg)
{
    size_t dashes = strspn(arg, "-"), n = strcspn(arg + dashes, "=");
    if (!dashes || dashes > 2 || !n)
        return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == n && memcmp(words[i].name, arg + dashes, n) == 0 &&
            (n == 1) == (dashes == 1 && n == 1))
            return &words[i];
    return NULL;
}

bool cli_words_first(const char *arg)
{
    return word_of(arg) != NULL;
}

static bool has_option(const struct cli *c, const char *name)
{
    struct spaa_command_option o = {.size = sizeof o};
    for (size_t k = 0; spaa_command_option_get(c->number, k, &o) == SPAA_OK; k++)
        if (strcmp(o.name, name) == 0)
            return true;
    return false;
}

void cli_words_switch(struct cli *c, int argc, char **argv)
{
    const char *now = c->command.name;
    if (strcmp(now, "summary") != 0 && strcmp(now, "top") != 0 && strcmp(now, "leaks") != 0)
        return;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const struct word *w = argv[i][0] == '-' ? word_of(argv[i]) : NULL;
        if (w && w->what == WORD_COMMAND) {
            cli_find_command(c, w->ours);
            return;
        }
    }
}

/*
 * "a,b.c" as an expression that takes these names alone: of threads "/^(a|b\.c)$/", of rows also the last
 * part of a path, and a function with its parameters.
 */
static char *list_as_regex(const char *list, bool threads)
{
    char *out = malloc(2 * strlen(list) + 24), *to = out;
    if (!out)
        return NULL;
    to += sprintf(to, "%s", threads ? "/^(" : "(^|/)(");
    for (const char *p = list; *p; p++) {
        if (strchr("\\^$.[]()*+?{}|/", *p))
            *to++ = '\\';
        *to++ = (char)(*p == ',' ? '|' : *p);
    }
    sprintf(to, "%s", threads ? ")$/" : ")($|\\()");
    return out;
}

/* perf's sort keys, as --by has them; NULL: one of them has no equal, which is *bad. */
static char *keys_as_by(const char *keys, const char **bad)
{
    static const struct {
        const char *perf, *ours;
    } known[] = {{"overhead", ""},    {"overhead_children", ""},
                 {"sample", ""},      {"period", ""},
                 {"comm", "comm"},    {"dso", "dso"},
                 {"sym", "function"}, {"symbol", "function"},
                 {"pid", "process"},  {"tid", "thread"},
                 {"cpu", "cpu"},      {"srcline", "line"},
                 {"addr", "address"}, {"ip", "address"},
                 {NULL, NULL}};
    char *out = calloc(1, 4 * strlen(keys) + 16); /* "ip" is "address" */
    for (const char *p = keys; out && *p; p += strcspn(p, ","), p += *p == ',') {
        size_t n = strcspn(p, ","), k = 0;
        while (known[k].perf && (strlen(known[k].perf) != n || memcmp(known[k].perf, p, n) != 0))
            k++;
        if (!known[k].perf) {
            *bad = p;
            free(out);
            return NULL;
        }
        if (*known[k].ours)
            sprintf(out + strlen(out), "%s%s", *out ? "," : "", known[k].ours);
    }
    return out;
}

/* perf's "1.2,3.4" of the recording's clock. */
static char *span_as_range(const char *value)
{
    char *out = malloc(strlen(value) + 8);
    size_t n = strcspn(value, ",");
    if (out)
        sprintf(out, "@%.*s..%s", (int)n, value, value + n + (value[n] == ','));
    return out;
}

/* Texts that were made, at most one an argument, last as long as the options. */
static const char *keep(struct cli *c, char *text)
{
    if (text)
        c->made[c->nmade++] = text;
    return text;
}

static int no_memory(struct cli *c)
{
    spaa_diagnostics_add(&c->diags, "SPAA-E008", NULL, "out of memory");
    return EXIT_IO;
}

static int unknown_key(struct cli *c, const char *key)
{
    return cli_usage(c, "--by takes comm, dso, function, thread, process, cpu, line, address, …",
                     "a sort key without an equal here: %.*s", (int)strcspn(key, ","), key);
}

/* The option as the command has it; where it has it not, what would. */
static int word_add(struct cli *c, const struct word *w, const char *option, const char *value)
{
    if (has_option(c, option)) {
        c->options[c->noptions++] = (struct spaa_ask_option){option, value};
        return EXIT_FINE;
    }
    char hint[160];
    bool memory = strcmp(option, "metric") == 0;
    snprintf(hint, sizeof hint, "spaa %s FILE --%s%s%s", memory ? "leaks" : "top", option,
             w->value || w->what != WORD_FLAG ? " " : "",
             w->value               ? w->value
             : w->what == WORD_FLAG ? ""
                                    : "…");
    return cli_usage(c, hint, "%s has no option %s%s", c->command.name, w->name[1] ? "--" : "-", w->name);
}

static int word_with_value(struct cli *c, const struct word *w, const char *value)
{
    const char *bad = NULL, *made = value;
    if (w->what == WORD_FILE) {
        c->files[c->nfiles++] = value;
        return EXIT_FINE;
    }
    if (w->what == WORD_BY) {
        made = keep(c, keys_as_by(value, &bad));
        if (bad)
            return unknown_key(c, bad);
        if (made && !*made) /* the columns that are always there */
            return EXIT_FINE;
    } else if (w->what == WORD_LIST) {
        made = keep(c, list_as_regex(value, strcmp(w->ours, "comm") == 0));
    } else if (w->what == WORD_RANGE) {
        made = keep(c, span_as_range(value));
    }
    return made ? word_add(c, w, w->ours, made) : no_memory(c);
}

bool cli_words_option(struct cli *c, int argc, char **argv, int *i, int *rc)
{
    const struct word *w = word_of(argv[*i]);
    const char *eq = strchr(argv[*i], '='), *value = eq ? eq + 1 : NULL;
    *rc = EXIT_FINE;
    if (!w)
        return false;
    bool takes = w->what == WORD_VALUE || w->what == WORD_FILE || w->what == WORD_LIST ||
                 w->what == WORD_BY || w->what == WORD_RANGE;
    if (w->what == WORD_SAY) {
        *rc = cli_usage(c, w->ours, "%s has no option %s", c->command.name, argv[*i]);
    } else if (takes) {
        if (!value && *i + 1 >= argc)
            *rc = cli_usage(c, NULL, "%s needs a value", argv[*i]);
        else
            *rc = word_with_value(c, w, value ? value : argv[++*i]);
    } else if (w->what == WORD_FLAG) {
        *rc = word_add(c, w, w->ours, w->value);
    }
    return true;
}

int cli_words_value(struct cli *c, const char **name, const char **value)
{
    static const struct word sort = {"sort", WORD_BY, "by", NULL};
    static const char *const ours[] = {"self", "total", "flat", "own", "cum", NULL};
    const struct word *w = NULL;
    if (strcmp(*name, "sort") == 0 && has_option(c, "by"))
        w = &sort;
    for (size_t k = 0; w == &sort && ours[k]; k++)
        if (strcmp(*value, ours[k]) == 0)
            w = NULL;
    const char *bad = NULL;
    if (w == &sort) {
        char *by = keys_as_by(*value, &bad);
        if (bad) /* nobody's key: the option says what it takes */
            return EXIT_FINE;
        if (!keep(c, by))
            return no_memory(c);
        *name = *by ? "by" : NULL;
        *value = by;
    } else if (strcmp(*name, "time") == 0 && strchr(*value, ',') && !strstr(*value, "..")) {
        *value = keep(c, span_as_range(*value));
        return *value ? EXIT_FINE : no_memory(c);
    }
    return EXIT_FINE;
}
