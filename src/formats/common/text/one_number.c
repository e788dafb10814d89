#include "formats/common/text/one_number.h"

#include "model/events.h"
#include "model/order.h"

#include <math.h>

uint32_t sp_one_event(const struct sp_profile *p, const struct sp_write_opts *o)
{
    return o->event != SP_NONE ? o->event : sp_default_event(p);
}

uint32_t sp_one_metric(const struct sp_profile *p, const struct sp_write_opts *o, uint32_t event,
                       struct sp_diags *d)
{
    uint32_t metric = o->metric != SP_NONE ? o->metric : p->events.v[event].primary;
    if (d && metric != SP_NONE && !sp_metric_adds(p, event, metric))
        sp_emit(d, SP_W314, SP_AT_NOTHING, "%s", sp_pstr(p, p->metrics.v[metric].name).p);
    return metric;
}

/* Whether each sample of the event weighs the same. */
static bool evenly_weighed(const struct sp_profile *p, uint32_t event, uint32_t metric, uint32_t samples)
{
    int64_t weight = 0, count = 0; /* of the first stack */
    for (uint32_t s = 0; s < p->stacks.n; s++) {
        int64_t w = sp_weight(p, s, metric), n = sp_weight(p, s, samples);
        if (p->contexts.v[p->stacks.v[s].context].event != event)
            continue;
        if (w <= SP_DECIMAL || n <= SP_DECIMAL || !n)
            return false;
        if (!count) {
            weight = w;
            count = n;
        }
        if ((__int128)w * count != (__int128)weight * n)
            return false;
    }
    return count > 0;
}

uint32_t sp_one_counted(const struct sp_profile *p, const struct sp_write_opts *o, uint32_t event,
                        struct sp_diags *d)
{
    uint32_t metric = sp_one_metric(p, o, event, d), samples = sp_metric_find(p, "samples", 7);
    bool same = o->metric == SP_NONE && metric != SP_NONE && samples != SP_NONE &&
                evenly_weighed(p, event, metric, samples);
    return same ? samples : metric;
}

bool sp_one_counts(const struct sp_profile *p, const struct sp_write_opts *o, uint32_t metric,
                   struct sp_diags *d)
{
    const char *usual = p->metrics.v[metric].info->unit;
    bool counts = !usual || strcmp(usual, "count") == 0;
    for (size_t i = 0; counts && i < p->layout_fields.n; i++) {
        const struct sp_weight_field *f = &p->layout_fields.v[i];
        struct sp_str u = sp_pstr(p, f->metric == metric ? f->unit : SP_STR_NONE);
        counts = !u.n || sp_str_is(u, "count") || sp_str_is(u, "samples") || sp_str_is(u, "events");
    }
    if (!counts && o->metric == SP_NONE)
        sp_emit(d, SP_W478, SP_AT_NOTHING, "%s", sp_pstr(p, p->metrics.v[metric].name).p);
    return counts;
}

spaa_status sp_one_fits(const struct sp_profile *p, uint32_t event, uint32_t metric, int64_t most,
                        const char *what, struct sp_diags *d)
{
    double all = 0, largest = 0;
    for (uint32_t s = 0; metric != SP_NONE && s < p->stacks.n; s++) {
        if (p->contexts.v[p->stacks.v[s].context].event != event || sp_weight(p, s, metric) == SP_ABSENT)
            continue;
        double w = fabs(sp_weight_double(p, s, metric));
        all += w;
        largest = w > largest ? w : largest;
    }
    if (!(all > (double)most))
        return SPAA_OK;
    sp_emit_hint(d, SP_E036, SP_AT_NOTHING, "SPAA and folded stacks hold them; another weight with --metric",
                 "the largest weight is %.3g: %s holds less than %.3g in all", largest, what, (double)most);
    return SPAA_ERR_UNSUPPORTED;
}
