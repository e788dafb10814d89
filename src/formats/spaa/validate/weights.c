/* Lists of weights: those of a stack, its exclusive ones, and those in windows. */
#include "formats/spaa/validate/fields.h"

#include "base/map.h"

#define FEW_WEIGHTS 16

unsigned sp_metric_classes(struct sp_span name)
{
    static const struct {
        const char *name;
        unsigned classes;
    } known[] = {
        {"period", SP_METRIC_PERIOD | SP_METRIC_ALLOCATION},
        {"samples", SP_METRIC_OBSERVATIONS | SP_METRIC_ALLOCATION},
        {"count", SP_METRIC_OBSERVATIONS | SP_METRIC_ALLOCATION},
        {"cpu_time_ns", SP_METRIC_CPU_TIME},
        {"alloc_bytes", SP_METRIC_ALLOCATION},
        {"alloc_count", SP_METRIC_ALLOCATION},
        {"free_bytes", SP_METRIC_ALLOCATION},
        {"free_count", SP_METRIC_ALLOCATION},
        {"live_bytes", SP_METRIC_ALLOCATION},
        {"live_count", SP_METRIC_ALLOCATION},
        {"peak_bytes", SP_METRIC_ALLOCATION},
    };
    unsigned derived = sp_metric_is_derived(name.p, name.n) ? SP_METRIC_DERIVED : 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (sp_span_is(name, known[i].name))
            return known[i].classes | derived;
    if (derived)
        return derived;
    return name.n > 2 && name.p[0] == 'x' && name.p[1] == '_' ? SP_METRIC_ALLOCATION : 0;
}

void sp_begin_weight(struct sp_validator *v)
{
    v->weight = (struct sp_weight){0};
}

void sp_check_metric(struct sp_validator *v, const struct sp_value *x)
{
    v->weight.has_metric = true;
    v->weight.metric = sp_fingerprint(x->text.p, x->text.n);
    v->weight.classes = sp_metric_classes(x->text);
    v->weight.name = x->raw;
}

void sp_check_weight_value(struct sp_validator *v, const struct sp_value *x)
{
    v->weight.value = x->raw;
    if (sp_decimal_is_negative(x->raw))
        sp_report(v, SP_W210, x->raw.p, "%.*s", SP_CLIP(x->raw));
}

static void add_weight(struct sp_validator *v, sp_weights *list, const struct sp_value *x)
{
    v->weight.raw = x->raw;
    for (size_t i = x->members; i < x->members + x->nmembers; i++) {
        struct sp_span key = v->members.v[i].name;
        v->weight.derivation |= key.p && key.n >= 10 && memmem(key.p, key.n, "derivation", 10);
    }
    if (!sp_vec_push(list, v->weight))
        v->status = sp_nomem(v->d);
}

void sp_check_stack_weight(struct sp_validator *v, const struct sp_value *x)
{
    add_weight(v, &v->stack.weights, x);
}

void sp_check_exclusive_weight(struct sp_validator *v, const struct sp_value *x)
{
    add_weight(v, &v->stack.exclusive, x);
}

void sp_check_window_weight(struct sp_validator *v, const struct sp_value *x)
{
    add_weight(v, &v->stack.weights, x);
}

/* Finds weights by metric: a scan for short lists, a map for the long ones. */
struct index {
    const sp_weights *list;
    struct sp_map map;
};

static const struct sp_weight *find(const struct index *x, struct sp_fp metric)
{
    const sp_weights *l = x->list;
    if (!x->map.slots) {
        for (size_t i = 0; i < l->n && i < FEW_WEIGHTS; i++)
            if (l->v[i].has_metric && sp_fp_equal(l->v[i].metric, metric))
                return &l->v[i];
        return NULL;
    }
    struct sp_probe at = sp_map_probe(&x->map, metric.a);
    for (uint32_t i; (i = sp_map_next(&x->map, &at)) != SP_MAP_NONE;)
        if (sp_fp_equal(l->v[i].metric, metric))
            return &l->v[i];
    return NULL;
}

/* Builds the index and reports metrics that stand twice. `path` is that of the list. */
static bool index_weights(struct sp_validator *v, struct index *x, const sp_weights *list)
{
    *x = (struct index){.list = list};
    if (list->n > FEW_WEIGHTS && !sp_map_grow(&x->map, list->n)) {
        v->status = sp_nomem(v->d);
        return false;
    }
    for (size_t i = 0; i < list->n; i++) {
        const struct sp_weight *w = &list->v[i];
        if (!w->has_metric)
            continue;
        const struct sp_weight *first = find(x, w->metric);
        if (first && first < w) {
            size_t cut = sp_path_item(v, i);
            sp_report(v, SP_W220, w->raw.p, "%.*s", SP_CLIP(w->name));
            sp_path_cut(v, cut);
        } else if (x->map.slots) {
            sp_map_add(&x->map, w->metric.a, (uint32_t)i); /* there is room */
        }
    }
    return true;
}

