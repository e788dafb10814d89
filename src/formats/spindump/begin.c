/*
 * Where threads begin, and processes whose line is damaged: the line of a thread that is wrapped, or holds
 * its first row; a first process that has to be told from the header by what stands below.
 */
#include "formats/spindump/report.h"

#include <string.h>

/* A thread that the text begins with: a part of a report. */
static bool begin_is_pasted(const struct spindump_reader *r, const struct sp_spindump_thread *t)
{
    return r->zone == SPINDUMP_HEADER && !r->processes && !r->fields.len && t->nsamples >= 0;
}

/* ---- a first process whose line is damaged ---- */

void sp_spindump_note_group(struct spindump_reader *r, struct sp_span line)
{
    if (r->after_blank || !r->group.at)
        r->group = (struct spindump_group){line.p, r->line, r->fields.len};
}

/* Fields that the header has none of. */
static bool begin_is_of_process(struct sp_span line)
{
    static const char *const keys[] = {"UUID:",       "Footprint:",   "Parent:",     "Time Since Fork:",
                                       "Start time:", "Num samples:", "Identifier:", "UID:"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_hang_starts(line, keys[i]))
            return true;
    return false;
}

static struct sp_span begin_line_at(const char *p, const char *end)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    struct sp_span line = {p, (size_t)((nl ? nl : end) - p)};
    while (line.n && (line.p[line.n - 1] == '\r' || sp_hang_blank(line.p[line.n - 1])))
        line.n--;
    return line;
}

/* The lines above, since the last blank one, were read as fields of the header: of a process they are its
 * own, but for the first, which is damaged. *whole: they are. */
static void begin_take_back(struct spindump_reader *r, const char *end, bool *taken)
{
    struct sp_span line;
    *taken = false;
    for (const char *p = r->group.at; p && p < end; p = line.p + line.n + 1) {
        line = begin_line_at(p, r->end);
        *taken = *taken || begin_is_of_process(line);
    }
    if (*taken)
        r->fields.len = r->group.fields;
}

/* Above a thread or a row stands the header, and no process: the line of the first is damaged. */
static spaa_status begin_damaged_process(struct spindump_reader *r, struct sp_span line)
{
    bool taken;
    struct sp_span first = r->group.at ? begin_line_at(r->group.at, r->end) : (struct sp_span){line.p, 0},
                   field;
    begin_take_back(r, line.p, &taken);
    sp_emit(r->d, SP_L525,
            taken ? SP_AT_LINE(r->group.line, (uint64_t)(first.p - r->start)) : sp_spindump_here(r, line.p),
            taken ? "\"%.*s\"" : "it is not there: threads follow the header",
            (int)(first.n > 80 ? 80 : first.n), first.p);
    spaa_status st = sp_spindump_begin_process(r, (struct sp_span){line.p, 0}, false);
    if (st || !taken)
        return st;
    sp_hang_item(&r->not_understood, first);
    for (const char *p = first.p + first.n + 1; p < line.p; p = field.p + field.n + 1) {
        field = begin_line_at(p, r->end);
        if (field.n)
            sp_spindump_process_line(r, field);
    }
    return r->not_understood.failed ? sp_nomem(r->d) : SPAA_OK;
}

spaa_status sp_spindump_row_without_process(struct spindump_reader *r, struct sp_span line)
{
    bool lost = r->zone == SPINDUMP_HEADER && !r->processes && r->fields.len && sp_spindump_is_row(line);
    return lost ? begin_damaged_process(r, line) : SPAA_OK;
}

/* ---- the line of a thread ---- */

/* How many of its parts a line has. */
static int begin_parts(const struct sp_spindump_thread *t)
{
    const struct sp_span *const parts[] = {&t->queue, &t->name, &t->samples,  &t->range,     &t->priority,
                                           &t->base,  &t->ios,  &t->cpu_time, &t->idle_time, &t->last_ran};
    int n = t->rest.n ? -1 : 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        n += parts[i]->n > 0;
    return n;
}

/* Whether a part of it goes on in the line below: quotes or a group are open there, or one begins, or nothing
 * but words that name a part stand there. */
static bool begin_goes_on(struct sp_span head, struct sp_span text)
{
    static const char *const words[] = {"DispatchQueue", "Thread name", "priority", "ago",
                                        "cpu time",      "idle time",   "last ran"};
    size_t opened = 0, closed = 0, quotes = 0;
    for (size_t i = 0; i < head.n; i++) {
        opened += head.p[i] == '(';
        closed += head.p[i] == ')';
        quotes += head.p[i] == '"';
    }
    if (opened > closed || quotes % 2 || *text.p == '(' || *text.p == '<')
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sp_span_is(text, words[i]))
            return true;
    return false;
}

