#include "model/samples.h"

#include "base/watch.h"
#include "io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCH = 4096 };

struct sp_samples {
    struct sp_diags *diags;
    int fd;
    uint64_t count; /* in the file and in the batch */
    size_t batched;
    struct sp_sample *map;
    size_t mapped; /* bytes */
    struct sp_sample batch[BATCH];
};

spaa_status sp_samples_new(struct sp_diags *d, struct sp_samples **out)
{
    struct sp_samples *s = calloc(1, sizeof *s);
    if (!s)
        return sp_nomem(d);
    s->diags = d;
    s->fd = sp_temporary_file();
    if (s->fd < 0) {
        free(s);
        return sp_temporary_failed(d, "samples");
    }
    *out = s;
    return SPAA_OK;
}

static void unmap(struct sp_samples *s)
{
    if (s->map)
        munmap(s->map, s->mapped);
    s->map = NULL;
    s->mapped = 0;
}

void sp_samples_free(struct sp_samples *s)
{
    if (!s)
        return;
    unmap(s);
    close(s->fd);
    free(s);
}

static spaa_status samples_flush(struct sp_samples *s)
{
    if (!sp_temporary_write(s->fd, s->batch, s->batched * sizeof *s->batch))
        return sp_temporary_failed(s->diags, "samples");
    s->batched = 0;
    return SPAA_OK;
}

spaa_status sp_samples_add(struct sp_samples *s, const struct sp_sample *row)
{
    unmap(s);
    s->batch[s->batched++] = *row;
    s->count++;
    return s->batched == BATCH ? samples_flush(s) : SPAA_OK;
}

uint64_t sp_samples_count(const struct sp_samples *s)
{
    return s ? s->count : 0;
}

spaa_status sp_samples_rows(struct sp_samples *s, struct sp_sample **rows, size_t *n)
{
    *rows = NULL;
    *n = 0;
    spaa_status st = samples_flush(s);
    if (st || !s->count)
        return st;
    if (!s->map) {
        size_t bytes = (size_t)s->count * sizeof *s->map;
        void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
        if (m == MAP_FAILED)
            return sp_nomem(s->diags);
        s->map = m;
        s->mapped = bytes;
    }
    *rows = s->map;
    *n = (size_t)s->count;
    return SPAA_OK;
}

static bool after(const struct sp_sample *a, const struct sp_sample *b)
{
    bool ta = a->flags & SP_SAMPLE_TIME, tb = b->flags & SP_SAMPLE_TIME;
    return ta != tb ? ta : ta && a->time > b->time;
}

enum { ASK_ROWS = 1 << 16 }; /* between two looks at whether the call is to be left */

/* Where the rows from i on that are in order end. */
static size_t run_end(const struct sp_sample *rows, size_t i, size_t n)
{
    if (i < n)
        i++;
    while (i < n && !after(&rows[i - 1], &rows[i]))
        i++;
    return i;
}

/* Each two runs that follow on each other become one; *runs is how many there are then. False: the call is to
 * be left. */
static bool merge(const struct sp_diags *d, const struct sp_sample *from, struct sp_sample *to, size_t n,
                  size_t *runs)
{
    size_t ask = 0;
    *runs = 0;
    for (size_t lo = 0, hi; lo < n; lo = hi, ++*runs) {
        size_t mid = run_end(from, lo, n);
        hi = run_end(from, mid, n);
        size_t i = lo, j = mid;
        for (size_t k = lo; k < hi; k++) {
            if (k >= ask) {
                if (sp_cancelled(d))
                    return false;
                ask = k + ASK_ROWS;
            }
            to[k] = i < mid && (j >= hi || !after(&from[i], &from[j])) ? from[i++] : from[j++];
        }
    }
    return true;
}

/*
 * Merge sort between the file and a second unlinked file: stable, and no heap. Recorders write long runs that
 * are in order, one for each CPU and round of reading: it takes as many passes as there are doublings of
 * those.
 */
spaa_status sp_samples_sort(struct sp_samples *s)
{
    struct sp_sample *rows;
    size_t n;
    spaa_status st = sp_samples_rows(s, &rows, &n);
    size_t i = 1;
    while (!st && i < n && !after(&rows[i - 1], &rows[i]))
        i++;
    if (st || i >= n)
        return st;
    int fd = sp_temporary_file();
    void *m = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)s->mapped) == 0)
        m = mmap(NULL, s->mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (m == MAP_FAILED) {
        sp_emit_hint(s->diags, SP_E020, SP_AT_NOTHING, "set TMPDIR to a directory with free space",
                     "a temporary file to sort samples: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return SPAA_ERR_IO;
    }
    struct sp_sample *from = rows, *to = m;
    for (size_t runs = 2; !st && runs > 1;) {
        st = merge(s->diags, from, to, n, &runs) ? SPAA_OK : SPAA_ERR_CANCELLED;
        struct sp_sample *t = from;
        from = to;
        to = t;
    }
    if (from != rows && !st)
        memcpy(rows, from, n * sizeof *rows);
    munmap(m, s->mapped);
    close(fd);
    return st;
}
