/*
 * Reads the profiles that Amazon CodeGuru Profiler takes (PostAgentProfile): one JSON object
 *
 *     {"start":ms,"end":ms,"agentMetadata":{…},"callgraph":{node},…}
 *
 * with the call tree nested in `callgraph` (graph.c). There is no published schema: the fields are those that
 * the Python agent, the Java agent and profile-bee write, of whom everybody has keys of their own.
 *
 * As a profile: one event `codeguru`, whose stacks are grouped by thread state, the counter type; the root is
 * no frame; file and lines are `srcline`. start and end are the time range in seconds. What else there
 * is stays as it was in the header's `x_codeguru`. Totals in agentMetadata mean other things in other
 * producers, and nothing is computed from them but the
 * duration (codeguru_judge_report).
 */
#include "formats/codeguru/codeguru.h"

#include "base/num.h"
#include "model/facts.h"
#include "json/unique.h"

#include <time.h>

#define SECOND       INT64_C(1000000000)
#define MILLISECOND  INT64_C(1000000)
#define PYTHON_AGENT "CodeGuruProfiler-python"
#define THREADS_MAX  100 /* of which the Python agent takes stacks at a time */

/* What the agent says of its report. */
struct report {
    struct sp_span duration; /* durationInMs; n 0: not stated */
    struct sp_span threads;  /* metrics.numThreads; the same */
    struct sp_span cpu_time; /* cpuTimeInSeconds; the same */
    uint64_t sampled;        /* numTimesSampled; 0: not stated */
    int64_t agent_start;     /* debugInfo.agentStartTime, ns since 1970; SP_ABSENT: not stated */
    uint64_t counted;        /* the counts of the call graph */
};

struct reader {
    struct sp_diags *d;
    struct sp_profile *p;
    const struct sp_read_opts *opts;
    struct sp_json j;
    struct sp_cg_graph graph;
    struct sp_buf kept; /* members of x_codeguru */
    struct sp_span agent, callgraph;
    struct report report;
    bool graph_seen, start_seen, end_seen, nomem;
};

static spaa_status codeguru_event(struct reader *r, const struct sp_read_opts *opts)
{
    struct sp_profile *p = r->p;
    struct sp_header *h = &p->header;
    struct sp_event e = {.name = sp_profile_cstr(p, "codeguru"), .kind = SP_TIMER, .mode = SP_FREQUENCY};
    e.primary = sp_metric_intern(p, "samples", 7);
    h->version = sp_profile_cstr(p, "1.0");
    h->source_tool = sp_profile_cstr(p, "codeguru");
    if (e.name == SP_STR_FAIL || e.primary == SP_NONE || h->version == SP_STR_FAIL ||
        h->source_tool == SP_STR_FAIL)
        return sp_nomem(r->d);
    bool places = opts->frames != SP_FRAMES_FUNCTION;
    h->has_x_spaa = true;
    h->frames = places ? SP_FRAMES_LINE : SP_FRAMES_FUNCTION;
    h->group_by = opts->group_by & SP_BY_STATE;
    struct sp_cg_graph *g = &r->graph;
    g->event = sp_event_add(p, &e);
    g->metric = e.primary;
    g->layout = sp_layout_simple(p, e.primary, SP_STR_NONE, SP_NONE, SP_STR_NONE);
    g->by_state = h->group_by != 0;
    sp_cg_names_init(&g->names, p, places);
    return g->event != SP_NONE && g->layout != SP_NONE ? SPAA_OK : sp_nomem(r->d);
}

/* A member of the file for x_codeguru; key is the text between its quotes. */
static void reader_codeguru_keep(struct reader *r, struct sp_span key, struct sp_span raw)
{
    if (r->kept.len)
        sp_buf_ch(&r->kept, ',');
    sp_json_string(&r->kept, key.p, key.n);
    sp_buf_ch(&r->kept, ':');
    sp_json_minify(&r->kept, raw);
}

