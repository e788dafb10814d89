/*
 * spaa mcp: the questions of the command line as tools of the Model Context Protocol, over standard input and
 * output.
 *
 * A user of include/spaa, as the command line is. One thread reads messages and answers what needs no work
 * (server.c); calls of tools wait in a queue for a few workers (calls.c), which take profiles from a shelf
 * that all share (shelf.c), run the command (answer.c), and say its words as an agent has them (words.c).
 *
 * Both eras of the protocol are served: a request that names a version in its _meta is modern and stands
 * alone; `initialize` begins the older form for the connection.
 */
#ifndef SP_MCP_H
#define SP_MCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp_mcp_options {
    const char *const *roots; /* what may be opened lies in one of these; none: whatever the user may read */
    size_t nroots;
    const char *out;     /* folder for files that are written; NULL: nothing is */
    uint64_t memory;     /* bytes that opened profiles may keep */
    const char *version; /* of the program */
    int in, to;          /* descriptors */
    /* As spaa_run_options.temporary; called by one thread at a time. */
    void (*temporary)(void *arg, const char *path);
    void *temporary_arg;
};

enum sp_mcp_end {
    SP_MCP_ENDED,   /* the input ended, and what it asked was answered */
    SP_MCP_LEFT,    /* nobody listens any more, and calls are still running: the process must end now */
    SP_MCP_REFUSED, /* it did not begin: `why` says what is wrong with the options */
};

enum sp_mcp_end sp_mcp_serve(const struct sp_mcp_options *options, char *why, size_t size);

#endif
