/*
 * Where the symbols of a module are looked for.
 *
 * Every candidate is a path that is tried and, where a build-id was recorded, believed only if the
 * file has the same one. Recorded build-ids are 20 bytes in older recordings whatever they were: a
 * shorter one is padded with zeros, a longer one cut off; both compare equal.
 */
#include "base/buf.h"
#include "io/file.h"
#include "symbols/internal.h"

#include <limits.h>
#include <string.h>

const char *sp_path(struct sp_buf *b, const char *fmt, ...)
{
    va_list ap;
    sp_buf_clear(b);
    va_start(ap, fmt);
    bool ok = sp_buf_vprintf(b, fmt, ap);
    va_end(ap);
    return ok ? sp_buf_cstr(b) : "";
}

spaa_status sp_path_end(struct sp_buf *b, spaa_status st)
{
    bool nomem = b->nomem;
    sp_buf_free(b);
    return !st && nomem ? SPAA_ERR_NOMEM : st;
}

const char *sp_module_keep(struct sp_module *m, const char *s)
{
    return sp_arena_dup(&m->owner->arena, s, strlen(s));
}

/* The build-id that a debug file must have: the file's own, else the recorded one; NULL: unknown. */
static const char *wanted_id(const struct sp_module *m)
{
    if (m->file && m->elf.build_id[0])
        return m->elf.build_id;
    return m->file || !sp_is_build_id(m->key.build_id) ? NULL : m->key.build_id;
}

