/* leaks: what memory is live, who asked for it, what grows, and what only comes and goes. */
#include "ask/common.h"
#include "ask/leaks_words.h"

#include "analysis/own_fold.h"
#include "analysis/short_name.h"
#include "analysis/stacks.h"
#include "base/num.h"
#include "model/callees.h"
#include "model/merge.h"

#include <stdlib.h>

enum { WINDOWS = 48, QUARTERS = 4 };

/* ---- columns ---- */

/* Those of enum sp_leak_metric follow each of the four beginnings. */
enum {
    GROWN,
    BEYOND = GROWN + SP_LEAK_METRICS,
    BASE = BEYOND + SP_LEAK_METRICS,
    PERCENT = BASE + SP_LEAK_METRICS,
    NOW,
    TEMPORARY = NOW + SP_LEAK_METRICS,
    LIVE_OF_ALLOC,
    KIND,
    NEVER_FREED,
    GAINED,
    STACK = GAINED + QUARTERS,
    PATH,
    FUNCTION,
    CALLERS = FUNCTION + SP_FUNCTION_NCOLUMNS,
    CALLERS_PERCENT,
    CALLERS_OTHERS,
    FOR,
    RECORDS,
    SKIPPED,
};
#define SUMS(at, path, words)                                                                                \
    [at +                                                                                                    \
        SP_LEAK_LIVE_BYTES] = {path "live_bytes", SP_COL_WEIGHT, .doc = "bytes that are live" words},        \
        [at + SP_LEAK_LIVE_COUNT] = {path "live_count", SP_COL_WEIGHT, .doc = "blocks that are live" words}, \
        [at + SP_LEAK_ALLOC_BYTES] = {path "alloc_bytes", SP_COL_WEIGHT, .doc = "bytes allocated" words},    \
        [at +                                                                                                \
            SP_LEAK_ALLOC_COUNT] = {path "alloc_count", SP_COL_WEIGHT, .doc = "calls that allocated" words}, \
        [at + SP_LEAK_FREE_BYTES] = {path "free_bytes", SP_COL_WEIGHT, .doc = "bytes freed" words},          \
        [at + SP_LEAK_FREE_COUNT] = {path "free_count", SP_COL_WEIGHT, .doc = "blocks freed" words},         \
        [at + SP_LEAK_TEMPORARY] = {path "temporary_count", SP_COL_WEIGHT,                                   \
                                    .doc = "calls whose block was freed next" words},                        \
        [at + SP_LEAK_PEAK_BYTES] = {path "peak_bytes", SP_COL_WEIGHT, .doc = "bytes at the peak" words}
#define GAINED_IN(n, word)                                                                                   \
    [GAINED + n] = {"live_bytes_by_quarter." #n, SP_COL_COUNT,                                               \
                    .doc = "live bytes gained in the " word " quarter of the time"}

static const struct sp_answer_column leaks_columns[] = {
    SUMS(GROWN, "grown.", ", more than in the earlier profile"),
    SUMS(BEYOND, "beyond_time.", ", more than the longer time explains"),
    SUMS(BASE, "base.", ", of the earlier profile"),
    [PERCENT] = {"percent", SP_COL_PERCENT, "%", .doc = "share of the metric that ranks the rows"},
    SUMS(NOW, "", ""),
    [TEMPORARY] = {"temporary_percent", SP_COL_NUMBER, "% of calls", .doc = "temporary calls of its calls"},
    [LIVE_OF_ALLOC] = {"live_of_alloc_percent", SP_COL_NUMBER, .doc = "live bytes of its allocated bytes"},
    [KIND] = {"kind", SP_COL_TEXT, "state", .doc = "growing, never freed, partly freed, freed, …"},
    [NEVER_FREED] = {"never_freed", SP_COL_BOOL, .doc = "nothing of it was ever freed"},
    GAINED_IN(0, "first"),
    GAINED_IN(1, "second"),
    GAINED_IN(2, "third"),
    GAINED_IN(3, "last"),
    [STACK] = {"stack", SP_COL_TEXT, "id", .doc = "id of its heaviest call stack"},
    [PATH] = {"path", SP_COL_TEXTS, "allocated by < its callers", .flags = SP_COL_NO_JSON | SP_COL_FLEXIBLE,
              .doc = "the functions from the allocating one to the root"},
    SP_FUNCTION_COLUMNS(FUNCTION, "allocated by", "dso"),
    [CALLERS] = {"own_callers", SP_COL_TEXTS,
                 .doc = "the program's own functions above it, nearest first, along the way most of it goes"},
    [CALLERS_PERCENT] = {"own_callers_percent", SP_COL_NUMBER,
                         .doc = "how much of the row goes that way; null: there are none"},
    [CALLERS_OTHERS] = {"own_callers_others", SP_COL_COUNT,
                        .doc = "own functions that call it nearest, beside the first: it may be a wrapper"},
    [FOR] = {"for", SP_COL_TEXT, "own callers", .flags = SP_COL_NO_JSON, .doc = "these in words"},
    [RECORDS] = {"records", SP_COL_COUNT, .doc = "call stacks in it"},
    [SKIPPED] = {"allocators_skipped", SP_COL_COUNT, .doc = "allocators at the leaf of that call stack"},
};
static const struct sp_table_decl leaks_rows = {
    "rows", leaks_columns, sizeof leaks_columns / sizeof *leaks_columns,
    .doc = "allocating functions, or with --by stack call stacks, by the metric that ranks them"};

