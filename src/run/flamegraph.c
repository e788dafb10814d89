/* spaa flamegraph: the call tree as one SVG file. */
#include "run/flamegraph_base.h"
#include "run/flamegraph_states.h"
#include "run/heading.h"

#include "analysis/chains.h"
#include "analysis/time_order.h"
#include "answer/words.h"
#include "ask/selection_words.h"
#include "ask/where.h"

#include "answer/text.h"
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

/* A filter that names what is hashed by then. */
static bool filters_names(const struct sp_options *v)
{
    return v->thread || v->comm || v->dso || v->focus || v->ignore || v->hide || v->root_at || v->label ||
           v->tagroot || v->tagleaf;
}

/* opts, here and below: a copy, for each step adds what lives no longer than it. */
static spaa_status write_svg(struct sp_run *run, const struct sp_selection *s, const struct sp_tree *t,
                             struct sp_flamegraph_opts opts, const char *path)
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
    opts.unit = *unit ? unit : metric.p;
    opts.subtitle = sp_buf_cstr(&words);
    opts.scale = s->scale;
    spaa_status st = words.failed ? sp_nomem(run->diags) : sp_run_output_open(run, path, &out);
    if (!st)
        st = sp_flamegraph_svg(t, &opts, run->diags, out);
    if (!st)
        st = sp_output_commit(out);
    sp_run_output_close(run, out);
    sp_buf_free(&words);
    return st;
}

/* The drawing by states, where there are any. */
static spaa_status write_states(struct sp_run *run, struct sp_selection *s, const struct sp_tree_opts *how,
                                const struct sp_flame_states *x, const struct sp_tree *t,
                                struct sp_flamegraph_opts opts, const char *path)
{
    struct sp_tree_states states;
    spaa_status st = sp_tree_states_of(s, x->classes, how, t, run->diags, &states);
    if (st)
        return st;
    opts.states = states.some || x->idle ? &states : NULL;
    opts.idle = x->idle;
    opts.running = sp_flame_states_running(s);
    st = write_svg(run, s, t, opts, path);
    sp_tree_states_free(&states);
    return st;
}

/* What is narrower than a twentieth of a pixel on a wide screen is not worth its memory. */
#define TIME_ORDER_PARTS 50000

static spaa_status cmd_flamegraph_draw_in_time(struct sp_run *run, struct sp_selection *s, const char *path,
                                               struct sp_flamegraph_opts opts)
{
    struct sp_time_order x;
    spaa_status st = sp_time_order_of(s, s->kept / TIME_ORDER_PARTS, run->diags, &x);
    if (st)
        return st;
    opts.title = run->v.title ? run->v.title : "In the order of time";
    opts.starts = x.starts.v;
    st = write_svg(run, s, &x.tree, opts, path);
    sp_time_order_free(&x);
    return st;
}

