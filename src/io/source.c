/* Where bytes come from: memory, or a file descriptor that is read in blocks, of a pipe or of a file. */
#include "base/watch.h"
#include "io/stage.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fd_stage {
    struct sp_stage s;
    int fd;
    uint64_t read;
    uint64_t size,
        left; /* of a file when it was opened, and what of it was ahead; left UINT64_MAX: no file */
};

static void destroy_plain(struct sp_stage *s)
{
    free(s);
}

struct sp_stage *sp_stage_memory(const void *p, size_t n, const char *name, struct sp_diags *d)
{
    struct sp_stage *s = calloc(1, sizeof *s);
    if (!s) {
        sp_nomem(d);
        return NULL;
    }
    s->destroy = destroy_plain;
    s->diags = d;
    s->name = name;
    s->data = p;
    s->len = n;
    s->ended = true;
    return s;
}

static bool source_unwanted(struct fd_stage *f)
{
    if (f->s.stop && *f->s.stop)
        return true;
    if (sp_cancelled(f->s.diags))
        f->s.failed = SPAA_ERR_CANCELLED;
    return f->s.failed == SPAA_ERR_CANCELLED;
}

/* Nobody is to wait longer for bytes than they are wanted. False: they are not. */
static bool source_wait_for(struct fd_stage *f)
{
    enum { LOOK_EVERY = 50 /* ms */ };
    struct pollfd ready = {.fd = f->fd, .events = POLLIN};
    bool looks = f->s.stop || f->s.diags->watch;
    while (looks && !source_unwanted(f) && poll(&ready, 1, LOOK_EVERY) == 0)
        ;
    return !looks || !source_unwanted(f);
}

/* A file ended too early. Those of /sys only say that they are longer. */
static void ended_early(struct fd_stage *f)
{
    struct stat sb;
    uint64_t now = fstat(f->fd, &sb) || sb.st_size < 0 ? 0 : (uint64_t)sb.st_size;
    if (now >= f->size)
        return;
    f->s.failed = SPAA_ERR_IO;
    sp_emit(f->s.diags, SP_E014, SP_AT(f->size - f->left + f->read), "%s: of %llu bytes %llu are left",
            f->s.name, (unsigned long long)f->size, (unsigned long long)now);
}

static size_t fill_fd(struct sp_stage *s, unsigned char *out, size_t cap)
{
    struct fd_stage *f = (struct fd_stage *)s;
    if (cap > f->left - f->read)
        cap = (size_t)(f->left - f->read);
    for (;;) {
        if (!cap)
            return 0;
        if (!source_wait_for(f))
            return 0;
        ssize_t got = read(f->fd, out, cap);
        if (got >= 0) {
            f->read += (uint64_t)got;
            if (!got && f->left != UINT64_MAX)
                ended_early(f);
            return (size_t)got;
        }
        if (errno == EINTR)
            continue;
        if (errno == EAGAIN || errno == EWOULDBLOCK) { /* somebody made our standard input non-blocking */
            struct pollfd wait = {.fd = f->fd, .events = POLLIN};
            if (poll(&wait, 1, -1) >= 0 || errno == EINTR)
                continue;
        }
        s->failed = SPAA_ERR_IO;
        sp_emit(s->diags, SP_E002, SP_AT(f->read), "%s: %s", s->name, strerror(errno));
        return 0;
    }
}

struct sp_stage *sp_stage_fd(int fd, const char *name, struct sp_diags *d)
{
    struct fd_stage *f = calloc(1, sizeof *f);
    if (!f) {
        sp_nomem(d);
        return NULL;
    }
    f->s.fill = fill_fd;
    f->s.destroy = destroy_plain;
    f->s.diags = d;
    f->s.name = name;
    f->fd = fd;
    f->left = UINT64_MAX;
    return &f->s;
}

struct sp_stage *sp_stage_file(int fd, uint64_t size, uint64_t left, const char *name, struct sp_diags *d)
{
    struct sp_stage *s = sp_stage_fd(fd, name, d);
    struct fd_stage *f = (struct fd_stage *)s;
    if (!s)
        return NULL;
    f->size = size;
    f->left = left;
    s->block = left < SP_STAGE_BLOCK   ? (size_t)left + 1
               : left < SP_STAGE_LARGE ? SP_STAGE_BLOCK
                                       : SP_STAGE_LARGE;
    return s;
}
