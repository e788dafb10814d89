/* Pieces that the answers of several commands share. */
#ifndef SP_CLI_ANSWER_H
#define SP_CLI_ANSWER_H

#include "analysis/function_handle.h"
#include "analysis/own.h"
#include "analysis/quality.h"
#include "cli.h"
#include "render/table.h"
#include "json/json.h"

/*
 * One answer about a selection. What JSON needs besides (quality, handles) is found when it is first begun,
 * so that an answer can be drawn several times to fit a budget.
 */
struct answer {
    struct cli *c;
    struct sp_selection *s;
    struct sp_jw w;
    struct sp_buf b; /* scratch */
    bool ready;
    struct sp_quality q;
    struct sp_handles handles;
    struct sp_own own;
};
/* A command to ask next: "spaa COMMAND FILES [ARGUMENT] [options of this selection] [TAIL]". */
struct answer_next {
    const char *command, *argument, *tail;
};
void answer_init(struct answer *a, struct cli *c, struct sp_selection *s);
void answer_free(struct answer *a);
spaa_status answer_ready(struct answer *a); /* quality, handles, and which functions are own */
int answer_begin(struct answer *a, const char *schema);
/* Members of JSON rows: null where the metric must not be added. */
void answer_weight(struct answer *a, const char *key, int64_t v);
void answer_percent(struct answer *a, const char *key, int64_t v); /* of the base */
/* "total_at_most" and its share where totals are bounds; SP_ABSENT: null. */
void answer_at_most(struct answer *a, int64_t v);
void answer_function(
    struct answer *a,
    uint32_t function); /* "id", "function", "dso", "build_id" where the dso's name is another's too, "own" */
void answer_own(struct answer *a, uint32_t function); /* "own" and "own_by"; SP_NONE: null */
/* Table cells: exact numbers in CSV, readable ones elsewhere. */
void cell_weight(struct answer *a, struct sp_table *t, int64_t v);
void cell_percent(struct answer *a, struct sp_table *t, int64_t v);
void cell_str(struct sp_table *t, struct sp_str s);
void cell_buf(struct sp_table *t, struct sp_buf *b); /* and clears it */
/* The name of a DSO, "" for SP_NONE. */
struct sp_str dso_name(const struct sp_profile *p, uint32_t dso);
/* "build_id", of the same. */
void dso_build_json(struct sp_jw *w, const struct sp_profile *p, uint32_t dso);
/* "-n 0", or what else shows more; with --budget that. */
const char *answer_more(const struct cli *c);
/*
 * Draws an answer with `most` rows, or with --budget the most rows that keep it within 3 characters a token.
 */
int answer_fit(struct cli *c, size_t most, int (*draw)(void *arg, size_t rows), void *arg);

/* {"schema": …, "profile": {…}, "whole": …, "kept": …: leaves the object open. */
void answer_open(struct cli *c, struct sp_jw *w, const char *schema, const struct sp_selection *s);
/* "quality": {…} */
void answer_quality(struct sp_jw *w, const char *key, const struct sp_selection *s,
                    const struct sp_quality *q);
/* What the profiler lost, in words: one line; whether there is anything to say. */
bool answer_has_losses(const struct sp_quality *q);
void answer_losses(struct sp_output *out, const struct sp_quality *q);
/* "diagnostics": […] and the closing brace. */
void answer_close(struct cli *c, struct sp_jw *w);
/* "pool": the pattern, "threads": how many; null where a row is no pool, or threads are not known. */
void pool_json(struct sp_jw *w, const struct sp_pools *pools, const struct sp_pool *pool);
/* A diagnostic as an object. */
void answer_diag(struct sp_jw *w, const struct sp_diag *g);

/* Where chains are broken, that totals are bounds, why, and what settles it, in one line; else nothing. */
void bounds_text(const struct sp_selection *s, struct sp_buf *out);
/* The same as a diagnostic, for answers without a heading. */
void bounds_diag(struct cli *c, const struct sp_selection *s);
/* "cycles (ns), 3948 samples, …": the line above a table. */
void answer_heading(struct cli *c, const struct sp_selection *s);
/* "; --pid 5 keeps 2.00 ms, 4.00% of the event's 50.00 ms": nothing where there are no views and filters. */
void kept_text(struct sp_buf *out, const struct sp_selection *s, const char *before);
/* A weight for people: thousands separators; time where the unit is ns, KiB and more of bytes. */
void weight_text(struct sp_buf *out, const struct sp_selection *s, int64_t v);
/* The shares of v in the base, as "12.34". */
void percent_text(struct sp_buf *out, const struct sp_selection *s, int64_t v);
/* The words a shell needs to name the inputs again, with options that decide the selection. */
void command_text(struct sp_buf *out, const struct cli *c, const struct answer_next *next);
/* The same for commands that are about whole files. */
void command_of_files(struct sp_buf *out, const struct cli *c, const struct answer_next *next);
/* One word of it, quoted where it needs to be. */
void command_word(struct sp_buf *out, const char *s);
/* Writes a finished table in the form asked for. */
int answer_table(struct cli *c, struct sp_table *t);
/* Rows to show: --limit, else `otherwise` (22 fit 25 lines). */
bool answer_limit(struct cli *c, size_t otherwise, size_t *limit);

#endif
