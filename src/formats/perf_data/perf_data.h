/*
 * Linux perf.data, shared by the files of this folder.
 *
 * Source of the layout: the kernel's perf-file documentation (tools/perf/Documentation/
 * perf.data-file-format.txt), include/uapi/linux/perf_event.h and tools/lib/perf/include/perf/event.h.
 *
 * How a recording is read (reader.c runs the steps):
 *   header.c       magic, attributes (attr.c), feature sections (features.c) -> attrs, ids, names, build-ids,
 * host records.c      pass 1 over all records, samples skipped -> sideband list, kernel maps, what was lost;
 *                  COMPRESSED records are unpacked into a spool (parts.c), which pass 1 then walks as well
 *   tracepoints.c  formats of tracepoints, also those that the recording lacks; states.c: whether samples
 * have thread states timeline.c     sideband by time                        -> comms and map versions of each
 * process reloads.c      when just-in-time code was replaced     -> more versions samples.c      pass 2 over
 * the samples, unsorted       -> groups (groups.c): samples of one event, thread and comm, map version, mode
 * and raw callchain, with their weights unwind.c       samples with copied stacks              -> callchains,
 * and so groups resolve.c      groups in order of map versions, while the maps of every process are replayed
 * (replay.c)
 *                  -> frames (frames.c) and stacks of the profile
 *   facts.c        processes, threads and binaries as rows of the profile
 *
 * A position names a record for good: its offset in the input, or SP_PD_UNPACKED plus its offset in
 * what COMPRESSED records hold; in the directory form the number of the file stands above. Records without
 * a time are ordered by it.
 *
 * Branch stacks become branches or callchains (branches.c) in pass 2.
 * Samples with REGS_USER and STACK_USER (`--call-graph dwarf`) join their groups after pass 2: unwind.c
 * replays the maps a first time, and finds their callchains by several threads.
 */
#ifndef SP_PERF_DATA_H
#define SP_PERF_DATA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "formats/format.h"
#include "formats/perf_data/numbers.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SP_PD_UNPACKED   ((uint64_t)1 << 62) /* positions in the unpacked records start here */
#define SP_PD_PART_SHIFT 44                  /* the number of the part stands above */
#define SP_PD_PARTS      (1u << 16)
#define SP_PD_SANE       ((uint64_t)1 << 62) /* times from here on are marks */
#define SP_PD_ATTRS      65536u              /* caps on what a file may declare */
#define SP_PD_IDS        (16u << 20)
#define SP_PD_CGROUPS    65536u
#define SP_PD_STREAMS    4096u /* whose throttling is followed */

struct sp_pd_text {
    const char *p; /* NULL: not there */
    size_t n;
};

/* Where the fields of an attribute's samples are, in bytes from the record's start; 0: not there. */
struct sp_pd_plan {
    uint32_t identifier, ip, tid, time, addr, id, cpu, period, read;
    uint32_t chain;      /* of the callchain's count; with a group read: of the read format */
    uint32_t read_entry; /* bytes per counter in a group read */
    uint32_t read_times; /* bytes of the times beside them */
    uint32_t fixed;      /* bytes that every sample has */
    bool group;          /* the read format's size varies */
    /* The sample_id trailer of other records, in bytes before the record's end; 0: not there. */
    uint32_t t_tid, t_time, t_id, t_cpu, t_identifier, t_size;
};

/* What a sample's thread did; only of recordings that see threads off the CPU. */
enum sp_pd_state {
    SP_PD_NO_STATE,
    SP_PD_ON_CPU,
    SP_PD_QUEUED, /* put off the CPU, ready to go on */
    SP_PD_WAITING,
    SP_PD_BLOCKED, /* cannot be interrupted */
    SP_PD_STOPPED,
    SP_PD_IDLE,
    SP_PD_GONE, /* exiting, or not told */
};

