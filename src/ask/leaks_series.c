/* leaks A B C …: what grew from dump to dump of one process, by owner, how fast, and how surely. */
#include "ask/leaks_series.h"
#include "ask/next.h"

#include "analysis/short_name.h"
#include "model/identity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAID = 3 }; /* owners in the line of what only grows */

/* ---- rows ---- */

/* Of recordings of a run each: the largest difference first. */
static int by_difference(const void *va, const void *vb, void *arg)
{
    const struct sp_heap_series *h = arg;
    const struct sp_growth_row *a = va, *b = vb;
    if (a->g.growth > b->g.growth || a->g.growth < b->g.growth)
        return a->g.growth > b->g.growth ? -1 : 1;
    if (a->last != b->last)
        return a->last > b->last ? -1 : 1;
    int c = sp_str_cmp(sp_str_at(&h->strs, h->owners.v[a->owner].name),
                       sp_str_at(&h->strs, h->owners.v[b->owner].name));
    return c ? c : (a->owner > b->owner) - (a->owner < b->owner);
}

/* Of few dumps what is kept tells more than the pace: what never gave much back comes first. */
static bool keeps(const struct sp_growth_row *r)
{
    return r->g.kept >= 0.5;
}

static int by_least_rate(const void *va, const void *vb, void *arg)
{
    const struct sp_heap_series *h = arg;
    const struct sp_growth_row *a = va, *b = vb;
    bool up = sp_leak_trend_is_up(a->g.trend);
    if (up != sp_leak_trend_is_up(b->g.trend))
        return up ? -1 : 1;
    if (h->dumps.n > 2 && h->dumps.n < SP_FEW_DUMPS && keeps(a) != keeps(b))
        return keeps(a) ? -1 : 1;
    double x = fmax(a->g.lo, 0), y = fmax(b->g.lo, 0);
    if (x > y || x < y)
        return x > y ? -1 : 1;
    return by_difference(va, vb, arg);
}

static bool make_rows(struct sp_growth *x)
{
    const struct sp_heap_series *h = &x->s.h;
    for (size_t i = 0; i < h->owners.n; i++) {
        struct sp_growth_row r = {
            .owner = i, .selected = SP_NONE, .function = SP_NONE, .through = SP_NONE, .line = SP_STR_NONE};
        r.first = sp_heap_value(sp_heap_at(h, i, 0), x->s.rank);
        r.last = sp_heap_value(sp_heap_at(h, i, h->dumps.n - 1), x->s.rank);
        if (!sp_heap_growth_of(h, i, x->s.rank, &r.g) || !sp_heap_grew_for(h, i, &r.callers) ||
            !sp_vec_push(&x->rows, r))
            return false;
    }
    return true;
}

/* Where the heaviest record of each row in the last dump leads: they are in the order of owners yet. */
static bool find_places(struct sp_growth *x)
{
    struct sp_selection *s = &x->s.x.s;
    const struct sp_profile *p = s->profile;
    for (size_t i = 0; i < s->rows.n; i++) {
        size_t at;
        uint32_t owner = sp_heap_owner_of(&x->s.h, s, &x->s.x.own, i, &at);
        if (owner == SP_NONE)
            return false;
        struct sp_growth_row *r = &x->rows.v[owner];
        if (r->selected != SP_NONE && r->weight >= s->rows.v[i].weight)
            continue;
        r->selected = (uint32_t)i;
        r->weight = s->rows.v[i].weight;
        r->frame = at;
    }
    for (size_t i = 0; i < x->rows.n; i++) {
        struct sp_growth_row *r = &x->rows.v[i];
        size_t n = 0;
        const uint32_t *f = r->selected == SP_NONE ? NULL : sp_selected_frames(s, r->selected, &n);
        if (r->selected != SP_NONE && !f)
            return false;
        if (!n)
            continue;
        r->function = p->frames.v[f[r->frame]].function;
        r->through = r->frame ? p->frames.v[f[0]].function : SP_NONE;
        r->line = p->frames.v[f[r->frame]].srcline;
    }
    return true;
}

