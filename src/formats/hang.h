/*
 * What the readers and writers of macOS' hang reports, spindump and sample(1), share.
 *
 * hang_text.c: pieces of their lines, and quantities as they print them. hang_images.c: `Binary Images:`.
 * hang_tree.c: from the rows of a call tree, whose counts are inclusive, to stacks with their own counts.
 */
#ifndef SP_HANG_H
#define SP_HANG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "io/input.h"
#include "model/profile.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * hang_text.c
 */
static inline bool sp_hang_blank(char c)
{
    return c == ' ' || c == '\t';
}
static inline bool sp_hang_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}
static inline bool sp_hang_hex(char c)
{
    return sp_hang_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}
static inline struct sp_span sp_hang_trim(struct sp_span s) /* blanks at both ends */
{
    while (s.n && sp_hang_blank(*s.p)) {
        s.p++;
        s.n--;
    }
    while (s.n && sp_hang_blank(s.p[s.n - 1]))
        s.n--;
    return s;
}
/* Inlined, so that the lengths of literals are known. */
static inline bool sp_hang_starts(struct sp_span s, const char *literal)
{
    size_t n = strlen(literal);
    return s.n >= n && memcmp(s.p, literal, n) == 0;
}
static inline bool sp_hang_ends(struct sp_span s, const char *literal)
{
    size_t n = strlen(literal);
    return s.n >= n && memcmp(s.p + s.n - n, literal, n) == 0;
}
static inline struct sp_span sp_hang_after(struct sp_span s, size_t n) /* without its first n bytes */
{
    n = n < s.n ? n : s.n;
    return (struct sp_span){s.p + n, s.n - n};
}
/* Where the group in parentheses that ends the text opens, balanced; NULL: none. */
const char *sp_hang_group(struct sp_span s);
/* Cuts " + 123" (no leading zeros) off the end of s. */
bool sp_hang_cut_offset(struct sp_span *s, uint64_t *off);
/* "name [12]": the last number in brackets, which ends the text; s keeps what stands before it. */
bool sp_hang_cut_pid(struct sp_span *s, int64_t *pid);

/* "0.922s", "<0.001s", "276319s", "12ms", in nanoseconds. The number of bytes used; 0: none. */
size_t sp_hang_seconds(struct sp_span s, int64_t *ns);
/* "51.3G cycles": a number with K, M, G, T (of 1000). */
size_t sp_hang_count(struct sp_span s, int64_t *v);
/* "6416 KB", "11.45 MB", "227.5M": of 1024. */
size_t sp_hang_bytes(struct sp_span s, int64_t *v);
/* "0.922s (3.2G cycles, 15.4G instructions, 0.21c/i)" as members cpu_time_ns, cycles, instructions. */
void sp_hang_cpu_members(struct sp_buf *b, const char *prefix, struct sp_span s);
/* "3 I/Os (48 KB)" as members io_count, io_bytes. */
void sp_hang_io_members(struct sp_buf *b, struct sp_span s);

/* `"key":"text"` and `"key":12`, with a comma where something stands before in the open object or array. */
static inline void sp_hang_comma(struct sp_buf *b)
{
    char last = b->len ? b->data[b->len - 1] : '{';
    if (last != '{' && last != '[')
        sp_buf_ch(b, ',');
}
void sp_hang_key(struct sp_buf *b, const char *key); /* `"key":` */
void sp_hang_member(struct sp_buf *b, const char *key, struct sp_span value);
void sp_hang_number(struct sp_buf *b, const char *key, int64_t v);
void sp_hang_item(struct sp_buf *b, struct sp_span value); /* a string of an array */
void sp_hang_pair(struct sp_buf *b, struct sp_span key,
                  struct sp_span value); /* ["key","value"] as an item */
/* Ends the object in b and keeps it as an extension record. */
bool sp_hang_extension(struct sp_profile *p, struct sp_buf *b);
uint32_t sp_hang_str(struct sp_profile *p, struct sp_span s);
uint32_t sp_hang_hex_str(struct sp_profile *p, uint64_t v); /* "0x1f" */
/* For probes: whether most lines are such as reports have, and not, for example, a program with one in it. */
bool sp_hang_is_report(const unsigned char *p, size_t n);

/*
 * hang_images.c: distinct lines of `Binary Images:` are parsed once. They are not copied.
 */
enum sp_hang_named_by { SP_HANG_BY_FILE, SP_HANG_BY_NAME, SP_HANG_BY_UUID, SP_HANG_NAMED_BY };

struct sp_hang_image {
    struct sp_span line, start_text, end_text, name, version, uuid, suffix, path;
    struct sp_span file;             /* for the reader: see sp_hang_image_file */
    uint64_t start, end;             /* end 0: not known */
    bool kernel, plus;               /* marks `*` and `+` before the line or the name */
    bool named;                      /* for the reader: it is a DSO */
    uint32_t stamp;                  /* the last process that has it */
    uint32_t next[SP_HANG_NAMED_BY]; /* the one before it under the same key; SP_NONE */
};

struct sp_hang_here { /* the images of one process under a key: a slice of `ranges` */
    uint32_t stamp, oldest;
    size_t from, n;
};

struct sp_hang_key { /* what frames may name an image by */
    struct sp_span text;
    uint32_t newest[SP_HANG_NAMED_BY]; /* see sp_hang_image.next */
    struct sp_hang_here here[SP_HANG_NAMED_BY];
};

struct sp_hang_range {
    uint64_t start, reach; /* reach: the largest end up to here */
    uint32_t image;
};

struct sp_hang_images {
    SP_VEC(struct sp_hang_image) v;
    struct sp_map lines, key_map; /* of v by line, of keys by text */
    SP_VEC(struct sp_hang_key) keys;
    SP_VEC(struct sp_hang_range) ranges; /* of the process with this stamp */
    uint32_t ranges_stamp;
};

