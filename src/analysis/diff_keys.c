/* Keys: what functions of all runs are matched by; and the rows that they become. */
#include "analysis/diff_private.h"

#include "base/hash.h"

uint32_t sp_diff_key_at(struct sp_diff *d, uint32_t f, uint32_t o, uint32_t build, uint32_t all)
{
    uint64_t hash = sp_hash_mix(f, (uint64_t)build << 32 | o);
    struct sp_probe at = sp_map_probe(&d->key_map, hash);
    for (uint32_t i; (i = sp_map_next(&d->key_map, &at)) != SP_MAP_NONE;)
        if (d->keys.v[i].function == f && d->keys.v[i].dso == o && d->keys.v[i].build == build)
            return i;
    struct sp_diff_key key = {f, o, build, all, false};
    uint32_t number = (uint32_t)d->keys.n;
    return sp_map_add(&d->key_map, hash, number) && sp_vec_push(&d->keys, key) ? number : SP_NONE;
}

uint32_t sp_diff_overloads_key(struct sp_diff *d, uint32_t function, uint32_t dso)
{
    uint32_t build = sp_intern_cstr(&d->strs, SP_DIFF_OVERLOADS);
    return build == SP_STR_FAIL ? SP_NONE : sp_diff_key_at(d, function, dso, build, SP_NONE);
}

bool sp_diff_is_overloads(const struct sp_diff *d, uint32_t key)
{
    uint32_t build = d->keys.v[key].build;
    return build && sp_str_is(sp_str_at(&d->strs, build), SP_DIFF_OVERLOADS);
}

void sp_diff_move_key(struct sp_diff_run *r, uint32_t from, uint32_t to)
{
    for (unsigned f = 0; f < SP_FAMILIES; f++) {
        struct sp_diff_value *a = &r->values[f][from], *b = &r->values[f][to];
        b->weight += a->weight;
        b->samples += a->samples;
        *a = (struct sp_diff_value){0};
    }
    const struct sp_diff_forms *had = sp_diff_forms_of(r, from);
    struct sp_diff_forms *has = sp_diff_forms_of(r, to);
    for (unsigned f = 0; had && has && f < SP_FORMS; f++) {
        has->weight[f] += had->weight[f];
        has->samples[f] += had->samples[f];
    }
    if (!has)
        r->form_of[to] = r->form_of[from];
    r->form_of[from] = 0;
    for (unsigned f = 0; f < SP_FAMILIES && r->has_other; f++) {
        r->other[f][to] += r->other[f][from];
        r->other[f][from] = 0;
    }
    for (unsigned i = 0; i < SP_FAMILIES * r->blocks; i++) {
        double *x = r->block_values + (size_t)from * SP_FAMILIES * r->blocks + i;
        r->block_values[(size_t)to * SP_FAMILIES * r->blocks + i] += *x;
        *x = 0;
    }
    if (r->names[from].function)
        r->names[to] = r->names[from];
    r->names[from] = (struct sp_diff_name){0};
}

struct sp_diff_row *sp_diff_row_at(struct sp_diff *d, size_t i)
{
    if (i < d->rows.n)
        return &d->rows.v[i];
    i -= d->rows.n;
    return i < d->appeared.n ? &d->appeared.v[i] : &d->vanished.v[i - d->appeared.n];
}
