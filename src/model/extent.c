#include "model/extent.h"

#include "model/samples.h"

#define LEAST_MOST ((uint64_t)64 << 20)

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
