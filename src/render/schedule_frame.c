/* What is around the rows: title, legend, the axis of time. */
#include "answer/text.h"
#include "render/schedule_private.h"

#include <stdio.h>

void sp_schedule_text(struct sp_schedule_draw *d, const char *class, unsigned x, unsigned y, const char *s,
                      size_t columns)
{
    struct sp_buf t;
    sp_buf_init(&t, 0);
    d->b.failed |= !sp_text_fit(&t, s, strlen(s), columns);
    sp_buf_printf(&d->b, "<text class=\"%s\" x=\"%u\" y=\"%u\">", class, x, y);
    sp_xml_text(&d->b, t.data ? t.data : "", t.len);
    sp_buf_puts(&d->b, "</text>\n");
    sp_buf_free(&t);
}

/* Seconds between ticks: 1, 2 or 5 times a power of ten. */
static double tick_step(double span)
{
    double step = 1e-9;
    static const double by[] = {2, 2.5, 2};
    for (unsigned i = 0; span / step > 12; i++)
        step *= by[i % 3];
    return step;
}

void sp_schedule_draw_axis(struct sp_schedule_draw *d, unsigned top)
{
    const struct sp_sched *s = d->x->s;
    double a = (double)(s->lo - d->x->zero) / 1e9, span = (double)(s->hi - s->lo) / 1e9, step;
    if (span <= 0)
        return;
    step = tick_step(span);
    int digits = 0;
    for (double v = step; v < 0.999999 && digits < 9; v *= 10)
        digits++;
    double first = (double)(int64_t)(a / step) * step;
    for (unsigned k = 0; k < 24; k++) {
        double at = first + k * step;
        char t[48];
        if (at < a - step * 1e-6 || at > a + span)
            continue;
        double x = SP_SCHEDULE_LEFT + (at - a) / span * (double)(d->cells * d->step);
        snprintf(t, sizeof t, "+%.*f s", digits, at);
        sp_buf_printf(&d->b, "<path class=\"rule\" d=\"M%u.5 %uV%u\"/>", (unsigned)x, top, d->y);
        if (x < SP_SCHEDULE_WIDTH - 40)
            sp_schedule_text(d, "m c", (unsigned)x, d->y + 14, t, 40);
    }
    d->y += SP_SCHEDULE_AXIS;
}

static void legend_item(struct sp_schedule_draw *d, const char *class, const char *name, unsigned *x,
                        unsigned *y)
{
    struct sp_buf t;
    sp_buf_init(&t, 0);
    d->b.failed |= !sp_text_fit(&t, name, strlen(name), 30);
    unsigned w = 22 + (unsigned)sp_text_width(t.data ? t.data : "", t.len) * 7 + 16;
    if (*x + w > SP_SCHEDULE_WIDTH - SP_SCHEDULE_PAD) {
        *x = SP_SCHEDULE_PAD;
        *y += SP_SCHEDULE_LEGEND_LINE;
    }
    sp_buf_printf(&d->b, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"16\" height=\"12\"/>", class, *x,
                  *y - 10);
    sp_buf_printf(&d->b, "<text class=\"m\" x=\"%u\" y=\"%u\">", *x + 22, *y);
    sp_xml_text(&d->b, t.data ? t.data : "", t.len);
    sp_buf_puts(&d->b, "</text>\n");
    *x += w;
    sp_buf_free(&t);
}

void sp_schedule_draw_legend(struct sp_schedule_draw *d)
{
    const struct sp_schedule *x = d->x;
    unsigned at = SP_SCHEDULE_PAD, y = d->y + 12;
    for (size_t k = 0; k < SP_SCHEDULE_COLOURS && k < x->s->rows.n; k++) {
        char class[3] = {'g', (char)('0' + k), 0};
        legend_item(d, class, x->rows[k], &at, &y);
    }
    if (d->others)
        legend_item(d, "g7", "others", &at, &y);
    legend_item(d, "box", "idle, or not there", &at, &y);
    legend_item(d, "w", "waiting for a CPU (hatched)", &at, &y);
    legend_item(d, "b", "blocked", &at, &y);
    legend_item(d, "n", "not recorded (dotted)", &at, &y);
    d->y = y + 14;
}

void sp_schedule_draw_head(struct sp_schedule_draw *d)
{
    sp_buf_puts(&d->b, "<title id=\"sp-t\">CPUs and threads over time</title>\n<desc id=\"sp-d\">");
    sp_xml_text(&d->b, d->x->subtitle, strlen(d->x->subtitle));
    sp_buf_puts(
        &d->b,
        ". A row for each CPU: what ran on it; a row for each of the busiest threads: its states. "
        "Where a cell holds several, each is as high as its share of the cell's time.</desc>\n<style>\n");
    sp_buf_add(&d->b, sp_schedule_css, sp_schedule_css_n);
    sp_buf_puts(
        &d->b,
        "</style>\n<defs>\n<pattern id=\"sp-w\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><path class=\"wf\" d=\"M0 0h6v6h-6\"/><path class=\"wl\" d=\"M0 "
        "0h2.5v6h-2.5\"/></pattern>\n"
        "<pattern id=\"sp-n\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><path class=\"nf\" "
        "d=\"M0 "
        "0h5v5h-5\"/><path class=\"nl\" d=\"M1 1h1.5v1.5h-1.5\"/></pattern>\n</defs>\n"
        "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n");
    sp_schedule_text(d, "h1", SP_SCHEDULE_PAD, 26, "CPUs and threads over time", 100);
    sp_schedule_text(d, "m", SP_SCHEDULE_PAD, 46, d->x->subtitle, 180);
    d->y = SP_SCHEDULE_HEAD;
}
