/* Which columns an answer of `top` has, and their titles. */
#include "ask/top_parts.h"

#include "ask/top_same.h"
#include "model/identity.h"

/* "label:K"; lent until the scratch is used. */
static const char *top_title(struct top *x)
{
    sp_buf_clear(&x->a.b);
    if (x->list.v[0].words)
        return x->list.v[0].words;
    sp_buf_add(&x->a.b, x->list.v[0].title.p, x->list.v[0].title.n);
    const char *title = sp_buf_cstr(&x->a.b);
    x->a.b.len = 0;
    return title;
}

/* Of several kinds: their columns stand for the row, functions' own are for JSON. */
static void top_shape_list(struct top *x, struct sp_answer_table *t)
{
    for (size_t i = SP_TOP_ROW; i <= SP_TOP_KNOWN; i++)
        sp_table_title(x->a.out, t, i, NULL);
    sp_top_without(t, SP_TOP_MARKS, SP_TOP_KNOWN);
    sp_table_without(t, SP_TOP_ROW + SP_FUNCTION_MARKS);
    sp_table_without(t, SP_TOP_ROW + SP_FUNCTION_BUILD);
    if (!top_is_code(x))
        sp_top_without(t, SP_TOP_ROW, SP_TOP_ROW + SP_FUNCTION_NCOLUMNS - 1);
}

/* In CSV tags have a column of their own, and what rows of code are called beside their functions too. */
static void top_shape_sheet(struct top *x, struct sp_answer_table *t)
{
    sp_table_without(t, SP_TOP_ROW + SP_FUNCTION_MARKS);
    if (x->by != SP_TOP_FUNCTION && top_is_code(x) && !top_is_list(x))
        sp_table_title(x->a.out, t, SP_TOP_NAME, sp_by_names[x->by]);
}

/* What this answer has of the columns. */
void top_shape(struct top *x, struct sp_answer_table *t)
{
    const struct sp_selection *s = &x->a.s;
    bool tell = x->by <= SP_TOP_DSO && sp_chains_tell(s);
    if (!tell)
        sp_top_without(t, SP_TOP_AT_MOST, SP_TOP_AT_MOST_PERCENT);
    else if (s->kept != s->whole)
        sp_table_title(x->a.out, t, SP_TOP_AT_MOST_PERCENT, NULL);
    sp_top_without(t, SP_TOP_WHOLE, SP_TOP_UNIT);
    if (!x->info.any_cpu)
        sp_top_without(t, SP_TOP_CPU_TIME, SP_TOP_INSTRUCTIONS);
    if (top_is_list(x)) {
        top_shape_list(x, t);
    } else if (top_is_code(x)) {
        sp_table_title(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_NAME, sp_by_names[x->by]);
        sp_table_title(x->a.out, t, SP_TOP_NAME, NULL);
        sp_top_without(t, SP_TOP_MARKS, SP_TOP_KNOWN);
    } else {
        sp_table_title(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_ID, NULL);
        sp_top_without(t, SP_TOP_ROW + SP_FUNCTION_NAME, SP_TOP_ROW + SP_FUNCTION_BUILD);
        sp_top_without(t, SP_TOP_ROW + SP_FUNCTION_OWN, SP_TOP_ROW + SP_FUNCTION_OWN_BY);
        sp_table_title(x->a.out, t, SP_TOP_NAME, sp_by_names[x->by]);
        if (x->by == SP_TOP_LABEL)
            sp_table_title(x->a.out, t, SP_TOP_NAME, top_title(x));
    }
    if (x->by == SP_TOP_DSO)
        t->columns.v[SP_TOP_NAME].type = SP_COL_DSO;
    else if (!top_is_code(x))
        sp_table_without(t, SP_TOP_ROW + SP_FUNCTION_BUILD_ID);
    if (x->a.q->sheet)
        top_shape_sheet(x, t);
    if (!top_has_who(x))
        sp_top_without(t, SP_TOP_PID, SP_TOP_PROCESS_NAME);
    else if (x->by == SP_TOP_THREAD)
        sp_table_without(t, SP_TOP_PROCESS_NAME);
    else
        sp_top_without(t, SP_TOP_TID, SP_TOP_QUEUE);
    if (!x->places)
        sp_top_without(t, SP_TOP_PATH, SP_TOP_PATH + 1);
    if (x->by != SP_TOP_THREAD && x->by != SP_TOP_COMM)
        sp_top_without(t, SP_TOP_POOL, SP_TOP_POOL + 1);
}

/* For people: without what follows from the rest; a binary that all rows are of stands in the title. */
void top_shape_brief(struct top *x, struct sp_answer_table *t, size_t limit)
{
    const size_t name = SP_TOP_ROW + SP_FUNCTION_NAME;
    if (!x->a.q->brief || top_is_list(x) || !top_is_code(x))
        return;
    if (!sp_top_samples_tell(&x->t, &x->a.s, limit))
        sp_table_title(x->a.out, t, SP_TOP_SAMPLES, NULL);
    uint32_t dso = sp_top_only_dso(&x->t, limit);
    if (dso == SP_NONE)
        return;
    const char *names = x->a.q->options->names;
    struct sp_str file = sp_dso_name(x->t.profile, dso);
    if (!names || strcmp(names, "full") != 0)
        file = sp_base_name(file);
    sp_buf_clear(&x->a.b);
    sp_buf_printf(&x->a.b, "%s", sp_by_names[x->by]);
    if (!sp_str_is(file, "[unknown]"))
        sp_buf_printf(&x->a.b, " of %.*s", (int)file.n, file.p);
    sp_table_title(x->a.out, t, name, sp_buf_cstr(&x->a.b));
    sp_table_title(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_DSO, NULL);
    sp_buf_clear(&x->a.b);
}
