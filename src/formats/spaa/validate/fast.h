/*
 * The inside of the fast road: what the recognition of a line looks at, and what it leaves.
 *
 * Recognising looks at the validator and changes nothing that matters, so that several threads may do it at
 * the same time; entering what was recognised is for one, in the order of the lines.
 */
#ifndef SP_VALIDATE_FAST_H
#define SP_VALIDATE_FAST_H

#include "formats/spaa/usual.h"
#include "formats/spaa/validate/fast_frames.h"
#include "formats/spaa/validate/internal.h"

enum {
    SP_CONTEXTS = 4096, /* a power of two */
    SP_CONTEXT_WAYS = 4,
    SP_CONTEXT_BYTES = 168,
    SP_SHAPES = 16,
    SP_SHAPE_BYTES = 512,
    SP_SHAPE_VALUES = 8,
    SP_FAST_RELATED = 16,
    SP_FAST_OTHERS = 8,
};

struct sp_known_context {
    uint64_t hash;
    uint32_t event, thread, n, used; /* used: the turn of the last use */
    char text[SP_CONTEXT_BYTES];
};

/* Texts and numbers alternate: piece, value, piece, …, value, piece. */
struct sp_shape {
    uint32_t event;
    unsigned values;
    uint16_t piece[SP_SHAPE_VALUES + 1]; /* lengths */
    bool not_zero[SP_SHAPE_VALUES];
    char text[SP_SHAPE_BYTES];
};

/* A thread's own. */
struct sp_scratch {
    struct sp_frame_run frames;
    uint32_t entries[SP_FAST_FRAMES];
    unsigned last; /* of the shapes */
};

struct sp_fast {
    struct sp_known_context contexts[SP_CONTEXTS];
    uint32_t turn; /* goes on when a context is learned */
    struct sp_shape shapes[SP_SHAPES];
    unsigned nshapes, replace;
    char dso_text[8]; /* of the frame record before */
    size_t dso_length;
    uint32_t dso_entry;
    struct sp_scratch scratch;
};

enum sp_line_kind {
    SP_LINE_OTHER,
    SP_LINE_STACK,
    SP_LINE_LINKS /* a stack that names others */,
    SP_LINE_SAMPLE
};

/* What entering a line takes. */
struct sp_usual {
    enum sp_line_kind kind;
    bool exclusive; /* a stack has it */
    uint32_t thread;
    struct sp_span id; /* of the stack, or that the sample refers to */
    struct sp_fp fp;
    const char *end; /* the next line */
};

/* A line that is being recognised. A newline stands before `limit`, and nothing from there on is read. */
struct sp_line {
    const char *p, *limit;
    struct sp_span id, weights, related[SP_FAST_RELATED];
    struct sp_span others[SP_FAST_OTHERS]; /* keys of somebody's own */
    unsigned nrelated, nothers;
    size_t nframes;
    int type;
    const struct sp_known_context *context;
    const struct sp_shape *shape;
    uint64_t values[SP_SHAPE_VALUES];
    bool exclusive;
};

static inline bool sp_take(struct sp_line *l, const char *literal, size_t n)
{
    if ((size_t)(l->limit - l->p) < n || !sp_same_text(l->p, literal, n))
        return false;
    l->p += n;
    return true;
}
#define TAKE(l, literal) sp_take((l), literal, sizeof literal - 1)

/* A string of plain ASCII without escapes; the opening quote is taken. */
static inline bool sp_take_text(struct sp_line *l, struct sp_span *out)
{
    const char *end = sp_plain_text(l->p, l->limit);
    if (!end)
        return false;
    *out = (struct sp_span){l->p, (size_t)(end - l->p)};
    l->p = end + 1;
    return true;
}

/* The closing brace and the end of the line. */
static inline bool sp_take_end(struct sp_line *l)
{
    return TAKE(l, "}\n") || TAKE(l, "}\r\n");
}

static inline bool sp_fast_ready(const struct sp_validator *v)
{
    return v->fast && v->header.events_known && v->header.order != SP_ORDER_UNKNOWN;
}

/* The stack or sample record at p. For a stack with links, *l has them. */
bool sp_fast_recognise(const struct sp_validator *v, struct sp_scratch *s, const char *p, const char *limit,
                       struct sp_line *l, struct sp_usual *out);
/* False: it is none of the usual after all, and nothing changed. `l` may be NULL but for stacks with links.
 */
bool sp_fast_enter(struct sp_validator *v, const struct sp_line *l, const struct sp_usual *u);

/* fast_dictionary.c: the frame record at p, which is entered. Returns the next line, or NULL. */
const char *sp_fast_frame_record(struct sp_validator *v, const char *p, const char *limit);

#endif
