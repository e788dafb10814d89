/*
 * Parts of the CodeGuru format: a call tree as nested JSON objects, keyed by frame name, with self counts by
 * thread state. See reader.c and writer.c.
 */
#ifndef SP_CODEGURU_H
#define SP_CODEGURU_H

#include "formats/format.h"
#include "json/find.h"

#define SP_CG_NODE "x_codeguru_node" /* type of the extension records */
#define SP_CG_KEY  "x_codeguru"      /* what the tables have no field for, in the header and in frames */

#define SP_CG_YEAR_1986 INT64_C(500000000000) /* milliseconds; times before count from another moment */

/*
 * names.c: a node's key and place as a frame, and back.
 */
struct sp_cg_names {
    struct sp_profile *p;
    bool bee;    /* written by profile-bee, whose marks mean something */
    bool places; /* keep files and lines */
    uint32_t unknown, kernel;
    struct sp_buf text, more, place;
};

/* A node's `file` and `line` as they stand; n 0: absent. */
struct sp_cg_place {
    struct sp_span file, line;
};

void sp_cg_names_init(struct sp_cg_names *n, struct sp_profile *p, bool places);
void sp_cg_names_free(struct sp_cg_names *n);
/* The frame of a node, SP_NONE when out of memory. */
uint32_t sp_cg_frame(struct sp_cg_names *n, struct sp_span key, struct sp_cg_place place);
/*
 * A source line as JSON members `"file":…,"line":[…]`, as a node has them; nothing is appended for an empty
 * one.
 */
bool sp_cg_place_of_srcline(struct sp_buf *out, struct sp_str srcline);
/* "file:12" and "file:12-20" into their parts; false: there is no line number. */
bool sp_cg_split_srcline(struct sp_str srcline, struct sp_str *file, uint64_t *first, uint64_t *last);
/* `,"line":[12]` or `,"line":[12,20]` */
void sp_cg_lines(struct sp_buf *out, uint64_t first, uint64_t last);

/* A member of an object, or of the members of one without its braces (a `extra_json` field); n 0: it is not
 * there.
 */
static inline struct sp_span sp_cg_member(struct sp_span text, const char *key)
{
    struct sp_span raw = {NULL, 0};
    sp_json_find(text, key, &raw);
    return raw;
}

/* Whether the text ends right behind a number, which may have had more digits. */
static inline bool sp_cg_cut_number(struct sp_json *j, struct sp_span raw)
{
    return raw.n && raw.p + raw.n == j->end && (*raw.p == '-' || (*raw.p >= '0' && *raw.p <= '9')) &&
           !sp_json_fail(j, "a number is cut off");
}

/* 0, 0.0, -0 and 0e5, but not 1e-400. */
static inline bool sp_cg_is_zero(struct sp_span number)
{
    for (size_t i = 0; i < number.n && (number.p[i] | 32) != 'e'; i++)
        if (number.p[i] >= '1' && number.p[i] <= '9')
            return false;
    return true;
}

/* Whether times in milliseconds say how long a profile took: both since 1970, or both of another moment. A
 * start of 0 beside an end of today is none. */
static inline bool sp_cg_is_range(int64_t start, int64_t end)
{
    return start >= 0 && end > start && (start < SP_CG_YEAR_1986) == (end < SP_CG_YEAR_1986);
}

static inline struct sp_span sp_cg_span(struct sp_str s)
{
    return (struct sp_span){s.p, s.n};
}

/*
 * graph.c: the call graph.
 */
struct sp_cg_graph {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_input *in;
    uint32_t event, metric, layout;
    uint32_t labels; /* of all contexts */
    bool by_state;
    struct sp_cg_names names;
    uint64_t counted; /* the sum of whole counts, capped */
};

/* The cursor stands at the root node. SPAA_ERR_INPUT: the text is malformed (see the cursor), all before it
 * is used. */
spaa_status sp_cg_read_graph(struct sp_cg_graph *g, struct sp_json *j);

/* labels.c: the set of labels that all stacks have; false: out of memory. */
bool sp_cg_labels(struct sp_profile *p, struct sp_span agent_metadata, const struct sp_label_keys *asked,
                  uint32_t *out);

/*
 * extras.c: for the writer, what x_codeguru_node records hold, as a tree.
 */
struct sp_cg_extra {
    uint32_t name; /* number in strs */
    uint32_t parent;
    uint32_t first, n;     /* children: slice of `sorted` */
    struct sp_span member; /* raw members without braces, n 0: none */
};

struct sp_cg_extras {
    SP_VEC(struct sp_cg_extra) nodes; /* 0: the root, when there are any */
    uint32_t *sorted;                 /* children of each node, by the bytes of their names */
    struct sp_map map;
    struct sp_arena text;
};

spaa_status sp_cg_extras_read(struct sp_cg_extras *x, struct sp_profile *p, struct sp_diags *d);
void sp_cg_extras_free(struct sp_cg_extras *x);

int sp_cg_probe(const unsigned char *p, size_t n, bool whole, const char **reason);
spaa_status sp_cg_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                       struct sp_profile *p);
spaa_status sp_cg_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out);
/* validate.c */
spaa_status sp_cg_validate(struct sp_input *in, struct sp_diags *d);

#endif