/* Milliseconds as seconds; what does not come back from them is kept as it is. */
static bool codeguru_read_time(struct reader *r, const char *key, bool *seen, uint32_t *out)
{
    struct sp_span raw;
    int64_t v;
    unsigned scale;
    char t[64], back[64];
    bool number = sp_json_type(&r->j) == SP_JSON_NUMBER;
    if (!sp_json_skip(&r->j, &raw) || sp_cg_cut_number(&r->j, raw))
        return false;
    if (*seen) {
        sp_emit(r->d, SP_E124, SP_AT((uint64_t)(raw.p - r->j.start)), "`%s`; the first of them is kept", key);
        return true;
    }
    *seen = true;
    bool exact = false;
    if (number && sp_parse_scaled(raw.p, raw.n, &v, &scale) && scale <= 6) {
        *out = sp_profile_str(r->p, t, sp_scaled_text(v, scale + 3, t));
        if (*out == SP_STR_FAIL)
            return sp_json_fail(&r->j, "out of memory");
        exact = !scale && sp_scaled_text(v, 0, back) == raw.n && memcmp(back, raw.p, raw.n) == 0;
    }
    if (!exact)
        reader_codeguru_keep(r, (struct sp_span){key, strlen(key)}, raw);
    return true;
}

static bool codeguru_set_text(struct reader *r, struct sp_json *j, uint32_t *out)
{
    struct sp_span s;
    if (sp_json_type(j) != SP_JSON_STRING)
        return sp_json_skip(j, &s);
    if (!sp_json_string_value(j, &s))
        return false;
    *out = sp_profile_str(r->p, s.p, s.n);
    r->nomem = r->nomem || *out == SP_STR_FAIL;
    return !r->nomem;
}

static bool codeguru_set_number(struct reader *r, struct sp_span number, uint32_t *out)
{
    *out = sp_profile_str(r->p, number.p, number.n);
    r->nomem = r->nomem || *out == SP_STR_FAIL;
    return !r->nomem;
}

static void codeguru_read_fleet(struct reader *r, struct sp_json *j)
{
    struct sp_host *h = &r->p->header.host;
    struct sp_span key, raw;
    uint32_t id = SP_STR_NONE, name = SP_STR_NONE, other = SP_STR_NONE;
    while (sp_json_key(j, &key)) {
        bool ok;
        if (sp_span_is(key, "fleetInstanceId"))
            ok = codeguru_set_text(r, j, &id);
        else if (sp_span_is(key, "hostName"))
            ok = codeguru_set_text(r, j, &name);
        else if (sp_span_is(key, "id"))
            ok = codeguru_set_text(r, j, &other);
        else if (sp_span_is(key, "vCPUs") && sp_json_type(j) == SP_JSON_NUMBER)
            ok = sp_json_number(j, &raw) && codeguru_set_number(r, raw, &h->cpus);
        else
            ok = sp_json_skip(j, &raw);
        if (!ok)
            return;
    }
    h->name = id ? id : name ? name : other;
}

static void codeguru_read_agent_info(struct reader *r, struct sp_json *j)
{
    struct sp_header *h = &r->p->header;
    struct sp_span key, raw;
    while (sp_json_key(j, &key))
        if (!(sp_span_is(key, "type")      ? codeguru_set_text(r, j, &h->tool)
              : sp_span_is(key, "version") ? codeguru_set_text(r, j, &h->tool_version)
                                           : sp_json_skip(j, &raw)))
            return;
}

static void codeguru_read_metrics(struct reader *r, struct sp_json *j)
{
    struct sp_span key, raw;
    while (sp_json_key(j, &key)) {
        bool threads = sp_span_is(key, "numThreads") && sp_json_type(j) == SP_JSON_NUMBER;
        if (!sp_json_skip(j, &raw))
            return;
        if (threads)
            r->report.threads = raw;
    }
}

