/* The tables of `spaa info`: events with their metrics, pools, labels, binaries. */
#include "ask/info.h"

#include "base/num.h"
#include "symbols/rsds.h"

enum {
    EVENT_NAME,
    EVENT_KIND,
    EVENT_MODE,
    EVENT_RATE,
    EVENT_SAMPLES,
    EVENT_METRIC,
    EVENT_WHOLE,
    EVENT_STACKS,
    EVENT_UNIT,
    EVENT_PERIOD,
    EVENT_HZ,
    EVENT_DEFAULT,
    EVENT_UNRESOLVED,
    EVENT_UNRESOLVED_ANYWHERE,
    EVENT_NO_STACK,
    EVENT_FRAMES,
    EVENT_FRAMES_UNRESOLVED,
    EVENT_LINELESS,
    EVENT_BROKEN,
};
static const struct sp_answer_column info_event_columns[] = {
    [EVENT_NAME] = {"name", SP_COL_TEXT, "event", .flags = SP_COL_FLEXIBLE, .doc = "its name"},
    [EVENT_KIND] = {"kind", SP_COL_TEXT, "kind", .doc = "timer, hardware, allocation, …"},
    [EVENT_MODE] = {"mode", SP_COL_TEXT, "mode", .doc = "how it was sampled"},
    [EVENT_RATE] = {"rate", SP_COL_TEXT, "rate", .flags = SP_COL_SUFFIX | SP_COL_NO_JSON | SP_COL_CSV,
                    .doc = "how often"},
    [EVENT_SAMPLES] = {"samples", SP_COL_COUNT, "samples", .doc = "its samples; null: not counted"},
    [EVENT_METRIC] = {"primary_metric", SP_COL_TEXT, "metric",
                      .doc = "what is asked about unless --metric says"},
    [EVENT_WHOLE] = {"whole", SP_COL_WEIGHT, "whole", .doc = "all of it; null: values must not be added"},
    [EVENT_STACKS] = {"stacks", SP_COL_COUNT, "stacks", .doc = "its stacks"},
    [EVENT_UNRESOLVED] = {"quality.unresolved_percent", SP_COL_NUMBER, "unresolved%",
                          .doc = "share of it whose leaf has no name"},
    [EVENT_UNIT] = {"unit", SP_COL_TEXT, .doc = "of the metric; null: a count"},
    [EVENT_PERIOD] = {"sample_period", SP_COL_NUMBER, .doc = "events from one sample to the next"},
    [EVENT_HZ] = {"frequency_hz", SP_COL_NUMBER, .doc = "samples a second"},
    [EVENT_DEFAULT] = {"default", SP_COL_BOOL, .doc = "it is asked about unless --event says"},
    [EVENT_UNRESOLVED_ANYWHERE] = {"quality.unresolved_anywhere_percent", SP_COL_NUMBER,
                                   .doc = "share of it with a frame without a name"},
    [EVENT_NO_STACK] = {"quality.no_stack_percent", SP_COL_NUMBER, .doc = "share of it without a stack"},
    [EVENT_FRAMES] = {"quality.frames", SP_COL_COUNT, .doc = "different frames"},
    [EVENT_FRAMES_UNRESOLVED] = {"quality.frames_unresolved", SP_COL_COUNT, .doc = "of them, without a name"},
    [EVENT_LINELESS] = {"quality.no_debug_info_percent", SP_COL_NUMBER,
                        .doc = "share of it in binaries without debug information"},
    [EVENT_BROKEN] = {"quality.broken_chains_percent", SP_COL_NUMBER,
                      .doc = "share of stacks that miss callers; null: not judged"},
};
const struct sp_table_decl sp_info_events = {"events", info_event_columns,
                                             sizeof info_event_columns / sizeof *info_event_columns,
                                             .doc = "what was sampled", .noun = "events"};

enum { METRIC_EVENT, METRIC_NAME, METRIC_WHOLE, METRIC_MARK };
enum { OF_NAME, OF_UNIT, OF_WHOLE, OF_DEFAULT };
static const struct sp_answer_column info_metric_columns[] = {
    [OF_NAME] = {"name", SP_COL_TEXT, .doc = "what --metric takes"},
    [OF_UNIT] = {"unit", SP_COL_TEXT, .doc = "null: a count"},
    [OF_WHOLE] = {"whole", SP_COL_WEIGHT, .doc = "all of it; null: values must not be added"},
    [OF_DEFAULT] = {"default", SP_COL_BOOL, .doc = "it is the event's primary metric"},
};
const struct sp_table_decl sp_info_metrics = {"metrics", info_metric_columns, 4, .of = "events",
                                              .doc = "the metrics of the event"};
