/*
 * Stack records of a SPAA file: most of its bytes.
 *
 * Three texts repeat from record to record and are recognised by comparing bytes instead of parsing:
 * the context object (a JSON object ends itself, so a known text that is a prefix of what stands here
 * is the same object), and lists of weights, whose literals between the numbers repeat. Anything else
 * takes the cursor.
 */
#include "formats/spaa/read.h"
#include "formats/spaa/usual.h"

#include "base/hash.h"
#include "base/num.h"
#include "model/edges.h"

static struct sp_span keep_text(struct reader *r, struct sp_span s)
{
    char *t = sp_arena_dup(&r->texts, s.p, s.n);
    return (struct sp_span){t, t ? s.n : 0};
}

/* ---- context ---- */

/* An event that the header should have declared. What it counts is not known: its first stack says. */
static bool declare(struct reader *r, const char *name, size_t n, uint32_t *event)
{
    struct sp_event e = {.kind = SP_SOFTWARE, .mode = SP_EVENT, .primary = SP_NONE};
    e.name = sp_profile_str(r->p, name, n);
    *event = e.name == SP_STR_FAIL ? SP_NONE : sp_event_add(r->p, &e);
    return *event != SP_NONE || sp_json_fail(&r->j, "out of memory");
}

static bool find_unknown_event(struct reader *r, uint32_t *event)
{
    *event = sp_event_find(r->p, "[unknown]", 9);
    return *event != SP_NONE || declare(r, "[unknown]", 9, event);
}

static bool context_member(struct reader *r, struct sp_span key, struct sp_context *c)
{
    if (sp_span_is(key, "pid"))
        return sp_read_i64(r, key, &c->pid);
    if (sp_span_is(key, "tid"))
        return sp_read_i64(r, key, &c->tid);
    if (sp_span_is(key, "cpu"))
        return sp_read_i64(r, key, &c->cpu);
    if (sp_span_is(key, "comm"))
        return sp_read_str(r, key, &c->comm);
    if (sp_span_is(key, "x_state"))
        return sp_read_str(r, key, &c->state);
    if (sp_span_is(key, "x_source"))
        return sp_read_str(r, key, &c->source);
    if (sp_span_is(key, "x_raw_hex")) /* what follows it is not among its fields */
        return sp_read_raw_hex(r, key, &(struct raw_field){"comm", &c->comm}, 1);
    if (!sp_span_is(key, "event") || sp_json_type(&r->j) != SP_JSON_STRING)
        return sp_keep_member(r, key);
    struct sp_span name;
    if (!sp_json_string_value(&r->j, &name))
        return false;
    c->event = sp_event_find(r->p, name.p, name.n);
    if (c->event != SP_NONE)
        return true;
    sp_emit(r->d, SP_E114, sp_here(r, "context.event"), "\"%.*s\" is declared when written",
            (int)(name.n < 200 ? name.n : 200), name.p);
    return declare(r, name.p, name.n, &c->event);
}

/* At an object that was not seen before. */
static bool parse_context(struct reader *r, uint32_t *out)
{
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = SP_NONE};
    struct nest n;
    struct sp_span key;
    if (!sp_json_object(&r->j))
        return false;
    sp_nest_begin(r, &n);
    while (sp_json_key(&r->j, &key) && context_member(r, key, &c))
        ;
    if (!sp_nest_end(r, &n, &c.more) || r->j.error)
        return false;
    if (c.event == SP_NONE) {
        sp_emit(r->d, SP_E109, sp_here(r, "context.event"), "taken as [unknown]");
        if (!find_unknown_event(r, &c.event))
            return false;
    }
    *out = sp_context_intern(r->p, &c);
    return *out != SP_NONE || sp_json_fail(&r->j, "out of memory");
}

static inline bool stands_here(const struct sp_json *j, struct sp_span s)
{
    return s.n && s.n <= (size_t)(j->end - j->p) && memcmp(j->p, s.p, s.n) == 0;
}

