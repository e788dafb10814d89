/*
 * Where addresses lie and what stands there: the second half of reading a recording, once its samples are
 * grouped. See perf_data.h for the order of the steps.
 */
#ifndef SP_PERF_DATA_RESOLVE_H
#define SP_PERF_DATA_RESOLVE_H

#include "formats/perf_data/perf_data.h"

/* maps.c: address ranges without overlap, the latest on top. */
struct sp_pd_map {
    uint64_t start, end; /* end is outside */
    uint64_t pgoff;      /* file offset of start */
    uint32_t dso;        /* of frames.c */
    uint32_t image;      /* execs of the process before it was mapped */
};
struct sp_pd_maps {
    SP_VEC(struct sp_pd_map) list; /* ascending */
    size_t copied;                 /* how many came from another set */
    uint32_t refs;                 /* processes that share it */
};
#define SP_PD_MAPS_MAX ((size_t)1 << 16) /* per process; Linux allows 65,530 unless told otherwise */
enum sp_pd_put { SP_PD_PUT, SP_PD_PUT_FULL, SP_PD_PUT_NOMEM };
enum sp_pd_put sp_pd_maps_put(struct sp_pd_maps *maps, struct sp_pd_map add);
void sp_pd_maps_forget(struct sp_pd_maps *maps, uint32_t image); /* those mapped before this image */
const struct sp_pd_map *sp_pd_maps_find(const struct sp_pd_maps *maps, uint64_t addr);

/* frames.c */
spaa_status sp_pd_frames_new(struct sp_pd *pd, struct sp_pd_frames **out);
void sp_pd_frames_free(struct sp_pd_frames *f);
/* The DSO of a map (a number for struct sp_pd_map); SP_NONE: out of memory. */
uint32_t sp_pd_frames_dso(struct sp_pd_frames *f, const struct sp_pd_mmap *m);
/* A process maps a file that its code may be described in. */
spaa_status sp_pd_frames_mapped(struct sp_pd_frames *f, const struct sp_pd_mmap *m);
spaa_status sp_pd_frames_kernel(struct sp_pd_frames *f); /* the kernel's own maps, once */
/* Where and when an address is looked up. */
struct sp_pd_scene {
    const struct sp_pd_maps *maps; /* may be NULL */
    int32_t pid;
    uint64_t time; /* which of the code that was written over each other counts */
};
/*
 * Appends the frames at an address, innermost first, to out. `caller`: the address is a return address,
 * so the call before it is what is looked up.
 */
struct sp_pd_frame_list {
    uint32_t *v;
    size_t n, cap;
};
spaa_status sp_pd_frames_at(struct sp_pd_frames *f, const struct sp_pd_scene *scene, unsigned mode,
                            uint64_t addr, bool caller, struct sp_pd_frame_list *out);
/* The place that was appended last, for calls between two of them; SP_NONE: none whose code is known. */
uint32_t sp_pd_frames_last(const struct sp_pd_frames *f);
/* Whether a thread or program begins at a place (SP_NONE: no). */
bool sp_pd_frames_begins(const struct sp_pd_frames *f, uint32_t place);
/*
 * Whether the code at place `caller` can have called that at `callee`, frame `at` of its stack: what is known
 * to be wrong is added to the edges. by_pointers: the chain was walked by frame pointers.
 */
struct sp_pd_edge_list {
    struct sp_edge *v;
    size_t n, cap;
};
spaa_status sp_pd_frames_call(struct sp_pd_frames *f, const struct sp_pd_scene *scene, bool by_pointers,
                              uint32_t callee, uint32_t caller, size_t at, struct sp_pd_edge_list *out);
/* The symbolizer's module of what a process wrote itself, and what its times are; NULL: none. */
spaa_status sp_pd_frames_jit(struct sp_pd_frames *f, int32_t pid, struct sp_module **out);
void sp_pd_frames_clock(struct sp_pd_frames *f, const struct sp_recording_clock *clock);
spaa_status sp_pd_frames_report(struct sp_pd_frames *f); /* after the last */
/* Appends the frame that says that a stack was cut off. */
spaa_status sp_pd_frames_truncated(struct sp_pd_frames *f, struct sp_pd_frame_list *out);
/* What a DSO is, for the unwinder: a file (path and build-id, which may be NULL) or something else. */
struct sp_pd_dso_file {
    const char *name, *path, *build_id;
    bool file, anonymous, used; /* used: frames are of it */
};
struct sp_pd_dso_file sp_pd_frames_file(const struct sp_pd_frames *f, uint32_t dso);
size_t sp_pd_frames_dsos(const struct sp_pd_frames *f);

/* Whether a map of this name is of memory without a file; the name of a kernel's map, as DSOs have it. */
bool sp_pd_is_anonymous(struct sp_pd_text path);
bool sp_pd_kernel_name(struct sp_pd_text path, struct sp_buf *out);

/* facts.c: after all frames are there. */
spaa_status sp_pd_facts(struct sp_pd *pd, struct sp_pd_frames *f);

/*
 * reloads.c: when just-in-time code was written over other code becomes a change of the process's maps. After
 * the timeline, before the samples are read.
 */
spaa_status sp_pd_reloads(struct sp_pd *pd, struct sp_pd_frames *f);

/*
 * replay.c: the maps of all processes in order of time. Before the maps of a process change, what belongs to
 * the version until then is visited.
 */
struct sp_pd_slot {
    uint32_t process, version, item;
};
struct sp_pd_replay;
struct sp_pd_visitor {
    spaa_status (*visit)(void *arg, struct sp_pd_replay *rp, uint32_t item, struct sp_pd_maps *maps,
                         int32_t pid);
    spaa_status (*finish)(void *arg, struct sp_pd_replay *rp, spaa_status st); /* also after a failure, st */
    void *arg;
    const char *what; /* it is, for whoever watches (base/watch.h) */
};
/* Sorts the slots. maps may be NULL in a visit. */
spaa_status sp_pd_replay(struct sp_pd *pd, struct sp_pd_frames *frames, struct sp_pd_slot *slots, size_t n,
                         const struct sp_pd_visitor *v);
/* Keeps maps as they are beyond a visit, until released. */
void sp_pd_replay_hold(struct sp_pd_maps *maps);
void sp_pd_replay_release(struct sp_pd_replay *rp, struct sp_pd_maps *maps);
/* Maps that were copied because they are held, or shared by forks. */
size_t sp_pd_replay_copied(const struct sp_pd_replay *rp);

/* unwind.c: callchains and groups of the pending samples. */
spaa_status sp_pd_unwind(struct sp_pd *pd, struct sp_pd_frames *frames);

/* resolve.c */
spaa_status sp_pd_resolve(struct sp_pd *pd, struct sp_pd_frames *frames);

#endif
