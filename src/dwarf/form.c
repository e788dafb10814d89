/* The values of attributes, and abbreviations. */
#include "dwarf/private.h"

#include "base/hash.h"

/* Bytes of a form where its size is fixed for the unit; -1 where it is not. */
static int dwarf_form_size_of(uint16_t form, const struct sp_dw_unit *u)
{
    switch (form) {
    case FORM_flag_present:
    case FORM_implicit_const:
        return 0;
    case FORM_data1:
    case FORM_ref1:
    case FORM_flag:
    case FORM_strx1:
    case FORM_addrx1:
        return 1;
    case FORM_data2:
    case FORM_ref2:
    case FORM_strx2:
    case FORM_addrx2:
        return 2;
    case FORM_strx3:
    case FORM_addrx3:
        return 3;
    case FORM_data4:
    case FORM_ref4:
    case FORM_strx4:
    case FORM_addrx4:
    case FORM_ref_sup4:
        return 4;
    case FORM_data8:
    case FORM_ref8:
    case FORM_ref_sig8:
    case FORM_ref_sup8:
        return 8;
    case FORM_data16:
        return 16;
    case FORM_addr:
        return u->addr_size;
    case FORM_ref_addr:
        return u->version <= 2 ? u->addr_size : u->off_size;
    case FORM_strp:
    case FORM_line_strp:
    case FORM_strp_sup:
    case FORM_sec_offset:
    case FORM_GNU_ref_alt:
    case FORM_GNU_strp_alt:
        return u->off_size;
    default:
        return -1;
    }
}

static void skip_varying(const struct sp_dw_unit *u, struct sp_dw_cursor *c, uint16_t form)
{
    for (unsigned hops = 0; form == FORM_indirect && hops < 8; hops++)
        form = (uint16_t)sp_dw_uleb(c);
    int n = dwarf_form_size_of(form, u);
    if (n >= 0) {
        sp_dw_skip(c, (unsigned)n);
        return;
    }
    switch (form) {
    case FORM_block1:
        sp_dw_skip(c, sp_dw_fixed(c, 1));
        return;
    case FORM_block2:
        sp_dw_skip(c, sp_dw_fixed(c, 2));
        return;
    case FORM_block4:
        sp_dw_skip(c, sp_dw_fixed(c, 4));
        return;
    case FORM_block:
    case FORM_exprloc:
        sp_dw_skip(c, sp_dw_uleb(c));
        return;
    case FORM_string:
        sp_dw_cstr(c);
        return;
    case FORM_udata:
    case FORM_sdata:
    case FORM_ref_udata:
    case FORM_strx:
    case FORM_addrx:
    case FORM_loclistx:
    case FORM_rnglistx:
    case FORM_GNU_addr_index:
    case FORM_GNU_str_index:
        sp_dw_uleb(c);
        return;
    default: /* nobody knows how long it is */
        sp_dw_bad(c);
    }
}

void sp_dw_skip_attributes(const struct sp_dw_unit *u, const struct sp_dw_abbrevs *t,
                           const struct sp_dw_abbrev *a, struct sp_dw_cursor *c)
{
    const struct sp_dw_step *s = t->steps.v + a->first_step;
    for (uint32_t i = 0; i < a->nsteps; i++) {
        if (s[i].form == FORM_udata)
            sp_dw_uleb(c);
        else if (s[i].form)
            skip_varying(u, c, s[i].form);
        else
            sp_dw_skip(c, s[i].n);
    }
}

static bool fixed_class(uint16_t form, enum sp_dw_class *is)
{
    switch (form) {
    case FORM_addr:
        *is = DW_ADDRESS;
        return true;
    case FORM_data1:
    case FORM_data2:
    case FORM_data4:
    case FORM_data8:
    case FORM_flag:
        *is = DW_NUMBER;
        return true;
    case FORM_addrx1:
    case FORM_addrx2:
    case FORM_addrx3:
    case FORM_addrx4:
        *is = DW_ADDRESS_INDEX;
        return true;
    case FORM_strx1:
    case FORM_strx2:
    case FORM_strx3:
    case FORM_strx4:
        *is = DW_STRING_INDEX;
        return true;
    case FORM_ref1:
    case FORM_ref2:
    case FORM_ref4:
    case FORM_ref8:
    case FORM_ref_addr:
        *is = DW_REF;
        return true;
    case FORM_ref_sup4:
    case FORM_ref_sup8:
    case FORM_GNU_ref_alt:
        *is = DW_REF_ALT;
        return true;
    case FORM_sec_offset:
        *is = DW_OFFSET;
        return true;
    default:
        return false;
    }
}

