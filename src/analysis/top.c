#include "analysis/top.h"

#include "analysis/chains.h"
#include "analysis/fold.h"
#include "analysis/match.h"
#include "analysis/name_order.h"
#include "analysis/top_keys.h"
#include "base/hash.h"

#include <stdlib.h>

/* The keys that are of frames, or those that are of contexts: what a thing is by all of them is a tuple. */
struct side {
    struct sp_top_keys *keys;
    uint32_t (*group)(struct sp_top_keys *x, size_t k, uint32_t thing);
    size_t key[SP_BY_KEYS], n;
    SP_VEC(uint32_t) tuples; /* n groups each; of one key, a tuple is the number of its group */
    struct sp_map map;
    struct sp_fold_key fold;
};

struct pair {
    uint32_t context, frame; /* tuples */
};

struct builder {
    struct sp_selection *s;
    struct sp_top t;
    struct sp_top_keys keys;
    struct side frames, contexts;
    SP_VEC(struct pair) pairs; /* the rows, where there are keys of both sides */
    struct sp_fold sums;
    struct sp_buf text;
};

/* ---- tuples ---- */

static uint32_t tuple_for(struct side *x, const uint32_t *groups)
{
    uint64_t hash = sp_hash_key(groups, x->n * sizeof *groups);
    struct sp_probe at = sp_map_probe(&x->map, hash);
    for (uint32_t i; (i = sp_map_next(&x->map, &at)) != SP_MAP_NONE;)
        if (memcmp(x->tuples.v + i * x->n, groups, x->n * sizeof *groups) == 0)
            return i;
    uint32_t number = (uint32_t)(x->tuples.n / x->n);
    if (!sp_vec_reserve(&x->tuples, x->tuples.n + x->n) || !sp_map_add(&x->map, hash, number))
        return SP_FOLD_FAIL;
    memcpy(x->tuples.v + x->tuples.n, groups, x->n * sizeof *groups);
    x->tuples.n += x->n;
    return number;
}

static uint32_t make_tuple(void *arg, uint32_t thing)
{
    struct side *x = arg;
    uint32_t groups[SP_BY_KEYS];
    for (size_t k = 0; k < x->n; k++)
        if ((groups[k] = x->group(x->keys, x->key[k], thing)) == SP_NONE)
            return SP_FOLD_FAIL;
    return x->n == 1 ? groups[0] : tuple_for(x, groups);
}

static uint32_t make_pair(void *arg, uint32_t context, uint32_t frame)
{
    struct builder *b = arg;
    struct pair fresh = {context, frame};
    return sp_vec_push(&b->pairs, fresh) ? (uint32_t)b->pairs.n - 1 : SP_FOLD_FAIL;
}

static bool side_init(struct side *x, struct builder *b, bool frames)
{
    const struct sp_profile *p = b->s->profile;
    size_t n = frames ? p->frames.n : p->contexts.n;
    x->keys = &b->keys;
    x->group = frames ? sp_top_group_of_frame : sp_top_group_of_context;
    for (size_t k = 0; k < b->keys.n; k++)
        if (sp_by_is_of_frames(b->keys.v[k].by.kind) == frames)
            x->key[x->n++] = k;
    if (!x->n)
        return true;
    x->fold = (struct sp_fold_key){malloc((n + 1) * sizeof *x->fold.of), SP_FOLD_NEW, make_tuple, x};
    for (size_t i = 0; x->fold.of && i < n; i++)
        x->fold.of[i] = SP_FOLD_NEW;
    return x->fold.of != NULL;
}

static void side_free(struct side *x)
{
    sp_vec_free(&x->tuples);
    sp_map_free(&x->map);
    free(x->fold.of);
}

/* ---- rows ---- */

/* What a row is of key k: `at` counts the keys of each side that were there before. */
static const struct sp_top_group *group_of(const struct builder *b, uint32_t row, size_t k, size_t at[2])
{
    bool frames = sp_by_is_of_frames(b->keys.v[k].by.kind);
    const struct side *x = frames ? &b->frames : &b->contexts;
    bool both = b->frames.n && b->contexts.n;
    uint32_t tuple = !both ? row : frames ? b->pairs.v[row].frame : b->pairs.v[row].context;
    uint32_t group = x->n == 1 ? tuple : x->tuples.v[tuple * x->n + at[frames]];
    at[frames]++;
    return &b->keys.v[k].groups.v[group];
}

