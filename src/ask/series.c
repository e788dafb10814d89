/* Dumps of a process: read one by one, so that never more than two are in memory. */
#include "ask/series_parts.h"

#include "analysis/function_lookup.h"
#include "analysis/owners.h"
#include "model/callees.h"
#include "model/identity.h"

#include <math.h>

/* ---- reading ---- */

static const char *name_of(const struct sp_ask *q, size_t i)
{
    return i < q->nnames ? q->names[i] : "";
}

static spaa_status open_dump(struct sp_series *s, size_t i, struct sp_profile **out)
{
    struct sp_ask *q = s->q;
    if (q->open)
        return q->open(q->open_arg, i, q->options, out);
    *out = q->profiles[i];
    return SPAA_OK;
}

static bool of_memory(const struct sp_profile *p)
{
    for (size_t i = 0; i < p->metrics.n; i++)
        if (sp_is_of_memory(p, (uint32_t)i))
            return true;
    return false;
}

/* What to select of a dump: the same event and metric of each. */
static spaa_status choose(struct sp_series *s, struct sp_profile *p, struct sp_select_opts *how)
{
    if (!sp_ask_select_opts(s->q, how))
        return SPAA_ERR_USAGE;
    if (!of_memory(p) && strcmp(s->q->question->name, "timeline") == 0)
        return sp_usage(s->q->diags, "ask each", "timeline takes one profile, or several dumps of memory");
    how->allocators_elsewhere = true;
    how->may_be_empty = true; /* what is asked for may come later */
    return sp_leaks_choose(p, how, s->q->diags);
}

static spaa_status take_metric(struct sp_series *s, const struct sp_selection *of, size_t i)
{
    const struct sp_profile *p = of->profile;
    struct sp_str name = sp_pstr(p, p->metrics.v[of->metric].name);
    int m = 0;
    while (m < SP_HEAP_SUMS && !sp_str_is(name, sp_leak_metric_names[m]))
        m++;
    if (m == SP_HEAP_SUMS)
        return sp_usage(s->q->diags, "of several dumps: live_bytes, live_count, alloc_bytes, alloc_count",
                        "growth of %.*s is not told", (int)name.n, name.p);
    if (i && m != (int)s->rank) {
        sp_emit(s->q->diags, SP_E759, SP_AT_NOTHING, "one has %s, another has none of it",
                sp_leak_metric_names[m < (int)s->rank ? m : (int)s->rank]);
        return SPAA_ERR_USAGE;
    }
    s->rank = s->h.rank = (enum sp_leak_metric)m;
    return SPAA_OK;
}

/* Events of other names are of other things, as allocations of a GPU. */
static spaa_status check_event(struct sp_series *s, const struct sp_selection *of, size_t i, uint32_t *event)
{
    struct sp_str name = sp_pstr(of->profile, of->profile->events.v[of->event].name);
    uint32_t is = sp_intern(&s->h.strs, name.p, name.n);
    if (is == SP_STR_FAIL)
        return sp_nomem(s->q->diags);
    if (i && is != *event) {
        struct sp_str was = sp_str_at(&s->h.strs, *event);
        sp_emit(s->q->diags, SP_E759, SP_AT_NOTHING, "event %.*s, then %.*s", (int)was.n, was.p, (int)name.n,
                name.p);
        return SPAA_ERR_USAGE;
    }
    *event = is;
    return SPAA_OK;
}

/* ---- what one dump may lack: it has nothing of it then ---- */

/* Messages of an attempt: kept unless it found nothing. */
static spaa_status attempted(struct sp_series *s, struct sp_diags *tried, spaa_status st)
{
    if (st != SPAA_ERR_NOT_FOUND)
        sp_diags_merge(s->q->diags, tried);
    sp_diags_free(tried);
    return st;
}

static void begin_attempt(const struct sp_series *s, struct sp_diags *tried)
{
    sp_diags_init(tried);
    sp_diags_source(tried, s->q->diags->file, s->q->diags->format);
    tried->watch = s->q->diags->watch;
    tried->per_code = s->q->diags->per_code;
}