void sp_dw_value(struct sp_dwarf *d, const struct sp_dw_unit *u, struct sp_dw_cursor *c, uint16_t form,
                 int64_t implicit, struct sp_dw_value *v)
{
    for (unsigned hops = 0; form == FORM_indirect && hops < 8; hops++)
        form = (uint16_t)sp_dw_uleb(c);
    *v = (struct sp_dw_value){0};
    if (fixed_class(form, &v->is)) {
        v->u = sp_dw_fixed(c, (unsigned)dwarf_form_size_of(form, u));
        if (v->is == DW_REF && form != FORM_ref_addr)
            v->u += u->off;
        return;
    }
    struct sp_dw_file *alt;
    switch (form) {
    case FORM_udata:
        v->is = DW_NUMBER;
        v->u = sp_dw_uleb(c);
        return;
    case FORM_sdata:
        v->is = DW_NUMBER;
        v->u = (uint64_t)sp_dw_sleb(c);
        return;
    case FORM_implicit_const:
        v->is = DW_NUMBER;
        v->u = (uint64_t)implicit;
        return;
    case FORM_flag_present:
        v->is = DW_NUMBER;
        v->u = 1;
        return;
    case FORM_ref_udata:
        v->is = DW_REF;
        v->u = u->off + sp_dw_uleb(c);
        return;
    case FORM_addrx:
    case FORM_GNU_addr_index:
        v->is = DW_ADDRESS_INDEX;
        v->u = sp_dw_uleb(c);
        return;
    case FORM_strx:
    case FORM_GNU_str_index:
        v->is = DW_STRING_INDEX;
        v->u = sp_dw_uleb(c);
        return;
    case FORM_rnglistx:
        v->is = DW_RNG_INDEX;
        v->u = sp_dw_uleb(c);
        return;
    case FORM_string:
        v->s = sp_dw_cstr(c);
        v->is = DW_STRING;
        return;
    case FORM_strp:
    case FORM_line_strp:
        v->s = sp_dw_string_at(u->f, form == FORM_strp ? DW_STR : DW_LINE_STR, sp_dw_fixed(c, u->off_size));
        v->is = DW_STRING;
        return;
    case FORM_strp_sup:
    case FORM_GNU_strp_alt:
        v->u = sp_dw_fixed(c, u->off_size);
        alt = sp_dw_alt_referred(d, u->f);
        v->s = alt ? sp_dw_string_at(alt, DW_STR, v->u) : NULL;
        v->is = DW_STRING;
        return;
    default:
        skip_varying(u, c, form);
    }
}

/*
 * Whether an entry of the unit's table of string offsets, which is 0, was zeroed with the others around it:
 * strings are in a table once, so that no two entries are 0. Before the first one of version 5 stands the
 * header, which is not 0 either.
 */
static bool is_zeroed_entry(const struct sp_dw_unit *u, uint64_t index)
{
    const struct sp_dw_file *f = u->f;
    uint64_t at = u->str_base + index * u->off_size, end = UINT64_MAX;
    if (u->parts.str_offsets.n)
        end = u->parts.str_offsets.off + u->parts.str_offsets.n;
    struct sp_dw_cursor after = sp_dw_at(f, DW_STR_OFFSETS, at + u->off_size, end);
    if (!sp_dw_fixed(&after, u->off_size) && !after.bad)
        return true;
    if ((!index && u->version < 5) || at < u->off_size)
        return false;
    struct sp_dw_cursor before = sp_dw_at(f, DW_STR_OFFSETS, at - u->off_size, end);
    return !sp_dw_fixed(&before, u->off_size) && !before.bad;
}

const char *sp_dw_text(const struct sp_dw_unit *u, const struct sp_dw_value *v)
{
    if (v->is == DW_STRING)
        return v->s;
    if (v->is != DW_STRING_INDEX || v->u > DW_SIZE_MAX)
        return NULL;
    struct sp_dw_cursor c = sp_dw_at(u->f, DW_STR_OFFSETS, u->str_base + v->u * u->off_size, UINT64_MAX);
    uint64_t off = sp_dw_fixed(&c, u->off_size);
    bool lacks = c.bad || (!off && is_zeroed_entry(u, v->u));
    if (lacks)
        sp_dw_lacks(u->f, DW_STR_OFFSETS);
    return lacks ? NULL : sp_dw_string_at(u->f, DW_STR, off);
}

