/*
 * Rewriting a profile's frames with what the symbolizer knows.
 *
 * A frame is asked about once for each way it stands in stacks: as the address that was interrupted, or as a
 * return address; code of just-in-time compilers also once per process. Each such place becomes a run of
 * frames; the DSO, function and frame tables are filled anew with what stacks then use and what none ever
 * did, and stacks keep their numbers. Addresses of one module are known before the first is asked, so its
 * lines are read by several threads.
 */
#include "symbols/symbolize.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/edges.h"
#include "model/returns.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>

#define RUN_MAX 64
#define KNOWN   16384u /* a power of two */

/* A frame as it stands in stacks. */
struct place {
    uint32_t frame;
    bool caller, kept; /* kept: as it is */
    int64_t pid;       /* of just-in-time code; else 0 */
    uint32_t first, n; /* the run that stands for it, in `run` */
};

/* A DSO of the profile as it was. */
struct origin {
    struct sp_module *module;
    int64_t pid;
    enum origin_kind { NO_LOOKUP, OF_FILE, OF_KERNEL, OF_KMOD, OF_JIT } kind;
    bool memfd;      /* with a base: a program or just-in-time code */
    bool offsets;    /* ips are file offsets; with an ELF file they become addresses */
    bool still;      /* offsets that stay, for want of the file */
    uint64_t base;   /* KERNEL, KMOD, memfd: where it stood; 0: not known */
    uint32_t number; /* in the new table */
    uint32_t jit;    /* [jit] in the new table */
};

struct symbolizer {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_symbols *symbols;
    struct sp_symbolized *count;
    struct origin *origins;
    uint64_t kernel_text;   /* 0: ips are addresses as such */
    const char *kernel_ref; /* the symbol there; NULL: not known */
    SP_VEC(struct place) places;
    struct sp_map place_map;
    SP_VEC(uint32_t) stack_places; /* beside stack_frames */
    SP_VEC(uint32_t) run;          /* numbers in the new frame table */
    SP_VEC(struct sp_dso) dsos;    /* the old tables */
    SP_VEC(struct sp_function) functions;
    SP_VEC(struct sp_frame) frames;
    uint32_t *moved; /* old frame to new, for those kept; SP_NONE: not yet */
    struct sp_buf text;
    struct {
        const char *text;
        uint32_t id;
    } known[KNOWN]; /* texts of the symbolizer put into the profile lately, by where they stand */
};

static struct sp_str symbolize_text_of(const struct symbolizer *z, uint32_t s)
{
    return sp_pstr(z->p, s);
}

static bool is_text(struct sp_str s, const char *t)
{
    return s.n == strlen(t) && memcmp(s.p, t, s.n) == 0;
}

/* Kernel addresses as such are those of recordings that do not say where _text was. */
static bool is_kernel_address(uint64_t ip)
{
    return ip >> 63;
}

/* A kernel's _text when nobody said where it was: offsets only need some place to count from. */
#define SOME_TEXT 0xffffffff81000000u

/* The address after a key in a DSO's members; 0: none. */
static uint64_t stated(struct sp_str more, const char *key)
{
    const char *at = more.n ? memmem(more.p, more.n, key, strlen(key)) : NULL;
    uint64_t v = 0;
    if (!at)
        return 0;
    at += strlen(key);
    return sp_parse_hex(at, more.p + more.n, &v) ? v : 0;
}

/* Where the kernel stood, and what is told to have been there. */
static void tell_kernel(struct symbolizer *z, uint64_t text, struct sp_str more)
{
    static const char key[] = "\"symbol\":\"";
    z->kernel_text = text;
    const char *at = memmem(more.p, more.n, key, sizeof key - 1);
    size_t left = at ? (size_t)(more.p + more.n - at) - (sizeof key - 1) : 0;
    at += sizeof key - 1;
    z->kernel_ref = left > 6 && !memcmp(at, "_text\"", 6)    ? "_text"
                    : left > 7 && !memcmp(at, "_stext\"", 7) ? "_stext"
                                                             : NULL;
}

