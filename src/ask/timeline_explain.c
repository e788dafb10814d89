#include "ask/timeline_explain.h"

#include "analysis/cpu_time.h"
#include "ask/said_names.h"
#include "base/num.h"

#include <math.h>
#include <stdio.h>

enum { EXPLAIN_NS = 9, LINES = 4 };

struct explain {
    struct sp_asked *x;
    const struct sp_phases *p;
    struct sp_said_names said;
    int64_t zero;
    unsigned digits; /* of seconds */
};

/* ---- words ---- */

static void put_number(struct sp_buf *b, double v, unsigned digits)
{
    char t[64];
    double power = 1;
    for (unsigned i = 0; i < digits; i++)
        power *= 10;
    sp_scaled_text((__int128)(v * power + (v < 0 ? -0.5 : 0.5)), digits, t);
    sp_buf_puts(b, t);
}

static void put_seconds(const struct explain *y, int64_t ns)
{
    put_number(&y->x->b, (double)ns / 1e9, y->digits);
}

/* Two digits that tell: "7.3", "12", "0.05". */
static void put_ratio(struct sp_buf *b, double v)
{
    put_number(b, v, v >= 9.95 ? 0 : v >= 0.995 ? 1 : v >= 0.0995 ? 2 : 3);
}

/* "12.3 %", "< 0.1 %". */
static void explain_share(struct sp_buf *b, double v)
{
    if (v > 0 && v < 0.05)
        sp_buf_puts(b, "< 0.1");
    else
        put_number(b, v, 1);
    sp_buf_puts(b, " %");
}

/* How far apart the stretches begin; 0: not evenly. */
static int64_t every(const struct explain *y, const struct sp_phase *p)
{
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 1; i < p->n; i++) {
        int64_t gap = sp_phase_stretch_of(y->p, p, i)->lo - sp_phase_stretch_of(y->p, p, i - 1)->lo;
        least = gap < least ? gap : least;
        most = gap > most ? gap : most;
    }
    if (p->n < 3 || most - least > most / 4)
        return 0;
    return (sp_phase_stretch_of(y->p, p, p->n - 1)->lo - sp_phase_stretch_of(y->p, p, 0)->lo) /
           (int64_t)(p->n - 1);
}

static void put_when(const struct explain *y, const struct sp_phase *p)
{
    struct sp_buf *b = &y->x->b;
    const struct sp_phase_stretch *first = sp_phase_stretch_of(y->p, p, 0),
                                  *last = sp_phase_stretch_of(y->p, p, p->n - 1);
    int64_t doubt = 0, gap = every(y, p);
    for (size_t i = 0; i < p->n; i++) {
        const struct sp_phase_stretch *s = sp_phase_stretch_of(y->p, p, i);
        doubt = s->lo_doubt > doubt ? s->lo_doubt : doubt;
        doubt = s->hi_doubt > doubt ? s->hi_doubt : doubt;
    }
    if (p->n > 1) {
        sp_buf_printf(b, "%zu stretches of ", p->n);
        put_seconds(y, p->ns / (int64_t)p->n);
        sp_buf_puts(b, " s, ");
        if (gap) {
            sp_buf_puts(b, "every ");
            put_seconds(y, gap);
            sp_buf_puts(b, " s, ");
        }
    }
    put_seconds(y, first->lo - y->zero);
    sp_buf_puts(b, " … ");
    put_seconds(y, last->hi - y->zero);
    sp_buf_puts(b, " s (±");
    put_number(b, fmax((double)doubt / 1e9, pow(10, -(double)y->digits)), y->digits);
    sp_buf_puts(b, "): ");
}

static void put_quiet(struct sp_buf *b, const struct sp_phase *p)
{
    sp_buf_puts(b, p->samples ? "next to nothing ran (" : "nothing ran");
    if (p->samples) {
        sp_text_count(b, (uint64_t)p->samples, "sample");
        sp_buf_ch(b, ')');
    }
    sp_buf_puts(b, "; what waits is not in a recording of what runs");
}