static spaa_status cmd_flamegraph_draw(struct sp_run *run, struct sp_selection *s,
                                       const struct sp_flame_states *states, struct sp_flame_base *base,
                                       const char *path, struct sp_flamegraph_opts opts)
{
    struct sp_tree t;
    struct sp_diff_tree both;
    struct sp_tree_opts how = {.inverted = run->v.inverted != NULL,
                               .by_comm = !run->v.inverted,
                               .sort = SP_TREE_BY_NAME,
                               .positive = true};
    opts.title = run->v.title ? run->v.title : run->v.diff ? "What changed" : sp_flame_states_title(s);
    opts.inverted = how.inverted;
    spaa_status st = sp_tree_build(s, &how, run->diags, &t);
    if (st)
        return st;
    if (!run->v.diff) {
        st = write_states(run, s, &how, states, &t, opts, path);
    } else if (!(st = sp_flame_base_join(run, base, s, &how, &t, &both))) {
        opts.diff = &both;
        st = write_svg(run, s, &both.tree, opts, path);
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

/* What is drawn: the selection less what is idle, and what it is compared with. */
static spaa_status flamegraph_of(struct sp_run *run, struct sp_selection *s, struct sp_flame_base *base,
                                 const char *path, struct sp_flamegraph_opts opts)
{
    struct sp_flame_states states = {0};
    spaa_status st = SPAA_OK;
    if (s->cannot_add)
        return sp_flame_cannot_add(run);
    sp_bounds_report(s, run->diags);
    if (!run->v.output)
        st = may_be_written(run, path);
    if (!st)
        st = run->v.diff ? sp_flame_base_open(run, base, s) : sp_flame_states_of(run, s, &states);
    if (!st)
        st = run->v.time_order ? cmd_flamegraph_draw_in_time(run, s, path, opts)
                               : cmd_flamegraph_draw(run, s, &states, base, path, opts);
    free(states.classes);
    return st;
}

/* The picture of c's options, which are the new side's; base: what it is compared with. */
static int flamegraph(struct sp_run *run, struct sp_flame_base *base, double width, double min_width)
{
    struct sp_selection s;
    struct sp_buf name;
    struct sp_flamegraph_drawn drawn = {0};
    struct sp_flamegraph_opts opts = {.width = (unsigned)width, .min_width = min_width, .drawn = &drawn};
    opts.full_names = sp_options_full_names(&run->v);
    run->needs.no_ids = true;
    run->needs.samples = run->v.time_order != NULL;
    int rc = sp_run_open(run);
    if (rc)
        return rc;
    sp_flame_states_event(run);
    spaa_status st = sp_flame_redacted(run);
    if (!st)
        st = sp_run_select(run, &s);
    if (st)
        return sp_run_exit(run, st);
    sp_buf_init(&name, 4096);
    if (run->v.output)
        sp_buf_puts(&name, run->v.output);
    else
        default_name(run, &name);
    st = flamegraph_of(run, &s, base, sp_buf_cstr(&name), opts);
    if (!st) {
        run->frames = drawn.frames;
        run->left_out = drawn.left_out;
    }
    if (!st && strcmp(sp_buf_cstr(&name), "-") != 0 && !(run->written = flamegraph_copy(&name)))
        st = sp_nomem(run->diags);
    sp_buf_free(&name);
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
    int full_names;
    struct sp_side_where where[2] = {{{0}}, {{0}}};
    if (!pixels(run, "width", run->v.width, 300, 20000, 0, &width) ||
        !pixels(run, "min-width", run->v.min_width, 0.001, 100, 0, &min_width) ||
        !sp_option_choice(run->diags, "names", run->v.names, sp_names_forms, 0, &full_names))
        return SP_EXIT_USAGE;
    if (run->v.redact && (filters_names(&run->v) || run->v.wheres[0].n || run->v.wheres[1].n))
        return sp_run_usage(run, "`spaa convert IN --redact RULES` with the filters, then draw its output",
                            "--redact hashes the names that filters go by");
    if (run->v.time_order &&
        (run->v.inverted || run->v.states || run->v.diff || run->v.wheres[0].n || run->v.wheres[1].n))
        return sp_run_usage(run, NULL,
                            "--time-order draws what happened as it did: no --inverted, --states or --diff");
    bool named = run->v.diff != NULL;
    int rc = cmd_flamegraph_sides(run, where);
    if (!rc) {
        const struct sp_run_given *given = take_base(run, run->v.diff && !named);
        struct sp_flame_base base = {.v = sp_where_values(&where[0], &run->v),
                                     .event = !cmd_flamegraph_of_one_side(where, "event"),
                                     .view = !cmd_flamegraph_of_one_side(where, "view") &&
                                             !cmd_flamegraph_of_one_side(where, "state"),
                                     .other_threads = cmd_flamegraph_of_one_side(where, "comm") ||
                                                      cmd_flamegraph_of_one_side(where, "thread") ||
                                                      cmd_flamegraph_of_one_side(where, "pid"),
                                     .given = given};
        run->v = sp_where_values(&where[1], &run->v);
        rc = flamegraph(run, &base, width, min_width);
        sp_flame_base_free(&base);
    }
    sp_where_free(&where[0]);
    sp_where_free(&where[1]);
    return rc;
}
