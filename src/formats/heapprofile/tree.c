/*
 * The tree of a V8 heap profile, in one pass and without recursion: members may stand in any order, children
 * before what their parent is called.
 */
#include "base/num.h"
#include "formats/heapprofile/heapprofile.h"

#define LEVELS_MAX ((size_t)1 << 22)
#define NOTE_EVERY ((size_t)1 << 20)

static bool tree_nomem(struct sp_v8_tree *t)
{
    return sp_json_fail(&t->j, "out of memory");
}

static uint64_t tree_at(const struct sp_v8_tree *t)
{
    return (uint64_t)(t->j.p - t->j.start);
}

/* A whole number, however it is written; false, reported: it is none. */
static bool tree_int(struct sp_v8_tree *t, const char *what, int64_t *out)
{
    struct sp_span raw;
    uint64_t at = tree_at(t);
    bool number = sp_json_type(&t->j) == SP_JSON_NUMBER;
    *out = 0;
    if (!sp_json_skip(&t->j, &raw))
        return false;
    if (number && sp_parse_i64(raw.p, raw.p + raw.n, out) == raw.n && *out > SP_DECIMAL)
        return true;
    double v = number ? sp_text_double(raw.p, raw.n) : -1;
    bool fits = number && v > -9e18 && v < 9e18;
    *out = fits ? (int64_t)v : 0;
    if (!fits || (double)*out < v || (double)*out > v)
        sp_emit(t->d, SP_L300, SP_AT(at), "a %s of %.*s", what, (int)(raw.n < 40 ? raw.n : 40), raw.p);
    return fits;
}

/* A string's text into `out`; what is none is passed over. */
static bool tree_text(struct sp_v8_tree *t, struct sp_buf *out)
{
    struct sp_span s;
    sp_buf_clear(out);
    if (sp_json_type(&t->j) != SP_JSON_STRING)
        return sp_json_skip(&t->j, &s);
    if (!sp_json_string_value(&t->j, &s))
        return false;
    sp_buf_add(out, s.p, s.n);
    return !out->failed || tree_nomem(t);
}

static bool tree_script(struct sp_v8_tree *t)
{
    struct sp_span raw;
    if (!sp_json_skip(&t->j, &raw))
        return false;
    t->call.has_script = !sp_span_is(raw, "\"0\"") && !sp_span_is(raw, "0");
    return true;
}

static bool tree_call(struct sp_v8_tree *t, uint32_t node)
{
    struct sp_span key, raw;
    sp_buf_clear(&t->call.name);
    sp_buf_clear(&t->call.url);
    t->call.line = t->call.column = -1;
    t->call.has_script = true;
    if (!sp_json_object(&t->j))
        return false;
    while (sp_json_key(&t->j, &key)) {
        if (sp_span_is(key, "functionName"))
            tree_text(t, &t->call.name);
        else if (sp_span_is(key, "url"))
            tree_text(t, &t->call.url);
        else if (sp_span_is(key, "scriptId"))
            tree_script(t);
        else if (sp_span_is(key, "lineNumber"))
            tree_int(t, "lineNumber", &t->call.line);
        else if (sp_span_is(key, "columnNumber"))
            tree_int(t, "columnNumber", &t->call.column);
        else
            sp_json_skip(&t->j, &raw);
    }
    if (t->j.error)
        return false;
    bool root = t->nodes.v[node].parent == SP_NONE && t->call.name.len == 6 &&
                memcmp(t->call.name.data, "(root)", 6) == 0;
    if (root)
        return true;
    t->nodes.v[node].frame = sp_v8_frame(&t->calls, &t->call);
    return t->nodes.v[node].frame != SP_NONE || tree_nomem(t);
}

/* ---- nodes ---- */

static bool tree_open(struct sp_v8_tree *t, uint32_t parent)
{
    struct sp_v8_node n = {.parent = parent, .frame = SP_NONE, .samples = SP_ABSENT};
    struct sp_v8_level l = {.node = (uint32_t)t->nodes.n};
    if (t->levels.n >= LEVELS_MAX) {
        sp_emit(t->d, SP_E007, SP_AT(tree_at(t)), "more than %zu levels", LEVELS_MAX);
        return sp_json_fail(&t->j, "too deep");
    }
    if (t->nodes.n >= SP_NONE - 1 || !sp_vec_push(&t->nodes, n) || !sp_vec_push(&t->levels, l))
        return tree_nomem(t);
    return sp_json_object(&t->j);
}

static bool tree_size(struct sp_v8_tree *t, struct sp_v8_node *n)
{
    uint64_t at = tree_at(t);
    if (tree_int(t, "selfSize", &n->self) && n->self < 0) {
        sp_emit(t->d, SP_L300, SP_AT(at), "a selfSize of %lld", (long long)n->self);
        n->self = 0;
    }
    return !t->j.error;
}

static bool tree_member(struct sp_v8_tree *t, struct sp_span key, struct sp_v8_level *l)
{
    struct sp_v8_node *n = &t->nodes.v[l->node];
    enum sp_json_type type = sp_json_type(&t->j);
    struct sp_span raw;
    int64_t id;
    if (sp_span_is(key, "callFrame") && type == SP_JSON_OBJECT)
        return tree_call(t, l->node);
    if (sp_span_is(key, "selfSize"))
        return tree_size(t, n);
    if (sp_span_is(key, "children") && type == SP_JSON_ARRAY) {
        l->in_children = true;
        return sp_json_array(&t->j);
    }
    if (!sp_span_is(key, "id"))
        return sp_json_skip(&t->j, &raw);
    if (tree_int(t, "id", &id))
        n->id = (uint64_t)id;
    return !t->j.error;
}

