/* stacks: the heaviest stacks, whole. */
#include "ask/common.h"

#include "analysis/stacks.h"
#include "base/num.h"
#include "model/edges.h"
#include "model/thread_names.h"

#include <stdlib.h>

enum {
    STACK_ID,
    STACK_WEIGHT,
    STACK_PERCENT,
    STACK_SAMPLES,
    STACK_RECORDS,
    STACK_POOL,
    STACK_THREADS,
    STACK_EVENT,
    STACK_PID,
    STACK_TID,
    STACK_CPU,
    STACK_COMM,
    STACK_STATE,
    STACK_SOURCE,
    STACK_CONTEXT,
    STACK_PATH,
    STACK_HEAD,
};
static const struct sp_answer_column stacks_columns[] = {
    [STACK_ID] = {"id", SP_COL_HANDLE, "id", .doc = "what --id takes; of a pool that of its heaviest stack"},
    [STACK_WEIGHT] = {"weight", SP_COL_WEIGHT, "weight", .flags = SP_COL_OMITTED, .doc = "its weight"},
    [STACK_PERCENT] = {"percent", SP_COL_PERCENT, "%", "weight", .doc = "share of the whole"},
    [STACK_SAMPLES] = {"samples", SP_COL_COUNT, "samples", .doc = "its samples; null: not counted"},
    [STACK_RECORDS] = {"records", SP_COL_COUNT,
                       .doc = "how many stacks of threads of the pool it stands for"},
    SP_POOL_COLUMNS(STACK_POOL),
    [STACK_EVENT] = {"context.event", SP_COL_TEXT, .flags = SP_COL_OPTIONAL, .doc = "its event"},
    [STACK_PID] = {"context.pid", SP_COL_COUNT, .flags = SP_COL_OPTIONAL, .doc = "its process"},
    [STACK_TID] = {"context.tid", SP_COL_COUNT, .flags = SP_COL_OPTIONAL,
                   .doc = "its thread; none of a pool"},
    [STACK_CPU] = {"context.cpu", SP_COL_COUNT, .flags = SP_COL_OPTIONAL, .doc = "its CPU"},
    [STACK_COMM] = {"context.comm", SP_COL_TEXT, .flags = SP_COL_OPTIONAL,
                    .doc = "its thread's name; none of a pool"},
    [STACK_STATE] = {"context.x_state", SP_COL_TEXT, .flags = SP_COL_OPTIONAL, .doc = "its thread's state"},
    [STACK_SOURCE] = {"context.x_source", SP_COL_TEXT, .flags = SP_COL_OPTIONAL,
                      .doc = "the profile that it is from, of a merged one"},
    [STACK_CONTEXT] = {"context", SP_COL_TEXT, "context", .flags = SP_COL_NO_JSON,
                       .doc = "thread or pool, process, CPU and state in words"},
    [STACK_PATH] = {"stack", SP_COL_TEXT, "stack", .flags = SP_COL_NO_JSON | SP_COL_FLEXIBLE,
                    .doc = "its functions, root first"},
    [STACK_HEAD] = {"head", SP_COL_TEXT, .flags = SP_COL_NO_JSON, .doc = "what stands above its frames"},
};
static const struct sp_table_decl stacks_rows = {
    "rows", stacks_columns, sizeof stacks_columns / sizeof *stacks_columns,
    .doc = "stacks by weight; those of threads of one pool that are equal are one", .noun = "stacks"};

enum {
    STACK_FRAME,
    STACK_LINE = STACK_FRAME + SP_FUNCTION_NCOLUMNS,
    STACK_IP,
    STACK_SYMOFF,
    STACK_KIND,
    STACK_INLINE_DEPTH,
    STACK_UNRESOLVED,
    STACK_INFERRED
};
static const struct sp_answer_column stacks_frame_columns[] = {
    SP_FUNCTION_COLUMNS(STACK_FRAME, "function", "dso"),
    [STACK_LINE] = {"srcline", SP_COL_TEXT, "line", .flags = SP_COL_OPTIONAL, .doc = "file:line"},
    [STACK_IP] = {"ip", SP_COL_TEXT, .flags = SP_COL_OPTIONAL,
                  .doc = "its address in the binary, 0x and hex"},
    [STACK_SYMOFF] = {"symoff", SP_COL_TEXT, .flags = SP_COL_OPTIONAL,
                      .doc = "how far behind the function's start that is"},
    [STACK_KIND] = {"kind", SP_COL_TEXT, .doc = "user, kernel, …"},
    [STACK_INLINE_DEPTH] = {"inline_depth", SP_COL_COUNT, .flags = SP_COL_OPTIONAL,
                            .doc = "of inlined functions, from 1: the innermost has the most"},
    [STACK_UNRESOLVED] = {"unresolved", SP_COL_BOOL, .flags = SP_COL_OPTIONAL, .doc = "it has no name"},
    [STACK_INFERRED] = {"inferred", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,
                        .doc = "it was not recorded, but must have been there"},
};
static const struct sp_table_decl stacks_frames = {"frames", stacks_frame_columns,
                                                   sizeof stacks_frame_columns / sizeof *stacks_frame_columns,
                                                   .of = "rows", .doc = "its frames, leaf first"};

