/* Addresses as frames, once for each, and rows as stacks. */
#include "base/num.h"
#include "formats/common/mapped/mapped.h"
#include "symbols/symbolize.h"
#include "json/json.h"

#define INLINE_MAX 64
/* Frames of all stacks that are always accepted; beyond, so many for each byte of the input. */
#define FRAMES_MIN      ((size_t)1 << 24)
#define FRAMES_PER_BYTE 16

/* What a frame is made of. */
struct mapped_frame {
    uint32_t func, srcline, dso, more;
    uint64_t ip, symoff;
    bool has_symoff, unresolved;
    uint32_t depth;
    uint8_t kind;
    struct sp_func_info info;
};

static bool mapped_add_frame(struct sp_mapped *m, const struct mapped_frame *x)
{
    enum sp_granularity keep = m->opts->frames;
    struct sp_frame f = {.kind = x->kind, .inline_depth = x->depth, .extra_json = x->more};
    if (x->func == SP_STR_FAIL || x->srcline == SP_STR_FAIL || x->more == SP_STR_FAIL || x->dso == SP_NONE)
        return false;
    if (x->unresolved)
        f.flags |= SP_FRAME_UNRESOLVED;
    if (x->depth)
        f.flags |= SP_FRAME_INLINED;
    if (keep != SP_FRAMES_FUNCTION)
        f.srcline = x->srcline;
    if (keep != SP_FRAMES_LINE && keep != SP_FRAMES_FUNCTION && !m->plain) {
        f.flags |= SP_FRAME_IP;
        f.ip = x->ip;
        if (x->has_symoff) {
            f.flags |= SP_FRAME_SYMOFF;
            f.symoff = x->symoff;
        }
    }
    if (x->info.linkage == SP_STR_FAIL || !sp_frame_set_function(m->p, &f, x->func, x->dso, &x->info, keep))
        return false;
    uint32_t number = sp_frame_intern(m->p, &f);
    return number != SP_NONE && sp_vec_push(&m->numbers, number);
}

static uint32_t mapped_named_dso(struct sp_mapped *m, uint32_t name)
{
    struct sp_dso d = {.name = name};
    return name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(m->p, &d);
}

/* SP_NONE: out of memory. */
static uint32_t mapped_unknown_dso(struct sp_mapped *m)
{
    if (m->unknown == SP_NONE)
        m->unknown = mapped_named_dso(m, sp_profile_cstr(m->p, "[unknown]"));
    return m->unknown;
}

/* Opens a module with its first address, in this part of the file; its DSO is in the profile then. */
static spaa_status mapped_open_module(struct sp_mapped *m, struct sp_mapped_module *x,
                                      const struct sp_mapped_range *r, uint64_t offset)
{
    struct sp_module_key key = {.kind = SP_MODULE_FILE, .path = x->path.p};
    struct sp_dso row = {0};
    uint64_t any;
    if (x->build_id.n)
        key.build_id = x->build_id.p;
    spaa_status st = x->file ? sp_symbols_module(m->symbols, &key, &x->module) : SPAA_OK;
    if (st)
        return st;
    x->opened = true;
    x->file_offsets =
        x->file && !sp_module_vaddr(x->module, offset, &any) && !sp_module_vaddr(x->module, 0, &any);
    const char *id = key.build_id ? key.build_id : x->file ? sp_module_build_id(x->module) : NULL;
    row.name = x->path.n ? sp_profile_str(m->p, x->path.p, x->path.n) : sp_profile_cstr(m->p, "[anon]");
    if (id)
        row.build_id = sp_profile_cstr(m->p, id);
    if (x->file_offsets) {
        sp_buf_clear(&m->text);
        sp_buf_printf(&m->text,
                      "\"x_%s\":{\"ip\":\"file_offset\",\"map\":{\"offset\":\"0x%llx\",\"size\":\"0x%llx\"}}",
                      m->key, (unsigned long long)r->offset, (unsigned long long)(r->end - r->start));
        row.extra_json = m->text.failed ? SP_STR_FAIL : sp_profile_str(m->p, m->text.data, m->text.len);
    }
    if (row.name == SP_STR_FAIL || row.build_id == SP_STR_FAIL || row.extra_json == SP_STR_FAIL)
        return sp_nomem(m->d);
    x->dso = sp_dso_intern(m->p, &row);
    return x->dso == SP_NONE ? sp_nomem(m->d) : SPAA_OK;
}

