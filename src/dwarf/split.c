/*
 * Debug information that stands in other files: .dwo and .dwp of split DWARF.
 *
 * A .dwo is looked for as its skeleton names it (from the directory of the compilation, below the root
 * first), then beside the binary; it must have the skeleton's id. A .dwp stands beside the binary under
 * its name, and its index tells which parts of its sections belong to an id.
 */
#include "dwarf/private.h"

#include "io/file.h"

#include <limits.h>
#include <stdlib.h>

#define INDEX_COLUMNS_MAX 16u

static bool is_of(const struct sp_dw_unit *u, const struct sp_dw_unit *skeleton)
{
    return !u->damaged && u->dwo_id == skeleton->dwo_id && u->tag == TAG_compile_unit;
}

/* Takes a file that was opened, once however it is called: another copy is freed. Under the lock. */
static struct sp_dw_file *keep_dwo(struct sp_dwarf *d, struct sp_dw_file *f)
{
    for (size_t i = 0; i < d->dwos.n; i++) {
        struct sp_dw_file *other = d->dwos.v[i];
        if (other->dev == f->dev && other->ino == f->ino) {
            sp_dw_file_free(f);
            return other;
        }
    }
    if (sp_vec_push(&d->dwos, f))
        return f;
    sp_dw_fail(d, SPAA_ERR_NOMEM);
    sp_dw_file_free(f);
    return NULL;
}

/* The .dwo at a path; NULL: none, which is reported where it has to be. */
static struct sp_dw_file *open_dwo(struct sp_dwarf *d, const char *path)
{
    struct sp_dw_file *f = NULL;
    struct sp_diags said; /* other threads may be at it too */
    sp_diags_init(&said);
    spaa_status st = *path ? sp_dw_file_open(path, true, NULL, &said, &f) : SPAA_ERR_NOT_FOUND;
    if (!st)
        st = sp_dw_units(d, f);
    for (size_t i = 0; !st && i < f->units.n; i++)
        sp_dw_unit_root(d, &f->units.v[i]);
    pthread_mutex_lock(&d->lock);
    if (st)
        sp_diags_merge(d->diags, &said);
    else
        f = keep_dwo(d, f);
    pthread_mutex_unlock(&d->lock);
    sp_diags_free(&said);
    sp_dw_fail(d, st);
    if (st)
        sp_dw_file_free(f);
    return st ? NULL : f;
}

/* Makes u the skeleton's if nobody else has it, who may be another thread. */
static bool claim(struct sp_dwarf *d, struct sp_dw_unit *u, struct sp_dw_unit *skeleton)
{
    pthread_mutex_lock(&d->lock);
    bool mine = !u->skeleton && !u->damaged;
    if (mine)
        u->skeleton = skeleton;
    pthread_mutex_unlock(&d->lock);
    return mine;
}

/* Whether what a file says of itself can be believed. */
static bool is_sound(const struct sp_dw_file *f)
{
    bool sound = f->units.n && !f->lacking;
    for (size_t i = 0; sound && i < f->units.n; i++)
        sound = !f->units.v[i].damaged && f->units.v[i].tag;
    return sound;
}

static bool try_dwo(struct sp_dwarf *d, struct sp_dw_unit *skeleton, const char *path,
                    struct sp_dw_unusable *first)
{
    struct sp_dw_file *f = open_dwo(d, path);
    if (f && !sp_dw_spend(d, f, DW_INFO, f->units.n))
        return false;
    bool taken = false; /* by another skeleton with the same id */
    for (size_t i = 0; f && i < f->units.n; i++) {
        struct sp_dw_unit *u = &f->units.v[i];
        if (u->type == UT_type || u->type == UT_split_type || !is_of(u, skeleton))
            continue;
        taken = !claim(d, u, skeleton);
        if (taken)
            continue;
        skeleton->split = u;
        return true;
    }
    if (!taken)
        sp_dw_note_unusable(d, first, path, f && is_sound(f));
    return false;
}

/* Where it stood from the directory of the compilation, from that of a binary, and right beside that. */
static bool try_beside(struct sp_dwarf *d, struct sp_dw_unit *u, struct sp_buf *b, const char *binary,
                       struct sp_dw_unusable *first)
{
    const char *name = u->dwo_name, *base = sp_dw_base_name(name);
    int n = sp_dw_dir_length(binary);
    return (*name != '/' && base != name && try_dwo(d, u, sp_dw_path(b, "%.*s%s", n, binary, name), first)) ||
           try_dwo(d, u, sp_dw_path(b, "%.*s%s", n, binary, base), first);
}

