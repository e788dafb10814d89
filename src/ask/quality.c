/* How good the data of an answer is, as facts of it; and the declaration of all that answers share. */
#include "ask/common.h"

#include "analysis/chains.h"
#include "base/num.h"

enum { DSO, PERCENT, WHY, HINT };
#define QUALITY_TABLE(variable, path, words)                                                                 \
    static const struct sp_table_decl variable = {path, quality_columns, 4, .doc = words}
static const struct sp_answer_column quality_columns[] = {
    [DSO] = {"dso", SP_COL_DSO, .doc = "the binary"},
    [PERCENT] = {"percent", SP_COL_NUMBER, .doc = "its share"},
    [WHY] = {"why", SP_COL_TEXT, .doc = "the reason; null: not known"},
    [HINT] = {"hint", SP_COL_TEXT, .doc = "what helps; null: not known"},
};
QUALITY_TABLE(quality_unresolved, "quality.unresolved_by_dso", "binaries that leaves without a name are in");
QUALITY_TABLE(quality_lineless, "quality.no_debug_info_by_dso", "binaries without debug information");
static const struct sp_table_decl quality_broken = {"quality.broken_chains_by_dso", quality_columns, 2,
                                                    .doc = "binaries in which broken call chains end"};
const struct sp_table_decl *const sp_common_tables[] = {&quality_unresolved, &quality_lineless,
                                                        &quality_broken, NULL};

static const char *const chain_members[SP_CHAINS] = {
    [SP_CHAIN_NO_ENTRY] = "quality.broken_chains.no_entry",
    [SP_CHAIN_UNMAPPED] = "quality.broken_chains.unmapped",
    [SP_CHAIN_CUT] = "quality.broken_chains.cut_off",
    [SP_CHAIN_EDGE] = "quality.broken_chains.impossible_call",
};

/* The heaviest DSOs of one lack, with why and what helps where that is known. */
static void quality_dsos(struct sp_asked *x, const struct sp_table_decl *decl, const enum sp_note_of *of,
                         const struct sp_dso_weights *dsos, int64_t whole)
{
    const struct sp_profile *p = x->s.profile;
    struct sp_answer_table *t = sp_answer_table(x->out, decl);
    if (t)
        t->fixed = true;
    for (size_t i = 0; t && i < dsos->list.n && i < 10; i++) {
        const struct sp_dso_weight *v = &dsos->list.v[i];
        const struct sp_dso_note *note = of ? sp_profile_note_of(p, v->dso, *of) : NULL;
        struct sp_str name = sp_dso_name(p, v->dso);
        sp_table_row(x->out, t);
        sp_put_text(x->out, t, DSO, name.p, name.n);
        if (whole)
            sp_put_scaled(t, PERCENT, (int64_t)sp_ratio(v->weight, whole, 10000), 2);
        if (note) {
            sp_put_str(x->out, t, WHY, sp_pstr(p, note->why));
            sp_put_str(x->out, t, HINT, sp_pstr(p, note->hint));
        }
    }
}

/* Null where nothing is known of the callchains. */
static void quality_chains(struct sp_asked *x)
{
    const struct sp_chains *c = x->s.chains;
    static const struct sp_dso_weights none;
    bool known = c && (c->judged || c->broken);
    int64_t whole = known && !x->s.cannot_add ? c->of : 0; /* of nothing: null */
    sp_fact_share(x->out, "quality.broken_chains_percent", known ? c->broken : 0, whole);
    sp_answer_open(x->out, "quality.broken_chains", '{');
    for (unsigned i = SP_CHAIN_WHOLE + 1; known && i < SP_CHAINS; i++)
        if (c->by[i])
            sp_fact_share(x->out, strrchr(chain_members[i], '.') + 1, c->by[i], whole);
    sp_answer_close(x->out);
    quality_dsos(x, &quality_broken, NULL, known ? &c->dsos : &none, whole);
    sp_fact_share(x->out, "quality.unchecked_chains_percent", known ? c->unchecked : 0, whole);
}

