/* What both kinds of profiles are made of: numbers, frames by number, and stacks with weights. */
#include "base/num.h"
#include "formats/speedscope/speedscope.h"
#include "model/samples.h"

#define UNITS 1000000000 /* of a fixed number, but of time */

bool sp_ss_number(struct sp_ss *r, const struct sp_ss_profile *x, struct sp_span raw, __int128 *out)
{
    bool exact = true;
    if (!sp_parse_fixed(raw.p, raw.n, x->digits, out, &exact))
        return false;
    r->rounded += !exact;
    __int128 most = x->kind == SP_SS_TIME ? (__int128)INT64_MAX / 2 : (__int128)INT64_MAX / 2 * UNITS;
    return *out > -most && *out < most;
}

uint32_t sp_ss_frame(struct sp_ss *r, struct sp_span raw)
{
    uint64_t i;
    bool number = raw.n && sp_parse_u64(raw.p, raw.p + raw.n, &i) == raw.n;
    uint32_t frame = number && i < r->frames.n ? r->frames.v[i] : SP_NONE;
    r->bad_frames += frame == SP_NONE;
    return frame;
}

static bool ss_add_weight(struct sp_ss *r, uint32_t stack, const struct sp_ss_profile *x, __int128 weight)
{
    char text[64];
    if (x->kind == SP_SS_TIME)
        return sp_weight_add(r->p, stack, r->value, (int64_t)weight);
    if (weight % UNITS == 0 && sp_weight(r->p, stack, r->value) != SP_DECIMAL)
        return sp_weight_add(r->p, stack, r->value, (int64_t)(weight / UNITS));
    return sp_weight_add_text(r->p, stack, r->value, text, sp_scaled_text(weight, 9, text));
}

static spaa_status ss_keep(struct sp_ss *r, const struct sp_ss_profile *x, uint32_t stack, int64_t weight,
                           int64_t until)
{
    struct sp_sample row = {.time = until,
                            .pid = x->pid,
                            .tid = x->tid,
                            .cpu = SP_ABSENT,
                            .period = weight,
                            .stack = stack,
                            .event = r->events[x->kind],
                            .flags = SP_SAMPLE_TIME | SP_SAMPLE_LASTED};
    r->first = !r->timed || until - weight < r->first ? until - weight : r->first;
    r->last = !r->timed || until > r->last ? until : r->last;
    r->timed = true;
    return r->p->samples ? sp_samples_add(r->p->samples, &row) : SPAA_OK;
}

bool sp_ss_add(struct sp_ss *r, const struct sp_ss_profile *x, __int128 weight, bool timed, __int128 until)
{
    struct sp_profile *p = r->p;
    bool is_new;
    if (p->stack_frames.n + r->path.n > r->frames_max) {
        r->status = sp_json_too_many_frames(r->d, SP_AT_NOTHING, r->frames_max,
                                            "stacks this deep, all of them different, are no profile");
        return false;
    }
    sp_turn_path(r->path.v, r->path.n);
    uint32_t s = sp_stack_intern(p, r->path.v, r->path.n, x->context, SP_UNIFIED, &is_new);
    if (s != SP_NONE && is_new)
        sp_stack_set_layout(p, s, r->layouts[x->kind]);
    if (s == SP_NONE || !ss_add_weight(r, s, x, weight))
        r->status = sp_nomem(r->d);
    else if (timed && x->kind == SP_SS_TIME && weight >= 0)
        r->status = ss_keep(r, x, s, (int64_t)weight, (int64_t)until);
    return !r->status;
}

bool sp_ss_note(struct sp_ss *r, const struct sp_json *j)
{
    r->status = sp_json_file_note(&r->file, j);
    return !r->status;
}

bool sp_ss_ended(struct sp_ss *r, const struct sp_json *j)
{
    if (!r->status)
        r->status = sp_json_file_ended(&r->file, j);
    return !r->status;
}
