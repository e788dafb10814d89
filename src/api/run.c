/* Whole commands: what there is, and running them by names and values. */
#include "api/run.h"

#include "base/nearest.h"
#include "base/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what there is ---- */

size_t spaa_command_count(void)
{
    struct sp_command c;
    size_t n = 0;
    while (sp_command_at(n, &c))
        n++;
    return n;
}

spaa_status spaa_command_get(size_t i, struct spaa_command *out)
{
    struct sp_command c;
    if (!out)
        return SPAA_ERR_USAGE;
    if (!sp_command_at(i, &c))
        return SPAA_ERR_NOT_FOUND;
    struct spaa_command found = {.name = c.name,
                                 .args = c.args,
                                 .title = c.title,
                                 .examples = c.examples,
                                 .schema = c.question ? c.question->schema : NULL,
                                 .is_question = c.question != NULL,
                                 .two_sides = (c.groups & G_DIFF) != 0,
                                 .writes = !c.question && c.groups & G_OUT,
                                 .of_program = c.of_program};
    return sp_api_result(out, &found, sizeof found);
}

spaa_status spaa_command_option_get(size_t i, size_t k, struct spaa_command_option *out)
{
    struct sp_command c;
    struct sp_command_option o;
    if (!out)
        return SPAA_ERR_USAGE;
    if (!sp_command_at(i, &c) || !sp_command_option(&c, k, &o))
        return SPAA_ERR_NOT_FOUND;
    struct spaa_command_option found = {.name = o.name,
                                        .letter = o.letter,
                                        .value = o.value,
                                        .help = o.help,
                                        .group = o.group,
                                        .format = o.format ? o.format->name : NULL,
                                        .repeats = o.option && sp_option_repeats(o.option),
                                        .common = o.option && o.option->groups & G_TOOLS,
                                        .shared = o.shared};
    return sp_api_result(out, &found, sizeof found);
}

size_t spaa_did_you_mean(const char *asked, const char *const *names, size_t count, char *text, size_t size)
{
    if (!asked || !names || (!text && size) || count > 1 << 16)
        return 0;
    const char **list = calloc(count + 1, sizeof *list);
    char words[256] = "";
    bool all = list != NULL;
    for (size_t i = 0; all && i < count; i++)
        all = (list[i] = names[i]) != NULL;
    if (all)
        sp_near_hint(asked, list, words, sizeof words);
    free(list);
    return (size_t)snprintf(text, size, "%s", words);
}

/* ---- from the caller's options ---- */

static spaa_status api_run_command(struct sp_run *run, const char *name)
{
    const char *names[64] = {0};
    struct sp_command c;
    int none;
    if (name && sp_command_find(name, &run->command))
        return SPAA_OK;
    for (size_t i = 0; i < 63 && sp_command_at(i, &c); i++)
        names[i] = c.name;
    sp_api_choice(run->diags, "command", name ? name : "", names, 0, &none);
    return SPAA_ERR_USAGE;
}

static spaa_status api_run_no_option(struct sp_run *run, const char *name)
{
    const char *names[200] = {0};
    char near[256];
    struct sp_command_option o;
    for (size_t k = 0; k < 199 && sp_command_option(&run->command, k, &o); k++)
        names[k] = o.name;
    sp_near_hint(name, names, near, sizeof near);
    sp_run_usage(run, near, "%s has no option --%s", run->command.name, name);
    return SPAA_ERR_USAGE;
}

static spaa_status api_run_option(struct sp_run *run, const char *name, const char *value)
{
    struct sp_command_option o;
    if (!sp_command_option_find(&run->command, name, &o))
        return api_run_no_option(run, name);
    if (o.value && !value)
        return sp_usage(run->diags, NULL, "--%s needs a value: %s", name, o.value);
    if (!o.value && value && *value)
        return sp_usage(run->diags, NULL, "--%s takes no value", name);
    value = o.value ? value : "";
    struct sp_own_opt own = {o.name, o.value ? value : NULL};
    bool ok = o.option ? sp_option_set(&run->v, o.option, value) : sp_vec_push(&run->own, own);
    return ok ? SPAA_OK : sp_nomem(run->diags);
}

