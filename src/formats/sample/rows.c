/*
 * The rows of a graph, as lines of the text: rows, threads, and what mail clients and editors did to them:
 * their end in the line below, the next row in their line, tabs. A row waits for the line below it.
 */
#include "formats/sample/report.h"

#include <string.h>

enum { FIRST_COLUMN = 4 };

static bool row_is_lead(char c)
{
    return memchr(" +!:|", c, 5);
}

/* A line without tabs: before the count they are as wide as they were, behind it they stand between two
 * parts. */
static bool row_without_tabs(struct sample_reader *r, struct sp_span *line)
{
    struct sp_buf *b = &r->buf;
    bool lead = true;
    if (!memchr(line->p, '\t', line->n))
        return true;
    sp_buf_clear(b);
    for (size_t i = 0; i < line->n; i++) {
        char c = line->p[i];
        lead = lead && (row_is_lead(c) || c == '\t');
        if (c != '\t') {
            sp_buf_ch(b, c);
        } else if (lead) {
            for (size_t n = r->tab - b->len % r->tab; n > 0; n--)
                sp_buf_ch(b, ' ');
        } else {
            while (b->len && b->data[b->len - 1] == ' ')
                b->len--;
            while (i + 1 < line->n && sp_hang_blank(line->p[i + 1]))
                i++;
            sp_buf_puts(b, "  ");
        }
    }
    char *copy = b->failed ? NULL : sp_arena_dup(&r->joined, b->data, b->len);
    *line = (struct sp_span){copy, b->len};
    return copy;
}

/* "    + ! 825 text": false where it is none. */
static bool row_split(struct sp_span line, struct sp_hang_row *row, struct sp_span *text)
{
    const char *p = line.p, *end = line.p + line.n;
    *row = (struct sp_hang_row){.column = 0};
    while (p < end && row_is_lead(*p))
        p++;
    if (p - line.p > 1 << 20)
        return false;
    row->column = (uint32_t)(p - line.p);
    const char *digits = p;
    for (; p < end && sp_hang_digit(*p) && p - digits < 18; p++)
        row->count = row->count * 10 + (*p - '0');
    *text = sp_hang_trim((struct sp_span){p, (size_t)(end - p)});
    return p > digits && p < end && sp_hang_blank(*p) && text->n;
}

bool sp_sample_is_thread_row(struct sp_span line)
{
    struct sp_hang_row row;
    struct sp_span text;
    return row_split(line, &row, &text) && sp_hang_starts(text, "Thread_");
}

/* ---- adding ---- */

static bool row_begin_thread(struct sample_reader *r, const struct sp_sample_report_thread *t, int64_t count,
                             uint64_t line)
{
    struct sample_block b = {.rows = {.first = r->rows.n, .line = line}, .known = t};
    b.thread = t ? *t : (struct sp_sample_report_thread){.tid = SP_ABSENT};
    b.thread.samples = count;
    return sp_vec_push(&r->blocks, b);
}

static size_t row_digits(int64_t v)
{
    size_t n = 1;
    for (; v > 9; v /= 10)
        n++;
    return n;
}

static bool row_add(struct sample_reader *r, struct sp_hang_row row, struct sp_span text)
{
    struct sp_sample_report_thread t;
    bool placed = row.column != SP_HANG_NO_COLUMN;
    if ((placed && row.column <= FIRST_COLUMN) || !r->blocks.n ||
        (!placed && sp_hang_starts(text, "Thread_"))) {
        if (sp_sample_report_parse_thread(text, &t))
            return row_begin_thread(r, &t, row.count, row.line);
        sp_emit(r->d, SP_L511, SP_AT_LINE(row.line, SP_NOWHERE), "they are counted for the process alone");
        if (!row_begin_thread(r, NULL, row.count, row.line))
            return false;
    }
    bool imaged = memmem(text.p, text.n, "  (in ", 6), addressed = memmem(text.p, text.n, "  [0x", 5);
    r->imaged += imaged;
    r->bare += !imaged && !sp_hang_starts(text, "0x");
    r->addressed += imaged && addressed;
    r->unaddressed += imaged && !addressed;
    sp_hang_cut_note(&r->cut, row.column + row_digits(row.count) + 1 + text.n,
                     !addressed && !sp_hang_starts(text, "0x"));
    row.frame = sp_hang_text(&r->texts, text, false);
    return row.frame != SP_NONE && sp_vec_push(&r->rows, row);
}

/* Where another row begins in the same line: what stands before is one, or a thread. NULL: none does. */
static const char *row_second(struct sp_span s)
{
    enum { TRIES = 64 };
    size_t tries = 0;
    struct sp_hang_row row;
    struct sp_span text;
    for (const char *p = s.p, *end = s.p + s.n; p < end && (p = memchr(p, ' ', (size_t)(end - p))); p++) {
        struct sp_span rest = {p, (size_t)(end - p)}, left = {s.p, (size_t)(p - s.p)};
        struct sp_sample_report_frame f;
        if (!left.n || memchr(" +", p[-1], 2) || !row_split(rest, &row, &text) || row_is_lead(*text.p) ||
            sp_hang_starts(text, "[0x") || sp_hang_starts(text, "(in ") ||
            (!memmem(text.p, text.n, "  (in ", 6) && !sp_hang_starts(text, "Thread_")))
            continue;
        if (++tries > TRIES)
            break;
        sp_sample_report_parse_frame(left, &f);
        if (sp_hang_starts(s, "Thread_") || (f.image.p && (f.addresses.n || f.torn)))
            return p;
    }
    return NULL;
}

