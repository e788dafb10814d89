/* What the weights of an event are in. */
#include "formats/common/threads/threads.h"

int64_t sp_rows_unit_ns(struct sp_str unit)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1},
                 {"nanoseconds", 1},
                 {"us", 1000},
                 {"µs", 1000},
                 {"microseconds", 1000},
                 {"ms", 1000000},
                 {"milliseconds", 1000000},
                 {"s", 1000000000},
                 {"seconds", 1000000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (sp_str_is(unit, units[i].name))
            return units[i].ns;
    return 0;
}

struct sp_str sp_rows_find_unit(const struct sp_rows *r)
{
    const struct sp_profile *p = r->p;
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        const struct sp_stack *x = &p->stacks.v[s];
        if (x->layout == SP_NONE || p->contexts.v[x->context].event != r->event)
            continue;
        const struct sp_layout *l = &p->layouts.v[x->layout];
        for (uint32_t i = 0; i < l->n; i++)
            if (p->layout_fields.v[l->first + i].metric == r->metric &&
                p->layout_fields.v[l->first + i].unit != SP_STR_NONE)
                return sp_pstr(p, p->layout_fields.v[l->first + i].unit);
    }
    const char *usual = p->metrics.v[r->metric].info->unit;
    return (struct sp_str){usual ? usual : "", usual ? (uint32_t)strlen(usual) : 0};
}
