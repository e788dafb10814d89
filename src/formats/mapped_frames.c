/* Addresses as frames, once for each, and rows as stacks. */
#include "base/hash.h"
#include "base/num.h"
#include "formats/mapped.h"
#include "symbols/symbolize.h"
#include "json/json.h"

#define INLINE_MAX 64
/* Frames of all stacks that are always accepted; beyond, so many for each byte of the input. */
#define FRAMES_MIN      ((size_t)1 << 24)
#define FRAMES_PER_BYTE 16

void sp_mapped_init(struct sp_mapped *m, struct sp_profile *p, const struct sp_read_opts *opts,
                    struct sp_diags *d, const char *key, const void *in, size_t bytes)
{
    m->p = p;
    m->d = d;
    m->opts = opts;
    m->key = key;
    m->bytes = bytes;
    m->end = (const char *)in + bytes;
    m->slots = m->none;
    m->shift = 63;
    m->open_label = m->unknown = SP_NONE;
    sp_arena_init(&m->arena, 0);
    sp_buf_init(&m->text, 0);
}

void sp_mapped_free(struct sp_mapped *m)
{
    sp_symbols_free(m->symbols);
    sp_vec_free(&m->places);
    if (m->slots != m->none)
        free(m->slots);
    sp_vec_free(&m->chain);
    sp_vec_free(&m->rows);
    sp_vec_free(&m->values);
    sp_vec_free(&m->ranges);
    sp_vec_free(&m->modules);
    sp_map_free(&m->module_map);
    sp_vec_free(&m->labels);
    sp_map_free(&m->label_map);
    sp_vec_free(&m->numbers);
    sp_arena_free(&m->arena);
    sp_buf_free(&m->text);
}

spaa_status sp_mapped_metrics(struct sp_mapped *m, const struct sp_mapped_metric *metrics, uint32_t n)
{
    struct sp_weight_field fields[SP_MAPPED_METRICS];
    uint32_t nfields = 0;
    m->nmetrics = n < SP_MAPPED_METRICS ? n : SP_MAPPED_METRICS;
    for (uint32_t i = 0; i < m->nmetrics; i++) {
        m->metrics[i] = SP_NONE;
        if (!metrics[i].name)
            continue;
        m->metrics[i] = sp_metric_intern(m->p, metrics[i].name, strlen(metrics[i].name));
        struct sp_weight_field *f = &fields[nfields++];
        *f = (struct sp_weight_field){.metric = m->metrics[i]};
        if (metrics[i].unit)
            f->unit = sp_profile_cstr(m->p, metrics[i].unit);
        if (f->metric == SP_NONE || f->unit == SP_STR_FAIL)
            return sp_nomem(m->d);
    }
    m->layout = sp_layout_intern(m->p, fields, nfields);
    return m->layout == SP_NONE ? sp_nomem(m->d) : SPAA_OK;
}

/* The slot of an address, or the empty one where it belongs. */
static struct sp_mapped_slot *find_slot(const struct sp_mapped *m, uint64_t addr, uint32_t how)
{
    struct sp_mapped_slot *at = sp_mapped_slot(m, addr), *end = m->slots + ((size_t)1 << (64 - m->shift));
    while (at->number && (at->addr != addr || at->how != how))
        at = at + 1 < end ? at + 1 : m->slots;
    return at;
}

static bool grow_slots(struct sp_mapped *m)
{
    unsigned bits = m->slots == m->none ? 10 : 64 - m->shift + 1;
    struct sp_mapped_slot *old = m->slots,
                          *fresh = bits < 40 ? calloc((size_t)1 << bits, sizeof *fresh) : NULL;
    size_t n = (size_t)1 << (64 - m->shift);
    if (!fresh)
        return false;
    sp_large_pages(fresh, sizeof *fresh << bits);
    m->slots = fresh;
    m->shift = 64 - bits;
    for (size_t i = 0; i < n; i++)
        if (old[i].number)
            *find_slot(m, old[i].addr, old[i].how) = old[i];
    if (old != m->none)
        free(old);
    return true;
}

bool sp_mapped_add_slow(struct sp_mapped *m, uint64_t addr, uint32_t how)
{
    struct sp_mapped_slot *at = find_slot(m, addr, how);
    if (!at->number) {
        struct sp_mapped_place fresh = {.addr = addr, .how = how};
        if (m->places.n + 1 > (size_t)1 << (63 - m->shift) && !grow_slots(m))
            return false;
        if (m->places.n >= SP_NONE - 2 || !sp_vec_push(&m->places, fresh))
            return false;
        at = find_slot(m, addr, how);
        *at = (struct sp_mapped_slot){addr, (uint32_t)m->places.n, how};
    }
    return sp_vec_push(&m->chain, at->number - 1);
}

bool sp_mapped_add_named(struct sp_mapped *m, uint64_t addr, bool caller, struct sp_str name)
{
    uint32_t func = sp_profile_str(m->p, name.p, name.n);
    return func != SP_STR_FAIL && func <= UINT32_MAX >> 1 && sp_mapped_add_slow(m, addr, func << 1 | caller);
}

