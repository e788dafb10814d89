/*
 * Writes what dtrace prints for `@[stack(), ustack()] = count()`.
 *
 * Of a profile that came from DTrace the other keys are printed where its header says they stood; of others
 * only the stacks, and contexts are added up.
 */
#include "base/num.h"
#include "formats/common/aggregation/print.h"
#include "formats/common/text/one_number.h"
#include "formats/dtrace/dtrace.h"
#include "model/identity.h"
#include "json/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void dtrace_put_name(struct sp_buf *b, struct sp_span s)
{
    /* Two blanks, or a newline, would end it for a reader. */
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i] == '\n' || s.p[i] == '\r' || s.p[i] == '\t' ? ' ' : s.p[i];
        if (c != ' ' || (b->len && b->data[b->len - 1] != ' '))
            sp_buf_ch(b, c);
    }
}

/* The lines of a frame, made once. */
static bool dtrace_frame_lines(struct sp_agg_printer *w, uint32_t frame)
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
    bool ok = sp_agg_own_string(w, f->extra_json, "raw", &s);
    dtrace_put_name(&b, s.len ? (struct sp_span){s.data, s.len} : (struct sp_span){name.p, name.n});
    if (f->flags & SP_FRAME_SYMOFF && f->symoff && !(f->flags & SP_FRAME_UNRESOLVED))
        sp_buf_printf(&b, "+0x%llx", (unsigned long long)f->symoff);
    sp_buf_ch(&b, '\n');
    ok = ok && sp_agg_own_string(w, f->extra_json, "note", &s);
    if (s.len) {
        sp_buf_printf(&b, "%*s[ ", DT_INDENT + 2, "");
        dtrace_put_name(&b, (struct sp_span){s.data, s.len});
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
static bool dtrace_joined(const struct sp_agg_printer *w, const uint32_t *f, size_t i, size_t n)
{
    return w->own && i + 1 < n && w->p->frames.v[f[i]].inline_depth &&
           w->p->frames.v[f[i]].inline_depth == w->p->frames.v[f[i + 1]].inline_depth + 1;
}

static bool dtrace_put_joined(struct sp_agg_printer *w, const uint32_t *f, size_t from, size_t to)
{
    /* Every frame's line is "module`name[+0x…]": the module stands once, before the outermost name. */
    struct sp_str line = {"", 0};
    for (size_t i = to + 1; i-- > from;) {
        if (!w->frame_text[f[i]] && !dtrace_frame_lines(w, f[i]))
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

static bool dtrace_put_stack(struct sp_agg_printer *w, const uint32_t *f, size_t n)
{
    sp_buf_ch(&w->row, '\n');
    for (size_t i = 0; i < n; i++) {
        size_t last = i;
        while (dtrace_joined(w, f, last, n))
            last++;
        if (last > i) {
            if (!dtrace_put_joined(w, f, i, last))
                return false;
            i = last;
            continue;
        }
        if (sp_agg_empty_stack(w, f, n))
            return true;
        if (!w->frame_text[f[i]] && !dtrace_frame_lines(w, f[i]))
            return false;
        struct sp_str text = sp_pstr(w->p, w->frame_text[f[i]]);
        sp_buf_add(&w->row, text.p, text.n);
    }
    return !w->row.failed;
}

/* A scalar key as dtrace prints it: strings to the left in 50 columns, numbers to the right in 16. */
static void dtrace_put_scalar(struct sp_agg_printer *w, struct sp_span raw)
{
    if (!raw.n)
        return;
    if (raw.p[0] != '"') {
        sp_buf_printf(&w->row, " %*.*s", DT_VALUE_WIDTH, (int)raw.n, raw.p);
        return;
    }
    sp_buf_clear(&w->text);
    sp_json_text_to(&w->text, raw);
    sp_buf_puts(&w->row, "  ");
    size_t from = w->row.len;
    dtrace_put_name(&w->row, (struct sp_span){w->text.data, w->text.len});
    for (size_t n = w->row.len - from; n < 50; n++)
        sp_buf_ch(&w->row, ' ');
    w->row.failed |= w->text.failed;
}

static void dtrace_print_value(struct sp_output *out, __int128 v)
{
    char t[64];
    size_t n = sp_scaled_text(v, 0, t);
    sp_printf(out, " %*.*s\n", DT_VALUE_WIDTH, (int)n, t);
}

static bool dtrace_print_buckets(struct sp_agg_printer *w, uint32_t stack, __int128 value,
                                 struct sp_output *out)
{
    struct sp_agg_buckets b = {0};
    int64_t total = 0;
    bool ok = sp_agg_buckets(w->p, stack, &b);
    if (!b.list.n) {
        dtrace_print_value(out, value);
        return ok;
    }
    for (size_t i = 0; i < b.list.n; i++)
        if (__builtin_add_overflow(total, b.list.v[i].count, &total))
            total = INT64_MAX;
    sp_printf(out, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------", "count");
    for (size_t i = 0; i < b.list.n; i++) {
        char bar[41];
        bool is;
        const struct sp_agg_bucket *x = &b.list.v[i];
        size_t width = total ? (size_t)((__int128)x->count * 40 / total) : 0;
        memset(bar, ' ', 40);
        memset(bar, '@', width <= 40 ? width : 40);
        bar[40] = '\0';
        ok = ok && sp_agg_bucket_label(w, x->label, false, &is);
        if (ok && is)
            sp_printf(out, "%16.*s |%s %-9lld\n", (int)w->text.len, w->text.data, bar, (long long)x->count);
    }
    sp_vec_free(&b.list);
    return ok;
}

static bool dtrace_print_event(struct sp_agg_printer *w, uint32_t event, const struct sp_write_opts *opts,
                               struct sp_output *out)
{
    bool ok = sp_agg_print_event(w, event, opts);
    for (size_t i = 0; ok && !out->status && i < w->rows.rows.n; i++) {
        const struct sp_agg_row *r = &w->rows.rows.v[i];
        if (r->n)
            sp_write(out, w->rows.texts.data + r->at, r->n);
        else if (r->stack == SP_NONE) /* each record begins with a newline, also that of an empty stack */
            sp_puts(out, "\n");
        if (r->stack != SP_NONE)
            ok = dtrace_print_buckets(w, r->stack, r->value, out);
        else
            dtrace_print_value(out, r->value);
    }
    sp_agg_say_buckets(w);
    return ok;
}

/* "  0  64091                        :tick-60s ", as it was before the first record. */
static bool dtrace_print_firing(struct sp_agg_printer *w, struct sp_output *out)
{
    struct sp_str more = sp_pstr(w->p, w->p->header.extra_json);
    struct sp_span by, probe;
    int64_t cpu = 0, id = 0;
    sp_buf_clear(&w->text);
    if (!w->own || !sp_json_find2((struct sp_span){more.p, more.n}, w->namespace, "printed_by", &by) ||
        !sp_json_find(by, "probe", &probe) || !sp_json_text_to(&w->text, probe))
        return !w->text.failed;
    sp_json_find_i64(by, "cpu", &cpu);
    sp_json_find_i64(by, "id", &id);
    sp_printf(out, "CPU     ID                    FUNCTION:NAME\n%3lld %6lld %32.*s \n\n", (long long)cpu,
              (long long)id, (int)w->text.len, w->text.len ? w->text.data : "");
    return true;
}

static bool dtrace_render(struct sp_agg_printer *w, const struct sp_write_opts *opts, struct sp_output *out)
{
    if (!dtrace_print_firing(w, out))
        return false;
    bool several = w->own && opts->event == SP_NONE && w->p->events.n > 1;
    for (uint32_t e = 0; several && e < w->p->events.n; e++) {
        struct sp_str name = sp_pstr(w->p, w->p->events.v[e].name);
        sp_printf(out, "%s%.*s\n", e ? "\n" : "", (int)name.n, name.p);
        if (!dtrace_print_event(w, e, opts, out))
            return false;
    }
    uint32_t event = several ? SP_NONE : sp_one_event(w->p, opts);
    return event == SP_NONE || (sp_agg_say_left(w, event, opts) && dtrace_print_event(w, event, opts, out));
}

spaa_status dt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                     struct sp_output *out)
{
    struct sp_agg_printer w;
    bool ok = sp_agg_printer_init(&w, p, "dtrace", "x_dtrace", d);
    w.stack = dtrace_put_stack;
    w.scalar = dtrace_put_scalar;
    ok = ok && dtrace_render(&w, opts, out);
    sp_agg_printer_free(&w);
    return ok ? out->status : sp_nomem(d);
}
