#include "formats/common/aggregation/rows.h"

#include "base/hash.h"
#include "base/num.h"

#include <stdlib.h>
#include <string.h>

void sp_agg_rows_init(struct sp_agg_rows *r, struct sp_profile *p, struct sp_diags *d)
{
    *r = (struct sp_agg_rows){.p = p, .d = d};
    sp_buf_init(&r->texts, SIZE_MAX / 2);
}

void sp_agg_rows_clear(struct sp_agg_rows *r)
{
    sp_buf_clear(&r->texts);
    sp_map_clear(&r->map);
    r->rows.n = 0;
}

void sp_agg_rows_free(struct sp_agg_rows *r)
{
    sp_buf_free(&r->texts);
    sp_vec_free(&r->rows);
    sp_vec_free(&r->kernel);
    sp_vec_free(&r->user);
    sp_map_free(&r->map);
}

static bool aggregation_split_sides(struct sp_agg_rows *r, uint32_t stack)
{
    const struct sp_stack *s = &r->p->stacks.v[stack];
    const uint32_t *f = sp_stack_frames(r->p, stack);
    for (uint32_t i = 0; i < s->n; i++) {
        bool kernel = r->p->frames.v[f[i]].kind == SP_KERNEL;
        if (!(kernel ? sp_vec_push(&r->kernel, f[i]) : sp_vec_push(&r->user, f[i])))
            return false;
    }
    return true;
}

bool sp_agg_sides(struct sp_agg_rows *r, uint32_t stack, bool *skip)
{
    uint32_t other = sp_stack_linked(r->p, stack);
    bool both = other != SP_NONE;
    r->kernel.n = r->user.n = 0;
    *skip = both && r->p->stacks.v[stack].type == SP_KERNEL_STACK;
    return *skip || (aggregation_split_sides(r, stack) && (!both || aggregation_split_sides(r, other)));
}

/* "64K" of "[64K, 128K)", "-1" of "<-1". */
static double aggregation_bucket_start(struct sp_str s)
{
    const char *p = s.p, *end = s.p + s.n;
    double below = 0;
    while (p < end && strchr("[(<>= ", *p)) {
        below = *p == '<' ? 0.5 : below;
        p++;
    }
    if (end - p >= 3 && memcmp(p, "...", 3) == 0)
        return -1e300;
    int64_t v = 0;
    size_t n = sp_parse_i64(p, end, &v);
    const char *unit = p + n < end ? strchr("KMGTPE", p[n]) : NULL;
    double scaled = (double)v;
    for (const char *u = "KMGTPE"; unit && p[n] && u <= unit; u++) {
        scaled *= 1024;
        if (*u == p[n])
            break;
    }
    return scaled - below;
}

static int aggregation_by_start(const void *va, const void *vb)
{
    const struct sp_agg_bucket *a = va, *b = vb;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at) : sp_str_cmp(a->label, b->label);
}

bool sp_agg_buckets(const struct sp_profile *p, uint32_t stack, struct sp_agg_buckets *out)
{
    uint32_t layout = p->stacks.v[stack].layout;
    out->list.n = 0;
    if (layout == SP_NONE)
        return true;
    const struct sp_layout *l = &p->layouts.v[layout];
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t metric = p->layout_fields.v[l->first + i].metric;
        struct sp_str name = sp_pstr(p, p->metrics.v[metric].name);
        int64_t v = sp_weight(p, stack, metric);
        if (name.n < 8 || memcmp(name.p, "bucket:", 7) != 0 || v <= SP_DECIMAL)
            continue;
        struct sp_agg_bucket b = {{name.p + 7, name.n - 7}, v, 0};
        b.at = aggregation_bucket_start(b.label);
        if (!sp_vec_push(&out->list, b))
            return false;
    }
    if (out->list.n)
        qsort(out->list.v, out->list.n, sizeof *out->list.v, aggregation_by_start);
    return true;
}

/* An integer of up to 30 digits: sums are unsigned, or of more than one. */
static bool aggregation_parse_integer(struct sp_str t, __int128 *v)
{
    uint32_t sign = t.n && *t.p == '-';
    if (t.n == sign || t.n > 30)
        return false;
    *v = 0;
    for (uint32_t i = sign; i < t.n; i++) {
        if (t.p[i] < '0' || t.p[i] > '9')
            return false;
        *v = *v * 10 + (t.p[i] - '0');
    }
    *v = sign ? -*v : *v;
    return true;
}

__int128 sp_agg_integer(struct sp_agg_rows *r, uint32_t stack, uint32_t metric)
{
    int64_t v = sp_weight(r->p, stack, metric), mantissa;
    unsigned scale;
    if (v != SP_DECIMAL)
        return v;
    struct sp_str text = sp_weight_text(r->p, stack, metric);
    __int128 exact;
    if (aggregation_parse_integer(text, &exact))
        return exact;
    if (!sp_parse_scaled(text.p, text.n, &mantissa, &scale)) {
        double d = sp_text_double(text.p, text.n);
        r->rounded = true;
        return d > 9e18 ? INT64_MAX : d < -9e18 ? -INT64_MAX : (__int128)d;
    }
    int64_t whole = 1;
    for (unsigned i = 0; i < scale; i++)
        whole *= 10;
    r->rounded = r->rounded || mantissa % whole;
    return sp_ratio(mantissa, whole, 1);
}

static void aggregation_combine_values(__int128 *to, __int128 v, enum sp_metric_op op)
{
    if (op == SP_OP_MAX || op == SP_OP_MIN)
        *to = (op == SP_OP_MAX) == (v > *to) ? v : *to;
    else
        *to += v;
}

bool sp_agg_rows_add(struct sp_agg_rows *r, const char *text, size_t n, uint32_t stack, uint32_t metric,
                     bool alone)
{
    if (sp_weight(r->p, stack, metric) == SP_ABSENT)
        return true;
    __int128 value = sp_agg_integer(r, stack, metric);
    uint64_t hash = sp_hash_key(text, n);
    struct sp_probe at = sp_map_probe(&r->map, hash);
    for (uint32_t i; !alone && (i = sp_map_next(&r->map, &at)) != SP_MAP_NONE;) {
        struct sp_agg_row *x = &r->rows.v[i];
        if (x->n == n && (!n || memcmp(r->texts.data + x->at, text, n) == 0)) {
            aggregation_combine_values(&x->value, value, r->p->metrics.v[metric].info->op);
            return true;
        }
    }
    struct sp_agg_row x = {r->texts.len, n, value, alone ? stack : SP_NONE};
    return (alone || sp_map_add(&r->map, hash, (uint32_t)r->rows.n)) && sp_buf_add(&r->texts, text, n) &&
           r->rows.n < SP_NONE - 1 && sp_vec_push(&r->rows, x);
}

static int aggregation_by_value(const void *va, const void *vb, void *arg)
{
    const struct sp_agg_row *a = va, *b = vb;
    const struct sp_agg_rows *r = arg;
    if (a->value != b->value)
        return a->value > b->value ? 1 : -1;
    int c = memcmp(r->texts.data + a->at, r->texts.data + b->at, a->n < b->n ? a->n : b->n);
    return c ? c : (a->n > b->n) - (a->n < b->n);
}

void sp_agg_rows_sort(struct sp_agg_rows *r)
{
    if (r->rows.n)
        qsort_r(r->rows.v, r->rows.n, sizeof *r->rows.v, aggregation_by_value, r);
    if (r->rounded)
        sp_emit(r->d, SP_L304, SP_AT_NOTHING,
                "weights with fractions were rounded: the format has whole numbers only");
    r->rounded = false;
}
