/*
 * What branch stacks say of the instructions of annotate --asm: how often a block ran, how many cycles that
 * took, and how its branch was predicted.
 *
 * Cycles are known of runs: of all that ran from where one taken branch went to the next. Of a run through
 * several blocks, nothing says how many each took, so that a block has cycles of its own only where it is a
 * whole run; else those of the run that ends there are told, with where it begins.
 */
#include "ask/annotate_asm.h"

#include <stdio.h>
#include <stdlib.h>

/* Branches of which fewer were recorded have no share of mispredictions. */
enum { SHARE_FROM = 30 };

enum {
    BLOCK_START,
    BLOCK_END,
    BLOCK_EXECUTIONS,
    BLOCK_CYCLES,
    BLOCK_TIMED,
    BLOCK_TAKEN,
    BLOCK_JUDGED,
    BLOCK_MISSED,
    BLOCK_SHARE,
    BLOCK_N
};
static const struct sp_answer_column block_columns[] = {
    [BLOCK_START] = {"start", SP_COL_TEXT, .doc = "address of its first instruction"},
    [BLOCK_END] = {"end", SP_COL_TEXT, .doc = "address behind its last"},
    [BLOCK_EXECUTIONS] = {"executions", SP_COL_COUNT, .doc = "how often branch stacks have it"},
    [BLOCK_CYCLES] = {"cycles", SP_COL_NUMBER,
                      .doc = "the mean of runs that are this block and no other; null: there is none"},
    [BLOCK_TIMED] = {"timed", SP_COL_COUNT, .doc = "of how many runs that is the mean"},
    [BLOCK_TAKEN] = {"taken", SP_COL_COUNT, .doc = "how often the branch at its end was taken"},
    [BLOCK_JUDGED] = {"judged", SP_COL_COUNT,
                      .doc = "of taken: of which is known whether they were predicted rightly"},
    [BLOCK_MISSED] = {"mispredicted", SP_COL_COUNT, .doc = "of judged: wrongly; null: judged is 0"},
    [BLOCK_SHARE] = {"mispredicted_percent", SP_COL_NUMBER,
                     .doc = "mispredicted of judged; null: judged is less than 30"},
};
enum { RUN_START, RUN_LAST, RUN_COUNT, RUN_TIMED, RUN_CYCLES, RUN_N };
static const struct sp_answer_column run_columns[] = {
    [RUN_START] = {"start", SP_COL_TEXT, .doc = "where a taken branch went"},
    [RUN_LAST] = {"last", SP_COL_TEXT, .doc = "where the next one stands"},
    [RUN_COUNT] = {"executions", SP_COL_COUNT, .doc = "how often branch stacks have it"},
    [RUN_TIMED] = {"timed", SP_COL_COUNT, .doc = "of these: whose cycles are known"},
    [RUN_CYCLES] = {"cycles", SP_COL_NUMBER, .doc = "the mean of timed; null: timed is 0"},
};
const struct sp_table_decl sp_annotate_basic_blocks = {"basic_blocks", block_columns, BLOCK_N,
                                                       .noun = "blocks",
                                                       .doc =
                                                           "--asm: blocks that branch stacks have, by most "
                                                           "executions"},
                           sp_annotate_runs = {"runs", run_columns, RUN_N,
                                               .doc = "--asm: what ran in the function without a taken "
                                                      "branch, by most executions"};

/* Of each instruction, while blocks are made. */
struct lbr_insn {
    int64_t begins, ends; /* executions that begin there, and that end with it */
    struct sp_branch_taken taken;
    bool leader, leaves; /* control comes to it from elsewhere; goes elsewhere behind it */
};

/* ---- runs and branches on instructions ---- */

/* The instructions of the function that a run is of, of one part. False: none, or it does not fit them. */
static bool lbr_span(struct sp_asm *z, const struct sp_asm_part *part, const struct sp_branch_run *r,
                     size_t *first, size_t *last)
{
    size_t end = part->first + part->n;
    if (r->module != part->module || r->last < part->start || r->first >= part->end)
        return false;
    for (*first = part->first; *first < end && sp_asm_insn(z, &z->insns.v[*first])->addr < r->first;)
        ++*first;
    for (*last = *first; *last < end && sp_asm_insn(z, &z->insns.v[*last])->addr <= r->last;)
        ++*last;
    if (*first == *last)
        return false;
    --*last;
    const struct sp_asm_insn *to = sp_asm_insn_at(z, part, r->first),
                             *from = sp_asm_insn_at(z, part, r->last);
    bool fits =
        (!to || sp_asm_insn(z, to)->addr == r->first) && (!from || sp_asm_insn(z, from)->addr == r->last);
    z->lbr.odd += fits ? 0 : r->count;
    return fits;
}

