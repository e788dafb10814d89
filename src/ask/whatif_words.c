/* What whatif says to people. */
#include "ask/whatif_words.h"

#include "base/num.h"

#include <math.h>

static void whatif_weight(struct sp_whatif_question *x, int64_t v)
{
    sp_text_weight(&x->x->b, x->x->s.unit, x->x->s.scale, v);
}

enum rounding { DOWN = -1, NEAREST, UP };

/* A bound rounds to the side where it still holds; what is no fraction but for the noise of doubles does not.
 */
static int64_t whatif_round(double v, enum rounding how)
{
    double noise = fmax(fabs(v), 1) * 1e-12;
    return (int64_t)(how == DOWN ? floor(v + noise) : how == UP ? ceil(v - noise) : floor(v + 0.5));
}

/* What is left of few: "200.5" of 202 counts; else as any weight. */
static void whatif_left(struct sp_whatif_question *x, double v, enum rounding how)
{
    enum { FEW = 10000, PARTS = 100 };
    struct sp_buf *b = &x->x->b;
    char t[64];
    size_t from = b->len;
    int64_t parts = fabs(v) < FEW ? whatif_round(v * PARTS, how) : 0;
    whatif_weight(x, fabs(v) < 1e18 ? whatif_round(v, how) : sp_whatif_weight(v));
    if (b->failed || parts % PARTS == 0 || x->x->s.scale ||
        strspn(b->data + from, "0123456789,") < b->len - from)
        return;
    b->len = from;
    sp_scaled_text(parts, 2, t);
    sp_buf_puts(b, t);
}

int64_t sp_whatif_speedup(double before, double after, bool bound)
{
    return whatif_round(before / after * SP_SPEEDUP_UNIT, bound ? UP : NEAREST);
}

/* " (÷ 1.92", " (÷ 1.0075", " (× 1.30", " (as before": what becomes of the whole, by digits that tell. */
static void whatif_times(struct sp_buf *b, double before, double after, enum rounding how)
{
    char t[64];
    if (fabs(before - after) <= 1e-12 * fabs(before) || before == 0) {
        sp_buf_puts(b, "as before");
    } else if (after <= 0) {
        sp_buf_puts(b, "nothing is left");
    } else {
        bool less = after < before;
        double ratio = less ? before / after : after / before, power = 100;
        unsigned digits = 2;
        for (; digits < 6 && (ratio - 1) * power < 9.995; digits++)
            power *= 10;
        if (ratio > 1e12)
            ratio = 1e12;
        sp_scaled_text(whatif_round(ratio * power, how), digits, t);
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
    bool low = w->least != SP_ABSENT && w->left_least < w->left,
         high = w->most != SP_ABSENT && w->left_most > w->left;
    bool faster = w->left < (double)w->before && !w->bounds;
    sp_buf_clear(b);
    whatif_what(x);
    whatif_weight(x, w->before);
    sp_buf_puts(b, " → ");
    double before = (double)w->before, least = low ? w->left_least : w->left,
           most = high ? w->left_most : w->left;
    if (low || high) {
        whatif_left(x, least, DOWN);
        sp_buf_puts(b, " … ");
    }
    whatif_left(x, most, faster ? DOWN : low || high ? UP : NEAREST);
    sp_buf_puts(b, faster ? " at least (" : " (");
    if (low || high) {
        whatif_times(b, before, least, least < before ? UP : NEAREST);
        sp_buf_puts(b, " … ");
    }
    whatif_times(b, before, most, faster ? UP : NEAREST);
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
        whatif_left(x, w->left, NEAREST);
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
