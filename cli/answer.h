/* Pieces that the answers of commands share which are no questions (src/ask): query, formats, spt, upload. */
#ifndef SP_CLI_ANSWER_H
#define SP_CLI_ANSWER_H

#include "cli.h"
#include "render/table.h"
#include "json/json.h"

/* {"schema": …, "profile": {…}, "whole": …, "kept": …: leaves the object open. */
void answer_open(struct cli *c, struct sp_jw *w, const char *schema, const struct sp_selection *s);
/* "diagnostics": […] and the closing brace. */
void answer_close(struct cli *c, struct sp_jw *w);
/* "event cycles, metric period (ns), …": the lines above a table. */
void answer_heading(struct cli *c, const struct sp_selection *s);
/* Writes a finished table in the form asked for. */
int answer_table(struct cli *c, struct sp_table *t);

#endif
