/*
 * What bcc's tools, and its libbpf-tools, print without -f: what the files here share.
 *
 *     Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.
 *         finish_task_switch                      offcputime, profile: leaf first, the kernel's frames
 *         --                                      -d: the program's begin
 *         worker(int)
 *         -                server (4711)          the thread, or of profile the process; once `server` alone
 *             150007
 *
 *     Tracing 1 functions for "submit_bio"... Hit Ctrl-C to end.
 *       submit_bio                                stackcount
 *         --
 *       main
 *         tar [15069]                             -P: the process
 *         113
 *
 *         target:          vmstat                 wakeuptime: who waited, and the stack that woke it
 *         ffffffff810df082 hrtimer_wakeup
 *         waker:           swapper/1
 *             4000415
 *
 *         waker:           swapper/0 0            offwaketime: who woke, and its stack from the root on;
 *         blk_mq_complete_request
 *         --               --                     (or -                -)
 *         schedule                                then that of who waited, leaf first
 *         target:          cksum 4711
 *             56529
 *
 *     [11:16:34] Top 2 stacks with outstanding allocations:
 *             160 bytes in 10 allocations from stack
 *                     main+0x6d [allocs]          memleak: all that is not freed at that moment
 *
 * A first line says what the numbers are. By tools/ and libbpf-tools/ of bcc. line.c says what a line can be
 * by itself, frame.c what a frame is, event.c what is counted,
 * record.c and heap.c make stacks, reader.c knows which line belongs to what.
 */
#ifndef SP_BCC_H
#define SP_BCC_H

#include "base/buf.h"
#include "formats/common/text/lines.h"
#include "formats/format.h"

enum bcc_tool { BCC_UNTOLD, BCC_OFF_CPU, BCC_SAMPLES, BCC_COUNTS, BCC_WAKEUP, BCC_OFF_WAKE, BCC_HEAP };
enum bcc_sides { BCC_ANY_SIDE, BCC_KERNEL_ONLY, BCC_USER_ONLY };

/* What a first line says. */
struct bcc_title {
    enum bcc_tool tool;
    enum bcc_sides sides;
    bool said;            /* by a line; else by the form of records */
    int64_t hertz, every; /* of BCC_SAMPLES: one of them */
    struct sp_str probe;  /* of BCC_COUNTS */
};

enum bcc_kind {
    BCC_BLANK,
    BCC_TITLE,
    BCC_PRINT, /* "[11:16:34] Top 2 stacks …": what is outstanding then */
    BCC_WARNING,
    BCC_KNOWN, /* times, "Detaching..." and the like */
    BCC_DELIMITER,
    BCC_SPLIT,     /* between waker and target */
    BCC_OLD_SPLIT, /* the same of versions that print no thread numbers */
    BCC_THREAD,    /* "-   comm (12)" */
    BCC_PROCESS,   /* "comm [12]" */
    BCC_WAKER,
    BCC_TARGET,
    BCC_BLOCKS, /* "160 bytes in 10 allocations from stack" */
    BCC_NUMBER,
    BCC_TEXT,
};

struct bcc_line {
    enum bcc_kind kind;
    size_t indent;      /* columns; a tab goes to the next multiple of eight */
    struct sp_str text; /* without blanks around it */
    struct bcc_title title;
    struct sp_str comm;    /* of threads, processes, wakers and targets; of BCC_PRINT the time */
    int64_t id;            /* of threads and processes; of BCC_TITLE of memleak the process, -1: none */
    int64_t number, count; /* BCC_NUMBER; BCC_BLOCKS: bytes, and how many; BCC_PRINT: how many at most */
};

void bcc_classify(const char *p, size_t n, struct bcc_line *out);
/* "swapper/0 0": the number off the end; false: there is none. */
bool bcc_thread_number(struct sp_str *comm, int64_t *id);

/* A frame as text; slices of it. */
struct bcc_frame {
    struct sp_str name, module; /* module n 0: not known */
    uint64_t address, offset;
    bool has_address, has_offset;
    bool kernel, missed; /* told by the line; a stack that was not there in its place */
};
void bcc_parse_frame(struct sp_str text, struct bcc_frame *out);

