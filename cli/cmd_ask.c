/* The command of every question: opens what it needs, asks it, and shows the answer in the form asked for. */
#include "cli.h"

#include "ask/question.h"
#include "ask/usage.h"
#include "formats/open.h"
#include "model/callees.h"
#include "model/samples.h"
#include "render/answer_render.h"

#include <limits.h>
#include <stdio.h>

/* The inputs of a question that takes each as a profile of its own. */
struct inputs {
    SP_VEC(struct sp_profile *) each;
};

static spaa_status ask_read_each(struct cli *c, struct inputs *in)
{
    struct sp_read_opts read;
    spaa_status st = cli_read_opts(c, &read) ? SPAA_OK : SPAA_ERR_USAGE;
    for (size_t i = 0; !st && i < c->files.n; i++) {
        st = cli_read(c, c->files.v[i], &read, &c->profile);
        if (!st)
            st = cli_regroup(c);
        if (!st)
            st = sp_callees_split(c->profile, &c->diags);
        if (!st && !sp_vec_push(&in->each, c->profile))
            st = sp_nomem(&c->diags);
        if (!st)
            c->profile = NULL;
    }
    return st;
}

static void ask_free_each(struct inputs *in)
{
    for (size_t i = 0; i < in->each.n; i++)
        sp_profile_free(in->each.v[i]);
    sp_vec_free(&in->each);
}

/* ---- questions of two sides ---- */

/* The files of a side: those before `--`, or the first of two; of one file by filters, it is both. */
static int ask_sides(struct cli *c, struct sp_ask *q)
{
    const char *name = c->command->name;
    char how[80];
    snprintf(how, sizeof how, "spaa %s BASE… -- NEW…", name);
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
                "%s needs two profiles, or -- between the two lists; there are %zu", name, c->files.n);
        c->split = 1;
    }
    if (!c->split || c->split == c->files.n)
        return cli_usage(c, how, "there is no profile %s --", c->split ? "after" : "before");
    q->split = c->split;
    return EXIT_FINE;
}

/* Options of one input's format may not fit the others. */
static void ask_note_format(struct cli *c)
{
    struct sp_formats *f = &c->formats;
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i] == c->input)
            return;
    if (f->n < sizeof f->v / sizeof *f->v)
        f->v[f->n++] = c->input;
}

/* One of the inputs, with the options of its side; one run a side is read with what time blocks take. */
static spaa_status ask_open_one(void *arg, size_t i, const struct sp_options *o, struct sp_profile **out)
{
    struct cli *c = arg;
    struct sp_options asked = c->v;
    struct sp_read_opts opts;
    c->v = *o;
    spaa_status st = cli_read_opts(c, &opts) ? SPAA_OK : SPAA_ERR_USAGE;
    opts.samples = opts.samples || (c->split == 1 && c->files.n == 2);
    opts.no_ids = c->no_ids;
    c->input = NULL;
    if (!st)
        st = cli_read(c, c->files.v[i], &opts, &c->profile);
    if (!st) {
        ask_note_format(c);
        st = cli_regroup(c);
    }
    if (!st)
        st = sp_callees_split(c->profile, &c->diags);
    if (!st)
        st = cli_tag_stacks(c);
    c->v = asked;
    *out = c->profile;
    c->profile = NULL;
    return st;
}

/* The question's profiles, read with what it needs of them. */
static int ask_read(struct cli *c, struct sp_ask *q, struct inputs *in)
{
    if (q->question->sides) {
        q->open = ask_open_one;
        q->open_arg = c;
        int usage = ask_sides(c, q);
        q->names = c->files.v;
        q->nnames = c->files.n;
        return usage;
    }
    bool each = q->question->apart && c->files.n > 1;
    spaa_status st = each ? ask_read_each(c, in) : SPAA_OK;
    int rc = st ? cli_exit_of(st) : each ? cli_check_own(c, NULL) : cli_open_default(c);
    q->profiles = each ? in->each.v : &c->profile;
    q->nprofiles = each ? in->each.n : 1;
    q->names = c->files.v;
    q->nnames = c->files.n;
    q->format = c->input;
    return rc;
}

/* What is asked for, before anything is read: the needs, the argument. */
static int ask_begin(struct cli *c, struct sp_ask *q)
{
    const struct sp_question *x = q->question;
    struct sp_needs needs = {0};
    spaa_status st = x->needs ? x->needs(&c->v, &c->diags, &needs) : SPAA_OK;
    if (st)
        return cli_exit_of(st);
    if (x->argument && !c->files.n) {
        const char *last = strrchr(x->args, ' ');
        char how[128];
        snprintf(how, sizeof how, "spaa %s %s", x->name, x->args);
        return cli_usage(c, how, "%s needs %s", x->name, last ? last + 1 : x->args);
    }
    if (x->argument)
        q->argument = c->files.v[--c->files.n];
    c->needs_groups = needs.groups;
    c->needs_samples = needs.samples;
    c->needs_windows = needs.windows;
    c->no_ids = needs.no_ids;
    c->no_lines = needs.no_lines;
    return EXIT_FINE;
}

