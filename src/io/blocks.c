/*
 * The bytes of a decompressor in blocks of one size, which are lent where they were written.
 *
 * Blocks are made when they are asked for, or ahead of that by a thread of their own, once there were so many
 * that the input is a large one. Where a block ends, what is lent and what is reported when do not depend on
 * that: the thread's diagnostics are passed on when the reader comes to the end that they are about.
 */
#include "base/thread.h"
#include "io/stage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCKS = 4,
    AT_ONCE = 2,      /* the one that is lent and the next; so many come before a thread starts */
    HEAD = 64 << 10,  /* room before a block for what is left of the one before */
    SMALL_BLOCK = 64, /* with pieces, for tests: at least */
};

struct blocks_block {
    unsigned char *p; /* HEAD bytes, then n */
    size_t n;
    uint64_t source;
};

struct blocks_stage {
    struct sp_stage s;
    struct sp_stage *base;
    size_t size;
    struct blocks_block ring[BLOCKS];
    size_t nring;          /* the place of a block: its number modulo this */
    size_t used;           /* of the block that is being handed out */
    bool lent;             /* data lies in the block before `taken` */
    bool threads, started; /* may start one; did */
    pthread_t thread;
    pthread_mutex_t lock; /* of what follows, from the start of the thread on */
    pthread_cond_t change;
    size_t made, taken, released;
    bool ended;
    _Atomic bool stop;
    struct sp_diags found; /* by the thread */
};

/* The next bytes of the decompressor; 0: its end. */
static size_t blocks_take(struct sp_stage *up, unsigned char *out, size_t room)
{
    size_t n = up->len - up->pos;
    if (n) { /* from when its beginning was looked at */
        n = n < room ? n : room;
        memcpy(out, up->data + up->pos, n);
        sp_stage_consume(up, n);
        return n;
    }
    if (up->ended)
        return 0;
    n = up->fill(up, out, up->piece && up->piece < room ? up->piece : room);
    up->offset += n;
    up->ended = !n;
    return n;
}

/* False at the end. */
static bool make_block(struct blocks_stage *b, struct blocks_block *k)
{
    k->n = 0;
    for (size_t got = 1; got && k->n < b->size; k->n += got)
        got = blocks_take(b->s.up, k->p + HEAD + k->n, b->size - k->n);
    k->source = b->base->offset;
    return k->n > 0;
}

static struct blocks_block *blocks_block(struct blocks_stage *b, size_t number)
{
    return &b->ring[number % b->nring];
}

static bool room_for(const struct blocks_stage *b, struct blocks_block *k)
{
    if (!k->p)
        k->p = malloc(HEAD + b->size);
    return k->p;
}

