/*
 * From recorded addresses to frames of the profile, once per distinct (object, address in it): which object
 * of code it is, by the maps of the process or the kernel; names are symbols/bind.h's. And whether the code
 * at two places can have called each other.
 */
#include "formats/perf_data/resolve.h"

#include "base/buf.h"
#include "base/hash.h"
#include "model/edges.h"
#include "model/entries.h"
#include "symbols/bind.h"
#include "unwind/edges.h"

#define TEXT(literal) ((struct sp_str){(literal), sizeof(literal) - 1})

/* What is known of the code of a place of the binder, beside its names. */
struct place {
    bool entry;          /* of a thread or program: what is above it is nobody's caller */
    unsigned char skips; /* enum skips: what walking by frame pointers from here does */
    uint32_t
        function; /* a number that stands for the code of one function; NOT_ASKED, or SP_NONE: not known */
    /* Of calls, the last one from here; NOT_ASKED; NO_CALL: none yet; SP_NONE: any call from here may be. */
    uint32_t call;
};
enum skips { SKIPS_NOT_ASKED, SKIPS_NOTHING, SKIPS_CALLER };
#define NOT_ASKED (SP_NONE - 1)
#define NO_CALL   (SP_NONE - 2)
#define OF_PLACE  0x80000000u

/* What was found about a place's call of a function. */
struct call {
    uint32_t caller; /* place */
    uint32_t callee; /* function */
    uint32_t frame;  /* MISSING: that of the target */
    int32_t pid;     /* of by_scene */
    uint8_t verdict;
    bool by_scene, below;
    bool told; /* else the caller may have called anything */
};

struct sp_pd_frames {
    struct sp_pd *pd;
    struct sp_binder *binder;
    SP_VEC(struct place) places; /* beside those of the binder */
    struct sp_pd_maps kernel_maps;
    uint32_t kernel, guest_kernel, guest_user, hypervisor;
    uint64_t kernel_text;   /* address of _text in the recording; 0: unknown */
    uint32_t kernel_symbol; /* enum sp_text_symbol: what stands there */
    char kernel_id[2 * 20 + 1];
    struct sp_buf text;
    uint32_t last; /* place; SP_NONE: none */
    struct sp_edges *edges;
    SP_VEC(struct call) calls;
    struct sp_map call_map;
    SP_VEC(struct sp_module *) scene;
};

static struct sp_str pd_frames_str(struct sp_pd_text t)
{
    return (struct sp_str){t.p, (uint32_t)t.n};
}

static struct sp_str pd_frames_cstr(const char *s)
{
    return (struct sp_str){s ? s : "", s ? (uint32_t)strlen(s) : 0};
}

static bool pd_frames_keep_text(struct sp_pd *pd, const char **s, size_t n)
{
    if (*s)
        *s = sp_arena_dup(&pd->arena, *s, n);
    return *s;
}

static bool pd_frames_starts(struct sp_pd_text t, const char *with)
{
    size_t n = strlen(with);
    return t.n >= n && memcmp(t.p, with, n) == 0;
}

bool sp_pd_is_anonymous(struct sp_pd_text path)
{
    return !path.n || pd_frames_starts(path, "//anon") || pd_frames_starts(path, "/anon_hugepage") ||
           pd_frames_starts(path, "/dev/zero") || pd_frames_starts(path, "/SYSV") ||
           pd_frames_starts(path, "anon_inode:") || pd_frames_starts(path, "[heap]") ||
           pd_frames_starts(path, "[stack") || pd_frames_starts(path, "[anon:");
}

