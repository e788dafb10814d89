#include "analysis/timeline_scan.h"

#include "analysis/stats.h"
#include "analysis/timeline_counts.h"

#include <math.h>

#define SCAN_LEVEL 0.01 /* of false findings in a steady profile */

/* Of two parts against one rate for both. */
static double likelihood(struct sp_counts in, struct sp_counts out)
{
    double rate = (in.k + out.k) / (in.e + out.e), sum = 0;
    if (in.k > 0)
        sum += in.k * log(in.k / (in.e * rate));
    if (out.k > 0)
        sum += out.k * log(out.k / (out.e * rate));
    return sum > 0 ? sum : 0;
}

/* ---- the threshold ---- */

static double corrected(const struct sp_scan *x, double score)
{
    double n = (double)x->n, p = 2 * sp_normal_tail(sqrt(2 * score)) * n * (n - 1) / 2 * x->things;
    return p < 1 ? p : 1;
}

double sp_scan_threshold(const struct sp_scan *x)
{
    double lo = 0, hi = 200;
    for (int i = 0; i < 60; i++) {
        double middle = (lo + hi) / 2;
        if (corrected(x, middle) > SCAN_LEVEL)
            lo = middle;
        else
            hi = middle;
    }
    return hi;
}

/* ---- one interval ---- */

struct found {
    size_t lo, hi;
    double r1, r0, llr;
};

static double score_of(const struct sp_scan *x, size_t i, double r1, double r0)
{
    return (double)x->k[i] * log(r1 / r0) - (r1 - r0) * sp_cell_e(x, i);
}

/* The interval of [from, to) of most score. */
static double best_interval(const struct sp_scan *x, size_t from, size_t to, double r1, double r0, size_t *lo,
                            size_t *hi)
{
    double best = 0, sum = 0, ratio = log(r1 / r0);
    size_t begin = from;
    *lo = *hi = from;
    for (size_t i = from; i < to; i++) {
        if (sum <= 0) {
            sum = 0;
            begin = i;
        }
        sum += (double)x->k[i] * ratio - (r1 - r0) * sp_cell_e(x, i);
        if (sum > best) {
            best = sum;
            *lo = begin;
            *hi = i + 1;
        }
    }
    return best;
}

static struct sp_counts counts_less(struct sp_counts a, struct sp_counts b)
{
    return (struct sp_counts){a.k - b.k, a.e - b.e};
}

/* From a guess of the two rates to the interval that fits its own rates best. */
static struct found climb(const struct sp_scan *x, size_t from, size_t to, double r1, double r0)
{
    struct sp_counts all = sp_counts_of(x, from, to);
    struct found best = {.llr = 0};
    bool more = r1 > r0;
    for (int turn = 0; turn < 8 && r1 != r0 && (r1 > r0) == more; turn++) {
        size_t lo, hi;
        best_interval(x, from, to, r1, r0, &lo, &hi);
        if (hi - lo < 1 || hi - lo == to - from)
            break;
        struct sp_counts in = sp_counts_of(x, lo, hi), out = counts_less(all, in);
        double llr = in.e > 0 && out.e > 0 ? likelihood(in, out) : 0;
        r1 = sp_rate_of(in);
        r0 = sp_rate_of(out);
        if (llr <= best.llr)
            break;
        best = (struct found){lo, hi, r1, r0, llr};
    }
    return best;
}

static struct found scan_best(const struct sp_scan *x, size_t from, size_t to)
{
    static const double ups[] = {1.2, 2, 6, 40, 400}, downs[] = {0.8, 0.4, 0.05};
    double rate = sp_rate_of(sp_counts_of(x, from, to));
    struct found best = {.llr = 0};
    for (size_t i = 0; x->more && i < sizeof ups / sizeof *ups; i++) {
        struct found f = climb(x, from, to, rate * ups[i], rate);
        best = f.llr > best.llr && f.r1 > f.r0 ? f : best;
    }
    for (size_t i = 0; x->less && i < sizeof downs / sizeof *downs; i++) {
        struct found f = climb(x, from, to, rate * downs[i], rate);
        best = f.llr > best.llr && f.r1 < f.r0 ? f : best;
    }
    return best;
}

