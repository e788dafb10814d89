/* spaa timeline: weight over time, what was hot when, and windows for SPAA. */
#include "answer.h"

#include "analysis/timeline.h"
#include "base/num.h"
#include "formats/open.h"
#include "model/callees.h"
#include "model/samples.h"
#include "render/text.h"

enum { BUCKETS = 20, BUCKETS_MAX = 100000, HOT = 3 };

struct timeline {
    struct answer a;
    struct sp_sample_times m;
    struct sp_timeline t;
};

/* One block character a bucket: its weight as a part of the heaviest. */
static void sparkline(const struct timeline *x, struct sp_buf *b)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    int64_t most = 0;
    for (size_t i = 0; i < x->t.buckets.n; i++)
        most = x->t.buckets.v[i].weight > most ? x->t.buckets.v[i].weight : most;
    for (size_t i = 0; i < x->t.buckets.n; i++) {
        int64_t v = x->t.buckets.v[i].weight;
        if (v <= 0 || !most)
            sp_buf_ch(b, ' ');
        else
            sp_buf_puts(b, blocks[(size_t)(((__int128)v * 8 - 1) / most)]);
    }
}

/* Seconds from the start of the profile, exactly. */
static void json_time(struct timeline *x, const char *key, int64_t ns)
{
    sp_jw_scaled(&x->a.w, key, (__int128)ns - x->t.zero, 9);
}

static void cmd_timeline_json_row(struct timeline *x, const struct sp_bucket *y)
{
    struct answer *a = &x->a;
    const struct sp_profile *p = a->s->profile;
    sp_jw_open(&a->w, NULL, '{');
    json_time(x, "start", y->lo);
    json_time(x, "end", y->hi);
    if (y->window != SP_NONE) {
        struct sp_str id = sp_pstr(p, p->windows.v[y->window].id);
        sp_jw_raw(&a->w, "window", id.n ? id.p : "null", id.n ? id.n : 4);
    }
    answer_weight(a, "weight", y->weight);
    answer_percent(a, "percent", y->weight);
    answer_count(a, "samples", y->samples);
    sp_jw_open(&a->w, "hot", '[');
    for (size_t i = 0; i < y->nhot; i++) {
        const struct sp_hot *h = &x->t.hot.v[y->hot + i];
        sp_jw_open(&a->w, NULL, '{');
        answer_function(a, h->function);
        answer_weight(a, "self", h->self);
        sp_jw_percent(&a->w, "percent_of_bucket", h->self, a->s->cannot_add ? 0 : y->weight);
        sp_jw_close(&a->w, '}');
    }
    sp_jw_close(&a->w, ']');
    sp_jw_close(&a->w, '}');
}

static void busiest(const struct timeline *x, struct sp_buf *b)
{
    const struct sp_bucket *best = NULL;
    char t[64];
    for (size_t i = 0; i < x->t.buckets.n; i++)
        if (!best || x->t.buckets.v[i].weight > best->weight)
            best = &x->t.buckets.v[i];
    if (!best || x->a.c->v.time)
        return;
    sp_buf_puts(b, "--time ");
    sp_buf_add(b, t, sp_scaled_text((__int128)best->lo - x->t.zero, 9, t));
    sp_buf_puts(b, "..");
    sp_buf_add(b, t, sp_scaled_text((__int128)best->hi - x->t.zero, 9, t));
}

