#include "mcp/arguments.h"

#include "json/find.h"

#include <stdlib.h>

enum { TEXT_MOST = 64 << 10, SQL_MOST = 1 << 20 }; /* bytes */

struct arguments {
    const struct sp_mcp_tool *tool;
    struct sp_mcp_arguments *out;
    struct sp_buf *why;
    SP_VEC(const char *) news;
};

void sp_mcp_arguments_free(struct sp_mcp_arguments *a)
{
    sp_vec_free(&a->profiles);
    sp_vec_free(&a->options);
    sp_arena_free(&a->texts);
}

const char *sp_mcp_argument(const struct sp_mcp_arguments *a, const char *option)
{
    const char *found = NULL;
    for (size_t i = 0; i < a->options.n; i++)
        if (strcmp(a->options.v[i].name, option) == 0)
            found = a->options.v[i].value ? a->options.v[i].value : "";
    return found;
}

static bool arguments_wrong(struct arguments *a, const char *key, const char *should)
{
    sp_buf_printf(a->why, "the argument \"%s\" should be %s", key, should);
    return false;
}

static bool arguments_nomem(struct arguments *a)
{
    sp_buf_puts(a->why, "out of memory");
    return false;
}

/* ---- values ---- */

/* A string, or a number as it stands; NULL, with `why`: it is neither. */
static const char *arguments_text(struct arguments *a, const char *key, struct sp_span raw)
{
    char first = sp_mcp_first(raw);
    if (first == '-' || (first >= '0' && first <= '9')) {
        const char *number = sp_arena_dup(&a->out->texts, raw.p, raw.n);
        if (!number)
            arguments_nomem(a);
        return number;
    }
    struct sp_buf text;
    sp_buf_init(&text, 0);
    const char *copy = NULL;
    if (first != '"')
        arguments_wrong(a, key, "a string");
    else if (!sp_json_text_to(&text, raw))
        arguments_nomem(a);
    else if (text.len > (strcmp(key, "sql") == 0 ? SQL_MOST : TEXT_MOST))
        arguments_wrong(a, key, "shorter: 64 KiB at most, SQL 1 MiB");
    else if (text.len && memchr(text.data, 0, text.len))
        arguments_wrong(a, key, "a string without NUL");
    else if (!(copy = sp_arena_dup(&a->out->texts, text.data ? text.data : "", text.len)))
        arguments_nomem(a);
    sp_buf_free(&text);
    return copy;
}

/* One text or an array of them, each given to `take`. */
static bool arguments_each(struct arguments *a, const char *key, struct sp_span raw,
                           bool (*take)(struct arguments *, const char *key, const char *text))
{
    struct sp_span item;
    if (sp_mcp_first(raw) != '[') {
        const char *text = arguments_text(a, key, raw);
        return text && take(a, key, text);
    }
    while (sp_json_next(&raw, &item)) {
        const char *text = arguments_text(a, key, item);
        if (!text || !take(a, key, text))
            return false;
    }
    return true;
}

static bool take_profile(struct arguments *a, const char *key, const char *text)
{
    (void)key;
    return sp_vec_push(&a->out->profiles, text) || arguments_nomem(a);
}

static bool take_new(struct arguments *a, const char *key, const char *text)
{
    (void)key;
    return sp_vec_push(&a->news, text) || arguments_nomem(a);
}

static bool take_option(struct arguments *a, const char *option, const char *text)
{
    struct spaa_ask_option given = {option, text};
    return sp_vec_push(&a->out->options, given) || arguments_nomem(a);
}

/* ---- options ---- */

