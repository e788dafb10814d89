#include "analysis/leaks.h"

#include "analysis/heap_weights.h"
#include "analysis/leaks_private.h"
#include "analysis/names.h"
#include "analysis/stacks.h"
#include "model/identity.h"
#include "model/memory_doubts.h"

#include <stdlib.h>

/* ---- what it is about ---- */

/* The words of answers, where the profile has no metric of that name. */
static const char *metric_of_word(const struct sp_profile *p, const char *word)
{
    static const struct {
        const char *word;
        enum sp_leak_metric metric;
    } words[] = {{"live", SP_LEAK_LIVE_BYTES},       {"blocks", SP_LEAK_LIVE_COUNT},
                 {"allocated", SP_LEAK_ALLOC_BYTES}, {"calls", SP_LEAK_ALLOC_COUNT},
                 {"temporary", SP_LEAK_TEMPORARY},   {"peak", SP_LEAK_PEAK_BYTES}};
    if (word && sp_metric_find(p, word, strlen(word)) == SP_NONE)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strcmp(word, words[i].word) == 0)
                return sp_leak_metric_names[words[i].metric];
    return word;
}

spaa_status sp_leaks_choose(const struct sp_profile *p, struct sp_select_opts *o, struct sp_diags *d)
{
    static const char *const wanted[] = {"live_bytes", "live_count", "alloc_bytes", "alloc_count", NULL};
    if (o->event && sp_event_find(p, o->event, strlen(o->event)) == SP_NONE)
        return SPAA_OK; /* the selection says so */
    const char *word = o->metric;
    o->metric = metric_of_word(p, word);
    if (o->metric != word && sp_metric_find(p, o->metric, strlen(o->metric)) == SP_NONE) {
        sp_emit_hint(d, SP_E031, SP_AT_NOTHING,
                     "heaptrack records calls, temporary allocations and the peak, massif the peak",
                     "%s (%s), which this file does not know", word, o->metric);
        return SPAA_ERR_NOT_FOUND;
    }
    for (int i = 0; wanted[i]; i++) {
        for (uint32_t e = 0; e < p->events.n; e++) {
            struct sp_str name = sp_pstr(p, p->events.v[e].name);
            if ((o->event && !sp_str_is(name, o->event)) || sp_event_metric(p, e, wanted[i]) == SP_NONE)
                continue;
            o->event = name.p;
            o->metric = o->metric ? o->metric : wanted[i];
            return SPAA_OK;
        }
    }
    if (!p->stacks.n && !o->event) {
        sp_emit_hint(
            d, SP_E758, SP_AT_NOTHING,
            "a profile of a time (`?seconds=…`) has only what was allocated in it: record longer, or "
            "ask for the heap as it is",
            "the profile is empty: it has no sample");
        return SPAA_ERR_USAGE;
    }
    sp_emit(d, SP_E758, SP_AT_NOTHING, "%s%s", o->event ? "event " : "",
            o->event ? o->event : "no event of the profile is of it");
    return SPAA_ERR_USAGE;
}

/* ---- what it takes ---- */

static enum sp_leak_metric leaks_rank_of(const struct sp_leak_builder *b)
{
    struct sp_str name = sp_pstr(b->s->profile, b->s->profile->metrics.v[b->s->metric].name);
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        if (sp_str_is(name, sp_leak_metric_names[m]))
            return (enum sp_leak_metric)m;
    return SP_LEAK_METRICS;
}

/* Inputs may know a DSO by different paths and build-ids: functions are the same by their names. */
static bool find_alike(struct sp_leak_builder *b)
{
    const struct sp_profile *p = b->s->profile;
    struct sp_map map = {0};
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->functions.n; i++) {
        const struct sp_function *f = &p->functions.v[i];
        uint64_t hash = sp_function_hash(p, i);
        struct sp_str dso = sp_base_name(sp_pstr(p, p->dsos.v[f->dso].name));
        struct sp_probe at = sp_map_probe(&map, hash);
        b->alike[i] = SP_NONE;
        for (uint32_t k; b->alike[i] == SP_NONE && (k = sp_map_next(&map, &at)) != SP_MAP_NONE;) {
            const struct sp_function *g = &p->functions.v[k];
            if (g->name == f->name && sp_str_cmp(sp_base_name(sp_pstr(p, p->dsos.v[g->dso].name)), dso) == 0)
                b->alike[i] = k;
        }
        if (b->alike[i] != SP_NONE)
            continue;
        b->alike[i] = i;
        ok = sp_map_add(&map, hash, i);
    }
    sp_map_free(&map);
    return ok;
}

