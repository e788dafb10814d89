/*
 * Writes what dtrace prints for `@[stack(), ustack()] = count()`, or gives the bytes back that --lossless
 * kept.
 *
 * Of a profile that came from DTrace the other keys are printed where its header says they stood; of others
 * only the stacks, and contexts are added up.
 */
#include "base/num.h"
#include "formats/aggregation_rows.h"
#include "formats/dtrace/dtrace.h"
#include "model/identity.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A key of the header's x_dtrace.keys. */
struct column {
    char name[64];
    enum { SCALAR, STACK, KERNEL, USER } what;
};

struct writer {
    struct sp_agg_rows rows;
    struct sp_profile *p;
    struct sp_diags *d;
    bool own; /* the profile came from DTrace */
    struct column columns[DT_KEYS_MAX + DT_STACKS_MAX];
    size_t ncolumns;
    uint32_t *frame_text; /* by frame: string number of its lines, 0: not made yet */
    struct sp_buf row, text, value;
};

static void put_name(struct sp_buf *b, struct sp_span s)
{
    /* Two blanks, or a newline, would end it for a reader. */
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i] == '\n' || s.p[i] == '\r' || s.p[i] == '\t' ? ' ' : s.p[i];
        if (c != ' ' || (b->len && b->data[b->len - 1] != ' '))
            sp_buf_ch(b, c);
    }
}

