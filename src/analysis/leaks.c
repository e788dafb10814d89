#include "analysis/leaks.h"

#include "analysis/allocators.h"
#include "analysis/names.h"
#include "analysis/sample_times.h"
#include "analysis/stacks.h"
#include "analysis/tally.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/facts.h"
#include "model/identity.h"

#include <math.h>
#include <stdlib.h>

const char *const sp_leak_metric_names[] = {"live_bytes",        "live_count", "alloc_bytes",
                                            "alloc_count",       "free_bytes", "free_count",
                                            "x_temporary_count", "peak_bytes", NULL};
const char *const sp_leak_kind_names[] = {"unknown", "growing",    "never freed", "partly freed",
                                          "freed",   "suppressed", "held",        "new",
                                          "grown",   "same",       "shrunk"};

/* ---- what it is about ---- */

spaa_status sp_leaks_choose(const struct sp_profile *p, struct sp_select_opts *o, struct sp_diags *d)
{
    static const char *const wanted[] = {"live_bytes", "live_count", "alloc_bytes", "alloc_count", NULL};
    if (o->event && sp_event_find(p, o->event, strlen(o->event)) == SP_NONE)
        return SPAA_OK; /* the selection says so */
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
    sp_emit(d, SP_E758, SP_AT_NOTHING, "%s%s", o->event ? "event " : "",
            o->event ? o->event : "no event of the profile is of it");
    return SPAA_ERR_USAGE;
}

/* ---- rows ---- */

struct builder {
    struct sp_selection *s;
    const struct sp_leaks_opts *o;
    struct sp_diags *d;
    struct sp_leaks l;
    uint32_t metric[SP_LEAK_METRICS]; /* SP_NONE: the profile has none */
    unsigned char *allocator;         /* per function: 0: not asked yet, 1: no, 2: yes */
    uint32_t *alike;                  /* per function: the first of its name in DSOs of one base name */
    struct sp_map map;
    SP_VEC(uint32_t) keys;   /* functions of stacks, one after the other */
    SP_VEC(size_t) key_from; /* per row */
    SP_VEC(uint32_t) path;
    bool peaks_add;
};

static bool is_allocator(struct builder *b, uint32_t function)
{
    unsigned char *a = &b->allocator[function];
    if (!*a)
        *a = sp_is_allocator(b->s->profile, function) ? 2 : 1;
    return *a == 2;
}

/* The functions from the allocating one on; *skipped: so many allocators were before it. */
static bool functions_of(struct builder *b, size_t row, uint32_t *skipped)
{
    size_t n, first = 0;
    const struct sp_profile *p = b->s->profile;
    const uint32_t *f = sp_selected_frames(b->s, row, &n);
    if (!f || !sp_vec_reserve(&b->path, n + 1))
        return false;
    while (!b->o->keep_allocators && first < n && is_allocator(b, p->frames.v[f[first]].function))
        first++;
    first = first < n ? first : 0; /* nothing else: as it is */
    *skipped = (uint32_t)first;
    b->path.n = 0;
    for (size_t i = first; i < n && (b->o->by_stack || i == first); i++)
        b->path.v[b->path.n++] = b->alike[p->frames.v[f[i]].function];
    return true;
}

static bool leaks_same_path(const struct builder *b, uint32_t row)
{
    size_t from = b->key_from.v[row], to = row + 1 < b->key_from.n ? b->key_from.v[row + 1] : b->keys.n;
    return to - from == b->path.n &&
           (!b->path.n || memcmp(b->keys.v + from, b->path.v, b->path.n * sizeof *b->path.v) == 0);
}