void sp_quality_facts(struct sp_asked *x, const struct sp_quality *q)
{
    static const enum sp_note_of names = SP_NOTE_NAMES, lines = SP_NOTE_LINES;
    struct sp_answer *a = x->out;
    int64_t whole = x->s.cannot_add ? 0 : x->s.kept; /* of nothing: null */
    sp_fact_share(a, "quality.unresolved_percent", q->unresolved_leaf, whole);
    sp_fact_share(a, "quality.unresolved_anywhere_percent", q->unresolved_any, whole);
    sp_fact_share(a, "quality.no_stack_percent", q->no_stack, whole);
    sp_fact_count(a, "quality.frames", (int64_t)q->frames);
    sp_fact_count(a, "quality.frames_unresolved", (int64_t)q->frames_unresolved);
    sp_fact_count(a, "quality.lost", (int64_t)q->lost);
    sp_fact_count(a, "quality.truncated", (int64_t)q->truncated);
    sp_fact_count(a, "quality.unfinished", (int64_t)q->unfinished);
    sp_fact_count(a, "quality.throttled_ns", (int64_t)q->throttled_ns);
    sp_fact_share(a, "quality.callees_not_recorded_percent", q->callees_not_recorded, whole);
    sp_fact_count(a, "quality.exclusive_differs", (int64_t)q->exclusive_differs);
    quality_dsos(x, &quality_unresolved, &names, &q->dsos, whole);
    sp_fact_count(a, "quality.exclusive_unusable", (int64_t)q->exclusive_unusable);
    sp_fact_share(a, "quality.no_debug_info_percent", q->lineless, whole);
    quality_dsos(x, &quality_lineless, &lines, &q->no_lines, whole);
    quality_chains(x);
}

void sp_losses_text(struct sp_buf *b, const struct sp_quality *q)
{
    const struct {
        uint64_t n;
        const char *noun, *how;
    } parts[] = {{q->lost, "sample", " lost by the profiler"},
                 {q->truncated, "stack", " cut off"},
                 {q->unfinished, "stack", " ending early"}};
    const char *between = "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].n)
            continue;
        sp_buf_puts(b, between);
        sp_text_count(b, parts[i].n, parts[i].noun);
        sp_buf_puts(b, parts[i].how);
        between = ", ";
    }
    if (q->throttled_ns)
        sp_buf_printf(b, "%sevents throttled for %llu.%03llu s", between,
                      (unsigned long long)(q->throttled_ns / 1000000000),
                      (unsigned long long)(q->throttled_ns / 1000000 % 1000));
}

spaa_status sp_asked_end(struct sp_asked *x)
{
    struct sp_quality q;
    if (x->q->brief)
        return SPAA_OK;
    spaa_status st = sp_quality_of(&x->s, x->q->diags, &q);
    if (st)
        return st;
    sp_quality_facts(x, &q);
    sp_quality_free(&q);
    return SPAA_OK;
}

#define STATE_FACT(name, doc) SOMETIMES("profile.states." name, SP_COL_COUNT, doc)
#define STATES_FACTS                                                                                         \
    STATE_FACT("running", "of hang reports: how many samples of all views were of a thread that ran"),       \
        STATE_FACT("runnable", "likewise: that was ready, and waited for a CPU"),                            \
        STATE_FACT("blocked", "likewise: that waited for a lock"),                                           \
        STATE_FACT("waiting", "likewise: that waited for something else"),                                   \
        STATE_FACT("suspended", "likewise: that was stopped"),                                               \
        STATE_FACT("idle", "likewise: of a processor without work"),                                         \
        STATE_FACT("unknown", "likewise: with a state that is not understood"),                              \
        STATE_FACT("unstated", "likewise: without a state, which may run or wait")

