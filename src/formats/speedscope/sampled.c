/* A sampled profile: rows of frames, root first, and a weight for each. */
#include "formats/speedscope/speedscope.h"

/* The row's frames into r->path; what is no frame is left out of it. */
static bool ss_row(struct sp_ss *r, struct sp_json *j)
{
    struct sp_span raw;
    r->path.n = 0;
    if (sp_json_type(j) != SP_JSON_ARRAY) {
        r->bad_rows++;
        return sp_json_skip(j, &raw);
    }
    sp_json_array(j);
    while (sp_json_item(j)) {
        if (!sp_json_skip(j, &raw))
            return false;
        uint32_t frame = sp_ss_frame(r, raw);
        if (frame != SP_NONE && !sp_vec_push(&r->path, frame)) {
            r->status = sp_nomem(r->d);
            return false;
        }
    }
    return !j->error;
}

/* The next weight; false: there is none, or none that can be used. */
static bool ss_weight(struct sp_ss *r, const struct sp_ss_profile *x, struct sp_json *weights, __int128 *out)
{
    struct sp_span raw;
    if (weights->error || !sp_json_item(weights) || !sp_json_skip(weights, &raw))
        return false;
    if (sp_ss_number(r, x, raw, out))
        return true;
    r->bad_rows++;
    *out = 0;
    return true;
}

static bool ss_rows(struct sp_ss *r, const struct sp_ss_profile *x, struct sp_json *samples,
                    struct sp_json *weights)
{
    __int128 at = x->start, weight = 0;
    uint64_t without = 0;
    bool more = true;
    while (sp_json_item(samples) && ss_row(r, samples)) {
        more = more && ss_weight(r, x, weights, &weight);
        without += !more;
        at += weight;
        bool timed = !r->ours && weight >= 0 && at > x->start - INT64_MAX / 2 && at < INT64_MAX / 2;
        if (more && weight && !sp_ss_add(r, x, weight, timed, at))
            return false;
        if (!sp_ss_note(r, samples))
            return false;
    }
    if (r->status)
        return false;
    uint64_t beyond = 0;
    while (!samples->error && more && ss_weight(r, x, weights, &weight))
        beyond++;
    if (without || beyond)
        sp_emit(r->d, SP_L300, SP_AT((uint64_t)(x->samples.p - r->file.text.p)),
                without ? "%llu samples without a weight" : "%llu weights without a sample",
                (unsigned long long)(without ? without : beyond));
    return true;
}

bool sp_ss_read_sampled(struct sp_ss *r, const struct sp_ss_profile *x)
{
    struct sp_json samples, weights;
    sp_json_init(&samples, x->samples.p, x->samples.n);
    sp_json_init(&weights, x->weights.p, x->weights.n);
    bool ok = x->samples.n && sp_json_array(&samples);
    if (!x->weights.n || !sp_json_array(&weights))
        weights.error = "no weights";
    ok = !ok || ss_rows(r, x, &samples, &weights);
    ok = ok && sp_ss_ended(r, &samples);
    if (ok && weights.scratch.failed) {
        r->status = sp_nomem(r->d);
        ok = false;
    }
    sp_json_free(&samples);
    sp_json_free(&weights);
    return ok;
}
