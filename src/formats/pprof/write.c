/*
 * Writes pprof: samples, then what they refer to, the strings last.
 *
 * The records of several events with the same frames and labels become one sample with a value for each
 * type; linked user and kernel records become one stack. Compression is the output's (by extension).
 */
#include "formats/pprof/write.h"
#include "base/num.h"
#include "base/watch.h"

/* Contexts that differ in the event only are one. */
static bool pprof_unite_contexts(struct sp_pw *w)
{
    const struct sp_profile *p = w->p;
    struct sp_map map = {0};
    bool ok = true;
    w->contexts = malloc((p->contexts.n + 1) * sizeof *w->contexts);
    if (!w->contexts)
        return false;
    for (uint32_t i = 0; ok && i < p->contexts.n; i++) {
        struct sp_context a = p->contexts.v[i];
        a.event = 0;
        uint64_t hash = sp_hash_key(&a, sizeof a);
        struct sp_probe at = sp_map_probe(&map, hash);
        w->contexts[i] = SP_NONE;
        for (uint32_t k; w->contexts[i] == SP_NONE && (k = sp_map_next(&map, &at)) != SP_MAP_NONE;) {
            struct sp_context b = p->contexts.v[k];
            b.event = 0;
            if (memcmp(&a, &b, sizeof a) == 0)
                w->contexts[i] = k;
        }
        if (w->contexts[i] == SP_NONE) {
            w->contexts[i] = i;
            ok = sp_map_add(&map, hash, i);
        }
    }
    sp_map_free(&map);
    return ok;
}

static bool pprof_find_returns(struct sp_pw *w)
{
    w->returns = calloc(w->p->events.n + 1, sizeof *w->returns);
    for (uint32_t e = 0; w->returns && e < w->p->events.n; e++)
        w->returns[e] = sp_returns_of(w->p, e);
    return w->returns;
}

/* The row of the locations in scratch_locations. */
static uint32_t pprof_row_of(struct sp_pw *w, uint32_t context)
{
    const uint32_t *l = w->scratch_locations.v;
    size_t n = w->scratch_locations.n, first = w->row_locations.n, bytes = n * sizeof *l;
    uint64_t hash = sp_hash_key_seed(n ? l : &context, bytes, context);
    struct sp_probe at = sp_map_probe(&w->row_map, hash);
    for (uint32_t i; (i = sp_map_next(&w->row_map, &at)) != SP_MAP_NONE;) {
        const struct sp_pw_row *r = &w->rows.v[i];
        if (r->n == n && r->context == context &&
            (!n || memcmp(w->row_locations.v + r->first, l, bytes) == 0))
            return i;
    }
    struct sp_pw_row r = {first, (uint32_t)n, context};
    size_t values = w->values.n + w->types.n;
    if (w->rows.n >= SP_NONE - 1 || !sp_vec_reserve(&w->row_locations, first + n) ||
        !sp_vec_reserve(&w->values, values) || !sp_vec_push(&w->rows, r) ||
        !sp_map_add(&w->row_map, hash, (uint32_t)w->rows.n - 1))
        return SP_NONE;
    if (n)
        memcpy(w->row_locations.v + first, l, bytes);
    w->row_locations.n += n;
    while (w->values.n < values)
        w->values.v[w->values.n++] = 0;
    return (uint32_t)w->rows.n - 1;
}

/* A weight as the integer that a pprof has. */
static int64_t pprof_weight_number(struct sp_pw *w, uint32_t stack, uint32_t metric)
{
    int64_t v = sp_weight(w->p, stack, metric);
    if (v == SP_ABSENT)
        return 0;
    if (v != SP_DECIMAL)
        return v;
    struct sp_str s = sp_weight_text(w->p, stack, metric);
    if (sp_parse_i64(s.p, s.p + s.n, &v) == s.n)
        return v;
    double d = sp_text_double(s.p, s.n);
    w->rounded++;
    if (!(d < 9.2e18))
        return INT64_MAX;
    if (!(d > -9.2e18))
        return INT64_MIN;
    return (int64_t)(d < 0 ? d - 0.5 : d + 0.5);
}

