/* spaa diff: what changed between two profiles, or two sets of them, and is it real. */
#include "diff.h"

#include "base/num.h"
#include "model/callees.h"

#include <math.h>

/* The files of a side: those before `--`, or the first of two. */
static int cmd_diff_sides(struct cli *c)
{
    if (!c->has_split) {
        bool filtered = c->v.base_where || c->v.new_where, alone = filtered && c->files.n == 1;
        if (alone && strcmp(c->files.v[0], "-") == 0)
            return cli_usage(c, "write it to a file first",
                             "both sides are of standard input, which is read once");
        if (alone && !sp_vec_push(&c->files, c->files.v[0]))
            return cli_exit_of(sp_nomem(&c->diags));
        if (c->files.n != 2)
            return cli_usage(
                c,
                c->files.n == 1 ? "spaa diff BASE NEW; within one file, spaa diff FILE --base-where "
                                  "comm=A --new-where comm=B"
                                : "spaa diff BASE NEW, or with repeats spaa diff BASE… -- NEW…",
                "diff needs two profiles, or -- between the two lists; there are %zu", c->files.n);
        c->split = 1;
    }
    if (!c->split || c->split == c->files.n)
        return cli_usage(c, "spaa diff BASE… -- NEW…", "there is no profile %s --",
                         c->split ? "after" : "before");
    return EXIT_FINE;
}

static bool cmd_diff_keep(struct diff_answer *a, struct sp_str *to, struct sp_str s)
{
    uint32_t n = sp_intern(&a->d.strs, s.p ? s.p : "", s.n);
    *to = n == SP_STR_FAIL ? (struct sp_str){"", 0} : sp_str_at(&a->d.strs, n);
    return n != SP_STR_FAIL;
}

static bool cmd_diff_same(struct sp_str a, struct sp_str b)
{
    return sp_str_cmp(a, b) == 0;
}

static void cmd_diff_differs(struct diff_answer *a, const char *file, const char *what, struct sp_str base,
                             struct sp_str other)
{
    if (!cmd_diff_same(base, other))
        sp_emit(&a->c->diags, SP_W640, SP_AT_NOTHING, "%s: %s \"%.*s\", where the first profile has \"%.*s\"",
                file, what, (int)other.n, other.p, (int)base.n, base.p);
}

/* A filter that one side has, and the other has not or has another of. */
static bool cmd_diff_of_one_side(const struct diff_answer *a, const char *name)
{
    return cli_where_has(&a->where[SP_BASE], name) || cli_where_has(&a->where[SP_NEW], name);
}

/* What the first run measured, and whether a later one measured the same. */
static spaa_status check_words(struct diff_answer *a, size_t i, const struct sp_selection *s)
{
    const struct sp_profile *p = s->profile;
    const char *file = a->c->files.v[i];
    struct diff_words *k = &a->words;
    struct diff_side_words w = {sp_pstr(p, p->events.v[s->event].name),
                                sp_pstr(p, p->metrics.v[s->metric].name),
                                {s->filters.data, (uint32_t)s->filters.len},
                                s->view};
    if (i) {
        if (!cmd_diff_of_one_side(a, "event"))
            cmd_diff_differs(a, file, "event", k->side[SP_BASE].event, w.event);
        if (!cmd_diff_of_one_side(a, "metric"))
            cmd_diff_differs(a, file, "metric", k->side[SP_BASE].metric, w.metric);
        cmd_diff_differs(a, file, "unit", k->unit, s->unit);
    } else if (!cmd_diff_keep(a, &k->tool, sp_pstr(p, p->header.source_tool)) ||
               !cmd_diff_keep(a, &k->unit, s->unit)) {
        return sp_nomem(&a->c->diags);
    }
    if (i && i != a->c->split)
        return SPAA_OK;
    struct diff_side_words *side = &k->side[i ? SP_NEW : SP_BASE];
    side->view = w.view;
    return cmd_diff_keep(a, &side->event, w.event) && cmd_diff_keep(a, &side->metric, w.metric) &&
                   cmd_diff_keep(a, &side->filters, w.filters)
               ? SPAA_OK
               : sp_nomem(&a->c->diags);
}

