#include "base/strtab.h"

#include "base/hash.h"

#include <string.h>

bool sp_strtab_init(struct sp_strtab *t)
{
    *t = (struct sp_strtab){0};
    sp_arena_init(&t->arena, 0);
    struct sp_str none = {"", 0};
    return sp_vec_push(&t->strs, none);
}

void sp_strtab_free(struct sp_strtab *t)
{
    sp_arena_free(&t->arena);
    sp_vec_free(&t->strs);
    sp_map_free(&t->map);
}

static inline uint32_t strtab_find(const struct sp_strtab *t, const void *p, size_t n, struct sp_probe *at)
{
    for (uint32_t i; (i = sp_map_next(&t->map, at)) != SP_MAP_NONE;)
        if (t->strs.v[i].n == n && memcmp(t->strs.v[i].p, p, n) == 0)
            return i;
    return SP_STR_NONE;
}

uint32_t sp_strtab_find(const struct sp_strtab *t, const void *p, size_t n)
{
    struct sp_probe at = sp_map_probe(&t->map, sp_hash_key(n ? p : "", n));
    return strtab_find(t, n ? p : "", n, &at);
}

uint32_t sp_intern(struct sp_strtab *t, const void *p, size_t n)
{
    if (n >= UINT32_MAX || t->strs.n >= UINT32_MAX - 1)
        return SP_STR_FAIL;
    if (!n)
        p = "";
    struct sp_probe at = sp_map_probe(&t->map, sp_hash_key(p, n));
    uint32_t id = strtab_find(t, p, n, &at);
    if (id != SP_STR_NONE)
        return id;
    id = (uint32_t)t->strs.n;
    if (!sp_vec_reserve(&t->strs, t->strs.n + 1))
        return SP_STR_FAIL;
    char *copy = sp_arena_dup(&t->arena, p, n);
    if (!copy || !sp_map_add_at(&t->map, &at, id))
        return SP_STR_FAIL;
    t->strs.v[t->strs.n++] = (struct sp_str){copy, (uint32_t)n};
    return id;
}

uint32_t sp_intern_cstr(struct sp_strtab *t, const char *s)
{
    return sp_intern(t, s, strlen(s));
}

int sp_str_cmp(struct sp_str a, struct sp_str b)
{
    uint32_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

bool sp_str_is(struct sp_str a, const char *literal)
{
    return strlen(literal) == a.n && memcmp(a.p, literal, a.n) == 0;
}