struct sp_pd_attr {
    uint32_t type;
    uint64_t config, period, sample_type, read_format, branch_type, regs_user, regs_intr;
    uint64_t config1, config2;
    uint32_t stack_user; /* bytes of stack that were asked for */
    uint64_t flags;      /* the word of bits, counted from `disabled` */
    uint32_t size;       /* as the file says */
    bool freq, id_all, use_clockid, exclude_user, exclude_kernel, exclude_hv;
    unsigned precise;
    int32_t clockid;
    uint16_t max_stack; /* callchains of this many addresses were probably cut off */
    struct sp_pd_plan plan;
    struct sp_pd_text name;
    uint64_t first_id;
    uint32_t nids;
    uint32_t together; /* number of the group that its counter is one of, from 1; 0: not known, or none */
    uint64_t samples;
    uint32_t event, layout, metric; /* in the profile; event SP_NONE: not shown */
    uint32_t off_metric;            /* of offcpu-time: offcpu_ns, as much as its period */
    enum sp_pd_state state;         /* of its samples' threads */
    uint64_t enabled, running;      /* of its counters, once all is read; 0: not told */
    /* sched_switch: where in raw data that stands, and its size; size 0: nowhere. */
    uint32_t prev_state, prev_size;
};

struct sp_pd_id {
    uint64_t id;
    uint32_t attr;
    uint64_t value;            /* of the last READ of this id */
    uint64_t enabled, running; /* by then; 0: not told */
};

/* One event of HEADER_EVENT_DESC. */
struct sp_pd_desc {
    struct sp_pd_text name;
    uint64_t first_id;
    uint32_t nids;
};

struct sp_pd_pmu {
    uint32_t type;
    struct sp_pd_text name;
};

/* A file as the map of it says; inode 0: it does not. Generation 0: not told. */
struct sp_pd_inode {
    uint32_t major, minor;
    uint64_t inode, generation;
};

struct sp_pd_build_id {
    struct sp_pd_text path; /* as in maps */
    const char *hex;
    bool several;            /* the table has others of this path: it is not known which map's each is */
    struct sp_pd_inode last; /* mapped.c: of the last map of the path */
};

struct sp_pd_event_type {
    uint64_t config;
    struct sp_pd_text name;
};

/* Bytes that hold records one after another. */
struct sp_pd_range {
    const unsigned char *p;
    size_t n;
    uint64_t base; /* position of p[0] */
};

struct sp_pd_record {
    const unsigned char *p;
    uint64_t pos;
    size_t at, size, span; /* span: with the payload that header.size does not count */
    uint32_t type;
    uint16_t misc;
};

/* A record of maps, comms and lives: MMAP, MMAP2, COMM, FORK, EXIT. */
struct sp_pd_side {
    uint64_t time, pos;
};

struct sp_pd_comm {
    uint64_t since;
    uint32_t name; /* in the profile's strings */
    bool begins;   /* another thread, or another program */
};

struct sp_pd_process {
    int32_t pid;
    SP_VEC(uint64_t) changes; /* when its maps change, ascending; version v holds from changes[v - 1] on */
};

struct sp_pd_thread {
    int32_t pid, tid;
    uint32_t process;
    SP_VEC(struct sp_pd_comm) comms;
};

/* A thread while neither its comm nor its process's maps change. */
struct sp_pd_epoch {
    uint32_t thread, process, version, comm;
};

/* Samples that are one stack. */
struct sp_pd_group {
    const unsigned char *chain; /* n values as in the file; n == 0: none, then ip is all there is */
    uint64_t hash;
    uint64_t ip, count, period;
    uint32_t n, attr, epoch;
    int32_t cpu; /* 0 unless grouped by */
    uint16_t mode, state;
    uint32_t stack;
};

/* A sample's parts that make its key, and its weight. */
struct sp_pd_sample {
    uint64_t time, pos, ip, period, hash;
    const unsigned char *chain;
    uint32_t n, mode, attr, epoch;
    uint32_t shape; /* the attribute that says what is where; attr may be another member of its group */
    int32_t pid, tid, cpu;
    enum sp_pd_state state;
};
#define SP_PD_BATCH 16u /* samples that are looked up together */

/* What may follow the callchain in a sample. */
struct sp_pd_fields {
    uint64_t has; /* sample_type bits of what is really there */
    const unsigned char *raw, *branches, *user_regs, *stack, *intr_regs;
    uint64_t nbranches, hw_index, user_abi, intr_abi, stack_size, stack_filled;
    uint64_t weight, data_src, transaction, phys_addr, cgroup, data_page, code_page, aux;
    uint32_t raw_size;
};

/* A callchain put together, in the recording's byte order. */
struct sp_pd_values {
    uint64_t *v;
    size_t n, cap;
};

