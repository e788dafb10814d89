/* Rows of one top beside those of another. */
#include "analysis/top.h"

#include "base/hash.h"
#include "model/identity.h"

/* What two rows of different tops have in common when they are about the same thing. */
static struct sp_str top_join_dso_of(const struct sp_top *t, const struct sp_top_row *r)
{
    const struct sp_profile *p = t->profile;
    return r->dso == SP_NONE ? (struct sp_str){"", 0} : sp_base_name(sp_pstr(p, p->dsos.v[r->dso].name));
}

static uint64_t row_hash(const struct sp_top *t, const struct sp_top_row *r, struct sp_str name)
{
    struct sp_str dso = top_join_dso_of(t, r);
    return sp_hash_key_seed(dso.p, dso.n, sp_hash_key(name.p, name.n));
}

/* The row of the same function (or DSO), else of one of its name in a DSO of the same base name. */
static uint32_t same_row(const struct sp_top *t, const struct sp_map *map, const struct sp_top_row *r,
                         struct sp_str name)
{
    struct sp_probe at = sp_map_probe(map, row_hash(t, r, name));
    uint32_t alike = SP_NONE;
    for (uint32_t i; (i = sp_map_next(map, &at)) != SP_MAP_NONE;) {
        const struct sp_top_row *x = &t->rows.v[i];
        if (sp_str_cmp(sp_str_at(&t->names, x->name), name) != 0 ||
            sp_str_cmp(top_join_dso_of(t, x), top_join_dso_of(t, r)) != 0)
            continue;
        if (x->function == r->function && x->dso == r->dso)
            return i;
        if (alike == SP_NONE || i < alike)
            alike = i;
    }
    return alike;
}

static void add_extra(int64_t *to, int64_t v)
{
    if (v != SP_ABSENT && __builtin_add_overflow(*to == SP_ABSENT ? 0 : *to, v, to))
        *to = INT64_MAX;
}

/* The keys' texts of a row of another top, as a new row of t. */
static bool take_keys(struct sp_top *t, const struct sp_top *other, const struct sp_top_row *r,
                      uint32_t *keys)
{
    *keys = (uint32_t)t->keys.n;
    for (size_t k = 0; t->nkeys > 1 && k < t->nkeys; k++) {
        struct sp_str text = sp_top_key_text(other, r, k);
        uint32_t name = sp_intern(&t->names, text.p, text.n);
        if (name == SP_STR_FAIL || !sp_vec_push(&t->keys, name))
            return false;
    }
    return true;
}

static bool top_join_join(struct sp_top *t, const struct sp_top *other, struct sp_map *map)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < t->rows.n; i++)
        ok = sp_map_add(map, row_hash(t, &t->rows.v[i], sp_str_at(&t->names, t->rows.v[i].name)), i);
    for (size_t i = 0; ok && i < other->rows.n; i++) {
        const struct sp_top_row *r = &other->rows.v[i];
        struct sp_str name = sp_str_at(&other->names, r->name);
        if (same_row(t, map, r, name) != SP_NONE)
            continue;
        struct sp_top_row fresh = *r;
        fresh.name = sp_intern(&t->names, name.p, name.n);
        fresh.self = fresh.total = 0;
        fresh.samples = fresh.total_samples = SP_ABSENT;
        ok = fresh.name != SP_STR_FAIL && take_keys(t, other, r, &fresh.keys) &&
             sp_map_add(map, row_hash(t, r, name), (uint32_t)t->rows.n) && sp_vec_push(&t->rows, fresh);
    }
    struct sp_top_extra none = {0, 0, SP_ABSENT, SP_ABSENT};
    for (size_t e = 0; ok && e <= t->nextras; e++)
        while (ok && t->extras[e].n < t->rows.n)
            ok = sp_vec_push(&t->extras[e], none);
    for (size_t i = 0; ok && i < other->rows.n; i++) {
        const struct sp_top_row *r = &other->rows.v[i];
        struct sp_top_extra *x =
            &t->extras[t->nextras].v[same_row(t, map, r, sp_str_at(&other->names, r->name))];
        add_extra(&x->self, r->self);
        add_extra(&x->total, r->total);
        add_extra(&x->samples, r->samples);
        add_extra(&x->total_samples, r->total_samples);
    }
    return ok;
}

spaa_status sp_top_join(struct sp_top *t, const struct sp_top *other, struct sp_diags *d)
{
    struct sp_map map = {0};
    bool ok = t->nextras < SP_TOP_EXTRAS && top_join_join(t, other, &map);
    t->nextras += ok;
    sp_map_free(&map);
    return ok ? SPAA_OK : sp_nomem(d);
}
