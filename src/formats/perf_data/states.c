/*
 * Thread states (x_state) of recordings that see threads off the CPU: those of `perf record --off-cpu`, whose
 * event `offcpu-time` has the stacks at which threads waited, and those with the tracepoint
 * sched:sched_switch, which is sampled where a thread leaves the CPU and says in prev_state why. All other
 * samples were taken on a CPU.
 */
#include "formats/perf_data/perf_data.h"

#include "model/sched_events.h"

const char *sp_pd_state_name(enum sp_pd_state s)
{
    static const enum sp_task_state off[] = {[SP_PD_QUEUED] = SP_TASK_RUNNABLE,
                                             [SP_PD_WAITING] = SP_TASK_SLEEPING,
                                             [SP_PD_BLOCKED] = SP_TASK_UNINTERRUPTIBLE,
                                             [SP_PD_STOPPED] = SP_TASK_STOPPED,
                                             [SP_PD_IDLE] = SP_TASK_IDLE,
                                             [SP_PD_GONE] = SP_TASK_DEAD};
    if (s == SP_PD_ON_CPU)
        return "RUNNABLE";
    return s >= SP_PD_QUEUED && s < sizeof off / sizeof *off ? sp_task_state_name(off[s]) : NULL;
}

bool sp_pd_is_offcpu(const struct sp_pd_attr *a)
{
    return a->type == PD_SOFTWARE && a->name.n == 11 && memcmp(a->name.p, "offcpu-time", 11) == 0;
}

static bool pd_states_is_switch(const struct sp_pd_attr *a)
{
    return a->type == PD_TRACEPOINT && a->sample_type & PD_RAW && a->name.n < UINT32_MAX &&
           sp_sched_kind_of((struct sp_str){a->name.p, (uint32_t)a->name.n}) == SP_SCHED_SWITCH;
}

void sp_pd_states(struct sp_pd *pd)
{
    for (size_t i = 0; i < pd->attrs.n; i++) {
        struct sp_pd_attr *a = &pd->attrs.v[i];
        const struct sp_pd_trace_field *f =
            pd_states_is_switch(a) ? sp_pd_trace_field(pd, a->config, "prev_state") : NULL;
        if (f && f->kind == SP_PD_NUMBERS && f->size == f->each && f->each >= 4) {
            a->prev_state = f->offset;
            a->prev_size = f->size;
            pd->switches = true;
        }
        pd->states |= a->prev_size || sp_pd_is_offcpu(a);
    }
    pd->states |= sp_pd_has_switch_records(pd);
    for (size_t i = 0; i < pd->attrs.n && pd->states; i++)
        pd->attrs.v[i].state = sp_pd_is_offcpu(&pd->attrs.v[i]) ? SP_PD_WAITING : SP_PD_ON_CPU;
}

enum sp_pd_state sp_pd_switch_state(const struct sp_pd *pd, const struct sp_pd_attr *a,
                                    const struct sp_pd_fields *f)
{
    if (!(f->has & PD_RAW) || a->prev_size > f->raw_size || a->prev_state > f->raw_size - a->prev_size)
        return SP_PD_GONE;
    const unsigned char *p = f->raw + a->prev_state;
    uint64_t v = a->prev_size == 8 ? sp_pd_u64(p, pd->swap) : sp_pd_u32(p, pd->swap);
    static const enum sp_pd_state states[] = {[SP_TASK_RUNNABLE] = SP_PD_QUEUED,
                                              [SP_TASK_SLEEPING] = SP_PD_WAITING,
                                              [SP_TASK_UNINTERRUPTIBLE] = SP_PD_BLOCKED,
                                              [SP_TASK_STOPPED] = SP_PD_STOPPED,
                                              [SP_TASK_IDLE] = SP_PD_IDLE,
                                              [SP_TASK_DEAD] = SP_PD_GONE,
                                              [SP_TASK_UNKNOWN] = SP_PD_GONE};
    return states[sp_task_state_of_bits(v)];
}
