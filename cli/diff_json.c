/* `spaa diff --json`: every number of the comparison. */
#include "diff.h"

#include "analysis/top.h"
#include "base/num.h"

#include <math.h>

/* Twelve significant digits: what follows them depends on the machine's mathematics. */
static void diff_json_number(struct sp_jw *w, const char *key, double x)
{
    char t[32];
    if (!isfinite(x)) {
        sp_jw_null(w, key);
        return;
    }
    if (x != 0 && fabs(x) > 1e-290) {
        double scale = pow(10, 11 - floor(log10(fabs(x))));
        x = isfinite(scale) ? round(x * scale) / scale : x;
    }
    sp_jw_raw(w, key, t, sp_double_text(x, t));
}

static void diff_json_count(struct sp_jw *w, const char *key, int64_t v)
{
    if (v == SP_ABSENT)
        sp_jw_null(w, key);
    else
        sp_jw_i64(w, key, v);
}

static void diff_json_text(struct sp_jw *w, const char *key, struct sp_str s)
{
    sp_jw_str(w, key, s.p ? s.p : "", s.n);
}

static void diff_json_pair(struct sp_jw *w, const char *key, double lo, double hi)
{
    sp_jw_open(w, key, '[');
    diff_json_number(w, NULL, lo);
    diff_json_number(w, NULL, hi);
    sp_jw_close(w, ']');
}

/* The members of a comparison, into the open object. */
static void test(struct sp_jw *w, const struct sp_diff_test *t, bool share)
{
    sp_jw_cstr(w, "verdict", sp_diff_verdict_names[t->verdict]);
    diff_json_number(w, share ? "base_share" : "base", t->side[SP_BASE].mean);
    diff_json_number(w, share ? "new_share" : "new", t->side[SP_NEW].mean);
    diff_json_number(w, "delta", t->delta);
    diff_json_pair(w, "ci", t->lo, t->hi);
    diff_json_number(w, "change_percent", 100 * t->change);
    diff_json_pair(w, "change_ci_percent", 100 * t->change_lo, 100 * t->change_hi);
    sp_jw_cstr(w, "method", t->test);
    diff_json_number(w, "p", t->p);
    diff_json_number(w, "q", t->q);
    diff_json_number(w, "mde", t->mde);
    diff_json_number(w, "mde_family", t->mde_family);
    diff_json_number(w, "design_effect", t->deff);
    sp_jw_bool(w, "tested", t->tested);
    if (t->dependent)
        sp_jw_bool(w, "dependent", true);
}

static void nested(struct sp_jw *w, const char *key, const struct sp_diff_test *t, bool share)
{
    sp_jw_open(w, key, '{');
    test(w, t, share);
    sp_jw_close(w, '}');
}

static void diff_json_amounts(struct sp_jw *w, const struct diff_answer *a, const struct sp_diff_row *r,
                              unsigned family)
{
    sp_jw_scaled(w, "base_weight", r->side[SP_BASE].weight[family], a->d.scale);
    sp_jw_scaled(w, "new_weight", r->side[SP_NEW].weight[family], a->d.scale);
    diff_json_count(w, "base_samples", r->side[SP_BASE].samples[family]);
    diff_json_count(w, "new_samples", r->side[SP_NEW].samples[family]);
}

static void diff_json_row(struct sp_jw *w, const struct diff_answer *a, const struct sp_diff_row *r)
{
    struct sp_str name = sp_str_at(&a->d.strs, r->function),
                  normal = sp_str_at(&a->d.strs, a->d.keys.v[r->key].function);
    sp_jw_open(w, NULL, '{');
    sp_jw_cstr(w, "id", *r->id ? r->id : NULL);
    diff_json_text(w, "function", name);
    diff_json_text(w, "dso", sp_str_at(&a->d.strs, r->dso));
    if (sp_str_cmp(name, normal) != 0)
        diff_json_text(w, "matched_as", normal);
    diff_remark_json(w, r);
    test(w, &r->share[SP_SELF], true);
    diff_json_amounts(w, a, r, SP_SELF);
    diff_memory_json(w, a, r, SP_SELF);
    sp_jw_open(w, "total", '{');
    test(w, &r->share[SP_TOTAL], true);
    diff_json_amounts(w, a, r, SP_TOTAL);
    diff_memory_json(w, a, r, SP_TOTAL);
    sp_jw_close(w, '}');
    nested(w, "cost", &r->cost[SP_SELF], false);
    nested(w, "total_cost", &r->cost[SP_TOTAL], false);
    sp_jw_open(w, "tags", '[');
    for (unsigned i = 0; sp_tag_words[i]; i++)
        if (r->tags >> i & 1)
            sp_jw_cstr(w, NULL, sp_tag_words[i]);
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
}

