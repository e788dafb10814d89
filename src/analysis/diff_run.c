/*
 * One run, reduced to numbers per normalised function: one pass over the selected stacks, and one over the
 * samples where they are put into time blocks.
 *
 * Addresses without a symbol are one row for each binary, except in SPT, which has nothing else: there they
 * are rows of their own as long as all runs are of the same build. That is known when all runs are in, so
 * these are counted under both keys until then.
 */
#include "analysis/diff_private.h"

#include "analysis/fold.h"
#include "analysis/function_handle.h"
#include "analysis/normalise.h"
#include "analysis/own.h"
#include "analysis/signature.h"
#include "analysis/top.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/functions.h"
#include "model/samples.h"

#include <math.h>

#define BLOCK_SAMPLES 200 /* fewer in a run make no blocks */

/* Of a frame, once for each place in a stack: this may add up to more than 64 bits. */
struct place {
    double weight, samples;
};

struct taker {
    struct sp_diff *d;
    struct sp_diff_run *r;
    struct sp_selection *s;
    unsigned side;
    uint32_t *keys, *frame_keys; /* of each function and frame */
    uint32_t *frame_alls;        /* of each frame: a key that counts it together with others, or SP_NONE */
    bool together;               /* there are such */
    uint32_t bare;               /* the key of rows without frames */
    unsigned char *unresolved;   /* per function: it is an address */
    bool by_address;             /* SPT: addresses are what it has */
    struct place *forms;         /* per frame */
    struct sp_own own;
    struct sp_buf text, full;
};

static uint32_t diff_run_key_of(struct taker *t, struct sp_str function, struct sp_str file,
                                struct sp_str dso, uint32_t build, uint32_t all)
{
    struct sp_diff *d = t->d;
    sp_buf_clear(&t->text);
    sp_normal_function(&t->text, function);
    if (file.n)
        sp_diff_add_file(&t->text, file);
    if (t->text.failed)
        return SP_NONE;
    uint32_t f = sp_intern(&d->strs, t->text.data ? t->text.data : "", t->text.len);
    sp_buf_clear(&t->text);
    sp_normal_dso(&t->text, sp_diff_mapped(d, t->side, dso));
    uint32_t o = sp_intern(&d->strs, t->text.data ? t->text.data : "", t->text.len);
    return f == SP_STR_FAIL || o == SP_STR_FAIL || t->text.failed ? SP_NONE
                                                                  : sp_diff_key_at(d, f, o, build, all);
}

static const struct sp_str no_file = {"", 0};

/* The key of a function that has a name, by its linkage name and file; SP_NONE: out of memory. */
static uint32_t named_key(struct taker *t, uint32_t i)
{
    const struct sp_profile *p = t->s->profile;
    const struct sp_function *f = &p->functions.v[i];
    const struct sp_func_info *x = sp_function_info(p, i);
    struct sp_str name = sp_pstr(p, f->name), dso = sp_pstr(p, p->dsos.v[f->dso].name);
    struct sp_str linkage = x && !sp_has_parameters(name) ? sp_pstr(p, x->linkage) : no_file;
    sp_buf_clear(&t->full);
    if (!sp_diff_full_name(&t->full, name, linkage))
        return SP_NONE;
    return diff_run_key_of(t, (struct sp_str){t->full.data ? t->full.data : "", (uint32_t)t->full.len},
                           sp_function_file(p, i), dso, SP_STR_NONE, SP_NONE);
}

