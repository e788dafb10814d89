/* --plain: records with the specification's own fields and types only, for readers that refuse others. */
#ifndef SP_SPAA_PLAIN_H
#define SP_SPAA_PLAIN_H

#include "base/buf.h"
#include "base/diag.h"
#include "base/strtab.h"
#include "base/vec.h"

struct sp_plain {
    struct sp_strtab names;  /* of what was left out */
    SP_VEC(uint64_t) counts; /* by number of name */
    uint64_t samples;        /* left out: they lack something */
    struct sp_buf text;      /* scratch */
};

bool sp_plain_init(struct sp_plain *x);
void sp_plain_free(struct sp_plain *x);
/*
 * Cuts a record, the text of an object and what follows it in `b`, down to the fields of fields.def. Empties
 * it where its type is none of the specification, where a sample does not have all of time, pid, tid, cpu,
 * event and stack, and where a thread is nobody's. False: out of memory.
 */
bool sp_plain_record(struct sp_plain *x, struct sp_buf *b);
/* Says what was left out. */
void sp_plain_report(const struct sp_plain *x, struct sp_diags *d);

#endif
