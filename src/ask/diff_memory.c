/*
 * `spaa diff` of memory: bytes and blocks first, of each run, then shares. An allocation that stayed as it
 * was has not shrunk because another one grew.
 */
#include "ask/diff.h"

#include "base/num.h"

#include <math.h>

double sp_diff_memory_amount(const struct diff_answer *a, const struct sp_diff_row *r, unsigned side,
                             unsigned family, bool bytes)
{
    const struct sp_diff *d = &a->d;
    if (bytes == (d->memory == SP_MEMORY_BYTES))
        return sp_diff_per_run(d, side, r ? r->side[side].weight[family] : d->side[side].whole);
    __int128 other = r ? r->side[side].other[family] : d->side[side].other;
    return d->has_other ? (double)other / (double)d->side[side].runs : NAN;
}

void sp_diff_say_amount(struct sp_buf *b, double v, bool bytes, bool sign)
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

bool sp_diff_memory_known(const struct diff_answer *a, bool bytes)
{
    return a->d.has_other || bytes == (a->d.memory == SP_MEMORY_BYTES);
}

bool sp_diff_of_live(const struct diff_answer *a)
{
    struct sp_str metric = a->words.side[SP_NEW].metric;
    return sp_str_is(metric, "live_bytes") || sp_str_is(metric, "live_count");
}

/* "1.00 MiB to 1.50 MiB (+512.00 KiB, +50.0%)" */
static void change_text(struct sp_buf *b, double base, double fresh, bool bytes)
{
    sp_diff_say_amount(b, base, bytes, false);
    if (base == fresh) { /* to the byte */
        sp_buf_puts(b, " on both sides");
        return;
    }
    sp_buf_puts(b, " to ");
    sp_diff_say_amount(b, fresh, bytes, false);
    sp_buf_puts(b, " (");
    sp_diff_say_amount(b, fresh - base, bytes, true);
    if (base > 0) {
        sp_buf_puts(b, ", ");
        sp_diff_number(b, 100 * (fresh - base) / base, 1, true);
        sp_buf_ch(b, '%');
    }
    sp_buf_ch(b, ')');
}

static void side_change(const struct diff_answer *a, struct sp_buf *b, bool bytes)
{
    change_text(b, sp_diff_memory_amount(a, NULL, SP_BASE, 0, bytes),
                sp_diff_memory_amount(a, NULL, SP_NEW, 0, bytes), bytes);
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

void sp_diff_say_memory(const struct diff_answer *a, struct sp_buf *b)
{
    const struct sp_diff *d = &a->d;
    bool bytes = d->memory == SP_MEMORY_BYTES;
    struct sp_str metric = a->words.side[SP_NEW].metric;
    double base = sp_diff_memory_amount(a, NULL, SP_BASE, 0, bytes),
           fresh = sp_diff_memory_amount(a, NULL, SP_NEW, 0, bytes);
    sp_buf_add(b, metric.p, metric.n);
    sp_buf_puts(b, d->side[SP_BASE].runs > 1 || d->side[SP_NEW].runs > 1 ? " a run " : " ");
    side_change(a, b, bytes);
    if (d->has_other) {
        sp_buf_puts(b, bytes ? ", blocks " : ", bytes ");
        side_change(a, b, !bytes);
    }
    const struct sp_diff_row *r = base != fresh ? most(a, fresh > base) : NULL;
    if (r) {
        sp_buf_puts(b, ", most in ");
        sp_diff_say_row(d, r, false, b);
        sp_buf_ch(b, ' ');
        sp_diff_say_amount(b, sp_diff_change(d, r, SP_SELF), bytes, true);
    }
    sp_buf_puts(b, "; ");
}
