/*
 * Rewriting a profile's frames with what the symbolizer knows.
 *
 * A frame is asked about once for each way it stands in stacks: as the address that was interrupted, or as a
 * return address; code of just-in-time compilers also once per process. Each such place becomes a run of
 * frames (symbols/bind.h); the DSO, function and frame tables are filled anew with what stacks then use and
 * what none ever did, and stacks keep their numbers. Addresses of one module are known before the first is
 * asked, so its lines are read by several threads.
 */
#include "symbols/symbolize.h"

#include "base/hash.h"
#include "base/watch.h"
#include "model/edges.h"
#include "model/returns.h"
#include "symbols/bind.h"

#include <stdlib.h>

/* A frame as it stands in stacks. */
struct place {
    uint32_t frame;
    bool caller, kept; /* kept: as it is */
    int64_t pid;       /* of just-in-time code; else 0 */
    uint32_t first, n; /* the run that stands for it, in `run` */
};

/* A DSO of the profile as it was. */
struct origin {
    struct sp_object object; /* of pid 0 */
    bool asked;              /* it is known where its names may be */
    uint32_t number;         /* of the binder; SP_NONE: not yet */
};

struct symbolizer {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_binder *binder;
    struct sp_symbolized *count;
    struct origin *origins;
    uint64_t kernel_text; /* 0: ips are addresses as such */
    SP_VEC(struct place) places;
    struct sp_map place_map;
    SP_VEC(uint32_t) stack_places; /* beside stack_frames */
    struct sp_numbers run;         /* numbers in the new frame table */
    SP_VEC(struct sp_dso) dsos;    /* the old tables */
    SP_VEC(struct sp_function) functions;
    SP_VEC(struct sp_frame) frames;
    uint32_t *moved; /* old frame to new, for those kept; SP_NONE: not yet */
};

static struct sp_str symbolize_text_of(const struct symbolizer *z, uint32_t s)
{
    return sp_pstr(z->p, s);
}

/* Kernel addresses as such are those of recordings that do not say where _text was. */
static bool is_kernel_address(uint64_t ip)
{
    return ip >> 63;
}

/* A kernel's _text when nobody said where it was: offsets only need some place to count from. */
#define SOME_TEXT 0xffffffff81000000u

static bool symbolize_is_memory(const struct sp_object *o)
{
    return o->kind == SP_OBJECT_ANONYMOUS || o->kind == SP_OBJECT_UNMAPPED;
}

static enum sp_object_kind symbolize_kind_of(struct sp_str name, const struct sp_dso *dso)
{
    if (sp_str_is(name, "[kernel]") || sp_str_is(name, "[kernel.kallsyms]"))
        return SP_OBJECT_KERNEL;
    if (sp_str_is(name, "[anon]"))
        return SP_OBJECT_ANONYMOUS;
    if (sp_str_is(name, "[unknown]"))
        return SP_OBJECT_UNMAPPED;
    if (dso->is_kernel && name.n > 2 && name.p[0] == '[')
        return dso->place.base ? SP_OBJECT_KMOD : SP_OBJECT_FOREIGN;
    if (sp_str_is(name, "[vdso]") && dso->build_id)
        return SP_OBJECT_SPECIAL;
    return name.n && name.p[0] != '[' ? SP_OBJECT_FILE : SP_OBJECT_FOREIGN;
}

static void symbolize_classify(struct symbolizer *z, uint32_t number)
{
    const struct sp_dso *dso = &z->dsos.v[number];
    struct sp_str name = symbolize_text_of(z, dso->name);
    struct origin *o = &z->origins[number];
    enum sp_object_kind kind = symbolize_kind_of(name, dso);
    *o = (struct origin){.asked = kind != SP_OBJECT_FOREIGN, .number = SP_NONE};
    o->object = (struct sp_object){
        .kind = kind,
        .is_kernel = dso->is_kernel,
        .replaced = dso->doubtful && kind == SP_OBJECT_FILE,
        .memfd = kind == SP_OBJECT_FILE && dso->place.base && name.n >= 6 && !memcmp(name.p, "memfd:", 6),
        .path = name,
        .name = name,
        .build_id = dso->build_id ? symbolize_text_of(z, dso->build_id) : (struct sp_str){"", 0},
        .place = dso->place,
        .extra_json = dso->extra_json,
        .origin = number + 1};
    uint64_t text = kind == SP_OBJECT_KERNEL ? dso->place.base : dso->place.text;
    if (text && dso->is_kernel)
        z->kernel_text = o->object.kernel_text = text;
}

