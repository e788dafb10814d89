/* Names of functions and binaries against the table owners.def. */
#ifndef SP_OWNER_NAMES_H
#define SP_OWNER_NAMES_H

#include "analysis/owners.h"
#include "base/buf.h"

/* What is known of a binary from the names of its functions: sp_owner_signs. */
enum { SP_SIGN_GO = 1, SP_SIGN_RUST = 2, SP_SIGN_JEMALLOC = 4, SP_SIGN_TCMALLOC = 8 };

struct sp_owner_names; /* the table, ready to look names up; free */

/* NULL: out of memory. */
struct sp_owner_names *sp_owner_names(void);
void sp_owner_names_free(struct sp_owner_names *t);
unsigned sp_owner_signs(struct sp_str name);
/* Of a function by its name, in a binary with these signs; false: the table has no such name. */
bool sp_owner_by_name(struct sp_owner_names *t, struct sp_str name, unsigned signs, enum sp_owner_kind *out);
/* By the name of its binary, without folders. */
enum sp_owner_kind sp_owner_by_binary(const struct sp_owner_names *t, struct sp_str base);
/* Of a function that is declared in this file, where it and its binary say nothing. */
enum sp_owner_kind sp_owner_by_source(const struct sp_owner_names *t, struct sp_str file);
/* Marks in `of` (file.n bytes) those bytes of a source file that are the text of a rule that it holds. */
void sp_owner_cover_source(struct sp_str file, unsigned char *of);
/* How many bytes of a binary's base name are the text of a rule that fits it. */
uint32_t sp_owner_cover_binary(struct sp_str base);
/* Memory ran out while names were looked at: kinds may be wrong. */
bool sp_owner_names_failed(const struct sp_owner_names *t);

#endif
