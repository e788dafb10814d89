#include "model/heap_facts.h"

#include "base/num.h"
#include "json/find.h"

static int64_t heap_number(struct sp_span object, const char *key)
{
    struct sp_span raw;
    int64_t v;
    if (!object.n || !sp_json_find(object, key, &raw))
        return SP_ABSENT;
    return sp_parse_i64(raw.p, raw.p + raw.n, &v) == raw.n && raw.n && v >= 0 ? v : SP_ABSENT;
}

/* Such an object of what a record has beside its own members; empty: there is none. */
static struct sp_span heap_extra(const struct sp_profile *p, uint32_t extra_json, const char *name)
{
    struct sp_str text = sp_pstr(p, extra_json);
    struct sp_span raw = {0};
    if (text.n)
        sp_json_find((struct sp_span){text.p, text.n}, name, &raw);
    return raw;
}

void sp_heap_totals_of(const struct sp_profile *p, struct sp_heap_totals *out)
{
    struct sp_span x = heap_extra(p, p->header.extra_json, "x_heaptrack"), totals = {0};
    if (x.n)
        sp_json_find(x, "totals", &totals);
    out->peak_bytes = heap_number(totals, "peak_bytes");
    out->peak_ns = heap_number(totals, "peak_time_ms");
    if (out->peak_ns != SP_ABSENT && __builtin_mul_overflow(out->peak_ns, 1000000, &out->peak_ns))
        out->peak_ns = SP_ABSENT;
    out->peak_rss = heap_number(totals, "peak_rss_bytes");
}

void sp_heap_window_of(const struct sp_profile *p, const struct sp_window *w, struct sp_heap_window *out)
{
    struct sp_span x = heap_extra(p, w->extra_json, "x_heaptrack"), detailed = {0};
    struct sp_span massif = heap_extra(p, w->extra_json, "x_massif");
    out->no_stacks = massif.n && sp_json_find(massif, "detailed", &detailed) && sp_span_is(detailed, "false");
    out->live = heap_number(x, "live_bytes");
    out->most = heap_number(x, "most_live_bytes");
    out->rss = heap_number(x, "rss_bytes");
}