static void codeguru_agent_member(struct reader *r, struct sp_json *j, struct sp_span key)
{
    enum sp_json_type type = sp_json_type(j);
    struct sp_span raw;
    if (type == SP_JSON_OBJECT && sp_span_is(key, "fleetInfo")) {
        sp_json_object(j);
        codeguru_read_fleet(r, j);
    } else if (type == SP_JSON_OBJECT && sp_span_is(key, "agentInfo")) {
        sp_json_object(j);
        codeguru_read_agent_info(r, j);
    } else if (type == SP_JSON_OBJECT && sp_span_is(key, "metrics")) {
        sp_json_object(j);
        codeguru_read_metrics(r, j);
    } else {
        bool duration = sp_span_is(key, "durationInMs"), times = sp_span_is(key, "numTimesSampled"),
             cpu_time = sp_span_is(key, "cpuTimeInSeconds");
        if (!sp_json_skip(j, &raw) || type != SP_JSON_NUMBER)
            return;
        if (duration)
            r->report.duration = raw;
        else if (cpu_time)
            r->report.cpu_time = raw;
        else if (times)
            sp_parse_u64(raw.p, raw.p + raw.n, &r->report.sampled);
    }
}

/* What the profile has fields for; all of it is kept besides. */
static bool codeguru_read_agent(struct reader *r, struct sp_span key)
{
    struct sp_json j;
    struct sp_span inner;
    if (!sp_json_skip(&r->j, &inner))
        return false;
    uint32_t text = r->agent.n ? SP_STR_NONE : sp_unique_text(&r->p->strs, inner, r->d);
    if (text == SP_STR_FAIL)
        return sp_json_fail(&r->j, "out of memory");
    reader_codeguru_keep(r, key, text ? sp_cg_span(sp_pstr(r->p, text)) : inner);
    if (!text) /* there was one */
        return true;
    r->agent = sp_cg_span(sp_pstr(r->p, text));
    sp_json_init(&j, r->agent.p, r->agent.n);
    if (sp_json_type(&j) == SP_JSON_OBJECT && sp_json_object(&j))
        while (sp_json_key(&j, &inner))
            codeguru_agent_member(r, &j, inner);
    bool ok = !j.scratch.failed && !r->nomem;
    sp_json_free(&j);
    const struct sp_header *h = &r->p->header;
    ok = ok && h->tool != SP_STR_FAIL && h->tool_version != SP_STR_FAIL && h->host.name != SP_STR_FAIL;
    if (ok)
        r->graph.names.bee = sp_str_is(sp_pstr(r->p, h->tool), "profile-bee");
    return ok || sp_json_fail(&r->j, "out of memory");
}

static bool codeguru_read_graph(struct reader *r, spaa_status *st)
{
    r->graph_seen = true;
    if (!sp_cg_labels(r->p, r->agent, r->opts->asked, &r->graph.labels)) {
        *st = sp_nomem(r->d);
        return false;
    }
    *st = sp_cg_read_graph(&r->graph, &r->j);
    return *st == SPAA_OK;
}

/* The call graph before the metadata waits for it: who wrote the names says how to read them. */
static bool codeguru_put_off(struct reader *r)
{
    struct sp_json before = r->j;
    if (r->agent.n || sp_json_type(&r->j) != SP_JSON_OBJECT)
        return false;
    if (sp_json_skip(&r->j, &r->callgraph) || r->j.scratch.failed)
        return true;
    before.scratch = r->j.scratch;
    r->j = before;
    r->callgraph.n = 0;
    return false;
}

static bool codeguru_member(struct reader *r, struct sp_span key, spaa_status *st)
{
    struct sp_span raw;
    if (sp_span_is(key, "start"))
        return codeguru_read_time(r, "start", &r->start_seen, &r->p->header.time_start);
    if (sp_span_is(key, "end"))
        return codeguru_read_time(r, "end", &r->end_seen, &r->p->header.time_end);
    if (sp_span_is(key, "agentMetadata"))
        return codeguru_read_agent(r, key);
    if (sp_span_is(key, "callgraph") && sp_json_type(&r->j) == SP_JSON_OBJECT && !r->graph_seen &&
        !r->callgraph.n)
        return codeguru_put_off(r) || codeguru_read_graph(r, st);
    uint32_t name = sp_profile_str(r->p, key.p, key.n); /* the cursor's scratch may go */
    if (name == SP_STR_FAIL)
        return sp_json_fail(&r->j, "out of memory");
    if (!sp_json_skip(&r->j, &raw) || sp_cg_cut_number(&r->j, raw))
        return false;
    if (sp_str_is(sp_pstr(r->p, name), "callgraph") && *raw.p == '{')
        sp_emit(r->d, SP_L300, SP_AT((uint64_t)(raw.p - r->j.start)),
                "`callgraph` stands twice: the first is used");
    reader_codeguru_keep(r, (struct sp_span){sp_pstr(r->p, name).p, sp_pstr(r->p, name).n}, raw);
    return true;
}

