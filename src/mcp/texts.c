#include "mcp/texts.h"

#include "guide/guide.h"
#include "json/find.h"

#define SKILL  "spaa://skill/"
#define SCHEMA "spaa://schema/"

/* ---- resources ---- */

static const char *mime_of(const char *name)
{
    size_t n = strlen(name);
    return n > 3 && strcmp(name + n - 3, ".md") == 0 ? "text/markdown" : "text/plain";
}

static void resource_begin(struct sp_buf *b, bool more, const char *folder, const char *name)
{
    sp_buf_printf(b, "%s{\"uri\":\"%s%s\",\"name\":\"%s\"", more ? "," : "", folder, name, name);
}

void sp_mcp_resources_list(const struct sp_mcp_tools *tools, struct sp_buf *b)
{
    bool any = false;
    sp_buf_puts(b, "[");
    for (const struct sp_guide_text *t = sp_guide_texts; t->name; t++, any = true) {
        resource_begin(b, any, SKILL, t->name);
        sp_buf_puts(b, ",\"title\":");
        sp_mcp_string(b, t->title);
        sp_buf_printf(b, ",\"mimeType\":\"%s\",\"size\":%zu}", mime_of(t->name), t->n);
    }
    for (size_t i = 0; i < tools->n; i++, any = true) {
        resource_begin(b, any, SCHEMA, tools->v[i].name);
        sp_buf_printf(
            b,
            ",\"title\":\"all arguments of %s, and its answer as JSON\",\"mimeType\":\"application/json\"}",
            tools->v[i].name);
    }
    sp_buf_puts(b, "]");
}

static void contents_begin(struct sp_buf *b, const char *uri, const char *mime)
{
    sp_buf_puts(b, "[{\"uri\":");
    sp_mcp_string(b, uri);
    sp_buf_printf(b, ",\"mimeType\":\"%s\",\"text\":", mime);
}

bool sp_mcp_resource_read(const struct sp_mcp_tools *tools, const char *uri, struct sp_buf *b)
{
    bool skill = strncmp(uri, SKILL, sizeof SKILL - 1) == 0,
         schema = strncmp(uri, SCHEMA, sizeof SCHEMA - 1) == 0;
    const char *name = uri + (skill ? sizeof SKILL : schema ? sizeof SCHEMA : 1) - 1;
    const struct sp_guide_text *t = skill ? sp_guide_find(name) : NULL;
    if (t) {
        contents_begin(b, uri, mime_of(t->name));
        sp_json_string(b, t->text, t->n);
        return sp_buf_puts(b, "}]");
    }
    const struct sp_mcp_tool *tool = schema ? sp_mcp_tool_find(tools, name, strlen(name)) : NULL;
    if (!tool)
        return false;
    struct sp_buf text;
    sp_buf_init(&text, 0);
    bool ok = sp_mcp_tool_schema(tool, &text);
    contents_begin(b, uri, "application/json");
    sp_json_string(b, text.data ? text.data : "", text.len);
    sp_buf_free(&text);
    return ok && sp_buf_puts(b, "}]");
}

/* ---- prompts ---- */

void sp_mcp_prompts_list(struct sp_buf *b)
{
    sp_buf_puts(b, "[");
    for (const struct sp_guide_prompt *p = sp_guide_prompts; p->name; p++) {
        sp_buf_printf(b, "%s{\"name\":\"%s\",\"description\":", p == sp_guide_prompts ? "" : ",", p->name);
        sp_mcp_string(b, p->title);
        sp_buf_puts(b, ",\"arguments\":[");
        for (const struct sp_guide_argument *a = p->arguments; a && a->name; a++) {
            sp_buf_printf(b, "%s{\"name\":\"%s\",\"description\":", a == p->arguments ? "" : ",", a->name);
            sp_mcp_string(b, a->title);
            sp_buf_printf(b, ",\"required\":%s}", a->required ? "true" : "false");
        }
        sp_buf_puts(b, "]}");
    }
    sp_buf_puts(b, "]");
}

/* An argument's value, decoded; "" where it is not given. False: it is no string. */
static bool prompt_value(struct sp_span arguments, const char *name, struct sp_buf *out)
{
    struct sp_span raw = sp_mcp_member(arguments, name);
    sp_buf_clear(out);
    return !raw.n || sp_json_text_to(out, raw);
}

/* The text with values for {NAME}; other braces stand for themselves. */
static bool prompt_text(const struct sp_guide_prompt *p, struct sp_span arguments, struct sp_buf *out,
                        struct sp_buf *why)
{
    struct sp_buf value;
    bool ok = true;
    sp_buf_init(&value, 0);
    for (const char *s = p->text; *s && ok;) {
        const struct sp_guide_argument *a = *s == '{' ? p->arguments : NULL;
        for (; a && a->name; a++)
            if (strncmp(s + 1, a->name, strlen(a->name)) == 0 && s[1 + strlen(a->name)] == '}')
                break;
        if (!a || !a->name) {
            sp_buf_ch(out, *s++);
            continue;
        }
        ok = prompt_value(arguments, a->name, &value) && (value.len || !a->required);
        if (!ok)
            sp_buf_printf(why, "the prompt %s needs the argument \"%s\", a string: %s", p->name, a->name,
                          a->title);
        sp_buf_add(out, value.data, value.len);
        s += strlen(a->name) + 2;
    }
    sp_buf_free(&value);
    return ok;
}

bool sp_mcp_prompt_get(const char *name, struct sp_span arguments, struct sp_buf *b, struct sp_buf *why)
{
    const struct sp_guide_prompt *p = sp_guide_prompts;
    while (p->name && strcmp(p->name, name) != 0)
        p++;
    if (!p->name) {
        sp_buf_printf(why, "there is no prompt \"%.100s\"", name);
        return false;
    }
    struct sp_buf text;
    sp_buf_init(&text, 0);
    bool ok = prompt_text(p, arguments, &text, why);
    sp_buf_puts(b, "\"description\":");
    sp_mcp_string(b, p->title);
    sp_buf_puts(b, ",\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":");
    sp_json_string(b, text.data ? text.data : "", text.len);
    sp_buf_puts(b, "}}]");
    b->failed |= text.failed;
    sp_buf_free(&text);
    return ok;
}
