#include "analysis/heap_series.h"

#include "analysis/heap_weights.h"
#include "analysis/own_fold.h"
#include "analysis/tally.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/facts.h"
#include "model/identity.h"

#include <math.h>
#include <stdlib.h>

const char *const sp_heap_order_names[] = {"times", "names", "given"};

spaa_status sp_heap_series_init(struct sp_heap_series *h, struct sp_diags *d)
{
    *h = (struct sp_heap_series){0};
    return sp_strtab_init(&h->strs) ? SPAA_OK : sp_nomem(d);
}

void sp_heap_series_free(struct sp_heap_series *h)
{
    sp_strtab_free(&h->strs);
    sp_vec_free(&h->dumps);
    sp_vec_free(&h->owners);
    sp_vec_free(&h->cells);
    sp_vec_free(&h->from);
    sp_vec_free(&h->builds);
    sp_vec_free(&h->same);
    sp_map_free(&h->map);
    sp_heap_ways_free(&h->ways);
}

/* ---- owners ---- */

/* What the owner is called, and of stacks all of its functions. */
static bool name_owner(struct sp_heap_series *h, struct sp_heap_owner *o, const struct sp_profile *p,
                       const uint32_t *frames, size_t n)
{
    struct sp_buf b;
    if (!n)
        return true;
    struct sp_str name = sp_pstr(p, sp_frame_function(p, frames[0])->name),
                  dso = sp_base_name(sp_pstr(p, sp_frame_dso(p, frames[0])->name));
    o->name = sp_intern(&h->strs, name.p, name.n);
    o->dso = sp_intern(&h->strs, dso.p, dso.n);
    sp_buf_init(&b, 0);
    for (size_t i = 0; h->by == SP_HEAP_BY_STACK && i < n; i++) {
        name = sp_pstr(p, sp_frame_function(p, frames[i])->name);
        sp_buf_puts(&b, i ? " < " : "");
        sp_buf_add(&b, name.p, name.n);
    }
    o->path = b.len ? sp_intern(&h->strs, b.data, b.len) : SP_STR_NONE;
    bool ok = !b.failed && o->name != SP_STR_FAIL && o->dso != SP_STR_FAIL && o->path != SP_STR_FAIL;
    sp_buf_free(&b);
    return ok;
}

/* Other builds and places of a program are the same: by names, and base names of binaries. */
static uint64_t frame_hash(const struct sp_profile *p, uint32_t frame)
{
    struct sp_str name = sp_pstr(p, sp_frame_function(p, frame)->name),
                  dso = sp_base_name(sp_pstr(p, sp_frame_dso(p, frame)->name));
    return sp_hash_key_seed(name.p, name.n, sp_hash_key(dso.p, dso.n));
}

static uint32_t find_owner(struct sp_heap_series *h, struct sp_selection *s, const struct sp_own *own,
                           size_t row, bool add, size_t *frame)
{
    size_t n;
    *frame = 0;
    const struct sp_profile *p = s->profile;
    const uint32_t *f = sp_selected_frames(s, row, &n);
    struct sp_heap_owner o = {0};
    if (!f)
        return SP_NONE;
    if (h->by == SP_HEAP_BY_FUNCTION && sp_own_nearest(p, own, f, n, 0, frame) == SP_NONE)
        *frame = 0;
    f += *frame;
    n = h->by == SP_HEAP_BY_STACK || !n ? n : 1;
    for (size_t i = 0; i < n; i++)
        o.hash = sp_hash_mix(o.hash, frame_hash(p, f[i])) + 1;
    struct sp_probe at = sp_map_probe(&h->map, o.hash);
    for (uint32_t i; (i = sp_map_next(&h->map, &at)) != SP_MAP_NONE;)
        if (h->owners.v[i].hash == o.hash)
            return i;
    uint32_t number = (uint32_t)h->owners.n;
    if (!add || number == SP_NONE - 1 || !name_owner(h, &o, p, f, n) || !sp_vec_push(&h->owners, o) ||
        !sp_map_add(&h->map, o.hash, number))
        return SP_NONE;
    return number;
}

uint32_t sp_heap_owner_of(struct sp_heap_series *h, struct sp_selection *s, const struct sp_own *own,
                          size_t row, size_t *at)
{
    return find_owner(h, s, own, row, false, at);
}

/* ---- a dump ---- */

struct adder {
    struct sp_heap_series *h;
    struct sp_selection *s;
    const struct sp_own *own;
    struct sp_heap_dump *dump;
    uint32_t number;
    uint32_t metric[SP_LEAK_METRICS]; /* SP_NONE: there is none */
    size_t first;                     /* its cells */
    SP_VEC(uint32_t) cell;            /* per owner: 1 + its cell; 0: none yet */
};

