/* spaa leaks: what memory is live, who asked for it, what grows, and what only comes and goes. */
#include "answer.h"

#include "analysis/leaks.h"
#include "analysis/own_fold.h"
#include "analysis/stacks.h"
#include "base/num.h"
#include "model/callees.h"
#include "render/text.h"

enum { WINDOWS = 48 };

struct leaks {
    struct answer a;
    struct sp_leaks l;
    bool by_stack;
};

static int64_t cmd_leaks_share_of(const struct leaks *x)
{
    int64_t v = x->l.now.v[x->l.rank];
    return v == SP_ABSENT ? 0 : v;
}

/* ---- JSON ---- */

static void cmd_leaks_json_number(struct sp_jw *w, const char *key, int64_t v)
{
    if (v == SP_ABSENT)
        sp_jw_null(w, key);
    else
        sp_jw_i64(w, key, v);
}

/* Every metric has its member, null where the profile does not tell it. */
static void json_sums(struct sp_jw *w, const struct sp_leak_sums *s)
{
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        cmd_leaks_json_number(w, m == SP_LEAK_TEMPORARY ? "temporary_count" : sp_leak_metric_names[m],
                              s->v[m]);
}

static void json_percent(struct sp_jw *w, const char *key, int64_t part, int64_t whole)
{
    sp_jw_percent(w, key, part == SP_ABSENT ? 0 : part, part == SP_ABSENT || whole == SP_ABSENT ? 0 : whole);
}

