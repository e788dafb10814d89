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

#include "json/unique.h"

#include <stdlib.h>

enum table {
#define SP_TABLE(table, where, begin) T_##table,
#define SP_FIELD(table, name, need, type, check)
#include "formats/spaa/fields.def"
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
#include "formats/spaa/fields.def"
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

struct sp_walk {
    struct reader *r;
    unsigned char first[T_TABLES + 1]; /* of a table, in `fields` */
    struct sp_unique u;
};

static void report(struct sp_walk *w, enum sp_code code, const char *words)
{
    char name[64];
    size_t n = w->u.key.len < sizeof name ? w->u.key.len : sizeof name - 1;
    w->u.wrong = true;
    if (!w->u.out)
        return;
    memcpy(name, w->u.key.data ? w->u.key.data : "", n);
    name[n] = '\0';
    sp_emit(w->r->d, code, sp_here(w->r, name), "%s", words);
}

static void report_twice(void *arg)
{
    report(arg, SP_E124, "the first of them is kept");
}

static const struct field *field_of(const struct sp_walk *w, enum table table)
{
    for (size_t i = w->first[table]; i < w->first[table + 1]; i++)
        if (fields[i].length == w->u.key.len && memcmp(fields[i].name, w->u.key.data, w->u.key.len) == 0)
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
    sp_unique_put(&w->u, "[", 1);
    sp_json_array(&w->u.j);
    while (sp_json_item(&w->u.j)) {
        if (sp_json_type(&w->u.j) != SP_JSON_OBJECT) {
            sp_unique_hold(&w->u, "", (struct sp_span){f->name, strlen(f->name)});
            report(w, SP_E110, "an item that is no object is left out");
            if (!sp_json_skip(&w->u.j, &raw))
                return false;
            continue;
        }
        if (any)
            sp_unique_put(&w->u, ",", 1);
        any = true;
        if (!walk_object(w, f->inner, false))
            return false;
    }
    sp_unique_put(&w->u, "]", 1);
    return !w->u.j.error;
}

/* Texts of contexts and weights that were read before, and so are as they should be, stand again and again.
 */
static bool known_text(struct sp_walk *w, const struct field *f)
{
    const struct reader *r = w->r;
    struct sp_span context = r->recent.raw;
    int64_t values[TEMPLATE_VALUES];
    if (w->u.out)
        return false;
    if (f->inner == T_CONTEXT && context.n && context.n <= (size_t)(w->u.j.end - w->u.j.p) &&
        memcmp(w->u.j.p, context.p, context.n) == 0) {
        w->u.j.p += context.n;
        return true;
    }
    if (f->inner == T_WEIGHT)
        for (unsigned i = 0; i < r->ntemplates; i++)
            if (sp_match_template(&r->templates[(r->last_template + i) % r->ntemplates], &w->u.j.p,
                                  w->u.j.end, values))
                return true;
    return false;
}

/* A list of numbers, whose end is the next bracket; what is wrong inside, the reader says. */
static bool plain_list(struct sp_walk *w)
{
    const char *from = w->u.j.p + 1, *end = memchr(from, ']', (size_t)(w->u.j.end - from));
    if (w->u.out || !end || memchr(from, '"', (size_t)(end - from)) ||
        memchr(from, '[', (size_t)(end - from)))
        return false;
    w->u.j.p = end + 1;
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
    enum sp_json_type t = sp_json_type(&w->u.j);
    if (!f && (t == SP_JSON_OBJECT || t == SP_JSON_ARRAY))
        return sp_unique_walk_any(&w->u);
    if (!sp_json_skip(&w->u.j, &raw))
        return false;
    sp_unique_put(&w->u, raw.p, raw.n);
    return true;
}

/* The member with the key held has the type it should have; `record`: its `type` is one, too. */
static bool member_fits(struct sp_walk *w, const struct field *f, bool record)
{
    enum sp_json_type t = sp_json_type(&w->u.j);
    if (record && sp_span_is((struct sp_span){w->u.key.data, w->u.key.len}, "type"))
        return t == SP_JSON_STRING;
    return !f || fits(f->kind, t);
}

static bool walk_object(struct sp_walk *w, enum table table, bool record)
{
    size_t from = sp_unique_first_key(&w->u);
    bool first = true;
    sp_unique_put(&w->u, "{", 1);
    sp_json_object(&w->u.j);
    while (sp_unique_next_key(&w->u, from)) {
        const struct field *f = field_of(w, table);
        struct sp_span raw;
        if (!member_fits(w, f, record)) {
            report(w, SP_E110, "it is kept as `x_odd_…`");
            w->u.keys.n--; /* the name is free for a member of the right type */
            struct sp_buf name = w->u.key;
            sp_buf_init(&w->u.key, 0);
            sp_unique_hold(&w->u, "x_odd_", (struct sp_span){name.data, name.len});
            sp_buf_free(&name);
            f = NULL;
            if (sp_unique_seen(&w->u, from)) {
                if (!sp_json_skip(&w->u.j, &raw))
                    return false;
                continue;
            }
        }
        sp_unique_put_key(&w->u, first);
        first = false;
        if (w->u.failed || !walk_value(w, f))
            return false;
    }
    sp_unique_put(&w->u, "}", 1);
    w->u.keys.n = from - 1;
    return !w->u.j.error && !w->u.failed;
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
    sp_unique_reset(&w->u, line);
    return sp_json_type(&w->u.j) == SP_JSON_OBJECT && walk_object(w, table, true) && sp_json_end(&w->u.j);
}

static struct sp_walk *new_walk(struct reader *r)
{
    struct sp_walk *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->r = r;
    sp_unique_init(&w->u, report_twice, w);
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
    sp_unique_free(&w->u);
    free(w);
}

spaa_status sp_repair(struct reader *r, struct sp_span type, struct sp_span *line)
{
    enum table table = table_of(type);
    if (!r->repair && !(r->repair = new_walk(r)))
        return sp_nomem(r->d);
    struct sp_walk *w = r->repair;
    w->u.out = NULL;
    w->u.wrong = w->u.failed = false;
    /* A line that is no JSON is reported by who reads it. */
    if (walk_line(w, *line, table) && w->u.wrong) {
        sp_buf_clear(&r->repaired);
        w->u.out = &r->repaired;
        if (walk_line(w, *line, table))
            *line = (struct sp_span){r->repaired.data, r->repaired.len};
    }
    return sp_unique_failed(&w->u) ? sp_nomem(r->d) : SPAA_OK;
}
