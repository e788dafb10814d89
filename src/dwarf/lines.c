/*
 * Line number programs: run once per unit into sorted rows; and the files that their headers name, which
 * alone is what declarations need.
 *
 * Of several rows at one address the last one counts, as in addr2line. Rows that change nothing but
 * flags are left out. Sequences at addresses that no code has are of functions the linker threw away.
 */
#include "base/hash.h"
#include "dwarf/private.h"

#include <stdlib.h>

enum {
    LNS_copy = 1,
    LNS_advance_pc,
    LNS_advance_line,
    LNS_set_file,
    LNS_set_column,
    LNS_negate_stmt,
    LNS_set_basic_block,
    LNS_const_add_pc,
    LNS_fixed_advance_pc,
    LNS_set_prologue_end,
    LNS_set_epilogue_begin,
    LNS_set_isa
};
enum { LNE_end_sequence = 1, LNE_set_address, LNE_define_file };

#define FORMATS_MAX 32u

/* A program while it runs. */
struct program {
    struct sp_dwarf *d;
    struct sp_dw_unit unit; /* a copy with the sizes of this table */
    struct sp_dw_lines *out;
    struct sp_dw_cursor c;
    unsigned min_length, max_ops, line_range, opcode_base;
    int line_base;
    const unsigned char *lengths; /* of the standard opcodes */
    SP_VEC(const char *) dirs;
    uint64_t addr;
    unsigned op, file, column;
    uint32_t line;
    bool open; /* a sequence has begun */
    struct sp_dw_sequence seq;
};

static bool dwarf_lines_add_file(struct program *g, const char *name, uint64_t dir, const char *source)
{
    /* Directory 0 is that of the compilation; version 5 lists it, earlier ones do not. */
    struct sp_dw_file_name f = {name, dir && dir < g->dirs.n ? g->dirs.v[dir] : NULL,
                                source && *source ? source : NULL};
    return sp_vec_push(&g->out->files, f);
}

static bool old_tables(struct program *g)
{
    bool ok = sp_vec_push(&g->dirs, g->out->comp_dir) &&
              dwarf_lines_add_file(g, NULL, 0, NULL); /* files count from 1 */
    for (const char *dir; ok && (dir = sp_dw_cstr(&g->c)) && *dir;)
        ok = sp_vec_push(&g->dirs, dir);
    for (const char *name; ok && (name = sp_dw_cstr(&g->c)) && *name;) {
        ok = dwarf_lines_add_file(g, name, sp_dw_uleb(&g->c), NULL);
        sp_dw_uleb(&g->c);
        sp_dw_uleb(&g->c);
    }
    return ok;
}

/* One table of version 5: directories when dirs, else files. */
static bool new_table(struct program *g, bool dirs)
{
    struct {
        uint64_t type;
        uint16_t form;
    } format[FORMATS_MAX];
    unsigned formats = (unsigned)sp_dw_fixed(&g->c, 1);
    if (formats > FORMATS_MAX) {
        g->c.bad = true;
        return true;
    }
    for (unsigned i = 0; i < formats; i++) {
        format[i].type = sp_dw_uleb(&g->c);
        format[i].form = (uint16_t)sp_dw_uleb(&g->c);
    }
    uint64_t n = sp_dw_uleb(&g->c);
    /* Entries take a byte at least, unless nothing describes them. */
    if (n > (uint64_t)(g->c.end - g->c.p) || (n && !formats))
        g->c.bad = true;
    for (uint64_t i = 0; i < n && !g->c.bad; i++) {
        const char *name = NULL, *source = NULL;
        uint64_t dir = 0;
        for (unsigned k = 0; k < formats; k++) {
            struct sp_dw_value v;
            sp_dw_value(g->d, &g->unit, &g->c, format[k].form, 0, &v);
            if (format[k].type == LNCT_path)
                name = sp_dw_text(&g->unit, &v);
            else if (format[k].type == LNCT_directory_index)
                dir = v.u;
            else if (format[k].type == LNCT_LLVM_source)
                source = sp_dw_text(&g->unit, &v);
        }
        if (dirs && i == 0 && name)
            g->out->comp_dir = name;
        if (!(dirs ? sp_vec_push(&g->dirs, name) : dwarf_lines_add_file(g, name, dir, source)))
            return false;
    }
    return true;
}