/* How unsure sampling makes bytes and blocks of one size, and how many of them were sampled. */
static double unsure(struct sp_heap_sums *w, int64_t rate, int bytes, int count)
{
    double b = w->v[bytes] == SP_ABSENT ? NAN : fabs((double)w->v[bytes]),
           c = w->v[count] == SP_ABSENT ? NAN : fabs((double)w->v[count]);
    if (rate <= 1)
        return isnan(c) ? 0 : c;
    if (isnan(b) || isnan(c) || c < 0.5 || b < 0.5) { /* as if blocks were small, which is the widest */
        w->var[bytes] = isnan(b) ? 0 : b * (double)rate;
        w->var[count] = isnan(c) ? 0 : c * (isnan(b) || b < 1 ? 1 : fmax(c * (double)rate / b, 1));
        return isnan(b) ? 0 : b / (double)rate;
    }
    double p = sp_heap_chance(rate, b, c);
    w->var[bytes] = b * b / c * (1 - p) / p;
    w->var[count] = c * (1 - p) / p;
    return c * p;
}

static struct sp_heap_sums sums_of(const struct adder *a, uint32_t stack)
{
    struct sp_heap_sums w = {0};
    struct sp_leak_sums all = sp_heap_weights(a->s->profile, a->metric, stack);
    memcpy(w.v, all.v, sizeof w.v);
    w.live = unsure(&w, a->dump->rate, SP_LEAK_LIVE_BYTES, SP_LEAK_LIVE_COUNT);
    w.allocated = unsure(&w, a->dump->rate, SP_LEAK_ALLOC_BYTES, SP_LEAK_ALLOC_COUNT);
    return w;
}

static void add_sums(struct sp_heap_sums *to, const struct sp_heap_sums *w)
{
    for (int m = 0; m < SP_HEAP_SUMS; m++) {
        sp_tally_add(&to->v[m], w->v[m]);
        to->var[m] += w->var[m];
    }
    to->live += w->live;
    to->allocated += w->allocated;
}

static const struct sp_heap_sums no_sums = {.v = {SP_ABSENT, SP_ABSENT, SP_ABSENT, SP_ABSENT}};

static struct sp_heap_sums *cell_of(struct adder *a, uint32_t owner)
{
    struct sp_heap_series *h = a->h;
    struct sp_heap_cell x = {.dump = a->number, .owner = owner, .sums = no_sums};
    while (a->cell.n <= owner)
        if (!sp_vec_push(&a->cell, 0))
            return NULL;
    if (!a->cell.v[owner]) {
        if (h->cells.n - a->first >= SP_NONE - 1 || !sp_vec_push(&h->cells, x))
            return NULL;
        a->cell.v[owner] = (uint32_t)(h->cells.n - a->first);
        a->dump->owners++;
    }
    return &h->cells.v[a->first + a->cell.v[owner] - 1].sums;
}

static bool add_row(struct adder *a, size_t i)
{
    const struct sp_profile *p = a->s->profile;
    uint32_t stack = a->s->rows.v[i].stack;
    size_t at;
    uint32_t owner = find_owner(a->h, a->s, a->own, i, true, &at);
    struct sp_heap_sums *to = owner == SP_NONE ? NULL : cell_of(a, owner), w = sums_of(a, stack);
    if (!to)
        return false;
    if (!a->h->suppressed && sp_stack_suppressed(p, stack)) {
        sp_tally_add(&a->dump->hidden, w.v[SP_LEAK_LIVE_BYTES]);
        for (int m = SP_LEAK_LIVE_BYTES; m <= SP_LEAK_LIVE_COUNT; m++) {
            w.v[m] = w.v[m] == SP_ABSENT ? SP_ABSENT : 0;
            w.var[m] = 0;
        }
        w.live = 0;
    }
    if (a->h->by != SP_HEAP_BY_STACK &&
        !sp_heap_ways_add(&a->h->ways, &a->h->strs, a->s, a->own, i, at, owner, a->number, w.v[a->h->rank]))
        return false;
    add_sums(to, &w);
    add_sums(&a->dump->all, &w);
    for (int m = 0; m < SP_HEAP_SUMS; m++)
        a->h->known[m] = a->h->known[m] || w.v[m] != SP_ABSENT;
    return true;
}

/* ---- what a profile says of itself ---- */

static bool seconds_of(const struct sp_profile *p, uint32_t text, int64_t *ns)
{
    struct sp_str t = sp_pstr(p, text);
    return text && sp_seconds_ns(t.p, t.n, ns);
}

