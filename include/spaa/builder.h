/*
 * Building a profile: a profiler adds what it observed, and gets a profile that can be asked and written as
 * any other.
 *
 *     struct spaa_builder *b = NULL;
 *     size_t event, samples, frames[1], stack;
 *     spaa_builder_new(&(struct spaa_builder_options){.size = ..., .source_tool = "mine"}, &b, &said);
 *     spaa_builder_metric(b, "samples", NULL, &samples, &said);
 *     spaa_builder_event(b, &(struct spaa_event_spec){.name = "cpu", .metric = samples, ...}, &event, &said);
 *     spaa_builder_frame(b, &(struct spaa_frame_spec){.name = "main", ...}, &frames[0], &said);
 *     spaa_builder_stack(b, &(struct spaa_stack_spec){.event = event, .frames = frames, ...}, &stack, &said);
 *     spaa_builder_finish(b, &profile, &said);
 *     spaa_builder_free(b);
 *
 * Every function gives a number for what was added, valid for this builder; equal content has one number, so
 * nothing has to be kept by the caller to save memory. Strings and arrays are copied. Bytes of names that are
 * no UTF-8 become U+FFFD. What is built is a valid profile (`spaa validate`): what would make it invalid is
 * refused. Structures begin with their size, as everywhere; a number that was not given out,
 * a name that is needed and missing, and what is out of range are SPAA_ERR_USAGE, said in words, and change
 * nothing. SPAA_ERR_NOMEM: memory is exhausted; the builder can then only be freed.
 *
 * Threads: one builder is for one thread at a time.
 */
#ifndef SPAA_BUILDER_H
#define SPAA_BUILDER_H

#include <spaa/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spaa_builder;

/* What the profile says of itself. NULL and 0: not known. */
struct spaa_builder_options {
    size_t size;
    const char *source_tool;  /* needed: the profiler, "mine" */
    const char *tool_version; /* "1.2" */
    const char *command;      /* that was profiled */
    const char *group_by; /* keys that split a stack into records, "pid,tid,comm,cpu,state", or "none"; what
                             else stacks say is not kept; NULL: "pid,tid,comm" and state */
    const char *clock;    /* of all times: "monotonic" */
    const char *host, *os, *arch;
    uint32_t cpus;
    int64_t start_ns, end_ns; /* of the recording, in the clock; both 0: that of the samples and windows */
    uint64_t lost;            /* observations that were lost; may be told later, too */
};

/* *builder is the caller's, to be given to spaa_builder_free. */
SPAA_API spaa_status spaa_builder_new(const struct spaa_builder_options *options,
                                      struct spaa_builder **builder, struct spaa_diagnostics **diagnostics);

/*
 * A kind of weight: "samples" (observations), "period", "alloc_bytes", or a name of one's own,
 * which should begin with "x_". unit: "ns", "bytes"; NULL: none. At most 256 names; more are SPAA_ERR_LIMIT.
 */
SPAA_API spaa_status spaa_builder_metric(struct spaa_builder *builder, const char *name, const char *unit,
                                         size_t *metric, struct spaa_diagnostics **diagnostics);

/* The same with more to say of it. */
struct spaa_metric_spec {
    size_t size;
    const char *name, *unit;
    const char
        *combine;           /* how two of its values become one: "sum", "max", "min", or "none" of what two
                               stacks    cannot have together, as a mean or a peak; NULL: as the format's
                               vocabulary    has it,    else "sum". Views add up what is a sum, and nothing else. */
    const char *derivation; /* how it came about; of "cpu_time_ns" the format asks for it. NULL: not said */
};
SPAA_API spaa_status spaa_builder_metric_spec(struct spaa_builder *builder,
                                              const struct spaa_metric_spec *spec, size_t *metric,
                                              struct spaa_diagnostics **diagnostics);

struct spaa_event_spec {
    size_t size;
    const char *name; /* needed, and of no other event: "cycles" */
    const char
        *kind; /* "hardware", "software", "allocation", "deallocation", "timer", "probe"; NULL: "timer" */
    const char *mode;                     /* "period", "frequency", "event"; NULL: "period" */
    size_t metric;                        /* the weight to go by */
    uint64_t sample_period, frequency_hz; /* 0: not known */
};
SPAA_API spaa_status spaa_builder_event(struct spaa_builder *builder, const struct spaa_event_spec *spec,
                                        size_t *event, struct spaa_diagnostics **diagnostics);

/*
 * A binary. build_id: lower-case hex; NULL: not known. What is named as kernels are, "[kernel]" and the like,
 * is the kernel's.
 */
SPAA_API spaa_status spaa_builder_dso(struct spaa_builder *builder, const char *path, const char *build_id,
                                      int is_kernel, size_t *dso, struct spaa_diagnostics **diagnostics);

/* A frame: by a name, by an address, or both. */
struct spaa_frame_spec {
    size_t size;
    const char *name; /* of the function, as people read it; NULL: only the address is known */
    int has_dso;      /* 0: it is in no binary that is known: "[unknown]", of kernel frames "[kernel]" */
    size_t dso;       /* number */
    const char *kind; /* "user", "kernel", "unknown", as its binary is; NULL: by the binary, else "user" */
    int has_address;  /* needed where there is no name */
    uint64_t address; /* in the binary as linked; absolute where the binary is not known */
    int has_symbol_offset;
    uint64_t symbol_offset; /* in bytes from the start of the function */
    const char *srcline;    /* "file.c:12"; NULL */
    uint32_t inline_depth;  /* 0: a physical frame; n: inlined n levels deep into the next physical one, whose
                               binary, address and offset it has if it has an address */
    const char *linkage;    /* the function's symbol in the binary; NULL */
    const char *file;       /* where the function is declared, and the line; NULL, 0 */
    uint32_t line;
};
SPAA_API spaa_status spaa_builder_frame(struct spaa_builder *builder, const struct spaa_frame_spec *spec,
                                        size_t *frame, struct spaa_diagnostics **diagnostics);

