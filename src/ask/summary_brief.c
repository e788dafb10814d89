/*
 * The brief: what a summary says to people and agents, within a budget. Its parts, the most important last to
 * be left out: the answer and the next command, which always stand; warnings; findings; own functions; what
 * cannot be known.
 */
#include "ask/summary.h"

#include "answer/text.h"
#include "ask/next.h"
#include "ask/usage.h"

#include <limits.h>

enum {
    BRIEF_TOKENS = 600,
    BRIEF_TOKEN_BYTES = 3,
    BRIEF_LINES = 40,
    BRIEF_COLUMNS = 120,
    BRIEF_NOTE = 220,
    BRIEF_INDENT = 8 /* of what goes on in a further line, and its end */
};

struct brief_line {
    enum sp_line_style style;
    size_t at, n;
};

/* How much of each part there is. */
struct brief_size {
    size_t cautions, findings, rows, leaks, unknowns, notes, details;
};

struct brief {
    struct sp_summary *x;
    struct brief_size size;
    struct sp_buf text;
    SP_VEC(struct brief_line) lines;
    size_t bytes, shown, findings; /* lines as they are shown; findings that have lines */
    size_t number;                 /* of the finding that is told; 0: none was yet */
    bool first, failed;
};

static void brief_take(void *arg, enum sp_line_style style, const struct sp_buf *line)
{
    struct brief *b = arg;
    struct brief_line l = {style, b->text.len, line->len};
    size_t more = line->len > BRIEF_COLUMNS ? line->len / (BRIEF_COLUMNS - BRIEF_INDENT) : 0;
    b->failed = b->failed || line->failed || !sp_buf_add(&b->text, line->data ? line->data : "", line->len) ||
                !sp_vec_push(&b->lines, l);
    b->bytes += line->len + 1 + more * BRIEF_INDENT;
    b->shown += 1 + more;
}

static void brief_finding(void *arg, const struct sp_buf *line)
{
    struct brief *b = arg;
    if (b->first)
        b->findings++;
    if (b->findings <= b->size.findings)
        brief_take(b, b->first ? SP_LINE_STRONG : SP_LINE_ITEM, line);
    b->first = false;
}

/* ---- the parts ---- */

static void brief_head(struct brief *b)
{
    struct sp_summary *x = b->x;
    struct sp_buf *line = &x->x.b;
    const struct sp_selection *s = &x->x.s;
    if (x->hang.known) {
        sp_summary_hang_lines(x, b->size.details, brief_take, b);
    } else {
        sp_buf_clear(line);
        sp_summary_head_text(line, x);
        brief_take(b, SP_LINE_HEAD, line);
    }
    sp_buf_clear(line);
    sp_states_text(line, s);
    if (line->len)
        brief_take(b, SP_LINE_PLAIN, line);
    sp_buf_clear(line);
    if (!sp_summary_shows_own(x)) /* nothing below is of what they keep */
        return;
    if (s->filters.len || s->kept != s->event_whole)
        sp_kept_text(line, s, "of it: ");
    if (line->len)
        brief_take(b, SP_LINE_PLAIN, line);
    sp_buf_clear(line);
    sp_summary_memory_rest(line, x);
    if (line->len)
        brief_take(b, SP_LINE_PLAIN, line);
    sp_buf_clear(line);
    if (x->fields) {
        sp_buf_printf(line, "%s: %s", x->counted, x->fields);
        brief_take(b, SP_LINE_PLAIN, line);
    }
    sp_buf_clear(line);
    if (x->waits.reasons) {
        sp_buf_printf(line, "waited: %s", x->waits.reasons);
        brief_take(b, SP_LINE_PLAIN, line);
    }
    sp_buf_clear(line);
    if (x->waits.most) {
        sp_buf_printf(line, "most of it: %s%s", x->waits.most,
                      !sp_is_off_cpu(&x->x.s) ? " (spaa waits)" : "");
        brief_take(b, SP_LINE_PLAIN, line);
    }
    sp_buf_clear(line);
}

