/*
 * The tables of a profile (model/profile.h): plain arrays, filled once by a reader, read many times by
 * everything else.
 *
 * Numbers ("event 3", "frame 17") are dense indexes into the tables; strings are numbers in `strs`,
 * SP_STR_NONE meaning "absent".
 *
 * Frames of a stack are stored leaf first, whatever the file's frame_order. Inlined frames stand
 * before (leafward of) the physical frame they were inlined into, deepest first.
 *
 * Fields named `extra_json` hold what the tables have no field for: raw JSON members without braces
 * (`"x_foo":1,"y":[2]`), minified, in input order. They take part in identity of dictionary entries.
 */
#ifndef SP_MODEL_TABLES_H
#define SP_MODEL_TABLES_H

#include "base/diag.h"
#include "base/strtab.h"
#include "base/vec.h"
#include "model/vocab.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SP_NONE        UINT32_MAX      /* no such number */
#define SP_ABSENT      INT64_MIN       /* a weight, pid, tid or cpu that is not there */
#define SP_DECIMAL     (INT64_MIN + 1) /* a weight that is no 64-bit integer: see sp_weight_text */
#define SP_METRICS_MAX 256u

struct sp_event {
    uint32_t name;
    enum sp_event_kind kind;
    enum sp_mode mode;
    uint32_t primary; /* metric */
    uint32_t unit;    /* of the primary metric ("ns", "bytes", ...), for readers to note */
    uint32_t sample_period, frequency_hz; /* number texts */
    uint32_t allocation_tracking;         /* raw JSON object */
    uint32_t sampling_extra_json, extra_json;
    uint32_t copies; /* other events were given its name with a number behind: up to this one + 1 */
};

struct sp_metric {
    uint32_t name;
    const struct sp_metric_info
        *info; /* how it adds; never NULL: of the vocabulary, or as is said of it (sp_metric_combine) */
};

/*
 * What the ips of a DSO count from, and where it stood in the recording: for who looks names up later, and
 * for who writes addresses as they were. All zero: ips are addresses as linked, and nothing more is known.
 */
struct sp_dso_place {
    uint64_t
        base; /* of the kernel where its _text stood, of its modules and memfds their start; 0: not known */
    uint64_t text;                 /* of modules of the kernel: where its _text stood; 0: not known */
    uint64_t map_offset, map_size; /* FILE_OFFSET: what of the file was mapped as code; size 0: not known */
    uint32_t ips;                  /* enum sp_dso_ips */
    uint32_t symbol;               /* enum sp_text_symbol */
};
enum sp_dso_ips {
    SP_DSO_LINKED,
    SP_DSO_FILE_OFFSET /* offsets in the file, which was not there to say more */
};
enum sp_text_symbol { SP_TEXT_UNTOLD, SP_TEXT_TEXT, SP_TEXT_STEXT }; /* what of the kernel stood at `_text` */

struct sp_dso {
    uint32_t name, build_id, extra_json;
    bool is_kernel;
    bool doubtful;   /* the file that names it, or would, was replaced or written after the recording */
    uint8_t zero[2]; /* padding, kept zero so that DSOs hash as bytes */
    struct sp_dso_place place;
};

/*
 * A function: what self and total are added up by. Two functions of one name in one DSO are told apart by
 * `tells` (model/functions.h), which another build of the program has, too.
 */
struct sp_function {
    uint32_t name;  /* as shown: demangled, without parts like .cold */
    uint32_t dso;   /* number in dsos */
    uint32_t tells; /* a text; SP_STR_NONE: name and DSO are all that is known */
    uint32_t info;  /* what is known of it, 1 + number in func_infos; 0: nothing more than the name */
};

/* What is known of the function of a frame beside its name (x_func). */
enum sp_func_flag {
    SP_FUNC_START = 1, /* start is set */
    SP_FUNC_LOCAL = 2, /* other files may have a function of this linkage name: static, or inlined */
    SP_FUNC_PATH = 4,  /* of a local one: the whole path of the file counts, which no symbol table knows */
};
struct sp_func_info {
    uint64_t start;   /* its address in its DSO as linked */
    uint32_t linkage; /* the symbol as it stands in the file, with parts like .cold; SP_STR_NONE */
    uint32_t file;    /* where it is declared (DWARF), else the file of its symbol (STT_FILE); SP_STR_NONE */
    uint32_t line;    /* where it is declared; 0: not known */
    uint32_t flags;   /* enum sp_func_flag */
};

