/* Reads what bpftrace prints of its maps (docs/bpftrace.md). bpftrace.h shows a record. */
#include "formats/bpftrace/bpftrace.h"
#include "formats/common/text/off_cpu_option.h"

/* --event names the only map, unless it is the name of one. */
static spaa_status bpftrace_name_event(struct bt_reader *r)
{
    const char *name = r->opts->event;
    struct sp_event e;
    if (!name || r->maps.n != 1 || sp_event_find(r->p, name, strlen(name)) != SP_NONE)
        return SPAA_OK;
    if (!sp_agg_event_named(r->p, name, strlen(name), "count", &e))
        return sp_nomem(r->d);
    uint32_t event = r->maps.v[0].event, asked = e.name;
    e.name = r->p->events.v[event].name;
    r->p->events.v[event] = e;
    return sp_event_rename(r->p, event, asked) ? SPAA_OK : sp_nomem(r->d);
}

/* Counts stand beside the primary metric as samples; sums, averages and the like do not count. */
static spaa_status bpftrace_declare_metrics(struct bt_reader *r)
{
    uint32_t samples = sp_metric_intern(r->p, "samples", 7);
    if (samples == SP_NONE)
        return sp_nomem(r->d);
    for (size_t i = 0; i < r->maps.n; i++)
        if (!sp_agg_function_settle(&r->functions, r->maps.v[i].event, sp_pstr(r->p, r->maps.v[i].name),
                                    false, &r->maps.v[i].seen))
            return sp_nomem(r->d);
    r->agg.samples = samples;
    return SPAA_OK;
}

static spaa_status bpftrace_finish_header(struct bt_reader *r)
{
    struct sp_header *h = &r->p->header;
    struct sp_buf b;
    sp_buf_init(&b, 0);
    h->source_tool = h->tool = sp_profile_cstr(r->p, "bpftrace");
    h->version = sp_profile_cstr(r->p, "1.0");
    h->has_x_spaa = true;
    bool lines = r->agg.granularity == SP_FRAMES_LINE && r->lined;
    h->frames = r->agg.granularity == SP_FRAMES_ADDRESS ? SP_FRAMES_ADDRESS
                : lines                                 ? SP_FRAMES_LINE
                                                        : SP_FRAMES_FUNCTION;
    h->group_by = sp_agg_keys_groups(&r->keys);
    sp_buf_puts(&b, "\"x_bpftrace\":{");
    sp_agg_keys_header(&r->keys, &b);
    sp_buf_ch(&b, '}');
    h->extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    bool ok = h->extra_json != SP_STR_FAIL && h->source_tool != SP_STR_FAIL && h->version != SP_STR_FAIL;
    return ok ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status bpftrace_finish(struct bt_reader *r, struct sp_input *in)
{
    spaa_status st = bt_take_end(r);
    if (!st && !r->any) {
        st = sp_input_failed(in);
        if (!st)
            sp_emit(r->d, SP_E011, SP_AT_NOTHING, "the text has no map with numbers");
        return st ? st : SPAA_ERR_INPUT;
    }
    if (!st)
        st = bpftrace_name_event(r);
    if (!st)
        st = bpftrace_finish_header(r);
    if (!st)
        st = bpftrace_declare_metrics(r);
    if (!st)
        st = sp_agg_finish(&r->agg);
    if (!st && r->off_cpu)
        st = sp_off_cpu_sums(r->p, r->off_cpu, r->d);
    if (st)
        return st;
    sp_agg_keys_say(&r->keys, "--keys names them: --keys kstack,ustack,comm");
    if (r->other_lines && !r->opts->keeper)
        sp_emit_hint(r->d, SP_I321, SP_AT_NOTHING, "--lossless keeps them",
                     "%llu lines of other text (what the program printed, maps of strings, time series)",
                     (unsigned long long)r->other_lines);
    return sp_agg_functions_say(&r->functions) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status bpftrace_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                                 struct sp_profile *p)
{
    struct bt_reader r = {.p = p, .d = d, .opts = opts};
    r.lines = (struct sp_lines){.reader = &r, .take = bt_take_line};
    sp_agg_init(&r.agg, p, d);
    sp_agg_lines_init(&r.known);
    if (opts->frames > SP_FRAMES_ADDRESS)
        r.agg.granularity = opts->frames;
    sp_json_init(&r.json, "", 0);
    spaa_status st = sp_agg_functions_init(&r.functions, p, opts, d);
    if (!st)
        st = sp_off_cpu_asked(opts, d, &r.off_cpu);
    if (r.off_cpu && !r.functions.option)
        r.functions.option = "sum";
    if (!st)
        st = sp_agg_keys_init(&r.keys, p, opts, "x_bpftrace", d);
    if (!st)
        st = sp_lines_read(&r.lines, in);
    if (!st)
        st = bpftrace_finish(&r, in);
    sp_agg_functions_free(&r.functions);
    sp_agg_free(&r.agg);
    sp_agg_lines_free(&r.known);
    sp_json_free(&r.json);
    sp_vec_free(&r.maps);
    return st;
}

static const struct sp_format_option options[] = {
    {"keys", "NAMES", "what the keys of a map are, in order: kstack,ustack,comm", SP_CAN_READ},
    {"stack-type", "user|kernel", "what the stacks are, where their names do not tell", SP_CAN_READ},
    {"aggregation", "FUNCTION", "what bare values are: count, sum, min, max, avg; @map=avg,…", SP_CAN_READ},
    SP_OFF_CPU_OPTION,
    {0},
};

const struct spaa_format spaa_format_bpftrace = {
    .name = "bpftrace",
    .title = "bpftrace maps, as text or JSON",
    .extensions = "bpftrace bt.out",
    .media_type = "text/plain",
    .comes_back = "the same stacks, as bpftrace prints them",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_SPELLS_STACKS,
    .options = options,
    .probe = bt_probe,
    .read = bpftrace_read,
    .write = bt_write,
};