/* The key of a function; SP_NONE: out of memory. */
static uint32_t function_key(struct taker *t, uint32_t i)
{
    const struct sp_profile *p = t->s->profile;
    const struct sp_function *f = &p->functions.v[i];
    struct sp_str name = sp_pstr(p, f->name), dso = sp_pstr(p, p->dsos.v[f->dso].name),
                  id = sp_pstr(p, p->dsos.v[f->dso].build_id);
    if (!t->unresolved[i])
        return named_key(t, i);
    uint32_t all =
        diff_run_key_of(t, (struct sp_str){"[unresolved]", 12}, no_file, dso, SP_STR_NONE, SP_NONE);
    if (all == SP_NONE)
        return SP_NONE;
    if (!t->by_address || !id.n) {
        t->d->keys.v[all].plain = true;
        return all;
    }
    uint32_t build = sp_intern(&t->d->strs, id.p, id.n);
    return build == SP_STR_FAIL ? SP_NONE : diff_run_key_of(t, name, no_file, dso, build, all);
}

static bool name_frames(struct taker *t)
{
    const struct sp_profile *p = t->s->profile;
    for (size_t i = 0; i < p->frames.n; i++)
        t->frame_keys[i] = t->keys[p->frames.v[i].function];
    return sp_diff_join_inlined(t->d, p, t->frame_keys);
}

/* What is counted together with others until all runs are in: addresses of a binary, overloads. */
static bool group_frames(struct taker *t)
{
    const struct sp_profile *p = t->s->profile;
    t->together = t->by_address;
    for (size_t i = 0; i < p->frames.n; i++)
        t->frame_alls[i] = t->d->keys.v[t->frame_keys[i]].all;
    return sp_diff_group_overloads(t->d, p, t->frame_keys, t->frame_alls, &t->together);
}

static bool tables(struct taker *t)
{
    const struct sp_profile *p = t->s->profile;
    t->keys = malloc((p->functions.n + 1) * sizeof *t->keys);
    t->frame_keys = malloc((p->frames.n + 1) * sizeof *t->frame_keys);
    t->frame_alls = malloc((p->frames.n + 1) * sizeof *t->frame_alls);
    t->unresolved = calloc(p->functions.n + 1, 1);
    if (!t->keys || !t->frame_keys || !t->frame_alls || !t->unresolved)
        return false;
    for (size_t i = 0; i < p->frames.n; i++)
        if (p->frames.v[i].flags & SP_FRAME_UNRESOLVED)
            t->unresolved[p->frames.v[i].function] = 1;
    t->by_address = sp_str_is(sp_pstr(p, p->header.source_tool), "spt");
    for (uint32_t i = 0; i < p->functions.n; i++)
        if ((t->keys[i] = function_key(t, i)) == SP_NONE)
            return false;
    t->bare = diff_run_key_of(t, (struct sp_str){"[no stack]", 10}, no_file, no_file, SP_STR_NONE, SP_NONE);
    if (!name_frames(t) || !group_frames(t))
        return false;
    t->r->no_binaries = true;
    for (size_t i = 0; i < p->dsos.n; i++) {
        struct sp_str name = sp_pstr(p, p->dsos.v[i].name);
        t->r->no_binaries = t->r->no_binaries && name.n && name.p[0] == '[';
    }
    t->forms = calloc(p->frames.n + 1, sizeof *t->forms);
    t->r->form_of = calloc(t->d->keys.n + 1, sizeof *t->r->form_of);
    t->r->keys = t->d->keys.n;
    for (unsigned i = 0; i < SP_FAMILIES; i++)
        t->r->values[i] = calloc(t->r->keys + 1, sizeof *t->r->values[i]);
    return t->bare != SP_NONE && t->forms && t->r->form_of && t->r->values[SP_SELF] && t->r->values[SP_TOTAL];
}

static int64_t samples_of(int64_t v)
{
    return v > SP_DECIMAL ? v : 0;
}

/* Keys that are met, in that order: those that most stacks have sit close together in the caches. */
struct seats {
    const uint32_t *frame_keys;
    uint32_t bare;
    uint32_t *seat; /* per key: 1 + its group; 0: not met yet */
    SP_VEC(uint32_t) keys;
};

