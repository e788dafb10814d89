/*
 * From the rows of a call tree to stacks. A row's count covers its callees; what they leave is its own.
 * Columns alone tell who called whom, so a row that is missing costs its frame and nothing else.
 */
#include "formats/common/hang/tree.h"
#include "formats/common/hang/line.h"

#include <stdlib.h>

enum { HANG_STEP = 2 }; /* columns */

void sp_hang_tree_free(struct sp_hang_tree *t)
{
    free(t->path);
    t->path = NULL;
    t->room = 0;
    sp_vec_free(&t->open);
    sp_vec_free(&t->segments);
}

/* The path fills its room from the end, so that each prefix is a stack, leaf first. */
static bool hang_push_frame(struct sp_hang_tree *t, size_t depth, uint32_t frame)
{
    if (depth == t->room) {
        size_t room = t->room ? 2 * t->room : 256;
        uint32_t *path = malloc(room * sizeof *path);
        if (!path)
            return false;
        if (depth)
            memcpy(path + room - depth, t->path, depth * sizeof *path);
        free(t->path);
        t->path = path;
        t->room = room;
    }
    t->path[t->room - 1 - depth] = frame;
    return true;
}

/* The stack of the row of this depth: the innermost one. */
static uint32_t hang_row_stack(struct sp_hang_tree *t, uint32_t tag, size_t depth)
{
    bool is_new;
    uint32_t context = t->context(t->who, tag);
    if (context == SP_NONE)
        return SP_NONE;
    uint32_t s = sp_stack_intern(t->p, t->path + t->room - depth, depth, context, SP_UNIFIED, &is_new);
    if (s != SP_NONE && is_new)
        sp_stack_set_layout(t->p, s, t->layout);
    return s;
}

static bool hang_add_segment(struct sp_hang_tree *t, struct sp_hang_open *o, int64_t from, int64_t to,
                             int64_t count)
{
    struct sp_hang_segment s = {o->stack, o->segment, from, to, count};
    if (t->segments.n >= SP_NONE - 1 || !sp_vec_push(&t->segments, s))
        return false;
    o->segment = (uint32_t)t->segments.n;
    return true;
}

/* Samples of the row's range before `upto` that no callee has may be its own. */
static bool hang_note_gap(struct sp_hang_tree *t, struct sp_hang_open *o, int64_t upto)
{
    return o->covered >= upto || hang_add_segment(t, o, o->covered, upto - 1, upto - o->covered);
}

/* What was found out from the ranges holds only where it fits the counts; else the whole range is noted. */
static bool hang_settle_segments(struct sp_hang_tree *t, struct sp_hang_open *o,
                                 const struct sp_hang_row *row, int64_t self)
{
    int64_t sum = 0;
    if (self > 0 && !hang_note_gap(t, o, row->to + 1))
        return false;
    for (uint32_t i = o->segment; i; i = t->segments.v[i - 1].before)
        sum += t->segments.v[i - 1].count;
    for (uint32_t i = o->segment; i; i = t->segments.v[i - 1].before) {
        t->segments.v[i - 1].stack = o->stack;
        if (sum != self)
            t->segments.v[i - 1].count = 0;
    }
    return self <= 0 || sum == self || hang_add_segment(t, o, row->from, row->to, self);
}

/* What callees have more than the innermost row is of those that call it, as far as these have it left: the
 * count may be damaged. */
static void hang_pass_on(struct sp_hang_tree *t, const struct sp_hang_row *rows, int64_t more)
{
    if (t->open.n < 2)
        return;
    struct sp_hang_open *caller = &t->open.v[t->open.n - 2];
    int64_t left = rows[caller->row].count - caller->children;
    if (left > 0)
        caller->children += more < left ? more : left;
}

static bool hang_close_row(struct sp_hang_tree *t, const struct sp_hang_row *rows)
{
    struct sp_hang_open *o = &t->open.v[t->open.n - 1];
    const struct sp_hang_row *row = &rows[o->row];
    int64_t self = row->count - o->children;
    if (self < 0) {
        sp_emit(t->d, t->excess, SP_AT_LINE(row->line, SP_NOWHERE), "%lld samples, its callees have %lld",
                (long long)row->count, (long long)o->children);
        hang_pass_on(t, rows, -self);
    }
    if (self > 0) {
        uint32_t tag = o->lacks_row ? SP_NONE : row->tag;
        o->stack = hang_row_stack(t, tag, t->open.n);
        t->untold = tag == SP_NONE && self < INT64_MAX - t->untold ? t->untold + self : t->untold;
        if (o->stack == SP_NONE || !sp_weight_add(t->p, o->stack, t->metric, self))
            return false;
    }
    if (row->from && !hang_settle_segments(t, o, row, self))
        return false;
    t->open.n--;
    return true;
}

