/* What JSON says of a comparison beside its rows. */
#include "ask/diff.h"

#include <math.h>

enum { SHORT_RUNS = 5 }; /* of a side, that JSON has where nobody asks for more */

#define FACT_TEST(path)                                                                                      \
    FACT(path ".verdict", SP_COL_TEXT, "as of a row"), FACT(path ".base", SP_COL_NUMBER, "of the base"),     \
        FACT(path ".new", SP_COL_NUMBER, "of the new side"),                                                 \
        FACT(path ".change_percent", SP_COL_NUMBER, "growth"),                                               \
        FACT(path ".p", SP_COL_NUMBER, "probability of as much by chance; null: not tested"),                \
        FACT(path ".q", SP_COL_NUMBER, "likewise, controlled"),                                              \
        FACT(path ".delta", SP_COL_NUMBER, "new less base"),                                                 \
        FACT(path ".ci.0", SP_COL_NUMBER, "its 95 % interval"),                                              \
        FACT(path ".change_ci_percent.0", SP_COL_NUMBER, "that of the growth"),                              \
        FACT(path ".method", SP_COL_TEXT, "the test; null: none"),                                           \
        FACT(path ".mde", SP_COL_NUMBER, "change that would be found 4 times in 5"),                         \
        FACT(path ".mde_family", SP_COL_NUMBER, "likewise, controlled"),                                     \
        FACT(path ".design_effect", SP_COL_NUMBER, "variance over that of independent samples"),             \
        FACT(path ".tested", SP_COL_BOOL, "it was"),                                                         \
        FACT(path ".dependent", SP_COL_BOOL, "time blocks resemble their neighbours: left open")
#define FACT_SIDE(path)                                                                                      \
    FACT(path ".files", SP_COL_TEXTS, "its profiles"), FACT(path ".runs", SP_COL_COUNT, "how many"),         \
        FACT(path ".event", SP_COL_TEXT, "its event, where the sides differ in event, metric or filters"),   \
        FACT(path ".metric", SP_COL_TEXT, "likewise"), FACT(path ".view", SP_COL_TEXT, "likewise"),          \
        FACT(path ".filters", SP_COL_TEXT, "likewise"),                                                      \
        FACT(path ".whole", SP_COL_NUMBER, "what shares are of, of all runs"),                               \
        FACT(path ".event_whole", SP_COL_NUMBER, "weight of the event before any filter"),                   \
        FACT(path ".kept", SP_COL_NUMBER, "what filters leave"),                                             \
        FACT(path ".kept_percent", SP_COL_NUMBER, "kept of event_whole"),                                    \
        FACT(path ".samples", SP_COL_COUNT, "samples; null: not counted"),                                   \
        FACT(path ".effective_samples", SP_COL_NUMBER, "as many of equal weight"),                           \
        FACT(path ".duration", SP_COL_NUMBER, "seconds; null: not known"),                                   \
        FACT(path ".cost_of", SP_COL_NUMBER, "runs, seconds or work that costs are divided by"),             \
        FACT(path ".costs.0", SP_COL_NUMBER, "cost of each run, of everything"),                             \
        FACT(path ".spread_percent", SP_COL_NUMBER, "largest less smallest of these, of their mean"),        \
        FACT(path ".blocks", SP_COL_COUNT, "time blocks")
#define FACT_AMOUNT(path, words)                                                                             \
    FACT(path ".base", SP_COL_NUMBER, words " of the base, for each run"),                                   \
        FACT(path ".new", SP_COL_NUMBER, words " of the new side"),                                          \
        FACT(path ".change", SP_COL_NUMBER, words " more")
