/* A cell as JSON, for all that say it so: answers, and what SQL has of them. */
#ifndef SP_CELL_JSON_H
#define SP_CELL_JSON_H

#include "answer/answer.h"

/* Appends the value of a column of this type; weights and percentages are of the measure. */
void sp_cell_json(struct sp_buf *b, enum sp_column_type type, const struct sp_cell *cell,
                  const struct sp_measure *m);

#endif