static const struct sp_answer_column info_metric_row_columns[] = {
    [METRIC_EVENT] = {"event", SP_COL_TEXT, "event", .flags = SP_COL_FLEXIBLE, .doc = "the event"},
    [METRIC_NAME] = {"metric", SP_COL_TEXT, "metric", .doc = "what --metric takes"},
    [METRIC_WHOLE] = {"whole", SP_COL_WEIGHT, "whole", .doc = "all of it"},
    [METRIC_MARK] = {"default", SP_COL_TEXT, "", .doc = "it is asked about unless --metric says"},
};
const struct sp_table_decl sp_info_metric_rows = {"metric_rows", info_metric_row_columns, 4,
                                                  .doc = "metrics of events", .joined = true};

enum { POOL_NAME, POOL_POOL, POOL_THREADS, POOL_PID };
static const struct sp_answer_column info_pool_columns[] = {
    [POOL_NAME] = {"name", SP_COL_TEXT, .doc = "as --thread takes it"},
    SP_POOL_COLUMNS(POOL_POOL),
    [POOL_PID] = {"pid", SP_COL_COUNT, .doc = "its process"},
};
const struct sp_table_decl sp_info_pools = {"pools", info_pool_columns, 4,
                                            .doc = "pools of threads, those of most threads first"};

enum { LABEL_KEY, LABEL_VALUES, LABEL_PERCENT, LABEL_SAMPLES };
static const struct sp_answer_column info_label_columns[] = {
    [LABEL_KEY] = {"key", SP_COL_TEXT, .doc = "what --label and --by label:KEY take"},
    [LABEL_VALUES] = {"values", SP_COL_COUNT, .doc = "how many different ones"},
    [LABEL_PERCENT] = {"percent", SP_COL_NUMBER, .doc = "share of the default event in stacks that have it"},
    [LABEL_SAMPLES] = {"samples", SP_COL_COUNT, .doc = "samples that have it; null: samples were not read"},
};
const struct sp_table_decl sp_info_labels = {"labels", info_label_columns, 4, .doc = "labels by key"};

enum { BINARY_NAME, BINARY_GUID, BINARY_AGE, BINARY_KEY, BINARY_BUILD_ID };
static const struct sp_answer_column info_binary_columns[] = {
    [BINARY_NAME] = {"name", SP_COL_TEXT, .doc = "its path"},
    [BINARY_GUID] = {"guid", SP_COL_TEXT, .doc = "of the PDB"},
    [BINARY_AGE] = {"age", SP_COL_COUNT, .doc = "of the PDB"},
    [BINARY_KEY] = {"pdb_key", SP_COL_TEXT, .doc = "what symbol servers call it"},
    [BINARY_BUILD_ID] = {"build_id", SP_COL_TEXT, .doc = "as the profile has it"},
};
const struct sp_table_decl sp_info_binaries = {"binaries", info_binary_columns, 5,
                                               .doc = "binaries whose build-id is a GUID and an age"};

/* ---- events ---- */

static uint32_t info_measure(struct sp_info *x, struct sp_str unit, unsigned scale, bool cannot_add,
                             int64_t whole)
{
    return sp_answer_measure(
        x->out, &(struct sp_measure){.unit = unit, .scale = scale, .cannot_add = cannot_add, .whole = whole});
}

static void put_share(struct sp_answer_table *t, size_t column, int64_t part, int64_t whole)
{
    if (whole)
        sp_put_real(t, column, (double)sp_ratio(part, whole, 10000) / 100);
}

static void put_decimal(struct sp_answer_table *t, size_t column, struct sp_str s)
{
    int64_t v;
    unsigned scale;
    if (s.n && sp_parse_scaled(s.p, s.n, &v, &scale))
        sp_put_scaled(t, column, v, scale);
}

