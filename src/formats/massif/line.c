/* The lines of massif.out, each alone, and whether a text is one: see massif.h. */
#include "base/num.h"
#include "formats/massif/massif.h"

#include <string.h>

bool sp_massif_line(const char *p, size_t n, struct sp_massif_line *out)
{
    const char *end = p + n, *at = p;
    uint64_t size;
    while (at < end && *at == ' ')
        at++;
    *out = (struct sp_massif_line){.depth = (size_t)(at - p)};
    if (at == end || *at++ != 'n')
        return false;
    size_t used = sp_parse_u64(at, end, &out->children);
    at += used;
    if (!used || end - at < 3 || at[0] != ':' || at[1] != ' ')
        return false;
    at += 2;
    used = sp_parse_u64(at, end, &size);
    at += used;
    if (!used || size > INT64_MAX || at == end || *at != ' ')
        return false;
    out->size = (int64_t)size;
    out->text = (struct sp_str){at + 1, (uint32_t)(end - at - 1)};
    return out->text.n > 0;
}

bool sp_massif_below(struct sp_str s)
{
    uint64_t n;
    if (s.n < 4 || memcmp(s.p, "in ", 3) != 0 || !sp_parse_u64(s.p + 3, s.p + s.n, &n))
        return false;
    return memmem(s.p, s.n, "below massif's threshold", 24) != NULL;
}

static bool line_key(const char *p, size_t n, const char *key)
{
    size_t k = strlen(key);
    return n > k && memcmp(p, key, k) == 0;
}

/* Snapshots with their numbers: nobody else writes these lines one below the other. */
int sp_massif_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    static const char *const keys[] = {"desc:",         "cmd:",      "time_unit:",  "#-----------",
                                       "snapshot=",     "time=",     "mem_heap_B=", "mem_heap_extra_B=",
                                       "mem_stacks_B=", "heap_tree="};
    enum { KEYS = sizeof keys / sizeof *keys };
    const char *p = (const char *)bytes, *end = p + n;
    size_t own = 0, other = 0;
    bool seen[KEYS] = {false};
    if (!sp_probe_is_text(bytes, n) || !memmem(bytes, n, "snapshot=", 9))
        return 0;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !whole)
            break;
        struct sp_massif_line tree;
        size_t len = (size_t)((nl ? nl : end) - p), i = 0;
        while (i < KEYS && !line_key(p, len, keys[i]) && !(len == 12 && line_key(p, len, "#----------")))
            i++;
        if (i < KEYS)
            seen[i] = true;
        *(i < KEYS || !len || sp_massif_line(p, len, &tree) ? &own : &other) += 1;
    }
    *reason = "snapshots of massif";
    if (!seen[4] || !seen[5] || !seen[6])
        return 0;
    return own > 4 * other ? 95 : 30;
}