static bool arguments_unknown(struct arguments *a, const char *key)
{
    const char *names[128];
    char kept[128][48], near[256];
    struct spaa_command_option o;
    size_t n = 0;
    for (size_t k = 0; n < 128 && sp_mcp_tool_option(a->tool, &k, &o); n++) {
        sp_mcp_argument_name(o.name, kept[n], sizeof kept[n]);
        names[n] = kept[n];
    }
    spaa_did_you_mean(key, names, n, near, sizeof near);
    sp_buf_printf(a->why, "%s has no argument \"%s\"; %s%sit takes", a->tool->name, key, near,
                  *near ? " " : "");
    const char *profiles = a->tool->opens               ? "path"
                           : a->tool->command.two_sides ? "base, new"
                           : a->tool->several           ? "profile, profiles"
                                                        : "profile";
    sp_buf_printf(a->why, " %s%s%s", profiles, a->tool->argument ? ", " : "",
                  a->tool->argument ? a->tool->argument : "");
    for (size_t i = 0; i < n; i++)
        sp_buf_printf(a->why, ", %s", names[i]);
    sp_buf_puts(a->why, a->tool->command.writes ? ", name" : ", format, budget");
    return false;
}

static bool arguments_option(struct arguments *a, const char *key, struct sp_span raw)
{
    struct spaa_command_option o;
    char name[48];
    for (size_t k = 0; sp_mcp_tool_option(a->tool, &k, &o);) {
        sp_mcp_argument_name(o.name, name, sizeof name);
        if (strcmp(o.name, key) != 0 && strcmp(name, key) != 0)
            continue;
        if (o.value && sp_mcp_first(raw) == '[' && !o.repeats)
            return arguments_wrong(a, key, "one value, no array");
        if (o.value)
            return arguments_each(a, o.name, raw, take_option);
        if (sp_span_is(raw, "false"))
            return true;
        return sp_span_is(raw, "true") ? take_option(a, o.name, NULL)
                                       : arguments_wrong(a, key, "true or false");
    }
    return arguments_unknown(a, key);
}

/* {"tid": 7, "name": "main"}: text is quoted, as SQL has it. */
static bool arguments_params(struct arguments *a, struct sp_span raw)
{
    struct sp_json j;
    struct sp_span key, value;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_json_init(&j, raw.p, raw.n);
    bool ok = sp_mcp_first(raw) == '{' && sp_json_object(&j);
    if (!ok)
        arguments_wrong(a, "params", "an object of names and values");
    while (ok && sp_json_key(&j, &key)) {
        sp_buf_clear(&b);
        sp_buf_add(&b, key.p, key.n);
        sp_buf_ch(&b, '=');
        ok = sp_json_skip(&j, &value);
        const char *text = ok && !sp_span_is(value, "null") ? arguments_text(a, "params", value) : "NULL";
        bool quoted = sp_mcp_first(value) == '"';
        ok = ok && text;
        sp_buf_puts(&b, quoted ? "'" : "");
        for (const char *p = ok ? text : ""; *p; p++)
            sp_buf_puts(&b, quoted && *p == '\'' ? "''" : (const char[]){*p, 0});
        sp_buf_puts(&b, quoted ? "'" : "");
        const char *copy = ok ? sp_arena_dup(&a->out->texts, sp_buf_text(&b), b.len) : NULL;
        ok = ok && ((copy && !b.failed) || arguments_nomem(a)) && take_option(a, "param", copy);
    }
    sp_json_free(&j);
    sp_buf_free(&b);
    return ok;
}

/* ---- all of them ---- */

static bool arguments_budget(struct arguments *a, struct sp_span raw)
{
    const char *text = arguments_text(a, "budget", raw);
    char *end = NULL;
    if (!text)
        return false;
    a->out->budget = strtol(text, &end, 10);
    if (*end || end == text || a->out->budget < 0 || a->out->budget > 1 << 24)
        return arguments_wrong(a, "budget", "a number of tokens, 0 for any");
    return true;
}

static bool arguments_word(struct arguments *a, const char *key, struct sp_span raw, const char **word)
{
    *word = arguments_text(a, key, raw);
    return *word != NULL;
}

/* Several words are one, with blanks between them. */
static bool take_word(struct arguments *a, const char *key, const char *text)
{
    size_t before = a->out->word ? strlen(a->out->word) + 1 : 0, n = strlen(text);
    char *both = before ? sp_arena_alloc(&a->out->texts, before + n + 1) : NULL;
    if (before && (!both || !a->tool->changes))
        return both ? arguments_wrong(a, key, "one string") : arguments_nomem(a);
    if (both) {
        memcpy(both, a->out->word, before - 1);
        both[before - 1] = ' ';
        memcpy(both + before, text, n + 1);
    }
    a->out->word = both ? both : text;
    return true;
}