enum { FRAME_FUNCTION, FRAME_DSO, FRAME_LINE };
static const struct sp_answer_column leaks_frame_columns[] = {
    [FRAME_FUNCTION] = {"function", SP_COL_NAME, .doc = "its name"},
    [FRAME_DSO] = {"dso", SP_COL_NAME, .doc = "the binary it is in"},
    [FRAME_LINE] = {"srcline", SP_COL_TEXT, .doc = "file:line"},
};
static const struct sp_table_decl leaks_frames = {
    "frames", leaks_frame_columns, sizeof leaks_frame_columns / sizeof *leaks_frame_columns, .of = "rows",
    .doc = "the frames of that call stack, leaf first"};

#define FACT_SUMS(path, words)                                                                               \
    {path "live_bytes", SP_COL_WEIGHT, .doc = "bytes that are live" words},                                  \
        {path "live_count", SP_COL_WEIGHT, .doc = "blocks that are live" words},                             \
        {path "alloc_bytes", SP_COL_WEIGHT, .doc = "bytes allocated" words},                                 \
        {path "alloc_count", SP_COL_WEIGHT, .doc = "calls that allocated" words},                            \
        {path "free_bytes", SP_COL_WEIGHT, .doc = "bytes freed" words},                                      \
        {path "free_count", SP_COL_WEIGHT, .doc = "blocks freed" words},                                     \
        {path "temporary_count", SP_COL_WEIGHT, .doc = "calls whose block was freed next" words},            \
    {                                                                                                        \
        path "peak_bytes", SP_COL_WEIGHT, .doc = "bytes at the peak" words                                   \
    }
static const struct sp_answer_column leaks_facts[] = {
    FACT_SUMS("memory.", "; null where it is not known"),
    FACT_SUMS("base_memory.", ", of the earlier one of two profiles; else left out"),
    {"base_seconds", SP_COL_NUMBER, .flags = SP_COL_SOMETIMES,
     .doc = "how long that lasted; null: not known"},
    {"seconds", SP_COL_NUMBER, .doc = "how long the profile lasted; null: not known"},
    {"ranked_by", SP_COL_TEXT,
     .doc = "the metric that sorts the rows; of two profiles by how much of it is more"},
    {"growth_from", SP_COL_TEXT, .doc = "what tells what grows: windows or files; null: nothing does"},
    {"peaks_add", SP_COL_BOOL, .doc = "peaks of several stacks are parts of one total"},
    {"stacks_with_allocators_skipped", SP_COL_COUNT, .doc = "those whose leaves are allocators"},
    {"suppressed.stacks", SP_COL_COUNT, .doc = "call stacks whose memory the recording calls no leak"},
    {"suppressed.live_bytes", SP_COL_WEIGHT, .doc = "bytes that are live of these; not counted as live"},
    {"suppressed.live_count", SP_COL_WEIGHT, .doc = "blocks likewise"},
    {0},
};
static const struct sp_table_decl *const leaks_tables[] = {&leaks_rows, &leaks_frames, NULL};

struct leaks {
    struct sp_asked *x;
    struct sp_leaks l;
    bool by_stack;
    uint32_t bytes, count, rank; /* measures */
    struct sp_leak_records records;
    struct sp_diags *diags;
    size_t limit;
};

