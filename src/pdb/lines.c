/*
 * Source lines of a module (C13): stretches of code with the lines in them, the files they are in, and where
 * inlined functions stand. What says which stretch of code a line is of is made rows by address, in which
 * line 0 ends a stretch. Of two stretches that overlap (folded functions) the first counts, as it does of
 * functions.
 */
#include "pdb/private.h"

enum {
    DEBUG_S_LINES = 0xf2,
    DEBUG_S_FILECHKSMS = 0xf4,
    DEBUG_S_INLINEELINES = 0xf6,
    HIDDEN_1 = 0xfeefee, /* of code that the compiler made: no line */
    HIDDEN_2 = 0xf00f00,
};

struct lines_block {
    uint32_t start, end, order;
    size_t first, n; /* of raw */
};

struct lines {
    struct sp_pdb *p;
    struct sp_pdb_module *m;
    SP_VEC(struct lines_block) blocks;
    SP_VEC(struct sp_pdb_row) raw;
};

static int lines_by_rva(const void *a, const void *b)
{
    const struct sp_pdb_row *x = a, *y = b;
    if (x->rva != y->rva)
        return x->rva < y->rva ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int lines_by_start(const void *a, const void *b)
{
    const struct lines_block *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The lines of one file in a stretch of code: pairs of offset and line. */
static bool lines_of_file(struct lines *x, const struct lines_block *b, uint32_t file, const unsigned char *v,
                          uint32_t n)
{
    if (!sp_vec_reserve(&x->raw, x->raw.n + n))
        return sp_pdb_nomem(x->p);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t offset = sp_pdb_u32(v + (size_t)8 * i), line = sp_pdb_u32(v + (size_t)8 * i + 4) & 0xffffff;
        if (offset >= b->end - b->start)
            continue;
        line = line == HIDDEN_1 || line == HIDDEN_2 ? 0 : line;
        x->raw.v[x->raw.n] =
            (struct sp_pdb_row){b->start + offset, line, file, (uint32_t)(x->raw.n - b->first)};
        x->raw.n++;
    }
    return true;
}

static bool lines_stretch(struct lines *x, const unsigned char *s, uint32_t n)
{
    struct lines_block b = {.first = x->raw.n, .order = (uint32_t)x->blocks.n};
    bool ok = true, sorted = true;
    if (n < 12 || !sp_pdb_rva(x->p, sp_pdb_u16(s + 4), sp_pdb_u32(s), &b.start))
        return true;
    uint32_t size = sp_pdb_u32(s + 8);
    b.end = size < UINT32_MAX - b.start ? b.start + size : UINT32_MAX;
    for (uint32_t at = 12; ok && n - at >= 12;) {
        uint32_t file = sp_pdb_u32(s + at), count = sp_pdb_u32(s + at + 4), bytes = sp_pdb_u32(s + at + 8);
        if (bytes < 12 || bytes > n - at || count > (bytes - 12) / 8)
            break;
        ok = lines_of_file(x, &b, file, s + at + 12, count);
        at += bytes;
    }
    b.n = x->raw.n - b.first;
    if (!ok || !b.n)
        return ok;
    struct sp_pdb_row *v = x->raw.v + b.first;
    for (size_t i = 1; i < b.n; i++)
        sorted &= v[i - 1].rva <= v[i].rva;
    if (!sorted)
        qsort(v, b.n, sizeof *v, lines_by_rva);
    v[0].rva = b.start; /* a function that begins with what is inlined has its own first line later */
    return sp_vec_push(&x->blocks, b) || sp_pdb_nomem(x->p);
}

/* A checksum of each file: only where its name is matters. */
static bool lines_files(struct lines *x, const unsigned char *s, uint32_t n)
{
    for (uint32_t at = 0; n - at >= 6 && !(at && at > n);) {
        struct sp_pdb_file f = {.at = at, .name_at = sp_pdb_u32(s + at)};
        uint32_t bytes = (6u + s[at + 4] + 3u) & ~3u;
        if (!sp_vec_push(&x->m->files, f))
            return sp_pdb_nomem(x->p);
        if (bytes > n - at)
            break;
        at += bytes;
    }
    return true;
}

static bool lines_inlinees(struct lines *x, const unsigned char *s, uint32_t n)
{
    bool more = n >= 4 && sp_pdb_u32(s) == 1; /* further files behind each */
    uint32_t at = 4;
    while (at <= n && n - at >= 12) {
        struct sp_pdb_source f = {
            .item = sp_pdb_u32(s + at), .file = sp_pdb_u32(s + at + 4), .line = sp_pdb_u32(s + at + 8)};
        if (!sp_vec_push(&x->m->sources, f))
            return sp_pdb_nomem(x->p);
        at += 12;
        if (more) {
            uint32_t files = n - at >= 4 ? sp_pdb_u32(s + at) : 0;
            if (files > (n - at) / 4)
                break;
            at += n - at >= 4 ? 4 + 4 * files : 0;
        }
    }
    return true;
}

static bool lines_sections(struct lines *x, const unsigned char *c13, uint32_t n)
{
    bool ok = true;
    for (uint32_t at = 0; ok && at < n && n - at >= 8;) {
        uint32_t kind = sp_pdb_u32(c13 + at), size = sp_pdb_u32(c13 + at + 4);
        const unsigned char *s = c13 + at + 8;
        if (size > n - at - 8) {
            x->p->damaged++;
            break;
        }
        if (kind == DEBUG_S_LINES)
            ok = lines_stretch(x, s, size);
        else if (kind == DEBUG_S_FILECHKSMS && !x->m->files.n)
            ok = lines_files(x, s, size);
        else if (kind == DEBUG_S_INLINEELINES)
            ok = lines_inlinees(x, s, size);
        uint64_t next = at + 8 + (((uint64_t)size + 3) & ~(uint64_t)3);
        at = next < n ? (uint32_t)next : n;
    }
    return ok;
}

static bool lines_flatten(struct lines *x)
{
    struct sp_pdb_module *m = x->m;
    uint32_t end = 0;
    if (x->blocks.n)
        qsort(x->blocks.v, x->blocks.n, sizeof *x->blocks.v, lines_by_start);
    if (!sp_vec_reserve(&m->rows, x->raw.n + x->blocks.n + 1))
        return sp_pdb_nomem(x->p);
    for (size_t i = 0; i < x->blocks.n; i++) {
        const struct lines_block *b = &x->blocks.v[i];
        if (b->start < end)
            continue;
        memcpy(m->rows.v + m->rows.n, x->raw.v + b->first, b->n * sizeof *m->rows.v);
        m->rows.n += b->n;
        m->rows.v[m->rows.n++] = (struct sp_pdb_row){.rva = end = b->end};
    }
    return true;
}

static int lines_by_item(const void *a, const void *b)
{
    const struct sp_pdb_source *x = a, *y = b;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

bool sp_pdb_load_lines(struct sp_pdb *p, struct sp_pdb_module *m)
{
    struct lines x = {.p = p, .m = m};
    uint32_t size = sp_msf_size(&p->msf, m->stream);
    uint64_t at = (uint64_t)m->symbol_bytes + m->c11_bytes;
    if (!m->c13_bytes || at >= size)
        return true;
    if (m->c13_bytes > size - at)
        m->c13_bytes = size - (uint32_t)at, p->damaged++;
    unsigned char *c13 = sp_msf_load(&p->msf, m->stream, (uint32_t)at, m->c13_bytes);
    if (!c13)
        return sp_pdb_damage(p);
    bool ok = lines_sections(&x, c13, m->c13_bytes) && lines_flatten(&x);
    if (m->sources.n)
        qsort(m->sources.v, m->sources.n, sizeof *m->sources.v, lines_by_item);
    free(c13);
    sp_vec_free(&x.blocks);
    sp_vec_free(&x.raw);
    return ok;
}

const struct sp_pdb_row *sp_pdb_row_at(const struct sp_pdb_row *rows, size_t n, uint32_t rva)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (rows[mid].rva <= rva)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &rows[lo - 1] : NULL;
}

uint32_t sp_pdb_source_of(const struct sp_pdb_module *m, uint32_t item)
{
    size_t lo = 0, hi = m->sources.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->sources.v[mid].item < item)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < m->sources.n && m->sources.v[lo].item == item ? (uint32_t)lo + 1 : 0;
}

/* Text of the string table up to its NUL. */
static bool lines_text(struct sp_pdb *p, uint32_t at, const char **out)
{
    char text[4096];
    *out = NULL;
    if (at >= p->names_size)
        return true;
    for (uint32_t n = 256; n <= sizeof text; n *= 4) {
        uint32_t have = n < p->names_size - at ? n : p->names_size - at;
        if (!sp_msf_read(&p->msf, p->names_stream, 12 + at, text, have))
            return sp_pdb_damage(p);
        uint32_t len = (uint32_t)strnlen(text, have);
        if (len == have && have == n)
            continue;
        *out = len && len < have ? sp_arena_dup(&p->arena, text, len) : NULL;
        return *out || !len || len == have || sp_pdb_nomem(p);
    }
    return true;
}

bool sp_pdb_file_name(struct sp_pdb *p, struct sp_pdb_module *m, uint32_t file, const char **name)
{
    size_t lo = 0, hi = m->files.n;
    *name = NULL;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->files.v[mid].at < file)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == m->files.n || m->files.v[lo].at != file)
        return true;
    struct sp_pdb_file *f = &m->files.v[lo];
    if (!f->name && !lines_text(p, f->name_at, &f->name))
        return false;
    *name = f->name;
    return true;
}