/* "×0.49 the CPU time of the rest"; about the same only where that is not what was found. */
static void put_weight(const struct explain *y, const struct sp_phase *p, double ratio)
{
    struct sp_buf *b = &y->x->b;
    bool same = ratio > 0.9 && ratio < 1.1;
    if (ratio < 0) {
        sp_buf_puts(b, "all of the weight");
    } else if (same && (p->nfunctions || !p->by_rate)) {
        sp_buf_puts(b, "as heavy as the rest");
    } else {
        sp_buf_puts(b, "×");
        if (same)
            put_number(b, ratio, 2);
        else
            put_ratio(b, ratio);
        sp_buf_printf(b, " the %s of the rest", sp_is_cpu_time(&y->x->s) ? "CPU time" : "weight");
    }
}

/* How much ran tells two things that a recording of what runs does not tell apart: the work, and the CPU. */
static const char *same_functions(const struct explain *y, const struct sp_phase *p, double ratio)
{
    bool cpu = sp_is_cpu_time(&y->x->s);
    if (ratio >= 0 && !p->by_rate && ratio > 0.9 && ratio < 1.1)
        return "; what runs differs, no function surely enough to be named";
    if (ratio >= 0 && ratio < 1)
        return cpu ? ", same functions: less to do, or others had the CPU (perf sched or perf record "
                     "--off-cpu tells)"
                   : ", same functions: less to do, or less of the CPU";
    return cpu ? "; no function's share is larger: the same work, more to do or more of the CPU"
               : "; no function's share is larger: the same work";
}

static void put_what(const struct explain *y, const struct sp_phase *p)
{
    struct sp_buf *b = &y->x->b;
    double ratio = sp_phase_ratio(p);
    if (p->quiet) {
        put_quiet(b, p);
        return;
    }
    put_weight(y, p, ratio);
    if (!p->nfunctions) {
        sp_buf_puts(b, same_functions(y, p, ratio));
        return;
    }
    const struct sp_phase_function *f = &y->p->functions.v[p->functions];
    sp_buf_puts(b, "; ");
    sp_said_text(b, &y->said, y->x, f->function);
    sp_buf_ch(b, ' ');
    put_number(b, f->share, 0);
    sp_buf_puts(b, " % of it");
    if (!f->rest_samples) {
        sp_buf_puts(b, " (seen at no other time)");
    } else {
        sp_buf_puts(b, ", ");
        explain_share(b, f->rest_share);
        sp_buf_puts(b, " of the rest");
    }
}

/* "  rebuild_index: self 82.6 %; of samples +81.0 … +84.1 points (95 %)": how sure the difference is. */
static void say_account(const struct explain *y, const struct sp_phase *p, const struct sp_phase_function *f)
{
    struct sp_buf *b = &y->x->b;
    sp_buf_clear(b);
    sp_buf_puts(b, "  ");
    sp_said_text(b, &y->said, y->x, f->function);
    sp_buf_puts(b, ": ");
    put_number(b, f->share, 1);
    sp_buf_puts(b, " % of it, ");
    explain_share(b, f->rest_share);
    sp_buf_puts(b, " of the rest (95 %: +");
    put_number(b, f->lo, 1);
    sp_buf_puts(b, " … +");
    put_number(b, f->hi, 1);
    sp_buf_puts(b, " points); self ");
    sp_text_percent(b, f->self, p->weight);
    sp_buf_puts(b, " %");
    sp_answer_line_buf(y->x->out, b);
}

/* It is in the same stacks as one before it: its only caller, for one. */
static bool is_alike(const struct explain *y, const struct sp_phase *p, size_t i)
{
    const struct sp_phase_function *v = y->p->functions.v + p->functions;
    for (size_t k = 0; k < i; k++)
        if (v[k].total == v[i].total && v[k].rest_total == v[i].rest_total)
            return true;
    return false;
}

static void say_phase(const struct explain *y, const struct sp_phase *p, bool first)
{
    struct sp_buf *b = &y->x->b;
    sp_buf_clear(b);
    put_when(y, p);
    put_what(y, p);
    sp_answer_line_of(y->x->out, first ? SP_LINE_HEAD : SP_LINE_PLAIN, b);
    for (size_t i = 0, said = 0; i < p->nfunctions && said < LINES; i++)
        if (!is_alike(y, p, i) && ++said)
            say_account(y, p, &y->p->functions.v[p->functions + i]);
}

