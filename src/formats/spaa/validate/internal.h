/*
 * The inside of the validator.
 *
 *   validate.c   lines and chunks of lines, by one thread or several; reports, and their order
 *   fields.c     a decoded record against fields.def: presence, type, enumeration; calls a check per value
 *   facts.c sources.c   records of facts and of source text, which fields.def knows nothing of
 *   header.c dictionary.c stack.c weights.c   those checks
 *   refs.c       ids, references, links; and what a thread notes of them
 *   syntax.c     errors of JSON and duplicate keys, of lines that have any
 *
 * A line is decoded (../decode.h), then judged field by field. Judging looks at what is known of the file
 * (struct sp_known), changes that, and reports. One of several threads may only look: it notes what is to be
 * changed and reported, and its notes are entered in the order of the lines. A line that cannot be judged
 * without changing what the other threads look at, or whose findings need words, is judged again when its
 * turn has come.
 */
#ifndef SP_VALIDATE_INTERNAL_H
#define SP_VALIDATE_INTERNAL_H

#include "base/diag.h"
#include "formats/spaa/chunks.h"
#include "formats/spaa/decode.h"
#include "formats/spaa/validate/decimal.h"
#include "formats/spaa/validate/ids.h"
#include "io/input.h"
#include "model/fact_fields.h"
#include "model/functions.h"
#include "model/originals.h"
#include "model/vocab.h"

/* A value of the right type, lent to a check. */
struct sp_checked {
    const struct sp_field_info *field;
    struct sp_span raw;  /* of an object, only where it begins */
    struct sp_span text; /* of a string or id: decoded; of a number: as it stands. Valid during the check */
    bool truth;
    int choice;                   /* of an enumeration */
    size_t index;                 /* of an item */
    const struct sp_rec *rec;     /* of an object */
    const struct sp_nested *list; /* of ids */
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

/* A weight of the record that is being judged. */
struct sp_weight {
    struct sp_fp metric;
    struct sp_span raw;   /* the item */
    struct sp_span name;  /* raw, with quotes */
    struct sp_span value; /* p NULL: none */
    unsigned classes;     /* enum sp_metric_class */
    bool has_metric, derivation;
};
typedef SP_VEC(struct sp_weight) sp_weights;

/* What the rules about weights ask of an event. */
struct sp_event_rules {
    struct sp_fp primary;
    bool has_primary, allocation, derivation;
};

enum sp_frame_order { SP_ORDER_UNKNOWN, SP_LEAF_FIRST, SP_ROOT_FIRST };

/* What the first header says. */
struct sp_header_known {
    unsigned seen;     /* headers so far */
    bool events_known; /* it had a list of events */
    enum sp_frame_order order;
    bool dtrace;
    bool differences; /* weights of its tool may be below zero: sums, and deltas */
    bool derivation;
    bool has_range;
    struct sp_buf range; /* the numbers of time_range as text, one after the other */
    struct sp_span range_start, range_end;
    struct sp_digits start_value, end_value;
    struct sp_ids event_ids; /* by name; an entry's number is the event's */
    struct sp_ids other_ids; /* names of a further header */
    SP_VEC(struct sp_event_rules) events;
};

/* What is known of the file so far. */
struct sp_known {
    struct sp_diags *d;
    bool limited;        /* some check is incomplete */
    bool records_before; /* a record came before this line */
    struct sp_header_known header;
    struct sp_ids dsos, frames, threads, stacks, windows, links;
    struct sp_ids metrics;                     /* one more than there may be, at most */
    SP_VEC(struct sp_fp) odd_metrics;          /* reported once each */
    struct sp_originals *originals;            /* its x_original records; NULL: none */
    uint64_t originals_line, originals_offset; /* of the first of them */
};

/* What one of several threads notes. */
enum sp_note_kind { SP_NOTE_DEFINE, SP_NOTE_REFER, SP_NOTE_THREAD, SP_NOTE_FINDING };
struct sp_note {
    enum sp_note_kind kind;
    uint32_t number;   /* a reference's index in its list; a thread's entry; a finding's code */
    enum sp_ref by;    /* of a reference to a stack */
    struct sp_span id; /* of a stack */
    struct sp_fp fp;
    const char *at;
};
struct sp_notes {
    SP_VEC(struct sp_note) list;
    bool unsure; /* about the line that is being judged: notes are not enough */
};

struct sp_stack_judged { /* the stack record; windows borrow its weights */
    uint32_t entry, event, thread;
    int type;
    unsigned kinds; /* enum sp_id_bits of the frames, or-ed */
    struct sp_fp exclusive_frame;
    const char *exclusive_at; /* where its id stands; NULL: there is none */
    SP_VEC(uint32_t) list;    /* entries of the frames, SP_ID_NONE where not defined (yet) */
    sp_weights weights, exclusive;
    const struct sp_nested *weights_again; /* of which there is nothing to say; NULL: there is something */
    bool exclusive_again;                  /* the leaf's are the same, so many bytes behind */
    bool changes;                          /* the weights are of a window */
    ptrdiff_t exclusive_behind;
};

/* A step of the path from the record to what is being judged. */
struct sp_step {
    const char *name; /* NULL: an index */
    size_t n;         /* of the name, or the index */
};
#define SP_STEPS        12 /* deeper than fields.def */
#define SP_METRICS_SEEN 64

/* Bits of a table's fields. */
struct sp_fields_known {
    unsigned must;   /* be there */
    unsigned judged; /* there is more to a value of the right type */
};

/* A context of which there is nothing to say. */
struct sp_context_judged {
    uint32_t row, cleared; /* of the decoder */
    uint32_t event, thread;
};
#define SP_CONTEXTS_JUDGED 256u

struct sp_syntax;

/* Who judges lines: one for each thread. */
struct sp_validator {
    struct sp_known *known;
    struct sp_notes *notes; /* NULL: alone */
    spaa_status status;     /* what ends the run: out of memory */
    struct sp_decoder decoder;
    const char *decoded;   /* where the first line stands whose rows the decoder has; NULL: nowhere */
    struct sp_buf scratch; /* the text of the value that is being checked */
    struct sp_syntax *syntax;
    struct sp_fields_known fields[SP_TABLES];

