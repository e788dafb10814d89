/* Files named by a recording: opened with care, since a recording may name anything. */
#ifndef SP_SYMBOLS_FILE_H
#define SP_SYMBOLS_FILE_H

#include "spaa/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor, or -1. Regular files only: opening a device or a FIFO may block or do something. */
int sp_file_open(const char *path);
/*
 * All of a file into a malloced block with a NUL behind it. SPAA_ERR_NOT_FOUND when it cannot be
 * opened, SPAA_ERR_IO, SPAA_ERR_LIMIT when it is larger than max, SPAA_ERR_NOMEM.
 */
spaa_status sp_file_slurp(const char *path, size_t max, char **data, size_t *n);
/* The CRC-32 of the whole file, as .gnu_debuglink has it. */
bool sp_file_crc32(const char *path, uint32_t *crc);

#endif
