/*
 * Parts of the spindump format, the text report of hangs on macOS. See reader.c and writer.c.
 */
#ifndef SP_SPINDUMP_H
#define SP_SPINDUMP_H

#include "formats/format.h"
#include "formats/hang.h"

/*
 * frame_text.c: what stands behind a row's count.
 */
struct sp_sd_frame {
    struct sp_span symbol; /* "???" where unknown */
    bool has_off, has_image_off;
    uint64_t off, image_off;
    struct sp_span srcline; /* "file:line[,col]" */
    struct sp_span image;   /* n 0: none */
    struct sp_span address; /* "0x1f" or "0"; n 0: none */
    uint64_t address_value; /* 0 where it is none */
    struct sp_span state;   /* without its parentheses; p NULL: none */
};

/* Cuts a range of samples (" 1-37", " 44") off the end of a row; false: there is none. */
bool sp_sd_cut_range(struct sp_span *s, int64_t *from, int64_t *to);
void sp_sd_parse_frame(struct sp_span s, struct sp_sd_frame *f);
/* The word of x_state for a state's text (p NULL: none is stated). */
const char *sp_sd_state(struct sp_span text);
/* The text that a word of x_state is written as where the profile has none; NULL: none is written. */
const char *sp_sd_state_text(struct sp_str word);
bool sp_sd_truncated(struct sp_span symbol); /* "<truncated backtrace>" and the like */

/*
 * thread_line.c: the header of a thread.
 */
struct sp_sd_thread {
    int64_t tid;                 /* SP_ABSENT: <multiple> */
    struct sp_span id, more_ids; /* "0xA", "0xB" of "0xA,0xB" */
    struct sp_span queue, name, samples, range, priority, base, cpu_time, idle_time, last_ran, ios, rest;
    bool name_changed;
    int64_t nsamples; /* -1: not stated */
};

bool sp_sd_parse_thread(struct sp_span s, struct sp_sd_thread *t);
/* Its members of x_spindump. */
void sp_sd_thread_members(struct sp_buf *b, const struct sp_sd_thread *t);

/*
 * frames.c: which frames the texts of rows are.
 */
struct sp_sd_meaning { /* what a text says, beside struct sp_hang_text */
    struct sp_span image_name;
    uint64_t address;
    uint32_t image;              /* the one that the frame was made with; SP_NONE: none */
    uint32_t state, state_extra; /* of the context of samples that end here: x_state, and its text */
    bool truncated;
};

struct sp_sd_frames {
    struct sp_profile *p;
    enum sp_granularity frames;
    struct sp_hang_images *images;
    struct sp_hang_texts texts;
    SP_VEC(struct sp_sd_meaning) meanings;
    struct sp_buf buf;
};

void sp_sd_frames_free(struct sp_sd_frames *m);
/* Makes a text's frame in the process with this stamp (from 1 on). False: no memory. */
bool sp_sd_bind(struct sp_sd_frames *m, uint32_t text, uint32_t stamp);

/*
 * The reader's state. Zones are what the lines at hand belong to.
 */
enum sp_sd_zone { SP_SD_HEADER, SP_SD_HEAVIEST, SP_SD_PROCESS, SP_SD_THREAD, SP_SD_IMAGES, SP_SD_TAIL };

struct sp_sd_block { /* a thread's rows, or those of a process without thread lines */
    struct sp_sd_thread thread;
    bool has_thread;
    size_t first, n; /* rows */
    uint64_t line;
    size_t notes, notes_n; /* slice of the annotations */
};

struct sp_sd_reader {
    const struct sp_read_opts *opts;
    struct sp_diags *d;
    struct sp_profile *p;
    const char *start, *end;
    uint64_t line;
    enum sp_sd_zone zone, before_heaviest;
    bool after_blank;
    struct sp_sd_frames frames;
    struct sp_hang_images images;
    struct sp_hang_tree tree;
    uint32_t event, metric;

    /* the header */
    struct sp_buf fields, banner, heaviest;
    struct sp_span ips, version, os, arch, cpus, begin, finish, duration, model;
    bool timeline, in_banner;
    int64_t interval_ns, begin_ns;

    /* the process at hand */
    bool in_process, powerstats, suspended;
    unsigned seen_keys;
    uint32_t stamp;
    struct sp_span name, bundle, unique_pid;
    int64_t pid;
    uint32_t comm;
    uint64_t process_line;
    struct sp_buf keys, extra, threads, annotations, not_understood;
    SP_VEC(uint32_t) process_images;
    SP_VEC(struct sp_sd_block) blocks;
    SP_VEC(struct sp_hang_row) rows;
    SP_VEC(struct sp_span) notes;
    int64_t tid; /* of the block whose stacks are built */

    /* the tail */
    struct sp_buf tail;
    size_t tail_lines;
    uint64_t table_line; /* of the title of the table at hand */
    SP_VEC(struct sp_span) histogram;
    uint64_t processes;
    struct sp_buf buf;
};

static inline struct sp_where sp_sd_here(const struct sp_sd_reader *r, const char *at)
{
    return SP_AT_LINE(r->line, (uint64_t)(at - r->start));
}
/* Reports a line that was not understood, and keeps it in `keep`. */
void sp_sd_not_understood(struct sp_sd_reader *r, struct sp_span line, struct sp_buf *keep, const char *what);

/* header.c */
bool sp_sd_header_line(struct sp_sd_reader *r, struct sp_span line);
spaa_status sp_sd_finish_header(struct sp_sd_reader *r);
/* "key:   value" of a line; false: none. */
bool sp_sd_key_value(struct sp_span line, struct sp_span *key, struct sp_span *value);

/* process.c */
bool sp_sd_begin_process(struct sp_sd_reader *r, struct sp_span rest, bool powerstats);
void sp_sd_process_line(struct sp_sd_reader *r, struct sp_span line);
bool sp_sd_begin_thread(struct sp_sd_reader *r, const struct sp_sd_thread *t); /* NULL: no line told it */
spaa_status sp_sd_end_process(struct sp_sd_reader *r);
bool sp_sd_prepare(struct sp_sd_reader *r);

/* tail.c */
bool sp_sd_tail_begins(struct sp_span line);
bool sp_sd_tail_line(struct sp_sd_reader *r, struct sp_span line);
bool sp_sd_finish_tail(struct sp_sd_reader *r);

/* probe.c */
int sp_sd_probe(const unsigned char *p, size_t n, bool whole, const char **reason);
bool sp_sd_is_tailspin(const unsigned char *p, size_t n);

spaa_status sp_sd_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                       struct sp_profile *p);
spaa_status sp_sd_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out);

#endif
