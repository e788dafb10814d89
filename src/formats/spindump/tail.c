/*
 * What follows the processes of a report.
 *
 *     Tier 0 Latency Histogram:                           Tier 0 Aggregate Stats:
 *           Begin        End      Freq      CDF           	Num IOs 55 Latency Mean 68us Max Latency …
 *             0us      100us        46       46           	Reads 0 (0 KB) Writes 55 (674 KB)
 *              >   1000000us         0       55
 */
#include "base/num.h"
#include "formats/spindump/report.h"

#include <string.h>

enum { TAIL_LINES = 4096 };

static bool spindump_is_io_title(struct sp_span s)
{
    return sp_hang_ends(s, " Histogram:") || sp_hang_ends(s, " Aggregate Stats:");
}

bool sp_spindump_tail_begins(struct sp_span line)
{
    static const char *const marks[] = {"Kextstat:", "----FPS Report Legend", "====Frame Rate Report",
                                        "Custom Output:", "Spindump binary format"};
    if (!line.n || !memchr("K-=CSIT", *line.p, 7))
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (sp_hang_starts(line, marks[i]))
            return true;
    return (sp_hang_starts(line, "IO ") || sp_hang_starts(line, "I/O ") || sp_hang_starts(line, "Tier ")) &&
           spindump_is_io_title(line);
}

static struct sp_span spindump_word(struct sp_span *s)
{
    *s = sp_hang_trim(*s);
    size_t n = 0;
    while (n < s->n && !sp_hang_blank(s->p[n]))
        n++;
    struct sp_span w = {s->p, n};
    *s = sp_hang_after(*s, n);
    return w;
}

/* "100us": the number and its unit. */
static bool spindump_bound(struct sp_span w, int64_t *v, struct sp_span *unit)
{
    size_t n = sp_parse_i64(w.p, w.p + w.n, v);
    *unit = sp_hang_after(w, n);
    return n && sp_hang_digit(*w.p);
}

static bool spindump_whole(struct sp_span w, int64_t *v)
{
    return w.n && sp_hang_digit(*w.p) && sp_parse_i64(w.p, w.p + w.n, v) == w.n;
}

struct spindump_bucket {
    int64_t begin, end, count, cdf;
    bool open; /* no end */
};

static bool spindump_bucket(struct sp_span s, struct spindump_bucket *k, struct sp_span *unit)
{
    struct sp_span first = spindump_word(&s), second = spindump_word(&s), third = spindump_word(&s),
                   fourth = spindump_word(&s), other;
    k->open = sp_span_is(first, ">");
    if (sp_hang_trim(s).n || !spindump_whole(third, &k->count) || !spindump_whole(fourth, &k->cdf) ||
        !spindump_bound(second, k->open ? &k->begin : &k->end, unit))
        return false;
    return k->open || spindump_bound(first, &k->begin, &other);
}

static bool spindump_flush_tail(struct spindump_reader *r)
{
    if (!r->tail_lines)
        return true;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_tail\",\"lines\":[");
    sp_buf_add(&r->buf, r->tail.data, r->tail.len);
    sp_buf_ch(&r->buf, ']');
    r->buf.failed |= r->tail.failed;
    sp_buf_clear(&r->tail);
    r->tail_lines = 0;
    return sp_hang_extension(r->p, &r->buf);
}

static bool spindump_keep_tail_line(struct spindump_reader *r, struct sp_span line)
{
    sp_hang_item(&r->tail, line);
    return ++r->tail_lines < TAIL_LINES || spindump_flush_tail(r);
}

/* The line of the text that p is in, from where the title of the table at hand stands. */
static uint64_t spindump_line_number(const struct spindump_reader *r, const char *p)
{
    uint64_t line = r->table_line;
    for (const char *q = r->histogram.v[0].p; (q = memchr(q, '\n', (size_t)(p - q))); q++)
        line++;
    return line;
}

/* The histogram at hand as a record; r->histogram holds its title and rows. */
static bool spindump_histogram_record(struct spindump_reader *r)
{
    struct sp_span title = r->histogram.v[0], unit = {NULL, 0}, other;
    struct spindump_bucket k;
    int64_t sum = 0;
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_histogram\"");
    title.n--;
    sp_hang_member(&r->buf, "title", title);
    if (r->histogram.n > 1 && spindump_bucket(r->histogram.v[1], &k, &unit) && unit.n)
        sp_hang_member(&r->buf, "unit", unit);
    sp_buf_puts(&r->buf, ",\"rows\":[");
    for (size_t i = 1; i < r->histogram.n; i++) {
        spindump_bucket(r->histogram.v[i], &k, &other);
        if (__builtin_add_overflow(sum, k.count, &sum) || sum != k.cdf) {
            const char *at = r->histogram.v[i].p;
            sp_emit(r->d, SP_W518, SP_AT_LINE(spindump_line_number(r, at), (uint64_t)(at - r->start)),
                    "%.*s: the counts add up to %lld where %lld is stated",
                    (int)(title.n < 60 ? title.n : 60), title.p, (long long)sum, (long long)k.cdf);
            sum = k.cdf;
        }
        sp_hang_comma(&r->buf);
        sp_buf_printf(&r->buf, "[%lld,", (long long)k.begin);
        if (k.open)
            sp_buf_puts(&r->buf, "null");
        else
            sp_buf_i64(&r->buf, k.end);
        sp_buf_printf(&r->buf, ",%lld,%lld]", (long long)k.count, (long long)k.cdf);
    }
    sp_buf_ch(&r->buf, ']');
    return sp_hang_extension(r->p, &r->buf);
}

