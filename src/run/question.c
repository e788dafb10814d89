/* The command of every question: opens what it needs, asks it, and shows the answer in the form asked for. */
#include "run/curve.h"
#include "run/heading.h"
#include "run/sched.h"

#include "ask/timeline_memory.h"
#include "ask/where.h"
#include "formats/open.h"
#include "model/callees.h"
#include "model/samples.h"
#include "render/answer_render.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* ---- questions of two sides ---- */

/* The files of a side: those before `--`, or the first of two; of one file by filters, it is both. */
static int ask_sides(struct sp_run *run, struct sp_ask *q)
{
    const char *name = run->command.name;
    char how[80];
    snprintf(how, sizeof how, "spaa %s BASE… -- NEW…", name);
    if (!run->has_split) {
        bool filtered = run->v.base_where || run->v.new_where, alone = filtered && run->files.n == 1;
        if (alone && strcmp(run->files.v[0], "-") == 0)
            return sp_run_usage(run, "write it to a file first",
                                "both sides are of standard input, which is read once");
        if (alone && !sp_vec_push(&run->files, run->files.v[0]))
            return sp_run_exit(run, sp_nomem(run->diags));
        if (run->files.n != 2)
            return sp_run_usage(
                run,
                run->files.n == 1 ? "spaa diff BASE NEW; within one file, spaa diff FILE --base-where "
                                    "comm=A --new-where comm=B"
                                  : "spaa diff BASE NEW, or with repeats spaa diff BASE… -- NEW…",
                "%s needs two profiles, or -- between the two lists; there are %zu", name, run->files.n);
        run->split = 1;
    }
    if (!run->split || run->split == run->files.n)
        return sp_run_usage(run, how, "there is no profile %s --", run->split ? "after" : "before");
    q->split = run->split;
    return SP_EXIT_FINE;
}

/* Options of one input's format may not fit the others. */
static void ask_note_format(struct sp_run *run)
{
    struct sp_formats *f = &run->formats;
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i] == run->input)
            return;
    if (f->n < sizeof f->v / sizeof *f->v)
        f->v[f->n++] = run->input;
}

/* One of the inputs, with the options of its side; one run a side is read with what time blocks take. */
static spaa_status ask_open_one(void *arg, size_t i, const struct sp_options *o, struct sp_profile **out)
{
    struct sp_run *run = arg;
    struct sp_options asked = run->v;
    struct sp_read_opts opts;
    run->v = *o;
    spaa_status st = sp_run_read_opts(run, &opts);
    opts.samples = opts.samples || (run->split == 1 && run->files.n == 2);
    opts.fields = run->needs.fields; /* of each file by itself */
    opts.no_ids = run->needs.no_ids;
    run->input = NULL;
    if (!st)
        st = sp_run_read(run, run->files.v[i], &opts, &run->profile);
    if (!st) {
        ask_note_format(run);
        st = sp_run_regroup(run);
    }
    if (!st)
        st = sp_callees_split(run->profile, run->diags);
    if (!st)
        st = sp_run_tag_stacks(run);
    run->v = asked;
    *out = run->profile;
    run->profile = NULL;
    return st;
}

/* A profile beside the question's, which stays what it is. */
static spaa_status ask_open_base(void *arg, const char *path, struct sp_profile **out)
{
    struct sp_run *run = arg;
    struct sp_profile *kept = run->profile;
    const struct spaa_format *input = run->input;
    struct sp_read_opts opts;
    run->profile = NULL;
    spaa_status st = sp_run_read_opts(run, &opts);
    if (!st)
        st = sp_run_read(run, path, &opts, &run->profile);
    if (!st)
        st = sp_run_regroup(run);
    if (!st)
        st = sp_callees_split(run->profile, run->diags);
    if (!st)
        st = sp_run_tag_stacks(run);
    *out = run->profile;
    run->profile = kept;
    run->input = input;
    return st;
}

/* Profiles of the caller's, each by itself; of two sides by the filters of its side. */
static spaa_status ask_take_each(struct sp_run *run, struct sp_run_asked *x)
{
    const struct sp_options asked = run->v;
    spaa_status st = SPAA_OK;
    for (size_t i = 0; !st && i < run->files.n; i++) {
        struct sp_side_where where = {{0}};
        struct sp_profile *p = NULL;
        if (x->q.question->sides)
            st = sp_where_parse(&asked, i >= x->q.split, run->diags, &where);
        if (!st && x->q.question->sides)
            run->v = sp_where_values(&where, &asked);
        if (!st)
            st = sp_run_take(run, i, &p);
        run->v = asked;
        sp_where_free(&where);
        if (!st && !sp_vec_push(&x->each, p))
            st = sp_nomem(run->diags);
    }
    return st;
}

