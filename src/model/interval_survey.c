#include "model/interval_survey.h"

#include "base/num.h"
#include "base/watch.h"

#define FAR_NS 1000000000

/* NULL: out of memory. */
static struct sp_survey_cpu *survey_cpu(struct sp_survey *s, const struct sp_sample *x)
{
    struct sp_survey_cpu none = {.next = SP_ABSENT, .begin = SP_ABSENT};
    while (s->cpus.n <= (size_t)x->cpu)
        if (!sp_vec_push(&s->cpus, none))
            return NULL;
    struct sp_survey_cpu *c = &s->cpus.v[x->cpu];
    if (c->begin == SP_ABSENT && x->flags & SP_SAMPLE_TIME)
        c->begin = x->time;
    return c;
}

static bool survey_switch(struct sp_survey *s, const struct sp_sample *x, const struct sp_sched_event *e)
{
    s->switches++;
    s->sampled |= x->period > 1; /* absent ones and texts are below */
    s->idles |= e->prev == 0;
    if (!sp_walk_has_cpu(x))
        return true;
    struct sp_survey_cpu *c = survey_cpu(s, x);
    if (!c)
        return false;
    c->idle_leaves |= e->prev == 0;
    c->idle_gap |= c->next == 0 && e->prev != 0;
    s->breaks += c->next != SP_ABSENT && c->next != e->prev;
    c->next = e->next;
    return true;
}

static bool survey_record(struct sp_survey *s, const struct sp_sample *x)
{
    s->idles |= x->tid == 0;
    struct sp_survey_cpu *c = sp_walk_has_cpu(x) ? survey_cpu(s, x) : NULL;
    if (c)
        c->recorded |= x->tid == 0;
    return c || !sp_walk_has_cpu(x);
}

spaa_status sp_survey_rows(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *rows,
                           size_t n, struct sp_survey *s)
{
    for (size_t i = 0; i < n; i++) {
        enum sp_sched_kind kind = sp_sched_kind(r, &rows[i]);
        if (sp_leaving(w->d, i))
            return SPAA_ERR_CANCELLED;
        if (kind == SP_SCHED_RECORD && !survey_record(s, &rows[i]))
            return sp_nomem(w->d);
        if (kind != SP_SCHED_SWITCH)
            continue;
        const struct sp_sched_event *e = sp_sched_read(r, &rows[i]);
        if (!e || (e->kind == SP_SCHED_SWITCH && !survey_switch(s, &rows[i], e)))
            return sp_nomem(w->d);
    }
    return SPAA_OK;
}

/* From when to when the header says that the recording was; false: it does not. */
static bool header_ends(const struct sp_profile *p, int64_t *start, int64_t *end)
{
    const struct sp_header *h = &p->header;
    struct sp_str a = sp_pstr(p, h->time_start), b = sp_pstr(p, h->time_end);
    return h->time_start && h->time_end && sp_str_is(sp_pstr(p, h->time_unit), "seconds") &&
           sp_seconds_ns(a.p, a.n, start) && sp_seconds_ns(b.p, b.n, end);
}

void sp_survey_leave_damaged(const struct sp_profile *p, struct sp_sample **rows, size_t *n)
{
    int64_t start, end;
    if (!header_ends(p, &start, &end) || start > end || start < FAR_NS || end > INT64_MAX - FAR_NS)
        return;
    while (*n && (*rows)[*n - 1].flags & SP_SAMPLE_TIME && (*rows)[*n - 1].time > end + FAR_NS)
        --*n;
    size_t timed = 0; /* those without a time are first, and say nothing */
    while (timed < *n && !((*rows)[timed].flags & SP_SAMPLE_TIME))
        timed++;
    size_t skip = timed;
    while (skip < *n && (*rows)[skip].time < start - FAR_NS)
        skip++;
    *n -= skip > timed ? skip : 0;
    *rows += skip > timed ? skip : 0;
}

/* The last that is recorded of a process may be that its threads exited. */
static int64_t last_exit(const struct sp_profile *p, int64_t end)
{
    int64_t last = end;
    for (size_t i = 0; i < p->threads.n; i++) {
        int64_t exit = p->threads.v[i].exit_ns;
        if (exit != SP_ABSENT && exit > last && exit - end <= FAR_NS)
            last = exit;
    }
    return last;
}

void sp_survey_ends(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *rows, size_t n)
{
    struct sp_intervals *out = w->out;
    int64_t start, end;
    for (size_t i = 0; i < n; i++)
        if (rows[i].flags & SP_SAMPLE_TIME) {
            out->begin = rows[i].time;
            out->end = rows[n - 1].time;
            break;
        }
    out->end = last_exit(w->p, out->end);
    if (!header_ends(w->p, &start, &end))
        return;
    out->begin = start < out->begin ? start : out->begin;
    out->end = end > out->end ? end : out->end;
    for (size_t i = 0; out->all_threads && i < n; i++)
        if (rows[i].flags & SP_SAMPLE_TIME && sp_sched_kind(r, &rows[i]) != SP_SCHED_OTHER &&
            sp_sched_kind(r, &rows[i]) != SP_SCHED_LOST) {
            out->begin = rows[i].time;
            break;
        }
}
