#include "model/profile.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/num.h"
#include "model/samples.h"
#include "json/json.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

spaa_status sp_profile_new(struct sp_diags *d, struct sp_profile **out)
{
    struct sp_profile *p = calloc(1, sizeof *p);
    if (!p)
        return sp_nomem(d);
    p->diags = d;
    if (!sp_strtab_init(&p->strs)) {
        sp_profile_free(p);
        return sp_nomem(d);
    }
    *out = p;
    return SPAA_OK;
}

const struct sp_dso_note *sp_profile_note_of(const struct sp_profile *p, uint32_t dso, enum sp_note_of of)
{
    size_t at = 2 * (size_t)dso + of;
    return at < p->notes.n && p->notes.v[at].addresses ? &p->notes.v[at] : NULL;
}

bool sp_profile_note(struct sp_profile *p, uint32_t dso, enum sp_note_of of, uint64_t addresses,
                     const char *why, const char *remedy)
{
    size_t at = 2 * (size_t)dso + of;
    struct sp_dso_note note = {addresses, sp_profile_cstr(p, why), sp_profile_cstr(p, remedy)};
    if (note.why == SP_STR_FAIL || note.remedy == SP_STR_FAIL || !sp_vec_reserve(&p->notes, at + 1))
        return false;
    for (; p->notes.n <= at; p->notes.n++)
        p->notes.v[p->notes.n] = (struct sp_dso_note){0};
    if (addresses > p->notes.v[at].addresses)
        p->notes.v[at] = note;
    return true;
}

void sp_profile_free(struct sp_profile *p)
{
    if (!p)
        return;
    sp_strtab_free(&p->strs);
    sp_vec_free(&p->sources);
    sp_vec_free(&p->events);
    sp_vec_free(&p->metrics);
    sp_vec_free(&p->dsos);
    sp_vec_free(&p->functions);
    sp_vec_free(&p->frames);
    sp_vec_free(&p->threads);
    sp_vec_free(&p->contexts);
    sp_vec_free(&p->layouts);
    sp_vec_free(&p->layout_fields);
    sp_vec_free(&p->stacks);
    sp_vec_free(&p->stack_frames);
    sp_vec_free(&p->ids);
    for (unsigned m = 0; m < SP_METRICS_MAX; m++)
        free(p->columns[m].v);
    sp_vec_free(&p->decimals);
    sp_vec_free(&p->exclusives);
    sp_vec_free(&p->rests.list);
    sp_vec_free(&p->values);
    sp_vec_free(&p->related);
    sp_vec_free(&p->related_stacks);
    sp_vec_free(&p->related_ids);
    sp_vec_free(&p->edge_lists);
    sp_vec_free(&p->edges);
    sp_vec_free(&p->windows);
    sp_vec_free(&p->window_rows);
    sp_vec_free(&p->extensions);
    sp_vec_free(&p->notes);
    sp_samples_free(p->samples);
    struct sp_map *maps[] = {&p->dso_map,    &p->function_map, &p->frame_map,
                             &p->thread_map, &p->context_map,  &p->layout_map,
                             &p->stack_map,  &p->decimal_map,  &p->edge_map};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        sp_map_free(maps[i]);
    free(p);
}

uint32_t sp_profile_str(struct sp_profile *p, const void *s, size_t n)
{
    return sp_intern(&p->strs, s, n);
}

uint32_t sp_profile_cstr(struct sp_profile *p, const char *s)
{
    return sp_intern_cstr(&p->strs, s);
}

uint32_t sp_profile_text(struct sp_profile *p, const char *s, size_t n)
{
    struct sp_buf b;
    if (sp_utf8_prefix(s, n) == n)
        return sp_intern(&p->strs, s, n);
    sp_buf_init(&b, 0);
    for (size_t i = 0; i < n;) {
        size_t bytes = sp_utf8_at(s + i, s + n);
        sp_buf_add(&b, bytes ? s + i : "\xEF\xBF\xBD", bytes ? bytes : 3);
        i += bytes ? bytes : 1;
    }
    uint32_t text = b.failed ? SP_STR_FAIL : sp_intern(&p->strs, b.data, b.len);
    sp_buf_free(&b);
    return text;
}