const struct sp_answer_column sp_diff_facts[] = {
    FACT("verdict", SP_COL_TEXT, "CHANGED, NO CHANGE FOUND, NOT ESTABLISHED or UNCHANGED"),
    FACT("summary", SP_COL_TEXT, "the same in a sentence"),
    FACT("headline.kind", SP_COL_TEXT,
         "a function that changed most, or the whole: slower, faster, moved (to its caller, or out of it), "
         "differs "
         "(within one run a side)"),
    FACT("headline.text", SP_COL_TEXT, "the same in words"),
    FACT("headline.id", SP_COL_HANDLE, "the function; null: the whole"),
    FACT("headline.function", SP_COL_TEXT, "its name"),
    FACT("headline.dso", SP_COL_TEXT, "its binary"),
    FACT("headline.renamed_from", SP_COL_TEXT, "its name in the base, where that is probably another"),
    FACT("headline.moved_with", SP_COL_TEXT, "of what moved: the function that has its work, or had it"),
    FACT("headline.factor", SP_COL_NUMBER, "new cost of the base's; null: from or to nothing"),
    FACT("headline.q", SP_COL_NUMBER, "probability of as much by chance, controlled; of the whole p"),
    FACT("headline.runs.base.0", SP_COL_NUMBER, "self cost of each run of the base"),
    FACT("headline.runs.new.0", SP_COL_NUMBER, "of the new side"),
    FACT("headlines_left_out", SP_COL_COUNT, "functions that changed and are none of these"),
    FACT_SIDE("base"),
    FACT_SIDE("new"),
    FACT("renamed.base", SP_COL_TEXT, "a function of the base"),
    FACT("renamed.new", SP_COL_TEXT, "the one of the new side that it probably is"),
    FACT("renamed.places_percent", SP_COL_NUMBER,
         "samples at the same places of its code; null: too few to tell"),
    FACT("renamed.lines_moved", SP_COL_COUNT, "lines its declaration moved by in its file; null: not known"),
    FACT("renamed.same_callers", SP_COL_BOOL, "it has the same callers; false: neither has any"),
    FACT("possibly_renamed.base", SP_COL_TEXT, "a function of the base that is gone"),
    FACT("possibly_renamed.new", SP_COL_TEXT,
         "a new one of the same code, place and callers, which weighs otherwise: they are two rows"),
    FACT("possibly_renamed.places_percent", SP_COL_NUMBER, "samples at the same places of their code"),
    FACT("possibly_renamed.factor", SP_COL_NUMBER, "cost of the new one of that of the other"),
    FACT("binaries.base", SP_COL_TEXT, "a binary of the base"),
    FACT("binaries.new", SP_COL_TEXT, "that of the new side, of another name"),
    FACT("binaries.by", SP_COL_TEXT, "what says that they are one"),
    FACT("binaries.compared", SP_COL_BOOL, "they are compared; else it is not certain enough"),
    FACT("binaries.same_functions", SP_COL_COUNT, "functions that have the same name in both"),
    FACT("binaries.functions", SP_COL_COUNT, "of so many"),
    FACT_AMOUNT("memory.bytes", "of memory: bytes"),
    FACT_AMOUNT("memory.blocks", "of memory: blocks"),
    FACT_TEST("whole"),
    FACT("method.name", SP_COL_TEXT, "none, samples, blocks, exact, repeats or permutation"),
    FACT("method.text", SP_COL_TEXT, "how changes were told from chance, in words"),
    FACT("method.establishes", SP_COL_BOOL, "it tells a change of the program from what runs differ by"),
    FACT("method.cost_per", SP_COL_TEXT, "run, second or work"),
    FACT("method.tested", SP_COL_TEXT,
         "change_against_median, change_against_agreeing, cost, share or weight; null: nothing"),
    FACT("method.median_change_percent", SP_COL_NUMBER,
         "growth of the median function's cost; null: not the reference"),
    FACT("method.reference_change_percent", SP_COL_NUMBER,
         "growth of the cost of what changes are measured against"),
    FACT("method.reference", SP_COL_TEXTS, "change_against_agreeing: the functions that agree"),
    FACT("method.reading", SP_COL_TEXT,
         "fixed_work or fixed_time: what runs of the sides have in common; work_given: by --work; null: not "
         "shown"),
    FACT("method.self.tested", SP_COL_COUNT, "functions compared by self"),
    FACT("method.self.significant", SP_COL_COUNT, "of them, changed"),
    FACT("method.total.tested", SP_COL_COUNT, "functions compared by total"),
    FACT("method.total.significant", SP_COL_COUNT, "of them, changed"),
    FACT("method.prior_dispersion", SP_COL_NUMBER, "what functions have in common of how runs vary"),
    FACT("method.prior_df", SP_COL_NUMBER, "its degrees of freedom"),
    FACT("method.assumptions", SP_COL_TEXTS, "what the method takes for granted"),
    FACT("method.alpha", SP_COL_NUMBER, "the level"),
    FACT("method.control", SP_COL_TEXT, "how many comparisons are allowed for"),
    FACT("method.dependent", SP_COL_COUNT, "comparisons left open: phases longer than a time block"),
    FACT("method.of_two_builds", SP_COL_COUNT, "functions of two builds"),
    FACT("method.no_blocks", SP_COL_TEXT, "why there are no time blocks; null: there are, or none are asked"),
    FACT("fail_on.verdict", SP_COL_TEXT, "--fail-on: passed, breach or unsure"),
    FACT("fail_on.limits.limit", SP_COL_TEXT, "one of its limits"),
    FACT("fail_on.limits.verdict", SP_COL_TEXT, "that of it"),
    FACT("fail_on.limits.unit", SP_COL_TEXT, "points or percent"),
    FACT("fail_on.limits.judged", SP_COL_COUNT, "functions that the verdict is about"),
    FACT("fail_on.limits.text", SP_COL_TEXT, "the same in words"),
    FACT("fail_on.limits.cases", SP_COL_TEXTS, "what breaches it, or cannot be told, the worst first"),
    FACT("fail_on.limits.cases.id", SP_COL_HANDLE, "the function"),
    FACT("fail_on.limits.cases.function", SP_COL_TEXT, "its name"),
    FACT("fail_on.limits.cases.dso", SP_COL_TEXT, "its binary"),
    FACT("fail_on.limits.cases.growth", SP_COL_NUMBER, "in the limit's unit; null: from nothing"),
    FACT("fail_on.limits.cases.need_times", SP_COL_NUMBER, "times the data that would tell; null: none"),
    FACT("diagnostics_left_out", SP_COL_COUNT, "where JSON is short: diagnostics of a kind that is there"),
    {0},
};

