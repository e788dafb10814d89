/* A diagnostic as people read it, with what is foreign in it made harmless. */
#ifndef SP_DIAG_TEXT_H
#define SP_DIAG_TEXT_H

#include "base/buf.h"
#include "base/diag.h"

const char *sp_diag_word(const struct sp_diag *g); /* "note", "warning", … */
/* "FILE: message, line 3, offset 12 (0xc), field x [SPAA-W300]" */
void sp_diag_text(struct sp_buf *b, const struct sp_diag *g);

#endif
