/* Reads a speedscope file (speedscope.h): each profile is a thread by its name, its rows weights of stacks.
 */
#include "base/num.h"
#include "formats/speedscope/speedscope.h"
#include "model/samples.h"

static const struct {
    const char *name; /* as JSON */
    enum sp_ss_kind kind;
    unsigned digits;
} units[] = {{"\"none\"", SP_SS_WEIGHT, 9},       {"\"bytes\"", SP_SS_BYTES, 9},
             {"\"nanoseconds\"", SP_SS_TIME, 0},  {"\"microseconds\"", SP_SS_TIME, 3},
             {"\"milliseconds\"", SP_SS_TIME, 6}, {"\"seconds\"", SP_SS_TIME, 9}};

static bool ss_fail(struct sp_ss *r)
{
    r->status = sp_nomem(r->d);
    return false;
}

/* ---- what profiles are of ---- */

/* The event of a kind of unit, once. */
static bool ss_declare(struct sp_ss *r, enum sp_ss_kind kind)
{
    static const char *const names[] = {"time", "bytes", "weight"};
    struct sp_profile *p = r->p;
    if (r->events[kind] != SP_NONE)
        return true;
    struct sp_event e = {.kind = kind == SP_SS_TIME ? SP_TIMER : SP_SOFTWARE, .mode = SP_EVENT};
    e.name = sp_profile_cstr(p, names[kind]);
    if (r->value == SP_NONE)
        r->value = sp_metric_intern(p, "value", 5);
    if (kind != SP_SS_WEIGHT)
        e.unit = sp_profile_cstr(p, kind == SP_SS_TIME ? "ns" : "bytes");
    e.primary = r->value;
    if (e.name == SP_STR_FAIL || e.unit == SP_STR_FAIL || r->value == SP_NONE)
        return false;
    r->events[kind] = sp_event_add(p, &e);
    r->layouts[kind] = sp_layout_simple(p, r->value, e.unit, SP_NONE, SP_STR_NONE);
    return r->events[kind] != SP_NONE && r->layouts[kind] != SP_NONE;
}

/* "12" behind a word at the end of s, which ends before it then; false: there is none. */
static bool ss_id(struct sp_str *s, const char *word, int64_t *id)
{
    uint32_t n = s->n;
    size_t word_n = strlen(word);
    while (n && (unsigned char)(s->p[n - 1] - '0') < 10)
        n--;
    if (n == s->n || n < word_n || memcmp(s->p + n - word_n, word, word_n) != 0 ||
        sp_parse_i64(s->p + n, s->p + s->n, id) != s->n - n)
        return false;
    s->n = n - (uint32_t)word_n;
    while (s->n && s->p[s->n - 1] == ' ')
        s->n--;
    return true;
}

/*
 * Names that speedscope makes of threads of perf: "comm pid: 12 tid: 13", of which the parts may be missing;
 * others are names alone.
 */
static bool ss_who(struct sp_ss *r, struct sp_ss_profile *x, struct sp_str *name)
{
    struct sp_str comm = *name;
    int64_t pid = SP_ABSENT, tid = SP_ABSENT;
    struct sp_buf again;
    ss_id(&comm, "tid: ", &tid);
    ss_id(&comm, "pid: ", &pid);
    sp_buf_init(&again, 0);
    sp_buf_add(&again, comm.p, comm.n);
    if (pid != SP_ABSENT)
        sp_buf_printf(&again, "%spid: %lld", again.len ? " " : "", (long long)pid);
    if (tid != SP_ABSENT)
        sp_buf_printf(&again, "%stid: %lld", again.len ? " " : "", (long long)tid);
    bool ok = !again.failed || ss_fail(r);
    if (ok && again.len == name->n && again.len && memcmp(again.data, name->p, name->n) == 0) {
        x->pid = pid;
        x->tid = tid;
        *name = comm;
    }
    sp_buf_free(&again);
    return ok;
}