static void lbr_take_runs(struct sp_asm *z, struct lbr_insn *at)
{
    size_t first, last;
    for (size_t i = 0; i < z->lbr.r.runs.n; i++)
        for (size_t k = 0; k < z->parts.n; k++) {
            const struct sp_branch_run *r = &z->lbr.r.runs.v[i];
            if (!lbr_span(z, &z->parts.v[k], r, &first, &last))
                continue;
            at[first].begins += r->count;
            at[first].leader = true;
            at[last].ends += r->count;
            at[last].leaves = true;
        }
}

static void lbr_take_branches(struct sp_asm *z, struct lbr_insn *at)
{
    for (size_t i = 0; i < z->lbr.r.taken.n; i++)
        for (size_t k = 0; k < z->parts.n; k++) {
            const struct sp_branch_taken *b = &z->lbr.r.taken.v[i];
            const struct sp_asm_part *part = &z->parts.v[k];
            const struct sp_asm_insn *in = b->module == part->module ? sp_asm_insn_at(z, part, b->at) : NULL;
            if (!in || sp_asm_insn(z, in)->addr != b->at)
                continue;
            struct lbr_insn *x = &at[in - z->insns.v];
            x->taken.count += b->count;
            x->taken.judged += b->judged;
            x->taken.missed += b->missed;
            x->leaves = true;
        }
}

/* ---- blocks ---- */

/* The run that most cycles are known of, of those that end with the block. */
static uint32_t lbr_run_of(struct sp_asm *z, const struct sp_asm_block *k)
{
    const struct sp_asm_part *part = &z->parts.v[z->insns.v[k->last].part];
    uint64_t at = sp_asm_insn(z, &z->insns.v[k->last])->addr,
             from = sp_asm_insn(z, &z->insns.v[k->first])->addr;
    uint32_t best = 0;
    for (size_t i = 0; i < z->lbr.r.runs.n; i++) {
        const struct sp_branch_run *r = &z->lbr.r.runs.v[i];
        if (r->module != part->module || r->last != at || !r->timed)
            continue;
        if (r->first == from) /* the block itself */
            return (uint32_t)i + 1;
        if (!best || r->timed > z->lbr.r.runs.v[best - 1].timed)
            best = (uint32_t)i + 1;
    }
    return best;
}

static bool lbr_begins(const struct sp_asm *z, const struct lbr_insn *at, size_t i)
{
    const struct sp_asm_insn *in = &z->insns.v[i];
    if (!i || in->target || at[i].leader || at[i - 1].leaves || in[-1].part != in->part)
        return true;
    const struct sp_insn *before = sp_asm_insn(z, &in[-1]);
    return before->jump || before->call || before->addr + before->size != sp_asm_insn(z, in)->addr;
}

static bool lbr_make_blocks(struct sp_asm *z, const struct lbr_insn *at)
{
    int64_t running = 0;
    for (size_t i = 0; i < z->insns.n; i++) {
        running += at[i].begins;
        if (lbr_begins(z, at, i)) {
            struct sp_asm_block new = {.first = i, .executions = running};
            if (!sp_vec_push(&z->lbr.blocks, new))
                return false;
        }
        struct sp_asm_block *k = &z->lbr.blocks.v[z->lbr.blocks.n - 1];
        k->last = i;
        k->taken = at[i].taken.count;
        k->judged = at[i].taken.judged;
        k->missed = at[i].taken.missed;
        running -= at[i].ends;
    }
    for (size_t i = 0; i < z->lbr.blocks.n; i++) {
        struct sp_asm_block *k = &z->lbr.blocks.v[i];
        k->run = lbr_run_of(z, k);
        for (size_t n = k->first; n <= k->last; n++)
            z->insns.v[n].block = k->executions || k->taken ? (uint32_t)i + 1 : 0;
    }
    return true;
}

/* ---- what is known ---- */

/* Stacks of branches have no callers, times or moments. */
static const char *lbr_refuses(const struct sp_options *o)
{
    return o->dso || o->focus || o->ignore || o->hide || o->root_at || o->tagroot || o->tagleaf
               ? "branch stacks have no callers, which a filter asks about"
           : o->time || o->at     ? "branches are not told apart by time"
           : o->user || o->kernel ? "branches of the user and the kernel are not told apart"
                                  : NULL;
}

