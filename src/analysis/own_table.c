#include "analysis/own_table.h"

#include <string.h>

enum how { BEGINS, HOLDS, IS };

static const struct entry {
    const char *text;
    uint8_t n, kind, how;
} table[] = {
#define SP_OWN(kind, how, text) {text, sizeof text - 1, SP_OWN_##kind, how},
#include "analysis/own.def"
#undef SP_OWN
};
enum { ENTRIES = sizeof table / sizeof *table };

/* As rules of a kind compare: paths with / for \, binaries and folders in either case. Packages of the JVM
 * stand with dots and with slashes. */
static char as(enum sp_own_kind kind, char c)
{
    switch (kind) {
    case SP_OWN_BINARY:
    case SP_OWN_FOLDER:
        return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c == '\\' ? '/' : c;
    case SP_OWN_SOURCE:
        return c == '\\' ? '/' : c;
    case SP_OWN_JVM:
        return c == '/' ? '.' : c;
    default:
        return c;
    }
}

static bool own_at(const struct entry *e, struct sp_str s, uint32_t i)
{
    if (s.n - i < e->n)
        return false;
    for (uint32_t k = 0; k < e->n; k++)
        if (as(e->kind, s.p[i + k]) != as(e->kind, e->text[k]))
            return false;
    return true;
}

/* Where the text stands in s; UINT32_MAX: the rule does not fit. */
static uint32_t own_find(const struct entry *e, struct sp_str s)
{
    uint32_t last = e->how == HOLDS && s.n >= e->n ? s.n - e->n : 0;
    for (uint32_t i = 0; i <= last; i++)
        if (own_at(e, s, i))
            return e->how != IS || s.n == e->n ? i : UINT32_MAX;
    return UINT32_MAX;
}

bool sp_own_in_table(enum sp_own_kind kind, struct sp_str s)
{
    for (size_t i = 0; i < ENTRIES; i++)
        if (table[i].kind == kind && own_find(&table[i], s) != UINT32_MAX)
            return true;
    return false;
}

void sp_own_cover(enum sp_own_kind kind, struct sp_str s, unsigned char *of)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        uint32_t at = table[i].kind == kind ? own_find(&table[i], s) : UINT32_MAX;
        if (at != UINT32_MAX)
            memset(of + at, 1, table[i].n);
    }
}
