#include "analysis/findings.h"

#include "analysis/finding_private.h"
#include "analysis/function_tags.h"
#include "model/thread_names.h"

#include <stdlib.h>

static const struct finding_rule *const rules[] = {
    &finding_rule_idle,  &finding_rule_wait,       &finding_rule_regex,     &finding_rule_format,
    &finding_rule_lock,  &finding_rule_allocation, &finding_rule_unwinding, &finding_rule_cast,
    &finding_rule_fault, &finding_rule_syscall,    &finding_rule_gc,        &finding_rule_interpreter,
    &finding_rule_debug, &finding_rule_recursion};
enum { RULES = sizeof rules / sizeof *rules };

/* ---- rows ---- */

static void row_of(const struct finder *x, size_t i, const uint32_t *frames, size_t n,
                   struct finding_row *row)
{
    const struct sp_profile *p = x->p;
    const struct sp_selected *s = &x->s->rows.v[i];
    const struct sp_context *c = &p->contexts.v[p->stacks.v[s->stack].context];
    *row = (struct finding_row){.number = i, .frames = frames, .n = n, .s = s};
    row->comm = sp_pstr(p, sp_context_name(p, c));
    row->state = sp_pstr(p, c->state);
    for (size_t k = 0; k < n; k++) {
        uint32_t f = p->frames.v[frames[k]].function, classes = x->classes[f];
        if (classes >> FC_WAIT & 1 && !sp_waits_in(p, s->stack, f))
            classes &= ~(1u << FC_WAIT);
        row->parts |= 1u << x->parts[f];
        for (unsigned c2 = 0; classes >> c2; c2++) {
            if (!(classes >> c2 & 1))
                continue;
            if (!(row->classes >> c2 & 1))
                row->first[c2] = k;
            row->last[c2] = k;
        }
        row->classes |= classes;
    }
}

/* As recorded: filters may hide callers. Functions inlined into the leaf stand at its address, as it does. */
static bool has_caller(const struct finder *x, size_t i)
{
    const struct sp_selected *s = &x->s->rows.v[i];
    const struct sp_stack *stack = &x->p->stacks.v[s->stack];
    size_t n = 0;
    for (size_t k = 0; k < stack->n && n < 2; k++) {
        uint32_t frame = x->p->stack_frames.v[stack->first + k];
        n += !(x->p->frames.v[frame].flags & SP_FRAME_INLINED);
    }
    return n > 1 || (s->kernel != SP_NONE && stack->n);
}

static bool take_row(struct finder *x, size_t i)
{
    struct finding_row row;
    size_t n;
    const uint32_t *frames = sp_selected_frames(x->s, i, &n);
    if (!frames)
        return false;
    row_of(x, i, frames, n, &row);
    for (size_t k = 0; k < n; k++)
        sp_fold_total(&x->functions, x->p->frames.v[frames[k]].function, row.s, (uint32_t)i + 1);
    x->callers_seen = x->callers_seen || has_caller(x, i);
    finding_irq_row(x, &row);
    if (!finding_recursion_row(x, &row))
        return false;
    for (size_t r = 0; r < RULES; r++) {
        struct finding_hit hit = {.row = (uint32_t)i};
        if (rules[r]->hit && rules[r]->hit(rules[r], x, &row, &hit) &&
            !sp_vec_push(&x->hits[rules[r]->kind], hit))
            return false;
    }
    return !x->nomem;
}

/* ---- all of it ---- */

static bool finder_start(struct finder *x)
{
    size_t n = x->p->functions.n + 1;
    x->classes = calloc(n, sizeof *x->classes);
    x->parts = calloc(n, 1);
    x->through = calloc(n, sizeof *x->through);
    x->irq_leaf = calloc(n, sizeof *x->irq_leaf);
    x->irq_caller = calloc(n, sizeof *x->irq_caller);
    x->recursion = finding_recursion_new(x);
    x->effective = finding_effective(x->s);
    return x->classes && x->parts && x->through && x->irq_leaf && x->irq_caller && x->recursion &&
           sp_strtab_init(&x->calls) && sp_fold_reserve(&x->functions, n) && finding_names(x);
}

static void finder_finish(struct finder *x)
{
    free(x->classes);
    free(x->parts);
    free(x->through);
    free(x->irq_leaf);
    free(x->irq_caller);
    sp_fold_free(&x->functions);
    sp_strtab_free(&x->calls);
    finding_recursion_free(x->recursion);
    for (size_t i = 0; i < SP_FINDINGS; i++)
        sp_vec_free(&x->hits[i]);
}

/* Where callers are missing, what tells a cause stands before what may be a part of it. */
static bool is_cause(const struct sp_finding *f)
{
    return f->at_least &&
           (f->kind == SP_FIND_REGEX || f->kind == SP_FIND_FORMAT || f->kind == SP_FIND_UNWIND);
}

static int by_order(const void *va, const void *vb)
{
    const struct sp_finding *a = va, *b = vb;
    bool ra = sp_finding_infos[a->kind].group == SP_FINDING_RULE,
         rb = sp_finding_infos[b->kind].group == SP_FINDING_RULE;
    if (ra != rb)
        return ra - rb;
    if (is_cause(a) != is_cause(b))
        return is_cause(b) - is_cause(a);
    if (ra && a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    int c = strcmp(a->what, b->what);
    return c ? c : a->group < b->group ? -1 : a->group > b->group;
}

static bool tell_all(struct finder *x)
{
    bool ok = finder_start(x);
    for (size_t i = 0; ok && i < x->s->rows.n; i++)
        ok = take_row(x, i);
    for (size_t i = 0; ok && i < x->p->functions.n; i++)
        x->through[i] = x->functions.total.v[i].weight;
    ok = ok && finding_tell_data(x) && finding_tell_irq(x) && finding_tell_threads(x);
    for (size_t r = 0; ok && r < RULES; r++)
        if (!finding_goes_without_saying(x, rules[r]->kind))
            ok = rules[r]->tell(rules[r], x);
    if (ok && x->out.list.n)
        qsort(x->out.list.v, x->out.list.n, sizeof *x->out.list.v, by_order);
    return ok && finding_beneath(x);
}

spaa_status sp_findings_of(struct sp_selection *s, const struct sp_quality *q, const struct sp_own *own,
                           struct sp_diags *d, struct sp_findings *out)
{
    struct finder x = {.s = s, .p = s->profile, .q = q, .own = own, .d = d};
    bool ok = s->cannot_add || tell_all(&x);
    finder_finish(&x);
    if (!ok) {
        sp_findings_free(&x.out);
        return sp_nomem(d);
    }
    *out = x.out;
    return SPAA_OK;
}

void sp_findings_free(struct sp_findings *f)
{
    sp_vec_free(&f->list);
}
