/*
 * Stacks of absolute addresses with a table of what was mapped where: what the readers of heap and CPU
 * profiles of gperftools, jemalloc, and Go share.
 *
 * The stacks of such a file come first, the maps, and often names, at its end. So a reader collects rows:
 *
 *     for each sample:   sp_mapped_add(m, address, caller) for each address, leaf first
 *                        sp_mapped_row(m, context, values)
 *     for each line of maps, sp_mapped_line; for each address that the file itself names, sp_mapped_name
 *     sp_mapped_finish(m)
 *
 * and the end makes frames, once for each distinct address, and stacks of them. An address becomes what it is
 * in its file as linked: by its offset in the file, and where the ELF file is at hand by that file's
 * segments; the DSO says "ip":"file_offset" where it is not. A name that the file gives has precedence over
 * symbols. Addresses of callers are where they return to; their map and symbol are looked up one byte before.
 */
#ifndef SP_MAPPED_H
#define SP_MAPPED_H

#include "base/buf.h"
#include "formats/format.h"
#include "symbols/bind.h"

#define SP_MAPPED_METRICS 12u
#define SP_MAPPED_RANGES  ((size_t)1 << 20)
#define SP_MAPPED_ATTRS   64u
#define SP_MAPPED_INLINED 1024u /* names of one address */

/* An address, as a leaf or as a caller, and perhaps with the name that its line has for it. */
struct sp_mapped_place {
    uint64_t addr;
    uint32_t how;      /* bit 0: as a caller; above: the name, a string of the profile */
    uint32_t first, n; /* its frames in `numbers`, in the end */
};

struct sp_mapped_row {
    size_t first; /* in chain */
    uint32_t n, context;
};

struct sp_mapped_range {
    uint64_t start, end, offset;
    uint32_t module; /* in modules */
};

struct sp_mapped_module {
    struct sp_str path;     /* NUL-terminated, as recorded but for " (deleted)"; empty: anonymous memory */
    struct sp_str build_id; /* lower-case hex, or empty */
    uint32_t object;        /* of the binder; SP_NONE: not yet */
    bool file;
    bool deleted; /* what its path names now is another file */
};

/* A name that the profile itself gives; those of one address follow each other, innermost first. */
struct sp_mapped_label {
    uint64_t addr;
    uint32_t func, srcline, dso; /* strings of the profile; dso SP_STR_NONE: that of the map */
    uint32_t next;               /* SP_NONE: the last one */
};

struct sp_mapped_attr {
    struct sp_str name, value;
};

struct sp_mapped {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    size_t bytes; /* of the input: what limits the frames of all stacks */

    uint32_t metrics[SP_MAPPED_METRICS], nmetrics, layout; /* of each row */
    bool plain; /* addresses are numbers of names, not places in memory: frames have none */

    SP_VEC(struct sp_mapped_place) places;
    struct sp_map place_map;
    SP_VEC(uint32_t) chain; /* places */
    size_t begin;           /* where the row in work begins in it */
    SP_VEC(struct sp_mapped_row) rows;
    SP_VEC(int64_t) values; /* nmetrics for each row; SP_ABSENT: none */

    struct sp_arena arena;
    SP_VEC(struct sp_mapped_range) ranges;
    SP_VEC(struct sp_mapped_module) modules;
    struct sp_map module_map;
    struct sp_mapped_attr attrs[SP_MAPPED_ATTRS];
    uint32_t nattrs;
    bool maps_full;

    SP_VEC(struct sp_mapped_label) labels;
    struct sp_map label_map; /* by address: the first one */
    uint32_t open_label;     /* the group that may get more names; SP_NONE: none */
    uint32_t open_count;

    struct sp_binder *binder;
    SP_VEC(uint32_t) numbers; /* frames of places */
    uint64_t unmapped;        /* places outside of all maps */
    struct sp_buf text;
};

/* A zeroed one; sp_mapped_free in any case. */
void sp_mapped_init(struct sp_mapped *m, struct sp_profile *p, const struct sp_read_opts *opts,
                    struct sp_diags *d, size_t bytes);
void sp_mapped_free(struct sp_mapped *m);

/*
 * The metrics of the rows: all rows have nmetrics values, in this order. May be said after the rows, when
 * nmetrics was set before. A name of NULL leaves a value out; unit NULL: none. Literals.
 */
struct sp_mapped_metric {
    const char *name, *unit;
};
spaa_status sp_mapped_metrics(struct sp_mapped *m, const struct sp_mapped_metric *metrics, uint32_t n);

/* The next address of the row in work; false: out of memory. */
bool sp_mapped_add(struct sp_mapped *m, uint64_t addr, bool caller);
/*
 * The same, with a name that holds for this row only: where names follow addresses in stacks, one address may
 * have several.
 */
bool sp_mapped_add_named(struct sp_mapped *m, uint64_t addr, bool caller, struct sp_str name);

