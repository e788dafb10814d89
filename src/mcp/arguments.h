/* What a call of a tool gives, taken from JSON. */
#ifndef SP_MCP_ARGUMENTS_H
#define SP_MCP_ARGUMENTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "mcp/message.h"
#include "mcp/tools.h"

struct sp_mcp_arguments {
    SP_VEC(const char *) profiles; /* handles and paths; of two sides the base first */
    size_t split;                  /* how many are the base */
    SP_VEC(struct spaa_ask_option) options;
    const char *word; /* the tool's argument; NULL: none was given */
    const char *name; /* of the file to write */
    bool json;
    long budget; /* tokens; 0: any; -1: not said */
    struct sp_arena texts;
};

void sp_mcp_arguments_free(struct sp_mcp_arguments *a);
/* raw: an object, or n 0. False: `why` says in words what the caller should give instead. */
bool sp_mcp_arguments_read(const struct sp_mcp_tool *tool, struct sp_span raw, struct sp_mcp_arguments *out,
                           struct sp_buf *why);
/* The value of an option by its name on the command line; NULL: not given. */
const char *sp_mcp_argument(const struct sp_mcp_arguments *a, const char *option);

#endif