/* ---- words ---- */

/* How few of the rows that grow have nine tenths of what rows gained; three at most. */
static size_t concentrated(const struct sp_growth *x, double *percent)
{
    double best[SAID] = {0}, all = 0, sum = 0;
    for (size_t i = 0; i < x->rows.n; i++) {
        double v = fmax(x->rows.v[i].g.growth, 0);
        all += v;
        if (!x->s.runs && !sp_leak_trend_is_up(x->rows.v[i].g.trend)) /* noise, or it may go down again */
            continue;
        for (size_t k = 0; k < SAID; k++)
            if (v > best[k]) {
                double next = best[k];
                best[k] = v;
                v = next;
            }
    }
    for (size_t k = 0; k < SAID && all > 0; k++) {
        if (best[k] <= 0)
            return k;
        sum += best[k];
        *percent = 100 * sum / all;
        if (sum >= 0.9 * all)
            return k + 1;
    }
    return all > 0 ? SAID : 0;
}

static size_t count_of(const struct sp_growth *x, enum sp_leak_trend kind)
{
    size_t n = 0;
    for (size_t i = 0; i < x->rows.n; i++)
        n += x->rows.v[i].g.trend == kind;
    return n;
}

static void say_row(struct sp_growth *x, struct sp_buf *b, const struct sp_growth_row *r)
{
    struct sp_str name = sp_growth_name(x, r), file = sp_base_name(sp_growth_line(x, r));
    sp_short_name(b, name.p, name.n, SP_SHORTEST);
    if (file.n)
        sp_buf_printf(b, " (%.*s)", (int)file.n, file.p);
    sp_buf_ch(b, ' ');
    sp_series_amount(b, x->s.rank, r->g.growth, true);
    sp_growth_say_callers(x, r, b);
}

static bool claimed(enum sp_leak_trend t)
{
    return t == SP_TREND_ONLY_GROWS || t == SP_TREND_GROWS || t == SP_TREND_UP || t == SP_TREND_MAY_GROW;
}

static bool some_claimed(const struct sp_growth *x)
{
    for (size_t i = 0; i < x->rows.n; i++)
        if (claimed(x->rows.v[i].g.trend))
            return true;
    return false;
}

/* Who owns what grows changes, or many grow by little. */
static bool whole_alone(const struct sp_growth *x)
{
    return x->s.h.dumps.n > 2 && claimed(x->s.whole.trend) && !some_claimed(x);
}

/* "the whole grows, but no function by itself: store +12.00 MiB (varies), …" */
static void say_whole_alone(struct sp_growth *x)
{
    struct sp_buf *b = &x->s.x.b;
    size_t said = 0;
    sp_buf_clear(b);
    sp_buf_puts(b, "the whole grows, but no function by itself, beyond chance and what sampling explains");
    for (size_t i = 0; i < x->rows.n && said < SAID; i++) {
        const struct sp_growth_row *r = &x->rows.v[i];
        if (r->g.trend == SP_TREND_NOISE || r->g.growth < 0.1 * x->s.whole.growth)
            continue;
        sp_buf_puts(b, said++ ? ", " : ": ");
        say_row(x, b, r);
        sp_buf_printf(b, " (%s)", sp_leak_trend_names[r->g.trend]);
    }
    sp_answer_line_of(x->s.out, SP_LINE_HEAD, b);
}

/* One stops where another goes on. */
static void say_inlining(struct sp_growth *x)
{
    if (!x->s.h.dumps.v[0].v8 || !claimed(x->s.whole.trend) ||
        !(whole_alone(x) || count_of(x, SP_TREND_SLOWS)))
        return;
    sp_answer_line(x->s.out, "V8 may have inlined meanwhile, which moves memory to callers: recorded with "
                             "node --no-turbo-inlining owners stay");
}

