/*
 * Writing bytes: to a file that appears only when it is complete, or to standard output.
 *
 * Errors are sticky: write freely, check the status of sp_output_commit. A path ending in .zst or .gz
 * is compressed. A file is written beside its final name, synced and renamed by commit; close without
 * commit leaves nothing behind. Not thread-safe.
 */
#ifndef SP_OUTPUT_H
#define SP_OUTPUT_H

#include "base/diag.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct sp_output {
    char *buf; /* sp_output_room lends from here */
    size_t len, cap;
    spaa_status status;
};

/* path "-" is standard output (never compressed). *out is NULL on failure. */
spaa_status sp_output_open(const char *path, struct sp_diags *d, struct sp_output **out);
/* To a descriptor, which stays the caller's and open; never compressed. name is for diagnostics. */
spaa_status sp_output_fd(int fd, const char *name, struct sp_diags *d, struct sp_output **out);
/* Collects everything in memory, for tests and for answers that go elsewhere. */
spaa_status sp_output_memory(struct sp_diags *d, struct sp_output **out);
/* What a memory output holds so far and a NUL that is not counted; lent until the next write or close. */
const char *sp_output_data(struct sp_output *o, size_t *n);
/* The same, malloced and the caller's, with which the output ends. */
char *sp_output_take(struct sp_output *o, size_t *n);
void sp_write_slow(struct sp_output *o, const void *p, size_t n);
void sp_printf(struct sp_output *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* At least n (<= 64 KiB) bytes to fill directly; then sp_output_took. Never NULL. */
char *sp_output_room(struct sp_output *o, size_t n);
/*
 * So many bytes more, at most, before they are packed; UINT64_MAX: any number. Beyond that it fails with
 * SPAA_ERR_LIMIT, which is the caller's to report: sp_output_within tells at once.
 */
void sp_output_at_most(struct sp_output *o, uint64_t bytes);
bool sp_output_within(struct sp_output *o);
/*
 * The bytes are shown on a terminal, which would obey control characters and those that reorder text, and
 * not show others: all that answers spell out (base/utf8.h) but tab and newline are refused from here on, and
 * reported. sp_output_open does it of terminals.
 */
void sp_output_for_screen(struct sp_output *o);
/* The file that is renamed in the end; NULL: written directly, or done. Lent until commit or close. */
const char *sp_output_temporary(const struct sp_output *o);
/* Flushes, syncs and renames; SPAA_ERR_CLOSED when the other end of a pipe went away. */
spaa_status sp_output_commit(struct sp_output *o);
void sp_output_close(struct sp_output *o); /* NULL is fine; without commit: discards */

static inline void sp_output_took(struct sp_output *o, size_t n)
{
    o->len += n;
}

static inline void sp_write(struct sp_output *o, const void *p, size_t n)
{
    if (n <= o->cap - o->len) {
        if (n) /* p may be NULL then */
            memcpy(o->buf + o->len, p, n);
        o->len += n;
    } else {
        sp_write_slow(o, p, n);
    }
}

static inline void sp_puts(struct sp_output *o, const char *s)
{
    sp_write(o, s, strlen(s));
}

#endif
