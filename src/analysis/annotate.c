#include "analysis/annotate.h"

#include "analysis/fold.h"
#include "base/hash.h"
#include "base/map.h"
#include "model/returns.h"

#include <stdlib.h>

/* Groups of sums by a pair of numbers. */
struct keyed {
    struct sp_map map;
    struct sp_fold sums;
};

struct annotator {
    struct sp_selection *s;
    const struct sp_profile *p;
    const struct sp_function_lookup *lookup;
    struct sp_annotation a;
    struct sp_diags *d;
    uint32_t *line_of; /* per frame: 1 + its line; 0: not asked */
    struct sp_map file_map;
    struct keyed lines, inlined, code;
    struct sp_fold whole;
    spaa_status failed;
};

static bool annotate_nomem(struct annotator *b)
{
    b->failed = sp_nomem(b->d);
    return false;
}

/* ---- files, lines ---- */

/* Finds or adds; SP_NONE: failed. */
static uint32_t file_of(struct annotator *b, const struct sp_source_place *at)
{
    uint64_t hash = at->file.n ? sp_hash64(at->file.p, at->file.n) : 0;
    struct sp_probe probe = sp_map_probe(&b->file_map, hash);
    for (uint32_t i; (i = sp_map_next(&b->file_map, &probe)) != SP_MAP_NONE;)
        if (b->a.files.v[i].module == at->module && sp_places_same_file(&b->a.files.v[i], at))
            return i;
    uint32_t number = (uint32_t)b->a.files.n;
    if (!sp_vec_push(&b->a.files, *at) || !sp_map_add(&b->file_map, hash, number)) {
        annotate_nomem(b);
        return SP_NONE;
    }
    b->a.files.v[number].line = 0;
    return number;
}

static uint32_t add_group(struct annotator *b, struct keyed *k, uint64_t hash, size_t number, bool added)
{
    if (added && number < SP_NONE && sp_map_add(&k->map, hash, (uint32_t)number) &&
        sp_fold_reserve(&k->sums, number + 1))
        return (uint32_t)number;
    annotate_nomem(b);
    return SP_NONE;
}

static uint32_t line_at(struct annotator *b, uint32_t file, uint32_t line)
{
    uint64_t hash = sp_hash_mix(file, line);
    struct sp_probe probe = sp_map_probe(&b->lines.map, hash);
    for (uint32_t i; (i = sp_map_next(&b->lines.map, &probe)) != SP_MAP_NONE;)
        if (b->a.lines.v[i].file == file && b->a.lines.v[i].line == line)
            return i;
    struct sp_annotated_line new = {.file = file, .line = line};
    bool added = sp_vec_push(&b->a.lines, new);
    return add_group(b, &b->lines, hash, b->a.lines.n - 1, added);
}

/* The line of a frame of the function; SP_NONE: failed. */
static uint32_t annotate_line_of(struct annotator *b, uint32_t frame)
{
    struct sp_source_place at;
    if (b->line_of[frame])
        return b->line_of[frame] - 1;
    b->failed = sp_places_of(b->a.places, frame, &at);
    uint32_t file = b->failed ? SP_NONE : file_of(b, &at);
    uint32_t line = file == SP_NONE ? SP_NONE : line_at(b, file, at.line);
    if (line != SP_NONE)
        b->line_of[frame] = line + 1;
    return line;
}

static uint32_t inlined_at(struct annotator *b, uint32_t line, uint32_t function)
{
    uint64_t hash = sp_hash_mix(line, function);
    struct sp_probe probe = sp_map_probe(&b->inlined.map, hash);
    for (uint32_t i; (i = sp_map_next(&b->inlined.map, &probe)) != SP_MAP_NONE;)
        if (b->a.inlined.v[i].line == line && b->a.inlined.v[i].function == function)
            return i;
    struct sp_annotated_inline new = {.line = line, .function = function};
    bool added = sp_vec_push(&b->a.inlined, new);
    return add_group(b, &b->inlined, hash, b->a.inlined.n - 1, added);
}

static uint32_t code_at(struct annotator *b, uint32_t dso, uint64_t at, bool call)
{
    uint64_t hash = sp_hash_mix((uint64_t)dso << 1 | call, at);
    struct sp_probe probe = sp_map_probe(&b->code.map, hash);
    for (uint32_t i; (i = sp_map_next(&b->code.map, &probe)) != SP_MAP_NONE;) {
        const struct sp_annotated_code *c = &b->a.code.v[i];
        if (c->dso == dso && c->at == at && c->call == call)
            return i;
    }
    struct sp_annotated_code new = {.dso = dso, .at = at, .call = call};
    bool added = sp_vec_push(&b->a.code, new);
    return add_group(b, &b->code, hash, b->a.code.n - 1, added);
}

/* ---- rows ---- */

/* A row while it is looked at. */
struct annotated_row {
    const struct sp_selected *row;
    const uint32_t *f;
    uint32_t turn;
    struct sp_returns returns;
};

