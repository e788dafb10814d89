#include "render/curve.h"

#include "answer/text.h"
#include "base/num.h"
#include "render/curve_private.h"

/* ---- areas ---- */

static void curve_point(struct sp_buf *b, char how, int64_t x, int64_t y)
{
    sp_buf_ch(b, how);
    sp_curve_number(b, x);
    sp_buf_ch(b, ' ');
    sp_curve_number(b, y);
}

/* The level of the first so many owners together where window i begins; all: of all. */
static int64_t curve_stack(const struct sp_curve *x, size_t i, size_t owners)
{
    const int64_t *row = x->owners->levels + i * (x->owners->n + 1);
    int64_t sum = 0;
    if (owners > x->owners->n)
        return row[x->owners->n];
    for (size_t k = 0; k < owners; k++)
        sum += row[k] > 0 ? row[k] : 0;
    return sum < row[x->owners->n] ? sum : row[x->owners->n];
}

static int64_t curve_time(const struct sp_curve *x, size_t i)
{
    return i ? x->l->t.buckets.v[i - 1].hi : x->l->t.start;
}

/* Owner k lies above those before it; the last one is all others. */
static void curve_area(struct sp_curve_draw *d, size_t k)
{
    const struct sp_curve *x = d->x;
    size_t n = x->l->t.buckets.n;
    int64_t high = 0;
    for (size_t i = 0; i <= n; i++) {
        int64_t v = curve_stack(x, i, k + 1) - curve_stack(x, i, k);
        high = v > high ? v : high;
    }
    if (!high)
        return;
    sp_buf_printf(&d->b, "<path class=\"o%zu\" d=\"", k < x->owners->n ? k : (size_t)SP_CURVE_OWNERS);
    for (size_t i = 0; i <= n; i++)
        curve_point(&d->b, i ? 'L' : 'M', sp_curve_x(d, curve_time(x, i)),
                    sp_curve_y(d, curve_stack(x, i, k + 1)));
    for (size_t i = n + 1; i-- > 0;)
        curve_point(&d->b, 'L', sp_curve_x(d, curve_time(x, i)), sp_curve_y(d, curve_stack(x, i, k)));
    sp_buf_puts(&d->b, "z\"><title>");
    const char *name = k < x->owners->n ? x->names[k] : "all others";
    sp_xml_text(&d->b, name, strlen(name));
    sp_buf_puts(&d->b, ", at most ");
    sp_curve_weight(d, &d->b, high);
    sp_buf_puts(&d->b, "</title></path>\n");
}

/* ---- lines ---- */

static void curve_line(struct sp_curve_draw *d, const char *class, bool rss)
{
    const struct sp_levels *l = d->x->l;
    bool open = false;
    sp_buf_printf(&d->b, "<path class=\"%s\" d=\"", class);
    for (size_t i = 0; i < l->list.n; i++) {
        const struct sp_bucket *y = &l->t.buckets.v[i];
        int64_t v = rss ? l->list.v[i].rss : l->list.v[i].most;
        if (v == SP_ABSENT)
            continue;
        curve_point(&d->b, open ? 'L' : 'M', sp_curve_x(d, rss ? y->hi : y->lo), sp_curve_y(d, v));
        if (!rss)
            curve_point(&d->b, 'L', sp_curve_x(d, y->hi), sp_curve_y(d, v));
        open = true;
    }
    sp_buf_puts(&d->b, "\"/>\n");
}

static void curve_peak(struct sp_curve_draw *d)
{
    const struct sp_levels *l = d->x->l;
    struct sp_buf t;
    if (!l->list.n)
        return;
    int64_t when = l->most_at != SP_ABSENT ? l->most_at + l->t.zero : l->most_lo;
    int64_t x = sp_curve_x(d, when), y = sp_curve_y(d, l->most);
    sp_buf_init(&t, 0);
    sp_buf_puts(&d->b, "<circle class=\"peak\" cx=\"");
    sp_curve_number(&d->b, x);
    sp_buf_puts(&d->b, "\" cy=\"");
    sp_curve_number(&d->b, y);
    sp_buf_puts(&d->b, "\" r=\"5\"/>\n");
    sp_buf_puts(&t, l->exact ? "peak " : "peak at least ");
    sp_curve_weight(d, &t, l->most);
    sp_buf_puts(&t, l->most_at != SP_ABSENT ? " at " : " after ");
    sp_curve_seconds(d, &t, when);
    bool right = x > (SP_CURVE_LEFT + SP_CURVE_CHART / 2) * 10;
    sp_curve_text(d, right ? "b e" : "b", x / 10 + (right ? -10 : 10), y / 10 - 6, sp_buf_cstr(&t), 60);
    d->b.failed |= t.failed;
    sp_buf_free(&t);
}

