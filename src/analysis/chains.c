#include "analysis/chains.h"

#include "analysis/tags.h"
#include "base/hash.h"
#include "base/watch.h"
#include "model/callgraph.h"
#include "model/edges.h"
#include "model/entries.h"
#include "model/events.h"
#include "model/off_cpu.h"

#include <stdlib.h>

/* What a recorder's stacks can be judged by. */
enum rule { BY_MARKS, BY_MAPS, BY_ENTRIES };

/* What a function is as the outermost of a stack. */
enum root { NOT_SEEN, ENTRY, CUT, UNMAPPED, NAMED, UNNAMED, UNNAMED_START };

/* What a function is wherever it stands in a stack: stacks ask for it again and again. */
enum trait { SEEN = 1, LABEL = 2 /* --tagroot */, NO_NAME = 4, PLACELESS = 8, STARTS_THREADS = 16 };

struct thread_root {
    uint32_t thread, function;
    int64_t weight;
};

struct judge {
    struct sp_selection *s;
    const struct sp_profile *p;
    struct sp_chains *c;
    enum rule rule;
    bool mixed; /* of several tools: stacks of binaries are judged */
    bool linux_kernel;
    bool knows_maps;       /* what has no DSO is in none */
    bool chains[2];        /* per side: there are stacks of more than one frame */
    unsigned char *root;   /* per function: enum root */
    unsigned char *traits; /* per function: of enum trait, as far as they were asked for */
    uint32_t *thread;      /* per context, as far as they were asked for; SP_NONE */
    int64_t *deep;         /* per thread: weight of its stacks deeper than two */
    struct sp_map threads, map;
    SP_VEC(struct thread_root) roots; /* of deep stacks, unnamed */
    SP_VEC(uint32_t) first;           /* per thread: a context of it */
    int64_t *by_dso;
};

static enum rule rule_of(const struct sp_profile *p)
{
    static const char *const native[] = {"perf", "dtrace", "bpftrace", NULL};
    struct sp_str tool = sp_pstr(p, p->header.source_tool);
    if (p->header.frames_filtered)
        return BY_MARKS;
    if (!tool.n || sp_str_is(tool, "spaa")) /* several inputs, of which some may be those */
        return BY_ENTRIES;
    if (sp_name_index(native, tool.n ? tool.p : "", tool.n) >= 0)
        return BY_ENTRIES;
    return sp_str_is(tool, "folded") ? BY_MAPS : BY_MARKS;
}

/* ---- frames ---- */

static enum sp_side chains_side_of(const struct sp_profile *p, uint32_t frame)
{
    return sp_frame_is_kernel(p, frame) ? SP_SIDE_KERNEL : SP_SIDE_USER;
}

/* Whether there are as many physical frames, and all of them where `n` is more than there can be. */
static uint32_t depth_of(const struct sp_profile *p, uint32_t stack, uint32_t most)
{
    const uint32_t *f = sp_stack_frames(p, stack);
    uint32_t depth = 0;
    for (uint32_t i = p->stacks.v[stack].n; i-- && depth < most;)
        depth += !(p->frames.v[f[i]].flags & SP_FRAME_INLINED);
    return depth;
}

static bool chains_is_cut(struct sp_str name)
{
    return sp_str_is(name, "[truncated]") || sp_str_is(name, "<Truncated>") ||
           (name.n > 20 && name.p[0] == '<' && memcmp(name.p + name.n - 20, "truncated backtrace>", 20) == 0);
}

static unsigned char traits_of(const struct sp_profile *p, const struct sp_function *f)
{
    struct sp_str name = sp_pstr(p, f->name), dso = sp_pstr(p, p->dsos.v[f->dso].name);
    unsigned traits = SEEN;
    traits |= sp_str_is(dso, SP_TAG_DSO) ? LABEL : 0u;
    traits |= sp_is_no_name(name) ? NO_NAME : 0u;
    traits |= !dso.n || sp_str_is(dso, "[unknown]") ? PLACELESS : 0u;
    traits |= sp_is_entry(name, SP_SIDE_USER) ? STARTS_THREADS : 0u;
    return (unsigned char)traits;
}

static bool chains_is(const struct judge *j, uint32_t frame, enum trait trait)
{
    uint32_t function = j->p->frames.v[frame].function;
    unsigned char *traits = &j->traits[function];
    if (!*traits)
        *traits = traits_of(j->p, &j->p->functions.v[function]);
    return *traits & trait;
}

