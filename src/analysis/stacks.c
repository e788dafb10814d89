#include "analysis/stacks.h"

#include "base/map.h"
#include "base/watch.h"

#include <stdlib.h>

void sp_stack_id_add(struct sp_buf *b, const struct sp_profile *p, uint32_t stack)
{
    const struct sp_stack_id *id = &p->ids.v[stack];
    char t[32];
    if (id->text) {
        struct sp_str s = sp_pstr(p, id->text);
        sp_buf_add(b, s.p, s.n);
    } else {
        sp_buf_add(b, t, sp_stack_id_text(id, t));
    }
}

/* The order of ids: by hash and suffix, foreign ones by text, after ours. */
static int stacks_cmp_id(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    const struct sp_stack_id *x = &p->ids.v[a], *y = &p->ids.v[b];
    if (x->text || y->text)
        return !x->text || !y->text ? (x->text != 0) - (y->text != 0)
                                    : sp_str_cmp(sp_pstr(p, x->text), sp_pstr(p, y->text));
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->suffix > y->suffix) - (x->suffix < y->suffix);
}

static int stacks_cmp_row(const void *va, const void *vb, void *arg)
{
    const struct sp_selection *s = arg;
    const struct sp_stack_row *x = va, *y = vb;
    const struct sp_selected *a = &s->rows.v[x->row], *b = &s->rows.v[y->row];
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    int c = stacks_cmp_id(s->profile, a->stack, b->stack);
    return c ? c : (x->row > y->row) - (x->row < y->row);
}

/* ---- stacks of one pool ---- */

struct joiner {
    const struct sp_selection *s;
    struct sp_stack_row *rows;
    struct sp_map map; /* of rows of pools */
};

static bool stacks_same_frames(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    if (a == SP_NONE || b == SP_NONE)
        return a == b;
    const struct sp_stack *x = &p->stacks.v[a], *y = &p->stacks.v[b];
    return x->n == y->n && x->type == y->type && x->exclusive < 2 && y->exclusive < 2 &&
           (!x->n || !memcmp(sp_stack_frames(p, a), sp_stack_frames(p, b), x->n * sizeof(uint32_t)));
}

/* All but the thread is equal, as it is recorded: so is what filters leave of it. */
static bool stacks_one_stack(const struct sp_selection *s, const struct sp_selected *a,
                             const struct sp_selected *b)
{
    const struct sp_profile *p = s->profile;
    const struct sp_context *x = &p->contexts.v[p->stacks.v[a->stack].context],
                            *y = &p->contexts.v[p->stacks.v[b->stack].context];
    return x->event == y->event && x->cpu == y->cpu && x->state == y->state && x->source == y->source &&
           x->extra_json == y->extra_json && stacks_same_frames(p, a->stack, b->stack) &&
           stacks_same_frames(p, a->kernel, b->kernel);
}

static uint64_t stacks_hash_of(const struct sp_selection *s, const struct sp_selected *x, uint32_t pool)
{
    const struct sp_stack *stack = &s->profile->stacks.v[x->stack];
    uint32_t n = stack->n < 64 ? stack->n : 64;
    return sp_stack_key(n ? sp_stack_frames(s->profile, x->stack) : NULL, n, pool, SP_UNIFIED, 0).hash;
}

/* False: out of memory. */
static bool join_row(struct joiner *j, uint32_t row, size_t *n)
{
    const struct sp_selection *s = j->s;
    const struct sp_selected *x = &s->rows.v[row];
    uint32_t pool = s->pools.by_thread[s->profile->stacks.v[x->stack].context];
    uint64_t hash = pool == SP_NONE ? 0 : stacks_hash_of(s, x, pool);
    struct sp_probe at = sp_map_probe(&j->map, hash);
    for (uint32_t i; pool != SP_NONE && (i = sp_map_next(&j->map, &at)) != SP_MAP_NONE;) {
        struct sp_stack_row *y = &j->rows[i];
        if (y->pool != pool || !stacks_one_stack(s, x, &s->rows.v[y->row]))
            continue;
        int c = stacks_cmp_id(s->profile, x->stack, s->rows.v[y->row].stack);
        if (x->weight > s->rows.v[y->row].weight || (x->weight == s->rows.v[y->row].weight && c < 0))
            y->row = row;
        y->weight += x->weight;
        if (x->samples > SP_DECIMAL)
            y->samples = (y->samples == SP_ABSENT ? 0 : y->samples) + x->samples;
        y->records++;
        return true;
    }
    j->rows[*n] = (struct sp_stack_row){row, pool, 1, x->weight, x->samples};
    return ++*n && (pool == SP_NONE || sp_map_add(&j->map, hash, (uint32_t)*n - 1));
}

spaa_status sp_stacks_by_weight(const struct sp_selection *s, struct sp_diags *d, struct sp_stack_row **out,
                                size_t *n)
{
    struct joiner j = {.s = s, .rows = malloc((s->rows.n + 1) * sizeof *j.rows)};
    bool ok = j.rows != NULL;
    *n = 0;
    for (uint32_t i = 0; ok && i < s->rows.n; i++)
        ok = !sp_leaving(d, i) && join_row(&j, i, n);
    sp_map_free(&j.map);
    if (!ok) {
        free(j.rows);
        return sp_nomem(d);
    }
    if (*n)
        qsort_r(j.rows, *n, sizeof *j.rows, stacks_cmp_row, (void *)(uintptr_t)s);
    *out = j.rows;
    return SPAA_OK;
}

spaa_status sp_stack_find(const struct sp_selection *s, const char *id, struct sp_diags *d, uint32_t *stack,
                          uint32_t *row)
{
    const struct sp_profile *p = s->profile;
    struct sp_buf b;
    size_t n = strlen(id), begins = 0;
    uint32_t exact = SP_NONE, begun = SP_NONE;
    sp_buf_init(&b, 0);
    for (uint32_t i = 0; i < p->stacks.n && exact == SP_NONE; i++) {
        if (sp_leaving(d, i))
            break;
        sp_buf_clear(&b);
        sp_stack_id_add(&b, p, i);
        if (b.len < n || memcmp(b.data, id, n) != 0)
            continue;
        if (b.len == n)
            exact = i;
        begun = i;
        begins++;
    }
    sp_buf_free(&b);
    if (exact == SP_NONE && begins != 1) {
        sp_emit_hint(d, SP_E605, SP_AT_NOTHING, begins ? "give more of its digits" : NULL,
                     begins ? "%s begins %zu ids" : "%s", id, begins);
        return SPAA_ERR_NOT_FOUND;
    }
    *stack = exact != SP_NONE ? exact : begun;
    *row = SP_NONE;
    for (size_t i = 0; i < s->rows.n; i++)
        if (s->rows.v[i].stack == *stack || s->rows.v[i].kernel == *stack)
            *row = (uint32_t)i;
    return SPAA_OK;
}
