/* The picture of `spaa timeline FILE -o FILE.svg`, of memory, which is drawn when the answer was shown. */
#ifndef SP_RUN_CURVE_H
#define SP_RUN_CURVE_H

#include "run/run.h"

/* An exit code. */
int sp_run_draw_curve(struct sp_run *run, struct sp_ask *q);

#endif
