/*
 * What an input is made of: a source of bytes, up to three decompressors on top of it, then
 * blocks, and then what takes away what stands around text.
 *
 * A stage lends the bytes ahead and forgets them when they are consumed. One kind lends memory as it is;
 * the others have `fill` write the next bytes into a block buffer, which grows
 * only when more is asked for at once than fits. Private to this folder and its tests.
 */
#ifndef SP_IO_STAGE_H
#define SP_IO_STAGE_H

#include "base/diag.h"
#include "io/input.h"

#define SP_STAGE_BLOCK  ((size_t)1 << 20)
#define SP_STAGE_LARGE  ((size_t)8 << 20) /* blocks of large files: several threads work on one */
#define SP_FILTER_DEPTH 3u                /* decompressors on top of each other */
#define SP_QUOTE_DEPTH  8u                /* quotes of quotes, and byte order marks between them */

struct sp_stage {
    /*
     * Writes up to cap bytes and returns how many: 0 ends the stage. A failure is reported by fill,
     * which then sets `failed` and delivers nothing more. NULL: all bytes are in data already.
     */
    size_t (*fill)(struct sp_stage *s, unsigned char *out, size_t cap);
    /* Instead of filling: what is ahead is lent again with more bytes behind it, or the stage ends. */
    void (*lend)(struct sp_stage *s);
    void (*destroy)(struct sp_stage *s); /* what fill needs, and s itself */
    struct sp_stage *up;                 /* where a decompressor reads from; owned */
    struct sp_diags *diags;
    const char *name; /* for messages; borrowed */

    const unsigned char *data; /* data[pos..len) lies ahead */
    size_t pos, len;
    unsigned char *buf; /* == data, when there is fill */
    size_t cap;
    size_t block;    /* bytes that buf is to have, once it is filled again; 0: SP_STAGE_BLOCK */
    uint64_t offset; /* of data[pos] */
    size_t piece;    /* fill at most this many bytes at a time; 0: no limit */
    bool ended;
    spaa_status failed;
    uint64_t source;          /* of one that lends: how much of the lowest stage that took */
    const _Atomic bool *stop; /* when set, waiting for bytes is over; NULL: never */
};

spaa_status sp_stage_peek(struct sp_stage *s, size_t want, const unsigned char **p, size_t *n);
void sp_stage_consume(struct sp_stage *s, size_t n);
void sp_stage_free(struct sp_stage *s); /* with everything below; NULL is fine */

/* Stages on memory or on a file descriptor, both borrowed. NULL: out of memory (reported). */
struct sp_stage *sp_stage_memory(const void *p, size_t n, const char *name, struct sp_diags *d);
struct sp_stage *sp_stage_fd(int fd, const char *name, struct sp_diags *d);
/*
 * The same of a regular file of `size` bytes, `left` of which are ahead. It ends there though the file may
 * have grown; one that has become shorter fails with SPAA_ERR_IO. It is read, not mapped: of a mapped file
 * that somebody cuts off, the next look kills the process.
 */
struct sp_stage *sp_stage_file(int fd, uint64_t size, uint64_t left, const char *name, struct sp_diags *d);

/*
 * If what the stage lends begins like zstd or gzip: *top becomes a stage that decompresses it, and
 * *found is set.
 */
spaa_status sp_filter_detect(struct sp_stage **top, bool *found);

/*
 * Hands on what `up`, which fills, decompresses, in blocks that do not depend on how they are asked for. With
 * `threads`, one works ahead when the input turns out to be large; `base` is the lowest stage. NULL: out of
 * memory, not reported.
 */
struct sp_stage *sp_stage_blocks(struct sp_stage *up, struct sp_stage *base, bool threads);

/*
 * Passes on what `up` lends, and gives it to a copy, under whose `file` it goes; once with no bytes, at the
 * end. A copy that fails ends the stage. NULL: out of memory (reported).
 */
struct sp_stage *sp_stage_copy(struct sp_stage *up, struct sp_input_copy *copy, void *file);

/*
 * What stands around text is taken away: *top begins behind a byte order mark, or becomes a stage without the
 * marks of quoting or in UTF-8. Adds to *wrapping, of enum sp_wrapping.
 */
spaa_status sp_text_unwrap(struct sp_stage **top, unsigned *wrapping);

/* Keeps a stream whole: in memory up to a limit, then in an unlinked temporary file. */
struct sp_spool {
    unsigned char *memory;
    size_t cap;
    void *map;
    size_t len;
};
#define SP_SPOOL_MEMORY ((size_t)64 << 20)
#define SP_SPOOL_KNOWN  ((uint64_t)1 << 30) /* in memory, where the size is known */
#define SP_SPOOL_MAX    ((uint64_t)64 << 30)

/* Empties the stage into the spool. On failure (reported) the spool is as it was: zeroed. */
spaa_status sp_spool_fill(struct sp_spool *sp, struct sp_stage *from, size_t in_memory, uint64_t max);
/* The same of a stage that fills and has no more than `size` bytes ahead, all in memory. */
spaa_status sp_spool_read(struct sp_spool *sp, struct sp_stage *from, size_t size);
const unsigned char *sp_spool_data(const struct sp_spool *sp);
void sp_spool_free(struct sp_spool *sp);

#endif
