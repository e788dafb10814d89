/*
 * Which events of a profile a CodeGuru file has, by which metric, and for which counter each sample counts.
 *
 * Counts are samples, by thread state. Where a source has no states, on-CPU samples are RUNNABLE, off-CPU
 * ones WAITING, others WALL_TIME.
 */
#include "formats/codeguru/writer.h"

#include "base/num.h"
#include "formats/common/text/one_number.h"
#include "model/events.h"

#include <math.h>
#include <stdlib.h>

static const char on_cpu[] = "RUNNABLE", off_cpu[] = "WAITING", blocked[] = "BLOCKED",
                  any_time[] = "WALL_TIME", idle[] = "IDLE";

static bool codeguru_contains(struct sp_str s, const char *word)
{
    return s.n && memmem(s.p, s.n, word, strlen(word)) != NULL;
}

static bool codeguru_begins(struct sp_str s, const char *word)
{
    return s.n >= strlen(word) && memcmp(s.p, word, strlen(word)) == 0;
}

/* The counter of samples of an event that have no state of their own. */
static const char *codeguru_event_counter(const struct sp_profile *p, uint32_t event)
{
    static const char *const off[] = {"off-cpu", "offcpu", "off_cpu", "sched_switch", "context-switches"};
    static const char *const locks[] = {"contention", "mutex", "block"};
    static const char *const on[] = {"cpu",    "task-clock", "profile",     "tick",
                                     "cycles", "on-cpu",     "instructions"};
    const struct sp_event *e = &p->events.v[event];
    struct sp_str name = sp_pstr(p, e->name);
    if (e->kind == SP_ALLOCATION || e->kind == SP_DEALLOCATION)
        return any_time;
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        if (codeguru_contains(name, off[i]))
            return off_cpu;
    for (size_t i = 0; i < sizeof locks / sizeof *locks && e->kind != SP_HARDWARE; i++)
        if (codeguru_begins(name, locks[i]))
            return blocked;
    for (size_t i = 0; i < sizeof on / sizeof *on; i++)
        if (codeguru_begins(name, on[i]) && e->kind != SP_PROBE)
            return on_cpu;
    return e->kind == SP_HARDWARE ? on_cpu : any_time;
}

/* ---- events ---- */

static uint32_t codeguru_event_of(const struct sp_profile *p, uint32_t stack)
{
    return p->contexts.v[p->stacks.v[stack].context].event;
}

/* Samples of each event; without counts of samples its stacks. */
static double *codeguru_event_sizes(const struct sp_profile *p)
{
    uint32_t samples = sp_metric_find(p, "samples", 7);
    double *sums = calloc(p->events.n + 1, sizeof *sums);
    for (uint32_t s = 0; sums && s < p->stacks.n; s++) {
        int64_t v = samples == SP_NONE ? 1 : sp_weight(p, s, samples);
        if (codeguru_event_of(p, s) != SP_NONE && v > 0)
            sums[codeguru_event_of(p, s)] += (double)v;
    }
    return sums;
}

static uint32_t codeguru_largest(const struct sp_profile *p, const double *sizes, const char *counter)
{
    uint32_t best = SP_NONE;
    for (uint32_t e = 0; e < p->events.n; e++) {
        bool branches = sp_is_branches(p, e) && p->events.n > 1;
        if (!branches && (!counter || codeguru_event_counter(p, e) == counter) &&
            (best == SP_NONE || sizes[e] > sizes[best]))
            best = e;
    }
    return best;
}

/* Which events have stacks and are not written, branches (`lbr`) too. */
static bool codeguru_say_left(struct sp_cg_writer *w, const bool *taken)
{
    const struct sp_profile *p = w->p;
    unsigned char *seen = calloc(p->events.n + 1, 1);
    size_t n = 0;
    sp_buf_clear(&w->b);
    for (uint32_t s = 0; seen && s < p->stacks.n; s++) {
        uint32_t e = codeguru_event_of(p, s);
        if (e == SP_NONE || taken[e] || seen[e])
            continue;
        seen[e] = 1;
        sp_buf_printf(&w->b, "%s%s", n++ ? ", " : "", sp_pstr(p, p->events.v[e].name).p);
    }
    if (n)
        sp_emit(w->d, SP_I489, SP_AT_NOTHING, "%s", sp_buf_cstr(&w->b));
    free(seen);
    return seen && !w->b.failed;
}

/*
 * The event with the most samples, and with one of on-CPU samples that of off-CPU ones, and the other way
 * round: those do not count the same moments. Of a CodeGuru profile, all.
 */
bool sp_cg_choose_events(struct sp_cg_writer *w, bool *taken)
{
    const struct sp_profile *p = w->p;
    if (w->opts->event != SP_NONE) {
        taken[w->opts->event] = true;
        return true;
    }
    double *sizes = codeguru_event_sizes(p);
    if (!sizes)
        return false;
    uint32_t first = codeguru_largest(p, sizes, NULL), other = SP_NONE;
    if (first != SP_NONE) {
        const char *counter = codeguru_event_counter(p, first);
        taken[first] = true;
        if (counter == on_cpu || counter == off_cpu)
            other = codeguru_largest(p, sizes, counter == on_cpu ? off_cpu : on_cpu);
        if (other != SP_NONE)
            taken[other] = true;
    }
    free(sizes);
    return codeguru_say_left(w, taken);
}