/*
 * Whether an address that no code has was zeroed, or overwritten with ones, with those around it. Linkers
 * leave such addresses of what they threw away, but not the header of the table (version 5) nor all addresses
 * (earlier).
 */
static bool is_lost_address(const struct sp_dw_unit *u, uint64_t addr, unsigned size)
{
    const struct sp_dw_file *f = u->f;
    if (addr && addr != (size >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * size) - 1))
        return false;
    if (u->version < 5)
        return f->no_addresses;
    struct sp_dw_cursor c = sp_dw_at(f, DW_ADDR, u->addr_base - 4, UINT64_MAX);
    return u->addr_base >= 8 && sp_dw_fixed(&c, 2) != 5;
}

bool sp_dw_indexed_address(const struct sp_dw_unit *u, uint64_t index, uint64_t *addr)
{
    const struct sp_dw_unit *s = u->skeleton ? u->skeleton : u;
    if (index > DW_SIZE_MAX)
        return false;
    struct sp_dw_cursor c = sp_dw_at(s->f, DW_ADDR, s->addr_base + index * u->addr_size, UINT64_MAX);
    *addr = sp_dw_fixed(&c, u->addr_size);
    if (c.bad || is_lost_address(s, *addr, u->addr_size))
        sp_dw_lacks(s->f, DW_ADDR);
    return !c.bad;
}

bool sp_dw_address(const struct sp_dw_unit *u, const struct sp_dw_value *v, uint64_t *addr)
{
    *addr = v->u;
    return v->is == DW_ADDRESS || (v->is == DW_ADDRESS_INDEX && sp_dw_indexed_address(u, v->u, addr));
}

static bool add_step(struct sp_dw_abbrevs *t, struct sp_dw_abbrev *a, uint16_t form, int fixed)
{
    bool uleb = form == FORM_sdata || form == FORM_ref_udata || form == FORM_strx || form == FORM_addrx ||
                form == FORM_loclistx || form == FORM_rnglistx || form == FORM_GNU_addr_index ||
                form == FORM_GNU_str_index;
    struct sp_dw_step *last = a->nsteps ? &t->steps.v[t->steps.n - 1] : NULL;
    if (!fixed)
        return true;
    if (fixed > 0 && last && !last->form && last->n < UINT16_MAX - 16) {
        last->n = (uint16_t)(last->n + fixed);
        return true;
    }
    struct sp_dw_step s = {fixed > 0 ? 0 : uleb ? FORM_udata : form, fixed > 0 ? (uint16_t)fixed : 0};
    a->nsteps++;
    return sp_vec_push(&t->steps, s);
}

static bool read_abbrev(const struct sp_dw_unit *u, struct sp_dw_cursor *c, struct sp_dw_abbrevs *t)
{
    struct sp_dw_abbrev a = {.code = sp_dw_uleb(c)};
    if (!a.code || c->bad)
        return true;
    a.tag = (uint16_t)sp_dw_uleb(c);
    a.children = sp_dw_fixed(c, 1);
    a.first = (uint32_t)t->specs.n;
    a.first_step = (uint32_t)t->steps.n;
    for (unsigned free = 0;;) {
        uint64_t at = sp_dw_uleb(c), form = sp_dw_uleb(c);
        if ((!at && !form) || c->bad)
            break;
        struct sp_dw_spec s = {.at = at > UINT16_MAX ? 0 : (uint16_t)at,
                               .form = form > UINT16_MAX ? 0 : (uint16_t)form};
        if (form == FORM_implicit_const)
            s.implicit = sp_dw_sleb(c);
        int size = dwarf_form_size_of(s.form, u);
        if (!size && ++free > DW_FREE_SPECS) { /* each entry would cost more than its bytes */
            c->bad = true;
            return true;
        }
        a.has_code |= s.at == AT_low_pc || s.at == AT_ranges;
        a.has_sibling |= s.at == AT_sibling;
        if (!sp_vec_push(&t->specs, s) || !add_step(t, &a, s.form, size))
            return false;
    }
    a.n = (uint32_t)t->specs.n - a.first;
    t->dense &= a.code == t->list.n + 1;
    return sp_vec_push(&t->list, a);
}