static bool add_key(struct builder *b, struct sp_top_row *r, size_t k, const struct sp_top_group *g)
{
    struct sp_str name = sp_str_at(&b->t.names, g->name);
    r->function = g->function != SP_NONE ? g->function : r->function;
    r->dso = g->dso != SP_NONE ? g->dso : r->dso;
    r->context = g->context != SP_NONE ? g->context : r->context;
    r->tags |= g->tags;
    if (b->keys.n == 1) {
        r->name = g->name;
        return true;
    }
    sp_buf_puts(&b->text, k ? " / " : "");
    sp_buf_add(&b->text, name.p, name.n);
    return sp_vec_push(&b->t.keys, g->name);
}

static bool add_row(struct builder *b, uint32_t number)
{
    const struct sp_fold_sum *self = &b->sums.self.v[number], *total = &b->sums.total.v[number];
    struct sp_top_row r = {.function = SP_NONE,
                           .dso = SP_NONE,
                           .keys = (uint32_t)b->t.keys.n,
                           .self = self->weight,
                           .total = total->weight,
                           .at_most = SP_ABSENT,
                           .samples = self->samples,
                           .total_samples = total->samples,
                           .context = SP_NONE};
    size_t at[2] = {0, 0};
    bool ok = true;
    sp_buf_clear(&b->text);
    for (size_t k = 0; ok && k < b->keys.n; k++)
        ok = add_key(b, &r, k, group_of(b, number, k, at));
    if (ok && b->keys.n > 1) {
        r.name = sp_intern(&b->t.names, sp_buf_text(&b->text), b->text.len);
        ok = !b->text.failed && r.name != SP_STR_FAIL;
    }
    return ok && sp_vec_push(&b->t.rows, r);
}

/* What functions are known for, each looked at once. */
static bool top_tag_rows(struct builder *b)
{
    enum { DONE = 0x80 };
    unsigned char *tags = calloc(b->s->profile->functions.n + 1, 1);
    for (size_t i = 0; tags && i < b->t.rows.n; i++) {
        struct sp_top_row *r = &b->t.rows.v[i];
        if (r->function == SP_NONE)
            continue;
        if (!tags[r->function])
            tags[r->function] = (unsigned char)(DONE | sp_function_tags(b->s, r->function));
        r->tags |= tags[r->function] & ~(unsigned)DONE;
    }
    bool ok = tags != NULL;
    free(tags);
    return ok;
}

/* What totals are at most, where groups are of frames alone. */
static spaa_status top_find_bounds(struct builder *b, struct sp_diags *d)
{
    bool known;
    uint32_t *of = b->frames.fold.of;
    if (!b->frames.n || b->contexts.n || !sp_chains_tell(b->s))
        return SPAA_OK;
    for (size_t i = 0; i < b->s->profile->frames.n; i++)
        of[i] = of[i] == SP_FOLD_NEW ? SP_NONE : of[i];
    int64_t *more = malloc((b->t.rows.n + 1) * sizeof *more);
    spaa_status st = more ? sp_chains_at_most(b->s, of, b->t.rows.n, d, more, &known) : sp_nomem(d);
    for (size_t i = 0; !st && known && i < b->t.rows.n; i++)
        if (b->t.rows.v[i].dso != SP_NONE)
            b->t.rows.v[i].at_most = b->t.rows.v[i].total + more[i];
    free(more);
    return st;
}

struct top_order {
    const struct sp_top *t;
    bool total;
};

static int top_cmp_row(const void *va, const void *vb, void *arg)
{
    const struct top_order *o = arg;
    const struct sp_top_row *a = va, *b = vb;
    int64_t x[2] = {o->total ? a->total : a->self, o->total ? a->self : a->total};
    int64_t y[2] = {o->total ? b->total : b->self, o->total ? b->self : b->total};
    for (int i = 0; i < 2; i++)
        if (x[i] != y[i])
            return x[i] > y[i] ? -1 : 1;
    int c = sp_str_cmp(sp_str_at(&o->t->names, a->name), sp_str_at(&o->t->names, b->name));
    const struct sp_profile *p = o->t->profile;
    if (!c && a->dso != SP_NONE && b->dso != SP_NONE)
        c = sp_str_cmp(sp_pstr(p, p->dsos.v[a->dso].name), sp_pstr(p, p->dsos.v[b->dso].name));
    if (!c && a->function != SP_NONE && b->function != SP_NONE)
        return sp_function_name_cmp(p, a->function, b->function);
    c = c ? c : (a->dso > b->dso) - (a->dso < b->dso);
    return c ? c : (a->function > b->function) - (a->function < b->function);
}