enum sp_frame_flag {
    SP_FRAME_IP = 1,     /* ip is set */
    SP_FRAME_SYMOFF = 2, /* symoff is set */
    SP_FRAME_UNRESOLVED =
        4, /* func is no symbol but the address in hex, or with symoff binary and start of its function */
    SP_FRAME_NO_SRCLINE = 8, /* srcline_resolved: false was stated */
    SP_FRAME_INLINED = 16,
    SP_FRAME_INFERRED = 32, /* in no recorded stack: of an edge (model/edges.h) */
};

struct sp_frame {
    uint32_t function;
    uint32_t srcline;
    uint64_t ip, symoff;
    uint32_t inline_depth; /* 0: physical */
    uint32_t extra_json;
    uint8_t kind;  /* enum sp_frame_kind */
    uint8_t flags; /* enum sp_frame_flag */
    uint16_t zero; /* padding, kept zero so that frames hash as bytes */
    uint32_t info; /* 1 + number in func_infos; 0: nothing more than of its function (sp_function.info) */
};

/*
 * What profilers say beside the samples (model/facts.h names the fields): texts are UTF-8; SP_STR_NONE and
 * SP_ABSENT where nothing is said.
 */
struct sp_thread {
    int64_t pid, tid;
    uint32_t comm, extra_json;
    uint32_t name, queue, priority; /* priority as it is stated: "31", "4-31" */
    uint32_t renamed_from; /* a name that it had before comm, in the same program (model/thread_names.h) */
    int64_t cpu_time_ns, cycles, instructions; /* spent while it was watched */
    int64_t start_ns, exit_ns;                 /* on the clock of the timestamps */
};

enum sp_fact_flag {
    SP_FACT_FRONTMOST = 1,    /* a process: it was what the user looked at */
    SP_FACT_SUSPENDED = 2,    /* a process */
    SP_FACT_LINES_LOST = 128, /* a process: stacks of a thread may be another's */
    SP_FACT_KERNEL = 4,       /* an image */
    SP_FACT_LOCK = 8,  /* a wait: for something that one thread holds, so that a ring of them is a deadlock */
    SP_FACT_SELF = 16, /* a wait: its holder is the thread that waits */
    SP_FACT_RECEIVE = 64,  /* a wait: of a server for messages, which nobody holds up */
    SP_FACT_DEADLOCK = 32, /* a wait: the profiler itself calls it a part of a deadlock */
};

/* As often as they were reported: a pid may be used again. */
struct sp_process_fact {
    int64_t pid, parent_pid;
    int64_t start_ns, exit_ns; /* on the clock of the timestamps */
    int64_t cpu_time_ns, cycles, instructions;
    int64_t footprint_bytes, rss_bytes;
    uint32_t name, path, extra_json;
    uint32_t instance; /* which of several processes of this number and name: label `instance` of contexts */
    uint32_t flags;    /* enum sp_fact_flag */
    uint32_t first, images; /* slice of process_images */
    uint32_t zero;          /* padding */
};

/* A binary where it was loaded; the DSO of the same path or build-id says what frames are of it. */
#define SP_NO_ADDRESS UINT64_MAX
struct sp_image {
    uint64_t start, end; /* the last byte's; SP_NO_ADDRESS: not known */
    uint32_t name, path, build_id, extra_json;
    uint32_t flags;
    uint32_t zero; /* padding */
};

/* What the samples of a context waited for, and who held it. */
struct sp_wait_fact {
    int64_t holder_pid, holder_tid;
    int64_t hops;         /* so many waits lie between it and the holder; SP_ABSENT: it is not said */
    uint32_t text;        /* as the profiler says it */
    uint32_t on;          /* "turnstile", "unfair lock", "wait4", … */
    uint32_t holder_name; /* of its process */
    uint32_t flags;
    uint32_t extra_json;
    uint32_t zero; /* padding, kept zero so that waits hash as bytes */
};