static int by_code(const void *a, const void *b)
{
    const struct sp_dw_abbrev *x = a, *y = b;
    return x->code < y->code ? -1 : x->code > y->code;
}

static void free_abbrevs(struct sp_dw_abbrevs *t)
{
    if (!t)
        return;
    sp_vec_free(&t->list);
    sp_vec_free(&t->specs);
    sp_vec_free(&t->steps);
    free(t);
}

static struct sp_dw_abbrevs *read_abbrevs(struct sp_dwarf *d, const struct sp_dw_unit *u)
{
    struct sp_dw_abbrevs *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct sp_dw_abbrevs){.off = u->abbrev_off,
                                .f = u->f,
                                .addr_size = u->addr_size,
                                .off_size = u->off_size,
                                .version = u->version,
                                .dense = true};
    struct sp_dw_cursor c = sp_dw_at(u->f, DW_ABBREV, u->abbrev_off, UINT64_MAX);
    const unsigned char *start = c.p;
    bool ok = true;
    for (size_t before = SIZE_MAX; ok && before != t->list.n;) {
        before = t->list.n;
        if (d->abbrev_total + t->list.n + t->specs.n < DW_ABBREVS_MAX)
            ok = read_abbrev(u, &c, t);
    }
    if (c.bad)
        sp_dw_lacks(u->f, DW_ABBREV);
    /* Tables may begin within one another. */
    ok = ok && sp_dw_spend(d, u->f, DW_ABBREV, (size_t)(c.p - start));
    if (ok && !t->dense)
        qsort(t->list.v, t->list.n, sizeof *t->list.v, by_code);
    if (ok)
        return t;
    free_abbrevs(t);
    return NULL;
}

const struct sp_dw_abbrevs *sp_dw_abbrevs_of(struct sp_dwarf *d, const struct sp_dw_unit *u)
{
    uint64_t sizes = (uint64_t)u->version << 16 | (uint64_t)u->off_size << 8 | u->addr_size;
    uint64_t hash = sp_hash_mix(u->abbrev_off ^ (uintptr_t)u->f, sizes);
    struct sp_dw_abbrevs *t = NULL;
    pthread_mutex_lock(&d->lock);
    struct sp_probe at = sp_map_probe(&d->abbrev_map, hash);
    for (uint32_t i; !t && (i = sp_map_next(&d->abbrev_map, &at)) != SP_MAP_NONE;) {
        struct sp_dw_abbrevs *k = d->abbrevs.v[i];
        if (k->off == u->abbrev_off && k->f == u->f && k->addr_size == u->addr_size &&
            k->off_size == u->off_size && k->version == u->version)
            t = k;
    }
    if (!t && d->abbrev_total < DW_ABBREVS_MAX && !sp_dw_excess(d)) {
        t = read_abbrevs(d, u);
        if (t && (!sp_vec_reserve(&d->abbrevs, d->abbrevs.n + 1) ||
                  !sp_map_add(&d->abbrev_map, hash, (uint32_t)d->abbrevs.n))) {
            free_abbrevs(t);
            t = NULL;
        }
        if (t) {
            d->abbrevs.v[d->abbrevs.n++] = t;
            d->abbrev_total += t->list.n + t->specs.n;
        } else if (!sp_dw_excess(d)) {
            sp_dw_fail(d, SPAA_ERR_NOMEM);
        }
    }
    pthread_mutex_unlock(&d->lock);
    return t;
}

void sp_dw_abbrevs_free(struct sp_dwarf *d)
{
    for (size_t i = 0; i < d->abbrevs.n; i++)
        free_abbrevs(d->abbrevs.v[i]);
    sp_vec_free(&d->abbrevs);
    sp_map_free(&d->abbrev_map);
}

const struct sp_dw_abbrev *sp_dw_abbrev_find(const struct sp_dw_abbrevs *t, uint64_t code)
{
    if (t->dense)
        return code - 1 < t->list.n ? &t->list.v[code - 1] : NULL;
    struct sp_dw_abbrev key = {.code = code};
    return t->list.n ? bsearch(&key, t->list.v, t->list.n, sizeof key, by_code) : NULL;
}
