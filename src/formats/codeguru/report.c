/*
 * What an agent says of its report. The Python agent makes its metadata once (AgentMetadata.serialize_to_json
 * keeps the first): every later report of the process repeats the duration, weights and ticks of the first,
 * while `start`, `end` and the counts are its own. So a duration is believed as far as the time range does
 * not contradict it:
 *
 * - `end` is the time of the last sample, and durations run until the report is made: up to one tick more.
 * - They leave out pauses (a frozen Lambda), so less than the range can be true; of the Python agent in its
 *   first report only.
 * - Several recordings in one, as spaa writes them, last longer than the range together.
 */
#include "formats/codeguru/report.h"

#include "base/num.h"

#include <time.h>

#define SECOND       INT64_C(1000000000)
#define PYTHON_AGENT "CodeGuruProfiler-python"
#define THREADS_MAX  100 /* of which the Python agent takes stacks at a time */

int64_t sp_cg_iso_time(struct sp_span s)
{
    char text[32];
    struct tm tm = {0};
    int64_t fraction = 0;
    if (!s.n || s.n >= sizeof text)
        return SP_ABSENT;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!rest)
        return SP_ABSENT;
    if (*rest == '.') {
        char number[32] = "0";
        size_t n = strspn(rest + 1, "0123456789");
        memcpy(number + 1, rest, n + 1);
        if (!n || !sp_seconds_ns(number, n + 2, &fraction))
            return SP_ABSENT;
        rest += n + 1;
    }
    time_t t = strcmp(rest, "Z") == 0 ? timegm(&tm) : -1;
    return t < 0 ? SP_ABSENT : (int64_t)t * SECOND + fraction;
}

/* How far a duration may be from the time range: a tick, but no more than half of the range. */
static int64_t slack(const struct sp_cg_report *r, int64_t duration, int64_t span)
{
    int64_t tick = r->sampled && r->sampled < INT64_MAX ? duration / (int64_t)r->sampled : SECOND;
    int64_t s = tick > span / 50 ? tick : span / 50;
    return s < span / 2 ? s : span / 2;
}

enum origin { OWN, FIRST_REPORT, UNKNOWN, REPEATED };

/* Whose the metadata is, by who wrote it and when. */
static enum origin origin_of(const struct sp_cg_report *r, const struct sp_profile *p, int64_t start)
{
    struct sp_str tool = sp_pstr(p, p->header.tool);
    if (!sp_str_is(tool, PYTHON_AGENT) || start == SP_ABSENT)
        return tool.n && !sp_str_is(tool, PYTHON_AGENT) ? OWN : UNKNOWN;
    if (r->agent_start == SP_ABSENT || r->agent_start > start)
        return UNKNOWN;
    return start - r->agent_start <= SECOND ? FIRST_REPORT : REPEATED;
}

static bool range(const struct sp_profile *p, int64_t *start, int64_t *end)
{
    struct sp_str a = sp_pstr(p, p->header.time_start), b = sp_pstr(p, p->header.time_end);
    return a.n && b.n && sp_seconds_ns(a.p, a.n, start) && sp_seconds_ns(b.p, b.n, end) && *end > *start;
}

/* The Python agent forgets counts of frames that have one name; what it says of itself shows it. */
static void hint_at_missing(const struct sp_cg_report *r, struct sp_diags *d)
{
    double threads = r->threads.n ? sp_text_double(r->threads.p, r->threads.n) : 0;
    /* One of them is the agent's own, of which it takes no stacks. */
    double expected = (double)r->sampled * (threads - 1);
    if (threads <= THREADS_MAX && (double)r->counted < expected * (1 - 1e-9))
        sp_emit(d, SP_I488, SP_AT_NOTHING,
                "%llu counts of %.0f (numTimesSampled times numThreads without the agent's own)",
                (unsigned long long)r->counted, expected);
}

bool sp_cg_judge_report(const struct sp_cg_report *r, struct sp_profile *p, struct sp_diags *d)
{
    struct sp_header *h = &p->header;
    int64_t start = SP_ABSENT, end = 0, stated, v;
    unsigned scale;
    char t[64], range_text[64];
    bool ranged = range(p, &start, &end);
    enum origin origin = origin_of(r, p, start);
    bool repeated = origin == REPEATED;
    if (r->duration.n && sp_parse_scaled(r->duration.p, r->duration.n, &v, &scale) && v >= 0 && scale <= 6) {
        size_t n = sp_scaled_text(v, scale + 3, t);
        bool summed = sp_str_is(sp_pstr(p, h->tool), "spaa");
        if (ranged && !summed && sp_seconds_ns(t, n, &stated)) {
            int64_t off = stated - (end - start), by = slack(r, stated, end - start);
            if (off > by || (off < -by && (origin == UNKNOWN || origin == REPEATED))) {
                size_t m = sp_ns_seconds(end - start, range_text);
                sp_emit(d, SP_I490, SP_AT_NOTHING, "%.*s s stated, %.*s s from start to end", (int)n, t,
                        (int)m, range_text);
                memcpy(t, range_text, m);
                n = m;
                repeated = true;
            }
        }
        h->duration = sp_profile_str(p, t, n);
    }
    if (!repeated)
        hint_at_missing(r, d);
    return h->duration != SP_STR_FAIL;
}
