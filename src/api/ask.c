/* Asking: the question and its options by name, and the profiles as the question takes them. */
#include "api/answer.h"

#include "base/nearest.h"

#include <stdlib.h>
#include <string.h>

/* What belongs to reading and to the form of an answer is said elsewhere. */
#define API_NO_GROUPS ((uint64_t)G_READ | G_BUDGET | G_ANSWER | G_QUESTION | G_OUT | G_ALL)

static bool api_takes(const struct sp_question *q, const struct sp_option *o)
{
    return (o->groups & q->groups & ~API_NO_GROUPS) != 0;
}

/* ---- what can be asked ---- */

size_t spaa_question_count(void)
{
    size_t n = 0;
    while (sp_questions[n])
        n++;
    return n;
}

spaa_status spaa_question_get(size_t i, struct spaa_question *out)
{
    if (!out)
        return SPAA_ERR_USAGE;
    if (i >= spaa_question_count())
        return SPAA_ERR_NOT_FOUND;
    const struct sp_question *q = sp_questions[i];
    struct spaa_question found = {.name = q->name,
                                  .title = q->title,
                                  .args = q->args,
                                  .schema = q->schema,
                                  .takes_argument = q->argument};
    return sp_api_result(out, &found, sizeof found);
}

spaa_status spaa_question_option_get(size_t i, size_t k, struct spaa_question_option *out)
{
    if (!out)
        return SPAA_ERR_USAGE;
    if (i >= spaa_question_count())
        return SPAA_ERR_NOT_FOUND;
    for (const struct sp_option *o = sp_option_table; o->name; o++)
        if (api_takes(sp_questions[i], o) && !k--) {
            struct spaa_question_option found = {.name = o->name, .value = o->value, .help = o->help};
            return sp_api_result(out, &found, sizeof found);
        }
    return SPAA_ERR_NOT_FOUND;
}

/* ---- the options ---- */