/* "Num IOs 55", "Latency Mean 68us", "Reads 0 (0 KB)": a name, and the number behind it. */
struct spindump_statistic {
    const char *name, *key, *bytes_key;
};

/* False: the line has none. */
static bool spindump_statistic(struct spindump_reader *r, struct sp_span line,
                               const struct spindump_statistic *x)
{
    const char *at = memmem(line.p, line.n, x->name, strlen(x->name));
    int64_t v;
    if (!at)
        return false;
    struct sp_span s = sp_hang_after(line, (size_t)(at - line.p) + strlen(x->name));
    size_t n = sp_parse_i64(s.p, s.p + s.n, &v);
    if (!n)
        return false;
    sp_hang_number(&r->buf, x->key, v);
    s = sp_hang_trim(sp_hang_after(s, n));
    if (x->bytes_key && s.n > 1 && *s.p == '(' && sp_hang_bytes(sp_hang_after(s, 1), &v))
        sp_hang_number(&r->buf, x->bytes_key, v);
    return true;
}

/* One that stands twice, as in what was pasted together, has the number of the first; `lines` has all. */
static bool spindump_statistics_record(struct spindump_reader *r)
{
    static const struct spindump_statistic all[] = {{"Num IOs ", "ios", NULL},
                                                    {"Latency Mean ", "latency_mean_us", NULL},
                                                    {"Max Latency ", "latency_max_us", NULL},
                                                    {"Latency SD ", "latency_sd_us", NULL},
                                                    {"Reads ", "reads", "read_bytes"},
                                                    {"Writes ", "writes", "write_bytes"}};
    struct sp_span title = r->histogram.v[0];
    sp_buf_clear(&r->buf);
    sp_buf_puts(&r->buf, "{\"type\":\"x_spindump_aggregate\"");
    title.n--;
    sp_hang_member(&r->buf, "title", title);
    sp_buf_puts(&r->buf, ",\"lines\":[");
    for (size_t i = 1; i < r->histogram.n; i++)
        sp_hang_item(&r->buf, r->histogram.v[i]);
    sp_buf_ch(&r->buf, ']');
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t i = 1; i < r->histogram.n; i++)
            if (spindump_statistic(r, r->histogram.v[i], &all[k]))
                break;
    return sp_hang_extension(r->p, &r->buf);
}

/* Ends the histogram or the statistics at hand. */
static bool spindump_end_table(struct spindump_reader *r)
{
    if (!r->histogram.n)
        return true;
    bool ok = sp_hang_ends(r->histogram.v[0], " Histogram:") ? spindump_histogram_record(r)
                                                             : spindump_statistics_record(r);
    r->histogram.n = 0;
    return ok;
}

static bool spindump_is_heading(struct sp_span s)
{
    return sp_hang_starts(s, "Begin") && sp_hang_ends(s, "CDF");
}

bool sp_spindump_tail_line(struct spindump_reader *r, struct sp_span line)
{
    struct sp_span text = sp_hang_trim(line), unit;
    struct spindump_bucket k;
    if (r->histogram.n && text.n) {
        bool table = sp_hang_ends(r->histogram.v[0], " Histogram:");
        if (table && spindump_is_heading(text))
            return true;
        if (table && spindump_bucket(text, &k, &unit))
            return sp_vec_push(&r->histogram, text);
        if (!table && (sp_hang_starts(text, "Num IOs ") || sp_hang_starts(text, "Reads ")))
            return sp_vec_push(&r->histogram, text);
    }
    if (r->histogram.n) {
        if (!spindump_end_table(r))
            return false;
        if (!text.n)
            return true;
    }
    r->table_line = r->line;
    if (spindump_is_io_title(text) && sp_spindump_tail_begins(text))
        return spindump_flush_tail(r) && sp_vec_push(&r->histogram, text);
    if (!text.n && !r->tail_lines)
        return true;
    return spindump_keep_tail_line(r, line);
}

bool sp_spindump_finish_tail(struct spindump_reader *r)
{
    return spindump_end_table(r) && spindump_flush_tail(r);
}