    uint64_t records; /* judged so far */

    /* The line. */
    uint64_t line, offset;
    const char *text;
    size_t n;
    const char *record; /* its type, where that is known */
    bool whole;         /* it could be read to its end */
    struct sp_step steps[SP_STEPS];
    size_t nsteps;
    ptrdiff_t shift;       /* of what is judged from where its row says that it stands */
    uint64_t findings;     /* so far */
    struct sp_buf path;    /* of a finding */
    struct sp_buf patched; /* the line with bytes that are not UTF-8 replaced */
    struct sp_metric_seen {
        struct sp_fp fp;
        unsigned classes;
    } metrics[SP_METRICS_SEEN]; /* lately */

    /* The record that is being judged; see each file. */
    struct {
        struct sp_fp name;
        bool has_name, has_rate;
        enum sp_mode mode;
        const char *name_at;
        unsigned primary_classes;
        struct sp_event_rules rules;
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
        bool fresh, inlined, has_depth, unresolved, func_is_address, func_is_none, has_dso, has_ip;
        uint64_t depth;
        int kind; /* -1: none */
        struct sp_fp dso_fp, ip, symoff;
        const char *func_at, *depth_at, *kind_at;
    } frame;
    struct sp_stack_judged stack;
    struct sp_context_judged contexts[SP_CONTEXTS_JUDGED];
    struct sp_weight weight;
};

/* validate.c */
void sp_report(struct sp_validator *v, enum sp_code code, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void sp_report_title(struct sp_validator *v, enum sp_code code, const char *at); /* nothing to add */
/* The same about a place that is not in this line. */
void sp_report_at(struct sp_validator *v, enum sp_code code, struct sp_where where, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void sp_limited(struct sp_validator *v, const char *what);
/* Findings beyond those that are kept are counted, without the cost of their words. */
bool sp_only_counted(const struct sp_known *k, enum sp_code code);
void sp_out_of_memory(struct sp_validator *v);
/* A step on the path of the next findings; returns what sp_path_cut takes back. */
static inline size_t sp_path_push(struct sp_validator *v, const char *name, size_t n)
{
    size_t steps = v->nsteps;
    if (steps < SP_STEPS)
        v->steps[v->nsteps++] = (struct sp_step){name, n};
    return steps;
}
static inline size_t sp_path_item(struct sp_validator *v, size_t index)
{
    return sp_path_push(v, NULL, index);
}
static inline void sp_path_cut(struct sp_validator *v, size_t steps)
{
    v->nsteps = steps;
}
/* The same in a path that is made at once. */
void sp_path_add_name(struct sp_buf *path, const char *name, size_t n);
void sp_path_add_index(struct sp_buf *path, size_t index);
/* For "%.*s": at most 80 bytes of a text, cut between characters. */
int sp_clip(struct sp_span s);
#define SP_CLIP(s) sp_clip(s), (s).p

/* syntax.c */
bool sp_syntax_init(struct sp_validator *v);
void sp_syntax_free(struct sp_validator *v);
void sp_report_syntax(struct sp_validator *v); /* of the line, as far as it can be read */

/* values.c */
/* The value that is first of a field, if it is of another type; NULL: it is not. */
const struct sp_odd *sp_field_wrong(const struct sp_validator *v, const struct sp_rec *rec,
                                    unsigned position);
const struct sp_token *sp_field_value(const struct sp_rec *rec, const struct sp_field_info *f);
/* The value of a field that holds objects or ids; NULL: its first value is of another type, or there is none.
 */
const struct sp_nested *sp_field_nested(const struct sp_validator *v, const struct sp_rec *rec,
                                        unsigned field);
void sp_report_type(struct sp_validator *v, const char *at, const char *wanted, unsigned found);
/* Whether a key says how derived numbers came about; the specification asks for it and names none. */
bool sp_states_derivation(const struct sp_validator *v, const struct sp_rec *rec);

/* fields.c */
void sp_fields_init(struct sp_validator *v);
/* The fields of an object, which begins at `at`. */
void sp_check_table(struct sp_validator *v, enum sp_table table, const struct sp_rec *rec, const char *at);

/* stack.c: the context in a row; true: it was judged before, and again now */
bool sp_context_again(struct sp_validator *v, uint32_t row);
void sp_remember_context(struct sp_validator *v, uint32_t row);

/* weights.c: the leaf weighs as much as the stack, in the same words, and there is nothing to say of those */
bool sp_exclusive_again(struct sp_validator *v, const struct sp_nested *list);

/* refs.c */
/* SP_ID_NONE where there is no entry (yet). */
uint32_t sp_refer(struct sp_validator *v, struct sp_ids *t, struct sp_span id, const char *at, enum sp_ref by,
                  size_t index);
/* *fresh: not defined before. SP_ID_NONE when there is no room for it. */
uint32_t sp_define(struct sp_validator *v, struct sp_ids *t, const struct sp_checked *id, bool *fresh);
/* The same to an entry that is known. */
void sp_refer_thread(struct sp_validator *v, uint32_t thread);
/* A reference from a stack to another one. */
void sp_link(struct sp_validator *v, uint32_t from, uint32_t to, const char *at, size_t index);
void sp_judge_references(struct sp_validator *v, bool all_read);
/* False: notes of a line are not enough, nothing changed. */
bool sp_enter_notes(struct sp_validator *v, const struct sp_note *notes, size_t n);
void sp_note(struct sp_validator *v, struct sp_note note);

/* The ends of records: what is judged by several fields together. */
void sp_finish_header(struct sp_validator *v, const struct sp_rec *rec);
void sp_finish_dso(struct sp_validator *v, const struct sp_rec *rec);
void sp_finish_frame(struct sp_validator *v, const struct sp_rec *rec);
void sp_finish_stack(struct sp_validator *v, const struct sp_rec *rec);
void sp_finish_weights(struct sp_validator *v, const struct sp_rec *rec, const struct sp_event_rules *event);
void sp_finish_sample(struct sp_validator *v, const struct sp_rec *rec);
void sp_finish_window(struct sp_validator *v, const struct sp_rec *rec);

unsigned sp_metric_classes(struct sp_validator *v, struct sp_fp fp, struct sp_span name);

/* facts.c: a record of another type, if it is one of facts; and the members of an object by their fields. */
void sp_judge_fact_record(struct sp_validator *v, struct sp_span type);
void sp_judge_facts(struct sp_validator *v, struct sp_span object, const struct sp_fact *facts);
/* sources.c: the same of source text. */
void sp_judge_source_record(struct sp_validator *v, struct sp_span type);

#endif