/* Why the text could not be read to its end; what came before was used. */
static spaa_status codeguru_malformed(struct reader *r)
{
    const struct sp_json *j = &r->j;
    if (j->scratch.failed || (j->error && strcmp(j->error, "out of memory") == 0))
        return sp_nomem(r->d);
    const char *end = j->end;
    while (end > j->start && (end[-1] == ' ' || end[-1] == '\n' || end[-1] == '\r' || end[-1] == '\t'))
        end--;
    bool nothing = !r->p->stacks.n;
    bool cut = j->error_at >= (size_t)(end - j->start);
    const char *why = j->error ? j->error : "not JSON";
    if (nothing && sp_json_at_limit(j))
        sp_emit(r->d, SP_E007, SP_AT(j->error_at), "%s", why);
    else if (nothing || cut)
        sp_emit(r->d, nothing ? SP_E010 : SP_L301, SP_AT(j->error_at), "%s", why);
    else
        sp_emit(r->d, SP_L300, SP_AT(j->error_at), "%s; all that follows, %zu bytes, was not read", why,
                (size_t)(end - j->start) - j->error_at);
    return nothing ? SPAA_ERR_INPUT : SPAA_OK;
}

static spaa_status codeguru_read_members(struct reader *r)
{
    struct sp_span key;
    spaa_status st = SPAA_OK;
    if (sp_json_object(&r->j))
        while (sp_json_key(&r->j, &key) && codeguru_member(r, key, &st))
            ;
    if (st && st != SPAA_ERR_INPUT)
        return st;
    if (!r->j.error && sp_json_end(&r->j) && r->callgraph.n) {
        struct sp_json whole = r->j;
        r->j.p = r->callgraph.p;
        r->j.error = NULL;
        if (!codeguru_read_graph(r, &st) && st != SPAA_ERR_INPUT)
            return st;
        whole.scratch = r->j.scratch;
        if (!r->j.error)
            r->j = whole;
    } else if (r->j.error && r->callgraph.n) { /* damage behind it */
        struct sp_json damaged = r->j;
        r->j.error = NULL;
        r->j.p = r->callgraph.p;
        if (!codeguru_read_graph(r, &st) && st != SPAA_ERR_INPUT)
            return st;
        damaged.scratch = r->j.scratch;
        r->j = damaged;
    }
    if (r->kept.failed)
        return sp_nomem(r->d);
    return r->j.error ? codeguru_malformed(r) : SPAA_OK;
}

static spaa_status codeguru_finish(struct reader *r)
{
    struct sp_header *h = &r->p->header;
    struct sp_buf b;
    if (h->time_start || h->time_end)
        h->time_unit = sp_profile_cstr(r->p, "seconds");
    sp_buf_init(&b, 0);
    sp_buf_puts(&b, "{\"" SP_CG_KEY "\":{");
    sp_buf_add(&b, r->kept.data, r->kept.len);
    sp_buf_puts(&b, "}}");
    h->extra_json =
        b.failed ? SP_STR_FAIL : sp_unique_text(&r->p->strs, (struct sp_span){b.data, b.len}, r->d);
    if (h->extra_json != SP_STR_FAIL) { /* without the braces */
        struct sp_str s = sp_pstr(r->p, h->extra_json);
        h->extra_json = sp_profile_str(r->p, s.p + 1, s.n - 2);
    }
    sp_buf_free(&b);
    return h->extra_json == SP_STR_FAIL || h->time_unit == SP_STR_FAIL ? sp_nomem(r->d) : SPAA_OK;
}

