#include "formats/aggregation_print.h"

#include "base/num.h"

#include <stdlib.h>
#include <string.h>

/* A string member of the object under the namespace's, decoded into out; empty where there is none. */
bool sp_agg_own_string(struct sp_agg_printer *w, uint32_t more, const char *name, struct sp_buf *out)
{
    struct sp_json j;
    struct sp_span key, s;
    sp_buf_clear(out);
    if (!sp_agg_member(w->p, more, w->namespace, &w->value))
        return false;
    sp_json_init(&j, w->value.data ? w->value.data : "", w->value.len);
    if (w->value.len && sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j))
        while (sp_json_key(&j, &key)) {
            bool wanted = sp_span_is(key, name) && sp_json_type(&j) == SP_JSON_STRING;
            if (wanted ? sp_json_string_value(&j, &s) && sp_buf_add(out, s.p, s.n) : sp_json_skip(&j, &s))
                continue;
        }
    sp_json_free(&j);
    return !out->failed;
}

static void put_number(struct sp_agg_printer *w, int64_t v)
{
    char t[64];
    if (v != SP_ABSENT)
        w->scalar(w, (struct sp_span){t, sp_scaled_text(v, 0, t)});
}

static void put_text(struct sp_agg_printer *w, uint32_t str)
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
static bool put_column(struct sp_agg_printer *w, const struct sp_context *c, const struct sp_agg_column *col,
                       struct sp_json *keys)
{
    const char *name = col->name;
    struct sp_span raw;
    if (strcmp(name, "string") == 0 || strcmp(name, "number") == 0) {
        if (keys->start && sp_json_item(keys) && sp_json_skip(keys, &raw))
            w->scalar(w, raw);
        return true;
    }
    if (strcmp(name, "execname") == 0 || strcmp(name, "comm") == 0) {
        put_text(w, c->comm);
        return true;
    }
    int64_t v = strcmp(name, "pid") == 0   ? c->pid
                : strcmp(name, "tid") == 0 ? c->tid
                : strcmp(name, "cpu") == 0 ? c->cpu
                                           : SP_ABSENT;
    if (v != SP_ABSENT) {
        put_number(w, v);
        return true;
    }
    if (!sp_agg_member(w->p, c->more, name, &w->value))
        return false;
    if (w->value.len) {
        w->scalar(w, (struct sp_span){w->value.data, w->value.len});
        return true;
    }
    if (!sp_agg_own_string(w, c->more, name, &w->text))
        return false;
    if (w->text.len) {
        struct sp_buf b;
        sp_buf_init(&b, 0);
        sp_json_string(&b, w->text.data, w->text.len);
        w->scalar(w, (struct sp_span){b.data, b.len});
        sp_buf_free(&b);
    }
    return true;
}

/* The items of the namespace's.keys of a context; raw text in `value`, which the cursor reads. */
static bool open_keys(struct sp_agg_printer *w, const struct sp_context *c, struct sp_buf *value,
                      struct sp_json *j)
{
    struct sp_json outer;
    struct sp_span key, raw = {NULL, 0};
    *j = (struct sp_json){0};
    if (!sp_agg_member(w->p, c->more, w->namespace, value))
        return false;
    if (!value->len)
        return true;
    sp_json_init(&outer, value->data, value->len);
    if (sp_json_type(&outer) == SP_JSON_OBJECT && sp_json_object(&outer))
        while (sp_json_key(&outer, &key)) {
            bool wanted = sp_span_is(key, "keys");
            struct sp_span item;
            if (sp_json_skip(&outer, &item) && wanted)
                raw = item;
        }
    sp_json_free(&outer);
    if (!raw.n || raw.p[0] != '[')
        return true;
    sp_json_init(j, raw.p, raw.n);
    sp_json_array(j);
    return true;
}

