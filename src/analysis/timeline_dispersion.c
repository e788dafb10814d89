/* How much counts vary beyond Poisson's. */
#include "analysis/timeline_counts.h"

#include <math.h>

/* Sums of squares of blocks of one size that are within [lo, hi), against their rate. */
static void add_blocks(const struct sp_scan *x, size_t lo, size_t hi, size_t size, double rate, double *chi,
                       double *blocks, double *expected)
{
    for (size_t i = lo; i + size <= hi; i += size) {
        struct sp_counts c = sp_counts_of(x, i, i + size);
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

double sp_scan_dispersion(const struct sp_scan *x, size_t from, size_t to, const struct sp_stretch *in,
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

double sp_scan_steady(const struct sp_scan *x, size_t cells)
{
    double rate = sp_rate_of(sp_counts_of(x, 0, x->n));
    struct sp_stretch any = {.lo = 0, .hi = cells};
    return sp_scan_dispersion(x, 0, x->n, &any, 1, rate, rate);
}

/* A chi-square of one degree of freedom: whether two blocks have one rate; < 0: too few counts. */
static double differ(const struct sp_scan *x, struct sp_counts a, struct sp_counts b)
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
        double z = differ(x, sp_counts_of(x, i, i + size), sp_counts_of(x, i + size, i + 2 * size));
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