/* The frames that the file names itself. */
static bool mapped_labelled(struct sp_mapped *m, uint32_t first, const struct mapped_frame *base)
{
    uint32_t n = 0;
    for (uint32_t i = first; i != SP_NONE; i = m->labels.v[i].next)
        n++;
    for (uint32_t i = first; i != SP_NONE; i = m->labels.v[i].next) {
        const struct sp_mapped_label *l = &m->labels.v[i];
        struct mapped_frame x = *base;
        x.func = l->func;
        x.srcline = l->srcline;
        x.depth = --n;
        x.kind = SP_USER;
        if (l->dso)
            x.dso = mapped_named_dso(m, l->dso);
        if (!mapped_add_frame(m, &x))
            return false;
    }
    return true;
}

/* The frames that symbols give; none: false in *any. */
static bool mapped_resolved(struct sp_mapped *m, struct sp_module *module, uint64_t look, bool caller,
                            const struct mapped_frame *base, bool *any)
{
    struct sp_resolved found[INLINE_MAX];
    size_t n = sp_module_resolve(module, look, found, INLINE_MAX);
    *any = n;
    for (size_t i = 0; i < n; i++) {
        struct mapped_frame x = *base;
        size_t all = strlen(found[i].func);
        struct sp_str shown = sp_function_shown((struct sp_str){found[i].func, (uint32_t)all});
        x.func = sp_profile_str(m->p, shown.p, shown.n);
        if (found[i].srcline)
            x.srcline = sp_profile_cstr(m->p, found[i].srcline);
        if (found[i].raw || shown.n < all)
            x.info.linkage = sp_profile_cstr(m->p, found[i].raw ? found[i].raw : found[i].func);
        x.depth = found[i].inline_depth;
        x.symoff = found[i].symoff + caller;
        x.has_symoff = true;
        if (!mapped_add_frame(m, &x))
            return false;
    }
    return true;
}

static bool mapped_bare(struct sp_mapped *m, struct mapped_frame *x)
{
    char hex[2 + 16] = "0x";
    x->func = sp_profile_str(m->p, hex, 2 + sp_hex_text(x->ip, hex + 2));
    x->unresolved = true;
    return mapped_add_frame(m, x);
}

static spaa_status mapped_resolve_place(struct sp_mapped *m, struct sp_mapped_place *pl)
{
    bool caller = (pl->how & 1) && pl->addr, any = false, ok;
    uint32_t name = pl->how >> 1;
    uint64_t look = pl->addr - caller;
    const struct sp_mapped_range *r = sp_mapped_find(m, look);
    const struct sp_mapped_label *l = sp_mapped_labels(m, look);
    struct sp_mapped_module *x = r ? &m->modules.v[r->module] : NULL;
    struct mapped_frame f = {.ip = pl->addr, .kind = SP_UNKNOWN};
    if (!l && caller)
        l = sp_mapped_labels(m, pl->addr);
    if (r) {
        f.kind = SP_USER;
        if (x->path.n)
            f.ip = pl->addr - r->start + r->offset;
        spaa_status st = x->opened ? SPAA_OK : mapped_open_module(m, x, r, f.ip - caller);
        if (st)
            return st;
        uint64_t vaddr;
        if (x->module && sp_module_vaddr(x->module, f.ip - caller, &vaddr))
            f.ip = vaddr + caller;
        f.dso = x->dso;
    } else {
        m->unmapped += !l && !name;
        f.dso = mapped_unknown_dso(m);
    }
    pl->first = (uint32_t)m->numbers.n;
    if (name) {
        f.func = name;
        f.kind = SP_USER;
        ok = mapped_add_frame(m, &f);
    } else if (l) {
        ok = mapped_labelled(m, (uint32_t)(l - m->labels.v), &f);
    } else {
        ok = !x || !x->module || (x->file_offsets && sp_module_found(x->module)) ||
             mapped_resolved(m, x->module, f.ip - caller, caller, &f, &any);
        if (ok && !any)
            ok = mapped_bare(m, &f);
    }
    pl->n = (uint32_t)m->numbers.n - pl->first;
    return ok ? SPAA_OK : sp_nomem(m->d);
}

