/* Text that is written as if lines had no end, and on a terminal has lines that fit it. */
#ifndef SP_RUN_FOLD_H
#define SP_RUN_FOLD_H

#include "run/run.h"

/* After sp_run_stdout: what is written to run->out until sp_run_fold_end is kept; *kept: where it goes. */
int sp_run_fold_begin(struct sp_run *run, struct sp_output **kept);
/* Writes it, unless rc says that there is no answer; an exit code. */
int sp_run_fold_end(struct sp_run *run, struct sp_output *kept, int rc);

#endif