/* A string member of the object under x_dtrace, decoded into out; empty where there is none. */
static bool own_string(struct writer *w, uint32_t more, const char *name, struct sp_buf *out)
{
    struct sp_json j;
    struct sp_span key, s;
    sp_buf_clear(out);
    if (!sp_agg_member(w->p, more, "x_dtrace", &w->value))
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

/* The lines of a frame, made once. */
static bool frame_lines(struct writer *w, uint32_t frame)
{
    const struct sp_profile *p = w->p;
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_str name = sp_pstr(p, sp_frame_function(p, frame)->name);
    struct sp_str dso = sp_base_name(sp_pstr(p, sp_frame_dso(p, frame)->name));
    struct sp_buf b, s;
    sp_buf_init(&b, 0);
    sp_buf_init(&s, 0);
    sp_buf_printf(&b, "%*s", DT_INDENT, "");
    if (dso.n && !sp_str_is(dso, "[unknown]")) {
        for (uint32_t i = 0; i < dso.n; i++)
            sp_buf_ch(&b, strchr(" \t\r\n`'\"", dso.p[i]) && dso.p[i] ? '_' : dso.p[i]);
        sp_buf_ch(&b, '`');
    }
    bool ok = own_string(w, f->more, "raw", &s);
    put_name(&b, s.len ? (struct sp_span){s.data, s.len} : (struct sp_span){name.p, name.n});
    if (f->flags & SP_FRAME_SYMOFF && f->symoff && !(f->flags & SP_FRAME_UNRESOLVED))
        sp_buf_printf(&b, "+0x%llx", (unsigned long long)f->symoff);
    sp_buf_ch(&b, '\n');
    ok = ok && own_string(w, f->more, "note", &s);
    if (s.len) {
        sp_buf_printf(&b, "%*s[ ", DT_INDENT + 2, "");
        put_name(&b, (struct sp_span){s.data, s.len});
        sp_buf_puts(&b, " ]\n");
    }
    ok = ok && !b.failed;
    w->frame_text[frame] = ok ? sp_profile_str(w->p, b.data, b.len) : SP_STR_FAIL;
    ok = ok && w->frame_text[frame] != SP_STR_FAIL;
    sp_buf_free(&b);
    sp_buf_free(&s);
    return ok;
}

/* `outer->inner` is one line where the reader made two frames of it. */
static bool joined(const struct writer *w, const uint32_t *f, size_t i, size_t n)
{
    return w->own && i + 1 < n && w->p->frames.v[f[i]].inline_depth &&
           w->p->frames.v[f[i]].inline_depth == w->p->frames.v[f[i + 1]].inline_depth + 1;
}

static bool put_joined(struct writer *w, const uint32_t *f, size_t from, size_t to)
{
    /* Every frame's line is "module`name[+0x…]": the module stands once, before the outermost name. */
    struct sp_str line = {"", 0};
    for (size_t i = to + 1; i-- > from;) {
        if (!w->frame_text[f[i]] && !frame_lines(w, f[i]))
            return false;
        line = sp_pstr(w->p, w->frame_text[f[i]]);
        const char *tick = memchr(line.p, '`', line.n), *plus = memmem(line.p, line.n, "+0x", 3);
        size_t start = i == to ? 0 : tick ? (size_t)(tick + 1 - line.p) : DT_INDENT;
        size_t end = plus && i > from ? (size_t)(plus - line.p) : line.n - 1;
        if (i < to)
            sp_buf_puts(&w->row, "->");
        sp_buf_add(&w->row, line.p + start, end - start);
    }
    return sp_buf_ch(&w->row, '\n');
}

static bool put_stack(struct writer *w, const uint32_t *f, size_t n)
{
    sp_buf_ch(&w->row, '\n');
    for (size_t i = 0; i < n; i++) {
        size_t last = i;
        while (joined(w, f, last, n))
            last++;
        if (last > i) {
            if (!put_joined(w, f, i, last))
                return false;
            i = last;
            continue;
        }
        struct sp_str dso = sp_pstr(w->p, sp_frame_dso(w->p, f[i])->name);
        struct sp_str name = sp_pstr(w->p, sp_frame_function(w->p, f[i])->name);
        if (n == 1 && w->own && sp_str_is(name, "[unknown]") && sp_str_is(dso, "[unknown]"))
            return true; /* an empty stack */
        if (!w->frame_text[f[i]] && !frame_lines(w, f[i]))
            return false;
        struct sp_str text = sp_pstr(w->p, w->frame_text[f[i]]);
        sp_buf_add(&w->row, text.p, text.n);
    }
    return !w->row.failed;
}

/* A scalar key as dtrace prints it: strings to the left in 50 columns, numbers to the right in 16. */
static void put_scalar(struct writer *w, struct sp_span raw)
{
    if (!raw.n)
        return;
    if (raw.p[0] != '"') {
        sp_buf_printf(&w->row, " %*.*s", DT_VALUE_WIDTH, (int)raw.n, raw.p);
        return;
    }
    struct sp_json j;
    struct sp_span s;
    sp_buf_clear(&w->text);
    sp_json_init(&j, raw.p, raw.n);
    if (sp_json_string_value(&j, &s))
        put_name(&w->text, s);
    sp_json_free(&j);
    sp_buf_puts(&w->row, "  ");
    sp_buf_add(&w->row, w->text.data, w->text.len);
    for (size_t n = w->text.len; n < 50; n++)
        sp_buf_ch(&w->row, ' ');
}

static void put_number(struct writer *w, int64_t v)
{
    char t[64];
    if (v != SP_ABSENT)
        put_scalar(w, (struct sp_span){t, sp_scaled_text(v, 0, t)});
}

static void put_text(struct writer *w, uint32_t str)
{
    struct sp_str s = sp_pstr(w->p, str);
    struct sp_buf b;
    if (!str)
        return;
    sp_buf_init(&b, 0);
    sp_json_string(&b, s.p, s.n);
    put_scalar(w, (struct sp_span){b.data, b.len});
    w->row.failed = w->row.failed || b.failed;
    sp_buf_free(&b);
}

/* The scalar of a named column; unnamed ones are items of x_dtrace.keys, one after the other. */
static bool put_column(struct writer *w, const struct sp_context *c, const struct column *col,
                       struct sp_json *keys)
{
    const char *name = col->name;
    struct sp_span raw;
    if (strcmp(name, "string") == 0 || strcmp(name, "number") == 0) {
        if (keys->start && sp_json_item(keys) && sp_json_skip(keys, &raw))
            put_scalar(w, raw);
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
        put_scalar(w, (struct sp_span){w->value.data, w->value.len});
        return true;
    }
    if (!own_string(w, c->more, name, &w->text))
        return false;
    if (w->text.len) {
        struct sp_buf b;
        sp_buf_init(&b, 0);
        sp_json_string(&b, w->text.data, w->text.len);
        put_scalar(w, (struct sp_span){b.data, b.len});
        sp_buf_free(&b);
    }
    return true;
}

/* The items of x_dtrace.keys of a context; raw text in `value`, which the cursor reads. */
static bool open_keys(struct writer *w, const struct sp_context *c, struct sp_buf *value, struct sp_json *j)
{
    struct sp_json outer;
    struct sp_span key, raw = {NULL, 0};
    *j = (struct sp_json){0};
    if (!sp_agg_member(w->p, c->more, "x_dtrace", value))
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

static bool put_record(struct writer *w, uint32_t stack)
{
    const struct sp_context *c = &w->p->contexts.v[w->p->stacks.v[stack].context];
    struct sp_json keys = {0};
    struct sp_buf value;
    size_t stacks = 0, printed = 0;
    bool kernel_done = !w->rows.kernel.n, user_done = !w->rows.user.n;
    sp_buf_init(&value, 0);
    sp_buf_clear(&w->row);
    bool ok = open_keys(w, c, &value, &keys);
    for (size_t i = 0; i < w->ncolumns; i++)
        stacks += w->columns[i].what != SCALAR;
    for (size_t i = 0; ok && i < w->ncolumns; i++) {
        const struct column *col = &w->columns[i];
        if (col->what == SCALAR) {
            ok = put_column(w, c, col, &keys);
            continue;
        }
        bool kernel =
            col->what == KERNEL || (col->what == STACK && !kernel_done && (stacks == 1 || !printed));
        if (kernel)
            ok = put_stack(w, w->rows.kernel.v, w->rows.kernel.n);
        else
            ok = put_stack(w, w->rows.user.v, w->rows.user.n);
        kernel_done = kernel_done || kernel;
        user_done = user_done || !kernel;
        printed++;
    }
    if (ok && !kernel_done)
        ok = put_stack(w, w->rows.kernel.v, w->rows.kernel.n);
    if (ok && !user_done)
        ok = put_stack(w, w->rows.user.v, w->rows.user.n);
    sp_json_free(&keys);
    sp_buf_free(&value);
    return ok && !w->row.failed;
}

static bool collect(struct writer *w, uint32_t event, uint32_t metric)
{
    struct sp_agg_buckets buckets = {0};
    bool ok = true;
    for (uint32_t s = 0; ok && s < w->p->stacks.n; s++) {
        bool skip;
        if (w->p->contexts.v[w->p->stacks.v[s].context].event != event)
            continue;
        ok = sp_agg_sides(&w->rows, s, &skip) && sp_agg_buckets(w->p, s, &buckets);
        if (ok && !skip)
            ok = put_record(w, s) && sp_agg_rows_add(&w->rows, w->row.data ? w->row.data : "", w->row.len, s,
                                                     metric, buckets.list.n > 0);
    }
    sp_vec_free(&buckets.list);
    return ok;
}

static void print_value(struct sp_output *out, __int128 v)
{
    char t[64];
    size_t n = sp_scaled_text(v, 0, t);
    sp_printf(out, " %*.*s\n", DT_VALUE_WIDTH, (int)n, t);
}

static bool print_buckets(struct writer *w, uint32_t stack, struct sp_output *out)
{
    struct sp_agg_buckets b = {0};
    int64_t total = 0;
    bool ok = sp_agg_buckets(w->p, stack, &b);
    for (size_t i = 0; i < b.list.n; i++)
        if (__builtin_add_overflow(total, b.list.v[i].count, &total))
            total = INT64_MAX;
    sp_printf(out, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------", "count");
    for (size_t i = 0; i < b.list.n; i++) {
        char label[40], bar[41];
        const struct sp_agg_bucket *x = &b.list.v[i];
        size_t width = total ? (size_t)((__int128)x->count * 40 / total) : 0;
        size_t mark = x->label.p[0] == '<' ? 1 : x->label.p[0] == '>' ? 2 : 0;
        memset(bar, ' ', 40);
        memset(bar, '@', width <= 40 ? width : 40);
        bar[40] = '\0';
        snprintf(label, sizeof label, "%.*s%s%.*s", (int)mark, x->label.p, mark ? " " : "",
                 (int)(x->label.n - mark), x->label.p + mark);
        sp_printf(out, "%16s |%s %-9lld\n", label, bar, (long long)x->count);
    }
    sp_vec_free(&b.list);
    return ok;
}

static bool print_event(struct writer *w, uint32_t event, const struct sp_write_opts *opts,
                        struct sp_output *out)
{
    sp_agg_rows_clear(&w->rows);
    if (!collect(w, event, sp_agg_choose_metric(w->p, opts, event)))
        return false;
    sp_agg_rows_sort(&w->rows);
    bool ok = true;
    for (size_t i = 0; ok && i < w->rows.rows.n; i++) {
        const struct sp_agg_row *r = &w->rows.rows.v[i];
        sp_write(out, w->rows.texts.data + r->at, r->n);
        if (r->stack != SP_NONE)
            ok = print_buckets(w, r->stack, out);
        else
            print_value(out, r->value);
    }
    return ok;
}

static bool read_columns(struct writer *w)
{
    struct sp_json j;
    struct sp_span key, s;
    w->own = sp_str_is(sp_pstr(w->p, w->p->header.source_tool), "dtrace");
    if (!w->own)
        return true;
    if (!sp_agg_member(w->p, w->p->header.more, "x_dtrace", &w->value))
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
                struct column *c = &w->columns[w->ncolumns];
                if (w->ncolumns == sizeof w->columns / sizeof *w->columns || s.n >= sizeof c->name)
                    continue;
                *c = (struct column){.what = SCALAR};
                memcpy(c->name, s.p, s.n);
                if (sp_span_is(s, "kstack"))
                    c->what = KERNEL;
                else if (sp_span_is(s, "ustack") || sp_span_is(s, "jstack"))
                    c->what = USER;
                else if (sp_span_is(s, "stack"))
                    c->what = STACK;
                w->ncolumns++;
            }
        }
    sp_json_free(&j);
    return true;
}

static bool render(struct writer *w, const struct sp_write_opts *opts, struct sp_output *out)
{
    w->frame_text = calloc(w->p->frames.n + 1, sizeof *w->frame_text);
    if (!w->frame_text || !read_columns(w))
        return false;
    bool several = w->own && opts->event == SP_NONE && w->p->events.n > 1;
    for (uint32_t e = 0; several && e < w->p->events.n; e++) {
        struct sp_str name = sp_pstr(w->p, w->p->events.v[e].name);
        sp_printf(out, "%s%.*s\n", e ? "\n" : "", (int)name.n, name.p);
        if (!print_event(w, e, opts, out))
            return false;
    }
    uint32_t event = several ? SP_NONE : sp_agg_choose_event(w->p, opts);
    return event == SP_NONE || print_event(w, event, opts, out);
}

spaa_status dt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                     struct sp_output *out)
{
    struct writer w = {.p = p, .d = d};
    bool done = false;
    spaa_status st = SPAA_OK;
    if (opts->event == SP_NONE && opts->metric == SP_NONE)
        st = sp_verbatim_replay(p, "dtrace", d, out, &done);
    if (st || done)
        return st ? st : out->status;
    sp_agg_rows_init(&w.rows, p, d);
    sp_buf_init(&w.row, 0);
    sp_buf_init(&w.text, 0);
    sp_buf_init(&w.value, 0);
    bool ok = render(&w, opts, out);
    sp_agg_rows_free(&w.rows);
    sp_buf_free(&w.row);
    sp_buf_free(&w.text);
    sp_buf_free(&w.value);
    free(w.frame_text);
    return ok ? out->status : sp_nomem(d);
}