static bool push_row(struct sp_mapped *m, const struct sp_mapped_row *row, const int64_t *values)
{
    if (m->rows.n >= SP_NONE - 1 || !sp_vec_reserve(&m->values, m->values.n + m->nmetrics) ||
        !sp_vec_push(&m->rows, *row))
        return false;
    memcpy(m->values.v + m->values.n, values, m->nmetrics * sizeof *values);
    m->values.n += m->nmetrics;
    return true;
}

bool sp_mapped_row(struct sp_mapped *m, uint32_t context, const int64_t *values)
{
    size_t n = m->chain.n - m->begin;
    struct sp_mapped_row row = {m->begin, (uint32_t)n, context};
    m->begin = m->chain.n;
    return n < SP_NONE && push_row(m, &row, values);
}

bool sp_mapped_again(struct sp_mapped *m, uint32_t context, const int64_t *values)
{
    struct sp_mapped_row row = m->rows.v[m->rows.n - 1];
    row.context = context;
    return push_row(m, &row, values);
}

static struct sp_mapped_label *labels_of(struct sp_mapped *m, uint64_t addr)
{
    struct sp_probe at = sp_map_probe(&m->label_map, sp_hash_mix(addr, 3));
    for (uint32_t i; (i = sp_map_next(&m->label_map, &at)) != SP_MAP_NONE;)
        if (m->labels.v[i].addr == addr)
            return &m->labels.v[i];
    return NULL;
}

void sp_mapped_close_name(struct sp_mapped *m)
{
    m->open_label = SP_NONE;
}

spaa_status sp_mapped_name(struct sp_mapped *m, uint64_t addr, struct sp_str func, struct sp_str srcline,
                           struct sp_str dso)
{
    struct sp_mapped_label l = {.addr = addr, .next = SP_NONE};
    bool goes_on = m->open_label != SP_NONE && m->labels.v[m->open_label].addr == addr;
    if (!goes_on && labels_of(m, addr))
        return SPAA_OK;
    if (goes_on && m->open_count >= SP_MAPPED_INLINED) {
        if (m->open_count++ == SP_MAPPED_INLINED)
            sp_emit(m->d, SP_L768, SP_AT_NOTHING, "an address with more than %u names", SP_MAPPED_INLINED);
        return SPAA_OK;
    }
    l.func = sp_profile_str(m->p, func.p, func.n);
    if (srcline.n)
        l.srcline = sp_profile_str(m->p, srcline.p, srcline.n);
    if (dso.n)
        l.dso = sp_profile_str(m->p, dso.p, dso.n);
    if (l.func == SP_STR_FAIL || l.srcline == SP_STR_FAIL || l.dso == SP_STR_FAIL ||
        m->labels.n >= SP_NONE - 1 || !sp_vec_push(&m->labels, l))
        return sp_nomem(m->d);
    uint32_t number = (uint32_t)m->labels.n - 1;
    if (goes_on)
        m->labels.v[m->open_label].next = number;
    else if (!sp_map_add(&m->label_map, sp_hash_mix(addr, 3), number))
        return sp_nomem(m->d);
    m->open_count = goes_on ? m->open_count + 1 : 1;
    m->open_label = number;
    return SPAA_OK;
}

/* What a frame is made of. */
struct made {
    uint32_t func, srcline, dso, more;
    uint64_t ip, symoff;
    bool has_symoff, unresolved;
    uint32_t depth;
    uint8_t kind;
};

static bool add_frame(struct sp_mapped *m, const struct made *x)
{
    enum sp_granularity keep = m->opts->frames;
    struct sp_frame f = {.kind = x->kind, .inline_depth = x->depth, .more = x->more};
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
    f.function = sp_function_intern(m->p, x->func, x->dso);
    uint32_t number = f.function == SP_NONE ? SP_NONE : sp_frame_intern(m->p, &f);
    return number != SP_NONE && sp_vec_push(&m->numbers, number);
}

static uint32_t named_dso(struct sp_mapped *m, uint32_t name)
{
    struct sp_dso d = {.name = name};
    return name == SP_STR_FAIL ? SP_NONE : sp_dso_intern(m->p, &d);
}

/* SP_NONE: out of memory. */
static uint32_t unknown_dso(struct sp_mapped *m)
{
    if (m->unknown == SP_NONE)
        m->unknown = named_dso(m, sp_profile_cstr(m->p, "[unknown]"));
    return m->unknown;
}

/* Opens a module with its first address, in this part of the file; its DSO is in the profile then. */
static spaa_status open_module(struct sp_mapped *m, struct sp_mapped_module *x,
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
        row.more = m->text.failed ? SP_STR_FAIL : sp_profile_str(m->p, m->text.data, m->text.len);
    }
    if (row.name == SP_STR_FAIL || row.build_id == SP_STR_FAIL || row.more == SP_STR_FAIL)
        return sp_nomem(m->d);
    x->dso = sp_dso_intern(m->p, &row);
    return x->dso == SP_NONE ? sp_nomem(m->d) : SPAA_OK;
}

