/* info --io: the histograms and statistics of input and output that a report holds. */
#include "ask/info.h"

#include "analysis/io_report.h"
#include "base/num.h"

#define PERCENTILE(at, name)                                                                                 \
    [at] = {name ".at_most", SP_COL_COUNT, .flags = SP_COL_OPTIONAL, .doc = "so many are no larger"},        \
    [(at) + 1] = {name ".more_than", SP_COL_COUNT, .flags = SP_COL_OPTIONAL,                                 \
                  .doc = "instead: it is beyond the last bound"}

enum {
    TIER_TITLE,
    TIER_IOS,
    TIER_MEAN,
    TIER_SD,
    TIER_MAX,
    TIER_READS,
    TIER_READ,
    TIER_WRITES,
    TIER_WRITTEN,
    TIER_P50
};
static const struct sp_answer_column io_tier_columns[] = {
    [TIER_TITLE] = {"title", SP_COL_TEXT, .doc = "as the report calls it"},
    [TIER_IOS] = {"ios", SP_COL_COUNT, .doc = "how many operations"},
    [TIER_MEAN] = {"latency_mean_us", SP_COL_COUNT, .doc = "mean latency"},
    [TIER_SD] = {"latency_sd_us", SP_COL_COUNT, .doc = "its standard deviation"},
    [TIER_MAX] = {"latency_max_us", SP_COL_COUNT, .doc = "the longest"},
    [TIER_READS] = {"reads", SP_COL_COUNT, .doc = "how many"},
    [TIER_READ] = {"read_bytes", SP_COL_COUNT, .doc = "how much"},
    [TIER_WRITES] = {"writes", SP_COL_COUNT, .doc = "how many"},
    [TIER_WRITTEN] = {"write_bytes", SP_COL_COUNT, .doc = "how much"},
    PERCENTILE(TIER_P50, "p50"),
    PERCENTILE(TIER_P50 + 2, "p90"),
    PERCENTILE(TIER_P50 + 4, "p99"),
};
const struct sp_table_decl sp_info_tiers = {
    "tiers", io_tier_columns, sizeof io_tier_columns / sizeof *io_tier_columns,
    .doc = "info --io: sums of each tier, with percentiles of its latency"};

enum { HIST_TITLE, HIST_UNIT, HIST_TOTAL, HIST_P50 };
static const struct sp_answer_column io_histogram_columns[] = {
    [HIST_TITLE] = {"title", SP_COL_TEXT, .doc = "as the report calls it"},
    [HIST_UNIT] = {"unit", SP_COL_TEXT, .doc = "of bounds"},
    [HIST_TOTAL] = {"total", SP_COL_COUNT, .doc = "how many in all"},
    PERCENTILE(HIST_P50, "p50"),
    PERCENTILE(HIST_P50 + 2, "p90"),
    PERCENTILE(HIST_P50 + 4, "p99"),
};
const struct sp_table_decl sp_info_histograms = {"histograms", io_histogram_columns,
                                                 sizeof io_histogram_columns / sizeof *io_histogram_columns,
                                                 .doc = "info --io: histograms"};
enum { BUCKET_BEGIN, BUCKET_END, BUCKET_COUNT, BUCKET_CDF };
static const struct sp_answer_column io_bucket_columns[] = {
    [BUCKET_BEGIN] = {"begin", SP_COL_COUNT, .doc = "its lower bound"},
    [BUCKET_END] = {"end", SP_COL_COUNT, .doc = "its upper bound; null: none"},
    [BUCKET_COUNT] = {"count", SP_COL_COUNT, .doc = "how many are in it"},
    [BUCKET_CDF] = {"cdf", SP_COL_COUNT, .doc = "and in those before"},
};
const struct sp_table_decl sp_info_buckets = {"buckets", io_bucket_columns, 4, .of = "histograms",
                                              .doc = "its buckets"};