/* The event of the first run where this one has it, and its view; its own default else. */
static spaa_status select_run(struct diff_answer *a, struct sp_selection *out)
{
    struct cli *c = a->c;
    const char *asked = c->v.event, *view = c->v.view;
    struct sp_str event = a->words.side[SP_BASE].event;
    if (!view && !c->v.state && !cmd_diff_of_one_side(a, "view") && !cmd_diff_of_one_side(a, "state"))
        c->v.view = a->words.side[SP_BASE].view;
    if (!asked && event.n && !cmd_diff_of_one_side(a, "event") &&
        sp_event_find(c->profile, event.p, event.n) != SP_NONE)
        c->v.event = event.p;
    spaa_status st = cli_select(c, out);
    c->v.event = asked;
    c->v.view = view;
    return st;
}

/*
 * The same without the filters that look at frames, which only choose rows: shares are of what they leave,
 * too. A filter of one side alone says what that side is, and its shares are of that.
 */
static spaa_status select_whole(struct diff_answer *a, const struct cli_where *own, struct sp_selection *out,
                                bool *narrowed)
{
    struct sp_options asked = a->c->v, *v = &a->c->v;
    v->dso = cli_where_has(own, "dso") ? v->dso : NULL;
    v->focus = cli_where_has(own, "focus") ? v->focus : NULL;
    v->ignore = cli_where_has(own, "ignore") ? v->ignore : NULL;
    v->root_at = cli_where_has(own, "root-at") ? v->root_at : NULL;
    *narrowed = v->dso != asked.dso || v->focus != asked.focus || v->ignore != asked.ignore ||
                v->root_at != asked.root_at;
    if (!*narrowed)
        return SPAA_OK;
    spaa_status st = select_run(a, out);
    *v = asked;
    return st;
}

/* Options of one input's format may not fit the others. */
static void note_format(struct cli *c)
{
    struct sp_formats *f = &c->formats;
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i] == c->input)
            return;
    if (f->n < sizeof f->v / sizeof *f->v)
        f->v[f->n++] = c->input;
}

/* Where totals are bounds, once a side: runs of one side are alike in that. */
static bool say_bounds(const struct diff_answer *a, const struct sp_selection *s, unsigned side)
{
    if (!a->bounds[side])
        bounds_diag(a->c, s);
    return a->bounds[side] || sp_chains_tell(s);
}

/* With the options of its side. */
static spaa_status take_run(struct diff_answer *a, size_t i)
{
    struct cli *c = a->c;
    struct sp_read_opts opts;
    struct sp_selection s, whole;
    unsigned side = i < c->split ? SP_BASE : SP_NEW;
    bool narrowed = false, alone = c->split == 1 && c->files.n == 2;
    if (!cli_read_opts(c, &opts))
        return SPAA_ERR_USAGE;
    opts.samples = opts.samples || alone;
    opts.no_ids = true;
    c->input = NULL;
    spaa_status st = cli_read(c, c->files.v[i], &opts, &c->profile);
    if (st)
        return st;
    note_format(c);
    sp_diags_source(&c->diags, c->files.v[i], NULL);
    st = cli_regroup(c);
    if (!st)
        st = sp_callees_split(c->profile, &c->diags);
    if (!st)
        st = cli_tag_stacks(c);
    if (!st)
        st = select_run(a, &s);
    if (!st) {
        st = select_whole(a, &a->where[side], &whole, &narrowed);
        if (!st)
            st = check_words(a, i, &s);
        if (!st)
            a->bounds[side] = say_bounds(a, &s, side);
        if (!st)
            st = sp_diff_add(&a->d, side, &s, narrowed ? &whole : NULL, alone);
        if (narrowed)
            sp_selection_free(&whole);
        sp_selection_free(&s);
    }
    sp_diags_source(&c->diags, NULL, NULL);
    sp_profile_free(c->profile);
    c->profile = NULL;
    return st;
}