uint32_t sp_event_add(struct sp_profile *p, const struct sp_event *e)
{
    return sp_vec_push(&p->events, *e) ? (uint32_t)p->events.n - 1 : SP_NONE;
}

uint32_t sp_event_find(const struct sp_profile *p, const char *name, size_t n)
{
    uint32_t s = sp_strtab_find(&p->strs, name, n);
    for (uint32_t i = 0; s != SP_STR_NONE && i < p->events.n; i++)
        if (p->events.v[i].name == s)
            return i;
    return SP_NONE;
}

uint32_t sp_event_add_named(struct sp_profile *p, const struct sp_event *e)
{
    struct sp_event named = *e;
    struct sp_str name = sp_pstr(p, e->name);
    const uint32_t text = sp_profile_text(p, name.p, name.n);
    struct sp_buf b;
    if (text == SP_STR_FAIL)
        return SP_NONE;
    named.name = text;
    name = sp_pstr(p, text);
    sp_buf_init(&b, 0);
    for (unsigned i = 2; sp_event_find(p, name.p, name.n) != SP_NONE; i++) {
        struct sp_str first = sp_pstr(p, text);
        sp_buf_clear(&b);
        sp_buf_add(&b, first.p, first.n);
        sp_buf_printf(&b, "#%u", i);
        named.name = b.failed ? SP_STR_FAIL : sp_intern(&p->strs, b.data, b.len);
        if (named.name == SP_STR_FAIL)
            break;
        name = sp_pstr(p, named.name);
    }
    sp_buf_free(&b);
    return named.name == SP_STR_FAIL ? SP_NONE : sp_event_add(p, &named);
}

uint32_t sp_metric_find(const struct sp_profile *p, const char *name, size_t n)
{
    uint32_t s = sp_strtab_find(&p->strs, name, n);
    for (uint32_t i = 0; s != SP_STR_NONE && i < p->metrics.n; i++)
        if (p->metrics.v[i].name == s)
            return i;
    return SP_NONE;
}

uint32_t sp_metric_intern(struct sp_profile *p, const char *name, size_t n)
{
    uint32_t i = sp_metric_find(p, name, n);
    if (i != SP_NONE)
        return i;
    struct sp_metric m = {sp_intern(&p->strs, name, n), sp_metric_info(name, n)};
    if (m.name == SP_STR_FAIL || p->metrics.n >= SP_METRICS_MAX || !sp_vec_push(&p->metrics, m))
        return SP_NONE;
    return (uint32_t)p->metrics.n - 1;
}

/*
 * Finds the equal element of a table of plain structs, or appends a copy. Structs hash and compare as
 * bytes, so they are built with their padding zeroed (see the callers).
 */
#define INTERN(map, table, key, hash)                                                                        \
    do {                                                                                                     \
        struct sp_probe at_ = sp_map_probe((map), (hash));                                                   \
        for (uint32_t i_; (i_ = sp_map_next((map), &at_)) != SP_MAP_NONE;)                                   \
            if (memcmp(&(table)->v[i_], (key), sizeof *(key)) == 0)                                          \
                return i_;                                                                                   \
        uint32_t n_ = (uint32_t)(table)->n;                                                                  \
        if ((table)->n >= SP_NONE - 1 || !sp_vec_reserve((table), (table)->n + 1) ||                         \
            !sp_map_add_at((map), &at_, n_))                                                                 \
            return SP_NONE;                                                                                  \
        (table)->v[(table)->n++] = *(key);                                                                   \
        return n_;                                                                                           \
    } while (0)

