/* Names of files that are tried. */
#include "symbols/internal.h"

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
