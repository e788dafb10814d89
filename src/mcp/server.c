#include "mcp/server.h"

#include "mcp/texts.h"
#include "json/find.h"

#include <stdio.h>
#include <stdlib.h>

#define MODERN "2026-07-28"
#define META   "io.modelcontextprotocol/"

enum { HOUR_MS = 3600000 };

static const char instructions[] = "Sampled CPU, memory and lock profiles of any format (perf.data, pprof, "
                                   "heaptrack, folded ...). Begin with "
                                   "`summary` of a path: it names what is hot, how sure that is, and what to "
                                   "ask next; often that is the answer. "
                                   "`top`, `tree` and `function` go deeper, `diff` compares, `timeline` is "
                                   "about when, `waits` about blocking, "
                                   "`leaks` about memory, `query` is SQL. Filters (comm, thread, focus, "
                                   "ignore, dso, time ...) mean the same in "
                                   "every tool. What an answer says it cannot know, the file does not hold. "
                                   "spaa://skill/SKILL.md says more, "
                                   "spaa://schema/TOOL lists all arguments of a tool.";

/* ---- answering ---- */

static void server_error(struct sp_mcp *s, const struct sp_buf *id, int code, const char *words)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_mcp_error(&b, id, code, words);
    sp_buf_puts(&b, "}}");
    sp_mcp_wire_send(&s->wire, &b);
    sp_buf_free(&b);
}

/* Begins a result; what is listed may be kept for a while in the newer form. */
static void server_result(struct sp_buf *b, const struct sp_mcp_message *m, bool modern, bool kept)
{
    sp_buf_init(b, 0);
    sp_mcp_result_begin(b, &m->id);
    sp_buf_puts(b, "{");
    if (modern)
        sp_buf_puts(b, "\"resultType\":\"complete\",");
    if (modern && kept)
        sp_buf_printf(b, "\"ttlMs\":%d,\"cacheScope\":\"private\",", HOUR_MS);
}

static void server_send(struct sp_mcp *s, const struct sp_mcp_message *m, struct sp_buf *b)
{
    sp_buf_puts(b, "}}");
    if (b->failed)
        server_error(s, &m->id, SP_MCP_INTERNAL, "out of memory");
    else
        sp_mcp_wire_send(&s->wire, b);
    sp_buf_free(b);
}

static void server_about(struct sp_buf *b)
{
    sp_buf_puts(b, "\"capabilities\":{\"tools\":{},\"resources\":{},\"prompts\":{}},\"instructions\":");
    sp_mcp_string(b, instructions);
}

static void server_info(const struct sp_mcp *s, struct sp_buf *b)
{
    sp_buf_printf(b, "{\"name\":\"spaa\",\"version\":\"%s\"}", s->options->version);
}

/* ---- the older form ---- */

/* The version that was asked for where it is known, else the newest. */
static const char *legacy_version(struct sp_span asked)
{
    static const char *const known[] = {"2025-11-25", "2025-06-18", "2024-11-05"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (asked.n == strlen(known[i]) + 2 && memcmp(asked.p + 1, known[i], asked.n - 2) == 0)
            return known[i];
    /* 2025-03-26 has batches, which are not taken here: its clients know the one before it. */
    return sp_span_is(asked, "\"2025-03-26\"") ? "2024-11-05" : known[0];
}

static void legacy_initialize(struct sp_mcp *s, const struct sp_mcp_message *m)
{
    struct sp_span version = sp_mcp_member(m->params, "protocolVersion");
    struct sp_buf b;
    if (sp_mcp_first(version) != '"') {
        server_error(s, &m->id, SP_MCP_PARAMS, "params.protocolVersion is missing");
        return;
    }
    s->initialized = true;
    struct sp_span capabilities = sp_mcp_member(m->params, "capabilities");
    s->client_has_roots = sp_mcp_first(sp_mcp_member(capabilities, "roots")) == '{';
    if (s->client_has_roots)
        sp_mcp_roots_await(&s->roots);
    server_result(&b, m, false, false);
    sp_buf_printf(&b, "\"protocolVersion\":\"%s\",\"serverInfo\":", legacy_version(version));
    server_info(s, &b);
    sp_buf_puts(&b, ",");
    server_about(&b);
    server_send(s, m, &b);
}

static void legacy_ask_roots(struct sp_mcp *s)
{
    struct sp_buf b;
    if (!s->client_has_roots)
        return;
    sp_mcp_roots_await(&s->roots);
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":\"roots-%u\",\"method\":\"roots/list\"}", ++s->asked);
    sp_mcp_wire_send(&s->wire, &b);
    sp_buf_free(&b);
}

/* Only the answer to the last question counts. */
static void legacy_response(struct sp_mcp *s, const struct sp_mcp_message *m)
{
    char id[32];
    int n = snprintf(id, sizeof id, "\"roots-%u\"", s->asked);
    if (s->asked && m->id.len == (size_t)n && memcmp(m->id.data, id, m->id.len) == 0)
        sp_mcp_roots_told(&s->roots, m->result);
}

