#include "formats/spaa/chunks.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_PER_THREAD = 3 };

struct slot {
    struct sp_chunk chunk;
    bool read;
};

/* The chunks from `settled` to `taken` are in slots, the number of a chunk modulo nslots. */
struct run {
    const struct sp_chunk_work *work;
    size_t chunk;
    pthread_mutex_t lock;
    pthread_cond_t change;
    const char *at, *end; /* not cut yet */
    struct slot *slots;
    size_t nslots, settled, taken;
    unsigned reading;
    bool settling, wants_alone, stop;
};

static struct slot *slot(const struct run *r, size_t number)
{
    return &r->slots[number % r->nslots];
}

static void settle_next(struct run *r)
{
    struct sp_chunk *c = &slot(r, r->settled)->chunk;
    bool alone = r->wants_alone;
    r->settling = true;
    pthread_mutex_unlock(&r->lock);
    enum sp_settled done = r->work->settle(r->work->arg, c, alone);
    pthread_mutex_lock(&r->lock);
    r->settling = false;
    r->wants_alone = done == SP_NOT_ALONE;
    r->stop = r->stop || done == SP_STOP;
    r->settled += done == SP_SETTLED;
    pthread_cond_broadcast(&r->change);
}

static void read_next(struct run *r)
{
    struct slot *s = slot(r, r->taken++);
    const char *to = r->end;
    if ((size_t)(r->end - r->at) > r->chunk) {
        const char *nl = memchr(r->at + r->chunk, '\n', (size_t)(r->end - r->at) - r->chunk);
        to = nl ? nl + 1 : r->end;
    }
    s->chunk.text = r->at;
    s->chunk.end = r->at = to;
    s->read = false;
    r->reading++;
    pthread_mutex_unlock(&r->lock);
    r->work->read(r->work->arg, &s->chunk);
    pthread_mutex_lock(&r->lock);
    r->reading--;
    s->read = true;
    pthread_cond_broadcast(&r->change);
}

static void *chunks_work(void *arg)
{
    struct run *r = arg;
    pthread_mutex_lock(&r->lock);
    while (!r->stop && (r->at < r->end || r->settled < r->taken)) {
        if (!r->settling && r->settled < r->taken && slot(r, r->settled)->read &&
            (!r->wants_alone || !r->reading))
            settle_next(r);
        else if (!r->wants_alone && r->at < r->end && r->taken - r->settled < r->nslots)
            read_next(r);
        else
            pthread_cond_wait(&r->change, &r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static bool make_slots(struct run *r, unsigned jobs)
{
    r->nslots = jobs > 1 ? (size_t)jobs * SLOTS_PER_THREAD : 1;
    r->slots = calloc(r->nslots, sizeof *r->slots);
    for (size_t i = 0; r->slots && i < r->nslots; i++)
        if (!(r->slots[i].chunk.result = calloc(1, r->work->result_size)))
            return false;
    return r->slots != NULL;
}

static void free_slots(struct run *r)
{
    for (size_t i = 0; r->slots && i < r->nslots; i++) {
        if (r->slots[i].chunk.result)
            r->work->drop(r->slots[i].chunk.result);
        free(r->slots[i].chunk.result);
    }
    free(r->slots);
}

bool sp_chunks_run(const struct sp_chunk_work *w, const struct sp_chunking *how, const char *text,
                   const char *end)
{
    size_t chunks = (size_t)(end - text) / how->chunk + 1;
    unsigned jobs = how->jobs < chunks ? how->jobs : (unsigned)chunks, started = 0;
    struct run r = {.work = w, .chunk = how->chunk, .at = text, .end = end};
    pthread_t *threads = calloc(jobs, sizeof *threads);
    bool ok = threads && make_slots(&r, jobs);
    if (ok) {
        pthread_mutex_init(&r.lock, NULL);
        pthread_cond_init(&r.change, NULL);
        /* Where a thread cannot be had, the others do the work. */
        while (started + 1 < jobs && sp_thread_start(&threads[started], chunks_work, &r) == 0)
            started++;
        chunks_work(&r);
        while (started)
            pthread_join(threads[--started], NULL);
        pthread_cond_destroy(&r.change);
        pthread_mutex_destroy(&r.lock);
    }
    free_slots(&r);
    free(threads);
    return ok;
}