static uint32_t take_seat(void *arg, uint32_t frame)
{
    struct seats *x = arg;
    uint32_t key = frame == SP_NONE ? x->bare : x->frame_keys[frame];
    if (key == SP_NONE)
        return SP_NONE;
    if (!x->seat[key]) {
        if (!sp_vec_push(&x->keys, key))
            return SP_FOLD_FAIL;
        x->seat[key] = (uint32_t)x->keys.n;
    }
    return x->seat[key] - 1;
}

/* Sums by the keys of frames go to the run's values, in place of what was there. */
static bool take_by(struct taker *t, const uint32_t *frame_keys, uint32_t bare)
{
    size_t n = t->s->profile->frames.n;
    struct seats x = {frame_keys, bare, calloc(t->r->keys + 1, sizeof *x.seat), {0}};
    struct sp_fold_key key = {malloc((n + 1) * sizeof *key.of), SP_FOLD_NEW, take_seat, &x};
    struct sp_fold sums = {0};
    for (size_t i = 0; key.of && i < n; i++)
        key.of[i] = SP_FOLD_NEW;
    bool ok = x.seat && key.of && sp_fold(t->s, &(struct sp_fold_by){.frames = &key}, &sums);
    for (size_t i = 0; ok && i < sums.self.n; i++) {
        const struct sp_fold_sum *self = &sums.self.v[i], *total = &sums.total.v[i];
        t->r->values[SP_SELF][x.keys.v[i]] = (struct sp_diff_value){self->weight, samples_of(self->samples)};
        t->r->values[SP_TOTAL][x.keys.v[i]] =
            (struct sp_diff_value){total->weight, samples_of(total->samples)};
    }
    free(x.seat);
    sp_vec_free(&x.keys);
    free(key.of);
    sp_fold_free(&sums);
    return ok;
}

/* Keys that count others together: of addresses of a binary, of overloads. Some are keys of frames, too,
 * which are then counted with no others. */
static bool take_together(struct taker *t)
{
    size_t n = t->s->profile->frames.n;
    uint32_t *keys = malloc((n + 1) * sizeof *keys);
    unsigned char *is_all = calloc(t->r->keys + 1, 1);
    bool ok = keys && is_all;
    for (size_t i = 0; ok && i < n; i++)
        if (t->frame_alls[i] != SP_NONE)
            is_all[t->frame_alls[i]] = 1;
    for (size_t i = 0; ok && i < n; i++)
        keys[i] = t->frame_alls[i] != SP_NONE ? t->frame_alls[i]
                  : is_all[t->frame_keys[i]]  ? t->frame_keys[i]
                                              : SP_NONE;
    ok = ok && take_by(t, keys, SP_NONE);
    free(keys);
    free(is_all);
    return ok;
}

static bool take_places(struct taker *t)
{
    for (size_t i = 0; i < t->s->rows.n; i++) {
        const struct sp_selected *x = &t->s->rows.v[i];
        size_t n;
        const uint32_t *f = sp_selected_frames(t->s, i, &n);
        if (!f)
            return false;
        for (size_t k = 0; k < n; k++) {
            t->forms[f[k]].weight += (double)x->weight;
            t->forms[f[k]].samples += (double)samples_of(x->samples);
        }
    }
    return true;
}

static bool take_stacks(struct taker *t)
{
    return take_by(t, t->frame_keys, t->bare) && (!t->together || take_together(t)) && take_places(t);
}

/* Of a key, made where the run has nothing of it yet; NULL: out of memory. */
static struct sp_diff_forms *forms_at(struct sp_diff_run *r, uint32_t key)
{
    if (!r->form_of[key]) {
        if (!sp_vec_push(&r->forms, (struct sp_diff_forms){0}))
            return NULL;
        r->form_of[key] = (uint32_t)r->forms.n;
    }
    return sp_diff_forms_of(r, key);
}