static const struct sp_option *api_find_option(const struct sp_question *q, const char *name)
{
    for (const struct sp_option *o = sp_option_table; o->name; o++)
        if (api_takes(q, o) && strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

static spaa_status api_no_option(struct sp_diags *d, const struct sp_question *q, const char *name)
{
    struct sp_str all[64];
    struct sp_buf words;
    size_t n = 0;
    for (const struct sp_option *o = sp_option_table; o->name && n < sizeof all / sizeof *all; o++)
        if (api_takes(q, o))
            all[n++] = (struct sp_str){o->name, (uint32_t)strlen(o->name)};
    sp_buf_init(&words, 4096);
    sp_nearest_words(&words, name, all, n);
    sp_api_usage(d, "%s has no option \"%s\" here: %s", q->name, name, sp_buf_cstr(&words));
    sp_buf_free(&words);
    return SPAA_ERR_USAGE;
}

/* Texts are copied: what rows are made of may look at them later. */
static spaa_status api_set_options(struct spaa_answer *x, const struct sp_question *q,
                                   const struct spaa_ask_options *o)
{
    if (o->option_count && (!o->options || o->option_count > 4096))
        return sp_api_usage(&x->diags, "option_count without options");
    for (size_t i = 0; i < o->option_count; i++) {
        const char *name = o->options[i].name ? o->options[i].name : "", *value = o->options[i].value;
        const struct sp_option *option = api_find_option(q, name);
        if (!option)
            return api_no_option(&x->diags, q, name);
        if (option->value && !value)
            return sp_api_usage(&x->diags, "the option \"%s\" of %s needs a value: %s", name, q->name,
                                option->value);
        if (!option->value && value && *value)
            return sp_api_usage(&x->diags, "the option \"%s\" of %s takes no value", name, q->name);
        const char *copy = option->value ? sp_arena_dup(&x->arena, value, strlen(value)) : "";
        if (!copy || !sp_option_set(&x->run.v, option, copy))
            return sp_nomem(&x->diags);
    }
    return SPAA_OK;
}

static spaa_status api_find_question(const struct spaa_ask_options *o, struct sp_diags *d,
                                     const struct sp_question **out)
{
    *out = o->question ? sp_question_find(o->question) : NULL;
    if (!*out) {
        const char *names[64] = {0};
        int none;
        for (size_t i = 0; sp_questions[i] && i < 63; i++)
            names[i] = sp_questions[i]->name;
        sp_api_choice(d, "question", o->question ? o->question : "", names, 0, &none);
        return SPAA_ERR_USAGE;
    }
    if ((*out)->argument && !o->argument)
        return sp_api_usage(d, "%s needs an argument: %s", o->question, (*out)->args);
    if (!(*out)->argument && o->argument)
        return sp_api_usage(d, "%s takes no argument", o->question);
    return SPAA_OK;
}

/* ---- asking ---- */

static spaa_status api_ask_begin(struct spaa_answer *x, struct spaa_profile *const *profiles, size_t n,
                                 const struct spaa_ask_options *o)
{
    static const char *const forms[] = {"text", "json", "csv", "markdown", NULL}; /* enum sp_answer_form */
    const struct sp_question *question = NULL;
    const char *argument = NULL;
    int form = SP_FORM_JSON;
    spaa_status st = api_find_question(o, &x->diags, &question);
    if (!st && !sp_api_choice(&x->diags, "form", o->form, forms, SP_FORM_JSON, &form))
        st = SPAA_ERR_USAGE;
    if (!st)
        st = api_set_options(x, question, o);
    if (!st && o->split >= n && o->split)
        st = sp_api_usage(&x->diags, "split %zu leaves no profile for the other side", o->split);
    if (st)
        return st;
    if (o->argument && !(argument = sp_arena_dup(&x->arena, o->argument, strlen(o->argument))))
        return sp_nomem(&x->diags);
    sp_command_find(question->name, &x->run.command);
    x->a.schema = question->schema;
    x->run.form = (enum sp_answer_form)form;
    x->run.has_split = o->split != 0;
    x->run.split = o->split;
    st = sp_api_give(profiles, n, &x->diags, &x->given);
    x->run.given = x->given;
    x->run.ngiven = st ? 0 : n;
    sp_run_as_opened(&x->run);
    for (size_t i = 0; !st && i < n; i++)
        st = sp_vec_push(&x->run.files, x->given[i].name) ? SPAA_OK : sp_nomem(&x->diags);
    return st || !argument || sp_vec_push(&x->run.files, argument) ? st : sp_nomem(&x->diags);
}

static spaa_status api_ask(struct spaa_answer *x, struct spaa_profile *const *profiles, size_t n,
                           const struct spaa_ask_options *o)
{
    spaa_status st = api_ask_begin(x, profiles, n, o);
    if (st)
        return st;
    int code = sp_run_question(&x->run, &x->asked, &x->a);
    st = sp_run_status(&x->run, code);
    return st || sp_api_answer_list(x) ? st : sp_nomem(&x->diags);
}

/* What the call says, which the answer goes on showing. */
static void api_deliver_copy(const struct spaa_answer *x, struct spaa_diagnostics **to)
{
    struct sp_diags copy;
    sp_diags_init(&copy);
    sp_diags_merge(&copy, &x->diags);
    sp_api_deliver(&copy, to, SPAA_OK);
}

spaa_status spaa_ask(struct spaa_profile *const *profiles, size_t count,
                     const struct spaa_ask_options *options, struct spaa_answer **answer,
                     struct spaa_diagnostics **diagnostics)
{
    struct spaa_ask_options o;
    struct sp_watch watch;
    struct spaa_answer *x = calloc(1, sizeof *x);
    if (!x)
        return SPAA_ERR_NOMEM;
    sp_diags_init(&x->diags);
    sp_arena_init(&x->arena, 0);
    sp_answer_init(&x->a, NULL, &x->diags);
    sp_run_init(&x->run, &x->diags);
    spaa_status st = sp_api_options(&o, sizeof o, options, &x->diags);
    spaa_status watched = sp_api_watch(&watch, o.watch, &x->diags);
    st = st ? st : watched;
    bool all = profiles && count && answer && count <= 1 << 20;
    for (size_t i = 0; all && i < count; i++)
        all = profiles[i] != NULL;
    if (!st && !all)
        st = sp_api_usage(&x->diags, "no profile, or no place for the answer");
    for (size_t i = 0; all && i < count; i++)
        sp_api_watch_profile(&watch, profiles[i]);
    if (!st)
        st = api_ask(x, profiles, count, &o);
    st = sp_api_unwatch(&watch, &x->diags, st);
    for (size_t i = 0; all && i < count; i++) /* what was said where the profile reports */
        sp_api_deliver(&profiles[i]->diags, diagnostics, st);
    api_deliver_copy(x, diagnostics);
    if (st)
        spaa_answer_free(x);
    else
        *answer = x;
    return st;
}