static bool find_context(const struct reader *r, struct sp_span raw, uint64_t hash, struct context_text *out)
{
    struct sp_probe at = sp_map_probe(&r->context_map, hash);
    for (uint32_t i; (i = sp_map_next(&r->context_map, &at)) != SP_MAP_NONE;) {
        if (r->contexts.v[i].raw.n != raw.n || memcmp(r->contexts.v[i].raw.p, raw.p, raw.n) != 0)
            continue;
        *out = r->contexts.v[i];
        return true;
    }
    return false;
}

/*
 * Contexts without nested objects end at the first brace outside a string; a brace inside one makes the
 * text no known one, and the general path decides.
 */
bool sp_known_context(struct reader *r, const char **p, const char *end, uint32_t *context)
{
    struct context_text found;
    const char *close = memchr(*p, '}', (size_t)(end - *p));
    if (!close)
        return false;
    struct sp_span raw = {*p, (size_t)(close + 1 - *p)};
    if (!find_context(r, raw, sp_hash64(raw.p, raw.n), &found))
        return false;
    r->recent = found;
    *context = found.context;
    *p = close + 1;
    return true;
}

static bool read_context(struct reader *r, uint32_t *out)
{
    if (stands_here(&r->j, r->recent.raw)) {
        r->j.p += r->recent.raw.n;
        *out = r->recent.context;
        return true;
    }
    struct sp_json before = r->j;
    struct sp_span raw;
    struct context_text found;
    if (!sp_json_skip(&r->j, &raw))
        return false;
    uint64_t hash = sp_hash64(raw.p, raw.n);
    if (!find_context(r, raw, hash, &found)) {
        before.scratch = r->j.scratch;
        r->j = before;
        if (!parse_context(r, &found.context))
            return false;
        found.raw = keep_text(r, raw);
        if (!found.raw.p || !sp_map_add(&r->context_map, hash, (uint32_t)r->contexts.n) ||
            !sp_vec_push(&r->contexts, found))
            return sp_json_fail(&r->j, "out of memory");
    }
    r->recent = found;
    *out = found.context;
    return true;
}

/* ---- weights ---- */

bool sp_metric_named(struct reader *r, struct sp_span name, uint32_t *out)
{
    *out = sp_metric_intern(r->p, name.p, name.n);
    if (*out != SP_NONE)
        return true;
    return sp_json_fail(&r->j, r->p->metrics.n < SP_METRICS_MAX ? "out of memory" : "more than 256 metrics");
}

static bool weight_member(struct reader *r, struct sp_span key, struct sp_weight_field *f, struct sp_value *v,
                          struct sp_span *number)
{
    struct sp_span s;
    enum sp_json_type t = sp_json_type(&r->j);
    if (sp_span_is(key, "metric") && t == SP_JSON_STRING)
        return sp_json_string_value(&r->j, &s) && sp_metric_named(r, s, &f->metric);
    if (sp_span_is(key, "unit") && t == SP_JSON_STRING)
        return sp_read_str(r, key, &f->unit);
    if (!sp_span_is(key, "value") || t != SP_JSON_NUMBER)
        return sp_keep_member(r, key);
    if (!sp_json_number(&r->j, number))
        return false;
    s = *number;
    if (sp_parse_i64(s.p, s.p + s.n, &v->v) == s.n && v->v > SP_DECIMAL && !sp_span_is(s, "-0"))
        return true;
    v->v = SP_DECIMAL;
    v->text = sp_profile_str(r->p, s.p, s.n);
    return v->text != SP_STR_FAIL || sp_json_fail(&r->j, "out of memory");
}

