/*
 * One function: the calls in it that were replaced by what they call, as a tree, and where their code is.
 *
 * Each such site has a little program (binary annotations) that goes through its code and gives rows: an
 * address, a line counted from where the function begins, a file. Code of sites nests: at an address where
 * several have code, the one that was opened last is the innermost. So its stretches are found by going over
 * the addresses at which something begins or ends, with the sites that are there in a heap.
 */
#include "pdb/private.h"

struct scopes_range {
    uint32_t start, end, site;
};

struct scopes {
    struct sp_pdb *p;
    struct sp_pdb_module *m;
    struct sp_pdb_function *f;
    SP_VEC(struct scopes_range) ranges;
    SP_VEC(uint32_t) open; /* the site around each scope that is open: 0 or 1 + number */
    SP_VEC(uint32_t) heap; /* ranges, that of the last site first */
};

/* ---- annotations ---- */

/* Where a program is: offsets count from the function's start. */
struct scopes_program {
    const unsigned char *p;
    uint32_t n;
    uint32_t offset, line, file;
    uint32_t start; /* of the open row */
    bool open;
};

static bool scopes_operand(struct scopes_program *a, uint32_t *out)
{
    uint32_t b = a->n ? a->p[0] : 0xff, bytes = b < 0x80 ? 1 : b < 0xc0 ? 2 : b < 0xe0 ? 4 : 0;
    if (!bytes || bytes > a->n)
        return false;
    *out = bytes == 1   ? b
           : bytes == 2 ? (b & 0x3f) << 8 | a->p[1]
                        : (b & 0x1f) << 24 | (uint32_t)a->p[1] << 16 | (uint32_t)a->p[2] << 8 | a->p[3];
    a->p += bytes;
    a->n -= bytes;
    return true;
}

static uint32_t scopes_signed(uint32_t v)
{
    return v & 1 ? 0u - (v >> 1) : v >> 1;
}

/* Rows of a site that do not ascend are left out. */
static bool scopes_row(struct scopes *x, uint32_t rva, uint32_t line, uint32_t file)
{
    struct sp_pdb_site *s = &x->f->sites.v[x->f->sites.n - 1];
    if (s->nrows && x->f->rows.v[x->f->rows.n - 1].rva > rva)
        return true;
    s->nrows++;
    return sp_vec_push(&x->f->rows, ((struct sp_pdb_row){.rva = rva, .line = line, .file = file})) ||
           sp_pdb_nomem(x->p);
}

/* The open row ends at an offset. */
static bool scopes_close(struct scopes *x, struct scopes_program *a, uint32_t end, bool gap)
{
    const struct sp_pdb_function *f = x->f;
    bool was_open = a->open;
    a->open = false;
    end = end < f->size ? end : f->size;
    if (!was_open || a->start >= end)
        return true;
    struct scopes_range r = {f->rva + a->start, f->rva + end, (uint32_t)f->sites.n};
    return (sp_vec_push(&x->ranges, r) || sp_pdb_nomem(x->p)) && (!gap || scopes_row(x, r.end, 0, 0));
}

/* A row begins where the program is, and the one before ends. */
static bool scopes_emit(struct scopes *x, struct scopes_program *a)
{
    if (!scopes_close(x, a, a->offset, false))
        return false;
    a->start = a->offset;
    a->open = true;
    return a->start >= x->f->size || scopes_row(x, x->f->rva + a->start, a->line, a->file);
}

static bool scopes_run(struct scopes *x, struct scopes_program *a)
{
    enum { OFFSET = 1, BASE, CODE, LENGTH, FILE_, LINE, CODE_AND_LINE = 11, LENGTH_AND_CODE };
    uint32_t op, v, w;
    bool ok = true;
    while (ok && scopes_operand(a, &op) && op && op != BASE && op <= 13 && scopes_operand(a, &v)) {
        switch (op) {
        case OFFSET:
            a->offset = v;
            break;
        case CODE:
            a->offset += v;
            ok = scopes_emit(x, a);
            break;
        case LENGTH:
            a->offset += v;
            ok = scopes_close(x, a, a->offset, true);
            break;
        case FILE_:
            a->file = v;
            break;
        case LINE:
            a->line += scopes_signed(v);
            break;
        case CODE_AND_LINE:
            a->line += scopes_signed(v >> 4);
            a->offset += v & 15;
            ok = scopes_emit(x, a);
            break;
        case LENGTH_AND_CODE:
            if (!scopes_operand(a, &w))
                return true;
            a->offset += w;
            ok =
                scopes_emit(x, a) && scopes_close(x, a, v < UINT32_MAX - a->offset ? a->offset + v : v, true);
            break;
        }
    }
    /* Nothing says how far the last row reaches: its first byte is certain. */
    return ok && scopes_close(x, a, a->start + 1, true);
}

/* ---- the tree ---- */