uint32_t sp_pd_frames_dso(struct sp_pd_frames *f, const struct sp_pd_mmap *m)
{
    static const char deleted[] = " (deleted)";
    struct sp_pd_text path = m->path;
    struct sp_object o = {.kind = SP_OBJECT_FILE, .place.ips = SP_DSO_FILE_OFFSET};
    if (sp_pd_is_anonymous(path)) /* data: no code there */
        return sp_binder_written(f->binder, m->data ? 0 : m->pid);
    size_t cut = sizeof deleted - 1;
    if (path.n > cut && memcmp(path.p + path.n - cut, deleted, cut) == 0)
        path.n -= cut;
    if (path.p[0] == '[')
        o = (struct sp_object){.kind = SP_OBJECT_SPECIAL};
    o.path = pd_frames_str(path);
    if (pd_frames_starts(path, "/memfd:")) {
        o.memfd = true;
        o.pid = m->pid;
        o.path = (struct sp_str){path.p + 1, (uint32_t)path.n - 1};
        if (f->pd->opts->symbols.no_symbols)
            o.place.base = m->start - m->pgoff; /* for who looks later whether it is just-in-time code */
    }
    char hex[2 * 20 + 1];
    const char *id = m->build_id ? sp_pd_hex(m->build_id, m->build_id_size, hex)
                                 : sp_pd_build_id_of(f->pd, m->path.p, m->path.n);
    /* Of a file that was deleted while it ran: its path has another one, whose the table's build-id is. */
    bool other = path.n < m->path.n && !o.memfd;
    if (!m->build_id && !other && o.kind == SP_OBJECT_FILE && sp_pd_mapped_id(f->pd, m, &id, &other))
        return SP_NONE;
    o.replaced = !id && other && o.kind == SP_OBJECT_FILE;
    o.build_id = pd_frames_cstr(id);
    uint32_t number = sp_binder_object(f->binder, &o);
    if (number != SP_NONE && !m->data && o.kind == SP_OBJECT_FILE)
        sp_binder_mapped(f->binder, number, m->pgoff, m->len);
    return number;
}

/* "/lib/modules/…/snd-hda.ko.xz" and "[snd_hda]" are both "[snd_hda]", as perf shows them. */
static bool pd_frames_module_name(struct sp_pd_text path, struct sp_buf *out)
{
    for (size_t i = 0; i < path.n; i++) {
        if (path.p[i] != '/')
            continue;
        path = (struct sp_pd_text){path.p + i + 1, path.n - i - 1};
        i = (size_t)-1;
    }
    const char *ko = memmem(path.p, path.n, ".ko", 3);
    if (ko)
        path.n = (size_t)(ko - path.p);
    else if (path.n > 2 && path.p[0] == '[')
        path = (struct sp_pd_text){path.p + 1, path.n - 2};
    sp_buf_clear(out);
    sp_buf_ch(out, '[');
    for (size_t i = 0; i < path.n; i++)
        sp_buf_ch(out, path.p[i] == '-' ? '_' : path.p[i]);
    return sp_buf_ch(out, ']');
}

static spaa_status pd_frames_put_kernel_map(struct sp_pd_frames *f, const struct sp_object *o, uint64_t start,
                                            uint64_t len)
{
    struct sp_pd_map map = {.start = start, .end = start + len < start ? UINT64_MAX : start + len};
    map.dso = sp_binder_object(f->binder, o);
    if (map.dso == SP_NONE || sp_pd_maps_put(&f->kernel_maps, map) == SP_PD_PUT_NOMEM)
        return sp_nomem(f->pd->d);
    return SPAA_OK;
}

/* "[kernel.kallsyms]_text": the symbol whose address the map's offset is. */
static enum sp_text_symbol pd_frames_reference(struct sp_pd_text path)
{
    const char *end = memchr(path.p, ']', path.n);
    size_t n = end ? path.n - (size_t)(end + 1 - path.p) : 0;
    if (n == 5 && memcmp(end + 1, "_text", n) == 0)
        return SP_TEXT_TEXT;
    return n == 6 && memcmp(end + 1, "_stext", n) == 0 ? SP_TEXT_STEXT : SP_TEXT_UNTOLD;
}

