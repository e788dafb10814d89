/*
 * `spaa diff` of memory: bytes and blocks first, of each run, then shares. An allocation that stayed as it
 * was has not shrunk because another one grew.
 */
#include "diff.h"

#include "base/num.h"
#include "render/text.h"

#include <math.h>

/* An amount of a side, for each run: bytes or blocks, self or total; NaN: not known. */
static double diff_memory_amount(const struct diff_answer *a, const struct sp_diff_row *r, unsigned side,
                                 unsigned family, bool bytes)
{
    const struct sp_diff *d = &a->d;
    if (bytes == (d->memory == SP_MEMORY_BYTES))
        return sp_diff_per_run(d, side, r ? r->side[side].weight[family] : d->side[side].whole);
    __int128 other = r ? r->side[side].other[family] : d->side[side].other;
    return d->has_other ? (double)other / (double)d->side[side].runs : NAN;
}

static void amount_text(struct sp_buf *b, double v, bool bytes, bool sign)
{
    if (!isfinite(v) || fabs(v) > 9e18) {
        sp_buf_puts(b, "-");
        return;
    }
    sp_buf_puts(b, sign && llround(v) > 0 ? "+" : "");
    if (bytes)
        sp_text_bytes(b, llround(v), 0);
    else
        sp_text_grouped(b, llround(v), 0);
}

/* "1.00 MiB to 1.50 MiB (+512.00 KiB, +50.0%)" */
static void change_text(struct sp_buf *b, double base, double fresh, bool bytes)
{
    amount_text(b, base, bytes, false);
    if (base == fresh) { /* to the byte */
        sp_buf_puts(b, " on both sides");
        return;
    }
    sp_buf_puts(b, " to ");
    amount_text(b, fresh, bytes, false);
    sp_buf_puts(b, " (");
    amount_text(b, fresh - base, bytes, true);
    if (base > 0) {
        sp_buf_puts(b, ", ");
        diff_number(b, 100 * (fresh - base) / base, 1, true);
        sp_buf_ch(b, '%');
    }
    sp_buf_ch(b, ')');
}

static void side_change(const struct diff_answer *a, struct sp_buf *b, bool bytes)
{
    change_text(b, diff_memory_amount(a, NULL, SP_BASE, 0, bytes),
                diff_memory_amount(a, NULL, SP_NEW, 0, bytes), bytes);
}

/* The function whose self amount changed most, of those with that change of the whole. */
static const struct sp_diff_row *most(const struct diff_answer *a, bool grew)
{
    const struct sp_diff *d = &a->d;
    const struct sp_diff_row *best = NULL;
    size_t n = d->rows.n + d->appeared.n + d->vanished.n;
    for (size_t i = 0; i < n; i++) {
        const struct sp_diff_row *r = sp_diff_row_at((struct sp_diff *)d, i);
        double x = sp_diff_change(d, r, SP_SELF), y = best ? sp_diff_change(d, best, SP_SELF) : 0;
        best = (grew ? x > y : x < y) ? r : best;
    }
    return best;
}

void diff_memory_summary(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    bool bytes = d->memory == SP_MEMORY_BYTES;
    struct sp_str metric = a->words.side[SP_NEW].metric;
    double base = diff_memory_amount(a, NULL, SP_BASE, 0, bytes),
           fresh = diff_memory_amount(a, NULL, SP_NEW, 0, bytes);
    sp_text_safe(b, metric.p, metric.n);
    sp_buf_puts(b, d->side[SP_BASE].runs > 1 || d->side[SP_NEW].runs > 1 ? " a run " : " ");
    side_change(a, b, bytes);
    if (d->has_other) {
        sp_buf_puts(b, bytes ? ", blocks " : ", bytes ");
        side_change(a, b, !bytes);
    }
    const struct sp_diff_row *r = base != fresh ? most(a, fresh > base) : NULL;
    if (r) {
        sp_buf_puts(b, ", most in ");
        diff_short_name(b, sp_str_at(&d->strs, r->function));
        sp_buf_ch(b, ' ');
        amount_text(b, sp_diff_change(d, r, SP_SELF), bytes, true);
    }
    sp_buf_puts(b, "; ");
}

/* ---- tables ---- */

static void amount_cell(struct sp_table *t, struct sp_buf *b, double v, bool bytes, bool sign)
{
    amount_text(b, v, bytes, sign);
    cell_buf(t, b);
}

static void share_cell(struct sp_table *t, struct sp_buf *b, double share)
{
    diff_number(b, 100 * share, 2, false);
    cell_buf(t, b);
}

/* Base, new and change, of bytes and of blocks where they are known. */
static void diff_memory_amounts(const struct diff_answer *a, struct sp_table *t, struct sp_buf *b,
                                const struct sp_diff_row *r, unsigned family)
{
    for (unsigned i = 0; i < 2; i++) {
        bool bytes = !i;
        double base = diff_memory_amount(a, r, SP_BASE, family, bytes),
               fresh = diff_memory_amount(a, r, SP_NEW, family, bytes);
        if (isnan(base) || isnan(fresh))
            continue;
        amount_cell(t, b, base, bytes, false);
        amount_cell(t, b, fresh, bytes, false);
        amount_cell(t, b, fresh - base, bytes, true);
    }
}

