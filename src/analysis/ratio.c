#include "analysis/ratio.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Below so many samples there is no value: chance alone makes it half or double. */
enum { ENOUGH = 10, NAMES_MAX = 12 };

static const struct {
    const char *name, *of;
    double times;
    const char *per;
} short_forms[] = {{"ipc", "instructions", 1, "cycles"},
                   {"cpi", "cycles", 1, "instructions"},
                   {"mpki", "cache-misses", 1000, "instructions"},
                   {"branch-mpki", "branch-misses", 1000, "instructions"}};

/* ---- names of events ---- */

/* "cpu_core/cycles,period=9/u": a PMU, a name, modifiers; "cycles:u" and "cycles/period=9/u" have no PMU. */
struct event_parts {
    struct sp_str pmu, base, modifiers;
};

/* What stands between slashes is how the event before them is sampled, no event of a PMU. */
static bool is_how(struct sp_str terms)
{
    static const char *const how[] = {
        "period=", "freq=", "time=", "call-graph=", "name=", "stack-size=", "max-stack=", NULL};
    for (size_t i = 0; how[i]; i++)
        if (terms.n > strlen(how[i]) && memcmp(terms.p, how[i], strlen(how[i])) == 0)
            return true;
    return false;
}

static struct event_parts parts_of(struct sp_str name)
{
    struct event_parts out = {.base = name};
    const char *end = name.p + name.n, *slash = name.n ? memchr(name.p, '/', name.n) : NULL;
    const char *last = name.n ? memrchr(name.p, slash ? '/' : ':', name.n) : NULL;
    if (slash && last > slash) {
        out.pmu = (struct sp_str){name.p, (uint32_t)(slash - name.p)};
        out.base = (struct sp_str){slash + 1, (uint32_t)(last - slash - 1)};
        const char *comma = memchr(out.base.p, ',', out.base.n);
        out.base.n = comma ? (uint32_t)(comma - out.base.p) : out.base.n;
        if (is_how(out.base)) {
            out.base = out.pmu;
            out.pmu = (struct sp_str){"", 0};
        }
    } else if (!slash && last) {
        out.base.n = (uint32_t)(last - name.p);
    }
    if (last && (!slash || last > slash))
        out.modifiers = (struct sp_str){last + 1, (uint32_t)(end - last - 1)};
    return out;
}

/* Which sides a modifier leaves, as bits; how precise it is does not matter. */
static unsigned sides_of(struct sp_str modifiers)
{
    static const char letters[] = "ukhGH";
    unsigned bits = 0;
    for (uint32_t i = 0; i < modifiers.n; i++) {
        const char *at = memchr(letters, modifiers.p[i], sizeof letters - 1);
        bits |= at ? 1u << (at - letters) : 0;
    }
    return bits;
}

static bool counts(struct sp_str base, const char *what)
{
    return sp_str_is(base, what) || (strcmp(what, "cycles") == 0 && sp_str_is(base, "cpu-cycles"));
}

static bool same_kind(const struct event_parts *a, const struct event_parts *b)
{
    return sp_str_cmp(a->pmu, b->pmu) == 0 && sides_of(a->modifiers) == sides_of(b->modifiers);
}

static struct event_parts event_parts_of(const struct sp_profile *p, uint32_t event)
{
    return parts_of(sp_pstr(p, p->events.v[event].name));
}

/* The event of the whole name, else the only one that is called so but for PMU and modifiers; SP_NONE. */
static uint32_t event_named(const struct sp_profile *p, const char *name, size_t n)
{
    uint32_t event = sp_event_find(p, name, n), found = 0;
    if (event != SP_NONE)
        return event;
    for (uint32_t i = 0; i < p->events.n; i++) {
        struct sp_str base = event_parts_of(p, i).base;
        if (base.n != n || memcmp(base.p, name, n) != 0)
            continue;
        event = i;
        found++;
    }
    return found == 1 ? event : SP_NONE;
}

static spaa_status ratio_refuse(const struct sp_profile *p, const char *text, const char *why,
                                struct sp_diags *d)
{
    struct sp_buf b;
    sp_buf_init(&b, 4096);
    sp_buf_puts(&b, "a ratio is EVENT/EVENT, as instructions/cycles; the profile has ");
    for (uint32_t i = 0; i < p->events.n && i < NAMES_MAX; i++) {
        struct sp_str name = sp_pstr(p, p->events.v[i].name);
        sp_buf_puts(&b, i ? ", " : "");
        sp_buf_add(&b, name.p, name.n);
    }
    sp_emit_hint(d, SP_E037, SP_AT_NOTHING, b.failed ? "" : sp_buf_cstr(&b), "--ratio %.120s: %s", text, why);
    sp_buf_free(&b);
    return SPAA_ERR_USAGE;
}

/* ---- what is asked for ---- */

