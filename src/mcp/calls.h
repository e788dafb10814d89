/* Calls of tools: a queue, a few workers, progress while they run, and no word any more once one is
 * cancelled. */
#ifndef SP_MCP_CALLS_H
#define SP_MCP_CALLS_H

#include "mcp/arguments.h"

#include <spaa/watch.h>

#include <stdatomic.h>

enum { SP_MCP_WORKERS = 8, SP_MCP_WAITING = 256 };

struct sp_mcp_calls;

struct sp_mcp_call {
    struct sp_mcp_call *next;
    struct sp_mcp_calls *of;
    const struct sp_mcp_tool *tool;
    struct sp_buf id, arguments; /* as JSON */
    struct sp_buf token;         /* of progress; empty: not wanted */
    bool modern;
    atomic_bool cancelled;
    struct spaa_watch watch; /* shows progress, and leaves when it is cancelled */
    /* What was shown last: of which piece of work, and the number. */
    char piece[128];
    unsigned pieces;
    double shown;
};

struct sp_mcp_calls {
    struct sp_mcp_wire *wire;
    void (*answer)(void *arg, struct sp_mcp_call *call, struct sp_buf *out); /* the message, whole */
    void (*wake)(void *arg); /* a call was cancelled that may be waiting */
    void *arg;
    pthread_mutex_t lock;
    pthread_cond_t come, done;
    struct sp_mcp_call *first, *last; /* waiting */
    struct sp_mcp_call *running;
    size_t waiting, bytes, in_flight;
    bool stop;
    pthread_t workers[SP_MCP_WORKERS];
    size_t nworkers;
};

/* wire, answer, wake and arg are set. False: there is no thread to be had. */
bool sp_mcp_calls_start(struct sp_mcp_calls *c);
/* A call as the caller fills it; NULL: out of memory. */
struct sp_mcp_call *sp_mcp_call_new(void);
void sp_mcp_call_free(struct sp_mcp_call *call);
/* Gives the call to the workers, who free it; false: too many wait, and it stays the caller's. */
bool sp_mcp_calls_add(struct sp_mcp_calls *c, struct sp_mcp_call *call);
/* Nothing is sent for this id any more. */
void sp_mcp_calls_cancel(struct sp_mcp_calls *c, const struct sp_buf *id);
/*
 * Until every call is answered, or nobody listens: then all are cancelled. True: the workers have ended;
 * false: some cannot be left within a second.
 */
bool sp_mcp_calls_finish(struct sp_mcp_calls *c);

#endif
