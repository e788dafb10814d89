/* The picture of `spaa sched FILE -o FILE.svg`, which is drawn when the answer was shown. */
#ifndef SP_RUN_SCHED_H
#define SP_RUN_SCHED_H

#include "run/run.h"

/* An exit code. */
int sp_run_draw_sched(struct sp_run *run, struct sp_ask *q);

#endif
