/* The profile of what was read: weights at the peak and at the end, what massif says of them, windows. */
#include "base/num.h"
#include "formats/massif/massif.h"
#include "json/json.h"

#include <string.h>

enum { MASSIF_PEAK, MASSIF_LIVE };

static const struct sp_vg_metric massif_metrics[] = {{"peak_bytes", "bytes"}, {"live_bytes", "bytes"}};
/* Of --xtree-memory, by the word at the root. */
static const struct sp_vg_metric xtree_metrics[] = {{"live_bytes", "bytes"},  {"live_count", "count"},
                                                    {"alloc_bytes", "bytes"}, {"alloc_count", "count"},
                                                    {"free_bytes", "bytes"},  {"free_count", "count"}};
static const char *const xtree_labels[] = {"curB", "curBk", "totB", "totBk", "totFdB", "totFdBk", NULL};

#define MASSIF_TRACKING "{\"tracks_frees\":true,\"has_timestamps\":true,\"x_peak\":\"of_total\"}"
#define XTREE_TRACKING  "{\"tracks_frees\":true,\"has_timestamps\":false}"

static bool massif_declare(struct sp_massif *m)
{
    m->event.name = m->pages ? "pages" : "heap";
    m->event.kind = SP_ALLOCATION;
    m->event.allocation_tracking = m->xtree ? XTREE_TRACKING : MASSIF_TRACKING;
    m->event.metrics = m->xtree ? xtree_metrics : massif_metrics;
    m->event.nmetrics = m->xtree ? sizeof xtree_metrics / sizeof *xtree_metrics
                                 : sizeof massif_metrics / sizeof *massif_metrics;
    if (!sp_vg_declare(&m->vg, &m->event))
        return false;
    for (uint32_t i = 0; i < m->p->stacks.n; i++) {
        sp_stack_set_layout(m->p, i, m->event.layout);
        for (size_t k = 0; k < m->event.nmetrics; k++)
            if (!sp_weight_add(m->p, i, m->event.metric[k], 0))
                return false;
    }
    return true;
}

static __int128 massif_all(const struct sp_massif_snapshot *s)
{
    return (__int128)(s->heap > 0 ? s->heap : 0) + (s->extra > 0 ? s->extra : 0) +
           (s->stacks > 0 ? s->stacks : 0);
}

/* The one that is said to be it, else that with most. */
static const struct sp_massif_snapshot *massif_peak(const struct sp_massif *m)
{
    const struct sp_massif_snapshot *best = &m->snapshots.v[0];
    for (size_t i = 1; i < m->snapshots.n; i++) {
        const struct sp_massif_snapshot *s = &m->snapshots.v[i];
        bool said = s->tree == SP_MASSIF_PEAK, was = best->tree == SP_MASSIF_PEAK;
        if (said != was ? said : massif_all(s) > massif_all(best))
            best = s;
    }
    return best;
}

/* What was live by stack in a snapshot, as weights; what it has no stacks of is one row. */
static bool massif_weigh(struct sp_massif *m, const struct sp_massif_snapshot *s, uint32_t metric)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct sp_massif_row *r = &m->rows.v[s->first + i];
        if (!sp_weight_add(m->p, r->stack, metric, r->size))
            return false;
    }
    if (s->tree != SP_MASSIF_EMPTY || s->heap <= 0)
        return true;
    uint32_t stack = sp_massif_untold(m);
    return stack != SP_NONE && sp_weight_add(m->p, stack, metric, s->heap);
}

static bool xtree_weigh(struct sp_massif *m)
{
    for (size_t i = 0; i < m->snapshots.n; i++) {
        const struct sp_massif_snapshot *s = &m->snapshots.v[i];
        struct sp_str label = sp_pstr(m->p, s->label);
        int metric = sp_name_index(xtree_labels, label.p, label.n);
        if (metric < 0)
            sp_emit(m->d, SP_L300, SP_AT_NOTHING, "snapshot %llu: numbers that are not known, \"%.*s\"",
                    (unsigned long long)s->number, (int)(label.n < 100 ? label.n : 100), label.p);
        else if (!massif_weigh(m, s, m->event.metric[metric]))
            return false;
    }
    return true;
}

/* ---- what massif says beside the stacks ---- */

static void massif_text(const struct sp_massif *m, struct sp_buf *b, const char *key, uint32_t text)
{
    struct sp_str s = sp_pstr(m->p, text);
    if (!s.n)
        return;
    sp_buf_printf(b, "\"%s\":", key);
    sp_json_string(b, s.p, s.n);
    sp_buf_ch(b, ',');
}

