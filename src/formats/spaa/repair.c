/*
 * Lines of a SPAA file as they should be, before they are read.
 *
 * Members whose key stands twice in an object: the first is kept. Members of the specification that have
 * another type than fields.def says: renamed to `x_odd_NAME`, so that what they said is kept and nothing
 * contradicts them. Items of another type are left out of lists of objects. All of it is reported.
 *
 * A line is walked once to see whether there is anything of the kind, and once more to write it anew where
 * there is. Objects of the specification nest as deep as fields.def does; what is below them, and records of
 * other types, may nest as deep as they like, which takes a list and no recursion.
 */
#include "formats/spaa/read.h"

#include "base/hash.h"

#include <stdlib.h>

enum table {
#define SP_TABLE(table, where, begin) T_##table,
#define SP_FIELD(table, name, need, type, check)
#include "formats/spaa/validate/fields.def"
#undef SP_TABLE
#undef SP_FIELD
    T_TABLES
};

enum kind { STRING_KIND, NUMBER_KIND, BOOL_KIND, ID_KIND, IDS_KIND, OBJECT_KIND, LIST_KIND };

struct field {
    const char *name;
    size_t length;
    enum table table;
    enum kind kind;
    enum table inner;
};

#define STRING     .kind = STRING_KIND
#define NUMBER     .kind = NUMBER_KIND
#define BOOL       .kind = BOOL_KIND
#define ID         .kind = ID_KIND
#define IDS        .kind = IDS_KIND
#define ENUM(list) .kind = STRING_KIND
#define OBJECT(of) .kind = OBJECT_KIND, .inner = T_##of
#define LIST(of)   .kind = LIST_KIND, .inner = T_##of
static const struct field fields[] = {
#define SP_TABLE(table, where, begin)
#define SP_FIELD(t, key, need, type, check) {.name = #key, .length = sizeof #key - 1, .table = T_##t, type},
#include "formats/spaa/validate/fields.def"
#undef SP_TABLE
#undef SP_FIELD
};

static const struct {
    const char *type;
    enum table table;
} records[] = {
    {"stack", T_STACK},   {"sample", T_SAMPLE}, {"frame", T_FRAME},   {"dso", T_DSO},
    {"thread", T_THREAD}, {"window", T_WINDOW}, {"header", T_HEADER},
};

struct level {
    size_t keys;
    bool object, any; /* any: something stands in it already */
};

struct sp_walk {
    struct reader *r;
    unsigned char first[T_TABLES + 1]; /* of a table, in `fields` */
    struct sp_json j;
    struct sp_buf *out; /* NULL: only looking */
    struct sp_buf key;
    bool wrong, failed;
    SP_VEC(uint64_t)
    keys; /* of the open objects, by hash, the innermost last, each behind the object's number */
    uint64_t objects;
    struct sp_map many; /* positions in `keys`: those of objects with more than FEW, behind the first few */
    SP_VEC(struct level) levels;
};

enum { FEW = 32 };

static void put(struct sp_walk *w, const char *p, size_t n)
{
    if (w->out)
        sp_buf_add(w->out, p, n);
}

/* A copy of the key, which the cursor lends for a moment. */
static bool hold(struct sp_walk *w, const char *prefix, struct sp_span key)
{
    sp_buf_clear(&w->key);
    sp_buf_puts(&w->key, prefix);
    sp_buf_add(&w->key, key.p, key.n);
    w->failed |= w->key.failed;
    return !w->failed;
}

/* Where the keys of a new object start; they end at from - 1 when it is closed. */
static size_t first_key(struct sp_walk *w)
{
    if (!sp_vec_push(&w->keys, ++w->objects))
        w->failed = true;
    return w->keys.n;
}

/* Whether the key held stands in the object already, whose keys are those from `from` on; else it does now.
 */
static bool seen(struct sp_walk *w, size_t from)
{
    uint64_t hash = sp_hash64(w->key.data ? w->key.data : "", w->key.len);
    size_t few = w->keys.n - from < FEW ? w->keys.n : from + FEW;
    for (size_t i = from; i < few; i++)
        if (w->keys.v[i] == hash)
            return true;
    if (few == from + FEW) {
        uint64_t mixed = sp_hash_mix(hash, w->keys.v[from - 1]);
        struct sp_probe at = sp_map_probe(&w->many, mixed);
        for (uint32_t i; (i = sp_map_next(&w->many, &at)) != SP_MAP_NONE;)
            if (i >= from && i < w->keys.n && w->keys.v[i] == hash) /* else of an object that was closed */
                return true;
        if (!sp_map_add(&w->many, mixed, (uint32_t)w->keys.n))
            w->failed = true;
    }
    if (w->keys.n >= SP_MAP_NONE || !sp_vec_push(&w->keys, hash))
        w->failed = true;
    return false;
}