static void *work_ahead(void *arg)
{
    struct blocks_stage *b = arg;
    pthread_mutex_lock(&b->lock);
    while (!b->ended && !b->stop) {
        if (b->made - b->released == BLOCKS) {
            pthread_cond_wait(&b->change, &b->lock);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        bool more = make_block(b, blocks_block(b, b->made));
        pthread_mutex_lock(&b->lock);
        b->made += more;
        b->ended = !more;
        pthread_cond_signal(&b->change);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* What is below belongs to the thread from now on, with a collector of its own. */
static void hand_down(struct blocks_stage *b, struct sp_diags *d, const _Atomic bool *stop)
{
    for (struct sp_stage *s = b->s.up; s; s = s->up) {
        s->diags = d;
        s->stop = stop;
    }
}

/* Without memory or threads for it, blocks are made as before. */
static void blocks_start(struct blocks_stage *b)
{
    b->threads = false;
    for (size_t i = 0; i < BLOCKS; i++)
        if (!room_for(b, &b->ring[i]))
            return;
    sp_diags_init(&b->found);
    b->found.watch = b->s.diags->watch;
    b->found.per_code = b->s.diags->per_code;
    hand_down(b, &b->found, &b->stop);
    b->nring = BLOCKS; /* the block that is lent keeps its place: it is one of the first */
    b->started = sp_thread_start(&b->thread, work_ahead, b) == 0;
    if (!b->started) {
        b->nring = AT_ONCE;
        hand_down(b, b->s.diags, NULL);
        sp_diags_free(&b->found);
    }
}

/* Passes on what the thread had to say, as if it were said now. */
static void blocks_tell(struct blocks_stage *b)
{
    for (size_t i = 0; i < b->found.list.n; i++) {
        b->found.list.v[i].file = b->s.diags->file;
        b->found.list.v[i].format = b->s.diags->format;
    }
    sp_diags_merge(b->s.diags, &b->found);
    sp_diags_free(&b->found);
}

/* Waits for a further block, or makes it. NULL: the end, or out of memory. */
static struct blocks_block *next_block(struct blocks_stage *b)
{
    struct sp_stage *s = &b->s;
    if (b->threads && b->made == AT_ONCE)
        blocks_start(b);
    if (b->started) {
        pthread_mutex_lock(&b->lock);
        while (b->made == b->taken && !b->ended)
            pthread_cond_wait(&b->change, &b->lock);
        bool more = b->made > b->taken;
        pthread_mutex_unlock(&b->lock);
        if (more)
            return blocks_block(b, b->taken);
        blocks_tell(b);
    } else if (b->made > b->taken) {
        return blocks_block(b, b->taken);
    } else if (!s->up->ended || s->up->len > s->up->pos) {
        if (!room_for(b, blocks_block(b, b->made))) {
            s->ended = true;
            s->failed = sp_nomem(s->diags);
            return NULL;
        }
        if (make_block(b, blocks_block(b, b->made)))
            return blocks_block(b, b->made++);
    }
    s->ended = true;
    s->failed = s->up->failed;
    return NULL;
}

/* The blocks up to this number may be written again. */
static void blocks_release(struct blocks_stage *b, size_t number)
{
    if (b->started)
        pthread_mutex_lock(&b->lock);
    b->released = number;
    if (b->started) {
        pthread_cond_signal(&b->change);
        pthread_mutex_unlock(&b->lock);
    }
}

/* What is ahead, and n further bytes, in a buffer of our own. */
static bool copy_on(struct blocks_stage *b, const unsigned char *p, size_t n)
{
    struct sp_stage *s = &b->s;
    size_t ahead = s->len - s->pos;
    if (s->cap < ahead + n) {
        size_t cap = s->cap * 2 > ahead + n ? s->cap * 2 : ahead + n;
        unsigned char *bigger = malloc(cap);
        if (!bigger) {
            s->ended = true;
            s->failed = SPAA_ERR_NOMEM;
            return false;
        }
        if (ahead)
            memcpy(bigger, s->data + s->pos, ahead);
        free(s->buf);
        s->buf = bigger;
        s->cap = cap;
    } else if (ahead) {
        memmove(s->buf, s->data + s->pos, ahead);
    }
    memcpy(s->buf + ahead, p, n);
    s->data = s->buf;
    s->pos = 0;
    s->len = ahead + n;
    return true;
}

/* Lends the next block behind what is ahead. */
static void lend_next(struct sp_stage *s)
{
    struct blocks_stage *b = (struct blocks_stage *)s;
    struct blocks_block *k = next_block(b);
    size_t ahead = s->len - s->pos;
    if (!k)
        return;
    s->source = k->source;
    if (!s->piece && ahead <= HEAD) {
        unsigned char *to = k->p + HEAD - ahead;
        if (ahead)
            memcpy(to, s->data + s->pos, ahead);
        s->data = to;
        s->pos = 0;
        s->len = ahead + k->n;
        blocks_release(b, b->taken++);
        b->lent = true;
        return;
    }
    size_t n = k->n - b->used;
    n = s->piece && s->piece < n ? s->piece : n;
    if (!copy_on(b, k->p + HEAD + b->used, n))
        return;
    b->used += n;
    if (b->used == k->n) {
        b->used = 0;
        blocks_release(b, ++b->taken);
    } else if (b->lent) {
        blocks_release(b, b->taken);
    }
    b->lent = false;
}

static void destroy_blocks(struct sp_stage *s)
{
    struct blocks_stage *b = (struct blocks_stage *)s;
    if (b->started) {
        pthread_mutex_lock(&b->lock);
        b->stop = true;
        pthread_cond_signal(&b->change);
        pthread_mutex_unlock(&b->lock);
        pthread_join(b->thread, NULL);
        sp_diags_free(&b->found);
    }
    pthread_cond_destroy(&b->change);
    pthread_mutex_destroy(&b->lock);
    for (size_t i = 0; i < BLOCKS; i++)
        free(b->ring[i].p);
    free(b);
}

struct sp_stage *sp_stage_blocks(struct sp_stage *up, struct sp_stage *base, bool threads)
{
    struct blocks_stage *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->s = (struct sp_stage){.lend = lend_next,
                             .fill = up->fill, /* it has one, is what is asked */
                             .destroy = destroy_blocks,
                             .up = up,
                             .diags = up->diags,
                             .name = up->name,
                             .piece = up->piece};
    b->base = base;
    b->nring = AT_ONCE;
    b->size = SP_STAGE_BLOCK;
    if (up->piece && up->piece < SP_STAGE_BLOCK)
        b->size = up->piece > SMALL_BLOCK ? up->piece : SMALL_BLOCK;
    b->threads = threads;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->change, NULL);
    return &b->s;
}
