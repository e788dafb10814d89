/*
 * Stack identity: what makes a stack the same stack in another run (design: content_addressable). The page
 * docs/identity.md has all of it; files name the way as SP_IDENTITY_NAME.
 *
 * Frame hash:  XXH3-64 of  func NUL dso-base-name NUL tells NUL srcline NUL place NUL depth NUL
 *              with tells = what tells the function from others of its name (model/functions.h); place = the
 * part of the function (".cold") and "+0x…" (symoff) where there is one, else "@0x…" (ip), else ""; depth =
 * inline depth in decimal. Frames of the DSO "[unknown]" have an address of one run only: func and place are
 * empty. Stack base:  XXH3-64 of  event NUL stack-type NUL comm NUL state NUL, each only where the record
 *              states it (else empty), then key NUL value NUL of each label of text that is grouped by, in
 * the order of keys; followed by the frame hashes, root first, 8 bytes each, little-endian. Stack hash:  the
 * base; for a linked pair XXH3-64 of own base and that of the linked one (16 bytes). Suffix:      when the
 * record states pid, tid or cpu: the low 32 bits of XXH3-64 of "pid=N;tid=N;cpu=N;" (those stated). Written
 * "0x%016x" of the hash, then ".%08x" of the suffix where there is one. Equal ids are told apart in content
 * order by hash + 1, + 2, ….
 */
#ifndef SP_IDENTITY_H
#define SP_IDENTITY_H

#include "model/order.h"
#include "model/profile.h"

/*
 * Gives every stack an id of ours, and says so in the header; ids that were there are replaced. The order's
 * frame ranks must be set (sp_order_dictionaries).
 */
spaa_status sp_profile_identify(struct sp_profile *p, const struct sp_order *o);
/* The same where there are no ids yet. */
spaa_status sp_stack_ids(struct sp_profile *p);
/*
 * What two profiles compare a function by: XXH3-64 of the hashes of its name, its DSO's base name and, where
 * there is something, what tells it from others of that name. Functions that only their starts tell apart
 * share it.
 */
uint64_t sp_function_hash(const struct sp_profile *p, uint32_t function);
/* "0x%016x" or "0x%016x.%08x" of an id of ours; returns the length. */
size_t sp_stack_id_text(const struct sp_stack_id *id, char out[static 32]);
/* The part of a path after the last slash (the whole where there is none). */
struct sp_str sp_base_name(struct sp_str path);

#endif