static bool hang_open_row(struct sp_hang_tree *t, const struct sp_hang_row *rows, uint32_t i, uint32_t column)
{
    const struct sp_hang_row *row = &rows[i];
    struct sp_hang_open fresh = {.column = column, .row = i, .covered = row->from, .stack = SP_NONE};
    if (t->open.n) {
        struct sp_hang_open *o = &t->open.v[t->open.n - 1];
        const struct sp_hang_row *above = &rows[o->row];
        if (__builtin_add_overflow(o->children, row->count, &o->children))
            o->children = INT64_MAX;
        if (above->from && row->from) {
            if (row->from <= above->to && !hang_note_gap(t, o, row->from))
                return false;
            if (row->to >= o->covered)
                o->covered = row->to < above->to ? row->to + 1 : above->to + 1;
        }
    }
    return hang_push_frame(t, t->open.n, row->frame) && sp_vec_push(&t->open, fresh);
}

/* ---- rows whose column is lost ---- */

/* What the open row at `depth` has left for others that it calls (0: the thread for its roots). */
static int64_t hang_left(const struct sp_hang_tree *t, const struct sp_hang_row *rows, size_t depth,
                         int64_t roots)
{
    const struct sp_hang_open *caller = depth ? &t->open.v[depth - 1] : NULL;
    int64_t all = caller ? rows[caller->row].count : t->whole, used = caller ? caller->children : roots;
    return all < 0 ? INT64_MAX : used < all ? all - used : 0;
}

/* Whether a row may be called by the open one at `depth`, where it was seen in steps that are known. */
static bool hang_is_within(const struct sp_hang_tree *t, const struct sp_hang_row *rows,
                           const struct sp_hang_row *row, size_t depth)
{
    const struct sp_hang_row *of = depth ? &rows[t->open.v[depth - 1].row] : NULL,
                             *before = depth < t->open.n ? &rows[t->open.v[depth].row] : NULL;
    bool later = !before || !before->from || row->from > before->to, within = !of || sp_hang_covers(of, row);
    return !row->from || (later && within);
}

/* Whether the next row fits where it stands if the one before it is called at `depth` and stands at `column`.
 */
static bool hang_next_fits(const struct sp_hang_tree *t, const struct sp_hang_row *rows,
                           const struct sp_hang_row *row, const struct sp_hang_row *next, size_t depth,
                           uint32_t column, int64_t roots)
{
    size_t caller = 0;
    if (next->column > column)
        return next->column - column <= HANG_STEP && next->count <= row->count;
    while (caller < t->open.n && t->open.v[caller].column < next->column)
        caller++;
    int64_t left = hang_left(t, rows, caller, roots);
    return next->count <= (caller == depth && left < INT64_MAX ? left - row->count : left);
}

/*
 * A step is two columns: a row stands at most one step further right than the one before, and the next at
 * most one further than it. Of the places that this leaves, the one where its samples, and the next row's,
 * fit; SP_HANG_NO_COLUMN: there is none, or several.
 */
static uint32_t hang_find_column(struct sp_hang_tree *t, const struct sp_hang_row *rows, size_t n, size_t i,
                                 int64_t roots)
{
    const struct sp_hang_row *row = &rows[i],
                             *next = i + 1 < n && rows[i + 1].column != SP_HANG_NO_COLUMN ? row + 1 : NULL;
    uint32_t found = SP_HANG_NO_COLUMN;
    if (!t->open.n) /* the first row: the next is called by it, or stands beside it */
        return !next ? 0
               : (row->count == t->whole || next->count <= row->count) && next->column >= HANG_STEP
                   ? next->column - HANG_STEP
                   : next->column;
    for (size_t depth = 0; depth <= t->open.n; depth++) {
        uint32_t column =
            depth < t->open.n ? t->open.v[depth].column : t->open.v[depth - 1].column + HANG_STEP;
        if (row->count > hang_left(t, rows, depth, roots) || !hang_is_within(t, rows, row, depth) ||
            (next && !hang_next_fits(t, rows, row, next, depth, column, roots)))
            continue;
        if (found != SP_HANG_NO_COLUMN)
            return SP_HANG_NO_COLUMN;
        found = column;
    }
    return found;
}

