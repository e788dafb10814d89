/*
 * What memory a program holds, who asked for it, and whether that grows.
 *
 * A row is an allocating function, the first frame from the leaf that is no allocator
 * (analysis/allocators.h), or a whole call stack by its functions. Its sums are those of its records, in
 * whichever of the metrics the event has; peaks only where they add up (sp_peaks_add), or where the row is
 * one record.
 *
 * Growth of one profile is read from its windows: the time is cut in quarters, and a row grows when what is
 * live of it gained in each of the last three. Where windows do not say what was freed, that is known only of
 * rows that free nothing. Of two profiles, the earlier and the later, a row grew by what is live more; as
 * much as the earlier one's live memory would be after the later one's time, if it grew evenly, is what time
 * explains.
 */
#ifndef SP_LEAKS_H
#define SP_LEAKS_H

#include "analysis/select.h"

enum sp_leak_metric {
    SP_LEAK_LIVE_BYTES,
    SP_LEAK_LIVE_COUNT,
    SP_LEAK_ALLOC_BYTES,
    SP_LEAK_ALLOC_COUNT,
    SP_LEAK_FREE_BYTES,
    SP_LEAK_FREE_COUNT,
    SP_LEAK_TEMPORARY,
    SP_LEAK_PEAK_BYTES,
    SP_LEAK_METRICS,
};
extern const char *const sp_leak_metric_names[]; /* "live_bytes", …; NULL ends */

struct sp_leak_sums {
    int64_t v[SP_LEAK_METRICS]; /* SP_ABSENT: not known */
};

enum sp_leak_kind {
    SP_LEAK_UNKNOWN,     /* what is live is not known */
    SP_LEAK_GROWING,     /* more is live in each of the last three quarters of the time */
    SP_LEAK_NEVER_FREED, /* nothing of it was ever freed */
    SP_LEAK_PARTLY,      /* some was freed */
    SP_LEAK_FREED,       /* nothing is left: churn */
    SP_LEAK_SUPPRESSED,  /* what is left is of suppressed records only */
    SP_LEAK_HELD,        /* live, and what was freed is not known */
    SP_LEAK_NEW,         /* of two profiles: only the later one has it */
    SP_LEAK_GROWN,
    SP_LEAK_SAME,
    SP_LEAK_SHRUNK,
};
extern const char *const sp_leak_kind_names[]; /* in enum order */

/* What a stack is of. */
struct sp_leak_of {
    uint32_t row;     /* 1 + number of its row; 0: none, it is suppressed */
    uint32_t skipped; /* so many allocators are at its leaf */
};

struct sp_leak_row {
    uint32_t number;               /* sp_leak_of.row, whatever sorts the rows */
    uint32_t function;             /* SP_NONE: there is no stack */
    uint32_t row;                  /* in the selection: its heaviest record */
    uint32_t records[2];           /* of the profile (or the later one), and of the earlier */
    struct sp_leak_sums now, base; /* base: of the earlier profile */
    int64_t quarters[4];           /* live bytes gained in each quarter of the time; known_growth */
    bool known_growth;
    bool never_freed;
    int64_t hidden[2]; /* live bytes and blocks of its suppressed records, not in `now` */
    uint32_t skipped;  /* so many allocators at the leaf of that record */
    enum sp_leak_kind kind;
    int64_t rank;
};

struct sp_leaks_opts {
    bool by_stack;
    bool keep_allocators;
    bool suppressed;         /* what the recording says is no leak (x_heaptrack.suppressed) is live, too */
    uint32_t base;           /* the source of the earlier of two profiles; SP_STR_NONE: there is one */
    int64_t now_ns, base_ns; /* how long they lasted; 0: not known */
};

struct sp_leaks {
    const struct sp_profile *profile;
    uint32_t base_source;
    bool two;
    enum sp_leak_metric rank; /* what rows are sorted by: of two profiles by how much of it is more */
    bool has[SP_LEAK_METRICS];
    bool growth;      /* known of some row: from windows */
    bool peaks_apart; /* there are peaks that cannot be added */
    struct sp_leak_sums now, base;
    SP_VEC(struct sp_leak_row) rows;
    struct sp_leak_of *of; /* per stack of the profile */
    int64_t now_ns, base_ns;
    uint64_t skipped;    /* records with allocators at the leaf */
    uint64_t suppressed; /* records whose live bytes and blocks are left out; all else of them counts */
    int64_t hidden[2];   /* these; SP_ABSENT: not known */
};

/*
 * The event and metric that a question about memory is about: as named, else the first event with live_bytes,
 * live_count, alloc_bytes or alloc_count, in this order of metrics. SPAA_ERR_USAGE, reported (SP_E758), where
 * there is none.
 */
spaa_status sp_leaks_choose(const struct sp_profile *p, struct sp_select_opts *o, struct sp_diags *d);
spaa_status sp_leaks_of(struct sp_selection *s, const struct sp_leaks_opts *o, struct sp_diags *d,
                        struct sp_leaks *out);
void sp_leaks_free(struct sp_leaks *l);
/* More in the later profile than in the earlier; SP_ABSENT: not known. */
int64_t sp_leak_grown(const struct sp_leak_row *r, enum sp_leak_metric m);
/* The part of it that the longer time does not explain; SP_ABSENT where the times are not known. */
int64_t sp_leak_beyond_time(const struct sp_leaks *l, const struct sp_leak_row *r, enum sp_leak_metric m);

#endif
