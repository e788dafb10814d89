/* The server: what it has, and what it says to each message. */
#ifndef SP_MCP_SERVER_H
#define SP_MCP_SERVER_H

#include "mcp/calls.h"
#include "mcp/mcp.h"
#include "mcp/shelf.h"

struct sp_mcp {
    const struct sp_mcp_options *options;
    struct sp_mcp_wire wire;
    struct sp_mcp_tools tools;
    struct sp_mcp_roots roots;
    struct sp_mcp_shelf shelf;
    struct sp_mcp_calls calls;
    char out[PATH_MAX];      /* real path of --out; "": none */
    pthread_mutex_t writing; /* one file at a time */
    /* Of the connection in the older form. */
    bool initialized;
    bool client_has_roots;
    unsigned asked; /* requests of ours */
};

/* One message: answers it, or gives it to the workers. */
void sp_mcp_server_message(struct sp_mcp *s, const struct sp_mcp_message *m);

#endif