static spaa_status leaks_prepare(struct sp_leak_builder *b)
{
    const struct sp_profile *p = b->s->profile;
    sp_heap_metrics(p, b->metric);
    for (int m = 0; m < SP_LEAK_METRICS; m++) {
        b->l.now.v[m] = SP_ABSENT;
        for (int r = 0; r < SP_LEAK_REACHES; r++)
            b->l.reach[r].v[m] = SP_ABSENT;
    }
    b->l.hidden[0] = b->l.hidden[1] = SP_ABSENT;
    b->l.rank = leaks_rank_of(b);
    if (b->l.rank == SP_LEAK_METRICS) {
        struct sp_str name = sp_pstr(p, p->metrics.v[b->s->metric].name);
        sp_emit_hint(b->d, SP_E758, SP_AT_NOTHING,
                     "--metric live_bytes, alloc_bytes, peak_bytes or another of memory", "metric %.*s",
                     (int)name.n, name.p);
        return SPAA_ERR_USAGE;
    }
    b->end_untold = sp_end_without_stacks(p);
    b->peaks_add = sp_peaks_add(p, b->s->event) && sp_of_one_source(b->s);
    b->l.of = calloc(p->stacks.n + 1, sizeof *b->l.of);
    b->line = calloc(p->stacks.n + 1, sizeof *b->line);
    b->alike = malloc((p->functions.n + 1) * sizeof *b->alike);
    return b->l.of && b->line && b->alike && find_alike(b) ? SPAA_OK : sp_nomem(b->d);
}

/* ---- order ---- */

static int leaks_cmp_function(const struct sp_profile *p, uint32_t a, uint32_t b)
{
    if (a == b || a == SP_NONE || b == SP_NONE)
        return (a == SP_NONE) - (b == SP_NONE);
    const struct sp_function *f = &p->functions.v[a], *g = &p->functions.v[b];
    int c = sp_str_cmp(sp_pstr(p, f->name), sp_pstr(p, g->name));
    return c ? c : sp_str_cmp(sp_pstr(p, p->dsos.v[f->dso].name), sp_pstr(p, p->dsos.v[g->dso].name));
}

static int leaks_cmp_row(const void *va, const void *vb, void *arg)
{
    const struct sp_leaks *l = arg;
    const struct sp_leak_row *a = va, *b = vb;
    if (a->reach != b->reach)
        return a->reach < b->reach ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    int64_t x = sp_leak_zero(a->now.v[SP_LEAK_ALLOC_BYTES]), y = sp_leak_zero(b->now.v[SP_LEAK_ALLOC_BYTES]);
    if (x != y)
        return x > y ? -1 : 1;
    int c = leaks_cmp_function(l->profile, a->function, b->function);
    return c ? c : (a->row > b->row) - (a->row < b->row);
}

struct leaks_order {
    const struct sp_leaks *l;
    const struct sp_leak_row *rows; /* by their numbers */
    enum sp_leak_parts kind;
};

static int64_t part_gain(const struct sp_leak_part *x)
{
    return x->growth.quarters[1] + x->growth.quarters[2] + x->growth.quarters[3];
}