static bool pprof_collect_stack(struct sp_pw *w, uint32_t stack)
{
    const struct sp_profile *p = w->p;
    const struct sp_stack *s = &p->stacks.v[stack];
    uint32_t event = p->contexts.v[s->context].event, other = sp_stack_linked(p, stack);
    if (event == SP_NONE || (w->opts->event != SP_NONE && event != w->opts->event) ||
        (s->type == SP_KERNEL_STACK && other != SP_NONE))
        return true;
    w->scratch_locations.n = 0;
    struct sp_returns returns = w->returns[event];
    if (other != SP_NONE && !sp_pw_locations(w, returns, sp_stack_frames(p, other),
                                             p->stacks.v[other].n)) /* the kernel's: leaf */
        return false;
    if (!sp_pw_locations(w, returns, sp_stack_frames(p, stack), s->n))
        return false;
    uint32_t row = pprof_row_of(w, w->contexts[s->context]);
    if (row == SP_NONE)
        return false;
    for (size_t i = 0; i < w->types.n; i++) {
        int64_t *v = &w->values.v[row * w->types.n + i];
        if (w->types.v[i].event != event)
            continue;
        int64_t add = pprof_weight_number(w, stack, w->types.v[i].metric);
        if (__builtin_add_overflow(*v, add, v)) {
            *v = add > 0 ? INT64_MAX : INT64_MIN;
            w->rounded++;
        }
    }
    return true;
}

static void pprof_put_value_type(struct sp_pw *w, uint32_t field, uint32_t type, uint32_t unit)
{
    struct sp_buf *b = &w->line;
    sp_buf_clear(b);
    sp_wire_put_number(b, 1, type);
    sp_wire_put_number(b, 2, unit);
    sp_buf_clear(&w->scratch);
    sp_wire_put_bytes(&w->scratch, field, b->data, b->len);
    w->nomem |= b->failed || w->scratch.failed;
    if (!w->nomem)
        sp_write(w->out, w->scratch.data, w->scratch.len);
}

/* Numbers packed: the length first, then they go out. */
static void pprof_put_packed(struct sp_buf *b, uint32_t field, const uint32_t *ids, const int64_t *values,
                             size_t n)
{
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += sp_wire_varint_size(ids ? ids[i] : (uint64_t)values[i]);
    if (!n)
        return;
    sp_wire_put_varint(b, (uint64_t)field << 3 | SP_WIRE_BYTES);
    sp_wire_put_varint(b, bytes);
    for (size_t i = 0; i < n; i++)
        sp_wire_put_varint(b, ids ? ids[i] : (uint64_t)values[i]);
}

static void pprof_put_sample(struct sp_pw *w, struct sp_buf *b, size_t row)
{
    const struct sp_pw_row *r = &w->rows.v[row];
    sp_buf_clear(b);
    pprof_put_packed(b, 1, w->row_locations.v + r->first, NULL, r->n);
    pprof_put_packed(b, 2, NULL, w->values.v + row * w->types.n, w->types.n);
    sp_pw_labels(w, b, r->context);
    sp_buf_clear(&w->scratch);
    sp_wire_put_varint(&w->scratch, (uint64_t)PPROF_SAMPLE << 3 | SP_WIRE_BYTES);
    sp_wire_put_varint(&w->scratch, b->len);
    w->nomem |= b->failed || w->scratch.failed;
    if (w->nomem)
        return;
    sp_write(w->out, w->scratch.data, w->scratch.len);
    sp_write(w->out, b->data, b->len);
}

static void pprof_put_number(struct sp_pw *w, uint32_t field, uint64_t v)
{
    sp_buf_clear(&w->scratch);
    sp_wire_put_number(&w->scratch, field, v);
    w->nomem |= w->scratch.failed;
    if (w->scratch.len)
        sp_write(w->out, w->scratch.data, w->scratch.len);
}

static void pprof_put_strings(struct sp_pw *w)
{
    for (size_t i = 0; i < w->strings.strs.n; i++) {
        struct sp_str s = w->strings.strs.v[i];
        sp_buf_clear(&w->scratch);
        sp_wire_put_bytes(&w->scratch, PPROF_STRING, s.p, s.n);
        w->nomem |= w->scratch.failed;
        if (!w->nomem)
            sp_write(w->out, w->scratch.data, w->scratch.len);
    }
}

