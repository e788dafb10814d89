/* spaa info --io: the histograms and statistics of input and output that a report holds. */
#include "info.h"

#include "analysis/io_report.h"
#include "render/text.h"

static void info_io_report_json_number(struct sp_jw *w, const char *key, int64_t v)
{
    if (v == SP_ABSENT)
        sp_jw_null(w, key);
    else
        sp_jw_i64(w, key, v);
}

static void json_text(struct sp_jw *w, const char *key, const struct sp_io_report *r, uint32_t s)
{
    struct sp_str t = sp_str_at(&r->records.strs, s);
    if (s == SP_STR_NONE)
        sp_jw_null(w, key);
    else
        sp_jw_str(w, key, t.p, t.n);
}

static const char *const shares[] = {"p50", "p90", "p99"};

static void json_percentiles(struct sp_jw *w, const struct sp_io_histogram *h)
{
    for (int i = 0; i < 3; i++) {
        if (!h || h->total <= 0) {
            sp_jw_null(w, shares[i]);
            continue;
        }
        sp_jw_open(w, shares[i], '{');
        sp_jw_i64(w, h->percentiles[i].more ? "more_than" : "at_most", h->percentiles[i].value);
        sp_jw_close(w, '}');
    }
}

static void json_histogram(struct sp_jw *w, const struct sp_io_report *r, const struct sp_io_histogram *h)
{
    sp_jw_open(w, NULL, '{');
    json_text(w, "title", r, h->title);
    json_text(w, "unit", r, h->unit);
    sp_jw_i64(w, "total", h->total);
    json_percentiles(w, h);
    sp_jw_open(w, "buckets", '[');
    for (uint32_t i = 0; i < h->n; i++) {
        const struct sp_io_bucket *b = &r->records.buckets.v[h->first + i];
        sp_jw_open(w, NULL, '{');
        sp_jw_i64(w, "begin", b->begin);
        info_io_report_json_number(w, "end", b->end);
        sp_jw_i64(w, "count", b->count);
        sp_jw_i64(w, "cdf", b->cdf);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
}

static int info_io_report_answer_json(struct cli *c, const struct sp_io_report *r)
{
    struct sp_jw w;
    sp_jw_init(&w, c->out);
    sp_jw_open(&w, NULL, '{');
    sp_jw_cstr(&w, "schema", "spaa.info.io/1");
    sp_jw_open(&w, "tiers", '[');
    for (size_t i = 0; i < r->statistics.n; i++) {
        const struct sp_io_statistics *s = &r->statistics.v[i];
        sp_jw_open(&w, NULL, '{');
        json_text(&w, "title", r, s->sums.title);
        info_io_report_json_number(&w, "ios", s->sums.ios);
        info_io_report_json_number(&w, "latency_mean_us", s->sums.mean_us);
        info_io_report_json_number(&w, "latency_sd_us", s->sums.sd_us);
        info_io_report_json_number(&w, "latency_max_us", s->sums.max_us);
        info_io_report_json_number(&w, "reads", s->sums.reads);
        info_io_report_json_number(&w, "read_bytes", s->sums.read_bytes);
        info_io_report_json_number(&w, "writes", s->sums.writes);
        info_io_report_json_number(&w, "write_bytes", s->sums.write_bytes);
        json_percentiles(&w, s->latency == SP_NONE ? NULL : &r->histograms.v[s->latency]);
        sp_jw_close(&w, '}');
    }
    sp_jw_close(&w, ']');
    sp_jw_open(&w, "histograms", '[');
    for (size_t i = 0; i < r->histograms.n; i++)
        json_histogram(&w, r, &r->histograms.v[i]);
    sp_jw_close(&w, ']');
    answer_close(c, &w);
    return EXIT_FINE;
}

static void number_cell(struct sp_table *t, int64_t v, const char *unit)
{
    if (v == SP_ABSENT)
        sp_table_cell(t, "", 0);
    else
        sp_table_printf(t, "%lld%s", (long long)v, unit);
}

static void percentile_cell(struct sp_table *t, const struct sp_io_report *r, const struct sp_io_histogram *h,
                            int i)
{
    if (!h || h->total <= 0)
        sp_table_cell(t, "", 0);
    else
        sp_table_printf(t, "%s%lld%s",
                        h->percentiles[i].more ? ">" : "<=", (long long)h->percentiles[i].value,
                        sp_str_at(&r->records.strs, h->unit).p);
}

/* A line for each histogram, with the statistics of its tier. */
static int summary_table(struct cli *c, const struct sp_io_report *r)
{
    static const struct sp_table_column columns[] = {
        {"histogram", false, true}, {"IOs", true, false},    {"p50", true, false},
        {"p90", true, false},       {"p99", true, false},    {"mean", true, false},
        {"sd", true, false},        {"max", true, false},    {"reads", true, false},
        {"read B", true, false},    {"writes", true, false}, {"written B", true, false}};
    struct sp_table t;
    sp_table_init(&t, columns, 12);
    for (uint32_t i = 0; i < r->histograms.n; i++) {
        const struct sp_io_histogram *h = &r->histograms.v[i];
        struct sp_io_sums s = {SP_ABSENT, SP_ABSENT, SP_ABSENT, SP_ABSENT,  SP_ABSENT,
                               SP_ABSENT, SP_ABSENT, SP_ABSENT, SP_STR_NONE};
        struct sp_str title = sp_str_at(&r->records.strs, h->title);
        for (size_t k = 0; k < r->statistics.n; k++)
            if (r->statistics.v[k].latency == i)
                s = r->statistics.v[k].sums;
        sp_table_cell(&t, title.p, title.n);
        number_cell(&t, h->total, "");
        for (int k = 0; k < 3; k++)
            percentile_cell(&t, r, h, k);
        number_cell(&t, s.mean_us, "us");
        number_cell(&t, s.sd_us, "us");
        number_cell(&t, s.max_us, "us");
        number_cell(&t, s.reads, "");
        number_cell(&t, s.read_bytes, "");
        number_cell(&t, s.writes, "");
        number_cell(&t, s.write_bytes, "");
    }
    int rc = answer_table(c, &t);
    sp_table_free(&t);
    return rc;
}

/* Every bucket that has something in it; all of them where a program reads. */
static int bucket_table(struct cli *c, const struct sp_io_report *r)
{
    static const struct sp_table_column columns[] = {{"histogram", false, true}, {"begin", true, false},
                                                     {"end", true, false},       {"unit", false, false},
                                                     {"count", true, false},     {"cum%", true, false}};
    struct sp_table t;
    struct sp_buf b;
    sp_table_init(&t, columns, 6);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < r->histograms.n; i++) {
        const struct sp_io_histogram *h = &r->histograms.v[i];
        struct sp_str title = sp_str_at(&r->records.strs, h->title),
                      unit = sp_str_at(&r->records.strs, h->unit);
        int64_t sum = 0;
        for (uint32_t k = 0; k < h->n; k++) {
            const struct sp_io_bucket *x = &r->records.buckets.v[h->first + k];
            sum += x->count > h->total - sum ? h->total - sum : x->count;
            if (!x->count && c->format != FORMAT_CSV)
                continue;
            sp_table_cell(&t, title.p, title.n);
            number_cell(&t, x->begin, "");
            number_cell(&t, x->end, "");
            sp_table_cell(&t, unit.p, unit.n);
            number_cell(&t, x->count, "");
            sp_buf_clear(&b);
            sp_text_percent(&b, sum, h->total);
            sp_table_cell(&t, b.len ? b.data : "", b.len);
        }
    }
    int rc = answer_table(c, &t);
    sp_buf_free(&b);
    sp_table_free(&t);
    return rc;
}

int info_io(struct cli *c)
{
    struct sp_io_report r;
    spaa_status st = sp_io_report_of(c->profile, &c->diags, &r);
    if (st)
        return cli_exit_of(st);
    int rc;
    if (!r.histograms.n && !r.statistics.n) {
        sp_emit_hint(&c->diags, SP_E036, SP_AT_NOTHING, "spindump reports end with them where I/O was traced",
                     "the profile holds no histograms of I/O");
        rc = EXIT_NO;
    } else if (!(rc = cli_stdout(c))) {
        if (c->format == FORMAT_JSON)
            rc = info_io_report_answer_json(c, &r);
        else if (c->format == FORMAT_CSV)
            rc = bucket_table(c, &r);
        else if (!(rc = summary_table(c, &r))) {
            sp_puts(c->out, "\n");
            rc = bucket_table(c, &r);
        }
    }
    sp_io_report_free(&r);
    return rc;
}
