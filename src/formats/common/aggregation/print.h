/*
 * Printing records of aggregations: a tracer's writer says how a stack and a scalar key look, this says in
 * what order they stand.
 *
 * The order is that of the header's `keys` under the namespace of the tracer, when the profile came from it:
 * names (execname, ustack, …), or "string", "number" and "stack" where keys had no names. Other profiles have
 * their stacks printed, the kernel's first, and their contexts added up. Functions that return bool fail for
 * want of memory only.
 */
#ifndef SP_AGGREGATION_PRINT_H
#define SP_AGGREGATION_PRINT_H

#include "formats/common/aggregation/buckets.h"
#include "formats/common/aggregation/keys.h"
#include "formats/common/aggregation/rows.h"
#include "json/json.h"

struct sp_agg_column {
    char name[64];
    enum { SP_AGG_SCALAR, SP_AGG_STACK, SP_AGG_KERNEL_STACK, SP_AGG_USER_STACK } what;
};

struct sp_agg_printer {
    struct sp_profile *p;
    const char *namespace; /* "x_dtrace" */
    bool own;              /* the profile came from this tracer */
    struct sp_agg_rows rows;
    struct sp_agg_column columns[SP_AGG_KEYS_MAX + SP_AGG_STACKS_MAX];
    size_t ncolumns;
    struct sp_agg_scale scale; /* of the labels of buckets of the event in work */
    uint64_t inexact, foreign; /* its buckets whose bounds are not all printed; that are not printed */
    struct sp_buf row;         /* the record in work: what `stack` and `scalar` append to */
    struct sp_buf text;
    uint32_t *frame_text; /* by frame: a string number, for the writer's use; zeroed */
    bool (*stack)(struct sp_agg_printer *w, const uint32_t *frames, size_t n); /* n may be 0 */
    void (*scalar)(struct sp_agg_printer *w, struct sp_span raw);              /* a JSON string or number */
};

/* tool: "dtrace". The callbacks are the caller's to set. sp_agg_printer_free in any case. */
bool sp_agg_printer_init(struct sp_agg_printer *w, struct sp_profile *p, const char *tool,
                         const char *namespace, struct sp_diags *d);
void sp_agg_printer_free(struct sp_agg_printer *w);
/* Says what is not printed where one event is. */
bool sp_agg_say_left(struct sp_agg_printer *w, uint32_t event, const struct sp_write_opts *opts);
/* Every stack of the event as a row; sorted. */
bool sp_agg_print_event(struct sp_agg_printer *w, uint32_t event, const struct sp_write_opts *opts);
/*
 * The label of a bucket in w->text, by `put` where it is written otherwise. False in *is: it has no bounds
 * that could be printed. What is not printed is counted, and said by sp_agg_say_buckets after the event.
 */
bool sp_agg_bucket_label(struct sp_agg_printer *w, struct sp_str label, bool brackets, bool *is);
void sp_agg_say_buckets(struct sp_agg_printer *w);
/* A string member of the object under the namespace, decoded into out; empty where there is none. */
bool sp_agg_own_string(struct sp_agg_printer *w, uint32_t more, const char *name, struct sp_buf *out);
/* Is it the frame that stands for an empty stack? */
bool sp_agg_empty_stack(const struct sp_agg_printer *w, const uint32_t *frames, size_t n);

#endif
