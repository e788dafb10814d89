/*
 * What the files of the gperftools format share: the profiles that came before pprof's protobuf. gperftools
 * and tcmalloc still write them, and Go's /debug/pprof with debug=1.
 *
 *     heap profile:  14: 57344 [ 60576: 18899712] @ heap_v2/524288      in use [allocated ever] @ kind/rate
 *         14:    57344 [    14:    57344] @ 0x564347727471 …             the same for a stack
 *     MAPPED_LIBRARIES:                                                  or --- Memory map: ---, then maps
 *
 *     heap profile:  … @ growthz, @ fragmentationz                       how the heap grew, what it wastes
 *     --- contention: | --- mutex: | --- contentionz 1 ---               name = value, then DELAY COUNT @ …
 *     goroutine profile: total 5 | threadcreate profile: total 3         COUNT @ …
 *     --- threadz 1 ---                                                  --- Thread 7f… (name: NAME/TID)
 *     --- heapz 1 --- | --- contentionz 1 --- with format = java         the same, and names for the numbers
 *     words of 4 or 8 bytes, of either endianness: CPU samples           see words.c
 *
 * Lines `#` of Go name the addresses of the stack before. All may stand behind a table of symbols
 * (formats/common/mapped/mapped.h). The formats are described in heapprofile.html and
 * cpuprofile-fileformat.html of gperftools, and by what Go's runtime/pprof writes and
 * github.com/google/pprof/profile reads: values and addresses are the same as its.
 */
#ifndef SP_GPERFTOOLS_H
#define SP_GPERFTOOLS_H

#include "formats/common/mapped/mapped.h"

/* The profile's lines. */
struct sp_gp_line {
    const char *p;
    size_t n; /* without its end */
    uint64_t number;
};

struct sp_gp {
    struct sp_mapped m;
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    const char *in, *end;
    const char *at; /* the next line */
    uint64_t number;
    bool again; /* the line before is the next one */
    struct sp_gp_line line;
    uint64_t stacks; /* that were begun */

    uint32_t event;
    struct sp_map block_map; /* contexts by bytes of a block */
    SP_VEC(int64_t) blocks;
    SP_VEC(uint32_t) block_contexts;
    uint32_t context; /* that of nothing but the event */
    unsigned group_by;

    struct sp_buf types;    /* members of x_pprof */
    struct sp_buf notes;    /* members of x_gperftools, each behind a comma */
    struct sp_buf comments; /* JSON strings */
    bool comments_cut;
    const char *tool; /* source_tool */
    const char *kind;
    int64_t duration_ms;
};

#define SP_GP_COMMENTS ((size_t)64 << 10) /* bytes of comments that are kept */

/* A sample type of pprof, as what it becomes. Literals. */
struct sp_gp_type {
    const char *type, *pprof_unit;
    const char *metric, *unit;
};

struct sp_gp_event {
    const char *name;
    enum sp_event_kind kind;
    int64_t period;          /* 1: everything was counted; 0: unknown */
    const char *period_type; /* of pprof; NULL: that of the primary type */
    const char *period_unit;
    const char *tracking; /* of allocations, or NULL */
    struct sp_gp_type types[4];
    uint32_t ntypes, primary;
    struct sp_mapped_metric more[4]; /* metrics that pprof has no type for */
    uint32_t nmore;
};

/* Declares the event, its metrics, and how pprof knows them. */
spaa_status sp_gp_declare(struct sp_gp *gp, const struct sp_gp_event *e);
/* The context of a block size, which pprof has as a label; SP_NONE: out of memory. */
uint32_t sp_gp_block_context(struct sp_gp *gp, int64_t bytes);
spaa_status sp_gp_header(struct sp_gp *gp);

/* The next line, in gp->line; false at the end. */
bool sp_gp_next(struct sp_gp *gp);
static inline void sp_gp_back(struct sp_gp *gp)
{
    gp->again = true;
}
static inline struct sp_where sp_gp_here(const struct sp_gp *gp)
{
    return SP_AT_LINE(gp->line.number, (uint64_t)(gp->line.p - gp->in));
}
bool sp_gp_starts(struct sp_str s, const char *literal);
/* The rest of the lines as maps, where the line in work opens them. */
spaa_status sp_gp_maps(struct sp_gp *gp);
/* Goes on to the line that opens the maps, and reads them. */
spaa_status sp_gp_rest(struct sp_gp *gp);
/*
 * "@ addresses" up to the line's end, behind a row's numbers, which were understood or not (*ok). Else the
 * row's addresses are dropped and *ok is false; *p is how far it was understood.
 */
spaa_status sp_gp_stack(struct sp_gp *gp, const char **p, const char *end, enum sp_mapped_are are, bool *ok);
/* The same, of a format without other lines: what is no row is reported. */
spaa_status sp_gp_stack_or_say(struct sp_gp *gp, const char **p, const char *end, bool *ok);

/* A line `# …`: a name for an address, labels of the last row, or something to keep. */
spaa_status sp_gp_comment(struct sp_gp *gp, struct sp_str s);
/* The rest of the lines, which name addresses as Java's agents do. */
spaa_status sp_gp_java_names(struct sp_gp *gp);

spaa_status sp_gp_heap(struct sp_gp *gp, struct sp_str title);
spaa_status sp_gp_contention(struct sp_gp *gp, struct sp_str title);
spaa_status sp_gp_java_heap(struct sp_gp *gp);
spaa_status sp_gp_counts(struct sp_gp *gp, struct sp_str title);
spaa_status sp_gp_threads(struct sp_gp *gp);
spaa_status sp_gp_words(struct sp_gp *gp, const unsigned char *from);

/* What a first line says it is; NONE: nothing of ours. */
enum sp_gp_kind { SP_GP_NONE, SP_GP_HEAP, SP_GP_CONTENTION, SP_GP_JAVA_HEAP, SP_GP_COUNTS, SP_GP_THREADS };
enum sp_gp_kind sp_gp_title(struct sp_str line);
/* The shape of words at p: bytes of each, 0: none. *big: big-endian. *java: of a Java program. */
unsigned sp_gp_word_size(const unsigned char *p, size_t n, bool *big, bool *java);
int sp_gp_probe(const unsigned char *p, size_t n, bool whole, const char **reason);

#endif
