/*
 * The inside of the validator. A line goes one of two roads:
 *
 *   validate.c   lines, the general road, and what can only be judged at the end
 *     walk.c     JSON syntax and duplicate keys of the whole line; lists the members of the record
 *     fields.c   the fields of fields.def: presence, type, enumeration; calls a check per value
 *     header.c dictionary.c stack.c weights.c   those checks
 *     refs.c     ids, references, links
 *   fast.c fast_dictionary.c fast_frames.c
 *                the usual lines of a written file, recognised as a whole; it handles a line only when
 *                the general road would find nothing (or only what it reports the same way) and leaves
 *                the same state behind
 *   parallel.c   threads recognise; what they do not is left to the other roads, in the order of lines
 */
#ifndef SP_VALIDATE_INTERNAL_H
#define SP_VALIDATE_INTERNAL_H

#include "base/diag.h"
#include "formats/spaa/chunks.h"
#include "formats/spaa/validate/decimal.h"
#include "formats/spaa/validate/ids.h"
#include "io/input.h"
#include "model/vocab.h"
#include "json/json.h"

enum sp_table {
#define SP_TABLE(table, where, begin) SP_T_##table,
#define SP_FIELD(table, name, need, type, check)
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
    SP_TABLES
};

enum {
    SP_FIELDS = 0
#define SP_TABLE(table, where, begin)
#define SP_FIELD(table, name, need, type, check) +1
#include "formats/spaa/fields.def"
#undef SP_TABLE
#undef SP_FIELD
};

enum sp_field_type {
    SP_IS_STRING,
    SP_IS_NUMBER,
    SP_IS_BOOL,
    SP_IS_ENUM,
    SP_IS_ID,
    SP_IS_OBJECT,
    SP_IS_LIST,
    SP_IS_IDS,
};

struct sp_validator;
struct sp_value;

struct sp_field {
    unsigned char table, type, inner, length; /* inner: the table of the objects in it; length: of the name */
    bool must;
    const char *name;
    const char *const *names; /* of an enumeration */
    void (*check)(struct sp_validator *v, const struct sp_value *x);
};

/* A value of the right type, lent to a check. */
struct sp_value {
    const struct sp_field *field;
    struct sp_span raw;
    struct sp_span text; /* of a string or id: decoded; of a number: as it stands. Valid during the check */
    bool truth;
    int choice;               /* of an enumeration */
    size_t index;             /* of an item */
    size_t members, nmembers; /* of an object, in v->members */
};

/* A member of an object that is being checked. */
struct sp_member {
    struct sp_fp key;
    struct sp_span name; /* decoded; p NULL where it had escapes */
    struct sp_span raw;
    bool prefixed; /* x_ */
};

/* What refers to an id; the names stand in refs.c. */
enum sp_ref {
    SP_REF_FRAME_DSO,
    SP_REF_STACK_FRAME,
    SP_REF_CONTEXT_TID,
    SP_REF_SAMPLE_TID,
    SP_REF_SAMPLE_CONTEXT_TID,
    SP_REF_RELATED,
    SP_REF_SAMPLE,
    SP_REF_WINDOW,
};

/* Metrics that rules speak about. */
enum sp_metric_class {
    SP_METRIC_PERIOD = 1,
    SP_METRIC_OBSERVATIONS = 2, /* samples, count */
    SP_METRIC_DERIVED = 4,
    SP_METRIC_CPU_TIME = 8,
    SP_METRIC_ALLOCATION = 16, /* a name that 9.2 lists, or that counts observations */
};

struct sp_weight {
    struct sp_fp metric;
    struct sp_span raw;   /* the item */
    struct sp_span name;  /* raw, with quotes */
    struct sp_span value; /* p NULL: none */
    unsigned classes;     /* enum sp_metric_class */
    bool has_metric, derivation;
};
typedef SP_VEC(struct sp_weight) sp_weights;

struct sp_event {
    struct sp_fp primary;
    bool has_primary, allocation, derivation;
};

enum sp_order { SP_ORDER_UNKNOWN, SP_LEAF_FIRST, SP_ROOT_FIRST };