/* The row of b->path; SP_NONE: out of memory. */
static uint32_t find_row(struct builder *b, uint32_t selected)
{
    uint64_t hash = sp_hash64(b->path.v, b->path.n * sizeof *b->path.v);
    struct sp_probe at = sp_map_probe(&b->map, hash);
    for (uint32_t i; (i = sp_map_next(&b->map, &at)) != SP_MAP_NONE;)
        if (leaks_same_path(b, i))
            return i;
    uint32_t number = (uint32_t)b->l.rows.n;
    struct sp_leak_row r = {
        .function = b->path.n ? b->path.v[0] : SP_NONE, .row = selected, .number = number};
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        r.now.v[m] = r.base.v[m] = SP_ABSENT;
    if (!sp_vec_reserve(&b->keys, b->keys.n + b->path.n + 1) || !sp_vec_push(&b->key_from, b->keys.n) ||
        !sp_vec_push(&b->l.rows, r) || !sp_map_add(&b->map, hash, number))
        return SP_NONE;
    memcpy(b->keys.v + b->keys.n, b->path.v, b->path.n * sizeof *b->path.v);
    b->keys.n += b->path.n;
    return number;
}

/* Whole numbers: decimals are rounded. */
static int64_t leaks_whole(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    int64_t v = metric == SP_NONE ? SP_ABSENT : sp_weight(p, stack, metric);
    if (v != SP_DECIMAL)
        return v;
    struct sp_str t = sp_weight_text(p, stack, metric);
    double x = sp_text_double(t.p, t.n);
    return x >= 9.2e18 ? INT64_MAX : x <= -9.2e18 ? -INT64_MAX : llround(x);
}

/* The weights of a record; live ones from the others where they are not stated. */
static struct sp_leak_sums weights_of(const struct builder *b, uint32_t stack)
{
    struct sp_leak_sums w;
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        w.v[m] = leaks_whole(b->s->profile, stack, b->metric[m]);
    for (int m = 0; m < 2; m++)
        if (w.v[SP_LEAK_LIVE_BYTES + m] == SP_ABSENT && w.v[SP_LEAK_ALLOC_BYTES + m] != SP_ABSENT &&
            w.v[SP_LEAK_FREE_BYTES + m] != SP_ABSENT)
            w.v[SP_LEAK_LIVE_BYTES + m] = w.v[SP_LEAK_ALLOC_BYTES + m] - w.v[SP_LEAK_FREE_BYTES + m];
    return w;
}

static void add_sums(const struct builder *b, struct sp_leak_sums *to, const struct sp_leak_sums *w,
                     bool first)
{
    for (int m = 0; m < SP_LEAK_METRICS; m++) {
        if (m == SP_LEAK_PEAK_BYTES && !b->peaks_add && !first)
            to->v[m] = SP_ABSENT;
        else
            sp_tally_add(&to->v[m], w->v[m]);
    }
}

/* A suppression is about what is left, not about what was allocated: heaptrack_print counts the rest, too. */
static void hide(struct builder *b, struct sp_leak_row *r, struct sp_leak_sums *w, bool base)
{
    b->l.suppressed += !base;
    for (int m = SP_LEAK_LIVE_BYTES; m <= SP_LEAK_LIVE_COUNT; m++) {
        if (!base) {
            sp_tally_add(&b->l.hidden[m], w->v[m]);
            sp_tally_add(&r->hidden[m], w->v[m]);
        }
        w->v[m] = w->v[m] == SP_ABSENT ? SP_ABSENT : 0;
    }
}

static bool leaks_take(struct builder *b, uint32_t i)
{
    const struct sp_profile *p = b->s->profile;
    const struct sp_selected *x = &b->s->rows.v[i];
    struct sp_leak_sums w = weights_of(b, x->stack);
    uint32_t skipped = 0;
    bool base = b->l.two && p->contexts.v[p->stacks.v[x->stack].context].source == b->o->base;
    bool hidden = !b->o->suppressed && sp_stack_suppressed(p, x->stack);
    if (!functions_of(b, i, &skipped))
        return false;
    uint32_t number = find_row(b, i);
    if (number == SP_NONE)
        return false;
    struct sp_leak_row *r = &b->l.rows.v[number];
    b->l.skipped += skipped > 0;
    b->l.of[x->stack] = (struct sp_leak_of){hidden ? 0 : number + 1, skipped};
    if (hidden)
        hide(b, r, &w, base);
    if (r->row == i || x->weight > b->s->rows.v[r->row].weight) {
        r->row = i;
        r->skipped = skipped;
    }
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        b->l.has[m] = b->l.has[m] || w.v[m] != SP_ABSENT;
    add_sums(b, base ? &r->base : &r->now, &w, !r->records[base]);
    add_sums(b, base ? &b->l.base : &b->l.now, &w, false);
    if (!b->peaks_add)
        b->l.now.v[SP_LEAK_PEAK_BYTES] = b->l.base.v[SP_LEAK_PEAK_BYTES] = SP_ABSENT;
    r->records[base]++;
    return true;
}

