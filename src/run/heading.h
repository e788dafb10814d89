/* Pieces that the answers of commands share which are no questions (src/ask): query, formats, spt, upload. */
#ifndef SP_CLI_ANSWER_H
#define SP_CLI_ANSWER_H

#include "render/table.h"
#include "run/run.h"
#include "json/json.h"

/* {"schema": …, "profile": {…}, "whole": …, "kept": …: leaves the object open. */
void sp_run_json_open(struct sp_run *run, struct sp_jw *w, const char *schema, const struct sp_selection *s);
/* "diagnostics": […] and the closing brace. */
void sp_run_json_close(struct sp_run *run, struct sp_jw *w);
/* "event cycles, metric period (ns), …": the lines above a table. */
int sp_run_heading(struct sp_run *run, const struct sp_selection *s);
extern const char *const sp_names_forms[]; /* --names; NULL ends */
enum { SP_PIPED_COLUMNS = 120 }; /* of text where nobody says how many there are; --names full: any */
/* Writes a finished table in the form asked for. */
int sp_run_table_write(struct sp_run *run, struct sp_table *t);

#endif