/* The Python agent puts this in the place of the innermost frame of a stack that is too deep for it. */
static bool codeguru_is_cut(const struct sp_profile *p, const struct sp_stack *s, uint32_t name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (sp_frame_function(p, p->stack_frames.v[s->first + i])->name == name)
            return true;
    return false;
}

static void codeguru_count_cut_stacks(struct sp_profile *p, uint32_t metric)
{
    static const char cut[] = "<Truncated>";
    uint32_t name = SP_STR_NONE;
    for (size_t i = 0; i < p->functions.n && name == SP_STR_NONE; i++)
        if (sp_str_is(sp_pstr(p, p->functions.v[i].name), cut))
            name = p->functions.v[i].name;
    for (uint32_t i = 0; name != SP_STR_NONE && i < p->stacks.n; i++) {
        int64_t n = sp_weight(p, i, metric);
        if (n > 0 && codeguru_is_cut(p, &p->stacks.v[i], name))
            p->header.truncated += (uint64_t)n;
    }
}

/*
 * ---- what the agent says of its report ----
 *
 * The Python agent makes its metadata once (AgentMetadata.serialize_to_json
 * keeps the first): every later report of the process repeats the duration, weights and ticks of the first,
 * while `start`, `end` and the counts are its own. So a duration is believed as far as the time range does
 * not contradict it:
 *
 * - `end` is the time of the last sample, and durations run until the report is made: up to one tick more.
 * - They leave out pauses (a frozen Lambda), so less than the range can be true; of the Python agent in its
 *   first report only.
 * - Several recordings in one, as spaa writes them, last longer than the range together.
 */
/* "2026-01-01T00:00:00.250Z" as ns since 1970, SP_ABSENT where it is no such text. */
static int64_t codeguru_iso_time(struct sp_span s)
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
static int64_t codeguru_slack(const struct report *r, int64_t duration, int64_t span)
{
    int64_t tick = r->sampled && r->sampled < INT64_MAX ? duration / (int64_t)r->sampled : SECOND;
    int64_t s = tick > span / 50 ? tick : span / 50;
    return s < span / 2 ? s : span / 2;
}

enum origin { OWN, FIRST_REPORT, UNKNOWN, REPEATED };

/* Whose the metadata is, by who wrote it and when. */
static enum origin codeguru_origin_of(const struct report *r, const struct sp_profile *p, int64_t start)
{
    struct sp_str tool = sp_pstr(p, p->header.tool);
    if (!sp_str_is(tool, PYTHON_AGENT) || start == SP_ABSENT)
        return tool.n && !sp_str_is(tool, PYTHON_AGENT) ? OWN : UNKNOWN;
    if (r->agent_start == SP_ABSENT || r->agent_start > start)
        return UNKNOWN;
    return start - r->agent_start <= SECOND ? FIRST_REPORT : REPEATED;
}

static bool codeguru_range(const struct sp_profile *p, int64_t *start, int64_t *end)
{
    struct sp_str a = sp_pstr(p, p->header.time_start), b = sp_pstr(p, p->header.time_end);
    return a.n && b.n && sp_seconds_ns(a.p, a.n, start) && sp_seconds_ns(b.p, b.n, end) &&
           sp_cg_is_range(*start / MILLISECOND, *end / MILLISECOND);
}

/* The Python agent forgets counts of frames that have one name; what it says of itself shows it. */
static void codeguru_hint_at_missing(const struct report *r, struct sp_diags *d)
{
    double threads = r->threads.n ? sp_text_double(r->threads.p, r->threads.n) : 0;
    /* One of them is the agent's own, of which it takes no stacks. */
    double expected = (double)r->sampled * (threads - 1);
    if (threads <= THREADS_MAX && (double)r->counted < expected * (1 - 1e-9))
        sp_emit(d, SP_I488, SP_AT_NOTHING,
                "%llu counts of %.0f (numTimesSampled times numThreads without the agent's own)",
                (unsigned long long)r->counted, expected);
}

