/* The memory of a summary in words: the whole, and the commands to ask next. */
#include "ask/summary.h"

#include "model/memory_doubts.h"

#include "ask/next.h"
#include "model/identity.h"

#include <math.h>

void sp_memory_amount(struct sp_buf *b, enum sp_leak_metric m, int64_t v)
{
    bool bytes = m == SP_LEAK_LIVE_BYTES || m == SP_LEAK_ALLOC_BYTES || m == SP_LEAK_FREE_BYTES ||
                 m == SP_LEAK_PEAK_BYTES;
    if (v == SP_ABSENT)
        sp_buf_ch(b, '?');
    else if (bytes)
        sp_text_bytes(b, v, 0);
    else
        sp_text_grouped(b, v, 0);
}

int64_t sp_memory_doubt(double variance)
{
    double doubt = 1.96 * sqrt(variance);
    return doubt < 9e18 ? llround(doubt) : INT64_MAX;
}

/* ---- the whole ---- */

static int64_t of(const struct sp_summary *x, enum sp_leak_metric m)
{
    return x->memory.m.leaks.now.v[m];
}

static void add_seconds(struct sp_buf *b, int64_t ms)
{
    sp_buf_printf(b, "%.*f s", ms < 100000 ? 2 : 0, (double)ms / 1000);
}

/* " (malloc)", where it was said of nothing before */
static void head_event(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    struct sp_str name = sp_pstr(p, p->events.v[x->x.s.event].name);
    if (!b->len || !memchr(b->data, '(', b->len))
        sp_buf_printf(b, " (%.*s)", (int)name.n, name.p);
}

static void head_live(struct sp_buf *b, const struct sp_summary *x)
{
    const struct sp_summary_memory *y = &x->memory;
    int64_t blocks = of(x, SP_LEAK_LIVE_COUNT), doubt = sp_memory_doubt(y->m.variance);
    if (of(x, SP_LEAK_LIVE_BYTES) == SP_ABSENT)
        return;
    sp_buf_puts(b, "live ");
    sp_text_bytes(b, of(x, SP_LEAK_LIVE_BYTES), 0);
    if (doubt > 0) {
        sp_buf_puts(b, " ± ");
        sp_text_bytes(b, doubt, 0);
    }
    head_event(b, x);
    if (blocks != SP_ABSENT) {
        sp_buf_puts(b, y->m.period > 1 ? " in about " : " in ");
        sp_text_count(b, (uint64_t)(blocks < 0 ? 0 : blocks), "block");
    }
    sp_memory_moment_text(b, y->moment, x->x.q->options->at);
}

static void head_peak(struct sp_buf *b, const struct sp_summary *x)
{
    int64_t peak = of(x, SP_LEAK_PEAK_BYTES);
    bool part = x->x.s.filters.len; /* of the peak of all, whose time it was */
    if (peak == SP_ABSENT || x->memory.m.leaks.peaks_apart || (!peak && !part))
        return;
    sp_buf_puts(b, b->len ? "; " : "");
    if (!part)
        sp_buf_puts(b, "peak ");
    sp_text_bytes(b, peak, 0);
    head_event(b, x);
    sp_buf_puts(b, part ? " of the peak" : "");
    if (x->memory.peak_ms != SP_ABSENT) {
        sp_buf_puts(b, " at ");
        add_seconds(b, x->memory.peak_ms);
    } else if (x->memory.peak_at != SP_ABSENT) {
        sp_buf_puts(b, " after ");
        sp_text_grouped(b, x->memory.peak_at, 0);
        sp_buf_printf(b, " %s", x->memory.peak_unit);
    }
}

static void allocated(struct sp_buf *b, const struct sp_summary *x, bool event)
{
    int64_t calls = of(x, SP_LEAK_ALLOC_COUNT), temporary = of(x, SP_LEAK_TEMPORARY);
    sp_buf_puts(b, "allocated ");
    sp_text_bytes(b, of(x, SP_LEAK_ALLOC_BYTES), 0);
    if (event)
        head_event(b, x);
    if (calls != SP_ABSENT && calls >= 0) {
        sp_buf_puts(b, x->memory.m.period > 1 ? " by about " : " by ");
        sp_text_count(b, (uint64_t)calls, "call");
    }
    if (x->memory.runtime_ms != SP_ABSENT) {
        sp_buf_puts(b, " in ");
        add_seconds(b, x->memory.runtime_ms);
    }
    if (temporary > 0 && calls > 0) {
        sp_buf_puts(b, ", ");
        sp_text_about(b, temporary, calls);
        sp_buf_puts(b, " of them temporary");
    }
}

void sp_summary_memory_head(struct sp_buf *b, const struct sp_summary *x)
{
    struct sp_buf line; /* what of it is known so far */
    sp_buf_init(&line, 0);
    head_live(&line, x);
    head_peak(&line, x);
    if (!line.len && of(x, SP_LEAK_ALLOC_BYTES) != SP_ABSENT)
        allocated(&line, x, true);
    if (!line.len) {
        struct sp_str metric = sp_pstr(x->x.s.profile, x->x.s.profile->metrics.v[x->x.s.metric].name);
        sp_buf_printf(&line, "%.*s ", (int)metric.n, metric.p);
        sp_text_weight(&line, x->x.s.unit, x->x.s.scale, x->x.s.whole);
        head_event(&line, x);
    }
    b->failed |= line.failed;
    sp_buf_add(b, line.data, line.len);
    sp_buf_free(&line);
}

