/* The memory of a summary for programs. */
#include "ask/function_at.h"
#include "ask/summary_rows.h"

#include "base/num.h"

#define FUNCTION_AT(at) SP_FUNCTION_AT(at, "", "name", SP_COL_CSV)

enum {
    OWNER_FUNCTION,
    OWNER_LINE = SP_FUNCTION_NCOLUMNS,
    OWNER_LIVE,
    OWNER_LIVE_PERCENT,
    OWNER_DOUBT,
    OWNER_BLOCKS,
    OWNER_PEAK,
    OWNER_PEAK_PERCENT,
    OWNER_ALLOCATED,
    OWNER_ALLOCATED_PERCENT,
    OWNER_CALLS,
    OWNER_TEMPORARY,
    OWNER_STATE,
    OWNER_CALLERS,
    OWNER_CALLERS_OTHERS,
};
static const struct sp_answer_column memory_owner_columns[] = {
    FUNCTION_AT(OWNER_FUNCTION),
    [OWNER_LINE] = {"line", SP_COL_TEXT, .flags = SP_COL_CSV,
                    .doc = "its line that most of it is allocated from; null: not known"},
    [OWNER_LIVE] = {"live_bytes", SP_COL_COUNT, .flags = SP_COL_CSV,
                    .doc =
                        "live bytes of the stacks in which it is the own function nearest to the allocator"},
    [OWNER_LIVE_PERCENT] = {"live_percent", SP_COL_NUMBER, .doc = "of all live bytes"},
    [OWNER_DOUBT] = {"live_doubt_bytes", SP_COL_COUNT,
                     .doc = "sampled: the live bytes are within so much of that with 95 %; else 0"},
    [OWNER_BLOCKS] = {"live_blocks", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "live blocks likewise"},
    [OWNER_PEAK] = {"peak_bytes", SP_COL_COUNT, .flags = SP_COL_CSV,
                    .doc = "its part of the peak; null: not known, or peaks of stacks do not add"},
    [OWNER_PEAK_PERCENT] = {"peak_percent", SP_COL_NUMBER, .doc = "of the peak"},
    [OWNER_ALLOCATED] = {"allocated_bytes", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "bytes it allocated"},
    [OWNER_ALLOCATED_PERCENT] = {"allocated_percent", SP_COL_NUMBER, .doc = "of all allocated bytes"},
    [OWNER_CALLS] = {"calls", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "calls that allocated"},
    [OWNER_TEMPORARY] = {"temporary_calls", SP_COL_COUNT, .doc = "of these, whose block was freed next"},
    [OWNER_STATE] = {"state", SP_COL_TEXT, .flags = SP_COL_CSV,
                     .doc = "growing, never freed, partly freed, freed, …: as leaks says"},
    [OWNER_CALLERS] = {"own_callers", SP_COL_TEXTS,
                       .doc = "own functions above it, nearest first, along the way most of it goes"},
    [OWNER_CALLERS_OTHERS] =
        {"own_callers_others", SP_COL_COUNT,
         .doc = "own functions that call it nearest, beside the first: it may be a wrapper"},
};
const struct sp_table_decl sp_summary_memory_owners = {
    "memory_owners", TABLE(memory_owner_columns),
    .doc =
        "of memory: own functions with most of the metric that matters (memory.ranked_by), then of others"};

enum {
    LEAK_FUNCTION,
    LEAK_LINE = SP_FUNCTION_NCOLUMNS,
    LEAK_STATE,
    LEAK_LIVE,
    LEAK_BLOCKS,
    LEAK_NEVER_FREED,
    LEAK_RATE,
    LEAK_RATE_DOUBT,
    LEAK_QUARTER,
    LEAK_REACH = LEAK_QUARTER + 4,
    LEAK_CALLERS,
};
#define LEAK_GAINED(n, word)                                                                                 \
    [LEAK_QUARTER + n] = {"live_bytes_by_quarter." #n, SP_COL_COUNT,                                         \
                          .doc = "live bytes gained in the " word " quarter of the time; null: not known"}