static bool ss_context(struct sp_ss *r, struct sp_ss_profile *x, struct sp_str name)
{
    unsigned by = r->opts->group_by;
    struct sp_context c = {.pid = SP_ABSENT, .tid = SP_ABSENT, .cpu = SP_ABSENT};
    c.event = r->events[x->kind];
    if (!ss_who(r, x, &name))
        return false;
    uint32_t comm = name.n ? sp_profile_text(r->p, name.p, name.n) : SP_STR_NONE;
    if (comm == SP_STR_FAIL)
        return ss_fail(r);
    if (x->tid != SP_ABSENT && (x->pid != SP_ABSENT ? sp_thread_intern(r->p, x->pid, x->tid, comm)
                                                    : sp_thread_intern_tid(r->p, x->tid, comm)) == SP_NONE)
        return ss_fail(r);
    c.pid = by & SP_BY_PID ? x->pid : SP_ABSENT;
    c.tid = by & SP_BY_TID ? x->tid : SP_ABSENT;
    c.comm = by & SP_BY_COMM ? comm : SP_STR_NONE;
    r->p->header.group_by |= (c.pid != SP_ABSENT ? SP_BY_PID : 0u) | (c.tid != SP_ABSENT ? SP_BY_TID : 0u) |
                             (c.comm != SP_STR_NONE ? SP_BY_COMM : 0u);
    x->context = sp_context_intern(r->p, &c);
    return x->context != SP_NONE || ss_fail(r);
}

/* ---- profiles ---- */

static void ss_unit(struct sp_ss *r, struct sp_ss_profile *x)
{
    x->kind = SP_SS_WEIGHT;
    x->digits = 9;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (sp_span_is(x->unit, units[i].name)) {
            x->kind = units[i].kind;
            x->digits = units[i].digits;
            return;
        }
    sp_emit(r->d, SP_W311, SP_AT_NOTHING, "a profile of the unit %.*s: it is taken for none",
            (int)(x->unit.n < 40 ? x->unit.n : 40), x->unit.n ? x->unit.p : "\"\"");
}

/* Of a profile, and of what it says of itself. */
static bool ss_read_profile(struct sp_ss *r, const struct sp_json_member *m, struct sp_str name, size_t at)
{
    struct sp_ss_profile x = {.type = m[0].raw,
                              .unit = m[1].raw,
                              .events = m[2].raw,
                              .samples = m[3].raw,
                              .weights = m[4].raw,
                              .pid = SP_ABSENT,
                              .tid = SP_ABSENT};
    ss_unit(r, &x);
    x.has_start = m[6].raw.n && sp_ss_number(r, &x, m[6].raw, &x.start);
    x.has_end = m[7].raw.n && sp_ss_number(r, &x, m[7].raw, &x.end);
    if (!ss_declare(r, x.kind))
        return ss_fail(r);
    if (!ss_context(r, &x, name))
        return false;
    if (sp_span_is(x.type, "\"sampled\""))
        return sp_ss_read_sampled(r, &x);
    if (sp_span_is(x.type, "\"evented\""))
        return sp_ss_read_evented(r, &x);
    sp_emit(r->d, SP_L300, SP_AT(at), "a profile of the type %.*s", (int)(x.type.n < 40 ? x.type.n : 40),
            x.type.n ? x.type.p : "\"\"");
    return true;
}

/*
 * The name of the whole is no thread's: that of a profile which is alone is one only where it differs. What
 * is cut off is used as far as it goes.
 */
static bool ss_take_profile(struct sp_ss *r, struct sp_json *j, struct sp_str title, bool alone)
{
    struct sp_json_member m[] = {{"type", {0}},    {"unit", {0}}, {"events", {0}},     {"samples", {0}},
                                 {"weights", {0}}, {"name", {0}}, {"startValue", {0}}, {"endValue", {0}}};
    size_t at = (size_t)(j->p - r->file.text.p);
    struct sp_span raw;
    struct sp_buf name;
    if (sp_json_type(j) != SP_JSON_OBJECT) {
        bool skipped = sp_json_skip(j, &raw);
        if (skipped)
            sp_emit(r->d, SP_L300, SP_AT(at), "a profile that is no object");
        return skipped;
    }
    sp_json_members(j, m, sizeof m / sizeof *m);
    sp_buf_init(&name, 0);
    if (m[5].raw.n && *m[5].raw.p == '"')
        sp_json_text_to(&name, m[5].raw);
    bool ok = !name.failed || ss_fail(r);
    if (ok && alone && (!title.n || (title.n == name.len && memcmp(title.p, name.data, title.n) == 0)))
        sp_buf_clear(&name);
    ok = ok && ss_read_profile(r, m, (struct sp_str){name.len ? name.data : "", (uint32_t)name.len}, at);
    sp_buf_free(&name);
    return ok && !j->error;
}

