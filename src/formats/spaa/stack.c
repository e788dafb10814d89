/*
 * Stack records of a SPAA file: most of its bytes.
 *
 * What their contexts say, and what their weights are called, repeats from record to record: texts that were
 * seen before are known again instead of being looked at member by member.
 */
#include "formats/spaa/facts.h"

#include "base/hash.h"
#include "base/num.h"
#include "model/edges.h"
#include "model/labels.h"
#include "json/find.h"

static struct sp_span stack_keep_text(struct reader *r, struct sp_span s)
{
    char *t = sp_arena_dup(&r->texts, s.p, s.n);
    return (struct sp_span){t, t ? s.n : 0};
}

static bool stack_same_text(struct sp_span a, struct sp_span b)
{
    return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* ---- context ---- */

/* An event that the header should have declared. What it counts is not known: its first stack says. */
static bool stack_declare(struct reader *r, const char *name, size_t n, uint32_t *event)
{
    struct sp_event e = {.kind = SP_SOFTWARE, .mode = SP_EVENT, .primary = SP_NONE};
    e.name = sp_profile_str(r->p, name, n);
    *event = e.name == SP_STR_FAIL ? SP_NONE : sp_event_add(r->p, &e);
    return *event != SP_NONE || sp_no_memory(r);
}

static bool stack_unknown_event(struct reader *r, uint32_t *event)
{
    *event = sp_event_find(r->p, "[unknown]", 9);
    return *event != SP_NONE || stack_declare(r, "[unknown]", 9, event);
}

static bool stack_event(struct reader *r, const struct sp_token *v, uint32_t *event)
{
    struct sp_span name = sp_token_text(v, &r->text);
    if (!name.p)
        return sp_no_memory(r);
    *event = sp_event_find(r->p, name.p, name.n);
    if (*event != SP_NONE)
        return true;
    sp_emit(r->d, SP_E114, sp_here(r, "context.event"), "\"%.*s\" is declared when written",
            (int)(name.n < 200 ? name.n : 200), name.p);
    return stack_declare(r, name.p, name.n, event);
}

/* Labels of a member, if it is an object; it has no other place then. */
static bool stack_labels_of(struct reader *r, const struct sp_rec *rec, const char *name,
                            struct sp_label_list *out)
{
    struct sp_odd *o = sp_own(r, rec, name);
    if (!o || o->value.kind != SP_JSON_OBJECT)
        return true;
    struct sp_span raw = sp_clean_text(r, &o->value), inner;
    if (!raw.p)
        return false;
    bool taken = true, ok = true;
    if (strcmp(name, "x_labels") == 0) {
        ok = sp_labels_parse(r->p, raw, 0, out);
    } else { /* {"labels":{…}}: where our files once had them */
        struct sp_buf b;
        sp_buf_init(&b, 0);
        ok = sp_json_minify(&b, raw);
        taken = ok && sp_json_find((struct sp_span){b.data, b.len}, "labels", &inner) && *inner.p == '{' &&
                inner.n + strlen("{\"labels\":}") == b.len;
        ok = ok && (!taken || sp_labels_parse(r->p, inner, 0, out));
        sp_buf_free(&b);
    }
    o->what |= taken ? SP_ODD_USED : 0;
    return ok || sp_no_memory(r);
}

/* Labels of their own, and fields of tracepoints, which stay among the other members, too. */
static bool stack_labels(struct reader *r, const struct sp_rec *rec, struct sp_context *c, size_t kept)
{
    struct sp_label_list list = {0};
    bool ok = !rec->unknown || (stack_labels_of(r, rec, "x_labels", &list) &&
                                (list.list.n || stack_labels_of(r, rec, "x_pprof", &list)));
    ok = ok && sp_extra(r, rec, SP_T_CONTEXT, kept, &c->extra_json);
    struct sp_str more = sp_pstr(r->p, ok ? c->extra_json : SP_STR_NONE);
    ok = ok && (sp_labels_members(r->p, (struct sp_span){more.p, more.n}, &list) || sp_no_memory(r));
    c->labels = ok ? sp_labels_intern(r->p, list.list.v, list.list.n) : 0;
    sp_vec_free(&list.list);
    return ok && (c->labels != SP_NONE || sp_no_memory(r));
}

/* A context that was not seen before. */
static bool stack_new_context(struct reader *r, const struct sp_rec_CONTEXT *x, uint32_t *out)
{
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = SP_NONE};
    size_t kept = r->kept.n;
    if ((x->event.p && !stack_event(r, &x->event, &c.event)) ||
        (x->pid.p && !sp_take_i64(r, "pid", &x->pid, &c.pid)) ||
        (x->tid.p && !sp_take_i64(r, "tid", &x->tid, &c.tid)) ||
        (x->cpu.p && !sp_take_i64(r, "cpu", &x->cpu, &c.cpu)) ||
        (x->comm.p && !sp_take_str(r, &x->comm, &c.comm)) ||
        !sp_keep_fields(r, &x->h, SP_T_CONTEXT, SP_POSITION(CONTEXT, probe),
                        SP_POSITION(CONTEXT, trace_fields)) ||
        !sp_take_own_str(r, &x->h, "x_state", &c.state) ||
        !sp_take_own_str(r, &x->h, "x_source", &c.source) ||
        !sp_take_raw_hex(r, &x->h, &(struct raw_field){"comm", &c.comm}, 1) ||
        !stack_labels(r, &x->h, &c, kept) || !sp_facts_of_context(r, &c))
        return false;
    if (c.event == SP_NONE) {
        sp_emit(r->d, SP_E109, sp_here(r, "context.event"), "taken as [unknown]");
        if (!stack_unknown_event(r, &c.event))
            return false;
    }
    *out = sp_context_intern(r->p, &c);
    return *out != SP_NONE || sp_no_memory(r);
}

