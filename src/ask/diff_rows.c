/* The numbers of a comparison, a row for each function, in JSON and CSV. Facts: diff_facts.c. */
#include "ask/diff.h"

#include "analysis/top.h"

#include <math.h>

/* ---- columns ---- */

/* Of one comparison. */
enum {
    VERDICT,
    BASE_SHARE,
    NEW_SHARE,
    DELTA,
    LO,
    HI,
    P,
    Q,
    MDE,
    CSV_CHANGE, /* CSV has it as a part of 1 */
    CSV_CHANGE_LO,
    CSV_CHANGE_HI,
    CHANGE,
    CHANGE_LO,
    CHANGE_HI,
    METHOD,
    MDE_FAMILY,
    DESIGN_EFFECT,
    TESTED,
    DEPENDENT,
    TEST_COLUMNS,
};

/* Of one family, behind its comparison. */
enum {
    CSV_BASE_COST,
    CSV_NEW_COST,
    BASE_WEIGHT,
    NEW_WEIGHT,
    BASE_SAMPLES,
    NEW_SAMPLES,
    BYTES, /* base, new, change */
    BLOCKS = BYTES + 3,
    AMOUNT_COLUMNS = BLOCKS + 3,
};

enum {
    LIST,
    ID,
    FUNCTION,
    DSO,
    RENAMED_FROM,
    MATCHED_AS,
    REMARK,
    COMPILED_BASE,
    COMPILED_NEW,
    SELF,
    SELF_AMOUNTS = SELF + TEST_COLUMNS,
    TOTAL = SELF_AMOUNTS + AMOUNT_COLUMNS,
    TOTAL_AMOUNTS = TOTAL + TEST_COLUMNS,
    COST = TOTAL_AMOUNTS + AMOUNT_COLUMNS,
    TOTAL_COST = COST + TEST_COLUMNS,
    TAGS = TOTAL_COST + TEST_COLUMNS,
    COLUMNS,
};

#define NUMBER(path, title, words)                                                                           \
    {                                                                                                        \
        path, SP_COL_NUMBER, title, .doc = words                                                             \
    }
#define CSV_NUMBER(name, title, words)                                                                       \
    {                                                                                                        \
        name, SP_COL_NUMBER, title, .flags = SP_COL_NO_JSON, .doc = words                                    \
    }
#define IN_CSV(title)  title
#define NOT_CSV(title) NULL
/* at: number of the first; o: path of the object; base, fresh: members; csv: what CSV titles begin with */
#define TEST(at, o, base, fresh, IN, csv)                                                                    \
    [(at) +                                                                                                  \
        VERDICT] = {o "verdict", SP_COL_TEXT, IN(csv "verdict"),                                             \
                    .doc = "significant, differs (within these runs), inconclusive, below-mde, equal, "      \
                           "unavailable"},                                                                   \
        [(at) + BASE_SHARE] =                                                                                \
            NUMBER(o base, IN(csv "base_share"), "of the base, a part of 1 where a share"),                  \
        [(at) + NEW_SHARE] = NUMBER(o fresh, IN(csv "new_share"), "of the new side, likewise"),              \
        [(at) + DELTA] = NUMBER(o "delta", IN(csv "delta"), "new less base"),                                \
        [(at) + LO] = NUMBER(o "ci.0", IN(csv "ci_lo"), "least of the 95 % interval of delta"),              \
        [(at) + HI] = NUMBER(o "ci.1", IN(csv "ci_hi"), "most of it"),                                       \
        [(at) + P] = NUMBER(o "p", IN(csv "p"), "probability of as much by chance; null: not tested"),       \
        [(at) + Q] = NUMBER(o "q", IN(csv "q"), "likewise, controlled over all functions"),                  \
        [(at) + MDE] = NUMBER(o "mde", IN(csv "mde"), "change that would be found 4 times in 5"),            \
        [(at) + CSV_CHANGE] = CSV_NUMBER(o "change", IN(csv "change"), "growth, a part of 1"),               \
        [(at) + CSV_CHANGE_LO] = CSV_NUMBER(o "change_lo", IN(csv "change_lo"), "least of its interval"),    \
        [(at) + CSV_CHANGE_HI] = CSV_NUMBER(o "change_hi", IN(csv "change_hi"), "most of it"),               \
        [(at) + CHANGE] = NUMBER(o "change_percent", NULL, "growth against what it was measured by"),        \
        [(at) + CHANGE_LO] = NUMBER(o "change_ci_percent.0", NULL, "least of its 95 % interval"),            \
        [(at) + CHANGE_HI] = NUMBER(o "change_ci_percent.1", NULL, "most of it"),                            \
        [(at) + METHOD] = {o "method", SP_COL_TEXT, .doc = "the test; null: none"},                          \
        [(at) + MDE_FAMILY] = NUMBER(o "mde_family", NULL, "mde with the control for all functions"),        \
        [(at) + DESIGN_EFFECT] =                                                                             \
            NUMBER(o "design_effect", NULL, "variance over that of independent samples"),                    \
        [(at) + TESTED] = {o "tested", SP_COL_BOOL, .doc = "it is one of the family that is controlled"},    \
        [(at) + DEPENDENT] = {o "dependent", SP_COL_BOOL, .flags = SP_COL_OPTIONAL,                          \
                              .doc = "time blocks resemble their neighbours: left open"}
