/*
 * One module: the records of its symbols, and its functions by address.
 *
 * Of a function that stands there twice (identical ones that the linker folded into one) the first record
 * counts. Code that was set aside (S_SEPCODE) is a function whose record names the one it belongs to.
 */
#include "pdb/private.h"

enum { SIGNATURE_BYTES = 4, SIGNATURE_C13 = 4 };

bool sp_pdb_next_record(const struct sp_pdb_module *m, uint32_t *at, struct sp_pdb_record *out)
{
    if (*at > m->symbol_bytes || m->symbol_bytes - *at < 4)
        return false;
    out->p = m->symbols + *at;
    out->n = sp_pdb_u16(out->p) + 2u;
    out->kind = sp_pdb_u16(out->p + 2);
    if (out->n < 4 || out->n > m->symbol_bytes - *at)
        return false;
    *at += out->n;
    return true;
}

static bool module_is_function(uint32_t kind)
{
    switch (kind) {
    case S_LPROC32:
    case S_GPROC32:
    case S_LPROC32_ID:
    case S_GPROC32_ID:
    case S_LPROC32_DPC:
    case S_LPROC32_DPC_ID:
        return true;
    }
    return false;
}

bool sp_pdb_opens_scope(uint32_t kind)
{
    switch (kind) {
    case S_THUNK32:
    case S_BLOCK32:
    case S_WITH32:
    case S_GMANPROC:
    case S_LMANPROC:
    case S_SEPCODE:
    case S_INLINESITE:
    case S_INLINESITE2:
        return true;
    }
    return module_is_function(kind);
}

bool sp_pdb_closes_scope(uint32_t kind)
{
    return kind == S_END || kind == S_INLINESITE_END || kind == S_PROC_ID_END;
}

/* A function, a thunk, or code that was set aside; false: the record is none. */
static bool module_function(const struct sp_pdb *p, const struct sp_pdb_record *r, struct sp_pdb_function *f)
{
    bool placed = false;
    *f = (struct sp_pdb_function){0};
    if (module_is_function(r->kind) && r->n >= 40) {
        placed = sp_pdb_rva(p, sp_pdb_u16(r->p + 36), sp_pdb_u32(r->p + 32), &f->rva);
        f->size = sp_pdb_u32(r->p + 16);
        f->local = r->kind != S_GPROC32 && r->kind != S_GPROC32_ID;
        f->whole = f->rva;
    } else if (r->kind == S_THUNK32 && r->n >= 26) {
        placed = sp_pdb_rva(p, sp_pdb_u16(r->p + 20), sp_pdb_u32(r->p + 16), &f->rva);
        f->size = sp_pdb_u16(r->p + 22);
        f->whole = f->rva;
        f->thunk = true;
    } else if (r->kind == S_SEPCODE && r->n >= 32) {
        placed = sp_pdb_rva(p, sp_pdb_u16(r->p + 28), sp_pdb_u32(r->p + 20), &f->rva) &&
                 sp_pdb_rva(p, sp_pdb_u16(r->p + 30), sp_pdb_u32(r->p + 24), &f->whole);
        f->size = sp_pdb_u32(r->p + 12);
        f->part = true;
    }
    if (f->size > UINT32_MAX - f->rva)
        f->size = UINT32_MAX - f->rva;
    return placed && f->size;
}

static int module_by_rva(const void *a, const void *b)
{
    const struct sp_pdb_function *x = a, *y = b;
    if (x->rva != y->rva)
        return x->rva < y->rva ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

static bool module_take_functions(struct sp_pdb *p, struct sp_pdb_module *m)
{
    struct sp_pdb_record r;
    struct sp_pdb_function f;
    uint32_t at = SIGNATURE_BYTES, record = at, build = 0;
    for (; sp_pdb_next_record(m, &at, &r); record = at) {
        if (r.kind == S_BUILDINFO && r.n >= 8)
            build = sp_pdb_u32(r.p + 4);
        if (!module_function(p, &r, &f))
            continue;
        f.record = record;
        if (!sp_vec_push(&m->functions, f))
            return sp_pdb_nomem(p);
    }
    p->damaged += at != m->symbol_bytes;
    if (m->functions.n)
        qsort(m->functions.v, m->functions.n, sizeof *m->functions.v, module_by_rva);
    size_t n = 0;
    for (size_t i = 0; i < m->functions.n; i++)
        if (!n || m->functions.v[i].rva != m->functions.v[n - 1].rva)
            m->functions.v[n++] = m->functions.v[i];
    m->functions.n = n;
    return !build || sp_pdb_build_dir(p, build, &m->dir);
}

bool sp_pdb_load_module(struct sp_pdb *p, struct sp_pdb_module *m)
{
    uint32_t size = sp_msf_size(&p->msf, m->stream);
    if (m->loaded)
        return true;
    m->loaded = true;
    if (!size || m->symbol_bytes < SIGNATURE_BYTES) {
        m->symbol_bytes = 0;
        return true;
    }
    if (m->symbol_bytes > size)
        m->symbol_bytes = size, p->damaged++;
    m->symbols = sp_msf_load(&p->msf, m->stream, 0, m->symbol_bytes);
    if (!m->symbols || sp_pdb_u32(m->symbols) != SIGNATURE_C13) {
        m->symbol_bytes = 0;
        return sp_pdb_damage(p);
    }
    return module_take_functions(p, m) && sp_pdb_load_lines(p, m);
}

const struct sp_pdb_function *sp_pdb_function_before(const struct sp_pdb_module *m, uint32_t rva)
{
    size_t lo = 0, hi = m->functions.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->functions.v[mid].rva <= rva)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &m->functions.v[lo - 1] : NULL;
}

struct sp_pdb_function *sp_pdb_function_at(struct sp_pdb_module *m, uint32_t rva)
{
    const struct sp_pdb_function *f = sp_pdb_function_before(m, rva);
    return f && rva - f->rva < f->size ? &m->functions.v[f - m->functions.v] : NULL;
}

const char *sp_pdb_function_name(const struct sp_pdb_module *m, const struct sp_pdb_function *f)
{
    struct sp_pdb_record r;
    uint32_t at = f->record, name = f->thunk ? 25 : 39;
    if (f->part || !sp_pdb_next_record(m, &at, &r) || r.n <= name ||
        strnlen((const char *)r.p + name, r.n - name) == r.n - name || !r.p[name])
        return NULL;
    return (const char *)r.p + name;
}