/* Goroutines are never given back: where their number is what grows, their stacks tell more than memory. */
static void say_goroutines(struct sp_growth *x)
{
    for (size_t i = 0; i < x->rows.n; i++) {
        struct sp_str name = sp_growth_name(x, &x->rows.v[i]);
        if (!claimed(x->rows.v[i].g.trend) || !x->s.h.dumps.v[0].go ||
            !(sp_str_is(name, "runtime.malg") || sp_str_is(name, "runtime.allgadd")))
            continue;
        sp_buf_clear(&x->s.x.b);
        sp_buf_printf(&x->s.x.b,
                      "goroutines pile up (%.*s grows): /debug/pprof/goroutine?debug=2 tells where they wait",
                      (int)name.n, name.p);
        sp_answer_line_of(x->s.out, SP_LINE_PLAIN, &x->s.x.b);
        return;
    }
}

/* "only ever grows: store (main.c:12) +20.00 MiB, …" */
static void say_kind(struct sp_growth *x, enum sp_leak_trend kind, const char *words)
{
    struct sp_buf *b = &x->s.x.b;
    size_t all = count_of(x, kind), said = 0;
    if (!all)
        return;
    sp_buf_clear(b);
    sp_buf_puts(b, words);
    for (size_t i = 0; i < x->rows.n && said < SAID; i++) {
        if (x->rows.v[i].g.trend != kind)
            continue;
        sp_buf_puts(b, said++ ? ", " : ": ");
        say_row(x, b, &x->rows.v[i]);
    }
    if (all > said)
        sp_buf_printf(b, ", and %zu more", all - said);
    sp_answer_line_of(x->s.out, SP_LINE_HEAD, b);
}

static void say_findings(struct sp_growth *x)
{
    char words[120];
    size_t n = x->s.h.dumps.n;
    if (n == 2 || x->s.runs || sp_series_withheld(&x->s) ||
        x->s.rank >= SP_LEAK_ALLOC_BYTES) /* which adds up, whatever happens */
        return;
    say_kind(x, SP_TREND_ONLY_GROWS, "only ever grows");
    say_kind(x, SP_TREND_GROWS, "grows, with steps down");
    snprintf(words, sizeof words, "up each time, which chance does 1 time in %d",
             n < 12 ? 1 << (n - 1) : 2048);
    say_kind(x, SP_TREND_UP, words);
    say_kind(x, SP_TREND_MAY_GROW, "may grow, more dumps would tell");
    say_kind(x, SP_TREND_SLOWS, "grew, then slowed down or stopped, as what fills up does");
    say_goroutines(x);
    if (whole_alone(x))
        say_whole_alone(x);
    else if (!some_claimed(x) && !count_of(x, SP_TREND_SLOWS))
        sp_answer_line(x->s.out,
                       "no function grows from dump to dump, beyond chance and what sampling explains");
    say_inlining(x);
    if (x->s.whole.trend == SP_TREND_SLOWS || x->s.whole.trend == SP_TREND_GREW_ONCE)
        sp_answer_line(x->s.out,
                       "most of it grew early or at once: without the first dumps, before caches are "
                       "filled, it shows what goes on growing");
}

/* ---- facts ---- */

static void put_facts(struct sp_growth *x)
{
    struct sp_answer *a = x->s.out;
    const struct sp_heap_dump *last = &x->s.h.dumps.v[x->s.h.dumps.n - 1];
    double percent = 0;
    size_t n = concentrated(x, &percent);
    sp_series_facts(&x->s);
    sp_fact_count(a, "series.concentrated_in", (int64_t)n);
    sp_fact_real(a, "series.concentrated_percent", percent);
    sp_fact_count(a, "series.only_grow", x->s.runs ? 0 : (int64_t)count_of(x, SP_TREND_ONLY_GROWS));
    for (int m = 0; m < SP_HEAP_SUMS; m++) {
        char name[40];
        snprintf(name, sizeof name, "memory.%s", sp_leak_metric_names[m]);
        sp_fact_weight(a, name, sp_series_is_bytes((enum sp_leak_metric)m) ? x->s.bytes : x->s.count,
                       last->all.v[m]);
    }
    sp_fact_cstr(a, "ranked_by", sp_leak_metric_names[x->s.rank]);
    sp_fact_cstr(a, "growth_from", "files");
}