/* What a stack record is grouped by. */
struct sp_context {
    int64_t pid, tid, cpu; /* SP_ABSENT where not grouped by */
    uint32_t event;        /* number in events, SP_NONE if undeclared (kept in extra_json) */
    uint32_t comm, state;  /* state: x_state */
    uint32_t source;       /* x_source: the file it came from, where several are one profile */
    uint32_t extra_json;
    uint32_t labels; /* 1 + number in label_sets (model/labels.h); 0: none */
    uint32_t wait;   /* 1 + number in waits; 0: none is stated */
    uint32_t zero;   /* padding, kept zero so that contexts hash as bytes */
};

/* A pair of a set of labels: model/labels.h. */
enum sp_label_flag {
    SP_LABEL_NUMBER = 1, /* value is a number text */
    SP_LABEL_FIELD = 2,  /* of trace_fields: extra_json has it, too */
};
struct sp_label {
    uint32_t key, value;
    uint32_t unit; /* of a number; SP_STR_NONE: not known */
    uint8_t flags;
    uint8_t zero[3]; /* padding, kept zero so that labels hash as bytes */
};
struct sp_label_set {
    uint32_t first, n; /* slice of labels */
};
struct sp_sample_labels {
    uint32_t context, set; /* what samples with this text of a context have */
};

/* Why frames of a DSO lack something, of the symbolizer that named them; not written to files. */
enum sp_note_of { SP_NOTE_NAMES, SP_NOTE_LINES };
struct sp_dso_note {
    uint64_t addresses; /* that lack it; 0: no note */
    uint32_t why, hint; /* words; hint "" when nothing helps */
};

/* Which metrics a list of weights holds, in order: shared by most stacks. */
struct sp_weight_field {
    uint32_t metric, unit, extra_json;
};
struct sp_layout {
    uint32_t first, n; /* slice of layout_fields */
};

/* As printed in a file: foreign text, or ours: hash and, when a key of one run is grouped by, a suffix. */
struct sp_stack_id {
    uint64_t hash;
    uint32_t suffix;
    uint32_t text; /* SP_STR_NONE: ours, else the id as decoded text */
    uint8_t flags; /* enum sp_id_flag */
};
enum sp_id_flag { SP_ID_SET = 1, SP_ID_SUFFIX = 2, SP_ID_NUMBER = 4 /* written as a JSON number */ };

enum { SP_EXCLUSIVE_NONE = 0, SP_EXCLUSIVE_SAME = 1 }; /* else 2 + number in exclusives */

struct sp_stack {
    uint64_t first; /* slice of stack_frames, leaf first */
    uint32_t n;
    uint32_t context;
    uint32_t layout;    /* SP_NONE until weights are set */
    uint32_t exclusive; /* SP_EXCLUSIVE_SAME: at the leaf, equal to the weights */
    uint32_t extra_json;
    uint32_t linked : 30; /* 1 + number in linked, 0: none */
    uint32_t type : 2;    /* enum sp_stack_type */
    uint32_t edges;       /* what is wrong with its calls: 1 + number in edge_lists, 0: nothing known */
};
#define SP_LINKED_MAX ((1u << 30) - 1)

/* Something about the call of frame `at` of a stack, leaf first, by the frame after it (model/edges.h). */
enum sp_edge_kind {
    SP_EDGE_BROKEN,   /* the caller cannot have called it */
    SP_EDGE_INFERRED, /* `frame` is proven to have been called by that caller, and to stand between them */
};
struct sp_edge {
    uint32_t at;
    uint32_t kind;  /* enum sp_edge_kind */
    uint32_t frame; /* what stands between the two in views */
};
struct sp_edge_list {
    uint32_t first, n; /* slice of edges */
};

/* An `exclusive` that says something else than the stack's own weights. */
struct sp_exclusive {
    uint32_t frame, layout;
    uint32_t first; /* in values, one per field of the layout */
    uint32_t extra_json;
};
struct sp_value {
    int64_t v;     /* SP_DECIMAL: see text */
    uint32_t text; /* number text */
};