/* No program has code there, whatever is mapped: the first page, and between the halves of 64 bits. */
static bool is_nowhere(const struct sp_frame *f)
{
    return f->flags & SP_FRAME_IP && (f->ip < 0x1000 || (f->ip >> 56 != 0 && f->ip >> 56 != 0xff) ||
                                      (f->ip >> 56 == 0xff && f->ip >> 47 != 0x1ffff));
}

static enum root root_of(const struct judge *j, uint32_t frame)
{
    const struct sp_profile *p = j->p;
    const struct sp_function *f = sp_frame_function(p, frame);
    struct sp_str name = sp_pstr(p, f->name), dso = sp_pstr(p, p->dsos.v[f->dso].name);
    enum sp_side side = chains_side_of(p, frame);
    bool unnamed = p->frames.v[frame].flags & SP_FRAME_UNRESOLVED || chains_is(j, frame, NO_NAME);
    if (chains_is_cut(name))
        return CUT;
    if (j->rule == BY_MARKS)
        return ENTRY;
    if (unnamed && side == SP_SIDE_USER && chains_is(j, frame, PLACELESS))
        return j->knows_maps || is_nowhere(&p->frames.v[frame]) ? UNMAPPED : UNNAMED_START;
    if (j->rule == BY_MAPS || (side == SP_SIDE_KERNEL && (unnamed || !j->linux_kernel)))
        return ENTRY;
    if (unnamed)
        return sp_starts_threads(dso) ? UNNAMED_START : UNNAMED;
    return sp_is_entry(name, side) ? ENTRY : NAMED;
}

static enum root seen_root(struct judge *j, uint32_t frame)
{
    unsigned char *root = &j->root[j->p->frames.v[frame].function];
    if (*root == NOT_SEEN)
        *root = (unsigned char)root_of(j, frame);
    return (enum root) * root;
}

/*
 * What is above an entry is none of the program's: an unwinder that goes on finds unnamed or unmapped places
 * there, and a frame that is called by one that starts programs is `_start`.
 */
static bool has_entry_below(const struct judge *j, const uint32_t *f, uint32_t n)
{
    enum { ABOVE = 2 };
    for (uint32_t i = 1; i <= ABOVE && i < n; i++)
        if (chains_is(j, f[n - 1 - i], STARTS_THREADS))
            return true;
    return false;
}

/* Up to the outermost frame that says something: folded stacks mostly begin with the name of a process. */
static uint32_t judged_frames(const struct judge *j, uint32_t stack)
{
    const uint32_t *f = sp_stack_frames(j->p, stack);
    uint32_t n = j->p->stacks.v[stack].n;
    while (n && chains_is(j, f[n - 1], LABEL))
        n--;
    return j->rule == BY_MAPS && n > 1 && !chains_is(j, f[n - 1], NO_NAME) ? n - 1 : n;
}

/* ---- stacks ---- */

/* The record that holds the outermost frame of a row. */
static uint32_t outer_record(const struct sp_selection *s, size_t row)
{
    const struct sp_selected *r = &s->rows.v[row];
    return !s->profile->stacks.v[r->stack].n && r->kernel != SP_NONE ? r->kernel : r->stack;
}

bool sp_chain_is_kernels(const struct sp_selection *s, size_t row)
{
    uint32_t stack = outer_record(s, row), n = s->profile->stacks.v[stack].n;
    return n && chains_side_of(s->profile, sp_stack_frames(s->profile, stack)[n - 1]) == SP_SIDE_KERNEL;
}

/* Whether frames of a record are of binaries, as those of native recordings are. */
static bool has_binaries(const struct judge *j, uint32_t stack)
{
    const uint32_t *f = sp_stack_frames(j->p, stack);
    for (uint32_t i = 0; i < j->p->stacks.v[stack].n; i++)
        if (!chains_is(j, f[i], PLACELESS))
            return true;
    return false;
}

/* Time off the CPU of a thread whose leaving was not seen: there is no chain that could be broken. */
static bool is_unseen_wait(const struct judge *j, uint32_t stack)
{
    const struct sp_profile *p = j->p;
    const struct sp_stack *s = &p->stacks.v[stack];
    const struct sp_frame *f = s->n == 1 ? &p->frames.v[sp_stack_frames(p, stack)[0]] : NULL;
    uint32_t event = p->contexts.v[s->context].event;
    return f && f->kind == SP_UNKNOWN && !(f->flags & SP_FRAME_IP) && event < p->events.n &&
           sp_str_is(sp_pstr(p, p->events.v[event].name), SP_OFF_CPU_EVENT);
}

