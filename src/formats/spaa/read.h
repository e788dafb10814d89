/*
 * State of the SPAA reader, shared by the files that read one record type each.
 *
 * A record function gets the cursor behind the opening brace of its object and reads to its end. What
 * the tables cannot hold (unknown members, known ones of a wrong type) goes to `more` as raw text, so
 * that nothing is lost; SPAA_ERR_INPUT from a record function means the line is no JSON and costs the
 * line, anything else stops.
 */
#ifndef SP_SPAA_READ_H
#define SP_SPAA_READ_H

#include "formats/spaa/chunks.h"
#include "formats/spaa/spaa.h"
#include "json/json.h"

enum { BYTES_PER_STACK = 512 /* of usual text, for room ahead of time */ };

struct idmap_entry {
    uint32_t text, number;
};

/* Dictionary ids of a file, as decoded text, to numbers of a table. */
struct idmap {
    uint32_t *direct; /* by small whole number: number + 1, 0: none */
    size_t ndirect;
    struct sp_map map; /* others, by hash of their text: position in ids */
    SP_VEC(struct idmap_entry) ids;
    size_t count;
    bool gaps; /* some id is not its number + 1, which all are in files of ours */
};

/* Texts of weight lists that were read before: literals around plain whole numbers. */
enum { TEMPLATE_VALUES = 8, TEMPLATES = 8 };
struct template
{
    struct sp_span part[TEMPLATE_VALUES + 1]; /* before, between and after the numbers */
    uint32_t layout, metrics[TEMPLATE_VALUES];
    unsigned n;
};

struct context_text {
    struct sp_span raw;
    uint32_t context;
};

/* A sample's or window row's reference that no stack has answered yet. */
struct pending {
    struct sp_stack_id id;
    uint32_t raw; /* its text */
    bool sample;
    size_t number;
};

struct reader {
    struct sp_input *in;
    struct sp_profile *p;
    const struct sp_read_opts *opts;
    struct sp_chunking chunking;
    struct sp_diags *d;
    struct sp_json j;
    uint64_t line, offset; /* of the record being read */
    const char *record;    /* its type */
    bool header_seen, deferred_pass;
    bool unended;                         /* at the last line, which has no newline */
    uint64_t learned;                     /* usual stack records read by this thread */
    uint64_t learned_frames, next_frames; /* the same of frames; how many are worth several threads */
    struct idmap dsos, frames;
    uint32_t last_function;     /* of the frame record before: they mostly come in groups */
    struct sp_buf more, more_x; /* members of the record being read without a field: others, x_… */
    struct sp_buf text, repaired;
    struct sp_walk *repair;         /* repair.c */
    SP_VEC(struct sp_value) values; /* of the weight list being read */
    SP_VEC(struct sp_weight_field) fields;
    SP_VEC(struct sp_edge) edges; /* of the stack being read */
    struct sp_arena texts; /* what templates and context texts point to */
    struct template templates[TEMPLATES];
    unsigned ntemplates, next_template, last_template;
    struct context_text recent; /* the last one */
    SP_VEC(struct context_text) contexts;
    struct sp_map context_map;
    struct sp_map window_map; /* id -> window */
    struct sp_map stack_map;  /* id -> stack, filled up to `mapped` */
    size_t mapped;
    bool duplicate_ids, unset_ids;
    SP_VEC(struct pending) pending;
    SP_VEC(struct sp_span) deferred; /* lines that use what is defined later */
    SP_VEC(uint64_t) deferred_lines;
    size_t deferred_bytes;
    uint64_t missing_refs;
};

/* ids.c */
bool sp_idmap_add(struct reader *r, struct idmap *m, struct sp_span id, uint32_t number, bool *duplicate);
uint32_t sp_idmap_find(const struct reader *r, const struct idmap *m, struct sp_span id);
/* The same of an id that is the shortest form of v; to add, one that is not there. */
uint32_t sp_idmap_find_number(const struct reader *r, const struct idmap *m, uint64_t v, struct sp_span id);
bool sp_idmap_add_number(struct reader *r, struct idmap *m, uint64_t v, struct sp_span id, uint32_t number);
void sp_idmap_free(struct idmap *m);
static inline uint32_t sp_idmap_small(const struct idmap *m, uint64_t id)
{
    if (!m->gaps)
        return id - 1 < m->count ? (uint32_t)id - 1 : SP_NONE;
    return id < m->ndirect ? m->direct[id] - 1 : SP_NONE; /* 0 - 1 is SP_NONE */
}
bool sp_read_stack_id(struct reader *r, struct sp_stack_id *id); /* at the value */
/* The stack of an id among those read so far, SP_NONE if there is none; false: out of memory. */
bool sp_find_stack(struct reader *r, const struct sp_stack_id *id, uint32_t *stack);
/* Enters the stacks read since the last call into stack_map; false: out of memory. */
bool sp_map_stacks(struct reader *r);
/* After the last record: duplicates, related stacks. */
spaa_status sp_finish_ids(struct reader *r);

