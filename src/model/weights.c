#include "model/weights.h"

#include "base/hash.h"
#include "base/num.h"

#include <float.h>
#include <math.h>
#include <string.h>

uint32_t sp_layout_intern(struct sp_profile *p, const struct sp_weight_field *fields, size_t n)
{
    uint64_t hash = sp_hash_key(fields, n * sizeof *fields);
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

/* Makes a column reach `stack`, filling with "absent". */
static int64_t *weights_new_cell(struct sp_profile *p, struct sp_column *c, uint32_t stack)
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

static inline int64_t *weights_cell(struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    struct sp_column *c = &p->columns[metric];
    return stack < c->n ? &c->v[stack] : weights_new_cell(p, c, stack);
}

bool sp_weight_set(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v)
{
    int64_t *c = weights_cell(p, stack, metric);
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

static struct sp_decimal *weights_decimal(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    struct sp_probe at = sp_map_probe(&p->decimal_map, sp_hash_mix(stack, metric));
    for (uint32_t i; (i = sp_map_next(&p->decimal_map, &at)) != SP_MAP_NONE;)
        if (p->decimals.v[i].stack == stack && p->decimals.v[i].metric == metric)
            return &p->decimals.v[i];
    return NULL;
}

struct sp_str sp_weight_text(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    const struct sp_decimal *d = weights_decimal(p, stack, metric);
    return d ? sp_pstr(p, d->text) : (struct sp_str){"", 0};
}

/* The number's text, as JSON has numbers: without the zeros before the first digit that text formats may
 * have. */
static uint32_t weights_text(struct sp_profile *p, const char *s, size_t n)
{
    size_t sign = n && s[0] == '-', zeros = 0;
    while (sign + zeros + 1 < n && s[sign + zeros] == '0' && s[sign + zeros + 1] >= '0' &&
           s[sign + zeros + 1] <= '9')
        zeros++;
    if (!zeros || !sign)
        return sp_intern(&p->strs, s + zeros, n - zeros);
    char *t = sp_arena_dup(&p->strs.arena, s + zeros, n - zeros);
    if (!t)
        return SP_STR_FAIL;
    t[0] = '-';
    return sp_intern(&p->strs, t, n - zeros);
}

static bool weights_set_decimal(struct sp_profile *p, uint32_t stack, uint32_t metric, const char *s,
                                size_t n)
{
    uint32_t text = weights_text(p, s, n);
    int64_t *c = weights_cell(p, stack, metric);
    if (text == SP_STR_FAIL || !c)
        return false;
    struct sp_decimal *d = weights_decimal(p, stack, metric);
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

int64_t sp_weight_whole(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    int64_t v = sp_weight(p, stack, metric), whole;
    unsigned scale;
    if (v != SP_DECIMAL)
        return v;
    struct sp_str t = sp_weight_text(p, stack, metric);
    return sp_parse_scaled(t.p, t.n, &whole, &scale) && !scale && whole > SP_DECIMAL ? whole : SP_DECIMAL;
}

bool sp_weight_set_text(struct sp_profile *p, uint32_t stack, uint32_t metric, const char *s, size_t n)
{
    int64_t v;
    if (n && sp_parse_i64(s, s + n, &v) == n && v > SP_DECIMAL && (v || s[0] != '-'))
        return sp_weight_set(p, stack, metric, v);
    return weights_set_decimal(p, stack, metric, s, n);
}

bool sp_weight_add_any(struct sp_profile *p, uint32_t stack, uint32_t metric, int64_t v)
{
    int64_t *c = weights_cell(p, stack, metric);
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
    char t[64], out[64];
    struct sp_str text = {t, 0};
    if (old == SP_DECIMAL) {
        text = sp_weight_text(p, stack, metric);
    } else {
        text.n = (uint32_t)sp_scaled_text(old, 0, t);
    }
    size_t exact = sp_scaled_sum(text.p, text.n, s, n, out);
    if (exact)
        return sp_weight_set_text(p, stack, metric, out, exact);
    if (!p->diags->count[SP_L304])
        sp_emit(p->diags, SP_L304, SP_AT_NOTHING, "a sum of decimals was rounded");
    double sum = sp_text_double(text.p, text.n) + sp_text_double(s, n);
    size_t rounded = sp_double_text(isinf(sum) ? copysign(DBL_MAX, sum) : sum, out);
    return sp_weight_set_text(p, stack, metric, out, rounded);
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
