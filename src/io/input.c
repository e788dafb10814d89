#include "io/input.h"

#include "base/watch.h"
#include "io/stage.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INPUT_ASK = 64 << 10 }; /* bytes between two looks at whether the call is to be left */

struct sp_input {
    struct sp_diags *diags;
    char *name;
    int fd;        /* -1: none, or not ours to close */
    uint64_t size; /* of the source */
    struct sp_stage *base, *top;
    spaa_status below; /* how the stages ended that a spool replaced */
    uint64_t below_done;
    bool ready;        /* decompressors are in place */
    unsigned wrapping; /* enum sp_wrapping: what was taken away */
    uint64_t begin;    /* offset of the first byte that is lent: behind a byte order mark */
    unsigned jobs;
    struct sp_spool spool;
    bool spooled;
    size_t chunk;               /* 0: lend all there is */
    unsigned char *lent;        /* an exact copy, in small pieces only */
    struct sp_input_copy *copy; /* NULL: nobody wants one */
    void *copied;               /* what the copy calls it */
    uint64_t ask_at;            /* once so much of it is done */
    bool is_file;               /* what was opened, which may be compressed */
    struct timespec written;    /* then: its last change */
};

/* NULL: out of memory, and reported. */
static struct sp_input *new_input(const char *name, struct sp_diags *d)
{
    size_t n = strlen(name) + 1;
    struct sp_input *in = calloc(1, sizeof *in);
    if (!in || !(in->name = malloc(n))) {
        free(in);
        sp_nomem(d);
        return NULL;
    }
    memcpy(in->name, name, n);
    in->diags = d;
    in->fd = -1;
    in->jobs = 1;
    return in;
}

void sp_input_close(struct sp_input *in)
{
    if (!in)
        return;
    sp_stage_free(in->top);
    sp_spool_free(&in->spool);
    if (in->fd >= 0)
        close(in->fd);
    free(in->lent);
    free(in->name);
    free(in);
}

/*
 * The stage of a descriptor: a regular file from where it stands. Files that say they are empty may not be
 * (/proc): they are read like pipes.
 */
static struct sp_stage *stage_of(struct sp_input *in, int fd, const struct stat *sb)
{
    if (!S_ISREG(sb->st_mode) || sb->st_size <= 0)
        return sp_stage_fd(fd, in->name, in->diags);
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (at < 0 || at >= sb->st_size)
        return sp_stage_fd(fd, in->name, in->diags);
    in->size = (uint64_t)(sb->st_size - at);
    return sp_stage_file(fd, (uint64_t)sb->st_size, in->size, in->name, in->diags);
}

/* A folder that holds a file `data` is a recording of perf in several files: that one says what the rest is.
 */
