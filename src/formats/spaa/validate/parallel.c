/*
 * Usual lines by several threads (chunks.h): they recognise the lines of a chunk and note what entering each
 * of them takes. Settling enters the lines in their order; what was not recognised needs to be alone, takes
 * the other roads, and may teach the threads something. Findings, their order and what is remembered are
 * those of one thread.
 */
#include "formats/spaa/validate/fast.h"

#include <stdlib.h>

enum { FETCH_AHEAD = 8 };

struct noted {
    struct sp_usual u;
    const char *text;
    size_t n; /* without the newline */
};

struct part {
    struct sp_scratch scratch;
    SP_VEC(struct noted) lines;
    size_t entered;
    bool nomem;
};

struct work {
    struct sp_validator *v;
    const char *text;
    uint64_t offset;
};

static void read_part(void *arg, struct sp_chunk *c)
{
    const struct work *w = arg;
    struct part *x = c->result;
    struct sp_line l;
    const bool ready = sp_fast_ready(w->v);
    x->lines.n = x->entered = 0;
    for (const char *at = c->text; at < c->end;) {
        struct noted *line;
        if (!sp_vec_reserve(&x->lines, x->lines.n + 1)) {
            x->nomem = true;
            return;
        }
        line = &x->lines.v[x->lines.n++];
        line->text = at;
        const char *end;
        line->u.kind = SP_LINE_OTHER;
        if (ready && sp_fast_recognise(w->v, &x->scratch, at, c->end, &l, &line->u))
            end = line->u.end - 1;
        else
            end = memchr(at, '\n', (size_t)(c->end - at));
        line->n = (size_t)(end - at);
        at = end + 1;
    }
}

/* False: it is not for entering while others look. */
static bool enter(struct sp_validator *v, const struct noted *line, bool alone)
{
    if (line->u.kind == SP_LINE_STACK || line->u.kind == SP_LINE_SAMPLE) {
        v->line++;
        v->text = line->text;
        if (sp_fast_enter(v, NULL, &line->u))
            return true;
        v->line--;
    }
    if (!alone)
        return false;
    sp_check_line(v, line->text, line->n, line->text + line->n + 1);
    return true;
}

static enum sp_settled settle(void *arg, struct sp_chunk *c, bool alone)
{
    const struct work *w = arg;
    struct sp_validator *v = w->v;
    struct part *x = c->result;
    if (x->nomem)
        v->status = sp_nomem(v->d);
    for (; x->entered < x->lines.n && v->status == SPAA_OK; x->entered++) {
        const struct noted *line = &x->lines.v[x->entered];
        if (v->stacks.slots && x->entered + FETCH_AHEAD < x->lines.n)
            __builtin_prefetch(&v->stacks.slots[line[FETCH_AHEAD].u.fp.a & v->stacks.mask], 1);
        v->offset = w->offset + (uint64_t)(line->text - w->text);
        if (!enter(v, line, alone))
            return SP_NOT_ALONE;
    }
    if (v->status != SPAA_OK)
        return SP_STOP;
    sp_input_note(v->in, (size_t)(w->offset + (uint64_t)(c->end - w->text) - sp_input_offset(v->in)));
    return SP_SETTLED;
}

static void part_drop(void *result)
{
    struct part *x = result;
    sp_vec_free(&x->lines);
}

void sp_validate_parallel(struct sp_validator *v, const char *text, const char *end, uint64_t offset)
{
    struct work w = {v, text, offset};
    const struct sp_chunk_work work = {&w, sizeof(struct part), read_part, settle, part_drop};
    if (!sp_chunks_run(&work, &v->chunking, text, end))
        v->status = sp_nomem(v->d);
}
