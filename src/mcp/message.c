#include "mcp/message.h"

#include "json/find.h"

void sp_mcp_message_init(struct sp_mcp_message *m)
{
    *m = (struct sp_mcp_message){0};
    sp_buf_init(&m->id, 0);
    sp_buf_init(&m->method, 0);
}

void sp_mcp_message_free(struct sp_mcp_message *m)
{
    sp_buf_free(&m->id);
    sp_buf_free(&m->method);
}

bool sp_mcp_method_is(const struct sp_mcp_message *m, const char *name)
{
    return sp_span_is((struct sp_span){m->method.data, m->method.len}, name);
}

char sp_mcp_first(struct sp_span raw)
{
    return raw.n ? *raw.p : 0;
}

struct sp_span sp_mcp_member(struct sp_span object, const char *key)
{
    struct sp_span raw = {0};
    if (sp_mcp_first(object) == '{')
        sp_json_find(object, key, &raw);
    return raw;
}

bool sp_mcp_id(struct sp_buf *out, struct sp_span raw)
{
    char first = sp_mcp_first(raw);
    if (first != '"')
        return (first == '-' || (first >= '0' && first <= '9')) && sp_buf_add(out, raw.p, raw.n);
    struct sp_buf text;
    sp_buf_init(&text, 0);
    bool ok = sp_json_text_to(&text, raw) && sp_json_string(out, text.data ? text.data : "", text.len);
    sp_buf_free(&text);
    return ok;
}

/* ---- reading ---- */

static void message_broken(struct sp_mcp_message *m, int code, const char *wrong)
{
    if (m->kind == SP_MCP_BROKEN)
        return;
    m->kind = SP_MCP_BROKEN;
    m->code = code;
    m->wrong = wrong;
}

struct message_parts {
    struct sp_span version, id, method, params, result, error;
};

static bool message_parts(struct sp_json *j, struct message_parts *p)
{
    static const char *const names[] = {"jsonrpc", "id", "method", "params", "result", "error"};
    struct sp_span *const places[] = {&p->version, &p->id, &p->method, &p->params, &p->result, &p->error};
    struct sp_span key, raw;
    if (!sp_json_object(j))
        return false;
    while (sp_json_key(j, &key)) {
        struct sp_span *place = NULL;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (sp_span_is(key, names[i]))
                place = places[i];
        if (!sp_json_skip(j, &raw))
            return false;
        if (place)
            *place = raw;
    }
    return sp_json_end(j);
}

static void message_judge(struct sp_mcp_message *m, const struct message_parts *p)
{
    bool asks = p->method.n > 0;
    if (p->id.n && !sp_mcp_id(&m->id, p->id))
        message_broken(m, SP_MCP_INVALID, "an id is a string or a number");
    if (!sp_span_is(p->version, "\"2.0\""))
        message_broken(m, SP_MCP_INVALID, "\"jsonrpc\" is not \"2.0\"");
    if (!asks && !p->result.n && !p->error.n)
        message_broken(m, SP_MCP_INVALID, "there is no method");
    if (asks && !sp_json_text_to(&m->method, p->method))
        message_broken(m, SP_MCP_INVALID, "a method is a string");
    if (asks && p->params.n && *p->params.p != '{')
        message_broken(m, p->id.n ? SP_MCP_PARAMS : SP_MCP_INVALID, "params are an object");
    if (m->kind == SP_MCP_BROKEN)
        return;
    m->kind = !asks ? SP_MCP_RESPONSE : p->id.n ? SP_MCP_REQUEST : SP_MCP_NOTIFICATION;
    m->params = p->params;
    m->result = p->result;
}

void sp_mcp_message_read(struct sp_mcp_message *m, struct sp_span line)
{
    struct message_parts parts = {0};
    struct sp_json j;
    struct sp_span raw;
    sp_buf_clear(&m->id);
    sp_buf_clear(&m->method);
    m->kind = SP_MCP_REQUEST;
    m->params = m->result = (struct sp_span){0};
    sp_json_init(&j, line.p, line.n);
    enum sp_json_type type = sp_json_type(&j);
    if (type == SP_JSON_OBJECT && message_parts(&j, &parts))
        message_judge(m, &parts);
    else if (type == SP_JSON_OBJECT || !sp_json_skip(&j, &raw) || !sp_json_end(&j))
        message_broken(m, SP_MCP_PARSE, "this line is no JSON");
    else if (type == SP_JSON_ARRAY)
        message_broken(m, SP_MCP_INVALID, "no batches: send each message in a line of its own");
    else
        message_broken(m, SP_MCP_INVALID, "a message is an object");
    if (m->id.nomem || m->method.nomem || j.scratch.nomem) {
        m->kind = SP_MCP_BROKEN;
        m->code = SP_MCP_INTERNAL;
        m->wrong = "out of memory";
        sp_buf_free(&m->id);
        sp_buf_free(&m->method);
    }
    sp_json_free(&j);
}

/* ---- answering ---- */

void sp_mcp_string(struct sp_buf *b, const char *text)
{
    sp_json_string(b, text, strlen(text));
}

static void message_begin(struct sp_buf *b, const struct sp_buf *id)
{
    sp_buf_puts(b, "{\"jsonrpc\":\"2.0\",\"id\":");
    if (id && id->len)
        sp_buf_add(b, id->data, id->len);
    else
        sp_buf_puts(b, "null");
}

void sp_mcp_result_begin(struct sp_buf *b, const struct sp_buf *id)
{
    message_begin(b, id);
    sp_buf_puts(b, ",\"result\":");
}

void sp_mcp_error(struct sp_buf *b, const struct sp_buf *id, int code, const char *words)
{
    message_begin(b, id);
    sp_buf_printf(b, ",\"error\":{\"code\":%d,\"message\":", code);
    sp_mcp_string(b, words);
}
