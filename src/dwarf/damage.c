/* What is told of damage: sections that lack what is needed, and files that are there and of no use. */
#include "dwarf/private.h"

#include <stdlib.h>
#include <sys/stat.h>

/* The files of d, one after the other; NULL: no more. */
static const struct sp_dw_file *nth_file(const struct sp_dwarf *d, size_t i)
{
    const struct sp_dw_file *own[] = {d->main, d->main->alt, d->dwp};
    const size_t n = sizeof own / sizeof *own;
    return i < n ? own[i] : i - n < d->dwos.n ? d->dwos.v[i - n] : NULL;
}

static bool is_over(const struct sp_dwarf *d, size_t i)
{
    return i >= 3 + d->dwos.n;
}

bool sp_dwarf_damaged(const struct sp_dwarf *d, size_t *at, struct sp_dwarf_damage *out)
{
    for (; !is_over(d, *at); ++*at) {
        const struct sp_dw_file *f = nth_file(d, *at);
        unsigned bits = f ? f->lacking : 0;
        if (!f || !(bits || f->damaged))
            continue;
        sp_buf_clear(&out->sections);
        for (unsigned i = 0; i < DW_SECTIONS; i++)
            if (bits >> i & 1)
                sp_buf_printf(&out->sections, "%s.debug_%s%s", out->sections.len ? ", " : "",
                              sp_dw_section_name(i), f->split && i != DW_CU_INDEX ? ".dwo" : "");
        if (bits >> DW_ALTLINK & 1)
            sp_buf_printf(&out->sections, "%s.gnu_debugaltlink", out->sections.len ? ", " : "");
        out->file = f->path;
        out->units = f->damaged;
        ++*at;
        return true;
    }
    return false;
}

void sp_dw_note_unusable(struct sp_dwarf *d, struct sp_dw_unusable *first, const char *path, bool other)
{
    struct stat sb;
    bool ok = true;
    if (first->path || !*path || stat(path, &sb) || !S_ISREG(sb.st_mode))
        return;
    first->path = sp_dw_copy(path, &ok);
    first->other = other;
    if (!ok)
        sp_dw_fail(d, SPAA_ERR_NOMEM);
}

bool sp_dw_tell_unusable(struct sp_dwarf *d, struct sp_dw_unusable *noted)
{
    struct sp_dw_unusable one = *noted;
    noted->path = NULL;
    if (!one.path)
        return false;
    for (size_t i = 0; i < d->unusable.n; i++)
        if (!strcmp(d->unusable.v[i].path, one.path)) {
            free(one.path);
            return true;
        }
    if (!sp_vec_push(&d->unusable, one)) {
        sp_dw_fail(d, SPAA_ERR_NOMEM);
        free(one.path);
    }
    return true;
}

const char *sp_dwarf_unusable(const struct sp_dwarf *d, size_t i, bool *other)
{
    if (i >= d->unusable.n)
        return NULL;
    *other = d->unusable.v[i].other;
    return d->unusable.v[i].path;
}
