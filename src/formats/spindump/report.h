/* A report as it is read, line by line: what the parts of the reader share. See reader.c. */
#ifndef SP_SPINDUMP_REPORT_H
#define SP_SPINDUMP_REPORT_H

#include "base/arena.h"
#include "formats/common/hang/images.h"
#include "formats/common/hang/repeats.h"
#include "formats/common/hang/tree.h"
#include "formats/common/hang/wrapped.h"
#include "formats/spindump/frames.h"
#include "formats/spindump/spindump.h"

/* What the lines at hand belong to. */
enum spindump_zone {
    SPINDUMP_HEADER,
    SPINDUMP_HEAVIEST,
    SPINDUMP_PROCESS,
    SPINDUMP_THREAD,
    SPINDUMP_IMAGES,
    SPINDUMP_TAIL
};

struct spindump_block { /* a thread's rows, or those of a process without thread lines */
    struct sp_spindump_thread thread;
    bool has_thread;
    struct sp_hang_slice rows;
    size_t notes, notes_n; /* slice of the annotations */
    uint32_t number;       /* of the headers of its thread in this process, from 1 */
    bool shared;           /* there are several */
    bool idle;             /* a processor's thread for when there is nothing to do */
};

struct spindump_group { /* lines of the header without a blank one between */
    const char *at;     /* NULL: there is none yet */
    uint64_t line;
    size_t fields; /* length of the fields before */
};

struct spindump_wrapped {   /* a row that waits for the line below it, which may be its end */
    struct sp_hang_row row; /* line 0: none waits */
    bool kernel;
    struct sp_span line; /* its own */
    struct sp_hang_wrapped is;
};

struct spindump_served { /* a thread of the process with this stamp */
    int64_t tid;
    uint32_t stamp, headers;
    size_t first; /* block */
};

struct spindump_twins { /* processes of one number and name */
    int64_t pid;
    struct sp_span name;
    size_t n[2], seen[2]; /* processes, and microstackshots of some */
};

struct spindump_named { /* a process that others of its number and name are told apart from */
    int64_t pid;
    uint32_t name, instance;
    size_t seen;
};

struct spindump_reader {
    const struct sp_read_opts *opts;
    struct sp_diags *d;
    struct sp_profile *p;
    const char *start, *end;
    uint64_t line;
    enum spindump_zone zone, before_heaviest;
    bool after_blank;
    struct sp_spindump_frames frames;
    struct sp_hang_images images;
    struct sp_hang_tree tree;
    uint32_t event;
    struct spindump_wrapped wrapped;
    struct sp_arena joined; /* texts of wrapped rows, and of other lines */
    struct sp_hang_image_line image;
    uint64_t ended;             /* this line was read with the one above */
    struct sp_span thread_line; /* that is right above, put together; n 0: none is */
    struct spindump_group group;
    unsigned tab;          /* width */
    uint32_t first_column; /* of the first row of the thread at hand; SP_HANG_NO_COLUMN: it has none yet */
    uint32_t thread_column,
        root_offset;     /* of its line; from there to where first rows stand, the least so far */
    uint64_t split_line; /* that held several rows; 0: none did */
    struct sp_hang_cut cut;
    uint64_t addressed, bare;  /* rows with an address, and without */
    uint64_t ranged, unranged; /* likewise, with a range */

    /* the header */
    struct sp_buf fields, banner, heaviest;
    struct sp_span ips, version, os, arch, cpus, begin, finish, duration;
    bool timeline, in_banner;
    int64_t interval_ns;
    int64_t step; /* what a step of microstackshots stands for, where that is not time; 0 */
    bool step_bytes;

    /* the process at hand */
    bool in_process, powerstats;
    bool lines_lost;              /* of its threads: rows may be another's whose line is gone */
    int64_t num_threads, omitted; /* as it says; -1, 0: it does not */
    unsigned seen_keys;
    uint32_t stamp;
    struct sp_spindump_process at;
    struct sp_span started, uuid;
    uint32_t comm;
    struct sp_process_fact facts;
    struct sp_buf keys, extra, threads, annotations, not_understood;
    SP_VEC(uint32_t) process_images;
    SP_VEC(struct spindump_block) blocks;
    SP_VEC(struct sp_hang_row) rows;
    SP_VEC(struct sp_span) notes;
    const struct spindump_block *block; /* whose stacks are built */
    uint32_t labels;                    /* likewise */
    SP_VEC(struct spindump_served) served;
    struct sp_map by_thread;
    SP_VEC(struct spindump_twins) twins;
    struct sp_map by_pid;
    SP_VEC(struct spindump_named) named;
    struct sp_map by_instance;
    struct sp_hang_repeats repeats, thread_lines; /* lines: of a process */

    /* the tail */
    struct sp_buf tail;
    size_t tail_lines;
    uint64_t table_line; /* of the title of the table at hand */
    SP_VEC(struct sp_span) histogram;
    uint64_t processes, microstackshots; /* of these */
    bool first_nameless;                 /* the first thing is a thread's */
    struct sp_buf buf;
};

static inline struct sp_where sp_spindump_here(const struct spindump_reader *r, const char *at)
{
    return SP_AT_LINE(r->line, (uint64_t)(at - r->start));
}
/* fields.c */
/* Reports a line that was not understood, and keeps it in `keep`. */
void sp_spindump_not_understood(struct spindump_reader *r, struct sp_span line, struct sp_where at,
                                struct sp_buf *keep, const char *what);
/* "Key:   value", as the header and processes have them. */
bool sp_spindump_key_value(struct sp_span line, struct sp_span *key, struct sp_span *value);

