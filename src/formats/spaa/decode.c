/*
 * Decodes lines into the structs of decode.h.
 *
 * All objects are decoded by the table of their fields. Files repeat themselves: a member's key is compared
 * with that of the field which followed last time, and only looked up where it is another one. A record whose
 * type does not come first is taken for one like the record before, and decoded again if it is not.
 *
 * The line ends in a byte that can be read and is no part of any token, which saves looking for the end after
 * every byte; where white space is skipped and before more than one byte is read, the end is looked at.
 */
#include "formats/spaa/decode.h"

#include "base/hash.h"
#include "model/vocab.h"

#include <stddef.h>

const char *const sp_frame_orders[] = {"leaf_to_root", "root_to_leaf", NULL};
const char *const sp_stack_id_modes[] = {"content_addressable", "local", NULL};

#define STRING     .type = SP_IS_STRING
#define NUMBER     .type = SP_IS_NUMBER
#define BOOL       .type = SP_IS_BOOL
#define ID         .type = SP_IS_ID
#define IDS        .type = SP_IS_IDS
#define ENUM(list) .type = SP_IS_ENUM, .names = list
#define OBJECT(of) .type = SP_IS_OBJECT, .inner = SP_T_##of
#define LIST(of)   .type = SP_IS_LIST, .inner = SP_T_##of
#define MUST       true
#define MAY        false