static void pprof_put_profile(struct sp_pw *w)
{
    struct sp_buf sample;
    sp_buf_init(&sample, 0);
    for (size_t i = 0; i < w->types.n; i++)
        pprof_put_value_type(w, PPROF_SAMPLE_TYPE, w->types.v[i].type, w->types.v[i].unit);
    for (size_t i = 0; i < w->rows.n && !w->nomem; i++)
        pprof_put_sample(w, &sample, i);
    sp_buf_free(&sample);
    sp_pw_put_mappings(w);
    sp_write(w->out, w->locations.data, w->locations.len);
    sp_write(w->out, w->functions.data, w->functions.len);
    pprof_put_number(w, PPROF_DROP_FRAMES, w->drop_frames);
    pprof_put_number(w, PPROF_KEEP_FRAMES, w->keep_frames);
    pprof_put_number(w, PPROF_TIME, (uint64_t)w->time);
    pprof_put_number(w, PPROF_DURATION, (uint64_t)w->duration);
    if (w->has_period_type)
        pprof_put_value_type(w, PPROF_PERIOD_TYPE, w->period_type[0], w->period_type[1]);
    pprof_put_number(w, PPROF_PERIOD, (uint64_t)w->period);
    sp_buf_clear(&w->line);
    for (size_t i = 0; i < w->comments.n; i++)
        sp_wire_put_varint(&w->line, w->comments.v[i]);
    if (w->comments.n) {
        sp_buf_clear(&w->scratch);
        sp_wire_put_bytes(&w->scratch, PPROF_COMMENT, w->line.data, w->line.len);
        w->nomem |= w->line.failed || w->scratch.failed;
        sp_write(w->out, w->scratch.data, w->scratch.len);
    }
    pprof_put_number(w, PPROF_DEFAULT_TYPE, w->default_type);
    pprof_put_number(w, PPROF_DOC_URL, w->doc_url);
    sp_write(w->out, w->unknown.data, w->unknown.len);
    pprof_put_strings(w);
    w->nomem |= w->locations.failed || w->functions.failed || w->unknown.failed;
}

static void pprof_write_report(struct sp_pw *w)
{
    if (w->rounded)
        sp_emit(w->d, SP_L304, SP_AT_NOTHING,
                "%llu weights were rounded or capped: a pprof has integers of 64 bits",
                (unsigned long long)w->rounded);
    if (w->p->samples || w->p->windows.n || w->p->extensions.n || w->p->processes.n || w->p->images.n)
        sp_emit(w->d, SP_I741, SP_AT_NOTHING, "raw samples, windows and records of other tools");
}

static void pprof_writer_release(struct sp_pw *w)
{
    struct sp_buf *buffers[] = {&w->own, &w->unknown, &w->locations, &w->functions, &w->scratch, &w->line};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        sp_buf_free(buffers[i]);
    struct sp_map *maps[] = {&w->group_map, &w->function_map, &w->row_map};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        sp_map_free(maps[i]);
    sp_vec_free(&w->types);
    sp_vec_free(&w->comments);
    sp_vec_free(&w->maps.list);
    sp_vec_free(&w->maps.first);
    free(w->location_of);
    free(w->ranges);
    free(w->contexts);
    free(w->returns);
    sp_vec_free(&w->groups);
    sp_vec_free(&w->group_frames);
    sp_vec_free(&w->function_keys);
    sp_vec_free(&w->rows);
    sp_vec_free(&w->row_locations);
    sp_vec_free(&w->values);
    sp_vec_free(&w->scratch_locations);
    sp_strtab_free(&w->strings);
    sp_arena_free(&w->arena);
}

spaa_status sp_pprof_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                           struct sp_output *out)
{
    struct sp_pw w = {.p = p, .d = d, .opts = opts, .out = out};
    struct sp_buf *buffers[] = {&w.own, &w.unknown, &w.locations, &w.functions, &w.scratch, &w.line};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        sp_buf_init(buffers[i], (size_t)4 << 30);
    sp_arena_init(&w.arena, 0);
    bool ok = sp_strtab_init(&w.strings);
    if (ok) {
        sp_pw_header(&w);
        ok = !w.nomem && sp_pw_frames_begin(&w) && pprof_unite_contexts(&w) && pprof_find_returns(&w);
    }
    for (uint32_t s = 0; ok && s < p->stacks.n; s++)
        ok = !sp_leaving(d, s) && pprof_collect_stack(&w, s) && !w.nomem;
    if (ok) {
        pprof_put_profile(&w);
        ok = !w.nomem;
    }
    if (ok)
        pprof_write_report(&w);
    pprof_writer_release(&w);
    return ok ? out->status : sp_nomem(d);
}
