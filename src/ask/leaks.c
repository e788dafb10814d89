/* leaks: what memory is live, who asked for it, what grows, and what only comes and goes. */
#include "ask/leaks.h"
#include "ask/leaks_words.h"
#include "ask/series.h"

#include "analysis/heap_weights.h"
#include "analysis/own_fold.h"
#include "analysis/stacks.h"
#include "base/num.h"
#include "model/memory_doubts.h"

#include <string.h>

enum { WINDOWS = 48 };

const char *sp_leak_member(int m)
{
    return m == SP_LEAK_TEMPORARY ? "temporary_count" : sp_leak_metric_names[m];
}

/* ---- facts ---- */

#define FACT_SUMS(path, words)                                                                               \
    {path "live_bytes", SP_COL_WEIGHT, .doc = "bytes that are live" words},                                  \
        {path "live_count", SP_COL_WEIGHT, .doc = "blocks that are live" words},                             \
        {path "alloc_bytes", SP_COL_WEIGHT, .doc = "bytes allocated" words},                                 \
        {path "alloc_count", SP_COL_WEIGHT, .doc = "calls that allocated" words},                            \
        {path "free_bytes", SP_COL_WEIGHT, .doc = "bytes freed" words},                                      \
        {path "free_count", SP_COL_WEIGHT, .doc = "blocks freed" words},                                     \
        {path "temporary_count", SP_COL_WEIGHT, .doc = "calls whose block was freed next" words},            \
    {                                                                                                        \
        path "peak_bytes", SP_COL_WEIGHT, .doc = "bytes at the peak" words                                   \
    }
static const struct sp_answer_column leaks_facts[] = {
    FACT_SUMS("memory.", "; null where it is not known"),
#define REACH(kind, words)                                                                                   \
    SOMETIMES("leak_kinds." kind ".live_bytes", SP_COL_WEIGHT, "bytes that " words),                         \
        SOMETIMES("leak_kinds." kind ".live_count", SP_COL_WEIGHT, "blocks that " words)
    REACH("definite", "are lost, where the file says so; null: none are"),
    REACH("indirect", "only those lead to"),
    REACH("possible", "may be lost"),
    REACH("other", "are of another kind"),
    REACH("reachable", "the program can still reach"),
    {"reachability", SP_COL_TEXT,
     .doc = "told: by the file, see leak_kind; collected: what is live was reachable when garbage was last "
            "collected; null: not known"},
    {"seconds", SP_COL_NUMBER, .doc = "how long the profile lasted; null: not known"},
    {"ranked_by", SP_COL_TEXT, .doc = "the metric that sorts the rows"},
    {"growth_from", SP_COL_TEXT, .doc = "what tells what grows: windows; null: nothing does"},
    {"end_without_stacks", SP_COL_BOOL,
     .doc = "who holds what is live at the end was not recorded: rows are of the peak"},
    {"files_without_folders", SP_COL_BOOL,
     .doc =
         "inlined functions of libraries may look like the program's (valgrind without --fullpath-after=)"},
    {"stacks_ending_early", SP_COL_COUNT, .doc = "LeakSanitizer's stacks that end before threads begin"},
    {"peaks_add", SP_COL_BOOL, .doc = "peaks of several stacks are parts of one total"},
    {"stacks_with_allocators_skipped", SP_COL_COUNT, .doc = "those whose leaves are allocators"},
    {"suppressed.stacks", SP_COL_COUNT, .doc = "call stacks whose memory the recording calls no leak"},
    {"suppressed.live_bytes", SP_COL_WEIGHT, .doc = "bytes that are live of these; not counted as live"},
    {"suppressed.live_count", SP_COL_WEIGHT, .doc = "blocks likewise"},
    SP_SERIES_FACTS,
    {0},
};

static void fact_sums(struct sp_leaks_asked *x)
{
    sp_answer_open(x->x->out, "memory", '{');
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        sp_fact_weight(x->x->out, sp_leak_member(m), sp_leak_is_bytes(m) ? x->bytes : x->count,
                       x->l.now.v[m]);
    sp_answer_close(x->x->out);
}