static void fact_number(const struct diff_answer *a, const char *name, double v)
{
    sp_fact_real(a->out, name, sp_diff_as_number(a, v));
}

static void fact_weight(const struct diff_answer *a, const char *name, __int128 v)
{
    unsigned scale = a->d.scale;
    if (sp_diff_exact(&v, &scale))
        sp_fact_scaled(a->out, name, (int64_t)v, scale);
    else
        sp_fact_real(a->out, name, (double)v / pow(10, scale));
}

static void fact_pair(const struct diff_answer *a, const char *name, double lo, double hi)
{
    sp_answer_open(a->out, name, '[');
    sp_fact_real(a->out, "", lo);
    sp_fact_real(a->out, "", hi);
    sp_answer_close(a->out);
}

static void fact_profile(const struct diff_answer *a)
{
    const struct diff_words *k = &a->words;
    const struct diff_side_words *x = &k->side[SP_BASE], *y = &k->side[SP_NEW];
    const struct {
        const char *name;
        struct sp_str base, fresh;
    } both[] = {{"profile.event", x->event, y->event},
                {"profile.metric", x->metric, y->metric},
                {"profile.filters", x->filters, y->filters}};
    sp_fact_text(a->out, "profile.source_tool", k->tool.p, k->tool.n);
    sp_fact_str(a->out, "profile.unit", k->unit);
    sp_fact_cstr(a->out, "profile.view",
                 x->view && y->view && strcmp(x->view, y->view) == 0 ? x->view : NULL);
    /* What one side has otherwise than the other is null: each side says its own. */
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        sp_fact_text(a->out, both[i].name,
                     sp_str_cmp(both[i].base, both[i].fresh) == 0 ? both[i].base.p : NULL, both[i].base.n);
}