/* One weight, the cursor behind its brace. */
static bool read_weight(struct reader *r, struct sp_weight_field *f, struct sp_value *v,
                        struct sp_span *number)
{
    struct sp_span key;
    struct nest n;
    *f = (struct sp_weight_field){SP_NONE, 0, 0};
    *v = (struct sp_value){SP_ABSENT, 0};
    sp_nest_begin(r, &n);
    while (sp_json_key(&r->j, &key) && weight_member(r, key, f, v, number))
        ;
    return sp_nest_end(r, &n, &f->more) && !r->j.error;
}

/* Remembers the literals around the numbers of the list that was just read from `from` on. */
static void learn(struct reader *r, const char *from, const struct sp_span *numbers, uint32_t layout)
{
    size_t n = r->values.n;
    if (!n || n > TEMPLATE_VALUES)
        return;
    for (size_t i = 0; i < n; i++)
        if (r->values.v[i].v == SP_DECIMAL || r->values.v[i].v < 0 || !numbers[i].p)
            return;
    struct template t = {.layout = layout, .n = (unsigned)n};
    for (size_t i = 0; i <= n; i++) {
        const char *to = i < n ? numbers[i].p : r->j.p;
        t.part[i] = keep_text(r, (struct sp_span){from, (size_t)(to - from)});
        if (!t.part[i].p)
            return;
        if (i < n) {
            from = numbers[i].p + numbers[i].n;
            t.metrics[i] = r->fields.v[i].metric;
        }
    }
    unsigned slot = r->next_template++ % TEMPLATES;
    r->templates[slot] = t;
    if (r->ntemplates < TEMPLATES)
        r->ntemplates++;
    r->last_template = slot;
}

bool sp_match_template(const struct template *t, const char **p, const char *end, int64_t *values)
{
    const char *s = *p;
    for (unsigned i = 0; i < t->n; i++) {
        const struct sp_span *part = &t->part[i];
        uint64_t v;
        if ((size_t)(end - s) < part->n || !sp_same_text(s, part->p, part->n))
            return false;
        s += part->n;
        if (!sp_plain_number(&s, end, &v))
            return false;
        values[i] = (int64_t)v;
    }
    const struct sp_span *last = &t->part[t->n];
    if ((size_t)(end - s) < last->n || !sp_same_text(s, last->p, last->n))
        return false;
    *p = s + last->n;
    return true;
}

static bool match(struct reader *r, const struct template *t)
{
    int64_t values[TEMPLATE_VALUES];
    if (!sp_match_template(t, &r->j.p, r->j.end, values))
        return false;
    for (unsigned i = 0; i < t->n; i++)
        r->values.v[i] = (struct sp_value){values[i], 0};
    r->values.n = t->n;
    return true;
}

bool sp_read_weights(struct reader *r, uint32_t *layout)
{
    if (!sp_vec_reserve(&r->values, TEMPLATE_VALUES))
        return sp_json_fail(&r->j, "out of memory");
    for (unsigned i = 0; i < r->ntemplates; i++) {
        unsigned slot = (r->last_template + i) % r->ntemplates;
        if (match(r, &r->templates[slot])) {
            r->last_template = slot;
            *layout = r->templates[slot].layout;
            return true;
        }
    }
    struct sp_span numbers[TEMPLATE_VALUES] = {{0}}, number;
    const char *from = r->j.p;
    bool skipped = false;
    r->values.n = r->fields.n = 0;
    if (!sp_json_array(&r->j))
        return false;
    while (sp_json_item(&r->j)) {
        struct sp_weight_field f;
        struct sp_value v;
        number = (struct sp_span){0};
        if (!sp_json_object(&r->j) || !read_weight(r, &f, &v, &number))
            return false;
        if (f.metric == SP_NONE || v.v == SP_ABSENT) {
            sp_emit(r->d, SP_E109, sp_here(r, f.metric == SP_NONE ? "weights.metric" : "weights.value"),
                    "the weight is skipped");
            skipped = true;
            continue;
        }
        if (r->values.n < TEMPLATE_VALUES)
            numbers[r->values.n] = number;
        if (!sp_vec_push(&r->values, v) || !sp_vec_push(&r->fields, f))
            return sp_json_fail(&r->j, "out of memory");
    }
    if (r->j.error)
        return false;
    *layout = sp_layout_intern(r->p, r->fields.v, r->fields.n);
    if (*layout == SP_NONE)
        return sp_json_fail(&r->j, "out of memory");
    if (!skipped)
        learn(r, from, numbers, *layout);
    return true;
}

