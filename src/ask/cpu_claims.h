/* What is said where CPU time and samples of a hang report contradict each other. */
#ifndef SP_ASK_CPU_CLAIMS_H
#define SP_ASK_CPU_CLAIMS_H

#include "analysis/select.h"

/* SP_W519, with the processes where they differ most. */
spaa_status sp_say_cpu_claims(const struct sp_selection *s, struct sp_diags *d);

#endif
