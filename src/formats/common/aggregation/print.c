#include "formats/common/aggregation/print.h"

#include "base/num.h"
#include "base/watch.h"
#include "formats/common/text/left_out.h"
#include "formats/common/text/one_number.h"
#include "json/find.h"

#include <stdlib.h>
#include <string.h>

static struct sp_span aggregation_more_of(const struct sp_agg_printer *w, uint32_t more)
{
    struct sp_str s = sp_pstr(w->p, more);
    return (struct sp_span){s.p, s.n};
}

bool sp_agg_own_string(struct sp_agg_printer *w, uint32_t more, const char *name, struct sp_buf *out)
{
    struct sp_span raw;
    sp_buf_clear(out);
    if (sp_json_find2(aggregation_more_of(w, more), w->namespace, name, &raw))
        sp_json_text_to(out, raw);
    return !out->failed;
}

static void aggregation_put_number(struct sp_agg_printer *w, int64_t v)
{
    char t[64];
    if (v != SP_ABSENT)
        w->scalar(w, (struct sp_span){t, sp_scaled_text(v, 0, t)});
}

static void aggregation_put_text(struct sp_agg_printer *w, uint32_t str)
{
    struct sp_str s = sp_pstr(w->p, str);
    struct sp_buf b;
    if (!str)
        return;
    sp_buf_init(&b, 0);
    sp_json_string(&b, s.p, s.n);
    w->scalar(w, (struct sp_span){b.data, b.len});
    w->row.failed = w->row.failed || b.failed;
    sp_buf_free(&b);
}

/* The scalar of a named column; unnamed ones are items of the namespace's.keys, one after the other. */
static void aggregation_put_column(struct sp_agg_printer *w, const struct sp_context *c,
                                   const struct sp_agg_column *col, struct sp_span *keys)
{
    const char *name = col->name;
    struct sp_span raw;
    if (strcmp(name, "string") == 0 || strcmp(name, "number") == 0) {
        if (sp_json_next(keys, &raw))
            w->scalar(w, raw);
        return;
    }
    if (strcmp(name, "execname") == 0 || strcmp(name, "comm") == 0) {
        aggregation_put_text(w, c->comm);
        return;
    }
    int64_t v = strcmp(name, "pid") == 0   ? c->pid
                : strcmp(name, "tid") == 0 ? c->tid
                : strcmp(name, "cpu") == 0 ? c->cpu
                                           : SP_ABSENT;
    if (v != SP_ABSENT)
        aggregation_put_number(w, v);
    else if (sp_json_find(aggregation_more_of(w, c->extra_json), name, &raw) ||
             (sp_json_find2(aggregation_more_of(w, c->extra_json), w->namespace, name, &raw) && raw.n > 2 &&
              *raw.p == '"'))
        w->scalar(w, raw);
}

static bool aggregation_put_record(struct sp_agg_printer *w, uint32_t stack)
{
    const struct sp_context *c = &w->p->contexts.v[w->p->stacks.v[stack].context];
    struct sp_span keys = {NULL, 0}, raw;
    size_t stacks = 0, printed = 0;
    bool kernel_printed = false, user_printed = false;
    bool kernel_done = !w->rows.kernel.n, user_done = !w->rows.user.n;
    bool ok = true;
    sp_buf_clear(&w->row);
    if (!sp_json_find2(aggregation_more_of(w, c->extra_json), w->namespace, "keys", &keys) || *keys.p != '[')
        keys.n = 0;
    for (size_t i = 0; i < w->ncolumns; i++)
        stacks += w->columns[i].what != SP_AGG_SCALAR;
    for (size_t i = 0; ok && i < w->ncolumns; i++) {
        const struct sp_agg_column *col = &w->columns[i];
        if (col->what == SP_AGG_SCALAR) {
            aggregation_put_column(w, c, col, &keys);
            continue;
        }
        /* Of two stacks without names the first is the kernel's. */
        bool kernel = col->what == SP_AGG_KERNEL_STACK ||
                      (col->what == SP_AGG_STACK && (stacks == 1 ? w->rows.kernel.n > 0 : !printed));
        bool again = kernel ? kernel_printed : user_printed; /* a third stack of the tuple is empty */
        if (kernel)
            ok = w->stack(w, w->rows.kernel.v, again ? 0 : w->rows.kernel.n);
        else
            ok = w->stack(w, w->rows.user.v, again ? 0 : w->rows.user.n);
        kernel_printed = kernel_printed || kernel;
        user_printed = user_printed || !kernel;
        kernel_done = kernel_done || kernel;
        user_done = user_done || !kernel;
        printed++;
    }
    /* Keys that the first record did not have. */
    while (ok && sp_json_next(&keys, &raw))
        w->scalar(w, raw);
    if (ok && !kernel_done)
        ok = w->stack(w, w->rows.kernel.v, w->rows.kernel.n);
    if (ok && !user_done)
        ok = w->stack(w, w->rows.user.v, w->rows.user.n);
    return ok && !w->row.failed;
}