uint32_t sp_dso_intern(struct sp_profile *p, const struct sp_dso *d)
{
    struct sp_dso key = {d->name, d->build_id, d->more, d->is_kernel, {0}};
    INTERN(&p->dso_map, &p->dsos, &key, sp_hash64(&key, sizeof key));
}

uint32_t sp_function_intern(struct sp_profile *p, uint32_t name, uint32_t dso)
{
    struct sp_function key = {name, dso};
    INTERN(&p->function_map, &p->functions, &key, sp_hash_mix(name, dso));
}

void sp_function_expect(const struct sp_profile *p, uint32_t name, uint32_t dso)
{
    sp_map_expect(&p->function_map, sp_hash_mix(name, dso));
}

uint32_t sp_frame_intern(struct sp_profile *p, const struct sp_frame *f)
{
    struct sp_frame key = *f;
    key.zero = 0;
    key.zero2 = 0;
    return sp_frame_intern_hashed(p, &key, sp_frame_hash(&key));
}

uint64_t sp_frame_hash(const struct sp_frame *f)
{
    return sp_hash64(f, sizeof *f);
}

uint32_t sp_frame_intern_hashed(struct sp_profile *p, const struct sp_frame *f, uint64_t hash)
{
    INTERN(&p->frame_map, &p->frames, f, hash);
}

/* Most contexts are asked for once per thread: the hash is to be quick. */
static uint64_t context_hash(const struct sp_context *c)
{
    uint64_t h = sp_hash_mix((uint64_t)c->pid ^ (uint64_t)c->cpu << 32, (uint64_t)c->tid);
    h = sp_hash_mix(h ^ c->event, (uint64_t)c->comm << 32 | c->state);
    return sp_hash_mix(h, (uint64_t)c->source << 32 | c->more);
}

uint32_t sp_context_intern(struct sp_profile *p, const struct sp_context *c)
{
    struct sp_context key = *c;
    key.zero = 0;
    INTERN(&p->context_map, &p->contexts, &key, context_hash(&key));
}

void sp_context_expect(const struct sp_profile *p, const struct sp_context *c)
{
    sp_map_expect(&p->context_map, context_hash(c));
}

static uint64_t thread_hash(int64_t tid)
{
    return sp_hash_mix((uint64_t)tid, 1);
}

void sp_thread_expect(const struct sp_profile *p, int64_t tid)
{
    sp_map_expect(&p->thread_map, thread_hash(tid));
}

uint32_t sp_thread_intern(struct sp_profile *p, int64_t pid, int64_t tid, uint32_t comm)
{
    uint64_t hash = thread_hash(tid);
    struct sp_probe at = sp_map_probe(&p->thread_map, hash);
    for (uint32_t i; (i = sp_map_next(&p->thread_map, &at)) != SP_MAP_NONE;) {
        struct sp_thread *t = &p->threads.v[i];
        if (t->tid != tid)
            continue;
        if (t->comm == SP_STR_NONE)
            t->comm = comm;
        return i;
    }
    struct sp_thread t = {.pid = pid, .tid = tid, .comm = comm};
    uint32_t n = (uint32_t)p->threads.n;
    if (p->threads.n >= SP_NONE - 1 || !sp_vec_reserve(&p->threads, p->threads.n + 1) ||
        !sp_map_add_at(&p->thread_map, &at, n))
        return SP_NONE;
    p->threads.v[p->threads.n++] = t;
    return n;
}