struct sp_level { /* of nesting, while a line is walked */
    bool object;
    size_t keys;        /* keys of the levels outside */
    uint64_t serial;    /* tells objects apart in the big key set */
    struct sp_span key; /* of the member that is being read; p NULL: it had escapes */
    size_t index;       /* of the item that is being read */
};

struct sp_keyset { /* keys of objects that have many */
    struct sp_fp *slots;
    size_t mask, count;
};

struct sp_header_state {
    unsigned seen;     /* headers so far */
    bool events_known; /* the first header had a list of events */
    enum sp_order order;
    bool dtrace;
    bool derivation;
    bool has_range;
    struct sp_buf range; /* the numbers of time_range as text, one after the other */
    struct sp_span range_start, range_end;
    struct sp_decimal start_value, end_value;
    struct sp_ids event_ids; /* by name; an entry's number is the event's */
    struct sp_ids other_ids; /* names of a further header */
    SP_VEC(struct sp_event) events;
};

struct sp_stack_state { /* of the stack record that is being read; windows borrow its weights */
    uint32_t entry, event, thread;
    int type;
    bool has_weights, has_exclusive_weights, leaf_known, exclusive_known;
    unsigned kinds; /* enum sp_id_bits of the frames, or-ed */
    size_t frames;
    struct sp_fp leaf, exclusive_frame;
    const char *exclusive_at, *weights_at, *exclusive_weights_at;
    uint64_t findings;     /* before the context */
    SP_VEC(uint32_t) list; /* entries of the frames, SP_ID_NONE where not defined (yet) */
    sp_weights weights, exclusive;
};

struct sp_inline_findings {
    ptrdiff_t disorder, mismatch; /* positions in the list of frames, or -1 */
};

struct sp_fast; /* fast.c */

struct sp_validator {
    struct sp_input *in;
    struct sp_chunking chunking;
    struct sp_diags *d;
    spaa_status status; /* what ends the run: out of memory */
    bool limited;       /* some check is incomplete */
    uint64_t findings;

    /* The line. */
    uint64_t line, offset;
    const char *text;
    size_t n;
    const char *record;     /* its type, where that is known */
    bool whole;             /* it could be read to its end */
    bool clean;             /* it is JSON without duplicate keys: parts of it may be learned by heart */
    uint64_t line_findings; /* the findings before this line */
    bool records_before;    /* a record came before this line */
    struct sp_buf path;
    struct sp_json walker, reader;
    struct sp_buf patched; /* the line with bytes that are not UTF-8 replaced */
    SP_VEC(struct sp_level) levels;
    SP_VEC(struct sp_fp) keys;
    struct sp_keyset keyset;
    uint64_t serial;
    SP_VEC(struct sp_member) members;

    /* The file. */
    struct sp_header_state header;
    struct sp_ids dsos, frames, threads, stacks, windows, links;
    SP_VEC(struct sp_fp) odd_metrics; /* reported once each */

    /* The record that is being checked; see each file. */
    struct {
        struct sp_fp name;
        bool has_name, frequency, has_rate;
        const char *name_at;
        unsigned primary_classes;
        struct sp_event e;
    } event;
    struct {
        struct sp_span start, end;
    } range;
    struct {
        bool kernel_name, nameless, kernel;
        uint32_t entry;
        bool fresh;
    } dso;
    struct {
        uint32_t entry, dso, small;
        bool fresh, inlined, has_depth, unresolved, func_is_hex, has_dso, has_ip;
        uint64_t depth;
        int kind; /* -1: none */
        struct sp_fp dso_fp, ip, symoff;
        const char *func_at, *depth_at, *kind_at;
    } frame;
    struct sp_stack_state stack;
    struct sp_weight weight;
    size_t by_stack_index; /* of the item of a window */
    struct sp_fast *fast;  /* NULL: no shortcuts */
    uint64_t usual;        /* stacks and samples that it handled */

    struct sp_fp field_keys[SP_FIELDS], type_key;
    unsigned char first_field[SP_TABLES + 1];
};

