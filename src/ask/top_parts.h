/* The parts of the question `top`: see top.c. */
#ifndef SP_ASK_TOP_PARTS_H
#define SP_ASK_TOP_PARTS_H

#include "analysis/places.h"
#include "ask/ratios.h"
#include "ask/top.h"
#include "ask/top_fields.h"
#include "ask/top_who.h"

struct top {
    struct sp_asked a;
    struct sp_top t;
    struct sp_by_list list; /* --by */
    enum sp_by by;          /* the only one of it; SP_TOP_LABEL: a label, or there are several */
    struct sp_selection with[SP_TOP_EXTRAS]; /* --with: the same question of other weights */
    size_t nwith;
    struct sp_ratios ratios;     /* --ratio: their events are extras behind those of --with */
    size_t ratio_at;             /* their first column */
    struct sp_thread_info info;  /* of threads and processes; else empty */
    struct sp_places *places;    /* of lines, for programs; else NULL */
    struct sp_top_fields fields; /* of an event whose rows are its fields; else counted is NULL */
};

/* Columns of each --with, behind the declared ones. */
enum {
    WITH_SELF,
    WITH_SELF_PERCENT,
    WITH_TOTAL,
    WITH_TOTAL_PERCENT,
    WITH_SAMPLES,
    WITH_TOTAL_SAMPLES,
    WITHS
};

/* Rows are of one function each. */
static inline bool top_is_code(const struct top *x)
{
    for (size_t k = 0; k < x->list.n; k++)
        if (sp_by_is_of_functions(x->list.v[k].kind))
            return true;
    return false;
}

static inline bool top_is_list(const struct top *x)
{
    return x->list.n > 1;
}

static inline bool top_has_who(const struct top *x)
{
    return x->by == SP_TOP_THREAD || x->by == SP_TOP_PROCESS;
}

/* Number of the first column of --by's several kinds. */
static inline size_t top_keys_at(const struct top *x)
{
    return SP_TOP_NCOLUMNS + x->nwith * WITHS;
}

/* top_rows.c: row i of x->t; and its file and line, for programs. */
void top_put_row(struct top *x, struct sp_answer_table *t, size_t i);
spaa_status top_put_source(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r);
void top_key_columns(struct top *x, struct sp_answer_table *t);

/* top_shape.c: what this answer has of the columns; for people, without what follows from the rest. */
void top_shape(struct top *x, struct sp_answer_table *t);
void top_shape_brief(struct top *x, struct sp_answer_table *t, size_t limit);

/* top_with.c: the weights of --with and of --ratio beside, and their columns. */
spaa_status top_add_all_with(struct top *x);
spaa_status top_add_ratios(struct top *x, bool by_total);
void top_with_columns(struct top *x, struct sp_answer_table *t);
void top_with_facts(struct top *x);

#endif
