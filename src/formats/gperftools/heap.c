/*
 * Heap profiles: what is in use, and where a profile has more than that, what was allocated ever; growth of
 * the heap and fragmentation in the same form.
 *
 * `@ heap_v2/N`, `heapz_v2/N` and Go's `heap/2N` are samples with a rate of N bytes; `@ heapprofile` has all.
 * Estimates are truncated to integers, as pprof does. A row is of blocks of one size, on average, which pprof
 * keeps as a label.
 */
#include "base/num.h"
#include "formats/gperftools/gperftools.h"
#include "json/json.h"

#define LIVE                                                                                                 \
    {"inuse_objects", "count", "live_count", "count"},                                                       \
    {                                                                                                        \
        "inuse_space", "bytes", "live_bytes", "bytes"                                                        \
    }
#define ALLOC                                                                                                \
    {"alloc_objects", "count", "alloc_count", "count"},                                                      \
    {                                                                                                        \
        "alloc_space", "bytes", "alloc_bytes", "bytes"                                                       \
    }

struct heap {
    int64_t rate; /* above 1: values are samples */
    bool alloc;   /* the second pair means something */
    struct sp_mapped_totals totals;
};

static spaa_status gperftools_heap_declare(struct sp_gp *gp, const struct heap *h, const char *name,
                                           int64_t period)
{
    struct sp_gp_event e = {
        .name = name,
        .kind = SP_ALLOCATION,
        .period = period,
        .period_type = "space",
        .period_unit = "bytes",
        .tracking = "{\"tracks_frees\":true,\"has_timestamps\":false}",
        .types = {{"objects", "count", "live_count", "count"}, {"space", "bytes", "live_bytes", "bytes"}},
        .ntypes = 2,
        .primary = 1,
    };
    if (h->alloc) {
        static const struct sp_gp_type all[] = {ALLOC, LIVE};
        memcpy(e.types, all, sizeof all);
        e.ntypes = 4;
        e.primary = 3;
    }
    if (h->rate > 1) {
        e.more[e.nmore++] = (struct sp_mapped_metric){"samples", NULL};
        if (h->alloc) {
            e.more[e.nmore++] = (struct sp_mapped_metric){"x_raw_alloc_bytes", "bytes"};
            e.more[e.nmore++] = (struct sp_mapped_metric){"x_raw_live_count", "count"};
        }
        e.more[e.nmore++] = (struct sp_mapped_metric){"x_raw_live_bytes", "bytes"};
    }
    return sp_gp_declare(gp, &e);
}

/* The name behind the last @ of a title, and the number behind its slash. */
static struct sp_str gperftools_heap_sampling(struct sp_str title, int64_t *rate)
{
    const char *at = memrchr(title.p, '@', title.n), *end = title.p + title.n;
    *rate = 0;
    if (!at)
        return (struct sp_str){"", 0};
    struct sp_str s = sp_mapped_trim(at + 1, (size_t)(end - at - 1));
    const char *slash = memchr(s.p, '/', s.n);
    if (slash) {
        const char *p = slash + 1;
        if (!sp_mapped_int(&p, end, rate) || *rate < 0)
            *rate = 0;
        s.n = (uint32_t)(slash - s.p);
    }
    return s;
}

