/* function: one function: its weight, callers, callees, lines and threads. */
#include "ask/common.h"

#include "analysis/function.h"
#include "analysis/places.h"
#include "analysis/short_name.h"
#include "ask/ratios.h"
#include "ask/symbol_options.h"
#include "model/edges.h"
#include "model/functions.h"

#include <stdio.h>
#include <stdlib.h>

static const struct sp_answer_column function_facts[] = {
    {"asked", SP_COL_TEXT, .doc = "the name as it was given"},
    {"kept_allocators", SP_COL_BOOL, .flags = SP_COL_SOMETIMES,
     .doc = "it hands out memory, so the answer is as by --keep-allocators"},
    SP_FUNCTION_FACTS("function"),
    {"function.file", SP_COL_TEXT, .flags = SP_COL_SOMETIMES,
     .doc = "where it is declared, or the file of its symbol; left out where it is not known"},
    {"function.line", SP_COL_COUNT, .flags = SP_COL_SOMETIMES, .doc = "the line of its declaration"},
    {"function.matches", SP_COL_COUNT,
     .doc = "how many functions the name fits; all of them are taken as one"},
    {"tags", SP_COL_TEXTS, .doc = "unresolved, idle, wait, kernel, inlined, irq-enable"},
    {"self", SP_COL_WEIGHT, .doc = "weight of stacks whose leaf it is"},
    {"self_percent", SP_COL_PERCENT, .doc = "its share of the whole"},
    {"total", SP_COL_WEIGHT, .doc = "weight of stacks it is in, each once"},
    {"total_percent", SP_COL_PERCENT, .doc = "its share of the whole"},
    {"total_at_most", SP_COL_WEIGHT, .flags = SP_COL_SOMETIMES,
     .doc = "where callers are missing: what the total can be; else left out"},
    {"total_at_most_percent", SP_COL_PERCENT, .flags = SP_COL_SOMETIMES, .doc = "its share of the whole"},
    {"samples", SP_COL_COUNT, .doc = "samples of self"},
    {"total_samples", SP_COL_COUNT, .doc = "samples of total"},
    {"recursion.weight", SP_COL_WEIGHT, .doc = "weight of stacks in which it stands more than once"},
    {"recursion.percent", SP_COL_PERCENT, .doc = "its share of the whole"},
    {"recursion.most_in_a_stack", SP_COL_COUNT, .doc = "how often it stands in one stack, at most"},
    {"recursion.by_name_only", SP_COL_BOOL, .doc = "nothing but its name shows that it recurs"},
    SP_RATIO_FACTS,
    SP_RATIO_PART_FACTS,
    {0},
};

struct function {
    struct sp_asked *x;
    struct sp_function_lookup lookup;
    struct sp_function_view v;
    size_t limit;
    char handle[32]; /* of the function, where it is one */
    bool kept;       /* it hands out memory: allocators are not left out */
};

/* ---- columns ---- */

#define WEIGHTS(at)                                                                                          \
    [at] = {"self", SP_COL_WEIGHT, "self", .doc = "weight of stacks whose leaf it is"},                      \
    [at + 1] = {"self_percent", SP_COL_PERCENT, "self%", "self", .doc = "its share of the whole"},           \
    [at + 2] = {"total", SP_COL_WEIGHT, "total", .doc = "weight of stacks it is in"},                        \
    [at + 3] = {"total_percent", SP_COL_PERCENT, "total%", "total", .doc = "its share of the whole"},        \
    [at + 4] = {"samples", SP_COL_COUNT, "samples", .doc = "samples of the total"}
enum { SELF, TOTAL = 2, SAMPLES = 4, PART };

static const struct sp_answer_column function_match_columns[] = {
    WEIGHTS(SELF),
    SP_FUNCTION_COLUMNS(PART, "function", "dso"),
};
enum { WEIGHT, NEXT_SAMPLES = 2, INFERRED, IN_PART, NEIGHBOUR };
#define NEIGHBOURS(title)                                                                                    \
    [WEIGHT] = {"weight", SP_COL_WEIGHT, "weight",                                                           \
                .doc = "weight of stacks in which it stands next to the function"},                          \
    {"percent", SP_COL_PERCENT, "%", "weight", .doc = "its share of the whole"},                             \
    [NEXT_SAMPLES] = {"samples", SP_COL_COUNT, "samples", .doc = "samples of that"},                         \
    [INFERRED] = {"inferred", SP_COL_BOOL, .flags = SP_COL_OPTIONAL, .doc = "no stack recorded it here"},    \
    [IN_PART] = {"inferred_in_part", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,                                  \
                 .doc = "some stacks did not record it here"},                                               \
    SP_FUNCTION_COLUMNS(NEIGHBOUR, title, "dso")
