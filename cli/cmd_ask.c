/* The command of every question: opens what it needs, asks it, and shows the answer in the form asked for. */
#include "cli.h"

#include "ask/question.h"
#include "ask/usage.h"
#include "render/answer_render.h"

#include <limits.h>
#include <stdio.h>

/* Its inputs as one profile, read with what it needs of them. */
static int ask_open(struct cli *c, struct sp_ask *q)
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
    return cli_open_default(c);
}

static int ask_show(struct cli *c, const struct sp_answer *a, long budget, bool full_names)
{
    enum { PIPED = 120 }; /* columns, where nobody says how many there are */
    static const enum sp_answer_form forms[] = {[FORMAT_TABLE] = SP_FORM_TEXT,
                                                [FORMAT_JSON] = SP_FORM_JSON,
                                                [FORMAT_CSV] = SP_FORM_CSV,
                                                [FORMAT_MARKDOWN] = SP_FORM_MARKDOWN};
    const struct sp_render_opts how = {.form = forms[c->format],
                                       .width = c->width     ? c->width
                                                : full_names ? 0
                                                             : PIPED,
                                       .full_names = full_names,
                                       .notes = !c->v.verbose && !c->v.quiet,
                                       .budget = (size_t)budget * 3, /* characters of a token */
                                       .more = budget ? "a larger --budget shows more" : "-n 0 shows all"};
    int rc = cli_stdout(c);
    c->told = c->format != FORMAT_CSV && !c->v.verbose;
    return rc ? rc : cli_exit_of(sp_render(a, &how, &c->diags, c->out));
}

int cli_ask(struct cli *c)
{
    struct sp_answer answer;
    struct sp_ask q = {.question = c->command->question,
                       .options = &c->v,
                       .diags = &c->diags,
                       .nprofiles = 1,
                       .brief = c->format == FORMAT_TABLE || c->format == FORMAT_MARKDOWN};
    static const char *const names[] = {"short", "full", NULL};
    long budget, limit;
    int full_names;
    if (!cli_number(c, "budget", c->v.budget, 1, LONG_MAX / 4, 0, &budget) ||
        !cli_number(c, "limit", c->v.limit, 0, LONG_MAX, 0, &limit) ||
        !cli_choice(c, "names", c->v.names, names, 0, &full_names))
        return EXIT_USAGE;
    int rc = ask_open(c, &q);
    if (rc)
        return rc;
    q.profiles = &c->profile;
    q.names = c->files.v;
    q.nnames = c->files.n;
    sp_answer_init(&answer, q.question->schema, &c->diags);
    rc = cli_exit_of(sp_ask(&q, &answer));
    if (!rc)
        rc = ask_show(c, &answer, budget, full_names == 1);
    if (!rc)
        rc = answer.verdict;
    sp_answer_free(&answer);
    return rc;
}