static void fact_side_words(const struct diff_answer *a, const struct diff_side_words *k)
{
    sp_fact_text(a->out, "event", k->event.p, k->event.n);
    sp_fact_text(a->out, "metric", k->metric.p, k->metric.n);
    sp_fact_cstr(a->out, "view", k->view);
    sp_fact_text(a->out, "filters", k->filters.p, k->filters.n);
}

/* Each run's self cost of a row, or of everything. */
static void fact_costs(const struct diff_answer *a, const char *name, const struct sp_diff_row *r,
                       unsigned side)
{
    size_t n = a->d.side[side].runs;
    sp_answer_open(a->out, name, '[');
    for (size_t i = 0; i < n && (!a->compact || i < SHORT_RUNS); i++)
        sp_fact_real(a->out, "", sp_diff_rounded(sp_diff_run_cost(&a->d, r, side, i), a->compact ? 5 : 12));
    sp_answer_close(a->out);
}

static void fact_side(const struct diff_answer *a, unsigned side)
{
    const struct sp_diff_side *s = &a->d.side[side];
    const struct sp_ask *q = a->q;
    struct sp_answer *out = a->out;
    sp_answer_open(out, side == SP_BASE ? "base" : "new", '{');
    sp_answer_open(out, "files", '[');
    for (size_t i = side == SP_BASE ? 0 : q->split; i < (side == SP_BASE ? q->split : q->nnames); i++)
        sp_fact_cstr(out, "", q->names[i]);
    sp_answer_close(out);
    sp_fact_count(out, "runs", (int64_t)s->runs);
    if (!sp_diff_sides_alike(a))
        fact_side_words(a, &a->words.side[side]);
    fact_weight(a, "whole", s->whole);
    if (!a->compact || s->kept != s->event_whole) {
        fact_weight(a, "event_whole", s->event_whole);
        fact_weight(a, "kept", s->kept);
        sp_fact_real(out, "kept_percent",
                     s->event_whole ? sp_diff_as_percent(a, (double)s->kept / (double)s->event_whole) : NAN);
    }
    sp_fact_count(out, "samples", s->samples);
    if (!a->compact)
        fact_number(a, "effective_samples", s->effective);
    fact_number(a, "duration", s->seconds);
    fact_number(a, "cost_of", s->per);
    if (!a->compact || s->runs > 1)
        fact_costs(a, "costs", NULL, side);
    if (a->d.method >= SP_DIFF_REPEATS && !a->compact)
        sp_fact_real(out, "spread_percent", sp_diff_as_percent(a, s->spread));
    if (s->blocks)
        sp_fact_count(out, "blocks", s->blocks);
    sp_answer_close(out);
}

static void fact_memory(const struct diff_answer *a)
{
    sp_answer_open(a->out, "memory", '{');
    for (unsigned i = 0; i < 2; i++) {
        double base = sp_diff_memory_amount(a, NULL, SP_BASE, 0, !i),
               fresh = sp_diff_memory_amount(a, NULL, SP_NEW, 0, !i);
        sp_answer_open(a->out, i ? "blocks" : "bytes", '{');
        sp_fact_real(a->out, "base", round(base * 1e6) / 1e6);
        sp_fact_real(a->out, "new", round(fresh * 1e6) / 1e6);
        sp_fact_real(a->out, "change", round((fresh - base) * 1e6) / 1e6);
        sp_answer_close(a->out);
    }
    sp_answer_close(a->out);
}