static bool is_bytes(int m)
{
    return m == SP_LEAK_LIVE_BYTES || m == SP_LEAK_ALLOC_BYTES || m == SP_LEAK_FREE_BYTES ||
           m == SP_LEAK_PEAK_BYTES;
}

static const char *metric_member(int m)
{
    return m == SP_LEAK_TEMPORARY ? "temporary_count" : sp_leak_metric_names[m];
}

/* ---- titles: what is shown of these, by what there is ---- */

static void titles_of_one(const struct leaks *x, struct sp_answer_table *t)
{
    static const char *const titles[SP_LEAK_METRICS] = {
        [SP_LEAK_LIVE_BYTES] = "live",       [SP_LEAK_LIVE_COUNT] = "blocks",
        [SP_LEAK_ALLOC_BYTES] = "allocated", [SP_LEAK_ALLOC_COUNT] = "calls",
        [SP_LEAK_TEMPORARY] = "temporary",   [SP_LEAK_PEAK_BYTES] = "at peak",
    };
    static const size_t spare[] = {NOW + SP_LEAK_TEMPORARY, NOW + SP_LEAK_PEAK_BYTES, TEMPORARY,
                                   NOW + SP_LEAK_ALLOC_COUNT, NOW + SP_LEAK_ALLOC_BYTES};
    for (size_t m = 0; m < SP_LEAK_METRICS; m++) {
        t->columns.v[NOW + m].title = x->l.has[m] ? titles[m] : NULL;
        sp_table_without(t, GROWN + m);
        sp_table_without(t, BEYOND + m);
        sp_table_without(t, BASE + m);
    }
    if (!x->l.has[SP_LEAK_TEMPORARY])
        t->columns.v[TEMPORARY].title = NULL;
    for (size_t i = 0; i < sizeof spare / sizeof *spare; i++)
        t->columns.v[spare[i]].flags |= spare[i] == NOW + x->l.rank ? 0u : (unsigned)SP_COL_SPARE;
    t->columns.v[NOW + x->l.rank].flags |= SP_COL_OMITTED;
}

static void titles_of_two(const struct leaks *x, struct sp_answer_table *t)
{
    size_t rank = x->l.rank;
    if (x->l.has[SP_LEAK_LIVE_COUNT])
        t->columns.v[NOW + SP_LEAK_LIVE_COUNT].title = "blocks";
    if (x->l.has[SP_LEAK_ALLOC_COUNT])
        t->columns.v[NOW + SP_LEAK_ALLOC_COUNT].title = "calls";
    t->columns.v[PERCENT].title = t->columns.v[TEMPORARY].title = NULL;
    t->columns.v[GROWN + rank].title = "more";
    if (x->l.now_ns > 0 && x->l.base_ns > 0)
        t->columns.v[BEYOND + rank].title = "beyond time";
    t->columns.v[BASE + rank].title = "before";
    t->columns.v[NOW + rank].title = "now";
    t->columns.v[NOW + SP_LEAK_ALLOC_COUNT].flags |= SP_COL_SPARE;
    t->columns.v[GROWN + rank].flags |= SP_COL_OMITTED;
    for (size_t q = 0; q < QUARTERS; q++)
        sp_table_without(t, GAINED + q);
}

static void titles(const struct leaks *x, struct sp_answer_table *t)
{
    static const size_t first[] = {GROWN, BEYOND, BASE, NOW};
    for (size_t m = 0; m < SP_LEAK_METRICS; m++)
        for (size_t i = 0; i < sizeof first / sizeof *first; i++)
            t->measure.v[first[i] + m] = is_bytes((int)m) ? x->bytes : x->count;
    t->measure.v[PERCENT] = t->measure.v[NOW + x->l.rank] = x->rank;
    if (x->l.two)
        titles_of_two(x, t);
    else
        titles_of_one(x, t);
    for (size_t i = FUNCTION; x->by_stack && i < FUNCTION + SP_FUNCTION_NCOLUMNS; i++) {
        t->columns.v[i].title = NULL;
        t->columns.v[i].flags &= ~(unsigned)SP_COL_CSV;
    }
    if (!x->by_stack)
        t->columns.v[STACK].title = t->columns.v[PATH].title = NULL;
    else
        t->columns.v[FOR].title = NULL; /* the path has them */
    if (!x->x->q->brief)
        t->columns.v[FOR].title = NULL;
    else
        t->columns.v[FUNCTION + SP_FUNCTION_DSO].title = NULL; /* which says less than the callers */
    for (size_t i = 0; i < t->columns.n && !x->x->q->brief; i++)
        if (t->columns.v[i].title)
            t->columns.v[i].title = t->columns.v[i].name; /* which says bytes or blocks */
}

