/*
 * Parts of the reader of `perf script` text, in the order a line meets them: comments (`# ...`),
 * sample lines, frame lines, stacks. See reader.c for the format.
 */
#ifndef SP_PERF_SCRIPT_H
#define SP_PERF_SCRIPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/profile.h"
#include "model/sched_events.h"
#include "symbols/symbols.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of text, without its end. */
struct sp_ps_text {
    const char *p;
    size_t n;
};

/*
 * sample_line.c: "comm pid/tid [cpu] time: period event: rest". Texts point into the line.
 */
struct sp_ps_sample {
    struct sp_ps_text comm;
    struct sp_ps_text who; /* comm up to the end of pid/tid, as printed: a key for caches */
    int64_t pid, tid, cpu; /* SP_ABSENT where not printed; a single number is the tid */
    bool timed;
    unsigned digits; /* of the fraction, as printed */
    int64_t ns;
    bool has_period;
    int64_t period;
    struct sp_ps_text event; /* without its colon; p NULL: none */
    struct sp_ps_text rest;  /* what follows the event, trimmed */
};

/* To how many columns perf pads numbers: a tid, a period, an address or a weight. */
enum { SP_PS_TID_COLUMNS = 5, SP_PS_PERIOD_COLUMNS = 10, SP_PS_WIDE_COLUMNS = 16 };
/* And a comm, on lines that end with their frame. */
enum { SP_PS_COMM_COLUMNS = 16 };
enum { SP_PS_TID_DIGITS = 7 /* of PID_MAX_LIMIT */ };

static inline bool sp_ps_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether a comm that is justified on the right, where lines have no call chain below them, ends at p. */
static inline bool sp_ps_fills_comm(const char *line, const char *p)
{
    return sp_ps_blank(*line) && p == line + SP_PS_COMM_COLUMNS;
}

enum {
    SP_PS_TIMELESS = 1, /* lines with an event and no time too, which are easily mistaken */
    SP_PS_NO_TID = 2,   /* the text has no tid: a number there is of a thread's name */
    SP_PS_NO_CPU = 4,   /* and no CPU */
    SP_PS_NAMELESS = 8  /* lines without a comm too that end with an address and a name */
};

/* False if the line [p, end) is no sample line; `how`: of the values above. */
bool sp_ps_sample_line(const char *p, const char *end, unsigned how, struct sp_ps_sample *s);
/*
 * sparse_line.c: the same where there is neither time nor number before an event, perhaps nothing, but frames
 * on the line [p, eol) or on what follows it, [next, end). To be asked where the input has no fuller lines.
 * Fills *s in any case.
 */
bool sp_ps_sparse_line(const char *p, const char *eol, const char *next, const char *end, unsigned how,
                       struct sp_ps_sample *s);
/* The same of a sample without frames in a text of call chains, which has a blank line behind it. `tids`:
 * others of the text have a tid. */
bool sp_ps_bare_line(const char *p, const char *eol, const char *next, const char *end, unsigned how,
                     bool tids, struct sp_ps_sample *s);
/* Where "PERF_RECORD_..." begins; NULL. */
const char *sp_ps_record_at(const char *p, const char *end);
/* A record of another kind where there is no time: "bash  1023 PERF_RECORD_FORK(1025:1025):(1023:1023)". */
bool sp_ps_record_line(const char *p, const char *eol, struct sp_ps_sample *s);
/* Whether call chains stand at p as perf prints them: a tab, and an address of as many columns. */
bool sp_ps_padded_frame(const char *p, const char *end);
/* Whether a frame of a recording without callchains is all of t: an address of as many columns, a name. */
bool sp_ps_flat_frame(struct sp_ps_text t, const char *line);

/*
 * columns.c: which columns perf printed, of the sample lines of [p, end): all of a text have the same.
 */
