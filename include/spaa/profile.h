/*
 * A profile: opened from any readable format, walked, and written in another one.
 *
 * Numbers of events, functions and stacks are dense: 0 .. count-1, in no particular order. They are
 * valid for this profile only. Strings belong to the profile, live until spaa_profile_free, and end in a
 * NUL; they are what the profiler wrote: any bytes, usually UTF-8, not made fit for a terminal. (SPAA allows
 * a NUL inside a name; C sees its beginning.)
 *
 * Structures begin with `size`, which the caller sets to sizeof the structure before each call: members
 * that are newer than the caller are left out of results, and are at their defaults in options. A `size`
 * below that of a size_t is SPAA_ERR_USAGE.
 *
 * Threads: there is no hidden state; calls about different profiles may run at the same time. One profile may
 * be read by any number of threads at a time by the functions that take it as const. The others need it
 * alone, so that no other call about it or about an answer of it runs meanwhile:
 *
 * - spaa_ask gives stacks ids, sorts the samples in their temporary file, and may tell stacks of a SPAA file
 *   apart anew: their numbers are others then;
 * - spaa_query gives stacks ids, sorts and maps the samples;
 * - spaa_profile_sample sorts and maps the samples, when it is first called;
 * - spaa_merge takes the profile apart and puts it together again;
 * - spaa_profile_write (_fd, _memory) sorts the samples, likewise;
 * - spaa_profile_free.
 *
 * A thread that calls what reads or asks needs 256 KiB of stack: with less left it is SPAA_ERR_LIMIT. Threads
 * of the library's own have 2 MiB each, whatever `ulimit -s` says.
 *
 * Results of queries are copies, and need no profile. Rows of an answer are made of the profile while they
 * are looked at: an answer and its profile are for one thread at a time.
 *
 * NULL never ends the program. For a handle, a path or the place of a result it is SPAA_ERR_USAGE; functions
 * that return no spaa_status answer NULL or 0 then, and those that free do nothing. Where NULL means
 * something (no options, diagnostics not wanted) it is said there.
 *
 * Every function that returns a spaa_status can return SPAA_ERR_NOMEM unless it says that it only reads.
 */
#ifndef SPAA_PROFILE_H
#define SPAA_PROFILE_H

#include <spaa/diagnostics.h>
#include <spaa/export.h>
#include <spaa/status.h>
#include <spaa/watch.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spaa_profile;

#define SPAA_NONE   SIZE_MAX  /* no such number */
#define SPAA_ABSENT INT64_MIN /* a number that the source does not give */

/* An option of one format, as in `spaa formats NAME`, without dashes; value NULL for a flag only. */
struct spaa_format_option {
    const char *name, *value;
};

/* How to read. Zero everywhere, or NULL instead of the structure: the defaults. */
struct spaa_open_options {
    size_t size;
    const char *format;    /* read as this format; NULL: found by content */
    const char *frames;    /* what makes two frames one: "address", "line", "function"; NULL: "address" */
    const char *group_by;  /* keys that split a stack into records, "pid,tid,comm,cpu,state", or "none";
                              NULL: "pid,tid,comm,state" */
    const char *symfs;     /* directory to look for recorded files under */
    const char *debug_dir; /* further directory like /usr/lib/debug */
    const char *kallsyms;  /* kernel symbols of the recorded boot */
    int no_symbols;        /* do not look up names */
    int samples;           /* keep the raw samples, so that spaa_profile_write can write them */
    int strict;            /* fail with SPAA_ERR_INPUT when part of the input cannot be used */
    unsigned jobs;         /* threads to use; 0: one; the result does not depend on it */
    const struct spaa_format_option *own; /* options of the format */
    size_t own_count;
    int no_inline; /* do not look up inlined functions */
    int no_lines;  /* do not look up source lines */
    const struct spaa_watch
        *watch;       /* hears "reading" of a file in bytes, and "symbols"; may leave. NULL: nobody */
    unsigned windows; /* where the input tells what was freed when (heaptrack): so many windows of time at
                         most, by which "leaks" knows what grows; 0: none */
    const char *dsym; /* directory to look for Mach-O images and .dSYM bundles in, by UUID */
    int trust_maps;   /* believe perf maps and jitdumps that belong to neither root nor this user */
    const char *symbol_store; /* directory of copies of binaries, as `spaa symbols` keeps them; "none": none;
                                 NULL: $XDG_CACHE_HOME/spaa/symbols or ~/.cache/spaa/symbols */
};