static bool pd_frames_is_kernel(struct sp_pd_text path)
{
    return pd_frames_starts(path, "[kernel.kallsyms]") || pd_frames_starts(path, "[kernel.vmlinux]") ||
           pd_frames_starts(path, "[kernel]");
}

bool sp_pd_kernel_name(struct sp_pd_text path, struct sp_buf *out)
{
    if (!pd_frames_is_kernel(path))
        return pd_frames_module_name(path, out);
    sp_buf_clear(out);
    return sp_buf_puts(out, "[kernel]");
}

/* Where the kernel stood, by its own maps. */
static void pd_frames_find_kernel(struct sp_pd_frames *f, const unsigned char *rec)
{
    struct sp_pd_mmap m;
    if (sp_pd_u32(rec, f->pd->swap) == PD_KSYMBOL || !sp_pd_mmap_read(f->pd, rec, &m) || m.guest ||
        !pd_frames_is_kernel(m.path))
        return;
    if (!f->kernel_text) {
        f->kernel_text = m.pgoff ? m.pgoff : m.start;
        f->kernel_symbol = f->kernel_text ? pd_frames_reference(m.path) : SP_TEXT_UNTOLD;
    }
    if (m.build_id)
        sp_pd_hex(m.build_id, m.build_id_size, f->kernel_id);
}

/* Code of one function, which has a name alone. */
static spaa_status pd_frames_take_symbol(struct sp_pd_frames *f, const unsigned char *rec)
{
    const bool swap = f->pd->swap;
    const char *name = (const char *)rec + 24;
    /* Kinds: 1 BPF, 2 out of line; flag 1: it goes away. */
    if (sp_pd_u16(rec + 22, swap) & 1)
        return SPAA_OK;
    bool bpf = sp_pd_u16(rec + 20, swap) == 1;
    uint64_t start = sp_pd_u64(rec + 8, swap);
    struct sp_object o = {.kind = bpf ? SP_OBJECT_BPF : SP_OBJECT_PATCH,
                          .is_kernel = true,
                          .path = pd_frames_cstr(name),
                          .start = start,
                          .kernel_text = f->kernel_text,
                          .place.base = bpf ? start : f->kernel_text,
                          .place.symbol = bpf ? SP_TEXT_UNTOLD : f->kernel_symbol};
    return pd_frames_put_kernel_map(f, &o, start, sp_pd_u32(rec + 16, swap));
}

static spaa_status pd_frames_take_kernel_map(struct sp_pd_frames *f, const unsigned char *rec)
{
    struct sp_pd *pd = f->pd;
    struct sp_pd_mmap m;
    if (sp_pd_u32(rec, pd->swap) == PD_KSYMBOL)
        return pd_frames_take_symbol(f, rec);
    if (!sp_pd_mmap_read(pd, rec, &m) || m.guest || pd_frames_is_kernel(m.path))
        return SPAA_OK;
    if (!pd_frames_module_name(m.path, &f->text))
        return sp_nomem(pd->d);
    char hex[2 * 20 + 1];
    const char *id =
        m.build_id ? sp_pd_hex(m.build_id, m.build_id_size, hex) : sp_pd_build_id_of(pd, m.path.p, m.path.n);
    struct sp_object o = {.kind = SP_OBJECT_KMOD,
                          .is_kernel = true,
                          .path = {f->text.data, (uint32_t)f->text.len},
                          .build_id = pd_frames_cstr(id),
                          .kernel_text = f->kernel_text,
                          .place = {.base = m.start, .text = f->kernel_text, .symbol = f->kernel_symbol}};
    return pd_frames_put_kernel_map(f, &o, m.start, m.len);
}

