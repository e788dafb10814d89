/*
 * What a run shows of its functions beside their weights, for functions that have another name on the other
 * side (diff_renamed.c): where they are declared, what calls them, and at which of their places samples were.
 */
#include "analysis/diff_private.h"

#include "analysis/normalise.h"
#include "base/hash.h"
#include "model/functions.h"

#define SEVERAL 4 /* beside the leaf, so many callers up a function is met by its callee */

struct bodies {
    struct sp_diff_run *r;
    const struct sp_selection *s;
    const uint32_t *frame_keys;
    struct sp_map map;
};

static bool bodies_add(struct bodies *b, uint32_t key, enum sp_body_fact what, uint64_t value, double weight)
{
    uint64_t hash = sp_hash_mix((uint64_t)key << 2 | what, value);
    struct sp_probe at = sp_map_probe(&b->map, hash);
    for (uint32_t i; (i = sp_map_next(&b->map, &at)) != SP_MAP_NONE;) {
        struct sp_body *x = &b->r->bodies.v[i];
        if (x->key != key || x->what != what || x->value != value)
            continue;
        x->weight += weight;
        return true;
    }
    struct sp_body x = {key, what, value, weight};
    return sp_map_add(&b->map, hash, (uint32_t)b->r->bodies.n) && sp_vec_push(&b->r->bodies, x);
}

/* Where in its function a frame is; false: it is not known, or inlined, where the place is its host's. */
static bool place_of(const struct sp_profile *p, uint32_t frame, uint64_t *offset)
{
    const struct sp_frame *f = &p->frames.v[frame];
    const struct sp_func_info *x = sp_frame_known(p, frame);
    bool start = x && x->flags & SP_FUNC_START && f->flags & SP_FRAME_IP && f->ip >= x->start;
    *offset = f->flags & SP_FRAME_SYMOFF ? f->symoff : start ? f->ip - x->start : 0;
    return !(f->flags & SP_FRAME_INLINED) && (start || f->flags & SP_FRAME_SYMOFF);
}

/* A stack: its leaf's place, and who called whom near it. */
static bool bodies_of(struct bodies *b, const uint32_t *f, size_t n, double weight)
{
    uint64_t offset;
    if (n && place_of(b->s->profile, f[0], &offset) &&
        !bodies_add(b, b->frame_keys[f[0]], SP_BODY_PLACE, offset, weight))
        return false;
    for (size_t k = 0; k + 1 < n && k < SEVERAL; k++) {
        uint32_t callee = b->frame_keys[f[k]], caller = b->frame_keys[f[k + 1]];
        if (callee != caller && (!bodies_add(b, callee, SP_BODY_CALLER, caller, weight) ||
                                 !bodies_add(b, caller, SP_BODY_CALLEE, callee, weight)))
            return false;
    }
    return true;
}

/* Once a function, whatever its weight. */
static bool declarations(struct bodies *b, struct sp_diff *d)
{
    const struct sp_profile *p = b->s->profile;
    for (uint32_t i = 0; i < p->frames.n; i++) {
        const struct sp_func_info *x = sp_frame_known(p, i);
        if (!x || !x->line || !x->file)
            continue;
        struct sp_str file = sp_last_part(sp_pstr(p, x->file));
        uint32_t name = sp_intern(&d->strs, file.p, file.n);
        if (name == SP_STR_FAIL ||
            !bodies_add(b, b->frame_keys[i], SP_BODY_DECLARED, (uint64_t)name << 32 | x->line, 1))
            return false;
    }
    return true;
}

bool sp_diff_take_bodies(struct sp_diff *d, struct sp_diff_run *r, struct sp_selection *s,
                         const uint32_t *frame_keys)
{
    struct bodies b = {.r = r, .s = s, .frame_keys = frame_keys};
    bool ok = declarations(&b, d);
    for (size_t i = 0; ok && i < s->rows.n; i++) {
        size_t n;
        const uint32_t *f = sp_selected_frames(s, i, &n);
        const struct sp_selected *x = &s->rows.v[i];
        ok = f && bodies_of(&b, f, n, x->samples > 0 ? (double)x->samples : (double)x->weight);
    }
    sp_map_free(&b.map);
    return ok;
}
