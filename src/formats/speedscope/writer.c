/*
 * Writes speedscope files: a sampled profile for each thread, with its stacks and their sums. They are no
 * moments: `exporter` says that they are ours, so that no reader of ours takes their order for time.
 *
 * A frame is a function: speedscope adds up by name, file and line, so that the line is that of its
 * declaration, with its source file; where that is not known, its file is the binary. Of what the format has
 * no place for, addresses, lines that have weight, labels and the rest are left out.
 */
#include "base/decimal.h"
#include "base/num.h"
#include "formats/common/threads/threads.h"
#include "formats/speedscope/speedscope.h"
#include "model/functions.h"
#include "spaa/version.h"

#include <stdlib.h>

struct ss_writer {
    struct sp_profile *p;
    struct sp_rows rows;
    struct sp_entries entries;
    struct sp_output *out;
    struct sp_str title;
    struct sp_buf b;
};

/* ---- frames ---- */

static bool ss_put_frame(void *profile, struct sp_buf *b, uint32_t frame)
{
    const struct sp_profile *p = profile;
    const struct sp_frame *f = &p->frames.v[frame];
    struct sp_str name = sp_pstr(p, p->functions.v[f->function].name);
    struct sp_str file = sp_pstr(p, sp_frame_dso(p, frame)->name);
    const struct sp_func_info *info = sp_function_info(p, f->function);
    bool declared = info && info->line && info->file, nowhere = !file.n || sp_str_is(file, "[unknown]");
    if (info && info->file && (declared || nowhere))
        file = sp_pstr(p, info->file);
    sp_buf_puts(b, "{\"name\":");
    sp_json_string(b, name.p, name.n);
    if (file.n && !sp_str_is(file, "[unknown]")) {
        sp_buf_puts(b, ",\"file\":");
        sp_json_string(b, file.p, file.n);
    }
    if (declared)
        sp_buf_printf(b, ",\"line\":%u", info->line);
    sp_buf_ch(b, '}');
    return !b->failed;
}

static bool ss_make_entries(struct ss_writer *w)
{
    unsigned char *used = sp_rows_used(&w->rows);
    bool ok = sp_entries_make(&w->entries, &w->rows, used, ss_put_frame, w->p);
    free(used);
    return ok;
}

static bool ss_put_frames(struct ss_writer *w)
{
    for (size_t i = 0; i < w->entries.frames.n; i++) {
        sp_buf_clear(&w->b);
        sp_buf_puts(&w->b, i ? ",\n" : "\n");
        if (!ss_put_frame(w->p, &w->b, w->entries.frames.v[i]))
            return false;
        sp_write(w->out, w->b.data, w->b.len);
    }
    return true;
}

/* ---- profiles ---- */

static const char *ss_unit(const struct ss_writer *w)
{
    struct sp_str unit = w->rows.unit;
    switch (sp_rows_unit_ns(unit)) {
    case 1:
        return "nanoseconds";
    case 1000:
        return "microseconds";
    case 1000000:
        return "milliseconds";
    case 1000000000:
        return "seconds";
    default:
        return sp_str_is(unit, "bytes") ? "bytes" : "none";
    }
}

/* "comm pid: 12 tid: 13", as speedscope names threads of perf; what has none of these is named as the whole.
 */
static void ss_put_name(struct ss_writer *w, const struct sp_row_thread *t)
{
    struct sp_buf name;
    struct sp_str comm = sp_pstr(w->p, t->comm);
    sp_buf_init(&name, 0);
    sp_buf_add(&name, comm.p, comm.n);
    if (t->pid != SP_ABSENT)
        sp_buf_printf(&name, "%spid: %lld", name.len ? " " : "", (long long)t->pid);
    if (t->tid != SP_ABSENT)
        sp_buf_printf(&name, "%stid: %lld", name.len ? " " : "", (long long)t->tid);
    if (!name.len)
        sp_buf_add(&name, w->title.p, w->title.n);
    sp_json_string(&w->b, name.len ? name.data : "", name.len);
    w->b.failed = w->b.failed || name.failed;
    sp_buf_free(&name);
}

/* A number that JSON has as it is written. */
static void ss_put_number(struct sp_buf *b, const struct sp_row *x)
{
    if (x->v == SP_DECIMAL)
        sp_buf_add(b, x->text.p, x->text.n);
    else
        sp_buf_i64(b, x->v);
}

/* The sum of the rows, exactly where its digits are not without end. */
static void ss_put_sum(struct sp_buf *b, const struct sp_row *v, size_t n, double rough)
{
    char sum[SP_DECIMAL_DIGITS + 4] = "0", next[SP_DECIMAL_DIGITS + 4], digits[64];
    size_t len = 1;
    __int128 whole = 0;
    for (size_t i = 0; i < n; i++)
        whole += v[i].v == SP_DECIMAL ? 0 : v[i].v;
    for (size_t i = 0; len && i < n; i++)
        if (v[i].v == SP_DECIMAL) {
            len = sp_decimal_add(sum, len, v[i].text.p, v[i].text.n, next);
            memcpy(sum, next, len);
        }
    if (len)
        len = sp_decimal_add(sum, len, digits, sp_scaled_text(whole, 0, digits), next);
    if (len)
        sp_buf_add(b, next, len);
    else
        sp_buf_add(b, digits, sp_double_text(rough, digits));
}