static const struct sp_answer_column stacks_facts[] = {
    {"frame_order", SP_COL_TEXT, .doc = "leaf_to_root"},
    {0},
};
static const struct sp_table_decl *const stacks_tables[] = {&stacks_rows, &stacks_frames, NULL};

struct stacks {
    struct sp_asked a;
    struct sp_stack_row *rows;
    size_t n;
    struct sp_answer_table *table, *frames;
};

/* ---- where a stack was ---- */

/* The pool whose threads have a stack; NULL: it is of one thread. */
static const struct sp_pool *stacks_pool(const struct stacks *x, const struct sp_stack_row *row)
{
    return row->records < 2 ? NULL : &x->a.s.pools.pools.v[row->pool];
}

static const struct sp_context *stacks_context(const struct stacks *x, const struct sp_stack_row *row)
{
    const struct sp_profile *p = x->a.s.profile;
    return &p->contexts.v[p->stacks.v[x->a.s.rows.v[row->row].stack].context];
}

/* "worker, pid 5, tid 7, RUNNING" */
static void stacks_context_words(const struct stacks *x, const struct sp_stack_row *row, struct sp_buf *b)
{
    const struct sp_profile *p = x->a.s.profile;
    const struct sp_context *c = stacks_context(x, row);
    const struct sp_pool *pool = stacks_pool(x, row);
    const int64_t numbers[] = {c->pid, pool ? SP_ABSENT : c->tid, c->cpu};
    const char *const names[] = {"pid", "tid", "cpu"};
    struct sp_str comm = sp_pstr(p, sp_context_name(p, c)), state = sp_pstr(p, c->state),
                  source = sp_pstr(p, c->source);
    if (pool)
        comm = sp_str_at(&x->a.s.pools.names, pool->name);
    sp_buf_add(b, comm.p, comm.n);
    for (int i = 0; i < 3; i++)
        if (numbers[i] != SP_ABSENT)
            sp_buf_printf(b, "%s%s %lld", b->len ? ", " : "", names[i], (long long)numbers[i]);
    if (state.n) {
        sp_buf_puts(b, b->len ? ", " : "");
        sp_buf_add(b, state.p, state.n);
    }
    if (source.n) {
        sp_buf_puts(b, b->len ? ", from " : "from ");
        sp_buf_add(b, source.p, source.n);
    }
}

/* Where threads of a pool have the stack, none of them is named. */
static void stacks_put_context(struct stacks *x, const struct sp_stack_row *row)
{
    const struct sp_profile *p = x->a.s.profile;
    const struct sp_context *c = stacks_context(x, row);
    const struct sp_pool *pool = stacks_pool(x, row);
    struct sp_answer *a = x->a.out;
    sp_put_pool(&x->a, x->table, STACK_POOL, pool);
    if (c->event != SP_NONE)
        sp_put_str(a, x->table, STACK_EVENT, sp_pstr(p, p->events.v[c->event].name));
    sp_put_int(x->table, STACK_PID, c->pid);
    sp_put_int(x->table, STACK_CPU, c->cpu);
    if (!pool) {
        sp_put_int(x->table, STACK_TID, c->tid);
        sp_put_str(a, x->table, STACK_COMM, sp_pstr(p, sp_context_name(p, c)));
    }
    sp_put_str(a, x->table, STACK_STATE, sp_pstr(p, c->state));
    sp_put_str(a, x->table, STACK_SOURCE, sp_pstr(p, c->source));
}

/* ---- rows ---- */

static void stacks_put_hex(struct stacks *x, size_t column, uint64_t v)
{
    char t[24] = "0x";
    sp_put_text(x->a.out, x->frames, column, t, 2 + sp_hex_text(v, t + 2));
}

