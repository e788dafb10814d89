/* What a call of a tool comes to. */
#ifndef SP_MCP_ANSWER_H
#define SP_MCP_ANSWER_H

#include "mcp/server.h"

/* As sp_mcp_calls.answer: arg is the struct sp_mcp. */
void sp_mcp_answer(void *arg, struct sp_mcp_call *call, struct sp_buf *out);

#endif
