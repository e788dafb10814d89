/* Places in sources, as frames have them (sp_frame.srcline), in their parts. */
#ifndef SP_SRCLINE_H
#define SP_SRCLINE_H

#include "base/strtab.h"

/* "src/a.c:12:3" to its parts; line and column 0 where they are absent. Returns the file's length. */
size_t sp_srcline_split(struct sp_str s, int64_t *line, int64_t *column);

#endif