/* A metric that no rule knows, in an event of the allocation kinds: once per name. */
static void odd_metric(struct sp_validator *v, const struct sp_weight *w)
{
    for (size_t i = 0; i < v->odd_metrics.n; i++)
        if (sp_fp_equal(v->odd_metrics.v[i], w->metric))
            return;
    if (v->odd_metrics.n == 64)
        return;
    if (!sp_vec_push(&v->odd_metrics, w->metric))
        v->status = sp_nomem(v->d);
    sp_report(v, SP_W223, w->raw.p, "%.*s", SP_CLIP(w->name));
}

static void check_one(struct sp_validator *v, const struct sp_event *event, size_t i)
{
    const struct sp_weight *w = &v->stack.weights.v[i];
    size_t cut = sp_path_item(v, i);
    bool primary = event && event->has_primary && sp_fp_equal(w->metric, event->primary);
    if (w->value.p && sp_decimal_is_zero(w->value) &&
        (w->classes & SP_METRIC_PERIOD || (primary && w->classes & SP_METRIC_OBSERVATIONS))) {
        size_t item = sp_path_push(v, "value", 5);
        sp_report(v, SP_W203, w->value.p, "%.*s is 0", SP_CLIP(w->name));
        sp_path_cut(v, item);
    }
    if (w->classes & SP_METRIC_CPU_TIME && !w->derivation && !v->header.derivation &&
        !(event && event->derivation))
        sp_report_title(v, SP_W214, w->raw.p);
    if (event && event->allocation && !primary && !(w->classes & SP_METRIC_ALLOCATION))
        odd_metric(v, w);
    sp_path_cut(v, cut);
}

static void check_weights(struct sp_validator *v, const struct index *x, const struct sp_event *event)
{
    const sp_weights *l = x->list;
    bool derived_only = l->n > 0;
    size_t cut = sp_path_push(v, "weights", 7);
    for (size_t i = 0; i < l->n; i++) {
        derived_only &= (l->v[i].classes & SP_METRIC_DERIVED) != 0;
        if (l->v[i].has_metric)
            check_one(v, event, i);
    }
    if (derived_only)
        sp_report_title(v, SP_E127, v->stack.weights_at);
    if (event && event->has_primary && !find(x, event->primary))
        sp_report_title(v, SP_E115, v->stack.weights_at);
    sp_path_cut(v, cut);
}

/* Nothing may weigh more in the leaf than in the whole stack, and nothing should be left out. */
static void compare_exclusive(struct sp_validator *v, const struct index *all, const struct index *own)
{
    size_t cut = sp_path_push(v, "exclusive.weights", 17);
    for (size_t i = 0; i < own->list->n; i++) {
        const struct sp_weight *w = &own->list->v[i];
        if (!w->has_metric)
            continue;
        const struct sp_weight *of = find(all, w->metric);
        size_t item = sp_path_item(v, i);
        if (!of)
            sp_report(v, SP_W211, w->raw.p, "%.*s is not among the stack's weights", SP_CLIP(w->name));
        else if (w->value.p && of->value.p && sp_decimal_compare(w->value, of->value) > 0)
            sp_report(v, SP_W211, w->raw.p, "%.*s is %.*s here and %.*s for the stack", SP_CLIP(w->name),
                      SP_CLIP(w->value), SP_CLIP(of->value));
        sp_path_cut(v, item);
    }
    for (size_t i = 0; i < all->list->n; i++) {
        const struct sp_weight *w = &all->list->v[i];
        if (w->has_metric && !find(own, w->metric))
            sp_report(v, SP_W215, v->stack.exclusive_weights_at, "%.*s", SP_CLIP(w->name));
    }
    sp_path_cut(v, cut);
}

void sp_finish_weights(struct sp_validator *v, const struct sp_event *event)
{
    struct index all = {0}, own = {0};
    size_t cut = sp_path_push(v, "weights", 7);
    bool ok = index_weights(v, &all, &v->stack.weights);
    sp_path_cut(v, cut);
    if (ok && v->stack.has_weights)
        check_weights(v, &all, event);
    cut = sp_path_push(v, "exclusive.weights", 17);
    ok = ok && index_weights(v, &own, &v->stack.exclusive);
    sp_path_cut(v, cut);
    if (ok && v->stack.has_weights && v->stack.has_exclusive_weights)
        compare_exclusive(v, &all, &own);
    sp_map_free(&all.map);
    sp_map_free(&own.map);
}

void sp_begin_by_stack(struct sp_validator *v)
{
    v->stack.weights.n = 0;
}

void sp_check_by_stack(struct sp_validator *v, const struct sp_value *x)
{
    (void)x;
    struct index all;
    size_t cut = sp_path_push(v, "weights", 7);
    index_weights(v, &all, &v->stack.weights);
    sp_path_cut(v, cut);
    sp_map_free(&all.map);
}