static enum sp_chain judge_stack(struct judge *j, uint32_t stack, bool *unsure)
{
    const uint32_t *f = sp_stack_frames(j->p, stack);
    uint32_t n = judged_frames(j, stack);
    *unsure = false;
    if ((j->mixed && !has_binaries(j, stack)) || is_unseen_wait(j, stack))
        return SP_CHAIN_WHOLE;
    if (!n || (j->rule == BY_ENTRIES && !j->chains[chains_side_of(j->p, f[n - 1])]))
        return SP_CHAIN_WHOLE;
    switch (seen_root(j, f[n - 1])) {
    case CUT:
        return SP_CHAIN_CUT;
    case UNMAPPED:
        return has_entry_below(j, f, n) ? SP_CHAIN_WHOLE : SP_CHAIN_UNMAPPED;
    case NAMED:
    case UNNAMED:
        return has_entry_below(j, f, n) ? SP_CHAIN_WHOLE : SP_CHAIN_NO_ENTRY;
    case UNNAMED_START:
        *unsure = !has_entry_below(j, f, n);
        return !*unsure                            ? SP_CHAIN_WHOLE
               : chains_is(j, f[n - 1], PLACELESS) ? SP_CHAIN_UNMAPPED
                                                   : SP_CHAIN_NO_ENTRY;
    default:
        return SP_CHAIN_WHOLE;
    }
}

/* Whether stacks of one side of this event have callers at all. */
static void chains_find_chains(struct judge *j)
{
    const struct sp_profile *p = j->p;
    struct sp_among stacks = sp_stacks_among(p, j->s->by_event, j->s->event);
    for (size_t at = 0; at < stacks.n && !(j->chains[0] && j->chains[1]); at++) {
        uint32_t i = sp_among_at(stacks, at);
        const struct sp_stack *x = &p->stacks.v[i];
        const uint32_t *f = sp_stack_frames(p, i);
        if (x->n < 2 || p->contexts.v[x->context].event != j->s->event)
            continue;
        enum sp_side side = chains_side_of(p, f[x->n - 1]);
        for (uint32_t k = x->n - 1; k-- && !j->chains[side];) {
            if (chains_side_of(p, f[k]) != side)
                break;
            j->chains[side] = !(p->frames.v[f[k]].flags & SP_FRAME_INLINED);
        }
    }
}

/* ---- threads, for outermost frames without a name ---- */

static uint32_t chains_thread_of(struct judge *j, uint32_t context)
{
    const struct sp_context *c = &j->p->contexts.v[context];
    if (j->thread[context] != SP_NONE)
        return j->thread[context];
    uint32_t comm = c->tid == SP_ABSENT ? c->comm : 0, i;
    uint64_t hash = sp_hash_mix((uint64_t)c->pid ^ (uint64_t)comm << 32, (uint64_t)c->tid);
    struct sp_probe at = sp_map_probe(&j->threads, hash);
    while ((i = sp_map_next(&j->threads, &at)) != SP_MAP_NONE) {
        const struct sp_context *o = &j->p->contexts.v[j->first.v[i]];
        if (o->pid == c->pid && o->tid == c->tid && (c->tid != SP_ABSENT || o->comm == c->comm))
            break;
    }
    if (i == SP_MAP_NONE) {
        i = (uint32_t)j->first.n;
        if (!sp_map_add(&j->threads, hash, i) || !sp_vec_push(&j->first, context))
            return SP_NONE;
    }
    return j->thread[context] = i;
}

static int64_t *root_weight(struct judge *j, uint32_t thread, uint32_t function)
{
    uint64_t hash = sp_hash_mix(thread, function);
    struct sp_probe at = sp_map_probe(&j->map, hash);
    for (uint32_t i; (i = sp_map_next(&j->map, &at)) != SP_MAP_NONE;)
        if (j->roots.v[i].thread == thread && j->roots.v[i].function == function)
            return &j->roots.v[i].weight;
    if (!sp_map_add(&j->map, hash, (uint32_t)j->roots.n) ||
        !sp_vec_push(&j->roots, ((struct thread_root){thread, function, 0})))
        return NULL;
    return &j->roots.v[j->roots.n - 1].weight;
}