static void say_nothing(const struct explain *y)
{
    struct sp_buf *b = &y->x->b;
    const struct sp_phases *p = y->p;
    sp_buf_clear(b);
    bool any = p->judged;
    sp_buf_puts(b, any ? "steady: no stretch differs from the rest beyond noise ("
                       : "too few samples to tell phases (");
    sp_text_count(b, p->samples, "sample");
    sp_buf_puts(b, " in ");
    put_number(b, (double)(p->end - p->start) / 1e9, 2);
    sp_buf_puts(b, " s)");
    sp_answer_line_of(y->x->out, SP_LINE_HEAD, b);
    if (!any)
        return;
    sp_buf_clear(b);
    if (p->least_ns == SP_ABSENT) {
        sp_answer_line(y->x->out,
                       "a phase may have been missed: functions run for so long at a time that samples tell "
                       "too little");
        return;
    }
    sp_buf_puts(b, "what would have been found: a function that runs at no other time for ");
    put_seconds(y, p->least_ns);
    sp_buf_puts(b, " s");
    if (p->least_ratio > 0) {
        sp_buf_puts(b, "; ×");
        put_ratio(b, p->least_ratio);
        sp_buf_puts(b, " the weight for a tenth of the time");
    }
    sp_answer_line_buf(y->x->out, b);
}

static void say_phases(const struct explain *y)
{
    for (size_t i = 0; i < y->p->list.n; i++)
        say_phase(y, &y->p->list.v[i], !i);
    if (!y->p->list.n)
        say_nothing(y);
    if (y->p->more)
        sp_answer_line(y->x->out, "%zu more phases are left out: ask about parts, --time", y->p->more);
}

/* ---- facts ---- */

static void put_phase_facts(const struct explain *y)
{
    struct sp_answer *a = y->x->out;
    const struct sp_phases *p = y->p;
    sp_fact_count(a, "explain.samples", (int64_t)p->samples);
    sp_fact_scaled(a, "explain.seconds", p->end - p->start, EXPLAIN_NS);
    sp_fact_count(a, "explain.functions", (int64_t)p->looked);
    sp_fact_count(a, "explain.functions_of", (int64_t)p->of);
    sp_fact_count(a, "explain.phases_left_out", (int64_t)p->more);
    sp_fact_scaled(a, "explain.found_from_seconds", p->least_ns, EXPLAIN_NS);
    if (p->least_ratio > 0)
        sp_fact_real(a, "explain.found_from_ratio", p->least_ratio);
    else
        sp_fact_null(a, "explain.found_from_ratio");
}

static void put_phase_next(const struct explain *y)
{
    char from[64], to[64], tail[160];
    const struct sp_phase *p = y->p->list.n ? &y->p->list.v[0] : NULL;
    if (!p || p->quiet || p->nfunctions || y->x->q->options->time)
        return;
    sp_scaled_text((__int128)sp_phase_stretch_of(y->p, p, 0)->lo - y->zero, EXPLAIN_NS, from);
    sp_scaled_text((__int128)sp_phase_stretch_of(y->p, p, 0)->hi - y->zero, EXPLAIN_NS, to);
    snprintf(tail, sizeof tail, "--time %s..%s", from, to);
    sp_answer_next(y->x->out, "top", NULL, tail);
}

spaa_status sp_timeline_say_phases(struct sp_asked *x, const struct sp_phases *p, int64_t zero)
{
    struct explain y = {.x = x, .p = p, .zero = zero, .digits = 1};
    bool ok = true;
    for (int64_t unit = 100000000; unit > (p->end - p->start) / 400 && y.digits < EXPLAIN_NS; unit /= 10)
        y.digits++;
    for (size_t i = 0; ok && i < p->functions.n; i++)
        ok = sp_said_add(&y.said, p->functions.v[i].function);
    spaa_status st = ok ? sp_said_shorten(&y.said, x) : sp_nomem(x->q->diags);
    if (!st) {
        put_phase_facts(&y);
        say_phases(&y);
        sp_timeline_put_phases(x, p, zero);
        put_phase_next(&y);
    }
    sp_said_free(&y.said);
    return st;
}