/* ---- the newer form ---- */

static void modern_discover(struct sp_mcp *s, const struct sp_mcp_message *m)
{
    struct sp_buf b;
    server_result(&b, m, true, true);
    sp_buf_puts(&b, "\"supportedVersions\":[\"" MODERN "\"],");
    server_about(&b);
    sp_buf_puts(&b, ",\"_meta\":{\"" META "serverInfo\":");
    server_info(s, &b);
    sp_buf_puts(&b, "}");
    server_send(s, m, &b);
}

/* Whether the request's envelope is in order; answers it where it is not. */
static bool modern_fits(struct sp_mcp *s, const struct sp_mcp_message *m, struct sp_span meta,
                        struct sp_span version)
{
    const char *wrong = sp_mcp_first(version) != '"' ? META "protocolVersion is no string"
                        : sp_mcp_first(sp_mcp_member(meta, META "clientCapabilities")) != '{'
                            ? "params._meta has no " META "clientCapabilities"
                            : NULL;
    struct sp_buf b;
    if (!wrong && sp_span_is(version, "\"" MODERN "\""))
        return true;
    if (wrong) {
        server_error(s, &m->id, SP_MCP_PARAMS, wrong);
        return false;
    }
    sp_buf_init(&b, 0);
    sp_mcp_error(&b, &m->id, SP_MCP_VERSION, "this version of the protocol is not supported");
    sp_buf_puts(&b, ",\"data\":{\"supported\":[\"" MODERN "\"],\"requested\":");
    sp_buf_add(&b, version.p, version.n);
    sp_buf_puts(&b, "}");
    server_send(s, m, &b);
    return false;
}

/* ---- what both have ---- */

static void server_list(struct sp_mcp *s, const struct sp_mcp_message *m, bool modern, const char *what)
{
    struct sp_buf b;
    struct sp_span cursor = sp_mcp_member(m->params, "cursor");
    if (cursor.n && !sp_span_is(cursor, "null")) { /* there is never a second page */
        server_error(s, &m->id, SP_MCP_PARAMS, "there is no such cursor");
        return;
    }
    server_result(&b, m, modern, true);
    sp_buf_printf(&b, "\"%s\":", what);
    if (strcmp(what, "tools") == 0)
        sp_mcp_tools_list(&s->tools, &b);
    else if (strcmp(what, "resources") == 0)
        sp_mcp_resources_list(&s->tools, &b);
    else if (strcmp(what, "prompts") == 0)
        sp_mcp_prompts_list(&b);
    else
        sp_buf_puts(&b, "[]");
    server_send(s, m, &b);
}

/* A member of params that is a string, decoded; false: answered, since there is none. */
static bool server_text(struct sp_mcp *s, const struct sp_mcp_message *m, const char *member,
                        struct sp_buf *out)
{
    char wrong[80];
    struct sp_span raw = sp_mcp_member(m->params, member);
    sp_buf_init(out, 0);
    if (sp_mcp_first(raw) == '"' && sp_json_text_to(out, raw))
        return true;
    snprintf(wrong, sizeof wrong, "params.%s should be a string", member);
    server_error(s, &m->id, SP_MCP_PARAMS, wrong);
    sp_buf_free(out);
    return false;
}

static void server_read_resource(struct sp_mcp *s, const struct sp_mcp_message *m, bool modern)
{
    struct sp_buf uri, b;
    if (!server_text(s, m, "uri", &uri))
        return;
    server_result(&b, m, modern, true);
    sp_buf_puts(&b, "\"contents\":");
    if (!sp_mcp_resource_read(&s->tools, sp_buf_cstr(&uri), &b)) {
        sp_buf_clear(&b);
        sp_mcp_error(&b, &m->id, modern ? SP_MCP_PARAMS : SP_MCP_NO_RESOURCE,
                     "there is no such resource: resources/list has them");
        sp_buf_puts(&b, ",\"data\":{\"uri\":");
        sp_json_string(&b, uri.data ? uri.data : "", uri.len);
        sp_buf_puts(&b, "}");
    }
    server_send(s, m, &b);
    sp_buf_free(&uri);
}

static void server_get_prompt(struct sp_mcp *s, const struct sp_mcp_message *m, bool modern)
{
    struct sp_buf name, why, b;
    if (!server_text(s, m, "name", &name))
        return;
    sp_buf_init(&why, 0);
    server_result(&b, m, modern, false);
    if (sp_mcp_prompt_get(sp_buf_cstr(&name), sp_mcp_member(m->params, "arguments"), &b, &why)) {
        server_send(s, m, &b);
    } else {
        server_error(s, &m->id, SP_MCP_PARAMS, sp_buf_cstr(&why));
        sp_buf_free(&b);
    }
    sp_buf_free(&why);
    sp_buf_free(&name);
}

/* ---- calls ---- */

