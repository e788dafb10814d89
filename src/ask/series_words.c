/* What is said of a series of dumps as a whole: how much more is live, in which order they are, what is
 * doubtful. */
#include "ask/series_parts.h"

#include "analysis/short_name.h"

#include <math.h>

/* ---- facts ---- */

int64_t sp_series_allocated(const struct sp_series *s, size_t owner)
{
    const struct sp_heap_sums *a = sp_heap_at(&s->h, owner, 0),
                              *b = sp_heap_at(&s->h, owner, s->h.dumps.n - 1);
    int64_t more;
    if (!s->h.known[SP_LEAK_ALLOC_BYTES] || !b || b->v[SP_LEAK_ALLOC_BYTES] == SP_ABSENT ||
        __builtin_sub_overflow(b->v[SP_LEAK_ALLOC_BYTES], sp_heap_value(a, SP_LEAK_ALLOC_BYTES), &more))
        return SP_ABSENT;
    return more < 0 ? SP_ABSENT : more;
}

static double kept_percent(const struct sp_series *s)
{
    int64_t allocated = sp_series_allocated(s, SIZE_MAX);
    double more = (double)sp_heap_value(sp_heap_at(&s->h, SIZE_MAX, s->h.dumps.n - 1), SP_LEAK_LIVE_BYTES) -
                  (double)sp_heap_value(sp_heap_at(&s->h, SIZE_MAX, 0), SP_LEAK_LIVE_BYTES);
    return allocated == SP_ABSENT || allocated <= 0 || !s->h.known[SP_LEAK_LIVE_BYTES]
               ? NAN
               : 100 * more / (double)allocated;
}

static void fact_number(struct sp_answer *a, const char *name, double v)
{
    if (isfinite(v))
        sp_fact_real(a, name, v);
    else
        sp_fact_null(a, name);
}

static int64_t rate_of_sampling(const struct sp_heap_series *h)
{
    int64_t most = 0;
    for (size_t i = 0; i < h->dumps.n; i++)
        most = h->dumps.v[i].rate > most ? h->dumps.v[i].rate : most;
    return most;
}

void sp_series_facts(struct sp_series *s)
{
    struct sp_answer *a = s->out;
    const struct sp_heap_series *h = &s->h;
    const struct sp_heap_growth *g = &s->whole;
    size_t last = h->dumps.n - 1;
    bool timed = h->order == SP_HEAP_BY_TIME;
    int64_t rate = rate_of_sampling(h);
    struct sp_buf *b = &s->x.b;
    sp_fact_count(a, "series.dumps", (int64_t)h->dumps.n);
    sp_fact_cstr(a, "series.order_from", sp_heap_order_names[h->order]);
    sp_fact_bool(a, "series.reordered", h->moved);
    sp_fact_scaled(a, "series.seconds", timed ? h->dumps.v[last].time_ns - h->dumps.v[0].time_ns : SP_ABSENT,
                   9);
    sp_fact_cstr(a, "series.rate_per", timed ? "second" : "dump");
    sp_fact_weight(a, "series.sampled_every", s->bytes, rate ? rate : SP_ABSENT);
    sp_fact_weight(a, "series.first", s->ranked, sp_heap_value(&h->dumps.v[0].all, s->rank));
    sp_fact_weight(a, "series.last", s->ranked, sp_heap_value(&h->dumps.v[last].all, s->rank));
    sp_fact_weight(a, "series.growth", s->ranked, llround(g->growth));
    fact_number(a, "series.growth_sd", g->sd);
    bool rated = !s->runs && !sp_series_withheld(s);
    fact_number(a, "series.rate", rated ? g->rate : NAN);
    fact_number(a, "series.rate_low", rated && g->interval ? g->lo : NAN);
    fact_number(a, "series.rate_high", rated && g->interval ? g->hi : NAN);
    if (s->runs)
        sp_fact_null(a, "series.kind");
    else
        sp_fact_cstr(a, "series.kind", sp_leak_trend_names[g->trend]);
    sp_fact_weight(a, "series.allocated", s->bytes, sp_series_allocated(s, SIZE_MAX));
    fact_number(a, "series.kept_percent", kept_percent(s));
    sp_buf_clear(b);
    sp_series_sparkline(b, h, SIZE_MAX, s->rank);
    a->failed |= b->failed;
    sp_fact_text(a, "series.sparkline", sp_buf_text(b), b->len);
}

