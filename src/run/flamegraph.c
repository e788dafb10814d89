/* spaa flamegraph: the call tree as one SVG file. */
#include "run/flamegraph_states.h"

#include "analysis/chains.h"
#include "analysis/redact.h"
#include "answer/words.h"
#include "ask/selection_words.h"
#include "ask/where.h"

#include "answer/text.h"
#include "model/callees.h"
#include "model/merge.h"
#include "render/flamegraph.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* NAME.svg beside the working directory, from the input's name without its extensions. */
static void default_name(const struct sp_run *run, struct sp_buf *b)
{
    const char *path = run->files.v[0], *base = strrchr(path, '/');
    base = strcmp(path, "-") == 0 ? "flamegraph" : base ? base + 1 : path;
    static const char *const ends[] = {".zst", ".gz", ".data", ".spaa", ".folded", ".txt", ".script"};
    size_t n = strlen(base);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t en = strlen(ends[i]);
        if (n > en && memcmp(base + n - en, ends[i], en) == 0)
            n -= en;
    }
    sp_buf_add(b, base, n);
    sp_buf_puts(b, ".svg");
}

/* What stands under a name that nobody gave is only replaced where it is a drawing of ours. */
static spaa_status may_be_written(struct sp_run *run, const char *path)
{
    static const char ours[] = "id=\"sp-flame\"";
    char head[256];
    FILE *f = fopen(path, "rbe");
    size_t n = f ? fread(head, 1, sizeof head, f) : 0;
    bool there = f || access(path, F_OK) == 0;
    if (f)
        fclose(f);
    if (!there || memmem(head, n, ours, sizeof ours - 1))
        return SPAA_OK;
    return sp_usage(run->diags, "-o FILE names the drawing's file, whatever it is now",
                    "%s is there and is no flame graph of spaa", path);
}

static void subtitle(const struct sp_run *run, const struct sp_selection *s, struct sp_buf *b)
{
    const struct sp_profile *p = s->profile;
    struct sp_str event = sp_pstr(p, p->events.v[s->event].name),
                  metric = sp_pstr(p, p->metrics.v[s->metric].name);
    for (size_t i = 0; !run->v.redact && i < run->files.n && i < 3; i++)
        sp_buf_printf(b, "%s%s", i ? ", " : "", run->files.v[i]);
    if (run->v.redact)
        sp_buf_puts(b, "redacted");
    else if (run->files.n > 3)
        sp_buf_printf(b, " and %zu more", run->files.n - 3);
    sp_buf_puts(b, " · event ");
    sp_buf_add(b, event.p, event.n);
    sp_buf_puts(b, " · ");
    sp_buf_add(b, metric.p, metric.n);
    sp_buf_ch(b, ' ');
    sp_text_weight(b, s->unit, s->scale, s->kept);
    if (s->samples != SP_ABSENT) {
        sp_buf_puts(b, " · ");
        sp_text_grouped(b, s->samples, 0);
        sp_buf_puts(b, " samples");
    }
    sp_owner_text(b, s, " · ");
    sp_kept_text(b, s, " · ");
    if (sp_chains_tell(s)) {
        sp_buf_puts(b, " · ");
        sp_bounds_text(b, s);
    }
}

static bool pixels(struct sp_run *run, const char *name, const char *value, double lo, double hi,
                   double otherwise, double *out)
{
    char *end;
    *out = value ? strtod(value, &end) : otherwise;
    if (!value || (*value && !*end && *out >= lo && *out <= hi))
        return true;
    sp_run_usage(run, NULL, "--%s needs a number from %g to %g, not \"%s\"", name, lo, hi, value);
    return false;
}

static spaa_status cannot_add(struct sp_run *run)
{
    sp_emit_hint(run->diags, SP_E036, SP_AT_NOTHING, "choose another with --metric",
                 "values of this metric must not be added, so they have no flame graph");
    return SPAA_ERR_USAGE;
}

/* The options of the base, and whether event and view are those of the new side where none are given. */
struct base_side {
    struct sp_options v;
    bool event, view;
    const struct sp_run_given *given; /* NULL: it is the file --diff */
};