static bool enter_folder(struct sp_input *in)
{
    static const char inside[] = "/data";
    int fd = openat(in->fd, inside + 1, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat sb;
    size_t n = strlen(in->name);
    char *name = fd >= 0 && !fstat(fd, &sb) && S_ISREG(sb.st_mode) ? malloc(n + sizeof inside) : NULL;
    if (!name) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (n > 1 && in->name[n - 1] == '/')
        n--;
    memcpy(name, in->name, n);
    memcpy(name + n, inside, sizeof inside);
    free(in->name);
    in->name = name;
    close(in->fd);
    in->fd = fd;
    return true;
}

static spaa_status attach(struct sp_input *in, int fd)
{
    struct stat sb;
    if (fstat(fd, &sb)) {
        sp_emit(in->diags, SP_E001, SP_AT_NOTHING, "%s: %s", in->name, strerror(errno));
        return SPAA_ERR_IO;
    }
    if (S_ISDIR(sb.st_mode) && fd == in->fd && enter_folder(in))
        return attach(in, in->fd);
    if (S_ISDIR(sb.st_mode)) {
        sp_emit(in->diags, SP_E003, SP_AT_NOTHING, "%s", in->name);
        return SPAA_ERR_IO;
    }
    in->is_file = S_ISREG(sb.st_mode);
    in->written = sb.st_mtim;
    in->top = in->base = stage_of(in, fd, &sb);
    return in->base ? SPAA_OK : SPAA_ERR_NOMEM;
}

bool sp_input_written(const struct sp_input *in, struct timespec *out)
{
    *out = in->written;
    return in->is_file;
}

spaa_status sp_input_open(const char *path, struct sp_diags *d, struct sp_input **out)
{
    bool standard = !strcmp(path, "-");
    struct sp_input *in = new_input(standard ? "standard input" : path, d);
    spaa_status st;
    if (!in)
        return SPAA_ERR_NOMEM;
    if (standard) {
        st = attach(in, STDIN_FILENO);
    } else {
        in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (in->fd < 0) {
            sp_emit(d, SP_E001, SP_AT_NOTHING, "%s: %s", path, strerror(errno));
            st = SPAA_ERR_IO;
        } else {
            st = attach(in, in->fd);
        }
    }
    if (st) {
        sp_input_close(in);
        return st;
    }
    *out = in;
    return SPAA_OK;
}

spaa_status sp_input_open_fd(int fd, const char *name, struct sp_diags *d, struct sp_input **out)
{
    struct sp_input *in = new_input(name, d);
    if (!in)
        return SPAA_ERR_NOMEM;
    spaa_status st = attach(in, fd);
    if (st)
        sp_input_close(in);
    else
        *out = in;
    return st;
}

spaa_status sp_input_memory(const void *p, size_t n, const char *name, struct sp_diags *d,
                            struct sp_input **out)
{
    struct sp_input *in = new_input(name, d);
    if (!in)
        return SPAA_ERR_NOMEM;
    in->top = in->base = sp_stage_memory(p, n, in->name, d);
    if (!in->base) {
        sp_input_close(in);
        return SPAA_ERR_NOMEM;
    }
    in->size = n;
    *out = in;
    return SPAA_OK;
}

spaa_status sp_input_set_copy(struct sp_input *in, struct sp_input_copy *copy)
{
    spaa_status st = copy->begin(copy, in->name, &in->copied);
    in->copy = st ? NULL : copy;
    return st;
}

spaa_status sp_input_open_beside(const struct sp_input *of, const char *path, struct sp_diags *d,
                                 struct sp_input **out)
{
    struct sp_input *in = NULL;
    spaa_status st = sp_input_open(path, d, &in);
    if (!st && of->copy)
        st = sp_input_set_copy(in, of->copy);
    if (st)
        sp_input_close(in);
    else
        *out = in;
    return st;
}

spaa_status sp_input_drain(struct sp_input *in)
{
    const unsigned char *p;
    size_t n;
    spaa_status st;
    while ((st = sp_input_peek(in, 1, &p, &n)) == SPAA_OK && n)
        sp_input_consume(in, n);
    return st;
}

void sp_input_set_chunk(struct sp_input *in, size_t n)
{
    in->chunk = n;
    for (struct sp_stage *s = in->top; s; s = s->up)
        s->piece = n;
}

void sp_input_set_jobs(struct sp_input *in, unsigned jobs)
{
    in->jobs = jobs ? jobs : 1;
}

unsigned sp_input_jobs(const struct sp_input *in)
{
    return in->jobs;
}

/* Only now are the first bytes needed: a pipe may not have any yet when it is opened. */
static spaa_status input_prepare(struct sp_input *in)
{
    bool found = true;
    if (in->ready)
        return SPAA_OK;
    for (unsigned depth = 0; found && depth < SP_FILTER_DEPTH; depth++) {
        spaa_status st = sp_filter_detect(&in->top, &found);
        if (st)
            return st;
    }
    if (in->top != in->base) {
        struct sp_stage *blocks = sp_stage_blocks(in->top, in->base, in->jobs > 1);
        if (!blocks)
            return sp_nomem(in->diags);
        in->top = blocks;
    }
    if (in->copy) {
        struct sp_stage *copy = sp_stage_copy(in->top, in->copy, in->copied);
        if (!copy)
            return SPAA_ERR_NOMEM;
        in->top = copy;
    }
    in->ready = true;
    spaa_status st = sp_text_unwrap(&in->top, &in->wrapping);
    in->begin = in->top->offset;
    return st;
}

spaa_status sp_input_wrapping(struct sp_input *in, unsigned *wrapping)
{
    spaa_status st = input_prepare(in);
    *wrapping = in->wrapping;
    return st;
}

/* In small pieces: a copy of exactly what is lent, so that reading beyond it or too late is found. */
static spaa_status lend_copy(struct sp_input *in, const unsigned char **p, size_t n)
{
    unsigned char *copy = malloc(n ? n : 1);
    if (!copy)
        return sp_nomem(in->diags);
    if (n)
        memcpy(copy, *p, n);
    free(in->lent);
    in->lent = copy;
    *p = copy;
    return SPAA_OK;
}

/* How much of the source was read for what is lent. */
static uint64_t source_offset(const struct sp_input *in)
{
    for (const struct sp_stage *s = in->top; s; s = s->up)
        if (s->lend) /* what is below may be read ahead, by a thread */
            return s->source;
    return in->base->offset;
}

spaa_status sp_input_note(struct sp_input *in, uint64_t done)
{
    uint64_t reached = in->top->offset + done;
    if (!in->diags->watch || reached < in->ask_at)
        return SPAA_OK;
    in->ask_at = reached + sp_watch_stride(in->diags, INPUT_ASK);
    /* A view of decompressed bytes says nothing of the source's size. */
    uint64_t at = in->top == in->base ? in->base->offset + done : source_offset(in);
    return sp_progress(in->diags, "reading", in->name, "bytes", at, in->spooled ? in->spool.len : in->size);
}

spaa_status sp_input_peek(struct sp_input *in, size_t want, const unsigned char **p, size_t *n)
{
    if (want > SP_LINE_MAX + 1) {
        sp_emit(in->diags, SP_E007, SP_AT(in->top->offset), "%s: %zu bytes at once", in->name, want);
        return SPAA_ERR_LIMIT;
    }
    const unsigned char *at;
    size_t ahead;
    spaa_status st = input_prepare(in);
    if (!st)
        st = sp_input_note(in, 0);
    if (!st)
        st = sp_stage_peek(in->top, want, &at, &ahead);
    if (!st && in->chunk) {
        size_t most = want > in->chunk ? want : in->chunk;
        ahead = ahead < most ? ahead : most;
        st = lend_copy(in, &at, ahead);
    }
    if (st)
        return st;
    *p = at;
    *n = ahead;
    return SPAA_OK;
}

void sp_input_consume(struct sp_input *in, size_t n)
{
    sp_stage_consume(in->top, n);
    if (n) {
        free(in->lent);
        in->lent = NULL;
    }
}

uint64_t sp_input_offset(const struct sp_input *in)
{
    return in->top->offset;
}

spaa_status sp_input_failed(const struct sp_input *in)
{
    return in->spooled ? in->below : in->top->failed;
}

void sp_input_progress(const struct sp_input *in, uint64_t *done, uint64_t *size)
{
    *done = in->spooled ? in->below_done : source_offset(in);
    *size = in->size;
}

const char *sp_input_name(const struct sp_input *in)
{
    return in->name;
}

/* Drops a line that is too long, of which `seen` bytes without an end are ahead. */
static spaa_status skip_line(struct sp_input *in, size_t seen)
{
    const unsigned char *p, *end = NULL;
    size_t n;
    sp_emit(in->diags, SP_E007, SP_AT(in->top->offset), "%s: a line of more than %zu MiB was skipped",
            in->name, SP_LINE_MAX >> 20);
    sp_stage_consume(in->top, seen);
    while (!end) {
        spaa_status st = sp_stage_peek(in->top, 1, &p, &n);
        if (st)
            return st;
        if (!n)
            break;
        end = memchr(p, '\n', n);
        sp_stage_consume(in->top, end ? (size_t)(end - p) + 1 : n);
    }
    return SPAA_OK;
}

static spaa_status lend_line(struct sp_input *in, const unsigned char *p, size_t n, bool ended,
                             const char **line, size_t *len)
{
    sp_stage_consume(in->top, n + ended);
    if (ended && n && p[n - 1] == '\r')
        n--;
    spaa_status st = in->chunk ? lend_copy(in, &p, n) : SPAA_OK;
    if (st)
        return st;
    *line = (const char *)p;
    *len = n;
    return SPAA_OK;
}

spaa_status sp_input_line(struct sp_input *in, const char **line, size_t *len)
{
    const unsigned char *p, *end;
    size_t n, seen = 0;
    spaa_status st = input_prepare(in);
    if (!st)
        st = sp_input_note(in, 0);
    while (!st) {
        st = sp_stage_peek(in->top, seen + 1, &p, &n);
        if (st)
            break;
        size_t reach = n <= SP_LINE_MAX ? n : SP_LINE_MAX + 1;
        end = memchr(p + seen, '\n', reach - seen);
        if (end)
            return lend_line(in, p, (size_t)(end - p), true, line, len);
        if (reach > SP_LINE_MAX) {
            st = skip_line(in, reach);
            seen = 0;
        } else if (n == seen) { /* nothing more came: the end of the input */
            if (n)
                return lend_line(in, p, n, false, line, len);
            *line = NULL;
            *len = 0;
            return SPAA_OK;
        } else {
            seen = n;
        }
    }
    return st;
}

/* From now on the input is the spool; the stages are no longer needed. */
static spaa_status spool(struct sp_input *in)
{
    if (in->top->offset != in->begin) {
        sp_emit(in->diags, SP_E009, SP_AT(in->top->offset), "%s was partly read and cannot be read again",
                in->name);
        return SPAA_ERR_USAGE;
    }
    bool copied = in->copy && in->top->up == in->base && in->size && in->size <= SP_SPOOL_KNOWN;
    size_t memory = copied ? (size_t)SP_SPOOL_KNOWN : SP_SPOOL_MEMORY;
    bool file = in->top == in->base && in->size && in->size <= SP_SPOOL_KNOWN;
    spaa_status st = file ? sp_spool_read(&in->spool, in->top, (size_t)in->size)
                          : sp_spool_fill(&in->spool, in->top, memory, SP_SPOOL_MAX);
    if (!st && in->top->failed == SPAA_ERR_IO)
        st = SPAA_ERR_IO;
    if (st)
        return st;
    struct sp_stage *s = sp_stage_memory(sp_spool_data(&in->spool), in->spool.len, in->name, in->diags);
    if (!s)
        return SPAA_ERR_NOMEM;
    in->spooled = true;
    in->below = in->top->failed;
    in->below_done = source_offset(in);
    sp_stage_free(in->top);
    in->top = in->base = s;
    in->begin = 0;
    return SPAA_OK;
}

spaa_status sp_input_whole(struct sp_input *in, const unsigned char **p, size_t *n)
{
    spaa_status st = input_prepare(in);
    if (!st && in->top->fill)
        st = spool(in);
    if (st)
        return st;
    *n = in->top->len - (size_t)in->begin;
    *p = *n ? in->top->data + in->begin : (const unsigned char *)"";
    return SPAA_OK;
}
