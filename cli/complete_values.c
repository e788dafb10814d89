/* Which values an option or an argument can have, by what options.def and commands.def call them. */
#include "complete.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* "self|total", "[orders-1|orders-2]", "peak|end|SECONDS": the words among them; capitals stand for others.
 */
static void offer_words(struct complete *x, const char *list)
{
    char word[64];
    for (const char *p = list + (*list == '['); *p;) {
        size_t n = strcspn(p, "|] ");
        if (*p >= 'a' && *p <= 'z' && n < sizeof word) {
            snprintf(word, sizeof word, "%.*s", (int)n, p);
            complete_offer(x, word, NULL);
        }
        p += n;
        p += strspn(p, "|] ");
    }
}

/* "label:KEY": the keys that the file has, once what stands before them is there: reading takes time. */
static void offer_keys(struct complete *x, const char *word, size_t before)
{
    char begin[64];
    snprintf(begin, sizeof begin, "%.*s", (int)before, word);
    if (strncmp(x->word, begin, before) == 0)
        complete_profile(x, word);
    else
        complete_offer(x, begin, NULL);
}

/* "rows: function (default), symbol, …, label:KEY": what --by and --redact take stands in their help. */
static void offer_kinds(struct complete *x, const char *help)
{
    char word[64];
    const char *p = strstr(help, ": ");
    while (p && *p) {
        p += strspn(p, ":, ");
        size_t n = strcspn(p, ", ");
        snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : 0), p);
        const char *key = strstr(word, "KEY");
        if (key)
            offer_keys(x, word, (size_t)(key - word));
        else if (*word >= 'a' && *word <= 'z')
            complete_offer(x, word, NULL);
        p = strchr(p, ',');
    }
}

/* The formats that can be read, or written, or either. */
static void offer_formats(struct complete *x, bool read, bool write)
{
    struct spaa_run_options o = {.size = sizeof o, .command = "formats", .form = "csv"};
    char *text = NULL, name[64], can_read[8], can_write[8];
    if (spaa_run_memory(&o, &text, NULL, NULL, NULL) != SPAA_OK)
        return;
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        if (sscanf(line + 1, "%63[^,],%7[^,],%7[^,]", name, can_read, can_write) != 3)
            continue;
        if ((!read || strcmp(can_read, "yes") == 0) && (!write || strcmp(can_write, "yes") == 0))
            complete_offer(x, name, NULL);
    }
    spaa_free(text);
}

const char *complete_option(struct complete *x)
{
    const char *name = x->option.name, *value = x->option.value;
    if (strstr(value, "FILE") || strcmp(value, "BASE") == 0)
        return "files";
    if (strcmp(value, "DIR") == 0 || strcmp(value, "FOLDER") == 0)
        return "dirs";
    if (strstr(value, "…") || strstr(value, ",") || strcmp(value, "STATES") == 0 ||
        strcmp(value, "RULES") == 0)
        complete_after_comma(x);
    if (strcmp(value, "FORMAT") == 0)
        offer_formats(x, strcmp(name, "from") == 0, strcmp(name, "to") == 0);
    else if (strncmp(value, "KIND", 4) == 0 || strcmp(value, "RULES") == 0)
        offer_kinds(x, x->option.help);
    else
        offer_words(x, value);
    if (strcmp(value, "REGEX") == 0 || strcmp(value, "NAME") == 0) /* of what, the option says */
        complete_profile(x, name);
    else if (!x->option.format)
        complete_profile(x, value);
    return strcmp(name, "output") == 0 ? "files" : "none";
}

static bool complete_is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode));
}

static void offer_schema(struct complete *x)
{
    static const char *const what[] = {".tables"};
    struct spaa_run_options o = {
        .size = sizeof o, .command = "query", .files = what, .file_count = 1, .form = "csv"};
    char *text = NULL, name[64];
    if (spaa_run_memory(&o, &text, NULL, NULL, NULL) != SPAA_OK)
        return;
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
        if (sscanf(line + 1, "%63[^,]", name) == 1)
            complete_offer(x, name, NULL);
    spaa_free(text);
}

const char *complete_argument(struct complete *x)
{
    const struct cli *c = x->c;
    const char *args = c->command.args;
    bool file = c->nfiles && complete_is_file(c->files[0]);
    if (strcmp(args, "[FORMAT]") == 0)
        offer_formats(x, false, false);
    else if (!c->nfiles) /* codeguru, match, [orders-1|orders-2] */
        offer_words(x, args);
    if (file && (strstr(args, "NAME") || strstr(args, "FUNCTION")))
        complete_profile(x, strstr(args, "FUNCTION=") ? "FUNCTION=" : "FUNCTION");
    if (strstr(args, "SQL") && c->nfiles && strcmp(c->files[c->nfiles - 1], ".schema") == 0)
        offer_schema(x);
    else if (strstr(args, "SQL") && *x->word == '.') {
        complete_offer(x, ".tables", "the tables there are");
        complete_offer(x, ".schema", "what the columns of a table are");
    }
    return strstr(args, "FILE") || strstr(args, "IN") || strstr(args, "BASE") ? "files" : "none";
}
