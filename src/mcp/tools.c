#include "mcp/tools.h"

#include <stdio.h>
#include <string.h>

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static void tools_add(struct sp_mcp_tools *tools, const struct spaa_command *c, size_t number)
{
    bool opens = strcmp(c->name, "info") == 0, query = strcmp(c->name, "query") == 0;
    struct spaa_question q = {.size = sizeof q};
    bool word = false;
    for (size_t i = 0; c->is_question && spaa_question_get(i, &q) == SPAA_OK; i++)
        word = word || (strcmp(q.name, c->name) == 0 && q.takes_argument);
    const char *last = strrchr(c->args, ' ');
    struct sp_mcp_tool *tool = &tools->v[opens ? 0 : tools->n++];
    *tool = (struct sp_mcp_tool){.name = opens ? "open" : c->name,
                                 .command = *c,
                                 .number = number,
                                 .argument = query  ? "sql"
                                             : word ? "function"
                                                    : NULL,
                                 .changes = word && last && strchr(last, '=') ? last + 1 : NULL,
                                 .opens = opens,
                                 .several = !opens && !c->writes && strcmp(c->args, "FILE") != 0};
}

/* `open` stands first: what it says of paths holds for all. */
void sp_mcp_tools_init(struct sp_mcp_tools *tools, bool writes)
{
    static const char *const writers[] = {"flamegraph", "convert", NULL};
    struct spaa_command c = {.size = sizeof c};
    *tools = (struct sp_mcp_tools){.n = 1};
    for (size_t i = 0; spaa_command_get(i, &c) == SPAA_OK && tools->n < SP_MCP_TOOLS; i++)
        if (c.is_question || strcmp(c.name, "query") == 0 || (writes && is_one_of(c.name, writers)))
            tools_add(tools, &c, i);
}

const struct sp_mcp_tool *sp_mcp_tool_find(const struct sp_mcp_tools *tools, const char *name, size_t n)
{
    for (size_t i = 0; i < tools->n; i++)
        if (strlen(tools->v[i].name) == n && (!n || memcmp(tools->v[i].name, name, n) == 0))
            return &tools->v[i];
    return NULL;
}

/* Several formats may have an option. */
static bool is_again(const struct sp_mcp_tool *tool, size_t k, const char *name)
{
    struct spaa_command_option o = {.size = sizeof o};
    while (k-- > 0)
        if (spaa_command_option_get(tool->number, k, &o) == SPAA_OK && strcmp(o.name, name) == 0)
            return true;
    return false;
}

/* How a profile is read is said to `open`; the rest is the server's. */
bool sp_mcp_tool_option(const struct sp_mcp_tool *tool, size_t *k, struct spaa_command_option *out)
{
    static const char *const reading[] = {"from", "symfs", "debug-dir", "dsym", "off-cpu", NULL};
    static const char *const servers[] = {"file",   "output", "json",  "format",
                                          "budget", "diff",   "param", NULL};
    *out = (struct spaa_command_option){.size = sizeof *out};
    for (; spaa_command_option_get(tool->number, *k, out) == SPAA_OK; (*k)++) {
        bool reads = out->format || strcmp(out->group, "reading") == 0;
        bool hows = reads && is_one_of(out->name, reading) && !is_again(tool, *k, out->name);
        if (strcmp(out->group, "general") == 0 || is_one_of(out->name, servers) ||
            (tool->opens ? !hows : reads))
            continue;
        (*k)++;
        return true;
    }
    return false;
}

void sp_mcp_argument_name(const char *option, char *out, size_t size)
{
    snprintf(out, size, "%s", option);
    for (char *p = out; *p; p++)
        *p = *p == '-' ? '_' : *p;
}