static void brief_cautions(struct brief *b)
{
    struct sp_buf *line = &b->x->x.b;
    size_t n = 0;
    for (size_t i = 0; i < b->x->cautions.n; i++) {
        const struct sp_caution *c = &b->x->cautions.v[i];
        if (!c->title || n++ >= b->size.cautions)
            continue;
        sp_buf_clear(line);
        sp_buf_printf(line, "! %s: %s", c->title, c->statement);
        brief_take(b, SP_LINE_WARNING, line);
    }
    sp_buf_clear(line);
    struct sp_quality q = b->x->quality; /* what no warning says */
    for (size_t i = 0; i < b->x->cautions.n; i++) {
        q.lost = strcmp(b->x->cautions.v[i].id, "lost") == 0 ? 0 : q.lost;
        q.truncated = strcmp(b->x->cautions.v[i].id, "cut") == 0 ? 0 : q.truncated;
    }
    sp_buf_puts(line, "losses: ");
    size_t label = line->len;
    sp_losses_text(line, &q);
    if (line->len > label)
        brief_take(b, SP_LINE_PLAIN, line);
    sp_buf_clear(line);
}

static void brief_findings(struct brief *b)
{
    struct sp_summary *x = b->x;
    const struct sp_findings *all = &x->findings;
    struct sp_buf beneath;
    b->findings = 0;
    if (x->hang.known) /* they are about time of CPUs */
        return;
    for (size_t i = 0; i < all->list.n; i++) {
        b->first = true;
        if (sp_finding_is_rule(all->list.v[i].kind))
            sp_finding_lines(&x->x, &x->names, all, i, (unsigned)b->findings + 1, brief_finding, b);
        else if (all->list.v[i].kind == SP_FIND_WAIT && !x->cpu)
            sp_finding_lines(&x->x, &x->names, all, i, 0, brief_finding, b);
    }
    sp_buf_init(&beneath, 0);
    sp_finding_beneath(&beneath, &x->x, &x->names, all);
    if (beneath.len && b->size.findings)
        brief_take(b, SP_LINE_ITEM, &beneath);
    b->failed = b->failed || beneath.failed;
    sp_buf_free(&beneath);
}

static void brief_unknowns(struct brief *b)
{
    struct sp_buf *line = &b->x->x.b;
    size_t n = 0;
    for (size_t i = 0; i < b->x->cautions.n; i++) {
        const struct sp_caution *c = &b->x->cautions.v[i];
        if (c->title || n++ >= b->size.unknowns)
            continue;
        sp_buf_clear(line);
        sp_buf_printf(line, "cannot know: %s%s%s", c->statement, c->settle ? "; settle it: " : "",
                      c->settle ? c->settle : "");
        brief_take(b, SP_LINE_ITEM, line);
    }
    sp_buf_clear(line);
}

/* Warnings of readers, one of each kind; what they explain is for --verbose. */
static bool brief_is_note(const struct sp_summary *x, size_t i)
{
    const struct sp_diags *d = x->x.q->diags;
    const struct sp_answer *a = x->x.out;
    const struct sp_diag *one = &d->list.v[i];
    bool note = one->severity == SP_WARNING && !x->x.q->options->quiet && !x->x.q->options->verbose;
    for (size_t k = 0; note && k < i; k++)
        note = d->list.v[k].code != one->code;
    for (size_t k = 0; note && k < a->told.n; k++)
        note = a->told.v[k] != one->code;
    return note;
}

