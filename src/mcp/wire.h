/* Messages as lines: one thread reads, any may send. */
#ifndef SP_MCP_WIRE_H
#define SP_MCP_WIRE_H

#include "base/buf.h"
#include "json/json.h"

#include <pthread.h>

#define SP_MCP_LINE_MAX ((size_t)16 << 20)

struct sp_mcp_wire {
    int in, out;
    struct sp_buf lines; /* what was read and not taken yet, from `at` on */
    size_t at;
    bool ended;
    /* What is to be sent, which a thread of its own writes: a client may be slow to read. */
    pthread_mutex_t sending;
    pthread_cond_t changed;
    struct sp_buf pending, writing;
    bool gone; /* nobody reads it */
    bool closing, threaded;
    pthread_t writer;
};

enum sp_mcp_read {
    SP_MCP_LINE,
    SP_MCP_TOO_LONG, /* a line beyond SP_MCP_LINE_MAX, which was skipped */
    SP_MCP_NO_MEMORY,
    SP_MCP_END, /* of the input, or nobody listens */
};

bool sp_mcp_wire_init(struct sp_mcp_wire *w, int in, int out); /* false: there is no thread to be had */
void sp_mcp_wire_free(struct sp_mcp_wire *w);                  /* once all is written, or nobody reads it */
/* The next line without its newline, lent until the next call; empty ones are passed over. */
enum sp_mcp_read sp_mcp_wire_read(struct sp_mcp_wire *w, struct sp_span *line);
/* A message and a newline, whole, behind those before it. */
void sp_mcp_wire_send(struct sp_mcp_wire *w, struct sp_buf *message);
bool sp_mcp_wire_gone(struct sp_mcp_wire *w);

#endif
