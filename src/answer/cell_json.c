#include "answer/cell_json.h"

#include "base/num.h"
#include "json/json.h"

static void json_scaled(struct sp_buf *b, __int128 v, unsigned scale)
{
    char t[64];
    sp_buf_add(b, t, sp_scaled_text(v, scale, t));
}

static void json_int(struct sp_buf *b, enum sp_column_type type, const struct sp_cell *cell,
                     const struct sp_measure *m)
{
    bool measured = type == SP_COL_PERCENT || type == SP_COL_WEIGHT;
    if (measured && (m->cannot_add || (type == SP_COL_PERCENT && !m->whole)))
        sp_buf_puts(b, "null");
    else if (type == SP_COL_PERCENT)
        json_scaled(b, sp_ratio(cell->i, m->whole, 10000), 2);
    else if (type == SP_COL_BOOL)
        sp_buf_puts(b, cell->i ? "true" : "false");
    else
        json_scaled(b, cell->i, type == SP_COL_WEIGHT ? m->scale : cell->scale);
}

static void json_real(struct sp_buf *b, double v)
{
    char t[32];
    if (v - v != 0) /* infinite, or no number */
        sp_buf_puts(b, "null");
    else
        sp_buf_add(b, t, sp_double_text(v, t));
}

void sp_cell_json(struct sp_buf *b, enum sp_column_type type, const struct sp_cell *cell,
                  const struct sp_measure *m)
{
    switch (cell->kind) {
    case SP_VALUE_INT:
        json_int(b, type, cell, m);
        break;
    case SP_VALUE_REAL:
        json_real(b, cell->real);
        break;
    case SP_VALUE_TEXT:
        sp_json_string(b, cell->text, cell->n);
        break;
    case SP_VALUE_TEXTS:
        sp_buf_ch(b, '[');
        for (uint32_t i = 0; i < cell->n; i++) {
            sp_buf_puts(b, i ? "," : "");
            sp_json_string(b, cell->texts[i].p, cell->texts[i].n);
        }
        sp_buf_ch(b, ']');
        break;
    default:
        sp_buf_puts(b, "null");
    }
}
