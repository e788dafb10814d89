/* The lines of a summary, which people see in place of its tables. */
#include "ask/summary.h"

#include "analysis/short_name.h"
#include "ask/next.h"

/* Starts a line with its label. */
static struct sp_buf *say_label(struct sp_summary *x, const char *label)
{
    sp_buf_clear(&x->x.b);
    sp_buf_printf(&x->x.b, "%-*s", SP_LABEL_COLUMNS, label);
    return &x->x.b;
}

/* The line that was started, as many rows of the table as say it; t NULL: always. */
static void say_line(struct sp_summary *x, enum sp_line_style style, const struct sp_answer_table *t,
                     size_t least, size_t most)
{
    sp_answer_line_for(x->x.out, style, &x->x.b, t, least, most);
    sp_buf_clear(&x->x.b);
}

static void say_labelled(struct sp_summary *x)
{
    say_line(x, SP_LINE_LABEL, NULL, 0, SIZE_MAX);
}

static void say_title(struct sp_summary *x, const struct sp_answer_table *t, const char *title)
{
    sp_buf_clear(&x->x.b);
    sp_buf_puts(&x->x.b, title);
    say_line(x, SP_LINE_TITLE, t, 1, SIZE_MAX);
}

/* " 62.00%", at the right of its column. */
static void say_percent(struct sp_summary *x, int64_t v)
{
    struct sp_buf share;
    sp_buf_init(&share, 0);
    sp_text_share_of(&share, &x->x.s, v);
    sp_buf_printf(&x->x.b, "%6s%%", sp_buf_cstr(&share));
    x->x.b.failed |= share.failed;
    sp_buf_free(&share);
}

/* ---- what is said above ---- */

void sp_summary_say_incomplete(struct sp_summary *x)
{
    size_t i = 0;
    for (const struct sp_diag *g; (g = sp_summary_missing(x, &i));) {
        struct sp_buf *b = say_label(x, "incomplete");
        sp_buf_puts(b, g->message);
        if (g->line)
            sp_buf_printf(b, ", line %llu", (unsigned long long)g->line);
        if (*g->hint)
            sp_buf_printf(b, "; %s", g->hint);
        say_labelled(x);
    }
}

/* The rows that weigh something, which stand first. */
static size_t say_weighty(const struct sp_top *top)
{
    size_t n = 0;
    while (n < top->rows.n && top->rows.v[n].self)
        n++;
    return n ? n : top->rows.n;
}

/* A line for each number of rows that there may be room for; what weighs nothing is not named. */
void sp_summary_say_shares(struct sp_summary *x, const char *label, const struct sp_top *top,
                           const struct sp_answer_table *t)
{
    size_t all = say_weighty(top), most = t && t->rows < all ? t->rows : all;
    for (size_t n = 1; t && n <= most; n++) {
        struct sp_buf *b = say_label(x, label);
        for (size_t i = 0; i < n; i++) {
            struct sp_str name = sp_str_at(&top->names, top->rows.v[i].name);
            name = top == &x->dsos ? sp_short_dso(name.p, name.n) : name;
            sp_buf_puts(b, i ? ", " : "");
            sp_buf_add(b, name.p, name.n);
            sp_buf_ch(b, ' ');
            sp_text_share_of(b, &x->x.s, top->rows.v[i].self);
            sp_buf_ch(b, '%');
        }
        if (all > n)
            sp_buf_printf(b, ", %zu more", all - n);
        say_line(x, SP_LINE_LABEL, t, n, n == most ? SIZE_MAX : n);
    }
}

/* Why names are missing, and what would bring them: in the symbolizer's words, where there is a report. */
static void say_reason(struct sp_summary *x)
{
    const struct sp_diags *d = x->x.q->diags;
    const struct sp_diag *why = NULL;
    for (size_t i = 0; x->quality.frames_unresolved && !why && i < d->list.n; i++)
        why = d->list.v[i].code == SP_I320 ? &d->list.v[i] : NULL;
    if (!why)
        return;
    if (d->count[SP_I320] == 1)
        sp_answer_tells(x->x.out, SP_I320);
    sp_buf_puts(say_label(x, "  because"), why->message);
    say_labelled(x);
    if (!*why->hint)
        return;
    sp_buf_puts(say_label(x, "  hint"), why->hint);
    say_labelled(x);
}

static void say_losses(struct sp_summary *x)
{
    struct sp_buf losses;
    sp_buf_init(&losses, 0);
    sp_losses_text(&losses, &x->quality);
    if (losses.len) {
        sp_buf_puts(say_label(x, "losses"), sp_buf_cstr(&losses));
        say_labelled(x);
    }
    x->x.b.failed |= losses.failed;
    sp_buf_free(&losses);
}

void sp_summary_say_quality(struct sp_summary *x)
{
    enum { DSOS = 3 };
    const struct sp_quality *q = &x->quality;
    if (!q->unresolved_leaf) { /* nothing to say */
        say_losses(x);
        return;
    }
    struct sp_buf *b = say_label(x, "unresolved");
    sp_text_share_of(b, &x->x.s, q->unresolved_leaf);
    sp_buf_puts(b, "% of weight has no function name");
    for (size_t i = 0; i < q->dsos.list.n && i < DSOS; i++) {
        struct sp_str name = sp_dso_name(x->x.s.profile, q->dsos.list.v[i].dso);
        name = sp_short_dso(name.p, name.n);
        sp_buf_puts(b, i ? ", " : ": ");
        sp_buf_add(b, name.p, name.n);
        sp_buf_ch(b, ' ');
        sp_text_share_of(b, &x->x.s, q->dsos.list.v[i].weight);
        sp_buf_ch(b, '%');
    }
    say_labelled(x);
    say_reason(x);
    say_losses(x);
}

