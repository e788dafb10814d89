/*
 * Names for a profile that was made without: by the module offsets it holds.
 *
 * With sp_chains_judge (unwind/chains.h), the result is that of reading the recording where the symbols are:
 * the same frames, DSOs and stacks, so the same bytes when written. What is looked up: frames without a name,
 * by their ip in their DSO (below the leaf of the user's or the kernel's part of a stack, by the address
 * before it); `[anon]` and `[unknown]` frames in the perf map of their stack's process; kernel frames in
 * kallsyms. Frames that have a name but no line get lines and inlined frames if the function found is theirs.
 */
#ifndef SP_SYMBOLIZE_H
#define SP_SYMBOLIZE_H

#include "model/profile.h"
#include "symbols/symbols.h"

struct sp_symbolized {
    size_t asked, named, lined; /* distinct (frame, place in its stack); of these */
};

/* Rewrites the profile in place. Ids of ours are dropped and made anew by the writer; foreign ones stay. */
spaa_status sp_symbolize(struct sp_profile *p, const struct sp_symbol_opts *opts, unsigned jobs,
                         struct sp_diags *d, struct sp_symbolized *out);

/*
 * Notes on the profile's DSOs why names and lines are missing, for answers about its quality. After all
 * lookups, for the profile that the names are in. Fails, too, as a lookup did (sp_symbols_failed).
 */
spaa_status sp_symbols_note(struct sp_symbols *s, struct sp_profile *p);

#endif