static void report(struct sp_walk *w, enum sp_code code, const char *words)
{
    w->wrong = true;
    if (!w->out)
        return;
    char name[64];
    size_t n = w->key.len < sizeof name ? w->key.len : sizeof name - 1;
    memcpy(name, w->key.data ? w->key.data : "", n);
    name[n] = '\0';
    sp_emit(w->r->d, code, sp_here(w->r, name), "%s", words);
}

/* The comma before a member and its key. */
static void put_key(struct sp_walk *w, bool first)
{
    if (!w->out)
        return;
    if (!first)
        sp_buf_ch(w->out, ',');
    sp_json_string(w->out, w->key.data ? w->key.data : "", w->key.len);
    sp_buf_ch(w->out, ':');
}

/* The key of the next member that does not stand in the object yet, into w->key. */
static bool next_key(struct sp_walk *w, size_t from)
{
    struct sp_span key, raw;
    while (!w->failed && sp_json_key(&w->j, &key)) {
        if (!hold(w, "", key))
            return false;
        if (!seen(w, from))
            return !w->failed;
        report(w, SP_E124, "the first of them is kept");
        if (!sp_json_skip(&w->j, &raw))
            return false;
    }
    return false;
}

static bool open_level(struct sp_walk *w, bool object)
{
    struct level l = {.keys = first_key(w), .object = object};
    put(w, object ? "{" : "[", 1);
    return w->levels.n < SP_JSON_DEPTH && (object ? sp_json_object(&w->j) : sp_json_array(&w->j)) &&
           sp_vec_push(&w->levels, l);
}

/* Closes what has come to its end, and stands at the next value; false where that was all, or an error. */
static bool next_value(struct sp_walk *w)
{
    while (w->levels.n && !w->failed) {
        struct level *l = &w->levels.v[w->levels.n - 1];
        if (l->object ? next_key(w, l->keys) : sp_json_item(&w->j)) {
            if (l->object)
                put_key(w, !l->any);
            else if (l->any)
                put(w, ",", 1);
            l->any = true;
            return true;
        }
        if (w->j.error)
            return false;
        put(w, l->object ? "}" : "]", 1);
        w->keys.n = l->keys - 1;
        w->levels.n--;
    }
    return false;
}

/* Any value. */
static bool walk_any(struct sp_walk *w)
{
    struct sp_span raw;
    w->levels.n = 0;
    do {
        enum sp_json_type t = sp_json_type(&w->j);
        if (t == SP_JSON_OBJECT || t == SP_JSON_ARRAY) {
            if (!open_level(w, t == SP_JSON_OBJECT))
                return false;
        } else {
            if (!sp_json_skip(&w->j, &raw))
                return false;
            put(w, raw.p, raw.n);
        }
    } while (next_value(w));
    return !w->j.error && !w->failed;
}

static const struct field *field_of(const struct sp_walk *w, enum table table)
{
    for (size_t i = w->first[table]; i < w->first[table + 1]; i++)
        if (fields[i].length == w->key.len && memcmp(fields[i].name, w->key.data, w->key.len) == 0)
            return &fields[i];
    return NULL;
}

static bool fits(enum kind kind, enum sp_json_type t)
{
    switch (kind) {
    case STRING_KIND:
        return t == SP_JSON_STRING;
    case NUMBER_KIND:
        return t == SP_JSON_NUMBER;
    case BOOL_KIND:
        return t == SP_JSON_TRUE || t == SP_JSON_FALSE;
    case ID_KIND:
        return t == SP_JSON_STRING || t == SP_JSON_NUMBER;
    case OBJECT_KIND:
        return t == SP_JSON_OBJECT;
    default:
        return t == SP_JSON_ARRAY;
    }
}

static bool walk_object(struct sp_walk *w, enum table table, bool record);

static bool walk_list(struct sp_walk *w, const struct field *f)
{
    struct sp_span raw;
    bool any = false;
    put(w, "[", 1);
    sp_json_array(&w->j);
    while (sp_json_item(&w->j)) {
        if (sp_json_type(&w->j) != SP_JSON_OBJECT) {
            hold(w, "", (struct sp_span){f->name, strlen(f->name)});
            report(w, SP_E110, "an item that is no object is left out");
            if (!sp_json_skip(&w->j, &raw))
                return false;
            continue;
        }
        if (any)
            put(w, ",", 1);
        any = true;
        if (!walk_object(w, f->inner, false))
            return false;
    }
    put(w, "]", 1);
    return !w->j.error;
}

/* Texts of contexts and weights that were read before, and so are as they should be, stand again and again.
 */
static bool known_text(struct sp_walk *w, const struct field *f)
{
    const struct reader *r = w->r;
    struct sp_span context = r->recent.raw;
    int64_t values[TEMPLATE_VALUES];
    if (w->out)
        return false;
    if (f->inner == T_CONTEXT && context.n && context.n <= (size_t)(w->j.end - w->j.p) &&
        memcmp(w->j.p, context.p, context.n) == 0) {
        w->j.p += context.n;
        return true;
    }
    if (f->inner == T_WEIGHT)
        for (unsigned i = 0; i < r->ntemplates; i++)
            if (sp_match_template(&r->templates[(r->last_template + i) % r->ntemplates], &w->j.p, w->j.end,
                                  values))
                return true;
    return false;
}