/* ---- rows ---- */

static void put_share(struct sp_answer_table *t, size_t column, int64_t part, int64_t whole)
{
    if (part != SP_ABSENT && whole != SP_ABSENT && whole)
        sp_put_real(t, column, (double)sp_ratio(part, whole, 10000) / 100);
}

static void put_sums(struct leaks *x, struct sp_answer_table *t, const struct sp_leak_row *r)
{
    for (size_t m = 0; m < SP_LEAK_METRICS; m++) {
        sp_put_int(t, NOW + m, r->now.v[m]);
        if (!x->l.two)
            continue;
        sp_put_int(t, BASE + m, r->base.v[m]);
        sp_put_int(t, GROWN + m, sp_leak_grown(r, (enum sp_leak_metric)m));
        sp_put_int(t, BEYOND + m, sp_leak_beyond_time(&x->l, r, (enum sp_leak_metric)m));
    }
    sp_put_int(t, PERCENT, r->now.v[x->l.rank]);
    put_share(t, TEMPORARY, r->now.v[SP_LEAK_TEMPORARY], r->now.v[SP_LEAK_ALLOC_COUNT]);
    put_share(t, LIVE_OF_ALLOC, r->now.v[SP_LEAK_LIVE_BYTES], r->now.v[SP_LEAK_ALLOC_BYTES]);
    for (size_t q = 0; q < QUARTERS && r->known_growth; q++)
        sp_put_int(t, GAINED + q, r->quarters[q]);
}

/* The functions from the allocating one on, each with a mark that the next one called it. */
static void put_path(struct leaks *x, struct sp_answer_table *t, const uint32_t *f, size_t from, size_t n)
{
    struct sp_value_text none = {"[no stack]", 10};
    struct sp_value_text *path = sp_arena_zalloc(&x->x->out->arena, (n + 1) * sizeof *path);
    const struct sp_profile *p = x->l.profile;
    struct sp_buf *b = &x->x->b;
    for (size_t i = from; path && i < n; i++) {
        struct sp_str name = sp_pstr(p, sp_frame_function(p, f[i])->name);
        sp_buf_clear(b);
        sp_short_name(b, name.p, name.n, x->x->q->brief ? SP_SHORTEST : SP_WHOLE_NAME);
        sp_buf_puts(b, i + 1 < n ? " <" : "");
        path[i].n = b->len;
        path[i].p = b->failed ? NULL : sp_arena_dup(&x->x->out->arena, sp_buf_cstr(b), b->len);
        x->x->out->failed |= !path[i].p;
    }
    x->x->out->failed |= !path;
    if (!x->x->out->failed)
        sp_put_texts(x->x->out, t, PATH, n ? path + from : &none, n ? n - from : 1);
}

/* The call stack: its frames beside the row, and for people its functions in it. */
static void put_stack(struct leaks *x, struct sp_answer_table *t, struct sp_answer_table *frames,
                      const struct sp_leak_row *r)
{
    struct sp_answer *a = x->x->out;
    struct sp_buf *b = &x->x->b;
    const struct sp_profile *p = x->l.profile;
    size_t n;
    const uint32_t *f = sp_selected_frames(&x->x->s, r->row, &n);
    sp_buf_clear(b);
    sp_stack_id_add(b, p, x->x->s.rows.v[r->row].stack);
    sp_put_text(a, t, STACK, b->data, b->len);
    for (size_t i = 0; f && i < n; i++) {
        struct sp_str name = sp_pstr(p, sp_frame_function(p, f[i])->name),
                      line = sp_pstr(p, p->frames.v[f[i]].srcline),
                      dso = sp_pstr(p, sp_frame_dso(p, f[i])->name);
        sp_table_row(a, frames);
        sp_put_text(a, frames, FRAME_FUNCTION, name.p, name.n);
        sp_put_text(a, frames, FRAME_DSO, dso.p, dso.n);
        if (line.n)
            sp_put_text(a, frames, FRAME_LINE, line.p, line.n);
    }
    n = f ? n : 0;
    put_path(x, t, f, r->skipped < n ? r->skipped : n, n);
}

