/* Members of a node of the call graph: its counts, its place, and what is kept as it stands. */
#include "formats/codeguru/graph.h"

#include "base/num.h"

static void codeguru_keep_key(struct sp_cg_tree *x, struct sp_span key)
{
    if (x->extra.len > x->levels.v[x->levels.n - 1].extra)
        sp_buf_ch(&x->extra, ',');
    sp_json_string(&x->extra, key.p, key.n);
    sp_buf_ch(&x->extra, ':');
}

void sp_cg_node_keep(struct sp_cg_tree *x, const char *key, struct sp_span raw)
{
    codeguru_keep_key(x, (struct sp_span){key, strlen(key)});
    sp_json_minify(&x->extra, raw);
}

/* Any value, kept as it stands. */
static bool codeguru_keep_member(struct sp_cg_tree *x, struct sp_span key)
{
    const char *odd = sp_span_is(key, "counts") ? "counts" : sp_span_is(key, "children") ? "children" : NULL;
    struct sp_span raw;
    codeguru_keep_key(x, key);
    if (!sp_json_skip(x->j, &raw))
        return false;
    sp_json_minify(&x->extra, raw);
    if (odd)
        sp_emit(x->d, SP_W476, SP_AT((uint64_t)(raw.p - x->j->start)), "`%s`", odd);
    return true;
}

/* Zeros are no observations, and what is no number cannot be counted: they are kept beside. */
static void codeguru_keep_count_key(struct sp_cg_tree *x, struct sp_span key, bool *open)
{
    if (!*open)
        codeguru_keep_key(x, (struct sp_span){"counts", 6});
    sp_buf_ch(&x->extra, *open ? ',' : '{');
    sp_json_string(&x->extra, key.p, key.n);
    sp_buf_ch(&x->extra, ':');
    *open = true;
}

static bool codeguru_keep_count(struct sp_cg_tree *x, struct sp_span key, bool *open)
{
    struct sp_span raw;
    codeguru_keep_count_key(x, key, open); /* the value may have escapes, too */
    if (!sp_json_skip(x->j, &raw))
        return false;
    sp_json_minify(&x->extra, raw);
    sp_emit(x->d, SP_W476, SP_AT((uint64_t)(raw.p - x->j->start)), "a count that is no number");
    return true;
}

static uint32_t codeguru_context(struct sp_cg_tree *x, struct sp_span counter)
{
    struct sp_context c = {
        .pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = x->g->event, .labels = x->g->labels};
    if (x->g->by_state)
        c.state = sp_profile_str(x->p, counter.p, counter.n);
    return c.state == SP_STR_FAIL ? SP_NONE : sp_context_intern(x->p, &c);
}

/* One in another form, "50.0", is kept as it stands and counts all the same. */
static void codeguru_judge_count(struct sp_cg_tree *x, const struct sp_cg_cell *c)
{
    int64_t v = c->v;
    unsigned scale = 0;
    bool fits = v != SP_DECIMAL || sp_parse_scaled(c->number.p, c->number.n, &v, &scale),
         odd = *c->number.p == '-' || !fits;
    if (!odd && !scale && __builtin_add_overflow(x->g->counted, (uint64_t)v, &x->g->counted))
        x->g->counted = UINT64_MAX;
    if (odd || scale)
        sp_emit(x->d, odd ? SP_W476 : SP_W483, SP_AT((uint64_t)(c->number.p - x->j->start)),
                "a count of %.*s", (int)(c->number.n < 40 ? c->number.n : 40), c->number.p);
}

/* Both count; with the states added up, other counters have the same context. False: out of memory. */
static bool codeguru_find_counter_again(struct sp_cg_tree *x, const struct sp_cg_cell *c)
{
    struct sp_str name = sp_pstr(x->p, x->p->contexts.v[c->context].state);
    while (x->counters.n <= c->context)
        if (!sp_vec_push(&x->counters, 0))
            return false;
    if (x->g->by_state && x->counters.v[c->context] == x->searches)
        sp_emit(x->d, SP_E491, SP_AT((uint64_t)(c->number.p - x->j->start)), "the counter `%.*s`; both count",
                (int)(name.n < 100 ? name.n : 100), name.p);
    x->counters.v[c->context] = x->searches;
    return true;
}

static bool codeguru_read_count(struct sp_cg_tree *x, struct sp_span key, bool *open)
{
    struct sp_json *j = x->j;
    struct sp_cg_cell c = {.node = x->levels.v[x->levels.n - 1].node, .v = SP_DECIMAL};
    if (sp_json_type(j) != SP_JSON_NUMBER)
        return codeguru_keep_count(x, key, open);
    if (!sp_json_number(j, &c.number) || sp_cg_cut_number(j, c.number))
        return false;
    if (sp_cg_is_zero(c.number)) {
        codeguru_keep_count_key(x, key, open);
        sp_buf_add(&x->extra, c.number.p, c.number.n);
        return true;
    }
    if (sp_parse_i64(c.number.p, c.number.p + c.number.n, &c.v) != c.number.n || c.v < SP_DECIMAL)
        c.v = SP_DECIMAL;
    if ((c.context = codeguru_context(x, key)) == SP_NONE)
        return sp_json_fail(j, "out of memory");
    codeguru_judge_count(x, &c);
    if (!codeguru_find_counter_again(x, &c))
        return sp_json_fail(j, "out of memory");
    if (!sp_vec_push(&x->cells, c))
        return sp_json_fail(j, "out of memory");
    const char *behind = j->p;
    while (behind < j->end && strchr(" \t\r\n", *behind) && *behind)
        behind++;
    if (behind < j->end && (*behind == ',' || *behind == '}'))
        x->complete = x->cells.n;
    return true;
}

static bool codeguru_read_counts(struct sp_cg_tree *x)
{
    struct sp_json *j = x->j;
    struct sp_span key;
    bool open = false, any = false;
    x->searches++;
    if (!sp_json_object(j))
        return false;
    for (; sp_json_key(j, &key); any = true)
        if (!codeguru_read_count(x, key, &open))
            return false;
    if (j->error)
        return false;
    if (open)
        sp_buf_ch(&x->extra, '}');
    if (!any)
        sp_cg_node_keep(x, "counts", (struct sp_span){"{}", 2});
    return true;
}

bool sp_cg_node_member(struct sp_cg_tree *x, struct sp_span key)
{
    struct sp_cg_level *l = &x->levels.v[x->levels.n - 1];
    if (sp_span_is(key, "counts") && sp_json_type(x->j) == SP_JSON_OBJECT)
        return codeguru_read_counts(x);
    if (sp_span_is(key, "children") && sp_json_type(x->j) == SP_JSON_OBJECT) {
        l->in_children = true;
        return sp_json_object(x->j);
    }
    if (l->name != SP_NONE && sp_span_is(key, "file"))
        return sp_json_skip(x->j, &l->place.file);
    if (l->name != SP_NONE && sp_span_is(key, "line"))
        return sp_json_skip(x->j, &l->place.line);
    return codeguru_keep_member(x, key);
}