static bool stack_find_context(const struct reader *r, struct sp_span raw, uint64_t hash,
                               struct context_text *out)
{
    struct sp_probe at = sp_map_probe(&r->context_map, hash);
    for (uint32_t i; (i = sp_map_next(&r->context_map, &at)) != SP_MAP_NONE;)
        if (stack_same_text(r->contexts.v[i].raw, raw)) {
            *out = r->contexts.v[i];
            return true;
        }
    return false;
}

/* Nothing in the text is wrong with its form. */
static bool stack_plain(const struct reader *r, struct sp_span raw)
{
    for (uint32_t i = r->l->plain ? r->l->odd_end : r->l->odd_first; i < r->l->odd_end; i++) {
        const struct sp_odd *o = &r->dec->odd.v[i];
        if (o->what & ~(unsigned)(SP_ODD_UNKNOWN | SP_ODD_USED) && o->value.p >= raw.p &&
            o->value.p < raw.p + raw.n)
            return false;
    }
    return true;
}

static bool stack_context(struct reader *r, const struct sp_nested *v, uint32_t *out)
{
    struct sp_span raw = sp_token_raw(&v->v);
    struct context_text found;
    if (stack_same_text(r->recent.raw, raw)) {
        *out = r->recent.context;
        return true;
    }
    uint64_t hash = sp_hash_key(raw.p, raw.n);
    if (!stack_find_context(r, raw, hash, &found)) {
        if (!stack_new_context(r, sp_rec_CONTEXT(r->dec, v->first), out))
            return false;
        if (!stack_plain(r, raw)) /* its text is no other context's */
            return true;
        found = (struct context_text){stack_keep_text(r, raw), *out};
        if (!found.raw.p || !sp_map_add(&r->context_map, hash, (uint32_t)r->contexts.n) ||
            !sp_vec_push(&r->contexts, found))
            return sp_no_memory(r);
    }
    r->recent = found;
    *out = found.context;
    return true;
}

/* ---- weights ---- */

bool sp_metric_named(struct reader *r, const struct sp_token *name, uint32_t *out)
{
    struct sp_span s = sp_token_text(name, &r->text);
    *out = s.p ? sp_metric_intern(r->p, s.p, s.n) : SP_NONE;
    if (*out != SP_NONE)
        return true;
    return s.p && r->p->metrics.n >= SP_METRICS_MAX
               ? sp_fault_limit(r, "more than 256 metrics: what names a further one is left out")
               : sp_no_memory(r);
}

static struct sp_span stack_unit_text(const struct sp_rec_WEIGHT *w)
{
    return w->unit.p ? sp_token_raw(&w->unit) : (struct sp_span){NULL, 0};
}