static void brief_notes(struct brief *b)
{
    const struct sp_diags *d = b->x->x.q->diags;
    struct sp_buf *line = &b->x->x.b;
    size_t n = 0;
    for (size_t i = 0; i < d->list.n; i++) {
        const struct sp_diag *one = &d->list.v[i];
        if (!brief_is_note(b->x, i) || n++ >= b->size.notes)
            continue;
        sp_buf_clear(line);
        sp_buf_printf(line, "warning: %s [%s]", one->message, sp_code_info(one->code)->name);
        if (sp_text_width(line->data, line->len) > BRIEF_NOTE) {
            line->len = sp_text_within(line->data, line->len, BRIEF_NOTE);
            sp_buf_puts(line, "… (--verbose)");
        } else if (d->count[one->code] > 1)
            sp_buf_printf(line, ", and %llu more (--verbose)", (unsigned long long)(d->count[one->code] - 1));
        brief_take(b, SP_LINE_ITEM, line);
    }
    sp_buf_clear(line);
}

static size_t brief_count_notes(const struct sp_summary *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->x.q->diags->list.n; i++)
        n += brief_is_note(x, i);
    return n;
}

static size_t brief_count(const struct sp_summary *x, bool titled)
{
    size_t n = 0;
    for (size_t i = 0; i < x->cautions.n; i++)
        n += (x->cautions.v[i].title != NULL) == titled;
    return n;
}

/* What the budget took. */
static void brief_cut(struct brief *b, const struct brief_size *whole)
{
    struct sp_buf *line = &b->x->x.b;
    const struct {
        size_t n;
        const char *noun;
    } parts[] = {{whole->cautions - b->size.cautions, "warning"},
                 {b->findings > b->size.findings ? b->findings - b->size.findings : 0, "finding"},
                 {whole->rows - b->size.rows, "function"},
                 {whole->leaks - b->size.leaks, "leak"},
                 {whole->notes - b->size.notes, "note"},
                 {whole->details - b->size.details, "detail"},
                 {whole->unknowns - b->size.unknowns, "what cannot be known"}};
    const char *between = "not shown: ";
    sp_buf_clear(line);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].n)
            continue;
        sp_buf_puts(line, between);
        if (i + 1 == sizeof parts / sizeof *parts)
            sp_buf_puts(line, parts[i].noun);
        else
            sp_text_count(line, parts[i].n, parts[i].noun);
        between = ", ";
    }
    if (line->len) {
        sp_buf_puts(line, " (a larger --budget)");
        brief_take(b, SP_LINE_ITEM, line);
    }
    sp_buf_clear(line);
}

static void brief_next(struct brief *b)
{
    struct sp_summary *x = b->x;
    const struct sp_ask *q = x->x.q;
    struct sp_buf *line = &x->x.b;
    for (size_t i = 0; i < x->x.out->next.n && (!i || !x->memory.known); i++) {
        const struct sp_next *next = &x->x.out->next.v[i];
        sp_buf_clear(line);
        sp_buf_puts(line, "next: ");
        sp_command_text(line, next, q->names, q->nnames, q->options, sp_next_groups(next->question));
        brief_take(b, SP_LINE_COMMAND, line);
    }
    sp_buf_clear(line);
    if (x->memory.known)
        sp_summary_memory_also(line, x);
    if (line->len)
        brief_take(b, SP_LINE_PLAIN, line);
    sp_buf_clear(line);
}

static void brief_compose(struct brief *b, const struct brief_size *whole)
{
    sp_buf_clear(&b->text);
    b->lines.n = b->bytes = b->shown = 0;
    brief_head(b);
    brief_cautions(b);
    brief_findings(b);
    if (b->x->memory.known) {
        sp_summary_memory_own(b->x, b->size.rows, brief_take, b);
        sp_summary_memory_leaks(b->x, b->size.leaks, brief_take, b);
    } else if (sp_summary_shows_own(b->x) && (b->size.rows || !whole->rows)) {
        sp_summary_own_lines(b->x, b->size.rows, brief_take, b);
    }
    brief_unknowns(b);
    brief_notes(b);
    brief_cut(b, whole);
    brief_next(b);
}

/* ---- what a budget leaves ---- */