/* ---- boundaries ---- */

/* How far a boundary can move from `at` towards `end` until the likelihood falls by so much. */
static size_t doubt_to(const struct sp_scan *x, size_t at, bool right, size_t limit, double sign, double r1,
                       double r0, double loss_most)
{
    size_t far = 0;
    double loss = 0;
    for (size_t j = 1; j <= limit; j++) {
        loss += sign * score_of(x, right ? at + j - 1 : at - j, r1, r0);
        if (loss <= loss_most)
            far = j;
        else if (loss > 8 * loss_most)
            break;
    }
    return far;
}

static void put_doubt(const struct sp_scan *x, size_t from, size_t to, double r1, double r0, double spread,
                      struct sp_stretch *s)
{
    const double most = 1.920729 * spread; /* half of chi-square's 95 % */
    size_t inside = s->hi - s->lo - 1;
    size_t a = doubt_to(x, s->lo, true, inside, 1, r1, r0, most);
    size_t b = doubt_to(x, s->lo, false, s->lo - from, -1, r1, r0, most);
    s->lo_doubt = 1 + (a > b ? a : b);
    a = doubt_to(x, s->hi, false, inside, 1, r1, r0, most);
    b = doubt_to(x, s->hi, true, to - s->hi, -1, r1, r0, most);
    s->hi_doubt = 1 + (a > b ? a : b);
}

/* ---- several stretches of one kind ---- */

/* The states of cells by the path of least cost; true cells become stretches. False: out of memory. */
static bool two_states(const struct sp_scan *x, double r1, double r0, unsigned char *from,
                       struct sp_stretches *out)
{
    double cost = log((double)x->n) + 3, low = 0, high = -cost;
    out->list.n = 0;
    for (size_t i = 0; i < x->n; i++) {
        double gain = score_of(x, i, r1, r0);
        bool low_from_high = high - cost > low, high_from_low = low - cost > high;
        double to_low = low_from_high ? high - cost : low, to_high = high_from_low ? low - cost : high;
        from[i] = (unsigned char)(low_from_high | high_from_low << 1);
        low = to_low;
        high = to_high + gain;
    }
    bool state = high - cost > low;
    size_t end = x->n;
    for (size_t i = x->n; i-- > 0;) {
        bool before = state ? !(from[i] >> 1 & 1) : from[i] & 1;
        if (state && (!before || !i)) {
            struct sp_stretch s = {.lo = i, .hi = end};
            if (!sp_vec_push(&out->list, s))
                return false;
        }
        if (!state && before)
            end = i;
        state = before;
    }
    for (size_t i = 0, k = out->list.n; i + 1 < k; i++, k--) {
        struct sp_stretch t = out->list.v[i];
        out->list.v[i] = out->list.v[k - 1];
        out->list.v[k - 1] = t;
    }
    return true;
}

static struct sp_counts counts_in(const struct sp_scan *x, const struct sp_stretches *in)
{
    struct sp_counts sum = {0, 0};
    for (size_t i = 0; i < in->list.n; i++) {
        struct sp_counts c = sp_counts_of(x, in->list.v[i].lo, in->list.v[i].hi);
        sum.k += c.k;
        sum.e += c.e;
    }
    return sum;
}

