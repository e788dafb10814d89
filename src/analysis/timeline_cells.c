#include "analysis/timeline_cells.h"

#include "analysis/fold.h"
#include "analysis/select_private.h"
#include "analysis/tally.h"

enum { CELLS_LEAST = 64, CELLS_MOST = 2048, FUNCTIONS_MOST = 384, SAMPLES_LEAST = 10 };

/* ---- the samples ---- */

/* Which row a sample is of; records that were divided count where most of them is. */
static uint32_t *rows_of_stacks(const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    uint32_t *row = calloc(p->stacks.n + 1, sizeof *row);
    for (size_t i = 0; row && i < s->rows.n; i++)
        row[s->rows.v[i].stack] = (uint32_t)i + 1;
    for (size_t i = 0; row && i < p->rests.list.n; i++)
        if (!row[p->rests.list.v[i].stack])
            row[p->rests.list.v[i].stack] = row[p->rests.list.v[i].rest];
    return row;
}

static int by_row(const void *va, const void *vb)
{
    const struct sp_cell_sample *a = va, *b = vb;
    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

static bool take_samples(struct sp_selection *s, const struct sp_sample_times *m, enum sp_weighing how,
                         struct sp_cells *c)
{
    uint32_t *row = rows_of_stacks(s);
    int64_t at;
    c->list = malloc((m->n + 1) * sizeof *c->list);
    for (size_t i = 0; row && c->list && i < m->n; i++) {
        const struct sp_sample *x = &m->rows[i];
        struct sp_value v = sp_sample_value(x, how);
        if (x->stack == SP_NONE || !row[x->stack] || v.v == SP_ABSENT || !sp_sample_time(m, x, &at) ||
            (s->timed && (at < s->time_lo || at >= s->time_hi)))
            continue;
        struct sp_cell_sample y = {row[x->stack] - 1, 0, sp_scale_weight(s, v.v, sp_pstr(s->profile, v.text)),
                                   at};
        c->start = !c->samples || at < c->start ? at : c->start;
        c->end = !c->samples || at >= c->end ? at + 1 : c->end;
        c->list[c->samples++] = y;
    }
    bool ok = row && c->list;
    free(row);
    if ((__int128)c->end - c->start > INT64_MAX / 2) /* no clock that runs */
        *c = (struct sp_cells){
            .list = c->list, .things = c->things, .total_thing = c->total_thing, .self_thing = c->self_thing};
    if (ok && c->samples)
        qsort(c->list, c->samples, sizeof *c->list, by_row);
    return ok;
}

int64_t sp_cell_at(const struct sp_cells *c, size_t cell)
{
    return c->start + (int64_t)(((__int128)c->end - c->start) * (__int128)cell / (__int128)c->n);
}

static void place_samples(struct sp_cells *c)
{
    c->n = c->samples < CELLS_LEAST ? CELLS_LEAST : c->samples > CELLS_MOST ? CELLS_MOST : c->samples;
    for (size_t i = 0; i < c->samples; i++)
        c->list[i].cell = (uint32_t)(((__int128)c->list[i].time - c->start) * (__int128)c->n /
                                     ((__int128)c->end - c->start));
}

/* ---- the functions ---- */

struct walk {
    struct sp_selection *s;
    struct sp_cells *c;
    uint32_t *last;
    void (*take)(struct sp_cells *c, size_t first, size_t end, uint32_t function, bool self, void *arg);
    void *arg;
};

/* Each function of each row, with the samples of that row. */
static bool walk_rows(struct walk *w)
{
    const struct sp_profile *p = w->s->profile;
    struct sp_cells *c = w->c;
    memset(w->last, 0, (p->functions.n + 1) * sizeof *w->last);
    for (size_t i = 0, end; i < c->samples; i = end) {
        size_t n;
        uint32_t row = c->list[i].row;
        for (end = i; end < c->samples && c->list[end].row == row;)
            end++;
        const uint32_t *f = sp_selected_frames(w->s, row, &n);
        if (!f)
            return false;
        for (size_t k = 0; k < n; k++) {
            uint32_t function = p->frames.v[f[k]].function;
            if (!k)
                w->take(c, i, end, function, true, w->arg);
            if (sp_fold_first(&w->last[function], row + 1))
                w->take(c, i, end, function, false, w->arg);
        }
    }
    return true;
}

static void take_sum(struct sp_cells *c, size_t first, size_t end, uint32_t function, bool self, void *arg)
{
    uint32_t *const *sums = arg;
    (void)c;
    sums[self][function] += (uint32_t)(end - first);
}

static void take_cells(struct sp_cells *c, size_t first, size_t end, uint32_t function, bool self, void *arg)
{
    (void)arg;
    uint32_t thing = self ? c->self_thing[function] : c->total_thing[function];
    for (size_t i = first; thing && i < end; i++)
        c->counts[thing * c->n + c->list[i].cell]++;
}

struct heavy {
    uint32_t function, samples;
};

static int cells_by_samples(const void *va, const void *vb)
{
    const struct heavy *a = va, *b = vb;
    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

/* The heaviest functions by this sum become things. */
static bool cells_choose(struct sp_cells *c, const uint32_t *sum, size_t functions, uint32_t *thing)
{
    struct heavy *list = malloc((functions + 1) * sizeof *list);
    size_t n = 0;
    for (uint32_t f = 0; list && f < functions; f++)
        if (sum[f] >= SAMPLES_LEAST)
            list[n++] = (struct heavy){f, sum[f]};
    if (list && n)
        qsort(list, n, sizeof *list, cells_by_samples);
    for (size_t i = 0; list && i < n && i < FUNCTIONS_MOST; i++)
        thing[list[i].function] = (uint32_t)c->things++;
    bool ok = list != NULL;
    free(list);
    return ok;
}

/* Things of equal counts (a function and its only caller) are looked at once. */
static void mark_same(struct sp_cells *c)
{
    for (size_t i = 1; i < c->things; i++) {
        size_t sum = 0;
        for (size_t k = 0; k < c->n; k++)
            sum += sp_cells_of(c, i)[k];
        c->always[i] = sum * 10 > c->samples * 9;
        for (size_t k = 1; k < i && !c->same[i]; k++)
            c->same[i] =
                !c->same[k] && !memcmp(sp_cells_of(c, i), sp_cells_of(c, k), c->n * sizeof *c->counts);
    }
}

static bool count_functions(struct walk *w)
{
    struct sp_cells *c = w->c;
    size_t functions = w->s->profile->functions.n;
    uint32_t *sums[2] = {calloc(functions + 1, sizeof **sums), calloc(functions + 1, sizeof **sums)};
    bool ok = sums[0] && sums[1];
    w->take = take_sum;
    w->arg = sums;
    ok = ok && walk_rows(w) && cells_choose(c, sums[0], functions, c->total_thing) &&
         cells_choose(c, sums[1], functions, c->self_thing);
    for (size_t f = 0; ok && f < functions; f++) {
        c->of += sums[0][f] > 0;
        c->looked += c->total_thing[f] || c->self_thing[f];
    }
    free(sums[0]);
    free(sums[1]);
    c->counts = ok ? calloc(c->things * c->n, sizeof *c->counts) : NULL;
    c->same = ok ? calloc(c->things, 1) : NULL;
    c->always = ok ? calloc(c->things, 1) : NULL;
    if (!c->counts || !c->same || !c->always)
        return false;
    for (size_t i = 0; i < c->samples; i++)
        c->counts[c->list[i].cell]++;
    w->take = take_cells;
    if (!walk_rows(w))
        return false;
    mark_same(c);
    return true;
}

spaa_status sp_cells_make(struct sp_selection *s, const struct sp_sample_times *m, struct sp_diags *d,
                          struct sp_cells *out)
{
    size_t functions = s->profile->functions.n;
    enum sp_weighing how;
    *out = (struct sp_cells){.things = 1};
    spaa_status st = sp_weighing_or_say(s->profile, s->event, s->metric, d, &how);
    if (st)
        return st;
    struct walk w = {.s = s, .c = out, .last = malloc((functions + 1) * sizeof *w.last)};
    out->total_thing = calloc(functions + 1, sizeof *out->total_thing);
    out->self_thing = calloc(functions + 1, sizeof *out->self_thing);
    bool ok = w.last && out->total_thing && out->self_thing && take_samples(s, m, how, out);
    if (ok) {
        place_samples(out);
        ok = count_functions(&w);
    }
    free(w.last);
    return ok ? SPAA_OK : sp_nomem(d);
}

void sp_cells_free(struct sp_cells *c)
{
    free(c->list);
    free(c->counts);
    free(c->same);
    free(c->always);
    free(c->total_thing);
    free(c->self_thing);
}
