/* The parts of the question sched: see sched.c. */
#ifndef SP_SCHED_PARTS_H
#define SP_SCHED_PARTS_H

#include "analysis/sample_times.h"
#include "analysis/sched.h"
#include "ask/common.h"

/* What is asked, and what was found. */
struct sp_asked_sched {
    struct sp_asked a;
    struct sp_intervals v;
    struct sp_cpu_segments cpus;
    struct sp_sched s;
    unsigned char *keep; /* per thread; NULL: all */
    unsigned char *who;  /* per context, whose names are asked about; NULL: all */
    uint32_t *pools;     /* per thread */
    int64_t zero;        /* what times are relative to */
    size_t limit;
};

/* What is asked for; to be ended, whatever it returned. */
spaa_status sp_sched_begin(struct sp_ask *q, struct sp_answer *out, struct sp_asked_sched *x);
void sp_sched_end(struct sp_asked_sched *x);

extern const struct sp_table_decl sp_sched_rows, sp_sched_cpus;
void sp_sched_put_rows(struct sp_asked_sched *x);
void sp_sched_put_cpus(struct sp_asked_sched *x);
void sp_sched_head(struct sp_buf *b, const struct sp_asked_sched *x); /* the answer in a sentence */
/* That, and what of it is not known. */
void sp_sched_say(struct sp_asked_sched *x);
void sp_sched_when(struct sp_buf *b, int64_t ns); /* "+1.389 s", from nanoseconds */
/* "http-* (20)", "refresher (tid 15934)" */
void sp_sched_name(struct sp_buf *b, const struct sp_asked_sched *x, const struct sp_sched_row *r);

/* Which threads the filters leave: x->keep, x->who. */
spaa_status sp_sched_filter(struct sp_ask *q, struct sp_asked_sched *x);

#endif
