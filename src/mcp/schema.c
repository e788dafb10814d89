/* What tools/list says of a tool: its arguments as a JSON schema, short, since every session pays for it. */
#include "mcp/message.h"
#include "mcp/tools.h"
#include "json/find.h"

#include <string.h>

/* What was explained stands once: the next tool that takes the same option names it only. */
struct schema {
    struct sp_buf *b;
    const char *told[128];
    size_t ntold;
    bool whole; /* all options are listed and explained */
    bool any;   /* a property was written */
};

static bool schema_told(struct schema *s, const char *help)
{
    for (size_t i = 0; i < s->ntold; i++)
        if (strcmp(s->told[i], help) == 0)
            return !s->whole;
    if (s->ntold < sizeof s->told / sizeof *s->told)
        s->told[s->ntold++] = help;
    return false;
}

static void schema_property(struct schema *s, const char *name, const char *type)
{
    sp_buf_printf(s->b, "%s\"%s\":{%s", s->any ? "," : "", name, type);
    s->any = true;
}

static void schema_help(struct schema *s, const char *words, const char *help)
{
    if (help && !schema_told(s, help)) {
        struct sp_buf text;
        sp_buf_init(&text, 4096);
        sp_buf_printf(&text, "%s%s", words, *words ? ": " : "");
        for (const char *p = help; *p; p++) /* flags are arguments here */
            if (p[0] == '-' && p[1] == '-')
                p++;
            else
                sp_buf_ch(&text, *p);
        sp_buf_puts(s->b, ",\"description\":");
        sp_mcp_string(s->b, sp_buf_cstr(&text));
        sp_buf_free(&text);
    }
    sp_buf_puts(s->b, "}");
}

/* "self|total": words of which one is meant. */
static bool is_choice(const char *value)
{
    return strchr(value, '|') && strspn(value, "abcdefghijklmnopqrstuvwxyz-|") == strlen(value);
}

static void schema_choice(struct sp_buf *b, const char *value)
{
    sp_buf_puts(b, "\"enum\":[\"");
    for (const char *p = value; *p; p++)
        *p == '|' ? sp_buf_puts(b, "\",\"") : sp_buf_ch(b, *p);
    sp_buf_puts(b, "\"]");
}

static void schema_option(struct schema *s, const struct spaa_command_option *o)
{
    char name[64];
    const char *value = o->value ? o->value : "";
    bool number = strcmp(value, "N") == 0, choice = !o->repeats && is_choice(value);
    sp_mcp_argument_name(o->name, name, sizeof name);
    schema_property(s, name,
                    choice       ? ""
                    : !o->value  ? "\"type\":\"boolean\""
                    : number     ? "\"type\":\"integer\""
                    : o->repeats ? "\"type\":\"array\",\"items\":{\"type\":\"string\"}"
                                 : "\"type\":\"string\"");
    if (choice)
        schema_choice(s->b, value);
    schema_help(s, choice || number ? "" : value, o->help);
}

static void schema_profiles(struct schema *s, const struct sp_mcp_tool *tool)
{
    static const char list[] = "\"type\":\"array\",\"items\":{\"type\":\"string\"}";
    if (tool->command.two_sides) {
        schema_property(s, "base", list);
        schema_help(s, "", "handles or paths, a repeat of the run each");
        schema_property(s, "new", list);
        schema_help(s, "", NULL);
        return;
    }
    schema_property(s, tool->opens ? "path" : "profile", "\"type\":\"string\"");
    schema_help(s, "", tool->opens ? NULL : "handle (p1) or path");
    if (tool->several) {
        schema_property(s, "profiles", list);
        schema_help(s, "", "instead: several as one");
    }
}

static void schema_answer(struct schema *s, const struct sp_mcp_tool *tool)
{
    if (tool->command.writes) {
        schema_property(s, "name", "\"type\":\"string\"");
        schema_help(s, "", "of the file to write");
        return;
    }
    if (strcmp(tool->name, "query") == 0) {
        schema_property(s, "params", "\"type\":\"object\"");
        schema_help(s, "", "values of :NAME");
    }
    schema_property(s, "format", "\"enum\":[\"text\",\"json\"]");
    schema_help(s, "", NULL);
    schema_property(s, "budget", "\"type\":\"integer\"");
    schema_help(s, "", "tokens of the answer, default 600; 0: any");
}

static void schema_arguments(struct schema *s, const struct sp_mcp_tool *tool)
{
    struct spaa_command_option o;
    s->any = false;
    sp_buf_puts(s->b, "{\"type\":\"object\",\"properties\":{");
    schema_profiles(s, tool);
    if (tool->argument) {
        schema_property(s, tool->argument, "\"type\":\"string\"");
        schema_help(s, "", tool->changes);
    }
    for (size_t k = 0; sp_mcp_tool_option(tool, &k, &o);)
        if (o.common || s->whole || tool->opens)
            schema_option(s, &o);
    schema_answer(s, tool);
    sp_buf_puts(s->b, "}");
    if (tool->argument)
        sp_buf_printf(s->b, ",\"required\":[\"%s\"]", tool->argument);
    if (tool->opens)
        sp_buf_puts(s->b, ",\"required\":[\"path\"]");
    sp_buf_puts(s->b, "}");
}

void sp_mcp_tools_list(const struct sp_mcp_tools *tools, struct sp_buf *b)
{
    struct schema s = {.b = b};
    sp_buf_puts(b, "[");
    for (size_t i = 0; i < tools->n; i++) {
        const struct sp_mcp_tool *tool = &tools->v[i];
        sp_buf_printf(b, "%s{\"name\":\"%s\",\"description\":", i ? "," : "", tool->name);
        sp_mcp_string(b, tool->opens ? "open a profile: a handle (p1) for `profile`, and what is in it"
                                     : tool->command.title);
        sp_buf_puts(b, ",\"inputSchema\":");
        schema_arguments(&s, tool);
        sp_buf_printf(b, ",\"annotations\":{\"readOnlyHint\":%s,\"openWorldHint\":false}}",
                      tool->command.writes ? "false" : "true");
    }
    sp_buf_puts(b, "]");
}

/* ---- of one tool, whole ---- */

/* The part of `spaa help --json` about a question; n 0: none. */
static struct sp_span schema_declared(struct sp_span help, const char *question)
{
    struct sp_span rest = sp_mcp_member(help, "questions"), item;
    while (rest.n && sp_json_next(&rest, &item)) {
        struct sp_span name = sp_mcp_member(item, "name");
        if (name.n == strlen(question) + 2 && memcmp(name.p + 1, question, name.n - 2) == 0)
            return item;
    }
    return (struct sp_span){0};
}

bool sp_mcp_tool_schema(const struct sp_mcp_tool *tool, struct sp_buf *b)
{
    static const struct spaa_ask_option json = {"json", NULL};
    const struct spaa_run_options how = {
        .size = sizeof how, .command = "help", .options = &json, .option_count = 1};
    struct schema s = {.b = b, .whole = true};
    char *help = NULL;
    size_t n = 0;
    if (spaa_run_memory(&how, &help, &n, NULL, NULL))
        return false;
    sp_buf_puts(b, "{\"arguments\":");
    schema_arguments(&s, tool);
    struct sp_span answer = schema_declared((struct sp_span){help, n}, tool->command.name);
    if (answer.n) {
        sp_buf_puts(b, ",\"answer\":");
        sp_buf_add(b, answer.p, answer.n);
    }
    sp_buf_puts(b, "}");
    spaa_free(help);
    return !b->failed;
}
