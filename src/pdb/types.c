/*
 * Names of inlined functions: items of the IPI stream, whose scopes are items too, and whose classes are
 * types of the TPI stream.
 *
 * Records are of any length; an index of the stream tells where every so many of them stand. Where it has
 * none, or one that does not help, the records are gone through once.
 */
#include "pdb/private.h"

#include "base/hash.h"

enum {
    TYPES_HEADER = 56,
    GAP_MAX = 64 << 10, /* between two marks */
    PIECE = 64 << 10,
    NAME_MAX_BYTES = 4096,
    LF_CLASS = 0x1504,
    LF_STRUCTURE = 0x1505,
    LF_UNION = 0x1506,
    LF_ENUM = 0x1507,
    LF_INTERFACE = 0x1519,
    LF_FUNC_ID = 0x1601,
    LF_MFUNC_ID = 0x1602,
    LF_BUILDINFO = 0x1603,
    LF_STRING_ID = 0x1605,
};

void sp_pdb_types_free(struct sp_pdb_types *t)
{
    sp_vec_free(&t->marks);
}

/* Those of the stream's own index, if they are close enough and in order; else none. */
static bool types_read_marks(struct sp_pdb *p, struct sp_pdb_types *t, uint32_t stream, uint32_t at,
                             uint32_t bytes)
{
    uint32_t n = bytes / 8, index = t->begin, where = 0;
    unsigned char *raw = n ? sp_msf_load(&p->msf, stream, at, n * 8) : NULL;
    if (!raw)
        return !p->msf.failed || sp_pdb_damage(p);
    if (!sp_vec_reserve(&t->marks, (size_t)n + 1)) {
        free(raw);
        return sp_pdb_nomem(p);
    }
    for (uint32_t i = 0; i <= n; i++) {
        struct sp_pdb_checkpoint c = {t->end, t->bytes};
        if (i < n)
            c = (struct sp_pdb_checkpoint){sp_pdb_u32(raw + (size_t)8 * i),
                                           sp_pdb_u32(raw + (size_t)8 * i + 4)};
        bool fits = i ? c.index >= index && c.at >= where && c.at - where <= GAP_MAX && c.at <= t->bytes
                      : c.index == t->begin && !c.at;
        if (!fits) {
            t->marks.n = 0;
            break;
        }
        t->marks.v[t->marks.n++] = c;
        index = c.index;
        where = c.at;
    }
    free(raw);
    return true;
}

/* Goes through all records, a piece at a time. */
static bool types_make_marks(struct sp_pdb *p, struct sp_pdb_types *t)
{
    unsigned char *piece = malloc(PIECE);
    uint32_t at = 0, from = 0, have = 0, index = t->begin, last = 0;
    bool ok = piece || sp_pdb_nomem(p);
    ok = ok && (sp_vec_push(&t->marks, ((struct sp_pdb_checkpoint){index, 0})) || sp_pdb_nomem(p));
    while (ok && index < t->end && t->bytes - at >= 4) {
        if (at - from + 2 > have) {
            from = at;
            have = t->bytes - at < PIECE ? t->bytes - at : PIECE;
            if (!sp_msf_read(&p->msf, t->stream, t->header + from, piece, have)) {
                ok = sp_pdb_damage(p);
                break;
            }
        }
        uint32_t n = sp_pdb_u16(piece + (at - from)) + 2u;
        if (at - last > GAP_MAX / 4) {
            ok = sp_vec_push(&t->marks, ((struct sp_pdb_checkpoint){index, at})) || sp_pdb_nomem(p);
            last = at;
        }
        if (n > t->bytes - at)
            break;
        at += n;
        index++;
    }
    free(piece);
    ok = ok && (sp_vec_push(&t->marks, ((struct sp_pdb_checkpoint){index, at})) || sp_pdb_nomem(p));
    t->end = index;
    return ok;
}

static bool types_open(struct sp_pdb *p, struct sp_pdb_types *t)
{
    unsigned char h[TYPES_HEADER];
    uint32_t size = sp_msf_size(&p->msf, t->stream);
    if (t->tried)
        return true;
    t->tried = true;
    if (size < TYPES_HEADER || !sp_msf_read(&p->msf, t->stream, 0, h, sizeof h))
        return size < TYPES_HEADER || sp_pdb_damage(p);
    t->header = sp_pdb_u32(h + 4);
    t->begin = sp_pdb_u32(h + 8);
    t->end = sp_pdb_u32(h + 12);
    t->bytes = sp_pdb_u32(h + 16);
    if (t->header > size || t->begin > t->end) {
        t->begin = t->end = t->bytes = 0;
        p->damaged++;
        return true;
    }
    if (t->bytes > size - t->header)
        t->bytes = size - t->header, p->damaged++;
    bool ok = types_read_marks(p, t, sp_pdb_u16(h + 20), sp_pdb_u32(h + 40), sp_pdb_u32(h + 44));
    return ok && (t->marks.n || types_make_marks(p, t));
}

