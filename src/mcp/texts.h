/* Texts for agents: the skill and the schemas of tools as resources, and prompts. */
#ifndef SP_MCP_TEXTS_H
#define SP_MCP_TEXTS_H

#include "mcp/message.h"
#include "mcp/tools.h"

/* Arrays. */
void sp_mcp_resources_list(const struct sp_mcp_tools *tools, struct sp_buf *b);
void sp_mcp_prompts_list(struct sp_buf *b);
/* The array of contents of a resource; false: there is none of this URI, or it cannot be made. */
bool sp_mcp_resource_read(const struct sp_mcp_tools *tools, const char *uri, struct sp_buf *b);
/* Members of the result, without braces; false: `why` says what is wrong with name or arguments. */
bool sp_mcp_prompt_get(const char *name, struct sp_span arguments, struct sp_buf *b, struct sp_buf *why);

#endif
