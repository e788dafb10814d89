/*
 * waits of samples that have states of threads and no threads, as CodeGuru's: how much of them waited, in
 * which state, and in which stacks. How often, not how long; nothing says for what, or which thread.
 */
#include "ask/waits_parts.h"

#include <stdlib.h>

enum { STATE_NAME, STATE_WEIGHT, STATE_PERCENT, STATE_WAITS };
static const struct sp_answer_column waits_state_columns[] = {
    [STATE_NAME] = {"state", SP_COL_TEXT, "state", .doc = "the state; null: none is stated"},
    [STATE_WEIGHT] = {"weight", SP_COL_WEIGHT, "weight", .doc = "weight in it"},
    [STATE_PERCENT] = {"percent", SP_COL_PERCENT, "%", "weight", .doc = "share of all states"},
    [STATE_WAITS] = {"kind", SP_COL_TEXT, "kind",
                     .doc = "waiting, idle, running, or unknown: the state is of both who run and who wait"},
};
const struct sp_table_decl sp_waits_states = {
    "states", waits_state_columns, sizeof waits_state_columns / sizeof *waits_state_columns,
    .doc = "of samples with states of threads: each state", .noun = "states"};

enum {
    PLACE_WEIGHT,
    PLACE_PERCENT,
    PLACE_STATE,
    PLACE_FUNCTION,
    PLACE_STACK = PLACE_FUNCTION + SP_FUNCTION_NCOLUMNS
};
static const struct sp_answer_column waits_state_stack_columns[] = {
    [PLACE_WEIGHT] = {"weight", SP_COL_WEIGHT, "weight", .flags = SP_COL_OMITTED,
                      .doc = "weight that waited there"},
    [PLACE_PERCENT] = {"percent", SP_COL_PERCENT, "%", "weight", .doc = "share of all that waited"},
    [PLACE_STATE] = {"state", SP_COL_TEXT, "state", .doc = "in which state"},
    SP_FUNCTION_COLUMNS(PLACE_FUNCTION, "function", NULL),
    [PLACE_STACK] = {"stack", SP_COL_TEXT, "callers, nearest first", .flags = SP_COL_FLEXIBLE,
                     .doc = "the functions above it, nearest first, with ; between"},
};
const struct sp_table_decl sp_waits_state_stacks = {
    "state_stacks", waits_state_stack_columns,
    sizeof waits_state_stack_columns / sizeof *waits_state_stack_columns,
    .doc = "of samples with states of threads: the stacks that waited, by state", .noun = "stacks"};

enum state_kind { STATE_WAITING, STATE_IDLE, STATE_RUNNING, STATE_UNKNOWN, STATE_KINDS };
static const char *const state_kinds[] = {"waiting", "idle", "running", "unknown"};

struct state_sum {
    uint32_t state; /* number in the profile's texts */
    int64_t weight;
};

/* Rows of one state and of equal functions. */
struct state_stack {
    uint32_t row, state;
    int64_t weight;
};

struct states {
    struct sp_asked a;
    SP_VEC(struct state_sum) states;
    SP_VEC(struct state_stack) stacks;
    struct sp_strtab keys; /* number n: stacks.v[of_key.v[n]] */
    SP_VEC(uint32_t) of_key;
    int64_t sums[STATE_KINDS];
    size_t limit;
};

static enum state_kind kind_of(struct sp_str state)
{
    static const char *const waits[] = {"BLOCKED", "WAITING", "TIMED_WAITING", NULL}, *const runs[] = {
                                                                                          "RUNNABLE",
                                                                                          "NATIVE", "RUNNING",
                                                                                          "RUN_QUEUE", NULL};
    if (sp_name_index(waits, state.p, state.n) >= 0)
        return STATE_WAITING;
    if (sp_name_index(runs, state.p, state.n) >= 0)
        return STATE_RUNNING;
    return sp_str_is(state, "IDLE") ? STATE_IDLE : STATE_UNKNOWN;
}

bool sp_waits_only_states(const struct sp_profile *p)
{
    return p->header.has_x_spaa && (p->header.group_by & (SP_BY_STATE | SP_BY_TID)) == SP_BY_STATE;
}

