/*
 * What the parts of the picture of CPUs and threads share: rows (schedule.c), and what is around them
 * (schedule_frame.c). The style is schedule.css, built in as bytes by embed.py.
 */
#ifndef SP_SCHEDULE_PRIVATE_H
#define SP_SCHEDULE_PRIVATE_H

#include "base/buf.h"
#include "render/schedule.h"

extern const char sp_schedule_css[];
extern const size_t sp_schedule_css_n;

/* Measures in px. */
enum {
    SP_SCHEDULE_WIDTH = 1200,
    SP_SCHEDULE_PAD = 10,
    SP_SCHEDULE_LEFT = 190, /* names of rows */
    SP_SCHEDULE_CHART = SP_SCHEDULE_WIDTH - SP_SCHEDULE_LEFT - SP_SCHEDULE_PAD,
    SP_SCHEDULE_CPU_ROW = 24,
    SP_SCHEDULE_THREAD_ROW = 14,
    SP_SCHEDULE_GAP = 4,
    SP_SCHEDULE_QUEUE_ROW = 36,
    SP_SCHEDULE_AXIS = 20,
    SP_SCHEDULE_HEAD = 54,
    SP_SCHEDULE_LEGEND_LINE = 18,
};
enum {
    SP_SCHEDULE_COLOURS = 7,                 /* and one for all others */
    SP_SCHEDULE_OTHER = SP_SCHEDULE_COLOURS, /* what is none of these */
    SP_SCHEDULE_THREADS_MOST = 24,
    SP_SCHEDULE_CELLS_MOST = 60000, /* of all rows */
    SP_SCHEDULE_TIPS_MOST = 2500,
};

struct sp_schedule_draw {
    const struct sp_schedule *x;
    struct sp_output *out;
    struct sp_buf b;
    unsigned y, step, tips; /* tips: of each row */
    size_t cells;
    uint32_t threads[SP_SCHEDULE_THREADS_MOST];
    size_t nthreads;
    uint8_t *colour; /* per thread */
    bool waits, unknown, others;
};

/* Foreign text, cut to so many columns. */
void sp_schedule_text(struct sp_schedule_draw *d, const char *class, unsigned x, unsigned y, const char *s,
                      size_t columns);
/* From d->y on, which is moved. */
void sp_schedule_draw_head(struct sp_schedule_draw *d);
void sp_schedule_draw_legend(struct sp_schedule_draw *d);
void sp_schedule_draw_axis(struct sp_schedule_draw *d, unsigned top);

#endif
