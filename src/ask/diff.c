/* diff: what changed between two profiles, or two sets of them, and is it real. */
#include "ask/diff.h"

#include "analysis/chains.h"
#include "analysis/names.h"
#include "answer/text.h"
#include "ask/next.h"
#include "base/num.h"
#include "model/off_cpu.h"
#include "model/wall.h"

#include <math.h>

static bool diff_keep(struct diff_answer *a, struct sp_str *to, struct sp_str s)
{
    uint32_t n = sp_intern(&a->d.strs, s.p ? s.p : "", s.n);
    *to = n == SP_STR_FAIL ? (struct sp_str){"", 0} : sp_str_at(&a->d.strs, n);
    return n != SP_STR_FAIL;
}

static bool diff_same(struct sp_str a, struct sp_str b)
{
    return sp_str_cmp(a, b) == 0;
}

static void diff_differs(struct diff_answer *a, const char *file, const char *what, struct sp_str base,
                         struct sp_str other)
{
    if (!diff_same(base, other))
        sp_emit(a->q->diags, SP_W640, SP_AT_NOTHING, "%s: %s \"%.*s\", where the first profile has \"%.*s\"",
                file, what, (int)other.n, other.p, (int)base.n, base.p);
}

/* A filter that one side has, and the other has not or has another of. */
static bool diff_of_one_side(const struct diff_answer *a, const char *name)
{
    return sp_where_has(&a->where[SP_BASE], name) || sp_where_has(&a->where[SP_NEW], name);
}

/* Samples of hang reports stand for as long as its steps last. */
static bool check_rate(struct diff_answer *a, const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    struct diff_words *k = &a->words;
    struct sp_str hz = sp_pstr(p, p->events.v[s->event].frequency_hz);
    if (!sp_is_of_hangs(p, s->event) || !sp_str_is(sp_pstr(p, p->metrics.v[s->metric].name), "samples"))
        return true;
    if (!k->hz[SP_BASE].n)
        return diff_keep(a, &k->hz[SP_BASE], hz);
    if (k->rates_differ || !hz.n || diff_same(k->hz[SP_BASE], hz))
        return true;
    k->rates_differ = true;
    return diff_keep(a, &k->hz[SP_NEW], hz);
}

/* What the first run measured, and whether a later one measured the same. */
static spaa_status check_words(struct diff_answer *a, size_t i, const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    const char *file = a->q->names[i];
    struct diff_words *k = &a->words;
    struct diff_side_words w = {sp_pstr(p, p->events.v[s->event].name),
                                sp_pstr(p, p->metrics.v[s->metric].name),
                                {s->filters.data, (uint32_t)s->filters.len},
                                s->view};
    if (i) {
        if (!diff_of_one_side(a, "event"))
            diff_differs(a, file, "event", k->side[SP_BASE].event, w.event);
        if (!diff_of_one_side(a, "metric"))
            diff_differs(a, file, "metric", k->side[SP_BASE].metric, w.metric);
        diff_differs(a, file, "unit", k->unit, s->unit);
    } else if (!diff_keep(a, &k->tool, sp_pstr(p, p->header.source_tool)) ||
               !diff_keep(a, &k->unit, s->unit)) {
        return sp_nomem(a->q->diags);
    }
    if (i && i != a->q->split)
        return SPAA_OK;
    struct diff_side_words *side = &k->side[i ? SP_NEW : SP_BASE];
    side->view = w.view;
    return diff_keep(a, &side->event, w.event) && diff_keep(a, &side->metric, w.metric) &&
                   diff_keep(a, &side->filters, w.filters)
               ? SPAA_OK
               : sp_nomem(a->q->diags);
}

/* Weights are time off the CPU, all of which ends in one function of the kernel. */
static bool run_is_off_cpu(const struct sp_profile *p, const char *event, const char *metric)
{
    uint32_t e = event    ? sp_event_find(p, event, strlen(event))
                 : metric ? sp_metric_event(p, metric)
                          : sp_default_event(p);
    uint32_t primary = e == SP_NONE ? SP_NONE : p->events.v[e].primary;
    return primary != SP_NONE && sp_str_is(sp_pstr(p, p->metrics.v[primary].name), SP_OFF_CPU_NS);
}