static bool stack_layout_fits(const struct known_layout *k, const struct sp_rec_WEIGHT *w, uint32_t n)
{
    if (k->n != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct sp_span unit = stack_unit_text(&w[i]);
        if (w[i].h.odd != SP_ODD_END || !w[i].metric.p || !w[i].value.p ||
            !stack_same_text(sp_token_raw(&w[i].metric), k->metric[i]) || !unit.p != !k->unit[i].p ||
            (unit.p && !stack_same_text(unit, k->unit[i])))
            return false;
    }
    return true;
}

static const struct known_layout *stack_known_layout(struct reader *r, const struct sp_rec_WEIGHT *w,
                                                     uint32_t n)
{
    for (unsigned i = 0; i < r->nlayouts; i++) {
        unsigned slot = (r->last_layout + i) % r->nlayouts;
        if (stack_layout_fits(&r->layouts[slot], w, n)) {
            r->last_layout = slot;
            return &r->layouts[slot];
        }
    }
    return NULL;
}

/* Lists of a few weights with all they need and nothing else are known again. */
static void stack_learn_layout(struct reader *r, const struct sp_rec_WEIGHT *w, uint32_t n, uint32_t layout)
{
    struct known_layout k = {.layout = layout, .n = n};
    if (!n || n > KNOWN_WEIGHTS)
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct sp_span unit = stack_unit_text(&w[i]);
        if (w[i].h.odd != SP_ODD_END || !w[i].metric.p || !w[i].value.p)
            return;
        k.metric[i] = stack_keep_text(r, sp_token_raw(&w[i].metric));
        if (unit.p)
            k.unit[i] = stack_keep_text(r, unit);
        if (!k.metric[i].p || (unit.p && !k.unit[i].p))
            return; /* it is read in full next time */
    }
    unsigned slot = r->next_layout++ % KNOWN_LAYOUTS;
    r->layouts[slot] = k;
    if (r->nlayouts < KNOWN_LAYOUTS)
        r->nlayouts++;
    r->last_layout = slot;
}

static bool stack_new_layout(struct reader *r, const struct sp_rec_WEIGHT *w, uint32_t n,
                             weight_values *values, uint32_t *layout)
{
    r->fields.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct sp_weight_field f = {SP_NONE, 0, 0};
        struct sp_value v;
        size_t kept = r->kept.n;
        if (w[i].h.kind != SP_JSON_OBJECT)
            continue;
        if ((w[i].metric.p && !sp_metric_named(r, &w[i].metric, &f.metric)) ||
            (w[i].unit.p && !sp_take_str(r, &w[i].unit, &f.unit)) ||
            (w[i].value.p && !sp_take_value(r, &w[i].value, &v)) ||
            !sp_extra(r, &w[i].h, SP_T_WEIGHT, kept, &f.extra_json))
            return false;
        if (f.metric == SP_NONE || !w[i].value.p)
            sp_emit(r->d, SP_E109, sp_here(r, f.metric == SP_NONE ? "weights.metric" : "weights.value"),
                    "the weight is skipped");
        else if (!sp_vec_push(values, v) || !sp_vec_push(&r->fields, f))
            return sp_no_memory(r);
    }
    *layout = sp_layout_intern(r->p, r->fields.v, r->fields.n);
    if (*layout == SP_NONE)
        return sp_no_memory(r);
    stack_learn_layout(r, w, n, *layout);
    return true;
}

bool sp_take_weights(struct reader *r, const struct sp_nested *list, weight_values *values, uint32_t *layout)
{
    const struct sp_rec_WEIGHT *w = sp_rec_WEIGHT(r->dec, list->first);
    const struct known_layout *known = stack_known_layout(r, w, list->count);
    values->n = 0;
    if (!known)
        return stack_new_layout(r, w, list->count, values, layout);
    *layout = known->layout;
    if (!sp_vec_reserve(values, KNOWN_WEIGHTS))
        return sp_no_memory(r);
    for (uint32_t i = 0; i < list->count; i++)
        if (!sp_take_value(r, &w[i].value, &values->v[i]))
            return false;
    values->n = list->count;
    return true;
}

