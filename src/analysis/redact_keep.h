/*
 * What of a name stays where --redact hides it: words of our own tables, by which the program's functions are
 * told from those of libraries and entries from other functions. These words are in every copy of this
 * program: that they stay tells of a name which rule fits it, and no more.
 */
#ifndef SP_REDACT_KEEP_H
#define SP_REDACT_KEEP_H

#include "base/strtab.h"

/* Marks in `of` (path.n zeros) the bytes of a path, without a line, that stay: its folder ends at `folder`.
 * True: all of them. */
bool sp_redact_keep_path(struct sp_str path, uint32_t folder, unsigned char *of);
/* How many bytes of a file's base name stay: all of it, or its beginning. */
uint32_t sp_redact_keep_base(struct sp_str base);
/* What stands behind the hash of a source file's name: ".go"; "": nothing. */
const char *sp_redact_keep_end(struct sp_str base);
/* Whether a function's name stays, which is not own (`library`) or is: of Go's library, without its users'
 * types. */
bool sp_redact_keep_go(struct sp_str name, bool library);

#endif