/* By row; what grows most first, where the row grows, else the heaviest. */
static int leaks_cmp_part(const void *va, const void *vb, void *arg)
{
    const struct leaks_order *o = arg;
    const struct sp_leak_part *a = va, *b = vb;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    const struct sp_leak_row *r = &o->rows[a->row];
    if (o->kind == SP_LEAK_LINES && sp_leak_rises(&r->growth, r->never_freed) && part_gain(a) != part_gain(b))
        return part_gain(a) > part_gain(b) ? -1 : 1;
    const enum sp_leak_metric by[] = {o->l->rank, SP_LEAK_LIVE_BYTES, SP_LEAK_ALLOC_BYTES};
    for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
        int64_t x = sp_leak_zero(a->now.v[by[i]]), y = sp_leak_zero(b->now.v[by[i]]);
        if (x != y)
            return x > y ? -1 : 1;
    }
    if (o->kind == SP_LEAK_THROUGH)
        return leaks_cmp_function(o->l->profile, a->key, b->key);
    return sp_str_cmp(sp_pstr(o->l->profile, a->key), sp_pstr(o->l->profile, b->key));
}

static void leaks_sort_parts(struct sp_leaks *l, enum sp_leak_parts kind)
{
    struct leaks_order o = {l, l->rows.v, kind};
    if (l->parts[kind].n)
        qsort_r(l->parts[kind].v, l->parts[kind].n, sizeof *l->parts[kind].v, leaks_cmp_part, &o);
    for (size_t i = l->parts[kind].n; i-- > 0;) {
        struct sp_leak_row *r = &l->rows.v[l->parts[kind].v[i].row];
        r->part[kind] = i;
        r->nparts[kind]++;
    }
}

/* ---- the whole ---- */

static spaa_status leaks_build(struct sp_leak_builder *b)
{
    spaa_status st = leaks_prepare(b);
    for (uint32_t i = 0; !st && i < b->s->rows.n; i++)
        if (!sp_leak_take(b, i))
            st = sp_nomem(b->d);
    if (st)
        return st;
    if (!b->peaks_add)
        b->l.now.v[SP_LEAK_PEAK_BYTES] = SP_ABSENT;
    for (int r = 0; r < SP_LEAK_REACHES && !b->peaks_add; r++)
        b->l.reach[r].v[SP_LEAK_PEAK_BYTES] = SP_ABSENT;
    b->l.peaks_apart = b->l.has[SP_LEAK_PEAK_BYTES] && !b->peaks_add;
    for (size_t i = 0; i < b->l.rows.n; i++) {
        struct sp_leak_row *r = &b->l.rows.v[i];
        r->never_freed = sp_leak_never_freed(&r->now, r->hidden);
        r->rank = sp_leak_zero(r->now.v[b->l.rank]);
    }
    for (int k = 0; k < SP_LEAK_PARTS; k++)
        for (size_t i = 0; i < b->l.parts[k].n; i++) {
            struct sp_leak_part *x = &b->l.parts[k].v[i];
            x->never_freed = sp_leak_never_freed(&x->now, x->hidden);
        }
    st = sp_leak_grow(b);
    for (int k = 0; !st && k < SP_LEAK_PARTS; k++)
        leaks_sort_parts(&b->l, (enum sp_leak_parts)k);
    if (!st)
        sp_leak_judge(&b->l);
    return st;
}

spaa_status sp_leaks_of(struct sp_selection *s, const struct sp_leaks_opts *o, struct sp_diags *d,
                        struct sp_leaks *out)
{
    struct sp_leak_builder b = {.s = s, .o = o, .d = d};
    b.l.profile = s->profile;
    b.l.now_ns = o->now_ns;
    spaa_status st = leaks_build(&b);
    if (!st && b.l.rows.n)
        qsort_r(b.l.rows.v, b.l.rows.n, sizeof *b.l.rows.v, leaks_cmp_row, &b.l);
    free(b.alike);
    free(b.line);
    sp_map_free(&b.map);
    for (int k = 0; k < SP_LEAK_PARTS; k++)
        sp_map_free(&b.part_maps[k]);
    sp_vec_free(&b.keys);
    sp_vec_free(&b.key_from);
    sp_vec_free(&b.path);
    if (st)
        sp_leaks_free(&b.l);
    else
        *out = b.l;
    return st;
}

void sp_leaks_free(struct sp_leaks *l)
{
    sp_vec_free(&l->rows);
    for (int k = 0; k < SP_LEAK_PARTS; k++)
        sp_vec_free(&l->parts[k]);
    free(l->of);
    free(l->gained);
    l->of = NULL;
    l->gained = NULL;
}