static bool names_full(const struct leaks *x)
{
    const char *names = x->x->q->options->names;
    return names && strcmp(names, "full") == 0;
}

static spaa_status put_callers(struct leaks *x, struct sp_answer_table *t, const struct sp_leak_row *r)
{
    const struct sp_profile *p = x->l.profile;
    struct sp_value_text names[SP_LEAK_CALLERS];
    struct sp_leak_callers c;
    spaa_status st = sp_leak_callers_of(&x->x->s, &x->l, &x->records, &x->x->own, r, x->diags, &c);
    if (st)
        return st;
    for (unsigned i = 0; i < c.n; i++) {
        struct sp_str name = sp_pstr(p, p->functions.v[c.v[i]].name);
        names[i] = (struct sp_value_text){name.p, name.n};
    }
    sp_put_texts(x->x->out, t, CALLERS, names, c.n);
    if (c.n)
        put_share(t, CALLERS_PERCENT, c.weight, c.whole);
    sp_put_int(t, CALLERS_OTHERS, c.others);
    sp_buf_clear(&x->x->b);
    sp_leak_callers_text(&x->x->b, p, &c, names_full(x));
    sp_put_buf(x->x->out, t, FOR, &x->x->b);
    return SPAA_OK;
}

static spaa_status put_row(struct leaks *x, struct sp_answer_table *t, struct sp_answer_table *frames,
                           const struct sp_leak_row *r)
{
    struct sp_answer *a = x->x->out;
    const char *kind = sp_leak_kind_names[r->kind];
    sp_table_row(a, t);
    put_sums(x, t, r);
    sp_put_text(a, t, KIND, kind, strlen(kind));
    sp_put_int(t, NEVER_FREED, r->never_freed);
    sp_put_function(x->x, t, FUNCTION, r->function);
    if (r->function != SP_NONE) { /* the row is of all that are alike */
        char handle[32];
        sp_put_text(a, t, FUNCTION + SP_FUNCTION_ID, handle,
                    sp_handle_text_alike(&x->x->handles, r->function, handle));
    }
    if (r->function == SP_NONE)
        sp_put_text(a, t, FUNCTION + SP_FUNCTION_NAME, "[no stack]", 10);
    sp_put_int(t, RECORDS, (int64_t)r->records[0] + r->records[1]);
    sp_put_int(t, SKIPPED, r->skipped);
    put_stack(x, t, frames, r);
    return put_callers(x, t, r);
}

/* ---- facts ---- */

static void fact_sums(struct leaks *x, const char *object, const struct sp_leak_sums *s)
{
    sp_answer_open(x->x->out, object, '{');
    for (int m = 0; m < SP_LEAK_METRICS; m++)
        sp_fact_weight(x->x->out, metric_member(m), is_bytes(m) ? x->bytes : x->count, s->v[m]);
    sp_answer_close(x->x->out);
}

static void fact_seconds(struct leaks *x, const char *name, int64_t ns)
{
    sp_fact_scaled(x->x->out, name, ns > 0 ? ns : SP_ABSENT, 9);
}

static void put_facts(struct leaks *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_leaks *l = &x->l;
    fact_sums(x, "memory", &l->now);
    if (l->two) {
        fact_sums(x, "base_memory", &l->base);
        fact_seconds(x, "base_seconds", l->base_ns);
    }
    fact_seconds(x, "seconds", l->now_ns);
    sp_fact_cstr(a, "ranked_by", sp_leak_metric_names[l->rank]);
    sp_fact_cstr(a, "growth_from", l->two ? "files" : l->growth ? "windows" : NULL);
    sp_fact_bool(a, "peaks_add", l->has[SP_LEAK_PEAK_BYTES] && !l->peaks_apart);
    sp_fact_count(a, "stacks_with_allocators_skipped", (int64_t)l->skipped);
    sp_answer_open(a, "suppressed", '{');
    sp_fact_count(a, "stacks", (int64_t)l->suppressed);
    sp_fact_weight(a, "live_bytes", x->bytes, l->hidden[SP_LEAK_LIVE_BYTES]);
    sp_fact_weight(a, "live_count", x->count, l->hidden[SP_LEAK_LIVE_COUNT]);
    sp_answer_close(a);
}

/* ---- words ---- */

