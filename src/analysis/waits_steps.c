/*
 * When threads waited, of reports that say which samples saw a stack (model/step_ranges.h), and between which
 * samples they were seen, which the others say, too.
 */
#include "analysis/process.h"
#include "analysis/waits.h"

#include "base/hash.h"

#include <stdlib.h>

uint32_t sp_waits_thread(const struct sp_waits *w, int64_t tid)
{
    struct sp_probe at = sp_map_probe(&w->by_tid, sp_hash_mix((uint64_t)tid, 3));
    for (uint32_t i; (i = sp_map_next(&w->by_tid, &at)) != SP_MAP_NONE;)
        if (w->threads.v[i].tid == tid)
            return i;
    return SP_NONE;
}

uint32_t sp_waits_thread_of(const struct sp_waits *w, const struct sp_context *c)
{
    struct sp_probe at = sp_map_probe(&w->by_tid, sp_hash_mix((uint64_t)c->tid, 3));
    for (uint32_t i; (i = sp_map_next(&w->by_tid, &at)) != SP_MAP_NONE;)
        if (w->threads.v[i].tid == c->tid &&
            sp_is_same_program(w->profile, &w->profile->contexts.v[w->threads.v[i].context], c))
            return i;
    return SP_NONE;
}

bool sp_waits_was_there(const struct sp_wait *x, const struct sp_wait_thread *t)
{
    bool known = x->begin != SP_ABSENT && t->begin != SP_ABSENT;
    return !known || (t->begin <= x->last && t->last >= x->begin);
}

/* The last step may have missed it. */
bool sp_waits_is_gone(const struct sp_wait_thread *t)
{
    return t->last != SP_ABSENT && t->last + 1 < t->end;
}

/* A number is of one process at a time: whom a thread of that waits for is of the same program. */
static bool steps_is_of_another(const struct sp_waits *w, const struct sp_wait *x,
                                const struct sp_wait_thread *t)
{
    const struct sp_context *contexts = w->profile->contexts.v;
    return x->waiter != SP_NONE && w->threads.v[x->waiter].pid == t->pid &&
           !sp_is_same_program(w->profile, &contexts[w->threads.v[x->waiter].context], &contexts[t->context]);
}

/* Of several reports in one profile, each has its own threads: what one says was not seen by another. */
static bool steps_is_of_another_report(const struct sp_waits *w, const struct sp_wait *x,
                                       const struct sp_wait_thread *t)
{
    const struct sp_context *contexts = w->profile->contexts.v;
    return x->waiter != SP_NONE &&
           contexts[w->threads.v[x->waiter].context].source != contexts[t->context].source;
}

/* Those of the name that the wait says, or of any. */
static uint32_t steps_candidate(const struct sp_waits *w, const struct sp_wait *x, bool named, uint32_t nth)
{
    const struct sp_reported_process *p = NULL;
    bool by_thread = x->holder_tid != SP_ABSENT;
    for (uint32_t k = 0; by_thread ? !k : (p = sp_thread_info_process(&w->info, x->holder_pid, k)) != NULL;
         k++) {
        int64_t tid = by_thread ? x->holder_tid : p->main;
        struct sp_probe at = sp_map_probe(&w->by_tid, sp_hash_mix((uint64_t)tid, 3));
        for (uint32_t i; tid != SP_ABSENT && (i = sp_map_next(&w->by_tid, &at)) != SP_MAP_NONE;) {
            const struct sp_wait_thread *t = &w->threads.v[i];
            if (t->tid != tid || (named && t->comm != x->holder_name) ||
                (x->by_time && !sp_waits_was_there(x, t)) || steps_is_of_another_report(w, x, t) ||
                steps_is_of_another(w, x, t) ||
                (p && sp_thread_info_process_of(&w->info, &w->profile->contexts.v[t->context]) != p))
                continue;
            if (!nth--)
                return i;
        }
    }
    return SP_NONE;
}

uint32_t sp_waits_candidate(const struct sp_waits *w, const struct sp_wait *x, uint32_t nth)
{
    bool named = x->holder_name && steps_candidate(w, x, true, 0) != SP_NONE;
    return x->self ? (nth ? SP_NONE : x->waiter) : steps_candidate(w, x, named, nth);
}

bool sp_waits_alike(const struct sp_waits *w, uint32_t a, uint32_t b)
{
    return a == b || (w->waits.v[a].holder != SP_NONE && w->waits.v[a].waiter == w->waits.v[b].waiter &&
                      w->waits.v[a].holder == w->waits.v[b].holder);
}

