/*
 * From recorded addresses to frames of the profile, once per distinct (DSO, offset).
 *
 * An address becomes what it is in its DSO as linked: for ELF files the virtual address of the file
 * offset, for the kernel what is left after the address of _text, for modules what is left after their
 * start. JIT code and unknown places keep the address. A DSO enters the profile with its first frame.
 */
#include "formats/perf_data/resolve.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/edges.h"
#include "model/entries.h"
#include "symbols/symbolize.h"
#include "unwind/edges.h"
#include "json/json.h"

#define INLINE_MAX    64
#define TEXT(literal) ((struct sp_pd_text){(literal), sizeof(literal) - 1})

enum dso_kind {
    DSO_FILE,
    DSO_SPECIAL,   /* [vdso] and other names in brackets: offsets, no file */
    DSO_ANONYMOUS, /* JIT code if a perf map knows it */
    DSO_UNMAPPED,  /* no map at this address */
    DSO_KERNEL,
    DSO_MODULE,
    DSO_BPF,     /* one function: its name is all that is known */
    DSO_PATCH,   /* the same, of code that the kernel made for itself (ftrace, kprobes) */
    DSO_FOREIGN, /* guests and the hypervisor: never looked up here */
};

struct dso {
    enum dso_kind kind;
    struct sp_pd_text path; /* as recorded, for the symbolizer; of BPF the function's name */
    const char *name;       /* in the profile; NULL: the path */
    const char *build_id;
    int32_t pid;
    uint64_t base;         /* address that offsets count from */
    uint64_t offset, size; /* of the part of the file that is mapped with its code; size 0: not known */
    bool is_kernel, opened, file_offsets;
    bool memfd; /* a program, or just-in-time code that its process has a map or dump of */
    struct sp_module *module;
    uint32_t number, fallback; /* in the profile's dsos; fallback: of unresolved frames, where it differs */
};

/* What an address gave: a slice of `numbers`. */
struct place {
    uint64_t addr;
    uint32_t dso;
    uint32_t code; /* which of those that stood there */
    bool caller;
    bool entry;          /* of a thread or program: what is above it is nobody's caller */
    unsigned char skips; /* enum skips: what walking by frame pointers from here does */
    uint32_t first, n;
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
};

struct sp_pd_frames {
    struct sp_pd *pd;
    struct sp_symbols *symbols;
    SP_VEC(struct dso) dsos;
    struct sp_map dso_map;
    SP_VEC(struct place) places;
    struct sp_map place_map;
    SP_VEC(uint32_t) numbers;
    struct sp_pd_maps kernel_maps;
    uint32_t kernel, guest_kernel, guest_user, hypervisor;
    uint64_t kernel_text;   /* address of _text in the recording; 0: unknown */
    const char *kernel_ref; /* "_text", or "_stext" where that is what stands there; NULL: not told */
    char kernel_id[2 * 20 + 1];
    struct sp_buf text;
    uint32_t last; /* place; SP_NONE: none */
    struct sp_edges *edges;
    SP_VEC(struct call) calls;
    struct sp_map call_map;
    SP_VEC(struct sp_module *) scene;
};

static uint64_t pd_frames_dso_hash(const struct dso *d)
{
    uint64_t h = sp_hash_mix(sp_hash64(d->path.p, d->path.n), (uint64_t)d->kind << 32 | (uint32_t)d->pid);
    return sp_hash_mix(h ^ d->base, d->build_id ? sp_hash64(d->build_id, strlen(d->build_id)) : 0);
}

static bool pd_frames_same_dso(const struct dso *a, const struct dso *b)
{
    return a->kind == b->kind && a->pid == b->pid && a->base == b->base && a->path.n == b->path.n &&
           memcmp(a->path.p, b->path.p, a->path.n) == 0 && !a->build_id == !b->build_id &&
           (!a->build_id || strcmp(a->build_id, b->build_id) == 0);
}

static bool pd_frames_keep_text(struct sp_pd *pd, const char **s, size_t n)
{
    if (*s)
        *s = sp_arena_dup(&pd->arena, *s, n);
    return *s;
}

