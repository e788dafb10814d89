/*
 * What branch stacks say of the instructions of annotate --asm: how often a block ran, how many cycles that
 * took, and how its branch was predicted.
 *
 * Cycles are known of runs: of all that ran from where one taken branch went to the next. Of a run through
 * several blocks, nothing says how many each took, so that a block has cycles of its own only where it is a
 * whole run; else those of the run that ends there are told, with where it begins.
 */
#include "ask/annotate_asm.h"

#include <stdlib.h>

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
    if (r->module != part->module || r->last < part->start || r->first >= part->end)
        return false;
    *first = r->first ? sp_asm_behind(z, part, r->first - 1) : part->first;
    *last = sp_asm_behind(z, part, r->last);
    if (*first >= *last)
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
