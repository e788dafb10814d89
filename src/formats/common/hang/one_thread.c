/*
 * What the rows of a thread tell of each other before they are a tree: what calls a row; and whether all
 * below a thread's line can be of that thread. A thread was seen once in a sample: where roots have more
 * samples than it has, or were seen in the same ones, the line of another thread is missing between them.
 */
#include "formats/common/hang/tree.h"

static bool one_is_full(const struct sp_hang_row *row)
{
    return row->from && row->count == row->to - row->from + 1;
}

static size_t one_thread_of(const struct sp_hang_row *rows, size_t n, int64_t whole)
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

void sp_hang_part_slice(const struct sp_hang_tree *t, const struct sp_hang_row *rows,
                        struct sp_hang_slice *of, int64_t whole, const char *prefix, struct sp_span thread,
                        struct sp_hang_slice *rest)
{
    size_t n = one_thread_of(rows + of->first, of->n, whole);
    *rest = (struct sp_hang_slice){.first = of->first + n, .n = of->n - n};
    if (!rest->n)
        return;
    rest->line = rows[rest->first].line;
    rest->cut = of->cut;
    of->n = n;
    of->cut = false;
    sp_emit(t->d, SP_L511, SP_AT_LINE(rest->line, SP_NOWHERE),
            "%s%.*s above has its samples without them: they are counted for the process alone", prefix,
            (int)thread.n, thread.p);
}

size_t sp_hang_caller(const struct sp_hang_row *rows, size_t i)
{
    uint32_t column = rows[i].column;
    while (i-- > 0)
        if (rows[i].column != SP_HANG_NO_COLUMN && rows[i].column < column)
            return i;
    return SIZE_MAX;
}

void sp_hang_say_end(const struct sp_hang_tree *t, uint64_t line, int64_t roots, int64_t untold)
{
    int64_t n = t->untold - untold + (roots < t->whole ? t->whole - roots : 0);
    if (n > 0)
        sp_emit(t->d, SP_L520, SP_AT_LINE(line, SP_NOWHERE),
                "the text ends here, in the middle of a thread: rows of %lld sample%s may be missing",
                (long long)n, n == 1 ? "" : "s");
}