/* Finds or adds; a new one gets copies of what it names, but for `name`, a literal. */
static uint32_t pd_frames_intern_dso(struct sp_pd_frames *f, const struct dso *d)
{
    uint64_t hash = pd_frames_dso_hash(d);
    struct sp_probe at = sp_map_probe(&f->dso_map, hash);
    for (uint32_t i; (i = sp_map_next(&f->dso_map, &at)) != SP_MAP_NONE;)
        if (pd_frames_same_dso(&f->dsos.v[i], d))
            return i;
    struct dso fresh = *d;
    fresh.number = fresh.fallback = SP_NONE;
    if (!pd_frames_keep_text(f->pd, &fresh.path.p, fresh.path.n) ||
        (d->build_id && !pd_frames_keep_text(f->pd, &fresh.build_id, strlen(d->build_id))) ||
        f->dsos.n >= SP_NONE - 1 || !sp_vec_push(&f->dsos, fresh) ||
        !sp_map_add(&f->dso_map, hash, (uint32_t)f->dsos.n - 1))
        return SP_NONE;
    return (uint32_t)f->dsos.n - 1;
}

static bool pd_frames_starts(struct sp_pd_text t, const char *with)
{
    size_t n = strlen(with);
    return t.n >= n && memcmp(t.p, with, n) == 0;
}

static bool pd_frames_is_anonymous(struct sp_pd_text path)
{
    return !path.n || pd_frames_starts(path, "//anon") || pd_frames_starts(path, "/anon_hugepage") ||
           pd_frames_starts(path, "/dev/zero") || pd_frames_starts(path, "/SYSV") ||
           pd_frames_starts(path, "anon_inode:") || pd_frames_starts(path, "[heap]") ||
           pd_frames_starts(path, "[stack") || pd_frames_starts(path, "[anon:");
}

/* Where a file's code is: what it begins with, should the kernel or the program have split it. */
static uint32_t pd_frames_intern_file(struct sp_pd_frames *f, const struct dso *d, const struct sp_pd_mmap *m)
{
    uint32_t i = pd_frames_intern_dso(f, d);
    struct dso *x = i == SP_NONE || m->data ? NULL : &f->dsos.v[i];
    if (x && (!x->size || m->pgoff < x->offset || (m->pgoff == x->offset && m->len > x->size))) {
        x->offset = m->pgoff;
        x->size = m->len;
    }
    return i;
}

