/*
 * What the parts of the curve share: its areas and lines (curve.c), and what is around them (curve_frame.c).
 * The style is curve.css, built in as bytes by embed.py.
 */
#ifndef SP_CURVE_PRIVATE_H
#define SP_CURVE_PRIVATE_H

#include "base/buf.h"
#include "render/curve.h"

extern const char sp_curve_css[];
extern const size_t sp_curve_css_n;

/* Measures in px. */
enum {
    SP_CURVE_WIDTH = 1200,
    SP_CURVE_PAD = 12,
    SP_CURVE_LEFT = 90, /* what the lines of the axis are */
    SP_CURVE_CHART = SP_CURVE_WIDTH - SP_CURVE_LEFT - 2 * SP_CURVE_PAD,
    SP_CURVE_TOP = 66,
    SP_CURVE_HEIGHT = 380,
    SP_CURVE_AXIS = 22,
    SP_CURVE_RATE = 60,
    SP_CURVE_LEGEND_LINE = 18,
    SP_CURVE_TIPS = 240,
};

struct sp_curve_draw {
    const struct sp_curve *x;
    struct sp_buf b;
    int64_t most; /* the height of the chart */
    int64_t rate; /* the most bytes a second */
    bool rss;
};

/* Where a time, and a level, are drawn; tenths of px. */
int64_t sp_curve_x(const struct sp_curve_draw *d, int64_t ns);
int64_t sp_curve_y(const struct sp_curve_draw *d, int64_t level);
void sp_curve_number(struct sp_buf *b, int64_t tenths);
void sp_curve_text(struct sp_curve_draw *d, const char *class, int64_t x, int64_t y, const char *s,
                   size_t columns);
void sp_curve_weight(const struct sp_curve_draw *d, struct sp_buf *b, int64_t v);
void sp_curve_seconds(const struct sp_curve_draw *d, struct sp_buf *b, int64_t ns);
void sp_curve_draw_head(struct sp_curve_draw *d);
void sp_curve_draw_axes(struct sp_curve_draw *d);
unsigned sp_curve_draw_legend(struct sp_curve_draw *d, unsigned y); /* where it ends */

#endif