int64_t sp_waits_weight(const struct sp_waits *w, uint32_t wait)
{
    const struct sp_wait_thread *t = &w->threads.v[w->waits.v[wait].waiter];
    int64_t sum = 0;
    for (uint32_t i = t->first; i < t->first + t->n; i++)
        if (sp_waits_alike(w, i, wait))
            sum = __builtin_add_overflow(sum, w->waits.v[i].all, &sum) ? INT64_MAX : sum;
    return sum;
}

static uint32_t steps_thread_of(const struct sp_waits *w, const struct sp_step_range *r)
{
    return sp_waits_thread_of(w, &w->profile->contexts.v[w->profile->stacks.v[r->stack].context]);
}

static int steps_by_thread(const void *va, const void *vb, void *arg)
{
    const struct sp_step_range *a = va, *b = vb;
    uint32_t x = steps_thread_of(arg, a), y = steps_thread_of(arg, b);
    if (x != y)
        return x < y ? -1 : 1;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->stack > b->stack) - (a->stack < b->stack);
}

static void steps_seen(struct sp_wait_thread *t, int64_t from, int64_t to)
{
    t->begin = t->begin == SP_ABSENT || from < t->begin ? from : t->begin;
    t->last = to > t->last ? to : t->last; /* SP_ABSENT is less than any */
}

/* Between which steps waits were seen: those of their stacks, else of their thread. */
static bool steps_of_waits(struct sp_waits *w)
{
    const struct sp_profile *p = w->profile;
    struct sp_wait_thread *seen = malloc((p->contexts.n + 1) * sizeof *seen);
    if (!seen)
        return false;
    for (size_t i = 0; i < p->contexts.n; i++)
        seen[i].begin = seen[i].last = SP_ABSENT;
    for (size_t i = 0; i < w->ranges.v.n; i++) {
        const struct sp_step_range *r = &w->ranges.v.v[i];
        steps_seen(&seen[p->stacks.v[r->stack].context], r->from, r->to);
    }
    for (size_t i = 0; i < w->waits.n; i++) {
        struct sp_wait *x = &w->waits.v[i];
        const struct sp_wait_thread *t = &seen[x->context];
        t = t->begin == SP_ABSENT ? &w->threads.v[x->waiter] : t;
        x->begin = t->begin;
        x->last = t->last;
    }
    free(seen);
    return true;
}

/*
 * Of several programs that had the thread one after the other, a line does not say whose it is: that of as
 * many samples as the line has, of those that have none yet. Where not exactly one has these, it is nobody's.
 * SP_NONE: none.
 */
static uint32_t steps_whose_line(const struct sp_waits *w, const struct sp_wait *of, int64_t samples)
{
    uint32_t last = SP_NONE, found = SP_NONE, all = 0, fit = 0;
    for (uint32_t k = 0, i; k < SP_AMONG_MOST && (i = sp_waits_candidate(w, of, k)) != SP_NONE; k++) {
        if (w->threads.v[i].stated)
            continue;
        all++;
        last = i;
        if (w->threads.v[i].all == samples) {
            fit++;
            found = i;
        }
    }
    return all == 1 ? last : fit == 1 ? found : SP_NONE;
}

static void steps_of_line(struct sp_waits *w, const struct sp_thread *t)
{
    const struct sp_wait of = {.waiter = SP_NONE, .holder_tid = t->tid, .holder_name = t->comm};
    int64_t from, to, samples;
    if (t->tid == SP_ABSENT || !sp_step_ranges_of_thread(w->profile, t, &from, &to, &samples))
        return;
    uint32_t i = steps_whose_line(w, &of, samples);
    if (i != SP_NONE) {
        steps_seen(&w->threads.v[i], from, to);
        w->threads.v[i].stated = samples;
    }
}

/* Of this process, and of which of several of its number and name. */
static bool steps_is_of(const struct sp_waits *w, const struct sp_wait_thread *t,
                        const struct sp_process_fact *f)
{
    const struct sp_profile *p = w->profile;
    return t->pid == f->pid && sp_str_cmp(sp_pstr(p, t->comm), sp_pstr(p, f->name)) == 0 &&
           sp_str_cmp(sp_process_instance(p, &p->contexts.v[t->context]), sp_pstr(p, f->instance)) == 0;
}

/* The thread of a number that is of a process. */
static uint32_t steps_thread_in(const struct sp_waits *w, const struct sp_process_fact *f, int64_t tid)
{
    struct sp_probe at = sp_map_probe(&w->by_tid, sp_hash_mix((uint64_t)tid, 3));
    for (uint32_t i; (i = sp_map_next(&w->by_tid, &at)) != SP_MAP_NONE;) {
        const struct sp_wait_thread *t = &w->threads.v[i];
        if (t->tid == tid && steps_is_of(w, t, f))
            return i;
    }
    return SP_NONE;
}