uint32_t sp_layout_intern(struct sp_profile *p, const struct sp_weight_field *fields, size_t n)
{
    uint64_t hash = sp_hash64(fields, n * sizeof *fields);
    struct sp_probe at = sp_map_probe(&p->layout_map, hash);
    for (uint32_t i; (i = sp_map_next(&p->layout_map, &at)) != SP_MAP_NONE;)
        if (p->layouts.v[i].n == n &&
            (!n || memcmp(p->layout_fields.v + p->layouts.v[i].first, fields, n * sizeof *fields) == 0))
            return i;
    size_t first = p->layout_fields.n;
    if (first + n >= SP_NONE || p->layouts.n >= SP_NONE - 1 ||
        !sp_vec_reserve(&p->layout_fields, first + n) || !sp_vec_reserve(&p->layouts, p->layouts.n + 1) ||
        !sp_map_add(&p->layout_map, hash, (uint32_t)p->layouts.n))
        return SP_NONE;
    if (n)
        memcpy(p->layout_fields.v + first, fields, n * sizeof *fields);
    p->layout_fields.n += n;
    p->layouts.v[p->layouts.n++] = (struct sp_layout){(uint32_t)first, (uint32_t)n};
    return (uint32_t)p->layouts.n - 1;
}

uint32_t sp_layout_simple(struct sp_profile *p, uint32_t metric_a, uint32_t unit_a, uint32_t metric_b,
                          uint32_t unit_b)
{
    struct sp_weight_field f[2] = {{metric_a, unit_a, 0}, {metric_b, unit_b, 0}};
    return sp_layout_intern(p, f, metric_b == SP_NONE ? 1 : 2);
}

static inline uint32_t append(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                              enum sp_stack_type type)
{
    if (p->stacks.n >= SP_NONE - 1 || n >= SP_NONE || !sp_vec_reserve(&p->stacks, p->stacks.n + 1) ||
        !sp_vec_reserve(&p->stack_frames, p->stack_frames.n + n))
        return SP_NONE;
    uint32_t *to = p->stack_frames.v + p->stack_frames.n;
    if (n && frames != to)
        memmove(to, frames, n * sizeof *frames);
    return sp_stack_put(p, (uint32_t)n, context, type, SP_NONE);
}

uint32_t sp_stack_append(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                         enum sp_stack_type type)
{
    return append(p, frames, n, context, type);
}

uint64_t sp_stack_hash(const uint32_t *frames, size_t n, uint32_t context, enum sp_stack_type type)
{
    return sp_hash64_seed(frames, n * sizeof *frames, (uint64_t)context << 8 | (uint64_t)type);
}

uint32_t sp_stack_intern(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                         enum sp_stack_type type, bool *is_new)
{
    uint64_t hash = sp_stack_hash(frames, n, context, type);
    return sp_stack_intern_hashed(p, hash, frames, n, context, type, is_new);
}

static uint32_t intern(struct sp_profile *p, uint64_t hash, const uint32_t *frames, size_t n,
                       uint32_t context, enum sp_stack_type type, uint32_t edges, bool *is_new)
{
    struct sp_probe at = sp_map_probe(&p->stack_map, hash);
    *is_new = false;
    for (uint32_t i; (i = sp_map_next(&p->stack_map, &at)) != SP_MAP_NONE;) {
        const struct sp_stack *s = &p->stacks.v[i];
        if (s->n == n && s->context == context && s->type == type && s->edges == edges &&
            (!n || memcmp(p->stack_frames.v + s->first, frames, n * sizeof *frames) == 0))
            return i;
    }
    uint32_t i = append(p, frames, n, context, type);
    if (i == SP_NONE)
        return SP_NONE;
    p->stacks.v[i].edges = edges;
    if (!sp_map_add_at(&p->stack_map, &at, i)) {
        p->stacks.n--;
        p->stack_frames.n -= n;
        return SP_NONE;
    }
    *is_new = true;
    return i;
}

uint32_t sp_stack_intern_hashed(struct sp_profile *p, uint64_t hash, const uint32_t *frames, size_t n,
                                uint32_t context, enum sp_stack_type type, bool *is_new)
{
    return intern(p, hash, frames, n, context, type, 0, is_new);
}