/* ---- the whole in a line ---- */

static const char *what_of(enum sp_leak_metric m)
{
    static const char *const words[SP_HEAP_SUMS] = {"live", "live blocks", "allocated", "calls"};
    return words[m];
}

void sp_series_say_total(struct sp_series *s, const char *behind)
{
    struct sp_buf *b = &s->x.b;
    const struct sp_heap_series *h = &s->h;
    double kept = kept_percent(s);
    sp_buf_clear(b);
    sp_buf_printf(b, "%s ", what_of(s->rank));
    sp_series_amount(b, s->rank, (double)sp_heap_value(&h->dumps.v[0].all, s->rank), false);
    sp_buf_puts(b, " to ");
    sp_series_amount(b, s->rank, (double)sp_heap_value(&h->dumps.v[h->dumps.n - 1].all, s->rank), false);
    sp_buf_puts(b, " in ");
    sp_series_span(b, s);
    sp_buf_puts(b, ": ");
    bool judged = !s->runs && !sp_series_withheld(s);
    if (judged && (h->dumps.n > 2 || s->h.order == SP_HEAP_BY_TIME)) {
        sp_series_rate(b, s, &s->whole);
    } else {
        sp_series_amount(b, s->rank, s->whole.growth, true);
        if (s->whole.sd > 0) {
            sp_buf_puts(b, " ± ");
            sp_series_amount(b, s->rank, s->whole.unsure, false);
        }
    }
    if (judged)
        sp_buf_printf(b, " (%s)", sp_leak_trend_names[s->whole.trend]);
    if (judged && isfinite(kept) && s->rank == SP_LEAK_LIVE_BYTES) {
        sp_buf_puts(b, "; of ");
        sp_series_amount(b, SP_LEAK_ALLOC_BYTES, (double)sp_series_allocated(s, SIZE_MAX), false);
        if (kept > 0)
            sp_buf_printf(b,
                          kept < 9.95 ? " allocated meanwhile %.1f %% stayed"
                                      : " allocated meanwhile %.0f %% stayed",
                          kept);
        else
            sp_buf_puts(b, " allocated meanwhile nothing stayed");
    }
    sp_buf_puts(b, behind ? behind : "");
    sp_answer_line_of(s->out, SP_LINE_HEAD, b);
}

/* ---- doubts ---- */

bool sp_series_withheld(const struct sp_series *s)
{
    return s->h.mixed || (s->h.apart && s->h.dumps.n > 2);
}

/* A line for people, and a text of the fact. */
static void doubt(struct sp_series *s, enum sp_line_style style)
{
    struct sp_answer *a = s->out;
    struct sp_buf *b = &s->x.b;
    struct sp_value_text t = {sp_arena_dup(&a->arena, sp_buf_text(b), b->len), b->len};
    a->failed |= b->failed || !t.p || !sp_vec_push(&s->doubts, t);
    sp_answer_line_of(a, style, b);
    sp_buf_clear(b);
}

static size_t timed(const struct sp_heap_series *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->dumps.n; i++)
        n += h->dumps.v[i].timed;
    return n;
}

static const char *why_no_times(const struct sp_heap_series *h)
{
    size_t n = timed(h);
    return !n               ? "the files have no times"
           : n < h->dumps.n ? "not all files have times"
                            : "their times are equal";
}