static void put_event_quality(const struct sp_info_event *e, struct sp_answer_table *t)
{
    const struct sp_quality *q = &e->quality;
    const struct sp_chains *c = e->chains;
    put_share(t, EVENT_UNRESOLVED, q->unresolved_leaf, e->total);
    put_share(t, EVENT_UNRESOLVED_ANYWHERE, q->unresolved_any, e->total);
    put_share(t, EVENT_NO_STACK, q->no_stack, e->total);
    sp_put_int(t, EVENT_FRAMES, (int64_t)q->frames);
    sp_put_int(t, EVENT_FRAMES_UNRESOLVED, (int64_t)q->frames_unresolved);
    put_share(t, EVENT_LINELESS, q->lineless, e->total);
    if (c && (c->judged || c->broken))
        put_share(t, EVENT_BROKEN, c->broken, c->of);
}

static void put_event(struct sp_info *x, struct sp_answer_table *t, uint32_t i, uint32_t first)
{
    const struct sp_profile *p = x->profile;
    const struct sp_event *event = &p->events.v[i];
    const struct sp_info_event *e = &x->events[i];
    const char *kind = sp_event_kind_names[event->kind], *mode = sp_mode_names[event->mode];
    struct sp_str hz = sp_pstr(p, event->frequency_hz), period = sp_pstr(p, event->sample_period);
    struct sp_answer *a = x->out;
    sp_table_row(a, t);
    sp_table_row_measure(a, t, info_measure(x, e->unit, e->scale, e->cannot_add, e->total));
    sp_put_str(a, t, EVENT_NAME, sp_pstr(p, event->name));
    sp_put_text(a, t, EVENT_KIND, kind, strlen(kind));
    sp_put_text(a, t, EVENT_MODE, mode, mode ? strlen(mode) : 0);
    if (hz.n)
        sp_buf_printf(&x->b, " %.*s Hz", (int)hz.n, hz.p);
    else if (period.n)
        sp_buf_printf(&x->b, " %.*s", (int)period.n, period.p);
    sp_put_buf(a, t, EVENT_RATE, &x->b);
    sp_put_int(t, EVENT_SAMPLES, e->samples);
    sp_put_str(a, t, EVENT_METRIC, sp_pstr(p, p->metrics.v[event->primary].name));
    sp_put_int(t, EVENT_WHOLE, e->total);
    sp_put_int(t, EVENT_STACKS, (int64_t)e->stacks);
    sp_put_str(a, t, EVENT_UNIT, e->unit);
    put_decimal(t, EVENT_PERIOD, period);
    put_decimal(t, EVENT_HZ, hz);
    sp_put_int(t, EVENT_DEFAULT, i == first);
    put_event_quality(e, t);
}

static void put_metrics(struct sp_info *x, struct sp_answer_table *t, uint32_t i)
{
    const struct sp_profile *p = x->profile;
    for (size_t k = 0; k < x->events[i].metrics.n; k++) {
        const struct sp_info_metric *m = &x->events[i].metrics.v[k];
        sp_table_row(x->out, t);
        sp_table_row_measure(x->out, t, info_measure(x, m->unit, m->scale, m->cannot_add, m->total));
        sp_put_str(x->out, t, OF_NAME, sp_pstr(p, p->metrics.v[m->metric].name));
        sp_put_str(x->out, t, OF_UNIT, m->unit);
        sp_put_int(t, OF_WHOLE, m->total);
        sp_put_int(t, OF_DEFAULT, m->metric == p->events.v[i].primary);
    }
}

static void put_events(struct sp_info *x)
{
    struct sp_answer_table *t = sp_answer_table(x->out, &sp_info_events),
                           *metrics = sp_answer_detail(x->out, &sp_info_metrics, t);
    uint32_t first = sp_default_event(x->profile);
    for (uint32_t i = 0; t && metrics && i < x->nevents; i++) {
        put_event(x, t, i, first);
        put_metrics(x, metrics, i);
    }
}

/* Nothing where the table of events says it all: samples, and one metric besides. */
static bool worth_a_table(const struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    for (uint32_t e = 0; e < x->nevents; e++)
        for (size_t i = 0; i < x->events[e].metrics.n; i++) {
            uint32_t m = x->events[e].metrics.v[i].metric;
            if (m != p->events.v[e].primary && !sp_str_is(sp_pstr(p, p->metrics.v[m].name), "samples"))
                return true;
        }
    return false;
}

