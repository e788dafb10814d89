/*
 * Where the PDB of a Windows binary is looked for, and what files are.
 *
 * A PDB is believed by its GUID and age, never by its name: it has to be that of the recording, or of the
 * image that was found. It lies beside the image, or anywhere under the folders that are given: as it is
 * called, in the folder of the recorded path, or as symbol servers keep it (app.pdb/GUIDAGE/app.pdb). Windows
 * does not tell letters by their case, so lower case is tried, too.
 */
#include "symbols/windows.h"

#include "io/file.h"
#include "pdb/pdb.h"
#include "symbols/pe.h"
#include "symbols/store.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

static size_t windows_key(const struct sp_pdb_id *id, char out[static SP_RSDS_KEY_ROOM])
{
    struct sp_rsds r = {.age = id->age};
    memcpy(r.guid, id->guid, sizeof r.guid);
    return sp_rsds_key(&r, false, out);
}

bool sp_is_windows_path(const char *p)
{
    static const char *const ends[] = {".exe", ".dll", ".sys", ".pdb"};
    size_t n = p ? strlen(p) : 0;
    if (!n || p[0] == '/' || p[0] == '[')
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (n > 4 && !strcasecmp(p + n - 4, ends[i]))
            return true;
    return strchr(p, '\\') || (n > 2 && isalpha((unsigned char)p[0]) && p[1] == ':');
}

bool sp_is_guid_and_age(const char *id, const char *path)
{
    struct sp_rsds r;
    size_t n = id ? strlen(id) : 0;
    return sp_rsds_from_key(id, n, &r) && (n < 40 || sp_is_windows_path(path));
}

spaa_status sp_offered_read(const char *path, struct sp_diags *d, struct sp_offered *out, const char **why)
{
    struct sp_elf elf = {0};
    struct sp_pe pe;
    struct sp_pdb_id id;
    *out = (struct sp_offered){.path = path};
    spaa_status st = sp_elf_read(path, d, &elf, NULL);
    if (!st)
        memcpy(out->build_id, elf.build_id, sizeof elf.build_id);
    sp_elf_free(&elf);
    if (st == SPAA_ERR_INPUT && !(st = sp_pe_read(path, d, &pe, NULL)) && pe.has_rsds)
        sp_rsds_key(&pe.rsds, false, out->build_id);
    if (st == SPAA_ERR_INPUT && !(st = sp_pdb_read_id(path, d, &id, why))) {
        windows_key(&id, out->build_id);
        out->pdb = true;
    }
    if (st == SPAA_ERR_INPUT && !strcmp(*why, "no PDB"))
        *why = "no PDB, PE image or ELF file";
    return st;
}

