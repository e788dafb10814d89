/* Files named by a recording: opened with care, since a recording may name anything. */
#ifndef SP_IO_FILE_H
#define SP_IO_FILE_H

#include "base/buf.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor and its size, or -1. Regular files only: opening a device or a FIFO may block or do something.
 */
int sp_file_open(const char *path, uint64_t *size);
/*
 * Whether a file that had this size when it was opened is shorter now: SPAA_ERR_IO then, which is reported
 * (SP_E014), for what was read of it may be of two files. Ask after the last read.
 */
spaa_status sp_file_check(int fd, uint64_t size, const char *path, struct sp_diags *d);
/* Exactly n bytes from an offset of a file that had this size. SPAA_ERR_IO, which is reported. */
spaa_status sp_file_read(int fd, uint64_t size, uint64_t at, void *p, size_t n, const char *path,
                         struct sp_diags *d);
/* What ends everything: others say that a candidate is not to be used. */
static inline spaa_status sp_file_fatal(spaa_status st)
{
    return st == SPAA_ERR_NOMEM || st == SPAA_ERR_IO ? st : SPAA_OK;
}
/*
 * All that a file holds when it is opened, in a malloced block with a NUL behind it. SPAA_ERR_NOT_FOUND when
 * it cannot be opened, SPAA_ERR_IO (reported), SPAA_ERR_LIMIT when it is larger than max, SPAA_ERR_NOMEM.
 */
spaa_status sp_file_slurp(const char *path, size_t max, struct sp_diags *d, char **data, size_t *n);
/*
 * Who opens files that a stranger may have named: a descriptor of a regular file, which the asker closes, or
 * -1. open NULL: whatever the user may read.
 */
struct sp_file_gate {
    int (*open)(void *arg, const char *path);
    void *arg;
};
/* The same of a file behind a gate. */
spaa_status sp_file_slurp_through(const struct sp_file_gate *gate, const char *path, size_t max,
                                  struct sp_diags *d, char **data, size_t *n);
/*
 * The same of a file that root or the one who runs this owns, as well as a link that leads to it, unless
 * `any` does: SPAA_ERR_USAGE of another's.
 */
spaa_status sp_file_slurp_own(const char *path, size_t max, bool any, struct sp_diags *d, char **data,
                              size_t *n);
/*
 * A path that was put together of a folder and what a recording says stands below it: the file that is meant
 * with the folder as its root, so that no link and no `..` leads out of it. The text stays in `path`; "":
 * there is none.
 */
const char *sp_file_below(const char *root, struct sp_buf *path);
/* A file of a cache was used: its time of last access is now, whatever the file system does about that. */
void sp_file_used(const char *path);
/* The CRC-32 of the whole file, as .gnu_debuglink has it. SPAA_ERR_NOT_FOUND, _IO (reported), _NOMEM. */
spaa_status sp_file_crc32(const char *path, struct sp_diags *d, uint32_t *crc);

#endif
