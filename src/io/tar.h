/*
 * Archives of regular files in the form that POSIX calls ustar, which every tar reads. Written ones hold
 * nothing but names, times and bytes: no owner, mode 0644, so that equal files make equal archives.
 */
#ifndef SP_TAR_H
#define SP_TAR_H

#include "io/input.h"
#include "io/output.h"

#define SP_TAR_BLOCK    512u
#define SP_TAR_SIZE_MAX (((uint64_t)1 << 33) - 1) /* of a file: 11 octal digits */

/* What stands before a file's bytes; `seconds`: when it was written, 0: not known. False: the name does not
 * fit, or it is too large. */
bool sp_tar_begin(struct sp_output *out, const char *name, uint64_t size, int64_t seconds);
/* What stands behind them; and behind the last file. */
void sp_tar_end_file(struct sp_output *out, uint64_t size);
void sp_tar_end(struct sp_output *out);

struct sp_tar_entry {
    char name[260];
    uint64_t size;
    int64_t seconds; /* when it was written; 0: not known */
    bool regular;    /* a file; else a folder, a link or something of which the bytes are no file's */
};
/* Whether the input begins like one; nothing is consumed. */
spaa_status sp_tar_is(struct sp_input *in, bool *is);
/*
 * The next file: *there false at the end. Its bytes and those up to a multiple of SP_TAR_BLOCK lie ahead
 * then, to be consumed. SPAA_ERR_INPUT: what stands there is no header; *in is where it should be.
 */
spaa_status sp_tar_next(struct sp_input *in, struct sp_tar_entry *out, bool *there);

#endif
