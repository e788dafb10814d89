/* What the data is like: names and stacks that are missing, losses, few samples. */
#include "analysis/finding_private.h"

static bool tell(struct finder *x, struct sp_finding f)
{
    return finding_add(x, &f);
}

/* Every occurrence was recorded: its shares are exact, however few there are. */
static bool counts_all(const struct sp_profile *p, uint32_t event)
{
    const struct sp_event *e = &p->events.v[event];
    return e->mode == SP_EVENT || (e->mode == SP_PERIOD && sp_str_is(sp_pstr(p, e->sample_period), "1"));
}

bool finding_tell_data(struct finder *x)
{
    const struct sp_selection *s = x->s;
    const struct sp_quality *q = x->q;
    int64_t samples = sp_event_samples(x->p, s->event);
    int64_t lost = q->lost > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)q->lost;
    int64_t cut = q->truncated > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)q->truncated;
    int64_t all = samples > 0 && samples < INT64_MAX / 4 ? samples : 0;
    bool ok = tell(x, finding_about(SP_FIND_UNRESOLVED, q->unresolved_leaf, q->unresolved_leaf, s->whole)) &&
              tell(x, finding_about(SP_FIND_NO_STACK, q->no_stack, q->no_stack, s->whole)) &&
              tell(x, finding_about(SP_FIND_LOST, SP_ABSENT, lost, all ? all + lost : 0)) &&
              tell(x, finding_about(SP_FIND_TRUNCATED, SP_ABSENT, cut, all));
    if (ok && s->whole_samples > 0 && s->whole_samples < sp_finding_infos[SP_FIND_FEW].percent &&
        !counts_all(x->p, s->event))
        ok = sp_vec_push(&x->out.list,
                         finding_about(SP_FIND_FEW, SP_ABSENT, s->whole_samples, s->whole_samples));
    return ok;
}
