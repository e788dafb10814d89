#include "model/extent.h"

#include "model/samples.h"

#define LEAST_MOST ((uint64_t)64 << 20)

/* What parts of a profile take, about, where they are written once each. */
enum { FACTOR = 100, OF_FRAME_IN_STACK = 8, OF_RECORD = 64, OF_STACK = 128, OF_SAMPLE = 256 };

static uint64_t extent_plus(uint64_t a, uint64_t b)
{
    return __builtin_add_overflow(a, b, &a) ? UINT64_MAX : a;
}

static uint64_t extent_held(const struct sp_profile *p)
{
    uint64_t held = 0;
    for (size_t i = 0; i < p->strs.strs.n; i++)
        held += p->strs.strs.v[i].n;
    held += OF_RECORD * (uint64_t)(p->frames.n + p->functions.n + p->contexts.n);
    held += OF_STACK * (uint64_t)p->stacks.n + OF_FRAME_IN_STACK * (uint64_t)p->stack_frames.n;
    return held + (p->samples ? OF_SAMPLE * sp_samples_count(p->samples) : 0);
}

struct sp_extent sp_profile_extent(const struct sp_profile *p)
{
    struct sp_extent e = {.most = extent_held(p) * FACTOR};
    if (e.most < LEAST_MOST)
        e.most = LEAST_MOST;
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        const uint32_t *f = sp_stack_frames(p, s);
        uint64_t n = p->stacks.v[s].n, names = n;
        for (uint64_t i = 0; i < n; i++)
            names += sp_pstr(p, sp_frame_function(p, f[i])->name).n;
        e.longest = names > e.longest ? names : e.longest;
        e.spelled = extent_plus(e.spelled, extent_plus(names, n * n));
    }
    return e;
}
