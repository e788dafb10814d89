#include "model/entries.h"

#include "model/identity.h"

#include <string.h>

static const struct entry {
    enum sp_side side;
    uint32_t n; /* bytes of the name */
    const char *name;
} entries[] = {
#define SP_ENTRY(side, name) {SP_SIDE_##side, sizeof(name) - 1, name},
#include "model/entries.def"
#undef SP_ENTRY
};

static bool entries_begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static bool fits(const struct entry *e, struct sp_str name, enum sp_side side)
{
    bool any = e->name[e->n - 1] == '*';
    uint32_t n = e->n - any;
    return e->side == side && e->name[0] == name.p[0] && (any ? name.n >= n : name.n == n) &&
           memcmp(name.p, e->name, n) == 0;
}

static struct sp_str without_version(struct sp_str name)
{
    const char *at = name.n ? memchr(name.p, '@', name.n) : NULL;
    return at && at != name.p ? (struct sp_str){name.p, (uint32_t)(at - name.p)} : name;
}

bool sp_is_entry(struct sp_str name, enum sp_side side)
{
    name = without_version(name);
    for (size_t i = 0; name.n && i < sizeof entries / sizeof *entries; i++)
        if (fits(&entries[i], name, side))
            return true;
    return false;
}

struct sp_str sp_entry_of(struct sp_str name, enum sp_side side)
{
    struct sp_str longest = {name.p, 0};
    name = without_version(name);
    for (size_t i = 0; name.n && i < sizeof entries / sizeof *entries; i++) {
        uint32_t n = entries[i].n - (entries[i].name[entries[i].n - 1] == '*');
        if (n > longest.n && fits(&entries[i], name, side))
            longest.n = n;
    }
    return longest;
}

static bool ends(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n > n && memcmp(s.p + s.n - n, with, n) == 0;
}

static bool is_library(struct sp_str base)
{
    return memmem(base.p, base.n, ".so.", 4) || ends(base, ".so") || ends(base, ".dylib") ||
           ends(base, ".dll") || ends(base, ".jar") || ends(base, ".oat") || ends(base, ".odex");
}

/* libc.so.6, libc-2.31.so, libc.musl-x86_64.so.1: the name without its version. */
static bool is_named(struct sp_str base, const char *name)
{
    size_t n = strlen(name);
    return entries_begins(base, name) && base.n > n && (base.p[n] == '.' || base.p[n] == '-');
}

bool sp_starts_threads(struct sp_str dso)
{
    static const char *const libraries[] = {"libc",
                                            "libpthread",
                                            "libstdc++",
                                            "libc++",
                                            "libgo",
                                            "libthr",
                                            "libjvm",
                                            "ld-linux",
                                            "ld-linux-x86-64",
                                            "ld",
                                            "ld-musl",
                                            "libsystem_pthread",
                                            "libdyld",
                                            "libuv",
                                            "ntdll",
                                            "kernel32",
                                            "ld-linux-aarch64",
                                            NULL};
    struct sp_str base = sp_base_name(dso);
    if (!base.n || !sp_str_cmp(dso, (struct sp_str){"//anon", 6}) || memchr("[<", dso.p[0], 2) ||
        entries_begins(base, "perf-") || entries_begins(base, "jitted-") ||
        entries_begins(dso, "anon_inode:") || entries_begins(dso, "memfd:") ||
        entries_begins(dso, "/memfd:") || entries_begins(dso, "/dev/"))
        return false;
    for (const char *const *l = libraries; *l; l++)
        if (is_named(base, *l) || (sp_str_is(base, *l)))
            return true;
    return !is_library(base);
}
