/*
 * An evented profile: frames open and close, and what is open between two events is a stack. A file whose
 * events are not balanced is invalid, and speedscope refuses it. Here it is mended, which is said: a frame
 * that is closed below others leaves from between them, so that each has the time between its own two events;
 * what is never closed is open to the end.
 */
#include "formats/speedscope/speedscope.h"

struct ss_open {
    const struct sp_ss_profile *x;
    SP_VEC(uint32_t) frames; /* root first */
    uint64_t beyond;         /* open, and deeper than what is kept */
    __int128 at;
};

/* What is open was so until `at`. */
static bool ss_pass(struct sp_ss *r, struct ss_open *o, __int128 at)
{
    __int128 lasted = at - o->at;
    if (lasted < 0)
        r->backwards++;
    if (lasted <= 0)
        return true;
    o->at = at;
    if (!o->frames.n) {
        int64_t *gap = &r->gaps[o->x->kind];
        int64_t more = (int64_t)(o->x->kind == SP_SS_TIME ? lasted : lasted / 1000000000);
        *gap = *gap > INT64_MAX - more ? INT64_MAX : *gap + more;
        return true;
    }
    r->path.n = 0;
    if (!sp_vec_reserve(&r->path, o->frames.n)) {
        r->status = sp_nomem(r->d);
        return false;
    }
    memcpy(r->path.v, o->frames.v, o->frames.n * sizeof *r->path.v);
    r->path.n = o->frames.n;
    return sp_ss_add(r, o->x, lasted, true, at);
}

static bool ss_enter(struct sp_ss *r, struct ss_open *o, uint32_t frame)
{
    if (o->frames.n >= SP_SS_DEPTH) {
        o->beyond++;
        r->deep++;
        return true;
    }
    if (sp_vec_push(&o->frames, frame))
        return true;
    r->status = sp_nomem(r->d);
    return false;
}

static void ss_leave(struct sp_ss *r, struct ss_open *o, uint32_t frame)
{
    if (o->beyond) {
        o->beyond--;
        return;
    }
    size_t i = o->frames.n;
    while (i && o->frames.v[i - 1] != frame)
        i--;
    if (!i) {
        r->stray_closes++;
        return;
    }
    r->mended += i < o->frames.n;
    memmove(o->frames.v + i - 1, o->frames.v + i, (o->frames.n - i) * sizeof *o->frames.v);
    o->frames.n--;
}

static bool ss_event(struct sp_ss *r, struct ss_open *o, struct sp_json *j)
{
    struct sp_json_member m[] = {{"type", {0}}, {"frame", {0}}, {"at", {0}}};
    struct sp_span raw;
    __int128 at;
    if (sp_json_type(j) != SP_JSON_OBJECT) {
        r->bad_rows++;
        return sp_json_skip(j, &raw);
    }
    if (!sp_json_members(j, m, sizeof m / sizeof *m))
        return false;
    bool opens = sp_span_is(m[0].raw, "\"O\""), closes = sp_span_is(m[0].raw, "\"C\"");
    if ((!opens && !closes) || !m[2].raw.n || !sp_ss_number(r, o->x, m[2].raw, &at)) {
        r->bad_rows++;
        return true;
    }
    uint32_t frame = sp_ss_frame(r, m[1].raw);
    if (!ss_pass(r, o, at))
        return false;
    if (frame != SP_NONE && opens)
        return ss_enter(r, o, frame);
    if (frame != SP_NONE)
        ss_leave(r, o, frame);
    return true;
}

/* Where no start is stated, the first event is it. */
static bool ss_begin(struct sp_ss *r, struct ss_open *o, const struct sp_json *j)
{
    struct sp_json_member at = {"at", {0}};
    struct sp_json first;
    __int128 t;
    sp_json_init(&first, j->p, (size_t)(j->end - j->p));
    if (sp_json_members(&first, &at, 1) && sp_ss_number(r, o->x, at.raw, &t))
        o->at = t;
    if (first.scratch.failed)
        r->status = sp_nomem(r->d);
    sp_json_free(&first);
    return !r->status;
}

bool sp_ss_read_evented(struct sp_ss *r, const struct sp_ss_profile *x)
{
    struct ss_open o = {.x = x, .at = x->start};
    struct sp_json j;
    bool ok = true, begun = x->has_start;
    sp_json_init(&j, x->events.p, x->events.n);
    if (x->events.n && sp_json_array(&j))
        while (ok && sp_json_item(&j)) {
            ok = (begun || ss_begin(r, &o, &j)) && ss_event(r, &o, &j) && sp_ss_note(r, &j);
            begun = true;
        }
    ok = !r->status && sp_ss_ended(r, &j);
    r->left_open += o.frames.n;
    if (ok && x->has_end && x->end > o.at && !j.error)
        ok = ss_pass(r, &o, x->end);
    sp_vec_free(&o.frames);
    sp_json_free(&j);
    return ok;
}
