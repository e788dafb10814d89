/*
 * Files by their build-id from the servers of DEBUGINFOD_URLS, only when asked for.
 *
 * Through elfutils' client library, opened when the first file is wanted, so that nothing else depends on it
 * (libdw does the same). It caches what it fetched, and heeds DEBUGINFOD_TIMEOUT and the like. What comes is
 * believed no more than any other file: its build-id must be the wanted one.
 */
#include "symbols/internal.h"

#include "base/library.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void *(*begin_fn)(void);
typedef void (*end_fn)(void *);
typedef int (*find_fn)(void *, const unsigned char *, int, char **);
typedef int (*source_fn)(void *, const unsigned char *, int, const char *, char **);

struct sp_debuginfod {
    void *library, *client;
    find_fn debuginfo, executable;
    source_fn source;
    end_fn end;
};

/* The client, begun once; NULL: there is none, which is told once. */
static struct sp_debuginfod *client_of(struct sp_symbols *s)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (s->debuginfod_tried)
        return s->debuginfod;
    s->debuginfod_tried = true;
    struct sp_debuginfod *c = urls && *urls ? sp_arena_zalloc(&s->arena, sizeof *c) : NULL;
    if (!urls || !*urls) {
        sp_emit(s->d, SP_W804, SP_AT_NOTHING, "DEBUGINFOD_URLS names no server");
        return NULL;
    }
    if (!c)
        return NULL;
    c->library = sp_library_open("libdebuginfod.so.1");
    begin_fn begin = (begin_fn)sp_library_find(c->library, "debuginfod_begin");
    c->debuginfo = (find_fn)sp_library_find(c->library, "debuginfod_find_debuginfo");
    c->executable = (find_fn)sp_library_find(c->library, "debuginfod_find_executable");
    c->source = (source_fn)sp_library_find(c->library, "debuginfod_find_source");
    c->end = (end_fn)sp_library_find(c->library, "debuginfod_end");
    if (begin && c->debuginfo && c->executable && c->source && c->end)
        c->client = begin();
    if (!c->client) {
        sp_emit_hint(s->d, SP_W804, SP_AT_NOTHING, sp_library_hint("install libdebuginfod1"),
                     "libdebuginfod.so.1 cannot be used");
        sp_library_close(c->library);
        return NULL;
    }
    return s->debuginfod = c;
}

/* What a question came to: its file is kept open by nobody. */
static spaa_status keep_found(struct sp_symbols *s, int fd, char *found, const char **path)
{
    if (fd >= 0) {
        close(fd);
        *path = found ? sp_arena_dup(&s->arena, found, strlen(found)) : NULL;
    }
    bool nomem = fd >= 0 && found && !*path;
    free(found);
    return nomem ? SPAA_ERR_NOMEM : SPAA_OK;
}

spaa_status sp_debuginfod_fetch(struct sp_symbols *s, const char *build_id, bool executable,
                                const char **path)
{
    *path = NULL;
    struct sp_debuginfod *c = s->opts.debuginfod && sp_is_build_id(build_id) ? client_of(s) : NULL;
    if (!c)
        return SPAA_OK;
    char *found = NULL;
    int fd =
        (executable ? c->executable : c->debuginfo)(c->client, (const unsigned char *)build_id, 0, &found);
    return keep_found(s, fd, found, path);
}

/* The folder, as elfutils' client chooses it. */
static const char *cache_folder(const struct sp_symbols *s, struct sp_buf *b)
{
    const char *named = getenv("DEBUGINFOD_CACHE_PATH"), *cache = getenv("XDG_CACHE_HOME");
    if (named && *named)
        return sp_path(b, "%s", named);
    if (s->home && *s->home && access(sp_path(b, "%s/.debuginfod_client_cache", s->home), F_OK) == 0)
        return sp_buf_cstr(b);
    if (cache && *cache == '/')
        return sp_path(b, "%s/debuginfod_client", cache);
    return s->home && *s->home ? sp_path(b, "%s/.cache/debuginfod_client", s->home) : "";
}

const char *sp_debuginfod_cached(const struct sp_symbols *s, struct sp_buf *b, const char *build_id,
                                 bool executable)
{
    struct stat is;
    if (s->opts.debuginfod || !sp_is_build_id(build_id) || !*cache_folder(s, b))
        return "";
    sp_buf_printf(b, "/%s/%s", build_id, executable ? "executable" : "debuginfo");
    const char *path = b->failed ? "" : sp_buf_cstr(b);
    /* An empty one says that no server had it. */
    return *path && stat(path, &is) == 0 && is.st_size > 0 ? path : "";
}

spaa_status sp_debuginfod_source(struct sp_symbols *s, const char *build_id, const char *file,
                                 const char **path)
{
    *path = NULL;
    struct sp_debuginfod *c = s->opts.debuginfod && sp_is_build_id(build_id) ? client_of(s) : NULL;
    if (!c)
        return SPAA_OK;
    char *found = NULL;
    int fd = c->source(c->client, (const unsigned char *)build_id, 0, file, &found);
    return keep_found(s, fd, found, path);
}

void sp_debuginfod_end(struct sp_symbols *s)
{
    if (!s->debuginfod)
        return;
    s->debuginfod->end(s->debuginfod->client);
    sp_library_close(s->debuginfod->library);
    s->debuginfod = NULL;
}
