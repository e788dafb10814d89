/* A diagnostic as an object of JSON answers. */
#ifndef SP_DIAG_JSON_H
#define SP_DIAG_JSON_H

#include "base/diag.h"
#include "json/json.h"

void sp_diag_json(struct sp_jw *w, const struct sp_diag *g);

#endif
