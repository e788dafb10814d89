/* Lists of weights: those of a stack, its exclusive ones, and those in windows. */
#include "formats/spaa/validate/fields.h"

#include "base/map.h"

#define FEW_WEIGHTS 16
#define ODD_METRICS 64 /* reported at most */

static unsigned weights_classes(struct sp_span name)
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

/* Readers have room for so many, and leave out stacks and windows that name others. */
static void weights_count_metric(struct sp_validator *v, struct sp_fp fp)
{
    struct sp_known *k = v->known;
    bool added;
    if (k->metrics.n > SP_METRICS_MAX || sp_ids_find(&k->metrics, fp) != SP_ID_NONE)
        return;
    if (v->notes) { /* who is alone counts it */
        v->notes->unsure = true;
        return;
    }
    if (sp_ids_get_fp(&k->metrics, fp, &added) == SP_ID_NONE)
        sp_out_of_memory(v);
    if (k->metrics.n <= SP_METRICS_MAX)
        return;
    k->limited = true;
    sp_emit_hint(k->d, SP_E007, SP_AT_LINE(v->line, v->offset),
                 "the file may be as it was meant; merge or rename metrics that are many of one kind",
                 "more than %u metrics: readers leave out what names a further one", SP_METRICS_MAX);
}

unsigned sp_metric_classes(struct sp_validator *v, struct sp_fp fp, struct sp_span name)
{
    struct sp_metric_seen *m = &v->metrics[fp.a % SP_METRICS_SEEN];
    if (!sp_fp_equal(m->fp, fp)) {
        *m = (struct sp_metric_seen){fp, weights_classes(name)};
        weights_count_metric(v, fp);
    }
    return m->classes;
}

void sp_begin_weight(struct sp_validator *v)
{
    v->weight = (struct sp_weight){0};
}

void sp_check_metric(struct sp_validator *v, const struct sp_checked *x)
{
    v->weight.has_metric = true;
    v->weight.metric = sp_fingerprint(x->text.p, x->text.n);
    v->weight.classes = sp_metric_classes(v, v->weight.metric, x->text);
    v->weight.name = x->raw;
}

void sp_check_weight_value(struct sp_validator *v, const struct sp_checked *x)
{
    v->weight.value = x->raw;
    if (!v->stack.changes && !v->known->header.differences && sp_decimal_is_negative(x->raw))
        sp_report(v, SP_W210, x->raw.p, "%.*s", SP_CLIP(x->raw));
}

static void weights_add(struct sp_validator *v, sp_weights *list, const struct sp_checked *x)
{
    v->weight.raw = x->raw;
    v->weight.derivation = sp_states_derivation(v, x->rec);
    if (!sp_vec_push(list, v->weight))
        sp_out_of_memory(v);
}

void sp_check_stack_weight(struct sp_validator *v, const struct sp_checked *x)
{
    weights_add(v, &v->stack.weights, x);
}

void sp_check_exclusive_weight(struct sp_validator *v, const struct sp_checked *x)
{
    weights_add(v, &v->stack.exclusive, x);
}

bool sp_exclusive_again(struct sp_validator *v, const struct sp_nested *list)
{
    const struct sp_nested *all = v->stack.weights_again;
    v->stack.exclusive_again = all && all->first == list->first && all->count == list->count;
    v->stack.exclusive_behind = v->stack.exclusive_again ? list->v.p - all->v.p : 0;
    return v->stack.exclusive_again;
}

/* The leaf's weights, where they stand as the stack's do. */
static void weights_repeat(struct sp_validator *v)
{
    for (size_t i = 0; i < v->stack.weights.n; i++) {
        struct sp_weight w = v->stack.weights.v[i];
        w.raw.p += v->stack.exclusive_behind;
        w.name.p += v->stack.exclusive_behind;
        w.value.p += v->stack.exclusive_behind;
        if (!sp_vec_push(&v->stack.exclusive, w))
            sp_out_of_memory(v);
    }
}

void sp_check_window_weight(struct sp_validator *v, const struct sp_checked *x)
{
    weights_add(v, &v->stack.weights, x);
}

/* Finds weights by metric: a scan for short lists, a map for the long ones. */
struct weights_index {
    const sp_weights *list;
    struct sp_map map;
};

