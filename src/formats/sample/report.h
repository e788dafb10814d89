/* A report as it is read: what the parts of the reader share. See reader.c. */
#ifndef SP_SAMPLE_REPORT_H
#define SP_SAMPLE_REPORT_H

#include "base/arena.h"
#include "formats/common/hang/frame_texts.h"
#include "formats/common/hang/images.h"
#include "formats/common/hang/repeats.h"
#include "formats/common/hang/tree.h"
#include "formats/common/hang/wrapped.h"
#include "formats/sample/sample.h"

struct sample_block {
    struct sp_sample_report_thread thread;
    struct sp_hang_slice rows;
    bool known; /* its line was understood */
};

enum sample_zone { BEFORE, FIELDS, GRAPH, TAIL, IMAGES };

struct sample_meaning { /* of a text */
    uint32_t state;     /* what a thread does whose innermost function it is; SP_STR_NONE: unknown */
    bool torn;          /* its end is missing */
};

struct sample_wrapped {     /* a row that waits for the line below it, which may be its end */
    struct sp_hang_row row; /* line 0: none waits */
    struct sp_hang_wrapped is;
};

struct sample_reader {
    const struct sp_read_opts *opts;
    struct sp_diags *d;
    struct sp_profile *p;
    const char *start, *end;
    uint64_t line;
    enum sample_zone zone;
    bool after_blank; /* in the graph, which goes on with a row */
    enum sp_granularity frames;
    struct sp_hang_images images;
    struct sp_hang_tree tree;
    struct sp_hang_repeats repeats;
    struct sp_hang_texts texts;
    SP_VEC(struct sp_hang_row) rows;
    SP_VEC(struct sample_block) blocks;
    SP_VEC(uint32_t) process_images;
    struct sp_buf fields, tail, buf, list;
    uint32_t event, stamp, comm;
    struct sp_context context; /* of the thread whose stacks are built; its state is the leaf's */
    SP_VEC(struct sample_meaning) meanings; /* by text */
    struct sample_wrapped wrapped;
    struct sp_hang_image_line image;
    struct sp_arena joined; /* texts of lines that were put together, or had tabs */
    unsigned tab;           /* width */
    struct sp_hang_cut cut;
    uint64_t imaged, bare;           /* rows that name an image, and that do not */
    uint64_t addressed, unaddressed; /* of those that do: with an address, and without */
    bool any_state;
    int64_t pid, interval_ns;
    struct sp_span title, name, path;
    bool open; /* an analysis is at hand */
};

/*
 * rows.c: the graph. False: no memory.
 */
bool sp_sample_graph_line(struct sample_reader *r, struct sp_span line);
/* Whether a line is the one of a thread. */
bool sp_sample_is_thread_row(struct sp_span line);
/* The row that waits is added: where the graph ends. */
bool sp_sample_settle_row(struct sample_reader *r);

/* stacks.c: before all; and the rows of one thread. */
bool sp_sample_prepare(struct sample_reader *r);
spaa_status sp_sample_block_stacks(struct sample_reader *r, const struct sample_block *b);

/* process.c: the line of an image that waits is over, false: no memory; and the analysis at hand, if there is
 * one. */
bool sp_sample_settle_image(struct sample_reader *r);
spaa_status sp_sample_end_analysis(struct sample_reader *r);

#endif
