/*
 * Which stacks of a selection do not reach the entry of their thread or process: their callers are missing,
 * so that totals of functions are too low, while self weights are exact.
 *
 * A stack is broken when its outermost recorded frame is none of entries.def, or when an edge of it cannot
 * be. Recorded frames are judged: filters that cut or hide frames break nothing. An outermost frame without
 * a name is an entry when it is in a library that starts threads, or in the executable, and is that of nine
 * tenths of its thread's stacks that are deeper than two. What kernels but Linux record of themselves is
 * taken as it is, and so are kernel frames without names.
 *
 * Only recorders of native callchains are judged so (perf, DTrace, bpftrace); of folded stacks only those
 * that begin at no mapped place, as their roots may be anything; of all others, whose stacks are whole by
 * construction or say where they were cut, only those that do. An event whose stacks all have one frame has
 * no callchains at all, which is something else, unless the command asked for them.
 */
#ifndef SP_CHAINS_H
#define SP_CHAINS_H

#include "analysis/broken_chains.h"
#include "analysis/select.h"

/* Totals are bounds from this share of the weight on, in percent. */
enum { SP_CHAINS_PERCENT = 5 };

/* Fills s->chains, once. */
spaa_status sp_chains_of(struct sp_selection *s, struct sp_diags *d);
/*
 * The same for a selection that these options made. Filters that look for frames drop the very stacks whose
 * callers are missing: then all stacks are judged that there were before them. With kernel_only those that
 * begin in the kernel are.
 */
spaa_status sp_chains_before(struct sp_selection *s, const struct sp_select_opts *opts, struct sp_diags *d);
/* unchecked_chains.c: c->unchecked and where, once rows are judged. False: out of memory. */
bool sp_chains_find_unchecked(const struct sp_selection *s, struct sp_chains *c);
/* Whether totals of this selection are bounds, not values; false where that was not asked. */
bool sp_chains_tell(const struct sp_selection *s);
/* Whether the outermost frame of a row is the kernel's: then callers in the kernel are missing too. */
bool sp_chain_is_kernels(const struct sp_selection *s, size_t row);
/*
 * What a total may be at most: more[key] is what may have to be added to the total of a key, which is a
 * number below nkeys for each frame, or SP_NONE: the weight of the broken stacks without it, of those pools
 * of threads in which it was seen at all. *known: false where frames were filtered, so that stacks are
 * missing that may belong to it; and where totals are no bounds.
 */
spaa_status sp_chains_at_most(struct sp_selection *s, const uint32_t *keys, size_t nkeys, struct sp_diags *d,
                              int64_t *more, bool *known);
/* In one line: how much is broken, where, and what that means. And which recording settles it. */
void sp_chains_words(const struct sp_selection *s, struct sp_buf *line);
void sp_chains_hint(const struct sp_selection *s, struct sp_buf *line);

#endif
