/*
 * Which addresses of stacks are return addresses: what is called stands before them, and so does the line.
 *
 * Profilers mostly record the address that was interrupted, and below it the addresses to return to. The side
 * of the kernel and that of the user begin with an address of their own each. What a recording interrupts
 * nowhere, as a heap profile of gperftools or jemalloc, has return addresses only; pairs of branches have
 * none, nor has a pprof, which has the addresses of the calls: their readers say so, and a file (x_spaa.ip)
 * is believed.
 */
#ifndef SP_RETURNS_H
#define SP_RETURNS_H

#include "model/profile.h"

/* Of the records of an event: the ips of leaves, and those below. */
struct sp_returns {
    bool leaf, callers;
};

struct sp_returns sp_returns_of(const struct sp_profile *p, uint32_t event);

/* Of a frame; `leafward` is the one that it called, NULL for the leaf. */
static inline bool sp_is_return(struct sp_returns r, const struct sp_frame *f,
                                const struct sp_frame *leafward)
{
    if (!(f->flags & SP_FRAME_IP) || !f->ip)
        return false;
    bool called = leafward && (leafward->kind == SP_KERNEL) == (f->kind == SP_KERNEL);
    return called ? r.callers : r.leaf;
}

#endif