static bool take_forms(struct taker *t)
{
    const struct sp_profile *p = t->s->profile;
    for (size_t i = 0; i < p->frames.n; i++) {
        if (t->forms[i].weight == 0 && t->forms[i].samples == 0)
            continue;
        struct sp_diff_forms *x = forms_at(t->r, t->frame_keys[i]);
        if (!x)
            return false;
        const struct sp_frame *f = &p->frames.v[i];
        struct sp_str shown = sp_pstr(p, p->functions.v[f->function].name),
                      symbol = sp_frame_symbol(p, (uint32_t)i);
        unsigned form =
            sp_diff_form_of(sp_linkage_parts(symbol).n ? symbol : shown, f->flags & SP_FRAME_INLINED);
        x->weight[form] += t->forms[i].weight;
        x->samples[form] += t->forms[i].samples;
    }
    return true;
}

/* The name and handle of each key: of its functions, the one with the shortest name: `f`, not `f.isra.0`. */
static bool take_names(struct taker *t)
{
    const struct sp_profile *p = t->s->profile;
    struct sp_handles handles;
    bool ok = true;
    t->r->names = calloc(t->r->keys + 1, sizeof *t->r->names);
    if (!t->r->names || sp_handles_of(p, p->diags, &handles))
        return false;
    for (size_t k = 0; ok && k < p->frames.n; k++) {
        uint32_t key = t->frame_keys[k], i = p->frames.v[k].function;
        struct sp_diff_name *n = &t->r->names[key];
        const struct sp_diff_value *v = &t->r->values[SP_TOTAL][key];
        if (!v->weight && !v->samples)
            continue;
        n->own = n->own || sp_is_own(&t->own, i);
        n->tags |= sp_function_tags(t->s, i) | (t->unresolved[i] ? SP_TAG_UNRESOLVED : 0);
        struct sp_str name = sp_pstr(p, p->functions.v[i].name), had = sp_str_at(&t->d->strs, n->function),
                      dso = sp_pstr(p, p->dsos.v[p->functions.v[i].dso].name),
                      build_id = sp_pstr(p, p->dsos.v[p->functions.v[i].dso].build_id);
        char id[32] = "";
        if (n->function && sp_str_cmp(sp_without_suffixes(had), sp_without_suffixes(name)) != 0) {
            n->function = t->d->keys.v[key].function; /* several lambdas, say: the row is none of them */
            continue;
        }
        if (n->function && (had.n < name.n || (had.n == name.n && sp_str_cmp(had, name) <= 0)))
            continue;
        n->function = t->unresolved[i] ? t->d->keys.v[key].function : sp_intern(&t->d->strs, name.p, name.n);
        n->dso = sp_intern(&t->d->strs, dso.p, dso.n);
        n->build = build_id.n ? sp_intern(&t->d->strs, build_id.p, build_id.n) : SP_STR_NONE;
        if (!t->unresolved[i] || t->d->keys.v[key].all != SP_NONE)
            sp_handle_text_alike(&handles, i, id);
        memcpy(n->id, id, sizeof n->id);
        ok = n->function != SP_STR_FAIL && n->dso != SP_STR_FAIL && n->build != SP_STR_FAIL;
    }
    sp_handles_free(&handles);
    return ok;
}

/* ---- totals ---- */

/* When the recording began and ended, in ns of its clock; false: it does not say. */
static bool diff_run_recorded(const struct sp_profile *p, int64_t *start, int64_t *end)
{
    const struct sp_header *h = &p->header;
    struct sp_str a = sp_pstr(p, h->time_start), b = sp_pstr(p, h->time_end);
    return h->time_start && h->time_end && sp_str_is(sp_pstr(p, h->time_unit), "seconds") &&
           sp_seconds_ns(a.p, a.n, start) && sp_seconds_ns(b.p, b.n, end) && *end > *start;
}