/* ---- growth ---- */

/* What a window's row gained of live bytes; SP_ABSENT: it does not say. */
static int64_t gained(const struct builder *b, const struct sp_window_row *w, bool never_freed)
{
    const struct sp_profile *p = b->s->profile;
    int64_t v[SP_LEAK_METRICS];
    for (int m = 0; m < SP_LEAK_METRICS; m++) {
        v[m] = b->metric[m] == SP_NONE ? SP_ABSENT : sp_window_value(p, w, b->metric[m]).v;
        v[m] = v[m] == SP_DECIMAL ? SP_ABSENT : v[m];
    }
    if (v[SP_LEAK_LIVE_BYTES] != SP_ABSENT || v[SP_LEAK_ALLOC_BYTES] == SP_ABSENT)
        return v[SP_LEAK_LIVE_BYTES];
    if (v[SP_LEAK_FREE_BYTES] != SP_ABSENT)
        return v[SP_LEAK_ALLOC_BYTES] - v[SP_LEAK_FREE_BYTES];
    return never_freed ? v[SP_LEAK_ALLOC_BYTES] : SP_ABSENT;
}

static void leaks_add_window(struct builder *b, const struct sp_sample_times *m,
                             const struct sp_timed_window *w, unsigned char *unknown)
{
    const struct sp_profile *p = b->s->profile;
    const struct sp_window *x = &p->windows.v[w->window];
    __int128 middle = ((__int128)w->lo + w->hi) / 2 - m->start, span = (__int128)m->end - m->start;
    unsigned quarter = span > 0 ? (unsigned)(middle * 4 / span) : 0;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct sp_window_row *r = &p->window_rows.v[x->first + i];
        uint32_t row = r->stack == SP_NONE ? 0 : b->l.of[r->stack].row;
        if (!row)
            continue;
        int64_t v = gained(b, r, b->l.rows.v[row - 1].never_freed);
        if (v == SP_ABSENT)
            unknown[row - 1] = 1;
        else
            sp_tally_add(&b->l.rows.v[row - 1].quarters[quarter < 4 ? quarter : 3], v);
    }
}

/* Only where there are enough windows. */
static spaa_status find_growth(struct builder *b)
{
    const struct sp_profile *p = b->s->profile;
    struct sp_sample_times m = {.p = p};
    if (b->l.two || p->windows.n < 4)
        return SPAA_OK;
    unsigned char *unknown = calloc(b->l.rows.n + 1, 1);
    spaa_status st = unknown ? sp_window_times_of(p, b->d, &m) : sp_nomem(b->d);
    for (size_t i = 0; !st && i < m.windows.n; i++)
        leaks_add_window(b, &m, &m.windows.v[i], unknown);
    for (size_t i = 0; !st && i < b->l.rows.n; i++) {
        b->l.rows.v[i].known_growth = !unknown[i];
        b->l.growth = b->l.growth || !unknown[i];
    }
    if (!st)
        sp_sample_times_free(&m);
    free(unknown);
    return st;
}

static int64_t zero(int64_t v)
{
    return v == SP_ABSENT ? 0 : v;
}

int64_t sp_leak_grown(const struct sp_leak_row *r, enum sp_leak_metric m)
{
    if (r->now.v[m] == SP_ABSENT && r->base.v[m] == SP_ABSENT)
        return SP_ABSENT;
    int64_t v;
    return __builtin_sub_overflow(zero(r->now.v[m]), zero(r->base.v[m]), &v) ? INT64_MAX : v;
}

