/* The rows of `top`: what each is of, its weights, and what narrows down to it. */
#include "ask/top_parts.h"

#include "analysis/names.h"
#include "model/identity.h"
#include "model/thread_names.h"

/* "^/usr/lib/libc\.so$" */
static void exact_regex(struct sp_buf *b, struct sp_str name)
{
    sp_buf_ch(b, '^');
    for (uint32_t i = 0; i < name.n; i++) {
        if (memchr("\\^$.[]|()?*+{}", name.p[i], 14))
            sp_buf_ch(b, '\\');
        sp_buf_ch(b, name.p[i]);
    }
    sp_buf_ch(b, '$');
}

static void number_or_nothing(struct sp_buf *b, int64_t v)
{
    if (v != SP_ABSENT)
        sp_buf_i64(b, v);
}

/* What the filter that narrows down to this row takes: --thread TID or POOL, --pid PID, --dso REGEX, … */
static void top_row_id(struct top *x, const struct sp_top_row *r, struct sp_buf *b)
{
    const struct sp_profile *p = x->t.profile;
    const struct sp_context *c = r->context == SP_NONE ? NULL : &p->contexts.v[r->context];
    struct sp_str text = {"", 0};
    if (x->by == SP_TOP_DSO && r->dso != SP_NONE)
        exact_regex(b, sp_dso_name(p, r->dso));
    else if (sp_top_pool(&x->a.s, x->by, r))
        text = sp_str_at(&x->t.names, r->name);
    else if (c && x->by == SP_TOP_THREAD)
        number_or_nothing(b, c->tid);
    else if (c && x->by == SP_TOP_PROCESS)
        number_or_nothing(b, c->pid);
    else if (c && x->by == SP_TOP_CPU)
        number_or_nothing(b, c->cpu);
    else if (c && x->by == SP_TOP_COMM)
        text = sp_pstr(p, sp_context_name(p, c));
    else if (c && x->by == SP_TOP_STATE)
        text = sp_pstr(p, c->state);
    else if (c && x->by == SP_TOP_SOURCE)
        text = sp_pstr(p, c->source);
    else if (c && x->by == SP_TOP_EVENT)
        text = sp_pstr(p, p->events.v[c->event].name);
    sp_buf_add(b, text.p, text.n);
}

/* `[unknown]` says itself that it is no name. */
static void tags_text(struct sp_buf *b, unsigned tags, struct sp_str name)
{
    const unsigned always = SP_TAG_IDLE | SP_TAG_WAIT | SP_TAG_IRQ,
                   shown = sp_str_is(name, "[unknown]") ? always : always | SP_TAG_UNRESOLVED;
    for (unsigned i = 0; sp_tag_words[i]; i++)
        if (tags & shown & 1u << i)
            sp_buf_printf(b, " [%s]", sp_tag_words[i]);
}

static void top_put_tags(struct top *x, struct sp_answer_table *t, unsigned tags)
{
    struct sp_value_text words[8];
    size_t n = 0;
    for (unsigned i = 0; sp_tag_words[i] && n < 8; i++)
        if (tags >> i & 1)
            words[n++] = (struct sp_value_text){sp_tag_words[i], strlen(sp_tag_words[i])};
    sp_put_texts(x->a.out, t, SP_TOP_TAGS, words, n);
}

/* A cell for each kind, and the tags behind the last. */
static void top_put_keys(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    struct sp_buf *b = &x->a.b;
    struct sp_str name = sp_str_at(&x->t.names, r->name);
    if (r->function != SP_NONE)
        sp_put_function(&x->a, t, SP_TOP_ROW, r->function);
    sp_put_text(x->a.out, t, SP_TOP_NAME, name.p, name.n);
    for (size_t k = 0; k < x->list.n; k++) {
        struct sp_str text = sp_top_key_text(&x->t, r, k);
        sp_put_text(x->a.out, t, top_keys_at(x) + k, text.p, text.n);
    }
    tags_text(b, r->tags, name);
    if (b->len)
        sp_put_buf(x->a.out, t, top_keys_at(x) + x->list.n, b);
}

