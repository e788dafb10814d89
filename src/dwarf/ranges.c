/*
 * Lists of address ranges: .debug_ranges of versions up to 4, .debug_rnglists of version 5.
 *
 * Linkers leave the entries of functions they threw away with an address that no code has: 0, 1 (GNU ld
 * in .debug_ranges) or the highest ones (lld). Such ranges are left out.
 *
 * Compilers refer to no list that is empty. Of version 5 one was lost; of earlier ones gold makes some of
 * units it threw away.
 */
#include "dwarf/private.h"

enum {
    RLE_end,
    RLE_base_addressx,
    RLE_startx_endx,
    RLE_startx_length,
    RLE_offset_pair,
    RLE_base_address,
    RLE_start_end,
    RLE_start_length
};

bool sp_dw_range_add(const struct sp_dw_unit *u, sp_dw_ranges *out, uint64_t lo, uint64_t hi)
{
    uint64_t max = u->addr_size >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * u->addr_size) - 1;
    struct sp_dw_range r = {lo, hi};
    bool is_code = lo > 1 && lo < hi && lo < max - 1 && out->n < DW_RANGES_MAX;
    return !is_code || sp_vec_push(out, r);
}

/* Entries may share a list, and lists their tails. */
static void spend(struct sp_dwarf *d, struct sp_dw_file *f, enum sp_dw_section s, const unsigned char *start,
                  const struct sp_dw_cursor *c)
{
    if (start)
        sp_dw_spend(d, f, s, (size_t)(c->p - start));
}

static bool old_list(struct sp_dwarf *d, const struct sp_dw_unit *u, uint64_t off, sp_dw_ranges *out,
                     bool *empty)
{
    /* Of split units version 4, the lists stand in the file with the skeleton. */
    const struct sp_dw_unit *s = u->skeleton ? u->skeleton : u;
    struct sp_dw_cursor c = sp_dw_at(s->f, DW_RANGES, off + s->ranges_base, UINT64_MAX);
    const unsigned char *start = c.p;
    uint64_t base = s->low_pc, max = u->addr_size >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * u->addr_size) - 1;
    for (;;) {
        uint64_t lo = sp_dw_fixed(&c, u->addr_size), hi = sp_dw_fixed(&c, u->addr_size);
        *empty = !lo && !hi && (size_t)(c.p - start) == 2u * u->addr_size;
        if (c.bad || (!lo && !hi))
            break;
        if (lo == max)
            base = hi;
        else if (!sp_dw_range_add(u, out, base + lo, base + hi))
            return false;
    }
    if (c.bad)
        sp_dw_lacks(s->f, DW_RANGES);
    spend(d, s->f, DW_RANGES, start, &c);
    return true;
}

static bool new_list(struct sp_dwarf *d, const struct sp_dw_unit *u, uint64_t off, sp_dw_ranges *out,
                     bool *empty)
{
    const struct sp_dw_unit *s = u->skeleton ? u->skeleton : u;
    struct sp_dw_cursor c = sp_dw_at(u->f, DW_RNGLISTS, off, UINT64_MAX);
    const unsigned char *start = c.p;
    uint64_t base = s->low_pc;
    for (bool end = false; !c.bad && !end;) {
        unsigned kind = (unsigned)sp_dw_fixed(&c, 1);
        uint64_t lo = 0, hi = 0;
        bool ok = true;
        switch (kind) {
        case RLE_end:
            end = true;
            *empty = c.p == start + 1;
            continue;
        case RLE_base_addressx:
            if (!sp_dw_indexed_address(u, sp_dw_uleb(&c), &base))
                base = 0;
            continue;
        case RLE_base_address:
            base = sp_dw_fixed(&c, u->addr_size);
            continue;
        case RLE_startx_endx:
            ok = sp_dw_indexed_address(u, sp_dw_uleb(&c), &lo);
            ok = sp_dw_indexed_address(u, sp_dw_uleb(&c), &hi) && ok;
            break;
        case RLE_startx_length:
            ok = sp_dw_indexed_address(u, sp_dw_uleb(&c), &lo);
            hi = lo + sp_dw_uleb(&c);
            break;
        case RLE_offset_pair:
            lo = base + sp_dw_uleb(&c);
            hi = base + sp_dw_uleb(&c);
            break;
        case RLE_start_end:
            lo = sp_dw_fixed(&c, u->addr_size);
            hi = sp_dw_fixed(&c, u->addr_size);
            break;
        case RLE_start_length:
            lo = sp_dw_fixed(&c, u->addr_size);
            hi = lo + sp_dw_uleb(&c);
            break;
        default: /* nobody knows how long it is */
            sp_dw_bad(&c);
            continue;
        }
        if (!c.bad && ok && !sp_dw_range_add(u, out, lo, hi))
            return false;
    }
    if (c.bad || *empty)
        sp_dw_lacks(u->f, DW_RNGLISTS);
    spend(d, u->f, DW_RNGLISTS, start, &c);
    return true;
}

bool sp_dw_range_list(struct sp_dwarf *d, const struct sp_dw_unit *u, const struct sp_dw_value *v,
                      sp_dw_ranges *out, bool *empty)
{
    uint64_t off = v->u;
    *empty = false;
    if ((v->is != DW_OFFSET && v->is != DW_NUMBER && v->is != DW_RNG_INDEX) || sp_dw_excess(d))
        return true;
    if (u->version < 5)
        return old_list(d, u, off, out, empty);
    if (v->is == DW_RNG_INDEX) {
        if (off > DW_SIZE_MAX)
            return true;
        struct sp_dw_cursor c = sp_dw_at(u->f, DW_RNGLISTS, u->rng_base + off * u->off_size, UINT64_MAX);
        off = u->rng_base + sp_dw_fixed(&c, u->off_size);
        if (c.bad) {
            sp_dw_lacks(u->f, DW_RNGLISTS);
            return true;
        }
    }
    return new_list(d, u, off, out, empty);
}