/* The time that the weight is of: of --time the part that was recorded. */
static double seconds_of(const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    struct sp_str t = sp_pstr(p, p->header.duration);
    int64_t start, end;
    if (p->events.v[s->event].mode != SP_FREQUENCY)
        return NAN;
    if (s->timed) {
        if (!diff_run_recorded(p, &start, &end)) {
            start = s->seen_lo;
            end = s->seen_hi;
        }
        start = s->time_lo > start ? s->time_lo : start;
        end = s->time_hi < end ? s->time_hi : end;
        return end > start ? ((double)end - (double)start) / 1e9 : NAN;
    }
    if (p->header.duration && sp_seconds_ns(t.p, t.n, &end) && end > 0)
        return (double)end / 1e9;
    return diff_run_recorded(p, &start, &end) ? ((double)end - (double)start) / 1e9 : NAN;
}

/*
 * Effective samples: (sum w)² / sum w², each sample of a stack taken to weigh as much as its others. Where
 * a weight has no samples beside it, nothing is known.
 */
static void take_totals(struct sp_diff_run *r, const struct sp_selection *s, const struct sp_selection *whole)
{
    double sum = 0, squares = 0;
    r->total = whole->kept;
    r->kept = s->kept;
    r->all = s->event_whole;
    r->scale = whole->scale;
    r->samples = 0;
    for (size_t i = 0; i < whole->rows.n; i++) {
        const struct sp_selected *x = &whole->rows.v[i];
        double w = (double)x->weight, n = (double)x->samples;
        r->negative = r->negative || x->weight < 0;
        if (x->samples <= SP_DECIMAL || (x->samples == 0 && x->weight)) {
            r->samples = SP_ABSENT;
            break;
        }
        r->samples += x->samples;
        sum += w;
        squares += x->samples > 0 ? w * w / n : 0;
    }
    if (r->samples == SP_ABSENT || r->samples <= 0 || r->negative) {
        r->samples = SP_ABSENT;
        r->effective = NAN;
    } else {
        r->effective = squares > 0 ? sum * sum / squares : NAN;
    }
    r->seconds = seconds_of(whole);
    const struct sp_event *e = &whole->profile->events.v[whole->event];
    bool counts = e->kind == SP_ALLOCATION || e->kind == SP_DEALLOCATION || e->kind == SP_PROBE;
    struct sp_str frequency = sp_pstr(whole->profile, e->frequency_hz);
    r->counted_at = whole->metric == whole->samples_metric ? sp_hash64(frequency.p, frequency.n) : 0;
    r->exact = e->mode == SP_EVENT && counts;
}

/* ---- time blocks ---- */

struct blocks {
    struct sp_sample *rows;
    size_t n;        /* samples of the event with a time, in order */
    double *unit;    /* per stack: the weight of one sample; 0: not selected */
    uint32_t *row;   /* per stack: 1 + its row of the selection; 0: only of the whole */
    double *sum;     /* per row, of the block at hand */
    uint32_t *turns; /* per key: the last turn of a row that had it */
    SP_VEC(uint32_t) touched;
};

static bool diff_run_taken(const struct blocks *b, const struct sp_selection *whole,
                           const struct sp_sample *x)
{
    if (whole->timed && (x->time < whole->time_lo || x->time >= whole->time_hi))
        return false;
    return x->flags & SP_SAMPLE_TIME && x->stack != SP_NONE && x->stack < whole->profile->stacks.n &&
           b->unit[x->stack] > 0 && (x->event == SP_NONE || x->event == whole->event);
}

/* What was summed for one block goes to its keys. */
static bool diff_run_settle(struct taker *t, struct blocks *b, unsigned block, uint32_t *turn)
{
    struct sp_diff_run *r = t->r;
    for (size_t i = 0; i < b->touched.n; i++) {
        size_t n, row = b->touched.v[i];
        const uint32_t *f = sp_selected_frames(t->s, row, &n);
        double weight = b->sum[row];
        if (!f)
            return false;
        uint32_t leaf = n ? t->frame_keys[f[0]] : t->bare;
        double *at = r->block_values + (size_t)leaf * SP_FAMILIES * r->blocks;
        at[block] += weight;
        if (!n)
            at[r->blocks + block] += weight;
        ++*turn;
        for (size_t k = 0; k < n; k++) {
            uint32_t key = t->frame_keys[f[k]];
            if (sp_fold_first(&b->turns[key], *turn))
                r->block_values[((size_t)key * SP_FAMILIES + SP_TOTAL) * r->blocks + block] += weight;
        }
        b->sum[row] = 0;
    }
    b->touched.n = 0;
    return true;
}

