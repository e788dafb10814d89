/*
 * Inlined functions and lines of a module, from the DWARF of its file or of its debug file.
 *
 * A file's name is shown as the compiler was told: relative to the directory it ran in, unless it was
 * elsewhere. So a source line is the same wherever somebody built it, and stacks stay comparable. Crates that
 * cargo downloads are each compiled in a directory of their own, and all have a src/lib.rs: of these the path
 * stays.
 */
#include "base/buf.h"
#include "base/hash.h"
#include "io/file.h"
#include "symbols/internal.h"
#include "symbols/windows.h"

#include <string.h>

#define FRAMES_MAX 64u
#define CACHE      4096u /* entries; a power of two */

/* Texts made of DWARF's strings lately, by where those stand. */
struct sp_line_cache {
    struct {
        const char *linkage, *func, *raw;
    } name[CACHE];
    struct {
        const char *file, *dir, *text;
        uint32_t line;
    } srcline[CACHE];
};

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
    struct sp_dwarf_places places = {o->symfs, o->debug_dir, sp_module_wanted_id(m)};
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

/* The rest of path below dir, or NULL. */
static const char *below(const char *path, const char *dir)
{
    size_t n = dir ? strlen(dir) : 0;
    while (n && (dir[n - 1] == '/' || dir[n - 1] == '\\'))
        n--;
    return n && !strncmp(path, dir, n) && (path[n] == '/' || path[n] == '\\') ? path + n + 1 : NULL;
}

static bool is_download(const char *dir)
{
    return dir && (strstr(dir, "/registry/src/") || strstr(dir, "/git/checkouts/") ||
                   strstr(dir, "\\registry\\src\\") || strstr(dir, "\\git\\checkouts\\"));
}

static bool is_absolute(const char *path)
{
    return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

static size_t slot_of(const void *a, const void *b, uint64_t n)
{
    return sp_hash_mix((uintptr_t)a ^ n << 32, (uintptr_t)b) & (CACHE - 1);
}

/* The file as it is shown; the text stays in b. */
static const char *path_of(const struct sp_dwarf_file *f, struct sp_buf *b)
{
    if (is_download(f->comp_dir) && !is_absolute(f->name) && !(f->dir && is_absolute(f->dir)))
        sp_buf_printf(b, "%s/", f->comp_dir);
    if (f->dir && !is_absolute(f->name)) {
        sp_buf_puts(b, f->dir);
        if (!f->dir[0] || f->dir[strlen(f->dir) - 1] != '/')
            sp_buf_ch(b, '/');
    }
    sp_buf_puts(b, f->name);
    const char *text = sp_buf_cstr(b), *rest = is_download(f->comp_dir) ? NULL : below(text, f->comp_dir);
    if (rest)
        text = rest;
    while (text[0] == '.' && text[1] == '/' && text[2])
        text += 2;
    return text;
}

size_t sp_line_cache_bytes(void)
{
    return sizeof(struct sp_line_cache);
}

bool sp_module_place(struct sp_module *m, const struct sp_dwarf_file *f, uint32_t line, const char **out)
{
    struct sp_symbols *s = m->owner;
    *out = NULL;
    if (!f->name)
        return true;
    size_t slot = slot_of(f->name, f->dir, line);
    if (m->cache->srcline[slot].file == f->name && m->cache->srcline[slot].dir == f->dir &&
        m->cache->srcline[slot].line == line) {
        *out = m->cache->srcline[slot].text;
        return true;
    }
    struct sp_buf b, whole;
    sp_buf_init(&b, 64 << 10);
    sp_buf_init(&whole, 64 << 10);
    sp_buf_puts(&whole, path_of(f, &b));
    if (line) {
        sp_buf_ch(&whole, ':');
        sp_buf_u64(&whole, line);
    }
    uint32_t id = b.failed || whole.failed ? SP_STR_FAIL : sp_intern(&s->names, whole.data, whole.len);
    sp_buf_free(&b);
    sp_buf_free(&whole);
    if (id == SP_STR_FAIL)
        return sp_symbols_nomem(s);
    *out = sp_str_cstr(&s->names, id);
    m->cache->srcline[slot].file = f->name;
    m->cache->srcline[slot].dir = f->dir;
    m->cache->srcline[slot].line = line;
    m->cache->srcline[slot].text = *out;
    return true;
}

static bool names_of(struct sp_module *m, const char *linkage, struct sp_resolved *r)
{
    size_t slot = slot_of(linkage, NULL, 0);
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
    sp_buf_init(&b, 64 << 10);
    sp_buf_printf(&b, "%s:%u", l->file, l->line);
    uint32_t id = b.failed ? SP_STR_FAIL : sp_intern(&s->names, b.data, b.len);
    sp_buf_free(&b);
    if (id == SP_STR_FAIL)
        return sp_symbols_nomem(s);
    out->srcline = sp_str_cstr(&s->names, id);
    return true;
}