static const char *lbr_lacks(const struct sp_asm_lbr *x)
{
    bool cycles = false, judged = false;
    for (size_t i = 0; i < x->r.runs.n; i++)
        cycles |= x->r.runs.v[i].timed != 0;
    for (size_t i = 0; i < x->r.taken.n; i++)
        judged |= x->r.taken.v[i].judged != 0;
    if (!x->r.has_runs)
        return judged
                   ? "how often they ran: some kinds of branches were left out (`perf record -b` records all)"
                   : "how often they ran, and predictions: `perf record -b` records all branches";
    return cycles && judged ? NULL
           : judged         ? "their cycles, which this processor or recording does not count"
           : cycles         ? "predictions, which this processor or recording does not tell"
                            : "cycles and predictions, which this processor or recording does not tell";
}

spaa_status sp_annotate_lbr(struct sp_asm *z)
{
    struct sp_ask *q = z->x->asked.q;
    struct sp_asm_lbr *x = &z->lbr;
    struct sp_select_opts how;
    if (!sp_ask_select_opts(q, &how))
        return SPAA_ERR_USAGE;
    if (sp_event_find(z->x->asked.s.profile, SP_LBR, strlen(SP_LBR)) == SP_NONE) {
        x->why = "the recording has no branch stacks (`perf record -b`)";
        return SPAA_OK;
    }
    x->why = lbr_refuses(q->options);
    if (x->why || !z->insns.n)
        return SPAA_OK;
    spaa_status st = sp_branch_runs(z->x->asked.s.profile, &how, z->x->a.places, q->diags, &x->r);
    if (st)
        return st;
    struct lbr_insn *at = calloc(z->insns.n, sizeof *at);
    bool ok = at != NULL;
    if (ok) {
        lbr_take_runs(z, at);
        lbr_take_branches(z, at);
        ok = lbr_make_blocks(z, at);
    }
    free(at);
    x->less = lbr_lacks(x);
    bool any = false;
    for (size_t i = 0; ok && i < x->blocks.n; i++)
        any |= x->blocks.v[i].executions || x->blocks.v[i].taken;
    if (!any)
        x->why = "no branch stack has code of this function";
    return ok ? SPAA_OK : sp_nomem(q->diags);
}

void sp_annotate_lbr_free(struct sp_asm_lbr *x)
{
    sp_branch_runs_free(&x->r);
    sp_vec_free(&x->blocks);
}

/* ---- words and tables ---- */

static double mean(const struct sp_branch_run *r)
{
    return (double)r->cycles / (double)r->timed;
}

static double share(const struct sp_asm_block *k)
{
    return 100 * (double)k->missed / (double)k->judged;
}

/* With two decimals. */
static void lbr_put_number(struct sp_answer_table *t, size_t column, double v)
{
    sp_put_scaled(t, column, (int64_t)(v * 100 + 0.5), 2);
}

/* The run that is this block and no other; NULL. */
static const struct sp_branch_run *lbr_own_run(const struct sp_asm *z, const struct sp_asm_block *k)
{
    const struct sp_branch_run *r = k->run ? &z->lbr.r.runs.v[k->run - 1] : NULL;
    return r && r->first == sp_asm_insn(z, &z->insns.v[k->first])->addr ? r : NULL;
}

void sp_annotate_lbr_text(const struct sp_asm *z, const struct sp_asm_block *k, struct sp_buf *b)
{
    const struct sp_branch_run *r = k->run ? &z->lbr.r.runs.v[k->run - 1] : NULL;
    const char *between = "";
    if (z->lbr.r.has_runs) {
        sp_buf_printf(b, "ran %lld×", (long long)k->executions);
        between = "\n";
    }
    if (r) {
        sp_buf_printf(b, "%s%.1f cycles", between, mean(r));
        if (!lbr_own_run(z, k))
            sp_buf_printf(b, " from 0x%llx on", (unsigned long long)r->first);
        if (r->timed != k->executions)
            sp_buf_printf(b, " (mean of %lld)", (long long)r->timed);
        between = "\n";
    }
    if (k->taken)
        sp_buf_printf(b, "%sbranch taken %lld×", between, (long long)k->taken);
    if (k->judged) {
        sp_buf_printf(b, "\nmispredicted %lld×", (long long)k->missed);
        if (k->judged >= SHARE_FROM)
            sp_buf_printf(b, " (%.1f%%)", share(k));
    }
}