/*
 * Reads a file, or standard input for "-", whole. zstd and gzip are unpacked. Bad parts are skipped and
 * reported; it fails only when nothing useful can be had. On SPAA_OK *profile is the caller's, to be given
 * to spaa_profile_free; otherwise it is untouched.
 *
 * SPAA_ERR_IO: cannot be opened or read. SPAA_ERR_INPUT: no known format, malformed beyond use, or holds
 * nothing. SPAA_ERR_LIMIT: a cap was reached. SPAA_ERR_USAGE: an option does not exist or does not fit, or a
 * SPAA file has coarser frames or groups than asked for. SPAA_ERR_UNSUPPORTED: a form that cannot be read.
 */
SPAA_API spaa_status spaa_profile_open(const char *path, const struct spaa_open_options *options,
                                       struct spaa_profile **profile, struct spaa_diagnostics **diagnostics);

/*
 * The same from memory, which must stay as it is during the call only. name stands in diagnostics; NULL:
 * "memory". data may be NULL where size is 0.
 */
SPAA_API spaa_status spaa_profile_open_memory(const void *data, size_t size, const char *name,
                                              const struct spaa_open_options *options,
                                              struct spaa_profile **profile,
                                              struct spaa_diagnostics **diagnostics);

/*
 * The same from a descriptor, from where it stands to its end: a file, a pipe, a socket. It stays the
 * caller's, and open. name stands in diagnostics; NULL: "descriptor". SPAA_ERR_USAGE: fd is negative.
 */
SPAA_API spaa_status spaa_profile_open_fd(int fd, const char *name, const struct spaa_open_options *options,
                                          struct spaa_profile **profile,
                                          struct spaa_diagnostics **diagnostics);

SPAA_API void spaa_profile_free(struct spaa_profile *profile); /* NULL is fine */

/* The name of the format it was read from ("perf-data"): static; NULL for NULL. */
SPAA_API const char *spaa_profile_format(const struct spaa_profile *profile);
/* The profiler that made it ("perf"); NULL where the source does not say, and for NULL. */
SPAA_API const char *spaa_profile_source_tool(const struct spaa_profile *profile);

/* ---- walking; these functions only read: SPAA_ERR_NOT_FOUND (no such number) or SPAA_ERR_USAGE ---- */

struct spaa_event {
    size_t size;
    const char *name;           /* "cycles" */
    const char *kind;           /* "hardware", "software", "allocation", "deallocation", "timer", "probe" */
    const char *mode;           /* "period", "frequency", "event" */
    const char *primary_metric; /* the weight to go by: "period"; NULL where none is declared */
};

/* Counts are 0 for NULL. */
SPAA_API size_t spaa_profile_event_count(const struct spaa_profile *profile);
SPAA_API spaa_status spaa_profile_event(const struct spaa_profile *profile, size_t event,
                                        struct spaa_event *out);

struct spaa_function {
    size_t size;
    const char *name;     /* demangled; an address in hex where there is no symbol */
    const char *dso;      /* path of the binary, or "[kernel]", "[unknown]", "[jit]", ... */
    const char *build_id; /* of the binary, lower-case hex; NULL */
    int is_kernel;
};

SPAA_API size_t spaa_profile_function_count(const struct spaa_profile *profile);
SPAA_API spaa_status spaa_profile_function(const struct spaa_profile *profile, size_t function,
                                           struct spaa_function *out);

/* One call stack of one event and one set of grouping keys, with everything observed there added up. */
struct spaa_stack {
    size_t size;
    size_t event;       /* number; SPAA_NONE where the file names one that it does not declare */
    size_t frame_count; /* may be 0 */
    size_t weight_count;
    const char *type;         /* "unified", "user", "kernel" */
    int64_t pid, tid, cpu;    /* SPAA_ABSENT where the profile is not grouped by it */
    const char *comm, *state; /* NULL likewise */
    size_t linked; /* the other record of the same observation, where user and kernel frames are two
                      records with equal weights: count one of them; SPAA_NONE */
    size_t label_count;
};