/* The address of the i-th of the row in work. */
static inline uint64_t sp_mapped_at(const struct sp_mapped *m, size_t i)
{
    return m->places.v[m->chain.v[m->begin + i]].addr;
}
/* Ends the row in work; or takes its addresses back. */
bool sp_mapped_row(struct sp_mapped *m, uint32_t context, const int64_t *values);
/* Another row of the last one's addresses. */
bool sp_mapped_again(struct sp_mapped *m, uint32_t context, const int64_t *values);
static inline void sp_mapped_drop(struct sp_mapped *m)
{
    m->chain.n = m->begin;
}

/*
 * A line of /proc/PID/maps, or of what other tools write:
 *
 *     START-END PERMS OFFSET MAJ:MIN INODE PATH
 *     START-END: PATH (@OFFSET) BUILD_ID
 *     NAME=VALUE                               replaces $NAME in what follows
 *
 * *known is false for any other line. Ranges that cannot be executed are passed over.
 */
spaa_status sp_mapped_line(struct sp_mapped *m, const char *p, size_t n, bool *known);
/* The lines up to the end of the input; those that are not known are reported. `line`: number of the first.
 */
spaa_status sp_mapped_lines(struct sp_mapped *m, const char *p, const char *end, uint64_t offset,
                            uint64_t line);
/* True for the line that opens the maps. */
bool sp_mapped_sentinel(const char *p, size_t n);
spaa_status sp_mapped_sort(struct sp_mapped *m);
const struct sp_mapped_range *sp_mapped_find(const struct sp_mapped *m, uint64_t addr);

/*
 * A name for an address that symbols are looked up at (for callers one before they return to); called several
 * times in a row for one address: functions inlined into each other, innermost first. Later groups for an
 * address that has one are passed over. `dso` may be empty. close: what follows is another group.
 */
spaa_status sp_mapped_name(struct sp_mapped *m, uint64_t addr, struct sp_str func, struct sp_str srcline,
                           struct sp_str dso);
void sp_mapped_close_name(struct sp_mapped *m);
/* The first name of an address, or NULL. */
const struct sp_mapped_label *sp_mapped_labels(const struct sp_mapped *m, uint64_t addr);
/*
 * The table in front of a symbolized profile, which p is at if it begins with "--- symbol": lines "0xADDR
 * INNER--OUTER", up to "---". *used is what it takes, with a line "--- profile" or the like behind it; 0
 * where there is none. The binary it names becomes *binary.
 */
spaa_status sp_mapped_symbols(struct sp_mapped *m, const char *p, const char *end, size_t *used,
                              struct sp_str *binary);
/* How many bytes such a table takes; 0: p is not at one, or its end cannot be seen. */
size_t sp_mapped_symbols_size(const char *p, const char *end);

/* Frames for all places, stacks for all rows; reports what has no map. */
spaa_status sp_mapped_finish(struct sp_mapped *m);
/* Appends `,"mappings":[…]` if there are any. */
void sp_mapped_json(const struct sp_mapped *m, struct sp_buf *b);

/* Numbers of all rows: as the profile's beginning says, and as its rows have them so far. */
#define SP_MAPPED_TOTALS 4
struct sp_mapped_totals {
    bool said;  /* there are totals, and sums have room */
    bool exact; /* the rows have no more than them either */
    int64_t all[SP_MAPPED_TOTALS], sum[SP_MAPPED_TOTALS];
};
void sp_mapped_sum(struct sp_mapped_totals *t, const int64_t v[static SP_MAPPED_TOTALS]); /* a row's */
/* At the end: says of the first number that the rows have less of. `what`: the plurals that they count. */
void sp_mapped_check(const struct sp_mapped_totals *t, const char *const what[static SP_MAPPED_TOTALS],
                     struct sp_diags *d);
/* Those of heap profiles: in use, and allocated ever. */
extern const char *const sp_mapped_heap_totals[SP_MAPPED_TOTALS];

/*
 * A sampled sum of allocations as an estimate of all: of those of one size each is seen with a probability of
 * 1 - exp(-size / rate). A rate up to 1 means that all were seen.
 */
void sp_mapped_unbias(int64_t count, int64_t bytes, int64_t rate, double *all_count, double *all_bytes);
int64_t sp_mapped_cut(double v); /* towards 0, within what a weight may be */

/* Text: blanks, numbers, and the addresses of a line as far as they go; all stop at end. */
static inline const char *sp_mapped_blank(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}
bool sp_mapped_int(const char **p, const char *end, int64_t *out);
/* What the addresses of a row are. */
enum sp_mapped_are {
    SP_MAPPED_CALLERS,    /* of returns, all of them */
    SP_MAPPED_LEAF_FIRST, /* of returns, but for the first one */
    SP_MAPPED_EXACT,
};
/* "0x1f 0x20 …" into the row in work. *p is where it ends. */
spaa_status sp_mapped_addresses(struct sp_mapped *m, const char **p, const char *end, enum sp_mapped_are are);
/* "N: BYTES [N: BYTES]" at *p, which moves behind it. */
bool sp_mapped_counts(const char **p, const char *end, int64_t v[static 4]);
/* The line at p: its length without \n and \r, and where the next one begins. */
size_t sp_mapped_eol(const char *p, const char *end, const char **next);
struct sp_str sp_mapped_trim(const char *p, size_t n);

#endif
