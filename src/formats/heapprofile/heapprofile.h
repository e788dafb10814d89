/*
 * V8's sampling heap profile: what `node --heap-prof`, Chrome's developer tools ("allocation sampling") and
 * HeapProfiler.stopSampling of the inspector's protocol write.
 *
 *     {"head":{"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},
 *              "selfSize":0,"id":1,"children":[…]},
 *      "samples":[{"size":544,"nodeId":12,"ordinal":7},…]}
 *
 * also as `profile` of the protocol's answer. By V8's src/profiler/sampling-heap-profiler.cc and
 * src/inspector/v8-heap-profiler-agent-impl.cc:
 *
 * - A node is a function in its callers. Line and column are where the function begins, from 0: no profile
 * says at which line of it memory was asked for.
 * - selfSize is an estimate of what is live of what the function itself asked for: of each size S, S times
 * the number of sampled objects divided by the probability that one of S bytes is sampled, 1 - exp(-S /
 * interval), rounded to a whole number of objects. The interval is not in the file.
 * - Samples are scaled and rounded one by one, so their sizes need not add up to selfSize; those of objects
 * that were made while the tree was written have nodes that are not in it. Versions before 12 of node have
 * none.
 * - Objects that were collected are gone from both, unless the recording asked for them, which the file does
 *   not say either.
 * - Frames are those of the machine: what a function asked for that the optimizing compiler inlined counts as
 * its caller's. --no-turbo-inlining and, wholly, --no-opt of node keep them apart.
 * - Memory outside of V8's heap (a Buffer's bytes) is in none of it.
 * - Where no JavaScript ran, the only frame says what V8 did: (V8 API), (GC), (PARSER), …
 */
#ifndef SP_HEAPPROFILE_H
#define SP_HEAPPROFILE_H

#include "formats/format.h"
#include "json/json.h"

/* A node's callFrame. Spans are lent until the cursor's next string with escapes: they are copied. */
struct sp_v8_call {
    struct sp_buf name, url;
    int64_t line, column; /* from 0; -1: not known */
    bool has_script;      /* its scriptId is none of V8's own, "0" */
};

/* call.c: the frame of a call; SP_NONE: out of memory. */
struct sp_v8_calls {
    struct sp_profile *p;
    enum sp_granularity grain;
    uint32_t unknown, node, v8; /* DSOs */
    bool node_seen;             /* some function is one of node's own */
    struct sp_buf text;
};
void sp_v8_calls_init(struct sp_v8_calls *c, struct sp_profile *p, enum sp_granularity grain);
uint32_t sp_v8_frame(struct sp_v8_calls *c, const struct sp_v8_call *call);
/* The path of a `file://` address, decoded; other addresses as they are. False: out of memory. */
bool sp_v8_path(struct sp_buf *out, struct sp_str url);

/* tree.c: what the file says. */
struct sp_v8_node {
    uint32_t parent, frame; /* SP_NONE: it is the root; it is no frame */
    int64_t self;           /* bytes */
    uint64_t id;
    int64_t samples; /* SP_ABSENT: none of it */
};
struct sp_v8_sample {
    uint64_t node;
    int64_t size;
};
struct sp_v8_level {
    uint32_t node;
    bool in_children;
};
struct sp_v8_tree {
    struct sp_profile *p;
    struct sp_diags *d;
    struct sp_input *in;
    struct sp_json j;
    struct sp_v8_calls calls;
    struct sp_v8_call call; /* in work */
    SP_VEC(struct sp_v8_node) nodes;
    SP_VEC(struct sp_v8_sample) samples;
    SP_VEC(struct sp_v8_level) levels;
    size_t noted;
    bool has_samples, has_head;
};
/* SPAA_ERR_INPUT: it is malformed, which is reported; what came before is there. */
spaa_status sp_v8_read_tree(struct sp_v8_tree *t, struct sp_span text);
void sp_v8_free_tree(struct sp_v8_tree *t);

#endif