static spaa_status top_make(struct builder *b, const struct sp_by_list *by, struct sp_diags *d)
{
    spaa_status st = sp_strtab_init(&b->t.names) ? SPAA_OK : sp_nomem(d);
    if (!st)
        st = sp_top_keys_init(&b->keys, b->s, by, &b->t.names, d);
    if (st)
        return st;
    struct sp_fold_by how = {.pair = make_pair, .arg = b};
    bool ok = side_init(&b->frames, b, true) && side_init(&b->contexts, b, false);
    how.frames = b->frames.n ? &b->frames.fold : NULL;
    how.contexts = b->contexts.n ? &b->contexts.fold : NULL;
    ok = ok && sp_fold(b->s, &how, &b->sums);
    for (uint32_t i = 0; ok && i < b->sums.self.n; i++)
        ok = add_row(b, i);
    ok = ok && top_tag_rows(b);
    return ok ? top_find_bounds(b, d) : sp_nomem(d);
}

spaa_status sp_top_by(struct sp_selection *s, const struct sp_by_list *by, bool sort_total,
                      struct sp_diags *d, struct sp_top *out)
{
    struct builder b = {.s = s, .t = {.profile = s->profile, .nkeys = by->n}};
    struct top_order o = {&b.t, sort_total};
    sp_buf_init(&b.text, 0);
    spaa_status st = top_make(&b, by, d);
    if (!st && b.t.rows.n)
        qsort_r(b.t.rows.v, b.t.rows.n, sizeof *b.t.rows.v, top_cmp_row, &o);
    side_free(&b.frames);
    side_free(&b.contexts);
    sp_vec_free(&b.pairs);
    sp_top_keys_free(&b.keys);
    sp_fold_free(&b.sums);
    sp_buf_free(&b.text);
    if (st)
        sp_top_free(&b.t);
    else
        *out = b.t;
    return st;
}

spaa_status sp_top_build(struct sp_selection *s, enum sp_by by, bool sort_total, struct sp_diags *d,
                         struct sp_top *out)
{
    struct sp_by_list list = sp_by_one(by);
    return sp_top_by(s, &list, sort_total, d, out);
}

struct sp_str sp_top_key_text(const struct sp_top *t, const struct sp_top_row *row, size_t k)
{
    return sp_str_at(&t->names, t->nkeys == 1 ? row->name : t->keys.v[row->keys + k]);
}

void sp_top_free(struct sp_top *t)
{
    sp_vec_free(&t->rows);
    sp_vec_free(&t->keys);
    sp_strtab_free(&t->names);
    for (size_t i = 0; i < SP_TOP_EXTRAS; i++)
        sp_vec_free(&t->extras[i]);
}

spaa_status sp_top_sum(struct sp_selection *s, const char *pattern, struct sp_diags *d, int64_t *weight,
                       int64_t *samples, bool *any)
{
    const struct sp_profile *p = s->profile;
    unsigned char *hits = NULL;
    struct sp_fold sums = {0};
    struct sp_fold_key key = {.bare = SP_NONE};
    spaa_status st = sp_match_functions(p, pattern, d, &hits);
    if (!st && !(key.of = malloc((p->frames.n + 1) * sizeof *key.of)))
        st = sp_nomem(d);
    for (size_t i = 0; !st && i < p->frames.n; i++)
        key.of[i] = hits[p->frames.v[i].function] ? 0 : SP_NONE; /* all that match are one group */
    if (!st && !(sp_fold_reserve(&sums, 1) && sp_fold(s, &(struct sp_fold_by){.frames = &key}, &sums)))
        st = sp_nomem(d);
    *weight = st ? 0 : sums.total.v[0].weight;
    *samples = st ? SP_ABSENT : sums.total.v[0].samples;
    *any = !st && memchr(hits, 1, p->functions.n);
    sp_fold_free(&sums);
    free(key.of);
    free(hits);
    return st;
}