static void take_times(struct sp_heap_dump *x, const struct sp_profile *p)
{
    const struct sp_header *h = &p->header;
    int64_t from = 0, to = 0, lasted;
    if (h->time_end && sp_str_is(sp_pstr(p, h->time_unit), "seconds") && seconds_of(p, h->time_end, &to)) {
        x->timed = true;
        x->time_ns = to;
        if (seconds_of(p, h->time_start, &from) && to > from && from >= 0)
            x->duration_ns = to - from;
    }
    if (seconds_of(p, h->duration, &lasted) && lasted > 0)
        x->duration_ns = lasted;
}

/* Of a sum, so that the order of stacks does not matter. */
static uint64_t digest_of(const struct sp_profile *p, const uint32_t *metric)
{
    uint64_t all = p->stacks.n;
    for (size_t i = 0; i < p->stacks.n; i++) {
        uint64_t one = p->stacks.v[i].n ? frame_hash(p, sp_stack_frames(p, (uint32_t)i)[0]) : 1;
        for (int m = 0; m < SP_LEAK_METRICS; m++)
            one = sp_hash_mix(one, (uint64_t)sp_heap_weight(p, (uint32_t)i, metric[m]));
        all += sp_hash_mix(one, p->stacks.v[i].n);
    }
    return all;
}

/*
 * V8 does not say how many bytes are between its samples. A sampled block of s bytes is counted as
 * s / (1 - exp(-s / rate)) bytes, which is the rate where it is small and never less.
 */
static void guess_rate(struct sp_heap_dump *x, const struct sp_profile *p, uint32_t live)
{
    uint32_t samples = sp_metric_find(p, "samples", 7);
    double least = INFINITY;
    for (size_t i = 0; x->v8 && !x->rate && samples != SP_NONE && i < p->stacks.n; i++) {
        int64_t k = sp_heap_weight(p, (uint32_t)i, samples), b = sp_heap_weight(p, (uint32_t)i, live);
        if (k != SP_ABSENT && k > 0 && b != SP_ABSENT && b > 0)
            least = fmin(least, (double)b / (double)k);
    }
    if (least < 1e12) {
        x->rate = least > 1 ? llround(least) : 1;
        x->rate_guessed = true;
    }
}

static void describe(struct sp_heap_dump *x, const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    const struct sp_event *e = &p->events.v[s->event];
    struct sp_str rate = sp_pstr(p, e->sample_period), tool = sp_pstr(p, p->header.source_tool);
    uint64_t v;
    if (e->sample_period && sp_parse_u64(rate.p, rate.p + rate.n, &v) == rate.n && v > 1 && v < INT64_MAX)
        x->rate = (int64_t)v;
    x->go = sp_heap_is_of_go(p);
    x->of_run = sp_str_is(tool, "heaptrack") || sp_str_is(tool, "valgrind") || sp_str_is(tool, "lsan");
    x->v8 = sp_str_is(tool, "node") || sp_str_is(tool, "v8");
    take_times(x, p);
    sp_heap_jemalloc_name(x->name, &x->pid, &x->number);
}

/* Binaries of one name that dumps have different builds of. */
static bool note_builds(struct sp_heap_series *h, const struct sp_profile *p)
{
    for (size_t i = 0; i < p->dsos.n; i++) {
        struct sp_str name = sp_base_name(sp_pstr(p, p->dsos.v[i].name)),
                      build = sp_pstr(p, p->dsos.v[i].build_id);
        size_t k = 0;
        if (!build.n || !name.n)
            continue;
        while (k < h->builds.n && sp_str_cmp(h->builds.v[k], name) != 0)
            k += 2;
        if (k == h->builds.n) {
            uint32_t a = sp_intern(&h->strs, name.p, name.n), b = sp_intern(&h->strs, build.p, build.n);
            if (a == SP_STR_FAIL || b == SP_STR_FAIL || !sp_vec_push(&h->builds, sp_str_at(&h->strs, a)) ||
                !sp_vec_push(&h->builds, sp_str_at(&h->strs, b)))
                return false;
        } else if (sp_str_cmp(h->builds.v[k + 1], build) != 0 && !h->rebuilt) {
            h->rebuilt = sp_strtab_find(&h->strs, name.p, name.n);
        }
    }
    return true;
}

