/*
 * Debug information that stands in other files: .dwo and .dwp of split DWARF.
 *
 * A .dwo is looked for as its skeleton names it (from the directory of the compilation, below the root
 * first), then beside the binary; it must have the skeleton's id. A .dwp stands beside the binary under
 * its name, and its index tells which parts of its sections belong to an id.
 */
#include "dwarf/private.h"

#include <limits.h>

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

static bool try_dwo(struct sp_dwarf *d, struct sp_dw_unit *skeleton, const char *path)
{
    struct sp_dw_file *f = open_dwo(d, path);
    if (!f || !sp_dw_spend(d, f, DW_INFO, f->units.n))
        return false;
    for (size_t i = 0; i < f->units.n; i++) {
        struct sp_dw_unit *u = &f->units.v[i];
        if (u->type == UT_type || u->type == UT_split_type || !is_of(u, skeleton) || !claim(d, u, skeleton))
            continue;
        skeleton->split = u;
        return true;
    }
    return false;
}

static bool find_dwo(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    const char *name = u->dwo_name, *dir = name[0] == '/' || !u->comp_dir ? "" : u->comp_dir;
    const char *slash = *dir ? "/" : "";
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    bool ok =
        d->root && (*dir == '/' || *name == '/') && try_dwo(d, u, sp_dw_path_below(&b, d->root, dir, name));
    ok = ok || try_dwo(d, u, sp_dw_path(&b, "%s%s%s", dir, slash, name)) ||
         try_dwo(d, u,
                 sp_dw_path(&b, "%.*s%s", sp_dw_dir_length(u->f->path), u->f->path, sp_dw_base_name(name)));
    sp_dw_path_end(d, &b, ok);
    return ok;
}

/* Opens the .dwp beside the binary, once; under the lock. */
static void open_dwp(struct sp_dwarf *d)
{
    static const char debug[] = ".debug";
    const char *path = d->main->path;
    size_t n = strlen(path), cut = sizeof debug - 1;
    struct sp_buf b;
    d->dwp_tried = true;
    sp_buf_init(&b, PATH_MAX);
    spaa_status st = sp_dw_file_open(sp_dw_path(&b, "%s.dwp", path), true, NULL, d->diags, &d->dwp);
    sp_dw_fail(d, st);
    if (st && n > cut && !strcmp(path + n - cut, debug))
        st = sp_dw_file_open(sp_dw_path(&b, "%.*s.dwp", (int)(n - cut), path), true, NULL, d->diags, &d->dwp);
    if (!st)
        st = sp_dw_units(d, d->dwp);
    sp_dw_fail(d, st);
    sp_dw_path_end(d, &b, !st);
}

/* The parts of the package's sections that belong to an id. */
static bool find_parts(const struct sp_dw_file *f, uint64_t id, struct sp_dw_parts *out)
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
        !columns || columns > INDEX_COLUMNS_MAX || units > size / 4 / columns)
        return false;
    uint64_t at = id & (slots - 1), step = ((id >> 32) & (slots - 1)) | 1;
    for (uint64_t i = 0; i < slots && i < DW_SLOTS_MAX && !row; i++, at = (at + step) & (slots - 1)) {
        struct sp_dw_cursor k = sp_dw_at(f, DW_CU_INDEX, 16 + 8 * at, UINT64_MAX);
        struct sp_dw_cursor v = sp_dw_at(f, DW_CU_INDEX, 16 + 8 * slots + 4 * at, UINT64_MAX);
        uint64_t key = sp_dw_fixed(&k, 8), index = sp_dw_fixed(&v, 4);
        if (!index || k.bad || v.bad)
            return false;
        row = key == id ? index : 0;
    }
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
    return !ids.bad && !offs.bad && !sizes.bad && out->info.n;
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
                return false;
            skeleton->split = u;
            return true;
        }
    }
    return false;
}

void sp_dw_split(struct sp_dwarf *d, struct sp_dw_unit *u)
{
    if (u->split_tried || !u->dwo_name || u->f->split)
        return;
    u->split_tried = true;
    if (!find_in_dwp(d, u) && !find_dwo(d, u)) {
        u->split_missing = true;
        sp_dw_missing(d, u->dwo_name);
    }
}