static uint32_t dso_of_frame(const struct symbolizer *z, uint32_t frame)
{
    return z->functions.v[z->frames.v[frame].function].dso;
}

/* The binder's object of a DSO, of a process where that matters; SP_NONE: out of memory. */
static uint32_t object_of(struct symbolizer *z, uint32_t dso, int64_t pid)
{
    struct origin *o = &z->origins[dso];
    if (pid) {
        struct sp_object mine = o->object;
        mine.pid = pid;
        return sp_binder_object(z->binder, &mine);
    }
    if (o->number == SP_NONE)
        o->number = sp_binder_object(z->binder, &o->object);
    return o->number;
}

static bool has_name(const struct sp_frame *f)
{
    return !(f->flags & SP_FRAME_UNRESOLVED);
}

/* Names that are there already are of the file that is doubtful, whichever is found now. */
static void doubt_named(struct symbolizer *z)
{
    for (uint32_t i = 0; i < z->frames.n; i++) {
        struct sp_object *o = &z->origins[dso_of_frame(z, i)].object;
        o->doubtful |= o->replaced && has_name(&z->frames.v[i]);
    }
}

/* Whether a frame may gain something; leaf is what stands leafward of it, or NULL. */
static bool is_asked(const struct sp_frame *f, const struct sp_frame *leaf, const struct origin *o)
{
    if (!(f->flags & SP_FRAME_IP) || !o->asked)
        return false;
    if (!has_name(f))
        return true;
    /* A run of inlined frames that is there already stays. */
    bool has_run = f->inline_depth || (leaf && leaf->flags & SP_FRAME_INLINED);
    bool file = o->object.kind == SP_OBJECT_FILE || o->object.kind == SP_OBJECT_SPECIAL;
    return file && !f->srcline && !has_run && f->flags & SP_FRAME_SYMOFF;
}

/* Finds or adds. */
static uint32_t place_of(struct symbolizer *z, struct place want)
{
    uint64_t hash =
        sp_hash_mix((uint64_t)want.frame << 2 | (uint64_t)want.caller << 1 | want.kept, (uint64_t)want.pid);
    struct sp_probe at = sp_map_probe(&z->place_map, hash);
    for (uint32_t i; (i = sp_map_next(&z->place_map, &at)) != SP_MAP_NONE;) {
        const struct place *p = &z->places.v[i];
        if (p->frame == want.frame && p->caller == want.caller && p->pid == want.pid && p->kept == want.kept)
            return i;
    }
    if (z->places.n >= SP_NONE - 1 || !sp_vec_push(&z->places, want) ||
        !sp_map_add(&z->place_map, hash, (uint32_t)z->places.n - 1))
        return SP_NONE;
    return (uint32_t)z->places.n - 1;
}

/* The place of every frame of every stack. */
static spaa_status find_places(struct symbolizer *z)
{
    struct sp_profile *p = z->p;
    struct sp_returns returns = {0};
    uint32_t event = SP_NONE;
    if (!sp_vec_reserve(&z->stack_places, p->stack_frames.n + 1))
        return sp_nomem(z->d);
    z->stack_places.n = p->stack_frames.n;
    for (size_t i = 0; i < p->stacks.n; i++) {
        const struct sp_stack *s = &p->stacks.v[i];
        const uint32_t *v = p->stack_frames.v + s->first;
        const struct sp_context *c = &p->contexts.v[s->context];
        const struct sp_frame *leaf = NULL;
        if (sp_leaving(z->d, i))
            return SPAA_ERR_CANCELLED;
        if (!i || event != c->event)
            returns = sp_returns_of(p, event = c->event);
        for (uint32_t k = 0; k < s->n; k++) {
            const struct sp_frame *f = &z->frames.v[v[k]];
            const struct origin *o = &z->origins[dso_of_frame(z, v[k])];
            bool memory = symbolize_is_memory(&o->object);
            struct place want = {.frame = v[k], .kept = true};
            if (is_asked(f, leaf, o) && (!memory || (c->pid > 0 && f->kind != SP_KERNEL))) {
                want.kept = false;
                want.caller = sp_is_return(returns, f, leaf);
                want.pid = memory || (o->object.memfd && c->pid > 0) ? c->pid : 0;
            }
            uint32_t number = place_of(z, want);
            if (number == SP_NONE)
                return sp_nomem(z->d);
            z->stack_places.v[s->first + k] = number;
            leaf = f;
        }
    }
    return SPAA_OK;
}