static const struct sp_weight *weights_find(const struct weights_index *x, struct sp_fp metric)
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
static bool weights_build_index(struct sp_validator *v, struct weights_index *x, const sp_weights *list)
{
    *x = (struct weights_index){.list = list};
    if (list->n > FEW_WEIGHTS && !sp_map_grow(&x->map, list->n)) {
        sp_out_of_memory(v);
        return false;
    }
    for (size_t i = 0; i < list->n; i++) {
        const struct sp_weight *w = &list->v[i];
        if (!w->has_metric)
            continue;
        const struct sp_weight *first = weights_find(x, w->metric);
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
static void weights_odd_metric(struct sp_validator *v, const struct sp_weight *w)
{
    struct sp_known *k = v->known;
    for (size_t i = 0; i < k->odd_metrics.n; i++)
        if (sp_fp_equal(k->odd_metrics.v[i], w->metric))
            return;
    if (k->odd_metrics.n == ODD_METRICS)
        return;
    if (v->notes)
        v->notes->unsure = true;
    else if (!sp_vec_push(&k->odd_metrics, w->metric))
        sp_out_of_memory(v);
    sp_report(v, SP_W223, w->raw.p, "%.*s", SP_CLIP(w->name));
}

static void weights_check_one(struct sp_validator *v, const struct sp_event_rules *event, size_t i)
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
    if (w->classes & SP_METRIC_CPU_TIME && !w->derivation && !v->known->header.derivation &&
        !(event && event->derivation))
        sp_report_title(v, SP_W214, w->raw.p);
    if (event && event->allocation && !primary && !(w->classes & SP_METRIC_ALLOCATION))
        weights_odd_metric(v, w);
    sp_path_cut(v, cut);
}

static void weights_check(struct sp_validator *v, const struct weights_index *x,
                          const struct sp_event_rules *event, const char *at)
{
    const sp_weights *l = x->list;
    bool derived_only = l->n > 0;
    size_t cut = sp_path_push(v, "weights", 7);
    for (size_t i = 0; i < l->n; i++) {
        derived_only &= (l->v[i].classes & SP_METRIC_DERIVED) != 0;
        if (l->v[i].has_metric)
            weights_check_one(v, event, i);
    }
    if (derived_only)
        sp_report_title(v, SP_E127, at);
    if (event && event->has_primary && !weights_find(x, event->primary))
        sp_report_title(v, SP_E115, at);
    sp_path_cut(v, cut);
}

/* Nothing may weigh more in the leaf than in the whole stack, and nothing should be left out. */
static void weights_compare_exclusive(struct sp_validator *v, const struct weights_index *all,
                                      const struct weights_index *own, const char *at)
{
    size_t cut = sp_path_push(v, "exclusive.weights", 17);
    for (size_t i = 0; i < own->list->n; i++) {
        const struct sp_weight *w = &own->list->v[i];
        if (!w->has_metric)
            continue;
        const struct sp_weight *of = weights_find(all, w->metric);
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
        if (w->has_metric && !weights_find(own, w->metric))
            sp_report(v, SP_W215, at, "%.*s", SP_CLIP(w->name));
    }
    sp_path_cut(v, cut);
}

void sp_finish_weights(struct sp_validator *v, const struct sp_rec *rec, const struct sp_event_rules *event)
{
    const struct sp_nested *weights = sp_field_nested(v, rec, SP_F_STACK_weights),
                           *exclusive = sp_field_nested(v, rec, SP_F_STACK_exclusive), *own_weights = NULL;
    struct weights_index all = {0}, own = {0};
    if (exclusive)
        own_weights = sp_field_nested(v, sp_rec_any(&v->decoder, SP_T_EXCLUSIVE, exclusive->first),
                                      SP_F_EXCLUSIVE_weights);
    size_t cut = sp_path_push(v, "weights", 7);
    uint64_t findings = v->findings;
    bool ok = weights_build_index(v, &all, &v->stack.weights), once = v->findings == findings;
    sp_path_cut(v, cut);
    if (ok && weights)
        weights_check(v, &all, event, weights->v.p);
    if (v->stack.exclusive_again && once) { /* each metric once, and equal */
        sp_map_free(&all.map);
        return;
    }
    if (v->stack.exclusive_again)
        weights_repeat(v);
    cut = sp_path_push(v, "exclusive.weights", 17);
    ok = ok && weights_build_index(v, &own, &v->stack.exclusive);
    sp_path_cut(v, cut);
    if (ok && weights && own_weights)
        weights_compare_exclusive(v, &all, &own, own_weights->v.p);
    sp_map_free(&all.map);
    sp_map_free(&own.map);
}

void sp_begin_by_stack(struct sp_validator *v)
{
    v->stack.weights.n = 0;
    v->stack.changes = true;
}

void sp_check_by_stack(struct sp_validator *v, const struct sp_checked *x)
{
    (void)x;
    struct weights_index all;
    size_t cut = sp_path_push(v, "weights", 7);
    weights_build_index(v, &all, &v->stack.weights);
    sp_path_cut(v, cut);
    sp_map_free(&all.map);
}
