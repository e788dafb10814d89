/*
 * What the files of the jemalloc format share.
 *
 *     heap_v2/524288                          bytes between samples, on average
 *       t*: 13: 120779 [0: 0]                 all threads: objects: bytes in use [allocated ever]
 *       t3: 7: 28226 [0: 0] worker            a thread, by jemalloc's number of it, and its name
 *     @ 0x7fae140a2630 0x5581d612b271         a stack, leaf first: all addresses are those of returns
 *       t*: 7: 28226 [0: 0]
 *       t3: 7: 28226 [0: 0]
 *
 *     MAPPED_LIBRARIES:
 *     …                                       /proc/PID/maps
 *
 * from jemalloc 4 on (doc_internal/PROFILING_INTERNALS.md and src/prof_data.c of jemalloc say how; older ones
 * write what gperftools does). The second pair is 0 unless prof_accum was on. Numbers are those of samples:
 * jeprof estimates all allocations by the t* of each stack, and so do we; an estimate for each thread is
 * fitted to that, so that threads add up to it.
 */
#ifndef SP_JEMALLOC_H
#define SP_JEMALLOC_H

#include "formats/common/mapped/mapped.h"

enum { JE_LIVE_COUNT, JE_LIVE_BYTES, JE_ALLOC_COUNT, JE_ALLOC_BYTES, JE_PAIRS };

/* What rows have: the estimates in the order of JE_…, then the numbers of samples. */
#define JE_VALUES (2 * JE_PAIRS)

struct sp_je_row {
    int64_t v[JE_PAIRS];
    double all[JE_PAIRS]; /* the estimate of it */
    int64_t tid;          /* SP_ABSENT: not a thread's */
};

struct sp_je_thread {
    int64_t tid;
    uint32_t comm, context; /* context SP_NONE: not yet */
};

struct sp_je {
    struct sp_mapped m;
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    int64_t rate;
    uint32_t event, context; /* context: of all threads */
    bool by_thread;
    bool accum; /* the second pair means something */
    SP_VEC(struct sp_je_thread) threads;
    struct sp_map thread_map;
    /* The stack in work. */
    bool open, has_all;
    uint64_t line, offset;
    struct sp_je_row all;
    SP_VEC(struct sp_je_row) rows;
    struct sp_buf totals; /* JSON items of the header's rows */
    struct sp_mapped_totals sums;
};

int sp_je_probe(const unsigned char *p, size_t n, bool whole, const char **reason);
/* The thread's entry; NULL: out of memory. */
struct sp_je_thread *sp_je_thread(struct sp_je *je, int64_t tid);
/* The stack in work as rows. */
spaa_status sp_je_flush(struct sp_je *je);

#endif
