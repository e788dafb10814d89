/* Symbols, inlined functions and lines of Windows binaries: from a PDB, else what the image exports. */
#include "io/file.h"
#include "model/functions.h"
#include "pdb/pdb.h"
#include "symbols/pe.h"
#include "symbols/windows.h"

#include <string.h>

spaa_status sp_load_windows(struct sp_module *m)
{
    struct sp_symbols *s = m->owner;
    struct sp_pe pe;
    const char *why;
    spaa_status st = m->has_pdb ? sp_pdb_open(m->debug, s->d, &m->pdb, &why) : SPAA_OK;
    if (st == SPAA_ERR_INPUT) { /* its GUID and age could be read */
        m->why = SP_WHY_BAD_PDB;
        m->other = m->debug;
        m->other_id = why;
    }
    st = sp_file_fatal(st);
    if (!st && m->pdb && !(m->cache = sp_arena_zalloc(&s->arena, sizeof *m->cache)))
        st = SPAA_ERR_NOMEM;
    if (!st && !m->pdb && m->is_pe)
        st = sp_file_fatal(sp_pe_read(m->file, s->d, &pe, &m->tab));
    if (!st && !sp_symtab_finish(&m->tab, SP_RULES_ELF))
        st = SPAA_ERR_NOMEM;
    return st;
}

/* As names of the same functions are undecorated: `Queue<int,8>` is `Queue<int, 8>`. */
static void pdb_frames_put_name(struct sp_buf *b, const char *name)
{
    static const char nameless[] = "`anonymous-namespace'";
    unsigned depth = 0;
    for (const char *c = name; *c; c++) {
        depth += *c == '<';
        depth -= *c == '>' && depth;
        if (!strncmp(c, nameless, sizeof nameless - 1)) {
            sp_buf_puts(b, "`anonymous namespace'");
            c += sizeof nameless - 2;
        } else if (!(*c == ' ' && depth && c[1] == '>')) {
            sp_buf_ch(b, *c);
            if (*c == ',' && depth && c[1] != ' ')
                sp_buf_ch(b, ' ');
        }
    }
}

/* Itanium's and Rust's names say all; Microsoft's are shown as the compiler wrote the function's name. */
static bool pdb_frames_names(struct sp_module *m, const struct sp_pdb_frame *f, struct sp_resolved *r)
{
    struct sp_symbols *s = m->owner;
    const char *linkage = f->linkage;
    struct sp_buf b;
    if (linkage && linkage[0] == '_' &&
        sp_pdb_id(m->pdb)->machine == 0x14c) /* what C names begin with there */
        linkage++;
    if (linkage && !sp_symbols_names(s, linkage, r))
        return false;
    if (!f->name || (linkage && r->raw && r->raw[0] == '_'))
        return true;
    const char *kept = linkage ? r->linkage : NULL;
    sp_buf_init(&b, 64 << 10);
    pdb_frames_put_name(&b, f->name);
    bool too_long = b.failed && !b.nomem;
    uint32_t id = b.failed ? SP_STR_FAIL : sp_intern(&s->names, b.data, b.len);
    sp_buf_free(&b);
    if (too_long)
        return true;
    if (id == SP_STR_FAIL)
        return sp_symbols_nomem(s);
    r->func = sp_str_cstr(&s->names, id);
    r->linkage = kept;
    r->raw = kept && strcmp(kept, r->func) != 0 ? kept : NULL;
    return true;
}

static bool pdb_frames_describe(struct sp_module *m, const struct sp_pdb_frame *f, bool inlined,
                                struct sp_resolved *r)
{
    struct sp_dwarf_file file = {.comp_dir = f->dir, .name = f->file};
    struct sp_dwarf_file decl = {.comp_dir = f->dir, .name = f->decl_file};
    if ((f->line && !m->owner->opts.no_lines && !sp_module_place(m, &file, f->line, &r->srcline)) ||
        !sp_module_place(m, &decl, 0, &r->file) || !pdb_frames_names(m, f, r))
        return false;
    bool rust = r->raw && (!strncmp(r->raw, "_R", 2) ||
                           sp_linkage_is_hashed((struct sp_str){r->raw, (uint32_t)strlen(r->raw)}));
    r->local = f->local && !rust;
    if (!inlined) {
        r->start = f->entry;
        r->has_start = f->entry;
    }
    if (!r->func && inlined)
        r->func = "[unknown]";
    return true;
}

bool sp_module_pdb_lines(struct sp_module *m, uint64_t rva, struct sp_resolved *out, size_t max, size_t *n)
{
    const struct sp_symbol_opts *o = &m->owner->opts;
    struct sp_pdb_frame f[64];
    *n = 0;
    size_t found = sp_pdb_find(m->pdb, rva, !o->no_inline && !o->no_debug, f, max < 64 ? max : 64);
    if (sp_pdb_failed(m->pdb))
        return sp_symbols_fail(m->owner, sp_pdb_failed(m->pdb));
    for (size_t i = 0; i < found; i++) {
        out[i] = (struct sp_resolved){.inline_depth = (uint32_t)(found - 1 - i),
                                      .symoff = rva - f[found - 1].entry};
        if (!pdb_frames_describe(m, &f[i], i + 1 < found, &out[i]))
            return false;
    }
    *n = found;
    m->lineless += found && !out[found - 1].srcline;
    return true;
}