spaa_status sp_pd_frames_kernel(struct sp_pd_frames *f)
{
    struct sp_pd *pd = f->pd;
    struct sp_object kernel = {
        .kind = SP_OBJECT_KERNEL, .path = TEXT("[kernel.kallsyms]"), .is_kernel = true};
    const struct sp_object guest_kernel = {
        .kind = SP_OBJECT_FOREIGN, .path = TEXT("[guest.kernel]"), .is_kernel = true};
    const struct sp_object guest_user = {.kind = SP_OBJECT_FOREIGN, .path = TEXT("[guest]")};
    const struct sp_object hypervisor = {.kind = SP_OBJECT_FOREIGN, .path = TEXT("[hypervisor]")};
    for (size_t i = 0; i < pd->kernel_maps.n; i++)
        pd_frames_find_kernel(f, sp_pd_at(pd, pd->kernel_maps.v[i]));
    kernel.kernel_text = kernel.place.base = f->kernel_text;
    kernel.place.symbol = f->kernel_symbol;
    kernel.build_id =
        pd_frames_cstr(f->kernel_id[0] ? f->kernel_id : sp_pd_build_id_of(pd, kernel.path.p, kernel.path.n));
    f->kernel = sp_binder_object(f->binder, &kernel);
    f->guest_kernel = sp_binder_object(f->binder, &guest_kernel);
    f->guest_user = sp_binder_object(f->binder, &guest_user);
    f->hypervisor = sp_binder_object(f->binder, &hypervisor);
    bool full = f->kernel == SP_NONE || f->guest_kernel == SP_NONE || f->guest_user == SP_NONE ||
                f->hypervisor == SP_NONE;
    spaa_status st = full ? sp_nomem(pd->d) : SPAA_OK;
    for (size_t i = 0; !st && i < pd->kernel_maps.n; i++)
        st = pd_frames_take_kernel_map(f, sp_pd_at(pd, pd->kernel_maps.v[i]));
    return st;
}

spaa_status sp_pd_frames_new(struct sp_pd *pd, struct sp_pd_frames **out)
{
    struct sp_pd_frames *f = calloc(1, sizeof *f);
    if (!f)
        return sp_nomem(pd->d);
    f->pd = pd;
    sp_buf_init(&f->text, 0);
    f->edges = sp_edges_new(pd->d);
    const char *host = pd->hostname.p, *release = pd->osrelease.p;
    bool kept = (!host || pd_frames_keep_text(pd, &host, pd->hostname.n)) &&
                (!release || pd_frames_keep_text(pd, &release, pd->osrelease.n));
    spaa_status st = kept && f->edges
                         ? sp_binder_new(pd->p, &pd->opts->symbols, pd->opts->frames, pd->d, &f->binder)
                         : sp_nomem(pd->d);
    if (!st)
        st = sp_symbols_machine(sp_binder_symbols(f->binder), host, release);
    if (st)
        sp_pd_frames_free(f);
    else
        *out = f;
    return st;
}

void sp_pd_frames_free(struct sp_pd_frames *f)
{
    if (!f)
        return;
    sp_edges_free(f->edges);
    sp_vec_free(&f->calls);
    sp_map_free(&f->call_map);
    sp_vec_free(&f->scene);
    sp_binder_free(f->binder);
    sp_vec_free(&f->places);
    sp_vec_free(&f->kernel_maps.list);
    sp_buf_free(&f->text);
    free(f);
}

spaa_status sp_pd_frames_report(struct sp_pd_frames *f)
{
    static const char hint[] =
        "call chains lead there without frame pointers: record with `--call-graph dwarf`, or "
        "build with -fno-omit-frame-pointer";
    if (sp_edges_failed(f->edges))
        return sp_edges_failed(f->edges);
    for (uint32_t i = 0; i < sp_binder_objects(f->binder); i++) {
        uint32_t dso = sp_binder_dso_made(f->binder, i);
        if (sp_binder_object_at(f->binder, i)->kind == SP_OBJECT_UNMAPPED && dso != SP_NONE &&
            !sp_profile_note(f->pd->p, dso, SP_NOTE_NAMES, 1, "nothing was mapped at these addresses", hint))
            return sp_nomem(f->pd->d);
    }
    return sp_binder_report(f->binder);
}

