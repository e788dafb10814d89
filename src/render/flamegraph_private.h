/*
 * What the parts of the flame graph share: which frames are drawn and where (flamegraph.c), the picture
 * as it is without a script (flamegraph_draw.c), and what the script reads (flamegraph_data.c). The
 * style and the script are flamegraph.css and flamegraph.js, built in as bytes by embed.py.
 */
#ifndef SP_FLAMEGRAPH_PRIVATE_H
#define SP_FLAMEGRAPH_PRIVATE_H

#include "base/buf.h"
#include "render/flamegraph.h"
#include "render/short_names.h"

extern const char sp_flamegraph_css[], sp_flamegraph_js[];
extern const size_t sp_flamegraph_css_n, sp_flamegraph_js_n;
extern const char sp_flamegraph_states_css[], sp_flamegraph_states_js[]; /* of pictures with states */
extern const size_t sp_flamegraph_states_css_n, sp_flamegraph_states_js_n;

/* Measures in px. The script and the style have the same ones: the tests compare the two pictures. */
enum {
    SP_FLAME_PAD = 10,         /* left and right of the frames, and below them */
    SP_FLAME_ROW = 18,         /* from row to row; a frame is one less high */
    SP_FLAME_LABELLED = 24,    /* narrower frames have no label */
    SP_FLAME_CHAR_TENTHS = 74, /* width of a column of a label */
    SP_FLAME_NOTE = 18,        /* height of a line of notes */
    SP_FLAME_SHADES = 6,
    SP_FLAME_STRIP = 3,        /* height of the shares of states along the upper edge of a frame */
    SP_FLAME_STATE_SHADES = 3, /* of states but running, which has all */
    SP_FLAME_LEVELS = 4096,    /* deeper frames are not drawn */
    SP_FLAME_FRAMES = 200000,  /* the least width grows until no more than these are drawn */
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

/* A frame has the colour of the state that nine tenths of it are in; else it is mixed. */
#define SP_FLAME_MIXED         SP_STATE_CLASSES
#define SP_FLAME_STATE_LETTERS "uylfsozax" /* by enum sp_state_class, then mixed */
/* Classes of the style: by sort and shade, then by state and shade. */
#define SP_FLAME_FILLS ((SP_FLAME_SORTS + SP_FLAME_MIXED + 1) * SP_FLAME_SHADES)

struct sp_flame_frame {
    uint32_t node;
    uint32_t label;
    int64_t start, width; /* in weight; width is the total, cut to what the parent has left */
    uint8_t sort, shade;  /* the shade is of the name, or of the change; see sp_flame_shade */
    uint8_t fill;         /* its class in the style: sp_flame_class */
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
    struct sp_value_text *shorts; /* of the labels, as people are shown them */
    struct sp_arena arena;        /* of these */
    SP_VEC(uint32_t) dsos;        /* numbers in the profile */
    uint32_t levels;
    uint64_t narrow, deep, weightless; /* frames not drawn */
    int64_t narrow_weight, deep_weight;
    bool sorts[SP_FLAME_SORTS]; /* which there are */
    bool fills[SP_FLAME_FILLS];
    unsigned head; /* px above the frames */
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
/* Draws the legend, whose first line is at y, or only counts its lines: how many it has. */
unsigned sp_flame_legend(struct sp_flame *f, unsigned y, bool draws);
void sp_flame_data(struct sp_flame *f);

/* ---- flamegraph_states.c: pictures whose colours are those of states ---- */

/* The fill of a frame, whose sort and shade are set. */
uint8_t sp_flame_fill(const struct sp_flame *f, const struct sp_flame_frame *r);
/* A fill's name in the style: "u3". */
void sp_flame_class(unsigned fill, char out[4]);
void sp_flame_state_patterns(struct sp_flame *f);
/* The shares of the states of a frame at (x, y), w wide: hundredths of a px but y. */
void sp_flame_state_strip(struct sp_flame *f, const struct sp_flame_frame *r, int64_t x, unsigned y,
                          int64_t w);
/* ", running 12 ns (3.00%)" of each */
void sp_flame_state_tip(struct sp_flame *f, const struct sp_flame_frame *r);
/* As sp_flame_legend. */
unsigned sp_flame_state_legend(struct sp_flame *f, unsigned y, bool draws);
/* The script's tables of states, and the members of a frame. */
void sp_flame_state_names(struct sp_flame *f);
void sp_flame_state_data(struct sp_flame *f, const struct sp_flame_frame *r);

/* ---- flamegraph_legend.c ---- */

/* Where the next item of a legend stands; those of a line take at most the picture's width. */
struct sp_flame_items {
    unsigned x, y, lines;
    bool draws;
};
void sp_flame_items_begin(struct sp_flame *f, struct sp_flame_items *l, unsigned y, bool draws);
/* `box`, `text`: classes; box "": it has none. */
void sp_flame_item(struct sp_flame *f, struct sp_flame_items *l, const char *box, const char *text,
                   const struct sp_buf *words, unsigned wide);
unsigned sp_flame_items_end(struct sp_flame *f, const struct sp_flame_items *l);

/* ---- flamegraph_text.c: amounts ---- */

/* A length in hundredths of a px as SVG writes it: "12.5", ".25", "7". */
void sp_flame_px(struct sp_buf *b, int64_t hundredths);
/* With its unit; and behind words, with its share of `of`. */
void sp_flame_amount(struct sp_flame *f, int64_t v);
void sp_flame_weight(struct sp_flame *f, const char *what, int64_t v, int64_t of);
/* For the script: ",12", a string where a double cannot hold it. */
void sp_flame_number(struct sp_flame *f, int64_t v);

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