uint32_t sp_stack_intern_edges(struct sp_profile *p, const uint32_t *frames, size_t n, uint32_t context,
                               enum sp_stack_type type, uint32_t edges, bool *is_new)
{
    uint64_t hash = sp_stack_hash(frames, n, context, type);
    return intern(p, edges ? sp_hash_mix(hash, edges) : hash, frames, n, context, type, edges, is_new);
}

/* Makes a column reach `stack`, filling with "absent". */
static int64_t *new_cell(struct sp_profile *p, struct sp_column *c, uint32_t stack)
{
    if (stack >= c->cap) {
        size_t want = p->stacks.cap > stack ? p->stacks.cap : (size_t)stack + 1;
        if (!sp_vec_grow((void **)&c->v, &c->cap, want, sizeof *c->v))
            return NULL;
    }
    for (; c->n <= stack; c->n++)
        c->v[c->n] = SP_ABSENT;
    return &c->v[stack];
}

static inline int64_t *cell(struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    struct sp_column *c = &p->columns[metric];
    return stack < c->n ? &c->v[stack] : new_cell(p, c, stack);
}

bool sp_weight_set(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v)
{
    int64_t *c = cell(p, stack, metric);
    if (!c)
        return false;
    if (v <= SP_DECIMAL) { /* the two values that are marks */
        char t[32];
        size_t n = 0;
        t[n++] = '-';
        n += sp_u64_text((uint64_t)0 - (uint64_t)v, t + n);
        return sp_weight_set_text(p, stack, metric, t, n);
    }
    *c = v;
    return true;
}

static struct sp_decimal *decimal_at(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    struct sp_probe at = sp_map_probe(&p->decimal_map, sp_hash_mix(stack, metric));
    for (uint32_t i; (i = sp_map_next(&p->decimal_map, &at)) != SP_MAP_NONE;)
        if (p->decimals.v[i].stack == stack && p->decimals.v[i].metric == metric)
            return &p->decimals.v[i];
    return NULL;
}

struct sp_str sp_weight_text(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    const struct sp_decimal *d = decimal_at(p, stack, metric);
    return d ? sp_pstr(p, d->text) : (struct sp_str){"", 0};
}

static bool set_decimal(struct sp_profile *p, uint32_t stack, uint32_t metric, const char *s, size_t n)
{
    uint32_t text = sp_intern(&p->strs, s, n);
    int64_t *c = cell(p, stack, metric);
    if (text == SP_STR_FAIL || !c)
        return false;
    struct sp_decimal *d = decimal_at(p, stack, metric);
    if (d) {
        d->text = text;
    } else {
        struct sp_decimal fresh = {stack, metric, text};
        if (p->decimals.n >= SP_NONE - 1 || !sp_vec_reserve(&p->decimals, p->decimals.n + 1) ||
            !sp_map_add(&p->decimal_map, sp_hash_mix(stack, metric), (uint32_t)p->decimals.n))
            return false;
        p->decimals.v[p->decimals.n++] = fresh;
    }
    *c = SP_DECIMAL;
    return true;
}

bool sp_weight_set_text(struct sp_profile *p, uint32_t stack, uint32_t metric, const char *s, size_t n)
{
    int64_t v;
    if (n && sp_parse_i64(s, s + n, &v) == n && v > SP_DECIMAL && !(n > 1 && s[0] == '-' && s[1] == '0'))
        return sp_weight_set(p, stack, metric, v);
    return set_decimal(p, stack, metric, s, n);
}

