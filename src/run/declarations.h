/* `spaa help --json`: what the answers of questions are made of. docs/json.md and the tests come from it. */
#ifndef SP_DECLARATIONS_H
#define SP_DECLARATIONS_H

#include "io/output.h"

void sp_declarations(struct sp_output *out);

#endif
