/*
 * Why threads waited, of any event. The stacks of `wall` (model/wall.h) have the reasons of those that they
 * were made of: whether a wait is idle is seen by what else the thread waited for, and running is no part of
 * that.
 */
#ifndef SP_WALL_REASONS_H
#define SP_WALL_REASONS_H

#include "analysis/wait_reason.h"

/* As sp_wait_reasons_of, whose result it is. */
spaa_status sp_wall_reasons_of(const struct sp_selection *s, struct sp_profile *p, const char *own,
                               struct sp_wait_reasons *out, struct sp_diags *d);

#endif
