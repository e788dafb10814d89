/*
 * What is wrong with a line as JSON: errors of syntax, and keys that stand twice in one object, at any depth.
 *
 * The decoder says that there is something of the kind; this walk says what and where. Nesting is kept in
 * `levels`; keys as fingerprints in `keys`, those of the objects outside first. Objects with many keys also
 * use a hash set, so that hostile input costs no more than its length.
 */
#include "formats/spaa/validate/internal.h"

#include <stdlib.h>

#define FEW_KEYS 24
/* Duplicate keys are looked for among so many keys of the big objects of a line. */
#define KEYS_MAX ((size_t)1 << 20)

/* Where the walk is in an object or an array. */
struct syntax_level {
    bool object;
    size_t keys;        /* keys of the levels outside */
    uint64_t serial;    /* tells objects apart in the set of keys */
    struct sp_span key; /* of the member that is being read; p NULL: it had escapes */
    size_t index;       /* of the item that is being read, from 1 */
};

struct sp_syntax {
    struct sp_json j;
    SP_VEC(struct syntax_level) levels;
    SP_VEC(struct sp_fp) keys;
    struct sp_fp *slots; /* the set of keys of big objects, with their objects' serials */
    size_t mask, count;
    uint64_t serial;
};

bool sp_syntax_init(struct sp_validator *v)
{
    v->syntax = calloc(1, sizeof *v->syntax);
    if (v->syntax)
        sp_json_init(&v->syntax->j, "", 0);
    return v->syntax != NULL;
}

void sp_syntax_free(struct sp_validator *v)
{
    struct sp_syntax *s = v->syntax;
    if (!s)
        return;
    sp_json_free(&s->j);
    sp_vec_free(&s->levels);
    sp_vec_free(&s->keys);
    free(s->slots);
    free(s);
    v->syntax = NULL;
}

static bool syntax_put_key(struct sp_fp *slots, size_t mask, struct sp_fp k)
{
    size_t i = k.a & mask;
    for (; slots[i].b; i = (i + 1) & mask)
        if (sp_fp_equal(slots[i], k))
            return false;
    slots[i] = k;
    return true;
}

static bool syntax_room(struct sp_syntax *s)
{
    if (s->slots && s->count < (s->mask + 1) / 2)
        return true;
    size_t slots = s->slots ? (s->mask + 1) * 2 : 256;
    struct sp_fp *bigger = calloc(slots, sizeof *bigger);
    if (!bigger)
        return false;
    for (size_t i = 0; s->slots && i <= s->mask; i++)
        if (s->slots[i].b)
            syntax_put_key(bigger, slots - 1, s->slots[i]);
    free(s->slots);
    s->slots = bigger;
    s->mask = slots - 1;
    return true;
}

/* False when this big object has the key already. */
static bool syntax_add_big(struct sp_validator *v, const struct syntax_level *l, struct sp_fp key)
{
    struct sp_syntax *s = v->syntax;
    if (s->count >= KEYS_MAX) {
        if (s->count++ == KEYS_MAX)
            sp_limited(v, "duplicates among more than a million keys of a line were not looked for");
        return true;
    }
    if (!syntax_room(s)) {
        sp_out_of_memory(v);
        return true;
    }
    key.a ^= l->serial * 0x9E3779B97F4A7C15u;
    key.b = (key.b ^ l->serial) | 1;
    bool fresh = syntax_put_key(s->slots, s->mask, key);
    s->count += fresh;
    return fresh;
}

static bool syntax_key_is_new(struct sp_validator *v, const struct syntax_level *l, struct sp_fp key)
{
    struct sp_syntax *s = v->syntax;
    size_t n = s->keys.n - l->keys;
    if (n >= FEW_KEYS)
        return syntax_add_big(v, l, key);
    for (size_t i = l->keys; i < s->keys.n; i++)
        if (sp_fp_equal(s->keys.v[i], key))
            return false;
    if (!sp_vec_push(&s->keys, key))
        sp_out_of_memory(v);
    else if (n + 1 == FEW_KEYS)
        for (size_t i = l->keys; i < s->keys.n; i++)
            syntax_add_big(v, l, s->keys.v[i]);
    return true;
}

static struct sp_where syntax_place(const struct sp_validator *v, const char *at, const char *path)
{
    return (struct sp_where){.offset = v->offset + (uint64_t)(at - v->text),
                             .line = v->line,
                             .field = path && *path ? path : NULL};
}

