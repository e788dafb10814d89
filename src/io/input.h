/*
 * Reading bytes: files, standard input and memory, through zstd and gzip that are found by content, and text
 * without a byte order mark or marks of quoting and in UTF-8.
 *
 * The caller peeks and consumes. sp_input_peek lends a view of the bytes ahead, at least `want`, more where
 * they are there. Files are read, not mapped, up to where they ended when they were opened: one that grows is
 * read as it was, one that becomes shorter fails with SPAA_ERR_IO (SP_E014).
 * A view is valid until the next peek, consume or close. Offsets count the bytes that are lent, and a byte
 * order mark before them.
 *
 *     size_t n;
 *     const unsigned char *p;
 *     while (sp_input_peek(in, 1, &p, &n) == SPAA_OK && n) {
 *         size_t used = parse(p, n);
 *         sp_input_consume(in, used);
 *     }
 *
 * Not thread-safe.
 */
#ifndef SP_INPUT_H
#define SP_INPUT_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct sp_input;

#define SP_LINE_MAX ((size_t)256 << 20) /* the longest line any text reader accepts */

/* Opens a path, or standard input for "-". Diagnostics carry the name. */
spaa_status sp_input_open(const char *path, struct sp_diags *d, struct sp_input **out);
/* A descriptor, from where it stands, which stays the caller's and open. */
spaa_status sp_input_open_fd(int fd, const char *name, struct sp_diags *d, struct sp_input **out);
/* Reads from memory that the caller keeps alive; name is for diagnostics. */
spaa_status sp_input_memory(const void *p, size_t n, const char *name, struct sp_diags *d,
                            struct sp_input **out);
void sp_input_close(struct sp_input *in); /* NULL is fine */

/*
 * Who wants the bytes of an input while they are read: decompressed, and with all that stands around a text.
 * A failure is reported by whoever fails, and ends the input.
 */
struct sp_input_copy {
    /* An input by this path begins; *file is what stands for it below. */
    spaa_status (*begin)(struct sp_input_copy *copy, const char *path, void **file);
    /* Its next bytes; none, once: it has ended. */
    spaa_status (*add)(void *file, const void *p, size_t n);
};
/* Before the first read; `copy` lives as long as the input. */
spaa_status sp_input_set_copy(struct sp_input *in, struct sp_input_copy *copy);
/* A further file of the recording that `of` is of: who gets a copy of that one, gets one of it too. */
spaa_status sp_input_open_beside(const struct sp_input *of, const char *path, struct sp_diags *d,
                                 struct sp_input **out);
/* Reads on to the end, for the copy; sp_input_failed tells whether that was reached. */
spaa_status sp_input_drain(struct sp_input *in);

/* What stood around a text and is not lent. */
enum sp_wrapping {
    SP_WRAP_MARK = 1,  /* a byte order mark of UTF-8 */
    SP_WRAP_UTF16 = 2, /* it is lent as UTF-8 */
    SP_WRAP_QUOTE = 4, /* `> ` before each line */
    SP_WRAP_UTF32 = 8, /* likewise as UTF-8 */
};
/* Of enum sp_wrapping; what has been read of the input stays. */
spaa_status sp_input_wrapping(struct sp_input *in, unsigned *wrapping);

/*
 * Before the first read: how many threads may work on this input, 1 if it is not said. With more, a large
 * compressed one is decompressed ahead in a thread of its own, which changes nothing but the time it takes.
 */
void sp_input_set_jobs(struct sp_input *in, unsigned jobs);
unsigned sp_input_jobs(const struct sp_input *in);

/*
 * Lends the bytes ahead. *n is at least `want` unless the input ends before, 0 at the end. want is at
 * most SP_LINE_MAX + 1. A damaged or failing input is reported once, and then ends where the damage
 * begins: *n may be 0 with SPAA_OK; sp_input_failed tells.
 */
spaa_status sp_input_peek(struct sp_input *in, size_t want, const unsigned char **p, size_t *n);
void sp_input_consume(struct sp_input *in, size_t n); /* n <= what was lent */
/* When a file was last written, by its times: what it tells is no younger. False: it is no file. */
bool sp_input_written(const struct sp_input *in, struct timespec *out);
uint64_t sp_input_offset(const struct sp_input *in);    /* of the next byte */
spaa_status sp_input_failed(const struct sp_input *in); /* SPAA_OK, or why it ended early */
/* Size of the undecompressed source, 0 where unknown; and how much of it was read: for progress. */
void sp_input_progress(const struct sp_input *in, uint64_t *done, uint64_t *size);
const char *sp_input_name(const struct sp_input *in);
/*
 * A reader that works on a long view notes now and then how much of it is done. Peeking and lines do so
 * themselves. SPAA_ERR_CANCELLED: the call is to be left (base/watch.h).
 */
spaa_status sp_input_note(struct sp_input *in, uint64_t done);

/*
 * One line without its end ("\n" or "\r\n"), lent until the next call. SPAA_OK with *line NULL at
 * the end of the input. A line longer than SP_LINE_MAX is reported and skipped.
 */
spaa_status sp_input_line(struct sp_input *in, const char **line, size_t *n);

/*
 * The whole input from its first byte (behind a byte order mark): memory at any time, whatever was consumed;
 * files, pipes and compressed input only before anything was consumed (peeking is fine), else SPAA_ERR_USAGE.
 * They are copied to memory, files beyond 1 GiB and others beyond 64 MiB to an unlinked file in $TMPDIR or
 * /tmp. Lent until close. Damage shortens it as it ends a stream; SPAA_ERR_IO when it cannot be read to its
 * end. May be called again, and the stream may be read on.
 */
spaa_status sp_input_whole(struct sp_input *in, const unsigned char **p, size_t *n);

/*
 * For tests, before the first read: lends no more than what is asked for or n bytes, whichever is
 * larger, each time as a copy of its own, and reads and unpacks n bytes at a time. 0: no limit.
 */
void sp_input_set_chunk(struct sp_input *in, size_t n);

#endif
