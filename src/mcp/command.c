#include "mcp/command.h"

#include "mcp/message.h"

/* ---- a command of the command line, taken apart ---- */

struct command_line {
    const struct sp_mcp_words *w;
    const struct sp_mcp_tool *tool;
    struct sp_buf texts; /* words, a NUL behind each */
    SP_VEC(size_t) starts;
    SP_VEC(const char *) files;
    SP_VEC(struct spaa_ask_option) options;
    bool has_split, nomem;
    size_t split;
};

static bool command_nomem(struct command_line *c)
{
    c->nomem = true;
    return false;
}

static void command_free(struct command_line *c)
{
    sp_buf_free(&c->texts);
    sp_vec_free(&c->starts);
    sp_vec_free(&c->files);
    sp_vec_free(&c->options);
}

/* Words as a shell splits them: quotes, and backslashes before a character. */
static bool command_words(struct command_line *c, const char *p, const char *end)
{
    while (p < end) {
        p += *p == ' ';
        if (p < end && *p == ' ')
            continue;
        if (p == end)
            break;
        if (!sp_vec_push(&c->starts, c->texts.len))
            return command_nomem(c);
        for (char quote = 0; p < end && (quote || *p != ' '); p++) {
            if (quote ? *p == quote : *p == '\'' || *p == '"')
                quote = quote ? 0 : *p;
            else if (*p == '\\' && quote != '\'' && p + 1 < end)
                sp_buf_ch(&c->texts, *++p);
            else
                sp_buf_ch(&c->texts, *p);
        }
        sp_buf_ch(&c->texts, '\0');
    }
    return !c->texts.failed || command_nomem(c);
}

bool sp_mcp_command_option(const struct sp_mcp_tool *tool, const char *word, size_t n,
                           struct spaa_command_option *out)
{
    for (size_t k = 0; sp_mcp_tool_option(tool, &k, out);)
        if (word[1] == '-' ? strlen(out->name) == n - 2 && memcmp(out->name, word + 2, n - 2) == 0
                           : out->letter && out->letter == word[1] && n == 2)
            return true;
    return false;
}

/* What the server has in its own way. */
static const char *command_servers_own(const char *word, size_t n, bool *flag)
{
    static const char *const names[] = {"--json", "--budget", "--format"};
    static const char *const means[] = {"format", "budget", "format"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == n && memcmp(names[i], word, n) == 0) {
            *flag = i == 0;
            return means[i];
        }
    return NULL;
}

static bool command_take_option(struct command_line *c, const char *word, size_t *i)
{
    const char *eq = word[1] == '-' ? strchr(word, '=') : NULL;
    size_t n = eq ? (size_t)(eq - word) : strlen(word);
    struct spaa_command_option o = {.size = sizeof o};
    struct spaa_ask_option given = {0};
    bool flag = false;
    if ((given.name = command_servers_own(word, n, &flag)))
        given.value = flag ? "json" : NULL;
    else if (sp_mcp_command_option(c->tool, word, n, &o))
        given.name = o.name, flag = !o.value;
    else
        return false;
    if (!flag && !eq && ++*i >= c->starts.n)
        return false;
    if (!flag)
        given.value = eq ? eq + 1 : c->texts.data + c->starts.v[*i];
    return sp_vec_push(&c->options, given) || command_nomem(c);
}

/* False: no tool does this. */
static bool command_parse(struct command_line *c, const char *p, size_t n)
{
    if (!command_words(c, p, p + n) || c->starts.n < 2)
        return false;
    const char *name = c->texts.data + c->starts.v[1];
    name = strcmp(name, "info") == 0 ? "open" : name;
    c->tool = sp_mcp_tool_find(c->w->tools, name, strlen(name));
    if (!c->tool || c->tool->command.writes)
        return false;
    for (size_t i = 2; i < c->starts.n; i++) {
        const char *word = c->texts.data + c->starts.v[i];
        if (strcmp(word, "--") == 0) {
            c->has_split = true;
            c->split = c->files.n;
        } else if (word[0] == '-' && word[1]) {
            if (!command_take_option(c, word, &i))
                return false;
        } else if (!sp_vec_push(&c->files, word)) {
            return command_nomem(c);
        }
    }
    return !c->tool->argument || c->files.n;
}

/* ---- as a call ---- */

