/*
 * What the rows of a thread tell of each other before they are a tree: what calls a row; and whether all
 * below a thread's line can be of that thread. A thread was seen once in a sample: where roots have more
 * samples than it has, or were seen in the same ones, the line of another thread is missing between them; and
 * where what a row calls has, the roots of that one are missing, too.
 */
#include "formats/common/hang/tree.h"

static bool one_is_full(const struct sp_hang_row *row)
{
    return row->from && row->count == row->to - row->from + 1;
}

/* Whether a row cannot be called beside `last` by what has so many samples (negative: not stated), of which
 * `sum` are of those above. `used_up`: the thread, too, has none left for a row that may be missing. */
static bool one_is_of_another(const struct sp_hang_row *row, const struct sp_hang_row *last, int64_t whole,
                              int64_t sum, bool root, bool used_up)
{
    bool seen = last->from && row->from && row->from <= last->to,
         more = whole >= 0 && row->count > whole - sum,
         both = one_is_full(row) && one_is_full(last) && (more || row->count > 1 || root);
    if (root)
        return (seen && (more || both)) || (more && sum >= whole);
    /* A count may be damaged: one that is used up exactly is none. */
    return (seen && both) || (more && sum == whole && used_up && !(row->from && last->from));
}

/* No row that is open may call another one of so many samples. */
static bool one_is_used_up(const struct sp_hang_tree *t, const struct sp_hang_row *rows, int64_t whole,
                           int64_t count)
{
    for (size_t k = 0; k < t->open.n; k++) {
        int64_t all = k ? rows[t->open.v[k].row].count : whole;
        if (all < 0 || all - t->open.v[k].children >= count)
            return false;
    }
    return true;
}

/* Columns are known, and those of roots are the first row's. */
static bool one_has_columns(const struct sp_hang_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].column == SP_HANG_NO_COLUMN)
            return false;
    return n > 0;
}

static size_t one_caller(const struct sp_hang_tree *t, const struct sp_hang_row *rows,
                         const struct sp_hang_row *row)
{
    size_t depth = t->open.n;
    while (depth > 1 && !sp_hang_covers(&rows[t->open.v[depth - 1].row], row))
        depth--;
    return depth;
}

/* Open rows: the thread, then those that call the row at hand; `children`: the samples of what each called so
 * far, `segment`: 1 + the number of the last of that. *fit: so many of the rows can be of one thread. */
static bool one_thread_of(struct sp_hang_tree *t, const struct sp_hang_row *rows, size_t n, int64_t whole,
                          size_t *fit)
{
    *fit = n;
    t->open.n = 0;
    if (!one_has_columns(rows, n))
        return true;
    if (!sp_vec_push(&t->open, (struct sp_hang_open){0}))
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct sp_hang_row *row = &rows[i];
        bool root = row->column <= rows[0].column;
        while (t->open.n > 1 && (root || t->open.v[t->open.n - 1].column >= row->column))
            t->open.n--;
        size_t depth = one_caller(t, rows, row);
        struct sp_hang_open *o = &t->open.v[depth - 1];
        const struct sp_hang_row *last = o->segment ? &rows[o->segment - 1] : NULL;
        if (last && (root || depth > 1) &&
            one_is_of_another(row, last, root ? whole : rows[o->row].count, o->children, root,
                              !root && one_is_used_up(t, rows, whole, row->count))) {
            *fit = i;
            return true;
        }
        if ((root || depth > 1) && __builtin_add_overflow(o->children, row->count, &o->children))
            o->children = INT64_MAX;
        if (root || depth > 1)
            o->segment = (uint32_t)i + 1;
        if (!sp_vec_push(&t->open, ((struct sp_hang_open){.column = row->column, .row = (uint32_t)i})))
            return false;
    }
    return true;
}

bool sp_hang_part_slice(struct sp_hang_tree *t, const struct sp_hang_row *rows, struct sp_hang_slice *of,
                        int64_t whole, const char *prefix, struct sp_span thread, struct sp_hang_slice *rest)
{
    size_t n;
    bool ok = one_thread_of(t, rows + of->first, of->n, whole, &n);
    *rest = (struct sp_hang_slice){.first = of->first + n, .n = of->n - n};
    if (!rest->n)
        return ok;
    rest->line = rows[rest->first].line;
    rest->cut = of->cut;
    of->n = n;
    of->cut = false;
    of->torn = true;
    sp_emit(t->d, SP_L511, SP_AT_LINE(rest->line, SP_NOWHERE),
            "%s%.*s above has its samples without them: they are counted for the process alone", prefix,
            (int)thread.n, thread.p);
    return ok;
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