static bool is_inlined(const struct annotator *b, uint32_t frame)
{
    return b->p->frames.v[frame].flags & SP_FRAME_INLINED;
}

static bool add_code(struct annotator *b, const struct annotated_row *r, size_t k, size_t run, bool self)
{
    const struct sp_frame *f = &b->p->frames.v[r->f[k]], *leaf = run ? &b->p->frames.v[r->f[run - 1]] : NULL;
    uint32_t dso = b->p->functions.v[f->function].dso;
    uint64_t at;
    struct sp_module *m;
    b->failed = sp_places_module(b->a.places, dso, &m);
    if (b->failed || !sp_places_address(b->a.places, m, r->f[k], &at))
        return !b->failed;
    uint32_t group = code_at(b, dso, at, sp_is_return(r->returns, f, leaf));
    if (group == SP_NONE)
        return false;
    sp_fold_total(&b->code.sums, group, r->row, r->turn);
    if (self)
        sp_fold_self(&b->code.sums, group, r->row);
    return true;
}

/* The function at place k of the stack; all that is inlined there begins at `run`. */
static bool add_hit(struct annotator *b, const struct annotated_row *r, size_t k, size_t run, bool self)
{
    uint32_t line = annotate_line_of(b, r->f[k]), in = SP_NONE;
    if (line == SP_NONE)
        return false;
    if (k > run && (in = inlined_at(b, line, b->p->frames.v[r->f[k - 1]].function)) == SP_NONE)
        return false;
    sp_fold_total(&b->lines.sums, line, r->row, r->turn);
    if (in != SP_NONE)
        sp_fold_total(&b->inlined.sums, in, r->row, r->turn);
    if (self) {
        sp_fold_self(&b->lines.sums, line, r->row);
        sp_fold_self(&b->whole, 0, r->row);
        b->a.own += k ? 0 : r->row->weight;
        b->a.unlined += b->a.lines.v[line].line ? 0 : r->row->weight;
        if (in != SP_NONE)
            sp_fold_self(&b->inlined.sums, in, r->row);
    }
    return add_code(b, r, k, run, self);
}

static bool annotate_add_row(struct annotator *b, size_t i, struct sp_returns returns)
{
    size_t n, run = 0;
    bool any = false, recorded = false, lined = false;
    struct annotated_row r = {
        .row = &b->s->rows.v[i], .f = sp_selected_frames(b->s, i, &n), .turn = (uint32_t)i + 1};
    r.returns = returns;
    if (!r.f)
        return annotate_nomem(b);
    for (size_t k = 0; k < n; k++) {
        if (k && !is_inlined(b, r.f[k - 1])) /* what stands there was called, not inlined */
            run = k;
        const struct sp_frame *f = &b->p->frames.v[r.f[k]];
        if (!b->lookup->hits[f->function])
            continue;
        bool known = !(f->flags & SP_FRAME_INFERRED); /* else nobody knows from where in it it called */
        if (known && !add_hit(b, &r, k, run, !run && !any))
            return false;
        any = true;
        recorded |= known;
        lined |= known && b->a.lines.v[b->line_of[r.f[k]] - 1].line;
    }
    if (any)
        sp_fold_total(&b->whole, 0, r.row, r.turn);
    b->a.unlined_total += any && !lined ? r.row->weight : 0;
    b->a.inferred += any && !recorded ? r.row->weight : 0;
    return true;
}

/* ---- the whole ---- */