spaa_status sp_heap_series_add(struct sp_heap_series *h, struct sp_selection *s, const struct sp_own *own,
                               const char *name, struct sp_diags *d)
{
    const struct sp_profile *p = s->profile;
    struct sp_heap_dump x = {
        .name = name, .input = h->dumps.n, .pid = SP_ABSENT, .number = SP_ABSENT, .all = no_sums};
    struct adder a = {
        .h = h, .s = s, .own = own, .dump = &x, .number = (uint32_t)h->dumps.n, .first = h->cells.n};
    describe(&x, s);
    sp_heap_metrics(p, a.metric);
    guess_rate(&x, p, a.metric[SP_LEAK_LIVE_BYTES]);
    x.digest = digest_of(p, a.metric);
    struct sp_str command = sp_pstr(p, p->header.command);
    x.command = command.n ? sp_intern(&h->strs, command.p, command.n) : SP_STR_NONE;
    bool ok = note_builds(h, p) && x.command != SP_STR_FAIL;
    for (size_t i = 0; ok && i < s->rows.n; i++)
        ok = add_row(&a, i);
    ok = ok && sp_vec_push(&h->dumps, x);
    sp_vec_free(&a.cell);
    if (!ok && sp_leaving(d, 0))
        return SPAA_ERR_CANCELLED;
    return ok ? SPAA_OK : sp_nomem(d);
}

/* ---- all of them ---- */

static int by_owner_and_dump(const void *va, const void *vb)
{
    const struct sp_heap_cell *a = va, *b = vb;
    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    return (a->dump > b->dump) - (a->dump < b->dump);
}

spaa_status sp_heap_series_sort(struct sp_heap_series *h, struct sp_diags *d)
{
    size_t n = h->dumps.n, at = 0, kept = 0;
    uint32_t *place = malloc((n + 1) * sizeof *place);
    bool ok =
        place && sp_heap_drop_same(h) && sp_heap_order_of(h) && sp_vec_reserve(&h->from, h->owners.n + 1);
    for (size_t i = 0; ok && i < n; i++)
        place[i] = SP_NONE;
    for (size_t i = 0; ok && i < h->dumps.n; i++)
        place[h->dumps.v[i].input] = (uint32_t)i;
    for (size_t i = 0; ok && i < h->cells.n; i++) {
        struct sp_heap_cell c = h->cells.v[i];
        c.dump = place[c.dump];
        if (c.dump != SP_NONE)
            h->cells.v[kept++] = c;
    }
    h->cells.n = ok ? kept : h->cells.n;
    free(place);
    if (!ok)
        return sp_nomem(d);
    if (h->cells.n)
        qsort(h->cells.v, h->cells.n, sizeof *h->cells.v, by_owner_and_dump);
    sp_heap_ways_sort(&h->ways);
    h->from.n = 0;
    for (size_t i = 0; i <= h->owners.n; i++) {
        while (at < h->cells.n && h->cells.v[at].owner < i)
            at++;
        h->from.v[h->from.n++] = at;
    }
    return SPAA_OK;
}

bool sp_heap_grew_for(const struct sp_heap_series *h, size_t owner, struct sp_heap_callers *out)
{
    const struct sp_heap_dump *first = &h->dumps.v[0], *last = &h->dumps.v[h->dumps.n - 1];
    return sp_heap_callers_of(&h->ways, (uint32_t)owner, (uint32_t)first->input, (uint32_t)last->input, out);
}

const struct sp_heap_sums *sp_heap_at(const struct sp_heap_series *h, size_t owner, size_t dump)
{
    if (owner == SIZE_MAX)
        return &h->dumps.v[dump].all;
    size_t lo = h->from.v[owner], hi = h->from.v[owner + 1];
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (h->cells.v[middle].dump < dump)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < h->from.v[owner + 1] && h->cells.v[lo].dump == dump ? &h->cells.v[lo].sums : NULL;
}

int64_t sp_heap_value(const struct sp_heap_sums *s, enum sp_leak_metric m)
{
    return s && s->v[m] != SP_ABSENT ? s->v[m] : 0;
}

double sp_heap_seconds(const struct sp_heap_series *h, size_t dump)
{
    return ((double)h->dumps.v[dump].time_ns - (double)h->dumps.v[0].time_ns) / 1e9;
}

bool sp_heap_nothing_common(const struct sp_heap_series *h)
{
    for (size_t i = 0; i < h->owners.n; i++)
        if (h->from.v[i + 1] - h->from.v[i] > 1)
            return false;
    size_t some = 0;
    uint32_t *of = calloc(h->strs.strs.n + 1, sizeof *of); /* per binary: 1 + a dump that it is in */
    bool common = !of;
    for (size_t i = 0; !common && i < h->owners.n; i++) {
        uint32_t *x = &of[h->owners.v[i].dso], dump = h->cells.v[h->from.v[i]].dump + 1;
        common = *x && *x != dump && h->owners.v[i].dso;
        *x = dump;
    }
    free(of);
    for (size_t i = 0; i < h->dumps.n; i++)
        some += h->dumps.v[i].owners > 0;
    return !common && some > 1;
}
