#include "analysis/regression_limits.h"

#include "analysis/normalise.h"
#include "base/nearest.h"
#include "base/num.h"

#include <math.h>

const char *const sp_limit_verdict_names[] = {"passed", "breach", "unsure", NULL};

/* ---- the expression ---- */

static spaa_status regression_limits_bad(struct sp_diags *d, const char *at, size_t n, const char *why)
{
    sp_emit(d, SP_E633, SP_AT_NOTHING, "\"%.*s\" %s", (int)(n < 200 ? n : 200), at, why);
    return SPAA_ERR_USAGE;
}

/* Bytes of "> 2.5 %" at p when that ends a limit; 0: something else. */
static size_t threshold(const char *p, double *value, bool *points)
{
    const char *q = p + 1 + strspn(p + 1, " "), *start = q;
    q += strspn(q, "0123456789");
    if (*q == '.')
        q += 1 + strspn(q + 1, "0123456789");
    if (*p != '>' || q == start || (q == start + 1 && *start == '.'))
        return 0;
    *value = sp_text_double(start, (size_t)(q - start));
    q += strspn(q, " ");
    if (*q != '%' && strncmp(q, "pp", 2) != 0)
        return 0;
    *points = *q == 'p';
    q += *points ? 2 : 1;
    q += strspn(q, " ");
    return *q && *q != ',' ? 0 : (size_t)(q - p);
}

static void trim(struct sp_str *s)
{
    while (s->n && s->p[0] == ' ') {
        s->p++;
        s->n--;
    }
    while (s->n && s->p[s->n - 1] == ' ')
        s->n--;
}

static void take_subject(struct sp_limit *l)
{
    static const struct {
        const char *word;
        unsigned family;
    } words[] = {
        {"self", SP_SELF}, {"total", SP_TOTAL}, {"flat", SP_SELF}, {"own", SP_SELF}, {"cum", SP_TOTAL}};
    l->family = SP_TOTAL;
    l->subject = sp_str_is(l->name, "whole") ? SP_LIMIT_WHOLE : SP_LIMIT_FUNCTION;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint32_t n = (uint32_t)strlen(words[i].word);
        if (l->name.n < n || memcmp(l->name.p, words[i].word, n) != 0)
            continue;
        if (l->name.n == n) {
            l->subject = SP_LIMIT_ANY;
            l->family = words[i].family;
            return;
        }
        if (l->name.n > n + 1 && l->name.p[n] == ':' && l->name.p[n + 1] != ':') { /* no namespace */
            l->family = words[i].family;
            l->name.p += n + 1;
            l->name.n -= n + 1;
            break;
        }
    }
    trim(&l->name);
}

spaa_status sp_limits_parse(struct sp_limits *g, const char *expression, struct sp_diags *d)
{
    const char *start = expression;
    *g = (struct sp_limits){0};
    for (;;) {
        struct sp_limit l = {0};
        const char *p = start;
        size_t n = 0;
        while (*p && !(n = *p == '>' ? threshold(p, &l.limit, &l.points) : 0))
            p++;
        if (!n)
            return regression_limits_bad(d, start, strlen(start),
                                         "is no limit like self>2%, whole>5%, total>1pp or FUNCTION>10%");
        l.text = (struct sp_str){start, (uint32_t)((size_t)(p - start) + n)};
        l.name = (struct sp_str){start, (uint32_t)(p - start)};
        trim(&l.text);
        trim(&l.name);
        if (!l.name.n)
            return regression_limits_bad(d, l.text.p, l.text.n,
                                         "does not say what: self, total, whole or a function");
        bool total = sp_str_is(l.name, "total");
        take_subject(&l);
        if (total && !l.points) /* it was the whole until 0.1 */
            sp_emit(d, SP_W643, SP_AT_NOTHING,
                    "\"%.*s\" limits the total of each function; whole>N%% limits the weight of everything",
                    (int)(l.text.n < 200 ? l.text.n : 200), l.text.p);
        if (l.subject == SP_LIMIT_WHOLE && l.points)
            return regression_limits_bad(d, l.text.p, l.text.n,
                                         "has no points: the whole is always 100 %; write whole>N%");
        if (!sp_vec_push(&g->limits, l))
            return sp_nomem(d);
        if (!p[n])
            return SPAA_OK;
        start = p + n + 1;
    }
}