static void say_total(struct sp_growth *x)
{
    char behind[80] = "";
    double percent = 0;
    size_t n = concentrated(x, &percent);
    if (n && !sp_series_withheld(&x->s) && x->rows.n > 1 && x->s.whole.growth > 0 && percent >= 50)
        snprintf(behind, sizeof behind, "; %.0f %% of what grew is %zu %s", floor(percent), n,
                 x->s.h.by == SP_HEAP_BY_STACK ? n == 1 ? "stack" : "stacks"
                 : n == 1                      ? "function"
                                               : "functions");
    sp_series_say_total(&x->s, behind);
}

/* ---- next ---- */

static void command(struct sp_growth *x, const char *question, const char *const *names, size_t n,
                    const char *tail)
{
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_command_text(&b, &(struct sp_next){.question = question, .tail = tail}, names, n, x->s.q->options,
                    sp_next_groups(question));
    sp_answer_next_command(x->s.out, question, &b);
    sp_buf_free(&b);
}

/* The stacks of what grows, then what else there is; people see the first. */
static void put_next(struct sp_growth *x)
{
    enum { ALL = 4 }; /* of more files the last one alone */
    const struct sp_heap_series *h = &x->s.h;
    size_t n = h->dumps.n, last = n - 1;
    const char *ends[] = {h->dumps.v[0].name, h->dumps.v[last].name}, *few[ALL];
    for (size_t i = 0; i < n && i < ALL; i++)
        few[i] = h->dumps.v[i].name;
    struct sp_buf *b = &x->s.x.b;
    char tail[80];
    snprintf(tail, sizeof tail, "--metric %s", sp_leak_metric_names[x->s.rank]);
    const char *metric = x->s.q->options->metric ? NULL : tail;
    if (x->s.h.by != SP_HEAP_BY_STACK)
        command(x, "leaks", n > ALL ? ends + 1 : few, n > ALL ? 1 : n, "--by stack -n 3");
    command(x, "leaks", ends + 1, 1, NULL);
    command(x, "diff", ends, 2, metric);
    sp_answer_next(x->s.out, "timeline", NULL, NULL);
    if (!x->s.out->failed && x->s.out->next.n) {
        sp_buf_clear(b);
        sp_buf_printf(b, "next: %s", x->s.out->next.v[0].command);
        sp_answer_line_of(x->s.out, SP_LINE_COMMAND, b);
    }
}

/* ---- the question ---- */

static spaa_status answer(struct sp_growth *x)
{
    struct sp_series *s = &x->s;
    if (!make_rows(x) || !find_places(x))
        return sp_nomem(s->q->diags);
    if (x->rows.n)
        qsort_r(x->rows.v, x->rows.n, sizeof *x->rows.v,
                s->runs || whole_alone(x) ? by_difference : by_least_rate, &s->h);
    for (size_t i = 0; i < x->rows.n; i++)
        sp_series_rates_up_to(s, x->rows.v[i].g.rate);
    sp_asked_facts(&s->x);
    put_facts(x);
    sp_asked_heading(&s->x);
    sp_series_say_first(s);
    say_total(x);
    say_findings(x);
    sp_growth_put(x);
    sp_series_put_dumps(s, true);
    sp_series_say_doubts(s);
    put_next(x);
    return sp_asked_end(&s->x);
}

spaa_status sp_leaks_series_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_growth x = {0};
    if (!sp_ask_limit(q, 20, &x.limit))
        return SPAA_ERR_USAGE;
    const char *by = q->options->leaks_by;
    enum sp_heap_by how = by && strcmp(by, "stack") == 0 ? SP_HEAP_BY_STACK
                          : (by && strcmp(by, "owner") == 0) || q->options->keep_allocators
                              ? SP_HEAP_BY_OWNER
                              : SP_HEAP_BY_FUNCTION;
    spaa_status st = sp_series_begin(&x.s, q, out, how);
    if (!st)
        st = answer(&x);
    sp_vec_free(&x.rows);
    sp_series_free(&x.s);
    return st;
}
