#include "analysis/leak_series.h"

#include "analysis/stats.h"

#include <math.h>
#include <stdlib.h>

enum { REGULAR = 4 };    /* values from which on their steps may be too much alike for chance */
enum { TREND = 5 };      /* values that a trend with steps down takes */
enum { LONG = 8 };       /* from so many on neighbours tell whether values walk */
enum { PAIRS_OF = 100 }; /* of longer series so many values, evenly, make the pairs */
#define BEYOND  3.0      /* standard deviations that the blocks that stay take */
#define CLEAR   2.0      /* of a single step */
#define CHANCE  0.01     /* how rarely chance may do what a claim says */
#define SURE    0.05     /* how rarely chance may do it where a row is not called varying */
#define KEPT    0.5      /* part of the allocated blocks that is kept, where that is a claim of growth */
#define ONCE    0.9
#define SLOWER  0.2
#define AGAINST 0.05 /* part of the difference that may be given back by the way */
#define LEVEL   0.3  /* of the growth: what is level varies less */
#define RELATED 0.3  /* correlation of neighbours from which on values are taken for a walk */

const char *const sp_leak_trend_names[] = {"only grows", "grows",   "up each time", "may grow", "slows down",
                                           "grew once",  "new",     "grew",         "varies",   "noise",
                                           "level",      "shrinks", "not known"};

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

/* Kendall's interval of the slopes; neighbours that resemble each other (0 … 1) tell less. */
static void sen_interval(const double *slopes, size_t pairs, size_t used, double related,
                         struct sp_heap_growth *g)
{
    double n = (double)used, all = (double)pairs, r = fmin(fmax(related, 0), 0.95);
    double c = SP_Z95 * sqrt(n * (n - 1) * (2 * n + 5) / 18 * (1 + r) / (1 - r));
    double from = floor((all - c) / 2) - 1, to = ceil((all + c) / 2);
    bool few = used < TREND;
    g->lo = slopes[few || from < 0 ? 0 : (size_t)from];
    g->hi = slopes[few || to >= all ? pairs - 1 : (size_t)to];
}

/* Those of all pairs, least first; NULL: out of memory. */
static double *slopes_of(const struct sp_leak_values *v, size_t *used, size_t *pairs)
{
    size_t n = *used = v->n < PAIRS_OF ? v->n : PAIRS_OF;
    double *slopes = malloc(n * (n - 1) / 2 * sizeof *slopes);
    *pairs = 0;
    for (size_t a = 0; slopes && a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            size_t i = a * (v->n - 1) / (n - 1), j = b * (v->n - 1) / (n - 1);
            if (v->t[j] > v->t[i])
                slopes[(*pairs)++] = (v->y[j] - v->y[i]) / (v->t[j] - v->t[i]);
        }
    if (slopes)
        qsort(slopes, *pairs, sizeof *slopes, by_value);
    return slopes;
}

static void widen(struct sp_heap_growth *g, double lo, double hi)
{
    g->lo = fmin(g->lo, lo);
    g->hi = fmax(g->hi, hi);
}

/* ---- what the steps say ---- */

struct steps {
    size_t up, down;
    size_t clear;    /* up, and more than sampling explains */
    double against;  /* the sum of those against the whole difference, beyond what sampling explains */
    size_t largest;  /* number of the one that goes up most */
    double mean, se; /* of their rates; se NaN: not of one step */
    double alike;    /* p of the t-test of these */
};

static double step_rate(const struct sp_leak_values *v, size_t i)
{
    double dt = v->t[i + 1] - v->t[i];
    return dt > 0 ? (v->y[i + 1] - v->y[i]) / dt : 0;
}

static struct steps steps_of(const struct sp_leak_values *v, size_t from, size_t to)
{
    struct steps s = {.largest = from, .alike = 1, .se = NAN};
    double sum = 0, square = 0, n = (double)(to - from), whole = v->y[to] - v->y[from];
    for (size_t i = from; i < to; i++) {
        double d = v->y[i + 1] - v->y[i];
        s.up += d > 0;
        s.down += d < 0;
        s.clear += d > CLEAR * sqrt(fmax(v->step[i], 0));
        s.against += fmax((whole < 0 ? d : -d) - CLEAR * sqrt(fmax(v->step[i], 0)), 0);
        s.largest = d > v->y[s.largest + 1] - v->y[s.largest] ? i : s.largest;
        sum += step_rate(v, i);
    }
    s.mean = n > 0 ? sum / n : 0;
    for (size_t i = from; i < to; i++)
        square += pow(step_rate(v, i) - s.mean, 2);
    if (n >= 2)
        s.se = sqrt(square / (n - 1) / n);
    if (n >= 2 && sum > 0)
        s.alike = s.se > 0 ? sp_t_tail(s.mean / s.se, n - 1) : 0;
    return s;
}