static void massif_moment(const struct sp_massif *m, struct sp_buf *b, const char *key,
                          const struct sp_massif_snapshot *s)
{
    struct sp_str time = sp_pstr(m->p, s->time);
    sp_buf_printf(b, ",\"%s\":{", key);
    sp_massif_snapshot_members(s, b);
    if (time.n) {
        sp_buf_puts(b, ",\"time\":");
        sp_buf_add(b, time.p, time.n);
    }
    sp_buf_ch(b, '}');
}

/* Of ms and s; other units are no time. */
static bool massif_times(struct sp_massif *m, const struct sp_massif_snapshot *last)
{
    struct sp_header *h = &m->p->header;
    struct sp_str unit = sp_pstr(m->p, m->unit), time = sp_pstr(m->p, last->time);
    bool ms = sp_str_is(unit, "ms");
    int64_t v;
    unsigned scale;
    char t[64];
    if ((!ms && !sp_str_is(unit, "s")) || !time.n || !sp_parse_scaled(time.p, time.n, &v, &scale))
        return true;
    h->time_start = sp_profile_cstr(m->p, "0");
    h->time_end = last->time;
    h->time_unit = sp_profile_cstr(m->p, ms ? "milliseconds" : "seconds");
    h->duration = sp_profile_str(m->p, t, sp_scaled_text(v, scale + (ms ? 3 : 0), t));
    return h->time_start != SP_STR_FAIL && h->time_unit != SP_STR_FAIL && h->duration != SP_STR_FAIL;
}

static bool massif_header(struct sp_massif *m, const struct sp_massif_snapshot *peak,
                          const struct sp_massif_snapshot *last)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "\"x_massif\":{");
    massif_text(m, &b, "desc", m->desc);
    massif_text(m, &b, "time_unit", m->unit);
    sp_buf_printf(&b, "\"pages_as_heap\":%s,\"snapshots\":%zu", m->pages ? "true" : "false", m->snapshots.n);
    if (!m->xtree) {
        massif_moment(m, &b, "peak", peak);
        massif_moment(m, &b, "end", last);
    }
    sp_buf_ch(&b, '}');
    bool ok = sp_vg_header(&m->vg, sp_pstr(m->p, m->command), &b) && (m->xtree || massif_times(m, last));
    sp_buf_free(&b);
    return ok;
}

static void massif_say(struct sp_massif *m, const struct sp_massif_snapshot *peak,
                       const struct sp_massif_snapshot *last)
{
    if (m->cut)
        sp_emit(m->d, SP_L301, SP_AT_LINE(m->lines.line, m->lines.offset),
                "a snapshot has fewer lines than it says");
    if (m->untold_end)
        sp_emit_hint(
            m->d, SP_I322, SP_AT_NOTHING,
            "--tool=massif --detailed-freq=1 has them; --tool=memcheck --leak-check=full says what is lost",
            "the last snapshot has no stacks: who holds its %lld bytes is not known", (long long)last->heap);
    sp_vg_say(&m->vg, m->d);
    if (m->xtree)
        return;
    if (peak->tree == SP_MASSIF_EMPTY && peak->heap > 0)
        sp_emit_hint(m->d, SP_I322, SP_AT_NOTHING, "record with --tool=massif --detailed-freq=1",
                     "the snapshot at the peak has no stacks");
    if (peak->heap > 0 && (peak->stacks > 0 || (massif_all(peak) - peak->heap) * 100 > peak->heap))
        sp_emit(m->d, SP_I322, SP_AT_NOTHING,
                "beside its %lld bytes the peak has %lld of the allocator's own and %lld of threads' stacks, "
                "which no row has",
                (long long)(peak->heap > 0 ? peak->heap : 0), (long long)(peak->extra > 0 ? peak->extra : 0),
                (long long)(peak->stacks > 0 ? peak->stacks : 0));
}

spaa_status sp_massif_finish(struct sp_massif *m)
{
    struct sp_str desc = sp_pstr(m->p, m->desc);
    m->xtree = desc.n >= 6 && memcmp(desc.p, "xtree.", 6) == 0;
    const struct sp_massif_snapshot *peak = massif_peak(m), *last = &m->snapshots.v[m->snapshots.n - 1];
    m->untold_end = !m->xtree && last->tree == SP_MASSIF_EMPTY && last->heap > 0;
    bool ok = massif_declare(m);
    if (ok)
        ok = m->xtree ? xtree_weigh(m)
                      : massif_weigh(m, peak, m->event.metric[MASSIF_PEAK]) &&
                            massif_weigh(m, last, m->event.metric[MASSIF_LIVE]);
    if (!ok || !massif_header(m, peak, last))
        return sp_nomem(m->d);
    massif_say(m, peak, last);
    return m->xtree ? SPAA_OK : sp_massif_windows(m, m->event.metric[MASSIF_LIVE]);
}
