/*
 * Writes what bpftrace prints for `@[kstack, ustack] = count()`.
 *
 * Of a profile that came from bpftrace every map is printed, its other keys where the header says they stood.
 */
#include "base/num.h"
#include "formats/bpftrace/bpftrace.h"
#include "formats/common/aggregation/print.h"
#include "formats/common/text/one_number.h"
#include "json/find.h"

#include <stdlib.h>

enum { BAR = 52 };

static void bpftrace_put_plain(struct sp_buf *b, struct sp_str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        sp_buf_ch(b, s.p[i] == '\n' || s.p[i] == '\r' ? ' ' : s.p[i]);
}

static bool bpftrace_put_frame(struct sp_agg_printer *w, uint32_t frame)
{
    const struct sp_profile *p = w->p;
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_str name = sp_pstr(p, sp_frame_function(p, frame)->name);
    struct sp_str dso = sp_pstr(p, sp_frame_dso(p, frame)->name);
    bool unresolved = f->flags & SP_FRAME_UNRESOLVED;
    if (!sp_agg_own_string(w, f->extra_json, "raw", &w->text))
        return false;
    struct sp_str raw = w->text.len ? (struct sp_str){w->text.data, (uint32_t)w->text.len} : name;
    bool inlined = w->own && f->flags & SP_FRAME_INLINED;
    struct sp_str line = w->own ? sp_pstr(p, f->srcline) : (struct sp_str){"", 0};
    bool module = dso.n && dso.p[0] != '[' && f->kind != SP_KERNEL;
    if (module) /* perf mode is the one that names modules */
        sp_buf_printf(&w->row, "\t%016llx ", (unsigned long long)f->ip);
    else
        sp_buf_puts(&w->row, inlined ? "    [inlined] " : "    ");
    bpftrace_put_plain(&w->row, raw);
    if (f->flags & SP_FRAME_SYMOFF && !unresolved)
        sp_buf_printf(&w->row, "+%llu", (unsigned long long)f->symoff);
    if (module) {
        sp_buf_puts(&w->row, " (");
        bpftrace_put_plain(&w->row, dso);
        sp_buf_ch(&w->row, ')');
    } else if (line.n) {
        sp_buf_ch(&w->row, '@');
        bpftrace_put_plain(&w->row, line);
    }
    return sp_buf_ch(&w->row, '\n');
}

static void bpftrace_print_key(struct sp_agg_printer *w)
{
    sp_buf_puts(&w->row, w->row.len ? ", " : "[");
}

static bool bpftrace_put_stack(struct sp_agg_printer *w, const uint32_t *f, size_t n)
{
    bpftrace_print_key(w);
    if (!n || sp_agg_empty_stack(w, f, n))
        return !w->row.failed;
    sp_buf_ch(&w->row, '\n');
    for (size_t i = 0; i < n; i++)
        if (!bpftrace_put_frame(w, f[i]))
            return false;
    return !w->row.failed;
}

static void bpftrace_put_scalar(struct sp_agg_printer *w, struct sp_span raw)
{
    bpftrace_print_key(w);
    sp_buf_clear(&w->text);
    if (!raw.n || raw.p[0] != '"')
        sp_buf_add(&w->row, raw.p, raw.n);
    else if (sp_json_text_to(&w->text, raw) && w->text.len)
        bpftrace_put_plain(&w->row, (struct sp_str){w->text.data, (uint32_t)w->text.len});
    w->row.failed |= w->text.failed;
}

static void bpftrace_print_value(struct sp_output *out, __int128 v)
{
    char t[64];
    sp_write(out, t, sp_scaled_text(v, 0, t));
    sp_puts(out, "\n");
}

