/*
 * DTrace's printed aggregations (docs/dtrace.md): what the files of this folder share.
 *
 *     CPU     ID                    FUNCTION:NAME
 *       0  64091                        :tick-60s
 *
 *       bash                                                           <- keys before a stack: on its line
 *                   genunix`read+0x10                                  <- a stack begins with a newline
 *                   unix`sys_syscall+0x17a
 *
 *                   libc.so.1`_read+0xa                                <- a second one
 *                     17                                               <- the value
 *
 * The text has no grammar that could be trusted line by line: a number may be a key or a value, which the
 * next line decides (a stack that follows without a blank line makes it a key); titles and what the program
 * prints may stand anywhere. line.c says what a line can be by itself, take.c what it is here.
 */
#ifndef SP_DTRACE_H
#define SP_DTRACE_H

#include "base/buf.h"
#include "formats/common/aggregation/function.h"
#include "formats/common/aggregation/keys.h"
#include "formats/common/aggregation/lines.h"
#include "formats/common/text/lines.h"
#include "formats/format.h"

enum {
    DT_KEYS_MAX = SP_AGG_KEYS_MAX,
    DT_STACKS_MAX = SP_AGG_STACKS_MAX,
    DT_INDENT = 14,
    DT_STRING_WIDTH = 50,
    DT_VALUE_WIDTH = 16,
    DT_KEY_WIDTH = 8 /* of integers of at most 32 bits; others are as wide as values */
};

struct dt_text {
    const char *p;
    size_t n;
};

enum dt_kind {
    DT_BLANK,
    DT_NUMBER,   /* nothing but an integer */
    DT_FRAME,    /* module`symbol, symbol+0x1f, or an address */
    DT_NOTE,     /* "[ text ]": about the frame above */
    DT_HEAD,     /* "value  --- Distribution --- count" */
    DT_HIST,     /* "key  --- Distribution --- count": see bars.c */
    DT_PACK,     /* "key  min .---. max | count" */
    DT_ROW,      /* "16 |@@@@  3" */
    DT_PROLOGUE, /* "CPU ID FUNCTION:NAME" */
    DT_FIRING,   /* "0  64091  :tick-60s" */
    DT_MESSAGE,  /* "dtrace: …" */
    DT_TEXT,
};

struct dt_line {
    enum dt_kind kind;
    struct dt_text text;  /* without the blanks around it */
    size_t indent;        /* columns; a tab goes to the next multiple of eight */
    int64_t number;       /* DT_NUMBER; DT_ROW: the count */
    struct dt_text label; /* DT_ROW: "16", "<0", ">=100"; DT_FIRING: FUNCTION:NAME */
};

void dt_classify(const char *p, size_t n, struct dt_line *out);
/* "bash     1234      17": up to max words, split where two blanks or a number to the right stand. */
size_t dt_words(struct dt_text t, struct dt_text *out, size_t max);
bool dt_integer(struct dt_text t, int64_t *out);
/* "ffffffff8134f1d0": an address without 0x, which may be nothing but decimal digits. */
bool dt_bare_address(struct dt_text t);
/* How long the piece of a distribution's bar at p is, 0: it is none. */
size_t dt_bar_at(const char *p, const char *end);

/* bars.c */
bool dt_is_barred(const char *p, size_t n, bool pack, struct dt_text *keys, struct dt_text *number);
/*
 * A line of keys, a bar and a value, as dtrace prints keys and value without bars; false: it is no such line.
 * The buffer may have failed.
 */
bool dt_unpacked(const char *p, size_t n, bool pack, struct sp_buf *out);

/* value.c: "sshd ms:12": the value at the end of a line, and the keys before it, without the value's label.
 */
bool dt_value_at_end(struct dt_text t, struct dt_text *keys, int64_t *v);
/* "12 sshd" */
bool dt_value_at_start(struct dt_text t, struct dt_text *keys, int64_t *v);
/* Do keys, and a value, stand in the columns where dtrace puts them unless a program formats them? */
bool dt_default_print(struct dt_text t, size_t indent);
/* Whether a line ends with a number in the columns of a key of at most 32 bits, which no value has. */
bool dt_ends_in_key(struct dt_text t, size_t indent);

/* The text of a frame line to frames of the aggregation: several where `a->b` stands for inlined ones. */
bool dt_frame(struct sp_agg *a, struct dt_text t, uint32_t *first, uint32_t *n);

struct dt_group {
    uint32_t title, event;
    struct sp_agg_seen seen;
    uint16_t after;        /* empty.c: 1 + blank lines behind the second of two stacks; 0: none was met */
    uint16_t fewest, most; /* the same behind the only stack of a record */
};

/*
 * A number in the line before a record's first stack. It is a key, unless no value follows the stack:
 * printa("%@d%k", @) puts the value first.
 */
struct dt_lead {
    bool is;
    int64_t v;
    uint32_t first, n; /* the keys that the line became */
    uint32_t keys;     /* the text of the line without the value, or SP_STR_NONE */
};

struct dt_reader {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_agg agg;
    struct sp_agg_keys keys; /* .stacks counts the stacks of the record in work */
    struct sp_lines lines;

    struct sp_agg_lines known; /* frames, and notes: see take_note */

    /* The record in work. */
    bool open;     /* it has begun */
    bool sure;     /* some line of it can be nothing else than a frame */
    bool in_block; /* frames are being added to its last block */
    bool gap;      /* a blank line was the last */
    bool in_rows;  /* a distribution is being read */
    size_t indent; /* of the block's frames */
    size_t first_block, first_value;
    uint64_t first_line;
    int64_t rows_total;
    struct dt_lead lead;

    bool held;         /* a number whose meaning the next line decides */
    bool held_gap;     /* with a blank line before it */
    bool held_default; /* in the columns where dtrace prints values */
    bool waited;       /* one blank line has followed what waits: of an empty stack, if frames are next */
    bool held_key;     /* in the columns of a key that is too narrow for a value */
    size_t held_indent, held_digits;
    int64_t held_number;
    struct sp_buf last; /* the last line of text, or empty */
    bool tail;          /* it ends in a number that the next line makes a value, or a key */
    size_t last_indent;
    uint64_t last_line;
    bool last_gap; /* a blank line followed it */
    size_t blanks; /* blank lines since the last other one */
    size_t after;  /* blank lines right behind the last frame */
    bool behind;   /* no other line has followed it yet */

    /* What was learned. */
    SP_VEC(struct dt_group) groups;
    uint32_t group;     /* the current one */
    bool any;           /* a record was entered */
    bool leads;         /* the last record with a number before its stack had its value there */
    bool trails;        /* it had its value behind the stack */
    bool any_leads;     /* a value stood before its stack */
    bool bare;          /* addresses are printed without 0x */
    bool hist, pack;    /* values stand beside bars: see bars.c; pack: of distributions */
    bool packed;        /* and some did */
    struct sp_buf line; /* such a one, rewritten */
    size_t run;         /* see move_values; SIZE_MAX: none */
    uint64_t firings, other_lines, unfinished;
    uint32_t
        probe; /* processor, probe id and FUNCTION:NAME of the first line of a probe that printed, as JSON */
    struct sp_agg_functions functions;
    int64_t off_cpu; /* ns in the unit of times off the CPU, 0: values are something else */
};

/* take.c */
spaa_status dt_take_line(void *reader, const char *p, size_t n);
spaa_status dt_take_end(struct dt_reader *r);
/* header.c */
spaa_status dt_header(struct dt_reader *r);

int dt_probe(const unsigned char *p, size_t n, bool whole, const char **reason);
spaa_status dt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                     struct sp_output *out);

#endif
