/*
 * Rows of call trees, as lines of the text: a row, what a mail client did to it (its end in the line below,
 * the next row in its own), and lines among them that are none. A row waits for the line below it.
 */
#include "formats/spindump/report.h"

#include <string.h>

uint32_t sp_spindump_indent(unsigned tab, struct sp_span line)
{
    uint32_t column = 0;
    for (const char *p = line.p, *end = line.p + line.n; p < end && sp_hang_blank(*p) && column < 1 << 20;
         p++)
        column = *p == '\t' ? (column / tab + 1) * tab : column + 1;
    return column;
}

/* "341  text", "*341  text"; of one that was broken behind its count the text is empty. */
static bool row_split(unsigned tab, struct sp_span line, struct sp_hang_row *row, bool *kernel,
                      struct sp_span *frame)
{
    const char *end = line.p + line.n, *p = line.p;
    uint32_t column = sp_spindump_indent(tab, line);
    while (p < end && sp_hang_blank(*p))
        p++;
    *kernel = p < end && *p == '*';
    p += *kernel;
    *row = (struct sp_hang_row){.column = column + *kernel};
    const char *digits = p;
    for (; p < end && sp_hang_digit(*p) && p - digits < 18; p++)
        row->count = row->count * 10 + (*p - '0');
    if (p == digits || (p < end && !sp_hang_blank(*p)) || digits - line.p > 1 << 20)
        return false;
    while (p < end && sp_hang_blank(*p))
        p++;
    *frame = (struct sp_span){p, (size_t)(end - p)};
    return true;
}

bool sp_spindump_is_row(struct sp_span line)
{
    struct sp_hang_row row;
    struct sp_span frame;
    bool kernel;
    return memmem(line.p, line.n, " [0x", 4) && row_split(1, line, &row, &kernel, &frame) && frame.n;
}

/* ---- adding ---- */

/* The range behind a row; one that is cut off, or does not hold the row's samples, is none. */
static void row_take_range(struct spindump_reader *r, struct sp_hang_row *row, struct sp_span *frame)
{
    bool whole = sp_spindump_cut_range(frame, &row->from, &row->to);
    bool torn = whole ? row->count > row->to - row->from + 1 : sp_spindump_cut_torn_range(frame);
    if (torn)
        row->from = row->to = 0;
    r->ranged += row->from > 0;
    r->unranged += !row->from;
    if (torn)
        sp_emit(r->d, SP_L520, SP_AT_LINE(row->line, SP_NOWHERE), "in the range of samples: \"%.*s\"",
                (int)(frame->n > 60 ? 60 : frame->n), frame->p);
}

/* What stood in the line before as well, behind another row: it was copied there. */
static bool row_is_copy(struct spindump_reader *r, const struct sp_hang_row *row)
{
    const struct sp_hang_row *last = r->rows.n ? &r->rows.v[r->rows.n - 1] : NULL;
    bool after = last && r->split_line && row->line == r->split_line + 1;
    return after && (last->column == row->column || last->column == SP_HANG_NO_COLUMN) &&
           last->count == row->count && last->frame == row->frame;
}

static bool row_add(struct spindump_reader *r, struct sp_hang_row *row, bool kernel, struct sp_span frame,
                    size_t length)
{
    bool addressed = memmem(frame.p, frame.n, " [0x", 4);
    row_take_range(r, row, &frame);
    r->addressed += addressed;
    sp_hang_cut_note(&r->cut, length, !addressed && !memchr("<?", *frame.p, 2));
    r->bare += !addressed && !memchr("<?", *frame.p, 2);
    row->frame = sp_hang_text(&r->frames.texts, frame, kernel);
    if (row->frame == SP_NONE)
        return false;
    if (!row_is_copy(r, row))
        return sp_vec_push(&r->rows, *row);
    r->rows.v[r->rows.n - 1].column = row->column;
    return true;
}

/* The row behind another one: of the blanks before it one stands for the line end; alone, all others are
 * lost. */
static void row_place(const struct spindump_reader *r, struct sp_hang_row *row, bool kernel, bool blanks)
{
    if (!blanks)
        row->column = SP_HANG_NO_COLUMN;
    else if (r->first_column != SP_HANG_NO_COLUMN && row->column > r->first_column + kernel)
        row->column -= (row->column - r->first_column) % 2;
}

/* A row, and those that stand behind it in its line. */
static bool row_add_all(struct spindump_reader *r, struct sp_hang_row row, bool kernel, struct sp_span frame,
                        size_t length)
{
    struct sp_span rest;
    for (const char *second; (second = sp_spindump_second_row(frame)); frame = rest) {
        struct sp_span next = {second, (size_t)(frame.p + frame.n - second)};
        struct sp_span shown = sp_hang_trim(next);
        uint32_t line = row.line;
        sp_emit(r->d, SP_W521, SP_AT_LINE(line, SP_NOWHERE), "\"%.*s\"", (int)(shown.n > 60 ? 60 : shown.n),
                shown.p);
        frame.n -= next.n;
        r->split_line = line;
        if (!row_add(r, &row, kernel, frame, 0))
            return false;
        if (!row_split(r->tab, next, &row, &kernel, &rest) || !rest.n)
            return true;
        row_place(r, &row, kernel, shown.p - next.p > 1);
        row.line = line;
    }
    return row_add(r, &row, kernel, frame, length);
}

/* ---- rows that are wrapped ---- */

static bool row_balances(struct sp_span s)
{
    size_t open = 0;
    for (size_t i = 0; i < s.n; i++) {
        open += s.p[i] == '(';
        if (s.p[i] == ')' && open-- == 0)
            return false;
    }
    return !open;
}

