/*
 * Which rows of the two sides are the same, beyond equal keys: binaries that were renamed.
 *
 * --map is looked at while a run is taken in, so that functions of both names are counted once a stack. What
 * is found out by itself needs no such care: it is about binaries that only one side has, and their numbers
 * just move.
 */
#include "analysis/diff_private.h"

#include "analysis/normalise.h"
#include "analysis/signature.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/nearest.h"

/* ---- --map ---- */

/* A binary by its path, the last part of it, or what that is without its version. */
static bool names_it(struct sp_str asked, struct sp_str dso)
{
    struct sp_buf a, b;
    if (sp_str_cmp(asked, dso) == 0 || sp_str_cmp(asked, sp_last_part(dso)) == 0)
        return true;
    sp_buf_init(&a, 0);
    sp_buf_init(&b, 0);
    sp_normal_dso(&a, dso);
    sp_normal_dso(&b, asked);
    bool same = a.len == asked.n && b.len == asked.n && memcmp(a.data, asked.p, a.len) == 0;
    sp_buf_free(&a);
    sp_buf_free(&b);
    return same;
}

spaa_status sp_diff_map(struct sp_diff *d, const char *text)
{
    const char *eq = strchr(text, '=');
    struct sp_diff_map m = {0};
    if (!eq || eq == text || !eq[1]) {
        sp_emit(d->diags, SP_E037, SP_AT_NOTHING, "--map needs OLD=NEW, two names of binaries, not \"%s\"",
                text);
        return SPAA_ERR_USAGE;
    }
    m.name[SP_BASE] = (struct sp_str){text, (uint32_t)(eq - text)};
    m.name[SP_NEW] = (struct sp_str){eq + 1, (uint32_t)strlen(eq + 1)};
    for (size_t i = 0; i < d->maps.n; i++)
        if (sp_str_cmp(d->maps.v[i].name[SP_BASE], m.name[SP_BASE]) == 0) {
            sp_emit(d->diags, SP_E037, SP_AT_NOTHING, "--map names %.*s twice", (int)(eq - text), text);
            return SPAA_ERR_USAGE;
        }
    return sp_vec_push(&d->maps, m) ? SPAA_OK : sp_nomem(d->diags);
}

struct sp_str sp_diff_mapped(const struct sp_diff *d, unsigned side, struct sp_str dso)
{
    for (size_t i = 0; side == SP_BASE && i < d->maps.n; i++)
        if (names_it(d->maps.v[i].name[SP_BASE], dso))
            return d->maps.v[i].name[SP_NEW];
    return dso;
}

bool sp_diff_note_dsos(struct sp_diff *d, unsigned side, const struct sp_profile *p)
{
    for (size_t i = 0; d->maps.n && i < p->dsos.n; i++) {
        struct sp_str dso = sp_pstr(p, p->dsos.v[i].name), part = sp_last_part(dso);
        for (size_t k = 0; k < d->maps.n; k++) {
            struct sp_diff_map *m = &d->maps.v[k];
            m->seen[side] = m->seen[side] || names_it(m->name[side], dso);
        }
        uint32_t id = sp_intern(&d->strs, part.p, part.n);
        if (id == SP_STR_FAIL || !sp_vec_push(&d->dsos[side], id))
            return false;
    }
    return true;
}

/* What --map names has to be there. */
static spaa_status check_maps(struct sp_diff *d)
{
    for (size_t i = 0; i < d->maps.n; i++)
        for (unsigned side = 0; side < SP_SIDES; side++) {
            const struct sp_diff_map *m = &d->maps.v[i];
            if (m->seen[side])
                continue;
            struct sp_str *names = calloc(d->dsos[side].n + 1, sizeof *names);
            struct sp_buf asked, hint;
            size_t n = 0;
            if (!names)
                return sp_nomem(d->diags);
            for (size_t k = 0; k < d->dsos[side].n; k++)
                if (sp_str_at(&d->strs, d->dsos[side].v[k]).p[0] != '[')
                    names[n++] = sp_str_at(&d->strs, d->dsos[side].v[k]);
            sp_buf_init(&asked, 0);
            sp_buf_init(&hint, 64 << 10);
            sp_buf_add(&asked, m->name[side].p, m->name[side].n);
            sp_nearest_words(&hint, sp_buf_cstr(&asked), names, n);
            sp_emit_hint(d->diags, SP_E641, SP_AT_NOTHING, sp_buf_cstr(&hint), "%s of --map is not in the %s",
                         sp_buf_cstr(&asked), side == SP_BASE ? "base" : "new side");
            sp_buf_free(&asked);
            sp_buf_free(&hint);
            free(names);
            return SPAA_ERR_NOT_FOUND;
        }
    return SPAA_OK;
}

