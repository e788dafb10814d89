/*
 * Where code is in its sources: "file:line".
 *
 * A file's name is shown as the compiler was told: relative to the directory it ran in, unless it was
 * elsewhere. So a source line is the same wherever somebody built it, and stacks stay comparable. Crates that
 * cargo downloads are each compiled in a directory of their own, and all have a src/lib.rs: of these the path
 * stays.
 */
#include "base/buf.h"
#include "symbols/internal.h"

#include <string.h>

#define TEXT_MAX ((size_t)8 << 10) /* no path is longer */

/* The rest of path below dir, or NULL. */
static const char *below(const char *path, const char *dir)
{
    size_t n = dir ? strlen(dir) : 0;
    while (n && (dir[n - 1] == '/' || dir[n - 1] == '\\'))
        n--;
    return n && !strncmp(path, dir, n) && (path[n] == '/' || path[n] == '\\') ? path + n + 1 : NULL;
}

static bool is_download(const char *dir)
{
    return dir && (strstr(dir, "/registry/src/") || strstr(dir, "/git/checkouts/") ||
                   strstr(dir, "\\registry\\src\\") || strstr(dir, "\\git\\checkouts\\"));
}

static bool is_absolute(const char *path)
{
    return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

/* The file as it is shown; the text stays in b. */
static const char *path_of(const struct sp_dwarf_file *f, struct sp_buf *b)
{
    if (is_download(f->comp_dir) && !is_absolute(f->name) && !(f->dir && is_absolute(f->dir)))
        sp_buf_printf(b, "%s/", f->comp_dir);
    if (f->dir && !is_absolute(f->name)) {
        sp_buf_puts(b, f->dir);
        if (!f->dir[0] || f->dir[strlen(f->dir) - 1] != '/')
            sp_buf_ch(b, '/');
    }
    sp_buf_puts(b, f->name);
    const char *text = sp_buf_cstr(b), *rest = is_download(f->comp_dir) ? NULL : below(text, f->comp_dir);
    if (rest)
        text = rest;
    while (text[0] == '.' && text[1] == '/' && text[2])
        text += 2;
    return text;
}

bool sp_module_place(struct sp_module *m, const struct sp_dwarf_file *f, uint32_t line, const char **out)
{
    struct sp_symbols *s = m->owner;
    *out = NULL;
    if (!f->name)
        return true;
    size_t slot = sp_line_slot(f->name, f->dir, line);
    if (m->cache->srcline[slot].file == f->name && m->cache->srcline[slot].dir == f->dir &&
        m->cache->srcline[slot].line == line) {
        *out = m->cache->srcline[slot].text;
        return true;
    }
    struct sp_buf b, whole;
    sp_buf_init(&b, TEXT_MAX);
    sp_buf_init(&whole, TEXT_MAX);
    sp_buf_puts(&whole, path_of(f, &b));
    if (line) {
        sp_buf_ch(&whole, ':');
        sp_buf_u64(&whole, line);
    }
    bool too_long = (b.failed && !b.nomem) || (whole.failed && !whole.nomem);
    uint32_t id = b.failed || whole.failed ? SP_STR_FAIL : sp_intern(&s->names, whole.data, whole.len);
    sp_buf_free(&b);
    sp_buf_free(&whole);
    if (too_long) {
        m->long_places = true;
        return true;
    }
    if (id == SP_STR_FAIL)
        return sp_symbols_nomem(s);
    *out = sp_str_cstr(&s->names, id);
    m->cache->srcline[slot].file = f->name;
    m->cache->srcline[slot].dir = f->dir;
    m->cache->srcline[slot].line = line;
    m->cache->srcline[slot].text = *out;
    return true;
}