/* A sample whose user stack is to be unwound. shape: the attribute that says what is where in it. */
struct sp_pd_pending {
    uint64_t pos, period;
    uint32_t attr, shape, epoch;
    enum sp_pd_state state;
};

/* An entry of a branch stack. */
struct sp_pd_branch_entry {
    uint64_t from, to;
    bool missed, predicted, in_transaction, aborted;
    uint16_t cycles; /* since the branch before; 0: not counted */
    uint8_t type, spec;
};

/* A branch that a thread took, or a trace: that and the branch that it ran into. */
struct sp_pd_branch {
    uint64_t from, to, count, missed, cycles;
    uint64_t timed;       /* of a trace: how many of `count` have cycles */
    uint64_t next;        /* of a trace: where the next branch stands; 0: a branch */
    uint32_t attr, epoch; /* attr: of the first sample */
    int32_t cpu;          /* 0 unless grouped by */
};

/* A tracepoint's fields are a slice of trace_fields. */
struct sp_pd_trace_format {
    uint32_t id, first, n;
};
struct sp_pd_trace_field {
    struct sp_pd_text name;
    uint32_t offset, size;
    enum {
        SP_PD_NUMBERS, /* of `each` bytes */
        SP_PD_POINTER,
        SP_PD_TEXT,
        SP_PD_BYTES,
        SP_PD_LOC_TEXT, /* from here on: where and how long it is stands in the field */
        SP_PD_LOC_BYTES,
        SP_PD_REL_TEXT,
        SP_PD_REL_BYTES,
    } kind;
    uint8_t each;
    bool is_signed;
};

struct sp_pd_cgroup {
    uint64_t id;
    struct sp_pd_text path;
};

/* When the kernel stopped an event (by stream) that took too long; 0: it goes on. */
struct sp_pd_throttle {
    uint64_t stream, since;
};

struct sp_pd_deferred {
    uint64_t cookie;
    const unsigned char *chain;
    uint32_t n;
    int32_t tid;
};

struct sp_pd_unpack; /* parts.c */
struct sp_pd_frames; /* frames.c */

/* One file of the recording: its records, and those unpacked from COMPRESSED ones. */
struct sp_pd_part {
    struct sp_input *in; /* NULL: the caller's */
    struct sp_pd_range ranges[2];
    struct sp_pd_unpack *unpack;
};

/* A file as a map tells it, and what is there now: its build-id, if that is shown to be the same. */
struct sp_pd_mapped_file {
    const char *path;
    uint32_t major, minor;
    uint64_t inode, generation;
    char build_id[2 * 20 + 1]; /* "": not shown, or it has none */
    bool other;                /* it is another one, or it was changed after the recording */
    bool meanwhile;  /* another one, which was written on the last day of the recording, before its end */
    bool shown;      /* it is the one that was mapped, as it was */
    bool same_inode; /* it is that one, on this machine, */
    struct timespec written; /* written then */
    bool kept_other;         /* perf kept another one when it ended, as that of this path */
};

struct sp_pd {
    struct sp_diags *d;
    struct sp_input *in;
    const struct sp_read_opts *opts;
    struct sp_profile *p;
    struct sp_arena arena;
    const unsigned char *file;
    size_t size;
    bool swap;       /* the recording's byte order is not ours */
    bool big_endian; /* the recording's */
    bool pipe;
    bool by_position; /* samples or sideband carry no times: order is that of the file */
    bool closed;      /* the recorder wrote its header at the end, as it should */
    unsigned group_by;

    bool directory; /* the records are in files beside this one */
    SP_VEC(struct sp_pd_part) parts;

    SP_VEC(struct sp_pd_attr) attrs;
    SP_VEC(struct sp_pd_id) ids;
    struct sp_map id_map;
    SP_VEC(struct sp_pd_desc) descs;
    SP_VEC(struct sp_pd_pmu) pmus;
    SP_VEC(struct sp_pd_build_id) build_ids;
    struct sp_map build_id_map;
    SP_VEC(struct sp_pd_mapped_file) mapped_files; /* mapped.c: those that were looked at */
    struct sp_map mapped_file_map;
    SP_VEC(struct sp_pd_event_type) event_types;
    struct sp_pd_text hostname, osrelease, version, arch, cpudesc, cpuid;
    struct sp_pd_text cmdline;
    uint32_t cpus_online, cpus_available;
    struct sp_buf about; /* members of x_perf */
    uint32_t described;  /* features that stand there, by bit */
    uint64_t total_mem;
    bool has_clock_data;
    uint32_t clock_data_id;
    uint64_t clock_wall, clock_time;
    struct sp_recording_clock cycles; /* TIME_CONV */