static const struct sp_answer_column function_caller_columns[] = {NEIGHBOURS("caller")};
static const struct sp_answer_column function_callee_columns[] = {NEIGHBOURS("callee")};
enum { SOURCE = PART + 1 };
static const struct sp_answer_column function_line_columns[] = {
    WEIGHTS(SELF),
    [PART] = {"name", SP_COL_TEXT, "line", .flags = SP_COL_FLEXIBLE,
              .doc = "file:line; null where it is not known"},
    SP_SOURCE_COLUMNS_OF(SOURCE, 0),
};
enum { POOL = PART + 1 };
static const struct sp_answer_column function_thread_columns[] = {
    WEIGHTS(SELF),
    [PART] = {"name", SP_COL_TEXT, "thread", .flags = SP_COL_FLEXIBLE,
              .doc = "the thread, or the pool with the number of its threads"},
    SP_POOL_COLUMNS(POOL),
};
#define TABLE(columns) columns, sizeof columns / sizeof *columns
static const struct sp_table_decl
    matches = {"matches", TABLE(function_match_columns), .doc = "the functions that were asked about"},
    callers = {"callers", TABLE(function_caller_columns), .doc = "who calls it; null: stacks begin there"},
    callees = {"callees", TABLE(function_callee_columns), .doc = "what it calls"},
    lines = {"lines", TABLE(function_line_columns), .doc = "where in it the weight is"},
    threads = {"threads", TABLE(function_thread_columns), .doc = "whose weight it is"};

/* ---- rows ---- */

/*
 * For people: without what follows from the rest, samples that are to the whole as the weights are, and self
 * where the function has none.
 */
static void function_shape(struct function *x, struct sp_answer_table *t, size_t samples, bool parts)
{
    const struct sp_selection *s = &x->x->s;
    if (!x->x->q->brief)
        return;
    if (sp_samples_follow(s, x->v.total, x->v.total_samples))
        sp_table_title(x->x->out, t, samples, NULL);
    if (parts && !x->v.self && !s->cannot_add) {
        sp_table_title(x->x->out, t, SELF, NULL);
        sp_table_title(x->x->out, t, SELF + 1, NULL);
    }
}

static struct sp_answer_table *function_table(struct function *x, const struct sp_table_decl *decl)
{
    struct sp_answer_table *t = sp_answer_table(x->x->out, decl);
    if (!t)
        return t;
    t->limit = x->limit;
    bool neighbours = decl == &callers || decl == &callees;
    function_shape(x, t, neighbours ? NEXT_SAMPLES : SAMPLES, !neighbours);
    return t;
}

static void put_weights(struct sp_answer_table *t, int64_t self, int64_t total, int64_t samples)
{
    sp_put_int(t, SELF, self);
    sp_put_int(t, TOTAL, total);
    sp_put_int(t, SAMPLES, samples);
}

/* The name of a line or a thread; NULL in p: not known. */
static struct sp_str part_name(const struct function *x, const struct sp_part *y)
{
    return y->name          ? sp_str_at(&x->v.names, y->name)
           : x->x->q->brief ? (struct sp_str){"?", 1}
                            : (struct sp_str){NULL, 0};
}

static void put_matches(struct function *x)
{
    struct sp_answer_table *t = function_table(x, &matches);
    if (t && x->v.matches.n < 2)
        t->quiet = true; /* its weights stand above */
    for (size_t i = 0; i < x->v.matches.n; i++) {
        const struct sp_part *y = &x->v.matches.v[i];
        sp_table_row(x->x->out, t);
        put_weights(t, y->self, y->total, y->total_samples);
        sp_put_function(x->x, t, PART, y->function);
    }
}

/* What was inferred is marked in CSV, too. */
static struct sp_answer_table *neighbours_table(struct function *x, const struct sp_table_decl *decl)
{
    struct sp_answer_table *t = function_table(x, decl);
    if (t)
        t->columns.v[NEIGHBOUR + SP_FUNCTION_MARKS].flags |= SP_COL_CSV;
    return t;
}