static void stacks_put_frame(struct stacks *x, uint32_t frame, size_t times)
{
    const struct sp_profile *p = x->a.s.profile;
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_answer_table *t = x->frames;
    const char *kind = sp_frame_kind_names[f->kind];
    bool told = sp_str_is(sp_pstr(p, p->functions.v[f->function].name), SP_BROKEN_CHAIN);
    sp_table_row(x->a.out, t);
    sp_put_function(&x->a, t, STACK_FRAME, f->function);
    if (f->flags & SP_FRAME_INLINED)
        sp_buf_puts(&x->a.b, " [inlined]");
    if (f->flags & SP_FRAME_INFERRED && !told)
        sp_buf_puts(&x->a.b, " [inferred]");
    if (times > 1)
        sp_buf_printf(&x->a.b, " ×%zu", times);
    sp_put_buf(x->a.out, t, STACK_FRAME + SP_FUNCTION_MARKS, &x->a.b);
    sp_put_str(x->a.out, t, STACK_LINE, sp_pstr(p, f->srcline));
    if (f->flags & SP_FRAME_IP)
        stacks_put_hex(x, STACK_IP, f->ip);
    if (f->flags & SP_FRAME_SYMOFF)
        stacks_put_hex(x, STACK_SYMOFF, f->symoff);
    sp_put_text(x->a.out, t, STACK_KIND, kind, strlen(kind));
    if (f->flags & SP_FRAME_INLINED)
        sp_put_int(t, STACK_INLINE_DEPTH, f->inline_depth);
    if (f->flags & SP_FRAME_UNRESOLVED)
        sp_put_int(t, STACK_UNRESOLVED, 1);
    if (f->flags & SP_FRAME_INFERRED)
        sp_put_int(t, STACK_INFERRED, 1);
}

/* "1.2 s (12.00%), 120 samples, id 1a2b3c, worker, pid 5" */
static void stacks_put_head(struct stacks *x, const struct sp_stack_row *row)
{
    struct sp_buf *b = &x->a.b, words;
    sp_text_weight_of(b, &x->a.s, row->weight);
    if (row->samples != SP_ABSENT) {
        sp_buf_puts(b, ", ");
        sp_text_count(b, (uint64_t)row->samples, "sample");
    }
    sp_buf_puts(b, ", id ");
    sp_stack_id_add(b, x->a.s.profile, x->a.s.rows.v[row->row].stack);
    if (row->records > 1)
        sp_buf_printf(b, " and %u more", row->records - 1);
    sp_buf_init(&words, 0);
    stacks_context_words(x, row, &words);
    if (words.len)
        sp_buf_printf(b, ", %s", sp_buf_cstr(&words));
    sp_put_buf(x->a.out, x->table, STACK_HEAD, b);
    sp_put_buf(x->a.out, x->table, STACK_CONTEXT, &words);
    sp_buf_free(&words);
}

/* How many frames from `at` on are of one function. */
static size_t stacks_run(const struct sp_profile *p, const uint32_t *f, size_t n, size_t at)
{
    size_t to = at + 1;
    while (to < n && p->frames.v[f[to]].function == p->frames.v[f[at]].function)
        to++;
    return to - at;
}

/* In the place of frames that are left out. */
static void stacks_put_gap(struct stacks *x, size_t frames)
{
    if (!frames)
        return;
    sp_table_row(x->a.out, x->frames);
    sp_buf_printf(&x->a.b, "… %zu frames (--id shows them) …", frames);
    sp_put_buf(x->a.out, x->frames, STACK_FRAME + SP_FUNCTION_NAME, &x->a.b);
}

/*
 * For people: frames of one function in a row as one, and of a long stack its ends; --id and --names full
 * show all.
 */
static void stacks_put_brief(struct stacks *x, const uint32_t *f, size_t n)
{
    enum { LEAVES = 12, ROOTS = 8, GAP = 4 };
    const struct sp_profile *p = x->a.s.profile;
    size_t runs = 0, run = 0, gap = 0;
    for (size_t i = 0; i < n; i += stacks_run(p, f, n, i))
        runs++;
    bool ends = runs > LEAVES + ROOTS + GAP;
    for (size_t i = 0, times; i < n; i += times, run++) {
        times = stacks_run(p, f, n, i);
        if (ends && run >= LEAVES && run < runs - ROOTS) {
            gap += times;
            continue;
        }
        stacks_put_gap(x, gap);
        gap = 0;
        stacks_put_frame(x, f[i], times);
    }
}