/* Reads the header; afterwards the cursor stands at the program. False: out of memory. */
static bool dwarf_lines_read_header(struct program *g)
{
    struct sp_dw_cursor *c = &g->c;
    struct sp_dw_unit *u = &g->unit;
    u->off_size = 4;
    uint64_t n = sp_dw_fixed(c, 4);
    if (n == 0xffffffff) {
        u->off_size = 8;
        n = sp_dw_fixed(c, 8);
    }
    if (c->bad || n > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        return true;
    }
    c->end = c->p + n;
    unsigned version = (unsigned)sp_dw_fixed(c, 2);
    if (version >= 5) {
        u->addr_size = (uint8_t)sp_dw_fixed(c, 1);
        sp_dw_skip(c, 1);
    }
    uint64_t header = sp_dw_fixed(c, u->off_size);
    if (version < 2 || version > 5 || c->bad || header > (uint64_t)(c->end - c->p) ||
        (u->addr_size != 8 && u->addr_size != 4 && u->addr_size != 2)) {
        c->bad = true;
        return true;
    }
    const unsigned char *program = c->p + header;
    g->min_length = (unsigned)sp_dw_fixed(c, 1);
    g->max_ops = version >= 4 ? (unsigned)sp_dw_fixed(c, 1) : 1;
    sp_dw_skip(c, 1);
    int base = (int)sp_dw_fixed(c, 1); /* a signed byte */
    g->line_base = base < 128 ? base : base - 256;
    g->line_range = (unsigned)sp_dw_fixed(c, 1);
    g->opcode_base = (unsigned)sp_dw_fixed(c, 1);
    g->lengths = c->p;
    sp_dw_skip(c, g->opcode_base ? g->opcode_base - 1 : 0);
    if (c->bad || !g->line_range || !g->opcode_base) {
        c->bad = true;
        return true;
    }
    if (!g->max_ops)
        g->max_ops = 1;
    u->version = version >= 5 ? 5 : 4;
    const unsigned char *end = c->end;
    c->end = program;
    bool ok = version >= 5 ? new_table(g, true) && new_table(g, false) : old_tables(g);
    g->unit.damaged |= c->bad;
    *c = (struct sp_dw_cursor){program, end, c->big, false};
    return ok;
}

static void dwarf_lines_advance(struct program *g, uint64_t ops)
{
    if (g->max_ops == 1) {
        g->addr += g->min_length * ops;
        return;
    }
    g->addr += g->min_length * ((g->op + ops) / g->max_ops);
    g->op = (unsigned)((g->op + ops) % g->max_ops);
}

/* Ends the sequence at g->addr and keeps it if it is of code. */
static bool end_sequence(struct program *g)
{
    struct sp_dw_lines *l = g->out;
    struct sp_dw_sequence *s = &g->seq;
    bool was_open = g->open;
    g->open = false;
    if (!was_open)
        return true;
    s->reach.hi = g->addr;
    s->n = l->rows.n - s->first;
    uint64_t top = g->unit.addr_size >= 8 ? UINT64_MAX : ((uint64_t)1 << 8 * g->unit.addr_size) - 1;
    if (s->lo <= 1 || s->lo >= top - 1 || s->reach.hi <= s->lo) {
        l->rows.n = s->first;
        return true;
    }
    return sp_vec_push(&l->sequences, *s);
}

static bool add_row(struct program *g)
{
    struct sp_dw_lines *l = g->out;
    struct sp_dw_line_row r = {g->addr, g->line, g->file < UINT16_MAX ? (uint16_t)g->file : UINT16_MAX,
                               g->column < UINT16_MAX ? (uint16_t)g->column : 0};
    struct sp_dw_line_row *last = g->open ? &l->rows.v[l->rows.n - 1] : NULL;
    if (last &&
        r.addr < last->addr) { /* addresses must not fall: what follows is taken as another sequence */
        uint64_t addr = g->addr;
        g->unit.damaged = true;
        g->addr = last->addr;
        if (!end_sequence(g))
            return false;
        g->addr = addr;
        last = NULL;
    }
    if (last && last->addr == r.addr) {
        *last = r;
        return true;
    }
    if (last && last->line == r.line && last->file == r.file && last->column == r.column)
        return true;
    if (!last) {
        g->seq = (struct sp_dw_sequence){.lo = r.addr, .first = l->rows.n};
        g->open = true;
    }
    return sp_vec_push(&l->rows, r);
}

static void dwarf_lines_start(struct program *g)
{
    g->addr = 0;
    g->op = g->column = 0;
    g->file = g->line = 1;
}