/* A malloced record with a NUL behind it; *out is NULL where there is none. */
static bool types_record(struct sp_pdb *p, struct sp_pdb_types *t, uint32_t index, unsigned char **out,
                         uint32_t *n)
{
    *out = NULL;
    if (!types_open(p, t))
        return false;
    if (index < t->begin || index >= t->end || t->marks.n < 2)
        return true;
    size_t lo = 0, hi = t->marks.n - 1; /* the last one is the end */
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->marks.v[mid].index <= index)
            lo = mid;
        else
            hi = mid;
    }
    uint32_t at = t->marks.v[lo].at, number = t->marks.v[lo].index, size = t->marks.v[lo + 1].at - at;
    unsigned char *piece = size ? sp_msf_load(&p->msf, t->stream, t->header + at, size) : NULL;
    if (!piece)
        return !size || sp_pdb_damage(p);
    for (uint32_t i = 0; size - i >= 4; number++) {
        uint32_t len = sp_pdb_u16(piece + i) + 2u;
        if (len > size - i)
            break;
        if (number == index) {
            memmove(piece, piece + i, len);
            piece[len] = 0;
            *out = piece;
            *n = len;
            return true;
        }
        i += len;
    }
    free(piece);
    return true;
}

/* Bytes of a number in a record, its leaf of 2 bytes among them; 0: none that is known. */
static uint32_t types_numeric(const unsigned char *p, uint32_t n)
{
    if (n < 2)
        return 0;
    switch (sp_pdb_u16(p)) {
    case 0x8000:
        return 3;
    case 0x8001:
    case 0x8002:
        return 4;
    case 0x8003:
    case 0x8004:
        return 6;
    case 0x8009:
    case 0x800a:
        return 10;
    }
    return sp_pdb_u16(p) < 0x8000 ? 2 : 0;
}

/* Where the name in a record of a class, an enum, a function or a text begins; 0: there is none. */
static uint32_t types_name_at(const unsigned char *r, uint32_t n)
{
    uint32_t at = 0, number = 0;
    switch (n >= 4 ? sp_pdb_u16(r + 2) : 0) {
    case LF_CLASS:
    case LF_STRUCTURE:
    case LF_INTERFACE:
        at = 20;
        break;
    case LF_UNION:
        at = 12;
        break;
    case LF_ENUM:
        return 16;
    case LF_FUNC_ID:
    case LF_MFUNC_ID:
        return 12;
    case LF_STRING_ID:
        return 8;
    default:
        return 0;
    }
    if (at < n)
        number = types_numeric(r + at, n - at);
    return number ? at + number : 0;
}

/* What a record says of what it names. */
struct types_head {
    uint32_t kind, scope, type; /* of functions: items or types */
    const char *name;           /* copied; NULL: it has none, or one that is too long */
};

static bool types_head(struct sp_pdb *p, struct sp_pdb_types *t, uint32_t index, struct types_head *out)
{
    unsigned char *r;
    uint32_t n = 0;
    *out = (struct types_head){0};
    if (!types_record(p, t, index, &r, &n) || !r)
        return !p->failed;
    uint32_t at = types_name_at(r, n);
    size_t len = at && at < n ? strlen((char *)r + at) : 0;
    if (len && len <= NAME_MAX_BYTES) {
        out->kind = sp_pdb_u16(r + 2);
        out->scope = sp_pdb_u32(r + 4);
        out->type = n >= 12 ? sp_pdb_u32(r + 8) : 0;
        out->name = sp_arena_dup(&p->arena, r + at, len);
    }
    free(r);
    return !len || len > NAME_MAX_BYTES || out->name || sp_pdb_nomem(p);
}

/* "scope::name"; scopes have those around them already. */
static bool types_scoped(struct sp_pdb *p, const struct types_head *f, const char **out)
{
    struct types_head around = {0};
    if (f->scope && !types_head(p, f->kind == LF_FUNC_ID ? &p->ipi : &p->tpi, f->scope, &around))
        return false;
    *out = f->name;
    if (!around.name)
        return true;
    size_t a = strlen(around.name), b = strlen(f->name);
    char *whole = sp_arena_alloc(&p->arena, a + 2 + b + 1);
    if (!whole)
        return sp_pdb_nomem(p);
    memcpy(whole, around.name, a);
    memcpy(whole + a, "::", 2);
    memcpy(whole + a + 2, f->name, b + 1);
    *out = whole;
    return true;
}

bool sp_pdb_item(struct sp_pdb *p, uint32_t item, struct sp_pdb_name *out)
{
    struct types_head f;
    uint64_t hash = sp_hash_mix(item, 0);
    struct sp_probe at = sp_map_probe(&p->name_map, hash);
    for (uint32_t i; (i = sp_map_next(&p->name_map, &at)) != SP_MAP_NONE;)
        if (p->names.v[i].item == item) {
            *out = p->names.v[i];
            return true;
        }
    if (!types_head(p, &p->ipi, item, &f))
        return false;
    *out = (struct sp_pdb_name){.item = item, .type = f.type, .member = f.kind == LF_MFUNC_ID};
    if ((f.kind == LF_FUNC_ID || f.kind == LF_MFUNC_ID) && !types_scoped(p, &f, &out->name))
        return false;
    return (sp_vec_push(&p->names, *out) && sp_map_add(&p->name_map, hash, (uint32_t)p->names.n - 1)) ||
           sp_pdb_nomem(p);
}

bool sp_pdb_build_dir(struct sp_pdb *p, uint32_t item, const char **dir)
{
    struct types_head text = {0};
    unsigned char *r;
    uint32_t n = 0, first = 0;
    *dir = NULL;
    if (!types_record(p, &p->ipi, item, &r, &n))
        return false;
    if (r && n >= 10 && sp_pdb_u16(r + 2) == LF_BUILDINFO && sp_pdb_u16(r + 4))
        first = sp_pdb_u32(r + 6);
    free(r);
    if (first && !types_head(p, &p->ipi, first, &text))
        return false;
    if (text.kind == LF_STRING_ID)
        *dir = text.name;
    return true;
}