/* What of it the file calls lost. */
static void fact_reaches(struct sp_leaks_asked *x)
{
    static const char *const names[][2] = {
        {"leak_kinds.definite.live_bytes", "leak_kinds.definite.live_count"},
        {"leak_kinds.indirect.live_bytes", "leak_kinds.indirect.live_count"},
        {"leak_kinds.possible.live_bytes", "leak_kinds.possible.live_count"},
        {"leak_kinds.other.live_bytes", "leak_kinds.other.live_count"},
        {"leak_kinds.reachable.live_bytes", "leak_kinds.reachable.live_count"}};
    for (size_t r = 0; x->l.told && r < sizeof names / sizeof *names; r++)
        for (int m = 0; m < 2; m++)
            sp_fact_weight(x->x->out, names[r][m], m ? x->count : x->bytes, x->l.reach[r].v[m]);
}

static void put_facts(struct sp_leaks_asked *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_leaks *l = &x->l;
    fact_sums(x);
    fact_reaches(x);
    sp_fact_cstr(a, "reachability", l->told ? "told" : sp_heap_is_of_go(l->profile) ? "collected" : NULL);
    sp_fact_scaled(a, "seconds", l->now_ns > 0 ? l->now_ns : SP_ABSENT, 9);
    sp_fact_cstr(a, "ranked_by", sp_leak_metric_names[l->rank]);
    sp_fact_cstr(a, "growth_from", l->growth ? "windows" : NULL);
    sp_fact_bool(a, "end_without_stacks", x->end_untold);
    sp_fact_bool(a, "files_without_folders", sp_files_without_folders(l->profile));
    sp_fact_count(a, "stacks_ending_early", (int64_t)sp_leak_stacks_cut(l->profile));
    sp_fact_bool(a, "peaks_add", l->has[SP_LEAK_PEAK_BYTES] && !l->peaks_apart);
    sp_fact_count(a, "stacks_with_allocators_skipped", (int64_t)l->skipped);
    sp_answer_open(a, "suppressed", '{');
    sp_fact_count(a, "stacks", (int64_t)l->suppressed);
    sp_fact_weight(a, "live_bytes", x->bytes, l->hidden[SP_LEAK_LIVE_BYTES]);
    sp_fact_weight(a, "live_count", x->count, l->hidden[SP_LEAK_LIVE_COUNT]);
    sp_answer_close(a);
}

/* ---- next ---- */

/* The own function that allocated, through the row's function or as it; else that. */
static uint32_t asked_for(const struct sp_leaks_asked *x, const struct sp_leak_row *r)
{
    size_t n, at;
    const uint32_t *frames = sp_selected_frames(&x->x->s, r->row, &n);
    uint32_t own = frames ? sp_own_nearest(x->l.profile, &x->x->own, frames, n, 0, &at) : SP_NONE;
    return own == SP_NONE ? r->function : own;
}

static void put_next(struct sp_leaks_asked *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_options *o = x->x->q->options;
    const struct sp_leak_row *first = x->l.rows.n ? &x->l.rows.v[0] : NULL;
    char handle[32];
    if (!o->leaks_by)
        sp_answer_next(a, "leaks", NULL, "--by stack -n 3");
    if (!o->metric && x->l.rank != SP_LEAK_ALLOC_BYTES && x->l.has[SP_LEAK_ALLOC_BYTES])
        sp_answer_next(a, "leaks", NULL, "--metric alloc_bytes");
    if (first && first->function != SP_NONE &&
        sp_handle_text_alike(&x->x->handles, asked_for(x, first), handle))
        sp_answer_next(a, "function", handle,
                       o->metric || x->l.rank != SP_LEAK_LIVE_BYTES ? NULL : "--metric live_bytes");
}

/* ---- inputs ---- */

/* How long a profile lasted: what it says, else its range of time; 0: not known. */
static int64_t duration_of(const struct sp_profile *p)
{
    const struct sp_header *h = &p->header;
    struct sp_str t = sp_pstr(p, h->duration), a = sp_pstr(p, h->time_start), b = sp_pstr(p, h->time_end);
    int64_t ns, from;
    if (h->duration && sp_seconds_ns(t.p, t.n, &ns))
        return ns;
    if (h->time_end && sp_str_is(sp_pstr(p, h->time_unit), "seconds") && sp_seconds_ns(a.p, a.n, &from) &&
        sp_seconds_ns(b.p, b.n, &ns) && ns > from)
        return ns - from;
    return 0;
}

/* ---- the question ---- */

static void leaks_measures(struct sp_leaks_asked *x)
{
    struct sp_measure bytes = {.unit = {"bytes", 5}}, count = {0}, rank = {0};
    rank.unit = sp_leak_is_bytes((int)x->l.rank) ? bytes.unit : count.unit;
    rank.whole = x->l.now.v[x->l.rank] == SP_ABSENT ? 0 : x->l.now.v[x->l.rank];
    x->bytes = sp_answer_measure(x->x->out, &bytes);
    x->count = sp_answer_measure(x->x->out, &count);
    x->rank = sp_answer_measure(x->x->out, &rank);
}