static bool ss_put_profile(struct ss_writer *w, const struct sp_row_thread *t)
{
    const struct sp_row *v = w->rows.rows.v + t->first;
    sp_buf_clear(&w->b);
    sp_buf_puts(&w->b, "{\"type\":\"sampled\",\"name\":");
    ss_put_name(w, t);
    sp_buf_printf(&w->b, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":", ss_unit(w));
    ss_put_sum(&w->b, v, t->n, t->sum);
    sp_buf_puts(&w->b, ",\n\"samples\":[");
    for (size_t i = 0; i < t->n && !w->b.failed; i++) {
        const uint32_t *path = w->rows.entries.v + v[i].first;
        sp_buf_puts(&w->b, i ? ",\n[" : "\n[");
        for (uint32_t k = 0; k < v[i].n; k++)
            sp_buf_printf(&w->b, k ? ",%u" : "%u", path[k]);
        sp_buf_ch(&w->b, ']');
        if (w->b.len > 1 << 16) {
            sp_write(w->out, w->b.data, w->b.len);
            sp_buf_clear(&w->b);
        }
    }
    sp_buf_puts(&w->b, "],\n\"weights\":[");
    for (size_t i = 0; i < t->n && !w->b.failed; i++) {
        sp_buf_puts(&w->b, i ? "," : "");
        ss_put_number(&w->b, &v[i]);
    }
    sp_buf_puts(&w->b, "]}");
    if (!w->b.failed)
        sp_write(w->out, w->b.data, w->b.len);
    return !w->b.failed;
}

/* ---- the file ---- */

/* The name that a file of speedscope had, else that of the event. */
static bool ss_title(struct ss_writer *w)
{
    struct sp_profile *p = w->p;
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_span name;
    if (w->rows.event != SP_NONE)
        w->title = sp_pstr(p, p->events.v[w->rows.event].name);
    sp_buf_clear(&w->b);
    if (!sp_json_find2((struct sp_span){more.p, more.n}, "x_speedscope", "name", &name) ||
        !sp_json_text_to(&w->b, name) || !w->b.len)
        return !w->b.failed;
    uint32_t text = sp_profile_str(p, w->b.data, w->b.len);
    w->title = text == SP_STR_FAIL ? w->title : sp_pstr(p, text);
    return text != SP_STR_FAIL;
}

static bool ss_put_file(struct ss_writer *w)
{
    size_t heaviest = 0;
    for (size_t i = 1; i < w->rows.threads.n; i++)
        if (w->rows.threads.v[i].sum > w->rows.threads.v[heaviest].sum)
            heaviest = i;
    sp_buf_clear(&w->b);
    sp_buf_printf(&w->b, "{\"$schema\":\"%s\",\"exporter\":\"spaa@%d.%d.%d\",\"name\":", SP_SPEEDSCOPE_SCHEMA,
                  SPAA_VERSION_MAJOR, SPAA_VERSION_MINOR, SPAA_VERSION_PATCH);
    sp_json_string(&w->b, w->title.p ? w->title.p : "", w->title.n);
    sp_buf_printf(&w->b, ",\"activeProfileIndex\":%zu,\n\"shared\":{\"frames\":[", heaviest);
    if (w->b.failed)
        return false;
    sp_write(w->out, w->b.data, w->b.len);
    if (!ss_put_frames(w))
        return false;
    sp_puts(w->out, "]},\n\"profiles\":[");
    for (size_t i = 0; i < w->rows.threads.n; i++) {
        sp_puts(w->out, i ? ",\n" : "\n");
        if (!ss_put_profile(w, &w->rows.threads.v[i]))
            return false;
    }
    sp_puts(w->out, "]}\n");
    return true;
}

spaa_status sp_ss_write(struct sp_profile *p, const struct sp_write_opts *opts, struct sp_diags *d,
                        struct sp_output *out)
{
    struct ss_writer w = {.p = p, .out = out};
    sp_buf_init(&w.b, 0);
    spaa_status st = sp_rows_init(&w.rows, p, opts, d, "a speedscope file");
    if (!st)
        st = ss_title(&w) && ss_make_entries(&w) ? sp_rows_collect(&w.rows, w.entries.entry_of) : sp_nomem(d);
    if (!st)
        st = ss_put_file(&w) ? out->status : sp_nomem(d);
    sp_rows_free(&w.rows);
    sp_entries_free(&w.entries);
    sp_buf_free(&w.b);
    return st;
}