static const struct sp_answer_column memory_leak_columns[] = {
    FUNCTION_AT(LEAK_FUNCTION),
    [LEAK_LINE] = {"line", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "as in memory_owners"},
    [LEAK_STATE] = {"state", SP_COL_TEXT, .flags = SP_COL_CSV, .doc = "growing, never freed, …"},
    [LEAK_LIVE] = {"live_bytes", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "live bytes"},
    [LEAK_BLOCKS] = {"live_blocks", SP_COL_COUNT, .flags = SP_COL_CSV, .doc = "live blocks"},
    [LEAK_NEVER_FREED] = {"never_freed", SP_COL_BOOL, .doc = "nothing of it was ever freed"},
    [LEAK_RATE] = {"bytes_per_second", SP_COL_NUMBER, .flags = SP_COL_CSV,
                   .doc = "of what grows: gained in the last three quarters of the time; else null"},
    [LEAK_RATE_DOUBT] = {"bytes_per_second_doubt", SP_COL_NUMBER,
                         .doc = "two standard errors of that; null: not known"},
    LEAK_GAINED(0, "first"),
    LEAK_GAINED(1, "second"),
    LEAK_GAINED(2, "third"),
    LEAK_GAINED(3, "last"),
    [LEAK_REACH] = {"leak_kind", SP_COL_TEXT, .flags = SP_COL_CSV,
                    .doc = "definite, indirect, possible: as the file says; null: it does not"},
    [LEAK_CALLERS] = {"own_callers", SP_COL_TEXTS, .doc = "as in memory_owners: it may allocate for them"},
    {"own_callers_others", SP_COL_COUNT, .doc = "likewise"},
};
const struct sp_table_decl sp_summary_memory_leaks_rows = {
    "memory_leaks", TABLE(memory_leak_columns),
    .doc =
        "of memory: functions with a hundredth of the live bytes at least that were lost; where that is not "
        "known own functions that hold them, what grows first"};

/* ---- facts ---- */

static int64_t memory_sum(const struct sp_summary *x, enum sp_leak_metric m)
{
    bool apart = m == SP_LEAK_PEAK_BYTES && x->memory.m.leaks.peaks_apart;
    return apart ? SP_ABSENT : x->memory.m.leaks.now.v[m];
}

static void memory_facts(struct sp_summary *x)
{
    struct sp_answer *a = x->x.out;
    const struct sp_summary_memory *y = &x->memory;
    sp_fact_cstr(a, "memory.ranked_by", sp_leak_metric_names[y->m.rank]);
    sp_fact_count(a, "memory.live_bytes", memory_sum(x, SP_LEAK_LIVE_BYTES));
    sp_fact_count(a, "memory.live_doubt_bytes", sp_memory_doubt(y->m.variance));
    sp_fact_count(a, "memory.live_blocks", memory_sum(x, SP_LEAK_LIVE_COUNT));
    sp_fact_bool(a, "memory.at_end", y->moment == SP_MOMENT_END);
    sp_fact_count(a, "memory.suppressed_bytes", y->m.leaks.hidden[SP_LEAK_LIVE_BYTES]);
    sp_fact_count(a, "memory.peak_bytes", memory_sum(x, SP_LEAK_PEAK_BYTES));
    sp_fact_scaled(a, "memory.peak_seconds", y->peak_ms, 3);
    sp_fact_count(a, "memory.peak_after", y->peak_at);
    sp_fact_cstr(a, "memory.peak_after_unit", y->peak_unit);
    sp_fact_count(a, "memory.allocated_bytes", memory_sum(x, SP_LEAK_ALLOC_BYTES));
    sp_fact_count(a, "memory.calls", memory_sum(x, SP_LEAK_ALLOC_COUNT));
    sp_fact_count(a, "memory.temporary_calls", memory_sum(x, SP_LEAK_TEMPORARY));
    sp_fact_count(a, "memory.rss_peak_bytes", y->rss);
    sp_fact_scaled(a, "memory.seconds", y->runtime_ms, 3);
    sp_fact_count(a, "memory.sampled_every_bytes", y->m.period ? y->m.period : SP_ABSENT);
    sp_fact_bool(a, "memory.growth_known", y->m.leaks.growth);
    int64_t level[4];
    static const char *const quarters[] = {"memory.live_after_quarter.0", "memory.live_after_quarter.1",
                                           "memory.live_after_quarter.2", "memory.live_after_quarter.3"};
    bool told = sp_summary_memory_levels(&y->m.leaks, level);
    for (int i = 0; i < 4; i++)
        sp_fact_count(a, quarters[i], told ? level[i] : SP_ABSENT);
    static const char *const lost[] = {"memory.lost.definite", "memory.lost.indirect", "memory.lost.possible",
                                       "memory.lost.other", "memory.lost.reachable"};
    for (int i = 0; i < SP_LEAK_UNTOLD; i++)
        sp_fact_count(a, lost[i], y->m.leaks.reach[i].v[SP_LEAK_LIVE_BYTES]);
}

/* ---- tables ---- */

/* Of a snapshot without stacks nobody knows who holds it: its row is called "[no stacks …]". */
static bool memory_is_untold(const struct sp_summary *x)
{
    const struct sp_summary_memory *y = &x->memory;
    uint32_t function =
        y->live_by_none && y->most_live_none != SIZE_MAX ? sp_memory_function(x, y->most_live_none) : SP_NONE;
    const struct sp_profile *p = x->x.s.profile;
    struct sp_str name =
        function == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->functions.v[function].name);
    return name.n > 3 && memcmp(name.p, "[no", 3) == 0;
}