static void say_amount(struct sp_buf *b, const char *before, int64_t v, int m, const char *behind)
{
    if (v == SP_ABSENT)
        return;
    sp_buf_puts(b, before);
    if (is_bytes(m))
        sp_text_bytes(b, v, 0);
    else
        sp_text_grouped(b, v, 0);
    sp_buf_puts(b, behind);
}

static void say_totals(struct leaks *x)
{
    struct sp_buf *b = &x->x->b;
    const int64_t *v = x->l.now.v;
    sp_buf_clear(b);
    say_amount(b, "live ", v[SP_LEAK_LIVE_BYTES], SP_LEAK_LIVE_BYTES, "");
    say_amount(b, " in ", v[SP_LEAK_LIVE_COUNT], SP_LEAK_LIVE_COUNT, " blocks");
    say_amount(b, b->len ? "; allocated " : "allocated ", v[SP_LEAK_ALLOC_BYTES], SP_LEAK_ALLOC_BYTES, "");
    say_amount(b, " by ", v[SP_LEAK_ALLOC_COUNT], SP_LEAK_ALLOC_COUNT, " calls");
    say_amount(b, ", ", v[SP_LEAK_TEMPORARY], SP_LEAK_TEMPORARY, " of them temporary (freed next)");
    say_amount(b, "; at the peak ", v[SP_LEAK_PEAK_BYTES], SP_LEAK_PEAK_BYTES, "");
    if (x->l.two)
        say_amount(b, "; before: ", x->l.base.v[x->l.rank], (int)x->l.rank, "");
    sp_answer_line_buf(x->x->out, b);
}

static void say_left_out(struct leaks *x)
{
    struct sp_buf *b = &x->x->b;
    const struct sp_leaks *l = &x->l;
    if (l->suppressed) {
        sp_buf_clear(b);
        sp_buf_printf(b,
                      "not counted as live, since heaptrack's suppressions fit: what is left of %llu stack%s",
                      (unsigned long long)l->suppressed, l->suppressed == 1 ? "" : "s");
        say_amount(b, ", ", l->hidden[SP_LEAK_LIVE_BYTES], SP_LEAK_LIVE_BYTES, "");
        sp_buf_puts(b, " (--suppressed counts it)");
        sp_answer_line_buf(x->x->out, b);
    }
    if (l->skipped)
        sp_answer_line(x->x->out,
                       "skipped at the leaf: allocators (malloc, operator new, …) of %llu stack%s "
                       "(--keep-allocators names them)",
                       (unsigned long long)l->skipped, l->skipped == 1 ? "" : "s");
}

static void say_notes(struct leaks *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_leaks *l = &x->l;
    say_left_out(x);
    if (l->two && (l->now_ns <= 0 || l->base_ns <= 0))
        sp_answer_line(a, "how long the profiles lasted is not known: growth is not set against time");
    if (!l->two && !l->growth)
        sp_answer_line(a,
                       "growing or not is not known: that takes windows of time, or two profiles (spaa leaks "
                       "FILE LATER)");
    if (l->peaks_apart)
        sp_answer_line(a, "peaks of stacks cannot be added: they are shown where a row is one stack");
}

/* ---- next ---- */

/* The own function that allocated, through the row's function or as it; else that. */
static uint32_t asked_for(const struct leaks *x, const struct sp_leak_row *r)
{
    size_t n, at;
    const uint32_t *frames = sp_selected_frames(&x->x->s, r->row, &n);
    uint32_t own =
        frames ? sp_own_nearest(x->l.profile, &x->x->own, frames, n, r->skipped < n ? r->skipped : n, &at)
               : SP_NONE;
    return own == SP_NONE ? r->function : own;
}

static void put_next(struct leaks *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_options *o = x->x->q->options;
    const struct sp_leak_row *first = x->l.rows.n ? &x->l.rows.v[0] : NULL;
    char handle[32];
    if (!x->by_stack && !o->leaks_by)
        sp_answer_next(a, "leaks", NULL, "--by stack -n 3");
    if (!o->metric && x->l.rank != SP_LEAK_ALLOC_BYTES && x->l.has[SP_LEAK_ALLOC_BYTES])
        sp_answer_next(a, "leaks", NULL, "--metric alloc_bytes");
    if (first && first->function != SP_NONE && !x->l.two &&
        sp_handle_text_alike(&x->x->handles, asked_for(x, first), handle))
        sp_answer_next(a, "function", handle,
                       o->metric || x->l.rank != SP_LEAK_LIVE_BYTES ? NULL : "--metric live_bytes");
}

