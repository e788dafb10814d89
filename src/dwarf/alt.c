/*
 * dwz's common file: looked for as named, from the binary's directory, and below debug_dir, the store
 * and /usr/lib/debug in .dwz or by its build-id.
 */
#include "dwarf/private.h"
#include "io/file.h"

#include <limits.h>
#include <stdlib.h>

/* dwz's common file, if this is it. */
static struct sp_dw_file *try_alt(struct sp_dwarf *d, const struct sp_dw_file *f, const char *path,
                                  struct sp_dw_unusable *first)
{
    struct sp_dw_file *alt = NULL;
    bool other = false;
    spaa_status st = *path ? sp_dw_file_open(path, false, NULL, d->diags, &alt) : SPAA_ERR_NOT_FOUND;
    if (!st && strcmp(alt->build_id, f->alt_id) != 0) {
        other = alt->build_id[0];
        st = SPAA_ERR_NOT_FOUND;
    }
    if (!st)
        st = sp_dw_units(d, alt);
    if (st) {
        sp_dw_fail(d, st);
        sp_dw_note_unusable(d, first, path, other);
        sp_dw_file_free(alt);
        return NULL;
    }
    alt->alt_tried = true; /* it has none itself */
    return alt;
}

static struct sp_dw_file *find_alt(struct sp_dwarf *d, struct sp_dw_file *f)
{
    const char *name = f->altlink, *id = f->alt_id;
    const char *roots[] = {d->debug_dir, d->store, "/usr/lib/debug"};
    struct sp_dw_file *alt = NULL;
    struct sp_dw_unusable first = {0};
    struct sp_buf b;
    sp_buf_init(&b, PATH_MAX);
    if (name[0] == '/' && d->root)
        alt = try_alt(d, f, sp_dw_path_below(&b, d->root, "", name), &first);
    if (!alt && name[0] == '/')
        alt = try_alt(d, f, name, &first);
    if (!alt && name[0] != '/')
        alt = try_alt(d, f, sp_dw_path(&b, "%.*s%s", sp_dw_dir_length(f->path), f->path, name), &first);
    for (unsigned i = 0; i < 3 && !alt; i++) {
        if (roots[i])
            alt = try_alt(d, f, sp_dw_path(&b, "%s/.dwz/%s", roots[i], sp_dw_base_name(name)), &first);
        if (!alt && roots[i] && strlen(id) > 2)
            alt = try_alt(d, f, sp_dw_path(&b, "%s/.build-id/%.2s/%s.debug", roots[i], id, id + 2), &first);
    }
    if (alt && d->store && !strncmp(alt->path, d->store, strlen(d->store)))
        sp_file_used(alt->path);
    if (!alt && !sp_dw_tell_unusable(d, &first))
        sp_dw_missing(d, f->altlink);
    free(first.path);
    sp_dw_path_end(d, &b, alt);
    return alt;
}

struct sp_dw_file *sp_dw_alt(struct sp_dwarf *d, struct sp_dw_file *f)
{
    if (!f->altlink[0])
        return NULL;
    pthread_mutex_lock(&d->lock);
    if (!f->alt_tried) {
        f->alt_tried = true;
        f->alt = find_alt(d, f);
    }
    struct sp_dw_file *alt = f->alt;
    pthread_mutex_unlock(&d->lock);
    return alt;
}

struct sp_dw_file *sp_dw_alt_referred(struct sp_dwarf *d, struct sp_dw_file *f)
{
    if (!f->altlink[0])
        sp_dw_lacks(f, DW_ALTLINK);
    return sp_dw_alt(d, f);
}

const char *sp_dwarf_common(struct sp_dwarf *d, const char **build_id)
{
    const struct sp_dw_file *alt = sp_dw_alt(d, d->main);
    *build_id = alt ? alt->build_id : NULL;
    return alt ? alt->path : NULL;
}
