/*
 * The calls of a profile's stacks, judged by the code of the binaries that are here (unwind/edges.h).
 *
 * For profiles that tell addresses in their DSOs, whatever they were made from; readers judge themselves
 * where they know more. What a process had mapped is taken from its images (model/facts.h), so that calls
 * from one file into another can be judged. Where no image has its build-id, that of a DSO may be of the file
 * from which its names are: a binary is the recorded one when three of four return addresses in it stand
 * behind calls, as they do in no other build. Heap profiles and branches are left as they are: their chains
 * were not made by following frame pointers.
 */
#ifndef SP_UNWIND_CHAINS_H
#define SP_UNWIND_CHAINS_H

#include "model/profile.h"
#include "symbols/symbols.h"

/* Stacks that have edges keep them. SPAA_OK; else a failure that was reported. */
spaa_status sp_chains_judge(struct sp_profile *p, const struct sp_symbol_opts *opts, struct sp_diags *d);

#endif
