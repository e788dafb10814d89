/*
 * Objects of code are kept by content, places by object, address and kind of address; what stands at a place
 * is a slice of `numbers`.
 */
#include "symbols/bind.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/identity.h"
#include "symbols/symbolize.h"
#include "json/json.h"

#include <stdlib.h>

#define KNOWN 16384u /* a power of two */

struct object {
    struct sp_object is;
    bool opened;
    bool still; /* FILE: addresses stay offsets in the file, for want of it */
    struct sp_module *module;
    uint32_t dso, jit; /* in the profile; jit: [jit] */
};

struct bound {
    struct sp_place at;
    uint32_t first, n; /* slice of numbers */
};

#define INLINED_LEAST ((uint64_t)1 << 18)
#define INLINED_EACH  16u /* of an address, on average */

struct sp_binder {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_symbols *symbols;
    enum sp_granularity keep;
    bool no_symbols;
    struct sp_arena arena;
    SP_VEC(struct object) objects;
    struct sp_map object_map;
    uint32_t kernel; /* the first object of its kind; SP_NONE: none */
    SP_VEC(struct bound) places;
    struct sp_map place_map;
    struct sp_numbers numbers;
    uint64_t named, inlined; /* addresses, and frames that are inlined there */
    bool cut;                /* some of these were left out */
    struct sp_buf text;
    struct {
        const char *text;
        uint32_t id;
    } known[KNOWN]; /* texts of the symbolizer put into the profile lately, by where they stand */
};

spaa_status sp_binder_new(struct sp_profile *p, const struct sp_symbol_opts *opts, enum sp_granularity keep,
                          struct sp_diags *d, struct sp_binder **out)
{
    struct sp_binder *b = calloc(1, sizeof *b);
    struct sp_symbol_opts how = *opts;
    if (!b)
        return sp_nomem(d);
    b->p = p;
    b->d = d;
    b->keep = keep;
    b->no_symbols = opts->no_symbols;
    b->kernel = SP_NONE;
    sp_arena_init(&b->arena, 0);
    sp_buf_init(&b->text, 0);
    how.no_lines |= keep == SP_FRAMES_FUNCTION;
    spaa_status st = sp_symbols_new(&how, d, &b->symbols);
    if (st) {
        sp_binder_free(b);
        return st;
    }
    sp_symbols_recorded(b->symbols, p->written);
    *out = b;
    return SPAA_OK;
}

void sp_binder_free(struct sp_binder *b)
{
    if (!b)
        return;
    sp_symbols_free(b->symbols);
    sp_vec_free(&b->objects);
    sp_map_free(&b->object_map);
    sp_vec_free(&b->places);
    sp_map_free(&b->place_map);
    sp_vec_free(&b->numbers);
    sp_buf_free(&b->text);
    sp_arena_free(&b->arena);
    free(b);
}

struct sp_symbols *sp_binder_symbols(const struct sp_binder *b)
{
    return b->symbols;
}

/* ---- objects ---- */

static uint64_t object_hash(const struct sp_object *o)
{
    uint64_t h = sp_hash_mix(sp_hash_key(o->path.p, o->path.n), (uint64_t)o->kind << 32 | o->origin);
    h = sp_hash_mix(h ^ o->place.base ^ o->start, (uint64_t)o->pid);
    return sp_hash_mix(h, o->build_id.n ? sp_hash_key(o->build_id.p, o->build_id.n) : 0);
}

