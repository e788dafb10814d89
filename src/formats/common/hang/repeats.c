#include "formats/common/hang/repeats.h"

#include "base/hash.h"

#include <string.h>

void sp_hang_repeats_free(struct sp_hang_repeats *r)
{
    sp_vec_free(&r->parts);
    sp_vec_free(&r->again);
    sp_map_free(&r->by_text);
}

bool sp_hang_repeats_push(struct sp_hang_repeats *r, const char *from, const char *to)
{
    while (r->again.n && r->again.v[r->again.n - 1].from >= from) /* a thread of a process */
        r->again.n--;
    return sp_vec_push(&r->again, ((struct sp_hang_part){.from = from, .to = to}));
}

bool sp_hang_repeats_add(struct sp_hang_repeats *r, const char *from, const char *to, uint64_t scope,
                         bool *again)
{
    while (to > from && memchr(" \t\r\n", to[-1], 4))
        to--;
    size_t n = (size_t)(to - from);
    uint64_t hash = sp_hash_mix(sp_hash_key(from, n), scope);
    struct sp_probe at = sp_map_probe(&r->by_text, hash);
    *again = false;
    for (uint32_t i; (i = sp_map_next(&r->by_text, &at)) != SP_MAP_NONE;) {
        const struct sp_hang_part *x = &r->parts.v[i];
        if (x->scope == scope && (size_t)(x->to - x->from) == n && memcmp(x->from, from, n) == 0) {
            *again = true;
            return sp_hang_repeats_push(r, from, to);
        }
    }
    return r->parts.n < SP_MAP_NONE - 1 && sp_vec_push(&r->parts, ((struct sp_hang_part){from, to, scope})) &&
           sp_map_add(&r->by_text, hash, (uint32_t)r->parts.n - 1);
}

bool sp_hang_repeats_skip(struct sp_hang_repeats *r, const char *line, bool *begins)
{
    *begins = false;
    while (r->at < r->again.n && r->again.v[r->at].to <= line)
        r->at++;
    if (r->at == r->again.n || line < r->again.v[r->at].from)
        return false;
    *begins = line == r->again.v[r->at].from;
    return true;
}
