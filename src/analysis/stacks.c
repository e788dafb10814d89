#include "analysis/stacks.h"

#include "model/identity.h"
#include "model/order.h"

#include <stdlib.h>

spaa_status sp_stack_ids(struct sp_profile *p)
{
    struct sp_order order;
    if (p->ids.n == p->stacks.n)
        return SPAA_OK;
    spaa_status st = sp_order_dictionaries(p, &order);
    if (st)
        return st;
    st = sp_profile_identify(p, &order);
    sp_order_free(&order);
    return st;
}

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
static int cmp_id(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    const struct sp_stack_id *x = &p->ids.v[a], *y = &p->ids.v[b];
    if (x->text || y->text)
        return !x->text || !y->text ? (x->text != 0) - (y->text != 0)
                                    : sp_str_cmp(sp_pstr(p, x->text), sp_pstr(p, y->text));
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->suffix > y->suffix) - (x->suffix < y->suffix);
}

static int cmp_row(const void *va, const void *vb, void *arg)
{
    const struct sp_selection *s = arg;
    uint32_t x = *(const uint32_t *)va, y = *(const uint32_t *)vb;
    const struct sp_selected *a = &s->rows.v[x], *b = &s->rows.v[y];
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    int c = cmp_id(s->profile, a->stack, b->stack);
    return c ? c : (x > y) - (x < y);
}

spaa_status sp_stacks_by_weight(const struct sp_selection *s, struct sp_diags *d, uint32_t **out)
{
    uint32_t *rows = malloc((s->rows.n + 1) * sizeof *rows);
    if (!rows)
        return sp_nomem(d);
    for (size_t i = 0; i < s->rows.n; i++)
        rows[i] = (uint32_t)i;
    if (s->rows.n)
        qsort_r(rows, s->rows.n, sizeof *rows, cmp_row, (void *)(uintptr_t)s);
    *out = rows;
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
