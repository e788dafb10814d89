/* What the writers of hang reports share: which stacks a report holds, and the pieces that records keep. */
#ifndef SP_HANG_WRITE_H
#define SP_HANG_WRITE_H

#include "formats/common/hang/images.h"
#include "formats/common/hang/line.h"
#include "formats/common/hang/render.h"
#include "formats/format.h"
#include "json/find.h"

/* The stacks of one thread (or of what has none) of one process; of each of its headers, where there are
 * several. */
struct sp_hang_group {
    int64_t pid, tid;
    uint32_t comm;
    uint32_t instance; /* string of the profile: which process of this number and name */
    uint32_t header;   /* from 1 */
    size_t first, n;   /* slice of the writer's stacks */
    uint32_t owner;    /* 1 + the process that names its thread, of the table; 0: none does */
    bool written;
};

struct sp_hang_whose { /* what a context says beside its members */
    uint32_t instance, header;
};

struct sp_hang_writer {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_output *out;
    const char *x_key; /* "x_spindump" */
    /* The text of a frame, and of the state of a context (SP_STR_NONE: none); SP_STR_FAIL: no memory. */
    uint32_t (*text_of)(struct sp_hang_writer *w, uint32_t frame);
    uint32_t (*state_of)(struct sp_hang_writer *w, uint32_t context);
    bool no_states; /* the format has none */
    uint32_t event, metric;
    bool counts; /* the numbers are counts of samples, each some time apart */
    bool ours;   /* the profile was a report of this format */
    struct sp_strtab texts;
    uint32_t *frame_text;        /* by frame: its text; SP_STR_NONE: not made yet */
    struct sp_hang_whose *whose; /* by context */
    uint32_t *context_state;     /* by context: its state's text; SP_NONE: not asked yet */
    SP_VEC(struct sp_hang_stack) stacks;
    SP_VEC(uint32_t) paths;
    SP_VEC(struct sp_hang_segment) ranges;
    SP_VEC(struct sp_hang_group) groups; /* by pid, comm, instance, tid, header */
    struct sp_map threads;               /* by tid */
    struct sp_hang_render render;
    struct sp_buf buf;
    uint64_t stackless;
};

/*
 * A report of the format: what `put` writes of one event (false: no memory), when the groups, their stacks
 * and texts are there. Of *w the caller sets what stands above `event`.
 */
spaa_status sp_hang_write(struct sp_hang_writer *w, const char *format, const struct sp_write_opts *opts,
                          bool (*put)(struct sp_hang_writer *w));

/* Whether two groups are of one process. */
static inline bool sp_hang_same_process(const struct sp_hang_group *a, const struct sp_hang_group *b)
{
    return a->pid == b->pid && a->comm == b->comm && a->instance == b->instance;
}
/* The first group of a process; NULL: it has none. */
struct sp_hang_group *sp_hang_first_group(struct sp_hang_writer *w, const struct sp_process_fact *x);
/* What a record's list says of a thread: a number, or an object with `id_key` and perhaps `header`. */
struct sp_hang_listed {
    int64_t tid; /* SP_ABSENT */
    uint32_t header;
};
struct sp_hang_listed sp_hang_listed_of(struct sp_hang_writer *w, struct sp_span item, const char *id_key);
/* The group of a thread of that process, if record number `owner` is to write it and did not yet. */
struct sp_hang_group *sp_hang_group_of(struct sp_hang_writer *w, struct sp_hang_group *first,
                                       struct sp_hang_listed who, uint32_t owner);
/* Whether a group was not written, and no record but this one names it. */
bool sp_hang_unwritten(const struct sp_hang_group *g, uint32_t owner);
/* What a process of the table has under x_key, where it is from a report of the format; else false. */
bool sp_hang_process_members(const struct sp_hang_writer *w, size_t process, struct sp_span *out);
/* Settles which record of a process writes which thread, before any is written: the first that names it. */
bool sp_hang_settle_owners(struct sp_hang_writer *w, const char *id_key);
/* How often the thread that was seen most was: so often all were looked at, at least. */
int64_t sp_hang_steps(const struct sp_hang_writer *w);
int64_t sp_hang_sum_of(const struct sp_hang_writer *w, const struct sp_hang_group *g); /* NULL: 0 */
/* What is known of a thread: its row, and the object that it holds under x_key, which of a report of another
 * format, or a profile that is none, it does not; of a thread without a row of
 * its own, the object says all. */
struct sp_hang_thread {
    const struct sp_thread *row; /* NULL: none */
    struct sp_span members;      /* n 0: none */
};
struct sp_hang_thread sp_hang_thread_of(const struct sp_hang_writer *w, int64_t tid);
/* Its name, queue or priority, lent until the next use of w->buf; p NULL: none. */
struct sp_span sp_hang_thread_text(struct sp_hang_writer *w, const struct sp_hang_thread *t, const char *key);

/* The parts of what reports say of a thread's queue: spindump's `"label"(1)`, sample's
 * `DispatchQueue_1: label  (serial)`; false: it is neither. */
bool sp_hang_queue_of(struct sp_span s, struct sp_span *label, struct sp_span *number);

/* Writes text on one line. */
void sp_hang_put(struct sp_hang_writer *w, struct sp_span s);
/* The decoded string of a raw JSON value, lent in w->buf until the next call; n 0 where it is none. */
struct sp_span sp_hang_decoded(struct sp_hang_writer *w, struct sp_span raw);
struct sp_span sp_hang_decoded_member(struct sp_hang_writer *w, struct sp_span object, const char *key);
void sp_hang_key_line(struct sp_hang_writer *w, const char *key, struct sp_span value);
/* `[["key","value"],…]` as lines, values from `column` on. */
void sp_hang_put_fields(struct sp_hang_writer *w, struct sp_span fields, size_t column);
/* The address that a report of either kind printed for a frame, of several the first, lent in w->buf; n 0:
 * none. */
struct sp_span sp_hang_frame_address(struct sp_hang_writer *w, const struct sp_frame *f);
/* The images of a process, below `title`, which is left out where there is none. */
bool sp_hang_put_images(struct sp_hang_writer *w, const struct sp_process_fact *x, const char *title);

#endif
