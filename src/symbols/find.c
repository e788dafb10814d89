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
#include "symbols/store.h"
#include "symbols/windows.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

const char *sp_module_wanted_id(const struct sp_module *m)
{
    if (m->file && m->elf.build_id[0])
        return m->elf.build_id;
    return m->file || !sp_is_build_id(m->key.build_id) ? NULL : m->key.build_id;
}

spaa_status sp_module_read(const struct sp_module *m, const char *path, struct sp_elf *out,
                           struct sp_symtab *syms)
{
    spaa_status st = sp_elf_read(path, m->owner->d, out, syms);
    return st == SPAA_ERR_INPUT ? sp_macho_read(path, sp_module_wanted_id(m), m->owner->d, out, syms) : st;
}

/* Why a candidate is not taken, if nothing better is known. */
static spaa_status refuse(struct sp_module *m, enum sp_why why, const char *candidate, const char *id)
{
    if (m->why == SP_WHY_OTHER_BUILD || (m->why != SP_WHY_NO_FILE && why != SP_WHY_OTHER_BUILD))
        return SPAA_OK;
    m->why = why;
    m->other = sp_module_keep(m, candidate);
    m->other_id = sp_module_keep(m, id);
    return m->other && m->other_id ? SPAA_OK : SPAA_ERR_NOMEM;
}

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* The file at the recorded path, by its name alone: it is no other than the one that ran only if it was
 * there. */
static void doubt_file(struct sp_module *m)
{
    struct timespec recorded = m->owner->recorded;
    struct stat sb;
    m->doubtful |= m->key.replaced && !m->key.build_id;
    if (m->key.build_id || m->is_pe || m->elf.macho || !recorded.tv_sec || stat(m->file, &sb))
        return;
    if (!recorded.tv_nsec || !sb.st_mtim.tv_nsec) /* archives know no more than seconds */
        recorded.tv_nsec = sb.st_mtim.tv_nsec = 0;
    m->doubtful |= is_later(sb.st_mtim, recorded);
}

