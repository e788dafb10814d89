#include "analysis/timeline_scan.h"

#include "analysis/stats.h"

#include <math.h>

#define SCAN_LEVEL 0.01 /* of false findings in a steady profile */

struct counts {
    double k, e;
};

static double cell_e(const struct sp_scan *x, size_t i)
{
    return x->e ? (double)x->e[i] : 1;
}

static struct counts counts_of(const struct sp_scan *x, size_t lo, size_t hi)
{
    struct counts c = {0, 0};
    for (size_t i = lo; i < hi; i++) {
        c.k += (double)x->k[i];
        c.e += cell_e(x, i);
    }
    return c;
}

static double rate_of(struct counts c)
{
    return (c.k > 0.5 ? c.k : 0.5) / (c.e > 0 ? c.e : 1);
}

/* Of two parts against one rate for both. */
static double likelihood(struct counts in, struct counts out)
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

/* ---- dispersion ---- */

/* Sums of squares of blocks of one size that are within [lo, hi), against their rate. */
static void add_blocks(const struct sp_scan *x, size_t lo, size_t hi, size_t size, double rate, double *chi,
                       double *blocks, double *expected)
{
    for (size_t i = lo; i + size <= hi; i += size) {
        struct counts c = counts_of(x, i, i + size);
        double e = c.e * rate;
        if (e <= 0)
            continue;
        *chi += (c.k - e) * (c.k - e) / e;
        *blocks += 1;
        *expected += e;
    }
}

size_t sp_scan_sizes(size_t n)
{
    enum { BLOCKS = 40 };
    size_t sizes = 1;
    while (sizes < SP_SCAN_SIZES && (size_t)1 << sizes <= n / BLOCKS)
        sizes++;
    return sizes;
}

/* From which size on blocks tell how intervals of so many cells vary; three sizes at least do. */
static size_t first_size(const struct sp_scan *x, size_t cells)
{
    size_t sizes = sp_scan_sizes(x->n), i = 0;
    while (i + 3 < sizes && (size_t)16 << i <= cells)
        i++;
    return i;
}

double sp_scan_divisor(const struct sp_scan *x, size_t cells)
{
    double most = 1;
    for (size_t i = first_size(x, cells); x->spread && i < sp_scan_sizes(x->n); i++)
        most = fmax(most, x->spread[i]);
    return most;
}

/* The stretches are n, of one scale: that of the shortest of them and of what is between. */
static size_t scale_of(size_t from, size_t to, const struct sp_stretch *in, size_t n)
{
    size_t inside = 0;
    for (size_t i = 0; i < n; i++)
        inside += in[i].hi - in[i].lo;
    size_t outside = to - from - inside;
    return (inside < outside ? inside : outside) / (n ? n : 1);
}

static double dispersion(const struct sp_scan *x, size_t from, size_t to, const struct sp_stretch *in,
                         size_t n, double r1, double r0)
{
    enum { BLOCKS = 16 };
    size_t scale = scale_of(from, to, in, n);
    double most = sp_scan_divisor(x, scale);
    for (size_t size = (size_t)1 << first_size(x, scale); size <= (to - from) / BLOCKS; size *= 2) {
        double chi = 0, blocks = 0, expected = 0;
        size_t at = from;
        for (size_t i = 0; i < n; i++) {
            add_blocks(x, at, in[i].lo, size, r0, &chi, &blocks, &expected);
            add_blocks(x, in[i].lo, in[i].hi, size, r1, &chi, &blocks, &expected);
            at = in[i].hi;
        }
        add_blocks(x, at, to, size, r0, &chi, &blocks, &expected);
        if (blocks >= BLOCKS / 2 && expected >= blocks && chi / (blocks - 1) > most)
            most = chi / (blocks - 1);
    }
    return most;
}

double sp_scan_dispersion(const struct sp_scan *x, size_t cells)
{
    double rate = rate_of(counts_of(x, 0, x->n));
    struct sp_stretch any = {.lo = 0, .hi = cells};
    return dispersion(x, 0, x->n, &any, 1, rate, rate);
}

/* A chi-square of one degree of freedom: whether two blocks have one rate; < 0: too few counts. */
static double differ(const struct sp_scan *x, struct counts a, struct counts b)
{
    enum { LEAST = 4 };
    double k = a.k + b.k, e = a.e + b.e, rate = k / e;
    if (k < LEAST || a.e <= 0 || b.e <= 0)
        return -1;
    double chance = x->e ? rate * (1 - rate) : rate; /* of a share; of a rate */
    double off = a.k - rate * a.e;
    return chance > 1e-9 ? off * off / (chance * a.e * b.e / e) : 0;
}

double sp_scan_spread(const struct sp_scan *x, size_t size)
{
    enum { PAIRS = 8, BINS = 400 };
    const double median = 0.4549; /* of such a chi-square */
    size_t bins[BINS] = {0}, pairs = 0, below = 0;
    for (size_t i = 0; i + 2 * size <= x->n; i += size) {
        double z = differ(x, counts_of(x, i, i + size), counts_of(x, i + size, i + 2 * size));
        if (z < 0)
            continue;
        size_t bin = z > 0 ? (size_t)fmax(0, 100 + 40 * log10(z)) : 0;
        bins[bin < BINS ? bin : BINS - 1]++;
        pairs++;
    }
    if (pairs < PAIRS)
        return 0;
    for (size_t i = 0; i < BINS; i++)
        if ((below += bins[i]) * 2 >= pairs)
            return pow(10, ((double)i - 100) / 40) / median;
    return 0;
}

/* ---- one interval ---- */

struct found {
    size_t lo, hi;
    double r1, r0, llr;
};