static void fact_whole(const struct diff_answer *a)
{
    const struct sp_diff_test *t = &a->d.whole;
    struct sp_answer *out = a->out;
    sp_answer_open(out, "whole", '{');
    sp_fact_cstr(out, "verdict", sp_diff_verdict_names[t->verdict]);
    fact_number(a, "base", t->side[SP_BASE].mean);
    fact_number(a, "new", t->side[SP_NEW].mean);
    sp_fact_real(out, "change_percent", sp_diff_as_percent(a, t->change));
    fact_number(a, "p", t->p);
    if (!a->compact) {
        fact_number(a, "delta", t->delta);
        fact_pair(a, "ci", sp_diff_as_number(a, t->lo), sp_diff_as_number(a, t->hi));
        fact_pair(a, "change_ci_percent", sp_diff_as_percent(a, t->change_lo),
                  sp_diff_as_percent(a, t->change_hi));
        sp_fact_cstr(out, "method", t->test);
        fact_number(a, "q", t->q);
        fact_number(a, "mde", t->mde);
        fact_number(a, "mde_family", t->mde_family);
        fact_number(a, "design_effect", t->deff);
        sp_fact_bool(out, "tested", t->tested);
    }
    if (t->dependent)
        sp_fact_bool(out, "dependent", true);
    sp_answer_close(out);
}

static void fact_name(const struct diff_answer *a, const char *name, uint32_t string)
{
    struct sp_str s = sp_str_at(&a->d.strs, string);
    sp_fact_text(a->out, name, s.p, s.n);
}

/* A function that the first lines name, or, NULL, the whole. */
static void fact_headline(const struct diff_answer *a, const struct sp_diff_row *r)
{
    static const char *const words[] = {"slower", "faster", "moved", "either"};
    const struct sp_diff *d = &a->d;
    const struct sp_diff_test *t = r ? &r->share[SP_SELF] : &d->whole, *c = r ? &r->cost[SP_SELF] : t;
    const struct sp_diff_row *with = r ? sp_diff_moved_with(d, r) : NULL;
    const struct sp_diff_renamed *was = r ? sp_diff_renamed_of(d, r) : NULL;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_answer_open(a->out, NULL, '{');
    sp_fact_cstr(a->out, "kind", sp_diff_establishes(d->method) ? words[sp_diff_kind(d, r)] : "differs");
    if (r)
        sp_diff_say_named(a, r, &b);
    else
        sp_diff_say_whole(a, &b);
    sp_fact_text(a->out, "text", sp_buf_text(&b), b.len);
    sp_fact_cstr(a->out, "id", r && *r->id ? r->id : NULL);
    if (r) {
        fact_name(a, "function", r->function);
        fact_name(a, "dso", r->dso);
    }
    if (was)
        fact_name(a, "renamed_from", was->name);
    if (with)
        fact_name(a, "moved_with", with->function);
    double factor = c->side[SP_NEW].mean / c->side[SP_BASE].mean;
    sp_fact_real(a->out, "factor",
                 factor > 0 && isfinite(factor) ? sp_diff_rounded(factor, a->compact ? 4 : 12) : NAN);
    fact_number(a, "q", t->q);
    sp_answer_open(a->out, "runs", '{');
    fact_costs(a, "base", r, SP_BASE);
    fact_costs(a, "new", r, SP_NEW);
    sp_answer_close(a->out);
    sp_answer_close(a->out);
    a->out->failed |= b.failed;
    sp_buf_free(&b);
}

static void fact_headlines(const struct diff_answer *a)
{
    const struct sp_diff_row *top[DIFF_NAMED], *rest[DIFF_BESIDE];
    size_t n = sp_diff_named(a, top), shown = n < DIFF_NAMED ? n : DIFF_NAMED;
    bool said = a->d.method != SP_DIFF_EXACT && a->d.method != SP_DIFF_NONE && !a->d.memory;
    sp_answer_open(a->out, "headline", '[');
    for (size_t i = 0; said && i < shown && (!a->compact || i < 1); i++)
        fact_headline(a, top[i]);
    if (said && !n && a->d.headline == SP_DIFF_CHANGED)
        fact_headline(a, NULL);
    sp_answer_close(a->out);
    sp_fact_count(a->out, "headlines_left_out",
                  said ? (int64_t)(n + sp_diff_beside(a, rest) - (a->compact && shown ? 1 : shown)) : 0);
}