enum {
    IO_TITLE,
    IO_IOS,
    IO_P50,
    IO_P90,
    IO_P99,
    IO_MEAN,
    IO_SD,
    IO_MAX,
    IO_READS,
    IO_READ,
    IO_WRITES,
    IO_WRITTEN
};
static const struct sp_answer_column io_row_columns[] = {
    [IO_TITLE] = {"histogram", SP_COL_TEXT, "histogram", .flags = SP_COL_FLEXIBLE, .doc = "its title"},
    [IO_IOS] = {"ios", SP_COL_COUNT, "IOs", .doc = "how many"},
    [IO_P50] = {"p50", SP_COL_TEXT, "p50", .doc = "half are no larger"},
    [IO_P90] = {"p90", SP_COL_TEXT, "p90", .doc = "likewise"},
    [IO_P99] = {"p99", SP_COL_TEXT, "p99", .doc = "likewise"},
    [IO_MEAN] = {"mean", SP_COL_TEXT, "mean", .doc = "mean latency"},
    [IO_SD] = {"sd", SP_COL_TEXT, "sd", .doc = "its standard deviation"},
    [IO_MAX] = {"max", SP_COL_TEXT, "max", .doc = "the longest"},
    [IO_READS] = {"reads", SP_COL_COUNT, "reads", .doc = "how many"},
    [IO_READ] = {"read_bytes", SP_COL_COUNT, "read B", .doc = "how much"},
    [IO_WRITES] = {"writes", SP_COL_COUNT, "writes", .doc = "how many"},
    [IO_WRITTEN] = {"write_bytes", SP_COL_COUNT, "written B", .doc = "how much"},
};
const struct sp_table_decl sp_info_io_rows = {
    "io_rows", io_row_columns, sizeof io_row_columns / sizeof *io_row_columns,
    .doc = "each histogram with the sums of its tier", .joined = true};
enum { AT_TITLE, AT_BEGIN, AT_END, AT_UNIT, AT_COUNT, AT_SHARE };
static const struct sp_answer_column io_at_columns[] = {
    [AT_TITLE] = {"histogram", SP_COL_TEXT, "histogram", .flags = SP_COL_FLEXIBLE, .doc = "its title"},
    [AT_BEGIN] = {"begin", SP_COL_COUNT, "begin", .doc = "the lower bound"},
    [AT_END] = {"end", SP_COL_COUNT, "end", .doc = "the upper bound"},
    [AT_UNIT] = {"unit", SP_COL_TEXT, "unit", .doc = "of bounds"},
    [AT_COUNT] = {"count", SP_COL_COUNT, "count", .doc = "how many"},
    [AT_SHARE] = {"cumulative_percent", SP_COL_NUMBER, "cum%", .doc = "with those before, of all"},
};
const struct sp_table_decl sp_info_io_buckets = {"io_buckets", io_at_columns, 6, .doc = "every bucket",
                                                 .joined = true};

static void put_title(struct sp_answer *a, struct sp_answer_table *t, size_t column,
                      const struct sp_io_report *r, uint32_t s)
{
    sp_put_str(a, t, column, sp_str_at(&r->records.strs, s));
}

static void put_percentiles(struct sp_answer_table *t, size_t at, const struct sp_io_histogram *h)
{
    for (size_t i = 0; h && h->total > 0 && i < 3; i++)
        sp_put_int(t, at + 2 * i + h->percentiles[i].more, h->percentiles[i].value);
}

static void put_sums(struct sp_answer_table *t, size_t mean, const struct sp_io_sums *s)
{
    const int64_t v[] = {s->mean_us, s->sd_us, s->max_us, s->reads, s->read_bytes, s->writes, s->write_bytes};
    for (size_t i = 0; i < sizeof v / sizeof *v; i++)
        sp_put_int(t, mean + i, v[i]);
}

static void put_tiers(struct sp_answer *a, const struct sp_io_report *r)
{
    struct sp_answer_table *t = sp_answer_table(a, &sp_info_tiers);
    for (size_t i = 0; t && i < r->statistics.n; i++) {
        const struct sp_io_statistics *s = &r->statistics.v[i];
        sp_table_row(a, t);
        put_title(a, t, TIER_TITLE, r, s->sums.title);
        sp_put_int(t, TIER_IOS, s->sums.ios);
        put_sums(t, TIER_MEAN, &s->sums);
        put_percentiles(t, TIER_P50, s->latency == SP_NONE ? NULL : &r->histograms.v[s->latency]);
    }
}