int64_t sp_leak_beyond_time(const struct sp_leaks *l, const struct sp_leak_row *r, enum sp_leak_metric m)
{
    if (l->now_ns <= 0 || l->base_ns <= 0 || sp_leak_grown(r, m) == SP_ABSENT)
        return SP_ABSENT;
    /* In whole milliseconds: sp_ratio doubles what it divides by. */
    __int128 expected = sp_ratio((__int128)zero(r->base.v[m]), (l->base_ns + 999999) / 1000000,
                                 (l->now_ns + 999999) / 1000000);
    __int128 beyond = zero(r->now.v[m]) - expected;
    return beyond > INT64_MAX || beyond < -INT64_MAX ? SP_ABSENT : (int64_t)beyond;
}

static bool never_freed(const struct sp_leak_row *r)
{
    const int64_t *v = r->now.v;
    for (int m = SP_LEAK_FREE_COUNT; m >= SP_LEAK_FREE_BYTES; m--)
        if (v[m] != SP_ABSENT)
            return v[m] == 0 && v[SP_LEAK_ALLOC_COUNT] != 0;
    for (int m = 0; m < 2; m++)
        if (v[SP_LEAK_LIVE_COUNT - m] != SP_ABSENT && v[SP_LEAK_ALLOC_COUNT - m] != SP_ABSENT)
            return v[SP_LEAK_ALLOC_COUNT - m] > 0 &&
                   v[SP_LEAK_LIVE_COUNT - m] + r->hidden[1 - m] >= v[SP_LEAK_ALLOC_COUNT - m];
    return false;
}

static enum sp_leak_kind leaks_kind_of(const struct builder *b, const struct sp_leak_row *r)
{
    const int64_t *v = r->now.v;
    enum sp_leak_metric m = b->l.has[SP_LEAK_LIVE_BYTES] ? SP_LEAK_LIVE_BYTES : SP_LEAK_LIVE_COUNT;
    if (b->l.two) {
        int64_t grown = sp_leak_grown(r, b->l.has[m] ? m : b->l.rank);
        return grown == SP_ABSENT ? SP_LEAK_UNKNOWN
               : grown > 0        ? (r->base.v[m] == SP_ABSENT ? SP_LEAK_NEW : SP_LEAK_GROWN)
               : grown < 0        ? SP_LEAK_SHRUNK
                                  : SP_LEAK_SAME;
    }
    if ((r->hidden[0] || r->hidden[1]) && zero(v[SP_LEAK_LIVE_BYTES]) == 0 &&
        zero(v[SP_LEAK_LIVE_COUNT]) == 0)
        return SP_LEAK_SUPPRESSED;
    if (v[m] == SP_ABSENT)
        return SP_LEAK_UNKNOWN;
    if (v[m] == 0 && zero(v[SP_LEAK_LIVE_COUNT]) == 0)
        return SP_LEAK_FREED;
    if (r->known_growth && r->quarters[1] > 0 && r->quarters[2] > 0 && r->quarters[3] > 0)
        return SP_LEAK_GROWING;
    if (r->never_freed)
        return SP_LEAK_NEVER_FREED;
    bool known = v[SP_LEAK_ALLOC_BYTES] != SP_ABSENT || v[SP_LEAK_ALLOC_COUNT] != SP_ABSENT ||
                 v[SP_LEAK_FREE_COUNT] != SP_ABSENT;
    return known ? SP_LEAK_PARTLY : SP_LEAK_HELD;
}

/* ---- the whole ---- */

static int leaks_cmp_row(const void *va, const void *vb, void *arg)
{
    const struct sp_leaks *l = arg;
    const struct sp_profile *p = l->profile;
    const struct sp_leak_row *a = va, *b = vb;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    int64_t x = zero(a->now.v[SP_LEAK_ALLOC_BYTES]), y = zero(b->now.v[SP_LEAK_ALLOC_BYTES]);
    if (x != y)
        return x > y ? -1 : 1;
    if (a->function != b->function && a->function != SP_NONE && b->function != SP_NONE) {
        const struct sp_function *f = &p->functions.v[a->function], *g = &p->functions.v[b->function];
        int c = sp_str_cmp(sp_pstr(p, f->name), sp_pstr(p, g->name));
        c = c ? c : sp_str_cmp(sp_pstr(p, p->dsos.v[f->dso].name), sp_pstr(p, p->dsos.v[g->dso].name));
        if (c)
            return c;
    }
    return (a->row > b->row) - (a->row < b->row);
}

