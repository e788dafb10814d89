/*
 * Names of functions that --redact has hidden: "f-1f2e3d4c5b6a", and behind it what its name said of the
 * function, which nobody could tell any more: "-allocator", "-container", "-runtime" (owners.h), "-library"
 * (not the program's: own.h). Where it begins as that of an entry, that stands before:
 * "__clone-f-1f2e3d4c5b6a".
 */
#ifndef SP_REDACTED_NAME_H
#define SP_REDACTED_NAME_H

#include "analysis/owners.h"
#include "base/buf.h"

struct sp_redacted_name {
    enum sp_owner_kind kind;
    bool library;
};

/* False: the name is none. */
bool sp_redacted_name(struct sp_str name, struct sp_redacted_name *out);
/* Appends the marks. */
void sp_redacted_marks(struct sp_buf *b, const struct sp_redacted_name *what);

#endif