/* Records that were divided by what their `exclusive` says: model/callees.h. */
struct sp_rest {
    uint32_t stack, rest; /* stacks: of what the leaf has, of what it has not */
    uint32_t exclusive;   /* of the record as it was */
    uint32_t first;       /* in values, by layout: the weights as they were, then the leaf's */
};
struct sp_rests {
    SP_VEC(struct sp_rest) list;
    struct {
        size_t stacks, stack_frames, linked, linked_stacks, values, dsos, functions, frames;
    } before; /* how many there were */
};

struct sp_linked {
    uint32_t first, n; /* slice of linked_stacks: stack numbers; SP_NONE where the id is unknown */
};

/* Weights of one metric over all stacks. */
struct sp_column {
    int64_t *v;    /* v[stack]; SP_ABSENT, SP_DECIMAL */
    size_t n, cap; /* stacks from n on: absent */
};
struct sp_decimal {
    uint32_t stack, metric, text;
};

struct sp_window {
    uint32_t id;         /* raw JSON: string or number */
    uint32_t start, end; /* number texts */
    uint32_t unit, extra_json;
    uint32_t first, n; /* slice of window_rows */
};
struct sp_window_row {
    uint32_t stack, layout, first, extra_json; /* first: in values */
};

/*
 * Lines of a source file as they were when they were embedded (model/source_pieces.h): of the file that
 * frames of this binary name. Texts are SP_STR_NONE where nothing is said.
 */
enum sp_source_flag {
    SP_SOURCE_NEWER = 1, /* the file was written after the binary */
    SP_SOURCE_OLDER = 2, /* it is known that it was not; neither: nobody knows */
};
struct sp_source_piece {
    int64_t lines; /* of the whole file */
    int64_t first; /* number of the first line of the text */
    uint32_t file; /* as frames have it */
    uint32_t path, comp_dir;
    uint32_t binary, build_id;
    uint32_t sha256; /* of the whole file, in hex */
    uint32_t text;   /* each line ends in a newline */
    uint32_t flags;  /* enum sp_source_flag */
    uint32_t extra_json;
    uint32_t zero; /* padding */
};

/* A record of a type that is not ours, as its minified JSON object. */
struct sp_extension {
    uint32_t json;
};

struct sp_samples;   /* model/samples.h */
struct sp_originals; /* model/originals.h */

struct sp_host {
    uint32_t name, os, arch, cpus; /* cpus: number text */
};

struct sp_header {
    uint32_t version;     /* "1.0" */
    uint32_t source_tool; /* "perf", ... */
    bool root_first;      /* frame_order of the file read, and of the file to write */
    bool ids_local;       /* stack_id_mode local */
    uint32_t time_start, time_end, time_unit, time_extra_json; /* number texts; all NONE: no time_range */
    uint32_t tool, command, tool_version, source_extra_json;   /* the `source` object */
    uint32_t extra_json;
    /* x_spaa: ours says how the file was made */
    bool has_x_spaa;
    enum sp_granularity frames;
    enum sp_ips ips;
    uint32_t id_name;         /* how the stacks' ids were made (model/identity.h); NONE: it is not known */
    uint32_t default_event;   /* by name, where the file says which; NONE: that with most samples */
    unsigned group_by;        /* enum sp_group bits */
    uint32_t clock, duration; /* duration: seconds, number text */
    struct sp_host host;
    uint64_t lost;         /* samples the profiler says it lost */
    uint64_t truncated;    /* stacks the profiler cut off */
    uint64_t unfinished;   /* stacks that end early because their callers could not be found */
    uint64_t throttled_ns; /* how long the kernel kept events from sampling */
    bool frames_filtered;  /* frames were left out: where stacks begin says nothing about their recording */
    uint32_t x_spaa_extra_json;
    bool stopped; /* it was read up to a moment only: `stop`, ns from the start (not written) */
    bool ended;   /* there was nothing after it */
    int64_t stop;
};

/* Whose time was recorded. */
enum sp_recorded_whom {
    SP_RECORDED_UNTOLD,
    SP_RECORDED_ALL,  /* all threads of the CPUs */
    SP_RECORDED_SOME, /* some threads or processes */
    SP_RECORDED_CPUS, /* all threads of some of the machine's CPUs: what they did on others is not known */
};

struct sp_profile {
    struct sp_diags *diags; /* borrowed */
    struct sp_strtab strs;
    struct sp_header header;
    struct timespec written;  /* the file it was read from, so not before its recording's end; 0: not known */
    SP_VEC(uint32_t) sources; /* of a merged profile: the inputs' names, sorted, as often as they came */

