/*
 * `Binary Images:` of hang reports: distinct lines are parsed once. They are not copied.
 */
#ifndef SP_HANG_IMAGES_H
#define SP_HANG_IMAGES_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/common/hang/line.h"
#include "io/output.h"
#include "model/facts.h"

enum sp_hang_named_by { SP_HANG_BY_FILE, SP_HANG_BY_NAME, SP_HANG_BY_UUID, SP_HANG_NAMED_BY };

struct sp_hang_image {
    struct sp_span line, start_text, end_text, name, version, uuid, suffix, path;
    struct sp_span file;             /* what frames call it */
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
/* image_line.c: the length of "0x1f", of a UUID that begins s; 0: none. */
size_t sp_hang_address_length(struct sp_span s, uint64_t *v);
size_t sp_hang_uuid_length(struct sp_span s);
/* False: the line is none of an image. */
bool sp_hang_parse_image(struct sp_span s, struct sp_hang_image *x);
/*
 * A line of an image that waits for the one below it, which may be its end where a mail client broke it.
 */
struct sp_hang_image_line {
    struct sp_span text; /* trimmed; n 0: none waits */
    struct sp_where at;  /* of its first part */
};
bool sp_hang_image_begins(struct sp_span text);
/* Whether a line, trimmed `text`, is the end of the one that waits; then that is put together, and it is
 * said. False: no memory. */
bool sp_hang_image_join(struct sp_hang_image_line *w, struct sp_span line, struct sp_span text,
                        struct sp_buf *b, struct sp_arena *texts, struct sp_diags *d, bool *taken);
/*
 * Where the text ends without a line end: in the blanks before the line of an image (p is where they begin),
 * or within that line, as far as that shows.
 */
void sp_hang_say_cut_indent(const char *start, const char *p, uint64_t line, struct sp_diags *d);
void sp_hang_say_cut_image(const struct sp_hang_image_line *w, struct sp_diags *d);
/*
 * The image that a frame means by `name` (or "<UUID>") in the process with this stamp, best the one that
 * holds the address; SP_NONE: there is none, or no memory (*ok false).
 */
uint32_t sp_hang_find_image(struct sp_hang_images *m, struct sp_span name, uint64_t address, uint32_t stamp,
                            bool *ok);
/* A DSO with a UUID (n 0: none) as build id; SP_NONE: no memory. */
uint32_t sp_hang_dso(struct sp_profile *p, struct sp_span name, struct sp_span uuid, bool kernel);
/*
 * The row of an image, from its texts; what the row has no field for, and texts that would not come back from
 * it, as "x_key":{…}. False: no memory.
 */
bool sp_hang_image_fact(struct sp_profile *p, const struct sp_hang_image *i, const char *x_key,
                        struct sp_image *out);
/* The rows of all images, in order: the first ones of the profile. */
bool sp_hang_image_facts(struct sp_profile *p, const struct sp_hang_images *m, const char *x_key);
/* A build id as UUIDs are printed, appended. */
void sp_hang_uuid_text(struct sp_str id, struct sp_buf *b);
/* A line of `Binary Images:`. */
void sp_hang_image_line(struct sp_output *out, const struct sp_hang_image *i);

#endif