/* One that is cut off, say, is taken only where no whole one is found. */
static spaa_status set_aside(struct sp_module *m, const char **aside, const char *candidate)
{
    if (!*aside)
        *aside = sp_module_keep(m, candidate);
    return *aside ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* Tries a candidate for the file itself; *found says it was taken. */
static spaa_status try_file(struct sp_module *m, const char *candidate, bool *found)
{
    struct sp_elf e = {0};
    spaa_status st = *candidate ? sp_module_read(m, candidate, &e, NULL) : SPAA_ERR_NOT_FOUND;
    bool is_pe = st == SPAA_ERR_INPUT && !(st = sp_pe_as_elf(m, candidate, &e));
    if (sp_file_fatal(st))
        return st;
    if (st == SPAA_ERR_INPUT)
        return refuse(m, SP_WHY_NOT_ELF, candidate, "");
    if (st != SPAA_OK)
        return SPAA_OK;
    bool other = m->key.build_id && !sp_same_build_id(m->key.build_id, e.build_id);
    bool unknown = e.damage && !e.build_id[0]; /* which build it is of */
    if (e.damage && !m->takes_damaged && (!other || unknown)) {
        sp_elf_free(&e);
        return set_aside(m, &m->damaged_file, candidate);
    }
    if (other || (e.macho && !m->key.build_id)) {
        enum sp_why why = other && unknown ? SP_WHY_DAMAGED : other ? SP_WHY_OTHER_BUILD : SP_WHY_NO_UUID;
        st = refuse(m, why, candidate, why == SP_WHY_DAMAGED ? e.damage : e.build_id);
        sp_elf_free(&e);
        return st;
    }
    m->elf = e;
    m->is_pe = is_pe;
    m->file = sp_module_keep(m, candidate);
    *found = m->file;
    return m->file ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* Mach-O: wherever it is; else why the one of its name is not it. */
static spaa_status by_uuid(struct sp_module *m, bool *found)
{
    const char *path;
    spaa_status st = sp_macho_find(m->owner, m->key.build_id, false, &path);
    if (st || path)
        return st ? st : try_file(m, path, found);
    const struct sp_macho_file *other = m->key.path ? sp_macho_named(m->owner, m->key.path, false) : NULL;
    if (!other)
        return SPAA_OK;
    return refuse(m, other->uuid[0] ? SP_WHY_OTHER_BUILD : SP_WHY_NOT_ELF, other->path, other->uuid);
}

/* The files that somebody named: what they are is read once. */
static spaa_status read_offered(struct sp_symbols *s)
{
    spaa_status st = SPAA_OK;
    const char *why;
    for (size_t i = s->offered.n; i < s->opts.nimages && !st; i++) {
        struct sp_offered o;
        if (sp_offered_read(s->opts.images[i], s->d, &o, &why)) /* who passes them says so */
            o = (struct sp_offered){.path = s->opts.images[i]};
        st = sp_vec_push(&s->offered, o) ? SPAA_OK : SPAA_ERR_NOMEM;
    }
    return st;
}

static spaa_status find_offered(struct sp_module *m, bool *found)
{
    struct sp_symbols *s = m->owner;
    spaa_status st = m->key.build_id ? read_offered(s) : SPAA_OK;
    for (size_t i = 0; i < s->offered.n && !st && m->key.build_id; i++) {
        const struct sp_offered *o = &s->offered.v[i];
        if (!sp_same_build_id(m->key.build_id, o->build_id))
            continue;
        if (!o->pdb && !*found) {
            st = try_file(m, o->path, found);
        } else if (o->pdb && !m->has_pdb) {
            m->debug = o->path;
            m->has_pdb = true;
        }
    }
    return st;
}

/* The copy of the build; a recording without its build-id has none. */
static spaa_status in_store(struct sp_module *m, struct sp_buf *b, bool *found)
{
    const char *store = m->owner->store;
    if (!store || !sp_is_build_id(m->key.build_id))
        return SPAA_OK;
    spaa_status st = try_file(m, sp_store_path(b, store, m->key.build_id, SP_STORE_FILE), found);
    if (*found)
        sp_file_used(m->file);
    return st;
}

/* Why names may be lacking. */
static enum sp_why why_of(const struct sp_elf *e)
{
    if (e->damaged || (e->damage && !e->has_symtab))
        return SP_WHY_DAMAGED;
    return e->has_symtab ? SP_WHY_NONE : SP_WHY_STRIPPED;
}

/* Each place where it may be, until it is found. */
static spaa_status look_for_file(struct sp_module *m, struct sp_buf *b, bool *found)
{
    const struct sp_symbols *s = m->owner;
    const char *p = m->key.path, *id = m->key.build_id, *symfs = s->opts.symfs;
    spaa_status st = find_offered(m, found);
    if (st == SPAA_OK && !*found &&
        (sp_is_windows_path(p) || (p && p[0] != '/' && sp_is_guid_and_age(id, p))))
        st = sp_find_image(m, try_file, found);
    if (st == SPAA_OK && !*found && sp_is_recorded_path(p) && symfs)
        st = try_file(m, sp_path_below(b, symfs, "%s", p), found);
    if (st == SPAA_OK && !*found && sp_is_build_id(id) && s->home) {
        static const char *const in_cache[] = {"/elf", "/vdso", ""};
        for (size_t i = 0; i < 3 && st == SPAA_OK && !*found; i++)
            st = try_file(m, sp_path(b, "%s/.debug/.build-id/%.2s/%s%s", s->home, id, id + 2, in_cache[i]),
                          found);
    }
    if (st == SPAA_OK && !*found && sp_is_recorded_path(p)) {
        st = try_file(m, p, found);
        if (*found)
            doubt_file(m);
    }
    if (st == SPAA_OK && !*found)
        st = in_store(m, b, found);
    if (st == SPAA_OK && !*found)
        st = try_file(m, sp_debuginfod_cached(s, b, id, true), found);
    const char *fetched = NULL;
    if (st == SPAA_OK && !*found && id)
        st = sp_debuginfod_fetch(m->owner, id, true, &fetched);
    if (st == SPAA_OK && fetched)
        st = try_file(m, fetched, found);
    if (st == SPAA_OK && !*found && sp_is_uuid(id))
        st = by_uuid(m, found);
    return st;
}

/* A copy may not have the time of its original, which may still be there. */
static spaa_status find_original(struct sp_module *m)
{
    struct sp_elf e = {0};
    if (!m->file || !m->key.build_id || !sp_is_recorded_path(m->key.path) || !sp_store_is_undated(m->file))
        return SPAA_OK;
    spaa_status st = sp_module_read(m, m->key.path, &e, NULL);
    if (sp_file_fatal(st))
        return st;
    if (st == SPAA_OK && sp_same_build_id(m->key.build_id, e.build_id))
        m->original = m->key.path;
    sp_elf_free(&e);
    return SPAA_OK;
}

spaa_status sp_find_file(struct sp_module *m)
{
    bool found = false;
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    m->why = SP_WHY_NO_FILE;
    m->doubtful = m->key.doubtful;
    spaa_status st = look_for_file(m, &b, &found);
    if (st == SPAA_OK && !found && m->damaged_file) {
        m->takes_damaged = true;
        st = try_file(m, m->damaged_file, &found);
        m->takes_damaged = false;
        if (found && m->key.path && !strcmp(m->file, m->key.path))
            doubt_file(m);
    }
    if (st == SPAA_OK && found)
        st = find_original(m);
    if (found)
        m->why = why_of(&m->elf);
    if (m->has_pdb)
        m->why = SP_WHY_NONE;
    else if (st == SPAA_OK)
        st = sp_find_pdb(m);
    return sp_path_end(&b, st);
}

/* A file that stands where the debug file should and is not it, or not all of it; why NULL: of another build.
 */
static spaa_status note_debug(struct sp_module *m, const char *candidate, const char *why)
{
    if (m->bad_debug || (m->file && !strcmp(candidate, m->file)))
        return SPAA_OK;
    m->bad_debug = sp_module_keep(m, candidate);
    m->bad_debug_why = why;
    return m->bad_debug ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* Whether it is the debug file: by the build-id, else by the checksum in .gnu_debuglink. */
static spaa_status fits_debug(struct sp_module *m, const char *candidate, const struct sp_elf *e,
                              bool by_link, bool *fits)
{
    const char *id = sp_module_wanted_id(m);
    uint32_t crc;
    *fits = id && sp_same_build_id(id, e->build_id);
    if (id && !*fits && e->damage && !e->build_id[0])
        return note_debug(m, candidate, e->damage);
    if (id && !*fits && by_link && (e->has_symtab || e->has_dwarf))
        return note_debug(m, candidate, NULL);
    if (id || !by_link)
        return SPAA_OK;
    spaa_status st = sp_file_crc32(candidate, m->owner->d, &crc);
    *fits = !st && crc == m->elf.debuglink_crc;
    if (!st && !*fits)
        return note_debug(m, candidate, e->damage ? e->damage : "its checksum is not that of .gnu_debuglink");
    return sp_file_fatal(st);
}

/*
 * Tries a candidate for the debug file. One found by .gnu_debuglink of a file without build-id must
 * have the checksum that stands there.
 */
static spaa_status try_debug(struct sp_module *m, const char *candidate, bool by_link)
{
    struct sp_elf e = {0};
    bool fits, useful;
    if (m->debug || !*candidate)
        return SPAA_OK;
    spaa_status st = sp_module_read(m, candidate, &e, NULL);
    if (st == SPAA_ERR_INPUT)
        return note_debug(m, candidate, "it is no ELF file that can be read");
    if (st != SPAA_OK)
        return sp_file_fatal(st);
    st = fits_debug(m, candidate, &e, by_link, &fits);
    useful = e.has_symtab || e.has_dwarf;
    if (!st && fits && e.damage && !(m->takes_damaged && useful)) {
        st = note_debug(m, candidate, e.damage);
        if (!st && useful)
            st = set_aside(m, &m->damaged_debug, candidate);
    } else if (!st && fits && useful) {
        m->debug = sp_module_keep(m, candidate);
        st = m->debug ? SPAA_OK : SPAA_ERR_NOMEM;
        if (!m->takes_damaged) /* what else is there is not needed */
            m->bad_debug = NULL;
    }
    if (m->debug && e.macho && !m->file) /* it says what the image would */
        m->elf = e;
    else
        sp_elf_free(&e);
    return st;
}

/* The .dSYM bundle of a Mach-O image: beside its file, or wherever it is. */
static spaa_status by_bundle(struct sp_module *m, struct sp_buf *b)
{
    const char *id = sp_module_wanted_id(m), *path = NULL, *name = m->key.path;
    const struct sp_macho_file *other;
    spaa_status st = SPAA_OK;
    if (!sp_is_uuid(id) || (m->file && !m->elf.macho))
        return SPAA_OK;
    if (m->file) {
        name = strrchr(m->file, '/') ? strrchr(m->file, '/') + 1 : m->file;
        st = try_debug(m, sp_path(b, "%s.dSYM/Contents/Resources/DWARF/%s", m->file, name), false);
    }
    if (!st && !m->debug)
        st = sp_macho_find(m->owner, id, true, &path);
    if (!st && path)
        st = try_debug(m, path, false);
    if (!st && !m->debug && name && (other = sp_macho_named(m->owner, name, true))) {
        m->stray = other->path;
        m->stray_id = other->uuid;
    }
    return st;
}

static spaa_status by_id(struct sp_module *m, struct sp_buf *b, const char *root, const char *dir)
{
    const char *id = sp_module_wanted_id(m);
    if (!root || !id)
        return SPAA_OK;
    const char *path = root == m->owner->opts.symfs
                           ? sp_path_below(b, root, "%s/.build-id/%.2s/%s.debug", dir, id, id + 2)
                           : sp_path(b, "%s%s/.build-id/%.2s/%s.debug", root, dir, id, id + 2);
    return try_debug(m, path, false);
}

static spaa_status by_link_under(struct sp_module *m, struct sp_buf *b, const char *root, const char *dir,
                                 const char *sub)
{
    const char *p = m->key.path, *slash = sp_is_recorded_path(p) ? strrchr(p, '/') : NULL;
    if (!root || !slash)
        return SPAA_OK;
    const char *path =
        root == m->owner->opts.symfs
            ? sp_path_below(b, root, "%s%.*s%s/%s", dir, (int)(slash - p), p, sub, m->elf.debuglink)
            : sp_path(b, "%s%s%.*s%s/%s", root, dir, (int)(slash - p), p, sub, m->elf.debuglink);
    return try_debug(m, path, true);
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
    /* What was found may be a copy, as perf keeps them in ~/.debug: beside the recorded path, too. */
    const char *const beside[] = {o->symfs, o->symfs, "", ""}, *const subs[] = {"", "/.debug", "", "/.debug"};
    for (size_t i = 0; st == SPAA_OK && i < sizeof subs / sizeof *subs; i++)
        st = by_link_under(m, b, beside[i], "", subs[i]);
    if (st == SPAA_OK)
        st = by_link_under(m, b, o->symfs, "/usr/lib/debug", "");
    if (st == SPAA_OK)
        st = by_link_under(m, b, o->debug_dir, "", "");
    if (st == SPAA_OK && o->debug_dir)
        st = try_debug(m, sp_path(b, "%s/%s", o->debug_dir, link), true);
    return st == SPAA_OK ? by_link_under(m, b, "/usr/lib/debug", "", "") : st;
}

static spaa_status debug_in_store(struct sp_module *m, struct sp_buf *b)
{
    const char *id = sp_module_wanted_id(m), *store = m->owner->store;
    if (m->debug || !store || !sp_is_build_id(id))
        return SPAA_OK;
    spaa_status st = try_debug(m, sp_store_path(b, store, id, SP_STORE_DEBUG), false);
    if (st == SPAA_OK) /* where the one that was found is stripped, and this is not */
        st = try_debug(m, sp_store_path(b, store, id, SP_STORE_FILE), false);
    if (m->debug)
        sp_file_used(m->debug);
    return st;
}

static spaa_status look_for_debug(struct sp_module *m, struct sp_buf *b)
{
    const struct sp_symbols *s = m->owner;
    const char *id = sp_module_wanted_id(m);
    spaa_status st = by_id(m, b, s->opts.symfs, "/usr/lib/debug");
    if (st == SPAA_OK)
        st = by_id(m, b, s->opts.debug_dir, "");
    if (st == SPAA_OK && id && s->home)
        st = try_debug(m, sp_path(b, "%s/.debug/.build-id/%.2s/%s/debug", s->home, id, id + 2), false);
    if (st == SPAA_OK)
        st = by_id(m, b, "/usr/lib/debug", "");
    if (st == SPAA_OK)
        st = by_link(m, b);
    if (st == SPAA_OK)
        st = debug_in_store(m, b);
    if (st == SPAA_OK && !m->debug)
        st = try_debug(m, sp_debuginfod_cached(s, b, id, false), false);
    const char *fetched = NULL;
    if (st == SPAA_OK && !m->debug && id)
        st = sp_debuginfod_fetch(m->owner, id, false, &fetched);
    if (st == SPAA_OK && fetched)
        st = try_debug(m, fetched, false);
    if (st == SPAA_OK && !m->debug)
        st = by_bundle(m, b);
    return st;
}

spaa_status sp_find_debug(struct sp_module *m)
{
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    spaa_status st = look_for_debug(m, &b);
    m->takes_damaged = true;
    if (st == SPAA_OK && !m->debug && m->damaged_debug)
        st = try_debug(m, m->damaged_debug, true);
    m->takes_damaged = false;
    if (m->debug)
        m->why = SP_WHY_NONE;
    return sp_path_end(&b, st);
}
