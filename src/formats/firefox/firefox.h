/*
 * The processed profile format of the Firefox Profiler, https://profiler.firefox.com: what it saves, and what
 * samply, and importers of many others, write. By src/types/profile.ts and
 * docs-developer/CHANGELOG-formats.md of github.com/firefox-devtools/profiler.
 *
 *     {"meta":{"interval":1,"startTime":0,"preprocessedProfileVersion":60,"categories":[…],…},"libs":[…],
 *      "shared":{"stringArray":[…],"stackTable":{"frame":[…],"prefix":[null,0,…],"length":n},"frameTable":{…},
 *                "funcTable":{…},"resourceTable":{…},…},
 *      "threads":[{"name":"app","pid":"7","tid":7,"samples":{"stack":[…],"time":[…],"weight":…,…},…}]}
 *
 * Tables are columns; numbers in them are rows of other tables. Which tables threads share has grown: the
 * strings in version 56, all that frames are made of in 60. Both places are looked at, whatever the version
 * says:
 *
 *     19  stringArray, before: stringTable        41  libs of the whole, before: of the thread
 *     50  timeDeltas in place of time             58  source of functions, before: fileName
 *     66  prefixOffset in place of prefix         70  lib of frames, before: of their functions' resources
 *
 * The unprocessed format of Gecko (tables with `schema` and `data`) is another one, and is not read.
 */
#ifndef SP_FIREFOX_H
#define SP_FIREFOX_H

#include "formats/common/threads/threads.h"
#include "formats/format.h"
#include "json/find.h"

#define SP_FF_VERSION 60 /* that is written: profiler.firefox.com makes later ones of it */

/* Categories that are written, and known when they are read. */
enum sp_ff_category { SP_FF_OTHER, SP_FF_USER, SP_FF_KERNEL, SP_FF_JIT, SP_FF_CATEGORIES };
extern const char *const sp_ff_categories[];

int sp_ff_probe(const unsigned char *p, size_t n, bool whole, const char **reason);
spaa_status sp_ff_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                       struct sp_profile *p);

/* ---- writing ---- */

struct sp_ff_lib {
    uint32_t dso;
};
struct sp_ff_func {
    uint32_t name, source; /* in strings; SP_NONE: none */
    uint32_t lib;          /* SP_NONE: none */
    uint32_t js;           /* a script's, that its place tells from others of its name */
    int64_t line, column;  /* where it begins; 0: not known */
};
struct sp_ff_frame {
    uint32_t func, category, depth;
    int64_t address, line, column; /* address -1, others 0: not known */
};
struct sp_ff_node {
    uint32_t frame, prefix; /* SP_NONE: a root */
};
struct sp_ff_row {
    uint32_t thread, node; /* SP_NONE: no stack */
    int64_t time;          /* ns */
    __int128 weight;       /* in 10^-9 of the metric's unit */
};

struct sp_ff_writer {
    struct sp_profile *p;
    const struct sp_write_opts *opts;
    struct sp_diags *d;
    struct sp_output *out;
    struct sp_rows rows;
    struct sp_entries entries;
    uint32_t *source_of; /* by function: the file of its lines, in strs; SP_STR_NONE: none */
    struct sp_strtab strings;
    SP_VEC(struct sp_ff_lib) libs;
    uint32_t *lib_of; /* by DSO, 1 + its number; 0: not met yet */
    struct sp_strtab func_keys;
    SP_VEC(struct sp_ff_func) funcs;
    SP_VEC(struct sp_ff_frame) frames;
    SP_VEC(struct sp_ff_node) nodes;
    struct sp_map node_map;
    SP_VEC(struct sp_ff_row) samples;
    bool timed;
    int64_t start;      /* of the times, on the profile's clock */
    int64_t unit_ns;    /* of the metric; 0: it is no time */
    uint64_t elsewhere; /* lines in another file than the rest of their function */
};

/* write_tables.c: strings, libraries, functions, frames and stacks of the rows. */
bool sp_ff_tables(struct sp_ff_writer *w);
bool sp_ff_samples(struct sp_ff_writer *w); /* write_samples.c: rows of threads, with or without times */
bool sp_ff_put(struct sp_ff_writer *w);     /* write_json.c */
/* The node of a path, which is made where it is not there yet; false: out of memory. */
bool sp_ff_node(struct sp_ff_writer *w, const uint32_t *path, uint32_t n, uint32_t *node);
spaa_status sp_ff_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out);

#endif