bool sp_push_values(struct reader *r, const weight_values *values, uint32_t *first)
{
    struct sp_profile *p = r->p;
    *first = (uint32_t)p->values.n;
    if (p->values.n + values->n >= SP_NONE)
        return sp_fault_limit(r, "too many weights: what has further ones is left out");
    for (size_t i = 0; i < values->n; i++)
        if (!sp_vec_push(&p->values, values->v[i]))
            return sp_no_memory(r);
    return true;
}

/* ---- the record ---- */

struct stack_fields {
    struct sp_stack s;
    struct sp_stack_id id;
    uint32_t exclusive_frame; /* SP_NONE: none stated */
    bool has_exclusive, exclusive_weights;
    uint32_t exclusive_layout, exclusive_more;
    struct sp_linked related;
    uint64_t missing; /* frames that are not (yet) defined */
    bool has_edges;   /* in r->edges */
};

static bool stack_frames(struct reader *r, const struct sp_nested *list, struct stack_fields *x)
{
    const uint32_t *ids = r->dec->ids.v + list->first;
    r->stack_frames.n = 0;
    if (!sp_vec_reserve(&r->stack_frames, list->count))
        return sp_no_memory(r);
    uint32_t *to = r->stack_frames.v;
    for (uint32_t i = 0; i < list->count; i++) {
        to[i] = sp_idmap_small(&r->frames, ids[i]);
        if (to[i] != SP_NONE)
            continue;
        if (!sp_idmap_find_item(r, &r->frames, ids[i], &to[i]))
            return false;
        if (to[i] != SP_NONE)
            continue;
        x->missing++; /* unknown, in its place */
        if ((to[i] = r->deferred_pass ? sp_missing_frame(r) : 0) == SP_NONE)
            return sp_no_memory(r);
    }
    r->stack_frames.n = list->count;
    return true;
}

static bool stack_exclusive(struct reader *r, const struct sp_nested *v, struct stack_fields *x)
{
    const struct sp_rec_EXCLUSIVE *e = sp_rec_EXCLUSIVE(r->dec, v->first);
    x->has_exclusive = true;
    x->exclusive_weights = e->weights.v.p != NULL;
    return (!e->frame.p || sp_idmap_find_token(r, &r->frames, &e->frame, &x->exclusive_frame)) &&
           (!e->weights.v.p || sp_take_weights(r, &e->weights, &r->own, &x->exclusive_layout)) &&
           sp_extra(r, &e->h, SP_T_EXCLUSIVE, r->kept.n, &x->exclusive_more);
}

static bool stack_related_item(struct reader *r, uint32_t item, struct stack_fields *x)
{
    char digits[20];
    struct sp_token small = {digits, 0, SP_JSON_NUMBER, false};
    const struct sp_token *v = item & SP_ID_OTHER ? &r->dec->other_ids.v[item & ~SP_ID_OTHER] : &small;
    struct sp_profile *p = r->p;
    struct sp_stack_id id;
    if (v->kind != SP_JSON_NUMBER && v->kind != SP_JSON_STRING) {
        sp_emit(r->d, SP_E110, sp_here(r, "related_stacks"), "an item that is no id is left out");
        return true;
    }
    if (v == &small)
        small.n = (uint32_t)sp_u64_text(item, digits);
    if (!sp_take_stack_id(r, v, &id))
        return false;
    if (p->linked_stacks.n >= SP_NONE - 1 || !sp_vec_push(&p->linked_stacks, SP_NONE) ||
        !sp_vec_push(&p->linked_ids, id))
        return sp_no_memory(r);
    x->related.n++;
    return true;
}

static bool stack_related(struct reader *r, const struct sp_nested *list, struct stack_fields *x)
{
    x->related.first = (uint32_t)r->p->linked_stacks.n;
    for (uint32_t i = 0; i < list->count; i++)
        if (!stack_related_item(r, r->dec->ids.v[list->first + i], x))
            return false;
    return true;
}

static bool stack_type(struct reader *r, const struct sp_token *v, struct stack_fields *x)
{
    struct sp_span s = sp_token_text(v, &r->text);
    if (!s.p)
        return sp_no_memory(r);
    int t = sp_name_index(sp_stack_type_names, s.p, s.n);
    if (t < 0)
        sp_emit(r->d, SP_W203, sp_here(r, "stack_type"), "taken as unified");
    x->s.type = (unsigned)(t < 0 ? SP_UNIFIED : t) & 3u;
    return true;
}