#define MEMORY(at, o, words)                                                                                 \
    [at] = NUMBER(o ".base", NULL, words " of the base, for each run"),                                      \
    [(at) + 1] = NUMBER(o ".new", NULL, words " of the new side"),                                           \
    [(at) + 2] = NUMBER(o ".change", NULL, words " more")
#define AMOUNTS(at, o, csv)                                                                                  \
    [(at) +                                                                                                  \
        CSV_BASE_COST] = CSV_NUMBER(o "base_cost", csv "base_cost", "cost in the base"),                     \
        [(at) + CSV_NEW_COST] = CSV_NUMBER(o "new_cost", csv "new_cost", "cost in the new side"),            \
        [(at) + BASE_WEIGHT] = NUMBER(o "base_weight", csv "base_weight", "weight in all runs of the base"), \
        [(at) + NEW_WEIGHT] =                                                                                \
            NUMBER(o "new_weight", csv "new_weight", "weight in all runs of the new side"),                  \
        [(at) + BASE_SAMPLES] = {o "base_samples", SP_COL_COUNT, .doc = "its samples; null: not counted"},   \
        [(at) + NEW_SAMPLES] = {o "new_samples", SP_COL_COUNT, .doc = "likewise"},                           \
        MEMORY((at) + BYTES, o "bytes", "bytes"), MEMORY((at) + BLOCKS, o "blocks", "blocks")

static const struct sp_answer_column rows_columns[COLUMNS] = {
    [LIST] = {"list", SP_COL_TEXT, "list", .flags = SP_COL_NO_JSON, .doc = "both, new or vanished"},
    [ID] = {"id", SP_COL_HANDLE, "id", .doc = "what other commands take for it, in its last profile"},
    [FUNCTION] = {"function", SP_COL_NAME, "function", .doc = "the whole name"},
    [DSO] = {"dso", SP_COL_DSO, "dso", .doc = "the binary it is in"},
    [RENAMED_FROM] = {"renamed_from", SP_COL_TEXT, .flags = SP_COL_OPTIONAL,
                      .doc = "its name in the base, where that is probably another"},
    [MATCHED_AS] = {"matched_as", SP_COL_TEXT, .flags = SP_COL_OPTIONAL,
                    .doc = "the name it was compared by"},
    [REMARK] = {"remark", SP_COL_TEXT, .flags = SP_COL_OPTIONAL, .doc = "how it was compiled, in words"},
    [COMPILED_BASE] = {"compiled.base", SP_COL_TEXTS, .flags = SP_COL_OPTIONAL, .doc = "forms in the base"},
    [COMPILED_NEW] = {"compiled.new", SP_COL_TEXTS, .flags = SP_COL_OPTIONAL, .doc = "forms in the new side"},
    TEST(SELF, "", "base_share", "new_share", IN_CSV, ""),
    AMOUNTS(SELF_AMOUNTS, "", ""),
    TEST(TOTAL, "total.", "base_share", "new_share", IN_CSV, "total_"),
    AMOUNTS(TOTAL_AMOUNTS, "total.", "total_"),
    TEST(COST, "cost.", "base", "new", NOT_CSV, ""),
    TEST(TOTAL_COST, "total_cost.", "base", "new", NOT_CSV, ""),
    [TAGS] = {"tags", SP_COL_TEXTS, .doc = "of: unresolved, idle, wait, kernel, inlined, irq-enable"},
};
static const struct sp_table_decl rows_both = {"rows", rows_columns, COLUMNS,
                                               .doc = "functions of both sides, by change"};
static const struct sp_table_decl rows_new = {"new_functions", rows_columns, COLUMNS,
                                              .doc = "functions of the new side alone"};
static const struct sp_table_decl rows_vanished = {"vanished_functions", rows_columns, COLUMNS,
                                                   .doc = "functions of the base alone"};
const struct sp_table_decl *const sp_diff_tables[] = {
    &rows_both, &rows_new, &rows_vanished, &sp_diff_waits_table, &sp_diff_counted_table, NULL};

/* ---- numbers ---- */

/* One comparison, of a row or as facts: to where its numbers go. */
struct putting {
    const struct diff_answer *a;
    struct sp_answer_table *t; /* NULL: facts of the object that is open */
    size_t at;
};