static void diff_json_rows(struct sp_jw *w, const struct diff_answer *a, const char *key,
                           const struct sp_diff_row *r, size_t n)
{
    sp_jw_open(w, key, '[');
    for (size_t i = 0; i < n && i < a->limit; i++)
        diff_json_row(w, a, &r[i]);
    sp_jw_close(w, ']');
}

static void side(struct sp_jw *w, const struct diff_answer *a, unsigned i)
{
    const struct sp_diff_side *s = &a->d.side[i];
    const struct cli *c = a->c;
    sp_jw_open(w, i == SP_BASE ? "base" : "new", '{');
    sp_jw_open(w, "files", '[');
    for (size_t k = i == SP_BASE ? 0 : c->split; k < (i == SP_BASE ? c->split : c->files.n); k++)
        sp_jw_cstr(w, NULL, c->files.v[k]);
    sp_jw_close(w, ']');
    sp_jw_u64(w, "runs", s->runs);
    if (!diff_sides_alike(a)) {
        diff_json_text(w, "event", a->words.side[i].event);
        diff_json_text(w, "metric", a->words.side[i].metric);
        sp_jw_cstr(w, "view", a->words.side[i].view);
        diff_json_text(w, "filters", a->words.side[i].filters);
    }
    sp_jw_scaled(w, "event_whole", s->event_whole, a->d.scale);
    sp_jw_scaled(w, "whole", s->whole, a->d.scale);
    sp_jw_scaled(w, "kept", s->kept, a->d.scale);
    diff_json_number(w, "kept_percent",
                     s->event_whole ? 100 * (double)s->kept / (double)s->event_whole : NAN);
    diff_json_count(w, "samples", s->samples);
    diff_json_number(w, "effective_samples", s->effective);
    diff_json_number(w, "duration", s->seconds);
    diff_json_number(w, "cost_of", s->per);
    if (s->blocks)
        sp_jw_u64(w, "blocks", s->blocks);
    sp_jw_close(w, '}');
}

static void method(struct sp_jw *w, const struct diff_answer *a)
{
    static const char *const per[] = {"run", "second", "work"};
    static const char *const against[] = {"change_against_median", "cost", "share"};
    const struct sp_diff *d = &a->d;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    diff_method(a, &b);
    sp_jw_open(w, "method", '{');
    sp_jw_cstr(w, "name", sp_diff_method_names[d->method]);
    sp_jw_str(w, "text", b.data ? b.data : "", b.len);
    sp_jw_bool(w, "establishes", sp_diff_establishes(d->method));
    sp_jw_cstr(w, "cost_per", per[d->per]);
    sp_jw_cstr(w, "tested",
               d->method >= SP_DIFF_REPEATS ? against[d->reference]
               : d->method == SP_DIFF_EXACT ? "weight"
               : d->method == SP_DIFF_NONE  ? NULL
                                            : "share");
    diff_json_number(w, "median_change_percent", 100 * d->median_change);
    diff_json_number(w, "prior_dispersion", d->prior);
    diff_json_number(w, "prior_df", d->prior_df);
    sp_jw_open(w, "assumptions", '[');
    for (const char *const *s = diff_assumptions(d->method); *s; s++)
        sp_jw_cstr(w, NULL, *s);
    sp_jw_close(w, ']');
    diff_json_number(w, "alpha", SP_DIFF_ALPHA);
    sp_jw_cstr(w, "control", "Benjamini-Hochberg");
    for (unsigned f = 0; f < SP_FAMILIES; f++) {
        sp_jw_open(w, f == SP_SELF ? "self" : "total", '{');
        sp_jw_u64(w, "tested", d->family[f]);
        sp_jw_u64(w, "significant", d->significant[f]);
        sp_jw_close(w, '}');
    }
    sp_jw_u64(w, "dependent", d->dependent);
    sp_jw_u64(w, "of_two_builds", d->layout);
    sp_jw_cstr(w, "no_blocks", d->no_blocks);
    sp_jw_close(w, '}');
    sp_buf_free(&b);
}

