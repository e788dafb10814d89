/* Whether a selection's weight is work on processors, as far as the event's name and the view say it. */
#ifndef SP_CPU_TIME_H
#define SP_CPU_TIME_H

#include "analysis/select.h"

/* Samples of a processor's clock or of its cycles, or of threads that run (view "cpu"), where it is stated of
 * all that they do; never counts of a tracepoint or another probe, which threads that run pass as well. */
bool sp_is_cpu(const struct sp_selection *s);
/* Of those by what the event is: nanoseconds. */
bool sp_is_cpu_time(const struct sp_selection *s);

#endif