/* ---- how much was allocated ---- */

static int64_t curve_rate_of(const struct sp_curve *x, size_t i, const int64_t *sums)
{
    const struct sp_bucket *y = &x->l->t.buckets.v[i];
    if (sums[i] == SP_ABSENT || y->hi <= y->lo)
        return SP_ABSENT;
    __int128 rate = sp_ratio(sums[i], (__int128)y->hi - y->lo, 1000000000);
    return rate > INT64_MAX ? INT64_MAX : (int64_t)rate;
}

static void curve_rates(struct sp_curve_draw *d)
{
    const struct sp_curve *x = d->x;
    int64_t top = SP_CURVE_TOP + SP_CURVE_HEIGHT + SP_CURVE_AXIS, base = (top + SP_CURVE_RATE) * 10;
    struct sp_buf t;
    sp_buf_printf(&d->b, "<rect class=\"box\" x=\"%d\" y=\"%lld\" width=\"%d\" height=\"%d\"/>\n",
                  SP_CURVE_LEFT, (long long)top, SP_CURVE_CHART, SP_CURVE_RATE);
    sp_buf_puts(&d->b, "<path class=\"rate\" d=\"");
    curve_point(&d->b, 'M', SP_CURVE_LEFT * 10, base);
    for (size_t i = 0; i < x->l->list.n; i++) {
        int64_t v = curve_rate_of(x, i, x->owners->bytes);
        int64_t y = v <= 0 ? base : base - (int64_t)((__int128)v * SP_CURVE_RATE * 10 / d->rate);
        curve_point(&d->b, 'L', sp_curve_x(d, x->l->t.buckets.v[i].lo), y);
        curve_point(&d->b, 'L', sp_curve_x(d, x->l->t.buckets.v[i].hi), y);
    }
    curve_point(&d->b, 'L', (SP_CURVE_LEFT + SP_CURVE_CHART) * 10, base);
    sp_buf_puts(&d->b, "z\"/>\n");
    sp_buf_init(&t, 0);
    sp_text_bytes(&t, d->rate, 0);
    sp_buf_puts(&t, "/s");
    sp_curve_text(d, "m e", SP_CURVE_LEFT - 6, top + 12, sp_buf_cstr(&t), 20);
    sp_curve_text(d, "m e", SP_CURVE_LEFT - 6, top + SP_CURVE_RATE - 2, "allocated", 20);
    d->b.failed |= t.failed;
    sp_buf_free(&t);
}

/* ---- what a stretch was made of, where it is pointed at ---- */

static void curve_tip_owners(struct sp_curve_draw *d, size_t i)
{
    const struct sp_curve *x = d->x;
    const int64_t *row = x->owners->levels + i * (x->owners->n + 1);
    for (size_t k = 0; k < x->owners->n; k++) {
        if (row[k] <= 0)
            continue;
        sp_buf_ch(&d->b, '\n');
        sp_curve_weight(d, &d->b, row[k]);
        sp_buf_ch(&d->b, ' ');
        sp_xml_text(&d->b, x->names[k], strlen(x->names[k]));
    }
}