static bool dwarf_lines_extended(struct program *g)
{
    struct sp_dw_cursor *c = &g->c;
    uint64_t n = sp_dw_uleb(c);
    if (c->bad || !n || n > (uint64_t)(c->end - c->p)) {
        c->bad = true;
        return true;
    }
    struct sp_dw_cursor x = {c->p, c->p + n, c->big, false};
    bool ok = true;
    c->p += n;
    switch (sp_dw_fixed(&x, 1)) {
    case LNE_end_sequence:
        ok = end_sequence(g);
        dwarf_lines_start(g);
        return ok;
    case LNE_set_address:
        if (n - 1 == 8 || n - 1 == 4 || n - 1 == 2)
            g->addr = sp_dw_fixed(&x, (unsigned)n - 1);
        g->op = 0;
        return true;
    case LNE_define_file: {
        const char *name = sp_dw_cstr(&x);
        return dwarf_lines_add_file(g, name, sp_dw_uleb(&x), NULL);
    }
    default:
        return true;
    }
}

static bool standard(struct program *g, unsigned op)
{
    struct sp_dw_cursor *c = &g->c;
    switch (op) {
    case LNS_copy:
        return add_row(g);
    case LNS_advance_pc:
        dwarf_lines_advance(g, sp_dw_uleb(c));
        return true;
    case LNS_advance_line:
        g->line = (uint32_t)(g->line + (uint64_t)sp_dw_sleb(c));
        return true;
    case LNS_set_file:
        g->file = (unsigned)sp_dw_uleb(c);
        return true;
    case LNS_set_column:
        g->column = (unsigned)sp_dw_uleb(c);
        return true;
    case LNS_const_add_pc:
        dwarf_lines_advance(g, (255 - g->opcode_base) / g->line_range);
        return true;
    case LNS_fixed_advance_pc:
        g->addr += sp_dw_fixed(c, 2);
        g->op = 0;
        return true;
    case LNS_negate_stmt:
    case LNS_set_basic_block:
    case LNS_set_prologue_end:
    case LNS_set_epilogue_begin:
        return true;
    default:
        for (unsigned i = 0; i < g->lengths[op - 1]; i++)
            sp_dw_uleb(c);
        return true;
    }
}

static bool dwarf_lines_run(struct program *g)
{
    bool ok = true;
    dwarf_lines_start(g);
    while (ok && g->c.p < g->c.end) {
        unsigned op = *g->c.p++;
        if (op >= g->opcode_base) {
            unsigned special = op - g->opcode_base;
            dwarf_lines_advance(g, special / g->line_range);
            g->line = (uint32_t)((int64_t)g->line + g->line_base + (int)(special % g->line_range));
            ok = add_row(g);
        } else {
            ok = op ? standard(g, op) : dwarf_lines_extended(g);
        }
    }
    g->unit.damaged |= g->c.bad || g->open;
    return ok && end_sequence(g);
}

