/*
 * Several dumps of the memory of one process, by who owns it: rows as those of one profile
 * (analysis/leaks.h), the program's own functions nearest to the memory, or owners, or stacks.
 *
 * Profiles are taken one by one and may be freed then: what stays is, per owner and dump, sums of what is
 * live and allocated, and how unsure sampling makes them. A sampler that takes a block of s bytes with the
 * probability p = 1 - exp(-s / rate) counts it as 1 / p blocks; the variance of that is (1 - p) / p of them.
 *
 * Dumps are put in order by their own times where all have one, else by the numbers in their names, else they
 * stay as they were given. One that is there twice is counted once. Of dumps that are not of one process, or
 * whose order is not known, nothing is said to grow.
 */
#ifndef SP_HEAP_SERIES_H
#define SP_HEAP_SERIES_H

#include "analysis/heap_ways.h"
#include "analysis/leak_series.h"
#include "analysis/leaks.h"
#include "analysis/own.h"

enum {
    SP_HEAP_SUMS = SP_LEAK_ALLOC_COUNT + 1
}; /* live and allocated bytes and blocks, as enum sp_leak_metric */

enum sp_heap_by {
    SP_HEAP_BY_FUNCTION, /* the own function nearest to the memory; the owner where a stack has none */
    SP_HEAP_BY_OWNER,    /* the first function that the selection shows */
    SP_HEAP_BY_STACK,
};

enum sp_heap_order {
    SP_HEAP_BY_TIME,
    SP_HEAP_BY_NAME,
    SP_HEAP_AS_GIVEN, /* neither says */
};
extern const char *const sp_heap_order_names[];

/* Sums of an owner, or of all, in a dump; estimates where the profiler samples. */
struct sp_heap_sums {
    int64_t v[SP_HEAP_SUMS];  /* SP_ABSENT: not known */
    double var[SP_HEAP_SUMS]; /* of these; 0: exact */
    double live, allocated;   /* blocks that were sampled, all where none are */
};

struct sp_heap_dump {
    const char *name; /* lent */
    size_t input;     /* which of the inputs it was */
    bool timed;
    int64_t time_ns;     /* of its own clock */
    int64_t duration_ns; /* how long the profile says that it lasted; 0: it does not */
    int64_t rate;        /* bytes between samples; 0: all blocks are there */
    bool rate_guessed;   /* from its samples: it does not say */
    uint64_t digest;     /* of all that is in it, the same whatever the order of its stacks */
    int64_t pid;         /* in its name; SP_ABSENT: there is none */
    int64_t number;      /* in its name, of jemalloc's; SP_ABSENT */
    uint32_t command;    /* what was run, in strs; SP_STR_NONE: not known */
    struct sp_heap_sums all;
    size_t owners;  /* with something live or allocated */
    int64_t hidden; /* live bytes that are suppressed, and in no sum */
    bool go, v8;
    bool of_run; /* its tool writes one when the program ends, as heaptrack: another one is of another run */
};

/* A dump that was left out, since another has the same in it. */
struct sp_heap_same {
    const char *name, *of; /* lent */
};

/* What was allocated in all only adds up while a process lives: where it does not. */
struct sp_heap_fall {
    bool there;
    size_t owner, dump; /* owner SIZE_MAX: of all; the place of the dump that has less than the one before */
    enum sp_leak_metric metric;
    size_t odd; /* without this one nothing falls; SIZE_MAX: that is no single one */
};

struct sp_heap_owner {
    uint32_t name, dso; /* in strs; SP_STR_NONE: there is no stack */
    uint32_t path;      /* of stacks: their functions, "a < b < c" */
    uint64_t hash;
};

struct sp_heap_cell {
    uint32_t dump, owner; /* dump: as it was added; after sp_heap_series_sort its place */
    struct sp_heap_sums sums;
};