/* The form of the answer and its colour, by the options or by what else the caller says. */
static spaa_status api_run_form(struct sp_run *run, const struct spaa_run_options *o)
{
    static const char *const forms[] = {"table", "json", "csv", "markdown", NULL}; /* enum sp_answer_form */
    static const char *const colours[] = {"auto", "always", "never", NULL};
    int form = SP_FORM_TEXT, otherwise = SP_FORM_TEXT, colour = 0;
    if (!sp_api_choice(run->diags, "form", o->form, forms, SP_FORM_TEXT, &otherwise) ||
        !sp_option_choice(run->diags, "format", run->v.format, forms, otherwise, &form) ||
        !sp_option_choice(run->diags, "color", run->v.color, colours, 0, &colour))
        return SPAA_ERR_USAGE;
    if (run->v.json && run->v.format && form != SP_FORM_JSON)
        return sp_usage(run->diags, "give one of them", "--json and --format %s are two forms",
                        run->v.format);
    run->form = run->v.json ? SP_FORM_JSON : (enum sp_answer_form)form;
    run->colour = colour ? colour == 1 : o->colour != 0;
    run->width = o->width;
    return SPAA_OK;
}

static spaa_status api_run_profiles(struct sp_run *run, const struct spaa_run_options *o,
                                    struct sp_run_given **given)
{
    const char *name = run->command.name;
    if (!o->profile_count)
        return SPAA_OK;
    if (!run->command.question && strcmp(name, "flamegraph") != 0 && strcmp(name, "query") != 0)
        return sp_api_usage(run->diags, "%s takes files, no profiles", name);
    size_t words = strcmp(name, "query") == 0 || (run->command.question && run->command.question->argument);
    if (o->file_count > words)
        return sp_api_usage(run->diags, "profiles are instead of files, and \"%s\" is one",
                            o->files && o->files[0] ? o->files[0] : "");
    bool all = o->profiles && o->profile_count <= 1 << 20;
    for (size_t i = 0; all && i < o->profile_count; i++)
        all = o->profiles[i] != NULL;
    if (!all)
        return sp_api_usage(run->diags, "profile_count without profiles");
    spaa_status st = sp_api_give(o->profiles, o->profile_count, run->diags, given);
    run->given = *given;
    run->ngiven = st ? 0 : o->profile_count;
    sp_run_as_opened(run);
    for (size_t i = 0; i < run->ngiven; i++) {
        if (!sp_vec_push(&run->files, (*given)[i].name))
            return sp_nomem(run->diags);
        if (o->said && o->said[i])
            sp_diags_merge(run->diags, &o->said[i]->d);
    }
    return st;
}

static spaa_status api_run_files(struct sp_run *run, const struct spaa_run_options *o)
{
    bool all = !o->file_count || (o->files && o->file_count <= 1 << 24);
    for (size_t i = 0; all && i < o->file_count; i++) {
        all = o->files[i] != NULL;
        if (all && !sp_vec_push(&run->files, o->files[i]))
            return sp_nomem(run->diags);
    }
    return all ? SPAA_OK : sp_api_usage(run->diags, "file_count without files");
}

static spaa_status api_run_begin(struct sp_run *run, const struct spaa_run_options *o,
                                 struct sp_run_given **given)
{
    spaa_status st = api_run_command(run, o->command);
    if (!st)
        st = api_run_profiles(run, o, given);
    if (!st)
        st = api_run_files(run, o);
    if (!st && o->option_count && (!o->options || o->option_count > 1 << 20))
        st = sp_api_usage(run->diags, "option_count without options");
    for (size_t i = 0; !st && i < o->option_count; i++)
        st = api_run_option(run, o->options[i].name ? o->options[i].name : "", o->options[i].value);
    if (!st)
        st = api_run_form(run, o);
    run->has_split = o->has_split != 0;
    run->split = o->split;
    bool drawn = run->command.groups & G_FLAME && run->ngiven == 2 && run->split == 1;
    if (!st && run->has_split && ((!(run->command.groups & G_DIFF) && !drawn) || run->split > run->files.n))
        st = sp_api_usage(run->diags, "%s has no two sides, or not so many files", run->command.name);
    run->answering = o->answering;
    run->answering_arg = o->answering_arg;
    run->temporary = o->temporary;
    run->temporary_arg = o->temporary_arg;
    run->v.source_gate = (struct sp_file_gate){o->open_source, o->open_source_arg};
    return st;
}

/* ---- running ---- */

struct running {
    struct sp_run run;
    struct sp_diags diags;
    struct sp_watch watch;
    struct sp_run_given *given;
};

