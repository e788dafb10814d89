#include "json/unique.h"

#include "base/hash.h"

enum { FEW = 32 };

void sp_unique_put(struct sp_unique *u, const char *p, size_t n)
{
    if (u->out)
        sp_buf_add(u->out, p, n);
}

/* A copy of the key, which the cursor lends for a moment. */
bool sp_unique_hold(struct sp_unique *u, const char *prefix, struct sp_span key)
{
    sp_buf_clear(&u->key);
    sp_buf_puts(&u->key, prefix);
    sp_buf_add(&u->key, key.p, key.n);
    u->failed |= u->key.failed;
    return !u->failed;
}

/* Where the keys of a new object start; they end at from - 1 when it is closed. */
size_t sp_unique_first_key(struct sp_unique *u)
{
    if (!sp_vec_push(&u->keys, ++u->objects))
        u->failed = true;
    return u->keys.n;
}

/* Whether the key held stands in the object already, whose keys are those from `from` on; else it does now.
 */
bool sp_unique_seen(struct sp_unique *u, size_t from)
{
    uint64_t hash = sp_hash_key(u->key.data ? u->key.data : "", u->key.len);
    size_t few = u->keys.n - from < FEW ? u->keys.n : from + FEW;
    for (size_t i = from; i < few; i++)
        if (u->keys.v[i] == hash)
            return true;
    if (few == from + FEW) {
        uint64_t mixed = sp_hash_mix(hash, u->keys.v[from - 1]);
        struct sp_probe at = sp_map_probe(&u->many, mixed);
        for (uint32_t i; (i = sp_map_next(&u->many, &at)) != SP_MAP_NONE;)
            if (i >= from && i < u->keys.n && u->keys.v[i] == hash) /* else of an object that was closed */
                return true;
        if (!sp_map_add(&u->many, mixed, (uint32_t)u->keys.n))
            u->failed = true;
    }
    if (u->keys.n >= SP_MAP_NONE || !sp_vec_push(&u->keys, hash))
        u->failed = true;
    return false;
}

/* The comma before a member and its key. */
void sp_unique_put_key(struct sp_unique *u, bool first)
{
    if (!u->out)
        return;
    if (!first)
        sp_buf_ch(u->out, ',');
    sp_json_string(u->out, u->key.data ? u->key.data : "", u->key.len);
    sp_buf_ch(u->out, ':');
}

/* The key of the next member that does not stand in the object yet, into u->key. */
bool sp_unique_next_key(struct sp_unique *u, size_t from)
{
    struct sp_span key, raw;
    while (!u->failed && sp_json_key(&u->j, &key)) {
        if (!sp_unique_hold(u, "", key))
            return false;
        if (!sp_unique_seen(u, from))
            return !u->failed;
        u->wrong = true;
        if (u->twice && u->out)
            u->twice(u->arg);
        if (!sp_json_skip(&u->j, &raw))
            return false;
    }
    return false;
}

static bool open_level(struct sp_unique *u, bool object)
{
    struct sp_unique_level l = {.keys = sp_unique_first_key(u), .object = object};
    sp_unique_put(u, object ? "{" : "[", 1);
    if (u->levels.n >= SP_JSON_DEPTH || !(object ? sp_json_object(&u->j) : sp_json_array(&u->j)))
        return false;
    u->failed |= !sp_vec_push(&u->levels, l);
    return !u->failed;
}

/* Closes what has come to its end, and stands at the next value; false where that was all, or an error. */
static bool next_value(struct sp_unique *u)
{
    while (u->levels.n && !u->failed) {
        struct sp_unique_level *l = &u->levels.v[u->levels.n - 1];
        if (l->object ? sp_unique_next_key(u, l->keys) : sp_json_item(&u->j)) {
            if (l->object)
                sp_unique_put_key(u, !l->any);
            else if (l->any)
                sp_unique_put(u, ",", 1);
            l->any = true;
            return true;
        }
        if (u->j.error)
            return false;
        sp_unique_put(u, l->object ? "}" : "]", 1);
        u->keys.n = l->keys - 1;
        u->levels.n--;
    }
    return false;
}

/* Any value. */
bool sp_unique_walk_any(struct sp_unique *u)
{
    struct sp_span raw;
    u->levels.n = 0;
    do {
        enum sp_json_type t = sp_json_type(&u->j);
        if (t == SP_JSON_OBJECT || t == SP_JSON_ARRAY) {
            if (!open_level(u, t == SP_JSON_OBJECT))
                return false;
        } else {
            if (!sp_json_skip(&u->j, &raw))
                return false;
            sp_unique_put(u, raw.p, raw.n);
        }
    } while (next_value(u));
    return !u->j.error && !u->failed;
}

void sp_unique_init(struct sp_unique *u, void (*twice)(void *arg), void *arg)
{
    *u = (struct sp_unique){.twice = twice, .arg = arg};
    sp_json_init(&u->j, "", 0);
    sp_buf_init(&u->key, 0);
}

bool sp_unique_failed(const struct sp_unique *u)
{
    return u->failed || (u->j.error && strcmp(u->j.error, "out of memory") == 0) ||
           (u->out && u->out->failed);
}

void sp_unique_reset(struct sp_unique *u, struct sp_span text)
{
    u->keys.n = 0;
    if (u->many.count)
        sp_map_free(&u->many);
    sp_json_reset(&u->j, text.p, text.n);
}

void sp_unique_free(struct sp_unique *u)
{
    sp_json_free(&u->j);
    sp_buf_free(&u->key);
    sp_vec_free(&u->keys);
    sp_vec_free(&u->levels);
    sp_map_free(&u->many);
}

struct said {
    struct sp_diags *d;
    struct sp_unique *u;
};

static void say(void *arg)
{
    const struct said *s = arg;
    sp_emit(s->d, SP_E124, SP_AT_NOTHING, "`%.*s`; the first of them is kept",
            (int)(s->u->key.len < 80 ? s->u->key.len : 80), s->u->key.data ? s->u->key.data : "");
}

uint32_t sp_unique_text(struct sp_strtab *to, struct sp_span text, struct sp_diags *d)
{
    struct sp_unique u;
    struct said said = {d, &u};
    struct sp_buf out;
    sp_unique_init(&u, say, &said);
    sp_buf_init(&out, 0);
    sp_unique_reset(&u, text);
    bool good = sp_unique_walk_any(&u);
    if (good && u.wrong) {
        u.out = &out;
        sp_unique_reset(&u, text);
        good = sp_unique_walk_any(&u) && !out.failed;
        text = (struct sp_span){out.data, out.len};
    }
    uint32_t s = sp_unique_failed(&u) ? SP_STR_FAIL : sp_intern(to, text.p, text.n);
    sp_unique_free(&u);
    sp_buf_free(&out);
    return s;
}