/* ---- the record ---- */

struct stack_fields {
    struct sp_stack s;
    struct sp_stack_id id;
    uint32_t exclusive_frame; /* SP_NONE: none stated */
    bool has_exclusive, exclusive_weights;
    uint32_t exclusive_layout, exclusive_first, exclusive_more;
    struct sp_related related;
    uint64_t missing; /* frames that are not (yet) defined */
    bool has_edges;   /* in r->edges */
};

/* Numbers straight into the profile's frame array; the usual small ids by one load each. */
static bool read_frames(struct reader *r, struct stack_fields *x)
{
    struct sp_profile *p = r->p;
    struct sp_json *j = &r->j;
    x->s.first = p->stack_frames.n;
    if (!sp_json_array(j))
        return false;
    for (;;) {
        /* At least two bytes per item: what fits the rest of the line needs no check in the loop. */
        size_t room = 64;
        if (!sp_vec_reserve(&p->stack_frames, p->stack_frames.n + room))
            return sp_json_fail(j, "out of memory");
        uint32_t *at = p->stack_frames.v + p->stack_frames.n, *full = at + room;
        while (at < full) {
            const char *s = j->p;
            if (!j->first && s < j->end && *s == ',')
                s++;
            else if (!j->first)
                break;
            uint64_t v = 0;
            const char *digits = s;
            while (s < j->end && (unsigned char)(*s - '0') < 10 && s - digits < 10)
                v = v * 10 + (unsigned char)(*s++ - '0');
            if (s == digits || s >= j->end || (*s != ',' && *s != ']') || (*digits == '0' && s - digits > 1))
                break;
            uint32_t f = sp_idmap_small(&r->frames, v);
            if (f == SP_NONE)
                break;
            *at++ = f;
            j->p = s;
            j->first = false;
        }
        p->stack_frames.n = (size_t)(at - p->stack_frames.v);
        if (at == full)
            continue;
        /* The cursor, for one item: white space, other ids, the end, errors. */
        if (!sp_json_item(j))
            break;
        struct sp_span id;
        bool is_id = sp_json_type(j) == SP_JSON_NUMBER || sp_json_type(j) == SP_JSON_STRING;
        if (!(is_id ? sp_read_id(r, &id) : sp_json_skip(j, &id)))
            return false;
        uint32_t f = is_id ? sp_idmap_find(r, &r->frames, id) : SP_NONE;
        if (f == SP_NONE) { /* unknown, in its place */
            x->missing++;
            if ((f = r->deferred_pass ? sp_missing_frame(r) : 0) == SP_NONE)
                return sp_json_fail(j, "out of memory");
        }
        if (!sp_vec_push(&p->stack_frames, f))
            return sp_json_fail(j, "out of memory");
    }
    x->s.n = (uint32_t)(p->stack_frames.n - x->s.first);
    return !j->error;
}

static bool keep_weights(struct reader *r, uint32_t *first)
{
    *first = (uint32_t)r->p->values.n;
    if (r->p->values.n + r->values.n >= SP_NONE)
        return sp_json_fail(&r->j, "too many weights");
    for (size_t i = 0; i < r->values.n; i++)
        if (!sp_vec_push(&r->p->values, r->values.v[i]))
            return sp_json_fail(&r->j, "out of memory");
    return true;
}