static bool ss_is_alone(struct sp_ss *r, struct sp_span profiles, bool *alone)
{
    struct sp_json j;
    struct sp_span raw;
    sp_json_init(&j, profiles.p, profiles.n);
    *alone = sp_json_array(&j) && sp_json_item(&j) && sp_json_skip(&j, &raw) && !sp_json_item(&j);
    bool ok = !j.scratch.failed || ss_fail(r);
    sp_json_free(&j);
    return ok;
}

static bool ss_profiles(struct sp_ss *r, struct sp_span profiles, struct sp_str title)
{
    struct sp_json j;
    bool alone;
    if (!ss_is_alone(r, profiles, &alone))
        return false;
    sp_json_init(&j, profiles.p, profiles.n);
    if (sp_json_array(&j))
        while (sp_json_item(&j) && ss_take_profile(r, &j, title, alone))
            ;
    bool ok = sp_ss_ended(r, &j);
    sp_json_free(&j);
    return ok;
}

/* ---- the header, and what is said ---- */

static uint32_t ss_seconds(struct sp_ss *r, int64_t ns)
{
    char text[32];
    return sp_profile_str(r->p, text, sp_ns_seconds(ns, text));
}

static bool ss_header(struct sp_ss *r, const struct sp_json_member *root)
{
    static const char *const kept[] = {NULL, NULL, "name", "activeProfileIndex", "exporter"};
    struct sp_header *h = &r->p->header;
    struct sp_buf b;
    h->version = sp_profile_cstr(r->p, "1.0");
    h->source_tool = h->tool = sp_profile_cstr(r->p, "speedscope");
    h->has_x_spaa = true;
    h->frames = r->opts->frames ? r->opts->frames : SP_FRAMES_ADDRESS;
    if (r->timed) {
        h->time_start = ss_seconds(r, r->first);
        h->time_end = ss_seconds(r, r->last);
        h->time_unit = sp_profile_cstr(r->p, "seconds");
    }
    sp_buf_init(&b, 0);
    for (size_t i = 2; i < 5; i++)
        if (root[i].raw.n) {
            sp_buf_printf(&b, "%s\"%s\":", b.len ? "," : "\"x_speedscope\":{", kept[i]);
            sp_json_minify(&b, root[i].raw);
        }
    if (b.len)
        sp_buf_ch(&b, '}');
    h->extra_json = b.failed ? SP_STR_FAIL : b.len ? sp_profile_str(r->p, b.data, b.len) : SP_STR_NONE;
    sp_buf_free(&b);
    return (h->version != SP_STR_FAIL && h->source_tool != SP_STR_FAIL && h->time_start != SP_STR_FAIL &&
            h->time_end != SP_STR_FAIL && h->time_unit != SP_STR_FAIL && h->extra_json != SP_STR_FAIL) ||
           ss_fail(r);
}

static void ss_say_lost(const struct sp_ss *r)
{
    static const char *const words[] = {"frames that are not in the table were left out of their stacks",
                                        "rows or events that are none were left out",
                                        "frames open below 16384 others count as the last of these"};
    const uint64_t counts[] = {r->bad_frames, r->bad_rows, r->deep};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i])
            sp_emit(r->d, SP_L300, SP_AT_NOTHING, "%llu %s", (unsigned long long)counts[i], words[i]);
}