static bool scopes_site(struct scopes *x, const struct sp_pdb_record *r, uint32_t around)
{
    struct sp_pdb_function *f = x->f;
    uint32_t head = r->kind == S_INLINESITE2 ? 20 : 16;
    struct sp_pdb_site s = {.parent = around, .rows = (uint32_t)f->rows.n};
    if (r->n >= head)
        s.item = sp_pdb_u32(r->p + 12);
    s.depth = around ? f->sites.v[around - 1].depth + 1 : 1;
    s.source = sp_pdb_source_of(x->m, s.item);
    if (!sp_vec_push(&f->sites, s))
        return sp_pdb_nomem(x->p);
    if (r->n < head)
        return true;
    struct scopes_program a = {.p = r->p + head, .n = r->n - head};
    if (s.source) {
        a.line = x->m->sources.v[s.source - 1].line;
        a.file = x->m->sources.v[s.source - 1].file;
    }
    return scopes_run(x, &a);
}

static bool scopes_walk(struct scopes *x)
{
    struct sp_pdb_record r;
    uint32_t at = x->f->record, around = 0;
    while (sp_pdb_next_record(x->m, &at, &r)) {
        if (sp_pdb_opens_scope(r.kind)) {
            if (!sp_vec_push(&x->open, around))
                return sp_pdb_nomem(x->p);
            if (r.kind == S_INLINESITE || r.kind == S_INLINESITE2) {
                if (!scopes_site(x, &r, around))
                    return false;
                around = (uint32_t)x->f->sites.n;
            }
        } else if (sp_pdb_closes_scope(r.kind) && x->open.n) {
            around = x->open.v[--x->open.n];
        }
        if (!x->open.n)
            break;
    }
    return true;
}

/* ---- stretches ---- */

static int scopes_by_start(const void *a, const void *b)
{
    const struct scopes_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

static bool scopes_before(const struct scopes *x, size_t a, size_t b)
{
    return x->ranges.v[x->heap.v[a]].site > x->ranges.v[x->heap.v[b]].site;
}

static void scopes_swap(struct scopes *x, size_t a, size_t b)
{
    uint32_t t = x->heap.v[a];
    x->heap.v[a] = x->heap.v[b];
    x->heap.v[b] = t;
}

static bool scopes_push(struct scopes *x, uint32_t range)
{
    size_t i = x->heap.n;
    if (!sp_vec_push(&x->heap, range))
        return sp_pdb_nomem(x->p);
    for (; i && scopes_before(x, i, (i - 1) / 2); i = (i - 1) / 2)
        scopes_swap(x, i, (i - 1) / 2);
    return true;
}

static void scopes_pop(struct scopes *x)
{
    x->heap.v[0] = x->heap.v[--x->heap.n];
    for (size_t i = 0;;) {
        size_t best = i;
        for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < x->heap.n; k++)
            if (scopes_before(x, k, best))
                best = k;
        if (best == i)
            return;
        scopes_swap(x, i, best);
        i = best;
    }
}

static bool scopes_put(struct scopes *x, uint32_t rva)
{
    struct sp_pdb_function *f = x->f;
    uint32_t site = x->heap.n ? x->ranges.v[x->heap.v[0]].site : 0;
    uint32_t last = f->stretches.n ? f->stretches.v[f->stretches.n - 1].site : 0;
    return site == last || sp_vec_push(&f->stretches, ((struct sp_pdb_stretch){rva, site})) ||
           sp_pdb_nomem(x->p);
}

static bool scopes_flatten(struct scopes *x)
{
    size_t i = 0, n = x->ranges.n;
    if (n)
        qsort(x->ranges.v, n, sizeof *x->ranges.v, scopes_by_start);
    for (uint32_t at = x->f->rva;;) {
        for (; i < n && x->ranges.v[i].start <= at; i++)
            if (!scopes_push(x, (uint32_t)i))
                return false;
        while (x->heap.n && x->ranges.v[x->heap.v[0]].end <= at)
            scopes_pop(x);
        if (!scopes_put(x, at))
            return false;
        if (i == n && !x->heap.n)
            return true;
        at = i < n ? x->ranges.v[i].start : UINT32_MAX;
        if (x->heap.n && x->ranges.v[x->heap.v[0]].end < at)
            at = x->ranges.v[x->heap.v[0]].end;
    }
}

bool sp_pdb_build_function(struct sp_pdb *p, struct sp_pdb_module *m, struct sp_pdb_function *f)
{
    struct scopes x = {.p = p, .m = m, .f = f};
    const char *name = sp_pdb_function_name(m, f);
    if (f->built)
        return true;
    f->built = true;
    bool ok = (!name || f->part || sp_pdb_public_of(p, f->rva, name, &f->linkage)) && scopes_walk(&x) &&
              scopes_flatten(&x);
    sp_vec_free(&x.ranges);
    sp_vec_free(&x.open);
    sp_vec_free(&x.heap);
    return ok;
}