/* ---- binaries ---- */

/* The functions that were seen, with their shares: by names without arguments, which sources and languages
 * tell more or less of. */
static bool diff_match_find_uses(struct sp_diff *d, struct sp_binary_use **out, size_t *n)
{
    struct sp_binary_use *v = calloc(SP_SIDES * d->keys.n + 1, sizeof *v);
    struct sp_buf text;
    bool ok = v != NULL;
    sp_buf_init(&text, 0);
    *out = v;
    *n = 0;
    for (uint32_t k = 0; ok && k < d->keys.n; k++) {
        const struct sp_diff_key *key = &d->keys.v[k];
        if (key->build || sp_str_is(sp_str_at(&d->strs, key->function), "[unresolved]"))
            continue;
        sp_buf_clear(&text);
        sp_name_form(&text, sp_str_at(&d->strs, key->function), SP_NAME_BARE);
        uint32_t name = sp_intern(&d->strs, text.data ? text.data : "", text.len);
        ok = name != SP_STR_FAIL && !text.failed;
        for (unsigned side = 0; side < SP_SIDES; side++) {
            struct sp_binary_use use = {key->dso, name, side, 0};
            bool seen = false;
            for (size_t i = 0; i < d->runs[side].n; i++) {
                const struct sp_diff_run *r = d->runs[side].v[i];
                const struct sp_diff_value *self = &r->values[SP_SELF][k], *total = &r->values[SP_TOTAL][k];
                seen = seen || self->weight || total->weight;
                use.weight += r->total > 0 ? (double)self->weight / (double)r->total : 0;
            }
            if (seen)
                v[(*n)++] = use;
        }
    }
    sp_buf_free(&text);
    *n = ok ? sp_binary_uses_join(v, *n) : 0;
    return ok;
}

/* Where keys of renamed binaries go: per key 1 + the one of the same function in the new binary, or 0. */
static bool find_moves(struct sp_diff *d, const struct sp_binary_pairs *pairs, uint32_t *to, uint32_t *moved)
{
    struct sp_map map = {0};
    unsigned char *is_new = calloc(d->strs.strs.n + 1, 1);
    bool ok = is_new != NULL;
    for (size_t i = 0; ok && i < pairs->v.n; i++)
        if (pairs->v.v[i].how != SP_BINARY_CANDIDATE) {
            to[pairs->v.v[i].dso[SP_BASE]] = pairs->v.v[i].dso[SP_NEW];
            is_new[pairs->v.v[i].dso[SP_NEW]] = 1;
        }
    for (uint32_t k = 0; ok && k < d->keys.n; k++) {
        const struct sp_diff_key *key = &d->keys.v[k];
        if (is_new[key->dso] && !key->build)
            ok = sp_map_add(&map, sp_hash_mix(key->function, key->dso), k);
    }
    for (uint32_t k = 0; ok && k < d->keys.n; k++) {
        const struct sp_diff_key *key = &d->keys.v[k];
        if (!to[key->dso] || key->build)
            continue;
        struct sp_probe at = sp_map_probe(&map, sp_hash_mix(key->function, to[key->dso]));
        for (uint32_t i; (i = sp_map_next(&map, &at)) != SP_MAP_NONE;)
            if (d->keys.v[i].function == key->function && d->keys.v[i].dso == to[key->dso])
                moved[k] = i + 1;
    }
    sp_map_free(&map);
    free(is_new);
    return ok;
}

/* The keys of binaries of the base become those of what they are called now, which no run has that has these.
 */
static bool move_binaries(struct sp_diff *d, const struct sp_binary_pairs *pairs)
{
    uint32_t *to = calloc(d->strs.strs.n + 1, sizeof *to);  /* per binary: what it is called now, or 0 */
    uint32_t *moved = calloc(d->keys.n + 1, sizeof *moved); /* per key */
    bool ok = to && moved && find_moves(d, pairs, to, moved);
    for (uint32_t k = 0; ok && k < d->keys.n; k++) {
        struct sp_diff_key *key = &d->keys.v[k];
        key->dso = to[key->dso] ? to[key->dso] : key->dso;
        if (!moved[k])
            continue;
        struct sp_diff_key *other = &d->keys.v[moved[k] - 1];
        other->plain = other->plain || key->plain;
        for (size_t i = 0; i < d->runs[SP_BASE].n; i++)
            sp_diff_move_key(d->runs[SP_BASE].v[i], k, moved[k] - 1);
    }
    for (uint32_t k = 0; ok && k < d->keys.n; k++) {
        uint32_t all = d->keys.v[k].all;
        if (all != SP_NONE && moved[all])
            d->keys.v[k].all = moved[all] - 1;
    }
    free(to);
    free(moved);
    return ok;
}

