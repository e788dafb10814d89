/*
 * Entries one by one: what an entry says, and those that stand right below it. For what is asked of few
 * entries; inlines.c walks them all.
 */
#include "dwarf/private.h"

struct sp_dw_unit *sp_dw_referred(struct sp_dwarf *d, struct sp_dw_unit *u, const struct sp_dw_value *ref)
{
    if (ref->is != DW_REF && ref->is != DW_REF_ALT)
        return NULL;
    struct sp_dw_file *f = ref->is == DW_REF ? u->f : sp_dw_alt_referred(d, u->f);
    if (f == u->f && ref->u >= u->die && ref->u < u->end)
        return u;
    struct sp_dw_unit *to = f ? sp_dw_unit_at(f, ref->u) : NULL;
    if (f && !to)
        sp_dw_lacks(f, DW_INFO);
    if (to && !to->rooted) /* where its strings are */
        sp_dw_unit_root(d, to);
    return to;
}

/* A name that is empty is none. */
static const char *name_in(const struct sp_dw_unit *u, const struct sp_dw_value *v)
{
    const char *name = sp_dw_text(u, v);
    return name && *name ? name : NULL;
}

static void entry_take(struct sp_dw_entry *e, uint16_t at, const struct sp_dw_value *v)
{
    switch (at) {
    case AT_name:
    case AT_GNU_template_name:
        e->name = name_in(e->u, v);
        break;
    case AT_linkage_name:
    case AT_MIPS_linkage_name:
        e->linkage = name_in(e->u, v);
        break;
    case AT_type:
        e->type = *v;
        if (!v->is) /* one of a unit of its own, known by a signature */
            e->type.is = DW_NUMBER;
        break;
    case AT_signature:
        e->elsewhere = true;
        break;
    case AT_abstract_origin:
    case AT_specification:
        if (at == AT_abstract_origin || !e->origin.is)
            e->origin = *v;
        break;
    case AT_decl_file:
        e->decl_file = *v;
        break;
    case AT_decl_line:
        e->decl_line = v->is == DW_NUMBER && v->u <= UINT32_MAX ? (uint32_t)v->u : 0;
        break;
    case AT_external:
        e->external = v->u;
        break;
    case AT_artificial:
        e->artificial = v->u;
        break;
    case AT_object_pointer:
        e->object = true;
        break;
    case AT_reference:
        e->lref = v->u;
        break;
    case AT_rvalue_reference:
        e->rref = v->u;
        break;
    case AT_const_value:
    case AT_count:
    case AT_upper_bound:
        e->has_value = v->is == DW_NUMBER;
        e->value = at == AT_upper_bound ? v->u + 1 : v->u;
        break;
    case AT_sibling:
        e->sibling = v->is == DW_REF ? v->u : 0;
        break;
    default:
        break;
    }
}

bool sp_dw_entry_read(struct sp_dwarf *d, struct sp_dw_unit *u, uint64_t off, size_t *work,
                      struct sp_dw_entry *e)
{
    const struct sp_dw_abbrevs *t = *work < DW_NAME_WORK ? sp_dw_abbrevs_of(d, u) : NULL;
    struct sp_dw_cursor c = sp_dw_at(u->f, DW_INFO, off, u->end);
    const struct sp_dw_abbrev *a = t ? sp_dw_abbrev_find(t, sp_dw_uleb(&c)) : NULL;
    struct sp_dw_value v;
    *e = (struct sp_dw_entry){.u = u, .off = off};
    ++*work;
    if (t && !a) /* nothing else refers to an entry that is none, or of a kind that is not described */
        sp_dw_lacks(u->f, off < u->end && u->f->sec[DW_INFO].p[off] ? DW_ABBREV : DW_INFO);
    if (!a || off < u->die)
        return false;
    e->tag = a->tag;
    e->children = a->children;
    for (uint32_t i = 0; i < a->n; i++) {
        const struct sp_dw_spec *s = &t->specs.v[a->first + i];
        sp_dw_value(d, u, &c, s->form, s->implicit, &v);
        entry_take(e, s->at, &v);
    }
    e->after = c;
    return !c.bad;
}

struct sp_dw_children sp_dw_children_of(const struct sp_dw_entry *e)
{
    return (struct sp_dw_children){.u = e->u, .c = e->after, .over = !e->children};
}

/* Goes behind all that is in an entry. */
static bool skip_below(struct sp_dwarf *d, struct sp_dw_children *it, const struct sp_dw_entry *e,
                       size_t *work)
{
    const unsigned char *base = it->u->f->sec[DW_INFO].p;
    const struct sp_dw_abbrevs *t = sp_dw_abbrevs_of(d, it->u);
    if (e->sibling > e->off && e->sibling < it->u->end && base + e->sibling > it->c.p) {
        it->c.p = base + e->sibling;
        return true;
    }
    for (unsigned depth = 1; t && depth && it->c.p < it->c.end && ++*work < DW_NAME_WORK;) {
        uint64_t code = sp_dw_uleb(&it->c);
        const struct sp_dw_abbrev *a = code ? sp_dw_abbrev_find(t, code) : NULL;
        if (code && !a)
            return false;
        if (a)
            sp_dw_skip_attributes(it->u, t, a, &it->c);
        depth = a ? depth + a->children : depth - 1;
        if (!depth)
            return !it->c.bad;
    }
    return false;
}

bool sp_dw_child_next(struct sp_dwarf *d, struct sp_dw_children *it, size_t *work, struct sp_dw_entry *e)
{
    const unsigned char *base = it->u->f->sec[DW_INFO].p;
    if (it->over || it->c.p >= it->c.end || !*it->c.p) {
        it->over = true;
        return false;
    }
    it->over = !sp_dw_entry_read(d, it->u, (uint64_t)(it->c.p - base), work, e);
    if (it->over)
        return false;
    it->c = e->after;
    if (e->children)
        it->over = !skip_below(d, it, e, work);
    return true;
}
