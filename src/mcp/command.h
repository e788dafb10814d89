/* A line of the command line, "spaa top FILE --by dso", as a call of a tool. */
#ifndef SP_MCP_COMMAND_H
#define SP_MCP_COMMAND_H

#include "mcp/words.h"

/* An option by its long name or its letter ("--by", "-n"), of all that an agent may give. */
bool sp_mcp_command_option(const struct sp_mcp_tool *tool, const char *word, size_t n,
                           struct spaa_command_option *out);
/* Appends `top {"profile":"p1","by":"dso"}`; false: no tool does it. */
bool sp_mcp_command_call(const struct sp_mcp_words *w, const char *p, size_t n, struct sp_buf *out);

#endif
