/* What a profile has to offer: its events, threads, functions, …, by one query each. */
#include "complete.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HOTTEST "SELECT name a, dso_name b FROM functions ORDER BY total DESC"

enum how { PLAIN, REGEX, LAST_PART, FACTOR };
enum symbols { NO_SYMBOLS, SYMBOLS, FUNCTIONS };

/* Values of options and arguments by what they are called, and where the query finds them: a, and b, what it
 * is. Looking up symbols may take longer than there is time, so it is done for functions alone: those of the
 * tables of symbols, and, if there is time for debug information, the inlined ones as well. */
static const struct kind {
    const char *kind, *sql;
    enum how how;
    enum symbols symbols;
} kinds[] = {
    {"EVENT", "SELECT name a, kind b FROM events", PLAIN, NO_SYMBOLS},
    {"METRIC", "SELECT metric a, group_concat(DISTINCT unit) b FROM weights GROUP BY metric", PLAIN,
     NO_SYMBOLS},
    {"[EVENT.]METRIC…", "SELECT metric a, group_concat(DISTINCT unit) b FROM weights GROUP BY metric", PLAIN,
     NO_SYMBOLS},
    {"TID|NAME",
     "SELECT DISTINCT comm a, '' b FROM threads UNION ALL SELECT tid, min(comm) FROM threads GROUP BY tid",
     PLAIN, NO_SYMBOLS},
    {"PID,…",
     "SELECT pid a, coalesce(max(CASE WHEN tid = pid THEN comm END), min(comm)) b FROM threads GROUP BY pid",
     PLAIN, NO_SYMBOLS},
    {"comm", "SELECT DISTINCT comm a, '' b FROM threads", PLAIN, NO_SYMBOLS},
    {"KEY=VALUE|KEY~REGEX", "SELECT DISTINCT key || '=' || text a, '' b FROM labels", PLAIN, NO_SYMBOLS},
    {"KEY,…", "SELECT DISTINCT key a, '' b FROM labels", PLAIN, NO_SYMBOLS},
    {"label:KEY", "SELECT DISTINCT 'label:' || key a, '' b FROM labels", PLAIN, NO_SYMBOLS},
    {"STATES", "SELECT DISTINCT state a, '' b FROM stacks", PLAIN, NO_SYMBOLS},
    {"ID", "SELECT stack_id a, leaf b FROM stacks ORDER BY weight DESC", PLAIN, SYMBOLS},
    {"FUNCTION", HOTTEST, PLAIN, FUNCTIONS},
    {"FUNCTION=", HOTTEST, FACTOR, FUNCTIONS},
    {"focus", HOTTEST, REGEX, FUNCTIONS},
    {"ignore", HOTTEST, REGEX, FUNCTIONS},
    {"hide", HOTTEST, REGEX, FUNCTIONS},
    {"rows", HOTTEST, REGEX, FUNCTIONS},
    {"sum", HOTTEST, REGEX, FUNCTIONS},
    {"own", HOTTEST, REGEX, FUNCTIONS},
    {"dso", "SELECT DISTINCT name a, '' b FROM dsos", LAST_PART, NO_SYMBOLS},
};