static void stacks_put_frames(struct stacks *x, const uint32_t *f, size_t n)
{
    const struct sp_options *o = x->a.q->options;
    bool full = o->id || sp_options_full_names(o);
    if (x->a.q->brief && !full) {
        stacks_put_brief(x, f, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        stacks_put_frame(x, f[i], 1);
}

/* In one cell, which people are shown no more of than they read. */
static void stacks_put_path(struct stacks *x, const uint32_t *f, size_t n)
{
    enum { READ = 64 << 10 };
    const struct sp_profile *p = x->a.s.profile;
    struct sp_buf *b = &x->a.b;
    bool more = true;
    for (size_t i = n; more && i-- > 0;) {
        struct sp_str name = sp_pstr(p, sp_frame_function(p, f[i])->name);
        sp_buf_add(b, name.p, name.n);
        sp_buf_puts(b, i ? ";" : "");
        more = !b->failed && (!x->a.q->brief || b->len < READ);
        if (i && !more)
            sp_buf_puts(b, "…");
    }
    sp_put_buf(x->a.out, x->table, STACK_PATH, b);
}

static void stacks_put_row(struct stacks *x, const struct sp_stack_row *row)
{
    const struct sp_profile *p = x->a.s.profile;
    struct sp_buf *b = &x->a.b;
    size_t n;
    const uint32_t *f = sp_selected_frames(&x->a.s, row->row, &n);
    x->a.out->failed |= !f;
    sp_table_row(x->a.out, x->table);
    sp_buf_clear(b);
    sp_stack_id_add(b, p, x->a.s.rows.v[row->row].stack);
    sp_put_buf(x->a.out, x->table, STACK_ID, b);
    sp_put_int(x->table, STACK_WEIGHT, row->weight);
    sp_put_int(x->table, STACK_SAMPLES, row->samples);
    sp_put_int(x->table, STACK_RECORDS, row->records);
    stacks_put_context(x, row);
    stacks_put_head(x, row);
    stacks_put_path(x, f, f ? n : 0);
    if (f)
        stacks_put_frames(x, f, n);
}

static void stacks_put_rows(struct stacks *x, size_t limit)
{
    struct sp_answer *a = x->a.out;
    x->table = sp_answer_table(a, &stacks_rows);
    x->frames = sp_answer_detail(a, &stacks_frames, x->table);
    if (a->failed)
        return;
    x->table->paragraph = 1 + STACK_HEAD;
    x->frames->columns.v[STACK_FRAME + SP_FUNCTION_ID].title = NULL;
    for (size_t i = 0; i < x->n && !a->failed; i++) {
        if (i < limit) {
            stacks_put_row(x, &x->rows[i]);
        } else {
            x->table->left_out++;
            x->table->left_out_sum += x->rows[i].weight;
        }
    }
}

/* ---- the question ---- */

/* --id: one stack alone, the record itself, whatever pool it is of. */
static spaa_status stacks_only(struct stacks *x, const char *id)
{
    struct sp_diags *d = x->a.q->diags;
    uint32_t stack, row;
    spaa_status st = sp_stack_find(&x->a.s, id, d, &stack, &row);
    if (st)
        return st;
    if (row == SP_NONE) {
        sp_emit_hint(d, SP_E032, SP_AT_NOTHING, "it is of another event, state or thread",
                     "stack %s is not among what was asked for", id);
        return SPAA_ERR_NOT_FOUND;
    }
    const struct sp_selected *r = &x->a.s.rows.v[row];
    x->rows[0] = (struct sp_stack_row){row, SP_NONE, 1, r->weight, r->samples};
    x->n = 1;
    return SPAA_OK;
}

static spaa_status stacks_answer(struct stacks *x, struct sp_ask *q, size_t limit)
{
    spaa_status st = sp_stack_ids(q->profiles[0]);
    if (!st)
        st = sp_stacks_by_weight(&x->a.s, q->diags, &x->rows, &x->n);
    if (!st && q->options->id)
        st = stacks_only(x, q->options->id);
    if (st)
        return st;
    sp_fact_cstr(x->a.out, "frame_order", "leaf_to_root");
    stacks_put_rows(x, limit);
    sp_answer_next(x->a.out, "tree", NULL, NULL);
    sp_answer_next(x->a.out, "top", NULL, NULL);
    return sp_asked_end(&x->a);
}

static spaa_status stacks_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct stacks x = {0};
    size_t limit;
    if (!sp_ask_limit(q, q->brief ? 3 : 5, &limit))
        return SPAA_ERR_USAGE;
    spaa_status st = sp_asked_begin(q, out, &x.a);
    if (!st)
        st = stacks_answer(&x, q, limit);
    free(x.rows);
    sp_asked_free(&x.a);
    return st;
}

const struct sp_question sp_question_stacks = {
    .name = "stacks",
    .args = "FILE…",
    .groups = G_READ | G_WAITS | G_EVENT | G_SELECT | G_TIME | G_THREADS | G_STACKS | G_ROWS | G_OWN |
              G_ANSWER | G_BUDGET,
    .title = "the heaviest stacks whole, with their ids",
    .examples = "spaa stacks perf.data -n 3\n"
                "spaa stacks stacks.folded --focus malloc --json",
    .schema = "spaa.stacks/3",
    .facts = stacks_facts,
    .tables = stacks_tables,
    .ask = stacks_ask,
};
