/* What x_codeguru_node records hold (see graph.c), as a tree for the writer. */
#include "formats/codeguru/codeguru.h"

#include "base/hash.h"

#include <stdlib.h>

struct reading {
    struct sp_cg_extras *x;
    struct sp_profile *p;
    SP_VEC(uint32_t) path; /* nodes of the last record's path; 0: the root */
};

/* The child of a node, made where it is missing; SP_NONE: out of memory. */
static uint32_t codeguru_child_of(struct sp_cg_extras *x, uint32_t parent, uint32_t name)
{
    uint64_t hash = sp_hash_mix((uint64_t)parent + 1, name);
    struct sp_probe at = sp_map_probe(&x->map, hash);
    for (uint32_t i; (i = sp_map_next(&x->map, &at)) != SP_MAP_NONE;)
        if (x->nodes.v[i].parent == parent && x->nodes.v[i].name == name)
            return i;
    struct sp_cg_extra fresh = {.name = name, .parent = parent};
    if (x->nodes.n >= SP_NONE - 1 || !sp_vec_push(&x->nodes, fresh) ||
        !sp_map_add(&x->map, hash, (uint32_t)x->nodes.n - 1))
        return SP_NONE;
    return (uint32_t)x->nodes.n - 1;
}

/* Members of `raw` (an object) that the node has not yet. */
static bool codeguru_add_members(struct sp_cg_extras *x, struct sp_cg_extra *node, struct sp_span raw)
{
    struct sp_span key, value;
    struct sp_buf b;
    struct sp_json j;
    struct sp_span have = node->member;
    sp_buf_init(&b, 0);
    sp_json_init(&j, raw.p, raw.n);
    if (have.n)
        sp_buf_add(&b, have.p, have.n);
    bool ok = sp_json_object(&j);
    while (ok && sp_json_key(&j, &key)) {
        char name[256];
        size_t n = key.n < sizeof name ? key.n : sizeof name - 1;
        memcpy(name, key.p, n);
        name[n] = '\0';
        bool twice = have.n && sp_cg_member(have, name).n;
        size_t before = b.len;
        if (b.len)
            sp_buf_ch(&b, ',');
        sp_json_string(&b, key.p, key.n);
        sp_buf_ch(&b, ':');
        ok = sp_json_skip(&j, &value);
        if (ok)
            sp_json_minify(&b, value);
        if (twice)
            b.len = before;
    }
    ok = ok && !b.failed && !j.error;
    if (ok && b.len) {
        node->member = (struct sp_span){sp_arena_dup(&x->text, b.data, b.len), b.len};
        ok = node->member.p != NULL;
    }
    sp_json_free(&j);
    sp_buf_free(&b);
    return ok;
}

/* The path of a record, behind the levels that it shares with the one before; false: it is no such record. */
static bool codeguru_walk_path(struct reading *r, struct sp_json *j, uint64_t shared, bool *nomem)
{
    struct sp_span s;
    if (shared >= r->path.n)
        return false;
    r->path.n = shared + 1;
    if (!sp_json_array(j))
        return false;
    while (sp_json_item(j)) {
        if (sp_json_type(j) != SP_JSON_STRING || !sp_json_string_value(j, &s))
            return false;
        uint32_t name = sp_profile_str(r->p, s.p, s.n);
        uint32_t c = name == SP_STR_FAIL ? SP_NONE : codeguru_child_of(r->x, r->path.v[r->path.n - 1], name);
        if (c == SP_NONE || !sp_vec_push(&r->path, c)) {
            *nomem = true;
            return false;
        }
    }
    return !j->error;
}

