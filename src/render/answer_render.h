/*
 * An answer (answer/answer.h) as a terminal, a document, a spreadsheet or a program takes it. The four forms
 * show the same cells: people see titled columns, numbers with units and short names; CSV exact numbers and
 * whole names; JSON everything.
 */
#ifndef SP_ANSWER_RENDER_H
#define SP_ANSWER_RENDER_H

#include "answer/answer.h"
#include "io/output.h"

enum sp_answer_form { SP_FORM_TEXT, SP_FORM_JSON, SP_FORM_CSV, SP_FORM_MARKDOWN };

struct sp_render_opts {
    enum sp_answer_form form;
    unsigned width;   /* columns that text may take; 0: any */
    bool colour;      /* of a terminal */
    bool full_names;  /* people see names as they are */
    size_t budget;    /* bytes that it may take, for which rows are dropped; 0: any */
    size_t least;     /* rows that are not dropped for it */
    bool lean;        /* JSON has one diagnostic of a kind, and how many it leaves out */
    bool notes;       /* people are told notes and warnings beneath the answer, those of a kind once */
    const char *more; /* what shows more rows: "-n 0 shows all" */
};

/* Errors of writing are the output's. */
spaa_status sp_render(const struct sp_answer *a, const struct sp_render_opts *o, struct sp_diags *d,
                      struct sp_output *out);

/*
 * Writes what `draw` draws with the most rows, up to `most`, that keep it within `bytes`; `least` where even
 * they are more (said by a note). draw returns 0, or what sp_fit then returns.
 */
int sp_fit(struct sp_diags *d, size_t bytes, size_t least, size_t most,
           int (*draw)(void *arg, size_t rows, struct sp_output *out), void *arg, struct sp_output *out);

#endif
