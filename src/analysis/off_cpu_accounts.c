#include "analysis/off_cpu_accounts_parts.h"

void sp_off_cpu_accounts_free(struct sp_off_cpu_accounts *x)
{
    sp_vec_free(&x->who);
    sp_vec_free(&x->places);
    sp_strtab_free(&x->names);
}

static bool fill(struct accounts *x, const struct sp_select_opts *o, const struct sp_intervals *v)
{
    for (size_t i = 0; i < x->wide->rows.n; i++)
        x->asked[x->wide->rows.v[i].stack] = 1;
    return accounts_know_threads(x) &&
           (x->out.has_intervals ? accounts_from_intervals(x, o, v) : accounts_from_weights(x)) &&
           accounts_name_and_order(x);
}

spaa_status sp_off_cpu_accounts_of(const struct sp_selection *s, const struct sp_selection *wide,
                                   const struct sp_select_opts *o, const struct sp_intervals *v,
                                   const struct sp_wait_reasons *why, struct sp_diags *d,
                                   struct sp_off_cpu_accounts *out)
{
    struct accounts x = {.p = s->profile, .s = s, .wide = wide, .why = why};
    sp_buf_init(&x.b, 0);
    x.pooled = o->pools;
    x.out.has_intervals = v->v.n > 0;
    x.out.only_stacks = o->dso || o->focus || o->ignore || o->root_at || o->state || o->nlabels ||
                        (o->view && strcmp(o->view, "all") != 0);
    x.out.all = (struct sp_off_cpu_who){.pid = SP_ABSENT, .tid = SP_ABSENT, .running = SP_ABSENT};
    x.asked = calloc(s->profile->stacks.n + 1, 1);
    x.in = calloc(s->profile->contexts.n + 1, 1);
    x.of_pool = calloc(wide->pools.pools.n + 1, sizeof *x.of_pool);
    bool ok = sp_strtab_init(&x.out.names) && x.asked && x.in && x.of_pool && fill(&x, o, v);
    sp_vec_free(&x.waits);
    sp_vec_free(&x.known);
    sp_map_free(&x.who_map);
    sp_map_free(&x.place_map);
    free(x.asked);
    free(x.in);
    sp_vec_free(&x.counted);
    free(x.of_pool);
    sp_buf_free(&x.b);
    *out = x.out;
    if (!ok)
        sp_off_cpu_accounts_free(out);
    return ok ? SPAA_OK : sp_nomem(d);
}