/* The call, or NULL: answered. */
static struct sp_mcp_call *server_new_call(struct sp_mcp *s, const struct sp_mcp_message *m,
                                           const struct sp_mcp_tool *tool, struct sp_span arguments)
{
    struct sp_mcp_call *call = sp_mcp_call_new();
    struct sp_span token = sp_mcp_member(sp_mcp_member(m->params, "_meta"), "progressToken");
    if (!call || !sp_buf_add(&call->id, m->id.data, m->id.len) ||
        !sp_buf_add(&call->arguments, arguments.p, arguments.n) ||
        (sp_mcp_first(token) && !sp_mcp_id(&call->token, token) && call->token.failed)) {
        server_error(s, &m->id, SP_MCP_INTERNAL, "out of memory");
        sp_mcp_call_free(call);
        return NULL;
    }
    call->tool = tool;
    return call;
}

static void server_call(struct sp_mcp *s, const struct sp_mcp_message *m, bool modern)
{
    struct sp_buf name;
    struct sp_span arguments = sp_mcp_member(m->params, "arguments");
    if (!server_text(s, m, "name", &name))
        return;
    const struct sp_mcp_tool *tool = sp_mcp_tool_find(&s->tools, name.data, name.len);
    sp_buf_free(&name);
    if (sp_span_is(arguments, "null"))
        arguments.n = 0;
    if (!tool || (arguments.n && *arguments.p != '{')) {
        server_error(s, &m->id, SP_MCP_PARAMS,
                     tool ? "params.arguments should be an object"
                          : "there is no such tool: tools/list has them");
        return;
    }
    struct sp_mcp_call *call = server_new_call(s, m, tool, arguments);
    if (call)
        call->modern = modern;
    if (call && !sp_mcp_calls_add(&s->calls, call)) {
        server_error(s, &m->id, SP_MCP_INTERNAL,
                     "too many calls are waiting; ask again when some are answered");
        sp_mcp_call_free(call);
    }
}

/* ---- messages ---- */

static void server_request(struct sp_mcp *s, const struct sp_mcp_message *m, bool modern)
{
    if (sp_mcp_method_is(m, "tools/call"))
        server_call(s, m, modern);
    else if (sp_mcp_method_is(m, "tools/list"))
        server_list(s, m, modern, "tools");
    else if (sp_mcp_method_is(m, "resources/list"))
        server_list(s, m, modern, "resources");
    else if (sp_mcp_method_is(m, "resources/templates/list"))
        server_list(s, m, modern, "resourceTemplates");
    else if (sp_mcp_method_is(m, "prompts/list"))
        server_list(s, m, modern, "prompts");
    else if (sp_mcp_method_is(m, "resources/read"))
        server_read_resource(s, m, modern);
    else if (sp_mcp_method_is(m, "prompts/get"))
        server_get_prompt(s, m, modern);
    else if (modern && sp_mcp_method_is(m, "server/discover"))
        modern_discover(s, m);
    else
        server_error(s, &m->id, SP_MCP_NO_METHOD, "there is no such method");
}

static void server_any_request(struct sp_mcp *s, const struct sp_mcp_message *m)
{
    struct sp_span meta = sp_mcp_member(m->params, "_meta"),
                   version = sp_mcp_member(meta, META "protocolVersion");
    struct sp_buf b;
    if (version.n) {
        if (modern_fits(s, m, meta, version))
            server_request(s, m, true);
    } else if (sp_mcp_method_is(m, "initialize")) {
        legacy_initialize(s, m);
    } else if (sp_mcp_method_is(m, "ping")) {
        server_result(&b, m, false, false);
        server_send(s, m, &b);
    } else if (s->initialized && !sp_mcp_method_is(m, "server/discover")) {
        server_request(s, m, false);
    } else {
        server_error(s, &m->id, SP_MCP_PARAMS,
                     "params._meta has no " META "protocolVersion, and there was no initialize");
    }
}

static void server_notification(struct sp_mcp *s, const struct sp_mcp_message *m)
{
    if (sp_mcp_method_is(m, "notifications/cancelled")) {
        struct sp_buf id;
        sp_buf_init(&id, 0);
        if (sp_mcp_id(&id, sp_mcp_member(m->params, "requestId")))
            sp_mcp_calls_cancel(&s->calls, &id);
        sp_buf_free(&id);
    } else if (sp_mcp_method_is(m, "notifications/initialized") ||
               sp_mcp_method_is(m, "notifications/roots/list_changed")) {
        legacy_ask_roots(s);
    }
}

void sp_mcp_server_message(struct sp_mcp *s, const struct sp_mcp_message *m)
{
    if (m->kind == SP_MCP_BROKEN)
        server_error(s, &m->id, m->code, m->wrong);
    else if (m->kind == SP_MCP_REQUEST)
        server_any_request(s, m);
    else if (m->kind == SP_MCP_NOTIFICATION)
        server_notification(s, m);
    else
        legacy_response(s, m);
}
