#include "answer.h"

#include "ask/next.h"
#include "base/num.h"
#include "model/builds.h"
#include "render/answer_render.h"
#include "render/diag_json.h"
#include "render/text.h"

#include <limits.h>

void pool_json(struct sp_jw *w, const struct sp_pools *pools, const struct sp_pool *pool)
{
    struct sp_str pattern = sp_str_at(&pools->names, pool ? pool->pattern : SP_STR_NONE);
    if (pool)
        sp_jw_str(w, "pool", pattern.p, pattern.n);
    else
        sp_jw_null(w, "pool");
    if (pool && !pool->named)
        sp_jw_u64(w, "threads", pool->threads);
    else
        sp_jw_null(w, "threads");
}

void answer_diag(struct sp_jw *w, const struct sp_diag *g)
{
    sp_diag_json(w, g);
}

static void answer_str(struct sp_jw *w, const char *key, const struct sp_profile *p, uint32_t s)
{
    struct sp_str t = sp_pstr(p, s);
    if (s == SP_STR_NONE)
        sp_jw_null(w, key);
    else
        sp_jw_str(w, key, t.p, t.n);
}

static void answer_samples(struct sp_jw *w, const char *key, int64_t v)
{
    if (v == SP_ABSENT)
        sp_jw_null(w, key);
    else
        sp_jw_i64(w, key, v);
}

void answer_open(struct cli *c, struct sp_jw *w, const char *schema, const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    sp_jw_init(w, c->out);
    sp_jw_open(w, NULL, '{');
    sp_jw_cstr(w, "schema", schema);
    sp_jw_open(w, "profile", '{');
    answer_str(w, "source_tool", p, p->header.source_tool);
    answer_str(w, "event", p, p->events.v[s->event].name);
    answer_str(w, "metric", p, p->metrics.v[s->metric].name);
    if (s->unit.n)
        sp_jw_str(w, "unit", s->unit.p, s->unit.n);
    else
        sp_jw_null(w, "unit");
    answer_samples(w, "samples", s->whole_samples);
    sp_jw_cstr(w, "view", s->view);
    sp_jw_str(w, "filters", s->filters.data ? s->filters.data : "", s->filters.len);
    if (s->cannot_add)
        sp_jw_null(w, "event_whole");
    else
        sp_jw_scaled(w, "event_whole", s->event_whole, s->scale);
    sp_jw_close(w, '}');
    if (s->cannot_add) {
        sp_jw_null(w, "whole");
        sp_jw_null(w, "kept");
    } else {
        sp_jw_scaled(w, "whole", s->whole, s->scale);
        sp_jw_scaled(w, "kept", s->kept, s->scale);
    }
    sp_jw_percent(w, "kept_percent", s->kept, s->cannot_add ? 0 : s->event_whole); /* of event_whole */
    answer_samples(w, "kept_samples", s->samples);
}

bool answer_has_losses(const struct sp_quality *q)
{
    return q->lost || q->truncated || q->unfinished || q->throttled_ns;
}

void answer_losses(struct sp_output *out, const struct sp_quality *q)
{
    sp_printf(out, "%llu samples lost by the profiler, %llu stacks cut off", (unsigned long long)q->lost,
              (unsigned long long)q->truncated);
    if (q->unfinished)
        sp_printf(out, ", %llu stacks end early", (unsigned long long)q->unfinished);
    if (q->throttled_ns)
        sp_printf(out, ", events throttled for %llu.%03llu s",
                  (unsigned long long)(q->throttled_ns / 1000000000),
                  (unsigned long long)(q->throttled_ns / 1000000 % 1000));
    sp_puts(out, "\n");
}

