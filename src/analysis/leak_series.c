#include "analysis/leak_series.h"

#include "analysis/stats.h"

#include <math.h>
#include <stdlib.h>

enum { SHORT = 6 };      /* of fewer values each step has to be more than noise */
enum { REGULAR = 4 };    /* values from which on their steps may be too much alike for chance */
enum { PAIRS_OF = 100 }; /* of longer series so many values, evenly, make the pairs */
#define BEYOND  3.0      /* standard deviations that a claim of growth takes */
#define CLEAR   2.0      /* of a single step */
#define CHANCE  0.01     /* how rarely chance may do what a claim says */
#define STEADY  0.25     /* part of the allocated blocks that is kept, where that is a claim of growth */
#define ONCE    0.9
#define SLOWER  0.2
#define LEVEL   0.3 /* of the growth: what is level varies less */
#define RELATED 0.3 /* correlation of neighbours from which on values are taken for a walk */

const char *const sp_leak_trend_names[] = {"only grows", "grows", "up each time", "slows down",
                                           "grew once",  "new",   "grew",         "varies",
                                           "noise",      "level", "shrinks",      "not known"};

bool sp_leak_trend_is_up(enum sp_leak_trend t)
{
    return t <= SP_TREND_GREW;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- the rate ---- */

static double median(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static void sen_interval(const double *slopes, size_t pairs, size_t used, struct sp_heap_growth *g)
{
    double n = (double)used, c = SP_Z95 * sqrt(n * (n - 1) * (2 * n + 5) / 18), all = (double)pairs;
    double from = floor((all - c) / 2) - 1, to = ceil((all + c) / 2);
    bool few = used < 5;
    g->lo = slopes[few || from < 0 ? 0 : (size_t)from];
    g->hi = slopes[few || to >= all ? pairs - 1 : (size_t)to];
}

/* Theil and Sen; what sampling makes unsure widens the interval. */
static bool find_rate(const struct sp_leak_values *v, struct sp_heap_growth *g)
{
    size_t used = v->n < PAIRS_OF ? v->n : PAIRS_OF, pairs = 0;
    double *slopes = malloc(used * (used - 1) / 2 * sizeof *slopes);
    double span = v->t[v->n - 1] - v->t[0], unsure = SP_Z95 * g->sd / span;
    if (!slopes)
        return false;
    for (size_t a = 0; a < used; a++)
        for (size_t b = a + 1; b < used; b++) {
            size_t i = a * (v->n - 1) / (used - 1), j = b * (v->n - 1) / (used - 1);
            if (v->t[j] > v->t[i])
                slopes[pairs++] = (v->y[j] - v->y[i]) / (v->t[j] - v->t[i]);
        }
    qsort(slopes, pairs, sizeof *slopes, by_value);
    g->rate = median(slopes, pairs);
    sen_interval(slopes, pairs, used, g);
    g->lo = fmin(g->lo, g->rate - unsure);
    g->hi = fmax(g->hi, g->rate + unsure);
    g->interval = v->n > 2 || g->sd > 0;
    free(slopes);
    return true;
}

/* ---- what the steps say ---- */

struct steps {
    size_t up, down;
    size_t clear;   /* up, and more than sampling explains */
    size_t largest; /* number of the step */
    double alike;   /* p of the t-test of the rates of the steps */
};

static double step_rate(const struct sp_leak_values *v, size_t i)
{
    double dt = v->t[i + 1] - v->t[i];
    return dt > 0 ? (v->y[i + 1] - v->y[i]) / dt : 0;
}

static struct steps steps_of(const struct sp_leak_values *v, size_t from, size_t to)
{
    struct steps s = {.largest = from, .alike = 1};
    double sum = 0, square = 0, n = (double)(to - from);
    for (size_t i = from; i < to; i++) {
        double d = v->y[i + 1] - v->y[i], r = step_rate(v, i);
        s.up += d > 0;
        s.down += d < 0;
        s.clear += d > CLEAR * sqrt(fmax(v->step[i], 0));
        s.largest = d > v->y[s.largest + 1] - v->y[s.largest] ? i : s.largest;
        sum += r;
    }
    for (size_t i = from; i < to; i++)
        square += pow(step_rate(v, i) - sum / n, 2);
    if (n >= 2 && sum > 0)
        s.alike = square > 0 ? sp_t_tail(sum / n / sqrt(square / (n - 1) / n), n - 1) : 0;
    return s;
}

/* What came and went of the blocks, of which allocations and frees at random explain so much. */
struct turnover {
    double born, died;
    bool known, random; /* random: that explains the difference */
};

static struct turnover turnover_of(const struct sp_leak_values *v, struct sp_heap_growth *g)
{
    struct turnover x = {0};
    for (size_t i = 0; v->born && i + 1 < v->n; i++) {
        x.born += v->born[i];
        x.died += v->died[i];
    }
    x.known = x.born > 0 && x.died >= -0.01 * x.born && x.born >= x.died;
    x.died = fmax(x.died, 0);
    x.random = x.known && x.born - x.died <= BEYOND * sqrt(x.born + x.died);
    g->kept = x.known ? (x.born - x.died) / x.born : NAN;
    return x;
}

/* Mann and Kendall's p, one-sided, where neighbours resemble each other by Yue and Wang's correction. */
static double kendall_p(const struct sp_leak_values *v, double related)
{
    double s = 0, n = (double)v->n;
    for (size_t i = 0; i < v->n; i++)
        for (size_t j = i + 1; j < v->n; j++)
            s += (v->y[j] > v->y[i]) - (v->y[j] < v->y[i]);
    double var = n * (n - 1) * (2 * n + 5) / 18, r = fmin(fmax(related, 0), 0.95);
    return s > 0 ? sp_normal_tail((s - 1) / sqrt(var * (1 + r) / (1 - r))) : 1;
}

/* Correlation of what is left beside the trend with the value after it. */
static double related_of(const struct sp_leak_values *v, double rate)
{
    double mean = 0, with = 0, square = 0;
    for (size_t i = 0; i < v->n; i++)
        mean += (v->y[i] - rate * v->t[i]) / (double)v->n;
    for (size_t i = 0; i < v->n; i++) {
        double a = v->y[i] - rate * v->t[i] - mean;
        square += a * a;
        if (i + 1 < v->n)
            with += a * (v->y[i + 1] - rate * v->t[i + 1] - mean);
    }
    return square > 0 ? with / square : 0;
}

/* In the later half of the time it grew at less than a fifth of the rate before. */
static bool slows(const struct sp_leak_values *v)
{
    double middle = (v->t[0] + v->t[v->n - 1]) / 2;
    size_t at = 1;
    while (at + 2 < v->n && v->t[at] < middle)
        at++;
    double before = v->t[at] - v->t[0], behind = v->t[v->n - 1] - v->t[at];
    if (before <= 0 || behind <= 0)
        return false;
    double early = (v->y[at] - v->y[0]) / before, late = (v->y[v->n - 1] - v->y[at]) / behind;
    return early > 0 && late < SLOWER * early;
}

/* ---- the verdict ---- */

static void range_of(const struct sp_leak_values *v, size_t from, size_t to, double *low, double *high)
{
    *low = *high = v->y[from];
    for (size_t i = from; i < to; i++) {
        *low = fmin(*low, v->y[i]);
        *high = fmax(*high, v->y[i]);
    }
}

/* One step between two levels has nearly all of it: what is beside it has to be growth by itself. */
static bool grew_once(const struct sp_leak_values *v, const struct steps *s, const struct sp_heap_growth *g)
{
    size_t k = s->largest;
    double low, least, high, most;
    if (v->y[k + 1] - v->y[k] < ONCE * g->growth)
        return false;
    range_of(v, 0, k + 1, &low, &high);
    range_of(v, k + 1, v->n, &least, &most);
    if (fmax(high - low, most - least) > LEVEL * g->growth)
        return false;
    struct steps before = steps_of(v, 0, k), behind = steps_of(v, k + 1, v->n - 1);
    bool up = before.down == 0 && behind.down == 0 && before.up + behind.up + 2 == v->n;
    bool sampled = g->sd > 0; /* small steps are noise then */
    return sampled || !up || pow(0.5, (double)(v->n - 2)) > CHANCE;
}

static enum sp_leak_trend of_two(const struct sp_leak_values *v, const struct sp_heap_growth *g)
{
    if (g->growth == 0 && v->y[0] == v->y[1])
        return SP_TREND_LEVEL;
    if (fabs(g->growth) <= BEYOND * g->sd)
        return SP_TREND_NOISE;
    return g->growth < 0 ? SP_TREND_SHRINKS : v->y[0] <= 0 ? SP_TREND_NEW : SP_TREND_GREW;
}

static bool within_noise(const struct sp_leak_values *v)
{
    double low = 0, high = 0, at = 0, var = 0;
    for (size_t i = 0; i + 1 < v->n; i++) {
        at += v->y[i + 1] - v->y[i];
        low = fmin(low, at);
        high = fmax(high, at);
        var = fmax(var, fmax(v->var[i], v->var[i + 1]));
    }
    return high - low <= BEYOND * sqrt(2 * var);
}

static bool is_new(const struct sp_leak_values *v)
{
    for (size_t i = 0; i + 1 < v->n; i++)
        if (v->y[i] > 0)
            return false;
    return v->y[v->n - 1] > 0;
}

static enum sp_leak_trend upwards(const struct sp_leak_values *v, const struct steps *s,
                                  const struct turnover *x, struct sp_heap_growth *g)
{
    if (is_new(v))
        return SP_TREND_NEW;
    if (grew_once(v, s, g))
        return SP_TREND_GREW_ONCE;
    if (s->clear == 1 && v->n < SHORT) /* what sampling explains of the others is no growth */
        return SP_TREND_GREW_ONCE;
    if (s->up + 1 == v->n && (s->clear == s->up || v->n >= SHORT)) {
        g->chance = pow(0.5, (double)(v->n - 1));
        if (v->n >= REGULAR)
            g->chance = fmin(g->chance, s->alike);
        if (slows(v))
            return SP_TREND_SLOWS;
        bool holds = x->known && !x->random && g->kept >= STEADY;
        return g->chance <= CHANCE || holds ? SP_TREND_ONLY_GROWS : SP_TREND_UP;
    }
    double related = related_of(v, g->rate);
    g->chance = kendall_p(v, related);
    bool walk = related > RELATED || v->n < 8;
    if (v->n < 5 || g->chance > CHANCE || g->lo <= 0 || x->random || (walk && s->alike > CHANCE))
        return SP_TREND_VARIES;
    return slows(v) ? SP_TREND_SLOWS : SP_TREND_GROWS;
}

static enum sp_leak_trend trend_of(const struct sp_leak_values *v, const struct turnover *x,
                                   struct sp_heap_growth *g)
{
    struct steps s = steps_of(v, 0, v->n - 1);
    if (v->n == 2)
        return of_two(v, g);
    if (!s.up && !s.down)
        return SP_TREND_LEVEL;
    if (g->growth > 0 && g->growth > BEYOND * g->sd)
        return upwards(v, &s, x, g);
    if (within_noise(v))
        return SP_TREND_NOISE;
    if (g->growth < 0 && -g->growth > BEYOND * g->sd && (!s.up || g->hi < 0))
        return SP_TREND_SHRINKS;
    return SP_TREND_VARIES;
}

bool sp_leak_series_of(const struct sp_leak_values *v, struct sp_heap_growth *out)
{
    double steps = 0;
    *out = (struct sp_heap_growth){.chance = NAN, .kept = NAN};
    for (size_t i = 0; i + 1 < v->n; i++)
        steps += v->step[i];
    out->growth = v->y[v->n - 1] - v->y[0];
    out->sd = sqrt(fmax(fmin(v->var[0] + v->var[v->n - 1], steps), 0));
    struct turnover x = turnover_of(v, out);
    if (!find_rate(v, out))
        return false;
    out->trend = trend_of(v, &x, out);
    return true;
}
