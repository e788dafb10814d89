/*
 * Merging dictionaries: DSOs, frames, threads.
 *
 * Frames are one when they agree in function, DSO, source line, place (part of the function and symbol
 * offset, else address) and inline depth. What else their records say is taken from one of them: a resolved
 * one, then the smallest; of what is known of the function, what says most. Where functions make frames (no
 * address, no line), DSOs of one name are one, too, and what they differ in is absent.
 *
 * The order of records compares first what coarser frames keep, so that it makes no difference whether a
 * record is chosen before or after frames are made coarser.
 */
#include "model/merge_private.h"

#include "base/hash.h"
#include "model/edges.h"

#include <stdlib.h>

static bool by_function(const struct sp_absorber *a)
{
    return a->to->header.frames >= SP_FRAMES_FUNCTION;
}

static uint32_t dso(struct sp_absorber *a, const struct sp_dso *x)
{
    struct sp_profile *p = a->to;
    if (!by_function(a))
        return sp_dso_intern(p, x);
    uint64_t hash = sp_hash_mix(x->name, x->is_kernel);
    struct sp_probe at = sp_map_probe(&a->m->dsos, hash);
    for (uint32_t i; (i = sp_map_next(&a->m->dsos, &at)) != SP_MAP_NONE;) {
        struct sp_dso *t = &p->dsos.v[i];
        if (t->name != x->name || t->is_kernel != x->is_kernel)
            continue;
        sp_meet(&t->build_id, x->build_id);
        sp_meet(&t->extra_json, x->extra_json);
        t->doubtful |= x->doubtful;
        if (memcmp(&t->place, &x->place, sizeof t->place) != 0)
            t->place = (struct sp_dso_place){0};
        return i;
    }
    uint32_t n = (uint32_t)p->dsos.n;
    return n < SP_NONE - 1 && sp_vec_push(&p->dsos, *x) && sp_map_add(&a->m->dsos, hash, n) ? n : SP_NONE;
}

static void merge_dictionary_coarsen(struct sp_frame *f, enum sp_granularity g)
{
    if (g < SP_FRAMES_LINE)
        return;
    f->ip = f->symoff = 0;
    f->flags &= (uint8_t) ~(SP_FRAME_IP | SP_FRAME_SYMOFF);
    if (g == SP_FRAMES_LINE)
        return;
    f->srcline = SP_STR_NONE;
    f->inline_depth = 0;
    f->flags &= SP_FRAME_UNRESOLVED | SP_FRAME_INFERRED;
    f->extra_json = SP_STR_NONE;
}

/* What is known of a function. Where functions are those of several builds, not where it starts in one. */
static struct sp_func_info known(struct sp_absorber *a, uint32_t info)
{
    struct sp_func_info x = {0};
    if (!info)
        return x;
    x = a->from->func_infos.v[info - 1];
    x.linkage = sp_absorb_str(a, x.linkage);
    x.file = sp_absorb_str(a, x.file);
    if (by_function(a) && a->m->opts.canonical) {
        x.start = 0;
        x.flags &= ~(unsigned)SP_FUNC_START;
    }
    return x;
}

static int merge_dictionary_cmp_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Of two records of one frame: which is taken. */
static int cmp_records(const struct sp_profile *p, const struct sp_frame *a, const struct sp_frame *b)
{
    const unsigned rest = SP_FRAME_INLINED | SP_FRAME_NO_SRCLINE;
    int c = (a->flags & SP_FRAME_UNRESOLVED) - (b->flags & SP_FRAME_UNRESOLVED);
    if (!c)
        c = a->kind - b->kind;
    if (!c)
        c = (int)(a->flags & rest) - (int)(b->flags & rest);
    if (!c)
        c = sp_merge_text_cmp(p, a->extra_json, b->extra_json);
    if (!c)
        c = sp_func_info_cmp(p, a->info, b->info);
    if (!c)
        c = (b->flags & SP_FRAME_IP) - (a->flags & SP_FRAME_IP);
    return c ? c : merge_dictionary_cmp_u64(a->ip, b->ip);
}

struct frame_key {
    uint64_t where;
    uint32_t function, srcline, depth, flags; /* which of the flags tell frames apart */
    uint32_t part, zero; /* part: of its function, a text; where the offset is one in it */
};

/* The part of the function whose offset a frame has; SP_STR_FAIL: out of memory. */
static uint32_t merge_dictionary_part(struct sp_profile *p, const struct sp_frame *f)
{
    if (!f->info || !(f->flags & SP_FRAME_SYMOFF))
        return SP_STR_NONE;
    struct sp_str part = sp_linkage_parts(sp_pstr(p, p->func_infos.v[f->info - 1].linkage));
    return part.n ? sp_intern(&p->strs, part.p, part.n) : SP_STR_NONE;
}