/* reader.c */
struct sp_where sp_here(const struct reader *r, const char *field);
/* Reads a value as it stands into more; false on a JSON error. */
bool sp_keep_member(struct reader *r, struct sp_span key);
/* What sp_keep_member gathered, as a string number; SP_STR_FAIL when out of memory. */
uint32_t sp_take_more(struct reader *r);
/* Members of an object inside a record gather in buffers of their own, between begin and end. */
struct nest {
    struct sp_buf more, more_x;
};
void sp_nest_begin(struct reader *r, struct nest *n);
bool sp_nest_end(struct reader *r, struct nest *n, uint32_t *more);
/* The same as `x_odd_NAME` with a warning, for a known member whose value is none. */
bool sp_keep_odd(struct reader *r, struct sp_span key, const char *want);
/* A string value into a string number, or (wrong type) kept as it is with *out untouched. */
bool sp_read_str(struct reader *r, struct sp_span key, uint32_t *out);
bool sp_read_number_text(struct reader *r, struct sp_span key, uint32_t *out);
bool sp_read_raw(struct reader *r, uint32_t *out); /* any value, minified */
/*
 * An x_raw_hex object: strings that are no UTF-8, as the hex of their bytes. Each that names a field whose
 * text is what the writer makes of those bytes gets them back; anything else is kept as it is.
 */
struct raw_field {
    const char *name;
    uint32_t *str;
};
bool sp_read_raw_hex(struct reader *r, struct sp_span key, const struct raw_field *fields, size_t n);
bool sp_read_i64(struct reader *r, struct sp_span key, int64_t *out);
/* An id: a string, or a number's text. */
bool sp_read_id(struct reader *r, struct sp_span *out);
spaa_status sp_json_status(struct reader *r); /* of the record just read: OK, ERR_INPUT, ERR_NOMEM */

/* One line without its newline, whatever it is. */
spaa_status sp_take_line(struct reader *r, const char *p, size_t n);
/* parallel.c: the complete lines from text to end, which starts at `offset` of the input. */
spaa_status sp_read_parallel(struct reader *r, const struct sp_chunking *how, const char *text,
                             const char *end, uint64_t offset);

/*
 * repair.c: a record of this type without members that stand twice, and with those of a wrong type under
 * other names; *line is the same text, or one that lives until the next call.
 */
spaa_status sp_repair(struct reader *r, struct sp_span type, struct sp_span *line);
void sp_repair_free(struct reader *r);

/* Record functions. */
spaa_status sp_read_header(struct reader *r);
spaa_status sp_read_dso(struct reader *r);
spaa_status sp_read_frame(struct reader *r);
spaa_status sp_read_thread(struct reader *r);
spaa_status sp_read_stack(struct reader *r);
spaa_status sp_read_sample(struct reader *r);
spaa_status sp_read_window(struct reader *r);
bool sp_kind_fits(const struct sp_profile *p, uint32_t dso,
                  uint8_t kind); /* dict.c: of a frame in that DSO */
uint32_t
sp_missing_frame(struct reader *r); /* dict.c: stands for frames without a record; SP_NONE: no memory */
spaa_status sp_settle_inlines(struct reader *r);    /* inlines.c: likewise */
spaa_status sp_settle_references(struct reader *r); /* rest.c: after the last record */

/*
 * fast.c, frames.c: where the next line begins, when this one is a usual record of the kind and has been
 * entered; else NULL. Nothing from limit on is read. Only stacks are for several threads.
 */
const char *sp_fast_stack(struct reader *r, const char *line, const char *limit);
const char *sp_fast_frame(struct reader *r, const char *line, const char *limit);
/*
 * frames.c: usual frame records from the complete lines from *text to end, by several threads; *text is moved
 * to the first line that is something else. It stands at `offset` of the input.
 */
spaa_status sp_read_frames(struct reader *r, const struct sp_chunking *how, const char **text,
                           const char *end, uint64_t offset);
/* At *p: the template's literals around plain numbers; *p is moved behind them. */
bool sp_match_template(const struct template *t, const char **p, const char *end, int64_t *values);
/* At *p: a context whose text was read before, though not recently. */
bool sp_known_context(struct reader *r, const char **p, const char *end, uint32_t *context);
bool sp_our_id(struct sp_span s, struct sp_stack_id *id); /* ids.c */
static inline void sp_reverse(uint32_t *f, uint32_t n)
{
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t t = f[i];
        f[i] = f[n - 1 - i];
        f[n - 1 - i] = t;
    }
}

/* stack.c: a list of weights into r->values; *layout says of what. */
bool sp_read_weights(struct reader *r, uint32_t *layout);
bool sp_metric_named(struct reader *r, struct sp_span name, uint32_t *out); /* interned */

#endif
