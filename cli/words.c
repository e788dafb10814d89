#include "words.h"
#include "words_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum word_do {
    WORD_NOTHING,
    WORD_FLAG,
    WORD_UNLESS, /* the option where its value is 0 */
    WORD_VALUE,
    WORD_FILE,
    WORD_LIST,
    WORD_BY,
    WORD_RANGE,
    WORD_COMMAND,
    WORD_CHAINS,
    WORD_PERCENTAGE,
    WORD_SAY,
};

struct word {
    enum words_of of;
    const char *name;
    enum word_do what;
    const char *ours, *value;
};

struct word_command {
    enum words_of of;
    const char *name, *ours; /* ours NULL: none */
    const char *why, *type;
};

static const struct word words[] = {
#define WORD_PERF(name, what, ours, value)  {WORDS_PERF, name, WORD_##what, ours, value},
#define WORD_PPROF(name, what, ours, value) {WORDS_PPROF, name, WORD_##what, ours, value},
#define WORD_TRACK(name, what, ours, value) {WORDS_TRACK, name, WORD_##what, ours, value},
#define WORD_COMMAND(of, name, ours)
#define WORD_COMMAND_SAY(name, why, type)
#include "words.def"
#undef WORD_PERF
#undef WORD_PPROF
#undef WORD_TRACK
#undef WORD_COMMAND
#undef WORD_COMMAND_SAY
};

static const struct word_command word_commands[] = {
#define WORD_PERF(name, what, ours, value)
#define WORD_PPROF(name, what, ours, value)
#define WORD_TRACK(name, what, ours, value)
#define WORD_COMMAND(of, name, ours)      {WORDS_##of, name, ours, NULL, NULL},
#define WORD_COMMAND_SAY(name, why, type) {WORDS_NONE, name, NULL, why, type},
#include "words.def"
#undef WORD_PERF
#undef WORD_PPROF
#undef WORD_TRACK
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
        if (w->ours) {
            c->words_of = w->of;
            return cli_find_command(c, w->ours);
        }
        *rc = cli_usage(c, w->type, "%s is no command here: %s", word, w->why);
        return false;
    }
    return false;
}

/* "-top": pprof's options have one dash. */
static bool word_as_pprof(const char *arg)
{
    return arg[0] == '-' && arg[1] != '-' && arg[1] && arg[2] && arg[2] != '=';
}

/* heaptrack_print's flags, as Boost reads them, in letters of either case: 0 or 1; -1: it is none. */
static int word_as_track(const char *value)
{
    static const char *const spelled[2][4] = {{"0", "off", "no", "false"}, {"1", "on", "yes", "true"}};
    for (size_t k = 0; k < 8; k++)
        if (strcasecmp(value, spelled[k / 4][k % 4]) == 0)
            return k >= 4;
    return -1;
}

/*
 * Its name without dashes and value: a letter has one dash, a longer name may have one as pprof's have. Of
 * two tools' words that of the one named first, else of whose shape it is, else the first.
 */
static const struct word *word_of(enum words_of of, const char *arg)
{
    size_t dashes = strspn(arg, "-"), n = strcspn(arg + dashes, "=");
    const struct word *found = NULL;
    if (of == WORDS_TRACK && dashes == 1 && n > 1 && word_as_track(arg + 2) >= 0)
        n = 1; /* -l1 */
    if (!dashes || dashes > 2 || !n)
        return NULL;
    if (of == WORDS_NONE && word_as_pprof(arg))
        of = WORDS_PPROF;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == n && memcmp(words[i].name, arg + dashes, n) == 0 &&
            (n == 1) == (dashes == 1 && n == 1) && (!found || (found->of != of && words[i].of == of)))
            found = &words[i];
    return found;
}

bool cli_words_first(const char *arg)
{
    return word_of(WORDS_NONE, arg) != NULL;
}

static bool has_option(const struct cli *c, const char *name)
{
    struct spaa_command_option o = {.size = sizeof o};
    for (size_t k = 0; spaa_command_option_get(c->number, k, &o) == SPAA_OK; k++)
        if (strcmp(o.name, name) == 0)
            return true;
    return false;
}

/* pprof's flags, as Go reads them: NULL is true. */
static bool word_as_bool(const char *value, bool *out)
{
    static const char *const spelled[2][6] = {{"0", "f", "F", "false", "FALSE", "False"},
                                              {"1", "t", "T", "true", "TRUE", "True"}};
    *out = !value;
    for (size_t k = 0; value && k < 12; k++)
        if (strcmp(value, spelled[k / 6][k % 6]) == 0) {
            *out = k >= 6;
            return true;
        }
    return !value;
}

