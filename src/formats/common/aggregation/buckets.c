#include "formats/common/aggregation/buckets.h"

#include "base/num.h"

#include <string.h>

static const char bucket_units[] = "KMGTPE";

bool sp_agg_put_scaled(struct sp_buf *b, int64_t v)
{
    int u = -1;
    while (v >= 1024 && v % 1024 == 0 && u < 5) {
        v /= 1024;
        u++;
    }
    sp_buf_i64(b, v);
    return u < 0 ? !b->failed : sp_buf_ch(b, bucket_units[u]);
}

/* "64K", "-3" at *p. */
static bool bucket_number(const char **p, const char *end, int64_t *v)
{
    size_t n = sp_parse_i64(*p, end, v);
    *p += n;
    const char *unit = n && *p < end && **p ? strchr(bucket_units, **p) : NULL;
    if (!unit)
        return n > 0;
    ++*p;
    for (const char *u = bucket_units; u <= unit; u++)
        if (__builtin_mul_overflow(*v, 1024, v))
            return false;
    return true;
}

static bool bucket_word(const char **p, const char *end, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(end - *p) < n || memcmp(*p, word, n) != 0)
        return false;
    *p += n;
    return true;
}

/* "[16, 32)", "[5]", "(..., 0)", "[100, ...)" */
static bool bucket_brackets(struct sp_str label, struct sp_agg_range *r)
{
    const char *p = label.p, *end = p + label.n;
    *r = (struct sp_agg_range){.has_low = true, .has_high = true};
    if (bucket_word(&p, end, "(...")) {
        r->has_low = false;
    } else if (!bucket_word(&p, end, "[") || !bucket_number(&p, end, &r->low)) {
        return false;
    } else if (bucket_word(&p, end, "]")) {
        return p == end && !__builtin_add_overflow(r->low, 1, &r->high);
    }
    if (!bucket_word(&p, end, ", "))
        return false;
    if (bucket_word(&p, end, "..."))
        r->has_high = false;
    else if (!bucket_number(&p, end, &r->high))
        return false;
    return bucket_word(&p, end, ")") && p == end && (r->has_low || r->has_high);
}

/* "<0", ">=100" */
static bool bucket_marked(struct sp_str label, struct sp_agg_range *r)
{
    const char *p = label.p, *end = p + label.n;
    *r = (struct sp_agg_range){0};
    r->has_high = bucket_word(&p, end, "<");
    r->has_low = !r->has_high && bucket_word(&p, end, ">=");
    while (p < end && *p == ' ')
        p++;
    return (r->has_low || r->has_high) && bucket_number(&p, end, r->has_low ? &r->low : &r->high) && p == end;
}

static bool bucket_plain(struct sp_str label, int64_t *low)
{
    return label.n && sp_parse_i64(label.p, label.p + label.n, low) == label.n;
}

static uint64_t bucket_magnitude(int64_t v)
{
    return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

static bool bucket_is_power(int64_t v)
{
    uint64_t u = bucket_magnitude(v);
    return (u & (u - 1)) == 0;
}

static void bucket_add_point(struct sp_agg_scale *s, int64_t at)
{
    if (!s->any)
        *s = (struct sp_agg_scale){true, s->linear, at, at, at, 0, 0};
    s->points += !s->points || at < s->least || at > s->most;
    s->least = at < s->least ? at : s->least;
    s->most = at > s->most ? at : s->most;
    uint64_t a = s->step;
    uint64_t b = at > s->first ? (uint64_t)at - (uint64_t)s->first : (uint64_t)s->first - (uint64_t)at;
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    s->step = a;
}

void sp_agg_scale_add(struct sp_agg_scale *s, struct sp_str label)
{
    struct sp_agg_range r = {0};
    int64_t low = 0;
    bool plain = bucket_plain(label, &low);
    if (!plain && !bucket_marked(label, &r) && !bucket_brackets(label, &r))
        return;
    low = plain || r.has_low ? low + r.low : r.high;
    s->linear = s->linear || (!plain && !(r.has_low && r.has_high)) || !bucket_is_power(low);
    bucket_add_point(s, low);
}

/* Are the labels close enough for their distance to be that of all? */
static bool bucket_is_even(const struct sp_agg_scale *s)
{
    uint64_t all = (uint64_t)s->most - (uint64_t)s->least;
    return s->points > 2 && s->step && s->step <= INT64_MAX && all / s->step <= s->points * 4;
}

bool sp_agg_range_of(const struct sp_agg_scale *s, struct sp_str label, struct sp_agg_range *out)
{
    int64_t low;
    if (!bucket_plain(label, &low))
        return bucket_marked(label, out) || bucket_brackets(label, out);
    *out = (struct sp_agg_range){.has_low = true, .low = low};
    if (s->linear) {
        out->has_high = bucket_is_even(s) && !__builtin_add_overflow(low, (int64_t)s->step, &out->high);
        return true;
    }
    out->has_high = true;
    if (low < 0) { /* -8 is what lies above -16, up to -8 */
        out->high = low + 1;
        return !__builtin_mul_overflow(low, 2, &out->low) && !__builtin_add_overflow(out->low, 1, &out->low);
    }
    out->has_high = !__builtin_add_overflow(low, low ? low : 1, &out->high);
    return true;
}

bool sp_agg_range_equal(struct sp_agg_range a, struct sp_agg_range b)
{
    return a.has_low == b.has_low && a.has_high == b.has_high && (!a.has_low || a.low == b.low) &&
           (!a.has_high || a.high == b.high);
}

bool sp_agg_range_bpftrace(struct sp_agg_range r, struct sp_buf *out)
{
    int64_t next;
    bool one = r.has_low && r.has_high && !__builtin_add_overflow(r.low, 1, &next) && next == r.high;
    sp_buf_puts(out, r.has_low ? "[" : "(...");
    if (r.has_low)
        sp_agg_put_scaled(out, r.low);
    if (one)
        return sp_buf_ch(out, ']');
    sp_buf_puts(out, ", ");
    if (r.has_high)
        sp_agg_put_scaled(out, r.high);
    else
        sp_buf_puts(out, "...");
    return sp_buf_ch(out, ')');
}

bool sp_agg_range_dtrace(struct sp_agg_range r, struct sp_buf *out)
{
    if (!r.has_low)
        sp_buf_puts(out, "< ");
    else if (!r.has_high)
        sp_buf_puts(out, ">= ");
    return sp_buf_i64(out, r.has_low ? r.low : r.high);
}