static int dwarf_lines_by_lo(const void *a, const void *b)
{
    const struct sp_dw_sequence *x = a, *y = b;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The header, which names the files; with rows the program too. */
static bool dwarf_lines_read(struct sp_dwarf *d, struct sp_dw_unit *u, bool rows)
{
    struct sp_dw_lines *l = u->lines;
    l->named = true;
    l->comp_dir = u->comp_dir;
    l->files.n = 0;
    struct program g = {.d = d, .unit = *u, .out = l};
    g.c = sp_dw_at(u->f, DW_LINE, u->line_off, UINT64_MAX);
    const unsigned char *start = g.c.p;
    bool ok = dwarf_lines_read_header(&g) && (g.c.bad || !rows || dwarf_lines_run(&g));
    u->f->damaged += !l->damaged && (g.c.bad || g.unit.damaged);
    l->damaged |= g.c.bad || g.unit.damaged;
    if (start)
        sp_dw_spend(d, u->f, DW_LINE, (size_t)(g.c.p - start));
    sp_vec_free(&g.dirs);
    return ok;
}

/* Whether two units that name one place have one table there: what else it is read by. */
static bool reads_alike(const struct sp_dw_unit *a, const struct sp_dw_unit *b)
{
    return a->f == b->f && a->line_off == b->line_off && a->addr_size == b->addr_size &&
           a->comp_dir == b->comp_dir && a->str_base == b->str_base;
}

static struct sp_dw_lines *new_lines(struct sp_dwarf *d, const struct sp_dw_unit *u, uint64_t hash)
{
    struct sp_dw_lines *l = calloc(1, sizeof *l);
    if (!l || !sp_vec_reserve(&d->tables, d->tables.n + 1) ||
        !sp_map_add(&d->table_map, hash, (uint32_t)d->tables.n)) {
        free(l);
        return NULL;
    }
    pthread_mutex_init(&l->lock, NULL);
    l->of = u;
    return d->tables.v[d->tables.n++] = l;
}

/* Gives a unit its table, read or not. False: out of memory. */
static bool find_lines(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    if (u->lines)
        return true;
    uint64_t hash = sp_hash_mix(u->line_off ^ (uintptr_t)u->f, (uintptr_t)u->comp_dir ^ u->str_base);
    pthread_mutex_lock(&d->lock);
    struct sp_probe at = sp_map_probe(&d->table_map, hash);
    for (uint32_t i; !u->lines && (i = sp_map_next(&d->table_map, &at)) != SP_MAP_NONE;)
        if (reads_alike(d->tables.v[i]->of, u))
            u->lines = d->tables.v[i];
    if (!u->lines)
        u->lines = new_lines(d, u, hash);
    pthread_mutex_unlock(&d->lock);
    return u->lines;
}

void sp_dw_lines_free(struct sp_dwarf *d)
{
    for (size_t i = 0; i < d->tables.n; i++) {
        struct sp_dw_lines *l = d->tables.v[i];
        sp_vec_free(&l->rows);
        sp_vec_free(&l->sequences);
        sp_vec_free(&l->files);
        pthread_mutex_destroy(&l->lock);
        free(l);
    }
    sp_vec_free(&d->tables);
    sp_map_free(&d->table_map);
}

/* A unit of a .dwo may have none of its own: what it refers to is its skeleton's. */
static bool has_table(const struct sp_dw_unit *u)
{
    if (u->has_lines && u->line_off >= u->f->sec[DW_LINE].n)
        sp_dw_lacks(u->f, DW_LINE);
    return u->has_lines && u->f->sec[DW_LINE].n;
}

bool sp_dw_files_build(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    if (!u->rooted)
        sp_dw_unit_root(d, u);
    if (!has_table(u) || sp_dw_excess(d))
        return true;
    if (!find_lines(d, u))
        return false;
    pthread_mutex_lock(&u->lines->lock);
    bool ok = u->lines->named || dwarf_lines_read(d, u, false);
    pthread_mutex_unlock(&u->lines->lock);
    return ok;
}

bool sp_dw_file_of(const struct sp_dw_lines *l, uint64_t file, struct sp_dwarf_file *out)
{
    if (file >= l->files.n || !l->files.v[file].name || !*l->files.v[file].name)
        return false;
    const struct sp_dw_file_name *f = &l->files.v[file];
    *out = (struct sp_dwarf_file){l->comp_dir, f->dir, f->name, f->source};
    return true;
}

static bool read_rows(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    struct sp_dw_lines *l = u->lines;
    l->built = true;
    bool ok = dwarf_lines_read(d, u, true);
    if (l->sequences.n) {
        qsort(l->sequences.v, l->sequences.n, sizeof *l->sequences.v, dwarf_lines_by_lo);
        sp_dw_reach_set(&l->sequences.v->reach, sizeof *l->sequences.v, l->sequences.n);
    }
    return ok;
}

bool sp_dw_lines_build(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    if (!has_table(u) || sp_dw_excess(d))
        return true;
    if (!find_lines(d, u))
        return false;
    pthread_mutex_lock(&u->lines->lock);
    bool ok = u->lines->built || read_rows(d, u);
    pthread_mutex_unlock(&u->lines->lock);
    return ok;
}

const struct sp_dw_line_row *sp_dw_lines_find(const struct sp_dw_lines *l, uint64_t addr)
{
    size_t lo = 0, hi = l->sequences.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->sequences.v[mid].lo <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    lo = lo ? sp_dw_reach_find(&l->sequences.v->reach, sizeof *l->sequences.v, lo, addr) : 0;
    if (!lo)
        return NULL;
    const struct sp_dw_sequence *s = &l->sequences.v[lo - 1];
    const struct sp_dw_line_row *rows = l->rows.v + s->first;
    for (lo = 0, hi = s->n; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        if (rows[mid].addr <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? &rows[lo - 1] : NULL;
}