/* Keeps those that are long enough and pass the threshold alone, against what is in none of them. */
static void keep_sure(const struct sp_scan *x, double r1, double r0, struct sp_stretches *io)
{
    double spread = sp_scan_dispersion(x, 0, x->n, io->list.v, io->list.n, r1, r0),
           least = sp_scan_threshold(x);
    struct sp_counts out = counts_less(sp_counts_of(x, 0, x->n), counts_in(x, io));
    size_t n = 0;
    for (size_t i = 0; i < io->list.n; i++) {
        struct sp_stretch s = io->list.v[i];
        struct sp_counts in = sp_counts_of(x, s.lo, s.hi);
        s.score = likelihood(in, out) / spread;
        if (s.score < least || (r1 > r0 ? in.k : in.e * r0) < SP_SCAN_LEAST)
            continue;
        s.p = corrected(x, s.score);
        s.more = r1 > r0;
        put_doubt(x, 0, x->n, r1, r0, spread, &s);
        io->list.v[n++] = s;
    }
    io->list.n = n > 1 || (n && io->list.v[0].hi - io->list.v[0].lo >= x->least) ? n : 0;
}

static bool find_several(const struct sp_scan *x, double up, struct sp_stretches *out)
{
    struct sp_counts all = sp_counts_of(x, 0, x->n);
    double r0 = sp_rate_of(all), r1 = r0 * up;
    unsigned char *from = malloc(x->n);
    bool ok = from != NULL;
    size_t before = SIZE_MAX;
    r0 *= up > 1 ? 0.7 : 1;
    for (int turn = 0; ok && turn < 10; turn++) {
        ok = two_states(x, r1, r0, from, out);
        struct sp_counts in = counts_in(x, out), rest = counts_less(all, in);
        if (!ok || !out->list.n || in.e <= 0 || rest.e <= 0 || out->list.n == before)
            break;
        before = turn > 3 ? out->list.n : SIZE_MAX;
        r1 = sp_rate_of(in);
        r0 = sp_rate_of(rest);
        if ((r1 > r0) != (up > 1))
            out->list.n = 0;
    }
    free(from);
    if (out->list.n > SP_SCAN_MOST) /* that is how it always runs, not a phase */
        out->list.n = 0;
    if (ok && out->list.n)
        keep_sure(x, r1, r0, out);
    return ok;
}

/* ---- all ---- */

/* One interval, then what is left and right of it. */
static bool find_single(const struct sp_scan *x, size_t from, size_t to, unsigned depth,
                        struct sp_stretches *out)
{
    enum { DEPTH = 4, CELLS = 32 };
    if (to - from < CELLS || depth == DEPTH)
        return true;
    struct found f = scan_best(x, from, to);
    if (f.llr <= 0)
        return true;
    struct sp_stretch s = {.lo = f.lo, .hi = f.hi, .more = f.r1 > f.r0};
    double spread = sp_scan_dispersion(x, from, to, &s, 1, f.r1, f.r0);
    s.score = f.llr / spread;
    s.p = corrected(x, s.score);
    struct sp_counts in = sp_counts_of(x, f.lo, f.hi);
    if (s.p > SCAN_LEVEL)
        return true;
    if (s.hi - s.lo < x->least || (f.r1 > f.r0 ? in.k : in.e * f.r0) < SP_SCAN_LEAST)
        return true;
    put_doubt(x, from, to, f.r1, f.r0, spread, &s);
    return find_single(x, from, f.lo, depth + 1, out) && sp_vec_push(&out->list, s) &&
           find_single(x, f.hi, to, depth + 1, out);
}

/* How much a stretch differs from all else, other stretches among it. */
static double alone(const struct sp_scan *x, const struct sp_stretch *s)
{
    struct sp_counts in = sp_counts_of(x, s->lo, s->hi), out = counts_less(sp_counts_of(x, 0, x->n), in);
    return in.e > 0 && out.e > 0 ? likelihood(in, out) : 0;
}

/*
 * What was found left or right of a stretch differs from its neighbourhood: it stays if it differs from the
 * rest of all too, in the same direction.
 */
