/*
 * What memory a program holds, who asked for it, and whether that grows.
 *
 * A row is a function of the program's own: the one nearest to the memory (analysis/own.h). Where a stack has
 * none, and where rows are of owners, it is the first function that the selection shows (analysis/owners.h);
 * with by_stack it is a whole call stack by its functions. Sums are those of the records, in whichever of the
 * metrics the event has; peaks only where they add up (sp_peaks_add), or where the row is one record.
 *
 * A row has parts: the lines where the program asked, and what it asked through (a library's function, a
 * container). Sums of the parts of one kind are those of the row.
 */
#ifndef SP_LEAKS_H
#define SP_LEAKS_H

#include "analysis/heap_weights.h"
#include "analysis/own.h"

enum sp_leak_kind {
    SP_LEAK_UNKNOWN,     /* what is live is not known */
    SP_LEAK_GROWING,     /* more is live after each of the last three quarters of the time: leaks_growth.h */
    SP_LEAK_NEVER_FREED, /* of the lines that hold something, none ever freed anything */
    SP_LEAK_PARTLY,      /* some was freed */
    SP_LEAK_FREED,       /* nothing is left: churn */
    SP_LEAK_SUPPRESSED,  /* what is left is of suppressed records only */
    SP_LEAK_HELD,        /* live, and what was freed is not known */
};
extern const char *const sp_leak_kind_names[]; /* in enum order */

/* What the file says of whether the program can still reach it: the label leak_kind. Worst first. */
enum sp_leak_reach {
    SP_LEAK_DEFINITE,
    SP_LEAK_INDIRECT, /* only through what is definitely lost */
    SP_LEAK_POSSIBLE,
    SP_LEAK_OTHER, /* the label says something else */
    SP_LEAK_REACHABLE,
    SP_LEAK_UNTOLD,
    SP_LEAK_REACHES,
};
extern const char *const sp_leak_reach_names[]; /* in enum order, as the label says it; NULL of UNTOLD */

/* How live bytes went over the time, read from windows. */
struct sp_leak_course {
    bool known;
    int64_t quarters[4]; /* gained in each quarter of the time */
    double per_second;   /* gained in the last three quarters */
    double doubt;        /* two standard errors of it, by how much windows differ; < 0: not known */
    /* Since the start: from then on within a twentieth of what is live at the end; SP_ABSENT: not known. */
    int64_t flat_ns;
};

/* A line of a row, or what it asked through. */
struct sp_leak_part {
    uint32_t row; /* by its number */
    uint32_t
        key; /* the line of the own function, a text; the function. SP_STR_NONE, SP_NONE: none is known */
    struct sp_leak_sums now;
    int64_t hidden[2];
    uint32_t records;
    struct sp_leak_course growth; /* of lines */
    bool never_freed;
};
enum sp_leak_parts { SP_LEAK_LINES, SP_LEAK_THROUGH, SP_LEAK_PARTS };

/* What a stack is of. */
struct sp_leak_of {
    uint32_t row;     /* 1 + number of its row; 0: none, it is suppressed */
    uint32_t skipped; /* so many allocators are at its leaf */
};

struct sp_leak_row {
    uint32_t number;   /* sp_leak_of.row, whatever sorts the rows */
    uint32_t function; /* SP_NONE: there is no stack */
    enum sp_leak_reach reach;
    uint32_t row; /* in the selection: its heaviest record */
    uint32_t records;
    int64_t samples; /* that its sums are estimated from; SP_ABSENT: they are not */
    struct sp_leak_sums now;
    struct sp_leak_course growth;
    bool never_freed;  /* nothing of it was */
    int64_t hidden[2]; /* live bytes and blocks of its suppressed records, not in `now` */
    uint32_t skipped;  /* so many allocators at the leaf of that record */
    enum sp_leak_kind kind;
    int64_t rank;
    /* Slices of sp_leaks.parts: what grows most first, if it grows, else the heaviest. */
    size_t part[SP_LEAK_PARTS], nparts[SP_LEAK_PARTS];
};

struct sp_leaks_opts {
    bool by_stack;
    bool suppressed;          /* what the recording says is no leak (x_heaptrack.suppressed) is live, too */
    bool by_reach;            /* rows are apart by how reachable they are, what is lost first */
    bool by_owner;            /* rows are what the selection shows first, own or not */
    const struct sp_own *own; /* NULL: not known, rows are owners */
    int64_t now_ns;           /* how long the profile lasted; 0: not known */
};

struct sp_leaks {
    const struct sp_profile *profile;
    enum sp_leak_metric rank; /* what rows are sorted by, after how reachable they are */
    bool has[SP_LEAK_METRICS];
    bool growth;      /* known of some row: from windows */
    int64_t grown_ns; /* with that: how long the last three quarters of the time are */
    bool peaks_apart; /* there are peaks that cannot be added */
    struct sp_leak_sums now;
    struct sp_leak_sums reach[SP_LEAK_REACHES];
    bool told; /* the file says of some of it how reachable it is */
    SP_VEC(struct sp_leak_row) rows;
    SP_VEC(struct sp_leak_part) parts[SP_LEAK_PARTS];
    struct sp_leak_of *of; /* per stack of the profile */
    int64_t *gained;       /* per stack: live bytes gained in the last three quarters; NULL: not known */
    int64_t now_ns;
    uint64_t skipped;    /* records with allocators at the leaf */
    uint64_t suppressed; /* records whose live bytes and blocks are left out; all else of them counts */
    int64_t hidden[2];   /* these; SP_ABSENT: not known */
};

/*
 * The event and metric that a question about memory is about: as named, else the first event with live_bytes,
 * live_count, alloc_bytes or alloc_count, in this order of metrics. The words of answers name metrics too:
 * live, blocks, allocated, calls, temporary, peak. SPAA_ERR_USAGE, reported (SP_E758), where there is none.
 */
spaa_status sp_leaks_choose(const struct sp_profile *p, struct sp_select_opts *o, struct sp_diags *d);
spaa_status sp_leaks_of(struct sp_selection *s, const struct sp_leaks_opts *o, struct sp_diags *d,
                        struct sp_leaks *out);
void sp_leaks_free(struct sp_leaks *l);

#endif
