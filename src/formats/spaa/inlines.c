/*
 * Inlined frames in the order that the specification asks for.
 *
 * The frames of one address are a run: the deepest inlined one nearest the leaf, the physical one last. Where
 * a run of a file is out of order, it is put in order by the depths; where those do not tell one, its frames
 * are taken as physical. What counts as out of order is what the validator reports (validate/stack.c).
 */
#include "formats/spaa/read.h"

static const struct sp_frame *frame_at(const struct sp_profile *p, const uint32_t *f, size_t i)
{
    return &p->frames.v[f[i]];
}

static bool inlined(const struct sp_frame *f)
{
    return f->flags & SP_FRAME_INLINED;
}

static bool same_place(const struct sp_profile *p, const struct sp_frame *a, const struct sp_frame *b)
{
    return a->flags & b->flags & SP_FRAME_IP && a->ip == b->ip && a->symoff == b->symoff &&
           p->functions.v[a->function].dso == p->functions.v[b->function].dso;
}

static bool other_place(const struct sp_profile *p, const struct sp_frame *a, const struct sp_frame *b)
{
    return a->flags & b->flags & SP_FRAME_IP && !same_place(p, a, b);
}

/* The physical frame stands on the leaf's side of its inlined ones, the last of which is i. */
static bool physical_before(const struct sp_profile *p, const uint32_t *f, size_t n, size_t i)
{
    const struct sp_frame *e = frame_at(p, f, i);
    if (i + 1 < n && !other_place(p, e, frame_at(p, f, i + 1)))
        return false;
    while (i > 0 && same_place(p, e, frame_at(p, f, i - 1)))
        if (!inlined(frame_at(p, f, --i)))
            return true;
    return false;
}

static bool out_of_order(const struct sp_profile *p, const uint32_t *f, size_t n, size_t i)
{
    const struct sp_frame *e = frame_at(p, f, i), *next = i + 1 < n ? frame_at(p, f, i + 1) : NULL;
    if (!inlined(e))
        return false;
    if (!next || !inlined(next))
        return physical_before(p, f, n, i);
    return e->inline_depth && next->inline_depth >= e->inline_depth && !other_place(p, e, next);
}

static size_t first_disorder(const struct sp_profile *p, const uint32_t *f, size_t n)
{
    size_t i = 0;
    while (i < n && !out_of_order(p, f, n, i))
        i++;
    return i;
}

/* By depth, the deepest first. Runs are short, or damaged: those are not sorted at length. */
static void sort_run(const struct sp_profile *p, uint32_t *f, size_t n)
{
    for (size_t i = 1; i < n && n <= 64; i++) {
        uint32_t x = f[i];
        size_t k = i;
        for (; k > 0 && frame_at(p, f, k - 1)->inline_depth < p->frames.v[x].inline_depth; k--)
            f[k] = f[k - 1];
        f[k] = x;
    }
}

static bool make_physical(struct sp_profile *p, uint32_t *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct sp_frame frame = p->frames.v[f[i]];
        frame.flags &= (uint8_t)~SP_FRAME_INLINED;
        frame.inline_depth = 0;
        uint32_t number = inlined(&p->frames.v[f[i]]) ? sp_frame_intern(p, &frame) : f[i];
        if (number == SP_NONE)
            return false;
        f[i] = number;
    }
    return true;
}

/* The run around a frame that is out of order: of one address, or where that is not known, of inlined ones.
 */
static bool settle_run(struct sp_profile *p, uint32_t *f, size_t n, size_t at)
{
    size_t from = at, to = at + 1;
    const struct sp_frame *e = frame_at(p, f, at);
    bool known = e->flags & SP_FRAME_IP;
    while (from > 0 &&
           (known ? same_place(p, e, frame_at(p, f, from - 1)) : inlined(frame_at(p, f, from - 1))))
        from--;
    while (to < n && (known ? same_place(p, e, frame_at(p, f, to)) : inlined(frame_at(p, f, to))))
        to++;
    sort_run(p, f + from, to - from);
    if (first_disorder(p, f, n) >= to)
        return true;
    /* The depths do not tell; with the frame after it, which may belong to it without an address. */
    return make_physical(p, f + from, (to < n ? to + 1 : to) - from);
}

spaa_status sp_settle_inlines(struct reader *r)
{
    struct sp_profile *p = r->p;
    uint64_t wrong = 0;
    size_t any = 0;
    while (any < p->frames.n && !inlined(&p->frames.v[any]))
        any++;
    for (size_t s = 0; any < p->frames.n && s < p->stacks.n; s++) {
        uint32_t *f = p->stack_frames.v + p->stacks.v[s].first;
        size_t n = p->stacks.v[s].n, at = first_disorder(p, f, n);
        wrong += at < n;
        for (size_t tries = 0; at < n; at = first_disorder(p, f, n), tries++)
            if (!(tries < 8 ? settle_run(p, f, n, at) : make_physical(p, f, n)))
                return sp_nomem(r->d);
        if (n && p->stacks.v[s].exclusive > SP_EXCLUSIVE_SAME)
            p->exclusives.v[p->stacks.v[s].exclusive - 2].frame = f[0];
    }
    if (wrong)
        sp_emit(r->d, SP_E117, SP_AT_NOTHING, "%llu stacks; they are put in order by their depths",
                (unsigned long long)wrong);
    return SPAA_OK;
}