/* The last part of the path of each binary, by side: as the last run with it has it. */
static bool spellings(struct sp_diff *d, uint32_t *as[SP_SIDES])
{
    for (unsigned side = 0; side < SP_SIDES; side++) {
        as[side] = calloc(d->strs.strs.n + 1, sizeof **as);
        if (!as[side])
            return false;
    }
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t i = 0; i < d->runs[side].n; i++)
            for (uint32_t k = 0; k < d->keys.n; k++) {
                uint32_t name = d->runs[side].v[i]->names[k].dso;
                if (name)
                    as[side][d->keys.v[k].dso] = name;
            }
    return true;
}

static bool same_spelling(const struct sp_diff *d, uint32_t a, uint32_t b)
{
    return sp_str_cmp(sp_last_part(sp_str_at(&d->strs, a)), sp_last_part(sp_str_at(&d->strs, b))) == 0;
}

static bool diff_match_add_pair(struct sp_diff *d, struct sp_binary_pair p, uint32_t base, uint32_t fresh)
{
    struct sp_str a = sp_last_part(sp_str_at(&d->strs, base)), b = sp_last_part(sp_str_at(&d->strs, fresh));
    p.dso[SP_BASE] = sp_intern(&d->strs, a.p, a.n);
    p.dso[SP_NEW] = sp_intern(&d->strs, b.p, b.n);
    return p.dso[SP_BASE] != SP_STR_FAIL && p.dso[SP_NEW] != SP_STR_FAIL && sp_vec_push(&d->binaries.v, p);
}

/* What is compared under two spellings: other versions, and what --map says. */
static bool tell_known(struct sp_diff *d, const struct sp_binary_use *uses, size_t n, uint32_t *as[SP_SIDES])
{
    size_t strings = d->strs.strs.n;
    for (uint32_t i = 1; i < strings; i++) {
        struct sp_binary_pair p = {.how = SP_BINARY_BY_NAME};
        bool mapped = false;
        if (!as[SP_BASE][i] || !as[SP_NEW][i] || same_spelling(d, as[SP_BASE][i], as[SP_NEW][i]) ||
            sp_str_at(&d->strs, i).p[0] == '[')
            continue;
        for (size_t k = 0; k < d->maps.n; k++)
            mapped = mapped || names_it(d->maps.v[k].name[SP_NEW], sp_str_at(&d->strs, as[SP_NEW][i]));
        p.how = mapped ? SP_BINARY_MAPPED : SP_BINARY_BY_NAME;
        sp_binaries_count(uses, n, &p, i, i);
        if (!diff_match_add_pair(d, p, as[SP_BASE][i], as[SP_NEW][i]))
            return false;
    }
    return true;
}

spaa_status sp_diff_match_binaries(struct sp_diff *d)
{
    struct sp_binary_pairs found = {0};
    struct sp_binary_use *uses = NULL;
    uint32_t *as[SP_SIDES] = {NULL, NULL};
    size_t n = 0;
    spaa_status st = check_maps(d);
    if (st)
        return st;
    bool ok = diff_match_find_uses(d, &uses, &n) && spellings(d, as) &&
              sp_binaries_pair(&d->strs, uses, n, &found) && tell_known(d, uses, n, as);
    for (size_t i = 0; ok && i < found.v.n; i++) {
        struct sp_binary_pair *p = &found.v.v[i];
        ok = diff_match_add_pair(d, *p, as[SP_BASE][p->dso[SP_BASE]], as[SP_NEW][p->dso[SP_NEW]]);
    }
    ok = ok && (!found.v.n || move_binaries(d, &found));
    if (ok && found.too_many)
        sp_emit(d->diags, SP_W644, SP_AT_NOTHING,
                "those of one side alone are compared with none of the other");
    free(uses);
    free(as[SP_BASE]);
    free(as[SP_NEW]);
    sp_vec_free(&found.v);
    return ok ? SPAA_OK : sp_nomem(d->diags);
}