static bool fill_blocks(struct taker *t, const struct sp_selection *whole, struct blocks *b, int64_t first,
                        int64_t last)
{
    struct sp_diff_run *r = t->r;
    unsigned block = 0;
    uint32_t turn = 0;
    r->block_values = calloc(r->keys * SP_FAMILIES * r->blocks + 1, sizeof *r->block_values);
    if (!r->block_values)
        return false;
    for (size_t i = 0; i < b->n; i++) {
        const struct sp_sample *x = &b->rows[i];
        if (!diff_run_taken(b, whole, x))
            continue;
        unsigned at = (unsigned)((__int128)(x->time - first) * r->blocks / ((__int128)last - first + 1));
        if (at != block && !diff_run_settle(t, b, block, &turn))
            return false;
        block = at;
        r->block_total[at] += b->unit[x->stack];
        if (!b->row[x->stack])
            continue;
        uint32_t row = b->row[x->stack] - 1;
        if (b->sum[row] == 0 && !sp_vec_push(&b->touched, row))
            return false;
        b->sum[row] += b->unit[x->stack];
    }
    return diff_run_settle(t, b, block, &turn);
}

static bool index_stacks(struct taker *t, const struct sp_selection *whole, struct blocks *b)
{
    size_t stacks = whole->profile->stacks.n;
    b->unit = calloc(stacks + 1, sizeof *b->unit);
    b->row = calloc(stacks + 1, sizeof *b->row);
    b->sum = calloc(t->s->rows.n + 1, sizeof *b->sum);
    b->turns = calloc(t->r->keys + 1, sizeof *b->turns);
    if (!b->unit || !b->row || !b->sum || !b->turns)
        return false;
    for (size_t i = 0; i < whole->rows.n; i++) {
        const struct sp_selected *x = &whole->rows.v[i];
        if (x->samples > 0)
            b->unit[x->stack] = (double)x->weight / (double)x->samples;
    }
    for (size_t i = 0; i < t->s->rows.n; i++)
        b->row[t->s->rows.v[i].stack] = (uint32_t)i + 1;
    return true;
}

/* Only what covers the selection may speak for it: samples of a part would. */
static const char *unfit(const struct sp_diff_run *r, uint64_t found, int64_t first, int64_t last)
{
    if (r->samples == SP_ABSENT)
        return "the stacks have no sample counts";
    double share = (double)found / (double)r->samples;
    return !found                                   ? "there are no samples with timestamps"
           : share < 0.99 || share > 1.01           ? "the samples with timestamps do not cover the selection"
           : found < BLOCK_SAMPLES || first >= last ? "there are too few samples for them"
                                                    : NULL;
}

static spaa_status take_blocks(struct taker *t, const struct sp_selection *whole)
{
    const struct sp_profile *p = whole->profile;
    struct blocks b = {0};
    int64_t first = INT64_MAX, last = INT64_MIN;
    uint64_t found = 0;
    if (!p->samples) {
        t->r->no_blocks = "there are no samples with timestamps";
        return SPAA_OK;
    }
    spaa_status st = sp_samples_sort(p->samples);
    if (!st)
        st = sp_samples_rows(p->samples, &b.rows, &b.n);
    bool ok = st || index_stacks(t, whole, &b);
    for (size_t i = 0; ok && !st && i < b.n; i++) {
        if (!diff_run_taken(&b, whole, &b.rows[i]))
            continue;
        int64_t time = b.rows[i].time;
        first = time < first ? time : first;
        last = time > last ? time : last;
        found++;
    }
    if (ok && !st && !(t->r->no_blocks = unfit(t->r, found, first, last))) {
        t->r->blocks = found >= 20 * SP_DIFF_BLOCKS ? SP_DIFF_BLOCKS : 20;
        ok = fill_blocks(t, whole, &b, first, last);
    }
    free(b.unit);
    free(b.row);
    free(b.sum);
    free(b.turns);
    sp_vec_free(&b.touched);
    return st ? st : ok ? SPAA_OK : sp_nomem(t->d->diags);
}