/* ---- inputs ---- */

/* How long a profile lasted: what it says, else its range of time; 0: not known. */
static int64_t duration_of(const struct sp_profile *p)
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

/* Both profiles as one, whose records say which they are of. */
static spaa_status join_two(struct sp_ask *q, struct sp_leaks_opts *o, struct sp_profile **out)
{
    const struct sp_merge_opts how = {.frames = SP_FRAMES_ADDRESS,
                                      .group_by = SP_BY_DEFAULT | SP_BY_CPU | SP_BY_STATE,
                                      .by_source = true,
                                      .compared = true};
    struct sp_merger *m = NULL;
    spaa_status st = sp_merger_new(&how, q->diags, &m);
    for (size_t i = 0; !st && i < 2; i++) {
        struct sp_profile *p = q->profiles[i];
        size_t windows = p->windows.n;
        *(i ? &o->now_ns : &o->base_ns) = duration_of(p);
        st = sp_callees_join(p);
        p->windows.n = 0; /* not of use here: nothing to say of their loss */
        if (!st)
            st = sp_merger_add(m, p, i ? "later" : "base");
        p->windows.n = windows;
        spaa_status again = sp_callees_split(p, NULL);
        st = st ? st : again;
    }
    if (!st)
        st = sp_merger_finish(m, out);
    sp_merger_free(m);
    if (!st)
        st = sp_callees_split(*out, q->diags);
    if (!st)
        o->base = sp_strtab_find(&(*out)->strs, "base", 4);
    return st;
}

/*
 * Of two profiles the totals of the answer, and its quality, are those of the later one: its rows come first,
 * and are all there is while these are looked at. Returns how many they are; 0 and failed: out of memory.
 */
static spaa_status later_first(struct sp_selection *s, uint32_t base, size_t *later)
{
    const struct sp_profile *p = s->profile;
    size_t n = 0;
    struct sp_selected *rows = malloc((s->rows.n + 1) * sizeof *rows);
    if (!rows)
        return SPAA_ERR_NOMEM;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < s->rows.n; i++)
            if ((p->contexts.v[p->stacks.v[s->rows.v[i].stack].context].source == base) == side)
                rows[n++] = s->rows.v[i];
        *later = side ? *later : n;
    }
    memcpy(s->rows.v, rows, n * sizeof *rows);
    free(rows);
    s->kept = 0;
    for (size_t i = 0; i < *later; i++)
        s->kept += s->rows.v[i].weight;
    s->whole = s->event_whole = s->kept;
    return SPAA_OK;
}

/* ---- the question ---- */

/* For people who ask for no number: those with something of what ranks them, one at least. */
static size_t rows_with_something(const struct leaks *x)
{
    size_t n = 0;
    while (n < x->l.rows.n && x->l.rows.v[n].rank > 0)
        n++;
    return n ? n : 1;
}

static spaa_status put_rows(struct leaks *x)
{
    struct sp_answer *a = x->x->out;
    struct sp_answer_table *t = sp_answer_table(a, &leaks_rows);
    struct sp_answer_table *frames = sp_answer_detail(a, &leaks_frames, t);
    if (!frames)
        return SPAA_OK;
    size_t some = x->x->q->brief && !x->x->q->options->limit ? rows_with_something(x) : SIZE_MAX;
    t->limit = x->limit < some ? x->limit : some;
    titles(x, t);
    spaa_status st = sp_leak_records_of(&x->x->s, &x->l, x->diags, &x->records);
    for (size_t i = 0; !st && i < x->l.rows.n; i++)
        st = put_row(x, t, frames, &x->l.rows.v[i]);
    sp_leak_records_free(&x->records);
    return st;
}

static void leaks_measures(struct leaks *x)
{
    struct sp_measure bytes = {.unit = {"bytes", 5}}, count = {0}, rank = {0};
    rank.unit = is_bytes((int)x->l.rank) ? bytes.unit : count.unit;
    rank.whole = x->l.now.v[x->l.rank] == SP_ABSENT ? 0 : x->l.now.v[x->l.rank];
    x->bytes = sp_answer_measure(x->x->out, &bytes);
    x->count = sp_answer_measure(x->x->out, &count);
    x->rank = sp_answer_measure(x->x->out, &rank);
}