static void json_stack(struct leaks *x, const struct sp_leak_row *r)
{
    struct sp_jw *w = &x->a.w;
    const struct sp_profile *p = x->l.profile;
    size_t n;
    const uint32_t *f = sp_selected_frames(x->a.s, r->row, &n);
    sp_buf_clear(&x->a.b);
    sp_stack_id_add(&x->a.b, p, x->a.s->rows.v[r->row].stack);
    sp_jw_str(w, "stack", x->a.b.data, x->a.b.len);
    sp_jw_open(w, "frames", '[');
    for (size_t i = 0; f && i < n; i++) {
        struct sp_str name = sp_pstr(p, sp_frame_function(p, f[i])->name),
                      line = sp_pstr(p, p->frames.v[f[i]].srcline),
                      dso = sp_pstr(p, sp_frame_dso(p, f[i])->name);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "function", name.p, name.n);
        sp_jw_str(w, "dso", dso.p, dso.n);
        if (line.n)
            sp_jw_str(w, "srcline", line.p, line.n);
        else
            sp_jw_null(w, "srcline");
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

static void json_growth(struct leaks *x, const struct sp_leak_row *r)
{
    struct sp_jw *w = &x->a.w;
    if (x->l.two) {
        sp_jw_open(w, "base", '{');
        json_sums(w, &r->base);
        sp_jw_close(w, '}');
        sp_jw_open(w, "grown", '{');
        for (int m = 0; m <= SP_LEAK_ALLOC_COUNT; m++)
            cmd_leaks_json_number(w, sp_leak_metric_names[m], sp_leak_grown(r, (enum sp_leak_metric)m));
        sp_jw_close(w, '}');
        sp_jw_open(w, "beyond_time", '{');
        for (int m = 0; m <= SP_LEAK_ALLOC_COUNT; m++)
            cmd_leaks_json_number(w, sp_leak_metric_names[m],
                                  sp_leak_beyond_time(&x->l, r, (enum sp_leak_metric)m));
        sp_jw_close(w, '}');
        return;
    }
    if (!r->known_growth) {
        sp_jw_null(w, "live_bytes_by_quarter");
        return;
    }
    sp_jw_open(w, "live_bytes_by_quarter", '[');
    for (int q = 0; q < 4; q++)
        sp_jw_i64(w, NULL, r->quarters[q]);
    sp_jw_close(w, ']');
}

static void cmd_leaks_json_row(struct leaks *x, const struct sp_leak_row *r)
{
    struct sp_jw *w = &x->a.w;
    sp_jw_open(w, NULL, '{');
    if (r->function != SP_NONE) {
        answer_function(&x->a, r->function);
    } else {
        sp_jw_null(w, "id");
        sp_jw_cstr(w, "function", "[no stack]");
        sp_jw_null(w, "dso");
        answer_own(&x->a, SP_NONE);
    }
    sp_jw_cstr(w, "kind", sp_leak_kind_names[r->kind]);
    sp_jw_bool(w, "never_freed", r->never_freed);
    json_sums(w, &r->now);
    json_percent(w, "percent", r->now.v[x->l.rank], x->l.now.v[x->l.rank]);
    json_percent(w, "live_of_alloc_percent", r->now.v[SP_LEAK_LIVE_BYTES], r->now.v[SP_LEAK_ALLOC_BYTES]);
    json_percent(w, "temporary_percent", r->now.v[SP_LEAK_TEMPORARY], r->now.v[SP_LEAK_ALLOC_COUNT]);
    json_growth(x, r);
    sp_jw_u64(w, "records", (uint64_t)r->records[0] + r->records[1]);
    sp_jw_u64(w, "allocators_skipped", r->skipped);
    json_stack(x, r);
    sp_jw_close(w, '}');
}

static void json_seconds(struct sp_jw *w, const char *key, int64_t ns)
{
    if (ns > 0)
        sp_jw_scaled(w, key, ns, 9);
    else
        sp_jw_null(w, key);
}

/* The own function that allocated, through the row's function or as it; else that. */
static uint32_t asked_for(const struct leaks *x, const struct sp_leak_row *r)
{
    size_t n, at;
    const uint32_t *frames = sp_selected_frames(x->a.s, r->row, &n);
    uint32_t own =
        frames ? sp_own_nearest(x->l.profile, &x->a.own, frames, n, r->skipped < n ? r->skipped : n, &at)
               : SP_NONE;
    return own == SP_NONE ? r->function : own;
}

static size_t next_commands(const struct leaks *x, struct answer_next *next, char *handle)
{
    size_t n = 0;
    const struct sp_leak_row *first = x->l.rows.n ? &x->l.rows.v[0] : NULL;
    if (!x->by_stack && !x->a.c->v.leaks_by)
        next[n++] = (struct answer_next){"leaks", NULL, "--by stack -n 3"};
    if (!x->a.c->v.metric && x->l.rank != SP_LEAK_ALLOC_BYTES && x->l.has[SP_LEAK_ALLOC_BYTES])
        next[n++] = (struct answer_next){"leaks", NULL, "--metric alloc_bytes"};
    if (first && first->function != SP_NONE && !x->l.two &&
        sp_handle_text(&x->a.handles, asked_for(x, first), handle))
        next[n++] = (struct answer_next){
            "function", handle,
            x->a.c->v.metric || x->l.rank != SP_LEAK_LIVE_BYTES ? NULL : "--metric live_bytes"};
    return n;
}

static int cmd_leaks_draw_json(struct leaks *x, size_t limit)
{
    struct answer *a = &x->a;
    struct sp_jw *w = &a->w;
    const struct sp_leaks *l = &x->l;
    struct answer_next next[3];
    char handle[32] = "";
    int rc = answer_begin(a, "spaa.leaks/2");
    if (rc)
        return rc;
    sp_jw_open(w, "memory", '{');
    json_sums(w, &l->now);
    sp_jw_close(w, '}');
    if (l->two) {
        sp_jw_open(w, "base_memory", '{');
        json_sums(w, &l->base);
        sp_jw_close(w, '}');
        json_seconds(w, "base_seconds", l->base_ns);
    }
    json_seconds(w, "seconds", l->now_ns);
    sp_jw_cstr(w, "ranked_by", sp_leak_metric_names[l->rank]);
    sp_jw_cstr(w, "growth_from", l->two ? "files" : l->growth ? "windows" : NULL);
    sp_jw_bool(w, "peaks_add", l->has[SP_LEAK_PEAK_BYTES] && !l->peaks_apart);
    sp_jw_u64(w, "stacks_with_allocators_skipped", l->skipped);
    sp_jw_open(w, "suppressed", '{');
    sp_jw_u64(w, "stacks", l->suppressed);
    cmd_leaks_json_number(w, "live_bytes", l->hidden[SP_LEAK_LIVE_BYTES]);
    cmd_leaks_json_number(w, "live_count", l->hidden[SP_LEAK_LIVE_COUNT]);
    sp_jw_close(w, '}');
    sp_jw_open(w, "rows", '[');
    for (size_t i = 0; i < l->rows.n && i < limit; i++)
        cmd_leaks_json_row(x, &l->rows.v[i]);
    sp_jw_close(w, ']');
    sp_jw_open(w, "omitted", '{');
    sp_jw_u64(w, "rows", l->rows.n > limit ? l->rows.n - limit : 0);
    int64_t left = 0;
    for (size_t i = limit; i < l->rows.n; i++)
        left += l->rows.v[i].rank;
    sp_jw_i64(w, "ranked", left);
    sp_jw_close(w, '}');
    return answer_end(a, next, next_commands(x, next, handle));
}

/* ---- tables ---- */

static bool is_bytes(int m)
{
    return m == SP_LEAK_LIVE_BYTES || m == SP_LEAK_ALLOC_BYTES || m == SP_LEAK_FREE_BYTES ||
           m == SP_LEAK_PEAK_BYTES;
}

static void cmd_leaks_amount(struct sp_buf *b, int64_t v, bool bytes, bool exact)
{
    if (v == SP_ABSENT)
        return;
    if (exact)
        sp_buf_i64(b, v);
    else if (bytes)
        sp_text_bytes(b, v, 0);
    else
        sp_text_grouped(b, v, 0);
}

static void cell_amount(struct leaks *x, struct sp_table *t, int64_t v, int m)
{
    cmd_leaks_amount(&x->a.b, v, is_bytes(m), x->a.c->format == FORMAT_CSV);
    cell_buf(t, &x->a.b);
}

static void cmd_leaks_cell_share(struct leaks *x, struct sp_table *t, int64_t part, int64_t whole)
{
    if (part != SP_ABSENT && whole != SP_ABSENT && whole) {
        sp_text_percent(&x->a.b, part, whole);
        if (x->a.c->format != FORMAT_CSV)
            sp_buf_ch(&x->a.b, '%');
    }
    cell_buf(t, &x->a.b);
}

/* The functions from the allocating one to the root. */
static void path_text(struct leaks *x, const struct sp_leak_row *r)
{
    const struct sp_profile *p = x->l.profile;
    struct sp_buf *b = &x->a.b;
    size_t n;
    const uint32_t *f = sp_selected_frames(x->a.s, r->row, &n);
    for (size_t i = r->skipped; f && i < n; i++) {
        struct sp_str name = sp_pstr(p, sp_frame_function(p, f[i])->name);
        sp_buf_puts(b, i > r->skipped ? " < " : "");
        sp_buf_add(b, name.p, name.n);
    }
    if (!f || !n)
        sp_buf_puts(b, "[no stack]");
}

static void cell_name(struct leaks *x, struct sp_table *t, const struct sp_leak_row *r)
{
    const struct sp_profile *p = x->l.profile;
    struct sp_str none = {"", 0};
    if (x->by_stack) {
        sp_stack_id_add(&x->a.b, p, x->a.s->rows.v[r->row].stack);
        cell_buf(t, &x->a.b);
        path_text(x, r);
        cell_buf(t, &x->a.b);
        return;
    }
    cell_str(t, r->function == SP_NONE ? (struct sp_str){"[no stack]", 10}
                                       : sp_pstr(p, p->functions.v[r->function].name));
    cell_str(t, r->function == SP_NONE ? none : dso_name(p, p->functions.v[r->function].dso));
}

/* A column's metric, or what it is made of. */
enum { RANK_SHARE = 100, GROWN, BASE, BEYOND, KIND, TEMPORARY_SHARE };

static const struct column {
    const char *title, *csv;
    int what;
    int needs; /* the metric without which it is left out */
} columns_one[] =
    {
        {"live", "live_bytes", SP_LEAK_LIVE_BYTES, SP_LEAK_LIVE_BYTES},
        {"%", "percent", RANK_SHARE, -1},
        {"blocks", "live_count", SP_LEAK_LIVE_COUNT, SP_LEAK_LIVE_COUNT},
        {"allocated", "alloc_bytes", SP_LEAK_ALLOC_BYTES, SP_LEAK_ALLOC_BYTES},
        {"calls", "alloc_count", SP_LEAK_ALLOC_COUNT, SP_LEAK_ALLOC_COUNT},
        {"temporary", "temporary_count", SP_LEAK_TEMPORARY, SP_LEAK_TEMPORARY},
        {"of calls", "temporary_percent", TEMPORARY_SHARE, SP_LEAK_TEMPORARY},
        {"at peak", "peak_bytes", SP_LEAK_PEAK_BYTES, SP_LEAK_PEAK_BYTES},
        {"state", "kind", KIND, -1},
        {0},
},
  columns_two[] = {
      {"more", "grown", GROWN, -1},
      {"beyond time", "beyond_time", BEYOND, -1},
      {"before", "base", BASE, -1},
      {"now", "now", RANK_SHARE + 100, -1},
      {"blocks", "live_count", SP_LEAK_LIVE_COUNT, SP_LEAK_LIVE_COUNT},
      {"calls", "alloc_count", SP_LEAK_ALLOC_COUNT, SP_LEAK_ALLOC_COUNT},
      {"state", "kind", KIND, -1},
      {0},
};

static bool cmd_leaks_shown(const struct leaks *x, const struct column *c)
{
    return (c->needs < 0 || x->l.has[c->needs]) &&
           (c->what != BEYOND || (x->l.now_ns > 0 && x->l.base_ns > 0));
}

static void cmd_leaks_table_row(struct leaks *x, struct sp_table *t, const struct sp_leak_row *r)
{
    int rank = (int)x->l.rank;
    for (const struct column *c = x->l.two ? columns_two : columns_one; c->title; c++) {
        if (!cmd_leaks_shown(x, c))
            continue;
        if (c->what == RANK_SHARE)
            cmd_leaks_cell_share(x, t, r->now.v[rank], cmd_leaks_share_of(x));
        else if (c->what == TEMPORARY_SHARE)
            cmd_leaks_cell_share(x, t, r->now.v[SP_LEAK_TEMPORARY], r->now.v[SP_LEAK_ALLOC_COUNT]);
        else if (c->what == GROWN)
            cell_amount(x, t, sp_leak_grown(r, x->l.rank), rank);
        else if (c->what == BEYOND)
            cell_amount(x, t, sp_leak_beyond_time(&x->l, r, x->l.rank), rank);
        else if (c->what == BASE)
            cell_amount(x, t, r->base.v[rank], rank);
        else if (c->what == KIND)
            sp_table_printf(t, "%s", sp_leak_kind_names[r->kind]);
        else
            cell_amount(x, t, r->now.v[c->what < SP_LEAK_METRICS ? c->what : rank],
                        c->what < SP_LEAK_METRICS ? c->what : rank);
    }
    cell_name(x, t, r);
}

static size_t cmd_leaks_columns_of(const struct leaks *x, struct sp_table_column *out)
{
    size_t n = 0;
    bool csv = x->a.c->format == FORMAT_CSV;
    for (const struct column *c = x->l.two ? columns_two : columns_one; c->title; c++)
        if (cmd_leaks_shown(x, c))
            out[n++] = (struct sp_table_column){csv ? c->csv : c->title, c->what != KIND, false};
    if (x->by_stack) {
        out[n++] = (struct sp_table_column){csv ? "stack" : "id", false, false};
        out[n++] = (struct sp_table_column){csv ? "path" : "allocated by < its callers", false, true};
    } else {
        out[n++] = (struct sp_table_column){csv ? "function" : "allocated by", false, true};
        out[n++] = (struct sp_table_column){"dso", false, true};
    }
    return n;
}

static void say_amount(struct sp_buf *b, const char *before, int64_t v, int m, const char *behind)
{
    if (v == SP_ABSENT)
        return;
    sp_buf_puts(b, before);
    cmd_leaks_amount(b, v, is_bytes(m), false);
    sp_buf_puts(b, behind);
}

static void say_totals(struct leaks *x, struct sp_buf *b)
{
    const int64_t *v = x->l.now.v;
    say_amount(b, "live ", v[SP_LEAK_LIVE_BYTES], SP_LEAK_LIVE_BYTES, "");
    say_amount(b, " in ", v[SP_LEAK_LIVE_COUNT], SP_LEAK_LIVE_COUNT, " blocks");
    say_amount(b, b->len ? "; allocated " : "allocated ", v[SP_LEAK_ALLOC_BYTES], SP_LEAK_ALLOC_BYTES, "");
    say_amount(b, " by ", v[SP_LEAK_ALLOC_COUNT], SP_LEAK_ALLOC_COUNT, " calls");
    if (v[SP_LEAK_TEMPORARY] != SP_ABSENT) {
        say_amount(b, ", ", v[SP_LEAK_TEMPORARY], SP_LEAK_TEMPORARY, " of them temporary (freed next)");
    }
    say_amount(b, "; at the peak ", v[SP_LEAK_PEAK_BYTES], SP_LEAK_PEAK_BYTES, "");
    if (x->l.two)
        say_amount(b, "; before: ", x->l.base.v[x->l.rank], (int)x->l.rank, "");
    sp_buf_ch(b, '\n');
}

static void say_stacks(struct sp_buf *b, const char *before, uint64_t n)
{
    sp_buf_printf(b, "%s%llu stack%s", before, (unsigned long long)n, n == 1 ? "" : "s");
}

static void say_notes(struct leaks *x, struct sp_buf *b)
{
    const struct sp_leaks *l = &x->l;
    if (l->suppressed) {
        say_stacks(b, "not counted as live, since heaptrack's suppressions fit: what is left of ",
                   l->suppressed);
        say_amount(b, ", ", l->hidden[SP_LEAK_LIVE_BYTES], SP_LEAK_LIVE_BYTES, "");
        sp_buf_puts(b, " (--suppressed counts it)\n");
    }
    if (l->skipped) {
        say_stacks(b, "skipped at the leaf: allocators (malloc, operator new, …) of ", l->skipped);
        sp_buf_puts(b, " (--keep-allocators names them)\n");
    }
    if (l->two && (l->now_ns <= 0 || l->base_ns <= 0))
        sp_buf_puts(b, "how long the profiles lasted is not known: growth is not set against time\n");
    if (!l->two && !l->growth)
        sp_buf_puts(
            b, "growing or not is not known: that takes windows of time, or two profiles (spaa leaks FILE "
               "LATER)\n");
    if (l->peaks_apart)
        sp_buf_puts(b, "peaks of stacks cannot be added: they are shown where a row is one stack\n");
}

static int cmd_leaks_draw_rows(struct leaks *x, size_t limit)
{
    struct cli *c = x->a.c;
    struct sp_table_column columns[16];
    struct sp_table t;
    struct sp_buf b;
    size_t n = x->l.rows.n < limit ? x->l.rows.n : limit;
    sp_buf_clear(&x->a.b);
    sp_table_init(&t, columns, cmd_leaks_columns_of(x, columns));
    for (size_t i = 0; i < n; i++)
        cmd_leaks_table_row(x, &t, &x->l.rows.v[i]);
    answer_heading(c, x->a.s);
    sp_buf_init(&b, 0);
    say_totals(x, &b);
    if (c->format == FORMAT_TABLE)
        sp_write(c->out, b.data, b.len);
    else if (c->format == FORMAT_MARKDOWN)
        sp_markdown_text(c->out, b.data, b.len);
    sp_puts(c->out, c->format == FORMAT_MARKDOWN ? "\n" : "");
    int rc = answer_table(c, &t);
    sp_buf_clear(&b);
    if (n < x->l.rows.n)
        sp_buf_printf(&b, "%zu more rows; %s\n", x->l.rows.n - n, answer_more(c));
    say_notes(x, &b);
    if (!rc && c->format != FORMAT_CSV && b.len) {
        sp_puts(c->out, c->format == FORMAT_MARKDOWN ? "\n" : "");
        if (c->format == FORMAT_MARKDOWN)
            sp_markdown_text(c->out, b.data, b.len);
        else
            sp_write(c->out, b.data, b.len);
    }
    sp_buf_free(&b);
    sp_table_free(&t);
    return rc;
}

static int cmd_leaks_draw(void *arg, size_t rows)
{
    struct leaks *x = arg;
    return x->a.c->format == FORMAT_JSON ? cmd_leaks_draw_json(x, rows) : cmd_leaks_draw_rows(x, rows);
}

/* ---- inputs ---- */

/* How long a profile lasted: what it says, else its range of time; 0: not known. */
static int64_t cmd_leaks_duration_of(const struct sp_profile *p)
{
    const struct sp_header *h = &p->header;
    struct sp_str t = sp_pstr(p, h->duration), a = sp_pstr(p, h->time_start), b = sp_pstr(p, h->time_end);
    int64_t ns, from;
    if (h->duration && sp_seconds_ns(t.p, t.n, &ns))
        return ns;
    if (h->time_end && sp_str_is(sp_pstr(p, h->time_unit), "seconds") && sp_seconds_ns(a.p, a.n, &from) &&
        sp_seconds_ns(b.p, b.n, &ns) && ns > from)
        return ns - from;
    return 0;
}

/*
 * Of two profiles the totals of the answer, and its quality, are those of the later one: its rows come first,
 * and are all there is while quality is looked at.
 */
static spaa_status answer_for_later(struct leaks *x, uint32_t base)
{
    struct sp_selection *s = x->a.s;
    const struct sp_profile *p = s->profile;
    size_t all = s->rows.n, later = 0, n = 0;
    struct sp_selected *rows = malloc((all + 1) * sizeof *rows);
    if (!rows)
        return sp_nomem(&x->a.c->diags);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < all; i++)
            if ((p->contexts.v[p->stacks.v[s->rows.v[i].stack].context].source == base) == side)
                rows[n++] = s->rows.v[i];
        later = side ? later : n;
    }
    memcpy(s->rows.v, rows, all * sizeof *rows);
    free(rows);
    s->kept = 0;
    for (size_t i = 0; i < later; i++)
        s->kept += s->rows.v[i].weight;
    s->whole = s->event_whole = s->kept;
    s->rows.n = later;
    spaa_status st = answer_ready(&x->a);
    s->rows.n = all;
    return st;
}