/* A count, and apart from it a name: "391  h (app)" is a row of the tree, though 391 h would be a time. */
static bool begin_counts(struct sp_span text)
{
    size_t n = 0;
    while (n < text.n && text.p[n] >= '0' && text.p[n] <= '9')
        n++;
    return n && n + 1 < text.n && text.p[n] == ' ' && text.p[n + 1] == ' ';
}

spaa_status sp_spindump_thread_end(struct spindump_reader *r, struct sp_span line, bool *taken)
{
    enum { LONGEST = 4096 };
    struct sp_span head = r->thread_line, text = sp_hang_trim(line), joined;
    struct sp_spindump_thread before, after;
    *taken = false;
    r->thread_line.n = 0;
    if (!head.n || !text.n || head.n + text.n > LONGEST || memmem(text.p, text.n, " [0", 3) ||
        sp_spindump_begins_annotation(text) || *text.p == '*' || begin_counts(text) ||
        sp_hang_starts(text, "Thread 0x"))
        return SPAA_OK;
    sp_buf_clear(&r->buf);
    sp_buf_add(&r->buf, head.p, head.n);
    sp_buf_ch(&r->buf, ' ');
    sp_buf_add(&r->buf, text.p, text.n);
    joined = (struct sp_span){r->buf.failed ? NULL : sp_arena_dup(&r->joined, r->buf.data, r->buf.len),
                              r->buf.len};
    if (!joined.p)
        return sp_nomem(r->d);
    *taken = sp_spindump_parse_thread(head, &before) && sp_spindump_parse_thread(joined, &after) &&
             (begin_parts(&after) > begin_parts(&before) || begin_goes_on(head, text));
    if (!*taken)
        return SPAA_OK;
    sp_emit(r->d, SP_W523, sp_spindump_here(r, line.p), "\"%.*s\"", (int)(text.n > 60 ? 60 : text.n), text.p);
    r->blocks.v[r->blocks.n - 1].thread = after;
    r->thread_line = joined;
    return SPAA_OK;
}

/* The first row of a thread in its line. */
static spaa_status begin_first_row(struct spindump_reader *r, struct sp_span row)
{
    bool taken;
    row = sp_hang_trim(row);
    sp_emit(r->d, SP_W521, sp_spindump_here(r, row.p), "\"%.*s\"", (int)(row.n > 60 ? 60 : row.n), row.p);
    spaa_status st = sp_spindump_row(r, row, &taken);
    r->first_column = r->wrapped.row.column = SP_HANG_NO_COLUMN;
    return st;
}

/* A line of a thread that its process had already, above other rows: the text was put together of pieces,
 * and it is not known which rows are the thread's. */
static bool begin_is_again(struct spindump_reader *r, struct sp_span head, const struct sp_spindump_thread *t)
{
    bool again = false, ok = t->tid == SP_ABSENT || t->nsamples < 0 ||
                             sp_hang_repeats_add(&r->thread_lines, head.p, head.p + head.n, r->stamp, &again);
    if (again)
        sp_emit(r->d, SP_W516, sp_spindump_here(r, head.p),
                "the line of thread %.*s stands there again, above other rows: both count for it",
                (int)t->id.n, t->id.p);
    return ok;
}

spaa_status sp_spindump_thread_line(struct spindump_reader *r, struct sp_span line, struct sp_span text,
                                    bool *taken)
{
    struct sp_spindump_thread t;
    const char *row = sp_hang_starts(text, "Thread ") ? sp_spindump_row_behind(text) : NULL;
    struct sp_span head = {text.p, row ? (size_t)(row - text.p) : text.n};
    *taken = sp_hang_starts(head, "Thread ") && sp_spindump_parse_thread(head, &t);
    bool pasted = *taken && begin_is_pasted(r, &t), damaged = *taken && r->zone == SPINDUMP_HEADER &&
                                                              !r->processes && r->fields.len &&
                                                              (t.nsamples >= 0 || r->begin.p);
    *taken = *taken && (r->in_process || pasted || damaged);
    if (!*taken)
        return SPAA_OK;
    spaa_status st = pasted    ? sp_spindump_begin_process(r, (struct sp_span){line.p, 0}, false)
                     : damaged ? begin_damaged_process(r, line)
                               : SPAA_OK;
    if (!st && (!begin_is_again(r, head, &t) || !sp_spindump_begin_thread(r, &t)))
        st = sp_nomem(r->d);
    r->thread_column = sp_spindump_indent(r->tab, line);
    if (!st && row)
        return begin_first_row(r, sp_hang_after(text, head.n));
    r->thread_line = head;
    return st;
}
