/* Pieces that the answers of several commands share. */
#ifndef SP_ANSWER_H
#define SP_ANSWER_H

#include "analysis/quality.h"
#include "cli.h"
#include "render/table.h"
#include "json/json.h"

/* {"schema": …, "profile": {…}, "total": …, "kept": …: leaves the object open. */
void answer_open(struct cli *c, struct sp_jw *w, const char *schema, const struct sp_selection *s);
/* "quality": {…} */
void answer_quality(struct sp_jw *w, const char *key, const struct sp_selection *s,
                    const struct sp_quality *q);
/* "diagnostics": […] and the closing brace. */
void answer_close(struct cli *c, struct sp_jw *w);
/* A diagnostic as an object. */
void answer_diag(struct sp_jw *w, const struct sp_diag *g);

/* "cycles (ns), 3948 samples, …": the line above a table. */
void answer_heading(struct cli *c, const struct sp_selection *s);
/* A weight for people: thousands separators; time where the unit is ns. */
void weight_text(struct sp_buf *out, const struct sp_selection *s, int64_t v);
/* The shares of v in the base, as "12.34". */
void percent_text(struct sp_buf *out, const struct sp_selection *s, int64_t v);
/* The words a shell needs to name the inputs again, with options that decide the selection. */
void command_text(struct sp_buf *out, const struct cli *c, const char *command);
/* One word of it, quoted where it needs to be. */
void command_word(struct sp_buf *out, const char *s);
/* Writes a finished table in the form asked for. */
int answer_table(struct cli *c, struct sp_table *t);
/* Rows to show: --limit, else what fits 25 rows. */
bool answer_limit(struct cli *c, size_t *limit);

#endif