static void put_metric_rows(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    struct sp_answer_table *t =
        x->q->brief && worth_a_table(x) ? sp_answer_table(x->out, &sp_info_metric_rows) : NULL;
    for (uint32_t e = 0; t && e < x->nevents; e++)
        for (size_t i = 0; i < x->events[e].metrics.n; i++) {
            const struct sp_info_metric *m = &x->events[e].metrics.v[i];
            bool primary = m->metric == p->events.v[e].primary;
            sp_table_row(x->out, t);
            sp_table_row_measure(x->out, t, info_measure(x, m->unit, m->scale, m->cannot_add, m->total));
            sp_put_str(x->out, t, METRIC_EVENT, sp_pstr(p, p->events.v[e].name));
            sp_put_str(x->out, t, METRIC_NAME, sp_pstr(p, p->metrics.v[m->metric].name));
            sp_put_int(t, METRIC_WHOLE, m->total);
            sp_put_text(x->out, t, METRIC_MARK, primary ? "default" : NULL, primary ? 7 : 0);
        }
}

/* ---- the rest ---- */

static void put_pools(struct sp_info *x)
{
    struct sp_answer_table *t = sp_answer_table(x->out, &sp_info_pools);
    for (size_t i = 0; t && i < x->pools.pools.n; i++) {
        const struct sp_pool *pool = x->pool_list[i];
        sp_table_row(x->out, t);
        sp_put_str(x->out, t, POOL_NAME, sp_str_at(&x->pools.names, pool->name));
        sp_put_str(x->out, t, POOL_POOL, sp_str_at(&x->pools.names, pool->pattern));
        sp_put_int(t, POOL_THREADS, pool->named ? SP_ABSENT : (int64_t)pool->threads);
        sp_put_int(t, POOL_PID, pool->pid);
    }
}

static void put_labels(struct sp_info *x)
{
    struct sp_answer_table *t = sp_answer_table(x->out, &sp_info_labels);
    for (size_t i = 0; t && i < x->labels.rows.n; i++) {
        const struct sp_label_row *r = &x->labels.rows.v[i];
        sp_table_row(x->out, t);
        sp_put_str(x->out, t, LABEL_KEY, sp_pstr(x->profile, r->key));
        sp_put_int(t, LABEL_VALUES, (int64_t)r->values);
        put_share(t, LABEL_PERCENT, r->weight, x->labels_of);
        if (x->labels.samples)
            sp_put_int(t, LABEL_SAMPLES, (int64_t)r->samples);
    }
}

bool sp_info_rsds(const struct sp_profile *p, const struct sp_dso *d, struct sp_rsds *out)
{
    struct sp_str id = sp_pstr(p, d->build_id); /* 40 digits are a SHA-1 where it is not SPT */
    return (id.n != 40 || sp_str_is(sp_pstr(p, p->header.source_tool), "spt")) &&
           sp_rsds_from_key(id.p, id.n, out);
}

static void put_binaries(struct sp_info *x)
{
    const struct sp_profile *p = x->profile;
    struct sp_answer_table *t = sp_answer_table(x->out, &sp_info_binaries);
    char guid[SP_GUID_ROOM], key[SP_RSDS_KEY_ROOM];
    struct sp_rsds r;
    for (size_t i = 0; t && i < p->dsos.n; i++) {
        if (!sp_info_rsds(p, &p->dsos.v[i], &r))
            continue;
        sp_guid_text(r.guid, guid);
        sp_table_row(x->out, t);
        sp_put_str(x->out, t, BINARY_NAME, sp_pstr(p, p->dsos.v[i].name));
        sp_put_text(x->out, t, BINARY_GUID, guid, strlen(guid));
        sp_put_int(t, BINARY_AGE, r.age);
        sp_put_text(x->out, t, BINARY_KEY, key, sp_rsds_key(&r, true, key));
        sp_put_str(x->out, t, BINARY_BUILD_ID, sp_pstr(p, p->dsos.v[i].build_id));
    }
}

void sp_info_tables(struct sp_info *x)
{
    put_events(x);
    put_metric_rows(x);
    put_pools(x);
    put_labels(x);
    put_binaries(x);
}