/* heaptrack_print's value of a flag, in the option or behind it; NULL: none. */
static const char *word_track_value(const struct word *w, int argc, char **argv, int i, bool *behind)
{
    const char *eq = strchr(argv[i], '='), *value = eq ? eq + 1 : NULL;
    if (!value && !w->name[1] && argv[i][2])
        value = argv[i] + 2;
    *behind = !value && i + 1 < argc && word_as_track(argv[i + 1]) >= 0;
    return *behind ? argv[i + 1] : value;
}

/* heaptrack_print's no; pprof's false in the option. */
static bool word_is_off(const struct word *w, int argc, char **argv, int i, bool *behind)
{
    const char *eq = strchr(argv[i], '=');
    bool on;
    *behind = false;
    if (w->of == WORDS_PPROF)
        return word_as_bool(eq ? eq + 1 : NULL, &on) && !on;
    const char *value = w->of == WORDS_TRACK ? word_track_value(w, argc, argv, i, behind) : NULL;
    return value && word_as_track(value) == 0;
}

/* Who wrote it, where no command said so: options of one dash and many letters are pprof's. */
static void words_find_tool(struct cli *c, int argc, char **argv)
{
    for (int i = 0; i < argc && !c->words_of && strcmp(argv[i], "--") != 0; i++) {
        const struct word *w = argv[i][0] == '-' ? word_of(WORDS_NONE, argv[i]) : NULL;
        if (w && w->of == WORDS_PPROF && (word_as_pprof(argv[i]) || !has_option(c, w->name)))
            c->words_of = WORDS_PPROF;
    }
}

void cli_words_switch(struct cli *c, int argc, char **argv)
{
    const char *now = c->command.name;
    bool behind;
    words_find_tool(c, argc, argv);
    if (strcmp(now, "summary") != 0 && strcmp(now, "top") != 0 && strcmp(now, "leaks") != 0)
        return;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const struct word *w = argv[i][0] == '-' ? word_of(c->words_of, argv[i]) : NULL;
        if (w && w->what == WORD_COMMAND && !word_is_off(w, argc, argv, i, &behind)) {
            cli_find_command(c, w->ours);
            return;
        }
    }
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
    bool rows = strcmp(option, "rows") == 0;
    if (rows && cli_option(c, option))
        return cli_usage(c, "--dso REGEX and --focus REGEX keep stacks, and go with it",
                         "rows are chosen once: --dsos, --symbols and --symbol-filter do not add up");
    if (rows)
        c->words_rows = strcmp(w->name, "dsos") == 0 || strcmp(w->name, "d") == 0 ? "binary" : "name";
    if (has_option(c, option)) {
        c->options[c->noptions++] = (struct spaa_ask_option){option, value};
        return EXIT_FINE;
    }
    char hint[160];
    static const char *const commands[][2] = {
        {"metric", "leaks"}, {"output", "flamegraph"}, {"source-path", "annotate"}};
    const char *command = "top";
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++)
        if (strcmp(option, commands[k][0]) == 0)
            command = commands[k][1];
    snprintf(hint, sizeof hint, "spaa %s FILE --%s%s%s", command, option,
             w->value || w->what != WORD_FLAG ? " " : "",
             w->value               ? w->value
             : w->what == WORD_FLAG ? ""
                                    : "…");
    return cli_usage(c, hint, "%s has no option %s%s", c->command.name, w->name[1] ? "--" : "-", w->name);
}

/* pprof's -sample_index takes a number, too: of the file's own list, which nothing here has. */
static bool word_is_index(const struct word *w, const char *value)
{
    return strcmp(w->name, "sample_index") == 0 && *value && !value[strspn(value, "0123456789")];
}