static double score_of(const struct sp_scan *x, size_t i, double r1, double r0)
{
    return (double)x->k[i] * log(r1 / r0) - (r1 - r0) * cell_e(x, i);
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
        sum += (double)x->k[i] * ratio - (r1 - r0) * cell_e(x, i);
        if (sum > best) {
            best = sum;
            *lo = begin;
            *hi = i + 1;
        }
    }
    return best;
}

static struct counts counts_less(struct counts a, struct counts b)
{
    return (struct counts){a.k - b.k, a.e - b.e};
}

/* From a guess of the two rates to the interval that fits its own rates best. */
static struct found climb(const struct sp_scan *x, size_t from, size_t to, double r1, double r0)
{
    struct counts all = counts_of(x, from, to);
    struct found best = {.llr = 0};
    bool more = r1 > r0;
    for (int turn = 0; turn < 8 && r1 != r0 && (r1 > r0) == more; turn++) {
        size_t lo, hi;
        best_interval(x, from, to, r1, r0, &lo, &hi);
        if (hi - lo < 1 || hi - lo == to - from)
            break;
        struct counts in = counts_of(x, lo, hi), out = counts_less(all, in);
        double llr = in.e > 0 && out.e > 0 ? likelihood(in, out) : 0;
        r1 = rate_of(in);
        r0 = rate_of(out);
        if (llr <= best.llr)
            break;
        best = (struct found){lo, hi, r1, r0, llr};
    }
    return best;
}

static struct found scan_best(const struct sp_scan *x, size_t from, size_t to)
{
    static const double ups[] = {1.2, 2, 6, 40, 400}, downs[] = {0.8, 0.4, 0.05};
    double rate = rate_of(counts_of(x, from, to));
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

static struct counts counts_in(const struct sp_scan *x, const struct sp_stretches *in)
{
    struct counts sum = {0, 0};
    for (size_t i = 0; i < in->list.n; i++) {
        struct counts c = counts_of(x, in->list.v[i].lo, in->list.v[i].hi);
        sum.k += c.k;
        sum.e += c.e;
    }
    return sum;
}

/* Keeps those that are long enough and pass the threshold alone, against what is in none of them. */
static void keep_sure(const struct sp_scan *x, double r1, double r0, struct sp_stretches *io)
{
    double spread = dispersion(x, 0, x->n, io->list.v, io->list.n, r1, r0), least = sp_scan_threshold(x);
    struct counts out = counts_less(counts_of(x, 0, x->n), counts_in(x, io));
    size_t n = 0;
    for (size_t i = 0; i < io->list.n; i++) {
        struct sp_stretch s = io->list.v[i];
        struct counts in = counts_of(x, s.lo, s.hi);
        s.score = likelihood(in, out) / spread;
        if (s.score < least || (r1 > r0 ? in.k : in.e * r0) < SP_SCAN_LEAST)
            continue;
        s.p = corrected(x, s.score);
        put_doubt(x, 0, x->n, r1, r0, spread, &s);
        io->list.v[n++] = s;
    }
    io->list.n = n > 1 || (n && io->list.v[0].hi - io->list.v[0].lo >= x->least) ? n : 0;
}

static bool find_several(const struct sp_scan *x, double up, struct sp_stretches *out)
{
    struct counts all = counts_of(x, 0, x->n);
    double r0 = rate_of(all), r1 = r0 * up;
    unsigned char *from = malloc(x->n);
    bool ok = from != NULL;
    size_t before = SIZE_MAX;
    r0 *= up > 1 ? 0.7 : 1;
    for (int turn = 0; ok && turn < 10; turn++) {
        ok = two_states(x, r1, r0, from, out);
        struct counts in = counts_in(x, out), rest = counts_less(all, in);
        if (!ok || !out->list.n || in.e <= 0 || rest.e <= 0 || out->list.n == before)
            break;
        before = turn > 3 ? out->list.n : SIZE_MAX;
        r1 = rate_of(in);
        r0 = rate_of(rest);
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
    struct sp_stretch s = {.lo = f.lo, .hi = f.hi};
    double spread = dispersion(x, from, to, &s, 1, f.r1, f.r0);
    s.score = f.llr / spread;
    s.p = corrected(x, s.score);
    struct counts in = counts_of(x, f.lo, f.hi);
    if (s.p > SCAN_LEVEL)
        return true;
    if (s.hi - s.lo < x->least || (f.r1 > f.r0 ? in.k : in.e * f.r0) < SP_SCAN_LEAST)
        return true;
    put_doubt(x, from, to, f.r1, f.r0, spread, &s);
    return find_single(x, from, f.lo, depth + 1, out) && sp_vec_push(&out->list, s) &&
           find_single(x, f.hi, to, depth + 1, out);
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
    return find_single(x, 0, x->n, 0, out) && (!x->more || prefer_several(x, 4, out)) &&
           (!x->more || prefer_several(x, 30, out)) && (!x->less || prefer_several(x, 0.1, out));
}

struct sp_scan_test sp_scan_judge(const struct sp_scan *x, const struct sp_stretches *in)
{
    struct counts all = counts_of(x, 0, x->n), inside = counts_in(x, in), out = counts_less(all, inside);
    struct sp_scan_test t = {.p = 1, .dispersion = 1};
    if (inside.e <= 0 || out.e <= 0 || all.k <= 0)
        return t;
    t.dispersion = dispersion(x, 0, x->n, in->list.v, in->list.n, rate_of(inside), rate_of(out));
    t.score = likelihood(inside, out) / t.dispersion;
    t.p = corrected(x, t.score);
    return t;
}