struct sp_ps_columns {
    unsigned how; /* SP_PS_NO_TID, SP_PS_NO_CPU; and SP_PS_NAMELESS: it was said to be perf's */
    bool tids;    /* some have a tid */
    bool known;   /* there is a sample */
    bool sparse;  /* lines are told by the call chains below them alone */
};

struct sp_ps_columns sp_ps_columns(const char *p, const char *end);

/*
 * frame_line.c: "addr symbol+0xoff (dso)".
 */
struct sp_ps_frame {
    uint64_t ip;
    struct sp_ps_text symbol; /* n 0: unknown */
    struct sp_ps_text dso;    /* as printed, " (deleted)" and "+0xoff" stripped; p NULL: none printed */
    bool has_symoff, has_dsoff, inlined;
    bool deleted;           /* " (deleted)": what its path names now is another file */
    uint64_t symoff, dsoff; /* dsoff: of -F +dsoff, the offset in the file */
};

bool sp_ps_frame_line(const char *p, const char *end, struct sp_ps_frame *f);
/*
 * How much of a line there is before the branches that `-F +brstack`, `+brstackoff` and `+brstacksym` print
 * behind the frame.
 */
size_t sp_ps_before_branches(const char *p, const char *end);
/* The same of a source line under the frame: "main.c:12main+0x14/…". */
size_t sp_ps_source_before_branches(const char *p, const char *end);
/* Whether it has some: below a call chain they are a line of their own. */
bool sp_ps_has_branches(const char *p, const char *end);
/*
 * The same of text whose blanks at the margin were trimmed. There a frame is told from a line that opens a
 * sample by what follows the address; the caller has seen that the line is no sample line.
 */
bool sp_ps_trimmed_frame(const char *p, const char *end);
/* What `-F +srcline` prints under a frame, without the two blanks before it: "file:line", "libc.so.6[27b25]".
 */
bool sp_ps_trimmed_source(const char *p, const char *end);

/*
 * line_fields.c: the frame among the fields of a line, and lines of registers or instructions below frames.
 */
struct sp_ps_text sp_ps_frame_of_line(struct sp_ps_text rest);
bool sp_ps_is_more(const char *p, const char *end);

struct sp_ps_dso {
    struct sp_ps_text name; /* the model's: "[kernel]", "[jit]", "[anon]", or as printed */
    bool kernel, unknown, jit;
    bool is_file; /* a program, a library: offsets in it mean something */
    bool renamed; /* the printed name cannot be told from the model's */
};

void sp_ps_classify_dso(struct sp_ps_text dso, uint64_t ip, struct sp_ps_dso *out);
/* How many of the names in "outer->inlined->deeper" (perf maps of Java) there are; 1: not such a name. */
size_t sp_ps_jit_parts(struct sp_ps_text symbol);

/*
 * stacks.c: from the text of a stack to its number in the profile, the texts of its frames cached.
 */
struct sp_ps_entry {
    const char *text;
    uint32_t n;
    uint32_t first, frames; /* slice of pool */
};

struct sp_ps_name {
    uint32_t raw, func;
};

struct sp_ps_piece {
    struct sp_ps_frame frame;
    struct sp_ps_text srcline;
};

struct sp_ps_stacks {
    struct sp_profile *p;
    struct sp_diags *d;
    enum sp_granularity frames;
    struct sp_symbols *symbols;
    struct sp_arena entry_text;
    SP_VEC(struct sp_ps_entry) entries;
    SP_VEC(struct sp_ps_name) names;
    struct sp_map entry_map, name_map;
    SP_VEC(uint32_t) pool;             /* frames of entries */
    SP_VEC(uint32_t) scratch;          /* frames of the stack being built */
    SP_VEC(struct sp_ps_piece) pieces; /* of the entry being parsed */
    struct sp_buf buf;
    bool dso_seen; /* frames of this input name their DSO */
    uint64_t bad;  /* lines reported */
};

/* Where a stack's text stands and what is known about it. */
struct sp_ps_place {
    uint64_t offset, line; /* of its first byte */
    bool one_line;         /* it stands on the sample line itself */
    bool at_end;           /* the input ends with it */
};