static void lbr_put_hex(struct sp_asm *z, struct sp_answer_table *t, size_t column, uint64_t v)
{
    char text[24];
    int n = snprintf(text, sizeof text, "0x%llx", (unsigned long long)v);
    sp_put_text(z->x->asked.out, t, column, text, (size_t)n);
}

static int lbr_by_executions(const void *va, const void *vb)
{
    const struct sp_asm_block *x = *(const struct sp_asm_block *const *)va,
                              *y = *(const struct sp_asm_block *const *)vb;
    if (x->executions != y->executions)
        return x->executions > y->executions ? -1 : 1;
    if (x->taken != y->taken)
        return x->taken > y->taken ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void lbr_put_block(struct sp_asm *z, struct sp_answer_table *t, const struct sp_asm_block *k)
{
    const struct sp_insn *last = sp_asm_insn(z, &z->insns.v[k->last]);
    const struct sp_branch_run *r = lbr_own_run(z, k);
    sp_table_row(z->x->asked.out, t);
    lbr_put_hex(z, t, BLOCK_START, sp_asm_insn(z, &z->insns.v[k->first])->addr);
    lbr_put_hex(z, t, BLOCK_END, last->addr + last->size);
    if (z->lbr.r.has_runs)
        sp_put_int(t, BLOCK_EXECUTIONS, k->executions);
    if (r)
        lbr_put_number(t, BLOCK_CYCLES, mean(r));
    sp_put_int(t, BLOCK_TIMED, r ? r->timed : 0);
    sp_put_int(t, BLOCK_TAKEN, k->taken);
    sp_put_int(t, BLOCK_JUDGED, k->judged);
    if (k->judged)
        sp_put_int(t, BLOCK_MISSED, k->missed);
    if (k->judged >= SHARE_FROM)
        lbr_put_number(t, BLOCK_SHARE, share(k));
}

static struct sp_answer_table *lbr_table(struct sp_asm *z, const struct sp_table_decl *decl)
{
    struct sp_answer_table *t = sp_answer_table(z->x->asked.out, decl);
    if (t) {
        t->quiet = true; /* beside the instructions */
        t->keep = 2;
        t->limit = z->x->asked.q->options->whole ? SIZE_MAX : z->x->limit;
    }
    return t;
}

static void lbr_put_blocks(struct sp_asm *z)
{
    struct sp_answer_table *t = lbr_table(z, &sp_annotate_basic_blocks);
    const struct sp_asm_block **order = malloc((z->lbr.blocks.n + 1) * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; order && i < z->lbr.blocks.n; i++)
        if (z->lbr.blocks.v[i].executions || z->lbr.blocks.v[i].taken)
            order[n++] = &z->lbr.blocks.v[i];
    if (n)
        qsort(order, n, sizeof *order, lbr_by_executions);
    for (size_t i = 0; t && i < n; i++)
        lbr_put_block(z, t, order[i]);
    z->x->asked.out->failed |= !order;
    free(order);
}

static int lbr_by_count(const void *va, const void *vb)
{
    const struct sp_branch_run *x = *(const struct sp_branch_run *const *)va,
                               *y = *(const struct sp_branch_run *const *)vb;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void lbr_put_runs(struct sp_asm *z)
{
    struct sp_answer_table *t = lbr_table(z, &sp_annotate_runs);
    const struct sp_branch_run **order = malloc((z->lbr.r.runs.n + 1) * sizeof *order);
    size_t n = 0;
    for (size_t i = 0; order && i < z->lbr.r.runs.n; i++) {
        const struct sp_branch_run *r = &z->lbr.r.runs.v[i];
        bool here = false;
        for (size_t k = 0; k < z->parts.n; k++)
            here |= r->module == z->parts.v[k].module && sp_asm_insn_at(z, &z->parts.v[k], r->first);
        if (here)
            order[n++] = r;
    }
    if (n)
        qsort(order, n, sizeof *order, lbr_by_count);
    for (size_t i = 0; t && i < n; i++) {
        sp_table_row(z->x->asked.out, t);
        lbr_put_hex(z, t, RUN_START, order[i]->first);
        lbr_put_hex(z, t, RUN_LAST, order[i]->last);
        sp_put_int(t, RUN_COUNT, order[i]->count);
        sp_put_int(t, RUN_TIMED, order[i]->timed);
        if (order[i]->timed)
            lbr_put_number(t, RUN_CYCLES, mean(order[i]));
    }
    z->x->asked.out->failed |= !order;
    free(order);
}

void sp_annotate_lbr_put(struct sp_asm *z)
{
    if (z->lbr.why)
        return;
    lbr_put_blocks(z);
    lbr_put_runs(z);
}