/* The pair of events of a short form: on one PMU, of the same sides. */
static spaa_status parse_short(const struct sp_profile *p, size_t form, struct sp_diags *d,
                               struct sp_ratio *out)
{
    unsigned found = 0;
    for (uint32_t i = 0; i < p->events.n; i++)
        for (uint32_t k = 0; k < p->events.n; k++) {
            struct event_parts of = event_parts_of(p, i), per = event_parts_of(p, k);
            if (!counts(of.base, short_forms[form].of) || !counts(per.base, short_forms[form].per) ||
                !same_kind(&of, &per))
                continue;
            out->of = i;
            out->per = k;
            found++;
        }
    if (found == 1)
        return SPAA_OK;
    char why[160];
    snprintf(why, sizeof why,
             found ? "several events are %s and %s: name the two"
                   : "it takes the events %s and %s of one kind, in one recording",
             short_forms[form].of, short_forms[form].per);
    return ratio_refuse(p, short_forms[form].name, why, d);
}

/* "1000*" before the second name. */
static const char *take_times(const char *text, double *times)
{
    uint64_t n = 0;
    size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 9 || text[digits] != '*')
        return text;
    for (size_t i = 0; i < digits; i++)
        n = n * 10 + (uint64_t)(text[i] - '0');
    *times = (double)n;
    return n ? text + digits + 1 : text;
}

spaa_status sp_ratio_parse(const struct sp_profile *p, const char *text, struct sp_diags *d,
                           struct sp_ratio *out)
{
    *out = (struct sp_ratio){.name = {text, (uint32_t)strlen(text)}, .of = SP_NONE, .times = 1};
    spaa_status st = SPAA_OK;
    for (size_t i = 0; i < sizeof short_forms / sizeof *short_forms; i++)
        if (strcmp(text, short_forms[i].name) == 0) {
            out->times = short_forms[i].times;
            st = parse_short(p, i, d, out);
            if (st)
                return st;
        }
    for (const char *slash = strchr(text, '/'); slash && out->of == SP_NONE; slash = strchr(slash + 1, '/')) {
        double times = 1;
        const char *right = take_times(slash + 1, &times);
        uint32_t of = event_named(p, text, (size_t)(slash - text)),
                 per = event_named(p, right, strlen(right));
        if (of == SP_NONE || per == SP_NONE)
            continue;
        out->of = of;
        out->per = per;
        out->times = times;
    }
    if (out->of == SP_NONE)
        return ratio_refuse(p, text, "that is not two events of the profile", d);
    if (out->of == out->per)
        return ratio_refuse(p, text, "both are the same event", d);
    struct event_parts of = event_parts_of(p, out->of), per = event_parts_of(p, out->per);
    out->alike = same_kind(&of, &per);
    out->ran_of = out->ran_per = 1;
    return SPAA_OK;
}

void sp_ratio_take_times(const struct sp_profile *p, struct sp_ratio *r)
{
    double of, per;
    r->together = sp_counters_together(p, r->of, r->per);
    if (!sp_counter_ran(p, r->of, &of) || !sp_counter_ran(p, r->per, &per))
        return;
    r->timed = true;
    r->ran_of = of;
    r->ran_per = per;
}

/* ---- values ---- */

static double ratio_power(unsigned scale)
{
    double v = 1;
    while (scale--)
        v *= 10;
    return v;
}

/* The most that a Poisson count of so few is at 97.5 %. */
static double few_at_most(int64_t n)
{
    static const double most[ENOUGH] = {3.689,  5.572,  7.225,  8.767,  10.242,
                                        11.668, 13.059, 14.423, 15.763, 17.085};
    return most[n];
}

struct sp_ratio_value sp_ratio_value(const struct sp_ratio *r, const struct sp_selection *of,
                                     const struct sp_selection *per, const struct sp_ratio_sums *sums)
{
    struct sp_ratio_value out = {SP_RATIO_NONE, 0, 0, 0};
    const double z = 1.96;
    int64_t n = sums->of_samples == SP_ABSENT && !sums->of ? 0 : sums->of_samples;
    if (n == SP_ABSENT || sums->per_samples == SP_ABSENT || sums->per_samples < ENOUGH || sums->per <= 0)
        return out;
    double below = (double)sums->per / ratio_power(per->scale) / r->ran_per / r->times;
    double above = 1 / ratio_power(of->scale) / r->ran_of;
    if (n >= ENOUGH) {
        double spread = exp(z * sqrt(1 / (double)n + 1 / (double)sums->per_samples));
        out.sure = SP_RATIO_KNOWN;
        out.value = (double)sums->of * above / below;
        out.low = out.value / spread;
        out.high = out.value * spread;
        return out;
    }
    double each = n > 0                   ? (double)sums->of / (double)n
                  : of->whole_samples > 0 ? (double)of->whole / (double)of->whole_samples
                                          : 0;
    if (each <= 0)
        return out;
    out.sure = SP_RATIO_AT_MOST;
    out.high = few_at_most(n) * each * above / (below * exp(-z / sqrt((double)sums->per_samples)));
    return out;
}
