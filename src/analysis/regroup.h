/* Telling the stacks of a profile apart by keys that only its samples know. */
#ifndef SP_REGROUP_H
#define SP_REGROUP_H

#include "model/labels.h"
#include "model/profile.h"

/* Keys (enum sp_group: pid, tid, cpu, comm, state) that the contexts of no stack have. */
unsigned sp_missing_groups(const struct sp_profile *p, unsigned keys);
/*
 * Moves weight from stacks to new ones with the pid, tid and cpu that samples state, sample by sample; what
 * the samples do not account for stays where it is. Samples then name the new stacks. Linked stacks and
 * stacks with decimal weights stay as they are. SPAA_ERR_USAGE, reported (SP_E033), when the profile has no
 * samples, or a key is asked for that samples do not know.
 */
spaa_status sp_regroup(struct sp_profile *p, unsigned keys, struct sp_diags *d);
/*
 * The same by labels of samples with these keys; samples without any, and a profile without samples, are
 * fine. The label `queue` is that of the thread.
 */
spaa_status sp_regroup_labels(struct sp_profile *p, const struct sp_label_keys *labels, struct sp_diags *d);
/* Leaves stacks out that have no weight any more, so that the profile can be written. */
spaa_status sp_regroup_settle(struct sp_profile **p, struct sp_diags *d);

#endif