void sp_limits_free(struct sp_limits *g)
{
    for (size_t i = 0; i < g->limits.n; i++)
        sp_vec_free(&g->limits.v[i].cases);
    sp_vec_free(&g->limits);
}

/* ---- one function against one limit ---- */

/*
 * What is beyond the limit, and its standard error: for points new - base - L, for percent
 * new - (1 + L) base, so that no division is by a share near 0.
 */
struct beyond {
    double excess, se, df;
};

static struct beyond regression_limits_beyond(const struct sp_diff *d, const struct sp_limit *l,
                                              const struct sp_diff_test *t, bool share)
{
    struct sp_estimate a = t->side[SP_BASE], b = t->side[SP_NEW];
    double factor = l->points ? 1 : 1 + l->limit / 100;
    struct beyond x = {b.mean - factor * a.mean - (l->points ? l->limit / 100 : 0), NAN, INFINITY};
    if (share &&
        d->method <= SP_DIFF_TIME_BLOCKS) { /* a share of 0 is not known any better than one sample */
        double one[SP_SIDES];
        for (unsigned i = 0; i < SP_SIDES; i++)
            one[i] = 1 / (d->side[i].effective * d->side[i].effective);
        a.var = a.var < one[SP_BASE] ? one[SP_BASE] : a.var;
        b.var = b.var < one[SP_NEW] ? one[SP_NEW] : b.var;
    }
    a.var *= factor * factor;
    x.se = sqrt(a.var + b.var);
    if (isfinite(a.df) && a.var + b.var > 0)
        x.df = d->method >= SP_DIFF_REPEATS
                   ? a.df
                   : (a.var + b.var) * (a.var + b.var) / (a.var * a.var / a.df + b.var * b.var / b.df);
    return x;
}

/* P of at least this excess when there is none (sign 1), or of at most this (sign -1). */
static double chance(const struct beyond *x, int sign)
{
    if (isnan(x->se) || isnan(x->excess))
        return NAN;
    if (x->se == 0)
        return sign * x->excess > 0 ? 0 : 1;
    return sp_t_tail(sign * x->excess / x->se, x->df);
}

static double need(const struct beyond *x)
{
    double f = sp_t_quantile(0.95, x->df) * x->se / fabs(x->excess);
    return f > 1 ? f * f : NAN;
}

static double growth(const struct sp_limit *l, const struct sp_diff_test *t)
{
    double a = t->side[SP_BASE].mean, b = t->side[SP_NEW].mean;
    return l->points ? 100 * (b - a) : a > 0 ? 100 * (b - a) / a : b > 0 ? INFINITY : 0;
}

/* Growth in percent of memory and of exact counts is that of the amount; otherwise that of the share. */
const struct sp_diff_test *sp_limit_test(const struct sp_diff *d, const struct sp_limit *l,
                                         const struct sp_diff_row *row)
{
    bool amount = !l->points && (d->memory || d->method == SP_DIFF_EXACT);
    return amount ? &row->cost[l->family] : &row->share[l->family];
}

/* ---- a limit ---- */

static bool regression_limits_matches(const struct sp_diff *d, const struct sp_diff_row *row,
                                      const struct sp_limit *l, struct sp_str normal)
{
    struct sp_str key = sp_str_at(&d->strs, d->keys.v[row->key].function),
                  name = sp_str_at(&d->strs, row->function);
    if (l->name.n > 2 && memcmp(l->name.p, "f:", 2) == 0 && strlen(row->id) >= 2) {
        size_t n = strlen(row->id) < l->name.n ? strlen(row->id) : l->name.n;
        if (n > 5 && memcmp(row->id, l->name.p, n) == 0)
            return true;
    }
    const struct sp_diff_renamed *was = sp_diff_renamed_of(d, row);
    if (was && (sp_str_cmp(sp_str_at(&d->strs, d->keys.v[was->was].function), normal) == 0 ||
                sp_str_cmp(sp_str_at(&d->strs, was->name), l->name) == 0))
        return true;
    return sp_str_cmp(key, normal) == 0 || sp_str_cmp(name, l->name) == 0;
}

