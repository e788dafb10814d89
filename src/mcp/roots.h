/* Which files may be opened. What is checked is the file that was opened, not its name: links change nothing.
 */
#ifndef SP_MCP_ROOTS_H
#define SP_MCP_ROOTS_H

#include "base/vec.h"
#include "json/json.h"

#include <limits.h>
#include <pthread.h>

struct sp_mcp_folders {
    SP_VEC(char *) v; /* real paths, "" for "/" */
};

struct sp_mcp_roots {
    struct sp_mcp_folders own;     /* of --root; none: any file */
    struct sp_mcp_folders clients; /* those that an older client lists; none: as if it had not */
    bool awaited;                  /* it has been asked for them, and has not answered */
    pthread_mutex_t lock;
    pthread_cond_t told;
};

/* A copy that is the caller's; NULL: out of memory. */
char *sp_mcp_copy(const char *text);
/* False: a folder cannot be found, as `why` says. */
bool sp_mcp_roots_init(struct sp_mcp_roots *r, const char *const *folders, size_t n, char *why, size_t size);
void sp_mcp_roots_free(struct sp_mcp_roots *r);
/* The client was asked for its roots: until they are told nothing is opened. */
void sp_mcp_roots_await(struct sp_mcp_roots *r);
/* {"roots":[{"uri":"file:///…"}]}; n 0: it has none. */
void sp_mcp_roots_told(struct sp_mcp_roots *r, struct sp_span result);
/*
 * Opens a regular file (folder: or checks a folder, and gives no descriptor but 0) and says its real path.
 * -1: it cannot be opened, or lies elsewhere, as `why` says.
 */
int sp_mcp_roots_open(struct sp_mcp_roots *r, const char *path, bool folder, char real[static PATH_MAX],
                      struct sp_buf *why);

#endif
