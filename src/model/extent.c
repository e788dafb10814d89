#include "model/extent.h"

#include "base/diag.h"
#include "model/labels.h"
#include "model/samples.h"

#define LEAST_MOST     ((uint64_t)64 << 20)
#define LEAST_REPEATED ((uint64_t)512 << 20) /* what it takes memory for, in one place or another */
#define COMPOSED_MOST  ((uint64_t)256 << 20)

/* What parts of a profile take, about, where they are written once each. */
enum { FACTOR = 100, OF_FRAME_IN_STACK = 8, OF_RECORD = 64, OF_STACK = 128, OF_SAMPLE = 256 };

static uint64_t extent_plus(uint64_t a, uint64_t b)
{
    return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

uint64_t sp_profile_most(const struct sp_profile *p, uint64_t *name)
{
    uint64_t held = 0, longest = 0;
    for (size_t i = 0; i < p->strs.strs.n; i++) {
        uint64_t n = p->strs.strs.v[i].n;
        held += n;
        longest = n > longest ? n : longest;
    }
    if (name)
        *name = longest;
    held += OF_RECORD * (uint64_t)(p->frames.n + p->functions.n + p->contexts.n);
    held += OF_STACK * (uint64_t)p->stacks.n + OF_FRAME_IN_STACK * (uint64_t)p->stack_frames.n;
    held += p->samples ? OF_SAMPLE * sp_samples_count(p->samples) : 0;
    return held * FACTOR < LEAST_MOST ? LEAST_MOST : held * FACTOR;
}

struct sp_spelled sp_profile_spelled(const struct sp_profile *p)
{
    struct sp_spelled x = {0};
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        const uint32_t *f = sp_stack_frames(p, s);
        uint64_t n = p->stacks.v[s].n, names = n;
        for (uint64_t i = 0; i < n; i++)
            names += sp_pstr(p, sp_frame_function(p, f[i])->name).n;
        x.longest = names > x.longest ? names : x.longest;
        x.all = extent_plus(x.all, extent_plus(names, n * n));
    }
    return x;
}

static uint64_t repeated_by_frames(const struct sp_profile *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->frames.n; i++) {
        const struct sp_frame *f = &p->frames.v[i];
        const struct sp_function *of = sp_frame_function(p, i);
        uint32_t info = f->info ? f->info : of->info;
        n += (uint64_t)sp_pstr(p, of->name).n + sp_pstr(p, f->srcline).n + sp_pstr(p, f->extra_json).n +
             sp_pstr(p, p->dsos.v[of->dso].name).n;
        if (info)
            n += (uint64_t)sp_pstr(p, p->func_infos.v[info - 1].linkage).n +
                 sp_pstr(p, p->func_infos.v[info - 1].file).n;
    }
    return n;
}

static uint64_t context_bytes(const struct sp_profile *p, const struct sp_context *c)
{
    size_t labels;
    const struct sp_label *l = sp_labels_of(p, c->labels, &labels);
    uint64_t n = (uint64_t)sp_pstr(p, c->comm).n + sp_pstr(p, c->extra_json).n;
    n += c->event != SP_NONE ? sp_pstr(p, p->events.v[c->event].name).n : 0;
    for (size_t k = 0; k < labels; k++)
        n += (uint64_t)sp_pstr(p, l[k].key).n + sp_pstr(p, l[k].value).n;
    return n;
}

static uint64_t repeated_by_stacks(const struct sp_profile *p)
{
    uint64_t n = 0;
    for (size_t i = 0; i < p->stacks.n; i++) {
        const struct sp_stack *s = &p->stacks.v[i];
        n += context_bytes(p, &p->contexts.v[s->context]);
        for (uint32_t k = 0; s->layout != SP_NONE && k < p->layouts.v[s->layout].n; k++) {
            uint32_t field = p->layouts.v[s->layout].first + k;
            n += sp_pstr(p, p->metrics.v[p->layout_fields.v[field].metric].name).n;
        }
    }
    return n;
}

bool sp_profile_repeats(const struct sp_profile *p, uint64_t *bytes)
{
    uint64_t most = sp_profile_most(p, NULL), composed = FACTOR * p->composed; /* is no measure of it */
    most = most > composed ? most - composed : 0;
    *bytes = repeated_by_frames(p) + repeated_by_stacks(p);
    return *bytes > (most > LEAST_REPEATED ? most : LEAST_REPEATED);
}

bool sp_profile_composes(struct sp_profile *p, size_t n)
{
    bool had = p->composed > COMPOSED_MOST;
    if (!had)
        p->composed += n;
    if (!had && p->composed > COMPOSED_MOST)
        sp_emit(p->diags, SP_L300, SP_AT_NOTHING,
                "more than %llu MiB of source lines: frames that would have further ones have none",
                (unsigned long long)(COMPOSED_MOST >> 20));
    return p->composed <= COMPOSED_MOST;
}