/*
 * The primary metric of what is taken; of two events that are weighed differently, which are added up in one
 * tree, samples. Where neither fits each call stack counts once.
 */
void sp_cg_choose_metric(struct sp_cg_writer *w, const bool *taken)
{
    const struct sp_profile *p = w->p;
    w->metric = SP_NONE;
    for (uint32_t e = 0; e < p->events.n; e++) {
        uint32_t metric = taken[e] ? sp_one_counted(p, w->opts, e, w->d) : SP_NONE;
        if (!taken[e])
            continue;
        bool differs = w->metric != SP_NONE && metric != w->metric;
        w->metric = differs ? sp_metric_find(p, "samples", 7) : metric;
        if (differs)
            break;
    }
    if (w->metric != SP_NONE)
        sp_one_counts(p, w->opts, w->metric, w->d);
}

/* ---- counters ---- */

static uint32_t codeguru_counter_named(struct sp_cg_writer *w, const char *p, size_t n)
{
    uint32_t name = sp_profile_str(w->p, p, n);
    for (uint32_t i = 0; name != SP_STR_FAIL && i < w->counters.n; i++)
        if (w->counters.v[i].name == name)
            return i;
    struct sp_cg_counter c = {.name = name};
    return name != SP_STR_FAIL && sp_vec_push(&w->counters, c) ? (uint32_t)w->counters.n - 1 : SP_NONE;
}

static bool codeguru_is_idle(const struct sp_profile *p, const struct sp_context *c)
{
    struct sp_str comm = sp_pstr(p, c->comm);
    return sp_str_is(comm, "swapper") || codeguru_begins(comm, "swapper/");
}

/* The counter that samples of a context count for: SP_NONE when out of memory. */
static uint32_t codeguru_context_counter(struct sp_cg_writer *w, const struct sp_context *c)
{
    const char *asked = sp_own_opt(w->opts->own, w->opts->nown, "counter");
    struct sp_str state = sp_pstr(w->p, c->state);
    if (c->state != SP_STR_NONE && (w->kept.n || !sp_str_is(state, "UNKNOWN")))
        return codeguru_counter_named(w, state.p, state.n);
    const char *name = c->state != SP_STR_NONE ? any_time : codeguru_event_counter(w->p, c->event);
    if (name == on_cpu && codeguru_is_idle(w->p, c))
        name = idle;
    if (asked)
        name = asked;
    return codeguru_counter_named(w, name, strlen(name));
}

static int codeguru_by_name(const void *a, const void *b, void *arg)
{
    const struct sp_cg_writer *w = arg;
    return sp_str_cmp(sp_pstr(w->p, w->counters.v[*(const uint32_t *)a].name),
                      sp_pstr(w->p, w->counters.v[*(const uint32_t *)b].name));
}

bool sp_cg_make_counters(struct sp_cg_writer *w, const bool *taken)
{
    const struct sp_profile *p = w->p;
    w->counters_of = malloc((p->contexts.n + 1) * sizeof *w->counters_of);
    if (!w->counters_of)
        return false;
    for (size_t i = 0; i < p->contexts.n; i++) {
        const struct sp_context *c = &p->contexts.v[i];
        w->counters_of[i] = SP_NONE;
        if (c->event != SP_NONE && taken[c->event] &&
            (w->counters_of[i] = codeguru_context_counter(w, c)) == SP_NONE)
            return false;
    }
    uint32_t *order = malloc((w->counters.n + 1) * sizeof *order);
    bool ok = order != NULL;
    for (uint32_t i = 0; ok && i < w->counters.n; i++) {
        order[i] = i;
        ok = sp_cg_make_text(w, "", w->counters.v[i].name, ":", &w->counters.v[i].text);
    }
    if (ok && w->counters.n > 1)
        qsort_r(order, w->counters.n, sizeof *order, codeguru_by_name, w);
    for (uint32_t i = 0; ok && i < w->counters.n; i++)
        w->counters.v[order[i]].rank = i;
    free(order);
    return ok;
}

/* ---- counts ---- */

/* Of sources other than CodeGuru counts are whole and positive; 0: nothing to write. */
int64_t sp_cg_count_of(struct sp_cg_writer *w, uint32_t stack, struct sp_str *text)
{
    int64_t v = w->metric == SP_NONE ? 1 : sp_weight(w->p, stack, w->metric);
    if (v == SP_DECIMAL)
        *text = sp_weight_text(w->p, stack, w->metric);
    if (w->kept.n)
        return v;
    if (v == SP_DECIMAL) {
        double x = sp_text_double(text->p, text->n);
        v = x >= 9e18 ? INT64_MAX : x > 0 ? llround(x) : -1;
        sp_emit(w->d, SP_W479, SP_AT_NOTHING, "%.*s", (int)text->n, text->p);
    } else if (v < 0 && v != SP_ABSENT) {
        sp_emit(w->d, SP_W479, SP_AT_NOTHING, "%lld was left out", (long long)v);
    }
    return v > 0 ? v : 0;
}