spaa_status sp_pe_as_elf(struct sp_module *m, const char *path, struct sp_elf *out)
{
    struct sp_pe pe;
    struct sp_elf_load all = {.filesz = UINT32_MAX, .exec = true};
    spaa_status st = sp_pe_read(path, m->owner->d, &pe, NULL);
    if (st)
        return st;
    *out = (struct sp_elf){.has_symtab = pe.has_symbols};
    if (pe.has_rsds)
        sp_rsds_key(&pe.rsds, false, out->build_id);
    m->pdb_path = sp_module_keep(m, pe.pdb);
    bool ok = m->pdb_path;
    /* Windows maps images as a whole: what is called an offset in the file is an RVA. Others map sections. */
    if (sp_is_windows_path(m->key.path))
        ok = ok && sp_vec_push(&out->loads, all);
    for (unsigned i = 0; ok && !sp_is_windows_path(m->key.path) && i < pe.nsections; i++) {
        const struct sp_pe_section *s = &pe.sections[i];
        ok = sp_vec_push(&out->loads, ((struct sp_elf_load){s->raw, s->raw_size, s->rva, s->code}));
    }
    if (!ok)
        sp_elf_free(out);
    return ok ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* ---- finding ---- */

struct windows_search {
    struct sp_module *m;
    struct sp_rsds want;
    const char *id; /* the same as text */
    char key[SP_RSDS_KEY_ROOM];
    struct sp_buf path, name;
};

static spaa_status windows_try(struct windows_search *x, const char *candidate)
{
    struct sp_module *m = x->m;
    struct sp_pdb_id id;
    char key[SP_RSDS_KEY_ROOM];
    const char *why = "";
    if (m->has_pdb || !*candidate)
        return SPAA_OK;
    spaa_status st = sp_pdb_read_id(candidate, m->owner->d, &id, &why);
    if (st == SPAA_ERR_INPUT && m->why != SP_WHY_BAD_PDB) {
        m->why = SP_WHY_BAD_PDB;
        m->other = sp_module_keep(m, candidate);
        m->other_id = why;
        return m->other ? SPAA_OK : SPAA_ERR_NOMEM;
    }
    if (st)
        return sp_file_fatal(st);
    windows_key(&id, key);
    if (!strcmp(key, x->id)) {
        m->has_pdb = true;
        m->why = SP_WHY_NONE;
        m->debug = sp_module_keep(m, candidate);
        return m->debug ? SPAA_OK : SPAA_ERR_NOMEM;
    }
    if (m->why != SP_WHY_OTHER_BUILD && m->why != SP_WHY_BAD_PDB) {
        m->why = SP_WHY_OTHER_BUILD;
        m->other = sp_module_keep(m, candidate);
        m->other_id = sp_module_keep(m, key);
    }
    return m->other && m->other_id ? SPAA_OK : SPAA_ERR_NOMEM;
}

/* root/name, root/name/KEY/name. */
static spaa_status windows_under(struct windows_search *x, const char *root, const char *name)
{
    char lower[SP_RSDS_KEY_ROOM];
    if (!root)
        return SPAA_OK;
    sp_rsds_key(&x->want, false, lower);
    spaa_status st = windows_try(x, sp_path(&x->path, "%s/%s", root, name));
    if (!st)
        st = windows_try(x, sp_path(&x->path, "%s/%s/%s/%s", root, name, x->key, name));
    return st ? st : windows_try(x, sp_path(&x->path, "%s/%s/%s/%s", root, name, lower, name));
}

/* What of a path is below its drive, with slashes; with `base` its last part alone. */
static const char *windows_tail(struct sp_buf *b, const char *p, bool base)
{
    const char *start = p[0] && p[1] == ':' ? p + 2 : p;
    for (const char *c = start; base && *c; c++)
        if (*c == '\\' || *c == '/')
            start = c + 1;
    sp_buf_clear(b);
    for (; *start; start++)
        sp_buf_ch(b, *start == '\\' ? '/' : *start);
    return sp_buf_cstr(b);
}

static spaa_status windows_named(struct windows_search *x, const char *name)
{
    const struct sp_module *m = x->m;
    const struct sp_symbol_opts *o = &m->owner->opts;
    const char *slash = m->file ? strrchr(m->file, '/') : NULL;
    spaa_status st = SPAA_OK;
    if (!*name || !strcmp(name, "..") || strchr(name, '/'))
        return SPAA_OK;
    if (m->file)
        st = windows_try(x,
                         sp_path(&x->path, "%.*s%s", slash ? (int)(slash - m->file) + 1 : 0, m->file, name));
    if (!st && o->symfs && m->key.path) {
        struct sp_buf tail;
        sp_buf_init(&tail, PATH_MAX);
        const char *p = windows_tail(&tail, m->key.path, false), *end = strrchr(p, '/');
        if (end && !strstr(p, ".."))
            st = windows_try(x, sp_path_below(&x->path, o->symfs, "/%.*s/%s", (int)(end - p), p, name));
        st = sp_path_end(&tail, st);
    }
    if (!st)
        st = windows_under(x, o->symfs, name);
    return st ? st : windows_under(x, o->debug_dir, name);
}

/* A name, and the same in lower case. */
static spaa_status windows_both(struct windows_search *x, const char *path, bool extension)
{
    struct sp_buf *b = &x->name;
    windows_tail(b, path, true);
    const char *dot = b->len ? memrchr(b->data, '.', b->len) : NULL;
    if (extension) {
        b->len = dot ? (size_t)(dot - b->data) : b->len;
        sp_buf_puts(b, ".pdb");
    }
    spaa_status st = windows_named(x, sp_buf_cstr(b));
    bool upper = false;
    for (size_t i = 0; i < b->len; i++) {
        upper |= isupper((unsigned char)b->data[i]) != 0;
        b->data[i] = (char)tolower((unsigned char)b->data[i]);
    }
    return st || !upper ? st : windows_named(x, sp_buf_cstr(b));
}

/* The image below symfs: by its path there, or by its name alone. */
spaa_status sp_find_image(struct sp_module *m, sp_try_image *try, bool *found)
{
    const char *symfs = m->owner->opts.symfs;
    struct sp_buf path, tail;
    spaa_status st = SPAA_OK;
    if (!symfs)
        return st;
    sp_buf_init(&path, PATH_MAX);
    sp_buf_init(&tail, PATH_MAX);
    for (int base = 0; base < 2 && !st && !*found; base++) {
        const char *p = windows_tail(&tail, m->key.path, base);
        if (!strstr(p, ".."))
            st = try(m, sp_path_below(&path, symfs, "/%s", *p == '/' ? p + 1 : p), found);
        for (size_t i = 0; i < tail.len; i++)
            tail.data[i] = (char)tolower((unsigned char)tail.data[i]);
        if (!st && !*found && !strstr(p, "..") && base)
            st = try(m, sp_path_below(&path, symfs, "/%s", p), found);
    }
    return sp_path_end(&tail, sp_path_end(&path, st));
}

spaa_status sp_find_pdb(struct sp_module *m)
{
    struct windows_search x = {.m = m};
    x.id = m->is_pe ? m->elf.build_id : m->key.build_id;
    enum sp_why before = m->why;
    if (m->has_pdb || (m->file && !m->is_pe) || (!m->is_pe && !sp_is_guid_and_age(x.id, m->key.path)) ||
        !sp_rsds_from_key(x.id, strlen(x.id), &x.want))
        return SPAA_OK;
    sp_rsds_key(&x.want, true, x.key);
    sp_buf_init(&x.path, PATH_MAX);
    sp_buf_init(&x.name, PATH_MAX);
    const char *store = sp_is_build_id(x.id) ? m->owner->store : NULL;
    spaa_status st = store ? windows_try(&x, sp_store_path(&x.path, store, x.id, SP_STORE_PDB)) : SPAA_OK;
    if (m->has_pdb && store)
        sp_file_used(m->debug);
    if (!st && m->pdb_path && *m->pdb_path) {
        st = windows_both(&x, m->pdb_path, false);
        if (!st && m->pdb_path[0] == '/')
            st = windows_try(&x, m->pdb_path);
    }
    if (!st && m->key.path)
        st = windows_both(&x, m->key.path, true);
    if (m->why == before && (m->is_pe || before == SP_WHY_NO_FILE))
        m->why = SP_WHY_NO_PDB;
    return sp_path_end(&x.name, sp_path_end(&x.path, st));
}