static bool exclusive_member(struct reader *r, struct sp_span key, struct stack_fields *x)
{
    struct sp_span id;
    if (sp_span_is(key, "weights") && sp_json_type(&r->j) == SP_JSON_ARRAY) {
        x->exclusive_weights = true;
        return sp_read_weights(r, &x->exclusive_layout) && keep_weights(r, &x->exclusive_first);
    }
    if (!sp_span_is(key, "frame"))
        return sp_keep_member(r, key);
    if (!sp_read_id(r, &id))
        return false;
    x->exclusive_frame = sp_idmap_find(r, &r->frames, id);
    return true;
}

static bool read_exclusive(struct reader *r, struct sp_span key, struct stack_fields *x)
{
    struct nest n;
    if (sp_json_type(&r->j) != SP_JSON_OBJECT)
        return sp_keep_odd(r, key, "an object");
    x->has_exclusive = true;
    sp_json_object(&r->j);
    sp_nest_begin(r, &n);
    while (sp_json_key(&r->j, &key) && exclusive_member(r, key, x))
        ;
    return sp_nest_end(r, &n, &x->exclusive_more) && !r->j.error;
}

static bool read_related(struct reader *r, struct sp_span key, struct stack_fields *x)
{
    if (sp_json_type(&r->j) != SP_JSON_ARRAY)
        return sp_keep_odd(r, key, "an array of stack ids");
    x->related.first = (uint32_t)r->p->related_stacks.n;
    sp_json_array(&r->j);
    while (sp_json_item(&r->j)) {
        struct sp_stack_id id;
        struct sp_span raw;
        if (sp_json_type(&r->j) != SP_JSON_NUMBER && sp_json_type(&r->j) != SP_JSON_STRING) {
            sp_emit(r->d, SP_E110, sp_here(r, "related_stacks"), "an item that is no id is left out");
            if (!sp_json_skip(&r->j, &raw))
                return false;
            continue;
        }
        if (!sp_read_stack_id(r, &id))
            return false;
        if (r->p->related_stacks.n >= SP_NONE - 1 || !sp_vec_push(&r->p->related_stacks, SP_NONE) ||
            !sp_vec_push(&r->p->related_ids, id))
            return sp_json_fail(&r->j, "out of memory");
        x->related.n++;
    }
    return !r->j.error;
}

static bool read_stack_type(struct reader *r, struct sp_span key, struct stack_fields *x)
{
    struct sp_span s;
    if (sp_json_type(&r->j) != SP_JSON_STRING)
        return sp_keep_odd(r, key, "a string");
    if (!sp_json_string_value(&r->j, &s))
        return false;
    int t = sp_name_index(sp_stack_type_names, s.p, s.n);
    if (t < 0)
        sp_emit(r->d, SP_W203, sp_here(r, "stack_type"), "taken as unified");
    x->s.type = (unsigned)(t < 0 ? SP_UNIFIED : t) & 3u;
    return true;
}

/* One object of x_edges; *odd: it is none of ours. */
static bool read_edge(struct reader *r, struct stack_fields *x, bool *odd)
{
    struct sp_edge e = {0, SP_EDGE_BROKEN, SP_NONE};
    struct sp_span key, id;
    bool broken = false, inferred = false;
    int64_t at = SP_ABSENT;
    if (sp_json_type(&r->j) != SP_JSON_OBJECT || !sp_json_object(&r->j)) {
        *odd = true;
        return !r->j.error;
    }
    while (!*odd && sp_json_key(&r->j, &key)) {
        enum sp_json_type t = sp_json_type(&r->j);
        if (sp_span_is(key, "at") && t == SP_JSON_NUMBER && sp_json_number(&r->j, &id)) {
            *odd = sp_parse_i64(id.p, id.p + id.n, &at) != id.n || at < 0 || at >= SP_NONE;
        } else if (sp_span_is(key, "broken") && t == SP_JSON_TRUE && sp_json_bool(&r->j, &broken)) {
            continue;
        } else if (sp_span_is(key, "inferred") && sp_read_id(r, &id)) {
            e = (struct sp_edge){0, SP_EDGE_INFERRED, sp_idmap_find(r, &r->frames, id)};
            inferred = true;
        } else {
            *odd = true;
        }
    }
    *odd = *odd || r->j.error || at < 0 || broken == inferred;
    if (*odd)
        return true;
    e.at = (uint32_t)at;
    x->missing += inferred && e.frame == SP_NONE;
    return sp_vec_push(&r->edges, e) || sp_json_fail(&r->j, "out of memory");
}