/* A column for each of several kinds, then one of tags. Those of functions are declared: JSON has them once.
 */
void top_key_columns(struct top *x, struct sp_answer_table *t)
{
    if (!top_is_list(x))
        return;
    for (size_t k = 0; k < x->list.n; k++) {
        struct sp_str title = x->list.v[k].title;
        const char *words = x->list.v[k].words;
        enum sp_by kind = x->list.v[k].kind;
        bool declared = top_is_code(x) && (kind == SP_TOP_FUNCTION || kind == SP_TOP_DSO);
        sp_buf_clear(&x->a.b);
        sp_buf_add(&x->a.b, title.p, title.n);
        const char *name = sp_buf_cstr(&x->a.b);
        struct sp_answer_column c = {.name = name,
                                     .type = kind == SP_TOP_FUNCTION ? SP_COL_NAME
                                             : kind == SP_TOP_DSO    ? SP_COL_DSO
                                                                     : SP_COL_TEXT,
                                     .title = words ? words : name,
                                     .flags = SP_COL_FLEXIBLE | SP_COL_WHOLE_NAME |
                                              (declared ? SP_COL_NO_JSON : 0)};
        sp_table_add_column(x->a.out, t, &c, x->a.measure);
    }
    static const struct sp_answer_column tags = {
        .name = "key_marks", .type = SP_COL_TEXT, .title = "tags", .flags = SP_COL_SUFFIX | SP_COL_NO_JSON};
    sp_table_add_column(x->a.out, t, &tags, x->a.measure);
    sp_buf_clear(&x->a.b);
}

/* A row of code is named by its function, and behind it the line or address: "f file.c:3". */
static void top_put_code(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    const struct sp_profile *p = x->t.profile;
    struct sp_str name = sp_str_at(&x->t.names, r->name), function = name;
    struct sp_buf *b = &x->a.b;
    if (r->function != SP_NONE) {
        sp_put_function(&x->a, t, SP_TOP_ROW, r->function);
        function = sp_pstr(p, p->functions.v[r->function].name);
    } else { /* weight without a stack */
        sp_put_text(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_NAME, name.p, name.n);
    }
    bool begins = name.n >= function.n && memcmp(name.p, function.p, function.n) == 0;
    if (!begins) /* a symbol that is not shown as its function is */
        sp_put_text(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_NAME, name.p, name.n);
    else if (name.n > function.n)
        sp_buf_add(b, name.p + function.n, name.n - function.n);
    tags_text(b, r->tags, name);
    sp_put_buf(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_MARKS, b);
    sp_put_text(x->a.out, t, SP_TOP_NAME, name.p, name.n);
}

static void top_put_other(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    struct sp_str name = sp_str_at(&x->t.names, r->name);
    struct sp_buf *b = &x->a.b;
    top_row_id(x, r, b);
    sp_put_buf(x->a.out, t, SP_TOP_ROW + SP_FUNCTION_ID, b);
    if (x->by == SP_TOP_DSO)
        sp_put_dso(&x->a, t, SP_TOP_NAME, SP_TOP_MARKS, SP_TOP_ROW + SP_FUNCTION_BUILD_ID, r->dso);
    else
        tags_text(b, r->tags, name);
    if (b->len)
        sp_put_buf(x->a.out, t, SP_TOP_MARKS, b);
    sp_put_text(x->a.out, t, SP_TOP_NAME, name.p, name.n);
}

/* A row by line is named "FUNCTION LINE". */
spaa_status top_put_source(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    struct sp_str name = sp_str_at(&x->t.names, r->name);
    struct sp_source_place at;
    if (!x->places || r->function == SP_NONE)
        return SPAA_OK;
    uint32_t skip = sp_pstr(x->t.profile, x->t.profile->functions.v[r->function].name).n + 1;
    if (name.n <= skip)
        return SPAA_OK;
    spaa_status st =
        sp_places_of_function(x->places, r->function, (struct sp_str){name.p + skip, name.n - skip}, &at);
    if (!st)
        sp_put_source(&x->a, t, SP_TOP_PATH, &at);
    return st;
}