spaa_status sp_pd_frames_mapped(struct sp_pd_frames *f, const struct sp_pd_mmap *m)
{
    return sp_symbols_mapped(sp_binder_symbols(f->binder), m->pid, m->path.p);
}

void sp_pd_frames_clock(struct sp_pd_frames *f, const struct sp_recording_clock *clock)
{
    sp_symbols_clock(sp_binder_symbols(f->binder), clock);
}

spaa_status sp_pd_frames_jit(struct sp_pd_frames *f, int32_t pid, struct sp_module **out)
{
    uint32_t object = sp_binder_written(f->binder, pid);
    *out = NULL;
    return object == SP_NONE ? sp_nomem(f->pd->d) : sp_binder_module(f->binder, object, 0, out);
}

/* Whether a thread or program begins at one of these functions. */
static bool pd_frames_is_entry(const struct sp_profile *p, const uint32_t *frames, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sp_is_entry(sp_pstr(p, sp_frame_function(p, frames[i])->name), SP_SIDE_USER))
            return true;
    return false;
}

static spaa_status pd_frames_put(struct sp_pd_frames *f, const struct sp_place *place,
                                 struct sp_pd_frame_list *out)
{
    size_t n;
    uint32_t number;
    spaa_status st = sp_bind(f->binder, place, &number);
    if (st)
        return st;
    const uint32_t *frames = sp_binder_frames(f->binder, number, &n);
    if (number == f->places.n) {
        struct place fresh = {.function = NOT_ASKED, .call = NOT_ASKED};
        fresh.entry = place->kind == SP_USER && pd_frames_is_entry(f->pd->p, frames, n);
        if (!sp_vec_push(&f->places, fresh))
            return sp_nomem(f->pd->d);
    }
    f->last = number;
    if (!sp_vec_reserve(out, out->n + n))
        return sp_nomem(f->pd->d);
    memcpy(out->v + out->n, frames, n * sizeof *out->v);
    out->n += n;
    return SPAA_OK;
}

static spaa_status pd_frames_place_at(struct sp_pd_frames *f, uint32_t object, uint64_t addr, bool caller,
                                      uint8_t kind, struct sp_pd_frame_list *out)
{
    struct sp_place place = {
        .addr = addr, .object = object, .code = SP_MODULE_LATEST, .kind = kind, .is_return = caller};
    return pd_frames_put(f, &place, out);
}

/* Where a process may have written code: what stood there then. */
static spaa_status pd_frames_jit_place(struct sp_pd_frames *f, uint32_t object, uint64_t time, uint64_t addr,
                                       bool caller, uint8_t kind, struct sp_pd_frame_list *out)
{
    struct sp_module *m;
    spaa_status st = sp_binder_module(f->binder, object, addr, &m);
    if (st)
        return st;
    struct sp_place place = {.addr = addr,
                             .object = object,
                             .code = m ? sp_module_code(m, addr - (caller && addr), time) : SP_MODULE_LATEST,
                             .kind = kind,
                             .is_return = caller};
    return pd_frames_put(f, &place, out);
}

static spaa_status pd_frames_kernel_place(struct sp_pd_frames *f, uint64_t addr, bool caller,
                                          struct sp_pd_frame_list *out)
{
    const struct sp_pd_map *m = sp_pd_maps_find(&f->kernel_maps, addr - (caller && addr));
    return pd_frames_place_at(f, m ? m->dso : f->kernel, addr, caller, SP_KERNEL, out);
}

static spaa_status pd_frames_unmapped_place(struct sp_pd_frames *f, const struct sp_pd_scene *scene,
                                            uint64_t addr, bool caller, uint8_t kind,
                                            struct sp_pd_frame_list *out)
{
    uint32_t object =
        sp_binder_object(f->binder, &(struct sp_object){.kind = SP_OBJECT_UNMAPPED, .pid = scene->pid});
    return object == SP_NONE ? sp_nomem(f->pd->d)
                             : pd_frames_jit_place(f, object, scene->time, addr, caller, kind, out);
}