/* ---- functions ---- */

/* " (of it 55.00% in std::map, malloc, memcpy)", where it calls anything that weighs. */
static void say_beneath(struct sp_summary *x, bool own, const struct sp_own_sum *sum)
{
    struct sp_buf *b = &x->x.b;
    if (!sum->n || sum->beneath <= 0 || x->x.s.cannot_add)
        return;
    sp_buf_puts(b, own ? " (of it " : " (");
    if (own)
        sp_text_share_of(b, &x->x.s, sum->beneath);
    sp_buf_puts(b, own ? "% in " : "in ");
    for (size_t i = 0; i < sum->n && i < SP_SUMMARY_CALLEES; i++) {
        struct sp_str name = sp_str_at(&x->fold.names, x->fold.callees.v[sum->first + i].name);
        sp_buf_puts(b, i ? ", " : "");
        sp_buf_add(b, name.p, name.n);
    }
    sp_buf_puts(b, sum->n > SP_SUMMARY_CALLEES ? ", …)" : ")");
}

static void say_hot(struct sp_summary *x, const struct sp_own_row *r, bool bounds, size_t row)
{
    const struct sp_profile *p = x->x.s.profile;
    struct sp_buf *b = &x->x.b;
    sp_buf_puts(b, "  ");
    say_percent(x, r->sum.weight);
    sp_buf_puts(b, " ");
    say_percent(x, r->total);
    if (bounds) {
        sp_buf_puts(b, " ");
        say_percent(x, r->at_most == SP_ABSENT ? r->total : r->at_most);
    }
    sp_buf_puts(b, "  ");
    sp_said_text(b, &x->names, &x->x, r->function);
    if (r->function != SP_NONE) {
        struct sp_str dso = sp_dso_name(p, p->functions.v[r->function].dso);
        dso = sp_short_dso(dso.p, dso.n);
        sp_buf_puts(b, "  ");
        sp_buf_add(b, dso.p, dso.n);
    }
    if (sp_summary_is_irq(x, r->function))
        sp_buf_puts(b, " [irq-enable]");
    say_beneath(x, r->function != SP_NONE, &r->sum);
    say_line(x, SP_LINE_ITEM, x->hot, row + 1, SIZE_MAX);
}

void sp_summary_say_hot(struct sp_summary *x)
{
    bool bounds = sp_chains_tell(&x->x.s) && x->x.s.kept == x->x.s.whole, all = x->x.own.all;
    say_title(x, x->hot,
              all && bounds ? "hot functions (self, total at least, at most): none is known to be the "
                              "program's own, so all are"
              : all         ? "hot functions (self, total): none is known to be the program's own, so all are"
              : bounds
                  ? "hot functions of the program (self with library calls beneath, total at least, at most)"
                  : "hot functions of the program (self with library calls beneath, total)");
    for (size_t i = 0; x->hot && i < x->hot->rows; i++)
        say_hot(x, &x->fold.rows.v[i], bounds, i);
}

void sp_summary_say_path(struct sp_summary *x)
{
    say_title(x, x->path,
              x->fold.whole_path ? "heaviest path (no function of the program's own has 10 %)"
                                 : "heaviest path");
    for (size_t i = 0; x->path && i < x->path->rows; i++) {
        const struct sp_own_step *step = &x->fold.steps[i];
        sp_buf_puts(&x->x.b, "  ");
        say_percent(x, step->total);
        sp_buf_puts(&x->x.b, "  ");
        sp_said_text(&x->x.b, &x->names, &x->x, step->function);
        if (step->times > 1)
            sp_buf_printf(&x->x.b, "  (%u times)", step->times);
        say_beneath(x, true, &step->sum);
        say_line(x, SP_LINE_ITEM, x->path, i + 1, SIZE_MAX);
    }
}

/* ---- what to look at ---- */

void sp_summary_say_finding(struct sp_summary *x, const struct sp_finding *f, size_t row)
{
    if (!row)
        say_title(x, x->found, "findings");
    sp_buf_puts(&x->x.b, "  ");
    sp_finding_text(&x->x.b, &x->x, &x->names, f);
    say_line(x, SP_LINE_ITEM, x->found, row + 1, SIZE_MAX);
    sp_buf_puts(&x->x.b, "      ");
    sp_finding_command(&x->x.b, &x->x, f);
    say_line(x, SP_LINE_COMMAND, x->found, row + 1, SIZE_MAX);
}

void sp_summary_say_next(struct sp_summary *x)
{
    const struct sp_ask *q = x->x.q;
    say_title(x, NULL, "next");
    for (size_t i = 0; i < x->x.out->next.n; i++) {
        const struct sp_next *next = &x->x.out->next.v[i];
        sp_buf_puts(&x->x.b, "  ");
        sp_command_text(&x->x.b, next, q->names, q->nnames, q->options, sp_next_groups(next->question));
        say_line(x, SP_LINE_COMMAND, NULL, 0, SIZE_MAX);
    }
}