/* Frames of programs are there to be compared. */
static bool any_user_frames(const struct sp_profile *p)
{
    uint32_t off = sp_metric_find(p, SP_OFF_CPU_NS, strlen(SP_OFF_CPU_NS));
    for (uint32_t i = 0; off != SP_NONE && i < p->stacks.n; i++) {
        const uint32_t *frames = sp_stack_frames(p, i);
        int64_t v = sp_weight(p, i, off);
        for (uint32_t k = 0; v > 0 && k < p->stacks.v[i].n; k++)
            if (p->frames.v[frames[k]].kind != SP_KERNEL)
                return true;
    }
    return false;
}

/* The event of the first run where this one has it, and its view; its own default else. */
static spaa_status select_run(struct diff_answer *a, struct sp_profile *p, const struct sp_options *v,
                              struct sp_selection *out)
{
    struct sp_options options = *v;
    struct sp_ask one = *a->q;
    struct sp_select_opts how;
    struct sp_str event = a->words.side[SP_BASE].event;
    bool given = v->view || v->state || diff_of_one_side(a, "view") || diff_of_one_side(a, "state");
    if (!v->event && event.n && !diff_of_one_side(a, "event") &&
        sp_event_find(p, event.p, event.n) != SP_NONE)
        options.event = event.p;
    one.options = &options;
    one.profiles = &p;
    one.waits = &a->idle;
    if (!sp_ask_select_opts(&one, &how))
        return SPAA_ERR_USAGE;
    bool off = run_is_off_cpu(p, how.event, how.metric);
    if (!given && !off) /* which has all of it by default, but for what is idle */
        how.view = a->words.side[SP_BASE].view;
    how.allocators_elsewhere = true; /* the other side may have lost or got them */
    how.user_only = how.user_only || (off && !how.kernel_only && any_user_frames(p));
    return sp_ask_select(&one, &how, out);
}

/*
 * The same without the filters that look at frames, which only choose rows: shares are of what they leave,
 * too. A filter of one side alone says what that side is, and its shares are of that.
 */
static spaa_status select_whole(struct diff_answer *a, struct sp_profile *p, const struct sp_options *asked,
                                const struct sp_side_where *own, struct sp_selection *out, bool *narrowed)
{
    struct sp_options v = *asked;
    v.dso = sp_where_has(own, "dso") ? v.dso : NULL;
    v.focus = sp_where_has(own, "focus") ? v.focus : NULL;
    v.ignore = sp_where_has(own, "ignore") ? v.ignore : NULL;
    v.root_at = sp_where_has(own, "root-at") ? v.root_at : NULL;
    *narrowed = v.dso != asked->dso || v.focus != asked->focus || v.ignore != asked->ignore ||
                v.root_at != asked->root_at;
    if (!*narrowed)
        return SPAA_OK;
    spaa_status st = select_run(a, p, &v, out);
    *narrowed = !st;
    return st;
}

/* Where totals are bounds, once a side: runs of one side are alike in that. */
static void note_bounds(struct diff_answer *a, const struct sp_selection *s, unsigned side)
{
    if (a->bounds[side] || !sp_chains_tell(s))
        return;
    sp_bounds_report(s, a->q->diags);
    a->bounds[side] = true;
    a->missing[side] = s->chains->of > 0 ? (double)s->chains->broken / (double)s->chains->of : NAN;
}

/* Allocators that no run has are a slip. */
static spaa_status check_allocators(struct diff_answer *a, size_t i, const struct sp_selection *s)
{
    a->has_allocators = a->has_allocators || !s->lacks_allocators;
    return i + 1 == a->q->nnames && !a->has_allocators
               ? sp_select_no_allocators(s->profile, s->allocators, a->q->diags)
               : SPAA_OK;
}