/* validate.c */
/* limit: the end of what can be read, with a newline behind the line; NULL: there is none. */
void sp_check_line(struct sp_validator *v, const char *p, size_t n, const char *limit);
void sp_report(struct sp_validator *v, enum sp_code code, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void sp_report_title(struct sp_validator *v, enum sp_code code, const char *at); /* nothing to add */
/* The same about a place that is not in this line. */
void sp_report_at(struct sp_validator *v, enum sp_code code, struct sp_where where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void sp_limited(struct sp_validator *v, const char *what);
/* Appends ".name" or "[index]" to the path of the next findings; returns what sp_path_cut takes back. */
size_t sp_path_push(struct sp_validator *v, const char *name, size_t n);
size_t sp_path_item(struct sp_validator *v, size_t index);
void sp_path_cut(struct sp_validator *v, size_t len);
/* For "%.*s": at most 80 bytes of a text, cut between characters. */
int sp_clip(struct sp_span s);
#define SP_CLIP(s) sp_clip(s), (s).p

/* walk.c: true when the line is JSON; its members stand in v->members then, or as many as were read. */
bool sp_walk(struct sp_validator *v, bool *object);
void sp_walk_free(struct sp_validator *v);

/* fields.c */
void sp_check_table(struct sp_validator *v, enum sp_table table, const char *at, size_t first, size_t n);
bool sp_field_known(const struct sp_validator *v, enum sp_table table, struct sp_fp key);
void sp_fields_init(struct sp_validator *v);
extern const char *const sp_frame_orders[], *const sp_stack_id_modes[];

/* refs.c */
uint32_t sp_refer(struct sp_validator *v, struct sp_ids *t, struct sp_span id, const char *at, enum sp_ref by,
                  size_t index);
/* With the fingerprint of the id, which is not looked for among small numbers. */
uint32_t sp_refer_fp(struct sp_validator *v, struct sp_ids *t, struct sp_fp fp, struct sp_span id,
                     const char *at, enum sp_ref by, size_t index);
void sp_refer_again(struct sp_id *e); /* a further reference to an entry that may be pending */
/* *fresh: not defined before. SP_ID_NONE when there is no room for it. */
uint32_t sp_define(struct sp_validator *v, struct sp_ids *t, const struct sp_value *id, bool *fresh);
void sp_link(struct sp_validator *v, uint32_t from, uint32_t to, const char *at, size_t index);
void sp_judge_references(struct sp_validator *v, bool all_read);

/* The ends of records: what is judged by several fields together. */
void sp_finish_header(struct sp_validator *v);
void sp_finish_dso(struct sp_validator *v);
void sp_finish_frame(struct sp_validator *v);
void sp_finish_stack(struct sp_validator *v);
void sp_finish_weights(struct sp_validator *v, const struct sp_event *event);
void sp_finish_sample(struct sp_validator *v);
void sp_finish_window(struct sp_validator *v);

/* Shared by these and the fast road */
struct sp_span sp_member_raw(const struct sp_validator *v, size_t first, size_t n, const char *name);
bool sp_time_in_range(const struct sp_header_state *h, struct sp_span t);
unsigned sp_metric_classes(struct sp_span name);
struct sp_inline_findings sp_inline_check(const struct sp_validator *v, const uint32_t *list, size_t n);
void sp_report_no_exclusive(struct sp_validator *v);

/* fast.c */
bool sp_fast_init(struct sp_validator *v);
void sp_fast_free(struct sp_validator *v);
/*
 * Where the next line begins, when the one at p was handled, else NULL. A newline stands before limit;
 * nothing from there on is read.
 */
const char *sp_fast_line(struct sp_validator *v, const char *p, const char *limit);
/* parallel.c: the complete lines from text to end, which begin at `offset` of the input. */
void sp_validate_parallel(struct sp_validator *v, const char *text, const char *end, uint64_t offset);
void sp_fast_learn_context(struct sp_validator *v, struct sp_span raw);
void sp_fast_learn_weights(struct sp_validator *v, struct sp_span raw);

#endif
