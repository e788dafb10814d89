#include "unwind/chains.h"

#include "base/hash.h"
#include "base/watch.h"
#include "model/callgraph.h"
#include "model/edges.h"
#include "model/entries.h"
#include "model/returns.h"
#include "unwind/edges.h"

#include <stdlib.h>
#include <string.h>

enum { PROOF_LEAST = 4 /* return addresses that tell one build from another */ };

/* A DSO of the profile. */
struct binary {
    struct sp_module *module; /* NULL: no file whose addresses these are */
    uint64_t returns, calls;  /* distinct return addresses; those behind calls */
};

/* A callee and its caller, by their frames and how they stand in stacks. */
struct pair {
    uint32_t callee, caller;
    bool called; /* the callee has a return address, too */
    bool below;
    uint8_t verdict;
    uint32_t frame;
};

struct judge {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_symbols *symbols;
    struct sp_edges *edges;
    bool by_pointers; /* the chains were walked by frame pointers */
    struct binary *binaries;
    unsigned char *seen; /* per frame: as a return address */
    SP_VEC(struct pair) pairs;
    struct sp_map pair_map;
    SP_VEC(struct sp_edge) list;
};

static spaa_status open_binary(struct judge *j, uint32_t number)
{
    const struct sp_dso *dso = &j->p->dsos.v[number];
    struct sp_str name = sp_pstr(j->p, dso->name);
    struct sp_module_key key = {.kind = SP_MODULE_FILE,
                                .path = name.p,
                                .build_id = dso->build_id ? sp_pstr(j->p, dso->build_id).p : NULL};
    bool offsets = dso->place.ips == SP_DSO_FILE_OFFSET;
    if (!name.n || name.p[0] == '[' || dso->is_kernel || offsets || !key.build_id)
        return SPAA_OK;
    return sp_symbols_module(j->symbols, &key, &j->binaries[number].module);
}

static struct binary *binary_of(const struct judge *j, const struct sp_frame *f)
{
    return &j->binaries[j->p->functions.v[f->function].dso];
}

/* The next frame from i on that is none of those inlined into another; n: none. */
static uint32_t physical(const struct sp_profile *p, const uint32_t *f, uint32_t n, uint32_t i)
{
    while (i < n && p->frames.v[f[i]].flags & SP_FRAME_INLINED)
        i++;
    return i;
}

typedef spaa_status (*visit_fn)(struct judge *j, uint32_t at, uint32_t callee, uint32_t caller, bool called);

/* All calls of user code by user code in a stack, leaf first. */
static spaa_status each_call(struct judge *j, const struct sp_stack *s, visit_fn visit)
{
    const struct sp_profile *p = j->p;
    const uint32_t n = s->n;
    struct sp_returns returns = sp_returns_of(p, p->contexts.v[s->context].event);
    const struct sp_frame *leafward = NULL;
    spaa_status st = SPAA_OK;
    if (returns.leaf || !returns.callers)
        return st;
    for (uint32_t i = physical(p, p->stack_frames.v + s->first, n, 0), k; !st && i < n; i = k) {
        const uint32_t *f = p->stack_frames.v + s->first;
        k = physical(p, f, n, i + 1);
        const struct sp_frame *callee = &p->frames.v[f[i]];
        const struct sp_frame *caller = k < n ? &p->frames.v[f[k]] : NULL;
        bool both =
            caller && callee->kind == SP_USER && caller->kind == SP_USER && caller->flags & SP_FRAME_IP;
        if (both && binary_of(j, caller)->module)
            st = visit(j, i, f[i], f[k], sp_is_return(returns, callee, leafward));
        leafward = &p->frames.v[p->stack_frames.v[s->first + i]];
    }
    return st;
}

/* How many return addresses of a binary stand behind calls. */
static spaa_status prove(struct judge *j, uint32_t at, uint32_t callee, uint32_t caller, bool called)
{
    const struct sp_frame *f = &j->p->frames.v[caller];
    struct binary *b = binary_of(j, f);
    (void)at;
    (void)callee;
    (void)called;
    if (!j->seen[caller]) {
        struct sp_edge_side side = {b->module, f->ip};
        j->seen[caller] = 1;
        b->returns++;
        b->calls += sp_edges_called(j->edges, &side);
    }
    return SPAA_OK;
}

static bool is_proven(const struct binary *b)
{
    return b->returns >= PROOF_LEAST && b->calls >= b->returns - b->returns / 4;
}

static spaa_status missing_frame(struct judge *j, const struct sp_edge_side *target, uint32_t *out)
{
    uint32_t dso = 0;
    while (dso < j->p->dsos.n && j->binaries[dso].module != target->module)
        dso++;
    *out = sp_edges_target(j->p, target, dso < j->p->dsos.n ? dso : SP_NONE);
    return *out == SP_NONE ? sp_nomem(j->d) : SPAA_OK;
}

static spaa_status judge_pair(struct judge *j, struct pair *x)
{
    const struct sp_frame *callee = &j->p->frames.v[x->callee], *caller = &j->p->frames.v[x->caller];
    const struct sp_edge_scene nobody = {NULL, 0, false}; /* which modules there were is not told */
    bool located = callee->flags & SP_FRAME_IP;
    struct sp_edge_side from = {binary_of(j, caller)->module, caller->ip};
    const struct binary *other = binary_of(j, callee);
    struct sp_edge_side to = {is_proven(other) ? other->module : NULL, callee->ip - x->called};
    struct sp_judgement found = {.verdict = SP_EDGE_FINE};
    bool known = located && is_proven(binary_of(j, caller));
    spaa_status st = known ? sp_edges_judge(j->edges, &from, &to, &nobody, &found) : SPAA_OK;
    if (!st && located && j->by_pointers && !(known && sp_edges_tells(j->edges, &from)) &&
        sp_edges_skips(j->edges, &to))
        found.verdict = SP_EDGE_IMPOSSIBLE;
    x->verdict = (uint8_t)found.verdict;
    x->below = found.below;
    return st || found.verdict != SP_EDGE_MISSING ? st : missing_frame(j, &found.target, &x->frame);
}

