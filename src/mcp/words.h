/*
 * Answers speak to a shell: "-n 0 shows all", "spaa top FILE --by dso". Here they come to speak of arguments
 * and calls of tools: "limit 0 shows all", `top {"profile":"p1","by":"dso"}`.
 */
#ifndef SP_MCP_WORDS_H
#define SP_MCP_WORDS_H

#include "mcp/shelf.h"
#include "mcp/tools.h"

struct sp_mcp_words {
    const struct sp_mcp_tools *tools;
    const struct sp_mcp_tool *tool;   /* that answers */
    struct sp_mcp_book *const *books; /* whose paths become handles */
    size_t n;
};

/* A text for people. Commands that no tool does are left out. */
void sp_mcp_words_text(const struct sp_mcp_words *w, const char *text, struct sp_buf *out);
/* An answer as JSON: its `next` become calls. The last brace is left out, so that members may follow. */
bool sp_mcp_words_json(const struct sp_mcp_words *w, struct sp_span json, struct sp_buf *out);

#endif