static void put_share(struct sp_summary *x, struct sp_answer_table *t, size_t at, size_t row,
                      enum sp_leak_metric m)
{
    int64_t v = x->memory.m.rows.v[row].now.v[m], of = memory_sum(x, m);
    if (of == SP_ABSENT || (m == SP_LEAK_LIVE_BYTES && memory_is_untold(x)))
        return;
    sp_put_int(t, at, v);
    if (v != SP_ABSENT && of > 0)
        sp_put_real(t, at + 1, (double)sp_ratio(v, of, 10000) / 100);
}

static void put_line(struct sp_summary *x, struct sp_answer_table *t, size_t at, size_t leak)
{
    uint32_t line = sp_memory_line(x, leak);
    if (line != SP_STR_NONE)
        sp_put_str(x->x.out, t, at, sp_pstr(x->x.s.profile, line));
}

static void put_callers(struct sp_summary *x, struct sp_answer_table *t, size_t at,
                        const struct sp_leak_callers *c)
{
    const struct sp_profile *p = x->x.s.profile;
    struct sp_value_text v[SP_LEAK_CALLERS];
    for (unsigned i = 0; i < c->n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[c->v[i]].name);
        v[i] = (struct sp_value_text){name.p, name.n};
    }
    sp_put_texts(x->x.out, t, at, v, c->n);
    sp_put_int(t, at + 1, c->others);
}

static void put_owners(struct sp_summary *x)
{
    const struct sp_summary_memory *y = &x->memory;
    struct sp_answer_table *t = sp_summary_table(x, &sp_summary_memory_owners, KEEP_OWN);
    for (size_t i = 0; t && i < y->nowners; i++) {
        size_t row = y->owners[i];
        const struct sp_own_memory_row *r = &y->m.rows.v[row];
        const struct sp_leak_row *leak = &y->m.leaks.rows.v[r->leak];
        sp_table_row(x->x.out, t);
        sp_summary_put_function(x, t, OWNER_FUNCTION, leak->function);
        put_line(x, t, OWNER_LINE, r->leak);
        put_share(x, t, OWNER_LIVE, row, SP_LEAK_LIVE_BYTES);
        sp_put_int(t, OWNER_DOUBT, sp_memory_doubt(r->variance));
        sp_put_int(t, OWNER_BLOCKS, r->now.v[SP_LEAK_LIVE_COUNT]);
        put_share(x, t, OWNER_PEAK, row, SP_LEAK_PEAK_BYTES);
        put_share(x, t, OWNER_ALLOCATED, row, SP_LEAK_ALLOC_BYTES);
        sp_put_int(t, OWNER_CALLS, r->now.v[SP_LEAK_ALLOC_COUNT]);
        sp_put_int(t, OWNER_TEMPORARY, r->now.v[SP_LEAK_TEMPORARY]);
        sp_summary_put_cstr(x, t, OWNER_STATE, sp_leak_kind_names[leak->kind]);
        put_callers(x, t, OWNER_CALLERS, &y->callers[i]);
    }
}

static void put_leaks(struct sp_summary *x)
{
    const struct sp_summary_memory *y = &x->memory;
    struct sp_answer_table *t = sp_summary_table(x, &sp_summary_memory_leaks_rows, KEEP_OWN);
    if (t)
        t->left_out = y->more_leaks;
    for (size_t i = 0; t && i < y->nleaks; i++) {
        size_t row = y->leaks[i];
        const struct sp_leak_row *r = &y->m.leaks.rows.v[row];
        sp_table_row(x->x.out, t);
        sp_summary_put_function(x, t, LEAK_FUNCTION, r->function);
        put_line(x, t, LEAK_LINE, row);
        sp_summary_put_cstr(x, t, LEAK_STATE, sp_leak_kind_names[r->kind]);
        sp_put_int(t, LEAK_LIVE, r->now.v[SP_LEAK_LIVE_BYTES]);
        sp_put_int(t, LEAK_BLOCKS, r->now.v[SP_LEAK_LIVE_COUNT]);
        sp_put_int(t, LEAK_NEVER_FREED, r->never_freed);
        sp_summary_put_cstr(x, t, LEAK_REACH, sp_leak_reach_names[r->reach]);
        put_callers(x, t, LEAK_CALLERS, &y->leak_callers[i]);
        if (r->kind == SP_LEAK_GROWING) {
            sp_put_real(t, LEAK_RATE, r->growth.per_second);
            if (r->growth.doubt >= 0)
                sp_put_real(t, LEAK_RATE_DOUBT, r->growth.doubt);
        }
        for (size_t k = 0; k < 4 && r->growth.known; k++)
            sp_put_int(t, LEAK_QUARTER + k, r->growth.quarters[k]);
    }
}

void sp_summary_memory_put(struct sp_summary *x)
{
    if (!x->memory.known)
        return;
    memory_facts(x);
    put_owners(x);
    put_leaks(x);
}