static const char *call_comma(const struct sp_buf *out)
{
    return out->len && out->data[out->len - 1] == '{' ? "" : ",";
}

static void call_value(struct sp_buf *out, const char *value)
{
    size_t n = strlen(value);
    if (!n || n > 15 || strspn(value, "0123456789") != n || (n > 1 && *value == '0'))
        sp_mcp_string(out, value);
    else
        sp_buf_add(out, value, n);
}

/* A handle where the file has one. */
static void call_file(const struct sp_mcp_words *w, const char *path, struct sp_buf *out)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->books[i]->number && strcmp(w->books[i]->path, path) == 0) {
            sp_buf_printf(out, "\"p%u\"", w->books[i]->number);
            return;
        }
    sp_mcp_string(out, path);
}

static void call_files(const struct command_line *c, const char *name, size_t from, size_t to,
                       struct sp_buf *out)
{
    bool list = c->tool->command.two_sides || to - from > 1;
    if (from == to)
        return;
    sp_buf_printf(out, "%s\"%s%s\":%s", call_comma(out), name, list && !c->tool->command.two_sides ? "s" : "",
                  list ? "[" : "");
    for (size_t i = from; i < to; i++) {
        sp_buf_puts(out, i > from ? "," : "");
        call_file(c->w, c->files.v[i], out);
    }
    sp_buf_puts(out, list ? "]" : "");
}

/* Options that stand several times are one array, at the place of the first. */
static void call_option(const struct command_line *c, size_t i, struct sp_buf *out)
{
    char name[64];
    size_t times = 0;
    for (size_t k = 0; k < c->options.n; k++) {
        bool same = strcmp(c->options.v[k].name, c->options.v[i].name) == 0;
        if (same && k < i)
            return;
        times += same;
    }
    sp_mcp_argument_name(c->options.v[i].name, name, sizeof name);
    sp_buf_printf(out, "%s\"%s\":%s", call_comma(out), name, times > 1 ? "[" : "");
    for (size_t k = i; k < c->options.n; k++) {
        const struct spaa_ask_option *o = &c->options.v[k];
        if (strcmp(o->name, c->options.v[i].name) != 0)
            continue;
        sp_buf_puts(out, k > i ? "," : "");
        if (o->value)
            call_value(out, o->value);
        else
            sp_buf_puts(out, "true");
    }
    sp_buf_puts(out, times > 1 ? "]" : "");
}

/* How many of the words are files: behind them stands the argument, which may be several. */
static size_t call_nfiles(const struct command_line *c)
{
    size_t n = c->files.n - (c->tool->argument != NULL);
    while (c->tool->changes && n && strchr(c->files.v[n - 1], '='))
        n--;
    return n;
}

static void call_argument(const struct command_line *c, size_t from, struct sp_buf *out)
{
    struct sp_buf text;
    sp_buf_init(&text, 0);
    for (size_t i = from; i < c->files.n; i++)
        sp_buf_printf(&text, "%s%s", i > from ? " " : "", c->files.v[i]);
    sp_buf_printf(out, "%s\"%s\":", from ? "," : "", c->tool->argument);
    sp_json_string(out, text.data ? text.data : "", text.len);
    sp_buf_free(&text);
}

bool sp_mcp_command_call(const struct sp_mcp_words *w, const char *p, size_t n, struct sp_buf *out)
{
    struct command_line c = {.w = w};
    sp_buf_init(&c.texts, 0);
    bool ok = command_parse(&c, p, n);
    if (ok) {
        size_t files = call_nfiles(&c), split = c.has_split ? c.split : files > 1 ? 1 : files;
        bool sides = c.tool->command.two_sides;
        sp_buf_printf(out, "%s", c.tool->name);
        if (c.starts.n == 2) { /* named, no more */
            command_free(&c);
            return true;
        }
        sp_buf_puts(out, " {");
        call_files(&c, sides ? "base" : c.tool->opens ? "path" : "profile", 0, sides ? split : files, out);
        if (sides)
            call_files(&c, "new", split, files, out);
        if (c.tool->argument)
            call_argument(&c, files, out);
        for (size_t i = 0; i < c.options.n; i++)
            call_option(&c, i, out);
        sp_buf_puts(out, "}");
    }
    out->failed = out->failed || c.nomem;
    command_free(&c);
    return ok;
}