static spaa_status select_of_dump(struct sp_series *s, const struct sp_profile *p, struct sp_select_opts *how,
                                  struct sp_selection *of)
{
    struct sp_diags tried;
    if (!how->root_at)
        return sp_select(p, how, s->q->diags, of);
    begin_attempt(s, &tried);
    spaa_status st = attempted(s, &tried, sp_select(p, how, &tried, of));
    s->rooted += !st;
    if (st != SPAA_ERR_NOT_FOUND)
        return st;
    how->root_at = NULL;
    st = sp_select(p, how, s->q->diags, of);
    if (!st)
        of->rows.n = 0;
    return st;
}

/* Nothing is own: rows are owners. */
static spaa_status none_own(const struct sp_profile *p, struct sp_diags *d, struct sp_own *own)
{
    *own = (struct sp_own){calloc(p->functions.n + 1, 1), calloc(p->functions.n + 1, 1), false};
    if (own->own && own->by)
        return SPAA_OK;
    sp_own_free(own);
    return sp_nomem(d);
}

static spaa_status own_of_dump(struct sp_series *s, struct sp_selection *of, struct sp_own *own)
{
    struct sp_diags tried;
    const char *re = s->q->options->own_re;
    if (!re)
        return sp_own_of(of, NULL, s->q->diags, own);
    begin_attempt(s, &tried);
    spaa_status st = attempted(s, &tried, sp_own_of(of, re, &tried, own));
    s->owned += !st;
    return st == SPAA_ERR_NOT_FOUND ? none_own(of->profile, s->q->diags, own) : st;
}

/* ---- a dump ---- */

static spaa_status add_dump(struct sp_series *s, struct sp_profile *p, size_t i, uint32_t *event)
{
    struct sp_select_opts how;
    struct sp_selection of;
    struct sp_own own;
    spaa_status st = choose(s, p, &how);
    if (!st)
        st = select_of_dump(s, p, &how, &of);
    if (st)
        return st;
    s->has_allocators = s->has_allocators || !of.lacks_allocators;
    st = take_metric(s, &of, i);
    if (!st && i + 1 == s->q->nprofiles && !s->has_allocators)
        st = sp_select_no_allocators(p, of.allocators, s->q->diags);
    if (!st)
        st = check_event(s, &of, i, event);
    if (!st)
        st = own_of_dump(s, &of, &own);
    if (!st) {
        st = sp_heap_series_add(&s->h, &of, &own, name_of(s->q, i), s->q->diags);
        sp_own_free(&own);
    }
    sp_selection_free(&of);
    return st;
}

static void let_go(struct sp_series *s)
{
    if (s->opened && s->last != s->piped)
        sp_profile_free(s->last);
    s->last = NULL;
    s->opened = false;
}

static spaa_status read_all(struct sp_series *s)
{
    struct sp_ask *q = s->q;
    uint32_t event = SP_STR_NONE;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < q->nprofiles; i++) {
        let_go(s);
        st = open_dump(s, i, &s->last);
        s->opened = !st && q->open;
        if (s->opened && strcmp(name_of(q, i), "-") == 0)
            s->piped = s->last;
        sp_diags_source(q->diags, name_of(q, i), NULL);
        if (!st)
            st = add_dump(s, s->last, i, &event);
        sp_diags_source(q->diags, NULL, NULL);
    }
    if (!st)
        st = sp_heap_series_sort(&s->h, q->diags);
    if (st)
        return st;
    sp_heap_check(&s->h);
    size_t last = s->h.dumps.v[s->h.dumps.n - 1].input;
    if (last + 1 == q->nprofiles)
        return SPAA_OK;
    let_go(s); /* it was read before others: it is read again */
    if (s->piped && strcmp(name_of(q, last), "-") == 0) {
        s->last = s->piped;
        return SPAA_OK;
    }
    st = open_dump(s, last, &s->last);
    s->opened = !st && q->open;
    return st;
}

/* ---- the last one ---- */

