/*
 * Chains of perf that were walked by frame pointers and could not be checked for calls that cannot be: a
 * caller is in a binary of whose images none has a build-id, so that its code is not known.
 */
#include "analysis/chains.h"
#include "base/hash.h"
#include "model/callgraph.h"
#include "model/entries.h"

#include <stdlib.h>

struct unchecked {
    const struct sp_profile *p;
    unsigned char *dso; /* per DSO: enum known */
    unsigned char
        *begins;      /* per function: threads or programs begin there; what is above is nobody's caller */
    int64_t *weights; /* per DSO */
};
enum known { IN_NO_IMAGE, WITHOUT_ID, WITH_ID };

/* What images say of DSOs, by their paths. */
static bool unchecked_find_dsos(struct unchecked *x)
{
    const struct sp_profile *p = x->p;
    struct sp_map by_name = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->dsos.n; i++)
        ok = sp_map_add(&by_name, sp_hash_mix(p->dsos.v[i].name, 0), i);
    for (size_t k = 0; ok && k < p->images.n; k++) {
        const struct sp_image *m = &p->images.v[k];
        struct sp_probe at = sp_map_probe(&by_name, sp_hash_mix(m->path, 0));
        for (uint32_t i; m->path && (i = sp_map_next(&by_name, &at)) != SP_MAP_NONE;) {
            unsigned char known = m->build_id ? WITH_ID : WITHOUT_ID;
            if (p->dsos.v[i].name == m->path && x->dso[i] < known)
                x->dso[i] = known;
        }
    }
    sp_map_free(&by_name);
    return ok;
}

static uint32_t unchecked_physical(const struct sp_profile *p, const uint32_t *f, uint32_t n, uint32_t i)
{
    while (i < n && p->frames.v[f[i]].flags & SP_FRAME_INLINED)
        i++;
    return i;
}

/* The binary of the first caller of a stack that was not checked; SP_NONE: there is none. */
static uint32_t unchecked_caller(const struct unchecked *x, uint32_t stack)
{
    const struct sp_profile *p = x->p;
    const uint32_t *f = sp_stack_frames(p, stack), n = p->stacks.v[stack].n;
    for (uint32_t i = unchecked_physical(p, f, n, 0), k; i < n; i = k) {
        const struct sp_frame *callee = &p->frames.v[f[i]];
        k = unchecked_physical(p, f, n, i + 1);
        if (callee->kind == SP_USER && x->begins[callee->function])
            return SP_NONE;
        if (k == n || callee->kind != SP_USER || p->frames.v[f[k]].kind != SP_USER)
            continue;
        uint32_t dso = p->functions.v[p->frames.v[f[k]].function].dso;
        if (x->dso[dso] == WITHOUT_ID)
            return dso;
    }
    return SP_NONE;
}

static bool unchecked_weigh(struct unchecked *x, const struct sp_selection *s, struct sp_chains *c)
{
    const struct sp_profile *p = x->p;
    for (size_t i = 0; i < p->functions.n; i++)
        x->begins[i] = sp_is_entry(sp_pstr(p, p->functions.v[i].name), SP_SIDE_USER);
    for (size_t i = 0; i < s->rows.n; i++) {
        const struct sp_selected *r = &s->rows.v[i];
        bool judged = c->rows[i] != SP_CHAIN_WHOLE || p->stacks.v[r->stack].edges;
        uint32_t dso = judged ? SP_NONE : unchecked_caller(x, r->stack);
        if (dso == SP_NONE)
            continue;
        x->weights[dso] += r->weight;
        c->unchecked += r->weight;
    }
    return sp_dso_weights_of(p, x->weights, &c->unchecked_dsos);
}

bool sp_chains_find_unchecked(const struct sp_selection *s, struct sp_chains *c)
{
    const struct sp_profile *p = s->profile;
    struct unchecked x = {.p = p};
    if (!c->rows || !p->images.n || sp_callgraph_of(p) != SP_CALLGRAPH_POINTERS)
        return true;
    x.dso = calloc(p->dsos.n + 1, 1);
    x.begins = calloc(p->functions.n + 1, 1);
    x.weights = calloc(p->dsos.n + 1, sizeof *x.weights);
    bool ok = x.dso && x.begins && x.weights && unchecked_find_dsos(&x) && unchecked_weigh(&x, s, c);
    free(x.dso);
    free(x.begins);
    free(x.weights);
    return ok;
}