bool sp_weight_add_any(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v)
{
    int64_t *c = cell(p, stack, metric);
    if (!c)
        return false;
    int64_t sum;
    if (*c == SP_ABSENT) {
        if (v <= SP_DECIMAL)
            return sp_weight_set(p, stack, metric, v);
        *c = v;
        return true;
    }
    if (*c == SP_DECIMAL) {
        char t[32];
        int64_t magnitude = v < 0 ? -v : v;
        size_t n = 0;
        if (v < 0)
            t[n++] = '-';
        n += sp_u64_text((uint64_t)magnitude, t + n);
        return sp_weight_add_text(p, stack, metric, t, n);
    }
    if (__builtin_add_overflow(*c, v, &sum)) {
        if (!p->diags->count[SP_L304])
            sp_emit(p->diags, SP_L304, SP_AT_NOTHING, "the sum of weights of one stack");
        sum = v > 0 ? INT64_MAX : SP_DECIMAL + 1;
    }
    *c = sum > SP_DECIMAL ? sum : SP_DECIMAL + 1;
    return true;
}

bool sp_weight_add_text(struct sp_profile *p, uint32_t stack, uint32_t metric, const char *s, size_t n)
{
    int64_t old = sp_weight(p, stack, metric);
    if (old == SP_ABSENT)
        return sp_weight_set_text(p, stack, metric, s, n);
    int64_t v;
    if (old != SP_DECIMAL && n && sp_parse_i64(s, s + n, &v) == n)
        return sp_weight_add(p, stack, metric, v);
    char t[64];
    size_t tn;
    struct sp_str text = {t, 0};
    if (old == SP_DECIMAL) {
        text = sp_weight_text(p, stack, metric);
    } else {
        text.n = (uint32_t)sp_scaled_text(old, 0, t);
    }
    int64_t a, b;
    unsigned sa, sb;
    if (sp_parse_scaled(text.p, text.n, &a, &sa) && sp_parse_scaled(s, n, &b, &sb)) {
        __int128 x = a, y = b;
        unsigned scale = sa > sb ? sa : sb;
        for (; sa < scale; sa++)
            x *= 10;
        for (; sb < scale; sb++)
            y *= 10;
        tn = sp_scaled_text(x + y, scale, t);
        return sp_weight_set_text(p, stack, metric, t, tn);
    }
    sp_emit(p->diags, SP_L304, SP_AT_NOTHING, "a sum of decimals was rounded");
    double sum = sp_text_double(text.p, text.n) + sp_text_double(s, n);
    tn = sp_double_text(isinf(sum) ? copysign(DBL_MAX, sum) : sum, t);
    return sp_weight_set_text(p, stack, metric, t, tn);
}

bool sp_weights_renumber(struct sp_profile *p, const uint32_t *stacks)
{
    size_t n = 0;
    sp_map_clear(&p->decimal_map);
    for (size_t i = 0; i < p->decimals.n; i++) {
        struct sp_decimal d = p->decimals.v[i];
        d.stack = stacks[d.stack];
        if (d.stack == SP_NONE)
            continue;
        if (!sp_map_add(&p->decimal_map, sp_hash_mix(d.stack, d.metric), (uint32_t)n))
            return false;
        p->decimals.v[n++] = d;
    }
    p->decimals.n = n;
    return true;
}

bool sp_stack_relate(struct sp_profile *p, uint32_t stack, uint32_t other)
{
    struct sp_related x = {(uint32_t)p->related_stacks.n, 1};
    if (p->related.n >= SP_RELATED_MAX || p->related_stacks.n >= SP_NONE - 1 ||
        !sp_vec_push(&p->related_stacks, other) || !sp_vec_push(&p->related, x))
        return false;
    p->stacks.v[stack].related = (uint32_t)p->related.n & SP_RELATED_MAX;
    return true;
}

uint32_t sp_stack_partner(const struct sp_profile *p, uint32_t stack)
{
    const struct sp_stack *s = &p->stacks.v[stack];
    if (!s->related || s->type == SP_UNIFIED || p->related.v[s->related - 1].n != 1)
        return SP_NONE;
    uint32_t other = p->related_stacks.v[p->related.v[s->related - 1].first];
    bool pair =
        other != SP_NONE && p->stacks.v[other].type != SP_UNIFIED && p->stacks.v[other].type != s->type;
    return pair ? other : SP_NONE;
}
