/* Where things of the curve are drawn, and what is around it: title, axes, legend. */
#include "answer/text.h"
#include "base/num.h"
#include "render/curve_private.h"

#include <stdio.h>

/* ---- places ---- */

int64_t sp_curve_x(const struct sp_curve_draw *d, int64_t ns)
{
    const struct sp_timeline *t = &d->x->l->t;
    __int128 span = (__int128)t->end - t->start;
    return span > 0 ? SP_CURVE_LEFT * 10 + (int64_t)(((__int128)ns - t->start) * SP_CURVE_CHART * 10 / span)
                    : SP_CURVE_LEFT * 10;
}

int64_t sp_curve_y(const struct sp_curve_draw *d, int64_t level)
{
    int64_t v = level < 0 ? 0 : level > d->most ? d->most : level;
    return (SP_CURVE_TOP + SP_CURVE_HEIGHT) * 10 - (int64_t)((__int128)v * SP_CURVE_HEIGHT * 10 / d->most);
}

void sp_curve_number(struct sp_buf *b, int64_t tenths)
{
    sp_buf_i64(b, tenths / 10);
    if (tenths % 10) {
        sp_buf_ch(b, '.');
        sp_buf_i64(b, tenths % 10);
    }
}

/* ---- words ---- */

void sp_curve_text(struct sp_curve_draw *d, const char *class, int64_t x, int64_t y, const char *s,
                   size_t columns)
{
    struct sp_buf t;
    sp_buf_init(&t, 0);
    d->b.failed |= !sp_text_fit(&t, s, strlen(s), columns);
    sp_buf_printf(&d->b, "<text class=\"%s\" x=\"%lld\" y=\"%lld\">", class, (long long)x, (long long)y);
    sp_xml_text(&d->b, t.data ? t.data : "", t.len);
    sp_buf_puts(&d->b, "</text>\n");
    sp_buf_free(&t);
}

void sp_curve_weight(const struct sp_curve_draw *d, struct sp_buf *b, int64_t v)
{
    if (d->x->bytes)
        sp_text_bytes(b, v, 0);
    else
        sp_text_count(b, v < 0 ? 0 : (uint64_t)v, "block");
}

void sp_curve_seconds(const struct sp_curve_draw *d, struct sp_buf *b, int64_t ns)
{
    char t[64];
    sp_buf_add(b, t, sp_scaled_text((__int128)sp_ratio(ns - d->x->l->t.zero, 1000000, 1), 3, t));
    sp_buf_puts(b, " s");
}

/* ---- axes ---- */

