/* The stage that hands a copy of what it passes on to somebody (sp_input_set_copy). */
#include "io/stage.h"

#include <stdlib.h>
#include <string.h>

struct copy_stage {
    struct sp_stage s;
    struct sp_input_copy *copy;
    void *file; /* the copy's, of this input */
    bool ended;
};

static size_t copy_fill(struct sp_stage *s, unsigned char *out, size_t cap)
{
    struct copy_stage *c = (struct copy_stage *)s;
    const unsigned char *p;
    size_t n;
    if (sp_stage_peek(s->up, 1, &p, &n)) {
        s->failed = SPAA_ERR_NOMEM;
        return 0;
    }
    n = n < cap ? n : cap;
    spaa_status st = c->ended ? SPAA_OK : c->copy->add(c->file, p, n);
    c->ended = c->ended || !n;
    s->failed = st ? st : n ? SPAA_OK : s->up->failed;
    if (st)
        return 0;
    memcpy(out, p, n);
    sp_stage_consume(s->up, n);
    return n;
}

static void copy_destroy(struct sp_stage *s)
{
    free(s);
}

struct sp_stage *sp_stage_copy(struct sp_stage *up, struct sp_input_copy *copy, void *file)
{
    struct copy_stage *c = calloc(1, sizeof *c);
    if (!c) {
        sp_nomem(up->diags);
        return NULL;
    }
    c->s = (struct sp_stage){.fill = copy_fill,
                             .destroy = copy_destroy,
                             .up = up,
                             .diags = up->diags,
                             .name = up->name,
                             .piece = up->piece};
    c->copy = copy;
    c->file = file;
    return &c->s;
}
