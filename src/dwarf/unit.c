/*
 * Units: what their first entries say, and which addresses they cover.
 *
 * A unit says in its first entry what it covers; where one does not, .debug_aranges is asked. Where
 * neither says anything of any unit, all entries are looked through once.
 */
#include "dwarf/private.h"

/* Raw values of a first entry; strings and addresses of some need bases that stand in others. */
struct root {
    struct sp_dw_value name, comp_dir, dwo_name, producer, low, high, ranges;
};

static void take_root(struct sp_dw_unit *u, struct root *r, uint16_t at, const struct sp_dw_value *v)
{
    switch (at) {
    case AT_name:
        r->name = *v;
        break;
    case AT_producer:
        r->producer = *v;
        break;
    case AT_comp_dir:
        r->comp_dir = *v;
        break;
    case AT_dwo_name:
    case AT_GNU_dwo_name:
        r->dwo_name = *v;
        break;
    case AT_low_pc:
        r->low = *v;
        break;
    case AT_high_pc:
        r->high = *v;
        break;
    case AT_ranges:
        r->ranges = *v;
        break;
    case AT_language:
        u->language = v->u <= UINT16_MAX ? (uint16_t)v->u : 0;
        break;
    case AT_stmt_list:
        u->has_lines = true;
        u->line_off = v->u;
        break;
    case AT_str_offsets_base:
        u->str_base = v->u;
        break;
    case AT_addr_base:
    case AT_GNU_addr_base:
        u->addr_base = v->u;
        break;
    case AT_rnglists_base:
        u->rng_base = v->u;
        break;
    case AT_GNU_ranges_base:
        u->ranges_base = v->u;
        break;
    case AT_GNU_dwo_id:
        u->dwo_id = v->u;
        break;
    default:
        break;
    }
}

/*
 * By the first abbreviation of its code among the first bytes of its table, where it is as a rule: the others
 * may never be needed. *found is false where it is not there.
 */
static bool scan_root(struct sp_dwarf *d, struct sp_dw_unit *u, struct root *r, bool *found)
{
    struct sp_dw_cursor c = sp_dw_at(u->f, DW_INFO, u->die, u->end);
    uint64_t code = sp_dw_uleb(&c);
    struct sp_dw_value v;
    struct sp_dw_cursor a = sp_dw_at(u->f, DW_ABBREV, u->abbrev_off, u->abbrev_off + DW_ROOT_SCAN);
    for (*found = false; code && !a.bad && !*found;) {
        uint64_t this = sp_dw_uleb(&a), tag = sp_dw_uleb(&a);
        *found = this && this == code;
        if (!this)
            return false;
        if (*found)
            u->tag = (uint16_t)tag;
        sp_dw_skip(&a, 1);
        for (;;) {
            uint64_t at = sp_dw_uleb(&a), form = sp_dw_uleb(&a);
            int64_t implicit = form == FORM_implicit_const ? sp_dw_sleb(&a) : 0;
            if ((!at && !form) || a.bad)
                break;
            if (!*found)
                continue;
            sp_dw_value(d, u, &c, form > UINT16_MAX ? 0 : (uint16_t)form, implicit, &v);
            if (at <= UINT16_MAX)
                take_root(u, r, (uint16_t)at, &v);
        }
    }
    *found = *found && !a.bad;
    return *found && !c.bad;
}

/* The first entry of u, with the values not yet resolved; false: there is none. */
static bool read_root(struct sp_dwarf *d, struct sp_dw_unit *u, struct root *r)
{
    struct sp_dw_value v;
    bool found;
    *r = (struct root){0};
    bool ok = scan_root(d, u, r, &found);
    const struct sp_dw_abbrevs *t = found ? NULL : sp_dw_abbrevs_of(d, u);
    struct sp_dw_cursor c = sp_dw_at(u->f, DW_INFO, u->die, u->end);
    const struct sp_dw_abbrev *a = t ? sp_dw_abbrev_find(t, sp_dw_uleb(&c)) : NULL;
    if (t && !a)
        sp_dw_lacks(u->f, DW_ABBREV);
    if (!a)
        return ok;
    u->tag = a->tag;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct sp_dw_spec *s = &t->specs.v[a->first + i];
        sp_dw_value(d, u, &c, s->form, s->implicit, &v);
        take_root(u, r, s->at, &v);
    }
    return !c.bad;
}