static void put_real(const struct putting *x, size_t column, double v)
{
    if (isnan(v) || isinf(v))
        return;
    sp_put_real(x->t, x->at + column, v);
}

static void put_test(const struct putting *x, const struct sp_diff_test *t)
{
    const struct diff_answer *a = x->a;
    const char *verdict = sp_diff_verdict_names[t->verdict];
    const struct {
        size_t column;
        double v;
    } numbers[] = {
        {BASE_SHARE, t->side[SP_BASE].mean},
        {NEW_SHARE, t->side[SP_NEW].mean},
        {DELTA, t->delta},
        {LO, t->lo},
        {HI, t->hi},
        {P, t->p},
        {Q, t->q},
        {MDE, t->mde},
        {CSV_CHANGE, t->change},
        {CSV_CHANGE_LO, t->change_lo},
        {CSV_CHANGE_HI, t->change_hi},
        {MDE_FAMILY, t->mde_family},
        {DESIGN_EFFECT, t->deff},
    };
    sp_put_text(a->out, x->t, x->at + VERDICT, verdict, strlen(verdict));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_real(x, numbers[i].column, sp_diff_as_number(a, numbers[i].v));
    put_real(x, CHANGE, sp_diff_as_percent(a, t->change));
    put_real(x, CHANGE_LO, sp_diff_as_percent(a, t->change_lo));
    put_real(x, CHANGE_HI, sp_diff_as_percent(a, t->change_hi));
    sp_put_text(a->out, x->t, x->at + METHOD, t->test, t->test ? strlen(t->test) : 0);
    sp_put_int(x->t, x->at + TESTED, t->tested);
    if (t->dependent)
        sp_put_int(x->t, x->at + DEPENDENT, 1);
}

static void put_weight(const struct putting *x, size_t column, __int128 v)
{
    unsigned scale = x->a->d.scale;
    if (sp_diff_exact(&v, &scale))
        sp_put_scaled(x->t, x->at + column, (int64_t)v, scale);
    else
        put_real(x, column, (double)v / pow(10, scale));
}

static void put_amounts(const struct putting *x, const struct sp_diff_row *r, unsigned family)
{
    const struct diff_answer *a = x->a;
    put_real(x, CSV_BASE_COST, sp_diff_as_number(a, r->cost[family].side[SP_BASE].mean));
    put_real(x, CSV_NEW_COST, sp_diff_as_number(a, r->cost[family].side[SP_NEW].mean));
    put_weight(x, BASE_WEIGHT, r->side[SP_BASE].weight[family]);
    put_weight(x, NEW_WEIGHT, r->side[SP_NEW].weight[family]);
    sp_put_int(x->t, x->at + BASE_SAMPLES, r->side[SP_BASE].samples[family]);
    sp_put_int(x->t, x->at + NEW_SAMPLES, r->side[SP_NEW].samples[family]);
    for (unsigned i = 0; a->d.memory && i < 2; i++) {
        double base = sp_diff_memory_amount(a, r, SP_BASE, family, !i),
               fresh = sp_diff_memory_amount(a, r, SP_NEW, family, !i);
        size_t at = i ? BLOCKS : BYTES;
        put_real(x, at, round(base * 1e6) / 1e6);
        put_real(x, at + 1, round(fresh * 1e6) / 1e6);
        put_real(x, at + 2, round((fresh - base) * 1e6) / 1e6);
    }
}

/* ---- rows ---- */

static void put_words(const struct diff_answer *a, struct sp_answer_table *t, size_t column,
                      const char *const *names, unsigned bits)
{
    struct sp_value_text words[16];
    size_t n = 0;
    for (unsigned i = 0; names[i] && n < 16; i++)
        if (bits >> i & 1)
            words[n++] = (struct sp_value_text){names[i], strlen(names[i])};
    sp_put_texts(a->out, t, column, words, n);
}

static void put_compiled(const struct diff_answer *a, struct sp_answer_table *t, const struct sp_diff_row *r)
{
    struct sp_buf b;
    if (!r->recompiled)
        return;
    sp_buf_init(&b, 0);
    sp_diff_say_remark(r, &b);
    sp_put_buf(a->out, t, REMARK, &b);
    sp_buf_free(&b);
    put_words(a, t, COMPILED_BASE, sp_diff_form_names, r->forms[SP_BASE]);
    put_words(a, t, COMPILED_NEW, sp_diff_form_names, r->forms[SP_NEW]);
}