/*
 * What one side lacks is not known to have grown or shrunk: it may be removed, renamed, or inlined. Beside
 * others of its name it counts where samples enough say that it is none of chance.
 */
static void note_lacking(struct sp_limit *l, const struct sp_diff_row *row, bool *both)
{
    const struct sp_diff_row *had = l->lacking;
    bool in[SP_SIDES] = {row->side[SP_BASE].weight[SP_TOTAL] != 0, row->side[SP_NEW].weight[SP_TOTAL] != 0};
    if (in[SP_BASE] && in[SP_NEW])
        *both = true;
    else if (!had || fabs(row->share[SP_TOTAL].delta) > fabs(had->share[SP_TOTAL].delta))
        l->lacking = row;
}

static spaa_status regression_limits_unknown(struct sp_diff *d, const struct sp_limit *l)
{
    size_t n = d->rows.n + d->appeared.n + d->vanished.n;
    struct sp_str *names = calloc(n + 1, sizeof *names);
    struct sp_buf hint, asked;
    if (!names)
        return sp_nomem(d->diags);
    sp_buf_init(&hint, 64 << 10);
    sp_buf_init(&asked, 64 << 10);
    for (size_t i = 0; i < n; i++)
        names[i] = sp_str_at(&d->strs, sp_diff_row_at(d, i)->function);
    sp_buf_add(&asked, l->name.p, l->name.n);
    sp_nearest_words(&hint, sp_buf_cstr(&asked), names, n);
    sp_emit_hint(d->diags, SP_E032, SP_AT_NOTHING, sp_buf_cstr(&hint), "%s", sp_buf_cstr(&asked));
    sp_buf_free(&hint);
    sp_buf_free(&asked);
    free(names);
    return SPAA_ERR_USAGE; /* not that of a limit that is breached */
}

struct ranked {
    struct sp_limit_case c;
    double rank; /* how far beyond the limit, in standard errors */
};

static int regression_limits_cmp_ranked(const void *va, const void *vb)
{
    const struct ranked *a = va, *b = vb;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    return (a->c.row > b->c.row) - (a->c.row < b->c.row);
}

static double regression_limits_rank_of(const struct beyond *x)
{
    double r = x->se > 0 ? x->excess / x->se : x->excess > 0 ? INFINITY : -INFINITY;
    return isnan(r) ? -INFINITY : r;
}

static bool regression_limits_report(struct sp_limit *l, struct ranked *found, size_t n,
                                     enum sp_limit_verdict verdict)
{
    l->verdict = verdict;
    l->cases.n = 0;
    if (n)
        qsort(found, n, sizeof *found, regression_limits_cmp_ranked);
    for (size_t i = 0; i < n; i++)
        if (!sp_vec_push(&l->cases, found[i].c))
            return false;
    return true;
}

static bool judge_total(struct sp_limit *l, const struct sp_diff *d)
{
    struct beyond x = regression_limits_beyond(d, l, &d->whole, false);
    bool runs = sp_diff_establishes(d->method) && !sp_diff_lengths_differ(d) && !sp_diff_sampled_unlike(d);
    struct ranked r = {{NULL, growth(l, &d->whole), runs ? need(&x) : NAN}, 0};
    l->judged = 1;
    return regression_limits_report(l, &r, 1,
                                    !runs || isnan(x.se)              ? SP_LIMIT_UNSURE
                                    : chance(&x, 1) <= SP_DIFF_ALPHA  ? SP_LIMIT_BREACH
                                    : chance(&x, -1) <= SP_DIFF_ALPHA ? SP_LIMIT_PASSED
                                                                      : SP_LIMIT_UNSURE);
}

struct looked_at {
    struct sp_diff_row *row;
    struct beyond x;
    bool must; /* it must be shown to stay within the limit */
};

