#include "io/stage.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Room behind the bytes ahead, which move to the front: at least one byte, and `want` in all. */
static bool stage_make_room(struct sp_stage *s, size_t want)
{
    size_t ahead = s->len - s->pos;
    if (s->pos && ahead)
        memmove(s->buf, s->buf + s->pos, ahead);
    s->pos = 0;
    s->len = ahead;
    if (s->cap >= want && s->cap > ahead && s->cap >= s->block)
        return true;
    size_t cap = s->cap < s->block ? s->block : s->cap * 2;
    if (!s->cap && (!s->block || s->block > SP_STAGE_BLOCK)) /* enough to see what it is */
        cap = SP_STAGE_BLOCK;
    if (cap > SP_LINE_MAX + 1)
        cap = SP_LINE_MAX + 1;
    if (cap < want)
        cap = want;
    unsigned char *p = realloc(s->buf, cap);
    if (!p)
        return false;
    s->buf = p;
    s->data = p;
    s->cap = cap;
    return true;
}

spaa_status sp_stage_peek(struct sp_stage *s, size_t want, const unsigned char **p, size_t *n)
{
    if (!want)
        want = 1;
    while (s->len - s->pos < want && !s->ended) {
        if (s->lend) {
            s->lend(s);
            continue;
        }
        if (!stage_make_room(s, want)) {
            s->ended = true;
            s->failed = SPAA_ERR_NOMEM;
            break;
        }
        size_t room = s->cap - s->len;
        size_t got = s->fill(s, s->buf + s->len, s->piece && s->piece < room ? s->piece : room);
        assert(got <= room);
        s->len += got;
        s->ended = !got;
    }
    if (s->failed == SPAA_ERR_NOMEM && s->len - s->pos < want)
        return sp_nomem(s->diags);
    *n = s->len - s->pos;
    *p = *n ? s->data + s->pos : (const unsigned char *)"";
    return SPAA_OK;
}

void sp_stage_consume(struct sp_stage *s, size_t n)
{
    assert(n <= s->len - s->pos);
    s->pos += n;
    s->offset += n;
}

void sp_stage_free(struct sp_stage *s)
{
    while (s) {
        struct sp_stage *up = s->up;
        free(s->buf);
        s->destroy(s);
        s = up;
    }
}