static void fact_renamed(const struct diff_answer *a)
{
    const struct sp_diff *d = &a->d;
    sp_answer_open(a->out, "renamed", '[');
    for (size_t i = 0; i < d->renamed.n && (!a->compact || i < 1); i++) {
        const struct sp_diff_renamed *x = &d->renamed.v[i];
        sp_answer_open(a->out, NULL, '{');
        fact_name(a, "base", x->name);
        fact_name(a, "new", x->now);
        sp_fact_real(a->out, "places_percent", sp_diff_as_percent(a, x->places));
        sp_fact_count(a->out, "lines_moved",
                      x->declared && x->moved != UINT32_MAX ? (int64_t)x->moved : SP_ABSENT);
        sp_fact_bool(a->out, "same_callers", x->callers);
        sp_answer_close(a->out);
    }
    sp_answer_close(a->out);
}

static void fact_maybe(const struct diff_answer *a)
{
    const struct sp_diff *d = &a->d;
    sp_answer_open(a->out, "possibly_renamed", '[');
    for (size_t i = 0; i < d->maybe.n && (!a->compact || i < 1); i++) {
        const struct sp_diff_renamed *x = &d->maybe.v[i];
        sp_answer_open(a->out, NULL, '{');
        fact_name(a, "base", x->name);
        fact_name(a, "new", x->now);
        sp_fact_real(a->out, "places_percent", sp_diff_as_percent(a, x->places));
        sp_fact_real(a->out, "factor", sp_diff_rounded(sp_diff_maybe_factor(d, x), a->compact ? 4 : 12));
        sp_answer_close(a->out);
    }
    sp_answer_close(a->out);
}

static void fact_reference(const struct diff_answer *a)
{
    static const char *const readings[] = {NULL, "fixed_work", "fixed_time", "work_given"};
    const struct sp_diff *d = &a->d;
    if (d->reference == SP_AGAINST_AGREEING) {
        sp_answer_open(a->out, "reference", '[');
        for (size_t i = 0, n = 0; i < d->rows.n && (!a->compact || n < 3); i++)
            if (d->rows.v[i].reference) {
                fact_name(a, "", d->rows.v[i].function);
                n++;
            }
        sp_answer_close(a->out);
    }
    sp_fact_cstr(a->out, "reading", readings[sp_diff_reading(d)]);
}

static void fact_method_detail(const struct diff_answer *a)
{
    const struct sp_diff *d = &a->d;
    struct sp_answer *out = a->out;
    fact_number(a, "prior_dispersion", d->prior);
    fact_number(a, "prior_df", d->prior_df);
    sp_answer_open(out, "assumptions", '[');
    for (const char *const *s = sp_diff_assumptions(d->method); *s; s++)
        sp_fact_cstr(out, "", *s);
    sp_answer_close(out);
    fact_number(a, "alpha", SP_DIFF_ALPHA);
    sp_fact_cstr(out, "control", "Benjamini-Hochberg");
    sp_fact_count(out, "dependent", (int64_t)d->dependent);
    sp_fact_count(out, "of_two_builds", (int64_t)d->layout);
    sp_fact_cstr(out, "no_blocks", d->no_blocks);
}