static int cmd_diff_compare(struct diff_answer *a, const struct sp_diff_opts *how, double min_share)
{
    struct cli *c = a->c;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < c->files.n; i++) {
        struct sp_options asked = c->v;
        c->v = cli_where_values(&a->where[i < c->split ? SP_BASE : SP_NEW], &asked);
        st = take_run(a, i);
        c->v = asked;
    }
    if (!st)
        st = sp_diff_finish(&a->d, how);
    if (!st)
        st = sp_limits_judge(&a->fail_on, &a->d, min_share);
    if (st)
        return cli_exit_of(st);
    a->words.scale = a->d.scale;
    diff_limits_warn(a);
    int rc = cli_check_own(c, NULL);
    if (!rc)
        rc = cli_stdout(c);
    if (!rc)
        rc = c->format == FORMAT_JSON ? diff_answer_json(a) : diff_answer_text(a);
    return rc                                      ? rc
           : a->fail_on.verdict == SP_LIMIT_BREACH ? EXIT_NO
           : a->fail_on.verdict == SP_LIMIT_UNSURE ? EXIT_UNSURE
                                                   : EXIT_FINE;
}

static bool cmd_diff_share(struct cli *c, double *out)
{
    const char *s = c->v.min_share;
    *out = 5;
    if (s) {
        size_t n = strspn(s, "0123456789.");
        *out = n && !s[n] ? sp_text_double(s, n) : NAN;
    }
    if (*out >= 0 && *out <= 100)
        return true;
    cli_usage(c, NULL, "--min-share needs a percentage from 0 to 100, not \"%s\"", s);
    return false;
}

/* N, or N,M: more than nothing. */
static bool cmd_diff_work(struct cli *c, double *out)
{
    const char *s = c->v.work;
    if (!s)
        return true;
    size_t n = strspn(s, "0123456789."), m = s[n] == ',' ? strspn(s + n + 1, "0123456789.") : 0;
    out[SP_BASE] = sp_text_double(s, n);
    out[SP_NEW] = m ? sp_text_double(s + n + 1, m) : out[SP_BASE];
    if (n && (m ? !s[n + 1 + m] : !s[n]) && out[SP_BASE] > 0 && out[SP_NEW] > 0)
        return true;
    cli_usage(c, "--work 1000, or --work 1000,1200 for base and new",
              "--work needs one number above 0, or one a side, not \"%s\"", s);
    return false;
}

int sp_cmd_diff(struct cli *c)
{
    static const char *const methods[] = {"auto", "repeats", "permutation", "blocks", "samples", NULL};
    static const enum sp_diff_method made[] = {SP_DIFF_NONE, SP_DIFF_REPEATS, SP_DIFF_PERMUTATION,
                                               SP_DIFF_TIME_BLOCKS, SP_DIFF_SAMPLES};
    struct diff_answer a = {.c = c};
    struct sp_diff_opts how = {0};
    int method;
    bool by_total;
    double min_share;
    if (!cli_sort(c, &by_total) || !cli_choice(c, "method", c->v.method, methods, 0, &method) ||
        !answer_limit(c, 22, &a.limit) || !cmd_diff_share(c, &min_share) || !cmd_diff_work(c, how.work) ||
        cmd_diff_sides(c))
        return EXIT_USAGE;
    how.method = made[method];
    how.sort_total = by_total;
    for (unsigned side = 0; side < SP_SIDES; side++)
        if (cli_where_parse(c, side, &a.where[side])) {
            cli_where_free(&a.where[SP_BASE]);
            cli_where_free(&a.where[SP_NEW]);
            return EXIT_USAGE;
        }
    spaa_status st = c->v.fail_on ? sp_limits_parse(&a.fail_on, c->v.fail_on, &c->diags) : SPAA_OK;
    int rc = cli_exit_of(st);
    if (!st && sp_diff_init(&a.d, &c->diags))
        rc = EXIT_IO;
    for (size_t i = 0; !rc && i < c->v.maps.n; i++)
        rc = cli_exit_of(sp_diff_map(&a.d, c->v.maps.v[i]));
    if (!rc)
        rc = cmd_diff_compare(&a, &how, min_share / 100);
    cli_where_free(&a.where[SP_BASE]);
    cli_where_free(&a.where[SP_NEW]);
    sp_diff_free(&a.d);
    sp_limits_free(&a.fail_on);
    return rc;
}