static int word_with_value(struct cli *c, const struct word *w, const char *value)
{
    const char *bad = NULL, *made = value;
    if (w->what == WORD_PERCENTAGE) {
        if (strcmp(value, "absolute") != 0 && strcmp(value, "relative") != 0)
            return cli_usage(c, "one of: absolute, relative", "--%s has no value \"%s\"", w->name, value);
        c->words_percentage = value;
        return EXIT_FINE;
    }
    if (w->of == WORDS_PPROF &&
        (strcmp(w->ours, "focus") == 0 || strcmp(w->ours, "ignore") == 0 || strcmp(w->ours, "hide") == 0)) {
        if (!*value) /* pprof's way to say: none */
            return EXIT_FINE;
        c->words_names = true;
    }
    if (word_is_index(w, value))
        return cli_usage(c, "-sample_index=NAME, or --metric NAME, of those that spaa info FILE lists",
                         "values are named here, not numbered: -sample_index=%s", value);
    if (w->what == WORD_FILE) {
        c->files[c->nfiles++] = value;
        return EXIT_FINE;
    }
    if (w->what == WORD_BY) {
        made = keep(c, words_keys_as_by(value, &bad));
        if (bad)
            return unknown_key(c, bad);
    } else if (w->what == WORD_LIST) {
        made = keep(c, words_list_as_regex(value, strcmp(w->ours, "comm") == 0));
    } else if (w->what == WORD_RANGE) {
        made = keep(c, words_span_as_range(value));
    } else if (strcmp(w->ours, "root-at") == 0) {
        made = keep(c, words_name_as_regex(value));
    }
    return made ? word_add(c, w, w->ours, made) : no_memory(c);
}

bool cli_words_letter(const struct cli *c, const char *arg)
{
    const struct word *w = c->words_of == WORDS_TRACK ? word_of(c->words_of, arg) : NULL;
    return w && w->of == c->words_of;
}

static bool word_takes_value(const struct word *w)
{
    return w->what == WORD_VALUE || w->what == WORD_FILE || w->what == WORD_LIST || w->what == WORD_BY ||
           w->what == WORD_RANGE || w->what == WORD_PERCENTAGE;
}

/* A call graph of the type none is none; perf takes a value only where one is in the option, or is behind it.
 */
static bool chains_none(int argc, char **argv, int *i)
{
    const char *eq = strchr(argv[*i], '=');
    if (eq)
        return strncmp(eq + 1, "none", 4) == 0;
    if (*i + 1 < argc && strncmp(argv[*i + 1], "none", 4) == 0) {
        ++*i;
        return true;
    }
    return false;
}

/*
 * What heaptrack_print shows unless it is told otherwise: all lists but that of leaks. Here it is one; the
 * first that is left where some were switched off. A bit each of cli.words_lists says that a list was
 * switched off, and one TRACK_ON higher that it was switched on.
 */
static const char *const words_track_lists[] = {"peak", "calls", "temporary"};
enum { TRACK_LISTS = 3, TRACK_LEAKS = TRACK_LISTS, TRACK_ON = TRACK_LISTS + 1 };

static unsigned words_list_told(const struct word *w, bool off)
{
    unsigned k = 0, on = off ? 0 : TRACK_ON;
    if (w->what == WORD_COMMAND)
        return 1u << (TRACK_LEAKS + on);
    while (k < TRACK_LISTS && !(w->value && strcmp(words_track_lists[k], w->value) == 0))
        k++;
    return k < TRACK_LISTS ? 1u << (k + on) : 0;
}

/* NULL: leaks. */
static const char *words_list_left(unsigned told)
{
    unsigned k = 0;
    if (!told || told >> TRACK_ON & 1u << TRACK_LEAKS)
        return NULL;
    while (k < TRACK_LISTS && told >> k & 1)
        k++;
    return k < TRACK_LISTS ? words_track_lists[k] : NULL;
}

/* Leaks have to be asked for. */
static bool words_lists_none(unsigned told)
{
    const unsigned all = (1u << TRACK_LISTS) - 1;
    return (told & all) == all && !(told >> TRACK_ON);
}

/* Several that were switched on are a command each. */
static int words_lists_asked(struct cli *c)
{
    char hint[200];
    size_t n = 0, lists = 0;
    for (unsigned k = 0; k <= TRACK_LEAKS; k++) {
        if (!(c->words_lists >> (TRACK_ON + k) & 1))
            continue;
        n += (size_t)snprintf(hint + n, sizeof hint - n, "%sspaa leaks FILE%s%s", lists++ ? "; " : "",
                              k < TRACK_LISTS ? " --metric " : "",
                              k < TRACK_LISTS ? words_track_lists[k] : "");
    }
    return lists > 1 ? cli_usage(c, hint, "an answer is one list, and %zu were asked for", lists) : EXIT_FINE;
}

