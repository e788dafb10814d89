/* annotate: the source of a function, with the weight of each line. */
#include "ask/annotate.h"
#include "ask/annotate_asm.h"

#include "ask/symbol_options.h"

#include <limits.h>
#include <stdlib.h>

static spaa_status annotate_answer(struct sp_annotate *x)
{
    struct sp_asked *asked = &x->asked;
    const struct sp_options *o = asked->q->options;
    struct sp_symbol_opts symbols = sp_symbol_options(o);
    const struct sp_source_opts how = {
        .paths = o->source_paths.v, .npaths = o->source_paths.n, .symfs = o->symfs, .gate = o->source_gate};
    spaa_status st = sp_annotate(&asked->s, &x->lookup, &symbols, asked->q->diags, &x->a);
    if (!st)
        st = sp_annotate_sources(x, &how, asked->q->diags);
    if (!st)
        st = sp_annotate_choose(x);
    if (!st)
        st = sp_annotate_ratios(x);
    if (st)
        return st;
    sp_annotate_say(x);
    if (o->annotate_base)
        st = sp_annotate_diff(x);
    else if (o->assembly)
        st = sp_annotate_asm(x);
    else
        sp_annotate_put(x);
    if (st)
        return st;
    return sp_asked_end(asked);
}

static void annotate_free(struct sp_annotate *x)
{
    for (size_t i = 0; i < x->texts.n; i++)
        sp_source_free(&x->texts.v[i]);
    sp_vec_free(&x->texts);
    sp_vec_free(&x->ranges);
    sp_vec_free(&x->missing);
    sp_ratios_free(&x->ratios);
    free(x->ratio_lines);
    sp_annotation_free(&x->a);
    sp_asked_free(&x->asked);
    sp_function_lookup_free(&x->lookup);
}

static spaa_status annotate_ask(struct sp_ask *q, struct sp_answer *out)
{
    struct sp_annotate x = {0};
    if (!sp_ask_limit(q, q->brief ? 10 : 20, &x.limit) ||
        !sp_option_number(q->diags, "context", q->options->context, 0, 10000, 2, &x.context))
        return SPAA_ERR_USAGE;
    if (!q->argument)
        return sp_usage(q->diags, "as in spaa annotate FILE FUNCTION, or ask_annotate('FUNCTION')",
                        "annotate needs the name of a function");
    spaa_status st = sp_lookup_functions(q->profiles[0], q->argument, q->diags, &x.lookup);
    if (st)
        return st;
    st = sp_asked_begin(q, out, &x.asked);
    if (!st)
        st = annotate_answer(&x);
    annotate_free(&x);
    return st;
}

static spaa_status annotate_needs(const struct sp_options *o, struct sp_diags *d, struct sp_needs *out)
{
    (void)o;
    (void)d;
    out->no_ids = true;
    return SPAA_OK;
}

const struct sp_question sp_question_annotate = {
    .name = "annotate",
    .args = "[FILE…] FUNCTION",
    .groups = G_READ | G_WAITS | G_EVENT | G_SELECT | G_TIME | G_THREADS | G_SOURCE | G_RATIO | G_ROWS |
              G_OWN | G_ANSWER | G_BUDGET,
    .title = "the source of a function, with the weight of each line",
    .examples = "spaa annotate profile.spaa '/main|checksum/'\n"
                "spaa annotate profile.spaa '/main|checksum/' --source-path /build/app=/home/me/app # built "
                "elsewhere\n"
                "spaa annotate profile.spaa '/main|checksum/' --json --budget 800 # hot ranges, for agents",
    .argument = true,
    .schema = "spaa.annotate/1",
    .facts = sp_annotate_facts,
    .tables = sp_annotate_tables,
    .needs = annotate_needs,
    .ask = annotate_ask,
};