/* ---- sums ---- */

static bool add_state(struct states *x, uint32_t state, int64_t weight)
{
    size_t i = 0;
    while (i < x->states.n && x->states.v[i].state != state)
        i++;
    if (i == x->states.n && !sp_vec_push(&x->states, ((struct state_sum){state, 0})))
        return false;
    x->states.v[i].weight += weight;
    x->sums[kind_of(sp_pstr(x->a.s.profile, state))] += weight;
    return true;
}

static bool add_stack(struct states *x, uint32_t row, uint32_t state, int64_t weight)
{
    const struct sp_profile *p = x->a.s.profile;
    struct sp_buf *b = &x->a.b;
    size_t n;
    const uint32_t *f = sp_selected_frames(&x->a.s, row, &n);
    if (!f)
        return false;
    sp_buf_clear(b);
    sp_buf_add(b, &state, sizeof state);
    for (size_t i = 0; i < n; i++)
        sp_buf_add(b, &p->frames.v[f[i]].function, sizeof(uint32_t));
    uint32_t key = b->failed ? SP_STR_FAIL : sp_intern(&x->keys, b->data, b->len);
    if (key == SP_STR_FAIL)
        return false;
    while (x->of_key.n <= key)
        if (!sp_vec_push(&x->of_key, SP_NONE))
            return false;
    if (x->of_key.v[key] == SP_NONE) {
        x->of_key.v[key] = (uint32_t)x->stacks.n;
        if (!sp_vec_push(&x->stacks, ((struct state_stack){row, state, 0})))
            return false;
    }
    x->stacks.v[x->of_key.v[key]].weight += weight;
    return true;
}

static int by_weight(const void *a, const void *b)
{
    const struct state_stack *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : (x->row > y->row) - (x->row < y->row);
}

static int sums_by_weight(const void *a, const void *b)
{
    const struct state_sum *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1)
                                  : (x->state > y->state) - (x->state < y->state);
}

static spaa_status sum_up(struct states *x)
{
    const struct sp_selection *s = &x->a.s;
    const struct sp_profile *p = s->profile;
    bool idle = x->a.q->options->idle;
    for (uint32_t i = 0; i < s->rows.n; i++) {
        const struct sp_selected *row = &s->rows.v[i];
        uint32_t state = p->contexts.v[p->stacks.v[row->stack].context].state;
        enum state_kind kind = kind_of(sp_pstr(p, state));
        if (!row->weight)
            continue;
        bool shown = kind == STATE_WAITING || (idle && kind == STATE_IDLE);
        if (!add_state(x, state, row->weight) || (shown && !add_stack(x, i, state, row->weight)))
            return sp_nomem(x->a.q->diags);
    }
    if (x->stacks.n)
        qsort(x->stacks.v, x->stacks.n, sizeof *x->stacks.v, by_weight);
    if (x->states.n)
        qsort(x->states.v, x->states.n, sizeof *x->states.v, sums_by_weight);
    return SPAA_OK;
}

/* ---- the answer ---- */

static void put_states(struct states *x)
{
    struct sp_answer_table *t = sp_answer_table(x->a.out, &sp_waits_states);
    for (size_t i = 0; t && i < x->states.n; i++) {
        struct sp_str name = sp_pstr(x->a.s.profile, x->states.v[i].state);
        const char *kind = state_kinds[kind_of(name)];
        sp_table_row(x->a.out, t);
        sp_put_str(x->a.out, t, STATE_NAME, name);
        sp_put_int(t, STATE_WEIGHT, x->states.v[i].weight);
        sp_put_text(x->a.out, t, STATE_WAITS, kind, strlen(kind));
    }
    if (t)
        t->limit = x->limit;
}