/* The same below the root, of a binary that was recorded. */
static bool try_beside_recorded(struct sp_dwarf *d, struct sp_dw_unit *u, struct sp_buf *b,
                                const char *binary, struct sp_dw_unusable *first)
{
    const char *name = u->dwo_name, *base = sp_dw_base_name(name);
    struct sp_buf dir;
    if (!d->root || *binary != '/')
        return false;
    sp_buf_init(&dir, PATH_MAX);
    const char *path = sp_dw_path(&dir, "%.*s", sp_dw_dir_length(binary), binary);
    bool ok =
        *path &&
        ((*name != '/' && base != name && try_dwo(d, u, sp_dw_path_below(b, d->root, path, name), first)) ||
         try_dwo(d, u, sp_dw_path_below(b, d->root, path, base), first));
    sp_dw_path_end(d, &dir, ok);
    return ok;
}

static bool find_dwo(struct sp_dwarf *d, struct sp_dw_unit *u, struct sp_dw_unusable *first)
{
    const char *name = u->dwo_name, *dir = name[0] == '/' || !u->comp_dir ? "" : u->comp_dir;
    const char *slash = *dir ? "/" : "";
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    bool ok = d->root && (*dir == '/' || *name == '/') &&
              try_dwo(d, u, sp_dw_path_below(&b, d->root, dir, name), first);
    ok = ok || try_dwo(d, u, sp_dw_path(&b, "%s%s%s", dir, slash, name), first) ||
         try_beside(d, u, &b, u->f->path, first);
    for (unsigned i = 0; i < SP_DWARF_BESIDE && !ok; i++)
        ok = d->beside[i] && (try_beside_recorded(d, u, &b, d->beside[i], first) ||
                              try_beside(d, u, &b, d->beside[i], first));
    sp_dw_path_end(d, &b, ok);
    return ok;
}

/* The package at a path, if nothing was found before. */
static void try_dwp(struct sp_dwarf *d, const char *path, struct sp_dw_unusable *first)
{
    if (d->dwp || !*path)
        return;
    spaa_status st = sp_dw_file_open(path, true, NULL, d->diags, &d->dwp);
    if (!st)
        st = sp_dw_units(d, d->dwp);
    if (st)
        sp_dw_note_unusable(d, first, path, false);
    sp_dw_fail(d, st);
}

static void try_dwp_of(struct sp_dwarf *d, struct sp_buf *b, const char *binary, struct sp_dw_unusable *first)
{
    struct sp_buf name;
    sp_buf_init(&name, PATH_MAX);
    const char *path = sp_dw_path(&name, "%s.dwp", binary);
    if (d->root && *path == '/')
        try_dwp(d, sp_dw_path_below(b, d->root, "", path), first);
    try_dwp(d, path, first);
    sp_dw_path_end(d, &name, d->dwp);
}

/* Opens the .dwp beside the binary, once; under the lock. */
static void open_dwp(struct sp_dwarf *d)
{
    static const char debug[] = ".debug";
    const char *path = d->main->path;
    size_t n = strlen(path), cut = sizeof debug - 1;
    struct sp_dw_unusable first = {0};
    struct sp_buf b;
    d->dwp_tried = true;
    sp_buf_init(&b, PATH_MAX);
    try_dwp(d, sp_dw_path(&b, "%s.dwp", path), &first);
    if (n > cut && !strcmp(path + n - cut, debug))
        try_dwp(d, sp_dw_path(&b, "%.*s.dwp", (int)(n - cut), path), &first);
    for (unsigned i = 0; i < SP_DWARF_BESIDE; i++)
        if (d->beside[i])
            try_dwp_of(d, &b, d->beside[i], &first);
    if (!d->dwp)
        sp_dw_tell_unusable(d, &first);
    free(first.path);
    sp_dw_path_end(d, &b, d->dwp);
}