static void limits(struct sp_jw *w, const struct diff_answer *a)
{
    struct sp_buf b;
    if (!a->c->v.fail_on) {
        sp_jw_null(w, "fail_on");
        return;
    }
    sp_buf_init(&b, 0);
    sp_jw_open(w, "fail_on", '{');
    sp_jw_cstr(w, "verdict", sp_limit_verdict_names[a->fail_on.verdict]);
    sp_jw_open(w, "limits", '[');
    for (size_t i = 0; i < a->fail_on.limits.n; i++) {
        const struct sp_limit *l = &a->fail_on.limits.v[i];
        sp_jw_open(w, NULL, '{');
        diff_json_text(w, "limit", l->text);
        sp_jw_cstr(w, "verdict", sp_limit_verdict_names[l->verdict]);
        sp_jw_cstr(w, "unit", l->points ? "points" : "percent");
        sp_jw_u64(w, "judged", l->judged);
        sp_buf_clear(&b);
        diff_limit_text(a, l, &b);
        sp_jw_str(w, "text", b.data ? b.data : "", b.len);
        sp_jw_open(w, "cases", '[');
        for (size_t k = 0; k < l->cases.n && k < a->limit; k++) {
            const struct sp_limit_case *x = &l->cases.v[k];
            sp_jw_open(w, NULL, '{');
            if (x->row) {
                sp_jw_cstr(w, "id", *x->row->id ? x->row->id : NULL);
                diff_json_text(w, "function", sp_str_at(&a->d.strs, x->row->function));
                diff_json_text(w, "dso", sp_str_at(&a->d.strs, x->row->dso));
            }
            diff_json_number(w, "growth", x->growth);
            diff_json_number(w, "need_times", x->need);
            sp_jw_close(w, '}');
        }
        sp_jw_close(w, ']');
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
    sp_buf_free(&b);
}

/* What one side has otherwise than the other is null: each side says its own. */
static void of_both(struct sp_jw *w, const char *key, struct sp_str base, struct sp_str fresh)
{
    if (sp_str_cmp(base, fresh) == 0)
        diff_json_text(w, key, base);
    else
        sp_jw_null(w, key);
}

static void diff_json_head(struct sp_jw *w, const struct diff_answer *a)
{
    const struct diff_words *k = &a->words;
    const struct diff_side_words *x = &k->side[SP_BASE], *y = &k->side[SP_NEW];
    struct sp_buf b;
    sp_buf_init(&b, 0);
    diff_summary(a, &b);
    sp_jw_cstr(w, "schema", "spaa.diff/2");
    sp_jw_cstr(w, "verdict", diff_headline(&a->d));
    sp_jw_str(w, "summary", b.data ? b.data : "", b.len);
    sp_jw_open(w, "profile", '{');
    diff_json_text(w, "source_tool", k->tool);
    of_both(w, "event", x->event, y->event);
    of_both(w, "metric", x->metric, y->metric);
    if (k->unit.n)
        diff_json_text(w, "unit", k->unit);
    else
        sp_jw_null(w, "unit");
    sp_jw_cstr(w, "view", x->view && y->view && strcmp(x->view, y->view) == 0 ? x->view : NULL);
    of_both(w, "filters", x->filters, y->filters);
    sp_jw_close(w, '}');
    sp_buf_free(&b);
}

static size_t diff_json_beyond(const struct diff_answer *a, size_t n)
{
    return n > a->limit ? n - a->limit : 0;
}

int diff_answer_json(struct diff_answer *a)
{
    struct sp_jw w;
    struct sp_buf b;
    sp_jw_init(&w, a->c->out);
    sp_jw_open(&w, NULL, '{');
    diff_json_head(&w, a);
    side(&w, a, SP_BASE);
    side(&w, a, SP_NEW);
    diff_binaries_json(a, &w);
    diff_memory_total_json(&w, a);
    nested(&w, "whole", &a->d.whole, false);
    method(&w, a);
    diff_json_rows(&w, a, "rows", a->d.rows.v, a->d.rows.n);
    diff_json_rows(&w, a, "new_functions", a->d.appeared.v, a->d.appeared.n);
    diff_json_rows(&w, a, "vanished_functions", a->d.vanished.v, a->d.vanished.n);
    sp_jw_open(&w, "omitted", '{');
    sp_jw_u64(&w, "rows", diff_json_beyond(a, a->d.rows.n));
    sp_jw_u64(&w, "new_functions", diff_json_beyond(a, a->d.appeared.n));
    sp_jw_u64(&w, "vanished_functions", diff_json_beyond(a, a->d.vanished.n));
    sp_jw_close(&w, '}');
    limits(&w, a);
    sp_jw_open(&w, "next", '[');
    sp_buf_init(&b, 0);
    for (unsigned i = 0; sp_buf_clear(&b), diff_next(a, i, &b); i++)
        sp_jw_str(&w, NULL, b.data ? b.data : "", b.len);
    sp_buf_free(&b);
    sp_jw_close(&w, ']');
    answer_close(a->c, &w);
    return EXIT_FINE;
}
