/* Temporary files that have no name, so that nothing stays behind whatever happens to us. */
#ifndef SP_TEMPORARY_H
#define SP_TEMPORARY_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The folder for them: TMPDIR, else /tmp. */
const char *sp_temporary_folder(void);
/* A file open for reading and writing in that folder; -1 with errno set (ENOMEM too). */
int sp_temporary_file(void);
/*
 * All of n bytes to where such a file stands. False with errno set: also when the file system would have too
 * little left for others (ENOSPC), or the process may write no more (EFBIG).
 */
bool sp_temporary_write(int fd, const void *p, size_t n);
/* Gives an empty one its size, with room on the disk for all of it: a map of it can be written. False: as
 * above. */
bool sp_temporary_size(int fd, uint64_t n);
/* Reports why (errno) there is no file for this, or no room in it. SPAA_ERR_NOMEM, SPAA_ERR_IO. */
spaa_status sp_temporary_failed(struct sp_diags *d, const char *what);

/*
 * write, but a file that would grow beyond what the process may write (ulimit -f) is an error, EFBIG, and no
 * signal: whose handlers they are is not ours to know.
 */
ssize_t sp_write_fd(int fd, const void *p, size_t n);

#endif