static bool object_text_equals(struct sp_str a, struct sp_str b)
{
    return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

static bool object_equals(const struct sp_object *a, const struct sp_object *b)
{
    return a->kind == b->kind && a->is_kernel == b->is_kernel && a->memfd == b->memfd && a->pid == b->pid &&
           a->kernel_text == b->kernel_text && a->start == b->start && a->place.base == b->place.base &&
           a->place.text == b->place.text && a->place.ips == b->place.ips &&
           a->place.symbol == b->place.symbol && a->doubtful == b->doubtful && a->replaced == b->replaced &&
           a->extra_json == b->extra_json && a->origin == b->origin && object_text_equals(a->path, b->path) &&
           object_text_equals(a->name, b->name) && object_text_equals(a->build_id, b->build_id);
}

static bool object_keep_text(struct sp_binder *b, struct sp_str *s)
{
    s->p = sp_arena_dup(&b->arena, s->n ? s->p : "", s->n);
    return s->p;
}

uint32_t sp_binder_object(struct sp_binder *b, const struct sp_object *o)
{
    uint64_t hash = object_hash(o);
    struct sp_probe at = sp_map_probe(&b->object_map, hash);
    for (uint32_t i; (i = sp_map_next(&b->object_map, &at)) != SP_MAP_NONE;)
        if (object_equals(&b->objects.v[i].is, o))
            return i;
    struct object fresh = {.is = *o, .dso = SP_NONE, .jit = SP_NONE};
    uint32_t number = (uint32_t)b->objects.n;
    if (b->objects.n >= SP_NONE - 1 || !object_keep_text(b, &fresh.is.path) ||
        !object_keep_text(b, &fresh.is.name) || !object_keep_text(b, &fresh.is.build_id) ||
        !sp_vec_push(&b->objects, fresh) || !sp_map_add_at(&b->object_map, &at, number))
        return SP_NONE;
    if (o->kind == SP_OBJECT_KERNEL && b->kernel == SP_NONE)
        b->kernel = number;
    return number;
}

const struct sp_object *sp_binder_object_at(const struct sp_binder *b, uint32_t object)
{
    return &b->objects.v[object].is;
}

size_t sp_binder_objects(const struct sp_binder *b)
{
    return b->objects.n;
}

void sp_binder_mapped(struct sp_binder *b, uint32_t object, uint64_t offset, uint64_t size)
{
    struct sp_dso_place *at = &b->objects.v[object].is.place;
    if (!at->map_size || offset < at->map_offset || (offset == at->map_offset && size > at->map_size)) {
        at->map_offset = offset;
        at->map_size = size;
    }
}

uint32_t sp_binder_written(struct sp_binder *b, int64_t pid)
{
    return sp_binder_object(b, &(struct sp_object){.kind = SP_OBJECT_ANONYMOUS, .pid = pid});
}

spaa_status sp_binder_memfd(struct sp_binder *b, uint32_t *object, uint64_t addr)
{
    const struct sp_object *o = &b->objects.v[*object].is;
    struct sp_module *m = NULL;
    if (!o->memfd || o->pid <= 0)
        return SPAA_OK;
    uint32_t code = sp_binder_written(b, o->pid);
    spaa_status st = code == SP_NONE ? sp_nomem(b->d) : sp_binder_module(b, code, 0, &m);
    if (!st && m && sp_module_covers(m, addr))
        *object = code;
    return st;
}

/* ---- modules ---- */

static bool is_memory(enum sp_object_kind kind)
{
    return kind == SP_OBJECT_ANONYMOUS || kind == SP_OBJECT_UNMAPPED;
}

/* Whose module it is; false: nobody's. */
static bool module_key(struct sp_binder *b, const struct sp_object *o, struct sp_module_key *key)
{
    static const char *const refs[] = {NULL, "_text", "_stext"};
    *key = (struct sp_module_key){.path = o->path.p,
                                  .build_id = o->build_id.n ? o->build_id.p : NULL,
                                  .kernel_text = o->kernel_text,
                                  .kernel_ref = refs[o->place.symbol]};
    switch (o->kind) {
    case SP_OBJECT_FILE:
        key->kind = SP_MODULE_FILE;
        key->doubtful = o->doubtful;
        key->replaced = o->replaced;
        return true;
    case SP_OBJECT_SPECIAL:
        key->kind = SP_MODULE_FILE;
        return o->build_id.n && sp_str_is(o->path, "[vdso]");
    case SP_OBJECT_ANONYMOUS:
    case SP_OBJECT_UNMAPPED:
        key->kind = SP_MODULE_JIT;
        key->path = o->kind == SP_OBJECT_ANONYMOUS ? "//anon" : "";
        key->pid = o->pid;
        return o->pid > 0;
    case SP_OBJECT_KERNEL:
        key->kind = SP_MODULE_KERNEL;
        return true;
    case SP_OBJECT_KMOD:
        key->kind = SP_MODULE_KMOD;
        if (o->path.n > 2 && o->path.p[0] == '[')
            key->path = sp_arena_dup(&b->arena, o->path.p + 1, o->path.n - 2);
        return true;
    default:
        return false;
    }
}

static spaa_status module_open(struct sp_binder *b, uint32_t number, uint64_t addr)
{
    struct sp_module_key key;
    struct sp_module *kernel;
    struct object *o = &b->objects.v[number];
    uint64_t any;
    o->opened = true;
    if (!module_key(b, &o->is, &key))
        return SPAA_OK;
    if (!key.path)
        return sp_nomem(b->d);
    spaa_status st = SPAA_OK;
    if (o->is.kind == SP_OBJECT_KMOD && b->kernel != SP_NONE) /* it uses what its kernel uses */
        st = sp_binder_module(b, b->kernel, 0, &kernel);
    if (!st)
        st = sp_symbols_module(b->symbols, &key, &o->module);
    if (!st && o->is.kind == SP_OBJECT_FILE && o->is.place.ips == SP_DSO_FILE_OFFSET)
        o->still = !sp_module_vaddr(o->module, addr, &any) && !sp_module_vaddr(o->module, 0, &any);
    return st;
}

spaa_status sp_binder_module(struct sp_binder *b, uint32_t object, uint64_t addr, struct sp_module **out)
{
    spaa_status st = b->objects.v[object].opened ? SPAA_OK : module_open(b, object, addr);
    *out = b->objects.v[object].module;
    return st;
}

bool sp_binder_is_of(const struct sp_binder *b, uint32_t object, const struct sp_module *m)
{
    return b->objects.v[object].is.kind == SP_OBJECT_FILE && b->objects.v[object].module == m;
}

/* ---- DSOs ---- */

static const char *dso_name(const struct sp_object *o)
{
    if (o->name.n)
        return o->name.p;
    switch (o->kind) {
    case SP_OBJECT_ANONYMOUS:
        return "[anon]";
    case SP_OBJECT_UNMAPPED:
        return "[unknown]";
    case SP_OBJECT_KERNEL:
    case SP_OBJECT_PATCH:
        return "[kernel]";
    case SP_OBJECT_BPF:
        return "[bpf]";
    default:
        return o->path.p;
    }
}

/* What is worth telling of where it stood, now that it is known whether the file was found. */
static struct sp_dso_place dso_place(const struct sp_binder *b, const struct object *o)
{
    struct sp_dso_place at = o->is.place;
    if (o->is.kind != SP_OBJECT_FILE)
        return o->is.is_kernel && !at.base ? (struct sp_dso_place){0} : at;
    if (o->opened && !o->still)
        return (struct sp_dso_place){0};
    if (!b->no_symbols) /* of a memfd, for who looks later whether it is just-in-time code */
        at.base = 0;
    if (at.base || o->is.memfd || !at.map_size)
        at.map_offset = at.map_size = 0;
    return at;
}

/* One that was replaced stays so for who looks later, unless it was found elsewhere. */
static bool dso_is_doubtful(const struct object *o, const struct sp_module *file)
{
    return o->is.doubtful || (file && sp_module_is_doubtful(file)) ||
           (o->is.replaced && !(file && sp_module_found(file)));
}

static uint32_t dso_make(struct sp_binder *b, const struct object *o, const char *name)
{
    const struct sp_module *file = o->is.kind == SP_OBJECT_FILE ? o->module : NULL;
    bool doubtful = dso_is_doubtful(o, file);
    const char *id = o->is.build_id.n    ? o->is.build_id.p
                     : file && !doubtful ? sp_module_build_id(file)
                                         : NULL;
    struct sp_dso row = {.name = sp_profile_cstr(b->p, name),
                         .is_kernel = o->is.is_kernel,
                         .doubtful = doubtful,
                         .extra_json = o->is.extra_json,
                         .place = dso_place(b, o)};
    if (id)
        row.build_id = sp_profile_cstr(b->p, id);
    return row.name == SP_STR_FAIL || row.build_id == SP_STR_FAIL ? SP_NONE : sp_dso_intern(b->p, &row);
}

uint32_t sp_binder_dso(struct sp_binder *b, uint32_t object)
{
    struct object *o = &b->objects.v[object];
    if (o->dso == SP_NONE)
        o->dso = dso_make(b, o, dso_name(&o->is));
    return o->dso;
}

uint32_t sp_binder_dso_made(const struct sp_binder *b, uint32_t object)
{
    return b->objects.v[object].dso;
}

/* That of frames at places with a name, or without. */
static uint32_t dso_of(struct sp_binder *b, uint32_t object, bool named)
{
    struct object *o = &b->objects.v[object];
    if (!named || !is_memory(o->is.kind))
        return sp_binder_dso(b, object);
    if (o->jit == SP_NONE) {
        struct sp_dso row = {.name = sp_profile_cstr(b->p, "[jit]")};
        o->jit = row.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(b->p, &row);
    }
    return o->jit;
}

/* ---- names ---- */

/* What of the address of a place comes before it if it was returned to. */
static uint64_t place_back(const struct sp_place *place)
{
    return place->is_return && place->addr;
}

/* Where ips of the kernel's objects count from. */
static uint64_t object_base(const struct sp_object *o)
{
    return o->kind == SP_OBJECT_KERNEL || o->kind == SP_OBJECT_PATCH ? o->kernel_text : o->place.base;
}

/* The ip of a place, and the address to look up. */
static uint64_t place_ip(const struct object *o, const struct sp_place *place, uint64_t *look)
{
    uint64_t back = place_back(place), ip = place->addr, linked;
    bool offsets = o->is.kind == SP_OBJECT_FILE && o->is.place.ips == SP_DSO_FILE_OFFSET;
    if (offsets && o->module && sp_module_vaddr(o->module, place->addr - back, &linked))
        ip = linked + back;
    *look = ip - back;
    if (o->is.is_kernel && ip >= object_base(&o->is))
        ip -= object_base(&o->is);
    return ip;
}

struct sp_module *sp_binder_linked(const struct sp_binder *b, const struct sp_place *place, uint64_t *ip)
{
    const struct object *o = &b->objects.v[place->object];
    uint64_t look;
    *ip = place_ip(o, place, &look);
    return o->is.kind == SP_OBJECT_FILE && !o->still ? o->module : NULL;
}

spaa_status sp_binder_prepare(struct sp_binder *b, const struct sp_place *places, size_t n, unsigned jobs)
{
    struct sp_module *m;
    if (!n)
        return SPAA_OK;
    spaa_status st = sp_binder_module(b, places[0].object, places[0].addr, &m);
    const struct object *o = &b->objects.v[places[0].object];
    if (st || !m || o->still || o->is.kind != SP_OBJECT_FILE)
        return st;
    uint64_t *look = malloc(n * sizeof *look);
    if (!look)
        return sp_nomem(b->d);
    for (size_t i = 0; i < n; i++)
        place_ip(o, &places[i], &look[i]);
    sp_module_prepare(m, look, n, jobs);
    free(look);
    return SPAA_OK;
}

spaa_status sp_binder_name(struct sp_binder *b, const struct sp_place *place, struct sp_named *out)
{
    struct sp_module *m;
    uint64_t look, start, end;
    spaa_status st = sp_binder_module(b, place->object, place->addr, &m);
    const struct object *o = &b->objects.v[place->object];
    if (st)
        return st;
    out->n = 0;
    out->has_start = false;
    out->name = SP_STR_NONE;
    out->ip = place_ip(o, place, &look);
    out->moved = out->ip - look - place_back(place);
    if (o->is.kind == SP_OBJECT_BPF || o->is.kind == SP_OBJECT_PATCH) {
        out->frames[0] = (struct sp_resolved){.func = o->is.path.p, .symoff = look - o->is.start};
        out->n = 1;
    } else if (m && o->still) {
        sp_module_missed(m);
    } else if (m && (o->is.kind != SP_OBJECT_UNMAPPED || sp_module_found(m))) {
        out->n = sp_module_resolve_code(m, place->code, look, out->frames, SP_NAMED_MAX);
        out->has_start = !out->n && o->is.kind == SP_OBJECT_FILE && sp_module_unnamed(m, look, &start, &end);
        out->start = out->has_start ? start + out->moved : 0;
    }
    return SPAA_OK;
}

/* ---- frames ---- */

uint32_t sp_unknown_dso(struct sp_profile *p)
{
    struct sp_dso row = {.name = sp_profile_cstr(p, "[unknown]")};
    return row.name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(p, &row);
}

uint32_t sp_unnamed(struct sp_profile *p, uint64_t ip)
{
    char hex[2 + 16] = "0x";
    return sp_profile_str(p, hex, 2 + sp_hex_text(ip, hex + 2));
}

uint32_t sp_unnamed_function(struct sp_profile *p, uint32_t dso, uint64_t start)
{
    struct sp_str file = sp_base_name(sp_pstr(p, p->dsos.v[dso].name));
    struct sp_buf b;
    char hex[16];
    sp_buf_init(&b, 64 << 10);
    sp_buf_add(&b, file.p, file.n);
    sp_buf_puts(&b, "+0x");
    sp_buf_add(&b, hex, sp_hex_text(start, hex));
    uint32_t name = b.failed ? SP_STR_FAIL : sp_profile_str(p, b.data, b.len);
    sp_buf_free(&b);
    return name;
}

/* A frame cut to what is kept of frames. */
static uint32_t bind_kept_frame(struct sp_profile *p, enum sp_granularity keep, const struct sp_frame *frame,
                                uint32_t name, uint32_t dso)
{
    struct sp_frame row = *frame;
    if (name == SP_STR_FAIL || dso == SP_NONE || row.srcline == SP_STR_FAIL ||
        row.extra_json == SP_STR_FAIL || row.info == SP_NONE)
        return SP_NONE;
    struct sp_func_info info = row.info ? p->func_infos.v[row.info - 1] : (struct sp_func_info){0};
    if (keep == SP_FRAMES_LINE || keep == SP_FRAMES_FUNCTION) {
        row.ip = row.symoff = 0;
        row.flags &= (uint8_t) ~(SP_FRAME_IP | SP_FRAME_SYMOFF);
    }
    if (keep == SP_FRAMES_FUNCTION)
        row.srcline = SP_STR_NONE;
    if (keep >= SP_FRAMES_LINE && info.linkage) { /* whatever part it is: the start is the function's */
        struct sp_str whole = sp_linkage_whole(sp_pstr(p, info.linkage));
        info.linkage = sp_profile_str(p, whole.p, whole.n);
        if (info.linkage == SP_STR_FAIL)
            return SP_NONE;
    }
    bool ok = sp_frame_set_function(p, &row, name, dso, &info, keep);
    return ok ? sp_frame_intern(p, &row) : SP_NONE;
}

uint32_t sp_binder_frame(struct sp_binder *b, const struct sp_frame *frame, uint32_t name, uint32_t dso)
{
    return bind_kept_frame(b->p, b->keep, frame, name, dso);
}

/* A text of the symbolizer in the profile, as it is or as functions are shown. */
static uint32_t text_in(struct sp_binder *b, const char *text, bool shown)
{
    size_t slot = sp_hash_mix((uintptr_t)text, shown) & (KNOWN - 1);
    if (b->known[slot].text == text + shown)
        return b->known[slot].id;
    struct sp_str s = {text, (uint32_t)strlen(text)};
    s = shown ? sp_function_shown(s) : s;
    uint32_t id = sp_profile_str(b->p, s.p, s.n);
    b->known[slot].text = text + shown; /* texts are longer than a byte */
    b->known[slot].id = id;
    return id;
}

static uint32_t info_text(struct sp_profile *p, struct sp_binder *b, const char *text)
{
    return !text ? SP_STR_NONE : b ? text_in(b, text, false) : sp_profile_cstr(p, text);
}

/* The number of what is known of a function; SP_NONE: out of memory. b: which knows texts again, or NULL. */
static uint32_t info_of(struct sp_profile *p, struct sp_binder *b, const struct sp_resolved *r,
                        uint64_t moved)
{
    struct sp_func_info info = {.line = r->line,
                                .linkage = info_text(p, b, r->linkage),
                                .file = info_text(p, b, r->file),
                                .flags = r->local ? SP_FUNC_LOCAL : 0};
    if (r->has_start) {
        info.start = r->start + moved;
        info.flags |= SP_FUNC_START;
    }
    if (info.linkage == SP_STR_FAIL || info.file == SP_STR_FAIL)
        return SP_NONE;
    return sp_func_info_intern(p, &info);
}

uint32_t sp_bind_function(struct sp_profile *p, const struct sp_resolved *r, uint32_t dso,
                          const struct sp_frame *frame, enum sp_granularity keep)
{
    struct sp_str shown = sp_function_shown((struct sp_str){r->func, (uint32_t)strlen(r->func)});
    struct sp_frame row = *frame;
    row.info = info_of(p, NULL, r, 0);
    return bind_kept_frame(p, keep, &row, sp_profile_str(p, shown.p, shown.n), dso);
}

static bool put_named(struct sp_binder *b, const struct sp_place *place, const struct sp_named *named,
                      size_t i, uint32_t extra_json, struct sp_numbers *out)
{
    const struct sp_resolved *r = &named->frames[i];
    struct sp_frame row = {.ip = named->ip,
                           .symoff = r->symoff + place_back(place),
                           .inline_depth = r->inline_depth,
                           .kind = place->kind,
                           .extra_json = extra_json,
                           .flags = SP_FRAME_IP | SP_FRAME_SYMOFF,
                           .info = info_of(b->p, b, r, named->moved)};
    if (r->inline_depth)
        row.flags |= SP_FRAME_INLINED;
    if (r->srcline)
        row.srcline = text_in(b, r->srcline, false);
    bool keeps = named->name != SP_STR_NONE && i + 1 == named->n;
    uint32_t name = keeps ? named->name : text_in(b, r->func, true);
    uint32_t n = sp_binder_frame(b, &row, name, dso_of(b, place->object, true));
    return n != SP_NONE && sp_vec_push(out, n);
}

/*
 * Whether what is inlined at one more address is taken. Debug information of a few hundred bytes can say of
 * every address that 63 functions are inlined there, which real code has in few places.
 */
static bool bind_takes_inlined(struct sp_binder *b, size_t inlined)
{
    if (!b->cut && b->inlined + inlined > INLINED_LEAST + INLINED_EACH * b->named) {
        sp_emit(b->d, SP_L300, SP_AT_NOTHING,
                "more than %llu inlined functions at %llu addresses: those of further ones are left out",
                (unsigned long long)b->inlined, (unsigned long long)b->named);
        b->cut = true;
    }
    b->named++;
    b->inlined += b->cut ? 0 : inlined;
    return !b->cut;
}

spaa_status sp_binder_put(struct sp_binder *b, const struct sp_place *place, const struct sp_named *named,
                          uint32_t extra_json, struct sp_numbers *out)
{
    bool ok = true;
    size_t inlined = named->n ? named->n - 1 : 0;
    for (size_t i = bind_takes_inlined(b, inlined) ? 0 : inlined; ok && i < named->n; i++)
        ok = put_named(b, place, named, i, extra_json, out);
    if (!named->n) {
        struct sp_frame row = {.ip = named->ip,
                               .kind = place->kind,
                               .extra_json = extra_json,
                               .flags = SP_FRAME_IP | SP_FRAME_UNRESOLVED};
        uint32_t dso = dso_of(b, place->object, false), name = SP_STR_FAIL;
        if (named->has_start && dso != SP_NONE) {
            row.flags |= SP_FRAME_SYMOFF;
            row.symoff = named->ip - named->start;
            name = sp_unnamed_function(b->p, dso, named->start);
        } else {
            name = sp_unnamed(b->p, named->ip);
        }
        uint32_t n = sp_binder_frame(b, &row, name, dso);
        ok = n != SP_NONE && sp_vec_push(out, n);
    }
    return ok ? SPAA_OK : sp_nomem(b->d);
}

/* ---- places ---- */

static bool place_equals(const struct sp_place *a, const struct sp_place *b)
{
    return a->addr == b->addr && a->object == b->object && a->code == b->code &&
           a->is_return == b->is_return && a->kind == b->kind;
}

spaa_status sp_bind(struct sp_binder *b, const struct sp_place *place, uint32_t *out)
{
    uint64_t hash = sp_hash_mix(place->addr, (uint64_t)place->object << 1 | place->is_return) + place->code;
    struct sp_probe at = sp_map_probe(&b->place_map, hash);
    for (uint32_t i; (i = sp_map_next(&b->place_map, &at)) != SP_MAP_NONE;)
        if (place_equals(&b->places.v[i].at, place)) {
            *out = i;
            return SPAA_OK;
        }
    struct bound fresh = {.at = *place, .first = (uint32_t)b->numbers.n};
    struct sp_named named;
    spaa_status st = sp_binder_name(b, place, &named);
    if (!st)
        st = sp_binder_put(b, place, &named, SP_STR_NONE, &b->numbers);
    if (st)
        return st;
    fresh.n = (uint32_t)(b->numbers.n - fresh.first);
    *out = (uint32_t)b->places.n;
    return b->places.n < SP_NONE - 1 && b->numbers.n < SP_NONE && sp_vec_push(&b->places, fresh) &&
                   sp_map_add_at(&b->place_map, &at, *out)
               ? SPAA_OK
               : sp_nomem(b->d);
}

const uint32_t *sp_binder_frames(const struct sp_binder *b, uint32_t place, size_t *n)
{
    *n = b->places.v[place].n;
    return b->numbers.v + b->places.v[place].first;
}

const struct sp_place *sp_binder_place(const struct sp_binder *b, uint32_t place)
{
    return &b->places.v[place].at;
}

spaa_status sp_binder_report(struct sp_binder *b)
{
    sp_symbols_report(b->symbols);
    return sp_symbols_note(b->symbols, b->p);
}