spaa_status sp_ps_stacks_init(struct sp_ps_stacks *st, struct sp_profile *p, enum sp_granularity frames,
                              struct sp_diags *d);
void sp_ps_stacks_free(struct sp_ps_stacks *st);
/* The stack of a text (its lines with their ends) in a context; *lines is how many lines it has. */
spaa_status sp_ps_stack(struct sp_ps_stacks *st, struct sp_ps_text text, uint32_t context,
                        const struct sp_ps_place *at, uint32_t *stack, uint32_t *lines);

/*
 * comments.c: what the header of `perf script --header` says.
 */
struct sp_ps_event_note {
    uint32_t name; /* string */
    bool freq;
    uint64_t value; /* of { sample_period, sample_freq }; 0: not stated */
};

struct sp_ps_comments {
    SP_VEC(struct sp_ps_event_note) events;
    struct sp_buf lines; /* JSON strings with commas */
};

bool sp_ps_comment(struct sp_ps_comments *c, struct sp_profile *p, const char *line, size_t n);
void sp_ps_comments_free(struct sp_ps_comments *c);

/*
 * counts.c: what samples are counted as.
 */
struct sp_ps_event { /* as printed, and what its samples showed */
    struct sp_ps_text raw;
    uint32_t number;     /* in the profile */
    bool probe, off_cpu; /* off_cpu: what `perf record --off-cpu` adds, stacks at which threads waited */
    bool with_period, without_period;
    enum sp_sched_kind sched;
};

struct sp_ps_who { /* a thread as printed */
    struct sp_ps_text raw;
    int64_t pid, tid;
    uint32_t comm;
};

struct sp_ps_counts {
    struct sp_profile *p;
    struct sp_diags *d;
    unsigned group_by;
    const struct sp_ps_comments *comments;
    struct sp_arena text;
    SP_VEC(struct sp_ps_event) events;
    SP_VEC(struct sp_ps_who) whos;
    struct sp_map who_map, event_map;
    uint32_t samples, period, count; /* metrics, SP_NONE until something is counted in them */
    uint32_t last_event, last_who;   /* of the sample before, and its context */
    struct sp_context last;
    uint32_t context_number;
    bool any, any_time, any_pid, any_tid, any_cpu, any_switch, any_off_cpu;
    bool any_state; /* contexts of sched_switch have one */
    int64_t first_ns, last_ns;
    unsigned first_digits, last_digits;
};

bool sp_ps_is_probe(struct sp_ps_text event);
/* A record of another kind, `PERF_RECORD_...`, which is printed as a sample is. */
bool sp_ps_is_side_band(const struct sp_ps_sample *s);
void sp_ps_counts_init(struct sp_ps_counts *c, struct sp_profile *p, unsigned group_by,
                       struct sp_ps_comments *comments, struct sp_diags *d);
void sp_ps_counts_free(struct sp_ps_counts *c);
/* The event and the context of a sample. */
spaa_status sp_ps_context(struct sp_ps_counts *c, const struct sp_ps_sample *s, uint32_t *event,
                          uint32_t *context);
/* Adds a sample to its stack, and to the raw samples where they are kept. */
spaa_status sp_ps_count(struct sp_ps_counts *c, const struct sp_ps_sample *s, uint32_t event, uint32_t stack,
                        uint64_t line);
/* Layouts and header, when all samples were counted. */
spaa_status sp_ps_finish(struct sp_ps_counts *c, enum sp_granularity frames);

/*
 * trace_text.c: appends the member `trace_fields` for the text of an event of the scheduler, of a record
 * `x_labels`; false: the text is none.
 */
bool sp_ps_trace_fields(enum sp_sched_kind kind, struct sp_ps_text text, struct sp_buf *b);

/* Why a thread left the CPU, by the text of sched_switch. */
enum sp_task_state sp_ps_switch_state(struct sp_ps_text text);

/* probe.c */
int sp_ps_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

#endif