static bool stack_edge_frame(struct reader *r, struct sp_span *out)
{
    return sp_json_type(&r->j) == SP_JSON_NUMBER ? sp_json_number(&r->j, out)
                                                 : sp_json_string_value(&r->j, out);
}

/* One object of x_edges; *odd: it is none of ours. */
static bool stack_edge(struct reader *r, struct stack_fields *x, bool *odd)
{
    struct sp_edge e = {0, SP_EDGE_BROKEN, SP_NONE};
    struct sp_span key, id;
    bool broken = false, inferred = false;
    int64_t at = SP_ABSENT;
    if (sp_json_type(&r->j) != SP_JSON_OBJECT || !sp_json_object(&r->j)) {
        *odd = true;
        return true;
    }
    while (!*odd && sp_json_key(&r->j, &key)) {
        enum sp_json_type t = sp_json_type(&r->j);
        if (sp_span_is(key, "at") && t == SP_JSON_NUMBER && sp_json_number(&r->j, &id)) {
            *odd = sp_parse_i64(id.p, id.p + id.n, &at) != id.n || at < 0 || at >= SP_NONE;
        } else if (sp_span_is(key, "broken") && t == SP_JSON_TRUE && sp_json_bool(&r->j, &broken)) {
            continue;
        } else if (sp_span_is(key, "inferred") && stack_edge_frame(r, &id)) {
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
    return sp_vec_push(&r->edges, e) || sp_no_memory(r);
}

/* What is known of the calls (model/edges.h); a member of that name that says something else is kept. */
static bool stack_edges(struct reader *r, const struct sp_rec *rec, struct stack_fields *x)
{
    struct sp_odd *o = rec->unknown ? sp_own(r, rec, "x_edges") : NULL;
    uint64_t missing = x->missing;
    if (!o || o->value.kind != SP_JSON_ARRAY)
        return true;
    struct sp_span raw = sp_clean_text(r, &o->value);
    bool odd = false;
    if (!raw.p)
        return false;
    sp_json_reset(&r->j, raw.p, raw.n);
    sp_json_array(&r->j);
    r->edges.n = 0;
    while (!odd && sp_json_item(&r->j))
        if (!stack_edge(r, x, &odd))
            return false;
    x->has_edges = !odd && !r->j.error;
    if (x->has_edges)
        o->what |= SP_ODD_USED;
    else
        x->missing = missing;
    return true;
}

/* They are of calls between frames that are there, in their order. */
static bool stack_settle_edges(struct reader *r, struct stack_fields *x)
{
    struct sp_profile *p = r->p;
    bool fits = x->has_edges;
    for (size_t i = 0; fits && i < r->edges.n; i++) {
        struct sp_edge *e = &r->edges.v[i];
        bool after = !i || e->at > e[-1].at || (e->at == e[-1].at && e->kind > e[-1].kind);
        fits = after && (uint64_t)e->at + 1 < r->stack_frames.n &&
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

static bool stack_same_values(const struct sp_value *a, const struct sp_value *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].v != b[i].v || a[i].text != b[i].text)
            return false;
    return true;
}

/* Mostly the leaf, with the stack's own weights. Everything else is kept as it was said. */
static bool stack_settle_exclusive(struct reader *r, struct stack_fields *x)
{
    struct sp_profile *p = r->p;
    x->s.exclusive = SP_EXCLUSIVE_NONE;
    if (!x->has_exclusive)
        return true;
    if (x->exclusive_frame == SP_NONE || !r->stack_frames.n || x->exclusive_frame != r->stack_frames.v[0] ||
        !x->exclusive_weights) {
        enum sp_code why = x->exclusive_frame == SP_NONE || !x->exclusive_weights ? SP_E109 : SP_E116;
        sp_emit(r->d, why, sp_here(r, "exclusive"), "it is left out");
        return true;
    }
    if (x->s.layout != SP_NONE && !x->exclusive_more && x->exclusive_layout == x->s.layout &&
        stack_same_values(r->values.v, r->own.v, p->layouts.v[x->s.layout].n)) {
        x->s.exclusive = SP_EXCLUSIVE_SAME;
        return true;
    }
    struct sp_exclusive e = {x->exclusive_frame, x->exclusive_layout, 0, x->exclusive_more};
    if (!sp_push_values(r, &r->own, &e.first))
        return false;
    if (p->exclusives.n >= SP_NONE - 2 || !sp_vec_push(&p->exclusives, e))
        return sp_no_memory(r);
    x->s.exclusive = (uint32_t)p->exclusives.n + 1;
    return true;
}

/* The weights into the columns of `stack`. */
static bool stack_enter_weights(struct reader *r, uint32_t stack, uint32_t layout)
{
    struct sp_profile *p = r->p;
    if (layout == SP_NONE)
        return true;
    const struct sp_layout *l = &p->layouts.v[layout];
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t metric = p->layout_fields.v[l->first + i].metric;
        struct sp_value v = r->values.v[i];
        struct sp_column *c = &p->columns[metric];
        if (v.v == SP_DECIMAL) {
            struct sp_str t = sp_pstr(p, v.text);
            if (!sp_weight_set_text(p, stack, metric, t.p, t.n))
                return false;
        } else if (c->n == stack && c->n < c->cap) {
            c->v[c->n++] = v.v;
        } else if (!sp_weight_set(p, stack, metric, v.v)) {
            return false;
        }
    }
    return true;
}

/* The metric that every stack of the event has: that of its first stack where the header does not say. */
static uint32_t stack_primary(struct reader *r, const struct stack_fields *x)
{
    struct sp_profile *p = r->p;
    struct sp_event *e = &p->events.v[p->contexts.v[x->s.context].event];
    if (e->primary == SP_NONE && x->s.layout != SP_NONE && p->layouts.v[x->s.layout].n)
        e->primary = p->layout_fields.v[p->layouts.v[x->s.layout].first].metric;
    if (e->primary == SP_NONE)
        e->primary = sp_metric_intern(p, "samples", 7);
    return e->primary;
}

static bool stack_metric_is_derived(const struct sp_profile *p, uint32_t metric)
{
    struct sp_str name = sp_pstr(p, p->metrics.v[metric].name);
    return sp_metric_is_derived(name.p, name.n);
}

/* One more weight behind the others: a stack counts nothing of what its record does not name. */
static bool stack_add_zero(struct reader *r, struct stack_fields *x, uint32_t metric, enum sp_code why)
{
    struct sp_profile *p = r->p;
    const struct sp_layout *l = x->s.layout == SP_NONE ? NULL : &p->layouts.v[x->s.layout];
    if (metric == SP_NONE)
        return false;
    sp_emit(r->d, why, sp_here(r, "weights"), "it counts 0 of \"%s\"",
            sp_str_cstr(&p->strs, p->metrics.v[metric].name));
    r->fields.n = 0;
    for (uint32_t i = 0; l && i < l->n; i++)
        if (!sp_vec_push(&r->fields, p->layout_fields.v[l->first + i]))
            return false;
    if (!l)
        r->values.n = 0;
    if (!sp_vec_push(&r->fields, ((struct sp_weight_field){metric, 0, 0})) ||
        !sp_vec_push(&r->values, ((struct sp_value){0, 0})))
        return false;
    x->s.layout = sp_layout_intern(p, r->fields.v, r->fields.n);
    return x->s.layout != SP_NONE;
}

/* A stack has its event's primary metric, and not only derived ones. */
static bool stack_complete_weights(struct reader *r, struct stack_fields *x)
{
    struct sp_profile *p = r->p;
    uint32_t primary = stack_primary(r, x);
    const struct sp_layout *l = x->s.layout == SP_NONE ? NULL : &p->layouts.v[x->s.layout];
    bool found = false, derived = primary != SP_NONE && stack_metric_is_derived(p, primary);
    for (uint32_t i = 0; l && i < l->n; i++) {
        uint32_t metric = p->layout_fields.v[l->first + i].metric;
        found = found || metric == primary;
        derived = derived && stack_metric_is_derived(p, metric);
    }
    return (found || stack_add_zero(r, x, primary, SP_E115)) &&
           (!derived || stack_add_zero(r, x, sp_metric_intern(p, "samples", 7), SP_E127));
}

static void stack_reverse(uint32_t *f, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t t = f[i];
        f[i] = f[n - 1 - i];
        f[n - 1 - i] = t;
    }
}