static bool aggregation_has_member(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    return metric != SP_NONE && sp_weight(p, stack, metric) != SP_ABSENT;
}

/* The text is the same whatever function made the numbers. */
static void aggregation_say_function(struct sp_agg_printer *w, uint32_t event, uint32_t metric)
{
    static const char *const functions[] = {"sum", "min", "max", "avg", "stddev", NULL};
    struct sp_str m = sp_pstr(w->p, w->p->metrics.v[metric].name),
                  e = sp_pstr(w->p, w->p->events.v[event].name);
    int i = sp_name_index(functions, m.p, m.n);
    if (i >= 0)
        sp_emit_hint(w->rows.d, SP_I322, SP_AT_NOTHING,
                     "when it is read again: --aggregation FUNCTION, or NAME=FUNCTION",
                     "the text does not say that the values of %.*s are %s", (int)(e.n < 80 ? e.n : 80), e.p,
                     functions[i]);
}

bool sp_agg_say_left(struct sp_agg_printer *w, uint32_t event, const struct sp_write_opts *opts)
{
    return !sp_say_events_left(w->p, opts, event, "an aggregation", w->rows.d) &&
           !sp_say_states_added(w->p, opts, event, w->rows.d);
}

/* Do the bounds read back, where the text has lower ones alone? */
static bool aggregation_is_said(const struct sp_agg_printer *w, struct sp_agg_range r)
{
    struct sp_agg_range again;
    return sp_agg_range_of(&w->scale, (struct sp_str){w->text.data, (uint32_t)w->text.len}, &again) &&
           sp_agg_range_equal(again, r);
}

bool sp_agg_bucket_label(struct sp_agg_printer *w, struct sp_str label, bool brackets, bool *is)
{
    struct sp_agg_range r;
    bool bracketed = label.n && (*label.p == '[' || *label.p == '(');
    *is = sp_agg_range_of(&w->scale, label, &r);
    sp_buf_clear(&w->text);
    if (!*is) {
        w->foreign++;
        return true;
    }
    if (bracketed == brackets && brackets)
        return sp_buf_add(&w->text, label.p, label.n);
    if (brackets) {
        bool plain = *label.p != '<' && *label.p != '>';
        w->inexact += plain && !r.has_high;
        return sp_agg_range_bpftrace(r, &w->text);
    }
    if (!bracketed) { /* a lower bound alone stays one */
        size_t mark = *label.p == '<' ? 1 : *label.p == '>' ? 2 : 0;
        sp_buf_add(&w->text, label.p, mark);
        if (mark)
            sp_buf_ch(&w->text, ' ');
        return sp_buf_add(&w->text, label.p + mark, label.n - mark);
    }
    bool ok = sp_agg_range_dtrace(r, &w->text);
    w->inexact += ok && !aggregation_is_said(w, r);
    return ok;
}

void sp_agg_say_buckets(struct sp_agg_printer *w)
{
    if (w->inexact)
        sp_emit(w->rows.d, SP_L300, SP_AT_NOTHING,
                "upper bounds of %llu buckets: the text has none that stand for them",
                (unsigned long long)w->inexact);
    if (w->foreign)
        sp_emit(w->rows.d, SP_L300, SP_AT_NOTHING, "%llu buckets without bounds were not written",
                (unsigned long long)w->foreign);
    w->inexact = w->foreign = 0;
}