/* A row, and those that stand behind it in its line. Of the blanks before one of these the first stands for
 * the line end; fewer than all graphs have: the others are lost, and with them its column. */
static bool row_add_all(struct sample_reader *r, struct sp_hang_row row, struct sp_span text)
{
    for (const char *second; (second = row_second(text));) {
        struct sp_span next = {second, (size_t)(text.p + text.n - second)}, shown = sp_hang_trim(next);
        uint32_t line = row.line;
        sp_emit(r->d, SP_W521, SP_AT_LINE(line, SP_NOWHERE), "\"%.*s\"", (int)(shown.n > 60 ? 60 : shown.n),
                shown.p);
        text.n -= next.n;
        if (!row_add(r, row, text))
            return false;
        row_split(next, &row, &text);
        row.line = line;
        row.column = sp_hang_starts(next, "    ") ? row.column - row.column % 2 : SP_HANG_NO_COLUMN;
    }
    return row_add(r, row, text);
}

/* ---- rows that are wrapped ---- */

/* How much of a row, or of a thread's line, a text has: the more the better. */
static int row_parts(struct sp_span s, bool *torn)
{
    struct sp_sample_report_thread t;
    struct sp_sample_report_frame f;
    if (sp_sample_report_parse_thread(s, &t)) {
        *torn = true; /* names and labels hold anything */
        return (int)s.n;
    }
    sp_sample_report_parse_frame(s, &f);
    *torn = f.torn;
    return (f.image.p != NULL) + (f.offsets.n > 0) + (f.base.n > 0) + (f.addresses.n > 0) + (f.srcline.n > 0);
}

/* Parts of a row stand two blanks apart, which the line end took. */
static bool row_join(struct sample_reader *r, struct sp_span line)
{
    struct sp_hang_wrapped *w = &r->wrapped.is;
    struct sp_span text = sp_hang_trim(line);
    bool apart = sp_hang_starts(text, "(in ") || sp_hang_starts(text, "[0x") ||
                 sp_hang_starts(text, "load address ") || sp_hang_ends(w->text, "]");
    return sp_hang_wrapped_join(w, line, apart ? "  " : " ", text, row_parts, &r->buf, &r->joined);
}

static void row_say_odd(struct sample_reader *r, uint64_t number, struct sp_span line)
{
    sp_emit(r->d, SP_L510, SP_AT_LINE(number, SP_NOWHERE), "\"%.*s\"", (int)(line.n > 80 ? 80 : line.n),
            line.p);
}

bool sp_sample_settle_row(struct sample_reader *r)
{
    struct sample_wrapped w = r->wrapped;
    if (!w.row.line)
        return true;
    r->wrapped = (struct sample_wrapped){.row.line = 0};
    sp_hang_wrapped_say(&w.is, w.row.line, r->d);
    for (size_t i = w.is.whole_n; i < w.is.n; i++)
        row_say_odd(r, w.row.line + 1 + i, w.is.lines[i]);
    return row_add_all(r, w.row, w.is.whole);
}

/* Whether a line left of all rows belongs to the one above. */
static bool row_goes_on(const struct sample_reader *r, bool is_row, const struct sp_hang_row *row,
                        struct sp_span text)
{
    const struct sample_wrapped *w = &r->wrapped;
    bool torn, parts = is_row && memchr("([", *text.p, 2); /* "12  [0x1]" */
    if (!w->row.line || sp_hang_wrapped_is_full(&w->is) || w->row.column < FIRST_COLUMN ||
        row->column >= FIRST_COLUMN)
        return false;
    row_parts(w->is.text, &torn);
    return !is_row || parts ||
           (torn && !sp_hang_starts(text, "Thread_") && !memmem(text.p, text.n, "  [0x", 5));
}

bool sp_sample_graph_line(struct sample_reader *r, struct sp_span line)
{
    struct sp_hang_row row;
    struct sp_span text;
    if (!row_without_tabs(r, &line))
        return false;
    bool is_row = row_split(line, &row, &text);
    if (row_goes_on(r, is_row, &row, text))
        return row_join(r, line);
    if (!sp_sample_settle_row(r))
        return false;
    row.line = r->line > UINT32_MAX ? UINT32_MAX : (uint32_t)r->line;
    if (!is_row) {
        row_say_odd(r, r->line, line);
        return row.column != FIRST_COLUMN || row_begin_thread(r, NULL, 0, r->line);
    }
    r->wrapped = (struct sample_wrapped){.row = row, .is = {.text = text, .whole = text}};
    return true;
}
