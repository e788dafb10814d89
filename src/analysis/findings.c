#include "analysis/findings.h"

#include "analysis/finding_private.h"
#include "analysis/interval.h"

#include <stdlib.h>

enum { BOUND = SP_FINDING_BOUND, COVERS = SP_FINDING_COVERS, CPU = SP_FINDING_CPU, EXACT = SP_FINDING_EXACT };

const struct sp_finding_info sp_finding_infos[SP_FINDINGS] = {
#define SP_FINDING(kind, id, least, group, flags, title, remedy, confirm)                                    \
    [SP_FIND_##kind] = {id, least, SP_FINDING_##group, flags, title, remedy, confirm},
#include "analysis/findings.def"
#undef SP_FINDING
};

static const struct finding_rule *const rules[] = {
    &finding_rule_idle,  &finding_rule_wait,       &finding_rule_regex,     &finding_rule_format,
    &finding_rule_lock,  &finding_rule_allocation, &finding_rule_unwinding, &finding_rule_cast,
    &finding_rule_fault, &finding_rule_syscall,    &finding_rule_gc,        &finding_rule_interpreter,
    &finding_rule_debug, &finding_rule_recursion};
enum { RULES = sizeof rules / sizeof *rules };

/* ---- rows ---- */

bool finding_kernel_frame(const struct sp_profile *p, uint32_t frame)
{
    const struct sp_frame *f = &p->frames.v[frame];
    return f->kind == SP_KERNEL || p->dsos.v[p->functions.v[f->function].dso].is_kernel;
}

static void row_of(const struct finder *x, size_t i, const uint32_t *frames, size_t n,
                   struct finding_row *row)
{
    const struct sp_profile *p = x->p;
    const struct sp_selected *s = &x->s->rows.v[i];
    const struct sp_context *c = &p->contexts.v[p->stacks.v[s->stack].context];
    *row = (struct finding_row){.number = i, .frames = frames, .n = n, .s = s};
    row->comm = sp_pstr(p, c->comm);
    row->state = sp_pstr(p, c->state);
    for (size_t k = 0; k < n; k++) {
        uint32_t f = p->frames.v[frames[k]].function, classes = x->classes[f];
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

bool finding_class_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                       struct finding_hit *hit)
{
    (void)x;
    if (!(row->classes >> r->class & 1))
        return false;
    hit->at = (uint32_t)row->first[r->class];
    hit->top = (uint32_t)row->last[r->class];
    hit->parts = row->parts;
    return true;
}

/* ---- findings ---- */

uint32_t finding_heaviest(const struct finder *x, const int64_t *weight, uint32_t classes)
{
    const struct sp_profile *p = x->p;
    uint32_t best = SP_NONE;
    for (uint32_t i = 0; i < p->functions.n; i++) {
        if (weight[i] <= 0 || (classes && !(x->classes[i] & classes)))
            continue;
        if (best == SP_NONE || weight[i] > weight[best] ||
            (weight[i] == weight[best] &&
             sp_str_cmp(sp_pstr(p, p->functions.v[i].name), sp_pstr(p, p->functions.v[best].name)) < 0))
            best = i;
    }
    return best;
}

/* A rule that so few samples show is none. */
bool finding_reaches(const struct finder *x, const struct sp_finding *f)
{
    enum { LEAST_SAMPLES = 10 };
    if (f->of <= 0 || f->part <= 0 ||
        (__int128)f->part * 100 < (__int128)f->of * sp_finding_infos[f->kind].percent)
        return false;
    return sp_finding_infos[f->kind].group != SP_FINDING_RULE || x->effective <= 0 ||
           x->effective * (double)f->part >= LEAST_SAMPLES * (double)f->of;
}

bool finding_add(struct finder *x, const struct sp_finding *f)
{
    return !finding_reaches(x, f) || sp_vec_push(&x->out.list, *f);
}

struct sp_finding finding_about(enum sp_finding_kind kind, int64_t weight, int64_t part, int64_t of)
{
    const struct sp_finding_info *i = &sp_finding_infos[kind];
    return (struct sp_finding){.kind = kind,
                               .weight = weight,
                               .part = part,
                               .of = of,
                               .function = SP_NONE,
                               .context = SP_NONE,
                               .from = SP_NONE,
                               .callee = SP_NONE,
                               .steps = {SP_NONE, SP_NONE},
                               .in_kernel = SP_ABSENT,
                               .group = UINT32_MAX,
                               .title = i->title,
                               .remedy = i->remedy,
                               .confirm = i->confirm};
}

static void add_hit(struct finder *x, const struct finding_hit *h, struct sp_finding *f)
{
    size_t n;
    int64_t weight = x->s->rows.v[h->row].weight;
    const uint32_t *frames = sp_selected_frames(x->s, h->row, &n);
    f->weight += weight;
    for (unsigned i = 1; i < SP_PARTS; i++)
        f->parts[i] += h->parts >> i & 1 ? weight : 0;
    if (frames && n && finding_kernel_frame(x->p, frames[0]))
        f->in_kernel += weight;
}

bool finding_of_hits(const struct finding_rule *r, struct finder *x, uint32_t group, struct sp_finding *f)
{
    *f = finding_about(r->kind, 0, 0, x->s->whole);
    f->in_kernel = 0;
    f->group = group;
    for (size_t i = 0; i < x->hits[r->kind].n; i++)
        if (group == UINT32_MAX || x->hits[r->kind].v[i].group == group)
            add_hit(x, &x->hits[r->kind].v[i], f);
    f->part = f->weight;
    if (!x->kernel_seen)
        f->in_kernel = SP_ABSENT;
    if (!finding_reaches(x, f))
        return true;
    f->callers_missing = sp_chains_tell(x->s);
    f->at_least = f->callers_missing && !(sp_finding_infos[r->kind].flags & EXACT);
    f->has_interval = x->effective > 0 && f->weight <= x->s->whole;
    if (f->has_interval)
        sp_share_interval(100 * (double)f->weight / (double)f->of, (int64_t)x->effective, &f->low, &f->high);
    f->function = r->class < FCS ? finding_heaviest(x, x->through, 1u << r->class) : SP_NONE;
    f->through = f->function == SP_NONE ? 0 : x->through[f->function];
    return finding_way(x, x->hits[r->kind].v, x->hits[r->kind].n, group, f);
}

bool finding_class_tell(const struct finding_rule *r, struct finder *x)
{
    struct sp_finding f;
    return finding_of_hits(r, x, UINT32_MAX, &f) && finding_add(x, &f);
}

/* ---- all of it ---- */

/* Weights of w over k samples each are as sure as (sum w)² / sum(w² / k) samples of equal weight. */
static double effective(const struct sp_selection *s)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < s->rows.n; i++) {
        const struct sp_selected *r = &s->rows.v[i];
        if (r->samples <= 0 || r->weight < 0) {
            if (r->weight)
                return 0;
            continue;
        }
        sum += (double)r->weight;
        squares += (double)r->weight * (double)r->weight / (double)r->samples;
    }
    return squares > 0 ? sum * sum / squares : 0;
}

static bool finder_start(struct finder *x)
{
    size_t n = x->p->functions.n + 1;
    x->classes = calloc(n, sizeof *x->classes);
    x->parts = calloc(n, 1);
    x->through = calloc(n, sizeof *x->through);
    x->irq_leaf = calloc(n, sizeof *x->irq_leaf);
    x->irq_caller = calloc(n, sizeof *x->irq_caller);
    x->recursion = finding_recursion_new(x);
    x->effective = effective(x->s);
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
    return strcmp(a->what, b->what);
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