static bool codeguru_read_record(struct reading *r, struct sp_str json, bool *nomem)
{
    struct sp_json j;
    struct sp_span key, raw, node = {NULL, 0};
    uint64_t shared = 0;
    bool ok, path = false;
    sp_json_init(&j, json.p, json.n);
    ok = sp_json_object(&j);
    while (ok && sp_json_key(&j, &key)) {
        if (sp_span_is(key, "shared"))
            ok = sp_json_type(&j) == SP_JSON_NUMBER && sp_json_u64(&j, &shared);
        else if (sp_span_is(key, "path"))
            ok = path = codeguru_walk_path(r, &j, shared, nomem);
        else if (sp_span_is(key, "node") && sp_json_type(&j) == SP_JSON_OBJECT)
            ok = sp_json_skip(&j, &node);
        else
            ok = sp_json_skip(&j, &raw);
    }
    ok = ok && path && !j.error;
    *nomem = *nomem || j.scratch.failed;
    sp_json_free(&j);
    if (ok && node.n && !codeguru_add_members(r->x, &r->x->nodes.v[r->path.v[r->path.n - 1]], node)) {
        *nomem = true;
        return false;
    }
    return ok;
}

struct by_name {
    const struct sp_profile *p;
    const struct sp_cg_extras *x;
};

static int extras_codeguru_by_name(const void *a, const void *b, void *arg)
{
    const struct by_name *c = arg;
    const struct sp_cg_extra *x = &c->x->nodes.v[*(const uint32_t *)a],
                             *y = &c->x->nodes.v[*(const uint32_t *)b];
    return sp_str_cmp(sp_pstr(c->p, x->name), sp_pstr(c->p, y->name));
}

static bool codeguru_sort_children(struct sp_cg_extras *x, const struct sp_profile *p)
{
    struct by_name how = {p, x};
    uint32_t at = 0;
    x->sorted = malloc((x->nodes.n + 1) * sizeof *x->sorted);
    if (!x->sorted)
        return false;
    for (size_t i = 1; i < x->nodes.n; i++)
        x->nodes.v[x->nodes.v[i].parent].n++;
    for (size_t i = 0; i < x->nodes.n; i++) {
        x->nodes.v[i].first = at;
        at += x->nodes.v[i].n;
        x->nodes.v[i].n = 0;
    }
    for (size_t i = 1; i < x->nodes.n; i++) {
        struct sp_cg_extra *parent = &x->nodes.v[x->nodes.v[i].parent];
        x->sorted[parent->first + parent->n++] = (uint32_t)i;
    }
    for (size_t i = 0; i < x->nodes.n; i++)
        if (x->nodes.v[i].n > 1)
            qsort_r(x->sorted + x->nodes.v[i].first, x->nodes.v[i].n, sizeof *x->sorted,
                    extras_codeguru_by_name, &how);
    return true;
}

spaa_status sp_cg_extras_read(struct sp_cg_extras *x, struct sp_profile *p, struct sp_diags *d)
{
    static const char type[] = "{\"type\":\"" SP_CG_NODE "\"";
    struct reading r = {.x = x, .p = p};
    bool nomem = false;
    *x = (struct sp_cg_extras){0};
    sp_arena_init(&x->text, 0);
    for (size_t i = 0; i < p->extensions.n && !nomem; i++) {
        struct sp_str json = sp_pstr(p, p->extensions.v[i].json);
        if (json.n < sizeof type || memcmp(json.p, type, sizeof type - 1) != 0)
            continue;
        if (!x->nodes.n)
            nomem = !sp_vec_push(&x->nodes, ((struct sp_cg_extra){.parent = SP_NONE})) ||
                    !sp_vec_push(&r.path, 0);
        if (!nomem && !codeguru_read_record(&r, json, &nomem) && !nomem) {
            sp_emit(d, SP_W480, SP_AT_NOTHING, "%.*s", (int)(json.n < 100 ? json.n : 100), json.p);
            r.path.n = 1;
        }
    }
    nomem = nomem || (x->nodes.n && !codeguru_sort_children(x, p));
    sp_vec_free(&r.path);
    if (!nomem)
        return SPAA_OK;
    sp_cg_extras_free(x);
    return sp_nomem(d);
}

void sp_cg_extras_free(struct sp_cg_extras *x)
{
    sp_vec_free(&x->nodes);
    free(x->sorted);
    x->sorted = NULL;
    sp_map_free(&x->map);
    sp_arena_free(&x->text);
}
