/* The list of modules (what the linker was given), and which module each stretch of the image is from. */
#include "pdb/private.h"

enum {
    MODULE_BYTES = 64,
    PART_BYTES = 28,
    PART_BYTES_2 = 32,
    PIECE = 64 << 10, /* of a substream, read at a time */
};
#define PARTS_60 0xf12eba2du
#define PARTS_2  0xf13151e4u

bool sp_pdb_read_modules(struct sp_pdb *p, uint32_t at, uint32_t size)
{
    unsigned char *raw = sp_msf_load(&p->msf, 3, at, size);
    if (!raw)
        return sp_pdb_damage(p);
    bool ok = true;
    for (uint32_t i = 0; ok && size - i > MODULE_BYTES;) {
        const unsigned char *h = raw + i;
        size_t room = size - i - MODULE_BYTES, name = strnlen((const char *)h + MODULE_BYTES, room),
               object = name < room ? strnlen((const char *)h + MODULE_BYTES + name + 1, room - name - 1) : 0;
        if (name + 1 + object >= room) {
            p->damaged++;
            break;
        }
        struct sp_pdb_module m = {.stream = sp_pdb_u16(h + 34),
                                  .symbol_bytes = sp_pdb_u32(h + 36),
                                  .c11_bytes = sp_pdb_u32(h + 40),
                                  .c13_bytes = sp_pdb_u32(h + 44)};
        ok = sp_vec_push(&p->modules, m) || sp_pdb_nomem(p);
        uint64_t next = i + (((uint64_t)MODULE_BYTES + name + 1 + object + 1 + 3) & ~(uint64_t)3);
        i = next < size ? (uint32_t)next : size;
    }
    free(raw);
    return ok;
}

static bool parts_add(struct sp_pdb *p, const unsigned char *h)
{
    uint32_t rva, size = sp_pdb_u32(h + 8), module = sp_pdb_u16(h + 16);
    if (!size || module >= p->modules.n || !sp_pdb_rva(p, sp_pdb_u16(h), sp_pdb_u32(h + 4), &rva))
        return true;
    if (size > UINT32_MAX - rva)
        size = UINT32_MAX - rva;
    return sp_vec_push(&p->parts, ((struct sp_pdb_part){rva, size, module})) || sp_pdb_nomem(p);
}

static int parts_by_rva(const void *a, const void *b)
{
    const struct sp_pdb_part *x = a, *y = b;
    if (x->rva != y->rva)
        return x->rva < y->rva ? -1 : 1;
    return (x->module > y->module) - (x->module < y->module);
}

bool sp_pdb_read_parts(struct sp_pdb *p, uint32_t at, uint32_t size)
{
    unsigned char head[4], *piece = malloc(PIECE);
    bool ok = piece || sp_pdb_nomem(p), sorted = true;
    if (!ok || size < 4 || !sp_msf_read(&p->msf, 3, at, head, 4)) {
        free(piece);
        return ok && (size < 4 || sp_pdb_damage(p));
    }
    uint32_t version = sp_pdb_u32(head), each = version == PARTS_2 ? PART_BYTES_2 : PART_BYTES;
    uint32_t left = version == PARTS_2 || version == PARTS_60 ? (size - 4) / each : 0, most = PIECE / each;
    p->damaged += !left;
    for (at += 4; ok && left;) {
        uint32_t n = left < most ? left : most;
        if (!sp_msf_read(&p->msf, 3, at, piece, (size_t)n * each)) {
            ok = sp_pdb_damage(p);
            break;
        }
        for (uint32_t i = 0; ok && i < n; i++)
            ok = parts_add(p, piece + (size_t)i * each);
        at += n * each;
        left -= n;
    }
    free(piece);
    for (size_t i = 1; i < p->parts.n; i++)
        sorted &= parts_by_rva(&p->parts.v[i - 1], &p->parts.v[i]) <= 0;
    if (!sorted)
        qsort(p->parts.v, p->parts.n, sizeof *p->parts.v, parts_by_rva);
    return ok;
}

const struct sp_pdb_part *sp_pdb_part_at(const struct sp_pdb *p, uint32_t rva)
{
    size_t lo = 0, hi = p->parts.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (p->parts.v[mid].rva <= rva)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && rva - p->parts.v[lo - 1].rva < p->parts.v[lo - 1].size ? &p->parts.v[lo - 1] : NULL;
}
