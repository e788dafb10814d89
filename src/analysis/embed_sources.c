#include "analysis/embed_sources.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "model/facts.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES ((size_t)1 << 20) /* a longer one is no source that a person reads */

/* A file that frames of one DSO name. */
struct embed_file {
    struct sp_source_place at;
    uint32_t dso;
    uint64_t weight;   /* of its heaviest line */
    uint32_t first, n; /* slice of lines */
    uint32_t total;
    uint32_t flags; /* enum sp_source_flag */
    char sha256[2 * SP_SHA256 + 1];
    bool found;
};

/* A line that has weight. */
struct embed_hot {
    uint32_t file, line;
    uint64_t weight;
};

/* A line to be taken. */
struct embed_line {
    const char *text;
    uint64_t weight;
    uint32_t file, line, n;
    bool left_out;
};

struct embedder {
    struct sp_profile *p;
    const struct sp_embed_opts *opts;
    struct sp_diags *d;
    struct sp_embedded *out;
    struct sp_places *places;
    uint64_t *weights; /* by frame: the sum of its shares of each event */
    struct sp_map map; /* files */
    SP_VEC(struct embed_file) files;
    SP_VEC(struct embed_hot) hot;
    SP_VEC(struct embed_line) lines;
    struct sp_arena texts;
};

/* ---- weights ---- */

/* So many parts has the whole of an event: whole numbers, whose sum does not depend on the order. */
#define PARTS 1e12

static bool embed_weigh(struct embedder *e)
{
    const struct sp_profile *p = e->p;
    double *whole = calloc(p->events.n + 1, sizeof *whole);
    uint32_t *last = calloc(p->frames.n + 1, sizeof *last);
    e->weights = calloc(p->frames.n + 1, sizeof *e->weights);
    bool ok = whole && last && e->weights;
    for (int pass = 0; ok && pass < 2; pass++)
        for (uint32_t i = 0; i < p->stacks.n; i++) {
            uint32_t event = p->contexts.v[p->stacks.v[i].context].event;
            uint32_t metric = event == SP_NONE ? SP_NONE : p->events.v[event].primary;
            int64_t v = metric == SP_NONE ? 0 : sp_weight(p, i, metric);
            double weight = v > 0 ? (double)v : 0; /* absent and decimal ones are negative */
            const uint32_t *f = sp_stack_frames(p, i);
            if (!pass && event != SP_NONE)
                whole[event] += weight;
            for (uint32_t k = 0; pass && k < p->stacks.v[i].n; k++) {
                if (last[f[k]] == i + 1)
                    continue;
                last[f[k]] = i + 1;
                /* at least one: also where its weight is not known */
                e->weights[f[k]] += weight > 0 ? 1 + (uint64_t)(weight / whole[event] * PARTS) : 1;
            }
        }
    free(whole);
    free(last);
    return ok;
}

/* ---- lines that have weight ---- */

/* Finds or adds; SP_NONE: no memory. */
static uint32_t embed_file_of(struct embedder *e, uint32_t dso, const struct sp_source_place *at)
{
    uint64_t hash = sp_hash_mix(sp_hash64(at->file.p, at->file.n), dso);
    struct sp_probe probe = sp_map_probe(&e->map, hash);
    for (uint32_t i; (i = sp_map_next(&e->map, &probe)) != SP_MAP_NONE;)
        if (e->files.v[i].dso == dso && sp_places_same_file(&e->files.v[i].at, at))
            return i;
    struct embed_file file = {.at = *at, .dso = dso};
    uint32_t number = (uint32_t)e->files.n;
    bool ok = sp_vec_push(&e->files, file) && sp_map_add(&e->map, hash, number);
    return ok ? number : SP_NONE;
}

static spaa_status embed_frames(struct embedder *e)
{
    const struct sp_profile *p = e->p;
    for (uint32_t i = 0; i < p->frames.n; i++) {
        struct sp_source_place at;
        uint32_t dso = p->functions.v[p->frames.v[i].function].dso;
        if (!e->weights[i] || !p->frames.v[i].srcline)
            continue;
        spaa_status st = sp_places_of(e->places, i, &at);
        if (st)
            return st;
        if (!at.file.n || !at.line)
            continue;
        struct embed_hot hot = {embed_file_of(e, dso, &at), at.line, e->weights[i]};
        if (hot.file == SP_NONE || !sp_vec_push(&e->hot, hot))
            return sp_nomem(e->d);
    }
    return SPAA_OK;
}