/* The frames of a row, leaf first. */
static void mapped_row_frames(const struct sp_mapped *m, const struct sp_mapped_row *row, uint32_t *out)
{
    const uint32_t *chain = m->chain.v + row->first;
    for (uint32_t i = 0; i < row->n; i++) {
        const struct sp_mapped_place *pl = &m->places.v[chain[i]];
        memcpy(out, m->numbers.v + pl->first, pl->n * sizeof *out);
        out += pl->n;
    }
}

static spaa_status mapped_put_row(struct sp_mapped *m, size_t number, uint32_t **frames, size_t *cap)
{
    const struct sp_mapped_row *row = &m->rows.v[number];
    const int64_t *values = m->values.v + number * m->nmetrics;
    const uint32_t *chain = m->chain.v + row->first;
    bool single = m->numbers.n == m->places.n; /* then the number of a place is where its frame is */
    size_t n = single ? row->n : 0, room = FRAMES_MIN + FRAMES_PER_BYTE * m->bytes;
    for (uint32_t i = 0; i < row->n && !single; i++)
        n += m->places.v[chain[i]].n;
    if (m->p->stack_frames.n > room || n > room - m->p->stack_frames.n || n >= SP_NONE) {
        sp_emit(m->d, SP_L768, SP_AT_NOTHING,
                "far more frames than bytes in the input; stack %zu was left out", number + 1);
        return SPAA_OK;
    }
    if (n > *cap && !sp_vec_grow((void **)frames, cap, n, sizeof **frames))
        return sp_nomem(m->d);
    if (single)
        for (uint32_t i = 0; i < row->n; i++)
            (*frames)[i] = m->numbers.v[chain[i]];
    else
        mapped_row_frames(m, row, *frames);
    bool fresh;
    uint32_t s = sp_stack_intern(m->p, *frames, n, row->context, SP_UNIFIED, &fresh);
    if (s == SP_NONE)
        return sp_nomem(m->d);
    if (fresh)
        sp_stack_set_layout(m->p, s, m->layout);
    for (uint32_t i = 0; i < m->nmetrics; i++)
        if (m->metrics[i] != SP_NONE && values[i] != SP_ABSENT &&
            !sp_weight_add(m->p, s, m->metrics[i], values[i]))
            return sp_nomem(m->d);
    return SPAA_OK;
}

static void mapped_report(struct sp_mapped *m)
{
    if (!m->unmapped || m->plain)
        return;
    if (m->ranges.n)
        sp_emit(m->d, SP_W771, SP_AT_NOTHING, "%llu of %zu addresses", (unsigned long long)m->unmapped,
                m->places.n);
    else
        sp_emit(m->d, SP_W770, SP_AT_NOTHING, "%llu addresses have neither a name nor a file",
                (unsigned long long)m->unmapped);
}

spaa_status sp_mapped_finish(struct sp_mapped *m)
{
    uint32_t *frames = NULL;
    size_t cap = 0;
    spaa_status st = sp_mapped_sort(m);
    if (!st)
        st = sp_symbols_new(&m->opts->symbols, m->d, &m->symbols);
    for (size_t i = 0; !st && i < m->places.n; i++)
        st = mapped_resolve_place(m, &m->places.v[i]);
    if (!st && !sp_vec_reserve(&m->p->stack_frames, m->chain.n))
        st = sp_nomem(m->d);
    for (size_t i = 0; !st && i < m->rows.n; i++)
        st = mapped_put_row(m, i, &frames, &cap);
    free(frames);
    if (st)
        return st;
    sp_symbols_report(m->symbols);
    st = sp_symbols_note(m->symbols, m->p);
    if (st)
        return st;
    mapped_report(m);
    return SPAA_OK;
}