static void default_bases(struct sp_dw_unit *u)
{
    if (u->f->split && u->version >= 5) {
        /* Behind the header of the unit's part of the section. */
        u->str_base = u->parts.str_offsets.off + (u->off_size == 8 ? 16 : 8);
        u->rng_base = u->parts.rnglists.off + (u->off_size == 8 ? 20 : 12);
    } else if (u->f->split) {
        u->str_base = u->parts.str_offsets.off;
    }
}

/* As GCC does before 13: "GNU C++17 12.2.0 …". */
static bool numbers_lambdas_alike(const char *producer)
{
    const char *digits = producer && !strncmp(producer, "GNU C++", 7) ? strchr(producer + 7, ' ') : NULL;
    return digits && strtoul(digits + 1, NULL, 10) < 13;
}

static void take_values(struct sp_dw_unit *u, const struct root *r)
{
    u->comp_dir = sp_dw_text(u, &r->comp_dir);
    u->name = sp_dw_text(u, &r->name);
    u->old_lambdas = numbers_lambdas_alike(sp_dw_text(u, &r->producer));
    u->dwo_name = sp_dw_text(u, &r->dwo_name);
    if (r->low.is && !sp_dw_address(u, &r->low, &u->low_pc))
        u->low_pc = 0;
    if (r->high.is == DW_NUMBER)
        u->high_pc = u->low_pc + r->high.u;
    else if (r->high.is && !sp_dw_address(u, &r->high, &u->high_pc))
        u->high_pc = 0;
}

void sp_dw_unit_root(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    struct root r;
    u->rooted = true;
    default_bases(u);
    if (!u->damaged && read_root(d, u, &r))
        take_values(u, &r);
}

/* The functions of a unit. */
static bool cover_by_inlines(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    const struct sp_dw_inlines *in = &u->inlines;
    if (!sp_dw_inlines_build(d, u))
        return false;
    for (size_t k = 0; k + 1 < in->seg.n; k++) {
        struct sp_dw_cover c = {in->seg.v[k], {in->seg.v[k + 1], 0}, (uint32_t)(u - u->f->units.v)};
        if (in->seg_node.v[k] != DW_NO_NODE && !sp_vec_push(&d->covers, c))
            return false;
    }
    return true;
}

/* A unit whose list is empty, and yet has functions: the list was lost. False: out of memory. */
static bool cover_by_functions(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    size_t before = d->covers.n;
    bool ok = cover_by_inlines(d, u);
    if (d->covers.n > before)
        sp_dw_lacks(u->f, u->version < 5 ? DW_RANGES : DW_RNGLISTS);
    return ok;
}

static bool cover_unit(struct sp_dwarf *d, struct sp_dw_unit *u, sp_dw_ranges *ranges)
{
    struct root r;
    ranges->n = 0;
    if (u->damaged || u->type == UT_type)
        return true;
    u->rooted = true;
    default_bases(u);
    if (!read_root(d, u, &r)) {
        u->damaged = true;
        u->f->damaged++;
        return true;
    }
    take_values(u, &r);
    if (u->tag == TAG_partial_unit || u->tag == TAG_type_unit)
        return true;
    bool ok = true, empty = false;
    /* The ranges of a skeleton of version 4 do not count from its ranges base. */
    uint64_t base = u->ranges_base;
    u->ranges_base = 0;
    if (r.ranges.is)
        ok = sp_dw_range_list(d, u, &r.ranges, ranges, &empty);
    else if (r.low.is && r.high.is)
        ok = sp_dw_range_add(u, ranges, u->low_pc, u->high_pc);
    u->ranges_base = base;
    /* Version 2 has no lists: what its units say is the largest of several stretches. */
    u->has_ranges = r.ranges.is || (r.high.is && u->version > 2);
    uint32_t number = (uint32_t)(u - u->f->units.v);
    for (size_t i = 0; ok && i < ranges->n; i++) {
        struct sp_dw_cover c = {ranges->v[i].lo, {ranges->v[i].hi, 0}, number};
        ok = sp_vec_push(&d->covers, c);
    }
    return ok && (!empty || cover_by_functions(d, u));
}