static spaa_status add_run(struct diff_answer *a, size_t i, struct sp_profile *p, const struct sp_options *v)
{
    struct sp_selection s, whole;
    unsigned side = i < a->q->split ? SP_BASE : SP_NEW;
    bool narrowed = false, alone = a->q->split == 1 && a->q->nnames == 2;
    spaa_status st = select_run(a, p, v, &s);
    if (st)
        return st;
    st = select_whole(a, p, v, &a->where[side], &whole, &narrowed);
    if (!st)
        st = check_words(a, i, &s);
    if (!st)
        st = check_allocators(a, i, &s);
    if (!st && !check_rate(a, &s))
        st = sp_nomem(a->q->diags);
    if (!st)
        note_bounds(a, &s, side);
    if (!st)
        st = sp_diff_add(&a->d, side, &s, narrowed ? &whole : NULL, alone);
    if (!st && s.event != sp_wall_event(p))
        st = sp_diff_waits_add(a, side, &s, p);
    if (narrowed)
        sp_selection_free(&whole);
    sp_selection_free(&s);
    return st;
}

/* With the options of its side. */
static spaa_status take_run(struct diff_answer *a, size_t i)
{
    struct sp_ask *q = a->q;
    struct sp_options v = sp_where_values(&a->where[i < q->split ? SP_BASE : SP_NEW], q->options);
    struct sp_profile *p;
    spaa_status st = sp_diff_open(a, i, &v, &p);
    sp_diags_source(q->diags, q->names[i], NULL);
    if (!st)
        st = add_run(a, i, p, &v);
    sp_diags_source(q->diags, NULL, NULL);
    sp_diff_close(a, i, p);
    return st;
}

/* What is live in two files, which may be dumps of one process: their growth is another question. */
static bool two_dumps(const struct diff_answer *a)
{
    struct sp_str tool = a->words.tool;
    return a->d.memory && sp_diff_of_live(a) && a->q->nnames == 2 && !sp_str_is(tool, "heaptrack") &&
           !sp_str_is(tool, "valgrind") && !sp_str_is(tool, "lsan") && !a->q->options->wheres[SP_BASE].n &&
           !a->q->options->wheres[SP_NEW].n && a->d.side[SP_BASE].whole != a->d.side[SP_NEW].whole;
}

/* The function that changed, the drawing of both sides, and what the new one is. */
static void diff_next(const struct diff_answer *a)
{
    const struct sp_ask *q = a->q;
    const struct sp_options fresh = sp_where_values(&a->where[SP_NEW], q->options);
    const struct sp_diff_row *named[DIFF_NAMED];
    struct sp_buf b;
    sp_buf_init(&b, 0);
    if (two_dumps(a)) {
        sp_command_text(&b, &(struct sp_next){.question = "leaks"}, q->names, q->nnames, &fresh,
                        sp_next_groups("leaks"));
        sp_answer_next_command(a->out, "leaks", &b);
        sp_buf_clear(&b);
    }
    if (a->has_waits) {
        sp_command_text(&b, &(struct sp_next){.question = "waits"}, q->names + q->split, 1, &fresh,
                        sp_next_groups("waits"));
        sp_answer_next_command(a->out, "waits", &b);
        sp_buf_clear(&b);
    }
    if (sp_diff_named(a, named) && *named[0]->id && named[0]->side[SP_NEW].weight[SP_TOTAL]) {
        sp_command_text(&b, &(struct sp_next){.question = "function", .argument = named[0]->id},
                        q->names + q->nnames - 1, 1, &fresh, sp_next_groups("function"));
        sp_answer_next_command(a->out, "function", &b);
        sp_buf_clear(&b);
    }
    sp_command_text(&b, &(struct sp_next){.question = "flamegraph"}, q->names + q->split, 1, q->options,
                    sp_next_groups("flamegraph"));
    sp_buf_puts(&b, " --diff ");
    sp_shell_word(&b, q->names[0]);
    for (unsigned side = 0; side < SP_SIDES; side++)
        for (size_t k = 0; k < q->options->wheres[side].n; k++) {
            sp_buf_puts(&b, side == SP_BASE ? " --base-where " : " --new-where ");
            sp_shell_word(&b, q->options->wheres[side].v[k]);
        }
    sp_buf_puts(&b, " -o diff.svg");
    sp_answer_next_command(a->out, "flamegraph", &b);
    sp_buf_clear(&b);
    sp_command_text(&b, &(struct sp_next){.question = "top"}, q->names + q->split, 1, &fresh,
                    sp_next_groups("top"));
    sp_answer_next_command(a->out, "top", &b);
    sp_buf_free(&b);
}