static int word_flag(struct cli *c, const struct word *w, int argc, char **argv, int *i)
{
    const char *eq = strchr(argv[*i], '=');
    bool behind, off = word_is_off(w, argc, argv, *i, &behind);
    bool on;
    if (w->of == WORDS_PPROF && !word_as_bool(eq ? eq + 1 : NULL, &on))
        return cli_usage(c, "one of: true, false", "-%s has no value \"%s\"", w->name, eq + 1);
    if (w->of == WORDS_PPROF && !off && strcmp(w->name, "relative_percentages") == 0)
        return cli_usage(c, "shares are of the whole, and the first line says how much of it filters keep",
                         "%s is no option here", argv[*i]);
    const char *told = w->of == WORDS_TRACK ? word_track_value(w, argc, argv, *i, &behind) : NULL;
    if (told && word_as_track(told) < 0)
        return cli_usage(c, "one of: on, off, yes, no, 1, 0, true, false", "%s has no value \"%s\"", argv[*i],
                         told);
    *i += behind;
    if (w->of == WORDS_TRACK)
        c->words_lists |= words_list_told(w, off);
    bool does = w->what == (off ? WORD_UNLESS : WORD_FLAG);
    return does ? word_add(c, w, w->ours, w->value) : EXIT_FINE;
}

bool cli_words_option(struct cli *c, int argc, char **argv, int *i, int *rc)
{
    const struct word *w = word_of(c->words_of, argv[*i]);
    const char *arg = argv[*i], *eq = strchr(arg, '='), *value = eq ? eq + 1 : NULL;
    *rc = EXIT_FINE;
    if (!w)
        return false;
    if (w->what == WORD_SAY || (w->what == WORD_CHAINS && !chains_none(argc, argv, i))) {
        *rc = cli_usage(c, w->ours, "%s has no option %s", c->command.name, arg);
    } else if (word_takes_value(w)) {
        if (!value && *i + 1 >= argc)
            *rc = cli_usage(c, NULL, "%s needs a value", arg);
        else
            *rc = word_with_value(c, w, value ? value : argv[++*i]);
    } else if (w->what != WORD_CHAINS) {
        *rc = word_flag(c, w, argc, argv, i);
    }
    return true;
}

static int option_repeated(struct cli *c, const char *name, bool numbers)
{
    char *list = NULL;
    const char *first = NULL;
    size_t n = 0, room = 1;
    bool same = true, plain = numbers;
    for (size_t i = 0; i < c->noptions; i++) {
        const char *value = c->options[i].value;
        if (strcmp(c->options[i].name, name) != 0 || !value)
            continue;
        first = first ? first : value;
        same = same && strcmp(first, value) == 0;
        plain = plain && *value && !value[strspn(value, "0123456789, ")];
        room += strlen(value) + 1;
        n++;
    }
    if (n < 2 || same)
        return EXIT_FINE;
    if (!plain)
        return cli_usage(
            c,
            numbers ? "--thread 1,2 (or --pid 1,2) has several numbers, --comm '/^(a|b)$/' several names"
                    : "--comm '/^(a|b)$/' has several names",
            "--%s was given %zu times, and one of them would count", name, n);
    if (!(list = calloc(1, room)) || !keep(c, list))
        return no_memory(c);
    for (size_t i = 0; i < c->noptions; i++)
        if (strcmp(c->options[i].name, name) == 0 && c->options[i].value) {
            snprintf(list + strlen(list), room - strlen(list), "%s%s", *list ? "," : "", c->options[i].value);
            c->options[i].value = list;
        }
    return EXIT_FINE;
}

/* Numbers of threads and processes that are given again add up, as those of one list do. */
static int words_repeated(struct cli *c)
{
    int rc = option_repeated(c, "thread", true);
    if (!rc)
        rc = option_repeated(c, "pid", true);
    return rc ? rc : option_repeated(c, "comm", false);
}

static void words_imply(struct cli *c, const char *option, const char *value)
{
    if (has_option(c, option) && !cli_option(c, option))
        c->options[c->noptions++] = (struct spaa_ask_option){option, value};
}

/* perf's shares are of the whole with the filters of rows, too; ours are of what filters of samples keep. */
static int words_percentage(struct cli *c)
{
    bool relative = c->words_percentage[0] == 'r';
    if (relative &&
        (cli_option(c, "rows") || cli_option(c, "dso") || cli_option(c, "focus") || cli_option(c, "ignore")))
        return cli_usage(
            c, "the first line says how much of the whole filters of stacks keep",
            "shares are of the whole, but for --thread, --comm and --pid: no --percentage relative");
    if (!relative && (cli_option(c, "thread") || cli_option(c, "comm") || cli_option(c, "pid")))
        return cli_usage(c, "spaa top FILE --no-pool --by comm,thread,function has shares of the whole",
                         "shares are of what --thread, --comm and --pid keep: no --percentage absolute");
    return EXIT_FINE;
}

/* --rows is about what names a row: with other keys than functions or binaries, about other things than
 * these. */
