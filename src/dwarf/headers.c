/* The headers of the units of a file. */
#include "dwarf/private.h"

/* Reads the header at c; false at the end of what can be read. *u is filled up to `die`. */
static bool headers_read_header(struct sp_dw_file *f, struct sp_dw_cursor *c, struct sp_dw_unit *u)
{
    const unsigned char *start = f->sec[DW_INFO].p;
    *u = (struct sp_dw_unit){.f = f, .off = (uint64_t)(c->p - start), .off_size = 4};
    uint64_t n = sp_dw_fixed(c, 4);
    if (n == 0xffffffff) {
        u->off_size = 8;
        n = sp_dw_fixed(c, 8);
    }
    if (c->bad || n > (uint64_t)(c->end - c->p) || n < 7)
        return false;
    struct sp_dw_cursor h = {c->p, c->p + n, c->big, false};
    c->p += n;
    u->end = (uint64_t)(c->p - start);
    u->version = (uint8_t)sp_dw_fixed(&h, 2);
    u->type = UT_compile;
    if (u->version >= 5) {
        u->type = (uint8_t)sp_dw_fixed(&h, 1);
        u->addr_size = (uint8_t)sp_dw_fixed(&h, 1);
        u->abbrev_off = sp_dw_fixed(&h, u->off_size);
        if (u->type == UT_skeleton || u->type == UT_split_compile)
            u->dwo_id = sp_dw_fixed(&h, 8);
        else if (u->type == UT_type || u->type == UT_split_type)
            sp_dw_skip(&h, 8 + (uint64_t)u->off_size);
    } else {
        u->abbrev_off = sp_dw_fixed(&h, u->off_size);
        u->addr_size = (uint8_t)sp_dw_fixed(&h, 1);
    }
    u->die = (uint64_t)(h.p - start);
    bool known = u->version >= 2 && u->version <= 5 && !h.bad &&
                 (u->addr_size == 4 || u->addr_size == 8 || u->addr_size == 2);
    u->damaged = !known;
    return true;
}

spaa_status sp_dw_units(struct sp_dwarf *d, struct sp_dw_file *f)
{
    struct sp_dw_cursor c = sp_dw_at(f, DW_INFO, 0, UINT64_MAX);
    struct sp_dw_unit u;
    while (c.p < c.end && headers_read_header(f, &c, &u)) {
        f->damaged += u.damaged;
        if (f->units.n >= UINT32_MAX - 1 || !sp_vec_push(&f->units, u))
            return SPAA_ERR_NOMEM;
    }
    if (c.bad || c.p < c.end)
        sp_dw_lacks(f, DW_INFO);
    if (f->excess)
        d->excess = true;
    return SPAA_OK;
}

struct sp_dw_unit *sp_dw_unit_at(struct sp_dw_file *f, uint64_t off)
{
    size_t lo = 0, hi = f->units.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (f->units.v[mid].off <= off)
            lo = mid + 1;
        else
            hi = mid;
    }
    struct sp_dw_unit *u = lo ? &f->units.v[lo - 1] : NULL;
    return u && off >= u->die && off < u->end && !u->damaged ? u : NULL;
}