/* One set of .debug_aranges, for a unit that says nothing itself. */
static bool read_aranges(struct sp_dwarf *d, struct sp_dw_cursor c, unsigned off_size)
{
    const unsigned char *start = c.p - (off_size == 8 ? 12 : 4);
    struct sp_dw_file *f = d->main;
    sp_dw_skip(&c, 2);
    uint64_t off = sp_dw_fixed(&c, off_size);
    unsigned addr = (unsigned)sp_dw_fixed(&c, 1);
    sp_dw_skip(&c, 1);
    size_t lo = 0, hi = f->units.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (f->units.v[mid].off < off)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (c.bad || lo == f->units.n || f->units.v[lo].off != off || f->units.v[lo].has_ranges ||
        f->units.v[lo].damaged || (addr != 4 && addr != 8))
        return true;
    size_t odd = (size_t)(c.p - start) % (2 * (size_t)addr);
    sp_dw_skip(&c, odd ? 2 * addr - odd : 0);
    while (!c.bad && c.p < c.end) {
        uint64_t from = sp_dw_fixed(&c, addr), n = sp_dw_fixed(&c, addr);
        if (!from && !n)
            break;
        struct sp_dw_cover r = {from, {from + n, 0}, (uint32_t)lo};
        if (from > 1 && r.reach.hi > from && !sp_vec_push(&d->covers, r))
            return false;
    }
    return true;
}

static bool cover_by_aranges(struct sp_dwarf *d)
{
    struct sp_dw_cursor c = sp_dw_at(d->main, DW_ARANGES, 0, UINT64_MAX);
    while (c.p < c.end) {
        unsigned off_size = 4;
        uint64_t n = sp_dw_fixed(&c, 4);
        if (n == 0xffffffff) {
            off_size = 8;
            n = sp_dw_fixed(&c, 8);
        }
        if (c.bad || n > (uint64_t)(c.end - c.p))
            break;
        struct sp_dw_cursor set = {c.p, c.p + n, c.big, false};
        if (!read_aranges(d, set, off_size))
            return false;
        c.p += n;
    }
    return true;
}

/* What nobody says: the functions of every unit. */
static bool cover_by_entries(struct sp_dwarf *d)
{
    for (uint32_t i = 0; i < d->main->units.n && !sp_dw_excess(d); i++) {
        struct sp_dw_unit *u = &d->main->units.v[i];
        if (!u->damaged && u->tag == TAG_compile_unit && !cover_by_inlines(d, u))
            return false;
    }
    return true;
}

static int dwarf_unit_by_lo(const void *a, const void *b)
{
    const struct sp_dw_cover *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    if (x->reach.hi != y->reach.hi) /* the narrower one last: it is found first */
        return x->reach.hi > y->reach.hi ? -1 : 1;
    return x->unit > y->unit ? -1 : x->unit < y->unit;
}

spaa_status sp_dw_covers(struct sp_dwarf *d)
{
    sp_dw_ranges ranges = {0};
    bool ok = true, lacking = false;
    for (size_t i = 0; ok && i < d->main->units.n && !sp_dw_excess(d); i++) {
        struct sp_dw_unit *u = &d->main->units.v[i];
        ok = cover_unit(d, u, &ranges);
        lacking |= !u->has_ranges && !u->damaged && u->tag == TAG_compile_unit;
    }
    sp_vec_free(&ranges);
    if (ok && lacking && d->main->sec[DW_ARANGES].n)
        ok = cover_by_aranges(d);
    if (ok && !d->covers.n)
        ok = cover_by_entries(d);
    if (!ok)
        return SPAA_ERR_NOMEM;
    if (sp_dw_excess(d))
        sp_vec_free(&d->covers);
    if (!d->covers.n)
        return SPAA_OK;
    qsort(d->covers.v, d->covers.n, sizeof *d->covers.v, dwarf_unit_by_lo);
    sp_dw_reach_set(&d->covers.v->reach, sizeof *d->covers.v, d->covers.n);
    return SPAA_OK;
}
