/*
 * Profiles that are open, by handles that hold as long as the process: "p1". A profile is for one call at a
 * time; one that nobody has used for longest goes when opened ones keep more memory or descriptors than they
 * may, and is read again when it is asked for.
 */
#ifndef SP_MCP_SHELF_H
#define SP_MCP_SHELF_H

#include "mcp/roots.h"

#include <spaa/profile.h>

#include <stdatomic.h>
#include <sys/stat.h>

/* A file that was opened. */
struct sp_mcp_book {
    unsigned number; /* of its handle; 0: it could not be opened yet */
    char *path;      /* as it was first named */
    char *real;
    char *from, *symfs, *debug_dir, *dsym, *off_cpu; /* how it is read; NULL: as by default */
    struct stat was;                                 /* the file when it was read */
    struct spaa_profile *profile;                    /* NULL: not open */
    bool cpus;                                       /* its stacks are told apart by CPU */
    struct spaa_diagnostics *said;                   /* while it was read */
    bool busy;                                       /* a call has it */
    bool reread;                                     /* since this call: the file had changed */
    unsigned wanted;                                 /* calls that have it or wait for it */
    uint64_t used;
};

struct sp_mcp_shelf {
    struct sp_mcp_roots *roots;
    uint64_t memory;
    size_t open; /* so many profiles at the most stay open that nobody wants */
    pthread_mutex_t lock;
    pthread_cond_t freed;
    SP_VEC(struct sp_mcp_book *) books;
    unsigned last;
    uint64_t clock;
};

/* How a call wants profiles. */
struct sp_mcp_wish {
    const char *const *names; /* handles or paths */
    size_t n;
    const char *from, *symfs, *debug_dir, *dsym, *off_cpu; /* of what is opened by it */
    bool cpus;                                             /* stacks have to be told apart by CPU */
    const struct spaa_watch *watch;
    const atomic_bool *cancelled;
};

void sp_mcp_shelf_init(struct sp_mcp_shelf *s, struct sp_mcp_roots *roots, uint64_t memory);
void sp_mcp_shelf_free(struct sp_mcp_shelf *s);
/*
 * The profiles that were named, open and for this call alone, into books[wish->n]; one that is named twice
 * stands there twice. False: `why` says in words what is wrong; it is empty where the call was cancelled.
 */
bool sp_mcp_shelf_take(struct sp_mcp_shelf *s, const struct sp_mcp_wish *wish, struct sp_mcp_book **books,
                       struct sp_buf *why);
void sp_mcp_shelf_return(struct sp_mcp_shelf *s, struct sp_mcp_book **books, size_t n);
/* The errors among what was said, a line or two each. */
void sp_mcp_say_errors(const struct spaa_diagnostics *said, struct sp_buf *out);
/* Calls that wait look whether they are cancelled. */
void sp_mcp_shelf_wake(struct sp_mcp_shelf *s);

#endif
