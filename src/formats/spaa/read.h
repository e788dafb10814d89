/*
 * State of the SPAA reader, shared by the files that take one kind of record each.
 *
 * Threads decode chunks of lines (decode.h); reader.c takes the records in the order of the file, with a
 * function for each type. Such a function returns what ends the reading, or SPAA_ERR_NOT_FOUND for a line
 * that has to wait for what it refers to. Functions that return bool have said in `st` or `fault` why they
 * fail.
 *
 * What the tables of a profile cannot hold (members without a field, values that say nothing a field could
 * hold) is kept as JSON text, so that nothing is lost: extra.c.
 */
#ifndef SP_SPAA_READ_H
#define SP_SPAA_READ_H

#include "formats/spaa/chunks.h"
#include "formats/spaa/decode.h"
#include "formats/spaa/spaa.h"

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

/* What the weights of a list are called, so that the same is not looked up again. */
enum { KNOWN_LAYOUTS = 8, KNOWN_WEIGHTS = 8 };
struct known_layout {
    uint32_t layout, n;
    struct sp_span metric[KNOWN_WEIGHTS], unit[KNOWN_WEIGHTS]; /* as they stand; unit.p NULL: none */
};

struct context_text {
    struct sp_span raw;
    uint32_t context;
};

/* A member that goes to the JSON text of its object. */
struct kept {
    const char *at;      /* where its value stands, by which they are ordered */
    struct sp_token key; /* p NULL: `name` */
    const char *name;
    bool odd; /* goes under the name x_odd_… */
    struct sp_token value;
    const struct sp_rec *rec; /* the value is this object of `table`; NULL: anything else */
    enum sp_table table;
};

/* A sample's or window row's reference that no stack has answered yet. */
struct pending {
    struct sp_stack_id id;
    uint32_t raw; /* its text */
    bool sample;
    size_t number;
};

/* A line that uses what is defined later. */
struct deferred {
    struct sp_span text;
    uint64_t line;
    bool frame; /* waits for a dso, and others may wait for it */
};

typedef SP_VEC(struct sp_value) weight_values;

struct reader {
    struct sp_input *in;
    struct sp_profile *p;
    const struct sp_read_opts *opts;
    struct sp_chunking chunking;
    struct sp_diags *d;
    struct sp_decoder *dec; /* of the line that is being taken */
    const struct sp_line *l;
    uint64_t line, offset; /* where that is */
    const char *record;    /* its type */
    spaa_status st;        /* why a function failed: no memory; */
    const char *fault;     /* or what is wrong with the line, a literal, and where */
    const char *fault_at;
    bool fault_limit; /* nothing is: it asks for more than there is room for */
    bool header_seen, deferred_pass;
    bool unended; /* at the last line, which has no newline */
    struct idmap dsos, frames;
    struct idmap images[3];              /* facts.h: enum sp_image_numbers */
    uint64_t source_bytes;               /* of source text that was taken */
    SP_VEC(unsigned char) image_numbers; /* by process: which of these its images are numbers of */
    uint32_t last_function;              /* of the frame record before: they mostly come in groups */
    SP_VEC(struct kept) kept;
    struct sp_buf more, more_x; /* extra.c, header.c: members without x_, and with */
    struct sp_buf text, clean;
    struct sp_unique unique;
    struct sp_json j;              /* for members of our own */
    SP_VEC(uint32_t) stack_frames; /* of the stack that is being taken */
    weight_values values, own;     /* its weights, and those of its leaf */
    SP_VEC(struct sp_weight_field) fields;
    SP_VEC(struct sp_edge) edges;
    struct sp_arena texts; /* what known layouts, context texts and deferred lines point to */
    struct known_layout layouts[KNOWN_LAYOUTS];
    unsigned nlayouts, next_layout, last_layout;
    struct context_text recent; /* the last one */
    SP_VEC(struct context_text) contexts;
    struct sp_map context_map;
    struct sp_map window_map; /* id -> window */
    struct sp_map stack_map;  /* id -> stack, filled up to `mapped` */
    size_t mapped;
    bool duplicate_ids, unset_ids;
    SP_VEC(struct pending) pending;
    SP_VEC(struct deferred) deferred;
    size_t deferred_bytes;
    uint64_t missing_refs;
};

/* reader.c */
struct sp_where sp_here(const struct reader *r, const char *field);
bool sp_no_memory(struct reader *r);                                  /* false, and says so in r->st */
bool sp_fault(struct reader *r, const char *literal, const char *at); /* false, and says so */
bool sp_fault_limit(struct reader *r, const char *literal); /* false: the record at hand is left out */

/* extra.c */
/* Reports keys that stand twice and values of a wrong type in the line. */
bool sp_report_odd(struct reader *r);
/* A field's value goes to the JSON text as it is; or as x_odd_NAME with a warning, since it should be `want`.
 */
bool sp_keep(struct reader *r, const char *name, const struct sp_token *value);
bool sp_keep_odd(struct reader *r, const char *name, const struct sp_token *value, const char *want);
/* The fields of the table from `first` to `last` that there are go to the JSON text as they are. */
bool sp_keep_fields(struct reader *r, const struct sp_rec *rec, enum sp_table table, unsigned first,
                    unsigned last);