static bool is_profiles(const char *key)
{
    return strcmp(key, "profile") == 0 || strcmp(key, "profiles") == 0 || strcmp(key, "path") == 0 ||
           strcmp(key, "paths") == 0;
}

static bool arguments_take(struct arguments *a, const char *key, struct sp_span raw)
{
    const struct sp_mcp_tool *tool = a->tool;
    const char *form = NULL;
    if (sp_span_is(raw, "null"))
        return true;
    if (tool->command.two_sides ? strcmp(key, "base") == 0 || strcmp(key, "profile") == 0 : is_profiles(key))
        return arguments_each(a, key, raw, take_profile);
    if (tool->command.two_sides && strcmp(key, "new") == 0)
        return arguments_each(a, key, raw, take_new);
    if (tool->argument && strcmp(key, tool->argument) == 0)
        return arguments_each(a, key, raw, take_word);
    if (tool->command.writes && strcmp(key, "name") == 0)
        return arguments_word(a, key, raw, &a->out->name);
    if (!tool->command.writes && strcmp(key, "budget") == 0)
        return arguments_budget(a, raw);
    if (strcmp(tool->name, "query") == 0 && strcmp(key, "params") == 0)
        return arguments_params(a, raw);
    if (tool->command.writes || strcmp(key, "format") != 0)
        return arguments_option(a, key, raw);
    if (!arguments_word(a, key, raw, &form))
        return false;
    a->out->json = strcmp(form, "json") == 0;
    return a->out->json || strcmp(form, "text") == 0 || arguments_wrong(a, key, "\"text\" or \"json\"");
}

static bool arguments_finish(struct arguments *a)
{
    const struct sp_mcp_tool *tool = a->tool;
    size_t n = a->out->profiles.n;
    bool tables =
        tool->argument && strcmp(tool->argument, "sql") == 0 && a->out->word && *a->out->word == '.';
    a->out->split = n;
    for (size_t i = 0; i < a->news.n; i++)
        if (!take_profile(a, "new", a->news.v[i]))
            return false;
    if (tool->argument && !a->out->word)
        sp_buf_printf(a->why, "%s needs the argument \"%s\": %s", tool->name, tool->argument,
                      tool->command.args);
    else if (tool->command.two_sides && !n)
        sp_buf_printf(
            a->why,
            "%s needs the argument \"base\", and \"new\" or base_where and new_where: handles or paths",
            tool->name);
    else if (!n && !tables)
        sp_buf_printf(a->why, "%s needs the argument \"%s\": %s", tool->name,
                      tool->opens ? "path" : "profile",
                      tool->opens ? "a file" : "a handle that open gave, or a path");
    else if (n > 1 && !tool->several && !tool->opens)
        sp_buf_printf(a->why, "%s takes one profile", tool->name);
    else if (tool->command.writes && !a->out->name)
        sp_buf_printf(a->why, "%s needs the argument \"name\": of the file to write", tool->name);
    else
        return true;
    return false;
}

bool sp_mcp_arguments_read(const struct sp_mcp_tool *tool, struct sp_span raw, struct sp_mcp_arguments *out,
                           struct sp_buf *why)
{
    struct arguments a = {.tool = tool, .out = out, .why = why};
    struct sp_json j;
    struct sp_span key, value;
    bool ok = true;
    *out = (struct sp_mcp_arguments){.budget = -1};
    sp_arena_init(&out->texts, 0);
    sp_json_init(&j, raw.n ? raw.p : "{}", raw.n ? raw.n : 2);
    for (sp_json_object(&j); ok && sp_json_key(&j, &key);) {
        char name[64];
        ok = key.n < sizeof name && !memchr(key.p, 0, key.n);
        if (ok) {
            memcpy(name, key.p, key.n);
            name[key.n] = '\0';
            ok = sp_json_skip(&j, &value) && arguments_take(&a, name, value);
        } else {
            sp_buf_printf(why, "%s has no argument of such a name", tool->name);
        }
    }
    sp_json_free(&j);
    ok = ok && arguments_finish(&a);
    sp_vec_free(&a.news);
    return ok;
}
