/* The server from its first message to its last. */
#include "mcp/answer.h"
#include "mcp/mcp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static void serve_wake(void *arg)
{
    struct sp_mcp *s = arg;
    sp_mcp_shelf_wake(&s->shelf);
}

/* Messages until the input ends, or nobody listens. */
static void serve_messages(struct sp_mcp *s)
{
    struct sp_mcp_message m;
    struct sp_span line;
    enum sp_mcp_read read;
    sp_mcp_message_init(&m);
    while ((read = sp_mcp_wire_read(&s->wire, &line)) != SP_MCP_END) {
        if (read == SP_MCP_LINE) {
            sp_mcp_message_read(&m, line);
        } else {
            sp_buf_clear(&m.id);
            m.kind = SP_MCP_BROKEN;
            m.code = read == SP_MCP_TOO_LONG ? SP_MCP_INVALID : SP_MCP_INTERNAL;
            m.wrong = read == SP_MCP_TOO_LONG ? "a message is longer than 16 MiB" : "out of memory";
        }
        sp_mcp_server_message(s, &m);
    }
    sp_mcp_message_free(&m);
}

static bool serve_begin(struct sp_mcp *s, char *why, size_t size)
{
    const struct sp_mcp_options *o = s->options;
    if (o->out && (strlen(o->out) >= PATH_MAX || !realpath(o->out, s->out))) {
        snprintf(why, size, "--out %s: %s", o->out, strerror(errno));
        return false;
    }
    if (!sp_mcp_roots_init(&s->roots, o->roots, o->nroots, why, size))
        return false;
    sp_mcp_tools_init(&s->tools, o->out != NULL);
    sp_mcp_shelf_init(&s->shelf, &s->roots, o->memory);
    pthread_mutex_init(&s->writing, NULL);
    s->calls.wire = &s->wire;
    s->calls.answer = sp_mcp_answer;
    s->calls.wake = serve_wake;
    s->calls.arg = s;
    if (sp_mcp_wire_init(&s->wire, o->in, o->to) && sp_mcp_calls_start(&s->calls))
        return true;
    snprintf(why, size, "no threads: %s", strerror(errno));
    return false;
}

enum sp_mcp_end sp_mcp_serve(const struct sp_mcp_options *options, char *why, size_t size)
{
    struct sp_mcp *s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(why, size, "out of memory");
        return SP_MCP_REFUSED;
    }
    s->options = options;
    if (!serve_begin(s, why, size)) {
        if (s->wire.threaded) /* the program ends, and this thread with it */
            return SP_MCP_REFUSED;
        sp_mcp_roots_free(&s->roots);
        free(s);
        return SP_MCP_REFUSED;
    }
    serve_messages(s);
    if (!sp_mcp_calls_finish(&s->calls))
        return SP_MCP_LEFT;
    sp_mcp_wire_free(&s->wire);
    sp_mcp_shelf_free(&s->shelf);
    sp_mcp_roots_free(&s->roots);
    pthread_mutex_destroy(&s->writing);
    free(s);
    return SP_MCP_ENDED;
}
