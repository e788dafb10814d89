#include "model/windows.h"

#include "model/identity.h"
#include "json/json.h"

#include <stdlib.h>

bool sp_window_id(const struct sp_profile *p, const struct sp_window *w, struct sp_buf *out)
{
    struct sp_str raw = sp_pstr(p, w->id);
    struct sp_json j;
    struct sp_span text = {raw.p, raw.n};
    if (!raw.n)
        return true;
    sp_json_init(&j, raw.p, raw.n);
    bool ok = sp_json_type(&j) != SP_JSON_STRING || sp_json_string_value(&j, &text); /* it was read before */
    ok = ok && sp_buf_add(out, text.p, text.n);
    sp_json_free(&j);
    return ok;
}

uint32_t sp_window_id_of(struct sp_profile *p, const char *text, size_t n)
{
    struct sp_buf raw;
    sp_buf_init(&raw, 0);
    sp_json_string(&raw, text, n);
    uint32_t id = raw.failed ? SP_STR_FAIL : sp_profile_str(p, raw.data, raw.len);
    sp_buf_free(&raw);
    return id;
}

static int windows_cmp_row(const void *va, const void *vb, void *arg)
{
    const uint32_t *rank = arg;
    const struct sp_window_row *a = va, *b = vb;
    return (rank[a->stack] > rank[b->stack]) - (rank[a->stack] < rank[b->stack]);
}

spaa_status sp_windows_order(struct sp_profile *p)
{
    struct sp_order o = {0};
    if (!p->window_rows.n)
        return SPAA_OK;
    spaa_status st = sp_stack_ids(p);
    if (!st)
        st = sp_order_stacks(p, &o);
    if (st)
        return st;
    uint32_t *rank = malloc(p->stacks.n * sizeof *rank);
    for (uint32_t i = 0; rank && i < p->stacks.n; i++)
        rank[o.stacks[i]] = i;
    for (size_t i = 0; rank && i < p->windows.n; i++) {
        const struct sp_window *w = &p->windows.v[i];
        if (w->n)
            qsort_r(p->window_rows.v + w->first, w->n, sizeof *p->window_rows.v, windows_cmp_row, rank);
    }
    sp_order_free(&o);
    st = rank ? SPAA_OK : sp_nomem(p->diags);
    free(rank);
    return st;
}
