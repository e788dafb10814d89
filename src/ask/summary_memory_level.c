/*
 * What was live of all functions together, a quarter of the time after the other: memory can grow in many
 * functions, one after the other, of which none does so for long.
 */
#include "ask/summary.h"

enum { LEVEL_QUARTERS = 4, LEVEL_FEW = 20 }; /* few: what a twentieth of it is gained of is flat */

bool sp_summary_memory_levels(const struct sp_leaks *l, int64_t level[4])
{
    int64_t live = 0;
    for (int q = 0; q < LEVEL_QUARTERS; q++) {
        for (size_t i = 0; i < l->rows.n; i++)
            if (!l->rows.v[i].growth.known ||
                __builtin_add_overflow(live, l->rows.v[i].growth.quarters[q], &live))
                return false;
        level[q] = live;
    }
    return l->growth && live == l->now.v[SP_LEAK_LIVE_BYTES];
}

static bool level_rises(const int64_t level[4])
{
    return level[0] < level[1] && level[1] < level[2] && level[2] < level[3] &&
           level[3] - level[0] > level[3] / LEVEL_FEW;
}

void sp_summary_memory_level_text(struct sp_buf *b, const struct sp_leaks *l)
{
    int64_t level[LEVEL_QUARTERS];
    bool known = sp_summary_memory_levels(l, level);
    if (!known || level_rises(level)) {
        if (known) {
            sp_buf_puts(b, "live grows: ");
            for (int q = 0; q < LEVEL_QUARTERS; q++) {
                sp_buf_puts(b, q ? ", " : "");
                sp_text_bytes(b, level[q], 0);
            }
            sp_buf_puts(b, " at the quarters; ");
        }
        sp_buf_puts(b, "no one function grows in each of the last three");
        sp_buf_puts(b, known ? "" : " quarters of the time");
        return;
    }
    sp_buf_puts(b, "nothing grows in each of the last three quarters of the time");
}