bool sp_agg_print_event(struct sp_agg_printer *w, uint32_t event, const struct sp_write_opts *opts)
{
    uint32_t metric = sp_one_metric(w->p, opts, event, w->own ? NULL : w->rows.d),
             avg = sp_metric_find(w->p, "avg", 3);
    struct sp_agg_buckets buckets = {0};
    bool ok = true, apart = metric != SP_NONE && w->p->metrics.v[metric].info->op == SP_OP_NONE;
    sp_agg_rows_clear(&w->rows);
    w->scale = (struct sp_agg_scale){0};
    for (uint32_t s = 0; ok && s < w->p->stacks.n; s++) {
        bool skip;
        if (sp_leaving(w->rows.d, s)) {
            ok = false;
            break;
        }
        if (w->p->contexts.v[w->p->stacks.v[s].context].event != event)
            continue;
        ok = sp_agg_sides(&w->rows, s, &skip) && sp_agg_buckets(w->p, s, &buckets);
        for (size_t i = 0; ok && !skip && i < buckets.list.n; i++)
            sp_agg_scale_add(&w->scale, buckets.list.v[i].label);
        if (ok && !skip)
            ok = aggregation_put_record(w, s) &&
                 sp_agg_rows_add(&w->rows, w->row.data ? w->row.data : "", w->row.len, s, metric,
                                 apart || buckets.list.n > 0 || aggregation_has_member(w->p, s, avg));
    }
    sp_vec_free(&buckets.list);
    if (ok)
        sp_agg_rows_sort(&w->rows);
    if (ok && w->rows.rows.n)
        aggregation_say_function(w, event, metric);
    return ok;
}

static bool aggregation_read_columns(struct sp_agg_printer *w)
{
    struct sp_span list, item;
    if (!w->own ||
        !sp_json_find2(aggregation_more_of(w, w->p->header.extra_json), w->namespace, "keys", &list) ||
        *list.p != '[')
        return true;
    while (w->ncolumns < sizeof w->columns / sizeof *w->columns && sp_json_next(&list, &item)) {
        struct sp_agg_column *c = &w->columns[w->ncolumns];
        *c = (struct sp_agg_column){.what = SP_AGG_SCALAR};
        sp_buf_clear(&w->text);
        if (!sp_json_text_to(&w->text, item) || w->text.len >= sizeof c->name)
            continue;
        struct sp_span s = {w->text.data, w->text.len};
        if (s.n)
            memcpy(c->name, s.p, s.n);
        if (sp_span_is(s, "kstack"))
            c->what = SP_AGG_KERNEL_STACK;
        else if (sp_span_is(s, "ustack") || sp_span_is(s, "jstack"))
            c->what = SP_AGG_USER_STACK;
        else if (sp_span_is(s, "stack"))
            c->what = SP_AGG_STACK;
        w->ncolumns++;
    }
    return !w->text.failed;
}

bool sp_agg_empty_stack(const struct sp_agg_printer *w, const uint32_t *frames, size_t n)
{
    return n == 1 && w->own &&
           sp_str_is(sp_pstr(w->p, sp_frame_function(w->p, frames[0])->name), "[unknown]") &&
           sp_str_is(sp_pstr(w->p, sp_frame_dso(w->p, frames[0])->name), "[unknown]");
}

bool sp_agg_printer_init(struct sp_agg_printer *w, struct sp_profile *p, const char *tool,
                         const char *namespace, struct sp_diags *d)
{
    *w = (struct sp_agg_printer){.p = p, .namespace = namespace};
    w->own = sp_str_is(sp_pstr(p, p->header.source_tool), tool);
    sp_agg_rows_init(&w->rows, p, d);
    sp_buf_init(&w->row, 0);
    sp_buf_init(&w->text, 0);
    w->frame_text = calloc(p->frames.n + 1, sizeof *w->frame_text);
    return w->frame_text && aggregation_read_columns(w);
}

void sp_agg_printer_free(struct sp_agg_printer *w)
{
    sp_agg_rows_free(&w->rows);
    sp_buf_free(&w->row);
    sp_buf_free(&w->text);
    free(w->frame_text);
}