/* What is known of the calls (model/edges.h); a member of that name that says something else is kept. */
static bool read_edges(struct reader *r, struct sp_span key, struct stack_fields *x)
{
    struct sp_json before = r->j;
    uint64_t missing = x->missing;
    bool odd = sp_json_type(&r->j) != SP_JSON_ARRAY || !sp_json_array(&r->j);
    r->edges.n = 0;
    while (!odd && sp_json_item(&r->j))
        if (!read_edge(r, x, &odd))
            return false;
    x->has_edges = !odd && !r->j.error;
    if (x->has_edges)
        return true;
    before.scratch = r->j.scratch;
    r->j = before;
    x->missing = missing;
    return sp_keep_member(r, key);
}

/* They are of calls between frames that are there, in their order. */
static bool settle_edges(struct reader *r, struct stack_fields *x)
{
    struct sp_profile *p = r->p;
    bool fits = x->has_edges;
    for (size_t i = 0; fits && i < r->edges.n; i++) {
        struct sp_edge *e = &r->edges.v[i];
        bool after = !i || e->at > e[-1].at || (e->at == e[-1].at && e->kind > e[-1].kind);
        fits = after && (uint64_t)e->at + 1 < x->s.n &&
               (e->kind == SP_EDGE_BROKEN ||
                (e->frame != SP_NONE && p->frames.v[e->frame].flags & SP_FRAME_INFERRED));
        if (e->kind == SP_EDGE_BROKEN && (e->frame = sp_edge_broken_frame(p)) == SP_NONE)
            return false;
    }
    if (x->has_edges && !fits)
        sp_emit(r->d, SP_W203, sp_here(r, "x_edges"), "they are not of this stack's calls, and left out");
    x->s.edges = fits ? sp_edges_intern(p, r->edges.v, r->edges.n) : 0;
    return x->s.edges != SP_NONE;
}

static bool stack_member(struct reader *r, struct sp_span key, struct stack_fields *x, uint32_t *first)
{
    struct sp_span s;
    if (sp_span_is(key, "frames") && sp_json_type(&r->j) == SP_JSON_ARRAY)
        return read_frames(r, x);
    if (sp_span_is(key, "weights") && sp_json_type(&r->j) == SP_JSON_ARRAY)
        return sp_read_weights(r, &x->s.layout) && keep_weights(r, first);
    if (sp_span_is(key, "context") && sp_json_type(&r->j) == SP_JSON_OBJECT)
        return read_context(r, &x->s.context);
    if (sp_span_is(key, "id"))
        return sp_read_stack_id(r, &x->id);
    if (sp_span_is(key, "exclusive"))
        return read_exclusive(r, key, x);
    if (sp_span_is(key, "stack_type"))
        return read_stack_type(r, key, x);
    if (sp_span_is(key, "type"))
        return sp_json_skip(&r->j, &s);
    if (sp_span_is(key, "related_stacks"))
        return read_related(r, key, x);
    if (sp_span_is(key, "x_edges"))
        return read_edges(r, key, x);
    return sp_keep_member(r, key);
}

static bool same_values(const struct sp_value *a, const struct sp_value *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].v != b[i].v || a[i].text != b[i].text)
            return false;
    return true;
}