/*
 * The JSON text of what has no place in the model: all of `kept` from `from` on, and what the object has
 * without a field and unused. SP_STR_NONE where there is nothing; false without memory.
 */
bool sp_extra(struct reader *r, const struct sp_rec *rec, enum sp_table table, size_t from, uint32_t *out);
/* The object's member of this name that has no field (x_…); NULL: none. To be marked SP_ODD_USED when it was.
 */
struct sp_odd *sp_own(struct reader *r, const struct sp_rec *rec, const char *name);
/* A value's text without keys that stand twice, lent until the next use; p NULL: no memory. */
struct sp_span sp_clean_text(struct reader *r, const struct sp_token *value);
/* An object of `table` written anew, minified, without what should not stand in it; lent until the next use
 * of this or of sp_extra. p NULL: no memory. */
struct sp_span sp_object_text(struct reader *r, const struct sp_rec *rec, enum sp_table table,
                              const struct sp_token *value);
/* The same, interned. */
bool sp_raw_object(struct reader *r, const struct sp_rec *rec, enum sp_table table,
                   const struct sp_token *value, uint32_t *out);

/* values.c: of fields and of members of our own */
bool sp_take_str(struct reader *r, const struct sp_token *v,
                 uint32_t *out); /* interned; also a number's text */
bool sp_take_raw(struct reader *r, const struct sp_token *v, uint32_t *out); /* as it stands, interned */
bool sp_take_i64(struct reader *r, const char *name, const struct sp_token *v, int64_t *out);
/* One of a list of names; others are reported and `otherwise` is taken. */
bool sp_take_name(struct reader *r, const char *name, const struct sp_token *v, const char *const *names,
                  int otherwise, int *out);
/* A weight or period: 64 bits, or its text. */
bool sp_take_value(struct reader *r, const struct sp_token *v, struct sp_value *out);
/* A string of our own. */
bool sp_take_own_str(struct reader *r, const struct sp_rec *rec, const char *name, uint32_t *out);
/*
 * An x_raw_hex object: strings that are no UTF-8, as the hex of their bytes. Each that names a field whose
 * text is what the writer makes of those bytes gets them back; anything else is kept as it is.
 */
struct raw_field {
    const char *name;
    uint32_t *str;
};
bool sp_take_raw_hex(struct reader *r, const struct sp_rec *rec, const struct raw_field *fields, size_t n);

/* ids.c */
bool sp_idmap_add(struct reader *r, struct idmap *m, struct sp_span id, uint32_t number, bool *duplicate);
uint32_t sp_idmap_find(const struct reader *r, const struct idmap *m, struct sp_span id);
void sp_idmap_free(struct idmap *m);
static inline uint32_t sp_idmap_small(const struct idmap *m, uint64_t id)
{
    if (!m->gaps)
        return id - 1 < m->count ? (uint32_t)id - 1 : SP_NONE;
    return id < m->ndirect ? m->direct[id] - 1 : SP_NONE; /* 0 - 1 is SP_NONE */
}
/* Of a number of the decoder's ids; SP_NONE also where that is no id. */
bool sp_idmap_find_item(struct reader *r, const struct idmap *m, uint32_t item, uint32_t *out);
bool sp_idmap_find_token(struct reader *r, const struct idmap *m, const struct sp_token *id, uint32_t *out);
bool sp_take_stack_id(struct reader *r, const struct sp_token *v, struct sp_stack_id *id);
/* The stack of an id among those read so far, SP_NONE if there is none. */
bool sp_find_stack(struct reader *r, const struct sp_stack_id *id, uint32_t *stack);
/* Enters the stacks read since the last call into stack_map; false: out of memory. */
bool sp_map_stacks(struct reader *r);
/* After the last record: duplicates, related stacks. */
spaa_status sp_finish_ids(struct reader *r);

/* Records, by type. */
spaa_status sp_take_header(struct reader *r, const struct sp_rec_HEADER *x);
/* place.c: what is told of where a DSO stood, by whatever format; false without memory. */
bool sp_take_place(struct reader *r, const struct sp_rec *rec, struct sp_dso *out);
bool sp_say_doubtful(struct reader *r);
spaa_status sp_take_dso(struct reader *r, const struct sp_rec_DSO *x);
spaa_status sp_take_frame(struct reader *r, const struct sp_rec_FRAME *x);
spaa_status sp_take_thread(struct reader *r, const struct sp_rec_THREAD *x);
spaa_status sp_take_stack(struct reader *r, const struct sp_rec_STACK *x);
spaa_status sp_take_sample(struct reader *r, const struct sp_rec_SAMPLE *x);
spaa_status sp_take_window(struct reader *r, const struct sp_rec_WINDOW *x);

uint32_t sp_missing_frame(struct reader *r); /* dict.c: for frames without a record; SP_NONE: no memory */
/* stack.c: a list of weights; *layout says of what. */
bool sp_take_weights(struct reader *r, const struct sp_nested *list, weight_values *values, uint32_t *layout);
bool sp_metric_named(struct reader *r, const struct sp_token *name, uint32_t *out); /* interned */
bool sp_push_values(struct reader *r, const weight_values *values, uint32_t *first);

/* After the last record. */
spaa_status sp_settle_inlines(struct reader *r);    /* inlines.c */
spaa_status sp_settle_references(struct reader *r); /* rest.c */

#endif