/* Lines that no record of a thread has: of a thread with several those after the first, which add up, and of
 * threads whose number another process had before. */
static void steps_of_more_lines(struct sp_waits *w, const struct sp_process_fact *f, bool first)
{
    struct sp_span rest = sp_step_ranges_lines(w->profile, f);
    struct sp_step_line line;
    while (sp_step_ranges_line(&rest, &line)) {
        uint32_t i = line.first == first ? steps_thread_in(w, f, line.tid) : SP_NONE;
        struct sp_wait_thread *t = i == SP_NONE ? NULL : &w->threads.v[i];
        if (!t || (line.first ? t->stated != 0 : t->stated <= 0))
            continue; /* without its first line, what it says is not whole */
        steps_seen(t, line.from, line.to);
        if (line.samples < 0 || __builtin_add_overflow(t->stated, line.samples, &t->stated))
            t->stated = SP_ABSENT;
    }
}

/* Lines of its threads are lost: rows of one may stand below the line of another. */
static void steps_of_lost_lines(struct sp_waits *w, const struct sp_process_fact *f)
{
    for (size_t i = 0; f->flags & SP_FACT_LINES_LOST && i < w->threads.n; i++)
        if (steps_is_of(w, &w->threads.v[i], f))
            w->threads.v[i].lacks_rows = true;
}

static void steps_of_lines(struct sp_waits *w)
{
    const struct sp_profile *p = w->profile;
    for (size_t i = 0; i < p->processes.n; i++)
        steps_of_more_lines(w, &p->processes.v[i], true);
    for (size_t i = 0; i < p->threads.n; i++)
        steps_of_line(w, &p->threads.v[i]);
    for (size_t i = 0; i < p->processes.n; i++)
        steps_of_more_lines(w, &p->processes.v[i], false);
    for (size_t i = 0; i < w->threads.n; i++) {
        struct sp_wait_thread *t = &w->threads.v[i];
        t->counted = t->stated > 0 && t->stated == t->all; /* once in a step, at most */
        t->lacks_rows =
            w->counts_samples && t->stated > 0 && (t->stated != t->all || t->stated > t->last - t->begin + 1);
    }
    for (size_t i = 0; i < p->processes.n; i++)
        steps_of_lost_lines(w, &p->processes.v[i]);
}

/* Where all of a thread is in its ranges, steps that are missing in one that no other overlaps are of nobody.
 */
static void steps_look_alone(const struct sp_waits *w, const struct sp_wait_thread *t)
{
    int64_t sum = 0, before = 0;
    struct sp_step_range *r = w->ranges.v.v + t->steps;
    for (uint32_t i = 0; i < t->nsteps; i++)
        sum += r[i].count;
    for (uint32_t i = 0; i < t->nsteps; i++) {
        r[i].alone = w->counts_samples && sum == t->all && r[i].from > before &&
                     (i + 1 == t->nsteps || r[i + 1].from > r[i].to);
        before = r[i].to > before ? r[i].to : before;
    }
}

/* Where each report ends; a profile may have several. */
static bool steps_of_reports(struct sp_waits *w)
{
    const struct sp_context *contexts = w->profile->contexts.v;
    uint32_t most = 0;
    for (size_t i = 0; i < w->threads.n; i++) {
        uint32_t source = contexts[w->threads.v[i].context].source;
        most = source > most ? source : most;
    }
    struct {
        int64_t last;
        bool met;
    } *reports = calloc((size_t)most + 1, sizeof *reports);
    for (size_t i = 0; reports && i < w->threads.n; i++) {
        const struct sp_wait_thread *t = &w->threads.v[i];
        uint32_t source = contexts[t->context].source;
        if (!reports[source].met)
            reports[source].last = SP_ABSENT;
        w->reports += !reports[source].met;
        reports[source].met = true;
        reports[source].last = t->last > reports[source].last ? t->last : reports[source].last;
    }
    for (size_t i = 0; reports && i < w->threads.n; i++)
        w->threads.v[i].end = reports[contexts[w->threads.v[i].context].source].last;
    bool ok = reports != NULL;
    free(reports);
    return ok;
}