static int cmd_timeline_draw_json(struct timeline *x, size_t limit)
{
    struct answer *a = &x->a;
    struct sp_buf b;
    int rc = answer_begin(a, "spaa.timeline/2");
    if (rc)
        return rc;
    sp_jw_cstr(&a->w, "from", x->m.rows ? "samples" : "windows");
    sp_jw_open(&a->w, "time", '{');
    sp_jw_scaled(&a->w, "profile_start", x->t.zero, 9);
    json_time(x, "start", x->t.start);
    json_time(x, "end", x->t.end);
    sp_jw_u64(&a->w, "untimed", x->m.untimed);
    sp_jw_close(&a->w, '}');
    answer_weight(a, "covered", x->t.covered);
    answer_percent(a, "covered_percent", x->t.covered);
    sp_buf_init(&b, 0);
    sparkline(x, &b);
    sp_jw_str(&a->w, "sparkline", b.data ? b.data : "", b.len);
    sp_jw_open(&a->w, "rows", '[');
    for (size_t i = 0; i < x->t.buckets.n && i < limit; i++)
        cmd_timeline_json_row(x, &x->t.buckets.v[i]);
    sp_jw_close(&a->w, ']');
    sp_jw_open(&a->w, "omitted", '{');
    sp_jw_u64(&a->w, "rows", x->t.buckets.n > limit ? x->t.buckets.n - limit : 0);
    sp_jw_close(&a->w, '}');
    sp_buf_clear(&b);
    busiest(x, &b);
    const struct answer_next next[] = {{"top", NULL, sp_buf_cstr(&b)}};
    rc = answer_end(a, next, b.len > 0);
    sp_buf_free(&b);
    return rc;
}

/* Digits of seconds that tell the buckets apart. */
static unsigned cmd_timeline_digits_of(const struct timeline *x)
{
    int64_t width = x->t.buckets.n ? x->t.buckets.v[0].hi - x->t.buckets.v[0].lo : 1;
    unsigned digits = 9;
    for (int64_t unit = 1; digits > 1 && width >= unit * 100; unit *= 10)
        digits--;
    return digits;
}

static void cell_time(struct timeline *x, struct sp_table *t, int64_t ns, unsigned digits)
{
    static const int64_t units[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                    10000,      1000,      100,      10,      1};
    char text[64];
    if (x->a.c->format == FORMAT_CSV)
        sp_table_cell(t, text, sp_scaled_text((__int128)ns - x->t.zero, 9, text));
    else
        sp_table_cell(t, text,
                      sp_scaled_text(sp_ratio((__int128)ns - x->t.zero, units[digits], 1), digits, text));
}

static void cmd_timeline_table_row(struct timeline *x, struct sp_table *table, const struct sp_bucket *y,
                                   unsigned digits)
{
    const struct sp_profile *p = x->a.s->profile;
    struct sp_buf *b = &x->a.b;
    cell_time(x, table, y->lo, digits);
    cell_time(x, table, y->hi, digits);
    cell_weight(&x->a, table, y->weight);
    cell_percent(&x->a, table, y->weight);
    cell_count(table, y->samples);
    for (size_t i = 0; i < y->nhot; i++) {
        const struct sp_hot *h = &x->t.hot.v[y->hot + i];
        struct sp_str name = sp_pstr(p, p->functions.v[h->function].name);
        sp_buf_puts(b, i ? ", " : "");
        sp_buf_add(b, name.p, name.n);
        if (!x->a.s->cannot_add) {
            sp_buf_ch(b, ' ');
            sp_text_percent(b, h->self, y->weight);
            sp_buf_ch(b, '%');
        }
    }
    cell_buf(table, b);
}

static int cmd_timeline_draw_text(struct timeline *x, size_t limit)
{
    static const struct sp_table_column columns[] = {
        {"from s", true, false}, {"to s", true, false},    {"weight", true, false},
        {"%", true, false},      {"samples", true, false}, {"hot, by self weight", false, true}};
    struct cli *c = x->a.c;
    struct sp_buf *b = &x->a.b;
    struct sp_table table;
    size_t n = x->t.buckets.n, shown = n < limit ? n : limit;
    unsigned digits = cmd_timeline_digits_of(x);
    sp_table_init(&table, columns, 6);
    for (size_t i = 0; i < shown; i++)
        cmd_timeline_table_row(x, &table, &x->t.buckets.v[i], digits);
    answer_heading(c, x->a.s);
    if (c->format != FORMAT_CSV) {
        sp_buf_clear(b);
        sp_buf_puts(b, "|");
        sparkline(x, b);
        sp_buf_printf(b, "| %zu %s, covering ", n, x->m.rows ? "buckets" : "windows");
        percent_text(b, x->a.s, x->t.covered);
        sp_buf_puts(b, "% of the weight\n");
        if (c->format == FORMAT_MARKDOWN)
            sp_markdown_text(c->out, b->data, b->len);
        else
            sp_write(c->out, b->data, b->len);
        sp_puts(c->out, c->format == FORMAT_MARKDOWN ? "\n" : "");
        sp_buf_clear(b);
    }
    int rc = answer_table(c, &table);
    if (!rc && shown < n && c->format != FORMAT_CSV)
        sp_printf(c->out, "%s%zu more; %s\n", c->format == FORMAT_MARKDOWN ? "\n" : "", n - shown,
                  answer_more(c));
    sp_table_free(&table);
    return rc;
}