static void symbolize_classify(struct symbolizer *z, struct origin *o, const struct sp_dso *dso)
{
    struct sp_str name = symbolize_text_of(z, dso->name), more = symbolize_text_of(z, dso->extra_json);
    o->number = o->jit = SP_NONE;
    o->offsets = memmem(more.p, more.n, "\"ip\":\"file_offset\"", 18) != NULL;
    o->base = stated(more, "\"base\":\"0x");
    if (is_text(name, "[kernel]") || is_text(name, "[kernel.kallsyms]"))
        o->kind = OF_KERNEL;
    uint64_t text = o->kind == OF_KERNEL ? o->base : stated(more, "\"text\":\"0x");
    if (text && dso->is_kernel)
        tell_kernel(z, text, more);
    if (o->kind == OF_KERNEL)
        return;
    if (is_text(name, "[anon]") || is_text(name, "[unknown]"))
        o->kind = OF_JIT;
    else if (dso->is_kernel && name.n > 2 && name.p[0] == '[')
        o->kind = o->base ? OF_KMOD : NO_LOOKUP;
    else if (name.n && (name.p[0] != '[' || (is_text(name, "[vdso]") && dso->build_id)))
        o->kind = OF_FILE;
    o->memfd = o->base && o->kind == OF_FILE && name.n >= 6 && memcmp(name.p, "memfd:", 6) == 0;
}