spaa_status sp_diff_add(struct sp_diff *d, unsigned side, struct sp_selection *s,
                        const struct sp_selection *whole, bool blocks)
{
    if (s->cannot_add) {
        sp_emit(d->diags, SP_E630, SP_AT_NOTHING, " ");
        return SPAA_ERR_USAGE;
    }
    struct taker t = {.d = d, .s = s, .side = side, .r = calloc(1, sizeof *t.r)};
    if (!t.r || !sp_vec_push(&d->runs[side], t.r)) {
        free(t.r);
        return sp_nomem(d->diags);
    }
    sp_buf_init(&t.text, 0);
    sp_buf_init(&t.full, 0);
    whole = whole ? whole : s;
    take_totals(t.r, s, whole);
    spaa_status st = sp_own_of(s, NULL, d->diags, &t.own);
    if (st)
        return st;
    bool ok = sp_diff_note_dsos(d, side, s->profile) && tables(&t) && take_stacks(&t) && take_names(&t) &&
              sp_diff_take_memory(t.r, s, whole, t.frame_keys, t.bare) &&
              sp_diff_take_bodies(d, t.r, s, t.frame_keys);
    ok = ok && take_forms(&t);
    st = !ok ? sp_nomem(d->diags) : blocks ? take_blocks(&t, whole) : SPAA_OK;
    free(t.keys);
    free(t.frame_keys);
    free(t.frame_alls);
    free(t.unresolved);
    free(t.forms);
    sp_own_free(&t.own);
    sp_buf_free(&t.text);
    sp_buf_free(&t.full);
    return st;
}

bool sp_diff_settle_addresses(struct sp_diff *d)
{
    enum { ONE = UINT32_MAX };
    uint32_t *build = calloc(d->keys.n + 1, sizeof *build); /* per key of a binary's addresses */
    for (size_t k = 0; build && k < d->keys.n; k++) {
        const struct sp_diff_key *key = &d->keys.v[k];
        if (key->all == SP_NONE)
            continue;
        uint32_t *b = &build[key->all];
        if (*b && *b != ONE && *b != key->build)
            sp_emit(d->diags, SP_W640, SP_AT_NOTHING, "%.*s is of several builds: its addresses are one row",
                    (int)sp_str_at(&d->strs, key->dso).n, sp_str_at(&d->strs, key->dso).p);
        *b = (!*b || *b == key->build) && !d->keys.v[key->all].plain ? key->build : ONE;
    }
    for (size_t k = 0; build && k < d->keys.n; k++) {
        uint32_t all = d->keys.v[k].all;
        if (all == SP_NONE)
            continue;
        for (unsigned i = 0; i < SP_SIDES * SP_FAMILIES; i++)
            for (size_t r = 0; r < d->runs[i / SP_FAMILIES].n; r++)
                d->runs[i / SP_FAMILIES].v[r]->values[i % SP_FAMILIES][build[all] == ONE ? k : all] =
                    (struct sp_diff_value){0};
    }
    free(build);
    return build != NULL;
}

void sp_diff_run_free(struct sp_diff_run *r)
{
    if (!r)
        return;
    free(r->values[SP_SELF]);
    free(r->values[SP_TOTAL]);
    free(r->names);
    free(r->form_of);
    sp_vec_free(&r->forms);
    free(r->other[SP_SELF]);
    free(r->other[SP_TOTAL]);
    free(r->block_values);
    sp_vec_free(&r->bodies);
    free(r);
}