/* A list of numbers, whose end is the next bracket; what is wrong inside, the reader says. */
static bool plain_list(struct sp_walk *w)
{
    const char *from = w->j.p + 1, *end = memchr(from, ']', (size_t)(w->j.end - from));
    if (w->out || !end || memchr(from, '"', (size_t)(end - from)) || memchr(from, '[', (size_t)(end - from)))
        return false;
    w->j.p = end + 1;
    return true;
}

static bool walk_value(struct sp_walk *w, const struct field *f)
{
    struct sp_span raw;
    if (f && (f->kind == OBJECT_KIND || f->kind == LIST_KIND) && known_text(w, f))
        return true;
    if (f && f->kind == IDS_KIND && plain_list(w))
        return true;
    if (f && f->kind == OBJECT_KIND)
        return walk_object(w, f->inner, false);
    if (f && f->kind == LIST_KIND)
        return walk_list(w, f);
    enum sp_json_type t = sp_json_type(&w->j);
    if (!f && (t == SP_JSON_OBJECT || t == SP_JSON_ARRAY))
        return walk_any(w);
    if (!sp_json_skip(&w->j, &raw))
        return false;
    put(w, raw.p, raw.n);
    return true;
}

/* The member with the key held has the type it should have; `record`: its `type` is one, too. */
static bool member_fits(struct sp_walk *w, const struct field *f, bool record)
{
    enum sp_json_type t = sp_json_type(&w->j);
    if (record && sp_span_is((struct sp_span){w->key.data, w->key.len}, "type"))
        return t == SP_JSON_STRING;
    return !f || fits(f->kind, t);
}

static bool walk_object(struct sp_walk *w, enum table table, bool record)
{
    size_t from = first_key(w);
    bool first = true;
    put(w, "{", 1);
    sp_json_object(&w->j);
    while (next_key(w, from)) {
        const struct field *f = field_of(w, table);
        struct sp_span raw;
        if (!member_fits(w, f, record)) {
            report(w, SP_E110, "it is kept as `x_odd_…`");
            w->keys.n--; /* the name is free for a member of the right type */
            struct sp_buf name = w->key;
            sp_buf_init(&w->key, 0);
            hold(w, "x_odd_", (struct sp_span){name.data, name.len});
            sp_buf_free(&name);
            f = NULL;
            if (seen(w, from)) {
                if (!sp_json_skip(&w->j, &raw))
                    return false;
                continue;
            }
        }
        put_key(w, first);
        first = false;
        if (w->failed || !walk_value(w, f))
            return false;
    }
    put(w, "}", 1);
    w->keys.n = from - 1;
    return !w->j.error && !w->failed;
}

static enum table table_of(struct sp_span type)
{
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (sp_span_is(type, records[i].type))
            return records[i].table;
    return T_ANYTHING;
}

static bool walk_line(struct sp_walk *w, struct sp_span line, enum table table)
{
    w->keys.n = 0;
    if (w->many.count)
        sp_map_free(&w->many);
    sp_json_reset(&w->j, line.p, line.n);
    return sp_json_type(&w->j) == SP_JSON_OBJECT && walk_object(w, table, true) && sp_json_end(&w->j);
}

static struct sp_walk *new_walk(struct reader *r)
{
    struct sp_walk *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->r = r;
    sp_json_init(&w->j, "", 0);
    sp_buf_init(&w->key, 0);
    for (size_t t = 0, i = 0; t < T_TABLES; t++) {
        w->first[t] = (unsigned char)i;
        while (i < sizeof fields / sizeof *fields && fields[i].table == t)
            i++;
        w->first[t + 1] = (unsigned char)i;
    }
    return w;
}

void sp_repair_free(struct reader *r)
{
    struct sp_walk *w = r->repair;
    if (!w)
        return;
    sp_json_free(&w->j);
    sp_buf_free(&w->key);
    sp_vec_free(&w->keys);
    sp_vec_free(&w->levels);
    sp_map_free(&w->many);
    free(w);
}

spaa_status sp_repair(struct reader *r, struct sp_span type, struct sp_span *line)
{
    enum table table = table_of(type);
    if (!r->repair && !(r->repair = new_walk(r)))
        return sp_nomem(r->d);
    struct sp_walk *w = r->repair;
    w->out = NULL;
    w->wrong = w->failed = false;
    /* A line that is no JSON is reported by who reads it. */
    if (walk_line(w, *line, table) && w->wrong) {
        sp_buf_clear(&r->repaired);
        w->out = &r->repaired;
        if (walk_line(w, *line, table))
            *line = (struct sp_span){r->repaired.data, r->repaired.len};
        w->failed |= r->repaired.failed;
    }
    return w->failed ? sp_nomem(r->d) : SPAA_OK;
}