static int by_place(const void *va, const void *vb, void *arg)
{
    const struct annotator *b = arg;
    const struct sp_annotated_line *x = &b->a.lines.v[*(const uint32_t *)va],
                                   *y = &b->a.lines.v[*(const uint32_t *)vb];
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static int annotate_by_line(const void *va, const void *vb)
{
    const struct sp_annotated_inline *x = va, *y = vb;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static int by_code(const void *va, const void *vb)
{
    const struct sp_annotated_code *x = va, *y = vb;
    if (x->dso != y->dso)
        return x->dso < y->dso ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (int)x->call - (int)y->call;
}

static void take_sums(struct annotator *b)
{
    struct sp_annotation *a = &b->a;
    for (size_t i = 0; i < a->lines.n; i++) {
        const struct sp_fold_sum *self = &b->lines.sums.self.v[i], *total = &b->lines.sums.total.v[i];
        struct sp_annotated_line *l = &a->lines.v[i];
        l->self = self->weight;
        l->samples = self->samples;
        l->total = total->weight;
        l->total_samples = total->samples;
    }
    for (size_t i = 0; i < a->inlined.n; i++) {
        a->inlined.v[i].self = b->inlined.sums.self.v[i].weight;
        a->inlined.v[i].total = b->inlined.sums.total.v[i].weight;
    }
    for (size_t i = 0; i < a->code.n; i++) {
        a->code.v[i].self = b->code.sums.self.v[i].weight;
        a->code.v[i].samples = b->code.sums.self.v[i].samples;
        a->code.v[i].total = b->code.sums.total.v[i].weight;
    }
    a->self = b->whole.self.v[0].weight;
    a->samples = b->whole.self.v[0].samples;
    a->total = b->whole.total.v[0].weight;
    a->total_samples = b->whole.total.v[0].samples;
}

struct file_weight {
    int64_t self, total;
    uint32_t file;
};

static int by_weight(const void *va, const void *vb)
{
    const struct file_weight *x = va, *y = vb;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->file > y->file) - (x->file < y->file);
}

/* The files by weight. */
static bool order_files(struct annotator *b)
{
    struct sp_annotation *a = &b->a;
    size_t n = a->files.n;
    struct file_weight *w = calloc(n + 1, sizeof *w);
    struct sp_source_place *files = malloc((n + 1) * sizeof *files);
    uint32_t *place = malloc((n + 1) * sizeof *place);
    bool ok = w && files && place;
    for (size_t i = 0; ok && i < n; i++)
        w[i].file = (uint32_t)i;
    for (size_t i = 0; ok && i < a->lines.n; i++) {
        w[a->lines.v[i].file].self += a->lines.v[i].self;
        w[a->lines.v[i].file].total += a->lines.v[i].total;
    }
    if (ok && n)
        qsort(w, n, sizeof *w, by_weight);
    for (size_t i = 0; ok && i < n; i++) {
        files[i] = a->files.v[w[i].file];
        place[w[i].file] = (uint32_t)i;
    }
    if (ok && n)
        memcpy(a->files.v, files, n * sizeof *files);
    for (size_t i = 0; ok && i < a->lines.n; i++)
        a->lines.v[i].file = place[a->lines.v[i].file];
    free(w);
    free(files);
    free(place);
    return ok;
}

/* Lines by file and number, what is inlined by line. */
static bool order_lines(struct annotator *b)
{
    struct sp_annotation *a = &b->a;
    size_t n = a->lines.n;
    uint32_t *order = malloc((n + 1) * sizeof *order), *place = malloc((n + 1) * sizeof *place);
    struct sp_annotated_line *lines = malloc((n + 1) * sizeof *lines);
    bool ok = order && place && lines;
    for (size_t i = 0; ok && i < n; i++)
        order[i] = (uint32_t)i;
    if (ok && n)
        qsort_r(order, n, sizeof *order, by_place, b);
    for (size_t i = 0; ok && i < n; i++) {
        lines[i] = a->lines.v[order[i]];
        place[order[i]] = (uint32_t)i;
    }
    if (ok && n)
        memcpy(a->lines.v, lines, n * sizeof *lines);
    for (size_t i = 0; ok && i < a->inlined.n; i++)
        a->inlined.v[i].line = place[a->inlined.v[i].line];
    free(order);
    free(place);
    free(lines);
    if (ok && a->inlined.n)
        qsort(a->inlined.v, a->inlined.n, sizeof *a->inlined.v, annotate_by_line);
    for (size_t i = 0; ok && i < a->inlined.n; i++) {
        struct sp_annotated_line *l = &a->lines.v[a->inlined.v[i].line];
        l->first = l->n ? l->first : (uint32_t)i;
        l->n++;
    }
    return ok;
}

static void annotate_free(struct annotator *b)
{
    struct keyed *all[] = {&b->lines, &b->inlined, &b->code};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sp_map_free(&all[i]->map);
        sp_fold_free(&all[i]->sums);
    }
    sp_fold_free(&b->whole);
    sp_map_free(&b->file_map);
    free(b->line_of);
}

spaa_status sp_annotate(struct sp_selection *s, const struct sp_function_lookup *lookup,
                        const struct sp_symbol_opts *symbols, struct sp_diags *d, struct sp_annotation *out)
{
    struct annotator b = {.s = s, .p = s->profile, .lookup = lookup, .d = d};
    struct sp_returns returns = sp_returns_of(b.p, s->event);
    *out = (struct sp_annotation){0};
    b.failed = sp_places_new(b.p, symbols, d, &b.a.places);
    if (b.failed)
        return b.failed;
    b.line_of = calloc(b.p->frames.n + 1, sizeof *b.line_of);
    if (!b.line_of || !sp_fold_reserve(&b.whole, 1))
        annotate_nomem(&b);
    for (size_t i = 0; !b.failed && i < s->rows.n; i++)
        if (!annotate_add_row(&b, i, returns))
            break;
    if (!b.failed) {
        take_sums(&b);
        if (!order_files(&b) || !order_lines(&b))
            annotate_nomem(&b);
        else if (b.a.code.n)
            qsort(b.a.code.v, b.a.code.n, sizeof *b.a.code.v, by_code);
    }
    annotate_free(&b);
    if (b.failed)
        sp_annotation_free(&b.a);
    else
        *out = b.a;
    return b.failed;
}

void sp_annotation_free(struct sp_annotation *a)
{
    sp_places_free(a->places);
    sp_vec_free(&a->files);
    sp_vec_free(&a->lines);
    sp_vec_free(&a->inlined);
    sp_vec_free(&a->code);
    *a = (struct sp_annotation){0};
}