/* The question's profiles, read with what it needs of them. */
static int ask_read(struct sp_run *run, struct sp_run_asked *x)
{
    struct sp_ask *q = &x->q;
    bool sides = q->question->sides, each = !sides && q->question->apart && run->files.n > 1;
    int rc = sides ? ask_sides(run, q) : SP_EXIT_FINE;
    q->names = run->files.v;
    q->nnames = run->files.n;
    if (rc)
        return rc;
    if (each) { /* a series needs no times within its profiles */
        run->needs.samples = false;
        run->needs.windows = 0;
    }
    if ((sides || each) && !run->ngiven) {
        q->open = ask_open_one;
        q->open_arg = run;
        q->nprofiles = sides ? 0 : run->files.n;
        return SP_EXIT_FINE;
    }
    if (sides || each) {
        rc = sp_run_exit(run, ask_take_each(run, x));
        q->profiles = x->each.v;
        q->nprofiles = x->each.n;
        rc = rc ? rc : sp_run_check_own(run, NULL);
    } else {
        rc = sp_run_open(run);
        q->open_base = ask_open_base;
        q->open_base_arg = run;
        q->profiles = &run->profile;
        q->nprofiles = 1;
        q->names = run->files.v; /* there may be one only now */
        q->nnames = run->files.n;
    }
    q->format = run->input;
    return rc;
}

/*
 * "function main perf.data": the argument is behind the files, but where it cannot be meant to be. Of an
 * argument of several words, all in front of the files go.
 */
static void ask_argument_last(struct sp_run *run, const struct sp_question *x)
{
    const char **v = run->files.v;
    size_t n = run->files.n;
    if (run->ngiven || n < 2 || access(v[0], F_OK) == 0 || strcmp(v[0], "-") == 0 ||
        access(v[n - 1], F_OK) != 0)
        return;
    for (size_t i = 1; i < n; i++) {
        const char *argument = v[0];
        memmove(v, v + 1, (n - 1) * sizeof *v);
        v[n - 1] = argument;
        if (!x->is_argument || !x->is_argument(v[0]))
            return;
    }
}

/* The last word, and those in front of it that are of the argument too. */
static int ask_argument(struct sp_run *run, struct sp_ask *q)
{
    bool (*more)(const char *) = q->question->is_argument;
    size_t first = run->files.n - 1, end = run->files.n;
    while (more && !run->ngiven && first && more(run->files.v[first - 1]))
        first--;
    run->files.n = first;
    run->argument = q->argument = run->files.v[first];
    if (end - first == 1)
        return SP_EXIT_FINE;
    for (size_t i = first; i < end; i++)
        sp_buf_printf(&run->arguments, i > first ? " %s" : "%s", run->files.v[i]);
    run->argument = q->argument = sp_buf_cstr(&run->arguments);
    return run->arguments.failed ? sp_run_exit(run, sp_nomem(run->diags)) : SP_EXIT_FINE;
}

/* What is asked for, before anything is read: the needs, the argument. */
static int ask_begin(struct sp_run *run, struct sp_ask *q)
{
    const struct sp_question *x = q->question;
    struct sp_needs needs = {0};
    spaa_status st = x->needs ? x->needs(&run->v, run->diags, &needs) : SPAA_OK;
    if (st)
        return sp_run_exit(run, st);
    if (x->argument && !run->files.n) {
        const char *last = strrchr(x->args, ' ');
        char how[128];
        snprintf(how, sizeof how, "spaa %s %s", x->name, x->args);
        return sp_run_usage(run, how, "%s needs %s", x->name, last ? last + 1 : x->args);
    }
    if (x->argument)
        ask_argument_last(run, x);
    run->needs = needs;
    return x->argument ? ask_argument(run, q) : SP_EXIT_FINE;
}

/* ---- -o: the profile that the question changed ---- */

static int ask_check_output(struct sp_run *run, const struct sp_question *x)
{
    if (x->draws && run->v.output && strcmp(run->v.output, "-") == 0)
        return sp_run_usage(run, "the answer stands there; name a file", "-o - is taken");
    if (!x->writes || !run->v.output || (x->draws && sp_is_svg(run->v.output)))
        return SP_EXIT_FINE;
    if (sp_output_format(run->v.output, strcmp(run->v.output, "-") == 0 ? x->writes : NULL, run->diags,
                         &run->to))
        return SP_EXIT_USAGE;
    if (strcmp(run->to->name, x->writes) != 0)
        return sp_run_usage(run, "name a file .spaa or .spaa.zst", "only SPAA holds windows, not %s",
                            run->to->name);
    if (strcmp(run->v.output, "-") == 0)
        return sp_run_usage(run, "the answer stands there; name a file", "-o - is taken");
    return SP_EXIT_FINE;
}

