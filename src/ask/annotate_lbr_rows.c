/* What is said of the blocks and runs that branch stacks have (annotate_lbr.c): lines for people, and tables.
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