static void diff_memory_names(const struct diff_answer *a, struct sp_table *t, const struct sp_diff_row *r)
{
    cell_str(t, sp_str_at(&a->d.strs, r->function));
    cell_str(t, sp_str_at(&a->d.strs, r->dso));
}

static bool diff_memory_known(const struct diff_answer *a, bool bytes)
{
    return a->d.has_other || bytes == (a->d.memory == SP_MEMORY_BYTES);
}

int diff_memory_table(struct diff_answer *a)
{
    bool total = a->c->v.sort && strcmp(a->c->v.sort, "total") == 0, bytes = a->d.memory == SP_MEMORY_BYTES;
    unsigned family = total ? SP_TOTAL : SP_SELF;
    const struct sp_table_column columns[] = {{total ? "base total" : "base", true, false},
                                              {total ? "new total" : "new", true, false},
                                              {"change", true, false},
                                              {"base blocks", true, false},
                                              {"new blocks", true, false},
                                              {"change", true, false},
                                              {total ? "base total%" : "base%", true, false},
                                              {total ? "new total%" : "new%", true, false},
                                              {"verdict", false, false},
                                              {total ? "self change" : "total change", true, false},
                                              {"function", false, true},
                                              {"dso", false, true}};
    struct sp_table_column used[sizeof columns / sizeof *columns];
    struct sp_table t;
    struct sp_buf b;
    size_t n = 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (i > 5 || diff_memory_known(a, i < 3))
            used[n++] = columns[i];
    sp_table_init(&t, used, n);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < a->d.rows.n && i < a->limit; i++) {
        const struct sp_diff_row *r = &a->d.rows.v[i];
        const struct sp_diff_test *x = &r->share[family];
        diff_memory_amounts(a, &t, &b, r, family);
        share_cell(&t, &b, x->side[SP_BASE].mean);
        share_cell(&t, &b, x->side[SP_NEW].mean);
        sp_table_cell(&t, diff_verdict_word(x), strlen(diff_verdict_word(x)));
        amount_cell(&t, &b, sp_diff_change(&a->d, r, !family), bytes, true);
        diff_memory_names(a, &t, r);
    }
    return diff_end_table(a, &t, &b, a->d.rows.n, a->limit, " functions");
}

int diff_memory_one_sided(struct diff_answer *a, const struct sp_diff_row *rows, size_t n, unsigned side)
{
    size_t limit = a->c->v.limit ? a->limit : 8, count = 0;
    static const struct sp_table_column columns[] = {
        {"self bytes", true, false},   {"self blocks", true, false}, {"total bytes", true, false},
        {"total blocks", true, false}, {"self%", true, false},       {"total%", true, false},
        {"function", false, true},     {"dso", false, true}};
    struct sp_table_column used[sizeof columns / sizeof *columns];
    struct sp_table t;
    struct sp_buf b;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (i > 3 || diff_memory_known(a, i % 2 == 0))
            used[count++] = columns[i];
    sp_table_init(&t, used, count);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < n && i < limit; i++) {
        for (unsigned k = 0; k < 4; k++)
            if (diff_memory_known(a, k % 2 == 0))
                amount_cell(&t, &b, diff_memory_amount(a, &rows[i], side, k / 2, k % 2 == 0), k % 2 == 0,
                            false);
        share_cell(&t, &b, rows[i].share[SP_SELF].side[side].mean);
        share_cell(&t, &b, rows[i].share[SP_TOTAL].side[side].mean);
        diff_memory_names(a, &t, &rows[i]);
    }
    return diff_end_table(a, &t, &b, n, limit, "");
}

/* ---- JSON ---- */

static void diff_memory_number(struct sp_jw *w, const char *key, double v)
{
    char t[32];
    if (isfinite(v))
        sp_jw_raw(w, key, t, sp_double_text(round(v * 1e6) / 1e6, t));
    else
        sp_jw_null(w, key);
}

void diff_memory_json(struct sp_jw *w, const struct diff_answer *a, const struct sp_diff_row *r,
                      unsigned family)
{
    for (unsigned i = 0; i < 2 && a->d.memory; i++) {
        double base = diff_memory_amount(a, r, SP_BASE, family, !i),
               fresh = diff_memory_amount(a, r, SP_NEW, family, !i);
        sp_jw_open(w, i ? "blocks" : "bytes", '{');
        diff_memory_number(w, "base", base);
        diff_memory_number(w, "new", fresh);
        diff_memory_number(w, "change", fresh - base);
        sp_jw_close(w, '}');
    }
}

void diff_memory_total_json(struct sp_jw *w, const struct diff_answer *a)
{
    if (!a->d.memory)
        return;
    sp_jw_open(w, "memory", '{');
    diff_memory_json(w, a, NULL, 0);
    sp_jw_close(w, '}');
}
