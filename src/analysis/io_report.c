#include "analysis/io_report.h"

#include "base/buf.h"
#include "base/num.h"
#include "json/find.h"

void sp_io_report_free(struct sp_io_report *r)
{
    sp_strtab_free(&r->strs);
    sp_vec_free(&r->histograms);
    sp_vec_free(&r->buckets);
    sp_vec_free(&r->statistics);
}

static bool io_report_text_of(struct sp_io_report *r, struct sp_span record, const char *key, uint32_t *out)
{
    struct sp_span raw;
    struct sp_buf b;
    *out = SP_STR_NONE;
    if (!sp_json_find(record, key, &raw))
        return true;
    sp_buf_init(&b, 0);
    if (sp_json_text_to(&b, raw))
        *out = sp_intern(&r->strs, b.len ? b.data : "", b.len);
    bool ok = !b.failed && *out != SP_STR_FAIL;
    sp_buf_free(&b);
    return ok;
}

/* [begin, end or null, count, cdf] */
static bool io_report_bucket(struct sp_span row, struct sp_io_bucket *k)
{
    int64_t *to[] = {&k->begin, &k->end, &k->count, &k->cdf};
    struct sp_span item;
    for (int i = 0; i < 4; i++) {
        if (!sp_json_next(&row, &item))
            return false;
        if (i == 1 && sp_span_is(item, "null"))
            k->end = SP_ABSENT;
        else if (sp_parse_i64(item.p, item.p + item.n, to[i]) != item.n)
            return false;
    }
    return k->count >= 0;
}

static void percentiles(const struct sp_io_report *r, struct sp_io_histogram *h)
{
    static const int shares[] = {50, 90, 99};
    for (int i = 0; i < 3; i++) {
        __int128 sum = 0;
        for (uint32_t k = 0; k < h->n; k++) {
            const struct sp_io_bucket *b = &r->buckets.v[h->first + k];
            sum += b->count;
            if (sum * 100 < (__int128)h->total * shares[i])
                continue;
            h->percentiles[i] =
                (struct sp_io_bound){b->end == SP_ABSENT ? b->begin : b->end, b->end == SP_ABSENT};
            break;
        }
    }
}

static bool add_histogram(struct sp_io_report *r, struct sp_span record)
{
    struct sp_io_histogram h = {.first = (uint32_t)r->buckets.n};
    struct sp_span rows, row;
    if (!sp_json_find(record, "rows", &rows))
        return true;
    while (sp_json_next(&rows, &row)) {
        struct sp_io_bucket k;
        if (!io_report_bucket(row, &k))
            continue;
        if (r->buckets.n >= SP_NONE - 1 || !sp_vec_push(&r->buckets, k))
            return false;
        h.n++;
        if (__builtin_add_overflow(h.total, k.count, &h.total))
            h.total = INT64_MAX;
    }
    percentiles(r, &h);
    return io_report_text_of(r, record, "title", &h.title) && io_report_text_of(r, record, "unit", &h.unit) &&
           sp_vec_push(&r->histograms, h);
}

static bool add_statistics(struct sp_io_report *r, struct sp_span record)
{
    struct sp_io_statistics s = {.latency = SP_NONE};
    int64_t *to[] = {&s.ios,   &s.mean_us,    &s.sd_us,  &s.max_us,
                     &s.reads, &s.read_bytes, &s.writes, &s.write_bytes};
    static const char *const keys[] = {"ios",   "latency_mean_us", "latency_sd_us", "latency_max_us",
                                       "reads", "read_bytes",      "writes",        "write_bytes"};
    for (int i = 0; i < 8; i++)
        if (!sp_json_find_i64(record, keys[i], to[i]))
            *to[i] = SP_ABSENT;
    return io_report_text_of(r, record, "title", &s.title) && sp_vec_push(&r->statistics, s);
}

/* "Tier 0 Aggregate Stats" and "Tier 0 Latency Histogram" are of one tier. */
static void match_tiers(struct sp_io_report *r)
{
    for (size_t i = 0; i < r->statistics.n; i++) {
        struct sp_str a = sp_str_at(&r->strs, r->statistics.v[i].title);
        const char *end = memmem(a.p, a.n, " Aggregate", 10);
        size_t n = end ? (size_t)(end - a.p) : a.n;
        for (uint32_t k = 0; k < r->histograms.n; k++) {
            struct sp_str b = sp_str_at(&r->strs, r->histograms.v[k].title);
            if (b.n > n && memcmp(a.p, b.p, n) == 0 && b.p[n] == ' ')
                r->statistics.v[i].latency = k;
        }
    }
}

static bool of_type(struct sp_str record, const char *suffix)
{
    static const char first[] = "{\"type\":\"x_";
    const char *start = record.p + sizeof first - 1;
    if (record.n < sizeof first || memcmp(record.p, first, sizeof first - 1) != 0)
        return false;
    const char *quote = memchr(start, '"', record.n - (sizeof first - 1));
    size_t n = strlen(suffix);
    return quote && (size_t)(quote - start) > n && memcmp(quote - n, suffix, n) == 0;
}

spaa_status sp_io_report_of(const struct sp_profile *p, struct sp_diags *d, struct sp_io_report *out)
{
    struct sp_io_report r = {0};
    bool ok = sp_strtab_init(&r.strs);
    for (size_t i = 0; ok && i < p->extensions.n; i++) {
        struct sp_str json = sp_pstr(p, p->extensions.v[i].json);
        struct sp_span record = {json.p, json.n};
        if (of_type(json, "_histogram"))
            ok = add_histogram(&r, record);
        else if (of_type(json, "_aggregate"))
            ok = add_statistics(&r, record);
    }
    if (!ok) {
        sp_io_report_free(&r);
        return sp_nomem(d);
    }
    match_tiers(&r);
    *out = r;
    return SPAA_OK;
}
