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
    bool recorded;            /* an image says that its build-id is what was mapped */
};

/* A callee and its caller, by their frames and how they stand in stacks. */
struct pair {
    uint32_t callee, caller;
    uint32_t process; /* of the stack that it was judged for, as judge.process; counts if by_scene */
    bool called;      /* the callee has a return address, too */
    bool below, by_scene;
    uint8_t verdict;
    uint32_t frame;
};

struct judge {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_symbols *symbols;
    struct sp_edges *edges;
    bool by_pointers; /* the chains were walked by frame pointers */
    size_t dsos;      /* as many as there were: edges may add one */
    struct binary *binaries;
    unsigned char *seen;   /* per frame: as a return address */
    unsigned char *begins; /* per function that frames of stacks have: a thread or program does so there */
    uint32_t entry;        /* of the stack that is judged: where it begins */
    SP_VEC(struct pair) pairs;
    struct sp_map pair_map, process_map, dso_map; /* process_map: of p->processes by pid; dso_map: by name */
    uint32_t process;  /* of the stack that is judged: 1 + number in p->processes; 0: it is not known */
    uint32_t gathered; /* whose modules `scene` has, likewise; SP_NONE: nobody's */
    SP_VEC(struct sp_module *) scene;
    bool complete;
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

/* ---- what a process had mapped: its images ---- */

/* The one process of a pid: which of several it was, a stack does not tell. */
static uint32_t process_of(const struct judge *j, int64_t pid)
{
    uint32_t found = 0;
    struct sp_probe at = sp_map_probe(&j->process_map, sp_hash_mix((uint64_t)pid, 0));
    for (uint32_t i; pid != SP_ABSENT && (i = sp_map_next(&j->process_map, &at)) != SP_MAP_NONE;) {
        if (j->p->processes.v[i].pid != pid)
            continue;
        if (found)
            return 0;
        found = j->p->processes.v[i].images ? i + 1 : 0;
    }
    return found;
}

/* The DSO that is the file of an image; SP_NONE: no frame is of it. */
static uint32_t dso_of_image(const struct judge *j, const struct sp_image *x)
{
    struct sp_probe at = sp_map_probe(&j->dso_map, sp_hash_mix(x->path, 0));
    for (uint32_t i; x->path && (i = sp_map_next(&j->dso_map, &at)) != SP_MAP_NONE;)
        if (j->p->dsos.v[i].name == x->path && (!x->build_id || j->p->dsos.v[i].build_id == x->build_id))
            return i;
    return SP_NONE;
}

/* Which build-ids are those of the recording, and not of the files that gave names. */
static void find_recorded(struct judge *j)
{
    for (size_t i = 0; i < j->p->images.n; i++) {
        const struct sp_image *x = &j->p->images.v[i];
        uint32_t dso = x->build_id ? dso_of_image(j, x) : SP_NONE;
        if (dso != SP_NONE)
            j->binaries[dso].recorded = true;
    }
}

/* The module of an image: that of the DSO of its path, where frames are of it. */
static spaa_status image_module(struct judge *j, const struct sp_image *x, struct sp_module **out)
{
    const struct sp_profile *p = j->p;
    uint32_t dso = dso_of_image(j, x);
    if (dso != SP_NONE) {
        *out = j->binaries[dso].module;
        return SPAA_OK;
    }
    struct sp_module_key key = {.kind = SP_MODULE_FILE,
                                .path = sp_pstr(p, x->path).p,
                                .build_id = x->build_id ? sp_pstr(p, x->build_id).p : NULL};
    return sp_symbols_module(j->symbols, &key, out);
}

static spaa_status gather_scene(struct judge *j)
{
    const struct sp_profile *p = j->p;
    const struct sp_process_fact *of = j->process ? &p->processes.v[j->process - 1] : NULL;
    if (j->gathered == j->process)
        return SPAA_OK;
    j->gathered = j->process;
    j->scene.n = 0;
    j->complete = of;
    for (uint32_t i = 0; of && i < of->images; i++) {
        const struct sp_image *x = &p->images.v[p->process_images.v[of->first + i]];
        struct sp_module *m = NULL;
        bool seen = false;
        if (!x->path && sp_pstr(p, x->name).n && *sp_pstr(p, x->name).p == '[')
            continue;
        spaa_status st = x->path ? image_module(j, x, &m) : SPAA_OK;
        if (st)
            return st;
        j->complete = j->complete && m && sp_module_file(m);
        for (size_t k = 0; m && k < j->scene.n && !seen; k++)
            seen = j->scene.v[k] == m;
        if (m && !seen && !sp_vec_push(&j->scene, m))
            return sp_nomem(j->d);
    }
    return SPAA_OK;
}

/* The modules that a call by this one may have been bound to; none where it is of a program before the last
 * exec of its process, whose images are those of the last. */
static spaa_status scene_of(struct judge *j, const struct sp_module *caller, struct sp_edge_scene *out)
{
    *out = (struct sp_edge_scene){NULL, 0, false};
    spaa_status st = gather_scene(j);
    for (size_t i = 0; !st && i < j->scene.n; i++)
        if (j->scene.v[i] == caller)
            *out = (struct sp_edge_scene){j->scene.v, j->scene.n, j->complete};
    return st;
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
        /* What frame pointers led to may be no code at all: then the callee alone says what it skips. */
        if (both && (binary_of(j, caller)->module || (j->by_pointers && binary_of(j, callee)->module)))
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
    if (b->module && !j->seen[caller]) {
        struct sp_edge_side side = {b->module, f->ip};
        j->seen[caller] = 1;
        b->returns++;
        b->calls += sp_edges_called(j->edges, &side);
    }
    return SPAA_OK;
}

static bool is_proven(const struct binary *b)
{
    return b->recorded || (b->returns >= PROOF_LEAST && b->calls >= b->returns - b->returns / 4);
}

/* The DSO of a file, which no frame may have been of. SP_NONE: out of memory. */
static uint32_t dso_of_module(struct judge *j, const struct sp_module *m)
{
    for (uint32_t i = 0; i < j->dsos; i++)
        if (j->binaries[i].module == m)
            return i;
    const struct sp_module_key *key = sp_module_key(m);
    bool doubtful = sp_module_is_doubtful(m);
    const char *id = key->build_id ? key->build_id : doubtful ? NULL : sp_module_build_id(m);
    struct sp_dso row = {.name = sp_profile_cstr(j->p, key->path), .doubtful = doubtful};
    if (id)
        row.build_id = sp_profile_cstr(j->p, id);
    return row.name == SP_STR_FAIL || row.build_id == SP_STR_FAIL ? SP_NONE : sp_dso_intern(j->p, &row);
}

static spaa_status missing_frame(struct judge *j, const struct sp_edge_side *target, uint32_t *out)
{
    *out = sp_edges_target(j->p, target, dso_of_module(j, target->module), j->p->header.frames);
    return *out == SP_NONE ? sp_nomem(j->d) : SPAA_OK;
}

static spaa_status judge_pair(struct judge *j, struct pair *x)
{
    const struct sp_frame *callee = &j->p->frames.v[x->callee], *caller = &j->p->frames.v[x->caller];
    struct sp_edge_scene scene;
    bool located = callee->flags & SP_FRAME_IP;
    struct sp_edge_side from = {binary_of(j, caller)->module, caller->ip};
    const struct binary *other = binary_of(j, callee);
    struct sp_edge_side to = {is_proven(other) ? other->module : NULL, callee->ip - x->called};
    struct sp_judgement found = {.verdict = SP_EDGE_FINE};
    bool known = located && from.module && is_proven(binary_of(j, caller));
    spaa_status st = known ? scene_of(j, from.module, &scene) : SPAA_OK;
    if (!st && known)
        st = sp_edges_judge(j->edges, &from, &to, &scene, &found);
    if (!st && located && j->by_pointers && !found.told && sp_edges_skips(j->edges, &to))
        found.verdict = SP_EDGE_IMPOSSIBLE;
    x->verdict = (uint8_t)found.verdict;
    x->below = found.below;
    x->by_scene = found.by_scene;
    return st || found.verdict != SP_EDGE_MISSING ? st : missing_frame(j, &found.target, &x->frame);
}

/* The judgement of a pair, made once; SP_NONE: failed, *st says why. */
static uint32_t pair_of(struct judge *j, uint32_t callee, uint32_t caller, bool called, spaa_status *st)
{
    uint64_t hash = sp_hash_mix((uint64_t)callee << 32 | caller, called);
    struct sp_probe at = sp_map_probe(&j->pair_map, hash);
    for (uint32_t i; (i = sp_map_next(&j->pair_map, &at)) != SP_MAP_NONE;)
        if (j->pairs.v[i].callee == callee && j->pairs.v[i].caller == caller &&
            j->pairs.v[i].called == called &&
            (!j->pairs.v[i].by_scene || j->pairs.v[i].process == j->process))
            return i;
    struct pair fresh = {
        .callee = callee, .caller = caller, .process = j->process, .called = called, .frame = SP_NONE};
    *st = judge_pair(j, &fresh);
    if (!*st && (j->pairs.n >= SP_NONE - 1 || !sp_vec_push(&j->pairs, fresh) ||
                 !sp_map_add_at(&j->pair_map, &at, (uint32_t)j->pairs.n - 1)))
        *st = sp_nomem(j->d);
    return *st ? SP_NONE : (uint32_t)j->pairs.n - 1;
}

static spaa_status note(struct judge *j, uint32_t at, uint32_t callee, uint32_t caller, bool called)
{
    spaa_status st = SPAA_OK;
    if (at >= j->entry) /* what is above it is nobody's caller */
        return st;
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

/* Where a thread or program begins; the length of the stack where it does not tell. */
static uint32_t entry_of(const struct judge *j, const struct sp_stack *s)
{
    const uint32_t *f = j->p->stack_frames.v + s->first;
    uint32_t entry = 0;
    while (entry < s->n && !j->begins[j->p->frames.v[f[entry]].function])
        entry++;
    return entry;
}

enum { ASK_STACKS = 64 }; /* between two looks at whether the call is to be left: code is read */

static spaa_status judge_all(struct judge *j)
{
    struct sp_profile *p = j->p;
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < p->processes.n; i++)
        if (!sp_map_add(&j->process_map, sp_hash_mix((uint64_t)p->processes.v[i].pid, 0), i))
            st = sp_nomem(j->d);
    for (uint32_t i = 0; !st && i < j->dsos; i++)
        st = sp_cancelled(j->d)                                              ? SPAA_ERR_CANCELLED
             : sp_map_add(&j->dso_map, sp_hash_mix(p->dsos.v[i].name, 0), i) ? open_binary(j, i)
                                                                             : sp_nomem(j->d);
    if (!st)
        find_recorded(j);
    for (size_t i = 0; !st && i < p->stacks.n; i++)
        st = sp_leaving(j->d, i) ? SPAA_ERR_CANCELLED : each_call(j, &p->stacks.v[i], prove);
    for (size_t i = 0; !st && i < p->stacks.n; i++) {
        struct sp_stack *s = &p->stacks.v[i];
        if (s->edges)
            continue;
        j->list.n = 0;
        if (i % ASK_STACKS == 0 && sp_cancelled(j->d))
            return SPAA_ERR_CANCELLED;
        j->process = process_of(j, p->contexts.v[s->context].pid);
        j->entry = entry_of(j, s);
        st = each_call(j, s, note);
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
    struct judge j = {.p = p, .d = d, .edges = sp_edges_new(d), .gathered = SP_NONE, .dsos = p->dsos.n};
    j.by_pointers = sp_callgraph_of(p) == SP_CALLGRAPH_POINTERS;
    j.binaries = calloc(p->dsos.n + 2, sizeof *j.binaries);
    j.seen = calloc(p->frames.n + 1, 1);
    j.begins = calloc(p->functions.n + 1, 1);
    bool ok = j.edges && j.binaries && j.seen && j.begins;
    for (size_t i = 0; ok && i < p->functions.n; i++)
        j.begins[i] = sp_is_entry(sp_pstr(p, p->functions.v[i].name), SP_SIDE_USER);
    spaa_status st = ok ? sp_symbols_new(opts, d, &j.symbols) : sp_nomem(d);
    if (!st) {
        sp_symbols_recorded(j.symbols, p->written);
        st = judge_all(&j);
    }
    sp_edges_free(j.edges);
    sp_symbols_free(j.symbols);
    free(j.binaries);
    free(j.seen);
    free(j.begins);
    sp_vec_free(&j.pairs);
    sp_map_free(&j.pair_map);
    sp_map_free(&j.process_map);
    sp_map_free(&j.dso_map);
    sp_vec_free(&j.scene);
    sp_vec_free(&j.list);
    return st;
}