struct sp_heap_series {
    struct sp_strtab strs;
    SP_VEC(struct sp_heap_dump) dumps;
    SP_VEC(struct sp_heap_owner) owners;
    SP_VEC(struct sp_heap_cell) cells; /* after the sort: by owner, then by dump */
    SP_VEC(size_t) from;               /* after the sort, per owner and the end: its cells */
    struct sp_map map;
    struct sp_heap_ways ways;     /* none of stacks */
    SP_VEC(struct sp_str) builds; /* base name and build id of binaries, one after the other; in strs */
    uint32_t rebuilt;             /* in strs: a binary of which dumps have several builds; SP_STR_NONE */
    enum sp_heap_by by;
    enum sp_leak_metric rank; /* whose growth callers are told of: set before dumps are added */
    bool suppressed;
    bool known[SP_HEAP_SUMS];
    enum sp_heap_order order;
    bool moved; /* it is not the order in which they were given */
    SP_VEC(struct sp_heap_same) same;
    bool mixed;  /* some say when they were made, by a time or number, others do not: no order is known */
    size_t lost; /* of these the one that does not; SIZE_MAX: it is no single one */
    struct sp_heap_fall fall;
    bool apart; /* not of one process, by one or more of these doubts */
};

spaa_status sp_heap_series_init(struct sp_heap_series *h, struct sp_diags *d);
void sp_heap_series_free(struct sp_heap_series *h);
/*
 * Adds what the selection has; of allocators only with its owners (by_owner). The name is lent. The profile
 * is not needed afterwards.
 */
spaa_status sp_heap_series_add(struct sp_heap_series *h, struct sp_selection *s, const struct sp_own *own,
                               const char *name, struct sp_diags *d);
/* Once all are there: in order, and cells to be looked up. */
spaa_status sp_heap_series_sort(struct sp_heap_series *h, struct sp_diags *d);
/* Of an owner at a place; NULL: it has nothing there. */
const struct sp_heap_sums *sp_heap_at(const struct sp_heap_series *h, size_t owner, size_t dump);
/*
 * Number of the owner of a row of a selection, as it was added, and which of the row's frames it is (0 of a
 * row without frames); SP_NONE: out of memory, or not there.
 */
uint32_t sp_heap_owner_of(struct sp_heap_series *h, struct sp_selection *s, const struct sp_own *own,
                          size_t row, size_t *at);
/*
 * Growth of an owner, SIZE_MAX: of all, in a metric that is an index of v; per second where the dumps are in
 * the order of their times, else per dump. Its trend is not known where they are apart or mixed, but for two,
 * which have none. False: out of memory.
 */
bool sp_heap_growth_of(const struct sp_heap_series *h, size_t owner, enum sp_leak_metric m,
                       struct sp_heap_growth *out);
/* For whom an owner grew from the first dump to the last; false: out of memory. */
bool sp_heap_grew_for(const struct sp_heap_series *h, size_t owner, struct sp_heap_callers *out);
int64_t sp_heap_value(const struct sp_heap_sums *s, enum sp_leak_metric m); /* 0 where nothing is there */
/* Seconds from the first dump, of dumps in the order of their times. */
double sp_heap_seconds(const struct sp_heap_series *h, size_t dump);
/* No two dumps have a function of an owner in common, nor a binary. */
bool sp_heap_nothing_common(const struct sp_heap_series *h);

/* heap_series_order.c: leaves out what is there twice, while two are left; false: out of memory. */
bool sp_heap_drop_same(struct sp_heap_series *h);
/* heap_series_check.c, after the sort and before growth is asked for: h->fall and h->apart. */
void sp_heap_check(struct sp_heap_series *h);
/*
 * Dumps say different things of a kind, those that say nothing (SP_ABSENT) aside. *odd: the place of the only
 * one that says otherwise than all others, of three or more; else SIZE_MAX.
 */
bool sp_heap_several(const struct sp_heap_series *h, int64_t (*of)(const struct sp_heap_dump *x),
                     size_t *odd);
int64_t sp_heap_pid(const struct sp_heap_dump *x);
int64_t sp_heap_command(const struct sp_heap_dump *x);
int64_t sp_heap_rate(const struct sp_heap_dump *x); /* as the file says it */

/* heap_series_order.c: two names that differ in their numbers alone. */
bool sp_heap_names_alike(const char *a, const char *b);
/* The place of each dump by number; false: out of memory. */
bool sp_heap_order_of(struct sp_heap_series *h);
/* "jeprof.PID.SEQ.i12.heap": pid and sequence number; false: it is no such name. */
bool sp_heap_jemalloc_name(const char *name, int64_t *pid, int64_t *number);

#endif