static int hot_by_place(const void *va, const void *vb)
{
    const struct embed_hot *x = va, *y = vb;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Frames of one line as one; the slices of files. */
static void embed_sum(struct embedder *e)
{
    size_t n = 0;
    if (e->hot.n)
        qsort(e->hot.v, e->hot.n, sizeof *e->hot.v, hot_by_place);
    for (size_t i = 0; i < e->hot.n; i++) {
        struct embed_hot *before = n ? &e->hot.v[n - 1] : NULL;
        if (before && !hot_by_place(before, &e->hot.v[i]))
            before->weight += e->hot.v[i].weight;
        else
            e->hot.v[n++] = e->hot.v[i];
    }
    e->hot.n = n;
    for (size_t i = 0; i < n; i++) {
        struct embed_file *f = &e->files.v[e->hot.v[i].file];
        f->first = f->n ? f->first : (uint32_t)i;
        f->n++;
        f->weight = e->hot.v[i].weight > f->weight ? e->hot.v[i].weight : f->weight;
    }
}

/* ---- their text ---- */

static bool embed_line(struct embedder *e, uint32_t file, const struct sp_source_text *t, size_t i,
                       uint64_t weight)
{
    struct embed_line x = {.file = file, .weight = weight};
    struct sp_str text = sp_source_held(t, i, &x.line);
    size_t at = t->lines.v[i] + text.n; /* a carriage return is of the line, as it is in ranges of lines */
    while (at < t->n && t->data[at] == '\r')
        at++;
    x.n = (uint32_t)(at - t->lines.v[i]);
    if (x.n > LINE_MAX_BYTES) {
        e->out->left_out++;
        return true;
    }
    x.text = sp_arena_dup(&e->texts, text.p, x.n);
    return x.text && sp_vec_push(&e->lines, x);
}

/* The lines that are near enough to one of weight, each by the heaviest of these. */
static bool embed_lines(struct embedder *e, uint32_t number, const struct sp_source_text *t)
{
    const struct embed_file *f = &e->files.v[number];
    const struct embed_hot *hot = e->hot.v + f->first;
    uint64_t context = e->opts->context;
    size_t from = 0;
    for (size_t i = 0; i < t->lines.n; i++) {
        uint32_t line;
        uint64_t weight = 0;
        sp_source_held(t, i, &line);
        while (from < f->n && hot[from].line + context < line)
            from++;
        if (from == f->n)
            break;
        if (hot[from].line > line + context) { /* on to the first that is near */
            size_t next = sp_source_before(t, (uint32_t)(hot[from].line - context));
            i = next > i + 1 ? next - 1 : i;
            continue;
        }
        for (size_t k = from; k < f->n && hot[k].line <= line + context; k++)
            weight = hot[k].weight > weight ? hot[k].weight : weight;
        if (!embed_line(e, number, t, i, weight))
            return false;
    }
    return true;
}

/* Whether what was read is what was compiled: known only where there is a date to compare with. */
static uint32_t embed_flags(const struct sp_source_place *at, const struct sp_source_text *t)
{
    bool compared = t->from == SP_SOURCE_EMBEDDED || t->from == SP_SOURCE_SERVER || at->kept.n ||
                    (at->module && sp_module_file(at->module));
    if (t->newer)
        return SP_SOURCE_NEWER;
    return t->undated || !compared ? 0 : SP_SOURCE_OLDER;
}

static bool embed_miss(struct embedder *e, const struct embed_file *f, uint64_t *heaviest)
{
    struct sp_str name = f->at.path ? (struct sp_str){f->at.path, (uint32_t)strlen(f->at.path)} : f->at.file;
    e->out->missing++;
    if (e->out->first_missing && f->weight <= *heaviest)
        return true;
    *heaviest = f->weight;
    free(e->out->first_missing);
    e->out->first_missing = strndup(name.p, name.n);
    return e->out->first_missing;
}

static spaa_status embed_read(struct embedder *e)
{
    uint64_t heaviest = 0;
    spaa_status st = SPAA_OK;
    for (uint32_t i = 0; !st && i < e->files.n; i++) {
        struct embed_file *f = &e->files.v[i];
        struct sp_source_text t;
        st = sp_source_read(&f->at, &e->opts->sources, e->d, &t);
        if (st)
            break;
        f->found = t.from != SP_SOURCE_NONE && t.total;
        f->total = t.total;
        f->flags = embed_flags(&f->at, &t);
        memcpy(f->sha256, t.sha256, sizeof f->sha256);
        if (f->found ? !embed_lines(e, i, &t) : !embed_miss(e, f, &heaviest))
            st = sp_nomem(e->d);
        sp_source_free(&t);
    }
    return st;
}

/* ---- the heaviest of them, as pieces ---- */

static int line_by_weight(const void *va, const void *vb)
{
    const struct embed_line *x = *(const struct embed_line *const *)va,
                            *y = *(const struct embed_line *const *)vb;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool embed_limit(struct embedder *e)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < e->lines.n; i++)
        bytes += e->lines.v[i].n + 1;
    if (bytes <= e->opts->max_bytes)
        return true;
    struct embed_line **order = malloc((e->lines.n + 1) * sizeof *order);
    for (size_t i = 0; order && i < e->lines.n; i++)
        order[i] = &e->lines.v[i];
    if (order)
        qsort(order, e->lines.n, sizeof *order, line_by_weight);
    bytes = 0;
    for (size_t i = 0; order && i < e->lines.n; i++) {
        bytes += order[i]->n + 1;
        order[i]->left_out = bytes > e->opts->max_bytes;
        e->out->left_out += order[i]->left_out;
    }
    bool ok = order != NULL;
    free(order);
    return ok;
}