void sp_hang_images_free(struct sp_hang_images *m);
/*
 * The number of an image line (trimmed) of the process with this stamp (from 1 on), known before or parsed
 * now; SP_NONE: not one, or no memory (*ok false).
 */
uint32_t sp_hang_image(struct sp_hang_images *m, struct sp_span line, uint32_t stamp, bool *ok);
bool sp_hang_image_list(struct sp_buf *b, const uint32_t *images, size_t n); /* "[0,12]" */
/*
 * The image that a frame means by `name` (or "<UUID>") in the process with this stamp, best the one that
 * holds the address; SP_NONE: there is none, or no memory (*ok false).
 */
uint32_t sp_hang_find_image(struct sp_hang_images *m, struct sp_span name, uint64_t address, uint32_t stamp,
                            bool *ok);
/* The image of that process which holds the address; SP_NONE. */
uint32_t sp_hang_image_at(const struct sp_hang_images *m, const uint32_t *list, size_t n, uint64_t address);
/* What frames call an image: its file's name; in the kernel, and where there is no path, its own. */
struct sp_span sp_hang_image_file(const struct sp_hang_image *i);
/* A UUID as build id: lower case, without dashes; SP_STR_NONE where it is none. */
uint32_t sp_hang_build_id(struct sp_profile *p, struct sp_span uuid);
uint32_t sp_hang_dso(struct sp_profile *p, struct sp_span name, struct sp_span uuid, bool kernel);
/* {"type":"x_…_image",…} of every image. */
bool sp_hang_image_records(struct sp_profile *p, const struct sp_hang_images *m, const char *type);
/* A line of `Binary Images:` from such a record's members. */
void sp_hang_image_line(struct sp_output *out, const struct sp_hang_image *i);

/*
 * hang_texts.c: distinct texts of frames. A report repeats them: each is parsed once, and made a frame when
 * its process ends, since the images below the rows tell which file a frame is of. They are not copied.
 */
struct sp_hang_text {
    struct sp_span text;
    bool kernel;
    uint32_t stamp, frame; /* the frame it is in the process with this stamp; stamp 0: there is none yet */
};

struct sp_hang_texts {
    SP_VEC(struct sp_hang_text) v;
    struct sp_map map;
};

void sp_hang_texts_free(struct sp_hang_texts *t);
/* The number of a text, equal for equal ones; SP_NONE: no memory. */
uint32_t sp_hang_text(struct sp_hang_texts *t, struct sp_span text, bool kernel);

/*
 * hang_tree.c
 */
struct sp_hang_row {
    uint32_t column, frame;
    uint32_t tag; /* what decides the context: the state's text */
    uint32_t line;
    int64_t count;
    int64_t from, to; /* range of samples; from 0: none */
};

struct sp_hang_open {
    uint32_t column, row;
    int64_t children; /* their counts */
    int64_t covered;  /* samples of the range up to here belong to children, or have a segment */
    uint32_t stack, segment;
};

/* Samples from..to of a stack; count is another number where not all of them are its own. */
struct sp_hang_segment {
    uint32_t stack, before; /* before: the one of the same node, 1 + number */
    int64_t from, to, count;
};

struct sp_hang_tree {
    struct sp_profile *p;
    struct sp_diags *d;
    uint32_t metric, layout;
    uint32_t (*context)(void *who, uint32_t tag);
    void *who;
    enum sp_code excess; /* reported where callees have more than their caller */
    uint32_t *path;      /* frames of the open rows, leaf first at the end of the room */
    size_t room;
    SP_VEC(struct sp_hang_open) open;
    SP_VEC(struct sp_hang_segment) segments;
};

void sp_hang_tree_free(struct sp_hang_tree *t);
/*
 * Rows in the order of the text: a row's parent is the nearest one before it that stands further left. Adds a
 * stack for each row with a count of its own. *roots is the sum of the roots' counts.
 */
spaa_status sp_hang_tree_build(struct sp_hang_tree *t, const struct sp_hang_row *rows, size_t n,
                               int64_t *roots);
/* Keeps the segments as "x_…":{"ranges":[[1,37],[44,44]]} of their stacks. */
bool sp_hang_keep_segments(struct sp_hang_tree *t, const char *key);

/*
 * hang_render.c: from stacks to the rows of a tree, for writers. Texts and states are numbers of a string
 * table; two frames are one where their texts are.
 */
struct sp_hang_stack {
    const uint32_t *path; /* texts, root first */
    uint32_t n;
    uint32_t state;
    int64_t count;
    const struct sp_hang_segment *ranges; /* in order; n 0: none */
    size_t nranges;
};

struct sp_hang_line {
    uint32_t depth, text, state; /* state: SP_STR_NONE where the row is not where samples ended */
    int64_t count, from, to;     /* from 0: no range */
};

struct sp_hang_render {
    const struct sp_strtab *texts; /* borrowed */
    SP_VEC(struct sp_hang_line) lines;
    SP_VEC(struct sp_hang_node) nodes;
    SP_VEC(struct sp_hang_spell) spells;
    SP_VEC(uint32_t) order, open;
};

struct sp_hang_node {
    uint32_t parent, text, state, depth, first; /* first: of its children in `order`, while that is made */
    int64_t total;
};

struct sp_hang_spell { /* a range of one stack */
    const struct sp_hang_stack *stack;
    int64_t from, to, count;
};

void sp_hang_render_free(struct sp_hang_render *r);
/* The rows of these stacks, which are put in order; siblings by count, or by time where there are ranges. */
bool sp_hang_render(struct sp_hang_render *r, struct sp_hang_stack *stacks, size_t n);

#endif