/* Both profiles as one, whose records say which they are of. */
static spaa_status read_two(struct cli *c, struct sp_leaks_opts *o)
{
    struct sp_read_opts read;
    struct sp_merger *m = NULL;
    if (!cli_read_opts(c, &read))
        return SPAA_ERR_USAGE;
    struct sp_merge_opts how = {.frames = SP_FRAMES_ADDRESS,
                                .group_by = read.group_by | SP_BY_CPU,
                                .by_source = true,
                                .compared = true};
    spaa_status st = sp_merger_new(&how, &c->diags, &m);
    for (int i = 0; !st && i < 2; i++) {
        struct sp_profile *p = NULL;
        st = cli_read(c, c->files.v[i], &read, &p);
        if (!st) {
            *(i ? &o->now_ns : &o->base_ns) = cmd_leaks_duration_of(p);
            p->windows.n = p->window_rows.n = 0; /* not of use here: nothing to say of their loss */
            st = sp_merger_add(m, p, i ? "later" : "base");
        }
        sp_profile_free(p);
    }
    if (!st)
        st = sp_merger_finish(m, &c->profile);
    sp_merger_free(m);
    if (!st)
        st = sp_callees_split(c->profile, &c->diags);
    if (!st)
        o->base = sp_strtab_find(&c->profile->strs, "base", 4);
    return st;
}