/* A thread's name, where no stack says it; comm NULL: a thread without one. */
SPAA_API spaa_status spaa_builder_thread(struct spaa_builder *builder, int64_t pid, int64_t tid,
                                         const char *comm, struct spaa_diagnostics **diagnostics);

/* What is known of a process beside its samples. NULL and SPAA_ABSENT: not known; other numbers are not
 * negative. */
struct spaa_process_spec {
    size_t size;
    int64_t pid;                        /* needed */
    int64_t parent_pid;                 /* of the process that began it */
    const char *name, *path;            /* path: of what it runs */
    int64_t start_ns, exit_ns;          /* in the clock */
    int64_t cpu_time_ns;                /* that it spent while it was watched */
    int64_t footprint_bytes, rss_bytes; /* of memory, when it was looked at last */
};
/* As often as processes were: a pid may be used again. */
SPAA_API spaa_status spaa_builder_process(struct spaa_builder *builder, const struct spaa_process_spec *spec,
                                          struct spaa_diagnostics **diagnostics);

struct spaa_stack_weight {
    size_t metric;
    int64_t value; /* more than INT64_MIN + 1 */
};

/* What a stack was observed with beside who ran: "request": "GET /". Stacks are told apart by it. */
struct spaa_stack_label {
    const char *key;
    const char *text; /* NULL: the label is a number */
    int64_t number;
    const char *unit; /* of the number; NULL */
};

struct spaa_stack_spec {
    size_t size;
    size_t event;
    const size_t *frames;  /* leaf first; inlined frames before the one that they are in, at depths that
                              count down to its 0: 2, 1, 0 */
    size_t frame_count;    /* 0 .. 1048576 */
    const char *type;      /* "unified" (all frames there are), "user" (no kernel frames), "kernel" (no user
                              frames); NULL: "unified" */
    int64_t pid, tid, cpu; /* SPAA_ABSENT: not known; else not negative; a tid stands with its pid */
    const char *comm, *state; /* NULL likewise */
    const struct spaa_stack_label *labels;
    size_t label_count;                      /* at most 256 */
    const struct spaa_stack_weight *weights; /* with the event's metric; what is derived ("cpu_time_ns",
                                                "cache_misses", "branch_misses") beside what was counted */
    size_t weight_count;                     /* 1 .. 256 */
};

/*
 * Adds an observation. A stack that is there already with the same event, frames, type and kept keys gets the
 * weights added: sums, or the larger or smaller one of metrics that combine so; a weight that does not
 * combine (a mean, a peak) is SPAA_ERR_USAGE then. A sum beyond 64 bits stays at the largest, and is
 * reported.
 */
SPAA_API spaa_status spaa_builder_stack(struct spaa_builder *builder, const struct spaa_stack_spec *spec,
                                        size_t *stack, struct spaa_diagnostics **diagnostics);

/* One observation of a stack at a time; its weight is not added to the stack's. */
struct spaa_sample_spec {
    size_t size;
    size_t stack;
    int64_t time_ns;       /* in the clock, not negative */
    int64_t pid, tid, cpu; /* SPAA_ABSENT: as the stack says, where it is kept, or not known; a tid stands
                              with its pid */
    int64_t weight;        /* of the event's metric; SPAA_ABSENT: not known */
    /* What this observation had that does not tell its stack apart; `--group-by label:KEY` may, later. */
    const struct spaa_stack_label *labels;
    size_t label_count; /* at most 256 */
};
SPAA_API spaa_status spaa_builder_sample(struct spaa_builder *builder, const struct spaa_sample_spec *spec,
                                         struct spaa_diagnostics **diagnostics);

/* What a stack weighs in a window alone. */
struct spaa_window_weights {
    size_t stack;                            /* number */
    const struct spaa_stack_weight *weights; /* may be negative: live bytes that were freed */
    size_t weight_count;                     /* 1 .. 256 */
};

struct spaa_window_spec {
    size_t size;
    const char *id;           /* needed, and of no other window: "w1" */
    int64_t start_ns, end_ns; /* in the clock, not negative: from start, before end; equal: it is empty */
    const struct spaa_window_weights *stacks; /* each stack once */
    size_t stack_count;
};

/*
 * A stretch of the recording, for profilers that add up as they go and have no samples to keep: what is hot
 * when is told by windows then. Windows may overlap, and need not cover the recording; views of time take
 * windows where the profile has no samples. Weights are not added to the stacks'.
 */
SPAA_API spaa_status spaa_builder_window(struct spaa_builder *builder, const struct spaa_window_spec *spec,
                                         struct spaa_diagnostics **diagnostics);

/* Observations that were lost, beside those told before. */
SPAA_API spaa_status spaa_builder_lost(struct spaa_builder *builder, uint64_t count,
                                       struct spaa_diagnostics **diagnostics);

/*
 * The profile, which is the caller's, to be given to spaa_profile_free; samples are in the order of time. The
 * builder can only be freed then. SPAA_ERR_USAGE: no event was added.
 */
SPAA_API spaa_status spaa_builder_finish(struct spaa_builder *builder, struct spaa_profile **profile,
                                         struct spaa_diagnostics **diagnostics);

SPAA_API void spaa_builder_free(struct spaa_builder *builder); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