/* A frame as it was, in a DSO that may have gained something: with its file, ips are addresses as linked. */
static bool put_old(struct symbolizer *z, uint32_t frame)
{
    struct sp_frame row = z->frames.v[frame];
    uint32_t object = object_of(z, dso_of_frame(z, frame), 0);
    uint32_t name = z->functions.v[row.function].name;
    if (z->p->header.frames >= SP_FRAMES_FUNCTION)
        row.info = z->functions.v[row.function].info;
    if (object == SP_NONE)
        return false;
    const struct sp_object *o = sp_binder_object_at(z->binder, object);
    struct sp_place at = {.addr = row.ip, .object = object, .code = SP_MODULE_LATEST, .kind = row.kind};
    if (o->kind == SP_OBJECT_FILE && o->place.ips == SP_DSO_FILE_OFFSET && row.flags & SP_FRAME_IP)
        sp_binder_linked(z->binder, &at, &row.ip);
    if (z->moved[frame] == SP_NONE)
        z->moved[frame] = sp_binder_frame(z->binder, &row, name, sp_binder_dso(z->binder, object));
    return z->moved[frame] != SP_NONE && sp_vec_push(&z->run, z->moved[frame]);
}

/* Where a frame was in the recording. False: out of memory. */
static bool place_in(struct symbolizer *z, const struct place *pl, struct sp_place *out)
{
    const struct sp_frame *f = &z->frames.v[pl->frame];
    uint32_t dso = dso_of_frame(z, pl->frame);
    const struct sp_object *o = &z->origins[dso].object;
    *out = (struct sp_place){.addr = f->ip,
                             .object = object_of(z, dso, pl->pid),
                             .code = SP_MODULE_LATEST,
                             .kind = f->kind,
                             .is_return = pl->caller};
    if (o->kind == SP_OBJECT_KERNEL && !is_kernel_address(f->ip))
        out->addr += o->kernel_text;
    if (o->kind == SP_OBJECT_KMOD)
        out->addr += o->place.base;
    return out->object != SP_NONE;
}

/* What its process wrote into a memfd stands where it was mapped. */
static spaa_status memfd_place(struct symbolizer *z, const struct place *pl, struct sp_place *at)
{
    uint64_t addr = at->addr + z->origins[dso_of_frame(z, pl->frame)].object.place.base;
    uint32_t object = at->object;
    spaa_status st = sp_binder_memfd(z->binder, &object, addr - pl->caller);
    if (!st && object != at->object) {
        at->object = object;
        at->addr = addr;
    }
    return st;
}

/* Whether a function is shown under that name. */
static bool is_shown(struct sp_str name, const char *demangled)
{
    struct sp_str s = {demangled, (uint32_t)strlen(demangled)};
    return sp_str_cmp(name, sp_function_shown(s)) == 0;
}

/*
 * Whether the function that was found is that which a frame names: it is shown under that name; or it begins
 * where that does, in the build that was recorded. The latter has another name for it then, which stays: what
 * recorded it demangled in its own way, or Swift, or took another one of several.
 */
static bool is_theirs(struct symbolizer *z, const struct place *pl, struct sp_named *named)
{
    const struct sp_frame *old = &z->frames.v[pl->frame];
    const struct sp_object *o = &z->origins[dso_of_frame(z, pl->frame)].object;
    uint32_t name = z->functions.v[old->function].name;
    if (!named->n)
        return false;
    const struct sp_resolved *r = &named->frames[named->n - 1];
    if (is_shown(symbolize_text_of(z, name), r->func))
        return true;
    named->name = name;
    return o->build_id.n && r->has_start && old->flags & SP_FRAME_SYMOFF &&
           named->ip - old->symoff == r->start + named->moved;
}