/* x->x has its selection. */
static spaa_status leaks_answer(struct sp_leaks_asked *x, struct sp_leaks_opts *o)
{
    struct sp_asked *asked = x->x;
    spaa_status st = sp_asked_own(asked);
    if (st)
        return st;
    /* Of stacks as recorded, rows are of what handed the memory out. */
    o->by_owner = x->by == SP_LEAKS_BY_OWNER || asked->q->options->keep_allocators;
    o->own = &asked->own;
    st = sp_leaks_of(&asked->s, o, asked->q->diags, &x->l);
    if (st)
        return st;
    x->ns = x->l.now_ns;
    sp_asked_facts(asked);
    sp_asked_heading(asked);
    leaks_measures(x);
    put_facts(x);
    sp_leaks_say_doubts(x);
    sp_leaks_say_totals(x);
    st = sp_leaks_put_rows(x);
    sp_leaks_say_notes(x);
    put_next(x);
    sp_leaks_free(&x->l);
    return st ? st : sp_asked_end(asked);
}

static spaa_status leaks_select(struct sp_leaks_asked *x, struct sp_ask *q, struct sp_leaks_opts *o,
                                struct sp_answer *out)
{
    struct sp_select_opts select;
    if (!sp_ask_select_opts(q, &select))
        return SPAA_ERR_USAGE;
    spaa_status st = sp_leaks_choose(q->profiles[0], &select, q->diags);
    x->end_untold = sp_end_without_stacks(q->profiles[0]);
    if (!st && x->end_untold && !q->options->metric && select.metric && !strcmp(select.metric, "live_bytes"))
        select.metric = "peak_bytes"; /* the moment nearest to what is asked for that has owners */
    if (!st)
        st = sp_stack_ids(q->profiles[0]);
    if (!st)
        st = sp_asked_select(q, &select, out, x->x);
    return st ? st : leaks_answer(x, o);
}

static bool leaks_options(const struct sp_options *o, struct sp_diags *d, enum sp_leaks_by *by)
{
    static const char *const kinds[] = {"function", "owner", "stack", NULL};
    int chosen;
    bool ok = sp_option_choice(d, "by", o->leaks_by, kinds, 0, &chosen);
    *by = ok ? (enum sp_leaks_by)chosen : SP_LEAKS_BY_FUNCTION;
    return ok;
}

static spaa_status leaks_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_leaks_opts o = {.suppressed = q->options->suppressed != NULL, .by_reach = true};
    struct sp_asked asked = {0};
    struct sp_leaks_asked x = {.x = &asked, .diags = q->diags};
    if (!leaks_options(q->options, q->diags, &x.by) || !sp_ask_limit(q, 20, &x.limit))
        return SPAA_ERR_USAGE;
    if (q->nprofiles > 1)
        return sp_leaks_series_ask(q, out);
    o.by_stack = x.by == SP_LEAKS_BY_STACK;
    o.now_ns = duration_of(q->profiles[0]);
    spaa_status st = leaks_select(&x, q, &o, out);
    sp_asked_free(&asked);
    return st;
}

static spaa_status leaks_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    enum sp_leaks_by by;
    out->windows = WINDOWS;
    out->windows_do = !o->time; /* which samples tell to the moment */
    return leaks_options(o, d, &by) ? SPAA_OK : SPAA_ERR_USAGE;
}

const struct sp_question sp_question_leaks = {
    .name = "leaks",
    .args = "FILE [LATER…]",
    .groups = G_READ | G_EVENT | G_SELECT | G_LEAKS | G_ROWS | G_OWN | G_ANSWER | G_BUDGET,
    .title = "memory: what is live and who asked for it, what grows, churn, temporary allocations, the peak",
    .examples = "spaa leaks heap.spaa\n"
                "spaa leaks heap.spaa --by stack -n 3\n"
                "spaa leaks heap.spaa --metric temporary # also calls, allocated, peak, blocks: churn, and "
                "what is held\n"
                "spaa leaks heap.spaa later.spaa # what grew from one dump to a later one",
    .apart = true,
    .all_metrics = true,
    .schema = "spaa.leaks/4",
    .facts = leaks_facts,
    .tables = sp_leaks_tables,
    .needs = leaks_needs,
    .ask = leaks_ask,
};
