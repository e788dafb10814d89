/* What whatif says to people. */
#include "ask/whatif_words.h"

#include "base/num.h"

static void whatif_weight(struct sp_whatif_question *x, int64_t v)
{
    sp_text_weight(&x->x->b, x->x->s.unit, x->x->s.scale, v);
}

/* " (÷ 1.92", " (× 1.30", " (as before": what becomes of the whole. */
static void whatif_times(struct sp_buf *b, int64_t before, int64_t after)
{
    char t[64];
    if (before == after || !before) {
        sp_buf_puts(b, "as before");
    } else if (!after) {
        sp_buf_puts(b, "nothing is left");
    } else {
        bool less = after < before;
        sp_scaled_text(sp_ratio(less ? before : after, less ? after : before, 100), 2, t);
        sp_buf_printf(b, "%s %s", less ? "÷" : "×", t);
    }
}

/* "CPU", or which metric of which event. */
static void whatif_what(struct sp_whatif_question *x)
{
    const struct sp_profile *p = x->x->s.profile;
    struct sp_str event = sp_pstr(p, p->events.v[x->x->s.event].name);
    struct sp_str metric = sp_pstr(p, p->metrics.v[x->x->s.metric].name);
    if (x->cpu)
        sp_buf_puts(&x->x->b, "CPU ");
    else
        sp_buf_printf(&x->x->b, "%.*s of %.*s ", (int)metric.n, metric.p, (int)event.n, event.p);
}

static void whatif_names(struct sp_whatif_question *x)
{
    struct sp_buf *b = &x->x->b;
    for (size_t i = 0; i < x->changes.list.n; i++) {
        const struct sp_change *c = &x->changes.list.v[i];
        sp_buf_puts(b, i ? ", " : ": ");
        if (c->self)
            sp_buf_puts(b, "self of ");
        if (c->functions.n > 1)
            sp_buf_printf(b, "%s (%zu functions)", x->changes.names.v[i], c->functions.n);
        else
            sp_said_text(b, &x->said, x->x, c->functions.first);
        sp_buf_ch(b, ' ');
        sp_change_words(b, c);
    }
}

/* The answer: "CPU 2.30 s -> 1.20 s at least (÷ 1.92 at most): validate 2× as fast". */
void sp_whatif_say_head(struct sp_whatif_question *x)
{
    struct sp_buf *b = &x->x->b;
    const struct sp_whatif *w = &x->w;
    bool low = w->least != SP_ABSENT && w->least < w->after,
         high = w->most != SP_ABSENT && w->most > w->after;
    bool faster = w->after < w->before && !w->bounds;
    sp_buf_clear(b);
    whatif_what(x);
    whatif_weight(x, w->before);
    sp_buf_puts(b, " → ");
    if (low || high) {
        whatif_weight(x, low ? w->least : w->after);
        sp_buf_puts(b, " … ");
    }
    whatif_weight(x, high ? w->most : w->after);
    sp_buf_puts(b, faster ? " at least (" : " (");
    if (low || high) {
        whatif_times(b, w->before, low ? w->least : w->after);
        sp_buf_puts(b, " … ");
    }
    whatif_times(b, w->before, high ? w->most : w->after);
    sp_buf_puts(b, faster ? " at most)" : ")");
    whatif_names(x);
    sp_answer_line_of(x->x->out, SP_LINE_HEAD, b);
}

/* How sure that is, of samples; and the end that is shown where callers are missing. */
void sp_whatif_say_doubt(struct sp_whatif_question *x)
{
    struct sp_buf *b = &x->x->b;
    const struct sp_whatif *w = &x->w;
    sp_buf_clear(b);
    if (w->sampled) {
        sp_buf_puts(b, "with 95 % confidence, by sampling: ");
        whatif_weight(x, w->sure_lo);
        sp_buf_puts(b, " … ");
        whatif_weight(x, w->sure_hi);
    }
    if (w->bounds) {
        sp_buf_puts(b, b->len ? "; " : "");
        whatif_weight(x, w->after);
        sp_buf_puts(b, w->least == SP_ABSENT || w->most == SP_ABSENT
                           ? " is what stacks show; filters hide how much more may be theirs"
                           : " is what stacks show, the other end if all that lack callers are theirs");
    }
    if (b->len)
        sp_answer_line_buf(x->x->out, b);
}

void sp_whatif_say_wall(struct sp_whatif_question *x, struct sp_str before, struct sp_str after,
                        int64_t least)
{
    struct sp_buf *b = &x->x->b;
    sp_buf_clear(b);
    sp_buf_puts(b, "wall time: at least the ");
    whatif_weight(x, least);
    if (x->w.threads.rows.rows.n == 1) {
        sp_buf_puts(b, " of its one thread");
    } else {
        sp_buf_puts(b, " of the busiest thread then, ");
        sp_buf_add(b, after.p, after.n);
        if (sp_str_cmp(before, after) != 0) {
            sp_buf_puts(b, " (now ");
            sp_buf_add(b, before.p, before.n);
            sp_buf_ch(b, ')');
        }
    }
    sp_buf_puts(b, x->w.bounds ? ", by what stacks show" : "");
    sp_buf_puts(b, "; it shrinks only where it waits for this work");
    sp_answer_line_buf(x->x->out, b);
}

void sp_whatif_say_assumptions(struct sp_whatif_question *x)
{
    const char *assumed =
        x->cpu ? "assumes that nothing else gets slower (caches, locks), and work on the CPU: waiting is not "
                 "in here"
               : "assumes that all beneath these functions scales with them, and that nothing else gets more";
    sp_answer_line(x->x->out, "%s", assumed);
    if (x->changes.list.n > 1)
        sp_answer_line(x->x->out, "a stack that several of them are in counts once, for the strongest");
}
