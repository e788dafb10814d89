/*
 * The first look at a line: JSON syntax throughout, keys that stand twice in one object at any depth, and
 * the list of the record's own members. Nesting is kept in v->levels; keys as fingerprints in v->keys,
 * those of the objects outside first. Objects with many keys also use a hash set, so that hostile input
 * costs no more than its length.
 */
#include "formats/spaa/validate/internal.h"

#include <stdlib.h>

#define FEW_KEYS 24
/* Duplicate keys are looked for among so many keys of the big objects of a line. */
#define KEYS_MAX ((size_t)1 << 20)

void sp_walk_free(struct sp_validator *v)
{
    sp_vec_free(&v->levels);
    sp_vec_free(&v->keys);
    free(v->keyset.slots);
    v->keyset = (struct sp_keyset){0};
}

static bool keyset_put(struct sp_fp *slots, size_t mask, struct sp_fp k)
{
    size_t i = k.a & mask;
    for (; slots[i].b; i = (i + 1) & mask)
        if (sp_fp_equal(slots[i], k))
            return false;
    slots[i] = k;
    return true;
}

static bool keyset_room(struct sp_validator *v)
{
    struct sp_keyset *s = &v->keyset;
    if (s->slots && s->count < (s->mask + 1) / 2)
        return true;
    size_t slots = s->slots ? (s->mask + 1) * 2 : 256;
    struct sp_fp *bigger = calloc(slots, sizeof *bigger);
    if (!bigger)
        return false;
    for (size_t i = 0; s->slots && i <= s->mask; i++)
        if (s->slots[i].b)
            keyset_put(bigger, slots - 1, s->slots[i]);
    free(s->slots);
    s->slots = bigger;
    s->mask = slots - 1;
    return true;
}

/* False when this object has the key already. */
static bool keyset_add(struct sp_validator *v, const struct sp_level *l, struct sp_fp key)
{
    if (v->keyset.count >= KEYS_MAX) {
        if (v->keyset.count++ == KEYS_MAX)
            sp_limited(v, "duplicates among more than a million keys of a line were not looked for");
        return true;
    }
    if (!keyset_room(v)) {
        v->status = sp_nomem(v->d);
        return true;
    }
    key.a ^= l->serial * 0x9E3779B97F4A7C15u;
    key.b = (key.b ^ l->serial) | 1;
    bool fresh = keyset_put(v->keyset.slots, v->keyset.mask, key);
    v->keyset.count += fresh;
    return fresh;
}

static bool key_is_new(struct sp_validator *v, struct sp_level *l, struct sp_fp key)
{
    size_t n = v->keys.n - l->keys;
    bool fresh = true;
    if (n < FEW_KEYS) {
        for (size_t i = l->keys; i < v->keys.n && fresh; i++)
            fresh = !sp_fp_equal(v->keys.v[i], key);
        if (fresh && !sp_vec_push(&v->keys, key))
            v->status = sp_nomem(v->d);
        if (v->keys.n - l->keys == FEW_KEYS)
            for (size_t i = l->keys; i < v->keys.n; i++)
                keyset_add(v, l, v->keys.v[i]);
        return fresh;
    }
    return keyset_add(v, l, key);
}

static void path_of_levels(struct sp_validator *v, struct sp_span key)
{
    sp_path_cut(v, 0);
    for (size_t i = 0; i + 1 < v->levels.n; i++) {
        const struct sp_level *l = &v->levels.v[i];
        if (!l->object)
            sp_path_item(v, l->index - 1);
        else
            sp_path_push(v, l->key.p ? l->key.p : "?", l->key.p ? l->key.n : 1);
    }
    sp_path_push(v, key.p, key.n);
}

static bool inside(const struct sp_validator *v, struct sp_span s)
{
    return s.p >= v->text && s.p <= v->text + v->n;
}

static void take_key(struct sp_validator *v, struct sp_span key)
{
    struct sp_level *l = &v->levels.v[v->levels.n - 1];
    struct sp_fp fp = sp_fingerprint(key.p, key.n);
    struct sp_span lasting = inside(v, key) ? key : (struct sp_span){NULL, 0};
    l->key = lasting;
    if (!key_is_new(v, l, fp)) {
        path_of_levels(v, key);
        sp_report(v, SP_E124, lasting.p ? lasting.p - 1 : v->walker.p, "\"%.*s\"", SP_CLIP(key));
        sp_path_cut(v, 0);
    }
    if (v->levels.n == 1) {
        struct sp_member m = {.key = fp, .name = lasting};
        if (!sp_vec_push(&v->members, m))
            v->status = sp_nomem(v->d);
    }
}