static spaa_status gperftools_heap_title(struct sp_gp *gp, struct sp_str title, struct heap *h)
{
    const char *p = title.p + sizeof "heap profile:" - 1, *end = title.p + title.n;
    int64_t v[4] = {0}, rate;
    bool counts = sp_mapped_counts(&p, end, v);
    struct sp_str how = gperftools_heap_sampling(title, &rate);
    int64_t period = 1;
    memcpy(h->totals.all, v, sizeof v);
    h->totals.said = h->totals.exact = counts;
    gp->kind = "heap";
    gp->tool = "tcmalloc";
    if (!counts)
        sp_emit(gp->d, SP_W772, sp_gp_here(gp), "the first line has no totals");
    sp_buf_puts(&gp->notes, ",\"sampling\":");
    sp_json_string(&gp->notes, how.p, how.n);
    sp_buf_printf(&gp->notes, ",\"rate\":%lld,\"totals\":[%lld,%lld,%lld,%lld]", (long long)rate,
                  (long long)v[0], (long long)v[1], (long long)v[2], (long long)v[3]);
    h->alloc = (v[2] != v[0] && v[2]) || (v[3] != v[1] && v[3]) || !counts;
    if (sp_gp_starts(how, "growth") || sp_gp_starts(how, "fragmentation")) {
        gp->kind = *how.p == 'g' ? "growth" : "fragmentation";
        h->alloc = false;
        h->totals.said &= *how.p == 'g';
        return gperftools_heap_declare(gp, h, gp->kind, period);
    }
    if (sp_str_is(how, "heap_v2") || sp_str_is(how, "heapz_v2")) {
        h->rate = period = rate;
        if (!rate)
            sp_emit(gp->d, SP_W772, sp_gp_here(gp), "samples without a rate; the numbers are as they stand");
    } else if (sp_str_is(how, "heap")) {
        gp->tool = "pprof";
        h->rate = period = rate / 2;
    } else if (sp_str_is(how, "heapprofile")) {
        h->totals.exact = false; /* what was mapped has lines, too, and is not in the totals */
    } else {
        h->totals.said = false;
        sp_emit(gp->d, SP_W772, sp_gp_here(gp), "an unknown kind of sampling; the numbers are as they stand");
    }
    return gperftools_heap_declare(gp, h, "heap", period);
}

/* A pair of the file into one of estimates. */
static void gperftools_heap_pair(const struct heap *h, const int64_t *from, int64_t *to)
{
    double count, bytes;
    if (h->rate <= 1) {
        to[0] = from[0];
        to[1] = from[1];
        return;
    }
    sp_mapped_unbias(from[0], from[1], h->rate, &count, &bytes);
    to[0] = sp_mapped_cut(count);
    to[1] = sp_mapped_cut(bytes);
}

static spaa_status gperftools_heap_row(struct sp_gp *gp, struct heap *h, const char *p, const char *end)
{
    int64_t raw[4], v[8];
    uint32_t n = 0;
    bool ok = sp_mapped_counts(&p, end, raw);
    spaa_status st = sp_gp_stack_or_say(gp, &p, end, &ok);
    if (st || !ok)
        return st;
    sp_mapped_sum(&h->totals, raw);
    if ((!raw[0] && raw[1]) || (!raw[2] && raw[3] && h->alloc))
        sp_emit(gp->d, SP_W772, sp_gp_here(gp), "bytes of no objects");
    if (h->alloc) {
        gperftools_heap_pair(h, raw + 2, v);
        n = 2;
    }
    gperftools_heap_pair(h, raw, v + n);
    n += 2;
    if (h->rate > 1) {
        v[n++] = h->alloc ? raw[2] : raw[0];
        if (h->alloc) {
            v[n++] = raw[3];
            v[n++] = raw[0];
        }
        v[n++] = raw[1];
    }
    int64_t block = raw[0] ? raw[1] / raw[0] : h->alloc && raw[2] ? raw[3] / raw[2] : 0;
    uint32_t context = sp_gp_block_context(gp, block);
    return context != SP_NONE && sp_mapped_row(&gp->m, context, v) ? SPAA_OK : sp_nomem(gp->d);
}

spaa_status sp_gp_heap(struct sp_gp *gp, struct sp_str title)
{
    struct heap h = {0};
    spaa_status st = gperftools_heap_title(gp, title, &h);
    while (!st && sp_gp_next(gp)) {
        struct sp_str s = sp_mapped_trim(gp->line.p, gp->line.n);
        if (!s.n)
            continue;
        if (*s.p == '#') {
            st = sp_gp_comment(gp, s);
        } else if ((*s.p == 'M' || *s.p == '-') && sp_mapped_sentinel(s.p, s.n)) {
            st = sp_gp_maps(gp);
            break;
        } else {
            st = gperftools_heap_row(gp, &h, s.p, s.p + s.n);
        }
    }
    if (!st)
        sp_mapped_check(&h.totals, sp_mapped_heap_totals, gp->d);
    return st;
}