static spaa_status pd_frames_user_place(struct sp_pd_frames *f, const struct sp_pd_scene *scene,
                                        uint64_t addr, bool caller, uint8_t kind,
                                        struct sp_pd_frame_list *out)
{
    const struct sp_pd_map *m = scene->maps ? sp_pd_maps_find(scene->maps, addr - (caller && addr)) : NULL;
    if (!m)
        return pd_frames_unmapped_place(f, scene, addr, caller, kind, out);
    uint32_t object = m->dso;
    spaa_status st = sp_binder_memfd(f->binder, &object, addr - (caller && addr));
    if (st)
        return st;
    if (sp_binder_object_at(f->binder, object)->kind == SP_OBJECT_ANONYMOUS)
        return pd_frames_jit_place(f, object, scene->time, addr, caller, kind, out);
    return pd_frames_place_at(f, object, addr - m->start + m->pgoff, caller, kind, out);
}

spaa_status sp_pd_frames_at(struct sp_pd_frames *f, const struct sp_pd_scene *scene, unsigned mode,
                            uint64_t addr, bool caller, struct sp_pd_frame_list *out)
{
    f->last = SP_NONE;
    switch (mode) {
    case PD_MODE_KERNEL:
        return pd_frames_kernel_place(f, addr, caller, out);
    case PD_MODE_USER:
        return pd_frames_user_place(f, scene, addr, caller, SP_USER, out);
    case PD_MODE_GUEST_KERNEL:
        return pd_frames_place_at(f, f->guest_kernel, addr, caller, SP_KERNEL, out);
    case PD_MODE_GUEST_USER:
        return pd_frames_place_at(f, f->guest_user, addr, caller, SP_USER, out);
    case PD_MODE_HYPERVISOR:
        return pd_frames_place_at(f, f->hypervisor, addr, caller, SP_UNKNOWN, out);
    default:
        if (scene->maps && sp_pd_maps_find(scene->maps, addr))
            return pd_frames_user_place(f, scene, addr, caller, SP_USER, out);
        if (f->kernel_text && addr >= f->kernel_text)
            return pd_frames_kernel_place(f, addr, caller, out);
        return pd_frames_unmapped_place(f, scene, addr, caller, SP_UNKNOWN, out);
    }
}

bool sp_pd_frames_begins(const struct sp_pd_frames *f, uint32_t place)
{
    return place != SP_NONE && f->places.v[place].entry;
}

uint32_t sp_pd_frames_last(const struct sp_pd_frames *f)
{
    return f->last;
}

/* A place as its file is linked; the module is NULL where it is none of a file. */
static struct sp_edge_side pd_frames_linked(const struct sp_pd_frames *f, uint32_t place)
{
    struct sp_edge_side side;
    side.module = sp_binder_linked(f->binder, sp_binder_place(f->binder, place), &side.addr);
    return side;
}

/* The files that the process has mapped with their code. */
static spaa_status pd_frames_gather_scene(struct sp_pd_frames *f, const struct sp_pd_scene *scene,
                                          bool *complete)
{
    size_t n = scene->maps ? scene->maps->list.n : 0;
    uint32_t before = SP_NONE;
    f->scene.n = 0;
    *complete = n;
    for (size_t i = 0; i < n; i++) {
        uint32_t number = scene->maps->list.v[i].dso;
        struct sp_module *m;
        if (sp_binder_object_at(f->binder, number)->kind != SP_OBJECT_FILE || number == before)
            continue;
        before = number;
        spaa_status st = sp_binder_module(f->binder, number, scene->maps->list.v[i].pgoff, &m);
        if (st)
            return st;
        *complete = *complete && m && sp_module_file(m);
        bool seen = !m;
        for (size_t k = 0; k < f->scene.n && !seen; k++)
            seen = f->scene.v[k] == m;
        if (!seen && !sp_vec_push(&f->scene, m))
            return sp_nomem(f->pd->d);
    }
    return SPAA_OK;
}