/* What the record says besides its frames and weights. */
static bool stack_settle(struct reader *r, const struct sp_rec *rec, struct stack_fields *x, size_t kept)
{
    struct sp_profile *p = r->p;
    if (x->s.context == SP_NONE) {
        struct sp_context none = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT, .event = SP_NONE};
        sp_emit(r->d, SP_E109, sp_here(r, "context"), "the event is taken as [unknown]");
        if (!stack_unknown_event(r, &none.event) || (x->s.context = sp_context_intern(p, &none)) == SP_NONE)
            return sp_no_memory(r);
    }
    if (p->header.root_first)
        stack_reverse(r->stack_frames.v, r->stack_frames.n);
    if (!sp_extra(r, rec, SP_T_STACK, kept, &x->s.extra_json))
        return false;
    if (x->related.n) {
        if (p->linked.n >= SP_LINKED_MAX || !sp_vec_push(&p->linked, x->related))
            return sp_no_memory(r);
        x->s.linked = (uint32_t)p->linked.n & SP_LINKED_MAX;
    }
    return (stack_settle_edges(r, x) && stack_complete_weights(r, x)) || sp_no_memory(r);
}

static bool stack_append(struct reader *r, struct stack_fields *x)
{
    struct sp_profile *p = r->p;
    uint32_t n;
    if (!stack_settle_exclusive(r, x))
        return false;
    if (!sp_vec_reserve(&p->ids, p->ids.n + 1) ||
        (n = sp_stack_append(p, r->stack_frames.v, r->stack_frames.n, x->s.context,
                             (enum sp_stack_type)x->s.type)) == SP_NONE)
        return sp_no_memory(r);
    struct sp_stack *s = &p->stacks.v[n];
    s->layout = x->s.layout;
    s->exclusive = x->s.exclusive;
    s->extra_json = x->s.extra_json;
    s->linked = x->s.linked;
    s->edges = x->s.edges;
    p->ids.v[p->ids.n++] = x->id;
    return stack_enter_weights(r, n, x->s.layout) || sp_no_memory(r);
}

