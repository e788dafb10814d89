#include "mcp/roots.h"

#include "mcp/message.h"
#include "json/find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CLIENT_SECONDS = 10 }; /* to list its roots */

static void folders_clear(struct sp_mcp_folders *f)
{
    for (size_t i = 0; i < f->v.n; i++)
        free(f->v.v[i]);
    sp_vec_free(&f->v);
}

char *sp_mcp_copy(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

static bool folders_add_real(struct sp_mcp_folders *f, const char *real)
{
    char *copy = sp_mcp_copy(strcmp(real, "/") == 0 ? "" : real);
    if (copy && sp_vec_push(&f->v, copy))
        return true;
    free(copy);
    errno = ENOMEM;
    return false;
}

static bool folders_add(struct sp_mcp_folders *f, const char *path)
{
    char real[PATH_MAX];
    return realpath(path, real) && folders_add_real(f, real);
}

static bool folders_hold(const struct sp_mcp_folders *f, const char *real)
{
    for (size_t i = 0; i < f->v.n; i++) {
        size_t n = strlen(f->v.v[i]);
        if (strncmp(real, f->v.v[i], n) == 0 && (real[n] == '/' || !real[n]))
            return true;
    }
    return !f->v.n;
}

bool sp_mcp_roots_init(struct sp_mcp_roots *r, const char *const *folders, size_t n, char *why, size_t size)
{
    *r = (struct sp_mcp_roots){0};
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->told, NULL);
    for (size_t i = 0; i < n; i++)
        if (!folders_add(&r->own, folders[i])) {
            snprintf(why, size, "--root %s: %s", folders[i], strerror(errno));
            return false;
        }
    return true;
}

void sp_mcp_roots_free(struct sp_mcp_roots *r)
{
    folders_clear(&r->own);
    folders_clear(&r->clients);
    pthread_cond_destroy(&r->told);
    pthread_mutex_destroy(&r->lock);
}

/* ---- the client's ---- */

void sp_mcp_roots_await(struct sp_mcp_roots *r)
{
    pthread_mutex_lock(&r->lock);
    r->awaited = true;
    pthread_mutex_unlock(&r->lock);
}

/* A folder that is not there any more, or no file's, holds nothing that could be opened, and still limits. */
static bool roots_add_uri(struct sp_mcp_folders *f, struct sp_span raw)
{
    struct sp_buf text, path;
    sp_buf_init(&text, 1 << 16);
    sp_buf_init(&path, 1 << 16);
    bool ok, file = sp_json_text_to(&text, raw) && text.len >= 7 && memcmp(text.data, "file://", 7) == 0;
    for (size_t i = 7; file && i < text.len; i++) {
        char c = text.data[i];
        unsigned byte;
        if (c == '%' && i + 2 < text.len && sscanf(text.data + i + 1, "%2x", &byte) == 1) {
            c = (char)byte;
            i += 2;
        }
        sp_buf_ch(&path, c);
    }
    ok = (file && folders_add(f, sp_buf_cstr(&path))) || folders_add_real(f, "/nowhere/at/all");
    ok = ok && !text.nomem && !path.nomem;
    sp_buf_free(&text);
    sp_buf_free(&path);
    return ok;
}

void sp_mcp_roots_told(struct sp_mcp_roots *r, struct sp_span result)
{
    struct sp_span rest = sp_mcp_member(result, "roots"), item;
    pthread_mutex_lock(&r->lock);
    folders_clear(&r->clients);
    bool ok = true;
    while (rest.n && ok && sp_json_next(&rest, &item))
        ok = roots_add_uri(&r->clients, sp_mcp_member(item, "uri"));
    r->awaited = !ok; /* without memory for the limits there are none to open within */
    pthread_cond_broadcast(&r->told);
    pthread_mutex_unlock(&r->lock);
}

/* ---- opening ---- */

static void roots_say(const struct sp_mcp_roots *r, const char *path, bool own, struct sp_buf *why)
{
    const struct sp_mcp_folders *f = own ? &r->own : &r->clients;
    sp_buf_printf(why, "%s is not there, or not in a folder that may be opened:", path);
    for (size_t i = 0; i < f->v.n; i++)
        sp_buf_printf(why, "%s %s", i ? "," : "", *f->v.v[i] ? f->v.v[i] : "/");
    sp_buf_puts(why, own ? " (spaa mcp --root)" : " (roots of the client)");
}

static bool roots_known(struct sp_mcp_roots *r)
{
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CLIENT_SECONDS;
    while (r->awaited && rc == 0)
        rc = pthread_cond_timedwait(&r->told, &r->lock, &until);
    return !r->awaited;
}

/* Whether what fd is may be opened; false with `why`. */
static bool roots_allow(struct sp_mcp_roots *r, const char *path, int fd, const char *real,
                        struct sp_buf *why)
{
    int problem = errno;
    pthread_mutex_lock(&r->lock);
    bool known = roots_known(r), limited = r->own.v.n || r->clients.v.n;
    bool inside = known && fd >= 0 && folders_hold(&r->own, real) && folders_hold(&r->clients, real);
    if (!known)
        sp_buf_puts(why, "the client has roots, was asked for them, and has not listed them");
    else if (!inside && limited)
        roots_say(r, path, r->own.v.n && (!r->clients.v.n || !folders_hold(&r->own, real)), why);
    else if (!inside)
        sp_buf_printf(why, "%s: %s", path, strerror(problem));
    pthread_mutex_unlock(&r->lock);
    return inside;
}

int sp_mcp_roots_open(struct sp_mcp_roots *r, const char *path, bool folder, char real[static PATH_MAX],
                      struct sp_buf *why)
{
    char link[64];
    struct stat is;
    int fd = open(path, O_PATH | O_CLOEXEC), file = -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = fd >= 0 ? readlink(link, real, PATH_MAX - 1) : 0;
    real[n > 0 ? n : 0] = '\0';
    if (!roots_allow(r, path, n > 0 ? fd : -1, real, why))
        ;
    else if (fstat(fd, &is) != 0 || (folder ? !S_ISDIR(is.st_mode) : !S_ISREG(is.st_mode)))
        sp_buf_printf(why, "%s is no %s%s", path, folder ? "folder" : "file",
                      S_ISDIR(is.st_mode) ? ": name a file in it" : "");
    else if (folder)
        file = 0;
    else if ((file = open(link, O_RDONLY | O_CLOEXEC)) < 0)
        sp_buf_printf(why, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return file;
}
