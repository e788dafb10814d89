/*
 * The question: which module an address is from, which function of it, what is inlined there.
 *
 * In images that were rearranged after linking (OMAP) all records are of the image as it was linked:
 * addresses go there first, and starts of functions back.
 */
#include "pdb/pdb.h"

#include "pdb/private.h"

/* By the last entry at or before an address; false: it was not there. */
static bool pdb_move(const struct sp_pdb_move *v, size_t n, uint32_t *rva)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid].rva <= *rva)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (!lo || !v[lo - 1].to)
        return false;
    *rva = v[lo - 1].to + (*rva - v[lo - 1].rva);
    return true;
}

static uint32_t pdb_in_image(const struct sp_pdb *p, uint32_t rva)
{
    return p->to_image.n && !pdb_move(p->to_image.v, p->to_image.n, &rva) ? 0 : rva;
}

struct pdb_place {
    struct sp_pdb *p;
    struct sp_pdb_module *m;
    struct sp_pdb_function *f;
    uint32_t rva;
};

/* File and line of a frame. */
static bool pdb_lines(const struct pdb_place *x, const struct sp_pdb_row *row, struct sp_pdb_frame *out)
{
    out->dir = x->m->dir;
    if (!row || !row->line)
        return true;
    out->line = row->line;
    return sp_pdb_file_name(x->p, x->m, row->file, &out->file);
}

static bool pdb_site_frame(const struct pdb_place *x, const struct sp_pdb_site *s, struct sp_pdb_frame *out)
{
    struct sp_pdb_name named;
    *out = (struct sp_pdb_frame){.entry = pdb_in_image(x->p, x->f->whole)};
    if (!pdb_lines(x, s->nrows ? sp_pdb_row_at(x->f->rows.v + s->rows, s->nrows, x->rva) : NULL, out))
        return false;
    if (!s->source) {
        bool ok = sp_pdb_item(x->p, s->item, &named);
        out->name = ok ? named.name : NULL;
        return ok;
    }
    struct sp_pdb_source *source = &x->m->sources.v[s->source - 1];
    if (!sp_pdb_own_code(x->p, x->m, source))
        return false;
    out->name = source->name;
    out->linkage = source->linkage;
    out->local = source->local;
    out->decl_line = source->line;
    return sp_pdb_file_name(x->p, x->m, source->file, &out->decl_file);
}

/* The function that code was set aside from; itself where it is whole. */
static struct sp_pdb_function *pdb_whole(const struct pdb_place *x)
{
    struct sp_pdb_function *f = x->f->part ? sp_pdb_function_at(x->m, x->f->whole) : x->f;
    return f && !f->part && f->rva == x->f->whole ? f : x->f;
}

static bool pdb_function_frame(const struct pdb_place *x, struct sp_pdb_frame *out)
{
    struct sp_pdb_function *f = pdb_whole(x);
    const struct sp_pdb_row *first = sp_pdb_row_at(x->m->rows.v, x->m->rows.n, f->rva);
    *out = (struct sp_pdb_frame){
        .name = sp_pdb_function_name(x->m, f), .entry = pdb_in_image(x->p, f->rva), .local = f->local};
    if (!sp_pdb_build_function(x->p, x->m, f) ||
        !pdb_lines(x, sp_pdb_row_at(x->m->rows.v, x->m->rows.n, x->rva), out))
        return false;
    out->linkage = f->linkage;
    return !first || !first->line || sp_pdb_file_name(x->p, x->m, first->file, &out->decl_file);
}

static uint32_t pdb_site_at(const struct sp_pdb_function *f, uint32_t rva)
{
    size_t lo = 0, hi = f->stretches.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (f->stretches.v[mid].rva <= rva)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? f->stretches.v[lo - 1].site : 0;
}

static size_t pdb_frames(const struct pdb_place *x, bool inlines, struct sp_pdb_frame *out, size_t max)
{
    size_t n = 0;
    if (!sp_pdb_build_function(x->p, x->m, x->f))
        return 0;
    for (uint32_t s = inlines ? pdb_site_at(x->f, x->rva) : 0; s; s = x->f->sites.v[s - 1].parent) {
        const struct sp_pdb_site *site = &x->f->sites.v[s - 1];
        if (site->depth < max && !pdb_site_frame(x, site, &out[n++]))
            return 0;
    }
    return pdb_function_frame(x, &out[n]) ? n + 1 : 0;
}

/*
 * No function of its module is there: the public symbol before, in the same stretch of code if stretches are
 * known. Where a function stands between, or ends, what follows is not known.
 */
static size_t pdb_public(const struct pdb_place *x, const struct sp_pdb_part *part, struct sp_pdb_frame *out)
{
    struct sp_pdb *p = x->p;
    uint32_t start, from = part ? part->rva : 0;
    const struct sp_pdb_function *before = x->m ? sp_pdb_function_before(x->m, x->rva) : NULL;
    if (before && before->rva + before->size > from)
        from = before->rva + before->size;
    if ((p->parts.n && !part) || !sp_pdb_public_before(p, x->rva, from, &start, &out->linkage) ||
        !out->linkage)
        return 0;
    out->entry = pdb_in_image(p, start);
    return 1;
}

size_t sp_pdb_find(struct sp_pdb *p, uint64_t address, bool inlines, struct sp_pdb_frame *out, size_t max)
{
    uint32_t rva = (uint32_t)address;
    size_t n = 0;
    out[0] = (struct sp_pdb_frame){0};
    if (p->failed || address > UINT32_MAX ||
        (p->to_source.n && !pdb_move(p->to_source.v, p->to_source.n, &rva)))
        return 0;
    const struct sp_pdb_part *part = sp_pdb_part_at(p, rva);
    struct pdb_place x = {.p = p, .m = part ? &p->modules.v[part->module] : NULL, .rva = rva};
    bool ok = !x.m || sp_pdb_load_module(p, x.m);
    if (ok && x.m)
        x.f = sp_pdb_function_at(x.m, rva);
    if (ok)
        n = x.f ? pdb_frames(&x, inlines, out, max) : pdb_public(&x, part, out);
    sp_msf_rest(&p->msf);
    return p->failed ? 0 : n;
}