/* How much of a row a text has: the more the better. */
static int row_parts(struct sp_span s, bool *torn)
{
    struct sp_spindump_frame f;
    int64_t from, to;
    int n = sp_spindump_cut_range(&s, &from, &to);
    sp_spindump_parse_row(s, &f);
    *torn = f.torn || sp_hang_ends(s, " +");
    return n + f.has_off + (f.image.n > 0) + f.has_image_off + (f.address.n > 0) + (f.state.p != NULL) +
           (f.state.p && row_balances(f.state)) + sp_spindump_truncated(f.symbol);
}

/* Whether the line is a row of its own, where one is open above it: "12 (image + 24) [0x1]" and "2 hops)"
 * look like one, too. */
static bool row_stands_alone(const struct spindump_reader *r, const struct sp_hang_row *row,
                             struct sp_span frame)
{
    bool torn, above_torn;
    if (frame.n && row->column >= r->first_column && *frame.p != '(' && memmem(frame.p, frame.n, " [0x", 4))
        return true;
    row_parts(r->wrapped.is.text, &above_torn);
    if (!frame.n)
        return row->column >= r->first_column;
    if (row->column < r->first_column)
        return !above_torn && row_balances(r->wrapped.is.text);
    return !above_torn || (*frame.p != '(' && row_parts(frame, &torn) > 1);
}

/* Lines below a row that turned out to be no part of it. */
static void row_say_odd(struct spindump_reader *r, uint64_t number, struct sp_span line)
{
    sp_emit(r->d, SP_L510, SP_AT_LINE(number, (uint64_t)(line.p - r->start)), "\"%.*s\"",
            (int)(line.n > 80 ? 80 : line.n), line.p);
    sp_hang_item(&r->not_understood, line);
}

spaa_status sp_spindump_settle_row(struct spindump_reader *r)
{
    struct spindump_wrapped w = r->wrapped;
    if (!w.row.line)
        return SPAA_OK;
    r->wrapped = (struct spindump_wrapped){.row.line = 0};
    sp_hang_wrapped_say(&w.is, w.row.line, r->d);
    bool ok = true;
    if (w.is.whole.n)
        ok = row_add_all(r, w.row, w.kernel, w.is.whole, w.is.n ? 0 : w.line.n);
    else
        row_say_odd(r, w.row.line, w.line);
    for (size_t i = w.is.whole_n; i < w.is.n; i++)
        row_say_odd(r, w.row.line + 1 + i, w.is.lines[i]);
    return ok && !r->not_understood.failed ? SPAA_OK : sp_nomem(r->d);
}

spaa_status sp_spindump_row_end(struct spindump_reader *r, struct sp_span line, bool *taken)
{
    struct spindump_wrapped *w = &r->wrapped;
    struct sp_span text = sp_hang_trim(line), frame;
    struct sp_hang_row row;
    bool kernel;
    *taken = false;
    if (!w->row.line)
        return SPAA_OK;
    bool other = !text.n || sp_hang_wrapped_is_full(&w->is) ||
                 (row_split(r->tab, line, &row, &kernel, &frame) && row_stands_alone(r, &row, frame)) ||
                 sp_spindump_is_begun(line, text) || sp_spindump_is_annotation(text);
    if (other)
        return sp_spindump_settle_row(r);
    *taken = true;
    bool ok =
        sp_hang_wrapped_join(&w->is, line, w->is.text.n ? " " : "", text, row_parts, &r->buf, &r->joined);
    return ok ? SPAA_OK : sp_nomem(r->d);
}

/* ---- lines of rows ---- */

/* Threads begin in one column, at most a step to the right of their lines: where one does not, the rows that
 * stood above are lost, and with them maybe the line of the thread that these are of. */
static void row_is_first(struct spindump_reader *r, const struct sp_hang_row *row)
{
    const struct spindump_block *b = &r->blocks.v[r->blocks.n - 1];
    r->first_column = row->column;
    if (!b->has_thread || !r->thread_column || row->column < r->thread_column)
        return; /* a line whose blanks were lost, as the first of a pasted part, tells nothing */
    uint32_t offset = row->column - r->thread_column;
    if (offset > r->root_offset) {
        r->lines_lost = true;
        sp_emit(r->d, SP_W526, SP_AT_LINE(row->line, SP_NOWHERE), "the first of thread %.*s",
                (int)b->thread.id.n, b->thread.id.p);
    } else {
        r->root_offset = offset;
    }
}

spaa_status sp_spindump_row(struct spindump_reader *r, struct sp_span line, bool *taken)
{
    struct sp_hang_row row;
    struct sp_span frame;
    bool kernel;
    *taken = row_split(r->tab, line, &row, &kernel, &frame) &&
             (frame.n || (r->zone == SPINDUMP_THREAD && !r->after_blank));
    if (!*taken)
        return SPAA_OK;
    if (sp_spindump_is_annotation(frame)) {
        sp_hang_item(&r->annotations, sp_hang_trim(line));
        return r->annotations.failed ? sp_nomem(r->d) : SPAA_OK;
    }
    if (r->zone == SPINDUMP_PROCESS) {
        if (!r->powerstats)
            sp_emit(r->d, SP_L511, sp_spindump_here(r, line.p), "they are counted for the process alone");
        if (!sp_spindump_begin_thread(r, NULL))
            return sp_nomem(r->d);
    }
    row.line = r->line > UINT32_MAX ? UINT32_MAX : (uint32_t)r->line;
    if (r->first_column == SP_HANG_NO_COLUMN)
        row_is_first(r, &row);
    r->wrapped = (struct spindump_wrapped){
        .row = row, .kernel = kernel, .line = line, .is = {.text = frame, .whole = frame}};
    return SPAA_OK;
}