static spaa_status resolve_place(struct symbolizer *z, struct place *pl)
{
    const struct sp_frame *old = &z->frames.v[pl->frame];
    struct sp_named named;
    struct sp_place at;
    if (!place_in(z, pl, &at))
        return sp_nomem(z->d);
    spaa_status st = pl->pid ? memfd_place(z, pl, &at) : SPAA_OK;
    if (!st)
        st = sp_binder_name(z->binder, &at, &named);
    if (st)
        return st;
    z->count->asked++;
    if (!named.n && !named.has_start && old->flags & SP_FRAME_SYMOFF) { /* more is known already */
        pl->kept = true;
        return put_old(z, pl->frame) ? SPAA_OK : sp_nomem(z->d);
    }
    if (has_name(old) && !is_theirs(z, pl, &named)) {
        pl->kept = true;
        return put_old(z, pl->frame) ? SPAA_OK : sp_nomem(z->d);
    }
    z->count->named += named.n && !has_name(old);
    z->count->lined += named.n && named.frames[named.n - 1].srcline;
    return sp_binder_put(z->binder, &at, &named, old->extra_json, &z->run);
}

/* Opens what is asked about, the kernel first: its modules use what it uses. */
static spaa_status open_modules(struct symbolizer *z)
{
    struct sp_module *any;
    for (int kernel = 1; kernel >= 0; kernel--) {
        for (size_t i = 0; i < z->places.n; i++) {
            const struct sp_object *o = &z->origins[dso_of_frame(z, z->places.v[i].frame)].object;
            struct sp_place at;
            if (z->places.v[i].kept || symbolize_is_memory(o) || (o->kind == SP_OBJECT_KERNEL) != kernel)
                continue;
            if (!place_in(z, &z->places.v[i], &at))
                return sp_nomem(z->d);
            spaa_status st = sp_cancelled(z->d);
            if (!st)
                st = sp_binder_module(z->binder, at.object, at.addr, &any);
            if (st)
                return st;
        }
    }
    return SPAA_OK;
}

/* Reads, by several threads, the lines that the places of each file need. */
static spaa_status symbolize_prepare(struct symbolizer *z, unsigned jobs)
{
    SP_VEC(struct sp_place) places = {0};
    spaa_status st = SPAA_OK;
    for (uint32_t m = 0; jobs > 1 && !st && m < z->dsos.n; m++) {
        if (z->origins[m].object.kind != SP_OBJECT_FILE)
            continue;
        places.n = 0;
        for (size_t i = 0; !st && i < z->places.n; i++) {
            struct sp_place at;
            if (dso_of_frame(z, z->places.v[i].frame) != m || z->places.v[i].kept || z->places.v[i].pid)
                continue;
            if (!place_in(z, &z->places.v[i], &at) || !sp_vec_push(&places, at))
                st = sp_nomem(z->d);
        }
        if (!st)
            st = sp_binder_prepare(z->binder, places.v, places.n, jobs);
    }
    sp_vec_free(&places);
    return st;
}

enum { ASK_PLACES = 64 }; /* a place may need the lines of another unit */

/* The runs of all places, in the new tables; then what no stack ever used. */
static spaa_status resolve(struct symbolizer *z)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < z->places.n; i++) {
        struct place *pl = &z->places.v[i];
        pl->first = (uint32_t)z->run.n;
        if (i % ASK_PLACES == 0 && sp_progress(z->d, "symbols", "", "places", i, z->places.n))
            return SPAA_ERR_CANCELLED;
        if (!pl->kept)
            st = resolve_place(z, pl);
        else if (!put_old(z, pl->frame))
            st = sp_nomem(z->d);
        pl->n = (uint32_t)z->run.n - pl->first;
    }
    return st;
}

static bool put_dso(struct symbolizer *z, uint32_t dso)
{
    uint32_t object = object_of(z, dso, 0);
    return object != SP_NONE && sp_binder_dso(z->binder, object) != SP_NONE;
}