/* x->x has its selection. */
static spaa_status leaks_answer(struct leaks *x, const struct sp_leaks_opts *o)
{
    struct sp_asked *asked = x->x;
    struct sp_selection *s = &asked->s;
    size_t all = s->rows.n, later = all;
    spaa_status st = o->base ? later_first(s, o->base, &later) : SPAA_OK;
    if (st)
        return sp_nomem(asked->q->diags);
    s->rows.n = later;
    st = sp_asked_own(asked);
    s->rows.n = all;
    if (!st)
        st = sp_leaks_of(s, o, asked->q->diags, &x->l);
    if (st)
        return st;
    if (!asked->out->failed)
        asked->out->measures.v[asked->measure].whole = s->whole; /* of the later one */
    sp_asked_facts(asked);
    sp_asked_heading(asked);
    leaks_measures(x);
    put_facts(x);
    say_totals(x);
    st = put_rows(x);
    say_notes(x);
    put_next(x);
    sp_leaks_free(&x->l);
    s->rows.n = later;
    return st ? st : sp_asked_end(asked);
}

/* Of the profile, or of two as one. */
static spaa_status leaks_select(struct leaks *x, struct sp_ask *q, struct sp_leaks_opts *o,
                                struct sp_answer *out)
{
    struct sp_select_opts select;
    if (!sp_ask_select_opts(q, &select))
        return SPAA_ERR_USAGE;
    spaa_status st = sp_leaks_choose(q->profiles[0], &select, q->diags);
    if (!st)
        st = sp_stack_ids(q->profiles[0]);
    if (!st)
        st = sp_asked_select(q, &select, out, x->x);
    return st ? st : leaks_answer(x, o);
}

static bool leaks_options(const struct sp_options *o, struct sp_diags *d, bool *by_stack)
{
    static const char *const kinds[] = {"function", "stack", NULL};
    int by;
    *by_stack = sp_option_choice(d, "by", o->leaks_by, kinds, 0, &by) && by == 1;
    return !o->leaks_by || *by_stack || strcmp(o->leaks_by, kinds[0]) == 0;
}

static spaa_status leaks_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_leaks_opts o = {.keep_allocators = q->options->keep_allocators != NULL,
                              .suppressed = q->options->suppressed != NULL};
    struct sp_asked asked = {0};
    struct leaks x = {.x = &asked, .diags = q->diags};
    struct sp_ask whole = *q;
    struct sp_profile *two = NULL;
    spaa_status st = SPAA_OK;
    if (!leaks_options(q->options, q->diags, &x.by_stack) || !sp_ask_limit(q, 20, &x.limit))
        return SPAA_ERR_USAGE;
    if (q->nprofiles > 2)
        return sp_usage(q->diags, "of a series of dumps: the first and the last one",
                        "leaks takes one file, or an earlier and a later one");
    o.by_stack = x.by_stack;
    if (q->nprofiles == 2) {
        st = join_two(q, &o, &two);
        whole.profiles = &two;
        whole.nprofiles = 1;
    } else {
        o.now_ns = duration_of(q->profiles[0]);
    }
    if (!st)
        st = leaks_select(&x, &whole, &o, out);
    sp_asked_free(&asked);
    sp_profile_free(two);
    return st;
}

static spaa_status leaks_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    bool by_stack;
    out->windows = WINDOWS;
    return leaks_options(o, d, &by_stack) ? SPAA_OK : SPAA_ERR_USAGE;
}

const struct sp_question sp_question_leaks = {
    .name = "leaks",
    .args = "FILE [LATER]",
    .groups = G_READ | G_EVENT | G_SELECT | G_LEAKS | G_ROWS | G_OWN | G_ANSWER | G_BUDGET,
    .title = "memory: what is live and who asked for it, what grows, churn, temporary allocations, the peak",
    .examples =
        "spaa leaks heap.spaa\n"
        "spaa leaks heap.spaa --by stack -n 3\n"
        "spaa leaks heap.spaa --metric alloc_bytes # churn; also peak_bytes, x_temporary_count, live_count\n"
        "spaa leaks heap.spaa later.spaa # what grew, and how much of it the longer time explains",
    .apart = true,
    .schema = "spaa.leaks/3",
    .facts = leaks_facts,
    .tables = leaks_tables,
    .needs = leaks_needs,
    .ask = leaks_ask,
};