static int cmd_timeline_draw(void *arg, size_t rows)
{
    struct timeline *x = arg;
    return x->a.c->format == FORMAT_JSON ? cmd_timeline_draw_json(x, rows) : cmd_timeline_draw_text(x, rows);
}

/* -o: the whole profile with windows. What was read with samples only for this goes without them again. */
static spaa_status write_windows(struct timeline *x, const struct spaa_format *to)
{
    struct cli *c = x->a.c;
    struct sp_write_opts how = {
        .event = SP_NONE, .metric = SP_NONE, .jobs = cli_jobs(c), .own = c->own.v, .nown = c->own.n};
    if (x->a.s->filters.len)
        sp_emit(&c->diags, SP_I616, SP_AT_NOTHING, " ");
    spaa_status st = sp_callees_join(c->profile); /* windows are of the records that are written */
    if (!st)
        st = sp_timeline_windows(c->profile, &x->m, &x->t, &c->diags);
    if (!st && c->input != to) {
        sp_samples_free(c->profile->samples);
        c->profile->samples = NULL;
    }
    return st ? st : cli_write(c, to, &how);
}

static int cmd_timeline_check_output(struct cli *c, const struct spaa_format **to)
{
    *to = NULL;
    if (!c->v.output)
        return EXIT_FINE;
    if (sp_output_format(c->v.output, strcmp(c->v.output, "-") == 0 ? "spaa" : NULL, &c->diags, to))
        return EXIT_USAGE;
    if (strcmp((*to)->name, "spaa") != 0)
        return cli_usage(c, "name a file .spaa or .spaa.zst", "only SPAA holds windows, not %s", (*to)->name);
    if (strcmp(c->v.output, "-") == 0)
        return cli_usage(c, "the answer stands there; name a file", "-o - is taken");
    return EXIT_FINE;
}

static int cmd_timeline_answer(struct timeline *x, long buckets, size_t limit, const struct spaa_format *to)
{
    struct cli *c = x->a.c;
    spaa_status st = sp_timeline_build(x->a.s, &x->m, (size_t)buckets, HOT, &c->diags, &x->t);
    if (!st && to && !x->m.rows) {
        sp_emit_hint(&c->diags, SP_E600, SP_AT_NOTHING, NULL,
                     "windows are made of samples, and there are none");
        st = SPAA_ERR_USAGE;
    }
    int rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (!rc)
        rc = answer_fit(c, limit < x->t.buckets.n ? limit : x->t.buckets.n, cmd_timeline_draw, x);
    if (!rc && to)
        rc = cli_exit_of(write_windows(x, to));
    return rc;
}

int sp_cmd_timeline(struct cli *c)
{
    struct sp_selection s;
    struct timeline x = {0};
    const struct spaa_format *to;
    size_t limit;
    long buckets;
    if (!cli_number(c, "buckets", c->v.buckets, 1, BUCKETS_MAX, BUCKETS, &buckets) ||
        !answer_limit(c, SIZE_MAX, &limit))
        return EXIT_USAGE;
    int rc = cmd_timeline_check_output(c, &to);
    if (rc)
        return rc;
    c->needs_samples = true;
    rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = sp_sample_times_of(c->profile, &c->diags, &x.m);
    if (st)
        return cli_exit_of(st);
    st = cli_select(c, &s);
    if (st) {
        sp_sample_times_free(&x.m);
        return cli_exit_of(st);
    }
    answer_init(&x.a, c, &s);
    rc = cmd_timeline_answer(&x, buckets, limit, to);
    sp_timeline_free(&x.t);
    sp_sample_times_free(&x.m);
    answer_free(&x.a);
    sp_selection_free(&s);
    return rc;
}