/* Tries a candidate for the file itself; *found says it was taken. */
static spaa_status try_file(struct sp_module *m, const char *candidate, bool *found)
{
    struct sp_elf e = {0};
    spaa_status st = *candidate ? sp_elf_read(candidate, m->owner->d, &e, NULL) : SPAA_ERR_NOT_FOUND;
    if (sp_file_fatal(st))
        return st;
    if (st == SPAA_ERR_INPUT && m->why == SP_WHY_NO_FILE) {
        m->why = SP_WHY_NOT_ELF;
        m->other = sp_module_keep(m, candidate);
        return m->other ? SPAA_OK : SPAA_ERR_NOMEM;
    }
    if (st != SPAA_OK)
        return SPAA_OK;
    if (m->key.build_id && !sp_same_build_id(m->key.build_id, e.build_id)) {
        if (m->why != SP_WHY_OTHER_BUILD) {
            m->why = SP_WHY_OTHER_BUILD;
            m->other = sp_module_keep(m, candidate);
            m->other_id = sp_module_keep(m, e.build_id);
        }
        sp_elf_free(&e);
        return m->other && m->other_id ? SPAA_OK : SPAA_ERR_NOMEM;
    }
    m->elf = e;
    m->file = sp_module_keep(m, candidate);
    *found = m->file;
    return m->file ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* Names of mappings that look like paths and are none: their files are of other things, or devices. */
static bool is_path(const char *p)
{
    static const char *const not [] = {"//",     "/dev/", "/memfd:", "/SYSV", "/anon_hugepage",
                                       "/proc/", "/sys/"};
    if (!p || p[0] != '/')
        return false;
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (!strncmp(p, not [i], strlen(not [i])))
            return false;
    return true;
}

spaa_status sp_find_file(struct sp_module *m)
{
    const struct sp_symbols *s = m->owner;
    const char *p = m->key.path, *id = m->key.build_id, *symfs = s->opts.symfs;
    bool found = false;
    spaa_status st = SPAA_OK;
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    m->why = SP_WHY_NO_FILE;
    if (is_path(p) && symfs)
        st = try_file(m, sp_path(&b, "%s%s", symfs, p), &found);
    if (st == SPAA_OK && !found && sp_is_build_id(id) && s->home) {
        static const char *const in_cache[] = {"/elf", "/vdso", ""};
        for (size_t i = 0; i < 3 && st == SPAA_OK && !found; i++)
            st = try_file(m, sp_path(&b, "%s/.debug/.build-id/%.2s/%s%s", s->home, id, id + 2, in_cache[i]),
                          &found);
    }
    if (st == SPAA_OK && !found && is_path(p))
        st = try_file(m, p, &found);
    const char *fetched = NULL;
    if (st == SPAA_OK && !found && id)
        st = sp_debuginfod_fetch(m->owner, id, true, &fetched);
    if (st == SPAA_OK && fetched)
        st = try_file(m, fetched, &found);
    if (found)
        m->why = m->elf.has_symtab ? SP_WHY_NONE : SP_WHY_STRIPPED;
    return sp_path_end(&b, st);
}

/*
 * Tries a candidate for the debug file. One found by .gnu_debuglink of a file without build-id must
 * have the checksum that stands there.
 */
static spaa_status try_debug(struct sp_module *m, const char *candidate, bool by_link)
{
    struct sp_elf e = {0};
    const char *id = wanted_id(m);
    uint32_t crc;
    if (m->debug || !*candidate)
        return SPAA_OK;
    spaa_status st = sp_elf_read(candidate, m->owner->d, &e, NULL);
    if (st != SPAA_OK)
        return sp_file_fatal(st);
    bool fits = id && sp_same_build_id(id, e.build_id);
    if (!id && by_link) {
        st = sp_file_crc32(candidate, m->owner->d, &crc);
        fits = !st && crc == m->elf.debuglink_crc;
        st = sp_file_fatal(st);
    }
    if (fits && (e.has_symtab || e.has_dwarf)) {
        m->debug = sp_module_keep(m, candidate);
        st = m->debug ? SPAA_OK : SPAA_ERR_NOMEM;
    }
    sp_elf_free(&e);
    return st;
}

static spaa_status by_id(struct sp_module *m, struct sp_buf *b, const char *root, const char *dir)
{
    const char *id = wanted_id(m);
    if (!root || !id)
        return SPAA_OK;
    return try_debug(m, sp_path(b, "%s%s/.build-id/%.2s/%s.debug", root, dir, id, id + 2), false);
}

static spaa_status by_link_under(struct sp_module *m, struct sp_buf *b, const char *root, const char *dir)
{
    const char *p = m->key.path, *slash = is_path(p) ? strrchr(p, '/') : NULL;
    if (!root || !slash)
        return SPAA_OK;
    return try_debug(m, sp_path(b, "%s%s%.*s/%s", root, dir, (int)(slash - p), p, m->elf.debuglink), true);
}

static spaa_status by_link(struct sp_module *m, struct sp_buf *b)
{
    const struct sp_symbol_opts *o = &m->owner->opts;
    if (!m->file || !m->elf.debuglink[0])
        return SPAA_OK;
    const char *link = m->elf.debuglink, *slash = strrchr(m->file, '/');
    int n = slash ? (int)(slash - m->file) : 0;
    spaa_status st = SPAA_OK;
    if (slash)
        st = try_debug(m, sp_path(b, "%.*s/%s", n, m->file, link), true);
    if (st == SPAA_OK && slash)
        st = try_debug(m, sp_path(b, "%.*s/.debug/%s", n, m->file, link), true);
    if (st == SPAA_OK)
        st = by_link_under(m, b, o->symfs, "/usr/lib/debug");
    if (st == SPAA_OK)
        st = by_link_under(m, b, o->debug_dir, "");
    if (st == SPAA_OK && o->debug_dir)
        st = try_debug(m, sp_path(b, "%s/%s", o->debug_dir, link), true);
    return st == SPAA_OK ? by_link_under(m, b, "/usr/lib/debug", "") : st;
}

spaa_status sp_find_debug(struct sp_module *m)
{
    const struct sp_symbols *s = m->owner;
    const char *id = wanted_id(m);
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    spaa_status st = by_id(m, &b, s->opts.symfs, "/usr/lib/debug");
    if (st == SPAA_OK)
        st = by_id(m, &b, s->opts.debug_dir, "");
    if (st == SPAA_OK && id && s->home)
        st = try_debug(m, sp_path(&b, "%s/.debug/.build-id/%.2s/%s/debug", s->home, id, id + 2), false);
    if (st == SPAA_OK)
        st = by_id(m, &b, "/usr/lib/debug", "");
    if (st == SPAA_OK)
        st = by_link(m, &b);
    const char *fetched = NULL;
    if (st == SPAA_OK && !m->debug && id)
        st = sp_debuginfod_fetch(m->owner, id, false, &fetched);
    if (st == SPAA_OK && fetched)
        st = try_debug(m, fetched, false);
    if (m->debug)
        m->why = SP_WHY_NONE;
    return sp_path_end(&b, st);
}