/* Before names are put together to what is drawn. */
static spaa_status redacted(struct sp_run *run)
{
    return run->v.redact
               ? sp_redact_profile(run->profile, run->v.redact, getenv("SPAA_REDACT_KEY"), run->diags)
               : SPAA_OK;
}

/* A filter that names what is hashed by then. */
static bool filters_names(const struct sp_options *v)
{
    return v->thread || v->comm || v->dso || v->focus || v->ignore || v->hide || v->root_at || v->label ||
           v->tagroot || v->tagleaf;
}

/* The profile that is compared with, by its own options: of a file, or a copy of one that is there. */
static spaa_status base_profile(struct sp_run *run, const struct sp_run_given *given,
                                struct sp_profile **profile)
{
    const struct sp_merge_opts how = {.frames = SP_FRAMES_ADDRESS, .group_by = ~0u, .samples = true};
    struct sp_read_opts opts;
    spaa_status st = sp_run_read_opts(run, &opts);
    if (!st && given)
        st = sp_run_join(given, 1, &how, run->diags, profile);
    else if (!st)
        st = sp_run_read(run, run->v.diff, &opts, profile);
    if (!st && given)
        st = sp_callees_join(*profile);
    run->profile = *profile;
    if (!st)
        st = given ? sp_run_regroup(run) : sp_run_regroup_labels(run);
    if (!st)
        st = sp_run_add_wall(run);
    if (!st)
        st = sp_callees_split(*profile, run->diags);
    if (!st)
        st = sp_run_tag_stacks(run);
    return st ? st : redacted(run);
}

/* The selection of the profile that is compared with, by its own options. */
static spaa_status base_select(struct sp_run *run, const struct sp_selection *fresh,
                               const struct base_side *base, struct sp_profile **profile,
                               struct sp_selection *s)
{
    struct sp_profile *shown = run->profile;
    struct sp_str event = sp_pstr(shown, shown->events.v[fresh->event].name);
    spaa_status st = base_profile(run, base->given, profile);
    run->profile = shown;
    if (st)
        return st;
    if (!run->v.event && base->event && sp_event_find(*profile, event.p, event.n) != SP_NONE)
        run->v.event = event.p;
    if (!run->v.view && !run->v.state && base->view)
        run->v.view = fresh->view;
    sp_diags_source(run->diags, run->v.diff, NULL);
    run->profile = *profile;
    st = sp_run_select(run, s);
    if (!st) {
        sp_bounds_report(s, run->diags);
        st = sp_flame_drop_idle(run, s);
        if (st)
            sp_selection_free(s);
    }
    run->profile = shown;
    sp_diags_source(run->diags, NULL, NULL);
    return st;
}

/* The call tree of a profile read for comparison; its selection and the profile are the caller's to free. */
static spaa_status base_tree(struct sp_run *run, const struct sp_selection *fresh,
                             const struct sp_tree_opts *how, const struct base_side *base,
                             struct sp_profile **profile, struct sp_selection *s, struct sp_tree *t)
{
    struct sp_options asked = run->v;
    run->v = base->v;
    spaa_status st = base_select(run, fresh, base, profile, s);
    run->v = asked;
    if (st)
        return st;
    st = s->cannot_add ? cannot_add(run) : sp_tree_build(s, how, run->diags, t);
    if (st)
        sp_selection_free(s);
    return st;
}

/* The two trees as one, in place of the first. */
static spaa_status cmd_flamegraph_compare(struct sp_run *run, const struct sp_selection *s,
                                          const struct sp_tree_opts *how, const struct base_side *side,
                                          const struct sp_tree *t, struct sp_diff_tree *out)
{
    struct sp_profile *profile = NULL;
    struct sp_selection base;
    struct sp_tree base_t;
    spaa_status st = base_tree(run, s, how, side, &profile, &base, &base_t);
    if (!st) {
        st = sp_diff_tree_build(&base_t, base.scale, t, s->scale, run->diags, out);
        sp_tree_free(&base_t);
        sp_selection_free(&base);
    }
    sp_profile_free(profile);
    return st;
}