static void put_histograms(struct sp_answer *a, const struct sp_io_report *r)
{
    struct sp_answer_table *t = sp_answer_table(a, &sp_info_histograms),
                           *buckets = sp_answer_detail(a, &sp_info_buckets, t);
    for (size_t i = 0; t && buckets && i < r->histograms.n; i++) {
        const struct sp_io_histogram *h = &r->histograms.v[i];
        sp_table_row(a, t);
        put_title(a, t, HIST_TITLE, r, h->title);
        put_title(a, t, HIST_UNIT, r, h->unit);
        sp_put_int(t, HIST_TOTAL, h->total);
        put_percentiles(t, HIST_P50, h);
        for (uint32_t k = 0; k < h->n; k++) {
            const struct sp_io_bucket *b = &r->records.buckets.v[h->first + k];
            const int64_t v[] = {b->begin, b->end, b->count, b->cdf};
            sp_table_row(a, buckets);
            for (size_t c = 0; c < 4; c++)
                sp_put_int(buckets, c, v[c]);
        }
    }
}

/* The same for people, with units. */
static void put_tier(struct sp_answer *a, struct sp_answer_table *t, const struct sp_io_sums *s,
                     struct sp_buf *b)
{
    const int64_t us[] = {s->mean_us, s->sd_us, s->max_us};
    put_sums(t, IO_MEAN, s);
    for (size_t i = 0; i < 3; i++) {
        if (us[i] != SP_ABSENT)
            sp_buf_printf(b, "%lldus", (long long)us[i]);
        sp_put_buf(a, t, IO_MEAN + i, b);
    }
}

/* A line for each histogram, with the statistics of its tier. */
static void put_io_rows(struct sp_answer *a, const struct sp_io_report *r, struct sp_buf *b)
{
    struct sp_answer_table *t = sp_answer_table(a, &sp_info_io_rows);
    for (uint32_t i = 0; t && i < r->histograms.n; i++) {
        const struct sp_io_histogram *h = &r->histograms.v[i];
        struct sp_str unit = sp_str_at(&r->records.strs, h->unit);
        sp_table_row(a, t);
        put_title(a, t, IO_TITLE, r, h->title);
        sp_put_int(t, IO_IOS, h->total);
        for (size_t k = 0; h->total > 0 && k < 3; k++) {
            sp_buf_printf(b, "%s%lld%.*s",
                          h->percentiles[k].more ? ">" : "<=", (long long)h->percentiles[k].value,
                          (int)unit.n, unit.p);
            sp_put_buf(a, t, IO_P50 + k, b);
        }
        for (size_t k = 0; k < r->statistics.n; k++)
            if (r->statistics.v[k].latency == i)
                put_tier(a, t, &r->statistics.v[k].sums, b);
    }
}

/* Every bucket that has something in it; all of them where a program reads. */
static void put_io_buckets(struct sp_answer *a, const struct sp_io_report *r, bool brief)
{
    struct sp_answer_table *t = sp_answer_table(a, &sp_info_io_buckets);
    for (size_t i = 0; t && i < r->histograms.n; i++) {
        const struct sp_io_histogram *h = &r->histograms.v[i];
        int64_t sum = 0;
        for (uint32_t k = 0; k < h->n; k++) {
            const struct sp_io_bucket *x = &r->records.buckets.v[h->first + k];
            sum += x->count > h->total - sum ? h->total - sum : x->count;
            if (!x->count && brief)
                continue;
            sp_table_row(a, t);
            put_title(a, t, AT_TITLE, r, h->title);
            sp_put_int(t, AT_BEGIN, x->begin);
            sp_put_int(t, AT_END, x->end);
            put_title(a, t, AT_UNIT, r, h->unit);
            sp_put_int(t, AT_COUNT, x->count);
            sp_put_real(t, AT_SHARE, h->total ? (double)sp_ratio(sum, h->total, 10000) / 100 : 0);
        }
    }
}

spaa_status sp_info_io(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_io_report r;
    struct sp_buf b;
    spaa_status st = sp_io_report_of(q->profiles[0], q->diags, &r);
    if (st)
        return st;
    sp_buf_init(&b, 0);
    out->schema = "spaa.info.io/2";
    if (!r.histograms.n && !r.statistics.n) {
        sp_emit_hint(q->diags, SP_E036, SP_AT_NOTHING, "spindump reports end with them where I/O was traced",
                     "the profile holds no histograms of I/O");
        st = SPAA_ERR_NOT_FOUND;
    } else {
        if (q->brief)
            put_io_rows(out, &r, &b);
        put_io_buckets(out, &r, q->brief);
        put_tiers(out, &r);
        put_histograms(out, &r);
    }
    sp_buf_free(&b);
    sp_io_report_free(&r);
    return st;
}