static void put_neighbour(struct function *x, struct sp_answer_table *t, const struct sp_neighbour *y)
{
    const struct sp_profile *p = x->x->s.profile;
    enum sp_inferred inferred = !y->inferred               ? SP_RECORDED
                                : y->inferred == y->weight ? SP_INFERRED
                                                           : SP_INFERRED_IN_PART;
    sp_table_row(x->x->out, t);
    sp_put_int(t, WEIGHT, y->weight);
    sp_put_int(t, NEXT_SAMPLES, y->samples);
    if (inferred)
        sp_put_int(t, inferred == SP_INFERRED ? INFERRED : IN_PART, 1);
    sp_put_function(x->x, t, NEIGHBOUR, y->function);
    if (y->function == SP_NONE && x->x->q->brief)
        sp_put_text(x->x->out, t, NEIGHBOUR + SP_FUNCTION_NAME, "[root]", 6);
    const char *mark = sp_inferred_mark(p, y->function, inferred);
    sp_put_text(x->x->out, t, NEIGHBOUR + SP_FUNCTION_MARKS, *mark ? mark : NULL, strlen(mark));
}

/* Where lines are is asked of binaries: only for programs, as many as are shown. */
static spaa_status put_lines(struct function *x)
{
    struct sp_symbol_opts symbols = sp_symbol_options(x->x->q->options);
    struct sp_places *places = NULL;
    spaa_status st = SPAA_OK;
    if (!x->x->q->brief && !x->x->q->sheet && x->v.lines.n)
        st = sp_places_new(x->x->s.profile, &symbols, x->x->q->diags, &places);
    struct sp_answer_table *t = function_table(x, &lines);
    if (t && (!x->v.lines.n || (x->v.lines.n == 1 && !x->v.lines.v[0].name)))
        t->quiet = true; /* nothing is known of them */
    for (size_t i = 0; !st && i < x->v.lines.n; i++) {
        const struct sp_part *y = &x->v.lines.v[i];
        struct sp_str name = part_name(x, y);
        struct sp_source_place at;
        sp_table_row(x->x->out, t);
        put_weights(t, y->self, y->total, y->total_samples);
        sp_put_text(x->x->out, t, PART, name.p, name.n);
        if (!places || i >= x->limit)
            continue;
        st = sp_places_of_line(places, x->lookup.hits, name, &at);
        if (!st)
            sp_put_source(x->x, t, SOURCE, &at);
    }
    sp_places_free(places);
    return st;
}

static void put_threads(struct function *x)
{
    struct sp_answer_table *t = function_table(x, &threads);
    const struct sp_pools *pools = &x->x->s.pools;
    if (t && x->x->q->brief && x->v.threads.n == 1)
        t->quiet = true; /* it stands above */
    for (size_t i = 0; i < x->v.threads.n; i++) {
        const struct sp_part *y = &x->v.threads.v[i];
        struct sp_str name = part_name(x, y);
        sp_table_row(x->x->out, t);
        put_weights(t, y->self, y->total, y->total_samples);
        sp_put_text(x->x->out, t, PART, name.p, name.n);
        sp_put_pool(x->x, t, POOL, y->pool == SP_NONE ? NULL : &pools->pools.v[y->pool]);
    }
}

/* ---- facts ---- */

static unsigned tags_of(const struct function *x)
{
    return sp_function_tags(&x->x->s, x->lookup.first);
}

static void put_place(struct function *x)
{
    const struct sp_profile *p = x->x->s.profile;
    const struct sp_func_info *info = sp_function_info(p, x->lookup.first);
    if (!info || !info->file || x->v.matches.n > 1)
        return;
    sp_fact_str(x->x->out, "function.file", sp_pstr(p, info->file));
    if (info->line)
        sp_fact_count(x->x->out, "function.line", info->line);
}

static void put_facts(struct function *x)
{
    struct sp_answer *a = x->x->out;
    const struct sp_function_view *v = &x->v;
    sp_fact_cstr(a, "asked", x->x->q->argument);
    if (x->kept)
        sp_fact_bool(a, "kept_allocators", true);
    sp_fact_function(x->x, "function", x->lookup.first);
    put_place(x);
    sp_fact_count(a, "function.matches", (int64_t)v->matches.n);
    sp_answer_open(a, "tags", '[');
    for (unsigned i = 0, tags = tags_of(x); sp_tag_words[i]; i++)
        if (tags >> i & 1)
            sp_fact_cstr(a, "", sp_tag_words[i]);
    sp_answer_close(a);
    sp_fact_weight(a, "self", 0, v->self);
    sp_fact_percent(a, "self_percent", 0, v->self);
    sp_fact_weight(a, "total", 0, v->total);
    sp_fact_percent(a, "total_percent", 0, v->total);
    if (sp_chains_tell(&x->x->s)) {
        sp_fact_weight(a, "total_at_most", 0, v->at_most);
        sp_fact_percent(a, "total_at_most_percent", 0, v->at_most);
    }
    sp_fact_count(a, "samples", v->samples);
    sp_fact_count(a, "total_samples", v->total_samples);
    sp_fact_weight(a, "recursion.weight", 0, v->recursive);
    sp_fact_percent(a, "recursion.percent", 0, v->recursive);
    sp_fact_count(a, "recursion.most_in_a_stack", v->deepest);
    sp_fact_bool(a, "recursion.by_name_only", v->deepest > 1 && !v->proven);
}

