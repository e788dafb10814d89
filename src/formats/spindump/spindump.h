/*
 * Parts of the spindump format, the text report of hangs on macOS. See reader.c and writer.c.
 */
#ifndef SP_SPINDUMP_H
#define SP_SPINDUMP_H

#include "formats/common/hang/line.h"
#include "formats/format.h"

/*
 * frame_text.c: what stands behind a row's count.
 */
struct sp_spindump_frame {
    struct sp_span symbol; /* "???" where unknown */
    bool has_off, has_image_off;
    uint64_t off, image_off;
    struct sp_span srcline; /* "file:line[,col]" */
    struct sp_span image;   /* n 0: none */
    struct sp_span address; /* "0x1f" or "0"; n 0: none */
    uint64_t address_value; /* 0 where it is none */
    struct sp_span state;   /* without its parentheses; p NULL: none */
    bool torn;              /* the text ends in the middle: a state may have stood there */
};

/* Cuts a range of samples (" 1-37", " 44") off the end of a row; false: there is none. */
bool sp_spindump_cut_range(struct sp_span *s, int64_t *from, int64_t *to);
void sp_spindump_parse_frame(struct sp_span s, struct sp_spindump_frame *f);
bool sp_spindump_truncated(struct sp_span symbol); /* "<truncated backtrace>" and the like */
/* Cuts " [0x1f]" or " [0]" off the end. */
bool sp_spindump_cut_address(struct sp_span *s, struct sp_span *address);

/*
 * torn.c: rows that are damaged. sp_spindump_parse_frame of what is whole of a text that may end too early.
 */
void sp_spindump_parse_row(struct sp_span s, struct sp_spindump_frame *f);
/* Cuts off a range in which a row ends too early; false: it does not. */
bool sp_spindump_cut_torn_range(struct sp_span *s); /* " 1-", " 37-37" */
/* Where another row begins in the same line, its blanks; NULL: none does. */
const char *sp_spindump_second_row(struct sp_span s);
/* The same of the line of a thread, with its first row. */
const char *sp_spindump_row_behind(struct sp_span s);

/*
 * state.c
 */
/* The word of x_state for a state's text (p NULL: none is stated, which means that it waited); NULL: it has
 * none. */
const char *sp_spindump_state(struct sp_span text);
/* Whether it is one of the usual words but for one letter. */
bool sp_spindump_state_is_damaged(struct sp_span text);
/* What is written, by ours, of samples of which it is not known whether they ran or waited. */
#define SP_SPINDUMP_UNSTATED "state not stated"
/* The text that a word of x_state is written as where the profile has none; NULL: none is written. */
const char *sp_spindump_state_text(struct sp_str word);
/*
 * Whose thread is idle is not said by the state alone: ", state IDLE" behind a text says so where no header
 * of a thread does. Cuts it off; false: it is not there.
 */
#define SP_SPINDUMP_IDLE ", state IDLE"
bool sp_spindump_cut_idle(struct sp_span *text);

/*
 * process_line.c: the line of a process, behind its key.
 */
struct sp_spindump_process {
    struct sp_span name, bundle, unique_pid;
    struct sp_span rest; /* what stands behind the pid; p NULL: nothing */
    int64_t pid;         /* SP_ABSENT */
    bool suspended;
};
void sp_spindump_parse_process(struct sp_span s, struct sp_spindump_process *x);
/* The last "[digits]" of s, n bytes; NULL: none. */
const char *sp_spindump_last_pid(struct sp_span s, size_t *n);

/*
 * thread_line.c: the header of a thread.
 */
struct sp_spindump_thread {
    int64_t tid;                 /* SP_ABSENT: <multiple> */
    struct sp_span id, more_ids; /* "0xA", "0xB" of "0xA,0xB" */
    struct sp_span queue, name, samples, range, priority, base, cpu_time, idle_time, last_ran, ios, rest;
    bool name_changed;
    int64_t nsamples; /* -1: not stated */
};

bool sp_spindump_parse_thread(struct sp_span s, struct sp_spindump_thread *t);
/* Its members of x_spindump; `facts`: also what records of threads have fields for. */
void sp_spindump_thread_members(struct sp_buf *b, const struct sp_spindump_thread *t, bool facts);
/* Sets those fields; false: no memory. */
bool sp_spindump_thread_facts(struct sp_profile *p, const struct sp_spindump_thread *t, struct sp_thread *to);

/*
 * format.c
 */
int sp_spindump_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

/*
 * reader.c, writer.c
 */
/* A binary trace, which spindump must decode. */
bool sp_spindump_is_tailspin(const unsigned char *p, size_t n);
/* A report of a crash, as text or as JSON, which holds no samples. */
bool sp_spindump_is_crash(const char *p, size_t n);
spaa_status sp_spindump_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                             struct sp_profile *p);
spaa_status sp_spindump_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                              struct sp_output *out);

#endif