    SP_VEC(struct sp_pd_side) sides;
    SP_VEC(uint64_t) kernel_maps; /* positions of MMAP and KSYMBOL records of the kernel, in file order */
    SP_VEC(struct sp_pd_deferred) deferred;
    struct sp_map deferred_map;
    uint64_t seen_samples; /* in pass 1 */
    uint64_t record_counts[PD_USER_LAST + 1];
    SP_VEC(struct sp_pd_throttle) throttles;
    SP_VEC(struct sp_pd_cgroup) cgroups;
    SP_VEC(struct sp_pd_trace_format) trace_formats;
    SP_VEC(struct sp_pd_trace_field) trace_fields;
    bool states;   /* samples have states */
    bool switches; /* some event is sched_switch, with its fields */
    uint64_t throttled, throttled_ns;
    /* By LOST records; by what perf read of the events; by the kernel's LOST_SAMPLES; left out by filters. */
    uint64_t lost_told, lost_read, lost_unread, lost_filtered;
    uint64_t unknown_records, bad_samples, unknown_ids, truncated;
    uint64_t first_unknown_id;

    SP_VEC(struct sp_pd_process) processes;
    struct sp_map process_map;
    SP_VEC(struct sp_pd_thread) threads;
    struct sp_map thread_map;
    SP_VEC(struct sp_pd_epoch) epochs;
    struct sp_map epoch_map;

    SP_VEC(struct sp_pd_group) groups;
    struct sp_map group_map;
    SP_VEC(struct sp_pd_pending) pending;
    uint64_t unwound, unfinished; /* samples; of them, that end where the caller could not be found */
    SP_VEC(struct sp_pd_branch) branches;
    struct sp_map branch_map;
    bool branches_missed, branches_cycles; /* whether predictions and cycles are known */
    bool traces, traces_timed;             /* some of `branches` are traces; with cycles */
    uint32_t branch_event, branch_layout, branch_metrics[3];
    uint32_t trace_event, trace_layout, trace_metrics[3]; /* trace_event SP_NONE: there are none */
    bool stack_bytes;                                     /* --stack-bytes */
    bool lbr_callstack;                                   /* --lbr-callstack */
    uint64_t lbr_untyped;           /* samples whose branch stacks cannot be made call stacks */
    uint64_t time_first, time_last; /* of samples; time_last 0: none */
    uint64_t told_first, told_last; /* the same, as the header has them before samples are read */
    bool capped;                    /* a sum of periods did not fit */
};

/* Unaligned loads in the recording's byte order. */
static inline uint16_t sp_pd_swapped16(uint16_t v, bool swap)
{
    return swap ? __builtin_bswap16(v) : v;
}
static inline uint16_t sp_pd_u16(const unsigned char *p, bool swap)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return sp_pd_swapped16(v, swap);
}
static inline uint32_t sp_pd_u32(const unsigned char *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap32(v) : v;
}
static inline uint64_t sp_pd_u64(const unsigned char *p, bool swap)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap64(v) : v;
}
static inline int32_t sp_pd_i32(const unsigned char *p, bool swap)
{
    return (int32_t)sp_pd_u32(p, swap);
}

/* Takes pieces off a section or record; `bad` once it ran out, and from then on all is NULL or 0. */
struct sp_pd_cursor {
    const unsigned char *p;
    size_t n;
    bool swap, bad;
};
static inline const unsigned char *sp_pd_take(struct sp_pd_cursor *c, uint64_t n)
{
    if (c->bad || n > c->n) {
        c->bad = true;
        return NULL;
    }
    const unsigned char *p = c->p;
    c->p += n;
    c->n -= (size_t)n;
    return p;
}
static inline uint32_t sp_pd_take_u32(struct sp_pd_cursor *c)
{
    const unsigned char *p = sp_pd_take(c, 4);
    return p ? sp_pd_u32(p, c->swap) : 0;
}
static inline uint64_t sp_pd_take_u64(struct sp_pd_cursor *c)
{
    const unsigned char *p = sp_pd_take(c, 8);
    return p ? sp_pd_u64(p, c->swap) : 0;
}