/* The file on the line, or ./perf.data; false: it cannot be read twice, as a pipe. */
static bool complete_profile_file(const struct cli *c, const char **out)
{
    struct stat st;
    *out = c->nfiles ? c->files[0] : "perf.data";
    return stat(*out, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

/* How the file is to be read is said on the line, but nobody waits for servers of symbols. */
static size_t reading_options(const struct cli *c, struct spaa_ask_option *out)
{
    struct spaa_command_option o = {.size = sizeof o};
    size_t n = 0;
    for (size_t i = 0; i < c->noptions; i++)
        for (size_t k = 0; spaa_command_option_get(c->number, k, &o) == SPAA_OK; k++)
            if (strcmp(o.name, c->options[i].name) == 0 && strcmp(o.group, "reading") == 0) {
                out[n++] = c->options[i];
                break;
            }
    return n;
}

static unsigned unhex(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'A' + 10);
}

/* Hexadecimal digits as text, in place. */
static void hex_text(char *p)
{
    char *to = p;
    for (; p[0] && p[1]; p += 2)
        *to++ = (char)(unhex(p[0]) << 4 | unhex(p[1]));
    *to = '\0';
}

/* What a pattern would take for more than itself gets a backslash. */
static void offer_pattern(struct complete *x, const char *name, const char *title)
{
    char *out = malloc(2 * strlen(name) + 1), *to = out;
    if (!out)
        return;
    for (const char *p = name; *p; p++) {
        if (strchr("\\^$|()[]{}*+?", *p))
            *to++ = '\\';
        *to++ = *p;
    }
    *to = '\0';
    complete_offer(x, out, title);
    free(out);
}

static void offer_row(struct complete *x, enum how how, const char *name, const char *title)
{
    const char *slash = how == LAST_PART ? strrchr(name, '/') : NULL;
    char factor[512];
    if (how == REGEX || how == LAST_PART)
        offer_pattern(x, slash ? slash + 1 : name, title);
    else if (how == PLAIN)
        complete_offer(x, name, title);
    else if ((size_t)snprintf(factor, sizeof factor, "%s=", name) < sizeof factor)
        complete_offer(x, factor, title);
}

/* Rows of "HEX HEX": names may hold anything. */
static void offer_rows(struct complete *x, enum how how, char *text)
{
    char *line = strchr(text, '\n');
    while (line && line[1]) {
        char *name = line + 1, *end = strchr(name, '\n');
        if (end)
            *end = '\0';
        char *gap = strchr(name, ' '), *title = gap ? gap + 1 : NULL;
        if (gap)
            *gap = '\0';
        hex_text(name);
        if (title)
            hex_text(title);
        offer_row(x, how, name, title);
        line = end;
    }
}

static void ask(struct complete *x, const struct kind *kind, const char *file,
                const struct spaa_ask_option *options, size_t n)
{
    char sql[400], *text = NULL;
    const char *files[2] = {file, sql};
    snprintf(sql, sizeof sql, "SELECT hex(a) || ' ' || hex(b) FROM (%s) WHERE a IS NOT NULL AND a != ''",
             kind->sql);
    struct spaa_run_options o = {.size = sizeof o,
                                 .command = "query",
                                 .files = files,
                                 .file_count = 2,
                                 .options = options,
                                 .option_count = n,
                                 .form = "csv"};
    if (spaa_run_memory(&o, &text, NULL, NULL, NULL) == SPAA_OK)
        offer_rows(x, kind->how, text);
    spaa_free(text);
}

static void ask_profile(struct complete *x, const struct kind *kind)
{
    const char *file;
    struct spaa_ask_option *options = calloc(x->c->noptions + 4, sizeof *options);
    if (!options || !complete_profile_file(x->c, &file)) {
        free(options);
        return;
    }
    size_t n = reading_options(x->c, options);
    options[n++] = (struct spaa_ask_option){"limit", "0"};
    if (kind->symbols == NO_SYMBOLS)
        options[n++] = (struct spaa_ask_option){"no-symbols", NULL};
    if (kind->symbols == FUNCTIONS) {
        options[n] = (struct spaa_ask_option){"no-inline", NULL};
        options[n + 1] = (struct spaa_ask_option){"no-lines", NULL};
        const struct complete before = *x;
        ask(x, kind, file, options, n + 2);
        complete_in_time(x);
        x->n = before.n; /* the second answer has these, too */
        x->offered = before.offered;
        if (x->text)
            x->text[x->n] = '\0';
    }
    ask(x, kind, file, options, n);
    free(options);
}

void complete_profile(struct complete *x, const char *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            ask_profile(x, &kinds[i]);
}