/* The frame of a function that is proven to be there. */
static spaa_status pd_frames_missing_frame(struct sp_pd_frames *f, const struct sp_edge_side *target,
                                           uint32_t *out)
{
    uint32_t dso = SP_NONE;
    for (uint32_t i = 0; i < sp_binder_objects(f->binder) && dso == SP_NONE; i++)
        if (sp_binder_is_of(f->binder, i, target->module))
            dso = sp_binder_dso(f->binder, i);
    *out = sp_edges_target(f->pd->p, target, dso, f->pd->opts->frames);
    return *out == SP_NONE ? sp_nomem(f->pd->d) : SPAA_OK;
}

/* An address that lies within the instruction that was executed. */
static struct sp_edge_side pd_frames_executed(const struct sp_pd_frames *f, uint32_t place)
{
    struct sp_edge_side side = pd_frames_linked(f, place);
    side.addr -= sp_binder_place(f->binder, place)->is_return && side.addr;
    return side;
}

static spaa_status pd_frames_judge(struct sp_pd_frames *f, const struct sp_pd_scene *scene, struct call *c,
                                   uint32_t callee)
{
    struct sp_judgement j;
    bool complete;
    spaa_status st = pd_frames_gather_scene(f, scene, &complete);
    if (st)
        return st;
    struct sp_edge_side from = pd_frames_linked(f, c->caller), to = pd_frames_executed(f, callee);
    const struct sp_edge_scene all = {f->scene.v, f->scene.n, complete};
    st = sp_edges_judge(f->edges, &from, &to, &all, &j);
    c->pid = scene->pid;
    c->verdict = (uint8_t)j.verdict;
    c->by_scene = j.by_scene;
    c->below = j.below;
    c->told = j.told;
    return st || j.verdict != SP_EDGE_MISSING ? st : pd_frames_missing_frame(f, &j.target, &c->frame);
}

static bool pd_frames_holds(const struct call *c, uint32_t caller, uint32_t callee, int32_t pid)
{
    return c->caller == caller && c->callee == callee && (!c->by_scene || c->pid == pid);
}

static spaa_status pd_frames_put_edge(struct sp_pd_frames *f, struct sp_pd_edge_list *out, size_t at,
                                      enum sp_edge_kind kind, uint32_t frame)
{
    if (kind == SP_EDGE_BROKEN)
        frame = sp_edge_broken_frame(f->pd->p);
    struct sp_edge e = {(uint32_t)at, kind, frame};
    return frame != SP_NONE && sp_vec_push(out, e) ? SPAA_OK : sp_nomem(f->pd->d);
}

/* Finds, or judges and adds; the place's `call` is it then. */
static spaa_status pd_frames_find_call(struct sp_pd_frames *f, const struct sp_pd_scene *scene,
                                       uint32_t callee, uint32_t caller)
{
    struct place *from = &f->places.v[caller], *to = &f->places.v[callee];
    uint64_t hash = sp_hash_mix((uint64_t)caller << 32 | to->function, 1);
    struct sp_probe at = sp_map_probe(&f->call_map, hash);
    for (uint32_t i; (i = sp_map_next(&f->call_map, &at)) != SP_MAP_NONE;) {
        if (!pd_frames_holds(&f->calls.v[i], caller, to->function, scene->pid))
            continue;
        from->call = i;
        return SPAA_OK;
    }
    struct call fresh = {.caller = caller, .callee = to->function};
    spaa_status st = pd_frames_judge(f, scene, &fresh, callee);
    if (st)
        return st;
    from->call = (uint32_t)f->calls.n;
    return f->calls.n < NO_CALL && sp_vec_push(&f->calls, fresh) &&
                   sp_map_add_at(&f->call_map, &at, from->call)
               ? SPAA_OK
               : sp_nomem(f->pd->d);
}

