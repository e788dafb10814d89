#include "render/schedule_cells.h"

#include <stdlib.h>
#include <string.h>

bool sp_schedule_cells_init(struct sp_schedule_cells *c, int64_t lo, int64_t hi, size_t n, size_t kinds)
{
    *c = (struct sp_schedule_cells){.lo = lo, .hi = hi > lo ? hi : lo + 1, .n = n, .kinds = kinds};
    c->ns = calloc(n * kinds + 1, sizeof *c->ns);
    return c->ns != NULL;
}

void sp_schedule_cells_clear(struct sp_schedule_cells *c)
{
    memset(c->ns, 0, c->n * c->kinds * sizeof *c->ns);
}

void sp_schedule_cells_free(struct sp_schedule_cells *c)
{
    free(c->ns);
    c->ns = NULL;
}

static int64_t edge(const struct sp_schedule_cells *c, size_t cell)
{
    return c->lo + (int64_t)((__int128)(c->hi - c->lo) * (int64_t)cell / (int64_t)c->n);
}

int64_t sp_schedule_cells_width(const struct sp_schedule_cells *c, size_t cell)
{
    int64_t w = edge(c, cell + 1) - edge(c, cell);
    return w > 0 ? w : 1;
}

void sp_schedule_cells_add(struct sp_schedule_cells *c, size_t kind, int64_t start, int64_t end)
{
    start = start > c->lo ? start : c->lo;
    end = end < c->hi ? end : c->hi;
    if (end <= start)
        return;
    size_t i = (size_t)((__int128)(start - c->lo) * (int64_t)c->n / (c->hi - c->lo));
    for (; i < c->n && edge(c, i) < end; i++) {
        int64_t lo = edge(c, i), hi = edge(c, i + 1);
        lo = lo > start ? lo : start;
        hi = hi < end ? hi : end;
        c->ns[i * c->kinds + kind] += hi > lo ? hi - lo : 0;
    }
}

int64_t sp_schedule_cells_sum(const struct sp_schedule_cells *c, size_t kind, size_t from, size_t to)
{
    int64_t sum = 0;
    for (size_t i = from; i < to && i < c->n; i++)
        sum += c->ns[i * c->kinds + kind];
    return sum;
}

/* Tenths of a px from the bottom up to the top of this kind, or to its bottom. */
static unsigned level(const struct sp_schedule_cells *c, size_t cell, size_t kinds,
                      const struct sp_schedule_cells_row *row)
{
    __int128 sum = 0, whole = (__int128)sp_schedule_cells_width(c, cell) * row->full;
    for (size_t k = 0; k < kinds; k++)
        sum += c->ns[cell * c->kinds + k];
    __int128 tenths = (sum * 1000 * row->height * 10 + whole / 2) / whole;
    return tenths > row->height * 10 ? row->height * 10 : (unsigned)tenths;
}

static void tenths(struct sp_buf *b, unsigned v)
{
    sp_buf_u64(b, v / 10);
    if (v % 10)
        sp_buf_printf(b, ".%u", v % 10);
}

void sp_schedule_cells_path(struct sp_buf *b, const struct sp_schedule_cells *c, size_t kind,
                            const struct sp_schedule_cells_row *row)
{
    for (size_t i = 0; i < c->n;) {
        unsigned from = level(c, i, kind, row), to = level(c, i, kind + 1, row);
        size_t k = i + 1;
        while (k < c->n && level(c, k, kind, row) == from && level(c, k, kind + 1, row) == to)
            k++;
        if (to > from) {
            unsigned w = (unsigned)(k - i) * row->step;
            sp_buf_printf(b, "M%u ", row->x + (unsigned)i * row->step);
            tenths(b, (row->y + row->height) * 10 - to);
            sp_buf_printf(b, "h%uv", w);
            tenths(b, to - from);
            sp_buf_printf(b, "h-%uz", w);
        }
        i = k;
    }
}
