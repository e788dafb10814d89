/*
 * Whether the rows below a thread's line can all be of that thread. A thread was seen once in a sample: where
 * roots have more samples than it has, or were seen in the same ones, the line of another thread is missing
 * between them.
 */
#include "formats/common/hang/tree.h"

static bool one_is_full(const struct sp_hang_row *row)
{
    return row->from && row->count == row->to - row->from + 1;
}

size_t sp_hang_rows_of_one_thread(const struct sp_hang_row *rows, size_t n, int64_t whole)
{
    const struct sp_hang_row *last = NULL; /* root */
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const struct sp_hang_row *row = &rows[i];
        if (row->column == SP_HANG_NO_COLUMN || rows[0].column == SP_HANG_NO_COLUMN)
            return n; /* which rows are roots is not known */
        if (row->column > rows[0].column)
            continue;
        bool seen = last && last->from && row->from && row->from <= last->to,
             more = whole >= 0 && row->count > whole - sum;
        if (last && ((seen && (more || (one_is_full(row) && one_is_full(last)))) || (more && sum >= whole)))
            return i;
        last = row;
        if (__builtin_add_overflow(sum, row->count, &sum))
            sum = INT64_MAX;
    }
    return n;
}
