/*
 * The `x_original` records of a profile: what its files were before they were read (formats/original.h).
 *
 * They are kept as the lines that stand in SPAA, in an unlinked temporary file, because they are as large as
 * the recording was and nobody looks at them until they are written: never interned, never in memory whole.
 * Not thread-safe.
 */
#ifndef SP_ORIGINALS_H
#define SP_ORIGINALS_H

#include "base/diag.h"
#include "io/output.h"

#define SP_ORIGINAL_TYPE "x_original"

struct sp_originals;

/* Adds a record: JSON without a newline. *o is made when it is NULL; `d` outlives it. */
spaa_status sp_originals_add(struct sp_originals **o, struct sp_diags *d, const char *json, size_t n);
/*
 * For all of these, NULL has no records.
 * Hands out all records in the order they were added; each is lent until `take` returns, and what that
 * returns other than SPAA_OK ends it.
 */
spaa_status sp_originals_each(const struct sp_originals *o,
                              spaa_status (*take)(void *arg, const char *json, size_t n), void *arg);
/* Writes them, each with a newline. */
spaa_status sp_originals_write(const struct sp_originals *o, struct sp_output *out);
uint64_t sp_originals_count(const struct sp_originals *o);
void sp_originals_free(struct sp_originals *o);

#endif
