/* The tools: the questions of the library, and what else a client may ask for, by what the library declares.
 */
#ifndef SP_MCP_TOOLS_H
#define SP_MCP_TOOLS_H

#include "base/buf.h"

#include <spaa/run.h>

enum { SP_MCP_TOOLS = 32 };

struct sp_mcp_tool {
    const char *name; /* that of its command; `open` answers as `info` does */
    struct spaa_command command;
    size_t number;        /* of the command */
    const char *argument; /* what stands behind the files: "function", "sql"; NULL: nothing */
    const char *changes;  /* of several words, each of this form: "FUNCTION=2x|0|50%…"; NULL: one word */
    bool opens;           /* it is `open` */
    bool several;         /* it takes several profiles as one */
};

struct sp_mcp_tools {
    struct sp_mcp_tool v[SP_MCP_TOOLS];
    size_t n;
};

/* writes: with those that write files. */
void sp_mcp_tools_init(struct sp_mcp_tools *tools, bool writes);
const struct sp_mcp_tool *sp_mcp_tool_find(const struct sp_mcp_tools *tools, const char *name, size_t n);
/*
 * Option k that an agent may give to the tool, by its name on the command line; *k goes on to the next one.
 * Those that read or write files of their own, and those of a terminal, are none.
 */
bool sp_mcp_tool_option(const struct sp_mcp_tool *tool, size_t *k, struct spaa_command_option *out);
/* The argument's name for an option's: "root_at" for "root-at". */
void sp_mcp_argument_name(const char *option, char *out, size_t size);

/* Of tools/list: the array. */
void sp_mcp_tools_list(const struct sp_mcp_tools *tools, struct sp_buf *b);
/* All arguments of a tool and what its answer as JSON is made of, as a text; false: it cannot be told. */
bool sp_mcp_tool_schema(const struct sp_mcp_tool *tool, struct sp_buf *b);

#endif