/* Usual: the leaf, with the stack's own weights. Everything else is kept as it was said. */
static bool settle_exclusive(struct reader *r, struct stack_fields *x, uint32_t first)
{
    struct sp_profile *p = r->p;
    const struct sp_layout *l = x->s.layout == SP_NONE ? NULL : &p->layouts.v[x->s.layout];
    x->s.exclusive = SP_EXCLUSIVE_NONE;
    if (!x->has_exclusive)
        return true;
    if (x->exclusive_frame == SP_NONE || !x->s.n || x->exclusive_frame != p->stack_frames.v[x->s.first] ||
        !x->exclusive_weights) {
        enum sp_code why = x->exclusive_frame == SP_NONE || !x->exclusive_weights ? SP_E109 : SP_E116;
        sp_emit(r->d, why, sp_here(r, "exclusive"), "it is left out");
        return true;
    }
    if (l && !x->exclusive_more && x->exclusive_layout == x->s.layout &&
        same_values(p->values.v + first, p->values.v + x->exclusive_first, l->n)) {
        x->s.exclusive = SP_EXCLUSIVE_SAME;
        return true;
    }
    struct sp_exclusive e = {x->exclusive_frame, x->exclusive_layout, x->exclusive_first, x->exclusive_more};
    if (p->exclusives.n >= SP_NONE - 2 || !sp_vec_push(&p->exclusives, e))
        return false;
    x->s.exclusive = (uint32_t)p->exclusives.n + 1;
    return true;
}

/* Values of the list at `first` into the columns of `stack`. */
static bool enter_weights(struct reader *r, uint32_t stack, const struct stack_fields *x, uint32_t first)
{
    struct sp_profile *p = r->p;
    if (x->s.layout == SP_NONE)
        return true;
    const struct sp_layout *l = &p->layouts.v[x->s.layout];
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t metric = p->layout_fields.v[l->first + i].metric;
        struct sp_value v = p->values.v[first + i];
        struct sp_column *c = &p->columns[metric];
        if (v.v == SP_DECIMAL) {
            struct sp_str t = sp_pstr(p, v.text);
            if (!sp_weight_set_text(p, stack, metric, t.p, t.n))
                return false;
        } else if (v.v == SP_ABSENT) {
            continue;
        } else if (c->n == stack && c->n < c->cap) {
            c->v[c->n++] = v.v;
        } else if (!sp_weight_set(p, stack, metric, v.v)) {
            return false;
        }
    }
    return true;
}

/* The metric that every stack of the event has: that of its first stack where the header does not say. */
static uint32_t primary_of(struct reader *r, const struct stack_fields *x)
{
    struct sp_profile *p = r->p;
    struct sp_event *e = &p->events.v[p->contexts.v[x->s.context].event];
    if (e->primary == SP_NONE && x->s.layout != SP_NONE && p->layouts.v[x->s.layout].n)
        e->primary = p->layout_fields.v[p->layouts.v[x->s.layout].first].metric;
    if (e->primary == SP_NONE)
        e->primary = sp_metric_intern(p, "samples", 7);
    return e->primary;
}

static bool metric_is_derived(const struct sp_profile *p, uint32_t metric)
{
    struct sp_str name = sp_pstr(p, p->metrics.v[metric].name);
    return sp_metric_is_derived(name.p, name.n);
}

/* One more weight behind the others: a stack counts nothing of what its record does not name. */
static bool add_zero(struct reader *r, struct stack_fields *x, uint32_t *first, uint32_t metric,
                     enum sp_code why)
{
    struct sp_profile *p = r->p;
    const struct sp_layout *l = x->s.layout == SP_NONE ? NULL : &p->layouts.v[x->s.layout];
    if (metric == SP_NONE)
        return false;
    sp_emit(r->d, why, sp_here(r, "weights"), "it counts 0 of \"%s\"",
            sp_str_cstr(&p->strs, p->metrics.v[metric].name));
    r->fields.n = r->values.n = 0;
    for (uint32_t i = 0; l && i < l->n; i++)
        if (!sp_vec_push(&r->fields, p->layout_fields.v[l->first + i]) ||
            !sp_vec_push(&r->values, p->values.v[*first + i]))
            return false;
    if (!sp_vec_push(&r->fields, ((struct sp_weight_field){metric, 0, 0})) ||
        !sp_vec_push(&r->values, ((struct sp_value){0, 0})))
        return false;
    x->s.layout = sp_layout_intern(p, r->fields.v, r->fields.n);
    return x->s.layout != SP_NONE && keep_weights(r, first);
}