/* The whole profile. What was read with samples only for this goes without them again. */
static int ask_write(struct sp_run *run)
{
    const struct sp_write_opts how = {
        .event = SP_NONE, .metric = SP_NONE, .jobs = sp_run_jobs(run), .own = run->own.v, .nown = run->own.n};
    if (run->input != run->to) {
        sp_samples_free(run->profile->samples);
        run->profile->samples = NULL;
    }
    return sp_run_exit(run, sp_run_write(run, run->to, &how));
}

/* ---- the answer ---- */

static int ask_show(struct sp_run *run, const struct sp_answer *a, long budget, bool full_names)
{
    bool lean = run->form == SP_FORM_JSON && !run->v.limit && !budget;
    bool terse = run->form == SP_FORM_TEXT && !run->v.limit && !budget;
    size_t own = lean ? run->command.question->json_bytes : terse ? run->command.question->text_bytes : 0;
    const struct sp_render_opts how = {.form = run->form,
                                       .width = run->width   ? run->width
                                                : full_names ? 0
                                                             : SP_PIPED_COLUMNS,
                                       .colour = run->colour,
                                       .full_names = full_names,
                                       /* of a gate that fails they are on standard error: who reads that */
                                       .notes = !run->v.verbose && !run->v.quiet && !a->verdict,
                                       .budget = own ? own : (size_t)budget * 3, /* characters of a token */
                                       .lean = lean && own > 0,
                                       .least = own ? 1 : 0,
                                       .more = budget ? "a larger --budget shows more" : "-n 0 shows all"};
    int rc = sp_run_stdout(run);
    run->told = run->form != SP_FORM_CSV && !run->v.verbose && !a->verdict ? run->diags->list.n : 0;
    return rc ? rc : sp_run_exit(run, sp_render(a, &how, run->diags, run->out));
}

int sp_run_question(struct sp_run *run, struct sp_run_asked *x, struct sp_answer *answer)
{
    *x = (struct sp_run_asked){.q = {.question = run->command.question,
                                     .options = &run->v,
                                     .diags = run->diags,
                                     .brief = run->form == SP_FORM_TEXT || run->form == SP_FORM_MARKDOWN,
                                     .sheet = run->form == SP_FORM_CSV,
                                     .once = run->shown_once}};
    int rc = ask_begin(run, &x->q);
    if (!rc)
        rc = ask_check_output(run, x->q.question);
    if (!rc)
        rc = ask_read(run, x);
    if (!rc)
        rc = sp_run_exit(run, sp_ask(&x->q, answer));
    if (!rc && x->q.open)
        rc = sp_run_check_own(run, NULL);
    return rc;
}

void sp_run_question_free(struct sp_run *run, struct sp_run_asked *x)
{
    for (size_t i = 0; i < x->each.n && !run->ngiven; i++)
        sp_profile_free(x->each.v[i]);
    sp_vec_free(&x->each);
}

const char *const sp_names_forms[] = {"short", "full", NULL};

int sp_run_ask(struct sp_run *run)
{
    struct sp_run_asked x;
    struct sp_answer answer;
    long budget, limit;
    int full_names;
    if (!sp_option_number(run->diags, "budget", run->v.budget, 1, LONG_MAX / 4, 0, &budget) ||
        !sp_option_number(run->diags, "limit", run->v.limit, 0, LONG_MAX, 0, &limit) ||
        !sp_option_choice(run->diags, "names", run->v.names, sp_names_forms, 0, &full_names))
        return SP_EXIT_USAGE;
    sp_answer_init(&answer, run->command.question->schema, run->diags);
    run->shown_once = run->form == SP_FORM_JSON || run->form == SP_FORM_CSV;
    int rc = sp_run_question(run, &x, &answer);
    if (!rc)
        rc = ask_show(run, &answer, budget, full_names == 1);
    if (!rc)
        rc = answer.verdict;
    if (!rc && run->to)
        rc = ask_write(run);
    if (!rc && !run->to && x.q.question->draws && run->v.output)
        rc = x.q.question->writes ? sp_run_draw_curve(run, &x.q) : sp_run_draw_sched(run, &x.q);
    sp_answer_free(&answer);
    sp_run_question_free(run, &x);
    return rc;
}
