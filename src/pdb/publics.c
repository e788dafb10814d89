/*
 * Public symbols: the names that the linker saw, decorated. A map has them by address; only those that a
 * search comes by are read.
 */
#include "pdb/private.h"

enum { PUBLIC_BYTES = 14, NAME_MAX_BYTES = 8 << 10, EQUALS_MAX = 64 };

static bool publics_load(struct sp_pdb *p)
{
    if (p->publics_tried)
        return true;
    p->publics_tried = true;
    unsigned char *raw =
        p->npublics ? sp_msf_load(&p->msf, p->publics_stream, p->publics_at, p->npublics * 4) : NULL;
    if (!raw) {
        bool none = !p->npublics;
        p->npublics = 0;
        return none || sp_pdb_damage(p);
    }
    p->publics = malloc(p->npublics * sizeof *p->publics);
    for (uint32_t i = 0; p->publics && i < p->npublics; i++)
        p->publics[i] = sp_pdb_u32(raw + (size_t)4 * i);
    free(raw);
    return p->publics || sp_pdb_nomem(p);
}

/* Where a public symbol is; what is damaged is at 0. */
static bool publics_rva(struct sp_pdb *p, uint32_t i, uint32_t *rva)
{
    unsigned char h[PUBLIC_BYTES];
    *rva = 0;
    if (!sp_msf_read(&p->msf, p->symbols_stream, p->publics[i], h, sizeof h))
        return sp_pdb_damage(p);
    if (sp_pdb_u16(h + 2) == S_PUB32)
        sp_pdb_rva(p, sp_pdb_u16(h + 12), sp_pdb_u32(h + 8), rva);
    return true;
}

static bool publics_name(struct sp_pdb *p, uint32_t i, char *out, size_t room)
{
    unsigned char h[PUBLIC_BYTES];
    out[0] = '\0';
    if (!sp_msf_read(&p->msf, p->symbols_stream, p->publics[i], h, sizeof h))
        return sp_pdb_damage(p);
    size_t n = sp_pdb_u16(h) + (size_t)2;
    n = n > PUBLIC_BYTES ? n - PUBLIC_BYTES : 0;
    n = n < room - 1 ? n : room - 1;
    if (!sp_msf_read(&p->msf, p->symbols_stream, p->publics[i] + PUBLIC_BYTES, out, n))
        return sp_pdb_damage(p);
    out[n] = '\0';
    return true;
}

/* The first public symbol behind an address (at or behind it). */
static bool publics_search(struct sp_pdb *p, uint32_t rva, bool behind, uint32_t *out)
{
    uint32_t lo = 0, hi = p->npublics, at;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (!publics_rva(p, mid, &at))
            return false;
        if (behind ? at <= rva : at < rva)
            lo = mid + 1;
        else
            hi = mid;
    }
    *out = lo;
    return true;
}

static bool publics_keep(struct sp_pdb *p, const char *text, const char **name)
{
    *name = text[0] ? sp_arena_dup(&p->arena, text, strlen(text)) : NULL;
    return *name || !text[0] || sp_pdb_nomem(p);
}

bool sp_pdb_public_before(struct sp_pdb *p, uint32_t rva, uint32_t from, uint32_t *start, const char **name)
{
    char text[NAME_MAX_BYTES];
    uint32_t i, first;
    *name = NULL;
    if (!publics_load(p) || !publics_search(p, rva, true, &i))
        return false;
    if (!i)
        return true;
    if (!publics_rva(p, i - 1, start))
        return false;
    if (*start > rva || *start < from)
        return true;
    /* Of several at one address the first. */
    return publics_search(p, *start, false, &first) && first < i &&
           publics_name(p, first, text, sizeof text) && publics_keep(p, text, name);
}

/*
 * Whether a decorated name can be that of a function: the innermost name stands in it. Operators are written
 * as signs there. Functions that do the same may be one, which has all their names.
 */
static bool publics_fits(const char *public, const char *function)
{
    const char *last = function, *angle = NULL;
    unsigned depth = 0;
    if (!strcmp(public, function))
        return true;
    for (const char *c = function; *c; c++) {
        if (*c == '<' && !depth++)
            angle = c;
        else if (*c == '>' && depth && !--depth && c[1] == ':')
            angle = NULL;
        else if (*c == ':' && !depth && c[1] == ':' && c[2])
            last = c + 2;
    }
    if (!strncmp(last, "operator", 8))
        return !strncmp(public, "??", 2) || strstr(public, "operator");
    last += *last == '~' || *last == '`';
    size_t n = strcspn(last, "<$'");
    if (angle && angle > last && (size_t)(angle - last) < n)
        n = (size_t)(angle - last);
    for (const char *c = public; n && *c; c++)
        if (!strncmp(c, last, n))
            return true;
    return !n && !strncmp(public, "??", 2);
}

bool sp_pdb_public_of(struct sp_pdb *p, uint32_t rva, const char *function, const char **name)
{
    char text[NAME_MAX_BYTES];
    uint32_t i, at;
    *name = NULL;
    if (!publics_load(p) || !publics_search(p, rva, false, &i))
        return false;
    for (uint32_t k = 0; k < EQUALS_MAX && i < p->npublics; k++, i++) {
        if (!publics_rva(p, i, &at))
            return false;
        if (at != rva)
            break;
        if (!publics_name(p, i, text, sizeof text))
            return false;
        if (publics_fits(text, function))
            return publics_keep(p, text, name);
    }
    return true;
}
