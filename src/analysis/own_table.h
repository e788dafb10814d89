/* The table own.def: what of names and paths shows that they are not the program's. */
#ifndef SP_OWN_TABLE_H
#define SP_OWN_TABLE_H

#include "base/strtab.h"

enum sp_own_kind {
    SP_OWN_SOURCE,
    SP_OWN_CXX,
    SP_OWN_C,
    SP_OWN_RUST,
    SP_OWN_GO,
    SP_OWN_JVM,
    SP_OWN_NET,
    SP_OWN_ANY,
    SP_OWN_JIT,
    SP_OWN_RUST_SIGN,
    SP_OWN_GO_SIGN,
    SP_OWN_BINARY,
    SP_OWN_LIBRARIES,
    SP_OWN_FOLDER,
};

/* Whether a rule of this kind fits. */
bool sp_own_in_table(enum sp_own_kind kind, struct sp_str s);
/* Marks in `of` (s.n bytes) those bytes that are the text of a rule that fits. */
void sp_own_cover(enum sp_own_kind kind, struct sp_str s, unsigned char *of);

#endif