const struct sp_answer_column sp_common_facts[] = {
    FACT("profile.source_tool", SP_COL_TEXT, "what recorded the profile; null: not known"),
    FACT("profile.event", SP_COL_TEXT, "the event that the answer is about"),
    FACT("profile.metric", SP_COL_TEXT, "the weight that it is about"),
    FACT("profile.unit", SP_COL_TEXT, "of weights: ns, bytes, …; null: a count"),
    FACT("profile.samples", SP_COL_COUNT, "samples of the whole; null: the source counts none"),
    FACT("profile.view", SP_COL_TEXT, "cpu, latency, all or custom; null: the profile has no thread states"),
    STATES_FACTS,
    SOMETIMES("profile.at", SP_COL_TEXT, "with --at: the moment that the answer is of"),
    FACT("profile.filters", SP_COL_TEXT, "the filters as options"),
    {"profile.idle", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
     .doc =
         "of time off the CPU: waits for work, which are left out (--idle); without what is in state IDLE, "
         "which a view leaves out"},
    SOMETIMES("profile.by_owner", SP_COL_BOOL,
              "of memory: stacks end at the function that asked for it, without allocators and containers"),
    SOMETIMES("profile.shortened", SP_COL_COUNT, "how many stacks had such at their leaf"),
    SOMETIMES("profile.allocators", SP_COL_TEXT, "--allocators: what else hands out memory"),
    FACT("profile.event_whole", SP_COL_WEIGHT,
         "weight of the event before any filter; null: values must not be added"),
    FACT("whole", SP_COL_WEIGHT, "what percentages are of"),
    {"whole_at_least", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,
     .doc = "of time off the CPU: some waits are longer than what was seen"},
    FACT("kept", SP_COL_WEIGHT, "what filters on frames leave"),
    FACT("kept_percent", SP_COL_NUMBER, "kept of profile.event_whole"),
    FACT("kept_samples", SP_COL_COUNT, "samples of kept"),
    FACT("quality.unresolved_percent", SP_COL_NUMBER, "share of kept whose leaf has no name"),
    FACT("quality.unresolved_anywhere_percent", SP_COL_NUMBER, "share of kept with a frame without a name"),
    FACT("quality.no_stack_percent", SP_COL_NUMBER, "share of kept without a stack"),
    FACT("quality.frames", SP_COL_COUNT, "different frames"),
    FACT("quality.frames_unresolved", SP_COL_COUNT, "of them, without a name"),
    FACT("quality.lost", SP_COL_COUNT, "samples that the profiler lost"),
    FACT("quality.truncated", SP_COL_COUNT, "stacks that were cut off"),
    FACT("quality.unfinished", SP_COL_COUNT, "stacks that end early"),
    FACT("quality.throttled_ns", SP_COL_TIME, "for how long events were throttled"),
    FACT("quality.callees_not_recorded_percent", SP_COL_NUMBER,
         "share of kept in callees that were not recorded"),
    FACT("quality.exclusive_differs", SP_COL_COUNT,
         "records that say another weight of their own than their stack"),
    FACT("quality.exclusive_unusable", SP_COL_COUNT, "of them, with one that cannot be"),
    FACT("quality.no_debug_info_percent", SP_COL_NUMBER,
         "share of kept in binaries without debug information"),
    FACT("quality.broken_chains_percent", SP_COL_NUMBER,
         "share of stacks that miss callers; null: not judged"),
    SOMETIMES("quality.broken_chains.no_entry", SP_COL_NUMBER,
              "of these: the outermost frame is no entry of a thread"),
    SOMETIMES("quality.broken_chains.unmapped", SP_COL_NUMBER, "it begins where nothing is mapped"),
    SOMETIMES("quality.broken_chains.cut_off", SP_COL_NUMBER, "the copy of the stack was too short"),
    SOMETIMES("quality.broken_chains.impossible_call", SP_COL_NUMBER, "it holds a call that cannot be"),
    FACT("quality.unchecked_chains_percent", SP_COL_NUMBER,
         "share of stacks of frame pointers with a caller in a binary without a recorded build-id: callers "
         "may "
         "be missing; null: not judged"),
    {0},
};
