/* spaa flamegraph: the call tree as one SVG file. */
#include "cli.h"

#include "analysis/chains.h"
#include "answer/words.h"
#include "ask/selection_words.h"
#include "ask/where.h"
#include "output.h"

#include "model/callees.h"
#include "render/flamegraph.h"
#include "render/text.h"

#include <stdio.h>
#include <stdlib.h>

/* NAME.svg beside the working directory, from the input's name without its extensions. */
static void default_name(const struct cli *c, struct sp_buf *b)
{
    const char *path = c->files.v[0], *base = strrchr(path, '/');
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

static void subtitle(const struct cli *c, const struct sp_selection *s, struct sp_buf *b)
{
    const struct sp_profile *p = s->profile;
    struct sp_str event = sp_pstr(p, p->events.v[s->event].name),
                  metric = sp_pstr(p, p->metrics.v[s->metric].name);
    for (size_t i = 0; i < c->files.n && i < 3; i++)
        sp_buf_printf(b, "%s%s", i ? ", " : "", c->files.v[i]);
    if (c->files.n > 3)
        sp_buf_printf(b, " and %zu more", c->files.n - 3);
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
    sp_kept_text(b, s, " · ");
    if (sp_chains_tell(s)) {
        sp_buf_puts(b, " · ");
        sp_bounds_text(b, s);
    }
}

static bool pixels(struct cli *c, const char *name, const char *value, double lo, double hi, double otherwise,
                   double *out)
{
    char *end;
    *out = value ? strtod(value, &end) : otherwise;
    if (!value || (*value && !*end && *out >= lo && *out <= hi))
        return true;
    cli_usage(c, NULL, "--%s needs a number from %g to %g, not \"%s\"", name, lo, hi, value);
    return false;
}

static spaa_status cannot_add(struct cli *c)
{
    sp_emit_hint(&c->diags, SP_E036, SP_AT_NOTHING, "choose another with --metric",
                 "values of this metric must not be added, so they have no flame graph");
    return SPAA_ERR_USAGE;
}

/* The options of the base, and whether event and view are those of the new side where none are given. */
struct base_side {
    struct sp_options v;
    bool event, view;
};

/* The selection of the profile that is compared with, by its own options. */
static spaa_status base_select(struct cli *c, const struct sp_selection *fresh, const struct base_side *base,
                               struct sp_profile **profile, struct sp_selection *s)
{
    struct sp_read_opts opts;
    struct sp_profile *shown = c->profile;
    struct sp_str event = sp_pstr(shown, shown->events.v[fresh->event].name);
    spaa_status st = cli_read_opts(c, &opts) ? cli_read(c, c->v.diff, &opts, profile) : SPAA_ERR_USAGE;
    c->profile = *profile;
    if (!st)
        st = cli_regroup_labels(c);
    if (!st)
        st = sp_callees_split(*profile, &c->diags);
    if (!st)
        st = cli_tag_stacks(c);
    c->profile = shown;
    if (st)
        return st;
    if (!c->v.event && base->event && sp_event_find(*profile, event.p, event.n) != SP_NONE)
        c->v.event = event.p;
    if (!c->v.view && !c->v.state && base->view)
        c->v.view = fresh->view;
    sp_diags_source(&c->diags, c->v.diff, NULL);
    c->profile = *profile;
    st = cli_select(c, s);
    if (!st)
        sp_bounds_report(s, &c->diags);
    c->profile = shown;
    sp_diags_source(&c->diags, NULL, NULL);
    return st;
}

/* The call tree of a profile read for comparison; its selection and the profile are the caller's to free. */
static spaa_status base_tree(struct cli *c, const struct sp_selection *fresh, const struct sp_tree_opts *how,
                             const struct base_side *base, struct sp_profile **profile,
                             struct sp_selection *s, struct sp_tree *t)
{
    struct sp_options asked = c->v;
    c->v = base->v;
    spaa_status st = base_select(c, fresh, base, profile, s);
    c->v = asked;
    if (st)
        return st;
    st = s->cannot_add ? cannot_add(c) : sp_tree_build(s, how, &c->diags, t);
    if (st)
        sp_selection_free(s);
    return st;
}

/* The two trees as one, in place of the first. */
static spaa_status cmd_flamegraph_compare(struct cli *c, const struct sp_selection *s,
                                          const struct sp_tree_opts *how, const struct base_side *side,
                                          const struct sp_tree *t, struct sp_diff_tree *out)
{
    struct sp_profile *profile = NULL;
    struct sp_selection base;
    struct sp_tree base_t;
    spaa_status st = base_tree(c, s, how, side, &profile, &base, &base_t);
    if (!st) {
        st = sp_diff_tree_build(&base_t, base.scale, t, s->scale, &c->diags, out);
        sp_tree_free(&base_t);
        sp_selection_free(&base);
    }
    sp_profile_free(profile);
    return st;
}

static spaa_status write_svg(struct cli *c, const struct sp_selection *s, const struct sp_tree *t,
                             struct sp_flamegraph_opts *opts, const char *path)
{
    struct sp_buf words;
    struct sp_output *out = NULL;
    char unit[32];
    sp_buf_init(&words, 0);
    if (c->v.diff)
        sp_buf_printf(&words, "against %s · ", c->v.diff);
    subtitle(c, s, &words);
    snprintf(unit, sizeof unit, "%.*s", (int)s->unit.n, s->unit.p);
    struct sp_str metric = sp_pstr(s->profile, s->profile->metrics.v[s->metric].name);
    opts->unit = *unit ? unit : metric.p;
    opts->subtitle = sp_buf_cstr(&words);
    opts->scale = s->scale;
    spaa_status st = cli_output_open(c, path, &out);
    if (!st)
        st = sp_flamegraph_svg(t, opts, &c->diags, out);
    if (!st)
        st = sp_output_commit(out);
    cli_output_close(out);
    sp_buf_free(&words);
    return st;
}

static spaa_status cmd_flamegraph_draw(struct cli *c, struct sp_selection *s, const struct base_side *base,
                                       const char *path, double width, double min_width, uint32_t *frames)
{
    struct sp_tree t;
    struct sp_diff_tree both;
    struct sp_tree_opts how = {.inverted = c->v.inverted != NULL,
                               .by_comm = !c->v.inverted,
                               .sort = SP_TREE_BY_NAME,
                               .positive = true};
    struct sp_flamegraph_opts opts = {.title = c->v.title  ? c->v.title
                                               : c->v.diff ? "What changed"
                                                           : NULL,
                                      .inverted = c->v.inverted != NULL,
                                      .width = (unsigned)width,
                                      .min_width = min_width};
    spaa_status st = sp_tree_build(s, &how, &c->diags, &t);
    if (st)
        return st;
    *frames = (uint32_t)t.nodes.n - 1;
    if (!c->v.diff) {
        st = write_svg(c, s, &t, &opts, path);
    } else if (!(st = cmd_flamegraph_compare(c, s, &how, base, &t, &both))) {
        *frames = (uint32_t)both.tree.nodes.n - 1;
        opts.diff = &both;
        st = write_svg(c, s, &both.tree, &opts, path);
        sp_diff_tree_free(&both);
    }
    sp_tree_free(&t);
    return st;
}

/* The picture of c's options, which are the new side's; base: what it is compared with. */
static int flamegraph(struct cli *c, const struct base_side *base, double width, double min_width)
{
    struct sp_selection s;
    struct sp_buf name;
    uint32_t frames = 0;
    c->no_ids = true;
    int rc = cli_open_default(c);
    if (rc)
        return rc;
    spaa_status st = cli_select(c, &s);
    if (st)
        return cli_exit_of(st);
    if (s.cannot_add) {
        sp_selection_free(&s);
        return cli_exit_of(cannot_add(c));
    }
    sp_bounds_report(&s, &c->diags);
    sp_buf_init(&name, 4096);
    if (c->v.output)
        sp_buf_puts(&name, c->v.output);
    else
        default_name(c, &name);
    st = cmd_flamegraph_draw(c, &s, base, sp_buf_cstr(&name), width, min_width, &frames);
    if (!st && !c->v.quiet && strcmp(sp_buf_cstr(&name), "-") != 0) {
        struct sp_buf shown;
        sp_buf_init(&shown, 0);
        sp_text_safe(&shown, name.data, name.len);
        fprintf(stderr, "spaa: wrote %s (%u frames); open it in a browser\n", sp_buf_cstr(&shown), frames);
        sp_buf_free(&shown);
    }
    sp_buf_free(&name);
    sp_selection_free(&s);
    return cli_exit_of(st);
}

/* Filters of one side alone are of a comparison: of two files, or within one. */
static int cmd_flamegraph_sides(struct cli *c, struct sp_side_where where[2])
{
    for (unsigned side = 0; side < 2; side++) {
        int rc = cli_exit_of(sp_where_parse(&c->v, side, &c->diags, &where[side]));
        if (rc)
            return rc;
    }
    if (c->v.diff || (!where[0].filters.n && !where[1].filters.n))
        return EXIT_FINE;
    if (c->files.n != 1 || strcmp(c->files.v[0], "-") == 0)
        return cli_usage(c, NULL,
                         "--base-where and --new-where compare one FILE with itself, or with --diff BASE");
    c->v.diff = c->files.v[0];
    return EXIT_FINE;
}

static bool cmd_flamegraph_of_one_side(const struct sp_side_where where[2], const char *name)
{
    return sp_where_has(&where[0], name) || sp_where_has(&where[1], name);
}

int sp_cmd_flamegraph(struct cli *c)
{
    double width, min_width;
    struct sp_side_where where[2] = {{{0}}, {{0}}};
    if (!pixels(c, "width", c->v.width, 300, 20000, 0, &width) ||
        !pixels(c, "min-width", c->v.min_width, 0.001, 100, 0, &min_width))
        return EXIT_USAGE;
    int rc = cmd_flamegraph_sides(c, where);
    if (!rc) {
        struct base_side base = {
            sp_where_values(&where[0], &c->v), !cmd_flamegraph_of_one_side(where, "event"),
            !cmd_flamegraph_of_one_side(where, "view") && !cmd_flamegraph_of_one_side(where, "state")};
        c->v = sp_where_values(&where[1], &c->v);
        rc = flamegraph(c, &base, width, min_width);
    }
    sp_where_free(&where[0]);
    sp_where_free(&where[1]);
    return rc;
}
