/* Asking: the question and its options by name, and the profiles as the question takes them. */
#include "api/answer.h"

#include "analysis/regroup.h"
#include "ask/question.h"
#include "base/nearest.h"
#include "model/callees.h"

#include <stdlib.h>
#include <string.h>

/* What belongs to reading and to the form of an answer is said elsewhere. */
#define API_NO_GROUPS ((unsigned)G_READ | G_BUDGET | G_ANSWER | G_QUESTION | G_OUT | G_ALL)

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
        const char *copy = option->value ? sp_arena_dup(&x->arena, value, strlen(value)) : "";
        if (!copy || !sp_option_set(&x->options, option, copy))
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

/* ---- the profiles ---- */

/* Of a SPAA file that is not told apart by what is asked for: its samples may know. */
static spaa_status api_regroup(struct spaa_profile *s, unsigned groups, struct sp_diags *d)
{
    struct sp_profile *p = s->p;
    bool grouped = p->header.has_x_spaa && strcmp(s->format->name, "spaa") == 0;
    unsigned missing = grouped ? sp_missing_groups(p, groups) : 0;
    if (!missing)
        return SPAA_OK;
    spaa_status st = sp_callees_join(p);
    if (!st)
        st = sp_regroup(p, missing, d);
    s->regrouped = s->regrouped || !st;
    spaa_status again = sp_callees_split(p, NULL);
    return st ? st : again;
}

struct asking {
    struct sp_ask q;
    struct sp_profile **profiles;
    const char **names;
};

static spaa_status api_ask_profiles(struct spaa_answer *x, struct asking *k,
                                    struct spaa_profile *const *profiles, size_t n)
{
    const struct sp_question *question = k->q.question;
    struct sp_needs needs = {0};
    spaa_status st = question->needs ? question->needs(&x->options, &x->diags, &needs) : SPAA_OK;
    if (st)
        return st;
    k->profiles = calloc(n, sizeof *k->profiles);
    k->names = calloc(n, sizeof *k->names);
    if (!k->profiles || !k->names)
        return sp_nomem(&x->diags);
    bool as_one = n > 1 && !question->apart && !question->sides;
    if (as_one && (needs.samples || x->options.time))
        return sp_api_usage(&x->diags, "several profiles as one have no common time: ask each alone");
    unsigned groups = needs.groups | (x->options.pid ? SP_BY_PID : 0u);
    for (size_t i = 0; !st && i < n; i++) {
        k->names[i] = profiles[i]->name;
        k->profiles[i] = profiles[i]->p;
        st = as_one ? SPAA_OK : api_regroup(profiles[i], groups, &x->diags);
    }
    if (!st && as_one) {
        const struct sp_merge_opts how = {.frames = SP_FRAMES_ADDRESS, .group_by = ~0u, .by_source = true};
        st = sp_api_join(profiles, n, &how, &x->diags, &x->whole);
        k->profiles[0] = x->whole;
    }
    k->q.profiles = k->profiles;
    k->q.nprofiles = as_one ? 1 : n;
    k->q.names = k->names;
    k->q.nnames = n;
    return st;
}

/* ---- asking ---- */

static spaa_status api_ask(struct spaa_answer *x, struct spaa_profile *const *profiles, size_t n,
                           const struct spaa_ask_options *o)
{
    struct asking k = {.q = {.options = &x->options, .diags = &x->diags, .split = o->split}};
    spaa_status st = api_find_question(o, &x->diags, &k.q.question);
    if (!st)
        st = api_set_options(x, k.q.question, o);
    if (!st && o->argument && !(k.q.argument = sp_arena_dup(&x->arena, o->argument, strlen(o->argument))))
        st = sp_nomem(&x->diags);
    if (!st && o->split >= n && o->split)
        st = sp_api_usage(&x->diags, "split %zu leaves no profile for the other side", o->split);
    if (!st)
        st = api_ask_profiles(x, &k, profiles, n);
    if (!st) {
        x->a.schema = k.q.question->schema;
        st = sp_ask(&k.q, &x->a);
    }
    if (!st && !sp_api_answer_list(x))
        st = sp_nomem(&x->diags);
    free(k.profiles);
    free(k.names);
    return st;
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
    struct spaa_answer *x = calloc(1, sizeof *x);
    if (!x)
        return SPAA_ERR_NOMEM;
    sp_diags_init(&x->diags);
    sp_arena_init(&x->arena, 0);
    sp_answer_init(&x->a, NULL, &x->diags);
    spaa_status st = sp_api_options(&o, sizeof o, options, &x->diags);
    bool all = profiles && count && answer && count <= 1 << 20;
    for (size_t i = 0; all && i < count; i++)
        all = profiles[i] != NULL;
    if (!st && !all)
        st = sp_api_usage(&x->diags, "no profile, or no place for the answer");
    if (!st)
        st = api_ask(x, profiles, count, &o);
    for (size_t i = 0; all && i < count; i++) /* what was said where the profile reports */
        sp_api_deliver(&profiles[i]->diags, diagnostics, st);
    api_deliver_copy(x, diagnostics);
    if (st)
        spaa_answer_free(x);
    else
        *answer = x;
    return st;
}