const struct sp_field_info sp_field_infos[SP_FIELDS] = {
#define SP_TABLE(t, where, begin)
#define SP_FIELD(t, name, need, kind, check)                                                                 \
    {.quoted = "\"" #name "\":",                                                                             \
     .length = sizeof #name - 1,                                                                             \
     .table = SP_T_##t,                                                                                      \
     .position = SP_POSITION(t, name),                                                                       \
     .offset = offsetof(struct sp_rec_##t, name),                                                            \
     .must = need,                                                                                           \
     kind},
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
};

const unsigned char sp_first_field[SP_TABLES + 1] = {
#define SP_TABLE(t, where, begin) SP_FIRST_##t,
#define SP_FIELD(t, name, need, kind, check)
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
    SP_FIELDS};

static const size_t row_sizes[SP_TABLES] = {
#define SP_TABLE(t, where, begin) sizeof(struct sp_rec_##t),
#define SP_FIELD(t, name, need, kind, check)
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
};

static const struct {
    const char *name;
    unsigned char n;
    enum sp_table table;
} types[] = {
    {"stack", 5, SP_T_STACK},   {"frame", 5, SP_T_FRAME},   {"sample", 6, SP_T_SAMPLE}, {"dso", 3, SP_T_DSO},
    {"thread", 6, SP_T_THREAD}, {"window", 6, SP_T_WINDOW}, {"header", 6, SP_T_HEADER},
};

struct sp_rec *sp_rec_any(const struct sp_decoder *d, enum sp_table table, uint32_t i)
{
    return (struct sp_rec *)(void *)(d->rows[table].v + i * row_sizes[table]);
}

/* ---- tokens: each takes the place of its first byte and returns what is behind it, NULL if it is none ----
 */

static inline const char *decode_blanks(const struct sp_decoder *d, const char *p)
{
    while (p < d->end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
        p++;
    return p;
}

/* Mostly there are none. */
static inline const char *decode_space(const struct sp_decoder *d, const char *p)
{
    return (unsigned char)*p <= ' ' ? decode_blanks(d, p) : p;
}

static const char *decode_string_end(const struct sp_decoder *d, const char *p, bool *escaped)
{
    for (;;) {
        uint32_t code;
        const char *error;
        p = sp_json_run(p, d->end);
        if (p < d->end && *p == '"')
            return p;
        if (p >= d->end || *p++ != '\\' || !sp_json_escape(&p, d->end, &code, &error))
            return NULL;
        *escaped = true;
    }
}

static inline const char *decode_string(const struct sp_decoder *d, const char *p, struct sp_token *v)
{
    bool escaped = false;
    const char *quote = decode_string_end(d, p + 1, &escaped);
    if (!quote)
        return NULL;
    *v = (struct sp_token){p + 1, (uint32_t)(quote - p - 1), SP_JSON_STRING, escaped};
    return quote + 1;
}

static inline bool decode_is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline const char *decode_digits(const char *p)
{
    if (!decode_is_digit(*p))
        return NULL;
    while (decode_is_digit(*p))
        p++;
    return p;
}

static inline const char *decode_number(const char *from, struct sp_token *v)
{
    const char *p = from + (*from == '-');
    p = *p == '0' ? p + 1 : decode_digits(p);
    if (p && *p == '.')
        p = decode_digits(p + 1);
    if (p && (*p | 32) == 'e') {
        p++;
        p = decode_digits(p + (*p == '+' || *p == '-'));
    }
    if (p)
        *v = (struct sp_token){from, (uint32_t)(p - from), SP_JSON_NUMBER, false};
    return p;
}

static const char *decode_word(const struct sp_decoder *d, const char *p, const char *word,
                               enum sp_json_type kind, struct sp_token *v)
{
    size_t n = strlen(word);
    if ((size_t)(d->end - p) < n || memcmp(p, word, n) != 0)
        return NULL;
    *v = (struct sp_token){p, (uint32_t)n, (unsigned char)kind, false};
    return p + n;
}

/* An object or array that has no fields; *inside: an object in it has a key twice. */
static const char *decode_container(struct sp_decoder *d, const char *p, struct sp_token *v, bool *inside)
{
    struct sp_unique *u = &d->unique;
    bool wrong = u->wrong;
    u->wrong = false;
    sp_json_reset(&u->j, p, (size_t)(d->end - p));
    bool ok = sp_unique_walk_any(u);
    *inside = u->wrong;
    u->wrong = wrong;
    if (!ok) {
        d->nomem = sp_unique_failed(u);
        return NULL;
    }
    enum sp_json_type kind = *p == '{' ? SP_JSON_OBJECT : SP_JSON_ARRAY;
    *v = (struct sp_token){p, (uint32_t)(u->j.p - p), (unsigned char)kind, false};
    return u->j.p;
}

/* Any value; `inside` is only set to true. */
static const char *decode_any(struct sp_decoder *d, const char *p, struct sp_token *v, bool *inside)
{
    bool twice = false;
    switch (*p) {
    case '"':
        return decode_string(d, p, v);
    case 't':
        return decode_word(d, p, "true", SP_JSON_TRUE, v);
    case 'f':
        return decode_word(d, p, "false", SP_JSON_FALSE, v);
    case 'n':
        return decode_word(d, p, "null", SP_JSON_NULL, v);
    case '{':
    case '[':
        p = decode_container(d, p, v, &twice);
        *inside |= twice;
        return p;
    default:
        return decode_number(p, v);
    }
}

/* ---- objects ---- */

static struct sp_rec *decode_new_row(struct sp_decoder *d, enum sp_table table, const char *p,
                                     enum sp_json_type kind)
{
    struct sp_rows *r = &d->rows[table];
    size_t size = row_sizes[table];
    if (r->n == r->cap && !sp_vec_grow((void **)&r->v, &r->cap, r->n + 1, size)) {
        d->nomem = true;
        return NULL;
    }
    struct sp_rec *rec = (struct sp_rec *)(void *)(r->v + r->n++ * size);
    memset(rec, 0, size);
    rec->p = p;
    rec->odd = rec->odd_last = SP_ODD_END;
    rec->kind = (unsigned char)kind;
    return rec;
}

/* Lists what has no place in the struct. `next` is 0 in what is passed. */
static bool decode_list_odd(struct sp_decoder *d, struct sp_rec *rec, struct sp_odd o)
{
    uint32_t at = (uint32_t)d->odd.n;
    o.next = SP_ODD_END;
    if (d->odd.n >= SP_ODD_END || !sp_vec_push(&d->odd, o)) {
        d->nomem = true;
        return false;
    }
    if (rec->odd == SP_ODD_END)
        rec->odd = at;
    else
        d->odd.v[rec->odd_last].next = at;
    rec->odd_last = at;
    if (o.what != SP_ODD_UNKNOWN)
        d->line->plain = false;
    return true;
}

static const char *decode_object(struct sp_decoder *d, const char *p, enum sp_table table, struct sp_rec *rec,
                                 bool record, bool begun);

/* A whole number below 10^9 in its shortest form; NULL: it is something else. */
static inline const char *decode_small(const struct sp_decoder *d, const char *p, uint32_t *out)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t w;
    if (d->end - p > (ptrdiff_t)sizeof w) { /* up to 7 digits at once */
        memcpy(&w, p, sizeof w);
        w ^= 0x3030303030303030u;
        uint64_t other = ((w + 0x7676767676767676u) | w) & 0x8080808080808080u;
        unsigned digits = other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
        if (!digits || (*p == '0' && digits > 1))
            return NULL;
        if (digits < 8) {
            w <<= 64 - 8 * digits;
            w = w * 10 + (w >> 8);
            *out = (uint32_t)(((w & 0x000000FF000000FFu) * 0x000F424000000064u +
                               ((w >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u) >>
                              32);
            return p + digits;
        }
    }
#endif
    const char *s = p;
    uint32_t v = 0;
    while (decode_is_digit(*s) && s - p < 10)
        v = v * 10 + (uint32_t)(*s++ - '0');
    if (s == p || s - p > 9 || (*p == '0' && s - p > 1))
        return NULL;
    *out = v;
    return s;
}

static const char *decode_ids(struct sp_decoder *d, const char *p, struct sp_rec *rec,
                              const struct sp_field_info *f, struct sp_nested *out)
{
    const char *from = p;
    out->first = (uint32_t)d->ids.n;
    p = decode_space(d, p + 1);
    bool more = *p != ']';
    p += !more;
    while (more) {
        if (!sp_vec_reserve(&d->ids, d->ids.n + 1)) {
            d->nomem = true;
            return NULL;
        }
        uint32_t *at = d->ids.v + d->ids.n, *full = d->ids.v + d->ids.cap;
        while (at < full) { /* small numbers without anything but commas between */
            const char *s = decode_small(d, p, at);
            if (!s || (*s != ',' && *s != ']'))
                break;
            at++;
            p = s + 1;
            more = *s == ',';
            if (!more)
                break;
            p = decode_space(d, p);
        }
        d->ids.n = (size_t)(at - d->ids.v);
        if (!more || at == full)
            continue;
        struct sp_token v;
        bool inside = false;
        p = decode_any(d, decode_space(d, p), &v, &inside);
        if (!p)
            return NULL;
        uint32_t id = 0;
        bool small = v.kind == SP_JSON_NUMBER && v.n < 10 && (*v.p != '0' || v.n == 1);
        for (uint32_t i = 0; small && i < v.n; i++) {
            small = decode_is_digit(v.p[i]);
            id = id * 10 + (uint32_t)(v.p[i] - '0');
        }
        if (inside &&
            !decode_list_odd(d, rec,
                             (struct sp_odd){.value = v, .position = f->position, .what = SP_ODD_INSIDE}))
            return NULL;
        if (!small) {
            id = SP_ID_OTHER | (uint32_t)d->other_ids.n;
            if (!sp_vec_push(&d->other_ids, v)) {
                d->nomem = true;
                return NULL;
            }
        }
        d->ids.v[d->ids.n++] = id; /* there is room: at was not full */
        p = decode_space(d, p);
        more = *p == ',';
        if (!more && *p != ']')
            return NULL;
        p = more ? decode_space(d, p + 1) : p + 1;
    }
    out->text = from;
    out->v = (struct sp_token){from, (uint32_t)(p - from), SP_JSON_ARRAY, false};
    out->count = (uint32_t)(d->ids.n - out->first);
    return p;
}

/* What was decoded stands again at p: what is behind it. */
static inline const char *decode_again(const struct sp_decoder *d, const char *p, const struct sp_repeated *r,
                                       enum sp_json_type kind, struct sp_nested *out)
{
    if (!r->n || r->since != d->cleared || (size_t)(d->end - p) < r->n || memcmp(p, r->p, r->n) != 0)
        return NULL;
    *out = (struct sp_nested){{p, r->n, (unsigned char)kind, false}, r->p, r->first, r->count};
    return p + r->n;
}

/* To be known again; `odd`: how much there was before, for what is out of the ordinary is decoded each time.
 */
static inline void decode_remember(const struct sp_decoder *d, struct sp_repeated *r,
                                   const struct sp_nested *x, size_t odd)
{
    if (d->odd.n == odd)
        *r = (struct sp_repeated){x->text, x->v.n, x->first, x->count, d->cleared};
}

/* Where a context like that at p would be remembered. */
static struct sp_repeated *decode_context_place(struct sp_decoder *d, const char *p)
{
    size_t most = d->end - p < 512 ? (size_t)(d->end - p) : 512;
    const char *brace = memchr(p, '}', most);
    return brace ? &d->contexts[sp_hash_key(p, (size_t)(brace - p)) % SP_REPEATED] : NULL;
}

static const char *decode_list(struct sp_decoder *d, const char *p, struct sp_rec *rec,
                               const struct sp_field_info *f, struct sp_nested *out)
{
    const char *from = p;
    enum sp_table inner = f->inner;
    size_t odd = d->odd.n;
    if (inner == SP_T_WEIGHT && (p = decode_again(d, from, &d->weights, SP_JSON_ARRAY, out)))
        return p;
    p = from;
    out->first = (uint32_t)d->rows[inner].n;
    p = decode_space(d, p + 1);
    for (bool more = *p != ']'; more; p = more ? decode_space(d, p + 1) : p) {
        if (*p == '{') {
            struct sp_rec *item = decode_new_row(d, inner, p, SP_JSON_OBJECT);
            p = item ? decode_object(d, p + 1, inner, item, false, false) : NULL;
        } else {
            struct sp_odd o = {.position = f->position, .what = SP_ODD_ITEM};
            o.key = (struct sp_token){f->quoted + 1, f->length, SP_JSON_STRING, false};
            bool inside = false;
            const char *at = p;
            p = decode_any(d, p, &o.value, &inside);
            if (inside)
                o.what |= SP_ODD_INSIDE;
            if (p && (!decode_new_row(d, inner, at, o.value.kind) || !decode_list_odd(d, rec, o)))
                return NULL;
        }
        if (!p)
            return NULL;
        p = decode_space(d, p);
        more = *p == ',';
        if (!more && *p != ']')
            return NULL;
    }
    p++;
    out->text = from;
    out->v = (struct sp_token){from, (uint32_t)(p - from), SP_JSON_ARRAY, false};
    out->count = (uint32_t)(d->rows[inner].n - out->first);
    if (inner == SP_T_WEIGHT)
        decode_remember(d, &d->weights, out, odd);
    return p;
}

static const char *decode_nested(struct sp_decoder *d, const char *p, struct sp_rec *rec,
                                 const struct sp_field_info *f, struct sp_nested *out, bool *inside)
{
    const char *from = p;
    enum sp_table inner = f->inner;
    if (f->type == SP_IS_IDS)
        return decode_ids(d, p, rec, f, out);
    if (f->type == SP_IS_LIST)
        return decode_list(d, p, rec, f, out);
    if (inner == SP_T_ANYTHING)
        return decode_any(d, p, &out->v, inside);
    struct sp_repeated *place = inner == SP_T_CONTEXT ? decode_context_place(d, p) : NULL;
    size_t odd = d->odd.n;
    if (place && (p = decode_again(d, from, place, SP_JSON_OBJECT, out)))
        return p;
    p = from;
    out->first = (uint32_t)d->rows[inner].n;
    struct sp_rec *row = decode_new_row(d, inner, p, SP_JSON_OBJECT);
    p = row ? decode_object(d, p + 1, inner, row, false, false) : NULL;
    if (!p)
        return NULL;
    out->text = from;
    out->v = (struct sp_token){from, (uint32_t)(p - from), SP_JSON_OBJECT, false};
    out->count = 1;
    if (place)
        decode_remember(d, place, out, odd);
    return p;
}

/* By its first character, a value is of one of these types, and a field takes some of them. */
enum { A_STRING = 1, A_NUMBER = 2, A_BOOL = 4, AN_OBJECT = 8, AN_ARRAY = 16 };
static const unsigned char first_says[256] = {
    ['"'] = A_STRING, ['-'] = A_NUMBER,  ['0' ... '9'] = A_NUMBER, ['t'] = A_BOOL,
    ['f'] = A_BOOL,   ['{'] = AN_OBJECT, ['['] = AN_ARRAY};
static const unsigned char field_takes[] = {
    [SP_IS_STRING] = A_STRING, [SP_IS_ENUM] = A_STRING,          [SP_IS_NUMBER] = A_NUMBER,
    [SP_IS_BOOL] = A_BOOL,     [SP_IS_ID] = A_STRING | A_NUMBER, [SP_IS_OBJECT] = AN_OBJECT,
    [SP_IS_LIST] = AN_ARRAY,   [SP_IS_IDS] = AN_ARRAY,
};

static inline bool decode_fits(enum sp_field_type want, char c)
{
    return first_says[(unsigned char)c] & field_takes[want];
}

/* The first value of its type, at p, of the field. */
static const char *decode_field(struct sp_decoder *d, const char *p, struct sp_rec *rec,
                                const struct sp_field_info *f, bool *inside)
{
    struct sp_token *v = (struct sp_token *)(void *)((char *)rec + f->offset);
    if (f->type < SP_IS_OBJECT)
        return *p == '"' ? decode_string(d, p, v) : decode_any(d, p, v, inside);
    return decode_nested(d, p, rec, f, (struct sp_nested *)(void *)v, inside);
}

/* A value of the field that is not its first, or of a wrong type. */
static const char *decode_odd_field(struct sp_decoder *d, const char *p, struct sp_rec *rec,
                                    const struct sp_field_info *f, struct sp_token key)
{
    struct sp_odd o = {.key = key, .position = f->position};
    unsigned bit = 1u << f->position;
    bool fits = decode_fits(f->type, *p), inside = false;
    if ((rec->present | rec->wrong) & bit) {
        o.what |= rec->present & bit ? SP_ODD_AGAIN : SP_ODD_AGAIN | SP_ODD_AFTER_WRONG;
        rec->duplicate |= (unsigned short)bit;
    }
    if (!fits) {
        o.what |= SP_ODD_WRONG;
    } else if (!(rec->present & bit)) {
        o.what |= SP_ODD_TAKEN;
        /* Before what is in it. */
        uint32_t at = (uint32_t)d->odd.n;
        if (!decode_list_odd(d, rec, o) || !(p = decode_field(d, p, rec, f, &inside)))
            return NULL;
        d->odd.v[at].value = *(struct sp_token *)(void *)((char *)rec + f->offset);
        d->odd.v[at].what |= inside ? SP_ODD_INSIDE : 0;
        rec->present |= (unsigned short)bit;
        return p;
    }
    p = decode_any(d, p, &o.value, &inside);
    if (inside)
        o.what |= SP_ODD_INSIDE;
    if (!p || !decode_list_odd(d, rec, o))
        return NULL;
    rec->wrong |= (unsigned short)(fits ? 0 : bit);
    return p;
}

static enum sp_table decode_table(struct sp_decoder *d, const struct sp_token *type)
{
    struct sp_span s = sp_token_text(type, &d->text);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (s.n == types[i].n && memcmp(s.p, types[i].name, s.n) == 0)
            return types[i].table;
    return SP_T_ANYTHING;
}

/* A `type` of the record at p, which may be the one that says what it is. */
static const char *decode_type(struct sp_decoder *d, const char *p, struct sp_rec *rec, enum sp_table table,
                               struct sp_token key)
{
    struct sp_odd o = {.key = key, .position = SP_POSITION_TYPE};
    bool inside = false, again = d->line->type.p != NULL;
    for (uint32_t i = rec->odd; !again && i != SP_ODD_END; i = d->odd.v[i].next)
        again = d->odd.v[i].position == SP_POSITION_TYPE;
    p = decode_any(d, p, &o.value, &inside);
    if (!p)
        return NULL;
    o.what =
        (unsigned char)((again && !d->line->type.p ? SP_ODD_AFTER_WRONG : 0) | (again ? SP_ODD_AGAIN : 0) |
                        (inside ? SP_ODD_INSIDE : 0) | (o.value.kind != SP_JSON_STRING ? SP_ODD_WRONG : 0));
    if (o.value.kind == SP_JSON_STRING && !d->line->type.p) {
        d->line->type = o.value;
        o.what |= again ? SP_ODD_TAKEN : 0;
        if (decode_table(d, &o.value) != table) {
            d->other_type = true;
            return NULL;
        }
    }
    return !o.what || decode_list_odd(d, rec, o) ? p : NULL;
}

/* A member without a field; `base`: where the keys of its object begin among those of all that are open. */
static const char *decode_unknown(struct sp_decoder *d, const char *p, struct sp_rec *rec,
                                  struct sp_token key, size_t *base)
{
    struct sp_odd o = {.key = key, .position = SP_POSITION_NONE, .what = SP_ODD_UNKNOWN};
    struct sp_span name = sp_token_text(&key, &d->text);
    bool inside = false;
    if (!rec->unknown)
        *base = sp_unique_first_key(&d->unique);
    rec->unknown = true;
    if (!name.p || !sp_unique_hold(&d->unique, "", name)) {
        d->nomem = true;
        return NULL;
    }
    if (sp_unique_seen(&d->unique, *base))
        o.what |= SP_ODD_AGAIN;
    if (d->unique.failed) {
        d->nomem = true;
        return NULL;
    }
    p = decode_any(d, p, &o.value, &inside);
    if (inside)
        o.what |= SP_ODD_INSIDE;
    return p && decode_list_odd(d, rec, o) ? p : NULL;
}

/* The key at p and its colon; *position: of the field, NONE or TYPE. */
static const char *decode_key(struct sp_decoder *d, const char *p, enum sp_table table, bool record,
                              struct sp_token *key, unsigned *position)
{
    if (*p != '"' || !(p = decode_string(d, p, key)))
        return NULL;
    p = decode_space(d, p);
    if (*p != ':')
        return NULL;
    struct sp_span s = sp_token_text(key, &d->text);
    *position = SP_POSITION_NONE;
    if (!s.p) {
        d->nomem = true;
        return NULL;
    }
    for (unsigned i = sp_first_field[table]; i < sp_first_field[table + 1]; i++) {
        const struct sp_field_info *f = &sp_field_infos[i];
        if (f->length == s.n && f->quoted[1] == *s.p && memcmp(f->quoted + 1, s.p, s.n) == 0) {
            *position = f->position;
            break;
        }
    }
    if (record && s.n == 4 && memcmp(s.p, "type", 4) == 0)
        *position = SP_POSITION_TYPE;
    return decode_space(d, p + 1);
}

/* Equal bytes, at least four: most keys are too short for a call. */
static inline bool decode_same(const char *a, const char *b, size_t n)
{
    uint64_t x, y, differ = 0;
    if (n < sizeof x) {
        uint32_t u[4];
        memcpy(&u[0], a, 4);
        memcpy(&u[1], b, 4);
        memcpy(&u[2], a + n - 4, 4);
        memcpy(&u[3], b + n - 4, 4);
        return !((u[0] ^ u[1]) | (u[2] ^ u[3]));
    }
    for (size_t at = 0; at < n; at += sizeof x) {
        size_t from = at + sizeof x <= n ? at : n - sizeof x;
        memcpy(&x, a + from, sizeof x);
        memcpy(&y, b + from, sizeof y);
        differ |= x ^ y;
    }
    return !differ;
}

/* The key of the field that is expected, and its colon: NULL if it is another. */
static inline const char *decode_expected(const struct sp_decoder *d, const char *p,
                                          const struct sp_field_info *f)
{
    size_t n = f->length + 3u;
    if ((size_t)(d->end - p) <= n || !decode_same(p, f->quoted, n))
        return NULL;
    return decode_space(d, p + n);
}

/* One member at p; *last: position + 1 of the field before it, 0 at the start. */
static const char *decode_member(struct sp_decoder *d, const char *p, enum sp_table table, struct sp_rec *rec,
                                 bool record, unsigned *last, size_t *base)
{
    const unsigned first = sp_first_field[table], count = sp_first_field[table + 1] - first;
    unsigned position = d->follows[table][*last];
    const struct sp_field_info *f = position < count ? &sp_field_infos[first + position] : NULL;
    struct sp_token key = {p + 1, f ? f->length : 0u, SP_JSON_STRING, false};
    const char *value = f ? decode_expected(d, p, f) : NULL;
    bool inside = false;
    if (!value) {
        value = decode_key(d, p, table, record, &key, &position);
        if (!value)
            return NULL;
        if (position == SP_POSITION_TYPE)
            return decode_type(d, value, rec, table, key);
        if (position == SP_POSITION_NONE)
            return decode_unknown(d, value, rec, key, base);
        d->follows[table][*last] = (unsigned char)position;
        f = &sp_field_infos[first + position];
    }
    *last = position + 1;
    unsigned bit = 1u << position;
    if ((rec->present | rec->wrong) & bit || !decode_fits(f->type, *value))
        return decode_odd_field(d, value, rec, f, key);
    p = decode_field(d, value, rec, f, &inside);
    if (!p)
        return NULL;
    rec->present |= (unsigned short)bit;
    if (!inside)
        return p;
    struct sp_odd o = {.key = key, .position = f->position, .what = SP_ODD_INSIDE | SP_ODD_TAKEN};
    o.value = *(struct sp_token *)(void *)((char *)rec + f->offset);
    return decode_list_odd(d, rec, o) ? p : NULL;
}

/* An object, from behind its brace or, `begun`, behind its first member; returns what is behind it. */
static const char *decode_object(struct sp_decoder *d, const char *p, enum sp_table table, struct sp_rec *rec,
                                 bool record, bool begun)
{
    size_t keys = d->unique.keys.n, base = 0;
    unsigned last = 0;
    p = decode_space(d, p);
    if (!begun && *p == '}')
        return p + 1;
    for (bool more = !begun;; more = true) {
        if (more && !(p = decode_member(d, p, table, rec, record, &last, &base)))
            return NULL;
        p = decode_space(d, p);
        if (*p == '}')
            break;
        if (*p != ',')
            return NULL;
        p = decode_space(d, p + 1);
    }
    d->unique.keys.n = keys;
    return p + 1;
}

/* ---- lines ---- */

/* How far the tables are filled. */
struct marks {
    size_t rows[SP_TABLES], ids, other_ids, odd;
};

static struct marks decode_marks(const struct sp_decoder *d)
{
    struct marks m = {.ids = d->ids.n, .other_ids = d->other_ids.n, .odd = d->odd.n};
    for (int i = 0; i < SP_TABLES; i++)
        m.rows[i] = d->rows[i].n;
    return m;
}

static void decode_return_to(struct sp_decoder *d, const struct marks *m)
{
    for (int i = 0; i < SP_TABLES; i++)
        d->rows[i].n = m->rows[i];
    d->ids.n = m->ids;
    d->other_ids.n = m->other_ids;
    d->odd.n = m->odd;
    d->cleared++;
}

/* A record that begins with its type, as most do: what is behind that. */
static const char *decode_leading_type(struct sp_decoder *d, const char *p, struct sp_line *l,
                                       enum sp_table *table)
{
    static const char start[] = "{\"type\":\"";
    size_t n = sizeof start - 1;
    struct sp_token type;
    if ((size_t)(d->end - p) <= n || memcmp(p, start, n) != 0 || !(p = decode_string(d, p + n - 1, &type)))
        return NULL;
    l->type = type;
    *table = decode_table(d, &type);
    return p;
}

/* The object at p. */
static const char *decode_record(struct sp_decoder *d, const char *p, struct sp_line *l)
{
    enum sp_table table = d->type_before;
    const char *from = decode_leading_type(d, p, l, &table);
    bool begun = from != NULL;
    struct marks before;
    if (!begun)
        before = decode_marks(d);
    for (;;) {
        struct sp_rec *rec = decode_new_row(d, table, p, SP_JSON_OBJECT);
        if (!rec)
            return NULL;
        l->table = table;
        l->rec = (uint32_t)(d->rows[table].n - 1);
        d->other_type = false;
        const char *end = decode_object(d, begun ? from : p + 1, table, rec, true, begun);
        if (!d->other_type && (l->type.p || table == SP_T_ANYTHING)) {
            d->type_before = table;
            return end;
        }
        if (!d->other_type && !end && d->nomem)
            return NULL;
        /* Of another type than the record before, or without any. */
        table = l->type.p ? decode_table(d, &l->type) : SP_T_ANYTHING;
        l->type.p = NULL;
        l->plain = true;
        d->unique.keys.n = 0;
        decode_return_to(d, &before);
    }
}

bool sp_decode_line(struct sp_decoder *d, const char *p, size_t n, struct sp_line *l)
{
    bool inside = false;
    struct sp_token v;
    *l = (struct sp_line){.p = p, .n = n, .table = SP_TABLES, .plain = true, .odd_first = (uint32_t)d->odd.n};
    d->line = l;
    d->end = p + n;
    d->unique.keys.n = 0;
    if (d->unique.many.count)
        sp_map_free(&d->unique.many);
    const char *at = decode_blanks(d, p), *end;
    if (at == d->end) {
        l->status = SP_BLANK;
    } else if (*at == '{') {
        end = decode_record(d, at, l);
        l->status =
            end && decode_blanks(d, end) == d->end ? (l->type.p ? SP_DECODED : SP_UNTYPED) : SP_BROKEN;
        if (l->status == SP_BROKEN && !l->type.p)
            l->table = SP_TABLES;
    } else {
        end = decode_any(d, at, &v, &inside);
        l->status = end && decode_blanks(d, end) == d->end ? SP_NO_OBJECT : SP_BROKEN;
    }
    l->odd_end = (uint32_t)d->odd.n;
    d->line = NULL;
    return !d->nomem;
}

bool sp_decode_lines(struct sp_decoder *d, const char *text, const char *end)
{
    size_t all = (size_t)(end - text);
    bool good = sp_utf8_prefix(text, all) == all;
    while (text < end) {
        struct sp_line l;
        const char *nl = memchr(text, '\n', (size_t)(end - text));
        size_t n = (size_t)((nl ? nl : end) - text);
        if (good || sp_utf8_prefix(text, n) == n) {
            if (!sp_decode_line(d, text, n, &l))
                return false;
        } else {
            l = (struct sp_line){.p = text, .n = n, .status = SP_NOT_UTF8, .table = SP_TABLES};
        }
        if (!sp_vec_push(&d->lines, l)) {
            d->nomem = true;
            return false;
        }
        text += n + (nl != NULL);
    }
    return true;
}

/* ---- what was decoded ---- */

struct sp_span sp_token_text(const struct sp_token *v, struct sp_buf *scratch)
{
    if (!v->escaped)
        return (struct sp_span){v->p, v->n};
    const char *p = v->p, *end = p + v->n, *error;
    sp_buf_clear(scratch);
    while (p < end) {
        const char *run = p;
        uint32_t code;
        p = sp_json_run(p, end);
        sp_buf_add(scratch, run, (size_t)(p - run));
        if (p >= end)
            break;
        p++;
        if (!sp_json_escape(&p, end, &code, &error)) /* it was, when it was decoded */
            break;
        sp_json_add_code_point(scratch, code);
    }
    return scratch->failed ? (struct sp_span){NULL, 0}
                           : (struct sp_span){scratch->len ? scratch->data : "", scratch->len};
}

const char *sp_id_item(const struct sp_nested *list, const char **at, uint32_t *item, uint32_t index)
{
    struct sp_json j;
    struct sp_span raw;
    const char *end = list->v.p + list->v.n;
    if (!*at || index < *item) {
        *at = list->v.p + 1;
        *item = 0;
    }
    sp_json_init(&j, *at, (size_t)(end - *at));
    while (sp_json_type(&j), *item < index && sp_json_skip(&j, &raw) && sp_json_item(&j))
        ++*item;
    *at = j.p;
    sp_json_free(&j);
    return *at;
}

void sp_decoder_init(struct sp_decoder *d)
{
    *d = (struct sp_decoder){.type_before = SP_T_STACK};
    for (int t = 0; t < SP_TABLES; t++)
        for (unsigned i = 0; i < sizeof d->follows[t]; i++)
            d->follows[t][i] = (unsigned char)i;
    sp_unique_init(&d->unique, NULL, NULL);
    sp_buf_init(&d->text, 0);
}

void sp_decoder_clear(struct sp_decoder *d)
{
    const struct marks none = {.ids = 0};
    decode_return_to(d, &none);
    d->lines.n = 0;
}

void sp_decoder_free(struct sp_decoder *d)
{
    sp_vec_free(&d->lines);
    for (int t = 0; t < SP_TABLES; t++)
        sp_vec_free(&d->rows[t]);
    sp_vec_free(&d->ids);
    sp_vec_free(&d->other_ids);
    sp_vec_free(&d->odd);
    sp_unique_free(&d->unique);
    sp_buf_free(&d->text);
}