static int open_inputs(struct cli *c, struct sp_leaks_opts *o)
{
    if (c->files.n > 2)
        return cli_usage(c, "of a series of dumps: the first and the last one",
                         "leaks takes one file, or an earlier and a later one");
    if (c->v.time)
        return cli_usage(c, "`spaa timeline` shows when",
                         "leaks asks about the whole recording: --time does not fit");
    if (c->files.n == 2) {
        spaa_status st = read_two(c, o);
        return st ? cli_exit_of(st) : cli_check_own(c, NULL);
    }
    c->needs_windows = WINDOWS;
    int rc = cli_open_default(c);
    if (!rc)
        o->now_ns = cmd_leaks_duration_of(c->profile);
    return rc;
}

int sp_cmd_leaks(struct cli *c)
{
    static const char *const kinds[] = {"function", "stack", NULL};
    struct sp_leaks_opts o = {.keep_allocators = c->v.keep_allocators != NULL,
                              .suppressed = c->v.suppressed != NULL};
    struct sp_select_opts select;
    struct sp_selection s;
    struct leaks x = {0};
    size_t limit;
    int by;
    if (!cli_choice(c, "by", c->v.leaks_by, kinds, 0, &by) || !answer_limit(c, 20, &limit) ||
        !cli_select_opts(c, &select))
        return EXIT_USAGE;
    int rc = open_inputs(c, &o);
    if (rc)
        return rc;
    o.by_stack = x.by_stack = by == 1;
    spaa_status st = sp_leaks_choose(c->profile, &select, &c->diags);
    if (!st)
        st = sp_stack_ids(c->profile);
    if (!st)
        st = sp_select(c->profile, &select, &c->diags, &s);
    if (st)
        return cli_exit_of(st);
    answer_init(&x.a, c, &s);
    st = o.base ? answer_for_later(&x, o.base) : SPAA_OK;
    if (!st)
        st = sp_leaks_of(&s, &o, &c->diags, &x.l);
    rc = st ? cli_exit_of(st) : cli_stdout(c);
    if (!rc)
        rc = answer_fit(c, limit < x.l.rows.n ? limit : x.l.rows.n, cmd_leaks_draw, &x);
    if (!st)
        sp_leaks_free(&x.l);
    answer_free(&x.a);
    sp_selection_free(&s);
    return rc;
}
