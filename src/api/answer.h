/* An answer of the public interface: that of src/answer, and what was made of it for the caller. */
#ifndef SP_API_ANSWER_H
#define SP_API_ANSWER_H

#include "api/api.h"

#include "answer/answer.h"
#include "run/run.h"

struct spaa_answer {
    struct sp_answer a;
    struct sp_diags diags;     /* notes that the answer shows; delivered to the caller, too */
    struct sp_run run;         /* as it was asked: its options, and profiles that were made for it */
    struct sp_run_asked asked; /* rows that are made when they are looked at go by it */
    struct sp_run_given *given;
    struct sp_arena arena; /* texts of the options, paths of facts, columns */
    SP_VEC(struct spaa_fact) facts;
    SP_VEC(const struct sp_answer_table *) tables;
    SP_VEC(struct spaa_column *) columns; /* table by table, SP_TABLE_COLUMNS each; NULL: not made yet */
};
#define SP_TABLE_COLUMNS 128

/* Once it is filled: lists its facts and tables. False: out of memory. */
bool sp_api_answer_list(struct spaa_answer *x);
/* Rows that are made when they are looked at are as many again as the question shows. */
void sp_api_answer_uncut(struct spaa_answer *x);

#endif