static uint32_t root_function(const struct judge *j, uint32_t stack)
{
    return j->p->frames.v[sp_stack_frames(j->p, stack)[judged_frames(j, stack) - 1]].function;
}

/* What outermost frames without a name are, now that all stacks of their threads are known. */
static bool chains_settle(struct judge *j, const unsigned char *unsure)
{
    enum { DEEP = 3, TENTHS = 9 };
    const struct sp_profile *p = j->p;
    size_t n = p->contexts.n + 1;
    j->thread = malloc(n * sizeof *j->thread);
    j->deep = calloc(n, sizeof *j->deep);
    if (!j->thread || !j->deep)
        return false;
    memset(j->thread, 0xff, n * sizeof *j->thread); /* SP_NONE */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < j->s->rows.n; i++) {
            uint32_t stack = outer_record(j->s, i);
            if (sp_leaving(p->diags, i))
                return false;
            if (pass ? !unsure[i] : depth_of(p, stack, DEEP) < DEEP)
                continue;
            uint32_t thread = chains_thread_of(j, p->stacks.v[stack].context);
            int64_t *root = thread == SP_NONE ? NULL : root_weight(j, thread, root_function(j, stack));
            if (!root)
                return false;
            if (!pass) {
                *root += j->s->rows.v[i].weight;
                j->deep[thread] += j->s->rows.v[i].weight;
            } else if (*root > 0 && (__int128)*root * 10 >= (__int128)j->deep[thread] * TENTHS) {
                j->c->rows[i] = sp_selected_broken(j->s, i) ? SP_CHAIN_EDGE : SP_CHAIN_WHOLE;
            }
        }
    }
    return true;
}

/* ---- sums ---- */

/* A limit of the recorder shows as many stacks of one depth that none exceeds. */
static void find_limit(struct judge *j)
{
    enum { LEAST = 16 };
    int64_t at = 0;
    uint32_t deepest = 0;
    for (size_t i = 0; i < j->s->rows.n; i++) {
        uint32_t stack = outer_record(j->s, i);
        if (j->p->stacks.v[stack].n < deepest)
            continue;
        uint32_t depth = depth_of(j->p, stack, UINT32_MAX);
        if (depth > deepest) {
            deepest = depth;
            at = 0;
        }
        if (depth == deepest && j->c->rows[i] == SP_CHAIN_NO_ENTRY)
            at += j->s->rows.v[i].weight;
    }
    if (deepest >= LEAST && (__int128)at * 2 > j->c->broken)
        j->c->limit = deepest;
}

/* The frame whose caller is missing. */
static uint32_t last_known(const struct judge *j, size_t row)
{
    const struct sp_profile *p = j->p;
    const struct sp_selected *r = &j->s->rows.v[row];
    uint32_t stack = outer_record(j->s, row), n = judged_frames(j, stack);
    size_t edges = 0;
    const struct sp_edge *e = NULL;
    if (j->c->rows[row] == SP_CHAIN_EDGE) {
        stack =
            sp_edges_broken(p, p->stacks.v[r->stack].edges) || r->kernel == SP_NONE ? r->stack : r->kernel;
        e = sp_edges_of(p, p->stacks.v[stack].edges, &edges);
    }
    for (size_t i = 0; i < edges; i++)
        if (e[i].kind == SP_EDGE_BROKEN && e[i].at < p->stacks.v[stack].n)
            return sp_stack_frames(p, stack)[e[i].at];
    bool marked = j->c->rows[row] == SP_CHAIN_CUT || j->c->rows[row] == SP_CHAIN_UNMAPPED;
    n = n ? n : 1;                                               /* nothing but labels */
    return sp_stack_frames(p, stack)[n - 1 - (n > 1 && marked)]; /* what is outside of it is in no DSO */
}

static bool chains_add_up(struct judge *j)
{
    struct sp_chains *c = j->c;
    const struct sp_profile *p = j->p;
    for (size_t i = 0; i < j->s->rows.n; i++) {
        if (c->rows[i] == SP_CHAIN_WHOLE || (j->s->kernel_only && !sp_chain_is_kernels(j->s, i)))
            continue;
        int64_t w = j->s->rows.v[i].weight;
        j->by_dso[sp_frame_dso(p, last_known(j, i)) - p->dsos.v] += w;
        c->broken += w;
        c->by[c->rows[i]] += w;
    }
    c->of = j->s->kept;
    c->tells = j->s->kept > 0 && (__int128)c->broken * 100 >= (__int128)j->s->kept * SP_CHAINS_PERCENT;
    c->copies = c->by[SP_CHAIN_CUT] > 0 || p->header.unfinished;
    if (c->tells)
        find_limit(j);
    return sp_dso_weights_of(p, j->by_dso, &c->dsos);
}