/* The caller may have called anything; but is it this frame's caller at all? */
static spaa_status pd_frames_skipped(struct sp_pd_frames *f, uint32_t number, size_t at,
                                     struct sp_pd_edge_list *out)
{
    struct place *callee = &f->places.v[number];
    if (callee->skips == SKIPS_NOT_ASKED) {
        struct sp_edge_side side = pd_frames_executed(f, number);
        callee->skips = sp_edges_skips(f->edges, &side) ? SKIPS_CALLER : SKIPS_NOTHING;
    }
    return callee->skips == SKIPS_CALLER ? pd_frames_put_edge(f, out, at, SP_EDGE_BROKEN, SP_NONE) : SPAA_OK;
}

spaa_status sp_pd_frames_call(struct sp_pd_frames *f, const struct sp_pd_scene *scene, bool by_pointers,
                              uint32_t callee, uint32_t caller, size_t at, struct sp_pd_edge_list *out)
{
    struct place *from = &f->places.v[caller], *to = &f->places.v[callee];
    spaa_status st = SPAA_OK;
    if (from->call == NOT_ASKED) {
        struct sp_edge_side side = pd_frames_linked(f, caller);
        from->call = side.module && sp_edges_tells(f->edges, &side) ? NO_CALL : SP_NONE;
    }
    if (from->call == SP_NONE)
        return by_pointers ? pd_frames_skipped(f, callee, at, out) : SPAA_OK;
    if (to->function == NOT_ASKED) {
        struct sp_edge_side side = pd_frames_executed(f, callee);
        to->function = sp_edges_function(f->edges, &side);
        if (to->function == SP_NONE) /* it stands for itself */
            to->function = callee | OF_PLACE;
    }
    if (from->call == NO_CALL || !pd_frames_holds(&f->calls.v[from->call], caller, to->function, scene->pid))
        st = pd_frames_find_call(f, scene, callee, caller);
    if (st)
        return st;
    const struct call *c = &f->calls.v[from->call];
    if (!c->told)
        return by_pointers ? pd_frames_skipped(f, callee, at, out) : SPAA_OK;
    if (c->verdict == SP_EDGE_IMPOSSIBLE || c->below)
        st = pd_frames_put_edge(f, out, at, SP_EDGE_BROKEN, SP_NONE);
    if (!st && c->verdict == SP_EDGE_MISSING)
        st = pd_frames_put_edge(f, out, at, SP_EDGE_INFERRED, c->frame);
    return st;
}

spaa_status sp_pd_frames_truncated(struct sp_pd_frames *f, struct sp_pd_frame_list *out)
{
    struct sp_profile *p = f->pd->p;
    uint32_t frame = sp_binder_frame(f->binder, &(struct sp_frame){.kind = SP_USER},
                                     sp_profile_cstr(p, "[truncated]"), sp_unknown_dso(p));
    return frame != SP_NONE && sp_vec_push(out, frame) ? SPAA_OK : sp_nomem(p->diags);
}

struct sp_pd_dso_file sp_pd_frames_file(const struct sp_pd_frames *f, uint32_t dso)
{
    const struct sp_object *o = sp_binder_object_at(f->binder, dso);
    return (struct sp_pd_dso_file){.name = o->kind == SP_OBJECT_ANONYMOUS ? "[anon]" : o->path.p,
                                   .path = o->path.p,
                                   .build_id = o->build_id.n ? o->build_id.p : NULL,
                                   .file = o->kind == SP_OBJECT_FILE || o->kind == SP_OBJECT_SPECIAL,
                                   .anonymous = o->kind == SP_OBJECT_ANONYMOUS,
                                   .used = sp_binder_dso_made(f->binder, dso) != SP_NONE};
}

size_t sp_pd_frames_dsos(const struct sp_pd_frames *f)
{
    return sp_binder_objects(f->binder);
}