static bool tree_child(struct sp_v8_tree *t, uint32_t parent)
{
    struct sp_span raw;
    uint64_t at = tree_at(t);
    if (sp_json_type(&t->j) == SP_JSON_OBJECT)
        return tree_open(t, parent);
    if (sp_json_skip(&t->j, &raw))
        sp_emit(t->d, SP_L300, SP_AT(at), "a child that is no object");
    return !t->j.error;
}

static bool tree_step(struct sp_v8_tree *t)
{
    struct sp_v8_level *l = &t->levels.v[t->levels.n - 1];
    struct sp_span key;
    if (l->in_children) {
        if (sp_json_item(&t->j))
            return tree_child(t, l->node);
        l->in_children = false;
    } else if (sp_json_key(&t->j, &key)) {
        return tree_member(t, key, l);
    } else {
        t->levels.n--;
    }
    return !t->j.error;
}

static spaa_status tree_head(struct sp_v8_tree *t)
{
    t->has_head = true;
    for (bool ok = tree_open(t, SP_NONE); ok && t->levels.n;) {
        ok = tree_step(t);
        if (tree_at(t) - t->noted > NOTE_EVERY) {
            t->noted = tree_at(t);
            spaa_status st = sp_input_note(t->in, tree_at(t));
            if (st)
                return st;
        }
    }
    t->levels.n = 0;
    return SPAA_OK;
}

/* ---- samples ---- */

static bool tree_sample(struct sp_v8_tree *t)
{
    struct sp_v8_sample s = {0};
    struct sp_span key, raw;
    int64_t v;
    if (sp_json_type(&t->j) != SP_JSON_OBJECT)
        return sp_json_skip(&t->j, &raw);
    sp_json_object(&t->j);
    while (sp_json_key(&t->j, &key)) {
        if (sp_span_is(key, "nodeId") && tree_int(t, "nodeId", &v))
            s.node = (uint64_t)v;
        else if (sp_span_is(key, "size") && tree_int(t, "size", &v))
            s.size = v > 0 ? v : 0;
        else if (!sp_span_is(key, "nodeId") && !sp_span_is(key, "size"))
            sp_json_skip(&t->j, &raw);
    }
    return !t->j.error && (sp_vec_push(&t->samples, s) || tree_nomem(t));
}

static spaa_status tree_samples(struct sp_v8_tree *t)
{
    t->has_samples = true;
    bool ok = sp_json_array(&t->j);
    while (ok && sp_json_item(&t->j)) {
        ok = tree_sample(t);
        if (tree_at(t) - t->noted > NOTE_EVERY) {
            t->noted = tree_at(t);
            spaa_status st = sp_input_note(t->in, tree_at(t));
            if (st)
                return st;
        }
    }
    return SPAA_OK;
}

/* ---- the file ---- */

/* Members of the profile, or of what an answer of the protocol wraps it in. */
static spaa_status tree_members(struct sp_v8_tree *t, unsigned depth)
{
    struct sp_span key, raw;
    spaa_status st = SPAA_OK;
    while (!st && sp_json_key(&t->j, &key)) {
        enum sp_json_type type = sp_json_type(&t->j);
        bool inner = sp_span_is(key, "profile") || sp_span_is(key, "result");
        if (sp_span_is(key, "head") && type == SP_JSON_OBJECT && !t->has_head)
            st = tree_head(t);
        else if (sp_span_is(key, "samples") && type == SP_JSON_ARRAY && !t->has_samples)
            st = tree_samples(t);
        else if (inner && type == SP_JSON_OBJECT && depth < 2 && sp_json_object(&t->j))
            st = tree_members(t, depth + 1);
        else
            sp_json_skip(&t->j, &raw);
    }
    return st;
}

spaa_status sp_v8_read_tree(struct sp_v8_tree *t, struct sp_span text)
{
    sp_json_init(&t->j, text.p, text.n);
    spaa_status st = sp_json_object(&t->j) ? tree_members(t, 0) : SPAA_OK;
    if (!st && !t->j.error)
        sp_json_end(&t->j);
    if (st || !t->j.error)
        return st;
    if (t->j.scratch.failed || t->call.name.failed || t->call.url.failed ||
        !strcmp(t->j.error, "out of memory"))
        return sp_nomem(t->d);
    if (!strcmp(t->j.error, "too deep"))
        return SPAA_ERR_LIMIT;
    sp_emit(t->d, t->j.error_at >= text.n ? SP_L301 : SP_L300, SP_AT(t->j.error_at), "%s", t->j.error);
    return SPAA_ERR_INPUT;
}

void sp_v8_free_tree(struct sp_v8_tree *t)
{
    sp_vec_free(&t->nodes);
    sp_vec_free(&t->samples);
    sp_vec_free(&t->levels);
    sp_buf_free(&t->call.name);
    sp_buf_free(&t->call.url);
    sp_buf_free(&t->calls.text);
    sp_json_free(&t->j);
}