/* ---- -o: the profile that the question changed ---- */

static int ask_check_output(struct cli *c, const struct sp_question *x)
{
    if (!x->writes || !c->v.output)
        return EXIT_FINE;
    if (sp_output_format(c->v.output, strcmp(c->v.output, "-") == 0 ? x->writes : NULL, &c->diags, &c->to))
        return EXIT_USAGE;
    if (strcmp(c->to->name, x->writes) != 0)
        return cli_usage(c, "name a file .spaa or .spaa.zst", "only SPAA holds windows, not %s", c->to->name);
    if (strcmp(c->v.output, "-") == 0)
        return cli_usage(c, "the answer stands there; name a file", "-o - is taken");
    return EXIT_FINE;
}

/* The whole profile. What was read with samples only for this goes without them again. */
static int ask_write(struct cli *c)
{
    const struct sp_write_opts how = {
        .event = SP_NONE, .metric = SP_NONE, .jobs = cli_jobs(c), .own = c->own.v, .nown = c->own.n};
    if (c->input != c->to) {
        sp_samples_free(c->profile->samples);
        c->profile->samples = NULL;
    }
    return cli_exit_of(cli_write(c, c->to, &how));
}

/* ---- the answer ---- */

static int ask_show(struct cli *c, const struct sp_answer *a, long budget, bool full_names)
{
    enum { PIPED = 120 }; /* columns, where nobody says how many there are */
    static const enum sp_answer_form forms[] = {[FORMAT_TABLE] = SP_FORM_TEXT,
                                                [FORMAT_JSON] = SP_FORM_JSON,
                                                [FORMAT_CSV] = SP_FORM_CSV,
                                                [FORMAT_MARKDOWN] = SP_FORM_MARKDOWN};
    bool lean = c->format == FORMAT_JSON && !c->v.limit && !budget;
    size_t own = lean ? c->command->question->json_bytes : 0;
    const struct sp_render_opts how = {.form = forms[c->format],
                                       .width = c->width     ? c->width
                                                : full_names ? 0
                                                             : PIPED,
                                       .colour = c->colour,
                                       .full_names = full_names,
                                       /* of a gate that fails they are on standard error: who reads that */
                                       .notes = !c->v.verbose && !c->v.quiet && !a->verdict,
                                       .budget = own ? own : (size_t)budget * 3, /* characters of a token */
                                       .lean = own > 0,
                                       .least = own ? 1 : 0,
                                       .more = budget ? "a larger --budget shows more" : "-n 0 shows all"};
    int rc = cli_stdout(c);
    c->told = c->format != FORMAT_CSV && !c->v.verbose && !a->verdict ? c->diags.list.n : 0;
    return rc ? rc : cli_exit_of(sp_render(a, &how, &c->diags, c->out));
}

int cli_ask(struct cli *c)
{
    struct sp_answer answer;
    struct inputs in = {0};
    struct sp_ask q = {.question = c->command->question,
                       .options = &c->v,
                       .diags = &c->diags,
                       .brief = c->format == FORMAT_TABLE || c->format == FORMAT_MARKDOWN,
                       .sheet = c->format == FORMAT_CSV};
    static const char *const names[] = {"short", "full", NULL};
    long budget, limit;
    int full_names;
    if (!cli_number(c, "budget", c->v.budget, 1, LONG_MAX / 4, 0, &budget) ||
        !cli_number(c, "limit", c->v.limit, 0, LONG_MAX, 0, &limit) ||
        !cli_choice(c, "names", c->v.names, names, 0, &full_names))
        return EXIT_USAGE;
    int rc = ask_begin(c, &q);
    if (!rc)
        rc = ask_check_output(c, q.question);
    if (!rc)
        rc = ask_read(c, &q, &in);
    if (rc) {
        ask_free_each(&in);
        return rc;
    }
    sp_answer_init(&answer, q.question->schema, &c->diags);
    rc = cli_exit_of(sp_ask(&q, &answer));
    if (!rc && q.open)
        rc = cli_check_own(c, NULL);
    if (!rc)
        rc = ask_show(c, &answer, budget, full_names == 1);
    if (!rc)
        rc = answer.verdict;
    if (!rc && c->to)
        rc = ask_write(c);
    sp_answer_free(&answer);
    ask_free_each(&in);
    return rc;
}
