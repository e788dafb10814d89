/* Ids of a SPAA file: they compare as decoded text, the number 42 equals "42". */
#include "formats/spaa/read.h"

#include "base/hash.h"
#include "base/num.h"
#include "model/identity.h"

#include <stdlib.h>

enum { SMALL_MAX = 999999999 };

/* Small whole numbers without leading zeros address an array; it stays within a few times the count. */
static bool ids_small_id(struct sp_span id, uint64_t *v)
{
    return id.n && id.n <= 9 && (id.p[0] != '0' || id.n == 1) && sp_parse_u64(id.p, id.p + id.n, v) == id.n;
}

static uint32_t ids_find_text(const struct reader *r, const struct idmap *m, struct sp_span id)
{
    if (!m->map.count)
        return SP_NONE;
    struct sp_probe at = sp_map_probe(&m->map, sp_hash_key(id.p, id.n));
    for (uint32_t i; (i = sp_map_next(&m->map, &at)) != SP_MAP_NONE;) {
        struct sp_str t = sp_pstr(r->p, m->ids.v[i].text);
        if (t.n == id.n && memcmp(t.p, id.p, id.n) == 0)
            return m->ids.v[i].number;
    }
    return SP_NONE;
}

uint32_t sp_idmap_find(const struct reader *r, const struct idmap *m, struct sp_span id)
{
    uint64_t v;
    uint32_t number = ids_small_id(id, &v) ? sp_idmap_small(m, v) : SP_NONE;
    return number != SP_NONE ? number : ids_find_text(r, m, id);
}

bool sp_idmap_find_token(struct reader *r, const struct idmap *m, const struct sp_token *id, uint32_t *out)
{
    struct sp_span s = sp_token_text(id, &r->text);
    *out = s.p ? sp_idmap_find(r, m, s) : SP_NONE;
    return s.p || sp_no_memory(r);
}

bool sp_idmap_find_item(struct reader *r, const struct idmap *m, uint32_t item, uint32_t *out)
{
    char digits[20];
    if (item & SP_ID_OTHER) {
        const struct sp_token *id = &r->dec->other_ids.v[item & ~SP_ID_OTHER];
        *out = SP_NONE;
        return (id->kind != SP_JSON_NUMBER && id->kind != SP_JSON_STRING) ||
               sp_idmap_find_token(r, m, id, out);
    }
    *out = sp_idmap_small(m, item);
    if (*out == SP_NONE && m->map.count)
        *out = ids_find_text(r, m, (struct sp_span){digits, sp_u64_text(item, digits)});
    return true;
}

static bool ids_grow_direct(struct idmap *m, size_t need)
{
    size_t want = m->ndirect ? m->ndirect * 2 : 1024;
    while (want < need)
        want *= 2;
    uint32_t *t = realloc(m->direct, want * sizeof *t);
    if (!t)
        return false;
    memset(t + m->ndirect, 0, (want - m->ndirect) * sizeof *t);
    m->direct = t;
    m->ndirect = want;
    return true;
}

static bool ids_add_text(struct reader *r, struct idmap *m, struct sp_span id, uint32_t number)
{
    struct idmap_entry e = {sp_profile_str(r->p, id.p, id.n), number};
    if (e.text == SP_STR_FAIL || !sp_vec_reserve(&m->ids, m->ids.n + 1) ||
        !sp_map_add(&m->map, sp_hash_key(id.p, id.n), (uint32_t)m->ids.n))
        return false;
    m->ids.v[m->ids.n++] = e;
    m->gaps = true;
    m->count++;
    return true;
}

static bool ids_add_number(struct reader *r, struct idmap *m, uint64_t v, struct sp_span id, uint32_t number)
{
    if (v > SMALL_MAX || (v >= m->ndirect && v >= m->count * 4 + 65536))
        return ids_add_text(r, m, id, number);
    if (v >= m->ndirect && !ids_grow_direct(m, (size_t)v + 1))
        return false;
    m->direct[v] = number + 1;
    m->gaps = m->gaps || v != (uint64_t)number + 1 || number != m->count;
    m->count++;
    return true;
}

bool sp_idmap_add(struct reader *r, struct idmap *m, struct sp_span id, uint32_t number, bool *duplicate)
{
    uint64_t v;
    *duplicate = sp_idmap_find(r, m, id) != SP_NONE;
    if (*duplicate)
        return true;
    return ids_small_id(id, &v) ? ids_add_number(r, m, v, id, number) : ids_add_text(r, m, id, number);
}

void sp_idmap_free(struct idmap *m)
{
    free(m->direct);
    sp_map_free(&m->map);
    sp_vec_free(&m->ids);
}

/* Exactly the hex digits we write: lower case, so that the text can be rebuilt from the number. */
static bool ids_hex_digits(const char *p, size_t n, uint64_t *out)
{
    static const unsigned char nibble[256] = {
        ['0'] = 0x10, ['1'] = 0x11, ['2'] = 0x12, ['3'] = 0x13, ['4'] = 0x14, ['5'] = 0x15,
        ['6'] = 0x16, ['7'] = 0x17, ['8'] = 0x18, ['9'] = 0x19, ['a'] = 0x1a, ['b'] = 0x1b,
        ['c'] = 0x1c, ['d'] = 0x1d, ['e'] = 0x1e, ['f'] = 0x1f,
    };
    uint64_t v = 0;
    unsigned all = 0x10;
    for (size_t i = 0; i < n; i++) {
        unsigned d = nibble[(unsigned char)p[i]];
        all &= d;
        v = v << 4 | (d & 15);
    }
    *out = v;
    return all & 0x10;
}

