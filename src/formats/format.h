/*
 * What a format is to the rest of the program, and the table of them.
 *
 * To add one: a folder here with reader.c and/or writer.c that defines one
 * `const struct spaa_format spaa_format_NAME`, its line in formats.def, its files in the folder's
 * meson.build. The command line, `spaa formats`, the docs table, the fuzz targets and the sweeps of
 * the tests come from that line.
 */
#ifndef SP_FORMAT_H
#define SP_FORMAT_H

#include "base/diag.h"
#include "io/input.h"
#include "io/output.h"
#include "model/labels.h"
#include "model/profile.h"
#include "symbols/symbols.h"

struct sp_keeper; /* formats/original.h */

enum sp_format_cap {
    SP_CAN_READ = 1,
    SP_CAN_WRITE = 2,
    SP_NAMES_FROM_SYMBOLS = 4, /* names of frames that have an address come from other files */
    SP_CAN_VALIDATE = 8,
    SP_CAN_DUMP = 16,
    SP_CAN_STATE_OWN = 32,  /* a stack's record says what of it is its leaf's own (model/callees.h) */
    SP_NAMES_LACKING = 64,  /* its frames may lack names that files have which are named to look in */
    SP_OF_BRANCHES = 128,   /* it holds branches, and no stacks */
    SP_SPELLS_STACKS = 256, /* what is written has the names of all frames of each stack */
};

/*
 * How much of the start of the (decompressed) input probes see: SP_PROBE_BYTES, and where the first line is
 * longer, that line, unless it has more than SP_PROBE_LINE bytes.
 */
#define SP_PROBE_BYTES ((size_t)64 << 10)
#define SP_PROBE_LINE  ((size_t)16 << 20)
#define SP_PROBE_SURE  50 /* the score from which on a format is taken; below, it is a guess for a message */

#define SP_READ_CUTS 2

/* A format's own option as given: `--name value`; value is NULL for flags. */
struct sp_own_opt {
    const char *name, *value;
};

struct sp_read_opts {
    enum sp_granularity frames; /* SP_FRAMES_ADDRESS keeps everything */
    unsigned group_by;          /* enum sp_group bits; what the format cannot know is left out */
    const struct sp_label_keys
        *labels; /* what to tell stacks apart by that have labels; NULL: all there are */
    /* Labels that options name: what is known of a whole thread or input becomes labels of its stacks for
     * these alone. NULL: none. */
    const struct sp_label_keys *asked;
    bool samples;     /* keep raw samples (model/samples.h) */
    bool fields;      /* the same where some event is a tracepoint with fields */
    unsigned windows; /* where the input tells what was freed when: windows of time, at most; 0: none */
    bool windows_do;  /* where there are these, samples are not wanted */
    int64_t cuts[SP_READ_CUTS]; /* windows begin there, beside: ns from the start, ascending; 0: none */
    bool stops; /* of such an input nothing that came at `stop` (ns from the start) or later counts:
                   the profile is what it was then, and says so (sp_header.stopped) */
    int64_t stop;
    struct sp_keeper *keeper; /* keeps the bytes of the input (formats/original.h); NULL: nobody does */
    bool strict;              /* stop at the first thing that would be skipped */
    bool no_ids;              /* nobody will ask for the stacks' ids: none need be checked or kept */
    unsigned jobs;            /* threads; 0 and 1: one */
    const char *event;        /* the name of an event whose text does not name it, or NULL */
    struct sp_symbol_opts symbols;
    bool names_later; /* whoever reads it looks up what names are lacking (sp_symbolize) */
    const struct sp_own_opt *own;
    size_t nown;
};

/* What becomes of an original that the profile has of the format to be written. */
enum sp_original_use {
    SP_ORIGINAL_USED, /* it is what is written, where it still is what was read; else it is rendered, and said
                       */
    SP_ORIGINAL_ASKED, /* likewise, but one that is damaged is an error */
    SP_ORIGINAL_UNUSED,
};

struct sp_write_opts {
    enum sp_original_use original;
    uint32_t event;  /* events number, or SP_NONE: all that the format can hold */
    uint32_t metric; /* metrics number, or SP_NONE: the format's choice */
    bool expand;     /* however long it gets (model/extent.h) */
    bool add_states; /* thread states were chosen: they may be added up without a word */
    unsigned jobs;
    const struct sp_own_opt *own;
    size_t nown;
};

struct sp_format_option {
    const char *name;  /* without dashes */
    const char *value; /* what stands after it ("NAMES"), or NULL for a flag */
    const char *help;  /* one line */
    unsigned when;     /* SP_CAN_READ, SP_CAN_WRITE or both */
};

/* A part of a file that `spaa dump --section NAME` can show alone. */
struct sp_dump_section {
    const char *name;
    const char *help; /* one line */
};

struct spaa_format {
    const char *name;       /* "perf-data" */
    const char *title;      /* "Linux perf.data" */
    const char *extensions; /* space-separated, without dots: "perf.data data"; first one is for writing */
    const char *media_type; /* or NULL */
    const char *comes_back; /* what a round trip gives: one sentence */
    unsigned caps;
    const struct sp_format_option *options; /* name NULL ends; may be NULL */
    const struct sp_dump_section *sections; /* of dump; name NULL ends; at most 32 */
    /*
     * NULL: it is not read. 0: no; 1..100: how sure, with *reason set to a literal. SP_PROBE_SURE and more
     * only where nearly all of what is seen is well formed. p is what sp_probe_view gives, `whole` when that
     * is everything. Must not look at the name.
     */
    int (*probe)(const unsigned char *p, size_t n, bool whole, const char **reason);
    /*
     * Fills an empty profile. Bad parts are skipped and reported; fails only when nothing useful can
     * be had (or opts->strict). The profile is the caller's to free either way.
     */
    spaa_status (*read)(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                        struct sp_profile *p);
    spaa_status (*write)(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                         struct sp_output *out);
    /* Checks the input, reporting into d; errors there mean "invalid". */
    spaa_status (*validate)(struct sp_input *in, struct sp_diags *d);
    /*
     * The native records in file order as JSON lines, in constant memory where the format allows it: each an
     * object whose first member `section` is the name of its section. Bit i of `sections` asks for
     * sections[i]. Damage is reported, and what can be read is shown.
     */
    spaa_status (*dump)(struct sp_input *in, unsigned sections, struct sp_diags *d, struct sp_output *out);
};

extern const struct spaa_format *const spaa_formats[]; /* NULL-terminated */

const struct spaa_format *sp_format_by_name(const char *name);
/* By the longest matching extension, ignoring .zst and .gz. */
const struct spaa_format *sp_format_by_path(const char *path);
/* What comes nearest where no probe is sure: NULL, or why. */
struct sp_guess {
    const struct spaa_format *format;
    const char *reason;
};
/* The format of an input by content; NULL when no probe is sure. guess may be NULL. */
const struct spaa_format *sp_format_probe(struct sp_input *in, struct sp_guess *guess);
/* The bytes that probes see. */
spaa_status sp_probe_view(struct sp_input *in, const unsigned char **p, size_t *n, bool *whole);
/* Whether the bytes can be text: a stray control character is no matter, an object file's are. */
bool sp_probe_is_text(const unsigned char *p, size_t n);
/* The value of an own option ("" for a flag), or NULL when it was not given. */
const char *sp_own_opt(const struct sp_own_opt *own, size_t n, const char *name);

#endif