bool sp_spindump_is_field(struct sp_span line); /* one that processes have */
/* Whether a line with a key has one that processes have, or one whose value stands where those of reports do.
 */
bool sp_spindump_is_key(struct sp_span line);
/* A line that begins something cannot be the end of a row, or of another one. */
bool sp_spindump_is_begun(struct sp_span line, struct sp_span text);

/*
 * wrapped.c: a line with the one below it, where a mail client broke it there: of a process (its number is
 * missing), of an annotation (`>` is). It is `line` as it stands where nothing is missing; false: no memory.
 */
bool sp_spindump_whole_process(struct spindump_reader *r, struct sp_span *line, bool *joined);
bool sp_spindump_whole_annotation(struct spindump_reader *r, struct sp_span *text, bool *joined);
/* A line of an image waits for the one below it, until that is its end (*taken) or something else. */
bool sp_spindump_image_line(struct spindump_reader *r, struct sp_span text);
spaa_status sp_spindump_image_end(struct spindump_reader *r, struct sp_span line, bool *taken);
bool sp_spindump_settle_image(struct spindump_reader *r);
/*
 * begin.c: lines of threads, and what is left of processes whose line is damaged.
 */
/* A thread's line, perhaps with its first row. *taken false: it is none, or there is nothing that it is of.
 */
spaa_status sp_spindump_thread_line(struct spindump_reader *r, struct sp_span line, struct sp_span text,
                                    bool *taken);
/* A line right below that of a thread: its end (*taken), or something else. */
spaa_status sp_spindump_thread_end(struct spindump_reader *r, struct sp_span line, bool *taken);
/* Begins a process without a name where a row follows the header. */
spaa_status sp_spindump_row_without_process(struct spindump_reader *r, struct sp_span line);
/* A line of the header: where the lines without a blank one between begin. */
void sp_spindump_note_group(struct spindump_reader *r, struct sp_span line);

/* rows.c */
uint32_t sp_spindump_indent(unsigned tab, struct sp_span line); /* the column of what it begins with */
bool sp_spindump_is_row(struct sp_span line); /* with an address, as rows of reports have it */
/* A line that is a row: it waits. *taken false: it is none. */
spaa_status sp_spindump_row(struct spindump_reader *r, struct sp_span line, bool *taken);
/* A line below a row that waits: its end (*taken), or else the row is added. */
spaa_status sp_spindump_row_end(struct spindump_reader *r, struct sp_span line, bool *taken);
spaa_status sp_spindump_settle_row(struct spindump_reader *r);
/* "<process frontmost, …", perhaps without its end; not "<0.001s". */
static inline bool sp_spindump_begins_annotation(struct sp_span s)
{
    return s.n > 2 && *s.p == '<' && (s.p[1] | 0x20) >= 'a' && (s.p[1] | 0x20) <= 'z' &&
           !sp_spindump_truncated(s);
}
static inline bool sp_spindump_is_annotation(struct sp_span s)
{
    return s.n > 2 && *s.p == '<' && s.p[s.n - 1] == '>' && !sp_spindump_truncated(s);
}

/*
 * header.c: what stands before the first process: fields by name, the banner between rows of dashes, the
 * `.ips` line. All of them return false, or SPAA_ERR_NOMEM, where there is no memory.
 */
bool sp_spindump_header_line(struct spindump_reader *r, struct sp_span line);
/* When all lines were read. */
spaa_status sp_spindump_finish_header(struct spindump_reader *r);
/* "2026-02-02 23:22:34.999 -0800" in nanoseconds since 1970. */
bool sp_spindump_date(struct sp_span s, int64_t *ns);

/*
 * process.c: a process: its line, its keys in any order, its threads' rows, its images. Rows wait until the
 * images below them are known, since these tell which file a frame's image is.
 *
 * Where a line that begins something is damaged, what follows is not counted for what came before: it
 * gets a thread or a process without a number.
 */
/* Ends the one before; `rest`: its line behind the key. */
spaa_status sp_spindump_begin_process(struct spindump_reader *r, struct sp_span rest, bool powerstats);
void sp_spindump_process_line(struct spindump_reader *r, struct sp_span line);
/* t NULL: rows without a thread's header. */
bool sp_spindump_begin_thread(struct spindump_reader *r, const struct sp_spindump_thread *t);
spaa_status sp_spindump_end_process(struct spindump_reader *r);

/*
 * stacks.c: of all of them false, or SPAA_ERR_NOMEM, where there is no memory.
 */
bool sp_spindump_prepare(struct spindump_reader *r);
/* Before the stacks of a process: which of its headers are of one thread. */
bool sp_spindump_number_blocks(struct spindump_reader *r);
/* The rows of one thread as stacks. */
spaa_status sp_spindump_block_stacks(struct spindump_reader *r, const struct spindump_block *b);

/*
 * instances.c: which processes have their number and name in common, and what stands there again, before any
 * is read; then, which of them is at hand. False: no memory.
 */
bool sp_spindump_count_processes(struct spindump_reader *r);
bool sp_spindump_instance(struct spindump_reader *r);

/*
 * microstackshots.c: the value of the key `Steps`, and when all was read, the weights that follow from it.
 */
void sp_spindump_step(struct spindump_reader *r, struct sp_span value);
spaa_status sp_spindump_weigh_steps(struct spindump_reader *r);

/*
 * tail.c: what follows the processes: I/O histograms and statistics are taken apart; everything else is kept
 * as lines, whatever it looks like.
 */
bool sp_spindump_tail_begins(struct sp_span line);
bool sp_spindump_tail_line(struct spindump_reader *r, struct sp_span line);
bool sp_spindump_finish_tail(struct spindump_reader *r);

#endif
