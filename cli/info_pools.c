/* Which threads are pools, in spaa info: those of most threads first. */
#include "answer.h"
#include "info.h"

#include "render/text.h"

#include <stdlib.h>

static int cmp_pool(const void *va, const void *vb)
{
    const struct sp_pool *const *a = va, *const *b = vb;
    if ((*a)->threads != (*b)->threads)
        return (*a)->threads > (*b)->threads ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

spaa_status info_pools_of(struct cli *c, struct info_pools *out)
{
    spaa_status st = sp_pools_of(c->profile, NULL, &c->diags, &out->pools);
    if (st)
        return st;
    out->n = out->pools.pools.n;
    out->list = malloc((out->n + 1) * sizeof *out->list);
    if (!out->list) {
        sp_pools_free(&out->pools);
        return sp_nomem(&c->diags);
    }
    for (size_t i = 0; i < out->n; i++)
        out->list[i] = &out->pools.pools.v[i];
    if (out->n)
        qsort(out->list, out->n, sizeof *out->list, cmp_pool);
    return SPAA_OK;
}

void info_pools_free(struct info_pools *x)
{
    sp_pools_free(&x->pools);
    free(x->list);
}

void info_pools_json(const struct info_pools *x, struct sp_jw *w)
{
    sp_jw_open(w, "pools", '[');
    for (size_t i = 0; i < x->n; i++) {
        struct sp_str name = sp_str_at(&x->pools.names, x->list[i]->name);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "name", name.p, name.n);
        pool_json(w, &x->pools, x->list[i]);
        if (x->list[i]->pid == SP_ABSENT)
            sp_jw_null(w, "pid");
        else
            sp_jw_i64(w, "pid", x->list[i]->pid);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

void info_pools_text(struct cli *c, const struct info_pools *x)
{
    enum { SHOWN = 8 };
    struct sp_buf b;
    if (!x->n)
        return;
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < x->n && i < SHOWN; i++) {
        struct sp_str name = sp_str_at(&x->pools.names, x->list[i]->name);
        sp_buf_puts(&b, i ? ", " : "");
        sp_text_safe(&b, name.p, name.n);
    }
    if (x->n > SHOWN)
        sp_buf_printf(&b, " and %zu more (--json)", x->n - SHOWN);
    sp_printf(c->out, "%-12s %s\n", "pools", sp_buf_cstr(&b));
    sp_buf_free(&b);
}
