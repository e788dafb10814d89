/* Linux perf.data as a format: the steps of perf_data.h in order. */
#include "formats/perf_data/resolve.h"

#include "model/samples.h"

static int pd_probe(const unsigned char *p, size_t n, bool whole, const char **reason)
{
    (void)whole;
    if (n < 8)
        return 0;
    if (memcmp(p, "PERFILE2", 8) == 0 || memcmp(p, "2ELIFREP", 8) == 0) {
        *reason = "starts with PERFILE2";
        return 100;
    }
    if (memcmp(p, "PERFFILE", 8) == 0) {
        *reason = "starts with PERFFILE, the old version";
        return 100;
    }
    return 0;
}

static void pd_reader_free_session(struct sp_pd *pd)
{
    sp_pd_parts_free(pd);
    for (size_t i = 0; i < pd->processes.n; i++)
        sp_vec_free(&pd->processes.v[i].changes);
    for (size_t i = 0; i < pd->threads.n; i++)
        sp_vec_free(&pd->threads.v[i].comms);
    sp_buf_free(&pd->about);
    sp_vec_free(&pd->throttles);
    sp_vec_free(&pd->cgroups);
    sp_vec_free(&pd->trace_formats);
    sp_vec_free(&pd->trace_fields);
    sp_vec_free(&pd->attrs);
    sp_vec_free(&pd->ids);
    sp_vec_free(&pd->descs);
    sp_vec_free(&pd->pmus);
    sp_vec_free(&pd->build_ids);
    sp_vec_free(&pd->mapped_files);
    sp_vec_free(&pd->event_types);
    sp_vec_free(&pd->sides);
    sp_vec_free(&pd->kernel_maps);
    sp_vec_free(&pd->deferred);
    sp_vec_free(&pd->processes);
    sp_vec_free(&pd->threads);
    sp_vec_free(&pd->epochs);
    sp_vec_free(&pd->groups);
    sp_vec_free(&pd->pending);
    sp_vec_free(&pd->branches);
    struct sp_map *maps[] = {&pd->id_map,       &pd->build_id_map, &pd->mapped_file_map,
                             &pd->deferred_map, &pd->process_map,  &pd->thread_map,
                             &pd->epoch_map,    &pd->group_map,    &pd->branch_map};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        sp_map_free(maps[i]);
    sp_arena_free(&pd->arena);
}

/* What of the wished grouping the samples can tell. */
static unsigned pd_reader_grouping(const struct sp_pd *pd)
{
    uint64_t have = 0;
    for (size_t i = 0; i < pd->attrs.n; i++)
        have |= pd->attrs.v[i].sample_type;
    unsigned can = (have & PD_TID ? SP_BY_PID | SP_BY_TID | SP_BY_COMM : 0) |
                   (have & PD_CPU ? SP_BY_CPU : 0) | (pd->states ? SP_BY_STATE : 0);
    return pd->opts->group_by & can;
}

/* From the timeline on. */
static spaa_status pd_reader_to_stacks(struct sp_pd *pd)
{
    struct sp_pd_frames *frames;
    spaa_status st = sp_pd_frames_new(pd, &frames);
    if (st)
        return st;
    st = sp_pd_frames_kernel(frames);
    if (!st)
        st = sp_pd_reloads(pd, frames);
    if (!st)
        st = sp_pd_pass2(pd);
    if (!st)
        st = sp_pd_unwind(pd, frames);
    if (!st)
        st = sp_pd_add_events(pd);
    if (!st)
        st = sp_pd_branches_event(pd);
    if (!st)
        st = sp_pd_resolve(pd, frames);
    if (!st)
        st = sp_pd_switches(pd);
    if (!st)
        st = sp_pd_facts(pd, frames);
    sp_pd_frames_free(frames);
    return st;
}

static bool pd_reader_has_fields(const struct sp_pd *pd)
{
    for (size_t i = 0; i < pd->attrs.n; i++)
        if (pd->attrs.v[i].type == PD_TRACEPOINT && pd->attrs.v[i].sample_type & PD_RAW)
            return true;
    return false;
}

static spaa_status pd_reader_run(struct sp_pd *pd)
{
    spaa_status st = sp_pd_open(pd);
    if (!st)
        st = sp_pd_pass1(pd);
    if (st)
        return st;
    if (!pd->attrs.n) {
        sp_emit(pd->d, SP_E010, SP_AT(pd->parts.v[0].ranges[0].base), "the recording declares no events");
        return SPAA_ERR_INPUT;
    }
    for (size_t i = 0; i < pd->attrs.n; i++)
        pd->p->holds_memory = pd->p->holds_memory || pd->attrs.v[i].sample_type & PD_STACK_USER;
    st = sp_pd_name_events(pd);
    if (!st)
        st = sp_pd_tracefs(pd);
    sp_pd_states(pd);
    /* Switches become time off the CPU, which needs them one by one. */
    bool moments = pd->switches || sp_pd_has_switch_records(pd);
    bool asked = pd->opts->samples || (pd->opts->fields && pd_reader_has_fields(pd));
    pd->p->samples_unasked = moments && !asked;
    if (!st && (asked || moments))
        st = sp_samples_new(pd->d, &pd->p->samples);
    pd->group_by = pd_reader_grouping(pd);
    if (!st)
        st = sp_pd_timeline(pd);
    if (!st)
        sp_pd_mapped_last(pd);
    if (!st)
        st = pd_reader_to_stacks(pd);
    if (!st)
        st = sp_pd_summary(pd);
    if (!st && !pd->groups.n)
        sp_emit(pd->d, SP_W311, SP_AT_NOTHING, "the recording holds no samples");
    return st;
}

static spaa_status pd_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                           struct sp_profile *p)
{
    struct sp_pd *pd = calloc(1, sizeof *pd);
    if (!pd)
        return sp_nomem(d);
    pd->d = d;
    pd->in = in;
    pd->opts = opts;
    pd->p = p;
    pd->lbr_callstack = sp_own_opt(opts->own, opts->nown, "lbr-callstack");
    pd->stack_bytes = sp_own_opt(opts->own, opts->nown, "stack-bytes");
    sp_arena_init(&pd->arena, 0);
    sp_buf_init(&pd->about, 0);
    spaa_status st = sp_input_whole(in, &pd->file, &pd->size);
    if (!st)
        st = pd_reader_run(pd);
    pd_reader_free_session(pd);
    free(pd);
    return st;
}

static const struct sp_format_option options[] = {
    {"lbr-callstack", NULL,
     "take call stacks from branch stacks, also from those that are none of themselves", SP_CAN_READ},
    {"stack-bytes", NULL, "with --samples: keep the bytes of copied stacks, in hexadecimal", SP_CAN_READ},
    {"tracefs", "DIR",
     "formats of tracepoints that the recording lacks: a copy of /sys/kernel/tracing/events in DIR/events",
     SP_CAN_READ},
    {NULL, NULL, NULL, 0},
};

const struct spaa_format spaa_format_perf_data = {
    .name = "perf-data",
    .title = "Linux perf.data",
    .extensions = "perf.data data",
    .media_type = "application/vnd.linux.perf.data",
    .comes_back = "it is only read",
    .caps = SP_CAN_READ | SP_NAMES_FROM_SYMBOLS,
    .options = options,
    .probe = pd_probe,
    .read = pd_read,
};