static struct frame_key merge_dictionary_key_of(const struct sp_frame *f, uint32_t part)
{
    unsigned stated = f->flags & SP_FRAME_SYMOFF ? SP_FRAME_SYMOFF : f->flags & SP_FRAME_IP;
    uint64_t where = stated == SP_FRAME_SYMOFF ? f->symoff : stated ? f->ip : 0;
    stated |= f->flags & SP_FRAME_INFERRED;
    return (struct frame_key){where, f->function, f->srcline, f->inline_depth, stated, part, 0};
}

static uint32_t frame(struct sp_absorber *a, const struct sp_frame *f)
{
    struct sp_profile *p = a->to;
    uint32_t part = merge_dictionary_part(p, f);
    struct frame_key key = merge_dictionary_key_of(f, part);
    uint64_t hash = sp_hash_mix(sp_hash_mix(key.where, (uint64_t)key.function << 32 | key.srcline),
                                (uint64_t)key.depth << 32 | key.flags);
    struct sp_probe at = sp_map_probe(&a->m->frames, hash);
    for (uint32_t i; (i = sp_map_next(&a->m->frames, &at)) != SP_MAP_NONE;) {
        struct frame_key there = merge_dictionary_key_of(&p->frames.v[i], part);
        if (memcmp(&there, &key, sizeof key) != 0 || merge_dictionary_part(p, &p->frames.v[i]) != part)
            continue;
        if (cmp_records(p, f, &p->frames.v[i]) < 0)
            p->frames.v[i] = *f;
        return i;
    }
    uint32_t n = (uint32_t)p->frames.n;
    if (part == SP_STR_FAIL)
        return SP_NONE;
    return n < SP_NONE - 1 && sp_vec_push(&p->frames, *f) && sp_map_add(&a->m->frames, hash, n) ? n : SP_NONE;
}

/* What the stacks that are taken need; NULL: everything is. */
struct needed {
    bool *frames, *functions, *dsos;
};

static void needed_free(struct needed *x)
{
    free(x->frames);
    free(x->functions);
    free(x->dsos);
}

static bool find_needed(const struct sp_absorber *a, struct needed *x)
{
    const struct sp_profile *p = a->from;
    const unsigned char *leave = a->m->opts.leave;
    *x = (struct needed){NULL, NULL, NULL};
    if (!leave)
        return true;
    x->frames = calloc(p->frames.n + 1, sizeof *x->frames);
    x->functions = calloc(p->functions.n + 1, sizeof *x->functions);
    x->dsos = calloc(p->dsos.n + 1, sizeof *x->dsos);
    if (!x->frames || !x->functions || !x->dsos)
        return false;
    for (uint32_t i = 0; i < p->stacks.n; i++) {
        size_t n;
        const struct sp_edge *e = sp_edges_of(p, p->stacks.v[i].edges, &n);
        for (uint32_t k = 0; !leave[i] && k < p->stacks.v[i].n; k++)
            x->frames[sp_stack_frames(p, i)[k]] = true;
        for (size_t k = 0; !leave[i] && k < n; k++)
            x->frames[e[k].frame] = true;
    }
    for (size_t i = 0; i < p->frames.n; i++)
        if (x->frames[i])
            x->functions[p->frames.v[i].function] = true;
    for (size_t i = 0; i < p->functions.n; i++)
        if (x->functions[i])
            x->dsos[p->functions.v[i].dso] = true;
    return true;
}

static int cmp_tid(const void *va, const void *vb)
{
    int64_t a = *(const int64_t *)va, b = *(const int64_t *)vb;
    return (a > b) - (a < b);
}

/* The tids of the stacks that are taken, sorted; *all: some stack has none, so that any thread may be meant.
 */
static int64_t *needed_tids(const struct sp_absorber *a, size_t *n, bool *all)
{
    const struct sp_profile *p = a->from;
    const unsigned char *leave = a->m->opts.leave;
    int64_t *tids = malloc((p->contexts.n + 1) * sizeof *tids);
    bool *taken = calloc(p->contexts.n + 1, sizeof *taken);
    *n = 0;
    *all = !leave;
    for (uint32_t i = 0; tids && taken && leave && i < p->stacks.n; i++)
        taken[p->stacks.v[i].context] |= !leave[i];
    for (size_t i = 0; tids && taken && i < p->contexts.n; i++) {
        if (!taken[i])
            continue;
        *all = *all || p->contexts.v[i].tid == SP_ABSENT;
        tids[(*n)++] = p->contexts.v[i].tid;
    }
    if (!taken) {
        free(tids);
        return NULL;
    }
    free(taken);
    if (tids)
        qsort(tids, *n, sizeof *tids, cmp_tid);
    return tids;
}

