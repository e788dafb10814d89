#include "analysis/io_report.h"

#include <string.h>

void sp_io_report_free(struct sp_io_report *r)
{
    sp_io_records_free(&r->records);
    sp_vec_free(&r->histograms);
    sp_vec_free(&r->statistics);
}

static void percentiles(const struct sp_io_report *r, struct sp_io_histogram *h)
{
    static const int shares[] = {50, 90, 99};
    for (int i = 0; i < 3; i++) {
        __int128 sum = 0;
        for (uint32_t k = 0; k < h->n; k++) {
            const struct sp_io_bucket *b = &r->records.buckets.v[h->first + k];
            sum += b->count;
            if (sum * 100 < (__int128)h->total * shares[i])
                continue;
            h->percentiles[i] =
                (struct sp_io_bound){b->end == SP_ABSENT ? b->begin : b->end, b->end == SP_ABSENT};
            break;
        }
    }
}

static bool add_histogram(struct sp_io_report *r, const struct sp_io_table *t)
{
    struct sp_io_histogram h = {.title = t->title, .unit = t->unit, .first = t->first, .n = t->n};
    for (uint32_t i = 0; i < h.n; i++)
        if (__builtin_add_overflow(h.total, r->records.buckets.v[h.first + i].count, &h.total))
            h.total = INT64_MAX;
    percentiles(r, &h);
    return sp_vec_push(&r->histograms, h);
}

/* "Tier 0 Aggregate Stats" and "Tier 0 Latency Histogram" are of one tier. */
static void match_tiers(struct sp_io_report *r)
{
    for (size_t i = 0; i < r->statistics.n; i++) {
        struct sp_str a = sp_str_at(&r->records.strs, r->statistics.v[i].sums.title);
        const char *end = memmem(a.p, a.n, " Aggregate", 10);
        size_t n = end ? (size_t)(end - a.p) : a.n;
        for (uint32_t k = 0; k < r->histograms.n; k++) {
            struct sp_str b = sp_str_at(&r->records.strs, r->histograms.v[k].title);
            if (b.n > n && memcmp(a.p, b.p, n) == 0 && b.p[n] == ' ')
                r->statistics.v[i].latency = k;
        }
    }
}

spaa_status sp_io_report_of(const struct sp_profile *p, struct sp_diags *d, struct sp_io_report *out)
{
    struct sp_io_report r = {0};
    spaa_status st = sp_io_records_of(p, d, &r.records);
    bool ok = !st;
    for (size_t i = 0; ok && i < r.records.tables.n; i++)
        ok = add_histogram(&r, &r.records.tables.v[i]);
    for (size_t i = 0; ok && i < r.records.statistics.n; i++) {
        struct sp_io_statistics s = {r.records.statistics.v[i], SP_NONE};
        ok = sp_vec_push(&r.statistics, s);
    }
    if (!ok) {
        sp_io_report_free(&r);
        return st ? st : sp_nomem(d);
    }
    match_tiers(&r);
    *out = r;
    return SPAA_OK;
}