static enum sp_leak_metric leaks_rank_of(const struct builder *b)
{
    struct sp_str name = sp_pstr(b->s->profile, b->s->profile->metrics.v[b->s->metric].name);
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        if (sp_str_is(name, sp_leak_metric_names[m]))
            return (enum sp_leak_metric)m;
    return SP_LEAK_METRICS;
}

/* Two profiles may know a DSO by different paths and build-ids: functions are the same by their names. */
static bool find_alike(struct builder *b)
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

static spaa_status leaks_prepare(struct builder *b)
{
    const struct sp_profile *p = b->s->profile;
    for (int m = 0; m < SP_LEAK_METRICS; m++) {
        b->metric[m] = sp_metric_find(p, sp_leak_metric_names[m], strlen(sp_leak_metric_names[m]));
        b->l.now.v[m] = b->l.base.v[m] = SP_ABSENT;
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
    b->peaks_add = sp_peaks_add(p, b->s->event) && (b->l.two || sp_of_one_source(b->s));
    b->allocator = calloc(p->functions.n + 1, 1);
    b->l.of = calloc(p->stacks.n + 1, sizeof *b->l.of);
    b->alike = malloc((p->functions.n + 1) * sizeof *b->alike);
    return b->allocator && b->l.of && b->alike && find_alike(b) ? SPAA_OK : sp_nomem(b->d);
}

static spaa_status leaks_build(struct builder *b)
{
    spaa_status st = leaks_prepare(b);
    bool sides[2] = {false, false};
    for (uint32_t i = 0; !st && i < b->s->rows.n; i++) {
        const struct sp_stack *x = &b->s->profile->stacks.v[b->s->rows.v[i].stack];
        sides[b->s->profile->contexts.v[x->context].source == b->o->base] = true;
        if (!leaks_take(b, i))
            st = sp_nomem(b->d);
    }
    if (!st && b->l.two && !(sides[0] && sides[1])) {
        sp_emit(b->d, SP_E759, SP_AT_NOTHING, "only the %s has what is asked for",
                sides[1] ? "first" : "second");
        st = SPAA_ERR_USAGE;
    }
    b->l.peaks_apart = b->l.has[SP_LEAK_PEAK_BYTES] && !b->peaks_add;
    for (size_t i = 0; !st && i < b->l.rows.n; i++)
        b->l.rows.v[i].never_freed = never_freed(&b->l.rows.v[i]);
    if (!st)
        st = find_growth(b);
    for (size_t i = 0; !st && i < b->l.rows.n; i++) {
        struct sp_leak_row *r = &b->l.rows.v[i];
        r->kind = leaks_kind_of(b, r);
        r->rank = zero(b->l.two ? sp_leak_grown(r, b->l.rank) : r->now.v[b->l.rank]);
    }
    return st;
}

spaa_status sp_leaks_of(struct sp_selection *s, const struct sp_leaks_opts *o, struct sp_diags *d,
                        struct sp_leaks *out)
{
    struct builder b = {.s = s, .o = o, .d = d};
    b.l.profile = s->profile;
    b.l.two = o->base != SP_STR_NONE;
    b.l.base_source = o->base;
    b.l.now_ns = o->now_ns;
    b.l.base_ns = o->base_ns;
    spaa_status st = leaks_build(&b);
    if (!st && b.l.rows.n)
        qsort_r(b.l.rows.v, b.l.rows.n, sizeof *b.l.rows.v, leaks_cmp_row, &b.l);
    free(b.allocator);
    free(b.alike);
    sp_map_free(&b.map);
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
    free(l->of);
    l->of = NULL;
}