/* ---- words ---- */

static void say_weight(struct function *x, const char *before, int64_t v)
{
    sp_buf_puts(&x->x->b, before);
    sp_text_weight_of(&x->x->b, &x->x->s, v);
}

/* ", src/server.cpp:24": where it is declared. */
static void say_place(struct function *x)
{
    const struct sp_profile *p = x->x->s.profile;
    const struct sp_func_info *info = sp_function_info(p, x->lookup.first);
    if (!info || !info->file)
        return;
    struct sp_str file = sp_pstr(p, info->file);
    sp_buf_printf(&x->x->b, ", %.*s", (int)file.n, file.p);
    if (info->line)
        sp_buf_printf(&x->x->b, ":%u", info->line);
}

static void say_name(struct function *x)
{
    const struct sp_profile *p = x->x->s.profile;
    const struct sp_function *f = &p->functions.v[x->lookup.first];
    bool full = sp_options_full_names(x->x->q->options);
    struct sp_buf *b = &x->x->b;
    struct sp_str name = sp_pstr(p, f->name), dso = sp_dso_name(p, f->dso);
    sp_buf_clear(b);
    if (x->v.matches.n > 1) {
        sp_buf_puts(b, x->x->q->argument);
        sp_buf_printf(b, ": %zu functions as one", x->v.matches.n);
    } else {
        sp_short_name(b, name.p, name.n, full ? SP_WHOLE_NAME : SP_SHORTEST);
        dso = full ? dso : sp_short_dso(dso.p, dso.n);
        sp_buf_puts(b, " in ");
        sp_buf_add(b, dso.p, dso.n);
        sp_buf_printf(b, " (%s)", x->handle);
        say_place(x);
    }
    if (x->v.threads.n == 1 && x->v.threads.v[0].name) {
        struct sp_str thread = part_name(x, &x->v.threads.v[0]);
        if (thread.n && *thread.p != '?') {
            sp_buf_puts(b, ", all in ");
            sp_buf_add(b, thread.p, thread.n);
        }
    }
    sp_answer_line_buf(x->x->out, b);
}

static void say_weights(struct function *x)
{
    struct sp_buf *b = &x->x->b;
    const struct sp_function_view *v = &x->v;
    sp_buf_clear(b);
    say_weight(x, "self ", v->self);
    say_weight(x, ", total ", v->total);
    if (sp_chains_tell(&x->x->s)) {
        sp_buf_puts(b, " at least");
        if (v->at_most != SP_ABSENT) {
            say_weight(x, ", ", v->at_most);
            sp_buf_puts(b, " at most");
        }
    }
    if (v->deepest > 1) {
        say_weight(x, v->proven ? ", recursive " : ", with its name again ", v->recursive);
        sp_buf_printf(b, ", up to %u times in one stack", v->deepest);
    }
    sp_answer_line_buf(x->x->out, b);
    if (!(tags_of(x) & SP_TAG_IRQ))
        return;
    sp_answer_line(x->x->out,
                   "[irq-enable] an artefact of software clocks, whose timer waits while interrupts are off: "
                   "most of its self weight is");
    sp_answer_line(
        x->x->out,
        "time of its callers (`perf record -e cycles` shows where, with the processor's counters)");
}

static spaa_status put_rows(struct function *x)
{
    struct sp_answer_table *t;
    put_matches(x);
    t = neighbours_table(x, &callers);
    for (size_t i = 0; i < x->v.callers.n; i++)
        put_neighbour(x, t, &x->v.callers.v[i]);
    t = neighbours_table(x, &callees);
    for (size_t i = 0; i < x->v.callees.n; i++)
        put_neighbour(x, t, &x->v.callees.v[i]);
    spaa_status st = put_lines(x);
    put_threads(x);
    return st;
}

static void put_next(struct function *x)
{
    char tail[64];
    if (x->x->q->options->root_at)
        return;
    if (x->v.lines.n > 1 || (x->v.lines.n && x->v.lines.v[0].name))
        sp_answer_next(x->x->out, "annotate", x->handle, NULL);
    snprintf(tail, sizeof tail, "--root-at %s", x->handle);
    sp_answer_next(x->x->out, "tree", NULL, tail);
    sp_answer_next(x->x->out, "stacks", NULL, tail);
}

