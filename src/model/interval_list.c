#include "model/interval_list.h"

#include "base/watch.h"
#include "io/temporary.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static spaa_status no_file(struct sp_diags *d)
{
    return sp_temporary_failed(d, "intervals");
}

spaa_status sp_interval_list_begin(struct sp_interval_list *l, struct sp_diags *d)
{
    *l = (struct sp_interval_list){.d = d, .fd = -1};
    l->batch = malloc(SP_INTERVAL_BATCH * sizeof *l->batch);
    if (!l->batch)
        return sp_nomem(d);
    l->fd = sp_temporary_file();
    return l->fd < 0 ? no_file(d) : SPAA_OK;
}

void sp_interval_list_free(struct sp_interval_list *l)
{
    if (l->fd >= 0)
        close(l->fd);
    free(l->batch);
    *l = (struct sp_interval_list){.fd = -1};
}

static spaa_status flush(struct sp_interval_list *l)
{
    if (!sp_temporary_write(l->fd, l->batch, l->batched * sizeof *l->batch))
        return no_file(l->d);
    l->batched = 0;
    return SPAA_OK;
}

spaa_status sp_interval_list_add(struct sp_interval_list *l, const struct sp_interval *i)
{
    l->batch[l->batched++] = *i;
    l->n++;
    return l->batched == SP_INTERVAL_BATCH ? flush(l) : SPAA_OK;
}

static void count(const struct sp_interval *from, size_t n, const uint32_t *place, struct sp_intervals *out)
{
    size_t first = 0;
    for (size_t i = 0; i < n; i++)
        if (place[from[i].thread] != SP_NONE)
            out->threads.v[place[from[i].thread]].n++;
    for (size_t i = 0; i < out->threads.n; i++) {
        struct sp_interval_thread *t = &out->threads.v[i];
        t->first = (uint32_t)first;
        first += t->n;
        t->n = 0;
    }
    out->v.n = first;
}

static spaa_status put(struct sp_interval_list *l, const struct sp_interval *from, const uint32_t *place,
                       struct sp_intervals *out)
{
    for (size_t i = 0; i < l->n; i++) {
        struct sp_interval x = from[i];
        if (sp_leaving(l->d, i))
            return SPAA_ERR_CANCELLED;
        x.thread = place[x.thread];
        x.waker = x.waker == SP_NONE ? SP_NONE : place[x.waker];
        if (x.thread == SP_NONE)
            continue;
        struct sp_interval_thread *t = &out->threads.v[x.thread];
        out->v.v[t->first + t->n++] = x;
    }
    return SPAA_OK;
}

/* A mapped file of so many bytes, or NULL. */
static void *mapped_file(size_t bytes)
{
    int fd = sp_temporary_file();
    void *m = MAP_FAILED;
    if (fd >= 0 && sp_temporary_size(fd, bytes))
        m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return m == MAP_FAILED ? NULL : m;
}

spaa_status sp_interval_list_settle(struct sp_interval_list *l, const uint32_t *place,
                                    struct sp_intervals *out)
{
    spaa_status st = flush(l);
    if (st || !l->n)
        return st;
    if (l->n >= SP_NONE)
        return sp_nomem(l->d);
    size_t bytes = (size_t)l->n * sizeof(struct sp_interval);
    void *from = mmap(NULL, bytes, PROT_READ, MAP_SHARED, l->fd, 0);
    if (from == MAP_FAILED)
        return sp_nomem(l->d);
    out->map = mapped_file(bytes);
    if (out->map) {
        out->mapped = bytes;
        out->v.v = out->map;
        count(from, (size_t)l->n, place, out);
        st = put(l, from, place, out);
    } else {
        st = no_file(l->d);
    }
    munmap(from, bytes);
    return st;
}