static spaa_status write_svg(struct sp_run *run, const struct sp_selection *s, const struct sp_tree *t,
                             struct sp_flamegraph_opts *opts, const char *path)
{
    struct sp_buf words;
    struct sp_output *out = NULL;
    char unit[32];
    sp_buf_init(&words, 0);
    if (run->v.diff && !run->v.redact)
        sp_buf_printf(&words, "against %s · ", run->v.diff);
    subtitle(run, s, &words);
    snprintf(unit, sizeof unit, "%.*s", (int)s->unit.n, s->unit.p);
    struct sp_str metric = sp_pstr(s->profile, s->profile->metrics.v[s->metric].name);
    opts->unit = *unit ? unit : metric.p;
    opts->subtitle = sp_buf_cstr(&words);
    opts->scale = s->scale;
    spaa_status st = words.failed ? sp_nomem(run->diags) : sp_run_output_open(run, path, &out);
    if (!st)
        st = sp_flamegraph_svg(t, opts, run->diags, out);
    if (!st)
        st = sp_output_commit(out);
    sp_run_output_close(run, out);
    sp_buf_free(&words);
    return st;
}

/* The drawing by states, where there are any. */
static spaa_status write_states(struct sp_run *run, struct sp_selection *s, const struct sp_tree_opts *how,
                                const struct sp_flame_states *x, const struct sp_tree *t,
                                struct sp_flamegraph_opts *opts, const char *path)
{
    struct sp_tree_states states;
    spaa_status st = sp_tree_states_of(s, x->classes, how, t, run->diags, &states);
    if (st)
        return st;
    opts->states = states.some || x->idle ? &states : NULL;
    opts->idle = x->idle;
    opts->running = sp_flame_states_running(s);
    st = write_svg(run, s, t, opts, path);
    sp_tree_states_free(&states);
    return st;
}

static spaa_status cmd_flamegraph_draw(struct sp_run *run, struct sp_selection *s,
                                       const struct sp_flame_states *states, const struct base_side *base,
                                       const char *path, double width, double min_width,
                                       struct sp_flamegraph_drawn *drawn)
{
    struct sp_tree t;
    struct sp_diff_tree both;
    struct sp_tree_opts how = {.inverted = run->v.inverted != NULL,
                               .by_comm = !run->v.inverted,
                               .sort = SP_TREE_BY_NAME,
                               .positive = true};
    struct sp_flamegraph_opts opts = {.title = run->v.title  ? run->v.title
                                               : run->v.diff ? "What changed"
                                                             : sp_flame_states_title(s),
                                      .inverted = run->v.inverted != NULL,
                                      .width = (unsigned)width,
                                      .min_width = min_width,
                                      .drawn = drawn};
    spaa_status st = sp_tree_build(s, &how, run->diags, &t);
    if (st)
        return st;
    if (!run->v.diff) {
        st = write_states(run, s, &how, states, &t, &opts, path);
    } else if (!(st = cmd_flamegraph_compare(run, s, &how, base, &t, &both))) {
        opts.diff = &both;
        st = write_svg(run, s, &both.tree, &opts, path);
        sp_diff_tree_free(&both);
    }
    sp_tree_free(&t);
    return st;
}

static char *flamegraph_copy(struct sp_buf *b)
{
    const char *text = sp_buf_cstr(b);
    char *copy = b->failed ? NULL : malloc(b->len + 1);
    return copy ? memcpy(copy, text, b->len + 1) : NULL;
}

