/*
 * Whether a caller can have called what a recorded stack says it did.
 *
 * A return address stands behind a call. Where that call is direct (or through a slot that the loader fills),
 * its target is the callee, or a function that goes on to it by jumps. Where it cannot, something is missing
 * or wrong: if the target has no way to end but to return, it is proven to be on the stack, between the two;
 * else the edge is broken. What cannot be shown by the code at hand is no finding.
 */
#ifndef SP_UNWIND_EDGES_H
#define SP_UNWIND_EDGES_H

#include "model/profile.h"
#include "symbols/symbols.h"

enum sp_verdict {
    SP_EDGE_FINE, /* possible, or nobody can say */
    SP_EDGE_IMPOSSIBLE,
    SP_EDGE_MISSING, /* a frame of the target is between the two */
};

/* A frame: its module, which may be NULL, and an address as linked. */
struct sp_edge_side {
    struct sp_module *module;
    uint64_t addr; /* of a caller its return address; of a callee an address within the instruction */
};

/* The modules of the process, for names that one of them defines; whether that is all of them. */
struct sp_edge_scene {
    struct sp_module *const *modules;
    size_t n;
    bool complete;
};

struct sp_judgement {
    enum sp_verdict verdict;
    bool told;                  /* the call before the return address says what it was of */
    bool by_scene;              /* the modules of the process had a say: of another it may be different */
    bool below;                 /* MISSING: the target cannot have called the callee either */
    struct sp_edge_side target; /* MISSING */
};

struct sp_edges;
struct sp_edges *sp_edges_new(struct sp_diags *d); /* NULL: out of memory */
void sp_edges_free(struct sp_edges *e);            /* NULL is fine */
/* A number that stands for all addresses of the callee's function; UINT32_MAX: it is not known. */
uint32_t sp_edges_function(struct sp_edges *e, const struct sp_edge_side *callee);
/* Whether the answer depends on the callee at all: false where the caller may have called anything. */
bool sp_edges_tells(struct sp_edges *e, const struct sp_edge_side *caller);
/* Whether walking by frame pointers skips the callee's caller (sp_functions_frameless). */
bool sp_edges_skips(struct sp_edges *e, const struct sp_edge_side *callee);
/* Whether some call, of whatever kind, ends at a return address. */
bool sp_edges_called(struct sp_edges *e, const struct sp_edge_side *caller);
/* Why some answer is not what it should be: no memory, or a file that changed; it was reported. Ask last. */
spaa_status sp_edges_failed(const struct sp_edges *e);
/*
 * The frame of a MISSING target, whose DSO is this one of the profile, with all that is known of its
 * function, as other frames of it have that; `keep`: what is kept of frames. SP_NONE: out of memory.
 */
uint32_t sp_edges_target(struct sp_profile *p, const struct sp_edge_side *target, uint32_t dso,
                         enum sp_granularity keep);
/* SPAA_OK; else a failure that was reported. */
spaa_status sp_edges_judge(struct sp_edges *e, const struct sp_edge_side *caller,
                           const struct sp_edge_side *callee, const struct sp_edge_scene *scene,
                           struct sp_judgement *out);

#endif