SPAA_API size_t spaa_profile_stack_count(const struct spaa_profile *profile);
SPAA_API spaa_status spaa_profile_stack(const struct spaa_profile *profile, size_t stack,
                                        struct spaa_stack *out);

struct spaa_frame {
    size_t size;
    size_t function;        /* number */
    const char *name, *dso; /* of the function */
    const char *kind;       /* "user", "kernel", "unknown" */
    const char *srcline;    /* "file.c:12"; NULL */
    int resolved;           /* 0: name is no symbol but the address */
    int has_address, has_symbol_offset;
    uint64_t address;       /* in the binary as linked; absolute where the binary is not known */
    uint64_t symbol_offset; /* in bytes from the start of the function */
    uint32_t inline_depth;  /* 0: a physical frame; n: inlined n levels deep into the next physical one */
};

/* Frame i of a stack: 0 is the leaf, the last is the root, whatever order the file had. */
SPAA_API spaa_status spaa_stack_frame(const struct spaa_profile *profile, size_t stack, size_t i,
                                      struct spaa_frame *out);

struct spaa_weight {
    size_t size;
    const char *metric;  /* "samples", "period", "alloc_bytes", ... */
    const char *unit;    /* "ns", "bytes"; NULL where the source does not say */
    int64_t value;       /* SPAA_ABSENT where `text` says it */
    const char *text;    /* a number that is no 64-bit integer, as exact decimal text; else NULL */
    const char *combine; /* how two values of the metric become one: "sum", "max", "min", or "none" (a peak, a
                            mean) */
};

/* Weight i of a stack. Weights of different metrics never add. */
SPAA_API spaa_status spaa_stack_weight(const struct spaa_profile *profile, size_t stack, size_t i,
                                       struct spaa_weight *out);

/* A label of a stack: what it was observed with beside who ran. */
struct spaa_label {
    size_t size;
    const char *key;
    const char *value; /* its text; of a number its decimal text */
    const char *unit;  /* of a number; NULL */
    int is_number;
};

/* Label i of a stack, by key. */
SPAA_API spaa_status spaa_stack_label(const struct spaa_profile *profile, size_t stack, size_t i,
                                      struct spaa_label *out);

/* A raw sample: one observation of a stack. */
struct spaa_sample {
    size_t size;
    int64_t time_ns;       /* in the profile's clock; SPAA_ABSENT: not known */
    size_t stack, event;   /* numbers; SPAA_NONE: not known */
    int64_t pid, tid, cpu; /* SPAA_ABSENT: not known */
    int64_t weight;        /* of the event's primary metric; SPAA_ABSENT: not known, or no 64-bit integer */
};

/* How many there are: 0 for NULL, and where they were not read (spaa_open_options.samples). */
SPAA_API size_t spaa_profile_sample_count(const struct spaa_profile *profile);
/*
 * Sample i, in the order of time, those without a time first. The first call maps the file that holds them:
 * the profile is needed alone. SPAA_ERR_IO: that failed. SPAA_ERR_NOT_FOUND: there is no sample i.
 */
SPAA_API spaa_status spaa_profile_sample(struct spaa_profile *profile, size_t i, struct spaa_sample *out);

/*
 * A window: a stretch of the recording, with what stacks weigh in it alone. Windows may overlap, and need not
 * cover the recording.
 */
struct spaa_window {
    size_t size;
    const char *id;           /* "w1"; a number as it is written */
    int64_t start_ns, end_ns; /* in the profile's clock: from start, before end; SPAA_ABSENT: in no unit of
                                 time that is known */
    size_t stack_count;       /* that the window has weights of */
};

SPAA_API size_t spaa_profile_window_count(const struct spaa_profile *profile); /* 0 for NULL */
SPAA_API spaa_status spaa_profile_window(const struct spaa_profile *profile, size_t window,
                                         struct spaa_window *out);

struct spaa_window_stack {
    size_t size;
    size_t stack; /* number; SPAA_NONE: the file names one that it does not have */
    size_t weight_count;
};