static bool put_record(struct sp_agg_printer *w, uint32_t stack)
{
    const struct sp_context *c = &w->p->contexts.v[w->p->stacks.v[stack].context];
    struct sp_json keys = {0};
    struct sp_buf value;
    size_t stacks = 0, printed = 0;
    bool kernel_printed = false, user_printed = false;
    bool kernel_done = !w->rows.kernel.n, user_done = !w->rows.user.n;
    sp_buf_init(&value, 0);
    sp_buf_clear(&w->row);
    bool ok = open_keys(w, c, &value, &keys);
    for (size_t i = 0; i < w->ncolumns; i++)
        stacks += w->columns[i].what != SP_AGG_SCALAR;
    for (size_t i = 0; ok && i < w->ncolumns; i++) {
        const struct sp_agg_column *col = &w->columns[i];
        if (col->what == SP_AGG_SCALAR) {
            ok = put_column(w, c, col, &keys);
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
    struct sp_span raw;
    while (ok && keys.start && sp_json_item(&keys) && sp_json_skip(&keys, &raw))
        w->scalar(w, raw);
    if (ok && !kernel_done)
        ok = w->stack(w, w->rows.kernel.v, w->rows.kernel.n);
    if (ok && !user_done)
        ok = w->stack(w, w->rows.user.v, w->rows.user.n);
    sp_json_free(&keys);
    sp_buf_free(&value);
    return ok && !w->row.failed;
}

static bool has(const struct sp_profile *p, uint32_t stack, uint32_t metric)
{
    return metric != SP_NONE && sp_weight(p, stack, metric) != SP_ABSENT;
}

bool sp_agg_print_event(struct sp_agg_printer *w, uint32_t event, const struct sp_write_opts *opts)
{
    uint32_t metric = sp_agg_choose_metric(w->p, opts, event), avg = sp_metric_find(w->p, "avg", 3);
    struct sp_agg_buckets buckets = {0};
    bool ok = true;
    sp_agg_rows_clear(&w->rows);
    for (uint32_t s = 0; ok && s < w->p->stacks.n; s++) {
        bool skip;
        if (w->p->contexts.v[w->p->stacks.v[s].context].event != event)
            continue;
        ok = sp_agg_sides(&w->rows, s, &skip) && sp_agg_buckets(w->p, s, &buckets);
        if (ok && !skip)
            ok = put_record(w, s) && sp_agg_rows_add(&w->rows, w->row.data ? w->row.data : "", w->row.len, s,
                                                     metric, buckets.list.n > 0 || has(w->p, s, avg));
    }
    sp_vec_free(&buckets.list);
    if (ok)
        sp_agg_rows_sort(&w->rows);
    return ok;
}

static bool read_columns(struct sp_agg_printer *w)
{
    struct sp_json j;
    struct sp_span key, s;
    if (!w->own)
        return true;
    if (!sp_agg_member(w->p, w->p->header.more, w->namespace, &w->value))
        return false;
    sp_json_init(&j, w->value.data ? w->value.data : "", w->value.len);
    if (w->value.len && sp_json_object(&j))
        while (sp_json_key(&j, &key)) {
            if (!sp_span_is(key, "keys") || sp_json_type(&j) != SP_JSON_ARRAY) {
                sp_json_skip(&j, &s);
                continue;
            }
            sp_json_array(&j);
            while (sp_json_item(&j) && sp_json_type(&j) == SP_JSON_STRING && sp_json_string_value(&j, &s)) {
                struct sp_agg_column *c = &w->columns[w->ncolumns];
                if (w->ncolumns == sizeof w->columns / sizeof *w->columns || s.n >= sizeof c->name)
                    continue;
                *c = (struct sp_agg_column){.what = SP_AGG_SCALAR};
                memcpy(c->name, s.p, s.n);
                if (sp_span_is(s, "kstack"))
                    c->what = SP_AGG_KERNEL_STACK;
                else if (sp_span_is(s, "ustack") || sp_span_is(s, "jstack"))
                    c->what = SP_AGG_USER_STACK;
                else if (sp_span_is(s, "stack"))
                    c->what = SP_AGG_STACK;
                w->ncolumns++;
            }
        }
    sp_json_free(&j);
    return true;
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
    sp_buf_init(&w->value, 0);
    w->frame_text = calloc(p->frames.n + 1, sizeof *w->frame_text);
    return w->frame_text && read_columns(w);
}

void sp_agg_printer_free(struct sp_agg_printer *w)
{
    sp_agg_rows_free(&w->rows);
    sp_buf_free(&w->row);
    sp_buf_free(&w->text);
    sp_buf_free(&w->value);
    free(w->frame_text);
}
