/*
 * Reads DTrace's printed aggregations (docs/dtrace.md; the format is described by what `dtrace` prints for
 * `@[keys] = agg()`). dtrace.h shows a record; take.c makes them of lines, formats/aggregation.h stacks of
 * them.
 */
#include "formats/common/text/off_cpu_option.h"
#include "formats/dtrace/records.h"

#include <string.h>

static spaa_status dtrace_start(struct dt_reader *r)
{
    spaa_status st = sp_agg_keys_init(&r->keys, r->p, r->opts, "x_dtrace", r->d);
    if (st)
        return st;
    const char *name = r->opts->event ? r->opts->event : "dtrace";
    struct sp_event e;
    struct dt_group g = {.event = SP_NONE};
    if (!sp_agg_event_named(r->p, name, strlen(name), "count", &e))
        return sp_nomem(r->d);
    g.event = sp_event_add(r->p, &e);
    return g.event != SP_NONE && sp_vec_push(&r->groups, g) ? SPAA_OK : sp_nomem(r->d);
}

static bool dtrace_report_losses(struct dt_reader *r)
{
    if (r->firings > 1)
        sp_emit_hint(r->d, SP_I322, SP_AT_NOTHING,
                     "a program that does not clear() its aggregations prints earlier counts again",
                     "the output was printed %llu times; the values were added",
                     (unsigned long long)r->firings);
    if (r->any_leads)
        sp_emit(r->d, SP_I322, SP_AT_NOTHING,
                "values were found in the lines before their stacks, as printa(\"%%@d%%k\") puts them");
    if (r->packed)
        sp_emit(
            r->d, SP_I322, SP_AT_NOTHING,
            "-x aggpack draws distributions without their numbers: only how many values each has is known");
    sp_agg_keys_say(&r->keys, "--keys names them: --keys execname,pid,ustack");
    if (r->other_lines && !r->opts->keeper)
        sp_emit_hint(r->d, SP_I321, SP_AT_NOTHING, "--lossless keeps them",
                     "%llu lines of other text (titles, what the program printed)",
                     (unsigned long long)r->other_lines);
    return sp_agg_functions_say(&r->functions);
}

static spaa_status dtrace_finish(struct dt_reader *r, struct sp_input *in)
{
    spaa_status st = dt_take_end(r);
    if (!st && !r->any) {
        st = sp_input_failed(in);
        if (!st)
            sp_emit(r->d, SP_E011, SP_AT_NOTHING, "the text has no aggregation");
        return st ? st : SPAA_ERR_INPUT;
    }
    if (!st)
        st = dt_header(r);
    if (!st)
        st = (r->agg.samples = sp_metric_intern(r->p, "samples", 7)) == SP_NONE ? sp_nomem(r->d) : SPAA_OK;
    if (!st) {
        dt_settle_empty(r);
        st = sp_agg_finish(&r->agg);
    }
    if (!st && r->off_cpu)
        st = sp_off_cpu_sums(r->p, r->off_cpu, r->d);
    return st || dtrace_report_losses(r) ? st : sp_nomem(r->d);
}

static spaa_status dtrace_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                               struct sp_profile *p)
{
    struct dt_reader r = {.p = p, .d = d, .opts = opts, .gap = true, .run = SIZE_MAX};
    r.lines = (struct sp_lines){.reader = &r, .take = dt_take_line};
    sp_agg_init(&r.agg, p, d);
    sp_agg_lines_init(&r.known);
    if (opts->frames > SP_FRAMES_ADDRESS)
        r.agg.granularity = opts->frames;
    sp_buf_init(&r.last, 0);
    sp_buf_init(&r.line, 0);
    spaa_status st = sp_agg_functions_init(&r.functions, p, opts, d);
    if (!st)
        st = sp_off_cpu_asked(opts, d, &r.off_cpu);
    if (r.off_cpu && !r.functions.option)
        r.functions.option = "sum";
    if (!st)
        st = dtrace_start(&r);
    if (!st)
        st = sp_lines_read(&r.lines, in);
    if (!st)
        st = dtrace_finish(&r, in);
    sp_agg_functions_free(&r.functions);
    sp_agg_free(&r.agg);
    sp_agg_lines_free(&r.known);
    sp_buf_free(&r.last);
    sp_buf_free(&r.line);
    sp_vec_free(&r.groups);
    return st;
}

static const struct sp_format_option options[] = {
    {"keys", "NAMES", "what the keys of a record are, in order: execname,pid,ustack", SP_CAN_READ},
    {"stack-type", "user|kernel", "what the stacks are, where their modules do not tell", SP_CAN_READ},
    {"aggregation", "FUNCTION", "what the values are: count, sum, min, max, avg, stddev; TITLE=avg,…",
     SP_CAN_READ},
    SP_OFF_CPU_OPTION,
    {0},
};

const struct spaa_format spaa_format_dtrace = {
    .name = "dtrace",
    .title = "DTrace aggregations",
    .extensions = "dtrace d.out",
    .media_type = "text/plain",
    .comes_back = "the same stacks, as dtrace prints them",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_SPELLS_STACKS,
    .options = options,
    .probe = dt_probe,
    .read = dtrace_read,
    .write = dt_write,
};
