/* Inlined functions and lines of a module, from the DWARF of its file or of its debug file, or from its PDB.
 */
#include "base/buf.h"
#include "io/file.h"
#include "symbols/internal.h"
#include "symbols/windows.h"

#include <string.h>

#define FRAMES_MAX 64u

/* The file with the module's DWARF; NULL: none is known. Looks for a debug file if it takes one. */
static const char *dwarf_file(struct sp_module *m)
{
    enum sp_why why = m->why;
    if (m->is_pe || m->has_pdb)
        return NULL;
    if (m->key.kind == SP_MODULE_FILE && m->file && m->elf.has_dwarf)
        return m->file;
    /* kallsyms may be of a kernel that stood elsewhere than its file says. */
    if (m->key.kind != SP_MODULE_FILE && (m->key.kind != SP_MODULE_KERNEL || m->ksyms))
        return NULL;
    if (!m->debug && m->file)
        sp_symbols_fail(m->owner, sp_find_debug(m));
    m->why = why;
    return m->debug;
}

struct sp_dwarf *sp_module_dwarf(struct sp_module *m)
{
    const struct sp_symbol_opts *o = &m->owner->opts;
    if (m->dwarf_tried ||
        o->no_debug) /* what a view shows of it does not matter: it says which function is which */
        return m->dwarf;
    m->dwarf_tried = true;
    const char *file = dwarf_file(m);
    struct sp_dwarf_places places = {
        .root = o->symfs,
        .debug_dir = o->debug_dir,
        .store = m->owner->store,
        .beside = {m->file, sp_is_recorded_path(m->key.path) ? m->key.path : NULL},
        .uuid = sp_module_wanted_id(m)};
    if (file)
        sp_symbols_fail(m->owner, sp_file_fatal(sp_dwarf_open(file, &places, m->owner->d, &m->dwarf)));
    if (m->dwarf)
        m->cache = sp_arena_zalloc(&m->owner->arena, sizeof *m->cache);
    if (m->dwarf && !m->cache) {
        sp_symbols_nomem(m->owner);
        sp_dwarf_free(m->dwarf);
        m->dwarf = NULL;
    }
    return m->dwarf;
}

static bool names_of(struct sp_module *m, const char *linkage, struct sp_resolved *r)
{
    size_t slot = sp_line_slot(linkage, NULL, 0);
    if (m->cache->name[slot].linkage != linkage) {
        if (!sp_symbols_names(m->owner, linkage, r))
            return false;
        m->cache->name[slot].linkage = linkage;
        m->cache->name[slot].func = r->func;
        m->cache->name[slot].raw = r->raw;
    }
    r->func = m->cache->name[slot].func;
    r->raw = m->cache->name[slot].raw;
    r->linkage = r->raw ? r->raw : r->func;
    return true;
}

/* What DWARF says of the function of a frame; false: out of memory. */
static bool describe(struct sp_module *m, const struct sp_dwarf_frame *f, bool inlined, struct sp_resolved *r)
{
    const char *name = f->scoped ? f->scoped : f->func;
    if (name && !names_of(m, name, r))
        return false;
    if (!f->linked)
        r->linkage = NULL;
    r->arguments = f->arguments;
    r->closures = f->closures;
    r->local = f->local;
    r->line = f->decl_line;
    if (!inlined) {
        r->start = f->entry + m->shift;
        r->has_start = f->entry;
    }
    return sp_module_place(m, &f->decl, 0, &r->file) &&
           (!inlined || !f->copy || sp_module_copy(m, f->copy, f->linked ? NULL : f->func, r));
}

bool sp_module_lines(struct sp_module *m, uint64_t addr, struct sp_resolved *out, size_t max, size_t *n)
{
    struct sp_symbols *s = m->owner;
    struct sp_dwarf_frame f[FRAMES_MAX];
    if (m->pdb)
        return sp_module_pdb_lines(m, addr, out, max, n);
    struct sp_dwarf *d = sp_module_dwarf(m);
    bool lines = !s->opts.no_lines;
    *n = 0;
    if (!d)
        return !s->failed;
    if (s->opts.no_inline)
        max = 1;
    size_t found = sp_dwarf_find(d, addr, lines ? SP_DWARF_LINES : SP_DWARF_INLINES, f,
                                 max < FRAMES_MAX ? max : FRAMES_MAX);
    if (sp_dwarf_failed(d))
        return sp_symbols_fail(s, sp_dwarf_failed(d));
    for (size_t i = 0; i < found; i++) {
        struct sp_resolved r = {.inline_depth = (uint32_t)(found - 1 - i)};
        if (f[i].line && lines && !sp_module_place(m, &f[i].file, f[i].line, &r.srcline))
            return false;
        r.comp_dir = f[i].file.comp_dir;
        r.source = f[i].file.source;
        if (!describe(m, &f[i], i + 1 < found, &r))
            return false;
        if (!f[i].func && i + 1 < found)
            r.func = "[unknown]";
        r.symoff = addr - f[found - 1].entry;
        out[i] = r;
    }
    *n = found;
    return true;
}

bool sp_module_jit_line(struct sp_module *m, const struct sp_sym *sym, uint64_t addr, struct sp_resolved *out)
{
    struct sp_symbols *s = m->owner;
    const struct sp_jit_line *l = s->opts.no_lines ? NULL : sp_jitdump_line(&m->jit, sym, addr);
    if (!l)
        return true;
    struct sp_buf b;
    sp_buf_init(&b, 8 << 10);
    sp_buf_printf(&b, "%s:%u", l->file, l->line);
    bool too_long = b.failed && !b.nomem;
    uint32_t id = b.failed ? SP_STR_FAIL : sp_intern(&s->names, b.data, b.len);
    sp_buf_free(&b);
    if (too_long) {
        m->long_places = true;
        return true;
    }
    if (id == SP_STR_FAIL)
        return sp_symbols_nomem(s);
    out->srcline = sp_str_cstr(&s->names, id);
    return true;
}