/* People see one command beneath the tables, where something is to be looked at. */
static void diff_say_next(const struct diff_answer *a)
{
    const struct sp_next *next = a->out->next.n ? &a->out->next.v[0] : NULL;
    struct sp_buf b;
    if (!next || (strcmp(next->question, "function") != 0 && strcmp(next->question, "leaks") != 0 &&
                  strcmp(next->question, "waits") != 0))
        return;
    sp_buf_init(&b, 0);
    sp_buf_printf(&b, "next: %s", next->command);
    sp_answer_line_of(a->out, SP_LINE_COMMAND, &b);
    sp_buf_free(&b);
}

/* Where samples do not stand for the same time, what is said of their numbers is no answer. */
static void diff_doubt_whole(struct diff_answer *a)
{
    struct sp_buf b;
    if (!a->words.rates_differ)
        return;
    for (size_t i = 0; i < a->fail_on.limits.n; i++) {
        struct sp_limit *l = &a->fail_on.limits.v[i];
        l->verdict = l->points ? l->verdict : SP_LIMIT_UNSURE;
        if (!l->points && a->fail_on.verdict == SP_LIMIT_PASSED)
            a->fail_on.verdict = SP_LIMIT_UNSURE;
    }
    bool breach = false;
    for (size_t i = 0; i < a->fail_on.limits.n; i++)
        breach |= a->fail_on.limits.v[i].verdict == SP_LIMIT_BREACH;
    if (a->fail_on.verdict == SP_LIMIT_BREACH && !breach)
        a->fail_on.verdict = SP_LIMIT_UNSURE;
    sp_buf_init(&b, 0);
    sp_buf_printf(
        &b, "sampling differs (%.*s and %.*s samples a second): numbers of samples do not compare, shares do",
        (int)a->words.hz[SP_BASE].n, a->words.hz[SP_BASE].p, (int)a->words.hz[SP_NEW].n,
        a->words.hz[SP_NEW].p);
    if (a->q->brief)
        sp_answer_line_buf(a->out, &b);
    else
        sp_emit(a->q->diags, SP_W640, SP_AT_NOTHING, "%s", sp_buf_cstr(&b));
    sp_buf_free(&b);
}

static spaa_status diff_compare(struct diff_answer *a, const struct sp_diff_opts *how, double min_share)
{
    spaa_status st = sp_diff_idle_decide(a);
    for (size_t i = 0; !st && i < a->q->nnames; i++)
        st = take_run(a, i);
    if (!st)
        st = sp_diff_finish(&a->d, how);
    if (!st && !sp_diff_tell_apart(&a->d))
        st = sp_nomem(a->q->diags);
    if (!st)
        st = sp_limits_judge(&a->fail_on, &a->d, min_share);
    if (st)
        return st;
    a->words.scale = a->d.scale;
    sp_diff_waits_sort(a);
    diff_doubt_whole(a);
    sp_diff_limits_report(a);
    diff_next(a);
    if (a->q->brief) {
        sp_diff_put_people(a);
        diff_say_next(a);
    } else {
        sp_diff_put_facts(a);
        sp_diff_put_rows(a);
        sp_diff_put_waits(a);
    }
    a->out->verdict = a->fail_on.verdict == SP_LIMIT_BREACH   ? SP_VERDICT_NO
                      : a->fail_on.verdict == SP_LIMIT_UNSURE ? SP_VERDICT_UNSURE
                                                              : 0;
    return SPAA_OK;
}

static bool diff_share(const struct sp_ask *q, double *out)
{
    const char *s = q->options->min_share;
    *out = 5;
    if (s) {
        size_t n = strspn(s, "0123456789.");
        *out = n && !s[n] ? sp_text_double(s, n) : NAN;
    }
    if (*out >= 0 && *out <= 100)
        return true;
    sp_usage(q->diags, NULL, "--min-share needs a percentage from 0 to 100, not \"%s\"", s);
    return false;
}

