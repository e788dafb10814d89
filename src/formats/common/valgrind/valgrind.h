/*
 * What valgrind's tools say alike: frames, and the stacks made of them.
 *
 *     0x1091B6: inner (vg_heap.c:27)                            with lines: no binary is named
 *     0x48417B4: malloc (in /usr/lib/vgpreload_massif.so)       without
 *     0x10A0: ???                                               nothing is known
 *
 * by VG_(describe_IP) of coregrind/m_debuginfo/debuginfo.c. A file has its folder only with
 * --fullpath-after=; dhat-rs, which writes DHAT's format, adds the column. Addresses of callers are those of
 * the call: valgrind takes 1 off the address of return (m_stacktrace.c). Frames of one address that say
 * different things are one place: each but the last is inlined into the next. Those that say the same are a
 * recursion.
 *
 * Addresses are those of one run, and where binaries stood is not told: they are no `ip`, but stand in
 * x_valgrind, as heaptrack's do in x_heaptrack.
 */
#ifndef SP_VALGRIND_H
#define SP_VALGRIND_H

#include "formats/format.h"

#define SP_VG_NAMELESS "[inlined function without a name]"
#define SP_VG_DEPTH    4096u /* frames of a stack; valgrind records 500 at most */

/* A frame as text. Slices of it. */
struct sp_vg_frame {
    uint64_t addr;
    struct sp_str name;   /* n 0: "???" */
    struct sp_str at;     /* "vg_heap.c:27"; n 0: not known */
    struct sp_str object; /* n 0: not known */
};
/* False: it is none. */
bool sp_vg_frame(const char *p, size_t n, struct sp_vg_frame *out);

/* The same in a profile: its strings. */
struct sp_vg_place {
    uint64_t addr;
    uint32_t name, at, object;
    bool mark;     /* no function, but words in brackets */
    bool nameless; /* an inlined function that valgrind has no name of */
};

struct sp_vg {
    struct sp_profile *p;
    const struct sp_read_opts *opts;
    uint32_t unknown; /* DSO */
    uint64_t bare;    /* places in headers of standard libraries, by names without folders */
    SP_VEC(uint32_t) frames;
};
/* False, here and below: out of memory. */
bool sp_vg_init(struct sp_vg *v, struct sp_profile *p, const struct sp_read_opts *opts);
void sp_vg_free(struct sp_vg *v);
bool sp_vg_place(struct sp_vg *v, const struct sp_vg_frame *f, struct sp_vg_place *out);
bool sp_vg_mark(struct sp_vg *v, const char *words, struct sp_vg_place *out);
/* The stack of these places, leaf first, with that layout; SP_NONE: out of memory. */
uint32_t sp_vg_stack(struct sp_vg *v, const struct sp_vg_place *places, size_t n, uint32_t context,
                     uint32_t layout);

/*
 * At the end. Of inlined functions valgrind says names without namespaces, as `allocate`: that they are a
 * library's shows in the folder of their file alone, which is said where it is missing.
 */
void sp_vg_say(const struct sp_vg *v, struct sp_diags *d);

/* A metric of such an event, and its unit. */
struct sp_vg_metric {
    const char *name, *unit;
};
#define SP_VG_METRICS 16
struct sp_vg_event {
    const char *name;
    enum sp_event_kind kind;
    const char *allocation_tracking;    /* NULL: it is none */
    const struct sp_vg_metric *metrics; /* the first is the primary one */
    size_t nmetrics;
    uint32_t event, layout;         /* out */
    uint32_t metric[SP_VG_METRICS]; /* out: their numbers */
};
bool sp_vg_declare(struct sp_vg *v, struct sp_vg_event *e);
/* The header, with the members of extra_json in `more`, whose memory may have failed. */
bool sp_vg_header(struct sp_vg *v, struct sp_str command, const struct sp_buf *more);

/* "1,234": digits with commas between them; how long it is, 0: none, or too large. */
size_t sp_vg_number(const char *p, const char *end, int64_t *out);

#endif
