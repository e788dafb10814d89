/*
 * Global symbols, for one question: has an inlined function code of its own, too? If so its decorated name,
 * and whether it is static, are those of that code.
 *
 * They are in a hash table by name: references to records of modules (S_PROCREF, S_LPROCREF). What has the
 * name and the type of the function is the function, if both are of one module, or it is not static. Without
 * code of its own nothing tells whether a function that is no member of a class is static: it is taken to be,
 * so that the file tells it from others of its name.
 */
#include "pdb/private.h"

enum {
    HASH_HEADER = 16,
    RECORD_BYTES = 8,
    BUCKETS = 4096,
    BITMAP_BYTES = (BUCKETS + 1 + 31) / 32 * 4,
    IN_MEMORY = 12, /* what Microsoft's reader makes of a record: offsets of buckets count in these */
    REF_HEAD = 14,
    CHAIN_MAX = 4096,
    NAME_MAX_BYTES = 4096,
    S_PROCREF = 0x1125,
    S_LPROCREF = 0x1127,
};

/* Microsoft's first hash of strings, which ignores the case of letters. */
static uint32_t globals_hash(const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    size_t n = strlen(s);
    uint32_t h = 0;
    for (; n >= 4; p += 4, n -= 4)
        h ^= sp_pdb_u32(p);
    if (n >= 2) {
        h ^= sp_pdb_u16(p);
        p += 2;
        n -= 2;
    }
    if (n)
        h ^= *p;
    h |= 0x20202020;
    h ^= h >> 11;
    return (h ^ h >> 16) % BUCKETS;
}

/* The table's records, and where each bucket begins among them. */
static bool globals_load(struct sp_pdb *p)
{
    unsigned char h[HASH_HEADER], *map = NULL;
    if (p->globals_tried)
        return true;
    p->globals_tried = true;
    if (!sp_msf_read(&p->msf, p->globals_stream, 0, h, sizeof h))
        return !p->msf.failed || sp_pdb_damage(p);
    uint32_t records = sp_pdb_u32(h + 8), buckets = sp_pdb_u32(h + 12), n = records / RECORD_BYTES;
    uint64_t size = sp_msf_size(&p->msf, p->globals_stream);
    if (sp_pdb_u32(h) != UINT32_MAX || (uint64_t)HASH_HEADER + records + buckets > size ||
        buckets < BITMAP_BYTES)
        return true;
    map = sp_msf_load(&p->msf, p->globals_stream, HASH_HEADER + records, buckets);
    if (!map)
        return sp_pdb_damage(p);
    p->buckets = malloc((BUCKETS + 1) * sizeof *p->buckets);
    uint32_t at = BITMAP_BYTES, end = n;
    for (uint32_t i = 0; p->buckets && i < BUCKETS; i++) {
        bool there = map[i / 8] >> i % 8 & 1 && buckets - at >= 4;
        p->buckets[i] = there ? sp_pdb_u32(map + at) / IN_MEMORY : UINT32_MAX;
        at += there ? 4 : 0;
    }
    for (uint32_t i = BUCKETS; p->buckets && i--;) { /* an empty one ends where it begins */
        if (p->buckets[i] > end)
            p->buckets[i] = end;
        end = p->buckets[i];
    }
    free(map);
    if (p->buckets)
        p->buckets[BUCKETS] = n;
    return p->buckets || sp_pdb_nomem(p);
}

/* A record of a module that a reference names: that of a function of this name and type, and where it is. */
static bool globals_function(struct sp_pdb *p, uint32_t module, uint32_t at, uint32_t type, uint32_t item,
                             uint32_t *rva)
{
    unsigned char r[40];
    const struct sp_pdb_module *m = &p->modules.v[module];
    if (!sp_msf_read(&p->msf, m->stream, at, r, sizeof r))
        return false;
    uint32_t own = sp_pdb_u32(r + 28), kind = sp_pdb_u16(r + 2);
    bool is_item = kind == S_GPROC32_ID || kind == S_LPROC32_ID || kind == S_LPROC32_DPC_ID;
    return own == (is_item ? item : type) && sp_pdb_rva(p, sp_pdb_u16(r + 36), sp_pdb_u32(r + 32), rva);
}

/* One reference. *found: it is the function; *ended: nothing better can come. False: failed. */
static bool globals_try(struct sp_pdb *p, uint32_t module, struct sp_pdb_source *s, uint32_t where,
                        bool *found, bool *ended)
{
    unsigned char h[REF_HEAD];
    char name[NAME_MAX_BYTES];
    uint32_t rva;
    if (!sp_msf_read(&p->msf, p->symbols_stream, where, h, sizeof h))
        return !p->msf.failed || sp_pdb_damage(p);
    uint32_t kind = sp_pdb_u16(h + 2), of = sp_pdb_u16(h + 12), n = sp_pdb_u16(h) + 2u;
    size_t len = strlen(s->name);
    if ((kind != S_PROCREF && kind != S_LPROCREF) || !of || of > p->modules.n || n < REF_HEAD + len + 1 ||
        len + 1 > sizeof name)
        return true;
    if (!sp_msf_read(&p->msf, p->symbols_stream, where + REF_HEAD, name, len + 1))
        return !p->msf.failed || sp_pdb_damage(p);
    bool local = kind == S_LPROCREF, here = of - 1 == module;
    if (memcmp(name, s->name, len + 1) != 0 || (local && !here))
        return true;
    if (!globals_function(p, of - 1, sp_pdb_u32(h + 8), s->type, s->item, &rva))
        return !p->msf.failed || sp_pdb_damage(p);
    *found = true;
    *ended = here;
    s->local = local;
    return sp_pdb_public_of(p, rva, s->name, &s->linkage);
}

bool sp_pdb_own_code(struct sp_pdb *p, const struct sp_pdb_module *m, struct sp_pdb_source *s)
{
    unsigned char record[RECORD_BYTES];
    bool found = false, ended = false;
    struct sp_pdb_name named;
    if (s->asked)
        return true;
    s->asked = true;
    if (!sp_pdb_item(p, s->item, &named))
        return false;
    s->name = named.name;
    s->type = named.type;
    s->local = !named.member; /* for want of code of its own, see above */
    if (!s->name || !globals_load(p) || !p->buckets)
        return !p->failed;
    uint32_t b = globals_hash(s->name), from = p->buckets[b], to = p->buckets[b + 1];
    for (uint32_t i = from; i < to && i - from < CHAIN_MAX && !ended; i++) {
        if (!sp_msf_read(&p->msf, p->globals_stream, HASH_HEADER + i * RECORD_BYTES, record, sizeof record))
            return sp_pdb_damage(p);
        uint32_t where = sp_pdb_u32(record);
        if (where && !globals_try(p, (uint32_t)(m - p->modules.v), s, where - 1, &found, &ended))
            return false;
    }
    return true;
}
