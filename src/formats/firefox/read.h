/* Parts of the reader of processed profiles (firefox.h). */
#ifndef SP_FIREFOX_READ_H
#define SP_FIREFOX_READ_H

#include "formats/common/text/json_file.h"
#include "formats/firefox/firefox.h"

/* A column of numbers; SP_ABSENT: null, or no number. */
struct sp_ff_column {
    int64_t *v;
    size_t n, cap;
};
/* Numbers that are no whole ones, in 10^-9. */
struct sp_ff_decimals {
    __int128 *v;
    size_t n, cap;
};
static inline int64_t sp_ff_at(const struct sp_ff_column *c, int64_t i)
{
    return i >= 0 && (uint64_t)i < c->n ? c->v[i] : SP_ABSENT;
}

/* A library: a DSO once a frame is of it. */
struct sp_ff_lib_row {
    struct sp_span raw;
    uint32_t dso[2]; /* 1 + its number, as a program's and as the kernel's; 0: not met yet */
};

/* What stacks are made of: of the whole file, or of a thread. */
struct sp_ff_tables {
    SP_VEC(struct sp_span) strings; /* as JSON */
    struct sp_ff_column frame, prefix, offset;
    struct sp_ff_column func, address, depth, category, line, column, lib;
    struct sp_ff_column name, resource, source, file, first_line, first_column,
        js; /* js: SP_ABSENT, it is none */
    struct sp_ff_column resource_lib, resource_name, source_file;
    SP_VEC(struct sp_ff_lib_row) libs;
    uint32_t *frame_of; /* by frame, 1 + its number in the profile; 0: not met yet */
};

enum sp_ff_kind { SP_FF_SAMPLES, SP_FF_COUNTED, SP_FF_TRACING, SP_FF_BYTES, SP_FF_KINDS };

struct sp_ff_reader {
    struct sp_profile *p;
    struct sp_diags *d;
    const struct sp_read_opts *opts;
    struct sp_json_file file;
    struct sp_span interval, product;
    bool ours;                 /* the file was written by spaa */
    int64_t start;             /* ns since 1970; 0: not known */
    int64_t cpu_unit;          /* of threadCPUDelta in ns; 0: none */
    struct sp_ff_column kinds; /* of categories: enum sp_frame_kind */
    struct sp_ff_tables shared, own;
    uint32_t events[SP_FF_KINDS], metrics[SP_FF_KINDS], layouts[SP_FF_KINDS], cpu;
    struct sp_buf b;
    SP_VEC(uint32_t) path;
    size_t frames_max;
    bool timed;
    int64_t first, last;
    uint64_t bad, rounded, markers, allocations, traced, counters;
    spaa_status status;
};

bool sp_ff_fail(struct sp_ff_reader *r); /* out of memory: false */
/* Members of an object's text: of what is damaged those before it. False: r->status says why. */
bool sp_ff_members(struct sp_ff_reader *r, struct sp_span object, struct sp_json_member *want, size_t n);
/* columns.c. False: r->status says why. Damage is reported. */
bool sp_ff_column(struct sp_ff_reader *r, struct sp_span raw, unsigned digits, struct sp_ff_column *out);
/* Whole numbers; of others SP_DECIMAL, and what they are follows in `decimals`. */
bool sp_ff_numbers(struct sp_ff_reader *r, struct sp_span raw, struct sp_ff_column *out,
                   struct sp_ff_decimals *decimals);
/* All tables that an object has: the file's `shared`, or a thread. */
bool sp_ff_read_tables(struct sp_ff_reader *r, struct sp_span object, struct sp_ff_tables *t);
bool sp_ff_read_libs(struct sp_ff_reader *r, struct sp_span libs, struct sp_ff_tables *t);
/* The DSO of a library; SP_NONE: out of memory. */
uint32_t sp_ff_lib_dso(struct sp_ff_reader *r, struct sp_ff_lib_row *lib, bool kernel);
void sp_ff_free_tables(struct sp_ff_tables *t);
/* What ended a walk over a part of the text, reported. */
bool sp_ff_ended(struct sp_ff_reader *r, const struct sp_json *j);
/* A string of the tables, decoded into r->b; n 0: there is none. */
struct sp_str sp_ff_text(struct sp_ff_reader *r, const struct sp_ff_tables *t, int64_t string);

/* stacks.c: the frames of a stack into r->path, leaf first. `t` has what the thread has, else what is shared.
 */
bool sp_ff_path(struct sp_ff_reader *r, struct sp_ff_tables *t, int64_t stack);

/* thread.c */
bool sp_ff_read_thread(struct sp_ff_reader *r, struct sp_span thread);

#endif