static uint32_t embed_cstr(struct embedder *e, const char *s, bool *ok)
{
    uint32_t id = s && *s ? sp_profile_cstr(e->p, s) : SP_STR_NONE;
    *ok = *ok && id != SP_STR_FAIL;
    return id;
}

/* What the pieces of a file share. */
static bool embed_version(struct embedder *e, const struct embed_file *f, struct sp_source_piece *out)
{
    const struct sp_dso *o = &e->p->dsos.v[f->dso];
    bool ok = true;
    *out = (struct sp_source_piece){.lines = f->total, .flags = f->flags};
    out->file = sp_profile_str(e->p, f->at.file.p, f->at.file.n);
    ok = out->file != SP_STR_FAIL;
    out->path = embed_cstr(e, f->at.path, &ok);
    out->comp_dir = embed_cstr(e, f->at.comp_dir, &ok);
    out->sha256 = embed_cstr(e, f->sha256, &ok);
    out->binary = o->name;
    out->build_id = o->build_id;
    return ok;
}

static bool embed_piece(struct embedder *e, struct sp_source_piece *x, struct sp_buf *b)
{
    if (!b->len)
        return !b->failed;
    x->text = sp_profile_str(e->p, b->data, b->len);
    sp_buf_clear(b);
    return x->text != SP_STR_FAIL && sp_vec_push(&e->p->source_pieces, *x);
}

/* Another text that was embedded of the file before gives way: which of the two it is, nothing could tell. */
static void embed_replace(struct embedder *e, const struct sp_source_piece *x)
{
    struct sp_source_piece *v = e->p->source_pieces.v;
    size_t n = 0;
    for (size_t i = 0; i < e->p->source_pieces.n; i++) {
        bool same = v[i].file == x->file && v[i].path == x->path && v[i].binary == x->binary &&
                    v[i].build_id == x->build_id && v[i].sha256 != x->sha256;
        if (!same)
            v[n++] = v[i];
    }
    e->p->source_pieces.n = n;
}

static bool embed_pieces(struct embedder *e)
{
    struct sp_buf b;
    bool ok = true;
    sp_buf_init(&b, 0);
    if (e->opts->only)
        e->p->source_pieces.n = 0;
    for (size_t i = 0, end; ok && i < e->lines.n; i = end) {
        struct sp_source_piece x;
        ok = embed_version(e, &e->files.v[e->lines.v[i].file], &x);
        uint32_t next = 0;
        uint64_t before = e->out->lines;
        if (ok)
            embed_replace(e, &x);
        for (end = i; ok && end < e->lines.n && e->lines.v[end].file == e->lines.v[i].file; end++) {
            const struct embed_line *l = &e->lines.v[end];
            if (l->left_out)
                continue;
            if (l->line != next)
                ok = embed_piece(e, &x, &b);
            x.first = b.len ? x.first : l->line;
            next = l->line + 1;
            ok = ok && sp_buf_add(&b, l->text, l->n) && sp_buf_ch(&b, '\n');
            e->out->lines++;
            e->out->bytes += l->n + 1;
        }
        ok = ok && embed_piece(e, &x, &b);
        e->out->files += e->out->lines > before;
    }
    sp_buf_free(&b);
    return ok;
}

static void embedder_free(struct embedder *e)
{
    sp_places_free(e->places);
    free(e->weights);
    sp_map_free(&e->map);
    sp_vec_free(&e->files);
    sp_vec_free(&e->hot);
    sp_vec_free(&e->lines);
    sp_arena_free(&e->texts);
}

spaa_status sp_embed_sources(struct sp_profile *p, const struct sp_symbol_opts *symbols,
                             const struct sp_embed_opts *opts, struct sp_diags *d, struct sp_embedded *out)
{
    struct embedder e = {.p = p, .opts = opts, .d = d, .out = out};
    *out = (struct sp_embedded){0};
    sp_arena_init(&e.texts, 0);
    spaa_status st = sp_places_new(p, symbols, d, &e.places);
    if (!st && !embed_weigh(&e))
        st = sp_nomem(d);
    if (!st)
        st = embed_frames(&e);
    if (!st) {
        embed_sum(&e);
        st = embed_read(&e);
    }
    if (!st && (!embed_limit(&e) || !embed_pieces(&e)))
        st = sp_nomem(d);
    embedder_free(&e);
    if (!st)
        st = sp_source_pieces_settle(p, d);
    return st;
}

void sp_embedded_free(struct sp_embedded *e)
{
    free(e->first_missing);
    e->first_missing = NULL;
}