/* "memory: live 1.92 MiB, peak 1.93 MiB, allocated 3.40 MiB (--event malloc)" */
static void rest_of_others(struct sp_buf *b, const struct sp_summary *x)
{
    static const struct {
        enum sp_leak_metric m;
        const char *word;
    } said[] = {
        {SP_LEAK_LIVE_BYTES, "live"}, {SP_LEAK_PEAK_BYTES, "peak"}, {SP_LEAK_ALLOC_BYTES, "allocated"}};
    const struct sp_profile *p = x->x.s.profile;
    struct sp_leak_sums all;
    uint32_t event = p->events.n > 1 ? sp_summary_memory_event(p, &all) : SP_NONE;
    if (event == SP_NONE || event == x->x.s.event || x->x.s.filters.len)
        return;
    const char *between = "memory: ";
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        bool several = said[i].m == SP_LEAK_PEAK_BYTES && p->sources.n > 1; /* at other moments each */
        if (all.v[said[i].m] <= 0 || several)
            continue;
        sp_buf_printf(b, "%s%s ", between, said[i].word);
        sp_text_bytes(b, all.v[said[i].m], 0);
        between = ", ";
    }
    struct sp_str name = sp_pstr(p, p->events.v[event].name);
    if (b->len)
        sp_buf_printf(b, " (--event %.*s)", (int)name.n, name.p);
}

void sp_summary_memory_rest(struct sp_buf *b, const struct sp_summary *x)
{
    if (!x->memory.known) {
        rest_of_others(b, x);
        return;
    }
    const struct sp_summary_memory *y = &x->memory;
    int64_t hidden = y->m.leaks.hidden[SP_LEAK_LIVE_BYTES];
    bool first = of(x, SP_LEAK_LIVE_BYTES) == SP_ABSENT &&
                 (of(x, SP_LEAK_PEAK_BYTES) == SP_ABSENT || y->m.leaks.peaks_apart);
    if (!first && of(x, SP_LEAK_ALLOC_BYTES) != SP_ABSENT)
        allocated(b, x, false);
    if (y->rss != SP_ABSENT && !x->x.s.filters.len) {
        sp_buf_puts(b, b->len ? "; RSS at most " : "RSS at most ");
        sp_text_bytes(b, y->rss, 0);
    }
    if (hidden != SP_ABSENT && hidden > 0) {
        sp_buf_puts(b, b->len ? "; not counted as live: " : "not counted as live: ");
        sp_text_bytes(b, hidden, 0);
        sp_buf_puts(b, " (suppressed)");
    }
}

/* ---- next ---- */

/* The memory of a function that only allocates is that of who calls it. */
static void next_wrapper(struct sp_summary *x)
{
    const struct sp_profile *p = x->x.s.profile;
    struct sp_buf tail;
    sp_buf_init(&tail, 0);
    struct sp_str name = sp_memory_plain_name(sp_pstr(p, p->functions.v[x->memory.wrapper].name));
    sp_buf_printf(&tail, "--allocators %.*s", (int)name.n, name.p);
    x->x.out->failed |= tail.failed;
    sp_answer_next(x->x.out, "summary", NULL, sp_buf_cstr(&tail));
    sp_buf_free(&tail);
}

void sp_summary_memory_next(struct sp_summary *x)
{
    struct sp_answer *a = x->x.out;
    const struct sp_summary_memory *y = &x->memory;
    enum sp_leak_metric rank = y->m.rank;
    bool peaks = of(x, SP_LEAK_PEAK_BYTES) > 0 && !y->m.leaks.peaks_apart;
    if (rank == SP_LEAK_PEAK_BYTES && !x->x.q->options->metric)
        sp_answer_next(a, "leaks", NULL, "--metric peak");
    sp_answer_next(a, "leaks", NULL, NULL);
    if (x->x.q->options->metric) /* commands take it over */
        return;
    if (peaks && rank != SP_LEAK_PEAK_BYTES)
        sp_answer_next(a, "leaks", NULL, "--metric peak");
    if (y->m.leaks.growth || sp_end_without_stacks(x->x.s.profile))
        sp_answer_next(a, "timeline", NULL, "--metric live_bytes");
    if (of(x, SP_LEAK_ALLOC_COUNT) > 0)
        sp_answer_next(a, "leaks", NULL, "--metric calls");
    if (y->wrapper != SP_NONE)
        next_wrapper(x);
}

void sp_summary_memory_also(struct sp_buf *b, const struct sp_summary *x)
{
    static const struct {
        const char *question, *tail, *what;
    } known[] = {{"leaks", "--metric peak", "the peak"},
                 {"leaks", NULL, "who holds it"},
                 {"timeline", "--metric live_bytes", "when"},
                 {"leaks", "--metric calls", "churn"}};
    const struct sp_answer *a = x->x.out;
    for (size_t i = 1; i < a->next.n; i++) {
        const struct sp_next *next = &a->next.v[i];
        const char *what = NULL;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strcmp(next->question, known[k].question) == 0 && !next->tail == !known[k].tail &&
                (!next->tail || strcmp(next->tail, known[k].tail) == 0))
                what = known[k].what;
        sp_buf_printf(b, "%s%s%s%s", b->len ? "; " : "also: ", next->question, next->tail ? " " : "",
                      next->tail ? next->tail : "");
        if (strcmp(next->question, "summary") == 0)
            what = "by its callers";
        if (what)
            sp_buf_printf(b, " (%s)", what);
    }
}