/* A stack has its event's primary metric, and not only derived ones. */
static bool complete_weights(struct reader *r, struct stack_fields *x, uint32_t *first)
{
    struct sp_profile *p = r->p;
    uint32_t primary = primary_of(r, x);
    const struct sp_layout *l = x->s.layout == SP_NONE ? NULL : &p->layouts.v[x->s.layout];
    bool found = false, derived = primary != SP_NONE && metric_is_derived(p, primary);
    for (uint32_t i = 0; l && i < l->n; i++) {
        uint32_t metric = p->layout_fields.v[l->first + i].metric;
        found = found || metric == primary;
        derived = derived && metric_is_derived(p, metric);
    }
    return (found || add_zero(r, x, first, primary, SP_E115)) &&
           (!derived || add_zero(r, x, first, sp_metric_intern(p, "samples", 7), SP_E127));
}

static spaa_status add_stack(struct reader *r, struct stack_fields *x, uint32_t first)
{
    struct sp_profile *p = r->p;
    if (x->s.context == SP_NONE) {
        struct sp_context none = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = SP_NONE};
        sp_emit(r->d, SP_E109, sp_here(r, "context"), "the event is taken as [unknown]");
        if (find_unknown_event(r, &none.event))
            x->s.context = sp_context_intern(p, &none);
    }
    if (p->header.root_first)
        sp_reverse(p->stack_frames.v + x->s.first, x->s.n);
    x->s.more = sp_take_more(r);
    if (x->s.more == SP_STR_FAIL || x->s.context == SP_NONE || p->stacks.n >= SP_NONE - 1)
        return sp_nomem(r->d);
    if (x->related.n) {
        if (p->related.n >= SP_RELATED_MAX || !sp_vec_push(&p->related, x->related))
            return sp_nomem(r->d);
        x->s.related = (uint32_t)p->related.n & SP_RELATED_MAX;
    }
    if (!settle_edges(r, x) || !complete_weights(r, x, &first) || !settle_exclusive(r, x, first) ||
        !sp_vec_push(&p->stacks, x->s) || !sp_vec_push(&p->ids, x->id) ||
        !enter_weights(r, (uint32_t)p->stacks.n - 1, x, first))
        return sp_nomem(r->d);
    return SPAA_OK;
}

spaa_status sp_read_stack(struct reader *r)
{
    struct sp_profile *p = r->p;
    struct stack_fields x = {.s = {.context = SP_NONE, .layout = SP_NONE, .type = SP_UNIFIED},
                             .exclusive_frame = SP_NONE,
                             .exclusive_layout = SP_NONE};
    size_t frames = p->stack_frames.n, values = p->values.n, related = p->related_stacks.n;
    uint32_t first = 0;
    struct sp_span key;
    x.s.first = frames;
    while (sp_json_key(&r->j, &key) && stack_member(r, key, &x, &first))
        ;
    spaa_status st = sp_json_status(r);
    if (!st && x.missing && !r->deferred_pass)
        st = SPAA_ERR_NOT_FOUND; /* its frames may come later */
    if (!st && x.missing)
        sp_emit(r->d, SP_E113, sp_here(r, "frames"), "%llu of them; [unknown] stands in their place",
                (unsigned long long)x.missing);
    if (!st)
        st = add_stack(r, &x, first);
    if (st) {
        p->stack_frames.n = frames;
        p->related_stacks.n = related;
        p->related_ids.n = related;
    }
    if (st || x.s.exclusive <= SP_EXCLUSIVE_SAME)
        p->values.n = values;
    return st;
}