    SP_VEC(struct sp_event) events;
    SP_VEC(struct sp_metric) metrics;
    SP_VEC(struct sp_dso) dsos;
    SP_VEC(struct sp_function) functions;
    SP_VEC(struct sp_func_info) func_infos;
    SP_VEC(struct sp_frame) frames;
    SP_VEC(struct sp_thread) threads;
    SP_VEC(struct sp_process_fact) processes;
    SP_VEC(struct sp_image) images;
    SP_VEC(uint32_t) process_images; /* numbers of images */
    SP_VEC(struct sp_wait_fact) waits;
    SP_VEC(struct sp_context) contexts;
    SP_VEC(struct sp_label) labels;
    SP_VEC(struct sp_label_set) label_sets;
    SP_VEC(uint32_t) label_offers; /* keys of labels that could have been asked for: see sp_labels_ask */
    SP_VEC(struct sp_sample_labels) sample_labels;
    SP_VEC(struct sp_layout) layouts;
    SP_VEC(struct sp_weight_field) layout_fields;

    SP_VEC(struct sp_stack) stacks;
    SP_VEC(uint32_t) stack_frames;
    SP_VEC(struct sp_stack_id) ids; /* empty, or one per stack */
    struct sp_column columns[SP_METRICS_MAX];
    SP_VEC(struct sp_decimal) decimals;
    SP_VEC(struct sp_exclusive) exclusives;
    struct sp_rests rests;
    SP_VEC(struct sp_value) values;
    SP_VEC(struct sp_linked) linked;
    SP_VEC(uint32_t) linked_stacks;
    SP_VEC(struct sp_edge_list) edge_lists;
    SP_VEC(struct sp_edge) edges;
    SP_VEC(struct sp_stack_id) linked_ids; /* as in the file, beside linked_stacks; may be empty */

    SP_VEC(struct sp_window) windows;
    SP_VEC(struct sp_window_row) window_rows;
    SP_VEC(struct sp_extension) extensions;
    SP_VEC(struct sp_source_piece) source_pieces; /* in the order of model/source_pieces.h */
    SP_VEC(struct sp_dso_note) notes;             /* by DSO and lack, see sp_profile_note_of; may end early */
    struct sp_samples *samples;                   /* NULL: none */
    enum sp_recorded_whom recorded; /* as the reader was told; the event off-cpu keeps it (model/off_cpu.h) */
    bool off_cpu_stateless; /* stacks of `off-cpu` had no states when `wall` was made, which has them */
    bool samples_unasked;   /* while it is read: they are kept for the time off the CPU alone */
    struct sp_samples
        *switches; /* those; what sp_intervals_of takes where there are no samples; NULL: none */
    struct sp_originals *originals; /* NULL: none */
    bool twins;                     /* some functions are told apart by their start alone */
    uint64_t composed;              /* bytes of texts of parts that others share (model/extent.h) */
    bool holds_memory; /* the input has copies of what the process had in memory: its recorded stacks */

    struct sp_map dso_map, function_map, info_map, frame_map, thread_map, context_map, layout_map, stack_map,
        decimal_map, edge_map, wait_map, label_map, sample_label_map, event_map;
};

/* Short forms for reading. */
static inline struct sp_str sp_pstr(const struct sp_profile *p, uint32_t s)
{
    return sp_str_at(&p->strs, s);
}
static inline const struct sp_function *sp_frame_function(const struct sp_profile *p, uint32_t frame)
{
    return &p->functions.v[p->frames.v[frame].function];
}
static inline const struct sp_dso *sp_frame_dso(const struct sp_profile *p, uint32_t frame)
{
    return &p->dsos.v[sp_frame_function(p, frame)->dso];
}
static inline bool sp_frame_is_kernel(const struct sp_profile *p, uint32_t frame)
{
    return p->frames.v[frame].kind == SP_KERNEL || sp_frame_dso(p, frame)->is_kernel;
}
static inline const uint32_t *sp_stack_frames(const struct sp_profile *p, uint32_t stack)
{
    return p->stack_frames.v + p->stacks.v[stack].first;
}

#endif