/*
 * Records lie a few hundred bytes apart, at distances no prefetcher of the processor foresees, and each
 * tells where the next one is: without this, half of the time goes into waiting for their headers.
 */
#define SP_PD_AHEAD ((size_t)2048)
static inline void sp_pd_prefetch(const unsigned char *p, size_t size, size_t left)
{
    if (left <= SP_PD_AHEAD + size)
        return;
    for (size_t i = 0; i < size; i += 64)
        __builtin_prefetch(p + SP_PD_AHEAD + i);
}

/* header.c: everything before the records, and the feature sections behind them. */
spaa_status sp_pd_open(struct sp_pd *pd);
bool sp_pd_add_id(struct sp_pd *pd, uint64_t id, uint32_t attr);
uint32_t sp_pd_find_id(const struct sp_pd *pd, uint64_t id); /* number in ids, or SP_NONE */

/* parts.c */
bool sp_pd_part_add(struct sp_pd *pd, const unsigned char *p, size_t n, uint64_t offset);
spaa_status sp_pd_parts_beside(struct sp_pd *pd); /* of the directory form */
void sp_pd_parts_free(struct sp_pd *pd);
static inline struct sp_pd_part *sp_pd_part_of(const struct sp_pd *pd, uint64_t pos)
{
    return &pd->parts.v[(pos & (SP_PD_UNPACKED - 1)) >> SP_PD_PART_SHIFT];
}
const unsigned char *sp_pd_at(const struct sp_pd *pd, uint64_t pos); /* a record seen before */
/* The words of a position for messages: an offset in the input where there is one. */
struct sp_where sp_pd_where(uint64_t pos);
/* The stream inside COMPRESSED records. */
spaa_status sp_pd_unpack_add(struct sp_pd *pd, const unsigned char *p, size_t n, uint64_t pos);
spaa_status sp_pd_unpack_end(struct sp_pd *pd, struct sp_pd_part *part); /* sets ranges[1] */

/* attr.c: perf_event_attr, and what follows from it. n bytes are there; bytes 0: not even the minimum. */
bool sp_pd_attr_read(const unsigned char *p, size_t n, bool swap, bool big_endian, struct sp_pd_attr *out);
void sp_pd_plan_make(const struct sp_pd_attr *a, struct sp_pd_plan *out);

/* features.c: one feature, from its section or from a FEATURE record. */
spaa_status sp_pd_feature(struct sp_pd *pd, unsigned bit, const unsigned char *p, size_t n);
spaa_status sp_pd_build_id_record(struct sp_pd *pd, const unsigned char *p, size_t n, unsigned misc);
/* The recorded build-id of a path in lower-case hex, or NULL. */
const char *sp_pd_build_id_of(const struct sp_pd *pd, const char *path, size_t n);
struct sp_pd_build_id *sp_pd_build_id_entry(const struct sp_pd *pd, const char *path, size_t n);
/* 2 * n digits and a NUL; returns out. */
const char *sp_pd_hex(const unsigned char *p, size_t n, char *out);

/* records.c */
/*
 * The record at r->at + r->span of the range (start with a zeroed *r); false at the end. Damage is
 * stepped over; with `report` it is told, once.
 */
bool sp_pd_next(struct sp_pd *pd, const struct sp_pd_range *range, struct sp_pd_record *r, bool report);
spaa_status sp_pd_pass1(struct sp_pd *pd);
/* The sample_id trailer of a record whose own fields take so many bytes; cpu -1: not there. */
struct sp_pd_trailer {
    bool has_time, has_tid;
    uint64_t time;
    int32_t pid, tid, cpu;
};
void sp_pd_trailer_read(const struct sp_pd *pd, const struct sp_pd_record *r, size_t body,
                        struct sp_pd_trailer *out);
