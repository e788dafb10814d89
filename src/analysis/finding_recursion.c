/*
 * Functions of the program that call themselves, by the weight of what they do themselves: of rows where the
 * own function nearest to the leaf stands there again. What libraries do inside, and what dispatches to
 * other functions, is no finding.
 */
#include "analysis/finding_private.h"
#include "analysis/recursion.h"

#include <stdlib.h>

struct finding_recursion {
    unsigned char *proven; /* per function: more than its name says that it recurs */
    int64_t *weight;
    uint32_t *deepest;
};

struct finding_recursion *finding_recursion_new(const struct finder *x)
{
    size_t n = x->p->functions.n + 1;
    struct finding_recursion *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->proven = calloc(n, 1);
    r->weight = calloc(n, sizeof *r->weight);
    r->deepest = calloc(n, sizeof *r->deepest);
    if (r->proven && r->weight && r->deepest)
        return r;
    finding_recursion_free(r);
    return NULL;
}

void finding_recursion_free(struct finding_recursion *r)
{
    if (!r)
        return;
    free(r->proven);
    free(r->weight);
    free(r->deepest);
    free(r);
}

/* Visits of the function at `at`: those of the frames of its name that are one function with one before. */
static uint32_t visits(const struct sp_profile *p, const struct finding_row *row, size_t at, bool *proven)
{
    enum { LOOK_BACK = 64 }; /* a name of so many functions in one stack is none */
    uint32_t f = p->frames.v[row->frames[at]].function, times = 1;
    size_t seen[LOOK_BACK], nseen = 0;
    seen[nseen++] = at;
    for (size_t k = at + 1; k < row->n; k++) {
        if (p->frames.v[row->frames[k]].function != f)
            continue;
        enum sp_sameness best = SP_OTHERS;
        for (size_t i = nseen; i-- > 0 && best < SP_SAME;) {
            enum sp_sameness is = sp_same_function(p, row->frames, seen[i], k);
            best = is > best ? is : best;
        }
        times += best != SP_OTHERS;
        *proven = *proven || best == SP_SAME;
        if (nseen == LOOK_BACK)
            memmove(seen, seen + 1, --nseen * sizeof *seen);
        seen[nseen++] = k;
    }
    return times;
}

bool finding_recursion_row(struct finder *x, const struct finding_row *row)
{
    size_t at;
    bool proven = false;
    uint32_t f = x->own->all ? SP_NONE : finding_nearest(x, row->frames, row->n, 0, &at);
    uint32_t times = f == SP_NONE ? 1 : visits(x->p, row, at, &proven);
    if (times < 2)
        return true;
    struct finding_recursion *r = x->recursion;
    r->weight[f] += row->s->weight;
    r->proven[f] |= proven;
    r->deepest[f] = times > r->deepest[f] ? times : r->deepest[f];
    struct finding_hit hit = {(uint32_t)row->number, (uint32_t)at, (uint32_t)at, 0, f};
    return sp_vec_push(&x->hits[SP_FIND_RECURSION], hit);
}

/* Of the one function that does most. */
static bool recursion_tell(const struct finding_rule *r, struct finder *x)
{
    struct sp_finding f;
    uint32_t function = finding_heaviest(x, x->recursion->weight, 0);
    if (function == SP_NONE)
        return true;
    if (!finding_of_hits(r, x, function, &f))
        return false;
    f.function = function;
    f.through = f.weight;
    f.deepest = x->recursion->deepest[function];
    f.by_name = !x->recursion->proven[function];
    return finding_add(x, &f);
}

const struct finding_rule finding_rule_recursion = {SP_FIND_RECURSION, FCS, NULL, recursion_tell};