static int words_rows(struct cli *c)
{
    const char *by = cli_option(c, "by");
    if (!c->words_rows || !by || strcmp(by, "function") == 0 ||
        (strcmp(by, "dso") == 0 && strcmp(c->words_rows, "binary") == 0))
        return EXIT_FINE;
    return cli_usage(
        c, "spaa top FILE --by KEYS --focus REGEX (or --dso REGEX) keeps stacks with such a frame",
        "--symbols and --symbol-filter choose rows of functions, --dsos of functions or binaries, not by %s",
        by);
}

int cli_words_end(struct cli *c)
{
    const char *now = c->command.name;
    int wrong = words_rows(c);
    wrong = wrong ? wrong : words_repeated(c);
    if (wrong)
        return wrong;
    if (c->words_rows)
        words_imply(c, "rows-of", c->words_rows);
    if (c->words_of == WORDS_PERF && strcmp(now, "top") == 0)
        words_imply(c, "sort", "total"); /* perf's --children is the default */
    if (c->words_of == WORDS_PERF && strcmp(now, "top") == 0 && cli_option(c, "by"))
        words_imply(c, "no-pool", NULL); /* perf's comms and threads have a row each */
    if (c->words_of == WORDS_PPROF && strcmp(now, "leaks") != 0 && !cli_option(c, "own") &&
        !cli_option(c, "allocators"))
        words_imply(c, "keep-allocators", NULL);
    int rc = words_lists_asked(c);
    if (rc)
        return rc;
    if (strcmp(now, "leaks") == 0 && words_lists_none(c->words_lists))
        return cli_usage(c, "spaa summary FILE has the sums; leave one of -p, -a, -T, or give -l",
                         "every list was switched off");
    const char *list = words_list_left(c->words_lists);
    if (list && strcmp(now, "leaks") == 0)
        words_imply(c, "metric", list);
    return c->words_percentage ? words_percentage(c) : EXIT_FINE;
}

/* It says of one filter that it fits nothing, not of all that they fit nothing together. */
static bool unmatched_one(const struct spaa_diagnostic *d, const char *filter)
{
    size_t n = strlen(filter);
    bool none = strcmp(d->code, "SPAA-E032") == 0 || strcmp(d->code, "SPAA-W611") == 0;
    const char *at = none && strncmp(d->hint, "each filter fits", 16) != 0 ? strstr(d->message, "--") : NULL;
    return at && strncmp(at + 2, filter, n) == 0 && at[2 + n] == ' ';
}

void cli_words_unmatched(const struct cli *c)
{
    static const char *const filters[] = {"focus", "ignore", "hide"};
    struct spaa_diagnostic d = {.size = sizeof d};
    if (!c->words_names || cli_option(c, "quiet"))
        return;
    for (size_t i = 0; spaa_diagnostics_get(c->diags, i, &d) == SPAA_OK; i++)
        for (size_t k = 0; k < sizeof filters / sizeof *filters; k++)
            if (unmatched_one(&d, filters[k]))
                fprintf(stderr,
                        "%s: pprof's -%s also matches source files and binaries, ours functions alone: %s\n",
                        c->program, filters[k],
                        k == 0 ? "--dso REGEX keeps stacks with a binary, --rows REGEX rows of it"
                               : "nothing leaves those out, --dso REGEX keeps the stacks of a binary");
}

int cli_words_value(struct cli *c, const char **name, const char **value)
{
    static const struct word sort = {WORDS_PERF, "sort", WORD_BY, "by", NULL};
    static const char *const ours[] = {"self", "total", "flat", "own", "cum", NULL};
    const struct word *w = NULL;
    if (strcmp(*name, "sort") == 0 && has_option(c, "by"))
        w = &sort;
    for (size_t k = 0; w == &sort && ours[k]; k++)
        if (strcmp(*value, ours[k]) == 0)
            w = NULL;
    const char *bad = NULL;
    if (w == &sort) {
        char *by = words_keys_as_by(*value, &bad);
        if (bad) /* nobody's key: the option says what it takes, perf's what has an equal */
            return c->words_of == WORDS_PERF ? unknown_key(c, bad) : EXIT_FINE;
        if (!keep(c, by))
            return no_memory(c);
        *name = "by";
        *value = by;
    } else if (strcmp(*name, "time") == 0 && strchr(*value, ',') && !strstr(*value, "..")) {
        *value = keep(c, words_span_as_range(*value));
        return *value ? EXIT_FINE : no_memory(c);
    }
    return EXIT_FINE;
}
