/* Names of files that are tried. Recordings and debug information name them, and may be a stranger's. */
#ifndef SP_SYMBOLS_PATHS_H
#define SP_SYMBOLS_PATHS_H

#include "base/buf.h"

/* A file name, "" when it would be too long for one; the text is valid until the next use of b. */
const char *sp_path(struct sp_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same below a folder, and nowhere else, whatever links there are (io/file.h); "": it is not there. */
const char *sp_path_below(struct sp_buf *b, const char *root, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/*
 * Whether a path may be opened as it was recorded. Names of mappings that look like paths and are none have
 * files of other things, or devices. Nor is one that goes up: no kernel records that.
 */
bool sp_is_recorded_path(const char *p);

#endif
