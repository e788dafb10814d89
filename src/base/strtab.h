/*
 * Interned strings: equal bytes get one number, numbers are dense, bytes never move.
 *
 * Number 0 (SP_STR_NONE) means "absent" and reads as the empty string; the empty string proper has
 * a number of its own. Strings may hold any bytes, NUL included; a NUL that is not counted follows.
 */
#ifndef SP_STRTAB_H
#define SP_STRTAB_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

#include <stdint.h>

#define SP_STR_NONE 0u
#define SP_STR_FAIL UINT32_MAX /* out of memory */

struct sp_str {
    const char *p;
    uint32_t n;
};

struct sp_strtab {
    struct sp_arena arena;
    SP_VEC(struct sp_str) strs;
    struct sp_map map;
};

bool sp_strtab_init(struct sp_strtab *t); /* false: out of memory */
void sp_strtab_free(struct sp_strtab *t);
/* The number of these n (< 4 GiB) bytes; SP_STR_FAIL when out of memory. */
uint32_t sp_intern(struct sp_strtab *t, const void *p, size_t n);
uint32_t sp_intern_cstr(struct sp_strtab *t, const char *s);
/* The number if the string is there, else SP_STR_NONE; never allocates. */
uint32_t sp_strtab_find(const struct sp_strtab *t, const void *p, size_t n);

static inline struct sp_str sp_str_at(const struct sp_strtab *t, uint32_t id)
{
    return t->strs.v[id];
}

static inline const char *sp_str_cstr(const struct sp_strtab *t, uint32_t id)
{
    return t->strs.v[id].p;
}

/* Bytewise order, shorter first on a tie. */
int sp_str_cmp(struct sp_str a, struct sp_str b);
bool sp_str_is(struct sp_str a, const char *literal);

#endif