/* What records of one title count. */
struct bcc_event {
    struct bcc_title title;
    uint32_t probe;                                /* string */
    uint32_t event, metric, second, layout;        /* second: a metric beside it; SP_NONE */
    uint32_t wakers, wakers_metric, wakers_layout; /* the event of who woke; SP_NONE */
};

struct bcc_name {
    uint32_t name, module;
    uint64_t address, offset;
    bool has_address, has_offset, kernel, missed;
    bool after; /* behind a delimiter */
};

struct bcc_stacks {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    SP_VEC(struct bcc_event) events;
    int64_t unit;             /* ns of --off-cpu; 0: not said */
    uint32_t kernel, unknown; /* DSOs */
    SP_VEC(struct bcc_name) names;
    SP_VEC(uint32_t) frames;
    bool capped, rounded;
    uint64_t pairs; /* of wakers and targets */
};

/* The names [first, n) of a stack, leaf first, of which a delimiter stood between the sides or did not. */
struct bcc_slice {
    size_t first, n;
    bool delimiter;
    enum bcc_sides sides;
};
/* Who: a process or thread; id -1: not told. */
struct bcc_who {
    uint32_t comm;
    int64_t id;
};

bool bcc_stacks_init(struct bcc_stacks *s, struct sp_profile *p, const struct sp_read_opts *opts,
                     struct sp_diags *d);
void bcc_stacks_free(struct bcc_stacks *s);
bool bcc_add_name(struct bcc_stacks *s, const struct bcc_frame *f, bool after);
/* Nanoseconds in one of its numbers, where these are times; 0: they are none, or nobody says the unit. */
int64_t bcc_unit(const struct bcc_stacks *s, const struct bcc_title *t);
/* The event of a title: the one it has, or a new one. */
spaa_status bcc_event_of(struct bcc_stacks *s, const struct bcc_title *t, const struct bcc_event **out);
spaa_status bcc_add_stack(struct bcc_stacks *s, const struct bcc_event *e, const struct bcc_slice *slice,
                          const struct bcc_who *who, int64_t value);
/* One observation: who waited where, and who woke it where. */
spaa_status bcc_add_pair(struct bcc_stacks *s, const struct bcc_event *e, const struct bcc_slice *waker,
                         const struct bcc_who *woke, const struct bcc_slice *target,
                         const struct bcc_who *waited, int64_t value);
spaa_status bcc_add_wakeup(struct bcc_stacks *s, const struct bcc_event *e, const struct bcc_slice *waker,
                           const struct bcc_who *woke, const struct bcc_who *waited, int64_t value);
spaa_status bcc_add_blocks(struct bcc_stacks *s, const struct bcc_event *e, const struct bcc_slice *slice,
                           const struct bcc_who *who, int64_t bytes, int64_t count);
/* When all records are there: the header, and times as times. */
spaa_status bcc_stacks_end(struct bcc_stacks *s);

/*
 * memleak's (heap.c): all that is outstanding, again and again. The last print that lists something counts.
 */
struct bcc_blocks {
    size_t first, n; /* names */
    int64_t bytes, count;
};
struct bcc_heap {
    SP_VEC(struct bcc_blocks) list;
    size_t before;          /* how many of the list are of the print before */
    int64_t at_most;        /* how many stacks it prints */
    uint32_t printed, last; /* when the list was, and the last one */
    uint64_t prints;
};
spaa_status bcc_heap_print(struct bcc_heap *h, struct bcc_stacks *s, const struct bcc_line *l);
spaa_status bcc_heap_blocks(struct bcc_heap *h, struct bcc_stacks *s, const struct bcc_line *l);
/* The list as stacks. */
spaa_status bcc_heap_end(struct bcc_heap *h, struct bcc_stacks *s, const struct bcc_title *t, int64_t pid);
/* What is to be said of prints, and the header's members. */
spaa_status bcc_heap_say(struct bcc_heap *h, struct bcc_stacks *s);

/* probe.c */
int bcc_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason);

#endif