/* Stack i of a window. */
SPAA_API spaa_status spaa_window_stack(const struct spaa_profile *profile, size_t window, size_t i,
                                       struct spaa_window_stack *out);
/* Its weight k in the window. A change, as of live bytes, may be negative. */
SPAA_API spaa_status spaa_window_weight(const struct spaa_profile *profile, size_t window, size_t i, size_t k,
                                        struct spaa_weight *out);

/* ---- writing ---- */

/* How to write. Zero everywhere, or NULL instead of the structure: the defaults. */
struct spaa_write_options {
    size_t size;
    const char *format;      /* name; NULL: by the extension of the path */
    const char *event;       /* only this event, for formats that hold one; NULL: the format's choice */
    const char *metric;      /* this weight, likewise */
    const char *frame_order; /* of SPAA: "leaf_to_root" or "root_to_leaf"; NULL: as it was read */
    const struct spaa_format_option *own; /* options of the format */
    size_t own_count;
    const struct spaa_watch *watch; /* hears "writing", in bytes; may leave: no file appears. NULL: nobody */
    int expand;                     /* also what is longer than 64 MiB and 100 times what the profile holds */
};

/*
 * Writes a file that appears only when it is complete, compressed if the path ends in .zst or .gz; or
 * standard output for "-", with options->format. Equal profiles and options give equal bytes.
 *
 * SPAA_ERR_IO: cannot be written; nothing is left behind. SPAA_ERR_CLOSED: the reader of the pipe went
 * away. SPAA_ERR_UNSUPPORTED: the format is read only, or a question changed the profile (spaa_ask).
 * SPAA_ERR_USAGE: no such format, event, metric or option, or the extension tells none. SPAA_ERR_INPUT: it
 * would be so long that options->expand has to ask for it.
 */
SPAA_API spaa_status spaa_profile_write(struct spaa_profile *profile, const char *path,
                                        const struct spaa_write_options *options,
                                        struct spaa_diagnostics **diagnostics);

/*
 * The same to a descriptor, which stays the caller's, and open; never compressed; options->format NULL: SPAA.
 * What failed in the middle has been written in part. A pipe whose reader went away raises SIGPIPE unless the
 * program ignores it.
 */
SPAA_API spaa_status spaa_profile_write_fd(struct spaa_profile *profile, int fd,
                                           const struct spaa_write_options *options,
                                           struct spaa_diagnostics **diagnostics);

/*
 * The same to memory. *data ends in a NUL that *size (may be NULL) does not count; it is the caller's, to be
 * given to spaa_free. SPAA_ERR_LIMIT: it would be more than 2 GiB.
 */
SPAA_API spaa_status spaa_profile_write_memory(struct spaa_profile *profile, char **data, size_t *size,
                                               const struct spaa_write_options *options,
                                               struct spaa_diagnostics **diagnostics);

/* Frees what functions of this library gave as memory; NULL is fine. */
SPAA_API void spaa_free(void *memory);

/* spaa_profile_open, spaa_profile_write, spaa_profile_free: their errors. */
SPAA_API spaa_status spaa_convert(const char *in, const char *out, const struct spaa_open_options *open,
                                  const struct spaa_write_options *write,
                                  struct spaa_diagnostics **diagnostics);

/* ---- validating ---- */

struct spaa_validate_options {
    size_t size;
    const char *format;             /* NULL: found by content, SPAA where nothing else fits */
    int strict;                     /* warnings make a file invalid, too */
    const struct spaa_watch *watch; /* hears "reading", in bytes; may leave. NULL: nobody */
};

struct spaa_verdict {
    size_t size;
    int valid;
    uint64_t errors, warnings; /* warnings: with data losses */
};

/*
 * Checks a file against its format; the findings are the diagnostics. The file is read as a stream and
 * never held. SPAA_OK: there is a verdict, whatever it is. SPAA_ERR_IO, SPAA_ERR_LIMIT: it could not be
 * checked to the end. SPAA_ERR_UNSUPPORTED: files of this format cannot be validated.
 */
SPAA_API spaa_status spaa_validate(const char *path, const struct spaa_validate_options *options,
                                   struct spaa_verdict *verdict, struct spaa_diagnostics **diagnostics);

#ifdef __cplusplus
}
#endif
#endif