/* The user callchain that was recorded later under this cookie, or NULL. */
const struct sp_pd_deferred *sp_pd_find_deferred(const struct sp_pd *pd, uint64_t cookie, int32_t tid);
/* What was lost, by all that tells of it. */
uint64_t sp_pd_lost(const struct sp_pd *pd);
struct sp_pd_mmap {
    int32_t pid;
    uint64_t start, len, pgoff;
    struct sp_pd_text path;        /* NUL-terminated in the input */
    const unsigned char *build_id; /* build_id_size bytes, or NULL */
    size_t build_id_size;
    /* Of MMAP2 without a build-id: the file; inode 0: not told, generation 0: not told, or 0. */
    uint32_t major, minor;
    uint64_t inode, generation;
    bool kernel, guest;
    bool data;     /* not executable */
    uint64_t time; /* 0: it has none, or was there before the recording */
};
bool sp_pd_mmap_read(const struct sp_pd *pd, const unsigned char *rec, struct sp_pd_mmap *out);
bool sp_pd_is_fork(const struct sp_pd *pd, const unsigned char *rec, uint64_t time, int32_t *pid,
                   int32_t *ppid);

/*
 * mapped.c: the build-id of a file whose map has none, in hex, where the file at its path is shown to be the
 * one that was mapped: by device, inode and generation, and by its times, which are not later than the
 * recording. *id: the one that perf stored, or NULL; out NULL: none is shown. *other: it is another one, or
 * was changed since, and the stored one is that of what is there now. SPAA_OK, or a failure that was
 * reported.
 */
spaa_status sp_pd_mapped_id(struct sp_pd *pd, const struct sp_pd_mmap *m, const char **id, bool *other);
/* Before: which file was mapped last at each path that has a stored build-id. After sp_pd_timeline. */
void sp_pd_mapped_last(struct sp_pd *pd);

/* tracepoints.c */
spaa_status sp_pd_trace_read(struct sp_pd *pd, const unsigned char *p, size_t n);
/* One event's format as tracefs has it, if its ID is this; text must live as long as pd. */
spaa_status sp_pd_trace_format(struct sp_pd *pd, uint64_t id, const char *text, size_t n);
const struct sp_pd_trace_format *sp_pd_trace_find(const struct sp_pd *pd, uint64_t id); /* or NULL */
const struct sp_pd_trace_field *sp_pd_trace_field(const struct sp_pd *pd, uint64_t id,
                                                  const char *name); /* same */
/* Appends `"trace_fields":{…}` of a tracepoint's raw data; false when its format was not recorded. */
bool sp_pd_trace_fields(const struct sp_pd *pd, uint64_t id, const unsigned char *raw, size_t n,
                        struct sp_buf *b);

/* What the recording lacks of them; events have their names by then. */
spaa_status sp_pd_tracefs(struct sp_pd *pd);

/* states.c: whether samples have states; after all that tells formats. */
void sp_pd_states(struct sp_pd *pd);
const char *sp_pd_state_name(enum sp_pd_state s); /* x_state; NULL: none */
bool sp_pd_is_offcpu(const struct sp_pd_attr *a); /* the event of `perf record --off-cpu` */
/* Of a sample of sched_switch whose event says where prev_state is. */
enum sp_pd_state sp_pd_switch_state(const struct sp_pd *pd, const struct sp_pd_attr *a,
                                    const struct sp_pd_fields *f);

/* details.c: what a kept sample has beside its own fields. */
struct sp_sample;
spaa_status sp_pd_details(struct sp_pd *pd, uint32_t shape, uint64_t pos, struct sp_sample *row);

/* events.c: names of the events, and their place in the profile. Before and after pass 2. */
spaa_status sp_pd_name_events(struct sp_pd *pd);
spaa_status sp_pd_add_events(struct sp_pd *pd);

/* timeline.c */
spaa_status sp_pd_timeline(struct sp_pd *pd);
uint32_t sp_pd_process(struct sp_pd *pd, int32_t pid); /* finds or adds; SP_NONE: out of memory */
uint32_t sp_pd_process_find(const struct sp_pd *pd, int32_t pid);
uint32_t sp_pd_thread(struct sp_pd *pd, int32_t pid, int32_t tid);
uint32_t sp_pd_thread_find(const struct sp_pd *pd, int32_t pid, int32_t tid);
bool sp_pd_thread_record(struct sp_pd *pd, const struct sp_pd_thread *t); /* of the profile, with its names */
/*
 * The epoch of a thread at a time: finds or adds; SP_NONE: out of memory. The answer holds for
 * since <= time < until.
 */