static void syntax_report_duplicate(struct sp_validator *v, struct sp_span key)
{
    struct sp_syntax *s = v->syntax;
    const struct syntax_level *inner = &s->levels.v[s->levels.n - 1];
    sp_buf_clear(&v->path);
    for (size_t i = 0; i + 1 < s->levels.n; i++) {
        const struct syntax_level *l = &s->levels.v[i];
        if (!l->object)
            sp_path_add_index(&v->path, l->index - 1);
        else
            sp_path_add_name(&v->path, l->key.p ? l->key.p : "?", l->key.p ? l->key.n : 1);
    }
    sp_path_add_name(&v->path, key.p, key.n);
    sp_report_at(v, SP_E124, syntax_place(v, inner->key.p ? inner->key.p - 1 : s->j.p, sp_buf_cstr(&v->path)),
                 "\"%.*s\"", SP_CLIP(key));
}

static void syntax_take_key(struct sp_validator *v, struct sp_span key)
{
    struct sp_syntax *s = v->syntax;
    struct syntax_level *l = &s->levels.v[s->levels.n - 1];
    bool inside = key.p >= s->j.start && key.p <= s->j.end;
    l->key = inside ? key : (struct sp_span){NULL, 0};
    if (!syntax_key_is_new(v, l, sp_fingerprint(key.p, key.n)))
        syntax_report_duplicate(v, key);
}

static bool syntax_enter(struct sp_validator *v, bool object)
{
    struct sp_syntax *s = v->syntax;
    if (s->levels.n == SP_JSON_DEPTH)
        return sp_json_fail(&s->j, SP_JSON_TOO_DEEP);
    struct syntax_level l = {.object = object, .keys = s->keys.n, .serial = ++s->serial};
    if (!sp_vec_push(&s->levels, l)) {
        sp_out_of_memory(v);
        return false;
    }
    return object ? sp_json_object(&s->j) : sp_json_array(&s->j);
}

/* An array without objects in it has no keys: most arrays are read at once. */
static bool syntax_plain_array(struct sp_syntax *s)
{
    struct sp_json *j = &s->j;
    const char *from = j->p, *p = from + 1;
    while (p < j->end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    if (s->levels.n > 2 || p == j->end || *p == '{' || *p == '[')
        return false;
    struct sp_span raw;
    if (!sp_json_skip(j, &raw) || !memchr(raw.p, '{', raw.n))
        return true;
    j->p = from;
    return false;
}

/* Consumes a scalar or enters a container. */
static bool syntax_value(struct sp_validator *v)
{
    struct sp_syntax *s = v->syntax;
    enum sp_json_type t = sp_json_type(&s->j);
    struct sp_span raw;
    if (t == SP_JSON_OBJECT)
        return syntax_enter(v, true);
    if (t == SP_JSON_ARRAY && !syntax_plain_array(s))
        return !s->j.error && syntax_enter(v, false);
    return t == SP_JSON_ARRAY ? !s->j.error : sp_json_skip(&s->j, &raw);
}

static void syntax_walk(struct sp_validator *v)
{
    struct sp_syntax *s = v->syntax;
    s->levels.n = s->keys.n = 0;
    if (!syntax_value(v))
        return;
    while (s->levels.n && v->status == SPAA_OK) {
        struct syntax_level *l = &s->levels.v[s->levels.n - 1];
        struct sp_span key;
        bool more = l->object ? sp_json_key(&s->j, &key) : sp_json_item(&s->j);
        if (s->j.error)
            return;
        if (!more) {
            s->keys.n = l->keys;
            s->levels.n--;
            continue;
        }
        if (l->object)
            syntax_take_key(v, key);
        else
            l->index++;
        if (!syntax_value(v))
            return;
    }
}

static void syntax_error(struct sp_validator *v)
{
    const struct sp_json *j = &v->syntax->j;
    bool opens = v->n && (v->text[0] == '{' || v->text[0] == '[') && j->error_at >= v->n;
    if (strcmp(j->error, "out of memory") == 0)
        sp_out_of_memory(v);
    else if (sp_json_at_limit(j))
        sp_limited(v, "a value nested more than 131072 levels deep was not checked");
    else
        sp_report_at(v, SP_E100, syntax_place(v, v->text + j->error_at, NULL),
                     opens ? "%s at column %zu; if the file is spread over lines, `jq -c .` joins them"
                           : "%s at column %zu",
                     j->error, j->error_at + 1);
}

void sp_report_syntax(struct sp_validator *v)
{
    struct sp_syntax *s = v->syntax;
    struct sp_span raw;
    sp_json_reset(&s->j, v->text, v->n);
    if (sp_json_type(&s->j) == SP_JSON_OBJECT)
        syntax_walk(v);
    else
        sp_json_skip(&s->j, &raw);
    if (s->count) {
        free(s->slots);
        s->slots = NULL;
        s->count = 0;
    }
    if (v->status == SPAA_OK && !sp_json_end(&s->j))
        syntax_error(v);
}
