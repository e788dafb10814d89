/* Raw files: which module an address is in when its trace is met, and its names. */
#include "base/hash.h"
#include "base/num.h"
#include "formats/heaptrack/heaptrack.h"
#include "json/json.h"

#define INLINE_MAX    64
#define FRAGMENTS_MAX ((size_t)1 << 20)

static uint32_t module_of(struct sp_ht *ht, uint32_t name, uint64_t base)
{
    uint64_t hash = sp_hash_mix(base, name);
    struct sp_probe at = sp_map_probe(&ht->module_map, hash);
    for (uint32_t i; (i = sp_map_next(&ht->module_map, &at)) != SP_MAP_NONE;)
        if (ht->modules.v[i].name == name && ht->modules.v[i].base == base)
            return i;
    struct sp_ht_module m = {.name = name, .base = base, .dso = SP_NONE};
    uint32_t number = (uint32_t)ht->modules.n;
    if (ht->modules.n >= SP_HT_THINGS_MAX || !sp_vec_push(&ht->modules, m) ||
        !sp_map_add(&ht->module_map, hash, number))
        return SP_NONE;
    return number;
}

spaa_status sp_ht_module_line(struct sp_ht *ht, struct sp_ht_text name, const char *at, const char *end)
{
    uint64_t base, vaddr, size;
    if (name.n == 1 && *name.p == '-') {
        ht->fragments.n = 0;
        return SPAA_OK;
    }
    bool exe = name.n == 1 && *name.p == 'x' && ht->exe;
    uint32_t s = exe ? ht->exe : sp_profile_str(ht->p, name.p, name.n);
    if (s == SP_STR_FAIL)
        return sp_nomem(ht->d);
    if (!sp_ht_hex(&at, end, &base))
        return sp_ht_bad(ht, SP_L751, "a module without an address");
    uint32_t module = module_of(ht, s, base);
    if (module == SP_NONE)
        return sp_nomem(ht->d);
    ht->unsorted = true;
    while (at < end) {
        struct sp_ht_fragment f = {.module = module};
        if (!sp_ht_hex(&at, end, &vaddr) || !sp_ht_hex(&at, end, &size))
            return sp_ht_bad(ht, SP_L751, "a segment of a module that is no numbers");
        f.start = base + vaddr; /* addresses wrap as the processor's do */
        f.end = f.start + size < f.start ? UINT64_MAX : f.start + size;
        if (ht->fragments.n >= FRAGMENTS_MAX) {
            sp_emit(ht->d, SP_E007, sp_ht_here(ht), "more than %zu segments of modules", FRAGMENTS_MAX);
            return SPAA_ERR_INPUT;
        }
        if (!sp_vec_push(&ht->fragments, f))
            return sp_nomem(ht->d);
    }
    return SPAA_OK;
}

static int cmp_fragment(const void *va, const void *vb)
{
    const struct sp_ht_fragment *a = va, *b = vb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->module > b->module) - (a->module < b->module);
}

