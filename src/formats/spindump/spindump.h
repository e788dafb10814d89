/*
 * Parts of the spindump format, the text report of hangs on macOS. See reader.c and writer.c.
 */
#ifndef SP_SPINDUMP_H
#define SP_SPINDUMP_H

#include "formats/format.h"
#include "formats/hang.h"
#include "formats/verbatim.h"

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
struct sp_sd_head {
    int64_t tid;             /* SP_ABSENT: <multiple> */
    struct sp_span id, tail; /* "0xA"; what follows: equal in most threads of a report */
};

struct sp_sd_thread {        /* what a tail says */
    struct sp_span more_ids; /* of "0xA,0xB" */
    struct sp_span queue, name, samples, range, priority, base, cpu_time, idle_time, last_ran, ios, rest;
    bool name_changed;
    int64_t nsamples; /* -1: not stated */
};

bool sp_sd_thread_head(struct sp_span s, struct sp_sd_head *h);
void sp_sd_thread_tail(const struct sp_sd_head *h, struct sp_sd_thread *t);
/* Its members of x_spindump. */
void sp_sd_thread_members(struct sp_buf *b, const struct sp_sd_thread *t);

/*
 * bodies.c: distinct texts of frames, parsed once, and which frame each is in the process at hand.
 */
struct sp_sd_body { /* small, since every row asks for one */
    const char *p;
    uint32_t n;
    uint32_t next;  /* the body that followed last time: most likely it does so again */
    uint32_t stamp; /* the process that `frame` holds for */
    uint32_t frame; /* SP_NONE: none yet */
    uint32_t state; /* string; SP_STR_NONE: none stated */
    uint32_t image; /* the one that the frame was made with */
    uint32_t fresh; /* while there is no frame: its number in `fresh` */
    bool kernel;
    bool truncated : 1;
    bool unbound : 1; /* no image decides which frame it is */
    bool held : 1;    /* its image holds its address: it is the right one wherever it is loaded */
};

struct sp_sd_body_image {
    struct sp_span name;
    uint64_t address;
};

/* What most frames say beside their fields: their address. */
#define SP_SD_MORE "\"x_spindump\":{\"address\":\""

struct sp_sd_fresh { /* a body that came first in the process at hand, parsed */
    struct sp_sd_frame f;
    uint64_t name, more; /* hashes of strings that its frame will need */
    char more_text[sizeof SP_SD_MORE + 24];
    size_t more_n; /* 0: it is another, or none */
};

struct sp_sd_making { /* a frame whose function is to be found, then itself */
    uint32_t body, name, dso;
    struct sp_frame frame;
    uint64_t hash;
};

struct sp_sd_bodies {
    struct sp_profile *p;
    enum sp_granularity frames;
    struct sp_hang_images *images;
    SP_VEC(struct sp_sd_body) v;
    SP_VEC(struct sp_sd_body_image) image; /* beside v */
    SP_VEC(struct sp_sd_fresh) fresh;
    SP_VEC(struct sp_sd_making) making;
    uint32_t last; /* asked for; SP_NONE */
    struct sp_map map;
    struct sp_buf buf;
};

void sp_sd_bodies_free(struct sp_sd_bodies *b);
uint32_t sp_sd_body(struct sp_sd_bodies *b, struct sp_span text, bool kernel); /* SP_NONE: no memory */
/* The one that followed the last one before; SP_NONE. */
static inline uint32_t sp_sd_expected_body(const struct sp_sd_bodies *b)
{
    return b->last == SP_NONE ? SP_NONE : b->v.v[b->last].next;
}
/*
 * The frames of a thread's rows, which hold bodies, in the process with this stamp, and their states as tags.
 * Adds up the samples in truncated stacks. False: no memory.
 */
bool sp_sd_bind_rows(struct sp_sd_bodies *b, struct sp_hang_row *rows, size_t n, uint32_t stamp,
                     uint64_t *truncated);
/* The same of rows that are one stack: its frames before `end`, root last, and the state of the last row. */
bool sp_sd_bind_stack(struct sp_sd_bodies *b, const struct sp_hang_row *rows, size_t n, uint32_t stamp,
                      uint32_t *end, uint32_t *state, uint64_t *truncated);
/* The process ends: all of its bodies have frames. */
static inline void sp_sd_bodies_settled(struct sp_sd_bodies *b)
{
    b->fresh.n = 0;
}

/*
 * The reader's state. Zones are what the lines at hand belong to.
 */
enum sp_sd_zone { SP_SD_HEADER, SP_SD_HEAVIEST, SP_SD_PROCESS, SP_SD_THREAD, SP_SD_IMAGES, SP_SD_TAIL };

struct sp_sd_block { /* a thread's rows, or those of a process without thread lines */
    struct sp_sd_head head;
    bool has_thread;
    int64_t nsamples; /* as stated; -1: not, or the tail was not asked yet */
    size_t first, n;  /* rows */
    uint64_t line;
    size_t notes, notes_n; /* slice of the annotations */
};

struct sp_sd_tail { /* of a thread's line, parsed before */
    struct sp_span text;
    int64_t nsamples;
    uint32_t more; /* for its record, where there are no annotations */
};

/*
 * A key that processes have, with its colon and the blank behind it: what else may stand in such a line does
 * not change what it is.
 */
struct sp_sd_key {
    struct sp_span text;
    unsigned known; /* see known_key */
};

struct sp_sd_state_word {
    uint32_t state, word, more; /* its text; x_state and the rest of the context (word 0: an empty place) */
};

struct sp_sd_reader {
    const struct sp_read_opts *opts;
    struct sp_diags *d;
    struct sp_profile *p;
    const char *start, *end;
    uint64_t line;
    enum sp_sd_zone zone, before_heaviest;
    bool after_blank;
    struct sp_sd_bodies bodies;
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
    struct sp_sd_key usual_keys[32]; /* in the order in which they came */
    unsigned nusual_keys, next_key;  /* next_key: of those, what is expected */
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
    struct {
        uint32_t state, context;
    } contexts[8];
    unsigned ncontexts;
    struct sp_sd_state_word words[64];
    const struct sp_sd_state_word *last_word; /* of the context before */
    struct sp_sd_tail tails[256];             /* by hash */
    struct sp_sd_tail *last_tail[2];          /* of a process' first thread, and of the others */
    struct sp_span usual_tail[2];             /* the same of the lines as they came */

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
/* Takes the line at p if it has the key that is expected next; where the line after it begins, or NULL. */
const char *sp_sd_usual_field(struct sp_sd_reader *r, const char *p);
/* The same with a thread's line whose tail is as usual, which is then in *h. */
const char *sp_sd_usual_thread(const struct sp_sd_reader *r, const char *p, struct sp_sd_head *h);
bool sp_sd_begin_thread(struct sp_sd_reader *r, const struct sp_sd_head *h); /* NULL: no line told it */
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