/* The judgement of a pair, made once; SP_NONE: failed, *st says why. */
static uint32_t pair_of(struct judge *j, uint32_t callee, uint32_t caller, bool called, spaa_status *st)
{
    uint64_t hash = sp_hash_mix((uint64_t)callee << 32 | caller, called);
    struct sp_probe at = sp_map_probe(&j->pair_map, hash);
    for (uint32_t i; (i = sp_map_next(&j->pair_map, &at)) != SP_MAP_NONE;)
        if (j->pairs.v[i].callee == callee && j->pairs.v[i].caller == caller &&
            j->pairs.v[i].called == called)
            return i;
    struct pair fresh = {.callee = callee, .caller = caller, .called = called, .frame = SP_NONE};
    *st = judge_pair(j, &fresh);
    if (!*st && (j->pairs.n >= SP_NONE - 1 || !sp_vec_push(&j->pairs, fresh) ||
                 !sp_map_add_at(&j->pair_map, &at, (uint32_t)j->pairs.n - 1)))
        *st = sp_nomem(j->d);
    return *st ? SP_NONE : (uint32_t)j->pairs.n - 1;
}

static spaa_status note(struct judge *j, uint32_t at, uint32_t callee, uint32_t caller, bool called)
{
    spaa_status st = SPAA_OK;
    uint32_t i = pair_of(j, callee, caller, called, &st);
    const struct pair *x = st ? NULL : &j->pairs.v[i];
    if (st || x->verdict == SP_EDGE_FINE)
        return st;
    if (x->verdict == SP_EDGE_IMPOSSIBLE || x->below) {
        struct sp_edge e = {at, SP_EDGE_BROKEN, sp_edge_broken_frame(j->p)};
        if (e.frame == SP_NONE || !sp_vec_push(&j->list, e))
            return sp_nomem(j->d);
    }
    struct sp_edge e = {at, SP_EDGE_INFERRED, x->frame};
    return x->verdict != SP_EDGE_MISSING || sp_vec_push(&j->list, e) ? SPAA_OK : sp_nomem(j->d);
}

/* What is above an entry of a thread or program is nobody's caller. */
static void end_at_entry(struct judge *j, const struct sp_stack *s)
{
    const struct sp_profile *p = j->p;
    const uint32_t *f = p->stack_frames.v + s->first;
    uint32_t entry = 0;
    if (!j->list.n)
        return;
    while (entry < s->n && !sp_is_entry(sp_pstr(p, sp_frame_function(p, f[entry])->name), SP_SIDE_USER))
        entry++;
    while (j->list.n && j->list.v[j->list.n - 1].at >= entry)
        j->list.n--;
}

enum { ASK_STACKS = 64 }; /* between two looks at whether the call is to be left: code is read */

static spaa_status judge_all(struct judge *j)
{
    struct sp_profile *p = j->p;
    size_t dsos = p->dsos.n; /* edges may add one */
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < dsos; i++)
        st = sp_cancelled(j->d) ? SPAA_ERR_CANCELLED : open_binary(j, i);
    for (size_t i = 0; !st && i < p->stacks.n; i++)
        st = sp_leaving(j->d, i) ? SPAA_ERR_CANCELLED : each_call(j, &p->stacks.v[i], prove);
    for (size_t i = 0; !st && i < p->stacks.n; i++) {
        struct sp_stack *s = &p->stacks.v[i];
        if (s->edges)
            continue;
        j->list.n = 0;
        if (i % ASK_STACKS == 0 && sp_cancelled(j->d))
            return SPAA_ERR_CANCELLED;
        st = each_call(j, s, note);
        end_at_entry(j, s);
        s->edges = st ? 0 : sp_edges_intern(p, j->list.v, j->list.n);
        if (s->edges == SP_NONE)
            st = sp_nomem(j->d);
    }
    if (!st)
        st = sp_edges_failed(j->edges);
    return st ? st : sp_symbols_failed(j->symbols);
}

spaa_status sp_chains_judge(struct sp_profile *p, const struct sp_symbol_opts *opts, struct sp_diags *d)
{
    struct judge j = {.p = p, .d = d, .edges = sp_edges_new(d)};
    j.by_pointers = sp_callgraph_of(p) == SP_CALLGRAPH_POINTERS;
    j.binaries = calloc(p->dsos.n + 2, sizeof *j.binaries);
    j.seen = calloc(p->frames.n + 1, 1);
    bool ok = j.edges && j.binaries && j.seen;
    spaa_status st = ok ? sp_symbols_new(opts, d, &j.symbols) : sp_nomem(d);
    if (!st)
        st = judge_all(&j);
    sp_edges_free(j.edges);
    sp_symbols_free(j.symbols);
    free(j.binaries);
    free(j.seen);
    sp_vec_free(&j.pairs);
    sp_map_free(&j.pair_map);
    sp_vec_free(&j.list);
    return st;
}