static bool lacks_root(struct sp_series *s, const char *name)
{
    struct sp_diags tried;
    struct sp_function_lookup found;
    begin_attempt(s, &tried);
    spaa_status st = sp_lookup_functions(s->last, name, &tried, &found);
    sp_diags_free(&tried);
    if (!st)
        sp_function_lookup_free(&found);
    return st == SPAA_ERR_NOT_FOUND;
}

/* Other dumps have the function that stacks are to start at, the last one has not. */
static spaa_status select_nothing(struct sp_series *s, struct sp_select_opts *how)
{
    const char *root = how->root_at;
    how->root_at = NULL;
    spaa_status st = sp_asked_select(&s->one, how, s->out, &s->x);
    if (st)
        return st;
    s->x.s.rows.n = 0;
    s->x.s.kept = 0;
    sp_buf_printf(&s->x.s.filters, "%s--root-at %s", s->x.s.filters.len ? " " : "", root);
    return s->x.s.filters.failed ? sp_nomem(s->q->diags) : SPAA_OK;
}

static spaa_status ask_last(struct sp_series *s)
{
    struct sp_select_opts how;
    s->one = *s->q;
    s->one.profiles = &s->last;
    s->one.nprofiles = 1;
    s->one.open = NULL;
    spaa_status st = choose(s, s->last, &how);
    how.may_be_empty = s->h.owners.n > 0; /* in all dumps it is a slip */
    if (!st)
        st = sp_stack_ids(s->last);
    if (!st) {
        s->asked = true;
        st = s->rooted && how.root_at && lacks_root(s, how.root_at)
                 ? select_nothing(s, &how)
                 : sp_asked_select(&s->one, &how, s->out, &s->x);
    }
    if (!st && s->owned && !s->x.has_own) {
        st = own_of_dump(s, &s->x.s, &s->x.own);
        s->x.has_own = !st;
    }
    return st ? st : sp_asked_own(&s->x);
}

spaa_status sp_series_begin(struct sp_series *s, struct sp_ask *q, struct sp_answer *out, enum sp_heap_by by)
{
    s->q = q;
    s->out = out;
    if (q->options->output)
        return sp_usage(q->diags, "ask one file", "-o is not of several dumps");
    if (q->options->time)
        return sp_usage(q->diags, "leave dumps out instead", "--time is not of several dumps");
    spaa_status st = sp_heap_series_init(&s->h, q->diags);
    s->h.by = by;
    s->h.suppressed = q->options->suppressed != NULL;
    if (!st)
        st = read_all(s);
    if (!st && sp_heap_nothing_common(&s->h))
        return sp_usage(q->diags, "name dumps of one process",
                        "no two of these have a function or binary in common: they are of other programs");
    if (!st)
        st = ask_last(s);
    size_t runs = 0;
    for (size_t i = 0; i < s->h.dumps.n; i++)
        runs += s->h.dumps.v[i].of_run;
    s->runs = runs > 1;
    if (!st && !sp_heap_growth_of(&s->h, SIZE_MAX, s->rank, &s->whole))
        st = sp_nomem(q->diags);
    if (st)
        return st;
    sp_series_rates_up_to(s, s->whole.rate);
    struct sp_measure bytes = {.unit = {"bytes", 5}}, count = {0};
    s->bytes = sp_answer_measure(out, &bytes);
    s->count = sp_answer_measure(out, &count);
    s->ranked = sp_series_is_bytes(s->rank) ? s->bytes : s->count;
    return SPAA_OK;
}

void sp_series_free(struct sp_series *s)
{
    if (s->asked)
        sp_asked_free(&s->x);
    let_go(s);
    sp_profile_free(s->piped);
    sp_heap_series_free(&s->h);
    sp_vec_free(&s->doubts);
}

/* ---- words ---- */

bool sp_series_is_bytes(enum sp_leak_metric m)
{
    return m == SP_LEAK_LIVE_BYTES || m == SP_LEAK_ALLOC_BYTES;
}