/* Its samples stay with who may have called it: what these did there is not known. */
static void hang_leave_out(struct sp_hang_tree *t, const struct sp_hang_row *row)
{
    for (size_t k = 0; k < t->open.n; k++)
        t->open.v[k].lacks_row = true;
    sp_emit(t->d, SP_L524, SP_AT_LINE(row->line, SP_NOWHERE), "%lld sample%s", (long long)row->count,
            row->count == 1 ? "" : "s");
}

/*
 * Where a row between is missing, what it calls stands below one that had ended, or begins later. *whose: the
 * number of open rows with the caller that was seen in the row's steps; 0: none was.
 */
static bool hang_is_of_other_steps(const struct sp_hang_tree *t, const struct sp_hang_row *rows,
                                   const struct sp_hang_row *row, size_t *whose)
{
    *whose = t->open.n;
    while (*whose && !sp_hang_covers(&rows[t->open.v[*whose - 1].row], row))
        --*whose;
    return *whose < t->open.n;
}

spaa_status sp_hang_tree_build(struct sp_hang_tree *t, struct sp_hang_row *rows, size_t n, int64_t *roots)
{
    t->open.n = 0;
    *roots = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t column = rows[i].column;
        if (column == SP_HANG_NO_COLUMN) {
            column = hang_find_column(t, rows, n, i, *roots);
            if (column == SP_HANG_NO_COLUMN) {
                hang_leave_out(t, &rows[i]);
                continue;
            }
        }
        while (t->open.n && t->open.v[t->open.n - 1].column >= column)
            if (!hang_close_row(t, rows))
                return sp_nomem(t->d);
        if (!t->open.n && __builtin_add_overflow(*roots, rows[i].count, roots))
            *roots = INT64_MAX;
        size_t whose;
        if (hang_is_of_other_steps(t, rows, &rows[i], &whose)) {
            sp_emit(t->d, SP_W527, SP_AT_LINE(rows[i].line, SP_NOWHERE), "%lld sample%s in %lld-%lld",
                    (long long)rows[i].count, rows[i].count == 1 ? "" : "s", (long long)rows[i].from,
                    (long long)rows[i].to);
            if (!whose)
                rows[i].from = rows[i].to = 0;
            for (; whose && t->open.n > whose;)
                if (!hang_close_row(t, rows))
                    return sp_nomem(t->d);
        } else if (t->open.n && column > t->open.v[t->open.n - 1].column + HANG_STEP)
            sp_emit(t->d, SP_W526, SP_AT_LINE(rows[i].line, SP_NOWHERE), "%lld sample%s",
                    (long long)rows[i].count, rows[i].count == 1 ? "" : "s");
        if (!hang_open_row(t, rows, (uint32_t)i, column))
            return sp_nomem(t->d);
    }
    while (t->open.n)
        if (!hang_close_row(t, rows))
            return sp_nomem(t->d);
    return SPAA_OK;
}

static int hang_by_stack(const void *va, const void *vb)
{
    const struct sp_hang_segment *a = va, *b = vb;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

bool sp_hang_keep_segments(struct sp_hang_tree *t, const char *key)
{
    struct sp_buf b;
    bool ok = true;
    size_t n = 0;
    for (size_t i = 0; i < t->segments.n; i++)
        if (t->segments.v[i].count)
            t->segments.v[n++] = t->segments.v[i];
    t->segments.n = n;
    if (n)
        qsort(t->segments.v, n, sizeof *t->segments.v, hang_by_stack);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < n && ok;) {
        uint32_t stack = t->segments.v[i].stack;
        sp_buf_clear(&b);
        sp_buf_printf(&b, "\"%s\":{\"ranges\":[", key);
        for (; i < n && t->segments.v[i].stack == stack; i++) {
            const struct sp_hang_segment *s = &t->segments.v[i];
            sp_hang_comma(&b);
            sp_buf_printf(&b, "[%lld,%lld", (long long)s->from, (long long)s->to);
            if (s->count != s->to - s->from + 1)
                sp_buf_printf(&b, ",%lld", (long long)s->count);
            sp_buf_ch(&b, ']');
        }
        sp_buf_puts(&b, "]}");
        uint32_t more = b.failed ? SP_STR_FAIL : sp_profile_str(t->p, b.data, b.len);
        ok = more != SP_STR_FAIL;
        if (ok)
            t->p->stacks.v[stack].extra_json = more;
    }
    sp_buf_free(&b);
    return ok;
}