static spaa_status put_unused(struct symbolizer *z)
{
    bool *used_frame = calloc(z->frames.n + 1, 1), *used_dso = calloc(z->dsos.n + 1, 1);
    bool ok = used_frame && used_dso;
    for (size_t i = 0; ok && i < z->places.n; i++)
        used_frame[z->places.v[i].frame] = true;
    for (size_t i = 0; ok && i < z->frames.n; i++) {
        used_dso[z->functions.v[z->frames.v[i].function].dso] = true;
        if (!used_frame[i])
            ok = put_old(z, (uint32_t)i);
    }
    for (size_t i = 0; ok && i < z->dsos.n; i++)
        if (!used_dso[i])
            ok = put_dso(z, (uint32_t)i);
    free(used_frame);
    free(used_dso);
    return ok ? SPAA_OK : sp_nomem(z->d);
}

/* Exclusive weights name a frame of their stack: now the innermost of what stands for it. */
static void move_exclusive(struct symbolizer *z, const struct sp_stack *s)
{
    struct sp_profile *p = z->p;
    if (s->exclusive < 2)
        return;
    struct sp_exclusive *e = &p->exclusives.v[s->exclusive - 2];
    for (uint32_t k = 0; k < s->n; k++) {
        const struct place *pl = &z->places.v[z->stack_places.v[s->first + k]];
        if (pl->frame == e->frame && pl->n) {
            e->frame = z->run.v[pl->first];
            return;
        }
    }
    e->frame = e->frame < z->frames.n && z->moved[e->frame] != SP_NONE ? z->moved[e->frame] : SP_NONE;
}

/* What was known of the calls of a stack, which begins at `first` of the new frames. False: no memory. */
static bool move_edges(struct symbolizer *z, struct sp_stack *s)
{
    struct sp_profile *p = z->p;
    SP_VEC(struct sp_edge) list = {0};
    size_t n, end = 0, k = 0;
    const struct sp_edge *e = sp_edges_of(p, s->edges, &n);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        for (; k <= e[i].at && k < s->n; k++)
            end += z->places.v[z->stack_places.v[s->first + k]].n;
        if (end)
            ok = sp_vec_push(&list, ((struct sp_edge){(uint32_t)end - 1, e[i].kind, z->moved[e[i].frame]}));
    }
    s->edges = ok ? sp_edges_intern(p, list.v, list.n) : SP_NONE;
    sp_vec_free(&list);
    return s->edges != SP_NONE;
}

static spaa_status rewrite_stacks(struct symbolizer *z)
{
    struct sp_profile *p = z->p;
    SP_VEC(uint32_t) flat = {0};
    for (size_t i = 0; i < p->stacks.n; i++) {
        struct sp_stack *s = &p->stacks.v[i];
        uint64_t first = flat.n;
        move_exclusive(z, s);
        if (s->edges && !move_edges(z, s)) {
            sp_vec_free(&flat);
            return sp_nomem(z->d);
        }
        for (uint32_t k = 0; k < s->n; k++) {
            const struct place *pl = &z->places.v[z->stack_places.v[s->first + k]];
            if (!sp_vec_reserve(&flat, flat.n + pl->n)) {
                sp_vec_free(&flat);
                return sp_nomem(z->d);
            }
            memcpy(flat.v + flat.n, z->run.v + pl->first, pl->n * sizeof *flat.v);
            flat.n += pl->n;
        }
        s->first = first;
        s->n = (uint32_t)(flat.n - first);
    }
    sp_vec_free(&p->stack_frames);
    p->stack_frames.v = flat.v;
    p->stack_frames.n = flat.n;
    p->stack_frames.cap = flat.cap;
    sp_map_free(&p->stack_map);
    for (size_t i = 0; i < p->ids.n; i++)
        if (p->header.has_x_spaa)
            p->ids.v[i].flags = 0;
    if (p->header.has_x_spaa)
        p->ids.n = p->linked_ids.n = 0;
    return SPAA_OK;
}

/* Whether ips of the kernel, without a base, are offsets rather than addresses. */
static bool counts_from_text(const struct symbolizer *z)
{
    for (size_t i = 0; i < z->frames.n; i++) {
        const struct sp_frame *f = &z->frames.v[i];
        if (f->flags & SP_FRAME_IP &&
            z->origins[z->functions.v[f->function].dso].object.kind == SP_OBJECT_KERNEL &&
            is_kernel_address(f->ip))
            return false;
    }
    return true;
}