/* N, or N,M: more than nothing. */
static bool diff_work(const struct sp_ask *q, double *out)
{
    const char *s = q->options->work;
    if (!s)
        return true;
    size_t n = strspn(s, "0123456789."), m = s[n] == ',' ? strspn(s + n + 1, "0123456789.") : 0;
    out[SP_BASE] = sp_text_double(s, n);
    out[SP_NEW] = m ? sp_text_double(s + n + 1, m) : out[SP_BASE];
    if (n && (m ? !s[n + 1 + m] : !s[n]) && out[SP_BASE] > 0 && out[SP_NEW] > 0)
        return true;
    sp_usage(q->diags, "--work 1000, or --work 1000,1200 for base and new",
             "--work needs one number above 0, or one a side, not \"%s\"", s);
    return false;
}

/* What the options say, before anything is read. */
static spaa_status diff_options(struct diff_answer *a, struct sp_diff_opts *how, double *min_share)
{
    static const char *const methods[] = {"auto", "repeats", "permutation", "blocks", "samples", NULL};
    static const enum sp_diff_method made[] = {SP_DIFF_NONE, SP_DIFF_REPEATS, SP_DIFF_PERMUTATION,
                                               SP_DIFF_TIME_BLOCKS, SP_DIFF_SAMPLES};
    const struct sp_options *v = a->q->options;
    struct sp_diags *d = a->q->diags;
    int method;
    if (!a->q->split || a->q->split >= a->q->nnames)
        return sp_usage(d, NULL, "diff needs a base and a new profile");
    if (!sp_option_sort(d, v->sort, &how->sort_total) ||
        !sp_option_choice(d, "method", v->method, methods, 0, &method) ||
        !sp_ask_limit(a->q, a->q->brief ? 8 : 22, &a->limit) || !diff_share(a->q, min_share) ||
        !diff_work(a->q, how->work))
        return SPAA_ERR_USAGE;
    how->method = made[method];
    a->compact = !v->limit && !a->q->sheet;
    spaa_status st = sp_diff_check_files(a->q);
    for (unsigned side = 0; !st && side < SP_SIDES; side++)
        st = sp_where_parse(v, side, d, &a->where[side]);
    how->windows = sp_where_has(&a->where[SP_BASE], "time") && sp_where_has(&a->where[SP_NEW], "time");
    if (!st && v->fail_on)
        st = sp_limits_parse(&a->fail_on, v->fail_on, d);
    return st;
}

static spaa_status diff_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct diff_answer a = {.q = q, .out = out};
    struct sp_diff_opts how = {0};
    double min_share = 0;
    spaa_status st = sp_diff_init(&a.d, q->diags);
    if (!st)
        st = diff_options(&a, &how, &min_share);
    for (size_t i = 0; !st && i < q->options->maps.n; i++)
        st = sp_diff_map(&a.d, q->options->maps.v[i]);
    if (!st)
        st = diff_compare(&a, &how, min_share / 100);
    sp_where_free(&a.where[SP_BASE]);
    sp_where_free(&a.where[SP_NEW]);
    sp_diff_free(&a.d);
    sp_diff_idle_free(&a);
    sp_vec_free(&a.waits);
    sp_map_free(&a.waits_map);
    sp_limits_free(&a.fail_on);
    return st;
}

static spaa_status diff_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    (void)o, (void)d;
    *out = (struct sp_needs){.no_ids = true, .fields = true};
    return SPAA_OK;
}

const struct sp_question sp_question_diff = {
    .name = "diff",
    .args = "BASE NEW | BASE… -- NEW…",
    .groups = G_READ | G_WAITS | G_EVENT | G_SELECT | G_TIME | G_DIFF | G_ROWS,
    .title = "what changed between two profiles, and is it real",
    .examples =
        "spaa diff base.spaa new.spaa\n"
        "spaa diff base.spaa --base-where comm=reader --new-where comm=writer # within one file\n"
        "spaa diff a1.spaa a2.spaa a3.spaa -- b1.spaa b2.spaa b3.spaa # repeats tell chance from change\n"
        "spaa diff a1.spaa a2.spaa a3.spaa -- b1.spaa b2.spaa b3.spaa --fail-on 'self>20pp' # a gate: exit 0 "
        "holds, 1 breached, 5 cannot tell",
    .sides = true,
    .json_bytes = 3000,
    .text_bytes = 1800,
    .schema = "spaa.diff/3",
    .facts = sp_diff_facts,
    .tables = sp_diff_tables,
    .needs = diff_needs,
    .ask = diff_ask,
};