static void say_order(struct sp_series *s)
{
    const struct sp_heap_series *h = &s->h;
    struct sp_buf *b = &s->x.b;
    if (h->mixed || s->runs)
        return; /* it was said first; runs have none */
    if (h->order == SP_HEAP_AS_GIVEN && timed(h))
        sp_buf_printf(b, "order: as given; %s, nor do numbers in their names tell it", why_no_times(h));
    else if (h->order == SP_HEAP_AS_GIVEN)
        sp_buf_puts(b, "order: as given; neither times in the files nor numbers in their names tell it");
    else if (h->order == SP_HEAP_BY_NAME)
        sp_buf_printf(b, "order: by the numbers in the names%s; %s: rates are per dump",
                      h->moved ? ", not as given" : "", why_no_times(h));
    else if (h->moved)
        sp_buf_puts(b, "order: by the times in the files, not as given");
    else
        return;
    doubt(s, SP_LINE_PLAIN);
}

static void say_mixed(struct sp_series *s)
{
    const struct sp_heap_series *h = &s->h;
    struct sp_buf *b = &s->x.b;
    if (!h->mixed)
        return;
    if (h->lost != SIZE_MAX)
        sp_buf_printf(
            b, "order not known: nothing tells where %s belongs (others have %s): without it they tell more",
            h->dumps.v[h->lost].name, timed(h) ? "times" : "numbers in their names");
    else
        sp_buf_printf(b, "order not known: %s, and their names are of several series",
                      timed(h) ? "some have times, some do not" : "the files have no times");
    doubt(s, SP_LINE_WARNING);
}

static void say_twice(struct sp_series *s)
{
    enum { SAID = 3 };
    const struct sp_heap_series *h = &s->h;
    struct sp_buf *b = &s->x.b;
    const char *once = h->dumps.n < s->q->nprofiles ? ": counted once" : "";
    for (size_t i = 0; i < h->same.n && i < SAID; i++) {
        const struct sp_heap_same *x = &h->same.v[i];
        if (strcmp(x->name, x->of) == 0)
            sp_buf_printf(b, "%s is given twice%s", x->name, once);
        else
            sp_buf_printf(b, "%s is the same dump as %s%s", x->name, x->of, once);
        if (i + 1 == SAID && h->same.n > SAID)
            sp_buf_printf(b, ", and %zu more", h->same.n - SAID);
        doubt(s, SP_LINE_WARNING);
    }
}

/* "not one process: the names have several process ids, X has another than the others" */
static void say_several(struct sp_series *s, int64_t (*of)(const struct sp_heap_dump *x), const char *words)
{
    size_t odd;
    if (!sp_heap_several(&s->h, of, &odd))
        return;
    sp_buf_printf(&s->x.b, "not one process: %s", words);
    if (odd != SIZE_MAX)
        sp_buf_printf(&s->x.b, "; %s alone is otherwise", s->h.dumps.v[odd].name);
    doubt(s, SP_LINE_WARNING);
}

static void say_falls(struct sp_series *s)
{
    const struct sp_heap_series *h = &s->h;
    const struct sp_heap_fall *f = &h->fall;
    struct sp_buf *b = &s->x.b;
    if (!f->there || s->runs)
        return;
    const struct sp_heap_sums *was = sp_heap_at(h, f->owner, f->dump - 1),
                              *is = sp_heap_at(h, f->owner, f->dump);
    if (f->odd != SIZE_MAX)
        sp_buf_printf(b, "%s is of another process: ", h->dumps.v[f->odd].name);
    else
        sp_buf_puts(b, "not one process in this order: ");
    sp_buf_puts(b, "what was allocated in all");
    if (f->owner != SIZE_MAX) {
        uint32_t name = h->owners.v[f->owner].name;
        struct sp_str t = name ? sp_str_at(&h->strs, name) : (struct sp_str){"[no stack]", 10};
        sp_buf_puts(b, " by ");
        sp_short_name(b, t.p, t.n, SP_SHORTEST);
    }
    sp_buf_puts(b, " falls from ");
    sp_series_amount(b, f->metric, (double)sp_heap_value(was, f->metric), false);
    sp_buf_puts(b, " to ");
    sp_series_amount(b, f->metric, (double)sp_heap_value(is, f->metric), false);
    if (f->odd == f->dump)
        sp_buf_puts(b, " there");
    else
        sp_buf_printf(b, " at %s", h->dumps.v[f->dump].name);
    doubt(s, SP_LINE_WARNING);
}

