/*
 * A first look at the events of the scheduler, before the walk over them: what kind of recording it is, and
 * from when to when it was. Private to model/intervals.c.
 */
#ifndef SP_INTERVAL_SURVEY_H
#define SP_INTERVAL_SURVEY_H

#include "model/interval_walk.h"
#include "model/sched_events.h"

struct sp_survey_cpu {
    int64_t next;     /* the thread that came last; SP_ABSENT */
    int64_t begin;    /* of its switches; SP_ABSENT */
    bool idle_leaves; /* sched_switch tells that the idle task leaves */
    bool idle_gap;    /* the idle task came, and another thread left next */
    bool recorded;    /* a record of a switch tells that the idle task leaves */
};

struct sp_survey {
    uint64_t switches, breaks; /* breaks: another thread leaves a CPU than came before */
    bool idles;                /* idle tasks leave CPUs: the recording is of CPUs, not of processes */
    bool sampled;              /* not every switch was taken */
    SP_VEC(struct sp_survey_cpu) cpus;
};

/* Samples far outside of what the header says have damaged times: leaves the rest in rows. */
void sp_survey_leave_damaged(const struct sp_profile *p, struct sp_sample **rows, size_t *n);
/* s: zero; its cpus are the caller's, whatever is returned. */
spaa_status sp_survey_rows(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *rows,
                           size_t n, struct sp_survey *s);
/*
 * Sets w->out->begin and end. The recording lasts as long as its header says, and at least from its first
 * sample to its last. One of all threads begins with the first event of the scheduler: those may be recorded
 * later than what other records tell, that some were lost among them, and nobody knows what threads did
 * before.
 */
void sp_survey_ends(struct sp_walk *w, struct sp_sched_reader *r, const struct sp_sample *rows, size_t n);

#endif