static void curve_tip(struct sp_curve_draw *d, size_t from, size_t to)
{
    const struct sp_curve *x = d->x;
    const struct sp_levels *l = x->l;
    int64_t lo = l->t.buckets.v[from].lo, hi = l->t.buckets.v[to - 1].hi, most = 0, bytes = 0, calls = 0;
    int64_t left = sp_curve_x(d, lo), right = sp_curve_x(d, hi);
    for (size_t i = from; i < to; i++) {
        most = l->list.v[i].most > most ? l->list.v[i].most : most;
        bytes += x->owners->bytes[i] > 0 ? x->owners->bytes[i] : 0;
        calls += x->owners->calls[i] > 0 ? x->owners->calls[i] : 0;
    }
    sp_buf_puts(&d->b, "<rect class=\"t\" x=\"");
    sp_curve_number(&d->b, left);
    sp_buf_printf(&d->b, "\" y=\"%d\" width=\"", SP_CURVE_TOP);
    sp_curve_number(&d->b, right - left);
    sp_buf_printf(&d->b, "\" height=\"%d\"><title>", SP_CURVE_HEIGHT + SP_CURVE_AXIS + SP_CURVE_RATE);
    sp_curve_seconds(d, &d->b, lo);
    sp_buf_puts(&d->b, " … ");
    sp_curve_seconds(d, &d->b, hi);
    sp_buf_puts(&d->b, ": live ");
    sp_curve_weight(d, &d->b, l->list.v[to - 1].end);
    sp_buf_puts(&d->b, " at its end, at most ");
    sp_curve_weight(d, &d->b, most);
    if (hi > lo && d->rate > 1) {
        sp_buf_puts(&d->b, "; allocated ");
        sp_text_bytes(&d->b, (int64_t)sp_ratio(bytes, (__int128)hi - lo, 1000000000), 0);
        sp_buf_puts(&d->b, "/s by ");
        sp_text_grouped(&d->b, (int64_t)sp_ratio(calls, (__int128)hi - lo, 1000000000), 0);
        sp_buf_puts(&d->b, " calls/s");
    }
    curve_tip_owners(d, to);
    sp_buf_puts(&d->b, "</title></rect>\n");
}

static void curve_tips(struct sp_curve_draw *d)
{
    size_t n = d->x->l->list.n, tips = n < SP_CURVE_TIPS ? n : (size_t)SP_CURVE_TIPS;
    for (size_t t = 0; t < tips; t++)
        curve_tip(d, n * t / tips, n * (t + 1) / tips);
}

/* ---- all ---- */

static void curve_measure(struct sp_curve_draw *d)
{
    const struct sp_levels *l = d->x->l;
    d->most = l->most > 1 ? l->most : 1;
    d->rate = 1;
    for (size_t i = 0; i < l->list.n; i++) {
        int64_t rate = curve_rate_of(d->x, i, d->x->owners->bytes);
        d->rate = rate > d->rate ? rate : d->rate;
        d->rss = d->rss || (d->x->bytes && l->list.v[i].rss != SP_ABSENT);
        if (d->x->bytes && l->list.v[i].rss > d->most)
            d->most = l->list.v[i].rss;
    }
    if (d->most < INT64_MAX / 2)
        d->most += d->most / 16; /* room for the label of the peak */
}

spaa_status sp_curve_svg(const struct sp_curve *x, struct sp_diags *diags, struct sp_output *out)
{
    struct sp_curve_draw d = {.x = x};
    const unsigned below = SP_CURVE_TOP + SP_CURVE_HEIGHT + SP_CURVE_AXIS + SP_CURVE_RATE + SP_CURVE_PAD;
    sp_buf_init(&d.b, 0);
    curve_measure(&d);
    unsigned height = sp_curve_draw_legend(&d, below) + SP_CURVE_PAD;
    sp_buf_clear(&d.b);
    sp_buf_printf(&d.b,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
                  "id=\"sp-curve\" xml:lang=\"en\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
                  "role=\"img\" aria-labelledby=\"sp-t\" aria-describedby=\"sp-d\">\n",
                  SP_CURVE_WIDTH, height, SP_CURVE_WIDTH, height);
    sp_curve_draw_head(&d);
    sp_curve_draw_axes(&d);
    for (size_t k = 0; k <= x->owners->n; k++)
        curve_area(&d, k);
    curve_line(&d, "top", false);
    if (d.rss)
        curve_line(&d, "rss", true);
    curve_rates(&d);
    curve_tips(&d);
    curve_peak(&d);
    sp_curve_draw_legend(&d, below);
    sp_buf_puts(&d.b, "</svg>\n");
    bool ok = !d.b.failed;
    if (ok)
        sp_write(out, d.b.data, d.b.len);
    sp_buf_free(&d.b);
    return ok ? SPAA_OK : sp_nomem(diags);
}
