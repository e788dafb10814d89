/* JSON-RPC: a line taken apart, and answers to it. */
#ifndef SP_MCP_MESSAGE_H
#define SP_MCP_MESSAGE_H

#include "mcp/wire.h"

enum sp_mcp_kind {
    SP_MCP_REQUEST,
    SP_MCP_NOTIFICATION,
    SP_MCP_RESPONSE, /* to a request of ours */
    SP_MCP_BROKEN,   /* `code` and `wrong` say how */
};

enum sp_mcp_error {
    SP_MCP_PARSE = -32700,
    SP_MCP_INVALID = -32600,
    SP_MCP_NO_METHOD = -32601,
    SP_MCP_PARAMS = -32602,
    SP_MCP_INTERNAL = -32603,
    SP_MCP_NO_RESOURCE = -32002, /* of the older form; the newer one says SP_MCP_PARAMS */
    SP_MCP_VERSION = -32022,
};

struct sp_mcp_message {
    enum sp_mcp_kind kind;
    int code;
    const char *wrong;
    struct sp_buf id;      /* as JSON, the same for equal ids; empty: there is none */
    struct sp_buf method;  /* decoded */
    struct sp_span params; /* an object, raw, within the line; n 0: none */
    struct sp_span result; /* of a response; n 0: it is an error */
};

void sp_mcp_message_init(struct sp_mcp_message *m);
void sp_mcp_message_free(struct sp_mcp_message *m);
/* Takes a line apart, into m, which may be used again and again. */
void sp_mcp_message_read(struct sp_mcp_message *m, struct sp_span line);
bool sp_mcp_method_is(const struct sp_mcp_message *m, const char *name);
/* An id as JSON so that equal ones have equal bytes; false: it is no string and no number. */
bool sp_mcp_id(struct sp_buf *out, struct sp_span raw);

/* An object of params, as of any raw object; n 0 where there is none. */
struct sp_span sp_mcp_member(struct sp_span object, const char *key);
/* A raw value's first character: '{', '[', '"', ... ; 0: there is none. */
char sp_mcp_first(struct sp_span raw);

/* Begins {"jsonrpc":"2.0","id":…,"result": — or with "error" and its code and words, without its last braces.
 */
void sp_mcp_result_begin(struct sp_buf *b, const struct sp_buf *id);
void sp_mcp_error(struct sp_buf *b, const struct sp_buf *id, int code, const char *words);
/* A JSON string. */
void sp_mcp_string(struct sp_buf *b, const char *text);

#endif