static void keep_of_rest(const struct sp_scan *x, struct sp_counts rest, struct sp_stretches *io)
{
    double least = sp_scan_threshold(x);
    size_t n = 0, best = 0;
    for (size_t i = 1; i < io->list.n; i++)
        best = alone(x, &io->list.v[i]) > alone(x, &io->list.v[best]) ? i : best;
    for (size_t i = 0; i < io->list.n; i++) {
        struct sp_stretch s = io->list.v[i];
        struct sp_counts in = sp_counts_of(x, s.lo, s.hi);
        bool more = sp_rate_of(in) > sp_rate_of(rest);
        if (i == best || (rest.e > 0 && in.e > 0 && more == s.more &&
                          likelihood(in, rest) / sp_scan_divisor(x, s.hi - s.lo) >= least))
            io->list.v[n++] = s;
    }
    io->list.n = n;
}

/* Between two stretches of one sign it is again as in the rest: more like that than like the weaker one. */
static bool falls_back(const struct sp_scan *x, const struct sp_stretch *a, const struct sp_stretch *b,
                       struct sp_counts rest)
{
    if (a->hi + a->hi_doubt + b->lo_doubt >= b->lo)
        return false;
    struct sp_counts gap = sp_counts_of(x, a->hi, b->lo);
    double ra = sp_rate_of(sp_counts_of(x, a->lo, a->hi)), rb = sp_rate_of(sp_counts_of(x, b->lo, b->hi));
    double r0 = sp_rate_of(rest), r1 = a->more ? fmin(ra, rb) : fmax(ra, rb);
    return gap.e <= 0 || gap.k * log(r1 / r0) < (r1 - r0) * gap.e;
}

/* Without a way back they are steps of a slope, not something that comes again: what tells more stays. */
static void keep_apart(const struct sp_scan *x, struct sp_counts rest, struct sp_stretches *io)
{
    size_t n = 0;
    for (size_t i = 0; i < io->list.n; i++) {
        struct sp_stretch s = io->list.v[i], *before = n ? &io->list.v[n - 1] : NULL;
        if (!before || before->more != s.more || falls_back(x, before, &s, rest))
            io->list.v[n++] = s;
        else if (alone(x, &s) > alone(x, before))
            *before = s;
    }
    io->list.n = n;
}

static size_t cells_in(const struct sp_stretches *list)
{
    size_t n = 0;
    for (size_t i = 0; i < list->list.n; i++)
        n += list->list.v[i].hi - list->list.v[i].lo;
    return n;
}

/* Several short stretches, where that are more than were found one by one. */
static bool prefer_several(const struct sp_scan *x, double up, struct sp_stretches *out)
{
    struct sp_stretches other = {0};
    bool ok = find_several(x, up, &other);
    if (ok && other.list.n > 1 && other.list.n > out->list.n && cells_in(&other) * 5 <= x->n * 3) {
        struct sp_stretches t = *out;
        *out = other;
        other = t;
    }
    sp_vec_free(&other.list);
    return ok;
}

bool sp_scan_find(const struct sp_scan *x, struct sp_stretches *out)
{
    if (!find_single(x, 0, x->n, 0, out))
        return false;
    if (out->list.n > 1) {
        struct sp_counts rest = counts_less(sp_counts_of(x, 0, x->n), counts_in(x, out));
        keep_of_rest(x, rest, out);
        keep_apart(x, rest, out);
    }
    return (!x->more || prefer_several(x, 4, out)) && (!x->more || prefer_several(x, 30, out)) &&
           (!x->less || prefer_several(x, 0.1, out));
}

struct sp_scan_test sp_scan_judge(const struct sp_scan *x, const struct sp_stretches *in)
{
    struct sp_counts all = sp_counts_of(x, 0, x->n), inside = counts_in(x, in),
                     out = counts_less(all, inside);
    struct sp_scan_test t = {.p = 1, .dispersion = 1};
    if (inside.e <= 0 || out.e <= 0 || all.k <= 0)
        return t;
    t.dispersion =
        sp_scan_dispersion(x, 0, x->n, in->list.v, in->list.n, sp_rate_of(inside), sp_rate_of(out));
    t.score = likelihood(inside, out) / t.dispersion;
    t.p = corrected(x, t.score);
    return t;
}