/* Between lines: of bytes a power of two, of blocks 1, 2 or 5 times one of ten. */
static int64_t curve_step(const struct sp_curve_draw *d)
{
    int64_t step = 1;
    for (unsigned i = 0; d->most / step > 7 && step < INT64_MAX / 4; i++)
        step = d->x->bytes ? step * 2 : i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

/* Nanoseconds between ticks: 1, 2 or 5 times a power of ten. */
static int64_t curve_tick(int64_t span)
{
    int64_t step = 1;
    for (unsigned i = 0; span / step > 12 && step < INT64_MAX / 4; i++)
        step = i % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

static void curve_levels(struct sp_curve_draw *d)
{
    int64_t step = curve_step(d);
    struct sp_buf t;
    sp_buf_init(&t, 0);
    for (int64_t v = 0; v <= d->most; v += step) {
        int64_t y = sp_curve_y(d, v) / 10;
        sp_buf_printf(&d->b, "<path class=\"rule\" d=\"M%d %lld.5H%d\"/>\n", SP_CURVE_LEFT, (long long)y,
                      SP_CURVE_LEFT + SP_CURVE_CHART);
        sp_buf_clear(&t);
        sp_curve_weight(d, &t, v);
        sp_curve_text(d, "m e", SP_CURVE_LEFT - 6, y + 4, sp_buf_cstr(&t), 20);
    }
    d->b.failed |= t.failed;
    sp_buf_free(&t);
}

static void curve_times(struct sp_curve_draw *d)
{
    const struct sp_timeline *t = &d->x->l->t;
    int64_t span = t->end - t->start, step = curve_tick(span), from = t->start - t->zero;
    int64_t bottom = SP_CURVE_TOP + SP_CURVE_HEIGHT;
    if (span <= 0)
        return;
    for (int64_t at = (from + step - 1) / step * step; at <= from + span; at += step) {
        char text[80];
        int64_t x = sp_curve_x(d, at + t->zero) / 10;
        size_t n = sp_scaled_text(at, 9, text);
        snprintf(text + n, sizeof text - n, " s");
        sp_buf_printf(&d->b, "<path class=\"rule\" d=\"M%lld.5 %dV%lld\"/>\n", (long long)x, SP_CURVE_TOP,
                      (long long)bottom);
        if (x < SP_CURVE_WIDTH - 30)
            sp_curve_text(d, "m c", x, bottom + 15, text, 30);
    }
}

void sp_curve_draw_axes(struct sp_curve_draw *d)
{
    sp_buf_printf(&d->b, "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                  SP_CURVE_LEFT, SP_CURVE_TOP, SP_CURVE_CHART, SP_CURVE_HEIGHT);
    curve_levels(d);
    curve_times(d);
}

/* ---- legend, title ---- */

static void curve_legend_item(struct sp_curve_draw *d, const char *class, bool line, const char *name,
                              unsigned *x, unsigned *y)
{
    struct sp_buf t;
    sp_buf_init(&t, 0);
    d->b.failed |= !sp_text_fit(&t, name, strlen(name), 60);
    unsigned w = 22 + (unsigned)sp_text_width(t.data ? t.data : "", t.len) * 7 + 16;
    if (*x > SP_CURVE_PAD && *x + w > SP_CURVE_WIDTH - SP_CURVE_PAD) {
        *x = SP_CURVE_PAD;
        *y += SP_CURVE_LEGEND_LINE;
    }
    if (line)
        sp_buf_printf(&d->b, "<path class=\"%s\" d=\"M%u %uh16\"/>", class, *x, *y - 4);
    else
        sp_buf_printf(&d->b, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"16\" height=\"12\"/>", class, *x,
                      *y - 10);
    sp_buf_printf(&d->b, "<text class=\"m\" x=\"%u\" y=\"%u\">", *x + 22, *y);
    sp_xml_text(&d->b, t.data ? t.data : "", t.len);
    sp_buf_puts(&d->b, "</text>\n");
    *x += w;
    sp_buf_free(&t);
}

unsigned sp_curve_draw_legend(struct sp_curve_draw *d, unsigned y)
{
    unsigned x = SP_CURVE_PAD, at = y + 14;
    for (size_t k = 0; k < d->x->owners->n; k++) {
        char class[8];
        snprintf(class, sizeof class, "o%zu", k < SP_CURVE_OWNERS ? k : (size_t)SP_CURVE_OWNERS);
        curve_legend_item(d, class, false, d->x->names[k], &x, &at);
    }
    curve_legend_item(d, "o8", false, "all others", &x, &at);
    curve_legend_item(d, "top", true,
                      d->x->l->exact ? "the most in each window" : "at least the most in each window", &x,
                      &at);
    if (d->rss)
        curve_legend_item(d, "rss", true, "RSS of the process", &x, &at);
    return at;
}

void sp_curve_draw_head(struct sp_curve_draw *d)
{
    sp_buf_puts(&d->b, "<title id=\"sp-t\">Memory over time</title>\n<desc id=\"sp-d\">");
    sp_xml_text(&d->b, d->x->subtitle, strlen(d->x->subtitle));
    sp_buf_puts(&d->b,
                ". What was live, stacked by those that held most; beneath it how much was allocated a "
                "second.</desc>\n<style>\n");
    sp_buf_add(&d->b, sp_curve_css, sp_curve_css_n);
    sp_buf_puts(&d->b, "</style>\n<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
    sp_curve_text(d, "h1", SP_CURVE_PAD, 26, "Memory over time", 100);
    sp_curve_text(d, "m", SP_CURVE_PAD, 46, d->x->subtitle, 180);
}