static int64_t known_or_null(int64_t v)
{
    return v < 0 ? SP_ABSENT : v;
}

static void top_put_who(struct top *x, struct sp_answer_table *t, const struct sp_top_row *r)
{
    const struct sp_thread_info *f = &x->info;
    struct sp_top_who who = sp_top_who(&x->t, x->by, r, &x->a.s.pools, f);
    struct sp_str known = sp_top_who_name(&who, f);
    sp_put_int(t, SP_TOP_PID, known_or_null(who.pid));
    sp_put_int(t, SP_TOP_TID, known_or_null(who.tid));
    sp_put_int(t, SP_TOP_CPU_TIME, known_or_null(who.cpu.cpu_ns));
    sp_put_int(t, SP_TOP_CYCLES, known_or_null(who.cpu.cycles));
    sp_put_int(t, SP_TOP_INSTRUCTIONS, known_or_null(who.cpu.instructions));
    if (who.thread) {
        sp_put_str(x->a.out, t, SP_TOP_THREAD_NAME, sp_pstr(f->profile, who.thread->name));
        sp_put_str(x->a.out, t, SP_TOP_QUEUE, sp_pstr(f->profile, who.thread->queue));
    }
    sp_put_str(x->a.out, t, SP_TOP_PROCESS_NAME,
               who.process && who.process->name ? sp_pstr(f->profile, who.process->name) : who.name);
    if (!known.n)
        return;
    sp_buf_ch(&x->a.b, ' ');
    sp_buf_add(&x->a.b, known.p, known.n);
    sp_put_buf(x->a.out, t, SP_TOP_KNOWN, &x->a.b);
}

static void top_put_ratio(struct top *x, struct sp_answer_table *t, size_t row, size_t k)
{
    const struct sp_top_extra *of = &x->t.extras[x->nwith + 2 * k].v[row],
                              *per = &x->t.extras[x->nwith + 2 * k + 1].v[row];
    struct sp_ratio_part part = {{of->self, per->self, of->samples, per->samples},
                                 {of->total, per->total, of->total_samples, per->total_samples}};
    sp_ratios_put(&x->a, &x->ratios, t, x->ratio_at, k, &part);
}

void top_put_row(struct top *x, struct sp_answer_table *t, size_t i)
{
    const struct sp_top_row *r = &x->t.rows.v[i];
    sp_table_row(x->a.out, t);
    sp_put_int(t, SP_TOP_SELF, r->self);
    sp_put_int(t, SP_TOP_TOTAL, r->total);
    sp_put_int(t, SP_TOP_AT_MOST, r->at_most);
    sp_put_int(t, SP_TOP_SAMPLES, r->samples);
    sp_put_int(t, SP_TOP_TOTAL_SAMPLES, r->total_samples);
    if (top_is_list(x))
        top_put_keys(x, t, r);
    else if (top_is_code(x))
        top_put_code(x, t, r);
    else
        top_put_other(x, t, r);
    if (top_has_who(x))
        top_put_who(x, t, r);
    sp_put_pool(&x->a, t, SP_TOP_POOL, sp_top_pool(&x->a.s, x->by, r));
    top_put_tags(x, t, r->tags);
    for (size_t k = 0; k < x->ratios.n; k++)
        top_put_ratio(x, t, i, k);
    for (size_t k = 0; k < x->nwith; k++) {
        const struct sp_top_extra *e = &x->t.extras[k].v[i];
        size_t at = SP_TOP_NCOLUMNS + k * WITHS;
        sp_put_int(t, at + WITH_SELF, e->self);
        sp_put_int(t, at + WITH_TOTAL, e->total);
        sp_put_int(t, at + WITH_SAMPLES, e->samples);
        sp_put_int(t, at + WITH_TOTAL_SAMPLES, e->total_samples);
    }
}