/* The frames that the file names itself. */
static bool labelled(struct sp_mapped *m, uint32_t first, const struct made *base)
{
    uint32_t n = 0;
    for (uint32_t i = first; i != SP_NONE; i = m->labels.v[i].next)
        n++;
    for (uint32_t i = first; i != SP_NONE; i = m->labels.v[i].next) {
        const struct sp_mapped_label *l = &m->labels.v[i];
        struct made x = *base;
        x.func = l->func;
        x.srcline = l->srcline;
        x.depth = --n;
        x.kind = SP_USER;
        if (l->dso)
            x.dso = named_dso(m, l->dso);
        if (!add_frame(m, &x))
            return false;
    }
    return true;
}

/* The frames that symbols give; none: false in *any. */
static bool resolved(struct sp_mapped *m, struct sp_module *module, uint64_t look, bool caller,
                     const struct made *base, bool *any)
{
    struct sp_resolved found[INLINE_MAX];
    size_t n = sp_module_resolve(module, look, found, INLINE_MAX);
    *any = n;
    for (size_t i = 0; i < n; i++) {
        struct made x = *base;
        x.func = sp_profile_cstr(m->p, found[i].func);
        if (found[i].srcline)
            x.srcline = sp_profile_cstr(m->p, found[i].srcline);
        if (found[i].raw) {
            sp_buf_clear(&m->text);
            sp_buf_puts(&m->text, "\"x_raw_func\":");
            sp_json_string(&m->text, found[i].raw, strlen(found[i].raw));
            x.more = m->text.failed ? SP_STR_FAIL : sp_profile_str(m->p, m->text.data, m->text.len);
        }
        x.depth = found[i].inline_depth;
        x.symoff = found[i].symoff + caller;
        x.has_symoff = true;
        if (!add_frame(m, &x))
            return false;
    }
    return true;
}

static bool bare(struct sp_mapped *m, struct made *x)
{
    char hex[2 + 16] = "0x";
    x->func = sp_profile_str(m->p, hex, 2 + sp_hex_text(x->ip, hex + 2));
    x->unresolved = true;
    return add_frame(m, x);
}

static spaa_status resolve_place(struct sp_mapped *m, struct sp_mapped_place *pl)
{
    bool caller = (pl->how & 1) && pl->addr, any = false, ok;
    uint32_t name = pl->how >> 1;
    uint64_t look = pl->addr - caller;
    const struct sp_mapped_range *r = sp_mapped_find(m, look);
    const struct sp_mapped_label *l = labels_of(m, look);
    struct sp_mapped_module *x = r ? &m->modules.v[r->module] : NULL;
    struct made f = {.ip = pl->addr, .kind = SP_UNKNOWN};
    if (!l && caller)
        l = labels_of(m, pl->addr);
    if (r) {
        f.kind = SP_USER;
        if (x->path.n)
            f.ip = pl->addr - r->start + r->offset;
        spaa_status st = x->opened ? SPAA_OK : open_module(m, x, r, f.ip - caller);
        if (st)
            return st;
        uint64_t vaddr;
        if (x->module && sp_module_vaddr(x->module, f.ip - caller, &vaddr))
            f.ip = vaddr + caller;
        f.dso = x->dso;
    } else {
        m->unmapped += !l && !name;
        f.dso = unknown_dso(m);
    }
    pl->first = (uint32_t)m->numbers.n;
    if (name) {
        f.func = name;
        f.kind = SP_USER;
        ok = add_frame(m, &f);
    } else if (l) {
        ok = labelled(m, (uint32_t)(l - m->labels.v), &f);
    } else {
        ok = !x || !x->module || (x->file_offsets && sp_module_found(x->module)) ||
             resolved(m, x->module, f.ip - caller, caller, &f, &any);
        if (ok && !any)
            ok = bare(m, &f);
    }
    pl->n = (uint32_t)m->numbers.n - pl->first;
    return ok ? SPAA_OK : sp_nomem(m->d);
}

/* The frames of a row, leaf first. */
static void row_frames(const struct sp_mapped *m, const struct sp_mapped_row *row, uint32_t *out)
{
    const uint32_t *chain = m->chain.v + row->first;
    for (uint32_t i = 0; i < row->n; i++) {
        const struct sp_mapped_place *pl = &m->places.v[chain[i]];
        memcpy(out, m->numbers.v + pl->first, pl->n * sizeof *out);
        out += pl->n;
    }
}

static spaa_status put_row(struct sp_mapped *m, size_t number, uint32_t **frames, size_t *cap)
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
        row_frames(m, row, *frames);
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

static void report(struct sp_mapped *m)
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
        st = resolve_place(m, &m->places.v[i]);
    if (!st && !sp_vec_reserve(&m->p->stack_frames, m->chain.n))
        st = sp_nomem(m->d);
    for (size_t i = 0; !st && i < m->rows.n; i++)
        st = put_row(m, i, &frames, &cap);
    free(frames);
    if (st)
        return st;
    sp_symbols_report(m->symbols);
    st = sp_symbols_note(m->symbols, m->p);
    if (st)
        return st;
    report(m);
    return SPAA_OK;
}
