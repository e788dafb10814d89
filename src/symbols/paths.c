/* Names of files that are tried. */
#include "io/file.h"
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

const char *sp_path_below(struct sp_buf *b, const char *root, const char *fmt, ...)
{
    va_list ap;
    sp_buf_clear(b);
    sp_buf_puts(b, root);
    va_start(ap, fmt);
    bool ok = sp_buf_vprintf(b, fmt, ap);
    va_end(ap);
    return ok ? sp_file_below(root, b) : "";
}

/* Whether a path begins with this folder, whatever else says "here" in it. */
static bool is_in(const char *p, const char *folder)
{
    size_t n = strlen(folder);
    while (*p == '/' || (*p == '.' && p[1] == '/'))
        p++;
    return !strncmp(p, folder, n) && (p[n] == '/' || !p[n]);
}

bool sp_is_recorded_path(const char *p)
{
    static const char *const not [] = {"//", "/memfd:", "/SYSV", "/anon_hugepage"};
    static const char *const folders[] = {"dev", "proc", "sys"};
    if (!p || p[0] != '/')
        return false;
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++)
        if (!strncmp(p, not [i], strlen(not [i])))
            return false;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (is_in(p, folders[i]))
            return false;
    for (const char *up = p; (up = strstr(up, "/.."));)
        if (up += 3, *up == '/' || !*up)
            return false;
    return true;
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