/* An id by content, as we write it. */
static bool ids_our_id(struct sp_span s, struct sp_stack_id *id)
{
    uint64_t hash, suffix = 0;
    if ((s.n != 18 && s.n != 27) || s.p[0] != '0' || s.p[1] != 'x' || !ids_hex_digits(s.p + 2, 16, &hash))
        return false;
    if (s.n == 27 && (s.p[18] != '.' || !ids_hex_digits(s.p + 19, 8, &suffix)))
        return false;
    *id = (struct sp_stack_id){hash, (uint32_t)suffix, SP_STR_NONE,
                               (uint8_t)(SP_ID_SET | (s.n == 27 ? SP_ID_SUFFIX : 0))};
    return true;
}

bool sp_take_stack_id(struct reader *r, const struct sp_token *v, struct sp_stack_id *id)
{
    struct sp_span s = sp_token_text(v, &r->text);
    bool number = v->kind == SP_JSON_NUMBER;
    if (s.p && !number && ids_our_id(s, id))
        return true;
    uint32_t text = s.p ? sp_profile_str(r->p, s.p, s.n) : SP_STR_FAIL;
    *id = (struct sp_stack_id){0, 0, text, (uint8_t)(SP_ID_SET | (number ? SP_ID_NUMBER : 0))};
    return text != SP_STR_FAIL || sp_no_memory(r);
}

/* Numbers and strings of the same text are one id. */
static bool ids_same_id(const struct sp_stack_id *a, const struct sp_stack_id *b)
{
    return a->hash == b->hash && a->suffix == b->suffix && a->text == b->text &&
           (a->flags & SP_ID_SUFFIX) == (b->flags & SP_ID_SUFFIX);
}

static uint64_t ids_id_hash(const struct sp_stack_id *id)
{
    return sp_hash_mix(id->hash, (uint64_t)id->text << 32 | id->suffix);
}

static uint32_t ids_lookup(const struct reader *r, const struct sp_stack_id *id, uint64_t hash)
{
    struct sp_probe at = sp_map_probe(&r->stack_map, hash);
    for (uint32_t i; (i = sp_map_next(&r->stack_map, &at)) != SP_MAP_NONE;)
        if (ids_same_id(&r->p->ids.v[i], id))
            return i;
    return SP_NONE;
}

/* The first record under an id wins. */
bool sp_map_stacks(struct reader *r)
{
    if (!sp_map_grow(&r->stack_map, r->p->ids.n))
        return false;
    for (; r->mapped < r->p->ids.n; r->mapped++) {
        const struct sp_stack_id *id = &r->p->ids.v[r->mapped];
        if (r->mapped + 8 < r->p->ids.n) /* the map is larger than the caches */
            sp_map_expect(&r->stack_map, ids_id_hash(id + 8));
        if (!(id->flags & SP_ID_SET)) {
            r->unset_ids = true;
            continue;
        }
        uint64_t hash = ids_id_hash(id);
        if (ids_lookup(r, id, hash) != SP_NONE)
            r->duplicate_ids = true;
        else if (!sp_map_add(&r->stack_map, hash, (uint32_t)r->mapped))
            return false;
    }
    return true;
}

bool sp_find_stack(struct reader *r, const struct sp_stack_id *id, uint32_t *stack)
{
    if (!sp_map_stacks(r))
        return sp_no_memory(r);
    *stack = ids_lookup(r, id, ids_id_hash(id));
    return true;
}

spaa_status sp_finish_ids(struct reader *r)
{
    if (r->opts->no_ids && !r->mapped && !r->p->linked_ids.n) {
        r->p->ids.n = 0;
        return SPAA_OK;
    }
    if (!sp_map_stacks(r))
        return sp_nomem(r->d);
    for (size_t i = 0; i < r->p->linked_ids.n; i++) {
        const struct sp_stack_id *id = &r->p->linked_ids.v[i];
        r->p->linked_stacks.v[i] = ids_lookup(r, id, ids_id_hash(id));
        r->missing_refs += r->p->linked_stacks.v[i] == SP_NONE;
    }
    if (r->missing_refs)
        sp_emit(r->d, SP_W311, SP_AT_NOTHING, "%llu references to stacks that are not in the file",
                (unsigned long long)r->missing_refs);
    if (r->duplicate_ids)
        sp_emit(r->d, SP_W209, SP_AT_NOTHING, " ");
    if (r->unset_ids)
        sp_emit(r->d, SP_W208, SP_AT_NOTHING, "ids of stacks: all of them get new ones");
    if (r->duplicate_ids || r->unset_ids)
        r->p->ids.n = 0; /* the writer gives new ones */
    return SPAA_OK;
}