spaa_status sp_waits_learn_steps(struct sp_waits *w, struct sp_diags *d)
{
    const struct sp_profile *p = w->profile;
    spaa_status st = sp_step_ranges_of(p, d, &w->ranges);
    if (st)
        return st;
    if (w->ranges.v.n)
        qsort_r(w->ranges.v.v, w->ranges.v.n, sizeof *w->ranges.v.v, steps_by_thread, w);
    for (size_t i = 0; i < w->ranges.v.n; i++) {
        const struct sp_step_range *r = &w->ranges.v.v[i];
        uint32_t thread = steps_thread_of(w, r);
        if (thread == SP_NONE)
            continue;
        struct sp_wait_thread *t = &w->threads.v[thread];
        if (!t->nsteps++)
            t->steps = (uint32_t)i;
        steps_seen(t, r->from, r->to);
    }
    for (size_t i = 0; i < w->threads.n; i++)
        if (w->threads.v[i].nsteps)
            steps_look_alone(w, &w->threads.v[i]);
    steps_of_lines(w);
    return steps_of_reports(w) && steps_of_waits(w) ? SPAA_OK : sp_nomem(d);
}

bool sp_waits_stack_waits_for(const struct sp_waits *w, uint32_t thread, uint32_t stack, uint32_t holder)
{
    const struct sp_wait_thread *t = &w->threads.v[thread];
    uint32_t fact = w->profile->contexts.v[w->profile->stacks.v[stack].context].wait;
    for (uint32_t i = t->first; fact && i < t->first + t->n; i++)
        if (w->waits.v[i].fact == fact && w->waits.v[i].holder == holder)
            return true;
    return false;
}

bool sp_waits_is_placed(const struct sp_step_range *r)
{
    return r->alone || r->count == r->to - r->from + 1;
}

bool sp_wait_steps_of(const struct sp_waits *w, uint32_t thread, uint32_t holder, struct sp_wait_steps *out)
{
    const struct sp_wait_thread *t = &w->threads.v[thread];
    struct sp_wait_steps x = {0};
    for (uint32_t i = t->steps; i < t->steps + t->nsteps; i++) {
        const struct sp_step_range *r = &w->ranges.v.v[i];
        struct sp_step_range *before = x.v.n ? &x.v.v[x.v.n - 1] : NULL;
        if (!sp_waits_is_placed(r) || !sp_waits_stack_waits_for(w, thread, r->stack, holder))
            continue; /* where others' steps lie between, it is not known which are its own */
        if (before && r->from <= before->to + 1) {
            before->to = r->to > before->to ? r->to : before->to;
            before->count += r->count;
        } else if (!sp_vec_push(&x.v, *r)) {
            sp_vec_free(&x.v);
            return false;
        }
    }
    *out = x;
    return true;
}

static int64_t steps_missing(const struct sp_step_range *r)
{
    return r->to - r->from + 1 - r->count;
}

bool sp_wait_steps_cut(struct sp_wait_steps *a, const struct sp_wait_steps *b)
{
    struct sp_wait_steps x = {0};
    for (size_t i = 0, k = 0; i < a->v.n && k < b->v.n;) {
        const struct sp_step_range *p = &a->v.v[i], *q = &b->v.v[k];
        struct sp_step_range both = {.from = p->from > q->from ? p->from : q->from,
                                     .to = p->to < q->to ? p->to : q->to};
        both.count = both.to - both.from + 1 - steps_missing(p) - steps_missing(q);
        both.count = both.count > 0 ? both.count : 0;
        if (both.from <= both.to && !sp_vec_push(&x.v, both)) {
            sp_vec_free(&x.v);
            sp_vec_free(&a->v);
            return false;
        }
        if (p->to < q->to)
            i++;
        else
            k++;
    }
    sp_vec_free(&a->v);
    *a = x;
    return true;
}

bool sp_waits_chain_steps(const struct sp_waits *w, const struct sp_wait_chain *c, uint32_t n,
                          struct sp_wait_steps *out, bool *apart)
{
    bool known = false, ok = true;
    *out = (struct sp_wait_steps){0};
    *apart = false;
    for (uint32_t k = 0; ok && !*apart && k < n; k++) {
        const struct sp_wait *x = &w->waits.v[w->steps.v[c->first + k]];
        struct sp_wait_steps one = {0};
        ok = x->holder == SP_NONE || sp_wait_steps_of(w, x->waiter, x->holder, &one);
        if (!ok || !one.v.n) { /* which they were is not told */
            sp_vec_free(&one.v);
            continue;
        }
        if (!known) {
            *out = one;
            known = true;
            continue;
        }
        ok = sp_wait_steps_cut(out, &one);
        sp_vec_free(&one.v);
        *apart = ok && !out->v.n;
    }
    if (!ok)
        sp_vec_free(&out->v);
    return ok;
}