static spaa_status api_run_do(struct running *x, const struct spaa_run_options *o,
                              const struct sp_api_program *program, struct spaa_run_result *result)
{
    struct sp_run *run = &x->run;
    spaa_status st = api_run_begin(run, o, &x->given);
    if (st) {
        result->exit_code = sp_run_exit(run, st);
        return st;
    }
    if (run->command.of_program && !program) {
        sp_run_usage(run, NULL, "only the program spaa has the command %s", run->command.name);
        result->exit_code = SP_EXIT_USAGE;
        return SPAA_ERR_UNSUPPORTED;
    }
    for (size_t i = 0; i < run->ngiven; i++)
        sp_api_watch_profile(&x->watch, o->profiles[i]);
    int code = program ? program->run(program->arg, run) : sp_run_command(run);
    result->exit_code = sp_run_finish(run, code);
    result->told = run->told;
    result->frames = run->frames;
    result->left_out = run->left_out;
    snprintf(result->written, sizeof result->written, "%s", run->written ? run->written : "");
    return sp_run_status(run, result->exit_code);
}

/* What is in memory is the caller's. */
static spaa_status api_run_give(struct sp_run *run, char **text, size_t *size)
{
    size_t n = 0;
    const char *made = run->out ? sp_output_data(run->out, &n) : "";
    char *copy = malloc(n + 1);
    if (!copy)
        return sp_nomem(run->diags);
    memcpy(copy, made, n);
    copy[n] = '\0';
    *text = copy;
    if (size)
        *size = n;
    return SPAA_OK;
}

/* To a descriptor, or into memory (text). */
static spaa_status api_run_any(const struct spaa_run_options *options, const struct sp_api_program *program,
                               int fd, char **text, size_t *size, struct spaa_run_result *result,
                               struct spaa_diagnostics **diagnostics)
{
    struct spaa_run_options o;
    struct spaa_run_result how = {.exit_code = SP_EXIT_USAGE};
    struct running *x = calloc(1, sizeof *x);
    if (!x) {
        how.exit_code = SP_EXIT_IO;
        if (result)
            sp_api_result(result, &how, sizeof how);
        return SPAA_ERR_NOMEM;
    }
    sp_diags_init(&x->diags);
    sp_run_init(&x->run, &x->diags);
    x->run.fd = fd;
    spaa_status st = sp_api_options(&o, sizeof o, options, &x->diags);
    spaa_status watched = sp_api_watch(&x->watch, o.watch, &x->diags);
    st = st ? st : watched;
    if (!st)
        st = api_run_do(x, &o, program, &how);
    st = sp_api_unwatch(&x->watch, &x->diags, st);
    if (!st && text)
        st = api_run_give(&x->run, text, size);
    if (st && (how.exit_code == SP_EXIT_FINE || st == SPAA_ERR_CANCELLED))
        how.exit_code = sp_run_exit(&x->run, st);
    sp_run_free(&x->run);
    for (size_t i = 0; x->given && i < o.profile_count; i++) /* what was said where they report */
        sp_api_deliver(&o.profiles[i]->diags, diagnostics, st);
    sp_api_deliver(&x->diags, diagnostics, st);
    free(x->given);
    free(x);
    if (result && sp_api_result(result, &how, sizeof how) && !st)
        st = SPAA_ERR_USAGE;
    return st;
}

spaa_status sp_api_run_fd(const struct spaa_run_options *options, const struct sp_api_program *program,
                          int fd, struct spaa_run_result *result, struct spaa_diagnostics **diagnostics)
{
    return api_run_any(options, program, fd, NULL, NULL, result, diagnostics);
}

spaa_status spaa_run_fd(const struct spaa_run_options *options, int fd, struct spaa_run_result *result,
                        struct spaa_diagnostics **diagnostics)
{
    if (!options || fd < 0)
        return sp_api_missing("no command, or no descriptor", diagnostics);
    return api_run_any(options, NULL, fd, NULL, NULL, result, diagnostics);
}

spaa_status spaa_run_memory(const struct spaa_run_options *options, char **text, size_t *size,
                            struct spaa_run_result *result, struct spaa_diagnostics **diagnostics)
{
    if (!options || !text)
        return sp_api_missing("no command, or no place for the answer", diagnostics);
    return api_run_any(options, NULL, -1, text, size, result, diagnostics);
}