void sp_series_say_first(struct sp_series *s)
{
    const struct sp_heap_series *h = &s->h;
    struct sp_buf *b = &s->x.b;
    sp_buf_clear(b);
    say_several(s, sp_heap_pid, "the names have several process ids");
    say_several(s, sp_heap_command, "the dumps are of several commands");
    say_several(s, sp_heap_rate, "the dumps have several distances between samples");
    if (h->rebuilt) {
        struct sp_str name = sp_str_at(&h->strs, h->rebuilt);
        sp_buf_printf(b, "not one process: the dumps are of several builds of %.*s", (int)name.n, name.p);
        doubt(s, SP_LINE_WARNING);
    }
    if (s->runs) {
        sp_buf_puts(
            b, "not one process: these tools write a recording a run, so differences are between runs, no "
               "growth; dumps of one process (pprof, jemalloc, tcmalloc, node) would tell growth");
        doubt(s, SP_LINE_WARNING);
    }
    say_mixed(s);
    say_falls(s);
}

static void say_sampling(struct sp_series *s)
{
    const struct sp_heap_series *h = &s->h;
    struct sp_buf *b = &s->x.b;
    int64_t rate = rate_of_sampling(h);
    bool go = false, guessed = false;
    for (size_t i = 0; i < h->dumps.n; i++) {
        go = go || h->dumps.v[i].go;
        guessed = guessed || h->dumps.v[i].rate_guessed;
    }
    if (rate) {
        sp_buf_printf(b, "estimates of %sa sample per ", guessed ? "about " : "");
        sp_text_bytes(b, rate, 0);
        sp_buf_puts(b, guessed ? " (which the files do not say)" : "");
        sp_buf_puts(
            b, ": ± is the 95 % that sampling and the steps leave; what has 0 in it is not said to grow");
        doubt(s, SP_LINE_PLAIN);
    }
    if (go) {
        sp_buf_puts(b, "Go tells what was live at the last garbage collection, maybe long before a dump "
                       "(heap?gc=1 collects first)");
        doubt(s, SP_LINE_PLAIN);
    }
}

void sp_series_say_doubts(struct sp_series *s)
{
    struct sp_buf *b = &s->x.b;
    int64_t hidden = 0;
    sp_buf_clear(b);
    say_order(s);
    say_twice(s);
    if (s->h.dumps.n == 2 && !s->runs && !s->h.apart) {
        sp_buf_puts(b, "two dumps tell a difference, no trend: a third would tell growth from a step");
        doubt(s, SP_LINE_PLAIN);
    } else if (s->h.dumps.n < SP_FEW_DUMPS && !s->runs && !s->h.apart && !s->h.mixed) {
        sp_buf_printf(
            b,
            "%zu dumps are few: all may be of one rise of what comes and goes (a cache, a heap before its "
            "collection); more would tell",
            s->h.dumps.n);
        doubt(s, SP_LINE_PLAIN);
    }
    say_sampling(s);
    for (size_t i = 0; i < s->h.dumps.n; i++)
        hidden = s->h.dumps.v[i].hidden > hidden ? s->h.dumps.v[i].hidden : hidden;
    if (hidden) {
        sp_buf_puts(b, "not counted as live, since heaptrack's suppressions fit: up to ");
        sp_text_bytes(b, hidden, 0);
        sp_buf_puts(b, " a dump (--suppressed counts it)");
        doubt(s, SP_LINE_PLAIN);
    }
    sp_answer_open(s->out, "doubts", '[');
    for (size_t i = 0; i < s->doubts.n; i++)
        sp_fact_text(s->out, "", s->doubts.v[i].p, s->doubts.v[i].n);
    sp_answer_close(s->out);
}
