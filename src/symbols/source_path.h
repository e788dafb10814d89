/* Where a source file is that frames name as the compiler was told. */
#ifndef SP_SOURCE_PATH_H
#define SP_SOURCE_PATH_H

#include "base/buf.h"

/*
 * Appends the absolute path of a file as it stands in source lines, without `.`, `..` and doubled slashes;
 * comp_dir: where the compiler ran, NULL: not known. Appends nothing where the two do not say it.
 */
void sp_source_path(struct sp_buf *out, const char *file, size_t n, const char *comp_dir);
/* Whether a path of either kind of system begins at its root. */
bool sp_path_is_absolute(const char *path, size_t n);

#endif