static void fact_method(const struct diff_answer *a)
{
    static const char *const per[] = {"run", "second", "work"};
    static const char *const against[] = {"change_against_median", "cost", "share",
                                          "change_against_agreeing"};
    const struct sp_diff *d = &a->d;
    struct sp_answer *out = a->out;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_diff_say_method(a, &b);
    sp_answer_open(out, "method", '{');
    sp_fact_cstr(out, "name", sp_diff_method_names[d->method]);
    sp_fact_text(out, "text", sp_buf_text(&b), b.len);
    sp_fact_bool(out, "establishes", sp_diff_establishes(d->method));
    sp_fact_cstr(out, "cost_per", per[d->per]);
    sp_fact_cstr(out, "tested",
                 d->method >= SP_DIFF_REPEATS ? against[d->reference]
                 : d->method == SP_DIFF_EXACT ? "weight"
                 : d->method == SP_DIFF_NONE  ? NULL
                                              : "share");
    sp_fact_real(out, "median_change_percent",
                 d->reference == SP_AGAINST_MEDIAN ? sp_diff_as_percent(a, d->reference_change) : NAN);
    sp_fact_real(out, "reference_change_percent", sp_diff_as_percent(a, d->reference_change));
    fact_reference(a);
    for (unsigned f = 0; f < SP_FAMILIES; f++) {
        sp_answer_open(out, f == SP_SELF ? "self" : "total", '{');
        sp_fact_count(out, "tested", (int64_t)d->family[f]);
        sp_fact_count(out, "significant", (int64_t)d->significant[f]);
        sp_answer_close(out);
    }
    if (!a->compact)
        fact_method_detail(a);
    sp_answer_close(out);
    out->failed |= b.failed;
    sp_buf_free(&b);
}

static void fact_case(const struct diff_answer *a, const struct sp_limit_case *x)
{
    struct sp_answer *out = a->out;
    sp_answer_open(out, NULL, '{');
    if (x->row) {
        struct sp_str name = sp_str_at(&a->d.strs, x->row->function),
                      dso = sp_str_at(&a->d.strs, x->row->dso);
        sp_fact_cstr(out, "id", *x->row->id ? x->row->id : NULL);
        sp_fact_text(out, "function", name.p, name.n);
        sp_fact_text(out, "dso", dso.p, dso.n);
    }
    fact_number(a, "growth", x->growth);
    fact_number(a, "need_times", x->need);
    sp_answer_close(out);
}

static void fact_limit(const struct diff_answer *a, const struct sp_limit *l)
{
    struct sp_answer *out = a->out;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_diff_say_limit(a, l, &b);
    sp_answer_open(out, NULL, '{');
    sp_fact_text(out, "limit", l->text.p, l->text.n);
    sp_fact_cstr(out, "verdict", sp_limit_verdict_names[l->verdict]);
    sp_fact_cstr(out, "unit", l->points ? "points" : "percent");
    sp_fact_count(out, "judged", (int64_t)l->judged);
    sp_fact_text(out, "text", sp_buf_text(&b), b.len);
    sp_answer_open(out, "cases", '[');
    for (size_t k = 0; k < l->cases.n && k < (a->compact ? 3 : a->limit); k++)
        fact_case(a, &l->cases.v[k]);
    sp_answer_close(out);
    sp_answer_close(out);
    out->failed |= b.failed;
    sp_buf_free(&b);
}

static void fact_limits(const struct diff_answer *a)
{
    if (!a->q->options->fail_on) {
        sp_fact_null(a->out, "fail_on");
        return;
    }
    sp_answer_open(a->out, "fail_on", '{');
    sp_fact_cstr(a->out, "verdict", sp_limit_verdict_names[a->fail_on.verdict]);
    sp_answer_open(a->out, "limits", '[');
    for (size_t i = 0; i < a->fail_on.limits.n; i++)
        fact_limit(a, &a->fail_on.limits.v[i]);
    sp_answer_close(a->out);
    sp_answer_close(a->out);
}

void sp_diff_put_facts(struct diff_answer *a)
{
    const struct sp_diff *d = &a->d;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    sp_diff_say_summary(a, &b);
    sp_fact_cstr(a->out, "verdict", sp_diff_headline_word(d));
    sp_fact_text(a->out, "summary", sp_buf_text(&b), b.len);
    a->out->failed |= b.failed;
    sp_buf_free(&b);
    fact_headlines(a);
    fact_profile(a);
    fact_side(a, SP_BASE);
    fact_side(a, SP_NEW);
    sp_diff_binaries(a);
    fact_renamed(a);
    fact_maybe(a);
    if (d->memory)
        fact_memory(a);
    fact_whole(a);
    fact_method(a);
    fact_limits(a);
}