/* The heaviest DSOs of one lack, with why and what helps where the symbolizer knows. */
static void quality_dsos(struct sp_jw *w, const char *key, const struct sp_profile *p, enum sp_note_of of,
                         const struct sp_dso_weights *dsos, int64_t whole)
{
    sp_jw_open(w, key, '[');
    for (size_t i = 0; i < dsos->list.n && i < 10; i++) {
        const struct sp_dso_weight *v = &dsos->list.v[i];
        struct sp_str name = sp_pstr(p, p->dsos.v[v->dso].name);
        const struct sp_dso_note *note = sp_profile_note_of(p, v->dso, of);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "dso", name.p, name.n);
        sp_jw_percent(w, "percent", v->weight, whole);
        sp_jw_cstr(w, "why", note ? sp_pstr(p, note->why).p : NULL);
        struct sp_str hint = sp_pstr(p, note ? note->hint : SP_STR_NONE);
        sp_jw_cstr(w, "hint", hint.n ? hint.p : NULL);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

/* Null where nothing is known of the callchains. */
static void quality_chains(struct sp_jw *w, const struct sp_selection *s)
{
    static const char *const why[SP_CHAINS] = {[SP_CHAIN_NO_ENTRY] = "no_entry",
                                               [SP_CHAIN_UNMAPPED] = "unmapped",
                                               [SP_CHAIN_CUT] = "cut_off",
                                               [SP_CHAIN_EDGE] = "impossible_call"};
    const struct sp_chains *c = s->chains;
    bool known = c && (c->judged || c->broken);
    int64_t whole = known && !s->cannot_add ? c->of : 0; /* of nothing: null */
    sp_jw_percent(w, "broken_chains_percent", known ? c->broken : 0, whole);
    sp_jw_open(w, "broken_chains", '{');
    for (unsigned i = SP_CHAIN_WHOLE + 1; known && i < SP_CHAINS; i++)
        if (c->by[i])
            sp_jw_percent(w, why[i], c->by[i], whole);
    sp_jw_close(w, '}');
    sp_jw_open(w, "broken_chains_by_dso", '[');
    for (size_t i = 0; known && i < c->dsos.list.n && i < 10; i++) {
        struct sp_str name = dso_name(s->profile, c->dsos.list.v[i].dso);
        sp_jw_open(w, NULL, '{');
        sp_jw_str(w, "dso", name.p, name.n);
        sp_jw_percent(w, "percent", c->dsos.list.v[i].weight, whole);
        sp_jw_close(w, '}');
    }
    sp_jw_close(w, ']');
}

void answer_quality(struct sp_jw *w, const char *key, const struct sp_selection *s,
                    const struct sp_quality *q)
{
    const struct sp_profile *p = s->profile;
    int64_t whole = s->cannot_add ? 0 : s->kept; /* of nothing: null */
    sp_jw_open(w, key, '{');
    sp_jw_percent(w, "unresolved_percent", q->unresolved_leaf, whole);
    sp_jw_percent(w, "unresolved_anywhere_percent", q->unresolved_any, whole);
    sp_jw_percent(w, "no_stack_percent", q->no_stack, whole);
    sp_jw_u64(w, "frames", q->frames);
    sp_jw_u64(w, "frames_unresolved", q->frames_unresolved);
    sp_jw_u64(w, "lost", q->lost);
    sp_jw_u64(w, "truncated", q->truncated);
    sp_jw_u64(w, "unfinished", q->unfinished);
    sp_jw_u64(w, "throttled_ns", q->throttled_ns);
    sp_jw_percent(w, "callees_not_recorded_percent", q->callees_not_recorded, whole);
    sp_jw_u64(w, "exclusive_differs", q->exclusive_differs);
    quality_dsos(w, "unresolved_by_dso", p, SP_NOTE_NAMES, &q->dsos, whole);
    sp_jw_u64(w, "exclusive_unusable", q->exclusive_unusable);
    sp_jw_percent(w, "no_debug_info_percent", q->lineless, whole);
    quality_dsos(w, "no_debug_info_by_dso", p, SP_NOTE_LINES, &q->no_lines, whole);
    quality_chains(w, s);
    sp_jw_close(w, '}');
}

void answer_close(struct cli *c, struct sp_jw *w)
{
    sp_jw_open(w, "diagnostics", '[');
    for (size_t i = 0; i < c->diags.list.n; i++)
        answer_diag(w, &c->diags.list.v[i]);
    sp_jw_close(w, ']');
    sp_jw_close(w, '}');
    sp_puts(c->out, "\n");
    sp_jw_free(w);
}

void weight_text(struct sp_buf *out, const struct sp_selection *s, int64_t v)
{
    sp_text_weight(out, s->unit, s->scale, v);
}

void percent_text(struct sp_buf *out, const struct sp_selection *s, int64_t v)
{
    if (s->cannot_add)
        sp_buf_puts(out, "-");
    else
        sp_text_percent(out, v, s->whole);
}

void kept_text(struct sp_buf *out, const struct sp_selection *s, const char *before)
{
    if (!s->view && !s->filters.len)
        return;
    sp_buf_puts(out, before);
    bool said = s->filters.len && memmem(s->filters.data, s->filters.len, "--view ", 7);
    bool view = s->view && !said && strcmp(s->view, "custom") != 0; /* else it is among the filters */
    if (view)
        sp_buf_printf(out, "view %s%s", s->view, strcmp(s->view, "all") == 0 ? "" : " (--view all)");
    if (s->filters.len) {
        sp_buf_puts(out, view ? ", " : "");
        sp_text_safe(out, s->filters.data, s->filters.len);
    }
    if (s->cannot_add)
        return;
    sp_buf_puts(out, " keeps ");
    weight_text(out, s, s->kept);
    sp_buf_puts(out, ", ");
    sp_text_percent(out, s->kept, s->event_whole);
    sp_buf_puts(out, "% of the event's ");
    weight_text(out, s, s->event_whole);
}

void bounds_text(const struct sp_selection *s, struct sp_buf *out)
{
    struct sp_buf words;
    if (!sp_chains_tell(s))
        return;
    sp_buf_init(&words, 0);
    sp_chains_words(s, &words);
    sp_buf_puts(&words, "; ");
    sp_chains_hint(s, &words);
    sp_text_safe(out, words.data, words.len);
    sp_buf_free(&words);
}

void bounds_diag(struct cli *c, const struct sp_selection *s)
{
    struct sp_buf words, hint;
    if (!sp_chains_tell(s))
        return;
    sp_buf_init(&words, 0);
    sp_buf_init(&hint, 0);
    sp_chains_words(s, &words);
    sp_chains_hint(s, &hint);
    sp_emit_hint(&c->diags, SP_W612, SP_AT_NOTHING, sp_buf_cstr(&hint), "%s", sp_buf_cstr(&words));
    sp_buf_free(&words);
    sp_buf_free(&hint);
}

void answer_heading(struct cli *c, const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    struct sp_str event = sp_pstr(p, p->events.v[s->event].name),
                  metric = sp_pstr(p, p->metrics.v[s->metric].name);
    sp_buf_puts(&b, "event ");
    sp_text_safe(&b, event.p, event.n);
    sp_buf_puts(&b, ", metric ");
    sp_text_safe(&b, metric.p, metric.n);
    if (s->unit.n) {
        sp_buf_puts(&b, " (");
        sp_text_safe(&b, s->unit.p, s->unit.n);
        sp_buf_puts(&b, ")");
    }
    if (s->cannot_add) {
        sp_buf_puts(&b, "; values of this metric must not be added: shares are left out");
    } else {
        sp_buf_puts(&b, ", whole ");
        weight_text(&b, s, s->whole);
    }
    if (s->whole_samples != SP_ABSENT) {
        sp_buf_puts(&b, ", ");
        sp_text_grouped(&b, s->whole_samples, 0);
        sp_buf_puts(&b, " samples");
    }
    kept_text(&b, s, "; ");
    if (p->events.n > 1)
        sp_buf_printf(&b, "; %zu other events (--event)", p->events.n - 1);
    sp_buf_ch(&b, '\n');
    if (sp_chains_tell(s)) {
        bounds_text(s, &b);
        sp_buf_ch(&b, '\n');
    }
    if (c->format == FORMAT_TABLE || c->format == FORMAT_MARKDOWN) {
        if (c->format == FORMAT_MARKDOWN) {
            sp_markdown_text(c->out, b.data, b.len);
            sp_puts(c->out, "\n");
        } else {
            sp_write(c->out, b.data, b.len);
        }
    }
    sp_buf_free(&b);
}

void command_word(struct sp_buf *b, const char *s)
{
    sp_shell_word(b, s);
}

static void command_with(struct sp_buf *out, const struct cli *c, const struct answer_next *next,
                         unsigned groups)
{
    const struct sp_next x = {next->command, next->argument, next->tail, NULL};
    sp_command_text(out, &x, c->files.v, c->files.n, &c->v, groups);
}

void command_text(struct sp_buf *out, const struct cli *c, const struct answer_next *next)
{
    command_with(out, c, next, sp_next_groups(next->command));
}

void command_of_files(struct sp_buf *out, const struct cli *c, const struct answer_next *next)
{
    command_with(out, c, next, G_READ);
}

int answer_table(struct cli *c, struct sp_table *t)
{
    static const enum sp_table_form forms[] = {SP_TABLE_TEXT, SP_TABLE_TEXT, SP_TABLE_CSV, SP_TABLE_MARKDOWN};
    spaa_status st = sp_table_write(t, forms[c->format], c->width, c->out);
    return st ? cli_exit_of(sp_nomem(&c->diags)) : EXIT_FINE;
}

bool answer_limit(struct cli *c, size_t otherwise, size_t *limit)
{
    long n;
    if (!cli_number(c, "limit", c->v.limit, 0, LONG_MAX, otherwise > LONG_MAX ? 0 : (long)otherwise, &n))
        return false;
    *limit = n ? (size_t)n : SIZE_MAX;
    return true;
}

/* ---- one answer ---- */

void answer_init(struct answer *a, struct cli *c, struct sp_selection *s)
{
    *a = (struct answer){.c = c, .s = s};
    sp_buf_init(&a->b, 0);
    if (c->format == FORMAT_JSON || c->format == FORMAT_CSV) /* which have no heading */
        bounds_diag(c, s);
}

void answer_free(struct answer *a)
{
    sp_buf_free(&a->b);
    if (a->ready) {
        sp_quality_free(&a->q);
        sp_handles_free(&a->handles);
        sp_own_free(&a->own);
    }
}

spaa_status answer_ready(struct answer *a)
{
    if (a->ready)
        return SPAA_OK;
    spaa_status st = sp_quality_of(a->s, &a->c->diags, &a->q);
    if (st)
        return st;
    st = sp_handles_of(a->s->profile, &a->handles);
    if (!st) {
        st = sp_own_of(a->s, a->c->v.own_re, &a->c->diags, &a->own);
        if (st)
            sp_handles_free(&a->handles);
    }
    if (st)
        sp_quality_free(&a->q);
    a->ready = !st;
    return st;
}

int answer_begin(struct answer *a, const char *schema)
{
    spaa_status st = answer_ready(a);
    if (!st)
        answer_open(a->c, &a->w, schema, a->s);
    return cli_exit_of(st);
}

void answer_weight(struct answer *a, const char *key, int64_t v)
{
    if (a->s->cannot_add)
        sp_jw_null(&a->w, key);
    else
        sp_jw_scaled(&a->w, key, v, a->s->scale);
}

void answer_percent(struct answer *a, const char *key, int64_t v)
{
    sp_jw_percent(&a->w, key, v, a->s->cannot_add ? 0 : a->s->whole);
}

void answer_at_most(struct answer *a, int64_t v)
{
    if (!sp_chains_tell(a->s))
        return;
    if (v == SP_ABSENT) {
        sp_jw_null(&a->w, "total_at_most");
        sp_jw_null(&a->w, "total_at_most_percent");
    } else {
        answer_weight(a, "total_at_most", v);
        answer_percent(a, "total_at_most_percent", v);
    }
}

void answer_function(struct answer *a, uint32_t function)
{
    const struct sp_profile *p = a->s->profile;
    struct sp_str name = sp_pstr(p, p->functions.v[function].name);
    struct sp_str dso = dso_name(p, p->functions.v[function].dso);
    char handle[32];
    sp_handle_text(&a->handles, function, handle);
    sp_jw_cstr(&a->w, "id", handle);
    sp_jw_str(&a->w, "function", name.p, name.n);
    sp_jw_str(&a->w, "dso", dso.p, dso.n);
    dso_build_json(&a->w, p, p->functions.v[function].dso);
    answer_own(a, function);
}

void answer_own(struct answer *a, uint32_t function)
{
    if (function == SP_NONE) {
        sp_jw_null(&a->w, "own");
        sp_jw_null(&a->w, "own_by");
        return;
    }
    sp_jw_bool(&a->w, "own", sp_is_own(&a->own, function));
    sp_jw_cstr(&a->w, "own_by", sp_own_by_names[a->own.by[function]]);
}

void dso_build_json(struct sp_jw *w, const struct sp_profile *p, uint32_t dso)
{
    if (!sp_dso_is_one_of_several(p, dso))
        return;
    struct sp_str id = sp_pstr(p, p->dsos.v[dso].build_id);
    sp_jw_str(w, "build_id", id.p, id.n);
}

struct sp_str dso_name(const struct sp_profile *p, uint32_t dso)
{
    return dso == SP_NONE ? (struct sp_str){"", 0} : sp_pstr(p, p->dsos.v[dso].name);
}

void cell_buf(struct sp_table *t, struct sp_buf *b)
{
    sp_table_cell(t, b->data ? b->data : "", b->len);
    sp_buf_clear(b);
}

void cell_weight(struct answer *a, struct sp_table *t, int64_t v)
{
    char text[64];
    bool exact = a->c->format == FORMAT_CSV;
    sp_buf_clear(&a->b);
    if (a->s->cannot_add)
        sp_buf_puts(&a->b, exact ? "" : "-");
    else if (exact)
        sp_buf_add(&a->b, text, sp_scaled_text(v, a->s->scale, text));
    else
        weight_text(&a->b, a->s, v);
    cell_buf(t, &a->b);
}

void cell_percent(struct answer *a, struct sp_table *t, int64_t v)
{
    bool exact = a->c->format == FORMAT_CSV;
    sp_buf_clear(&a->b);
    if (!exact || !a->s->cannot_add)
        percent_text(&a->b, a->s, v);
    sp_buf_puts(&a->b, exact ? "" : "%");
    cell_buf(t, &a->b);
}

void cell_str(struct sp_table *t, struct sp_str s)
{
    sp_table_cell(t, s.p, s.n);
}

/* ---- budgets ---- */

const char *answer_more(const struct cli *c)
{
    return c->v.budget ? "a larger --budget shows more" : "-n 0 shows all";
}

struct cli_fitting {
    struct cli *c;
    int (*draw)(void *arg, size_t rows);
    void *arg;
};

static int answer_fit_draw(void *arg, size_t rows, struct sp_output *out)
{
    struct cli_fitting *f = arg;
    struct sp_output *real = f->c->out;
    f->c->out = out;
    int rc = f->draw(f->arg, rows);
    f->c->out = real;
    return rc;
}

int answer_fit(struct cli *c, size_t most, int (*draw)(void *arg, size_t rows), void *arg)
{
    long budget;
    struct cli_fitting f = {c, draw, arg};
    if (!cli_number(c, "budget", c->v.budget, 1, LONG_MAX / 4, 0, &budget))
        return EXIT_USAGE;
    return c->v.budget ? sp_fit(&c->diags, (size_t)budget * 3, 0, most, answer_fit_draw, &f, c->out)
                       : draw(arg, most);
}