static bool judge_rows(struct judge *j)
{
    struct sp_selection *s = j->s;
    bool any_unsure = false;
    unsigned char *unsure = calloc(s->rows.n + 1, 1);
    j->root = calloc(j->p->functions.n + 1, 1);
    j->traits = calloc(j->p->functions.n + 1, 1);
    j->by_dso = calloc(j->p->dsos.n + 1, sizeof *j->by_dso);
    j->c->rows = calloc(s->rows.n + 1, 1);
    bool ok = unsure && j->root && j->traits && j->by_dso && j->c->rows;
    for (size_t i = 0; ok && i < s->rows.n; i++) {
        bool is_unsure;
        ok = !sp_leaving(s->profile->diags, i);
        j->c->rows[i] = (unsigned char)judge_stack(j, outer_record(j->s, i), &is_unsure);
        if (j->c->rows[i] == SP_CHAIN_WHOLE && sp_selected_broken(s, i))
            j->c->rows[i] = SP_CHAIN_EDGE;
        unsure[i] = is_unsure;
        any_unsure = any_unsure || is_unsure;
    }
    ok = ok && (!any_unsure || chains_settle(j, unsure)) && chains_add_up(j);
    free(unsure);
    return ok;
}

spaa_status sp_chains_of(struct sp_selection *s, struct sp_diags *d)
{
    if (s->chains)
        return SPAA_OK;
    struct sp_chains *c = calloc(1, sizeof *c);
    struct sp_str tool = sp_pstr(s->profile, s->profile->header.source_tool);
    struct judge j = {.s = s, .p = s->profile, .c = c, .rule = rule_of(s->profile)};
    j.linux_kernel = !sp_str_is(tool, "dtrace");
    j.knows_maps = sp_str_is(tool, "perf");
    j.mixed = !tool.n || sp_str_is(tool, "spaa");
    chains_find_chains(&j);
    /* Where callchains were asked for and none has a caller, all are missing. */
    if (j.knows_maps && (j.chains[SP_SIDE_KERNEL] || sp_callgraph_of(j.p) != SP_CALLGRAPH_NOT_TOLD))
        j.chains[SP_SIDE_USER] = true;
    bool ok = c != NULL;
    bool arcs = sp_is_branches(j.p, s->event); /* from and to, no chains */
    if (ok && !s->cannot_add && !arcs) {
        c->judged = j.rule != BY_MARKS && (j.chains[0] || j.chains[1]);
        ok = judge_rows(&j) && sp_chains_find_unchecked(s, c);
    }
    free(j.root);
    free(j.traits);
    free(j.thread);
    free(j.deep);
    free(j.by_dso);
    sp_map_free(&j.threads);
    sp_map_free(&j.map);
    sp_vec_free(&j.roots);
    sp_vec_free(&j.first);
    if (!ok) {
        sp_chains_free(c);
        return sp_nomem(d);
    }
    s->chains = c;
    return SPAA_OK;
}

spaa_status sp_chains_before(struct sp_selection *s, const struct sp_select_opts *opts, struct sp_diags *d)
{
    struct sp_select_opts all = *opts;
    struct sp_selection whole;
    struct sp_diags quiet; /* what is to be said was said of the selection itself */
    if (s->kept == s->whole || opts->kernel_only)
        return sp_chains_of(s, d);
    all.dso = all.focus = all.ignore = all.hide = all.root_at = NULL;
    all.user_only = false;
    sp_diags_init(&quiet);
    quiet.watch = d->watch;
    spaa_status st = sp_select(s->profile, &all, &quiet, &whole);
    sp_diags_free(&quiet);
    if (st)
        return st == SPAA_ERR_NOMEM || st == SPAA_ERR_CANCELLED ? sp_nomem(d) : sp_chains_of(s, d);
    st = sp_chains_of(&whole, d);
    if (!st) {
        s->chains = whole.chains;
        whole.chains = NULL;
        s->chains->filtered = true;
    }
    sp_selection_free(&whole);
    return st;
}

bool sp_chains_tell(const struct sp_selection *s)
{
    return s->chains && s->chains->tells;
}