uint32_t sp_pd_frames_dso(struct sp_pd_frames *f, const struct sp_pd_mmap *m)
{
    static const char deleted[] = " (deleted)";
    struct sp_pd_text path = m->path;
    struct dso d = {.kind = DSO_FILE};
    if (pd_frames_is_anonymous(path)) {
        d.kind = DSO_ANONYMOUS;
        d.name = "[anon]";
        d.path = TEXT("");
        if (!m->data) {
            d.pid = m->pid;
            d.path = TEXT("//anon");
        }
        return pd_frames_intern_dso(f, &d);
    }
    size_t cut = sizeof deleted - 1;
    if (path.n > cut && memcmp(path.p + path.n - cut, deleted, cut) == 0)
        path.n -= cut;
    if (path.p[0] == '[')
        d.kind = DSO_SPECIAL;
    d.path = path;
    if (pd_frames_starts(path, "/memfd:")) {
        d.memfd = true;
        d.pid = m->pid;
        d.path = (struct sp_pd_text){path.p + 1, path.n - 1};
        if (f->pd->opts->symbols.no_symbols)
            d.base = m->start - m->pgoff; /* for who looks later whether it is just-in-time code */
    }
    char hex[2 * 20 + 1];
    if (m->build_id) {
        d.build_id = sp_pd_hex(m->build_id, m->build_id_size, hex);
    } else {
        d.build_id = sp_pd_build_id_of(f->pd, m->path.p, m->path.n);
        if (!d.build_id)
            d.build_id = sp_pd_build_id_of(f->pd, path.p, path.n);
    }
    return pd_frames_intern_file(f, &d, m);
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

static spaa_status pd_frames_put_kernel_map(struct sp_pd_frames *f, const struct dso *d, uint64_t start,
                                            uint64_t len)
{
    struct sp_pd_map map = {.start = start, .end = start + len < start ? UINT64_MAX : start + len};
    map.dso = pd_frames_intern_dso(f, d);
    if (map.dso == SP_NONE || sp_pd_maps_put(&f->kernel_maps, map) == SP_PD_PUT_NOMEM)
        return sp_nomem(f->pd->d);
    return SPAA_OK;
}

/* "[kernel.kallsyms]_text": the symbol whose address the map's offset is. */
static const char *pd_frames_reference(struct sp_pd_text path)
{
    const char *end = memchr(path.p, ']', path.n);
    size_t n = end ? path.n - (size_t)(end + 1 - path.p) : 0;
    if (n == 5 && memcmp(end + 1, "_text", n) == 0)
        return "_text";
    return n == 6 && memcmp(end + 1, "_stext", n) == 0 ? "_stext" : NULL;
}

static spaa_status pd_frames_take_kernel_map(struct sp_pd_frames *f, const unsigned char *rec)
{
    struct sp_pd *pd = f->pd;
    struct dso d = {.is_kernel = true};
    if (sp_pd_u32(rec, pd->swap) == PD_KSYMBOL) {
        /* Kinds: 1 BPF, 2 out of line; flag 1: it goes away. */
        if (sp_pd_u16(rec + 22, pd->swap) & 1)
            return SPAA_OK;
        d.kind = sp_pd_u16(rec + 20, pd->swap) == 1 ? DSO_BPF : DSO_PATCH;
        d.base = sp_pd_u64(rec + 8, pd->swap);
        d.path.p = (const char *)rec + 24;
        d.path.n = strlen(d.path.p);
        d.name = d.kind == DSO_BPF ? "[bpf]" : "[kernel]";
        return pd_frames_put_kernel_map(f, &d, d.base, sp_pd_u32(rec + 16, pd->swap));
    }
    struct sp_pd_mmap m;
    if (!sp_pd_mmap_read(pd, rec, &m) || m.guest)
        return SPAA_OK;
    if (pd_frames_starts(m.path, "[kernel.kallsyms]") || pd_frames_starts(m.path, "[kernel.vmlinux]") ||
        pd_frames_starts(m.path, "[kernel]")) {
        if (!f->kernel_text) {
            f->kernel_text = m.pgoff ? m.pgoff : m.start;
            f->kernel_ref = f->kernel_text ? pd_frames_reference(m.path) : NULL;
        }
        if (m.build_id)
            sp_pd_hex(m.build_id, m.build_id_size, f->kernel_id);
        return SPAA_OK;
    }
    d.kind = DSO_MODULE;
    d.base = m.start;
    if (!pd_frames_module_name(m.path, &f->text))
        return sp_nomem(pd->d);
    d.path = (struct sp_pd_text){f->text.data, f->text.len};
    char hex[2 * 20 + 1];
    d.build_id =
        m.build_id ? sp_pd_hex(m.build_id, m.build_id_size, hex) : sp_pd_build_id_of(pd, m.path.p, m.path.n);
    return pd_frames_put_kernel_map(f, &d, m.start, m.len);
}

spaa_status sp_pd_frames_kernel(struct sp_pd_frames *f)
{
    for (size_t i = 0; i < f->pd->kernel_maps.n; i++) {
        spaa_status st = pd_frames_take_kernel_map(f, sp_pd_at(f->pd, f->pd->kernel_maps.v[i]));
        if (st)
            return st;
    }
    struct dso kernel = {
        .kind = DSO_KERNEL, .path = TEXT("[kernel.kallsyms]"), .name = "[kernel]", .is_kernel = true};
    struct dso guest_kernel = {.kind = DSO_FOREIGN, .path = TEXT("[guest.kernel]"), .is_kernel = true};
    struct dso guest_user = {.kind = DSO_FOREIGN, .path = TEXT("[guest]")};
    struct dso hypervisor = {.kind = DSO_FOREIGN, .path = TEXT("[hypervisor]")};
    kernel.build_id = f->kernel_id[0] ? f->kernel_id : sp_pd_build_id_of(f->pd, kernel.path.p, kernel.path.n);
    f->kernel = pd_frames_intern_dso(f, &kernel);
    f->guest_kernel = pd_frames_intern_dso(f, &guest_kernel);
    f->guest_user = pd_frames_intern_dso(f, &guest_user);
    f->hypervisor = pd_frames_intern_dso(f, &hypervisor);
    bool full = f->kernel == SP_NONE || f->guest_kernel == SP_NONE || f->guest_user == SP_NONE ||
                f->hypervisor == SP_NONE;
    return full ? sp_nomem(f->pd->d) : SPAA_OK;
}

spaa_status sp_pd_frames_new(struct sp_pd *pd, struct sp_pd_frames **out)
{
    struct sp_pd_frames *f = calloc(1, sizeof *f);
    if (!f)
        return sp_nomem(pd->d);
    f->pd = pd;
    sp_buf_init(&f->text, 0);
    f->edges = sp_edges_new(pd->d);
    struct sp_symbol_opts symbols = pd->opts->symbols;
    symbols.no_lines |= pd->opts->frames == SP_FRAMES_FUNCTION;
    const char *host = pd->hostname.p, *release = pd->osrelease.p;
    bool kept = (!host || pd_frames_keep_text(pd, &host, pd->hostname.n)) &&
                (!release || pd_frames_keep_text(pd, &release, pd->osrelease.n));
    spaa_status st = kept && f->edges ? sp_symbols_new(&symbols, pd->d, &f->symbols) : sp_nomem(pd->d);
    if (!st)
        st = sp_symbols_machine(f->symbols, host, release);
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
    sp_symbols_free(f->symbols);
    sp_vec_free(&f->dsos);
    sp_map_free(&f->dso_map);
    sp_vec_free(&f->places);
    sp_map_free(&f->place_map);
    sp_vec_free(&f->numbers);
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
    sp_symbols_report(f->symbols);
    for (size_t i = 0; i < f->dsos.n; i++)
        if (f->dsos.v[i].kind == DSO_UNMAPPED && f->dsos.v[i].fallback != SP_NONE &&
            !sp_profile_note(f->pd->p, f->dsos.v[i].fallback, SP_NOTE_NAMES, 1,
                             "nothing was mapped at these addresses", hint))
            return sp_nomem(f->pd->d);
    return sp_symbols_note(f->symbols, f->pd->p);
}

spaa_status sp_pd_frames_mapped(struct sp_pd_frames *f, const struct sp_pd_mmap *m)
{
    return sp_symbols_mapped(f->symbols, m->pid, m->path.p);
}

/* The symbolizer's module of a DSO, opened with its first address, which is asked for first as well. */
static spaa_status pd_frames_open_dso(struct sp_pd_frames *f, struct dso *d, uint64_t addr)
{
    struct sp_module_key key = {.path = d->path.p,
                                .build_id = d->build_id,
                                .pid = d->pid,
                                .kernel_text = f->kernel_text,
                                .kernel_ref = f->kernel_ref};
    d->opened = true;
    switch (d->kind) {
    case DSO_SPECIAL:
        if (!d->build_id || d->path.n != 6 || memcmp(d->path.p, "[vdso]", 6) != 0)
            return SPAA_OK;
        key.kind = SP_MODULE_FILE;
        break;
    case DSO_FILE:
        key.kind = SP_MODULE_FILE;
        key.pid = 0;
        break;
    case DSO_ANONYMOUS:
        if (!d->path.n) /* data: no code there */
            return SPAA_OK;
        key.kind = SP_MODULE_JIT;
        break;
    case DSO_UNMAPPED:
        key.kind = SP_MODULE_JIT;
        break;
    case DSO_KERNEL:
        key.kind = SP_MODULE_KERNEL;
        break;
    case DSO_MODULE:
        if (!f->dsos.v[f->kernel].opened) { /* its modules use what it uses */
            spaa_status failed = pd_frames_open_dso(f, &f->dsos.v[f->kernel], 0);
            if (failed)
                return failed;
        }
        key.kind = SP_MODULE_KMOD;
        key.path = sp_arena_dup(&f->pd->arena, d->path.p + 1, d->path.n - 2);
        if (!key.path)
            return sp_nomem(f->pd->d);
        break;
    default:
        return SPAA_OK;
    }
    spaa_status st = sp_symbols_module(f->symbols, &key, &d->module);
    uint64_t any;
    if (!st && d->kind == DSO_FILE)
        d->file_offsets = !sp_module_vaddr(d->module, addr, &any) && !sp_module_vaddr(d->module, 0, &any);
    return st;
}

void sp_pd_frames_clock(struct sp_pd_frames *f, const struct sp_recording_clock *clock)
{
    sp_symbols_clock(f->symbols, clock);
}

static struct dso pd_frames_anonymous_code(int32_t pid)
{
    return (struct dso){.kind = DSO_ANONYMOUS, .path = TEXT("//anon"), .name = "[anon]", .pid = pid};
}

spaa_status sp_pd_frames_jit(struct sp_pd_frames *f, int32_t pid, struct sp_module **out)
{
    struct dso d = pd_frames_anonymous_code(pid);
    uint32_t i = pd_frames_intern_dso(f, &d);
    spaa_status st = i == SP_NONE ? sp_nomem(f->pd->d) : SPAA_OK;
    if (!st && !f->dsos.v[i].opened)
        st = pd_frames_open_dso(f, &f->dsos.v[i], 0);
    *out = st ? NULL : f->dsos.v[i].module;
    return st;
}

/* The address that ips in a DSO of the kernel count from; 0: they are addresses as such. */
static uint64_t pd_frames_base_of(const struct sp_pd_frames *f, const struct dso *d)
{
    return d->kind == DSO_KERNEL || d->kind == DSO_PATCH ? f->kernel_text : d->base;
}

/* Where it stood, for who writes addresses and for who looks the names up later. */
static uint32_t pd_frames_kernel_members(struct sp_pd_frames *f, const struct dso *d)
{
    struct sp_buf *b = &f->text;
    sp_buf_clear(b);
    sp_buf_printf(b, "\"x_perf\":{\"base\":\"0x%llx\"", (unsigned long long)pd_frames_base_of(f, d));
    if (d->kind == DSO_MODULE)
        sp_buf_printf(b, ",\"text\":\"0x%llx\"", (unsigned long long)f->kernel_text);
    if (f->kernel_ref && d->kind != DSO_BPF)
        sp_buf_printf(b, ",\"symbol\":\"%s\"", f->kernel_ref);
    sp_buf_ch(b, '}');
    return b->failed ? SP_STR_FAIL : sp_profile_str(f->pd->p, b->data, b->len);
}

/*
 * That ips are offsets in the file, which was not there to say more. Where the code is in the file tells the
 * other tools that look names up which addresses these are.
 */
static uint32_t pd_frames_offset_members(struct sp_pd_frames *f, const struct dso *d)
{
    struct sp_buf *b = &f->text;
    sp_buf_clear(b);
    sp_buf_puts(b, "\"x_perf\":{\"ip\":\"file_offset\"");
    if (d->base)
        sp_buf_printf(b, ",\"base\":\"0x%llx\"", (unsigned long long)d->base);
    else if (d->size && !d->memfd)
        sp_buf_printf(b, ",\"map\":{\"offset\":\"0x%llx\",\"size\":\"0x%llx\"}",
                      (unsigned long long)d->offset, (unsigned long long)d->size);
    sp_buf_ch(b, '}');
    return b->failed ? SP_STR_FAIL : sp_profile_str(f->pd->p, b->data, b->len);
}

/* The profile's number for a DSO name. */
static uint32_t pd_frames_profile_dso(struct sp_pd_frames *f, const struct dso *d, const char *name)
{
    struct sp_profile *p = f->pd->p;
    struct sp_dso row = {.name = sp_profile_cstr(p, name), .is_kernel = d->is_kernel};
    const char *id = d->build_id;
    if (!id && d->kind == DSO_FILE && d->module)
        id = sp_module_build_id(d->module);
    if (id)
        row.build_id = sp_profile_cstr(p, id);
    if (d->is_kernel && pd_frames_base_of(f, d))
        row.extra_json = pd_frames_kernel_members(f, d);
    if (d->file_offsets)
        row.extra_json = pd_frames_offset_members(f, d);
    if (row.name == SP_STR_FAIL || row.build_id == SP_STR_FAIL || row.extra_json == SP_STR_FAIL)
        return SP_NONE;
    return sp_dso_intern(p, &row);
}

/* Fills in what granularity leaves of a frame and interns it; the place's list grows by it. */
static spaa_status pd_frames_add_frame(struct sp_pd_frames *f, struct sp_frame *row,
                                       const struct sp_resolved *r, uint32_t dso, bool caller)
{
    struct sp_profile *p = f->pd->p;
    enum sp_granularity keep = f->pd->opts->frames;
    struct sp_func_info info = {0};
    uint32_t name;
    if (r) {
        struct sp_str shown = sp_function_shown((struct sp_str){r->func, (uint32_t)strlen(r->func)});
        name = sp_profile_str(p, shown.p, shown.n);
        if (r->raw || shown.n < strlen(r->func))
            info.linkage = sp_profile_cstr(p, r->raw ? r->raw : r->func);
        row->symoff = r->symoff + caller;
        row->flags |= SP_FRAME_SYMOFF;
        row->inline_depth = r->inline_depth;
        if (r->inline_depth)
            row->flags |= SP_FRAME_INLINED;
        if (r->srcline && keep != SP_FRAMES_FUNCTION)
            row->srcline = sp_profile_cstr(p, r->srcline);
    } else {
        char hex[2 + 16] = "0x";
        name = sp_profile_str(p, hex, 2 + sp_hex_text(row->ip, hex + 2));
        row->flags |= SP_FRAME_UNRESOLVED;
    }
    if (keep == SP_FRAMES_LINE || keep == SP_FRAMES_FUNCTION) {
        row->ip = row->symoff = 0;
        row->flags &= (uint8_t) ~(SP_FRAME_IP | SP_FRAME_SYMOFF);
    }
    if (name == SP_STR_FAIL || row->srcline == SP_STR_FAIL || info.linkage == SP_STR_FAIL ||
        !sp_frame_set_function(p, row, name, dso, &info, keep))
        return sp_nomem(f->pd->d);
    uint32_t number = sp_frame_intern(p, row);
    if (number == SP_NONE || !sp_vec_push(&f->numbers, number))
        return sp_nomem(f->pd->d);
    return SPAA_OK;
}

/* What is looked up for an offset of a DSO, and what is recorded as its ip. */
static void pd_frames_addresses(const struct sp_pd_frames *f, const struct dso *d, uint64_t addr,
                                uint64_t *look, uint64_t *ip)
{
    *look = *ip = addr;
    if (d->kind == DSO_FILE && d->module && sp_module_vaddr(d->module, addr, ip))
        *look = *ip;
    if (d->is_kernel && addr >= pd_frames_base_of(f, d))
        *ip = addr - pd_frames_base_of(f, d);
}

static spaa_status pd_frames_resolve_place(struct sp_pd_frames *f, struct place *pl, uint8_t kind)
{
    struct dso *d = &f->dsos.v[pl->dso];
    spaa_status st = d->opened ? SPAA_OK : pd_frames_open_dso(f, d, pl->addr);
    if (st)
        return st;
    uint64_t look, ip;
    struct sp_resolved found[INLINE_MAX];
    size_t n = 0;
    pd_frames_addresses(f, d, pl->addr, &look, &ip);
    bool caller = pl->caller && look;
    if (d->kind == DSO_BPF || d->kind == DSO_PATCH) {
        found[0] = (struct sp_resolved){.func = d->path.p, .symoff = pl->addr - d->base - caller};
        n = 1;
    } else if (d->module && !d->file_offsets && (d->kind != DSO_UNMAPPED || sp_module_found(d->module))) {
        n = sp_module_resolve_code(d->module, pl->code, look - caller, found, INLINE_MAX);
    } else if (d->module && d->file_offsets) {
        sp_module_missed(d->module);
    }
    bool jit = d->kind == DSO_ANONYMOUS || d->kind == DSO_UNMAPPED;
    uint32_t *number = jit && !n ? &d->fallback : &d->number;
    if (*number == SP_NONE)
        *number = pd_frames_profile_dso(f, d, jit && n ? "[jit]" : d->name ? d->name : d->path.p);
    if (*number == SP_NONE)
        return sp_nomem(f->pd->d);
    uint32_t dso = *number;
    pl->first = (uint32_t)f->numbers.n;
    for (size_t i = 0; !st && i < (n ? n : 1); i++) {
        struct sp_frame row = {.ip = ip, .kind = kind, .flags = SP_FRAME_IP};
        st = pd_frames_add_frame(f, &row, n ? &found[i] : NULL, dso, caller);
    }
    pl->n = (uint32_t)f->numbers.n - pl->first;
    for (uint32_t i = 0; !st && i < pl->n && kind == SP_USER && !pl->entry; i++) {
        const struct sp_function *function = sp_frame_function(f->pd->p, f->numbers.v[pl->first + i]);
        pl->entry = sp_is_entry(sp_pstr(f->pd->p, function->name), SP_SIDE_USER);
    }
    return st;
}

/* The place of an address in a DSO, resolved once. */
static spaa_status pd_frames_code_at(struct sp_pd_frames *f, uint32_t dso, uint32_t code, uint64_t addr,
                                     bool caller, uint8_t kind, struct sp_pd_frame_list *out)
{
    uint64_t hash = sp_hash_mix(addr, (uint64_t)dso << 1 | caller) + code;
    struct sp_probe at = sp_map_probe(&f->place_map, hash);
    const struct place *pl = NULL;
    for (uint32_t i; !pl && (i = sp_map_next(&f->place_map, &at)) != SP_MAP_NONE;)
        if (f->places.v[i].addr == addr && f->places.v[i].dso == dso && f->places.v[i].code == code &&
            f->places.v[i].caller == caller)
            pl = &f->places.v[i];
    if (!pl) {
        struct place fresh = {.addr = addr,
                              .dso = dso,
                              .code = code,
                              .caller = caller,
                              .function = NOT_ASKED,
                              .call = NOT_ASKED};
        spaa_status st = pd_frames_resolve_place(f, &fresh, kind);
        if (st)
            return st;
        if (f->places.n >= SP_NONE - 1 || !sp_vec_push(&f->places, fresh) ||
            !sp_map_add(&f->place_map, hash, (uint32_t)f->places.n - 1))
            return sp_nomem(f->pd->d);
        pl = &f->places.v[f->places.n - 1];
    }
    f->last = (uint32_t)(pl - f->places.v);
    if (!sp_vec_reserve(out, out->n + pl->n))
        return sp_nomem(f->pd->d);
    memcpy(out->v + out->n, f->numbers.v + pl->first, pl->n * sizeof *out->v);
    out->n += pl->n;
    return SPAA_OK;
}

static spaa_status pd_frames_place_at(struct sp_pd_frames *f, uint32_t dso, uint64_t addr, bool caller,
                                      uint8_t kind, struct sp_pd_frame_list *out)
{
    return pd_frames_code_at(f, dso, SP_MODULE_LATEST, addr, caller, kind, out);
}

/* Where a process may have written code: what stood there then. */
static spaa_status pd_frames_jit_place(struct sp_pd_frames *f, uint32_t dso, uint64_t time, uint64_t addr,
                                       bool caller, uint8_t kind, struct sp_pd_frame_list *out)
{
    struct dso *d = &f->dsos.v[dso];
    spaa_status st = d->opened ? SPAA_OK : pd_frames_open_dso(f, d, addr);
    if (st)
        return st;
    uint32_t code = d->module ? sp_module_code(d->module, addr - (caller && addr), time) : SP_MODULE_LATEST;
    return pd_frames_code_at(f, dso, code, addr, caller, kind, out);
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
    struct dso d = {.kind = DSO_UNMAPPED, .path = TEXT(""), .name = "[unknown]", .pid = scene->pid};
    uint32_t dso = pd_frames_intern_dso(f, &d);
    return dso == SP_NONE ? sp_nomem(f->pd->d)
                          : pd_frames_jit_place(f, dso, scene->time, addr, caller, kind, out);
}

/* What the process wrote into a memfd itself, and says so, is no file's: *dso becomes that of such code. */
static spaa_status pd_frames_memfd_code(struct sp_pd_frames *f, uint32_t *dso, uint64_t addr)
{
    struct sp_module *m;
    int32_t pid = f->dsos.v[*dso].pid;
    if (!f->dsos.v[*dso].memfd)
        return SPAA_OK;
    spaa_status st = sp_pd_frames_jit(f, pid, &m);
    if (st || !m || !sp_module_covers(m, addr))
        return st;
    struct dso jit = pd_frames_anonymous_code(pid);
    *dso = pd_frames_intern_dso(f, &jit);
    return *dso == SP_NONE ? sp_nomem(f->pd->d) : SPAA_OK;
}

static spaa_status pd_frames_user_place(struct sp_pd_frames *f, const struct sp_pd_scene *scene,
                                        uint64_t addr, bool caller, uint8_t kind,
                                        struct sp_pd_frame_list *out)
{
    const struct sp_pd_map *m = scene->maps ? sp_pd_maps_find(scene->maps, addr - (caller && addr)) : NULL;
    if (!m)
        return pd_frames_unmapped_place(f, scene, addr, caller, kind, out);
    uint32_t dso = m->dso;
    spaa_status st = pd_frames_memfd_code(f, &dso, addr - (caller && addr));
    if (st)
        return st;
    if (f->dsos.v[dso].kind == DSO_ANONYMOUS)
        return pd_frames_jit_place(f, dso, scene->time, addr, caller, kind, out);
    return pd_frames_place_at(f, m->dso, addr - m->start + m->pgoff, caller, kind, out);
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
static struct sp_edge_side pd_frames_linked(const struct sp_pd_frames *f, const struct place *pl)
{
    const struct dso *d = &f->dsos.v[pl->dso];
    uint64_t look, ip;
    pd_frames_addresses(f, d, pl->addr, &look, &ip);
    return (struct sp_edge_side){d->kind == DSO_FILE && !d->file_offsets ? d->module : NULL, ip};
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
        struct dso *d = &f->dsos.v[number];
        if (d->kind != DSO_FILE || number == before)
            continue;
        before = number;
        spaa_status st = d->opened ? SPAA_OK : pd_frames_open_dso(f, d, scene->maps->list.v[i].pgoff);
        if (st)
            return st;
        *complete = *complete && d->module && sp_module_file(d->module);
        bool seen = !d->module;
        for (size_t k = 0; k < f->scene.n && !seen; k++)
            seen = f->scene.v[k] == d->module;
        if (!seen && !sp_vec_push(&f->scene, d->module))
            return sp_nomem(f->pd->d);
    }
    return SPAA_OK;
}

/* The frame of a function that is proven to be there. */
static spaa_status pd_frames_missing_frame(struct sp_pd_frames *f, const struct sp_edge_side *target,
                                           uint32_t *out)
{
    uint32_t dso = SP_NONE;
    for (size_t i = 0; i < f->dsos.n && dso == SP_NONE; i++) {
        struct dso *d = &f->dsos.v[i];
        if (d->module != target->module || d->kind != DSO_FILE)
            continue;
        if (d->number == SP_NONE)
            d->number = pd_frames_profile_dso(f, d, d->name ? d->name : d->path.p);
        dso = d->number;
    }
    *out = sp_edges_target(f->pd->p, target, dso);
    return *out == SP_NONE ? sp_nomem(f->pd->d) : SPAA_OK;
}

/* An address that lies within the instruction that was executed. */
static struct sp_edge_side pd_frames_executed(const struct sp_pd_frames *f, const struct place *pl)
{
    struct sp_edge_side side = pd_frames_linked(f, pl);
    side.addr -= pl->caller && side.addr;
    return side;
}

static spaa_status pd_frames_judge(struct sp_pd_frames *f, const struct sp_pd_scene *scene, struct call *c,
                                   const struct place *callee)
{
    struct sp_judgement j;
    bool complete;
    spaa_status st = pd_frames_gather_scene(f, scene, &complete);
    if (st)
        return st;
    struct sp_edge_side from = pd_frames_linked(f, &f->places.v[c->caller]),
                        to = pd_frames_executed(f, callee);
    const struct sp_edge_scene all = {f->scene.v, f->scene.n, complete};
    st = sp_edges_judge(f->edges, &from, &to, &all, &j);
    c->pid = scene->pid;
    c->verdict = (uint8_t)j.verdict;
    c->by_scene = j.by_scene;
    c->below = j.below;
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
    spaa_status st = pd_frames_judge(f, scene, &fresh, to);
    if (st)
        return st;
    from->call = (uint32_t)f->calls.n;
    return f->calls.n < NO_CALL && sp_vec_push(&f->calls, fresh) &&
                   sp_map_add_at(&f->call_map, &at, from->call)
               ? SPAA_OK
               : sp_nomem(f->pd->d);
}

/* The caller may have called anything; but is it this frame's caller at all? */
static spaa_status pd_frames_skipped(struct sp_pd_frames *f, struct place *callee, size_t at,
                                     struct sp_pd_edge_list *out)
{
    if (callee->skips == SKIPS_NOT_ASKED) {
        struct sp_edge_side side = pd_frames_executed(f, callee);
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
        struct sp_edge_side side = pd_frames_linked(f, from);
        from->call = side.module && sp_edges_tells(f->edges, &side) ? NO_CALL : SP_NONE;
    }
    if (from->call == SP_NONE)
        return by_pointers ? pd_frames_skipped(f, to, at, out) : SPAA_OK;
    if (to->function == NOT_ASKED) {
        struct sp_edge_side side = pd_frames_executed(f, to);
        to->function = sp_edges_function(f->edges, &side);
        if (to->function == SP_NONE) /* it stands for itself */
            to->function = callee | OF_PLACE;
    }
    if (from->call == NO_CALL || !pd_frames_holds(&f->calls.v[from->call], caller, to->function, scene->pid))
        st = pd_frames_find_call(f, scene, callee, caller);
    if (st)
        return st;
    const struct call *c = &f->calls.v[from->call];
    if (c->verdict == SP_EDGE_IMPOSSIBLE || c->below)
        st = pd_frames_put_edge(f, out, at, SP_EDGE_BROKEN, SP_NONE);
    if (!st && c->verdict == SP_EDGE_MISSING)
        st = pd_frames_put_edge(f, out, at, SP_EDGE_INFERRED, c->frame);
    return st;
}

spaa_status sp_pd_frames_truncated(struct sp_pd_frames *f, struct sp_pd_frame_list *out)
{
    struct sp_profile *p = f->pd->p;
    struct sp_dso dso = {.name = sp_profile_cstr(p, "[unknown]")};
    uint32_t name = sp_profile_cstr(p, "[truncated]");
    if (dso.name == SP_STR_FAIL || name == SP_STR_FAIL)
        return sp_nomem(f->pd->d);
    uint32_t number = sp_dso_intern(p, &dso);
    struct sp_frame row = {.kind = SP_USER};
    row.function = number == SP_NONE ? SP_NONE : sp_function_intern(p, name, number);
    uint32_t frame = row.function == SP_NONE ? SP_NONE : sp_frame_intern(p, &row);
    return frame != SP_NONE && sp_vec_push(out, frame) ? SPAA_OK : sp_nomem(f->pd->d);
}

struct sp_pd_dso_file sp_pd_frames_file(const struct sp_pd_frames *f, uint32_t dso)
{
    const struct dso *d = &f->dsos.v[dso];
    return (struct sp_pd_dso_file){.name = d->name ? d->name : d->path.p,
                                   .path = d->path.p,
                                   .build_id = d->build_id,
                                   .file = d->kind == DSO_FILE || d->kind == DSO_SPECIAL,
                                   .anonymous = d->kind == DSO_ANONYMOUS};
}

size_t sp_pd_frames_dsos(const struct sp_pd_frames *f)
{
    return f->dsos.n;
}
