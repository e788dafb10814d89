/* Every metric of every event, with its total: what --metric can name. */
#include "info.h"

#include "analysis/names.h"

#include <stdlib.h>

/* Of an event, in the order of the profile; the caller frees list->v. */
spaa_status info_metrics_of(struct cli *c, uint32_t event, struct info_metrics *list)
{
    const struct sp_profile *p = c->profile;
    spaa_status st = SPAA_OK;
    for (uint32_t m = 0; !st && m < p->metrics.n; m++) {
        const char *name = sp_str_cstr(&p->strs, p->metrics.v[m].name);
        struct sp_select_opts o = {.event_number = &event, .metric = name, .view = "all"};
        struct sp_selection s;
        if (sp_event_metric(p, event, name) != m)
            continue;
        st = sp_select(p, &o, &c->diags, &s);
        if (st)
            break;
        struct info_metric x = {m, s.kept, s.scale, s.cannot_add, s.unit};
        st = sp_vec_push(list, x) ? SPAA_OK : sp_nomem(&c->diags);
        sp_selection_free(&s);
    }
    return st;
}

void info_metrics_json(struct sp_jw *w, const struct sp_profile *p, uint32_t event,
                       const struct info_metrics *list)
{
    sp_jw_open(w, "metrics", '[');
    for (size_t i = 0; i < list->n; i++) {
        const struct info_metric *x = &list->v[i];
        struct sp_str name = sp_pstr(p, p->metrics.v[x->metric].name);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "name", name.p, name.n);
        if (x->unit.n)
            sp_jw_str(w, "unit", x->unit.p, x->unit.n);
        else
            sp_jw_null(w, "unit");
        if (x->cannot_add)
            sp_jw_null(w, "whole");
        else
            sp_jw_scaled(w, "whole", x->total, x->scale);
        sp_jw_bool(w, "default", x->metric == p->events.v[event].primary);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

/* Nothing where the table of events says it all: samples, and one metric besides. */
static bool worth_a_table(const struct sp_profile *p, const struct info_metrics *lists)
{
    for (uint32_t e = 0; e < p->events.n; e++)
        for (size_t i = 0; i < lists[e].n; i++)
            if (lists[e].v[i].metric != p->events.v[e].primary &&
                !sp_str_is(sp_pstr(p, p->metrics.v[lists[e].v[i].metric].name), "samples"))
                return true;
    return false;
}

int info_metrics_text(struct cli *c, const struct info_metrics *lists)
{
    static const struct sp_table_column columns[] = {
        {"event", false, true}, {"metric", false, false}, {"whole", true, false}, {"", false, false}};
    const struct sp_profile *p = c->profile;
    struct sp_table t;
    struct sp_buf b;
    if (!worth_a_table(p, lists))
        return EXIT_FINE;
    sp_table_init(&t, columns, sizeof columns / sizeof *columns);
    sp_buf_init(&b, 0);
    for (uint32_t e = 0; e < p->events.n; e++) {
        for (size_t i = 0; i < lists[e].n; i++) {
            const struct info_metric *x = &lists[e].v[i];
            struct sp_selection s = {.unit = x->unit, .scale = x->scale};
            cell_str(&t, sp_pstr(p, p->events.v[e].name));
            cell_str(&t, sp_pstr(p, p->metrics.v[x->metric].name));
            if (x->cannot_add)
                sp_buf_ch(&b, '-');
            else
                weight_text(&b, &s, x->total);
            cell_buf(&t, &b);
            sp_table_printf(&t, "%s", x->metric == p->events.v[e].primary ? "default" : "");
        }
    }
    sp_puts(c->out, "\n");
    int rc = answer_table(c, &t);
    sp_buf_free(&b);
    sp_table_free(&t);
    return rc;
}