static bool judge_functions(struct sp_limit *l, const struct sp_diff *d, struct looked_at *at, size_t n)
{
    double *p = calloc(2 * n + 1, sizeof *p), *q = p ? p + n : NULL;
    struct ranked *found = calloc(n + 1, sizeof *found);
    size_t breaches = 0, open = 0;
    bool ok = p && found, runs = sp_diff_establishes(d->method);
    for (size_t i = 0; ok && i < n; i++)
        p[i] = chance(&at[i].x, 1);
    ok = ok && sp_adjust(p, q, n);
    for (size_t i = 0; ok && i < n && runs; i++)
        if (q[i] <= SP_DIFF_ALPHA)
            found[breaches++] = (struct ranked){{at[i].row, growth(l, sp_limit_test(d, l, at[i].row)), NAN},
                                                regression_limits_rank_of(&at[i].x)};
    for (size_t i = 0; ok && !breaches && i < n; i++) {
        const struct sp_diff_test *t = sp_limit_test(d, l, at[i].row);
        l->judged += at[i].must;
        if (at[i].must && (!runs || !(chance(&at[i].x, -1) <= SP_DIFF_ALPHA)))
            found[open++] = (struct ranked){{at[i].row, growth(l, t), runs ? need(&at[i].x) : NAN},
                                            regression_limits_rank_of(&at[i].x)};
    }
    l->judged = breaches ? breaches : l->judged;
    ok = ok && regression_limits_report(l, found, breaches ? breaches : open,
                                        breaches        ? SP_LIMIT_BREACH
                                        : open || !runs ? SP_LIMIT_UNSURE
                                                        : SP_LIMIT_PASSED);
    free(found);
    free(p);
    return ok;
}

static spaa_status regression_limits_judge(struct sp_limit *l, struct sp_diff *d, double min_share)
{
    size_t all = d->rows.n + d->appeared.n + d->vanished.n, n = 0;
    struct sp_buf normal;
    if (l->subject == SP_LIMIT_WHOLE)
        return judge_total(l, d) ? SPAA_OK : sp_nomem(d->diags);
    struct looked_at *at = calloc(all + 1, sizeof *at);
    bool both = false;
    sp_buf_init(&normal, 0);
    sp_normal_function(&normal, l->name);
    bool ok = at && !normal.failed;
    for (size_t i = 0; ok && i < all; i++) {
        struct sp_diff_row *row = sp_diff_row_at(d, i);
        const struct sp_diff_test *t = &row->share[l->family];
        bool one = l->subject == SP_LIMIT_FUNCTION;
        bool heavy = t->side[SP_BASE].mean >= min_share || t->side[SP_NEW].mean >= min_share;
        if (one ? !regression_limits_matches(
                      d, row, l, (struct sp_str){normal.data ? normal.data : "", (uint32_t)normal.len})
                : !heavy && !t->tested)
            continue;
        if (one)
            note_lacking(l, row, &both);
        const struct sp_diff_test *of = sp_limit_test(d, l, row);
        at[n++] = (struct looked_at){row, regression_limits_beyond(d, l, of, of == t), one || heavy};
    }
    sp_buf_free(&normal);
    spaa_status st = !ok                                     ? sp_nomem(d->diags)
                     : !n && l->subject == SP_LIMIT_FUNCTION ? regression_limits_unknown(d, l)
                     : judge_functions(l, d, at, n)          ? SPAA_OK
                                                             : sp_nomem(d->diags);
    free(at);
    if (l->verdict == SP_LIMIT_BREACH || (both && l->lacking && !l->lacking->share[l->family].tested))
        l->lacking = NULL;
    l->verdict = l->lacking ? SP_LIMIT_UNSURE : l->verdict;
    return st;
}

spaa_status sp_limits_judge(struct sp_limits *g, struct sp_diff *d, double min_share)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < g->limits.n; i++) {
        struct sp_limit *l = &g->limits.v[i];
        st = regression_limits_judge(l, d, min_share);
        if (l->verdict == SP_LIMIT_BREACH || (l->verdict == SP_LIMIT_UNSURE && g->verdict == SP_LIMIT_PASSED))
            g->verdict = l->verdict;
    }
    return st;
}
