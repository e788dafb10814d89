/* Rows of one top beside those of another. */
#include "analysis/top.h"

#include "base/hash.h"

static uint64_t row_hash(const struct sp_top_row *r, struct sp_str name)
{
    return sp_hash_mix((uint64_t)r->function << 32 | r->dso, sp_hash64(name.p, name.n));
}

static uint32_t same_row(const struct sp_top *t, const struct sp_map *map, const struct sp_top_row *r,
                         struct sp_str name)
{
    struct sp_probe at = sp_map_probe(map, row_hash(r, name));
    for (uint32_t i; (i = sp_map_next(map, &at)) != SP_MAP_NONE;)
        if (t->rows.v[i].function == r->function && t->rows.v[i].dso == r->dso &&
            sp_str_cmp(sp_str_at(&t->names, t->rows.v[i].name), name) == 0)
            return i;
    return SP_NONE;
}

static bool join(struct sp_top *t, const struct sp_top *other, struct sp_map *map)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < t->rows.n; i++)
        ok = sp_map_add(map, row_hash(&t->rows.v[i], sp_str_at(&t->names, t->rows.v[i].name)), i);
    for (size_t i = 0; ok && i < other->rows.n; i++) {
        const struct sp_top_row *r = &other->rows.v[i];
        struct sp_str name = sp_str_at(&other->names, r->name);
        if (same_row(t, map, r, name) != SP_NONE)
            continue;
        struct sp_top_row fresh = *r;
        fresh.name = sp_intern(&t->names, name.p, name.n);
        fresh.flat = fresh.cum = 0;
        fresh.samples = fresh.cum_samples = SP_ABSENT;
        ok = fresh.name != SP_STR_FAIL && sp_map_add(map, row_hash(r, name), (uint32_t)t->rows.n) &&
             sp_vec_push(&t->rows, fresh);
    }
    struct sp_top_extra none = {0, 0, SP_ABSENT, SP_ABSENT};
    for (size_t e = 0; ok && e <= t->nextras; e++)
        while (ok && t->extras[e].n < t->rows.n)
            ok = sp_vec_push(&t->extras[e], none);
    for (size_t i = 0; ok && i < other->rows.n; i++) {
        const struct sp_top_row *r = &other->rows.v[i];
        t->extras[t->nextras].v[same_row(t, map, r, sp_str_at(&other->names, r->name))] =
            (struct sp_top_extra){r->flat, r->cum, r->samples, r->cum_samples};
    }
    return ok;
}

spaa_status sp_top_join(struct sp_top *t, const struct sp_top *other, struct sp_diags *d)
{
    struct sp_map map = {0};
    bool ok = t->nextras < SP_TOP_EXTRAS && join(t, other, &map);
    t->nextras += ok;
    sp_map_free(&map);
    return ok ? SPAA_OK : sp_nomem(d);
}