/* The picture of c's options, which are the new side's; base: what it is compared with. */
static int flamegraph(struct sp_run *run, const struct base_side *base, double width, double min_width)
{
    struct sp_selection s;
    struct sp_flame_states states;
    struct sp_buf name;
    struct sp_flamegraph_drawn drawn = {0};
    run->needs.no_ids = true;
    int rc = sp_run_open(run);
    if (rc)
        return rc;
    sp_flame_states_event(run);
    spaa_status st = redacted(run);
    if (!st)
        st = sp_run_select(run, &s);
    if (st)
        return sp_run_exit(run, st);
    if (s.cannot_add) {
        sp_selection_free(&s);
        return sp_run_exit(run, cannot_add(run));
    }
    sp_bounds_report(&s, run->diags);
    sp_buf_init(&name, 4096);
    st = sp_flame_states_of(run, &s, &states);
    if (run->v.output) {
        sp_buf_puts(&name, run->v.output);
    } else {
        default_name(run, &name);
        st = st ? st : may_be_written(run, sp_buf_cstr(&name));
    }
    if (!st)
        st = cmd_flamegraph_draw(run, &s, &states, base, sp_buf_cstr(&name), width, min_width, &drawn);
    if (!st) {
        run->frames = drawn.frames;
        run->left_out = drawn.left_out;
    }
    if (!st && strcmp(sp_buf_cstr(&name), "-") != 0 && !(run->written = flamegraph_copy(&name)))
        st = sp_nomem(run->diags);
    sp_buf_free(&name);
    free(states.classes);
    sp_selection_free(&s);
    return sp_run_exit(run, st);
}

/* Filters of one side alone are of a comparison: of two files, or within one. */
static int cmd_flamegraph_sides(struct sp_run *run, struct sp_side_where where[2])
{
    for (unsigned side = 0; side < 2; side++) {
        int rc = sp_run_exit(run, sp_where_parse(&run->v, side, run->diags, &where[side]));
        if (rc)
            return rc;
    }
    if (run->has_split && run->ngiven == 2) { /* profiles: the base, and what is drawn */
        run->v.diff = run->given[0].name;
        return SP_EXIT_FINE;
    }
    if (run->v.diff || (!where[0].filters.n && !where[1].filters.n))
        return SP_EXIT_FINE;
    if (run->files.n != 1 || strcmp(run->files.v[0], "-") == 0)
        return sp_run_usage(run, NULL,
                            "--base-where and --new-where compare one FILE with itself, or with --diff BASE");
    run->v.diff = run->files.v[0];
    return SP_EXIT_FINE;
}

static bool cmd_flamegraph_of_one_side(const struct sp_side_where where[2], const char *name)
{
    return sp_where_has(&where[0], name) || sp_where_has(&where[1], name);
}

/* Of profiles that are there: the one that is compared with, which is not drawn. */
static const struct sp_run_given *take_base(struct sp_run *run, bool compared)
{
    const struct sp_run_given *base = run->given;
    if (!run->ngiven || !compared)
        return NULL;
    if (run->has_split) {
        run->given++;
        run->ngiven--;
        run->files.n--;
        memmove(run->files.v, run->files.v + 1, run->files.n * sizeof *run->files.v);
    }
    return base;
}

int sp_cmd_flamegraph(struct sp_run *run)
{
    double width, min_width;
    struct sp_side_where where[2] = {{{0}}, {{0}}};
    if (!pixels(run, "width", run->v.width, 300, 20000, 0, &width) ||
        !pixels(run, "min-width", run->v.min_width, 0.001, 100, 0, &min_width))
        return SP_EXIT_USAGE;
    if (run->v.redact && (filters_names(&run->v) || run->v.wheres[0].n || run->v.wheres[1].n))
        return sp_run_usage(run, "`spaa convert IN --redact RULES` with the filters, then draw its output",
                            "--redact hashes the names that filters go by");
    bool named = run->v.diff != NULL;
    int rc = cmd_flamegraph_sides(run, where);
    if (!rc) {
        const struct sp_run_given *given = take_base(run, run->v.diff && !named);
        struct base_side base = {
            sp_where_values(&where[0], &run->v), !cmd_flamegraph_of_one_side(where, "event"),
            !cmd_flamegraph_of_one_side(where, "view") && !cmd_flamegraph_of_one_side(where, "state"), given};
        run->v = sp_where_values(&where[1], &run->v);
        rc = flamegraph(run, &base, width, min_width);
    }
    sp_where_free(&where[0]);
    sp_where_free(&where[1]);
    return rc;
}