static bool stack_take_fields(struct reader *r, const struct sp_rec_STACK *in, struct stack_fields *x)
{
    return (!in->id.p || sp_take_stack_id(r, &in->id, &x->id)) &&
           (!in->frames.v.p || stack_frames(r, &in->frames, x)) &&
           (!in->stack_type.p || stack_type(r, &in->stack_type, x)) &&
           (!in->context.v.p || stack_context(r, &in->context, &x->s.context)) &&
           (!in->weights.v.p || sp_take_weights(r, &in->weights, &r->values, &x->s.layout)) &&
           (!in->exclusive.v.p || stack_exclusive(r, &in->exclusive, x)) &&
           (!in->related_stacks.v.p || stack_related(r, &in->related_stacks, x)) && stack_edges(r, &in->h, x);
}

spaa_status sp_take_stack(struct reader *r, const struct sp_rec_STACK *in)
{
    struct sp_profile *p = r->p;
    struct stack_fields x = {.s = {.context = SP_NONE, .layout = SP_NONE, .type = SP_UNIFIED},
                             .exclusive_frame = SP_NONE,
                             .exclusive_layout = SP_NONE};
    size_t related = p->linked_stacks.n, values = p->values.n, kept = r->kept.n;
    spaa_status st = SPAA_ERR_INPUT;
    r->values.n = r->own.n = r->stack_frames.n = 0;
    if (stack_take_fields(r, in, &x)) {
        if (x.missing && !r->deferred_pass)
            st = SPAA_ERR_NOT_FOUND; /* its frames may come later */
        else if (x.missing)
            sp_emit(r->d, SP_E113, sp_here(r, "frames"), "%llu of them; [unknown] stands in their place",
                    (unsigned long long)x.missing);
        if (st != SPAA_ERR_NOT_FOUND && stack_settle(r, &in->h, &x, kept) && stack_append(r, &x))
            return SPAA_OK;
    }
    p->linked_stacks.n = p->linked_ids.n = related;
    p->values.n = values;
    return st == SPAA_ERR_NOT_FOUND ? st : r->st;
}