uint32_t sp_pd_epoch(struct sp_pd *pd, int32_t pid, int32_t tid, uint64_t time, uint64_t *since,
                     uint64_t *until);

/* fields.c */
/*
 * What follows the callchain, at `at` of a sample record of `size` bytes. What does not fit is not there, and
 * neither is what comes after it.
 */
void sp_pd_fields_read(const struct sp_pd_attr *a, const unsigned char *rec, size_t size, size_t at,
                       bool swap, struct sp_pd_fields *out);
/* The callchain of a sample, checked; *end is where what follows begins. False: the record is too short. */
bool sp_pd_chain_read(const struct sp_pd_attr *a, const unsigned char *rec, size_t size, bool swap,
                      const unsigned char **chain, uint32_t *n, size_t *end);

/* branches.c */
struct sp_pd_branch_entry sp_pd_branch_entry_read(const struct sp_pd *pd, const unsigned char *entry);
spaa_status sp_pd_branches_add(struct sp_pd *pd, const struct sp_pd_fields *f, uint32_t attr, uint32_t epoch,
                               int32_t cpu);
spaa_status sp_pd_branches_event(struct sp_pd *pd); /* after the other events */

/* Whether the processor kept the branch stacks as call stacks. */
bool sp_pd_lbr_is_chain(const struct sp_pd_attr *a);
/* The callchain by the sample's branch stack; empty: it stays what it is. False: out of memory. */
bool sp_pd_lbr_chain(struct sp_pd *pd, const struct sp_pd_attr *a, const struct sp_pd_fields *f,
                     const struct sp_pd_sample *s, struct sp_pd_values *out);
void sp_pd_lbr_report(struct sp_pd *pd);

/* samples.c */
spaa_status sp_pd_pass2(struct sp_pd *pd);
/* The fields of fixed places; the sample is as long as the plan says. */
static inline __attribute__((always_inline)) void
sp_pd_sample_fixed(const struct sp_pd_plan *plan, const unsigned char *p, bool swap, struct sp_pd_sample *s)
{
    s->mode = sp_pd_u16(p + 4, swap) & PD_MISC_MODE;
    s->n = 0;
    s->time = plan->time ? sp_pd_u64(p + plan->time, swap) : 0;
    s->ip = plan->ip ? sp_pd_u64(p + plan->ip, swap) : 0;
    s->pid = plan->tid ? sp_pd_i32(p + plan->tid, swap) : -1;
    s->tid = plan->tid ? sp_pd_i32(p + plan->tid + 4, swap) : -1;
    s->cpu = plan->cpu ? sp_pd_i32(p + plan->cpu, swap) : -1;
}

/* groups.c */
void sp_pd_sample_hash(const struct sp_pd *pd, struct sp_pd_sample *s);
/* Adds to the sample's group. copy: its callchain does not stay where it is. */
spaa_status sp_pd_group_add(struct sp_pd *pd, const struct sp_pd_sample *s, bool copy);
spaa_status sp_pd_groups_add(struct sp_pd *pd, const struct sp_pd_sample *batch, unsigned n);
static inline void sp_pd_groups_expect(const struct sp_pd *pd, const struct sp_pd_sample *s)
{
    sp_map_expect(&pd->group_map, s->hash);
}

/* switches.c: after the samples have stacks, before the header. */
bool sp_pd_has_switch_records(const struct sp_pd *pd);
spaa_status sp_pd_switches(struct sp_pd *pd);

/*
 * times.c: between which times the records are that are not damaged, as far as their order tells; else
 * everything. Damage is reported.
 */
spaa_status sp_pd_bound_times(struct sp_pd *pd, uint64_t *first, uint64_t *last);

/* members.c */
void sp_pd_comma(struct sp_buf *b);                    /* unless something was just opened */
void sp_pd_member(struct sp_buf *b, const char *name); /* all but its value */
void sp_pd_member_u64(struct sp_buf *b, const char *name, uint64_t v);
void sp_pd_member_hex(struct sp_buf *b, const char *name, uint64_t v);

/* summary.c: the header of the profile. */
spaa_status sp_pd_summary(struct sp_pd *pd);

#endif