/* The parts of the package's sections that belong to an id. */
static bool find_parts(struct sp_dw_file *f, uint64_t id, struct sp_dw_parts *out)
{
    enum { INFO = 1, ABBREV = 3, STR_OFFSETS = 6, RNGLISTS = 8 };
    struct sp_dw_cursor c = sp_dw_at(f, DW_CU_INDEX, 0, UINT64_MAX);
    struct sp_dw_cursor h = c;
    uint64_t version = sp_dw_fixed(&h, 4);
    if (version != 2)
        version = (version >> (f->big ? 16 : 0)) & 0xffff;
    uint64_t columns = sp_dw_fixed(&h, 4), units = sp_dw_fixed(&h, 4), slots = sp_dw_fixed(&h, 4);
    uint64_t row = 0, size = f->sec[DW_CU_INDEX].n;
    if (h.bad || (version != 2 && version != 5) || !slots || slots & (slots - 1) || slots > size / 12 ||
        !columns || columns > INDEX_COLUMNS_MAX || units > size / 4 / columns) {
        sp_dw_lacks(f, DW_CU_INDEX);
        return false;
    }
    uint64_t at = id & (slots - 1), step = ((id >> 32) & (slots - 1)) | 1;
    for (uint64_t i = 0; i < slots && i < DW_SLOTS_MAX && !row; i++, at = (at + step) & (slots - 1)) {
        struct sp_dw_cursor k = sp_dw_at(f, DW_CU_INDEX, 16 + 8 * at, UINT64_MAX);
        struct sp_dw_cursor v = sp_dw_at(f, DW_CU_INDEX, 16 + 8 * slots + 4 * at, UINT64_MAX);
        uint64_t key = sp_dw_fixed(&k, 8), index = sp_dw_fixed(&v, 4);
        if (k.bad || v.bad)
            sp_dw_lacks(f, DW_CU_INDEX);
        if (!index || k.bad || v.bad)
            return false;
        row = key == id ? index : 0;
    }
    if (row > units)
        sp_dw_lacks(f, DW_CU_INDEX);
    if (!row || row > units)
        return false;
    uint64_t table = 16 + 12 * slots;
    struct sp_dw_cursor ids = sp_dw_at(f, DW_CU_INDEX, table, UINT64_MAX);
    struct sp_dw_cursor offs = sp_dw_at(f, DW_CU_INDEX, table + 4 * columns * row, UINT64_MAX);
    struct sp_dw_cursor sizes = sp_dw_at(f, DW_CU_INDEX, table + 4 * columns * (units + row), UINT64_MAX);
    for (uint64_t i = 0; i < columns; i++) {
        uint64_t what = sp_dw_fixed(&ids, 4), off = sp_dw_fixed(&offs, 4), n = sp_dw_fixed(&sizes, 4);
        if (what == INFO)
            out->info.off = off, out->info.n = n;
        else if (what == ABBREV)
            out->abbrev.off = off, out->abbrev.n = n;
        else if (what == STR_OFFSETS)
            out->str_offsets.off = off, out->str_offsets.n = n;
        else if (what == RNGLISTS && version == 5)
            out->rnglists.off = off, out->rnglists.n = n;
    }
    bool ok = !ids.bad && !offs.bad && !sizes.bad && out->info.n;
    if (!ok)
        sp_dw_lacks(f, DW_CU_INDEX);
    return ok;
}

static bool find_in_dwp(struct sp_dwarf *d, struct sp_dw_unit *skeleton)
{
    struct sp_dw_parts parts = {0};
    pthread_mutex_lock(&d->lock);
    if (!d->dwp_tried)
        open_dwp(d);
    pthread_mutex_unlock(&d->lock);
    if (!d->dwp || !find_parts(d->dwp, skeleton->dwo_id, &parts))
        return false;
    for (size_t lo = 0, hi = d->dwp->units.n; lo < hi;) {
        size_t mid = lo + (hi - lo) / 2;
        struct sp_dw_unit *u = &d->dwp->units.v[mid];
        if (u->off < parts.info.off) {
            lo = mid + 1;
        } else if (u->off > parts.info.off) {
            hi = mid;
        } else {
            if (!claim(d, u, skeleton)) /* of another skeleton with the same id */
                return false;
            u->parts = parts;
            u->abbrev_off += parts.abbrev.off;
            sp_dw_unit_root(d, u);
            if (!is_of(u, skeleton))
                break;
            skeleton->split = u;
            return true;
        }
    }
    sp_dw_lacks(d->dwp, DW_INFO); /* the index says that it is there */
    return false;
}

void sp_dw_split(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    struct sp_dw_unusable first = {0};
    if (u->split_tried || !u->dwo_name || u->f->split)
        return;
    u->split_tried = true;
    if (!find_in_dwp(d, u) && !find_dwo(d, u, &first)) {
        u->split_missing = true;
        pthread_mutex_lock(&d->lock);
        bool told = sp_dw_tell_unusable(d, &first);
        pthread_mutex_unlock(&d->lock);
        if (!told)
            sp_dw_missing(d, u->dwo_name);
    }
    free(first.path);
}
