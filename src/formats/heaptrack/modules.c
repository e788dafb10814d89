/* Raw files: which module an address is in when its trace is met. */
#include "base/hash.h"
#include "formats/heaptrack/heaptrack.h"

#define FRAGMENTS_MAX ((size_t)1 << 20)

static uint32_t heaptrack_module_of(struct sp_ht *ht, uint32_t name, uint64_t base)
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
    uint32_t module = heaptrack_module_of(ht, s, base);
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

static int heaptrack_module_cmp_fragment(const void *va, const void *vb)
{
    const struct sp_ht_fragment *a = va, *b = vb;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->module > b->module) - (a->module < b->module);
}

/* The module at an address; of segments that overlap, the one that begins last. */
static uint32_t heaptrack_module_at(struct sp_ht *ht, uint64_t addr)
{
    if (ht->unsorted && ht->fragments.n)
        qsort(ht->fragments.v, ht->fragments.n, sizeof *ht->fragments.v, heaptrack_module_cmp_fragment);
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
    uint32_t module = heaptrack_module_at(ht, addr);
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