/* ---- the question ---- */

/* The sums of the function in the events of a ratio. */
static spaa_status ratio_part(struct function *x, struct sp_ratio_asked *a, struct sp_ratio_part *out)
{
    struct sp_selection *s[] = {&a->of, &a->per};
    struct sp_function_view v[2] = {0};
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < 2; i++)
        st = sp_function_build(s[i], &x->lookup, x->x->q->diags, &v[i]);
    if (!st)
        *out = (struct sp_ratio_part){{v[0].self, v[1].self, v[0].samples, v[1].samples},
                                      {v[0].total, v[1].total, v[0].total_samples, v[1].total_samples}};
    sp_function_free(&v[0]);
    sp_function_free(&v[1]);
    return st;
}

static spaa_status say_ratios(struct function *x)
{
    struct sp_ratios ratios;
    struct sp_ratio_part parts[SP_RATIOS];
    spaa_status st = sp_ratios_of(x->x, &ratios);
    for (size_t k = 0; !st && k < ratios.n; k++)
        st = ratio_part(x, &ratios.v[k], &parts[k]);
    if (!st) {
        sp_ratios_facts(x->x, &ratios, parts);
        sp_ratios_say(x->x, &ratios, parts);
    }
    sp_ratios_free(&ratios);
    return st;
}

static spaa_status function_answer(struct function *x)
{
    struct sp_asked *asked = x->x;
    spaa_status st = sp_function_build(&asked->s, &x->lookup, asked->q->diags, &x->v);
    if (st)
        return st;
    sp_handle_text(&asked->handles, x->lookup.first, x->handle);
    put_facts(x);
    say_name(x);
    if (x->kept)
        sp_answer_line(x->x->out, "hands out memory: answered as by --keep-allocators");
    say_weights(x);
    st = say_ratios(x);
    if (!st)
        st = put_rows(x);
    put_next(x);
    sp_function_free(&x->v);
    return st ? st : sp_asked_end(asked);
}

/* Of memory by owner: some stack has the function among what is left out before its owner. */
static bool is_left_out(struct function *x)
{
    struct sp_selection *s = &x->x->s;
    const struct sp_profile *p = s->profile;
    for (size_t i = 0; s->owners && i < s->rows.n; i++) {
        size_t n, skipped;
        const uint32_t *f = sp_selected_whole_frames(s, i, &n, &skipped);
        for (size_t k = 0; f && k < skipped; k++)
            if (x->lookup.hits[p->frames.v[f[k]].function])
                return true;
    }
    return false;
}

/* Who asks about an allocator wants its stacks as they were recorded. */
static void keep_asked(struct function *x)
{
    struct sp_selection *s = &x->x->s;
    if (!is_left_out(x))
        return;
    free(s->owners);
    s->owners = NULL;
    x->kept = true;
}

static spaa_status function_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_asked asked;
    struct function x = {.x = &asked};
    if (!sp_ask_limit(q, q->brief ? 6 : 10, &x.limit))
        return SPAA_ERR_USAGE;
    if (!q->argument)
        return sp_usage(q->diags, "as in spaa function FILE NAME, or ask_function('NAME')",
                        "function needs the name of a function");
    spaa_status st = sp_lookup_functions(q->profiles[0], q->argument, q->diags, &x.lookup);
    if (st)
        return st;
    st = sp_asked_select(q, NULL, out, &asked);
    if (!st) {
        keep_asked(&x);
        st = sp_asked_begin_selected(&asked);
    }
    if (!st)
        st = function_answer(&x);
    sp_asked_free(&asked);
    sp_function_lookup_free(&x.lookup);
    return st;
}

static spaa_status function_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    (void)o;
    (void)d;
    out->no_ids = true;
    return SPAA_OK;
}

static const struct sp_table_decl *const function_tables[] = {&callers, &callees, &matches,
                                                              &lines,   &threads, NULL};

const struct sp_question sp_question_function = {
    .name = "function",
    .args = "[FILE…] NAME",
    .groups = G_READ | G_WAITS | G_EVENT | G_SELECT | G_TIME | G_THREADS | G_RATIO | G_ROWS | G_OWN |
              G_ANSWER | G_BUDGET,
    .title = "one function: its weight, callers, callees, lines, threads (NAME, /RE/ or f:…)",
    .examples = "spaa function stacks.folded malloc\n"
                "spaa function stacks.folded '/^(malloc|free)/' # all that match, as one",
    .argument = true,
    .schema = "spaa.function/3",
    .facts = function_facts,
    .tables = function_tables,
    .needs = function_needs,
    .ask = function_ask,
};
