/*
 * What the parts of the flame graph share: which frames are drawn and where (flamegraph.c), the picture
 * as it is without a script (flamegraph_draw.c), and what the script reads (flamegraph_data.c). The
 * style and the script are flamegraph.css and flamegraph.js, built in as bytes by embed.py.
 */
#ifndef SP_FLAMEGRAPH_PRIVATE_H
#define SP_FLAMEGRAPH_PRIVATE_H

#include "base/buf.h"
#include "render/flamegraph.h"

extern const char sp_flamegraph_css[], sp_flamegraph_js[];
extern const size_t sp_flamegraph_css_n, sp_flamegraph_js_n;

/* Measures in px. The script and the style have the same ones: the tests compare the two pictures. */
enum {
    SP_FLAME_PAD = 10,         /* left and right of the frames, and below them */
    SP_FLAME_ROW = 18,         /* from row to row; a frame is one less high */
    SP_FLAME_LABELLED = 24,    /* narrower frames have no label */
    SP_FLAME_CHAR_TENTHS = 74, /* width of a column of a label */
    SP_FLAME_NOTE = 18,        /* height of a line of notes */
    SP_FLAME_SHADES = 6,
    SP_FLAME_LEVELS = 4096,   /* deeper frames are not drawn */
    SP_FLAME_FRAMES = 200000, /* the least width grows until no more than these are drawn */
};

/* What a frame is, in the order of SP_FLAME_LETTERS: the first letter of its class in the style. */
enum sp_flame_sort {
    SP_FLAME_ROOT,
    SP_FLAME_COMM,
    SP_FLAME_USER,
    SP_FLAME_USER_INLINED,
    SP_FLAME_KERNEL,
    SP_FLAME_KERNEL_INLINED,
    SP_FLAME_UNSTATED,
    SP_FLAME_UNRESOLVED,
    SP_FLAME_UNRESOLVED_KERNEL,
    SP_FLAME_GREW, /* of comparisons, in the order of enum sp_change */
    SP_FLAME_SHRANK,
    SP_FLAME_SAME,
    SP_FLAME_NEW,
    SP_FLAME_VANISHED,
    SP_FLAME_INFERRED,
    SP_FLAME_SORTS
};
#define SP_FLAME_LETTERS "rcuikjnghpbqwve"

struct sp_flame_frame {
    uint32_t node;
    uint32_t label;
    int64_t start, width; /* in weight; width is the total, cut to what the parent has left */
    uint8_t sort, shade;  /* the shade is of the name, or of the change; see sp_flame_shade */
};

struct sp_flame_label {
    uint32_t node; /* one that has the name */
    uint32_t dso;  /* in dsos below, SP_NONE: none */
};

struct sp_flame {
    const struct sp_tree *tree;
    struct sp_flamegraph_opts opts; /* complete: nothing 0 or NULL left but subtitle */
    struct sp_output *out;
    struct sp_buf b; /* what is not yet in out */

    int64_t total;
    int64_t min_thousandths; /* of a px */
    unsigned inner;          /* px the root takes */
    SP_VEC(struct sp_flame_frame) frames;
    SP_VEC(struct sp_flame_label) labels;
    SP_VEC(uint32_t) dsos; /* numbers in the profile */
    uint32_t levels;
    uint64_t narrow, deep, weightless; /* frames not drawn */
    int64_t narrow_weight, deep_weight;
    bool sorts[SP_FLAME_SORTS]; /* which there are */
    unsigned head;              /* px above the frames */
};

/* Hands what has been collected to the output. */
void sp_flame_flush(struct sp_flame *f);
static inline void sp_flame_flush_some(struct sp_flame *f)
{
    if (f->b.len > 60000)
        sp_flame_flush(f);
}

/* The note lines, 0 to 3, as safe text without markup; false: there is no such line. */
bool sp_flame_note(struct sp_flame *f, unsigned i, struct sp_buf *out);
/* "user, inlined" */
const char *sp_flame_sort_words(enum sp_flame_sort s);

void sp_flame_draw(struct sp_flame *f);
void sp_flame_data(struct sp_flame *f);

/* Only what has a name of its own, or has changed, varies in colour. */
static inline unsigned sp_flame_shade(const struct sp_flame_frame *r)
{
    bool unnamed = r->sort == SP_FLAME_UNRESOLVED || r->sort == SP_FLAME_UNRESOLVED_KERNEL;
    return r->sort == SP_FLAME_ROOT || r->sort == SP_FLAME_INFERRED || unnamed ? 0 : r->shade;
}

static inline bool sp_flame_dashed(unsigned sort)
{
    return sort == SP_FLAME_USER_INLINED || sort == SP_FLAME_KERNEL_INLINED || sort == SP_FLAME_NEW ||
           sort == SP_FLAME_VANISHED || sort == SP_FLAME_INFERRED;
}

/* A comparison's weights of a frame; NULL where nothing is compared. */
static inline const struct sp_diff_node *sp_flame_sides(const struct sp_flame *f, uint32_t node)
{
    return f->opts.diff ? &f->opts.diff->sides.v[node] : NULL;
}

static inline const struct sp_tree_node *sp_flame_node(const struct sp_flame *f,
                                                       const struct sp_flame_frame *r)
{
    return &f->tree->nodes.v[r->node];
}

#endif