/* How probable so few of the steps are down where up and down are alike: the sign test. */
static double sign_p(const struct steps *s)
{
    double n = (double)(s->up + s->down), log_one = -n * log(2), p = 0;
    for (size_t k = 0; k <= s->down; k++) {
        p += exp(log_one);
        log_one += log(n - (double)k) - log((double)k + 1);
    }
    return fmin(p, 1);
}

/* Blocks that came and went: whether more stayed than allocations and frees at random leave, and most did. */
static bool most_stay(const struct sp_leak_values *v, struct sp_heap_growth *g)
{
    double born = 0, died = 0;
    for (size_t i = 0; v->born && i + 1 < v->n; i++) {
        born += v->born[i];
        died += v->died[i];
    }
    g->random = false;
    if (born <= 0 || died < -0.01 * born || born < died)
        return false;
    died = fmax(died, 0);
    g->random = born - died <= BEYOND * sqrt(born + died);
    g->kept = (born - died) / born;
    return !g->random && g->kept >= KEPT;
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

/* ---- whether it stopped ---- */

enum pace { GOES_ON, MAY_HAVE_STOPPED, STOPPED };

/* Behind this part of the time it grew at less than a fifth of the rate before; sampling may be why. */
static enum pace pace_behind(const struct sp_leak_values *v, double part)
{
    double middle = v->t[0] + (v->t[v->n - 1] - v->t[0]) * part, unsure = 0;
    size_t at = 1, last = v->n - 1;
    while (at + 1 < last && v->t[at] < middle)
        at++;
    for (size_t i = at; i < last; i++)
        unsure += fmax(v->step[i], 0);
    unsure = fmin(unsure, v->var[at] + v->var[last]);
    double before = v->t[at] - v->t[0], behind = v->t[last] - v->t[at];
    if (before <= 0 || behind <= 0)
        return GOES_ON;
    double early = (v->y[at] - v->y[0]) / before, late = (v->y[last] - v->y[at]) / behind;
    if (early <= 0 || late >= SLOWER * early)
        return GOES_ON;
    return late + SP_Z95 * sqrt(unsure) / behind < early ? STOPPED : MAY_HAVE_STOPPED;
}

/* How long from a value on it stays as it is, but for a little. */
static double pause_from(const struct sp_leak_values *v, size_t from, double little)
{
    size_t to = from;
    while (to + 1 < v->n && fabs(v->y[to + 1] - v->y[from]) <= little)
        to++;
    return v->t[to] - v->t[from];
}

/* How long it stands still at the end, and how long it ever did while it grew. */
static double still_at_end(const struct sp_leak_values *v, double *longest)
{
    size_t last = v->n - 1, end = last;
    double little = fmax(AGAINST * (v->y[last] - v->y[0]), 2 * v->grain);
    while (end && fabs(v->y[end - 1] - v->y[last]) <= little)
        end--;
    *longest = 0;
    for (size_t i = 0; i < end; i++)
        *longest = fmax(*longest, pause_from(v, i, little));
    return last - end < 2 ? 0 : v->t[last] - v->t[end];
}

/* It grew more slowly, or stands still for longer than in any pause before; exact values are surer of that.
 */
static enum pace pace_of(const struct sp_leak_values *v, bool sampled)
{
    double span = v->t[v->n - 1] - v->t[0], longest, still = still_at_end(v, &longest);
    enum pace half = pace_behind(v, 0.5), third = pace_behind(v, 2.0 / 3);
    if (!sampled && still >= span / 5 && still > 2 * longest)
        return STOPPED;
    return sampled && v->n >= LONG && still > longest && third > half ? third : half;
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
    if (fabs(g->growth) <= g->unsure)
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

/* It never gives back more than a little: each step counts, and so do the blocks that stay. */
static enum sp_leak_trend never_falls(const struct sp_leak_values *v, const struct steps *s, bool stay,
                                      const struct sp_heap_growth *g)
{
    enum pace pace = pace_of(v, g->sd > 0);
    if (pace == STOPPED)
        return SP_TREND_SLOWS;
    if (pace == GOES_ON && (stay || g->chance <= CHANCE))
        return SP_TREND_ONLY_GROWS;
    return s->up + 1 == v->n ? SP_TREND_UP : SP_TREND_MAY_GROW;
}

static enum sp_leak_trend rises_and_falls(const struct sp_leak_values *v, bool stay,
                                          const struct sp_heap_growth *g)
{
    enum pace pace = pace_of(v, g->sd > 0);
    if (pace == STOPPED)
        return SP_TREND_SLOWS;
    bool sure = pace == GOES_ON && (stay || g->chance <= CHANCE) && !g->random;
    return sure ? SP_TREND_GROWS : SP_TREND_MAY_GROW;
}

/* The word follows from the interval: growth is claimed only of what has no 0 in it. */
static enum sp_leak_trend trend_of(const struct sp_leak_values *v, const struct steps *s, bool one_way,
                                   bool stay, struct sp_heap_growth *g)
{
    bool beyond = fabs(g->growth) > g->unsure;
    if (!s->up && !s->down)
        return SP_TREND_LEVEL;
    if (g->growth > 0 && beyond && is_new(v))
        return SP_TREND_NEW;
    if (g->growth > 0 && beyond && grew_once(v, s, g))
        return SP_TREND_GREW_ONCE;
    if (g->growth > 0 && beyond && one_way && g->lo >= 0)
        return never_falls(v, s, stay, g);
    if (g->lo > 0)
        return rises_and_falls(v, stay, g);
    if (g->growth < 0 && beyond && (!s->up || g->hi < 0))
        return SP_TREND_SHRINKS;
    return within_noise(v) ? SP_TREND_NOISE : SP_TREND_VARIES;
}

/* What steps of which none is down, or next to none, are worth. */
static double chance_of_steps(const struct sp_leak_values *v, const struct steps *s, double related)
{
    double p = sign_p(s);
    if (v->n >= REGULAR)
        p = fmin(p, s->alike);
    return related <= RELATED && v->n >= LONG ? fmin(p, kendall_p(v, related)) : p;
}

/* Values that go up and down: what a trend is worth, and how wide that makes the interval. */
static void doubt_trend(const struct sp_leak_values *v, const struct steps *s, double related,
                        struct sp_heap_growth *g)
{
    g->chance = kendall_p(v, related);
    if (related <= RELATED && v->n >= LONG)
        return;
    double t = sp_t_quantile(0.975, (double)(v->n - 2)) * s->se;
    g->chance = fmax(g->chance, s->alike);
    widen(g, s->mean - t, s->mean + t);
}

bool sp_leak_series_of(const struct sp_leak_values *v, struct sp_heap_growth *out)
{
    double explained = 0, span = v->t[v->n - 1] - v->t[0];
    size_t used, pairs;
    *out = (struct sp_heap_growth){.chance = NAN, .kept = NAN};
    double *slopes = slopes_of(v, &used, &pairs);
    if (!slopes)
        return false;
    for (size_t i = 0; i + 1 < v->n; i++)
        explained += v->step[i];
    explained = fmax(fmin(v->var[0] + v->var[v->n - 1], explained), 0);
    out->growth = v->y[v->n - 1] - v->y[0];
    out->sd = sqrt(explained);
    out->unsure = explained > 0 ? SP_Z95 * sqrt(explained + 2 * v->grain * v->grain) : 0;
    out->rate = median(slopes, pairs);
    out->interval = v->n > 2 || out->sd > 0;
    struct steps s = steps_of(v, 0, v->n - 1);
    bool stay = most_stay(v, out), one_way = s.against <= AGAINST * fabs(out->growth);
    double related = related_of(v, out->rate), unsure = out->unsure / span;
    out->chance = chance_of_steps(v, &s, related);
    /* What sampling hides is no evidence. */
    bool up = v->n < TREND ? s.up + 1 == v->n : s.clear + 1 == v->n;
    one_way = one_way && (out->sd <= 0 || up || stay || out->chance <= SURE);
    sen_interval(slopes, pairs, used, one_way ? 0 : related, out);
    free(slopes);
    widen(out, out->growth / span - unsure, out->growth / span + unsure);
    if (v->n > 2 && !one_way)
        doubt_trend(v, &s, related, out);
    out->trend = v->n == 2 ? of_two(v, out) : trend_of(v, &s, one_way, stay, out);
    if (v->n == 2 || out->trend >= SP_TREND_GREW_ONCE) /* it was not asked, or does not matter */
        out->chance = out->trend == SP_TREND_VARIES ? out->chance : NAN;
    return true;
}
