/*
 * A digest of what was read: whether a profile still says what its original says (formats/original.h).
 *
 * Version 1 is a sum of XXH3-64 hashes, so that no order matters, modulo 2^64: of each event (name, kind,
 * mode, primary metric), thread, stack (event, type, context, frames leaf first, weights and units, an
 * `exclusive` that differs, number of related stacks), sample and window, with numbers as decimal text and
 * stacks as their own hashes. Texts that SPAA has no x_raw_hex for count as they come back from it: with
 * U+FFFD for bytes that are no UTF-8. What names, lines and inlined functions come from is often not the file
 * that was read but those of the machine it is read on, and `spaa symbolize` adds them later. So there are
 * two:
 *
 * `addresses`: a frame that has an address counts as DSO name, kind and the address within its page (looked
 * up in its file, an offset becomes an address: pages stay whole), an inlined one not at all, and that code
 * was found to be made just in time makes no difference. One without an address counts with all it has.
 * `names`: frames that have an address count with their names, lines and inlined functions as well.
 *
 * A profile is as it was read when `names` is the same; or, `addresses` being the same, where fewer frames
 * lack a name or a line than did: symbols were added since, and names can no longer tell.
 */
#ifndef SP_READ_DIGEST_H
#define SP_READ_DIGEST_H

#include "model/profile.h"

#define SP_READ_DIGEST "xxh3-64/1"

struct sp_read_digest {
    uint64_t addresses, names;
    uint64_t unnamed, unlined; /* places in stacks of frames that have an address, but no name or no line */
};

/* Of a profile whose records are as they were read (model/callees.h: sp_callees_join). */
spaa_status sp_read_digest(const struct sp_profile *p, struct sp_read_digest *out);

#endif