/*
 * Sets the header's duration, from its time range where the stated one is not of this report, and says what
 * is odd. The header's times and tool are known. False: out of memory.
 */
static bool codeguru_judge_report(const struct report *r, struct sp_profile *p, struct sp_diags *d, bool *own)
{
    struct sp_header *h = &p->header;
    int64_t start = SP_ABSENT, end = 0, stated, v;
    unsigned scale;
    char t[64], range_text[64];
    bool ranged = codeguru_range(p, &start, &end);
    enum origin origin = codeguru_origin_of(r, p, start);
    bool repeated = origin == REPEATED;
    if (r->duration.n && sp_parse_scaled(r->duration.p, r->duration.n, &v, &scale) && v >= 0 && scale <= 6) {
        size_t n = sp_scaled_text(v, scale + 3, t);
        bool summed = sp_str_is(sp_pstr(p, h->tool), "spaa");
        if (ranged && !summed && sp_seconds_ns(t, n, &stated)) {
            int64_t off = stated - (end - start), by = codeguru_slack(r, stated, end - start);
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
        codeguru_hint_at_missing(r, d);
    *own = !repeated;
    return h->duration != SP_STR_FAIL;
}

/* The process that the agent is in; what it used by then is of the first report. */
static bool codeguru_process(struct reader *r, struct sp_span debug, bool own)
{
    struct sp_process_fact x = {0};
    struct sp_span raw, cpu = r->report.cpu_time;
    sp_facts_clear(sp_process_facts, &x);
    if (!debug.n || !sp_json_find(debug, "processId", &raw) ||
        sp_parse_i64(raw.p, raw.p + raw.n, &x.pid) != raw.n || x.pid < 0)
        return true;
    double seconds = own && cpu.n ? sp_text_double(cpu.p, cpu.n) : -1; /* with more digits than count */
    if (seconds >= 0 && seconds < (double)(INT64_MAX / SECOND))
        x.cpu_time_ns = (int64_t)(seconds * (double)SECOND + 0.5);
    return sp_process_add(r->p, &x, NULL, 0);
}

/* What the agent says of the report: the duration is not always this one's. */
static spaa_status codeguru_judge(struct reader *r)
{
    bool own = false;
    struct sp_span debug = sp_cg_member((struct sp_span){r->kept.data, r->kept.len}, "debugInfo"), raw;
    r->report.agent_start = SP_ABSENT;
    if (debug.n && sp_json_find(debug, "agentStartTime", &raw) && raw.n > 2 && raw.p[0] == '"')
        r->report.agent_start = codeguru_iso_time((struct sp_span){raw.p + 1, raw.n - 2});
    r->report.counted = r->graph.counted;
    return codeguru_judge_report(&r->report, r->p, r->d, &own) && codeguru_process(r, debug, own)
               ? SPAA_OK
               : sp_nomem(r->d);
}

spaa_status sp_cg_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                       struct sp_profile *p)
{
    const unsigned char *text;
    size_t n;
    struct reader r = {.d = d, .p = p, .opts = opts, .graph = {.p = p, .d = d, .in = in}};
    sp_json_init(&r.j, "", 0);
    sp_buf_init(&r.kept, 0);
    spaa_status st = codeguru_event(&r, opts);
    if (!st)
        st = sp_input_whole(in, &text, &n);
    if (!st) {
        sp_json_reset(&r.j, (const char *)text, n);
        st = codeguru_read_members(&r);
    }
    if (!st && !r.graph_seen) {
        sp_emit(d, SP_E460, SP_AT_NOTHING, " ");
        st = SPAA_ERR_INPUT;
    }
    if (!st)
        st = codeguru_finish(&r);
    if (!st) {
        codeguru_count_cut_stacks(p, r.graph.metric);
        st = codeguru_judge(&r);
    }
    if (!st && opts->strict && sp_input_failed(in))
        st = sp_input_failed(in);
    sp_cg_names_free(&r.graph.names);
    sp_buf_free(&r.kept);
    sp_json_free(&r.j);
    return st;
}