void sp_series_amount(struct sp_buf *b, enum sp_leak_metric m, double v, bool sign)
{
    if (!isfinite(v) || fabs(v) > 9e18) {
        sp_buf_ch(b, '-');
        return;
    }
    sp_buf_puts(b, sign && llround(v) > 0 ? "+" : "");
    if (sp_series_is_bytes(m))
        sp_text_bytes(b, llround(v), 0);
    else
        sp_text_grouped(b, llround(v), 0);
}

void sp_series_seconds(struct sp_buf *b, double seconds)
{
    if (seconds < 600)
        sp_buf_printf(b, seconds < 10 ? "%.3g s" : "%.0f s", seconds);
    else if (seconds < 3600)
        sp_buf_printf(b, "%.0f min", seconds / 60);
    else
        sp_buf_printf(b, "%.1f h", seconds / 3600);
}

void sp_series_span(struct sp_buf *b, const struct sp_series *s)
{
    sp_text_count(b, s->h.dumps.n, s->runs ? "recording" : "dump");
    if (!s->runs && s->h.order == SP_HEAP_BY_TIME) {
        sp_buf_puts(b, " over ");
        sp_series_seconds(b, sp_heap_seconds(&s->h, s->h.dumps.n - 1));
    }
}

void sp_series_rates_up_to(struct sp_series *s, double rate)
{
    double least = sp_series_is_bytes(s->rank) ? 100 : 1;
    s->fastest = fmax(s->fastest, fabs(rate));
    s->hourly = s->h.order == SP_HEAP_BY_TIME && s->fastest > 0 && s->fastest < least;
}

/* Less than one, of which an amount would say 0. */
static void small_rate(struct sp_buf *b, const struct sp_series *s, double v, bool sign)
{
    double size = fabs(v);
    sp_buf_puts(b, v < 0 ? "-" : sign ? "+" : "");
    sp_buf_printf(b, size < 0.01 ? "<0.01" : "%.2f", size);
    sp_buf_puts(b, sp_series_is_bytes(s->rank) ? " B" : "");
}

/* All of an answer by the same unit of time, so that they can be compared. */
static void rate_amount(struct sp_buf *b, const struct sp_series *s, double v, bool sign)
{
    if (fabs(v) < 0.995 && v != 0)
        small_rate(b, s, v, sign);
    else
        sp_series_amount(b, s->rank, v, sign);
}

void sp_series_rate(struct sp_buf *b, const struct sp_series *s, const struct sp_heap_growth *g)
{
    double times = s->hourly ? 3600 : 1, rate = g->rate * times,
           half = fmax(g->hi - g->rate, g->rate - g->lo) * times;
    bool small = fabs(rate) < 0.995 && rate != 0, one_sided = g->lo >= 0 || g->hi <= 0;
    rate_amount(b, s, rate, true);
    sp_buf_puts(b, s->h.order != SP_HEAP_BY_TIME ? "/dump" : s->hourly ? "/h" : "/s");
    if (!g->interval || half < (small ? 0.005 : 0.5))
        return;
    if (one_sided && half > fabs(rate)) { /* which is not as far both ways */
        sp_buf_puts(b, " (");
        rate_amount(b, s, g->lo * times, true);
        sp_buf_puts(b, " to ");
        rate_amount(b, s, g->hi * times, true);
        sp_buf_ch(b, ')');
        return;
    }
    sp_buf_puts(b, " ± ");
    rate_amount(b, s, half, false);
}

void sp_series_sparkline(struct sp_buf *b, const struct sp_heap_series *h, size_t owner,
                         enum sp_leak_metric m)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    enum { SHOWN = 24 };
    size_t n = h->dumps.n, shown = n < SHOWN ? n : SHOWN;
    int64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t v = sp_heap_value(sp_heap_at(h, owner, i), m);
        most = v > most ? v : most;
    }
    for (size_t i = 0; i < shown; i++) {
        size_t at = shown > 1 ? i * (n - 1) / (shown - 1) : 0;
        int64_t v = sp_heap_value(sp_heap_at(h, owner, at), m);
        sp_buf_puts(b, v <= 0 || !most ? " " : blocks[(size_t)(((__int128)v * 8 - 1) / most)]);
    }
}