static bool bpftrace_print_buckets(struct sp_agg_printer *w, const struct sp_agg_row *r,
                                   struct sp_output *out)
{
    struct sp_agg_buckets b = {0};
    int64_t most = 1;
    bool ok = sp_agg_buckets(w->p, r->stack, &b);
    if (!b.list.n) { /* a value that stays alone */
        bpftrace_print_value(out, r->value);
        return ok;
    }
    for (size_t i = 0; i < b.list.n; i++)
        most = b.list.v[i].count > most ? b.list.v[i].count : most;
    sp_puts(out, "\n");
    for (size_t i = 0; i < b.list.n; i++) {
        const struct sp_agg_bucket *x = &b.list.v[i];
        char bar[BAR + 1];
        bool is;
        size_t width = (size_t)((__int128)(x->count > 0 ? x->count : 0) * BAR / most);
        memset(bar, ' ', BAR);
        memset(bar, '@', width);
        bar[BAR] = '\0';
        ok = ok && sp_agg_bucket_label(w, x->label, true, &is);
        if (ok && is)
            sp_printf(out, "%-16.*s %8lld |%s|\n", (int)w->text.len, w->text.data, (long long)x->count, bar);
    }
    sp_puts(out, "\n");
    sp_vec_free(&b.list);
    return ok;
}

/* "count 12, average 3, total 36", where the stack has these. */
static bool bpftrace_print_stats(struct sp_agg_printer *w, uint32_t stack, struct sp_output *out)
{
    static const char *const names[] = {"count", "avg", "total"}, *const words[] = {"count ", ", average ",
                                                                                    ", total "};
    uint32_t m[3];
    for (int i = 0; i < 3; i++) {
        m[i] = sp_metric_find(w->p, names[i], strlen(names[i]));
        if (m[i] == SP_NONE || sp_weight(w->p, stack, m[i]) == SP_ABSENT)
            return false;
    }
    for (int i = 0; i < 3; i++) {
        char t[64];
        sp_puts(out, words[i]);
        sp_write(out, t, sp_scaled_text(sp_agg_integer(&w->rows, stack, m[i]), 0, t));
    }
    sp_puts(out, "\n");
    return true;
}

static bool bpftrace_print_event(struct sp_agg_printer *w, uint32_t event, const char *name, size_t n,
                                 const struct sp_write_opts *opts, struct sp_output *out)
{
    bool ok = sp_agg_print_event(w, event, opts);
    for (size_t i = 0; ok && !out->status && i < w->rows.rows.n; i++) {
        const struct sp_agg_row *r = &w->rows.rows.v[i];
        sp_write(out, name, n);
        sp_write(out, w->rows.texts.data + r->at, r->n);
        sp_puts(out, r->n ? "]: " : ": ");
        if (r->stack != SP_NONE && bpftrace_print_stats(w, r->stack, out))
            continue;
        if (r->stack != SP_NONE) {
            ok = bpftrace_print_buckets(w, r, out);
            continue;
        }
        bpftrace_print_value(out, r->value);
    }
    sp_agg_say_buckets(w);
    return ok;
}

static bool bpftrace_render(struct sp_agg_printer *w, const struct sp_write_opts *opts, struct sp_output *out)
{
    bool several = w->own && opts->event == SP_NONE;
    for (uint32_t e = 0; several && e < w->p->events.n; e++) {
        struct sp_str name = sp_pstr(w->p, w->p->events.v[e].name);
        bool map = name.n && name.p[0] == '@';
        if (!bpftrace_print_event(w, e, map ? name.p : "@", map ? name.n : 1, opts, out))
            return false;
    }
    uint32_t event = several ? SP_NONE : sp_one_event(w->p, opts);
    return event == SP_NONE ||
           (sp_agg_say_left(w, event, opts) && bpftrace_print_event(w, event, "@", 1, opts, out));
}

spaa_status bt_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                     struct sp_output *out)
{
    struct sp_agg_printer w;
    bool ok = sp_agg_printer_init(&w, p, "bpftrace", "x_bpftrace", d);
    w.stack = bpftrace_put_stack;
    w.scalar = bpftrace_put_scalar;
    ok = ok && bpftrace_render(&w, opts, out);
    sp_agg_printer_free(&w);
    return ok ? out->status : sp_nomem(d);
}