/* One record a tid: the smallest. */
static spaa_status threads(struct sp_absorber *a)
{
    struct sp_profile *p = a->to;
    size_t ntids;
    bool all, ok = true;
    int64_t *tids = needed_tids(a, &ntids, &all);
    for (uint32_t i = 0; tids && ok && i < a->from->threads.n; i++) {
        struct sp_thread t = a->from->threads.v[i];
        if (!all && !bsearch(&t.tid, tids, ntids, sizeof *tids, cmp_tid))
            continue;
        t.comm = sp_absorb_text(a, t.comm);
        t.extra_json = sp_absorb_str(a, t.extra_json);
        sp_absorb_facts(a, sp_thread_facts, &t);
        size_t before = p->threads.n;
        uint32_t n = sp_thread_intern(p, t.pid, t.tid, SP_STR_NONE);
        ok = n != SP_NONE;
        if (!ok)
            break;
        struct sp_thread *have = &p->threads.v[n];
        int c = p->threads.n > before ? 1 : (have->pid > t.pid) - (have->pid < t.pid);
        if (!c) /* a name is better than none */
            c = have->comm && t.comm ? sp_merge_text_cmp(p, have->comm, t.comm)
                                     : (t.comm != SP_STR_NONE) - (have->comm != SP_STR_NONE);
        if (!c)
            c = sp_merge_text_cmp(p, have->extra_json, t.extra_json);
        if (!c)
            c = sp_facts_cmp(p, sp_thread_facts, have, &t);
        if (c > 0)
            *have = t;
    }
    ok = ok && tids;
    free(tids);
    return ok ? SPAA_OK : sp_nomem(a->d);
}

/* Why frames of a DSO lack something, for who asks about several files as one; false: out of memory. */
static bool absorb_notes(struct sp_absorber *a, uint32_t dso)
{
    static const enum sp_note_of all[] = {SP_NOTE_NAMES, SP_NOTE_LINES};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const struct sp_dso_note *n = sp_profile_note_of(a->from, dso, all[i]);
        if (n && !sp_profile_note(a->to, a->dsos[dso], all[i], n->addresses, sp_pstr(a->from, n->why).p,
                                  sp_pstr(a->from, n->hint).p))
            return false;
    }
    return true;
}

/* The function of a frame of the whole, by what is known of it there. False: out of memory. */
static bool take_function(struct sp_absorber *a, struct sp_frame *f)
{
    const struct sp_function *had = &a->from->functions.v[f->function];
    struct sp_func_info x = known(a, f->info);
    if (f->info && !by_function(a))
        return sp_frame_set_function(a->to, f, sp_absorb_str(a, had->name), a->dsos[had->dso], &x,
                                     a->to->header.frames);
    f->function = a->functions[f->function];
    f->info = 0;
    return true;
}

static spaa_status absorb_needed(struct sp_absorber *a, const struct needed *x)
{
    const struct sp_profile *from = a->from;
    for (uint32_t i = 0; i < from->dsos.n; i++) {
        if (x->dsos && !x->dsos[i])
            continue;
        struct sp_dso o = from->dsos.v[i];
        o.name = sp_absorb_str(a, o.name);
        o.build_id = sp_absorb_text(a, o.build_id);
        o.extra_json = sp_absorb_str(a, o.extra_json);
        if ((a->dsos[i] = dso(a, &o)) == SP_NONE || (!a->m->opts.canonical && !absorb_notes(a, i)))
            return sp_nomem(a->d);
    }
    for (uint32_t i = 0; i < from->functions.n; i++) {
        const struct sp_function *f = &from->functions.v[i];
        if (x->functions && !x->functions[i])
            continue;
        struct sp_func_info info = known(a, f->info);
        struct sp_frame of;
        if (!sp_frame_set_function(a->to, &of, sp_absorb_str(a, f->name), a->dsos[f->dso], &info,
                                   a->to->header.frames))
            return sp_nomem(a->d);
        a->functions[i] = of.function;
    }
    for (uint32_t i = 0; i < from->frames.n; i++) {
        struct sp_frame f = from->frames.v[i];
        if (x->frames && !x->frames[i])
            continue;
        if (!take_function(a, &f))
            return sp_nomem(a->d);
        f.srcline = sp_absorb_text(a, f.srcline);
        f.extra_json = by_function(a) ? SP_STR_NONE : sp_absorb_str(a, f.extra_json);
        merge_dictionary_coarsen(&f, a->to->header.frames);
        if ((a->frames[i] = frame(a, &f)) == SP_NONE)
            return sp_nomem(a->d);
    }
    return SPAA_OK;
}

spaa_status sp_absorb_dictionary(struct sp_absorber *a)
{
    struct needed x;
    spaa_status st = find_needed(a, &x) ? absorb_needed(a, &x) : sp_nomem(a->d);
    needed_free(&x);
    if (st)
        return st;
    /* A merged profile names threads where its stacks do. */
    if (a->m->opts.canonical && !(a->to->header.group_by & SP_BY_TID) && !a->m->opts.samples) {
        a->to->threads.n = 0;
        sp_map_clear(&a->to->thread_map);
        return SPAA_OK;
    }
    return threads(a);
}
