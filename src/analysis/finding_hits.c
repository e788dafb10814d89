/* Hits of a rule as a finding: its weights, how sure they are, where they come from. */
#include "analysis/finding_private.h"
#include "analysis/interval.h"

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

static bool add_hit(struct finder *x, const struct finding_hit *h, struct sp_finding *f)
{
    size_t n;
    int64_t weight = x->s->rows.v[h->row].weight;
    const uint32_t *frames = sp_selected_frames(x->s, h->row, &n);
    if (!frames)
        return false;
    f->weight += weight;
    for (unsigned i = 1; i < SP_PARTS; i++)
        f->parts[i] += h->parts >> i & 1 ? weight : 0;
    if (n && sp_frame_is_kernel(x->p, frames[0]))
        f->in_kernel += weight;
    return true;
}

bool finding_of_hits(const struct finding_rule *r, struct finder *x, uint32_t group, struct sp_finding *f)
{
    *f = finding_about(r->kind, 0, 0, x->s->whole);
    f->in_kernel = 0;
    f->group = group;
    for (size_t i = 0; i < x->hits[r->kind].n; i++)
        if ((group == UINT32_MAX || x->hits[r->kind].v[i].group == group) &&
            !add_hit(x, &x->hits[r->kind].v[i], f))
            return false;
    f->part = f->weight;
    if (!x->kernel_seen)
        f->in_kernel = SP_ABSENT;
    if (!finding_reaches(x, f))
        return true;
    f->callers_missing = !x->callers_seen || sp_chains_tell(x->s);
    f->at_least =
        f->callers_missing && !(x->callers_seen && sp_finding_infos[r->kind].flags & SP_FINDING_EXACT);
    f->weighs_work = finding_weighs_work(x);
    f->has_interval = x->effective > 0 && f->weight <= x->s->whole;
    if (f->has_interval)
        sp_share_interval(100 * (double)f->weight / (double)f->of, (int64_t)x->effective, &f->low, &f->high);
    f->function = r->class < FCS ? finding_heaviest(x, x->through, 1u << r->class) : SP_NONE;
    f->through = f->function == SP_NONE ? 0 : x->through[f->function];
    return !x->callers_seen || finding_way(x, x->hits[r->kind].v, x->hits[r->kind].n, group, f);
}

bool finding_class_tell(const struct finding_rule *r, struct finder *x)
{
    struct sp_finding f;
    return finding_of_hits(r, x, UINT32_MAX, &f) && finding_add(x, &f);
}

bool finding_class_hit(const struct finding_rule *r, struct finder *x, const struct finding_row *row,
                       struct finding_hit *hit)
{
    (void)x;
    if (!(row->classes >> r->class & 1))
        return false;
    hit->at = (uint32_t)row->first[r->class];
    hit->top = (uint32_t)row->last[r->class];
    return true;
}

/* Weights of w over k samples each are as sure as (sum w)² / sum(w² / k) samples of equal weight. */
double finding_effective(const struct sp_selection *s)
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