/* One step less; false: nothing is left to leave out. */
static bool brief_less(struct brief_size *s)
{
    enum { ROWS = 3, FINDINGS = 2, DETAILS = 3 };
    size_t *what = s->notes > 1             ? &s->notes
                   : s->leaks > ROWS        ? &s->leaks
                   : s->rows > ROWS         ? &s->rows
                   : s->notes               ? &s->notes
                   : s->findings > FINDINGS ? &s->findings
                   : s->rows > 1            ? &s->rows
                   : s->unknowns > 1        ? &s->unknowns
                   : s->details > DETAILS   ? &s->details
                   : s->unknowns            ? &s->unknowns
                   : s->leaks > 1           ? &s->leaks
                   : s->rows                ? &s->rows
                   : s->leaks               ? &s->leaks
                   : s->findings            ? &s->findings
                   : s->details             ? &s->details
                   : s->cautions            ? &s->cautions
                                            : NULL;
    if (what)
        --*what;
    return what;
}

static bool brief_fits(struct brief *b, const struct brief_size *whole, size_t bytes, size_t lines)
{
    brief_compose(b, whole);
    return b->failed || (b->bytes <= bytes && b->shown <= lines);
}

/* Less of the least important until it fits; then more of what is small enough for the room that is left. */
static void brief_fit(struct brief *b, const struct brief_size *whole, size_t bytes, size_t lines)
{
    while (!brief_fits(b, whole, bytes, lines) && brief_less(&b->size))
        continue;
    const struct {
        size_t *is, most;
    } parts[] = {{&b->size.cautions, whole->cautions}, {&b->size.details, whole->details},
                 {&b->size.findings, whole->findings}, {&b->size.rows, whole->rows},
                 {&b->size.leaks, whole->leaks},       {&b->size.unknowns, whole->unknowns},
                 {&b->size.notes, whole->notes}};
    for (size_t i = 0; !b->failed && i < sizeof parts / sizeof *parts; i++) {
        while (*parts[i].is < parts[i].most) {
            ++*parts[i].is;
            if (brief_fits(b, whole, bytes, lines))
                continue;
            --*parts[i].is;
            break;
        }
    }
    brief_compose(b, whole);
}

spaa_status sp_summary_brief(struct sp_summary *x)
{
    struct brief b = {.x = x};
    long tokens;
    if (!sp_option_number(x->x.q->diags, "budget", x->x.q->options->budget, 1, LONG_MAX / 4, BRIEF_TOKENS,
                          &tokens))
        return SPAA_ERR_USAGE;
    size_t most = (size_t)tokens * BRIEF_TOKEN_BYTES;
    size_t lines = x->x.q->options->budget ? SIZE_MAX : BRIEF_LINES;
    sp_buf_init(&b.text, 0);
    b.size = (struct brief_size){brief_count(x, true),
                                 SIZE_MAX,
                                 x->memory.known           ? x->memory.nowners
                                 : sp_summary_shows_own(x) ? x->calls.n
                                                           : 0,
                                 x->memory.nleaks,
                                 brief_count(x, false),
                                 brief_count_notes(x),
                                 x->hang.known ? sp_summary_hang_details(x) : 0};
    struct brief_size whole = b.size;
    brief_compose(&b, &whole);
    whole.findings = b.size.findings = b.findings;
    brief_fit(&b, &whole, most, lines);
    struct sp_buf line;
    sp_buf_init(&line, 0);
    for (size_t i = 0; i < b.lines.n; i++) {
        sp_buf_clear(&line);
        sp_buf_add(&line, b.text.data + b.lines.v[i].at, b.lines.v[i].n);
        sp_answer_line_of(x->x.out, b.lines.v[i].style, &line);
    }
    for (size_t i = 0; i < x->x.q->diags->list.n; i++) /* said here, or for --verbose */
        sp_answer_tells(x->x.out, x->x.q->diags->list.v[i].code);
    x->x.out->failed |= b.failed || b.text.failed || line.failed;
    sp_buf_free(&line);
    sp_buf_free(&b.text);
    sp_vec_free(&b.lines);
    return SPAA_OK;
}
