/* The checks and beginnings that fields.def names, declared. */
#ifndef SP_VALIDATE_FIELDS_H
#define SP_VALIDATE_FIELDS_H

#include "formats/spaa/validate/internal.h"

#define SP_TABLE(table, where, begin) void sp_begin_##begin(struct sp_validator *v);
#define SP_FIELD(table, name, need, type, check)                                                             \
    void sp_check_##check(struct sp_validator *v, const struct sp_checked *x);
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD

#endif
