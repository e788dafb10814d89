#include "symbols/source_path.h"

bool sp_path_is_absolute(const char *path, size_t n)
{
    return n && (path[0] == '/' || path[0] == '\\' || (n > 1 && path[1] == ':'));
}

/* One component behind what is there, which begins with a slash at `root`. */
static void add_component(struct sp_buf *out, size_t root, const char *p, size_t n)
{
    if (!n || (n == 1 && p[0] == '.'))
        return;
    if (n == 2 && p[0] == '.' && p[1] == '.') {
        while (out->len > root && out->data[out->len - 1] != '/')
            out->len--;
        out->len -= out->len > root;
        return;
    }
    sp_buf_ch(out, '/');
    sp_buf_add(out, p, n);
}

static void add_components(struct sp_buf *out, size_t root, const char *p, size_t n)
{
    for (size_t i = 0; i < n && !out->failed;) {
        const char *slash = memchr(p + i, '/', n - i);
        size_t end = slash ? (size_t)(slash - p) : n;
        add_component(out, root, p + i, end - i);
        i = end + 1;
    }
}

void sp_source_path(struct sp_buf *out, const char *file, size_t n, const char *comp_dir)
{
    size_t root = out->len;
    if (!n)
        return;
    if (sp_path_is_absolute(file, n) && file[0] != '/') { /* of Windows: as it stands */
        sp_buf_add(out, file, n);
        return;
    }
    if (file[0] != '/') {
        if (!comp_dir || comp_dir[0] != '/')
            return;
        add_components(out, root, comp_dir, strlen(comp_dir));
    }
    add_components(out, root, file, n);
}