static void put_stacks(struct states *x)
{
    struct sp_answer_table *t = x->stacks.n ? sp_answer_table(x->a.out, &sp_waits_state_stacks) : NULL;
    const struct sp_profile *p = x->a.s.profile;
    struct sp_measure m = sp_measure_of(&x->a.s);
    m.whole = x->sums[STATE_WAITING] + (x->a.q->options->idle ? x->sums[STATE_IDLE] : 0);
    uint32_t measure = t ? sp_answer_measure(x->a.out, &m) : 0;
    for (size_t i = 0; t && i < x->stacks.n; i++) {
        const struct state_stack *k = &x->stacks.v[i];
        size_t n;
        const uint32_t *f = sp_selected_frames(&x->a.s, k->row, &n);
        sp_table_row(x->a.out, t);
        sp_table_row_measure(x->a.out, t, measure);
        sp_put_int(t, PLACE_WEIGHT, k->weight);
        sp_put_str(x->a.out, t, PLACE_STATE, sp_pstr(p, k->state));
        x->a.out->failed |= !f;
        if (!f || !n)
            continue;
        sp_put_function(&x->a, t, PLACE_FUNCTION, p->frames.v[f[0]].function);
        sp_buf_clear(&x->a.b);
        for (size_t j = 1; j < n; j++) {
            struct sp_str name = sp_pstr(p, sp_frame_function(p, f[j])->name);
            sp_buf_puts(&x->a.b, j > 1 ? ";" : "");
            sp_buf_add(&x->a.b, name.p, name.n);
        }
        sp_put_buf(x->a.out, t, PLACE_STACK, &x->a.b);
    }
    if (t)
        t->limit = x->limit;
}

/* "16 (76.19%) waited: 7 TIMED_WAITING, 5 WAITING" */
static void say_sums(struct states *x)
{
    struct sp_buf *b = &x->a.b;
    const char *comma = ": ";
    sp_buf_clear(b);
    sp_text_weight_of(b, &x->a.s, x->sums[STATE_WAITING]);
    sp_buf_puts(b, " waited");
    for (size_t i = 0; i < x->states.n; i++) {
        struct sp_str name = sp_pstr(x->a.s.profile, x->states.v[i].state);
        if (kind_of(name) != STATE_WAITING)
            continue;
        sp_buf_printf(b, "%s%.*s ", comma, (int)name.n, name.p);
        sp_text_weight_of(b, &x->a.s, x->states.v[i].weight);
        comma = ", ";
    }
    sp_answer_line_of(x->a.out, SP_LINE_HEAD, b);
    sp_answer_line(x->a.out,
                   "how often threads were seen so, not how long; which thread, and for what, is not in it");
}

/* A sum of nothing would say that nothing waited. */
static void say_nothing(struct states *x)
{
    sp_answer_line(
        x->a.out,
        x->sums[STATE_UNKNOWN]
            ? "cannot tell who waited: the states here are of threads that run and of ones that wait"
            : "cannot tell who waited: no sample is of a thread that did, and samplers of the CPU take none");
    sp_answer_line(x->a.out,
                   "settle it: a profiler that samples waiting threads with their states, or perf record "
                   "-a -g -e sched:sched_switch,sched:sched_waking");
}

spaa_status sp_waits_by_state(struct sp_ask *q, struct sp_answer *out)
{
    struct states x = {.limit = 0};
    struct sp_select_opts o;
    if (!sp_ask_limit(q, 15, &x.limit) || !sp_ask_select_opts(q, &o))
        return SPAA_ERR_USAGE;
    o.any_state = true;
    spaa_status st = sp_asked_begin_with(q, &o, out, &x.a);
    if (!st)
        st = sp_strtab_init(&x.keys) ? sum_up(&x) : sp_nomem(q->diags);
    if (!st) {
        sp_fact_weight(out, "waiting_in_states", x.a.measure, x.sums[STATE_WAITING]);
        sp_fact_weight(out, "running", x.a.measure, x.sums[STATE_RUNNING]);
        sp_fact_weight(out, "idle", x.a.measure, x.sums[STATE_IDLE]);
        if (x.sums[STATE_WAITING])
            say_sums(&x);
        else
            say_nothing(&x);
        put_states(&x);
        put_stacks(&x);
        sp_answer_next(out, "tree", NULL, "--state WAITING,TIMED_WAITING,BLOCKED");
        st = sp_asked_end(&x.a);
    }
    sp_strtab_free(&x.keys);
    sp_vec_free(&x.states);
    sp_vec_free(&x.stacks);
    sp_vec_free(&x.of_key);
    sp_asked_free(&x.a);
    return st;
}