static void put_row(const struct diff_answer *a, struct sp_answer_table *t, const char *list,
                    const struct sp_diff_row *r)
{
    struct sp_str name = sp_str_at(&a->d.strs, r->function), dso = sp_str_at(&a->d.strs, r->dso),
                  normal = sp_str_at(&a->d.strs, a->d.keys.v[r->key].function);
    sp_table_row(a->out, t);
    sp_put_text(a->out, t, LIST, list, strlen(list));
    sp_put_text(a->out, t, ID, *r->id ? r->id : NULL, strlen(r->id));
    sp_put_text(a->out, t, FUNCTION, name.p, name.n);
    sp_put_text(a->out, t, DSO, dso.p, dso.n);
    const struct sp_diff_renamed *was = sp_diff_renamed_of(&a->d, r);
    if (was) {
        struct sp_str old = sp_str_at(&a->d.strs, was->name);
        sp_put_text(a->out, t, RENAMED_FROM, old.p, old.n);
    }
    if (sp_str_cmp(name, normal) != 0)
        sp_put_text(a->out, t, MATCHED_AS, normal.p, normal.n);
    put_compiled(a, t, r);
    put_test(&(struct putting){a, t, SELF}, &r->share[SP_SELF]);
    put_amounts(&(struct putting){a, t, SELF_AMOUNTS}, r, SP_SELF);
    put_test(&(struct putting){a, t, TOTAL}, &r->share[SP_TOTAL]);
    put_amounts(&(struct putting){a, t, TOTAL_AMOUNTS}, r, SP_TOTAL);
    put_test(&(struct putting){a, t, COST}, &r->cost[SP_SELF]);
    put_test(&(struct putting){a, t, TOTAL_COST}, &r->cost[SP_TOTAL]);
    put_words(a, t, TAGS, sp_tag_words, r->tags);
}

/* What a row leaves out where nobody says how many there shall be: detail of the method. */
static void rows_compact(struct sp_answer_table *t)
{
    static const unsigned char details[] = {DELTA,  Q,          MDE,           CHANGE_LO, CHANGE_HI,
                                            METHOD, MDE_FAMILY, DESIGN_EFFECT, TESTED};
    static const unsigned char few[] = {LO, HI};
    static const unsigned char tests[] = {SELF, TOTAL, COST};
    for (size_t i = 0; i < sizeof tests; i++) {
        for (size_t k = 0; k < sizeof details; k++)
            sp_table_without(t, tests[i] + details[k]);
        for (size_t k = 0; k < sizeof few && tests[i] != SELF; k++)
            sp_table_without(t, tests[i] + few[k]);
    }
    sp_table_without(t, COST + VERDICT);
    sp_table_without(t, COST + P);
    for (size_t i = TOTAL_COST; i <= TAGS; i++)
        sp_table_without(t, i);
    for (size_t i = TOTAL_AMOUNTS; i < COST; i++)
        sp_table_without(t, i);
    for (size_t i = SELF_AMOUNTS; i < SELF_AMOUNTS + BYTES; i++)
        sp_table_without(t, i);
}

/* Of functions of one side there is nothing to say of the other. */
static void rows_one_sided(struct sp_answer_table *t, unsigned side)
{
    static const unsigned char others[] = {LO, HI, CHANGE};
    static const unsigned char tests[] = {SELF, TOTAL, COST};
    for (size_t i = 0; i < sizeof tests; i++) {
        for (size_t k = 0; k < sizeof others; k++)
            sp_table_without(t, tests[i] + others[k]);
        sp_table_without(t, tests[i] + (size_t)(side == SP_NEW ? BASE_SHARE : NEW_SHARE));
    }
}

static void put_table(const struct diff_answer *a, const struct sp_table_decl *decl, const char *list,
                      const struct sp_diff_row *rows, size_t n, size_t limit)
{
    struct sp_answer_table *t = sp_answer_table(a->out, decl);
    if (!t)
        return;
    t->limit = limit;
    if (!a->d.memory)
        for (size_t i = BYTES; i < AMOUNT_COLUMNS; i++) {
            sp_table_without(t, SELF_AMOUNTS + i);
            sp_table_without(t, TOTAL_AMOUNTS + i);
        }
    if (a->compact)
        rows_compact(t);
    if (a->compact && decl != &rows_both)
        rows_one_sided(t, decl == &rows_new ? SP_NEW : SP_BASE);
    for (size_t i = 0; i < n; i++)
        if (t->rows < limit &&
            (!a->compact || decl == &rows_both || a->q->options->budget ||
             sp_diff_matters(a, &rows[i], SP_SELF) || sp_diff_matters(a, &rows[i], SP_TOTAL)))
            put_row(a, t, list, &rows[i]);
        else
            t->left_out++;
}

void sp_diff_put_rows(struct diff_answer *a)
{
    const struct sp_diff *d = &a->d;
    put_table(a, &rows_both, "both", d->rows.v, d->rows.n, a->limit);
    size_t others = a->compact && !a->q->options->budget ? 1 : a->limit;
    put_table(a, &rows_new, "new", d->appeared.v, d->appeared.n, others);
    put_table(a, &rows_vanished, "vanished", d->vanished.v, d->vanished.n, others);
}