static char *symbolize_copy_text(struct sp_str s)
{
    char *c = malloc((size_t)s.n + 1);
    if (c) {
        memcpy(c, s.p, s.n);
        c[s.n] = '\0';
    }
    return c;
}

/* Which machine was recorded, as the header has it ("Linux 6.1.0"). */
static spaa_status tell_machine(struct symbolizer *z)
{
    static const char linux_[] = "Linux ";
    const size_t n = sizeof linux_ - 1;
    struct sp_str os = symbolize_text_of(z, z->p->header.host.os),
                  host = symbolize_text_of(z, z->p->header.host.name);
    bool is_linux = os.n > n && memcmp(os.p, linux_, n) == 0;
    char *release = is_linux ? symbolize_copy_text((struct sp_str){os.p + n, os.n - (uint32_t)n}) : NULL;
    char *name = host.n ? symbolize_copy_text(host) : NULL;
    spaa_status st = (is_linux && !release) || (host.n && !name)
                         ? sp_nomem(z->d)
                         : sp_symbols_machine(sp_binder_symbols(z->binder), name, release);
    free(release);
    free(name);
    return st;
}

#define TAKE(z, p, table)                                                                                    \
    (memcpy(&(z)->table, &(p)->table, sizeof(z)->table), memset(&(p)->table, 0, sizeof(p)->table))

static spaa_status symbolize_run(struct symbolizer *z, unsigned jobs)
{
    struct sp_profile *p = z->p;
    p->notes.n = 0; /* they are of the old table */
    TAKE(z, p, dsos);
    TAKE(z, p, functions);
    TAKE(z, p, frames);
    sp_map_free(&p->dso_map);
    sp_map_free(&p->function_map);
    sp_map_free(&p->frame_map);
    z->origins = calloc(z->dsos.n + 1, sizeof *z->origins);
    z->moved = malloc((z->frames.n + 1) * sizeof *z->moved);
    if (!z->origins || !z->moved)
        return sp_nomem(z->d);
    memset(z->moved, 0xff, (z->frames.n + 1) * sizeof *z->moved);
    for (uint32_t i = 0; i < z->dsos.n; i++)
        symbolize_classify(z, i);
    doubt_named(z);
    if (!z->kernel_text && counts_from_text(z))
        z->kernel_text = SOME_TEXT;
    for (size_t i = 0; i < z->dsos.n; i++) {
        struct sp_object *o = &z->origins[i].object;
        bool kernel = o->kind == SP_OBJECT_KERNEL || o->kind == SP_OBJECT_KMOD;
        if (kernel && !o->kernel_text)
            o->kernel_text = z->kernel_text;
    }
    spaa_status st = tell_machine(z);
    if (!st)
        st = find_places(z);
    if (!st)
        st = open_modules(z);
    if (!st)
        st = symbolize_prepare(z, jobs);
    if (!st)
        st = resolve(z);
    if (!st)
        st = put_unused(z);
    return st ? st : rewrite_stacks(z);
}

spaa_status sp_symbolize(struct sp_profile *p, const struct sp_symbol_opts *opts, unsigned jobs,
                         struct sp_diags *d, struct sp_symbolized *out)
{
    struct symbolizer z = {.p = p, .d = d, .count = out};
    *out = (struct sp_symbolized){0};
    spaa_status st = sp_binder_new(p, opts, SP_FRAMES_ADDRESS, d, &z.binder);
    if (!st)
        st = symbolize_run(&z, jobs);
    if (!st)
        st = sp_symbols_failed(sp_binder_symbols(z.binder));
    if (!st)
        sp_symbols_report(sp_binder_symbols(z.binder));
    if (!st)
        sp_symbols_report_lines(sp_binder_symbols(z.binder));
    if (!st)
        st = sp_symbols_note(sp_binder_symbols(z.binder), p);
    if (!st && !sp_functions_settle(p))
        st = sp_nomem(d);
    sp_binder_free(z.binder);
    sp_vec_free(&z.places);
    sp_map_free(&z.place_map);
    sp_vec_free(&z.stack_places);
    sp_vec_free(&z.run);
    sp_vec_free(&z.dsos);
    sp_vec_free(&z.functions);
    sp_vec_free(&z.frames);
    free(z.origins);
    free(z.moved);
    return st;
}