static bool enter(struct sp_validator *v, bool object)
{
    if (v->levels.n == SP_JSON_DEPTH)
        return sp_json_fail(&v->walker, "nested too deeply");
    struct sp_level l = {.object = object, .keys = v->keys.n, .serial = ++v->serial};
    if (!sp_vec_push(&v->levels, l)) {
        v->status = sp_nomem(v->d);
        return false;
    }
    return object ? sp_json_object(&v->walker) : sp_json_array(&v->walker);
}

static void leave(struct sp_validator *v)
{
    v->keys.n = v->levels.v[--v->levels.n].keys;
}

/* An array without objects in it has no keys: most arrays are read at once. */
static bool plain_array(struct sp_validator *v)
{
    struct sp_json *j = &v->walker;
    const char *from = j->p, *p = from + 1;
    while (p < j->end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    if (v->levels.n > 2 || p == j->end || *p == '{' || *p == '[')
        return false;
    struct sp_span raw;
    if (!sp_json_skip(j, &raw))
        return true;
    if (!memchr(raw.p, '{', raw.n))
        return true;
    j->p = from;
    return false;
}

/* Consumes a scalar or enters a container; *done: the value is behind the cursor. */
static bool take_value(struct sp_validator *v, bool *done)
{
    struct sp_json *j = &v->walker;
    enum sp_json_type t = sp_json_type(j);
    struct sp_span raw;
    *done = false;
    if (v->levels.n == 1 && v->levels.v[0].object && v->members.n)
        v->members.v[v->members.n - 1].raw = (struct sp_span){j->p, 0};
    if (t == SP_JSON_OBJECT)
        return enter(v, true);
    if (t == SP_JSON_ARRAY && !plain_array(v))
        return !j->error && enter(v, false);
    *done = true;
    return t == SP_JSON_ARRAY ? !j->error : sp_json_skip(j, &raw);
}

static void member_ends(struct sp_validator *v)
{
    if (v->levels.n == 1 && v->members.n) {
        struct sp_member *m = &v->members.v[v->members.n - 1];
        m->raw.n = (size_t)(v->walker.p - m->raw.p);
    }
}

/* The members of the outermost object, and everything in them. */
static void walk(struct sp_validator *v)
{
    struct sp_json *j = &v->walker;
    if (!enter(v, true))
        return;
    while (v->levels.n && v->status == SPAA_OK) {
        struct sp_level *l = &v->levels.v[v->levels.n - 1];
        struct sp_span key;
        bool more = l->object ? sp_json_key(j, &key) : sp_json_item(j);
        if (j->error)
            return;
        if (!more) {
            leave(v);
            member_ends(v);
            continue;
        }
        if (l->object)
            take_key(v, key);
        else
            l->index++;
        bool done;
        if (!take_value(v, &done))
            return;
        if (done)
            member_ends(v);
    }
}

static void syntax_error(struct sp_validator *v)
{
    const struct sp_json *j = &v->walker;
    const char *at = v->text + j->error_at;
    if (strcmp(j->error, "out of memory") == 0) {
        v->status = sp_nomem(v->d);
    } else if (strcmp(j->error, "nested too deeply") == 0) {
        sp_limited(v, "a value nested more than 1024 levels deep was not checked");
    } else {
        bool opens = v->n && (v->text[0] == '{' || v->text[0] == '[') && j->error_at >= v->n;
        sp_report(v, SP_E100, at,
                  opens ? "%s at column %zu; if the file is spread over lines, `jq -c .` joins them"
                        : "%s at column %zu",
                  j->error, j->error_at + 1);
    }
}

bool sp_walk(struct sp_validator *v, bool *object)
{
    struct sp_json *j = &v->walker;
    sp_json_reset(j, v->text, v->n);
    v->levels.n = v->keys.n = v->members.n = 0;
    if (v->keyset.count) {
        free(v->keyset.slots);
        v->keyset = (struct sp_keyset){0};
    }
    *object = sp_json_type(j) == SP_JSON_OBJECT;
    struct sp_span raw;
    if (*object)
        walk(v);
    else
        sp_json_skip(j, &raw);
    if (v->status != SPAA_OK)
        return false;
    if (sp_json_end(j))
        return true;
    syntax_error(v);
    /* The member whose value did not end is none. */
    if (v->members.n && !v->members.v[v->members.n - 1].raw.n)
        v->members.n--;
    return false;
}
