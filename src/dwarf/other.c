/* What all parts say alike: paths of files beside the one asked about, what was not found, what failed. */
#include "dwarf/private.h"

#include "io/file.h"

#include <stdlib.h>

const char *sp_dw_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int sp_dw_dir_length(const char *path)
{
    return (int)(sp_dw_base_name(path) - path);
}

__attribute__((format(printf, 2, 3))) const char *sp_dw_path(struct sp_buf *b, const char *fmt, ...)
{
    va_list ap;
    sp_buf_clear(b);
    va_start(ap, fmt);
    bool ok = sp_buf_vprintf(b, fmt, ap);
    va_end(ap);
    return ok ? sp_buf_cstr(b) : "";
}

const char *sp_dw_path_below(struct sp_buf *b, const char *root, const char *dir, const char *name)
{
    return *sp_dw_path(b, "%s%s%s%s", root, dir, *name == '/' ? "" : "/", name) ? sp_file_below(root, b) : "";
}

/* A path that there was no memory for is not one that nothing is found at. */
void sp_dw_path_end(struct sp_dwarf *d, struct sp_buf *b, bool found)
{
    if (b->nomem && !found)
        sp_dw_fail(d, SPAA_ERR_NOMEM);
    sp_buf_free(b);
}

bool sp_dw_spend(struct sp_dwarf *d, struct sp_dw_file *f, enum sp_dw_section s, size_t n)
{
    size_t most = DW_READ_FREE + (size_t)DW_READ_TIMES * f->sec[s].n;
    if (atomic_fetch_add(&f->spent[s], n) + n > most)
        d->excess = true;
    return !sp_dw_excess(d);
}

void sp_dw_missing(struct sp_dwarf *d, const char *name)
{
    const char *none = NULL;
    atomic_compare_exchange_strong(&d->missing_name, &none, name);
    d->missing++;
}

char *sp_dw_copy(const char *s, bool *ok)
{
    size_t n = s ? strlen(s) + 1 : 0;
    char *copy = s ? malloc(n) : NULL;
    if (copy)
        memcpy(copy, s, n);
    *ok &= !s || copy;
    return copy;
}

void sp_dw_fail(struct sp_dwarf *d, spaa_status st)
{
    int none = SPAA_OK;
    if (st == SPAA_ERR_NOMEM || st == SPAA_ERR_IO)
        atomic_compare_exchange_strong(&d->failed, &none, (int)st);
}

bool sp_dwarf_excess(const struct sp_dwarf *d)
{
    return sp_dw_excess(d);
}

spaa_status sp_dwarf_failed(const struct sp_dwarf *d)
{
    return (spaa_status)d->failed;
}