static const struct sp_dso *old_dso(const struct symbolizer *z, uint32_t frame, struct origin **o)
{
    uint32_t number = z->functions.v[z->frames.v[frame].function].dso;
    *o = &z->origins[number];
    return &z->dsos.v[number];
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

static spaa_status symbolize_open_module(struct symbolizer *z, const struct sp_dso *dso,
                                         enum origin_kind kind, int64_t pid, struct sp_module **out)
{
    static const enum sp_module_kind kinds[] = {[OF_FILE] = SP_MODULE_FILE,
                                                [OF_KERNEL] = SP_MODULE_KERNEL,
                                                [OF_KMOD] = SP_MODULE_KMOD,
                                                [OF_JIT] = SP_MODULE_JIT};
    struct sp_str name = symbolize_text_of(z, dso->name);
    if (kind == OF_KMOD)
        name = (struct sp_str){name.p + 1, name.n - 2};
    char *path = symbolize_copy_text(kind == OF_JIT ? (struct sp_str){"//anon", 6} : name);
    char *id = dso->build_id ? symbolize_copy_text(symbolize_text_of(z, dso->build_id)) : NULL;
    if (!path || (dso->build_id && !id)) {
        free(path);
        free(id);
        return sp_nomem(z->d);
    }
    struct sp_module_key key = {.kind = kinds[kind],
                                .path = path,
                                .build_id = id,
                                .pid = pid,
                                .kernel_text = z->kernel_text,
                                .kernel_ref = z->kernel_ref};
    spaa_status st = sp_symbols_module(z->symbols, &key, out);
    free(path);
    free(id);
    return st;
}

/* Whether a function is shown under that name. */
static bool is_shown(struct sp_str name, const char *demangled)
{
    struct sp_str s = {demangled, (uint32_t)strlen(demangled)};
    return sp_str_cmp(name, sp_function_shown(s)) == 0;
}

static bool has_name(const struct sp_frame *f)
{
    return !(f->flags & SP_FRAME_UNRESOLVED);
}

/* Whether a frame may gain something; leaf is what stands leafward of it, or NULL. */
static bool is_asked(const struct sp_frame *f, const struct sp_frame *leaf, const struct origin *o)
{
    if (!(f->flags & SP_FRAME_IP) || o->kind == NO_LOOKUP)
        return false;
    if (!has_name(f))
        return true;
    /* A run of inlined frames that is there already stays. */
    bool has_run = f->inline_depth || (leaf && leaf->flags & SP_FRAME_INLINED);
    return o->kind == OF_FILE && !f->srcline && !has_run && f->flags & SP_FRAME_SYMOFF;
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
        if (!i || event != c->event)
            returns = sp_returns_of(p, event = c->event);
        for (uint32_t k = 0; k < s->n; k++) {
            const struct sp_frame *f = &z->frames.v[v[k]];
            struct origin *o;
            old_dso(z, v[k], &o);
            bool jit = o->kind == OF_JIT;
            struct place want = {.frame = v[k], .kept = true};
            if (is_asked(f, leaf, o) && (!jit || (c->pid > 0 && f->kind != SP_KERNEL))) {
                want.kept = false;
                want.caller = sp_is_return(returns, f, leaf);
                want.pid = jit || o->memfd ? c->pid : 0;
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

/* "x_perf":{"ip":"file_offset"} of whatever format, perhaps with a "map":{…}, and nothing else. */
static bool only_offsets(struct sp_str more)
{
    static const char value[] = "\":{\"ip\":\"file_offset\"", map[] = ",\"map\":{";
    const size_t n = sizeof value - 1, m = sizeof map - 1;
    const char *end = more.p + more.n, *name = more.n > 3 ? memchr(more.p + 3, '"', more.n - 3) : NULL;
    if (!name || memcmp(more.p, "\"x_", 3) != 0 || (size_t)(end - name) <= n || memcmp(name, value, n) != 0)
        return false;
    name += n;
    if (end - name == 1)
        return true;
    const char *brace = memchr(name, '}', (size_t)(end - name));
    return (size_t)(end - name) > m && memcmp(name, map, m) == 0 && brace && end - brace == 2;
}

static uint32_t new_dso(struct symbolizer *z, const struct sp_dso *old, struct origin *o)
{
    struct sp_dso row = *old;
    struct sp_profile *p = z->p;
    const char *id = o->kind == OF_FILE && o->module ? sp_module_build_id(o->module) : NULL;
    if (o->number != SP_NONE)
        return o->number;
    if (!row.build_id && id)
        row.build_id = sp_profile_cstr(p, id);
    bool ours = row.extra_json && (o->memfd || only_offsets(symbolize_text_of(z, row.extra_json)));
    if (ours && !o->still)
        row.extra_json = SP_STR_NONE;
    else if (o->memfd)
        row.extra_json = sp_profile_cstr(p, "\"x_perf\":{\"ip\":\"file_offset\"}");
    if (row.build_id == SP_STR_FAIL || row.extra_json == SP_STR_FAIL)
        return SP_NONE;
    return o->number = sp_dso_intern(p, &row);
}

static uint32_t jit_dso(struct symbolizer *z, struct origin *o)
{
    struct sp_dso row = {.name = sp_profile_cstr(z->p, "[jit]")};
    if (o->jit == SP_NONE && row.name != SP_STR_FAIL)
        o->jit = sp_dso_intern(z->p, &row);
    return o->jit;
}

/* Adds a frame to the new table and to the run of the place being made. */
static bool symbolize_put(struct symbolizer *z, const struct sp_frame *f, uint32_t name, uint32_t dso)
{
    struct sp_frame row = *f;
    if (dso == SP_NONE || name == SP_STR_FAIL || row.srcline == SP_STR_FAIL || row.extra_json == SP_STR_FAIL)
        return false;
    row.function = sp_function_known(z->p, name, dso, row.info);
    uint32_t number = row.function == SP_NONE ? SP_NONE : sp_frame_intern(z->p, &row);
    return number != SP_NONE && sp_vec_push(&z->run, number);
}

static bool put_old(struct symbolizer *z, uint32_t frame)
{
    struct origin *o;
    const struct sp_dso *dso = old_dso(z, frame, &o);
    const struct sp_frame *f = &z->frames.v[frame];
    if (z->moved[frame] == SP_NONE) {
        const struct sp_function *had = &z->functions.v[f->function];
        struct sp_frame row = *f;
        row.info = z->p->header.frames >= SP_FRAMES_FUNCTION ? had->info : f->info;
        if (!symbolize_put(z, &row, had->name, new_dso(z, dso, o)))
            return false;
        z->moved[frame] = z->run.v[z->run.n - 1];
        return true;
    }
    return sp_vec_push(&z->run, z->moved[frame]);
}

/* The ip that a frame is to have, and the address to look up. */
static void addresses(const struct symbolizer *z, const struct place *pl, const struct origin *o,
                      uint64_t *ip, uint64_t *look)
{
    *ip = z->frames.v[pl->frame].ip;
    if (o->offsets && o->module && !sp_module_vaddr(o->module, *ip, ip))
        *ip = z->frames.v[pl->frame].ip;
    *look = *ip;
    if (o->kind == OF_KERNEL && !is_kernel_address(*ip))
        *look += z->kernel_text;
    if (o->kind == OF_KMOD)
        *look += o->base;
    *look -= pl->caller && *look;
}

/* A text of the symbolizer in the profile, as it is or as functions are shown. */
static uint32_t text_in(struct symbolizer *z, const char *text, bool shown)
{
    size_t slot = sp_hash_mix((uintptr_t)text, shown) & (KNOWN - 1);
    if (z->known[slot].text == text + shown)
        return z->known[slot].id;
    struct sp_str s = {text, (uint32_t)strlen(text)};
    s = shown ? sp_function_shown(s) : s;
    uint32_t id = sp_profile_str(z->p, s.p, s.n);
    z->known[slot].text = text + shown; /* texts are longer than a byte */
    z->known[slot].id = id;
    return id;
}

static bool put_found(struct symbolizer *z, const struct place *pl, uint64_t ip, uint32_t dso,
                      const struct sp_resolved *r, const struct sp_frame *old)
{
    struct sp_frame row = {.ip = ip,
                           .symoff = r->symoff + pl->caller,
                           .inline_depth = r->inline_depth,
                           .kind = old->kind,
                           .extra_json = old->extra_json,
                           .flags = SP_FRAME_IP | SP_FRAME_SYMOFF};
    if (r->inline_depth)
        row.flags |= SP_FRAME_INLINED;
    if (r->srcline)
        row.srcline = text_in(z, r->srcline, false);
    uint32_t name = text_in(z, r->func, true), all = text_in(z, r->func, false);
    struct sp_func_info info = {.linkage = r->raw        ? text_in(z, r->raw, false)
                                           : name != all ? all
                                                         : SP_STR_NONE};
    row.info = info.linkage == SP_STR_FAIL ? SP_NONE : sp_func_info_intern(z->p, &info);
    return row.info != SP_NONE && symbolize_put(z, &row, name, dso);
}

/* A frame without a name, at its address as linked. */
static bool put_unnamed(struct symbolizer *z, const struct sp_frame *old, uint64_t ip, uint32_t dso)
{
    struct sp_frame row = *old;
    char hex[2 + 16] = "0x";
    row.ip = ip;
    return symbolize_put(z, &row, sp_profile_str(z->p, hex, 2 + sp_hex_text(ip, hex + 2)), dso);
}

/* What a process wrote into a memfd itself, if its map or dump says so. */
static spaa_status memfd_code(struct symbolizer *z, const struct place *pl, const struct origin *o, bool *jit,
                              struct sp_module **module, uint64_t *ip, uint64_t *look)
{
    const struct sp_dso *dso = &z->dsos.v[z->functions.v[z->frames.v[pl->frame].function].dso];
    uint64_t addr = z->frames.v[pl->frame].ip + o->base;
    struct sp_module *code;
    spaa_status st = symbolize_open_module(z, dso, OF_JIT, pl->pid, &code);
    if (st || !sp_module_covers(code, addr - pl->caller))
        return st;
    *jit = true;
    *module = code;
    *ip = addr;
    *look = addr - pl->caller;
    return SPAA_OK;
}

static spaa_status resolve_place(struct symbolizer *z, struct place *pl)
{
    struct origin *o;
    const struct sp_dso *dso = old_dso(z, pl->frame, &o);
    const struct sp_frame *old = &z->frames.v[pl->frame];
    struct sp_module *module = o->module;
    struct sp_resolved found[RUN_MAX];
    uint64_t ip, look;
    size_t n = 0;
    bool jit = o->kind == OF_JIT;
    spaa_status st = jit ? symbolize_open_module(z, dso, OF_JIT, pl->pid, &module) : SPAA_OK;
    addresses(z, pl, o, &ip, &look);
    if (!st && o->memfd && pl->pid > 0)
        st = memfd_code(z, pl, o, &jit, &module, &ip, &look);
    if (st)
        return st;
    if (module && (jit ? sp_module_found(module) : !o->still))
        n = sp_module_resolve(module, look, found, RUN_MAX);
    else if (module && !jit && o->still)
        sp_module_missed(module);
    z->count->asked++;
    struct sp_str had = symbolize_text_of(z, z->functions.v[old->function].name);
    if (has_name(old) && (!n || !is_shown(had, found[n - 1].func))) {
        n = 0;
        pl->kept = true;
    }
    z->count->named += n && !has_name(old);
    z->count->lined += n && found[n - 1].srcline;
    bool ok = true;
    if (pl->kept) {
        ok = put_old(z, pl->frame);
    } else {
        uint32_t number = n && jit ? jit_dso(z, o) : new_dso(z, dso, o);
        for (size_t i = 0; ok && i < n; i++)
            ok = put_found(z, pl, ip, number, &found[i], old);
        if (!n)
            ok = put_unnamed(z, old, ip, number);
    }
    return ok ? SPAA_OK : sp_nomem(z->d);
}

/* Opens what is asked about, the kernel first: its modules use what it uses. */
static spaa_status open_modules(struct symbolizer *z)
{
    uint64_t any;
    for (int kernel = 1; kernel >= 0; kernel--) {
        for (size_t i = 0; i < z->places.n; i++) {
            struct origin *o;
            const struct sp_dso *dso = old_dso(z, z->places.v[i].frame, &o);
            if (z->places.v[i].kept || o->module || o->kind == OF_JIT || (o->kind == OF_KERNEL) != kernel)
                continue;
            spaa_status st = symbolize_open_module(z, dso, o->kind, 0, &o->module);
            if (st)
                return st;
            o->still = o->offsets &&
                       !sp_module_vaddr(o->module, z->frames.v[z->places.v[i].frame].ip, &any) &&
                       !sp_module_vaddr(o->module, 0, &any);
        }
    }
    return SPAA_OK;
}

/* Reads, by several threads, the lines that the places of each file need. */
static spaa_status symbolize_prepare(struct symbolizer *z, unsigned jobs)
{
    SP_VEC(uint64_t) addrs = {0};
    bool ok = true;
    for (size_t m = 0; jobs > 1 && ok && m < z->dsos.n; m++) {
        struct origin *o = &z->origins[m];
        if (o->kind != OF_FILE || !o->module || o->still)
            continue;
        addrs.n = 0;
        for (size_t i = 0; ok && i < z->places.n; i++) {
            struct origin *mine;
            uint64_t ip, look;
            old_dso(z, z->places.v[i].frame, &mine);
            if (mine != o || z->places.v[i].kept)
                continue;
            addresses(z, &z->places.v[i], o, &ip, &look);
            ok = sp_vec_push(&addrs, look);
        }
        if (addrs.n)
            sp_module_prepare(o->module, addrs.v, addrs.n, jobs);
    }
    sp_vec_free(&addrs);
    return ok ? SPAA_OK : sp_nomem(z->d);
}

/* The runs of all places, in the new tables; then what no stack ever used. */
static spaa_status resolve(struct symbolizer *z)
{
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < z->places.n; i++) {
        struct place *pl = &z->places.v[i];
        pl->first = (uint32_t)z->run.n;
        if (!pl->kept)
            st = resolve_place(z, pl);
        else if (!put_old(z, pl->frame))
            st = sp_nomem(z->d);
        pl->n = (uint32_t)z->run.n - pl->first;
    }
    return st;
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
            ok = new_dso(z, &z->dsos.v[i], &z->origins[i]) != SP_NONE;
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
        if (f->flags & SP_FRAME_IP && z->origins[z->functions.v[f->function].dso].kind == OF_KERNEL &&
            is_kernel_address(f->ip))
            return false;
    }
    return true;
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
                         : sp_symbols_machine(z->symbols, name, release);
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
    for (size_t i = 0; i < z->dsos.n; i++)
        symbolize_classify(z, &z->origins[i], &z->dsos.v[i]);
    if (!z->kernel_text && counts_from_text(z))
        z->kernel_text = SOME_TEXT;
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
    struct symbolizer *z = calloc(1, sizeof *z);
    *out = (struct sp_symbolized){0};
    if (!z)
        return sp_nomem(d);
    z->p = p;
    z->d = d;
    z->count = out;
    sp_buf_init(&z->text, 0);
    spaa_status st = sp_symbols_new(opts, d, &z->symbols);
    if (!st)
        st = symbolize_run(z, jobs);
    if (!st)
        st = sp_symbols_failed(z->symbols);
    if (!st)
        sp_symbols_report(z->symbols);
    if (!st)
        sp_symbols_report_lines(z->symbols);
    sp_symbols_free(z->symbols);
    sp_vec_free(&z->places);
    sp_map_free(&z->place_map);
    sp_vec_free(&z->stack_places);
    sp_vec_free(&z->run);
    sp_vec_free(&z->dsos);
    sp_vec_free(&z->functions);
    sp_vec_free(&z->frames);
    free(z->origins);
    free(z->moved);
    sp_buf_free(&z->text);
    free(z);
    return st;
}