/* The module at an address; of segments that overlap, the one that begins last. */
static uint32_t find(struct sp_ht *ht, uint64_t addr)
{
    if (ht->unsorted && ht->fragments.n)
        qsort(ht->fragments.v, ht->fragments.n, sizeof *ht->fragments.v, cmp_fragment);
    ht->unsorted = false;
    size_t lo = 0, hi = ht->fragments.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (ht->fragments.v[mid].start <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && addr < ht->fragments.v[lo - 1].end ? ht->fragments.v[lo - 1].module : SP_NONE;
}

uint32_t sp_ht_raw_ip(struct sp_ht *ht, uint64_t addr)
{
    uint32_t module = find(ht, addr);
    uint64_t hash = sp_hash_mix(addr, module);
    struct sp_probe at = sp_map_probe(&ht->ip_map, hash);
    for (uint32_t i; (i = sp_map_next(&ht->ip_map, &at)) != SP_MAP_NONE;)
        if (ht->ips.v[i].addr == addr && ht->ips.v[i].module == module)
            return i;
    struct sp_ht_ip ip = {.addr = addr, .module = module};
    uint32_t number = (uint32_t)ht->ips.n;
    if (ht->ips.n >= SP_HT_THINGS_MAX || !sp_vec_push(&ht->ips, ip) || !sp_map_add(&ht->ip_map, hash, number))
        return SP_NONE;
    return number;
}

static spaa_status open_module(struct sp_ht *ht, struct sp_ht_module *m)
{
    struct sp_str name = sp_pstr(ht->p, m->name);
    struct sp_dso dso = {.name = m->name};
    spaa_status st = SPAA_OK;
    m->opened = true;
    if (name.n && *name.p == '/') { /* linux-vdso.so.1 is no file */
        struct sp_module_key key = {.kind = SP_MODULE_FILE, .path = name.p};
        st = sp_symbols_module(ht->symbols, &key, &m->module);
        const char *id = st ? NULL : sp_module_build_id(m->module);
        if (id)
            dso.build_id = sp_profile_cstr(ht->p, id);
    }
    if (st)
        return st;
    m->dso = dso.build_id == SP_STR_FAIL ? SP_NONE : sp_dso_intern(ht->p, &dso);
    return m->dso == SP_NONE ? sp_nomem(ht->d) : SPAA_OK;
}

static spaa_status named_frame(struct sp_ht *ht, const struct sp_resolved *r, struct sp_frame *f,
                               uint32_t dso)
{
    struct sp_buf b;
    uint32_t name = sp_profile_cstr(ht->p, r->func);
    f->symoff = r->symoff;
    f->flags |= SP_FRAME_SYMOFF;
    f->inline_depth = r->inline_depth;
    if (r->inline_depth)
        f->flags |= SP_FRAME_INLINED;
    if (r->srcline)
        f->srcline = sp_profile_cstr(ht->p, r->srcline);
    if (r->raw) {
        sp_buf_init(&b, 0);
        sp_buf_puts(&b, "\"x_raw_func\":");
        sp_json_string(&b, r->raw, strlen(r->raw));
        f->more = b.failed ? SP_STR_FAIL : sp_profile_str(ht->p, b.data, b.len);
        sp_buf_free(&b);
    }
    if (name == SP_STR_FAIL || f->srcline == SP_STR_FAIL || f->more == SP_STR_FAIL)
        return sp_nomem(ht->d);
    return sp_ht_add_frame(ht, f, name, dso);
}

spaa_status sp_ht_raw_frames(struct sp_ht *ht, struct sp_ht_ip *ip)
{
    struct sp_ht_module *m = ip->module == SP_NONE ? NULL : &ht->modules.v[ip->module];
    struct sp_resolved found[INLINE_MAX];
    struct sp_frame f = {.ip = ip->addr, .kind = SP_USER, .flags = SP_FRAME_IP};
    char hex[2 + 16] = "0x";
    size_t n = 0;
    spaa_status st = m && !m->opened ? open_module(ht, m) : SPAA_OK;
    if (st)
        return st;
    if (m)
        f.ip -= m->base;
    if (m && m->module)
        n = sp_module_resolve(m->module, f.ip, found, INLINE_MAX);
    uint32_t dso = m ? m->dso : sp_ht_unknown_dso(ht);
    for (size_t i = 0; !st && i < n; i++) {
        struct sp_frame row = f;
        st = named_frame(ht, &found[i], &row, dso);
    }
    if (st || n)
        return st;
    f.flags |= SP_FRAME_UNRESOLVED;
    uint32_t name = sp_profile_str(ht->p, hex, 2 + sp_hex_text(f.ip, hex + 2));
    return name == SP_STR_FAIL || dso == SP_NONE ? sp_nomem(ht->d) : sp_ht_add_frame(ht, &f, name, dso);
}
