/*
 * bpftrace's printed maps (docs/bpftrace.md), as text and as JSON lines (-f json): what the files here share.
 *
 *     @[
 *         schedule+35                                        a stack key begins with a newline
 *         entry_SYSCALL_64_after_hwframe+118
 *     ,                                                      the next key after a comma and a blank
 *         0x7f61937691f5
 *     , hasher]: 12                                          the value, or rows of a distribution below
 *
 * An empty stack prints nothing: `@[, , sleeper]: 1`. In JSON the same key is one string, with commas alone
 * between its parts.
 */
#ifndef SP_BPFTRACE_H
#define SP_BPFTRACE_H

#include "formats/common/aggregation/function.h"
#include "formats/common/aggregation/keys.h"
#include "formats/common/aggregation/lines.h"
#include "formats/common/text/lines.h"
#include "formats/format.h"
#include "json/json.h"

struct bt_map {
    uint32_t name, event;
    struct sp_agg_seen seen;
};

struct bt_reader {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_agg agg;
    struct sp_agg_keys keys;
    struct sp_lines lines;

    struct sp_agg_lines known; /* frames */
    bool lined, inlined;       /* some frame has a line, or is inlined */
    SP_VEC(struct bt_map) maps;

    /* The record in work. */
    bool open;      /* its keys are being read */
    bool in_stack;  /* lines are frames */
    bool in_rows;   /* lines are a distribution */
    bool in_series; /* lines are a time series, up to a blank one */
    bool average;   /* the value is marked as an average */
    uint32_t map;   /* its name */
    size_t first_block, first_value;
    uint64_t first_line;
    int64_t rows_total;

    struct sp_agg_functions functions;
    struct sp_json json;
    bool any;
    uint64_t other_lines, unfinished;
    int64_t off_cpu; /* ns in the unit of times off the CPU, 0: values are something else */
};

/* frame.c: a frame line without its newline goes to the last block. */
bool bt_frame(struct bt_reader *r, const char *p, size_t n);
/* How deep the inlined frames of the record in work are: when it has them all. */
bool bt_frames_inlined(struct bt_reader *r);

/* record.c: records, from whichever form */
bool bt_begin(struct bt_reader *r, const char *map, size_t n);
bool bt_stack(struct bt_reader *r); /* begins a stack key */
bool bt_scalar(struct bt_reader *r, const char *p, size_t n);
/*
 * Where a key of [p, end) ends, at a separator or at the end: tuples, records and arrays, which have
 * separators within, are one.
 */
const char *bt_key_end(const char *p, const char *end, const char *separator);
void bt_lost(struct bt_reader *r, uint64_t events);
spaa_status bt_end(struct bt_reader *r); /* all its values are there */
void bt_abandon(struct bt_reader *r);
/* A value by the name of its metric; "" is the primary one. */
bool bt_value(struct bt_reader *r, const char *metric, const char *p, size_t n);
/* A row of a distribution: "[64K, 128K)". SPAA_ERR_LIMIT when there are more kinds than metrics. */
spaa_status bt_bucket(struct bt_reader *r, const char *label, size_t n, int64_t count);

/* text.c */
spaa_status bt_take_line(void *reader, const char *p, size_t n);
spaa_status bt_take_end(struct bt_reader *r);
/* "@name[" or "@name: " at p: the length of the name with its @; 0: it is none. */
size_t bt_map_name(const char *p, const char *end);
/* json.c: a line that is an object */
spaa_status bt_take_json(struct bt_reader *r, const char *p, size_t n);

int bt_probe(const unsigned char *p, size_t n, bool whole, const char **reason);
spaa_status bt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                     struct sp_output *out);

#endif
