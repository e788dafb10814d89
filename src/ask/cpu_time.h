/* Whether a selection's weight is time on a processor, as far as the event's name says it. */
#ifndef SP_CPU_TIME_H
#define SP_CPU_TIME_H

#include "analysis/select.h"

bool sp_is_cpu_time(const struct sp_selection *s);

#endif