static void ss_say(const struct sp_ss *r, bool by_speedscope)
{
    static const char *const mended[] = {
        "frames closed that are not open, left out",
        "frames closed before what they called: each keeps the time between its own events",
        "frames never closed: open to the end", "events before the one before: taken to be at its time"};
    static const char *const units_of[] = {" ns", " bytes", ""};
    const uint64_t counts[] = {r->stray_closes, r->mended, r->left_open, r->backwards};
    ss_say_lost(r);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i])
            sp_emit_hint(r->d, SP_W311, SP_AT_NOTHING, "speedscope itself refuses such a file", "%s (%llu)",
                         mended[i], (unsigned long long)counts[i]);
    for (size_t i = 0; i < SP_SS_KINDS; i++)
        if (r->gaps[i])
            sp_emit(r->d, SP_I321, SP_AT_NOTHING, "%lld%s while no frame was open", (long long)r->gaps[i],
                    units_of[i]);
    if (r->rounded)
        sp_emit(r->d, SP_I322, SP_AT_NOTHING, "%llu numbers were rounded, times to whole nanoseconds",
                (unsigned long long)r->rounded);
    if (r->timed && r->p->samples)
        sp_emit(r->d, SP_I322, SP_AT_NOTHING,
                by_speedscope ? "times may be none: speedscope writes sums, as of pprof, one after the other"
                              : "times of sampled profiles are sums of the weights before, from their start");
}

/* The title, from its JSON; and whether the tool that wrote the file begins so. */
static bool ss_by(struct sp_span exporter, const char *tool)
{
    size_t n = strlen(tool);
    return exporter.n > n && exporter.p[0] == '"' && memcmp(exporter.p + 1, tool, n) == 0;
}

static bool ss_read_all(struct sp_ss *r, struct sp_json *j)
{
    struct sp_json_member root[] = {
        {"shared", {0}}, {"profiles", {0}}, {"name", {0}}, {"activeProfileIndex", {0}}, {"exporter", {0}}};
    struct sp_span frames = {0};
    struct sp_json shared;
    struct sp_json_member of_shared = {"frames", {0}};
    sp_json_members(j, root, sizeof root / sizeof *root);
    sp_json_init(&shared, root[0].raw.p, root[0].raw.n);
    if (root[0].raw.n && *root[0].raw.p == '{')
        sp_json_members(&shared, &of_shared, 1);
    frames = of_shared.raw;
    bool nomem = shared.scratch.failed || j->scratch.failed;
    sp_json_free(&shared);
    if (nomem)
        return ss_fail(r);
    if (!root[1].raw.n || *root[1].raw.p != '[') {
        sp_emit(r->d, SP_E011, SP_AT_NOTHING, "the file has no list of profiles");
        r->status = SPAA_ERR_INPUT;
        return false;
    }
    for (size_t i = 2; i < 5 && j->error; i++) /* cut off in the middle of one of them */
        if (root[i].raw.n && root[i].raw.p + root[i].raw.n == j->end)
            root[i].raw.n = 0;
    r->ours = ss_by(root[4].raw, "spaa@");
    struct sp_buf title;
    sp_buf_init(&title, 0);
    if (root[2].raw.n && *root[2].raw.p == '"')
        sp_json_text_to(&title, root[2].raw);
    bool ok =
        (!title.failed || ss_fail(r)) && sp_ss_read_frames(r, frames) &&
        ss_profiles(r, root[1].raw, (struct sp_str){title.len ? title.data : "", (uint32_t)title.len}) &&
        ss_header(r, root);
    sp_buf_free(&title);
    if (ok)
        ss_say(r, ss_by(root[4].raw, "speedscope@"));
    return ok;
}

spaa_status sp_ss_read(struct sp_input *in, const struct sp_read_opts *opts, struct sp_diags *d,
                       struct sp_profile *p)
{
    struct sp_ss r = {.p = p, .d = d, .opts = opts};
    struct sp_json j;
    spaa_status st = sp_json_file_open(&r.file, in, d);
    if (!st && opts->samples)
        st = sp_samples_new(d, &p->samples);
    if (st)
        return st;
    r.frames_max = sp_json_frames_max(r.file.text.n);
    r.value = SP_NONE;
    for (size_t i = 0; i < SP_SS_KINDS; i++)
        r.events[i] = SP_NONE;
    sp_json_init(&j, r.file.text.p, r.file.text.n);
    if (ss_read_all(&r, &j) && !sp_json_end(&j) && sp_diags_count(d, SP_LOSS) == 0)
        sp_ss_ended(&r, &j);
    sp_vec_free(&r.frames);
    sp_vec_free(&r.path);
    sp_json_free(&j);
    return r.status;
}
