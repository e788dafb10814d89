/*
 * What CodeGuru Profiler would refuse, or worse take and show nowhere: found before anything is sent. The
 * body is read as any profile is.
 */
#include "remote/codeguru.h"

#include "base/num.h"
#include "formats/open.h"

#include <inttypes.h>
#include <stdio.h>

#define YEAR_2015   INT64_C(1420070400000) /* times are milliseconds */
#define CLOCKS_SKEW 300000                 /* what AWS puts up with between two clocks */

static const char *iso(int64_t ms, char out[static 40])
{
    time_t t = (time_t)(ms / 1000 - (ms % 1000 < 0));
    struct tm tm;
    if (!gmtime_r(&t, &tm) || !strftime(out, 40, "%Y-%m-%dT%H:%M:%SZ", &tm))
        snprintf(out, 40, "%" PRId64 " ms", ms);
    return out;
}

/* A number of seconds in milliseconds, as far as they go. */
static bool time_of(const struct sp_profile *p, uint32_t text, int64_t *ms)
{
    struct sp_str s = sp_pstr(p, text);
    unsigned scale;
    if (!s.n || !sp_parse_scaled(s.p, s.n, ms, &scale))
        return false;
    for (; scale > 3; scale--)
        *ms /= 10;
    int64_t sign = *ms < 0 ? -1 : 1;
    for (; scale < 3; scale++)
        if (__builtin_mul_overflow(*ms, 10, ms))
            *ms = sign * (INT64_MAX / 10);
    return true;
}

static bool times_fit(const struct sp_profile *p, struct sp_diags *d)
{
    static const char hint[] = "--start MS says when it was taken (milliseconds since 1970)";
    const struct sp_header *h = &p->header;
    int64_t start, end, now = 1000 * (int64_t)time(NULL);
    char a[40], b[40];
    if (!time_of(p, h->time_start, &start) || !time_of(p, h->time_end, &end))
        sp_emit_hint(d, SP_E466, SP_AT_NOTHING, hint, "it has no start or no end");
    else if (end < start)
        sp_emit_hint(d, SP_E466, SP_AT_NOTHING, hint, "it ends (%s) before it starts (%s)", iso(end, b),
                     iso(start, a));
    else if (start < YEAR_2015)
        sp_emit_hint(d, SP_E466, SP_AT_NOTHING, hint, "it starts in %.4s (%s): before 2015", iso(start, a),
                     a);
    else if (end > now + CLOCKS_SKEW)
        sp_emit_hint(d, SP_E466, SP_AT_NOTHING, hint, "it ends in the future: %s", iso(end, b));
    else
        return true;
    return false;
}

static bool counts_fit(const struct sp_profile *p, struct sp_diags *d)
{
    uint32_t metric = sp_metric_find(p, "samples", 7);
    bool any = false;
    for (uint32_t s = 0; metric != SP_NONE && s < p->stacks.n; s++) {
        const struct sp_stack *x = &p->stacks.v[s];
        int64_t v = sp_weight(p, s, metric);
        char number[64];
        struct sp_str text = {number, 0}, leaf = {"", 0};
        if (v == SP_DECIMAL)
            text = sp_weight_text(p, s, metric);
        else if (v != SP_ABSENT)
            text.n = (uint32_t)sp_scaled_text(v, 0, number);
        any = any || text.n;
        if (!text.n || text.p[0] != '-')
            continue;
        if (x->n)
            leaf = sp_pstr(p, sp_frame_function(p, *sp_stack_frames(p, s))->name);
        struct sp_str state = sp_pstr(p, p->contexts.v[x->context].state);
        sp_emit_hint(d, SP_E466, SP_AT_NOTHING, "counts are samples: whole, and not negative",
                     "a count of %.*s (%.*s of `%.*s`)", (int)text.n, text.p, (int)state.n, state.p,
                     (int)(leaf.n < 100 ? leaf.n : 100), leaf.p);
        return false;
    }
    if (!any)
        sp_emit_hint(d, SP_E466, SP_AT_NOTHING, "`spaa info FILE` shows what is in it",
                     "its call graph is empty");
    return any;
}

spaa_status sp_codeguru_check(const void *body, size_t n, struct sp_diags *d)
{
    const struct spaa_format *f = sp_format_by_name("codeguru");
    struct sp_read_opts opts = {.frames = SP_FRAMES_FUNCTION, .group_by = SP_BY_STATE, .no_ids = true};
    struct sp_diags quiet; /* it was read before, or written here */
    struct sp_input *in = NULL;
    struct sp_profile *p = NULL;
    sp_diags_init(&quiet);
    spaa_status st = sp_input_memory(body, n, "<body>", &quiet, &in);
    if (!st)
        st = sp_read_profile(in, f, &opts, &quiet, &p);
    if (!st)
        st = times_fit(p, d) && counts_fit(p, d) ? SPAA_OK : SPAA_ERR_INPUT;
    else
        sp_diags_merge(d, &quiet);
    sp_profile_free(p);
    sp_input_close(in);
    sp_diags_free(&quiet);
    return st;
}
