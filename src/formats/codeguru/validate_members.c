/* What stands around the call graph: the times, and what agents say of themselves. Members that are not known
 * here may be anything: agents have their own. */
#include "formats/codeguru/validate.h"

#include "base/num.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#define YEAR_2015   INT64_C(1420070400000) /* milliseconds */
#define CLOCKS_SKEW 300000                 /* what AWS puts up with between two clocks */

/* ---- times ---- */

static const char *iso(int64_t ms, char out[static 40])
{
    time_t t = (time_t)(ms / 1000 - (ms % 1000 < 0));
    struct tm tm;
    if (!gmtime_r(&t, &tm) || !strftime(out, 40, "%Y-%m-%dT%H:%M:%SZ", &tm))
        snprintf(out, 40, "%" PRId64 " ms", ms);
    return out;
}

static const char hint[] = "--start MS says when it was taken (milliseconds since 1970, or now)";

bool sp_cg_check_time(struct sp_cg_check *c, const char *name, struct sp_cg_time *t)
{
    struct sp_span raw;
    unsigned scale = 0;
    bool number = sp_json_type(&c->j) == SP_JSON_NUMBER;
    if (!sp_json_skip(&c->j, &raw))
        return false;
    t->no_number = !number;
    if (!number) {
        sp_cg_find(c, SP_E467, raw.p, name, hint, "`%s` is no number", name);
    } else if (!sp_parse_scaled(raw.p, raw.n, &t->ms, &scale)) {
        t->at = raw.p;
        t->ms = *raw.p == '-' ? INT64_MIN : INT64_MAX;
    } else {
        t->at = raw.p;
        if (scale)
            sp_cg_find(c, SP_W483, raw.p, name, NULL, "%.*s", (int)(raw.n < 40 ? raw.n : 40), raw.p);
        for (; scale; scale--)
            t->ms /= 10;
    }
    return true;
}

void sp_cg_check_times(struct sp_cg_check *c, const struct sp_cg_time *start, const struct sp_cg_time *end)
{
    int64_t now = 1000 * (int64_t)time(NULL);
    char a[40], b[40];
    bool no_start = !start->at && !start->no_number, no_end = !end->at && !end->no_number;
    if (no_start || no_end)
        sp_cg_find(c, SP_E466, c->j.start, no_start ? "start" : "end", hint, "it has no %s",
                   !no_end     ? "start"
                   : !no_start ? "end"
                               : "start and no end");
    if (!start->at || !end->at)
        return;
    if (end->ms < start->ms)
        sp_cg_find(c, SP_E466, end->at, "end", hint, "it ends (%s) before it starts (%s)", iso(end->ms, b),
                   iso(start->ms, a));
    else if (start->ms < YEAR_2015)
        sp_cg_find(c, SP_E466, start->at, "start", hint, "it starts in %.4s (%s): before 2015",
                   iso(start->ms, a), a);
    else if (end->ms > now + CLOCKS_SKEW)
        sp_cg_find(c, SP_E466, end->at, "end", hint, "it ends in the future: %s", iso(end->ms, b));
}

/* ---- kinds ---- */

enum kind { TEXT, NUMBER, OBJECT, WEIGHTS };

static const struct member {
    const char *object, *name; /* "" stands for agentMetadata itself */
    enum kind kind;
} members[] = {
    {"", "sampleWeights", WEIGHTS},
    {"", "durationInMs", NUMBER},
    {"", "fleetInfo", OBJECT},
    {"", "agentInfo", OBJECT},
    {"", "agentOverhead", OBJECT},
    {"", "metrics", OBJECT},
    {"", "runtimeVersion", TEXT},
    {"", "cpuTimeInSeconds", NUMBER},
    {"", "numTimesSampled", NUMBER},
    {"fleetInfo", "fleetInstanceId", TEXT},
    {"fleetInfo", "hostName", TEXT},
    {"fleetInfo", "hostType", TEXT},
    {"fleetInfo", "computeType", TEXT},
    {"fleetInfo", "taskArn", TEXT},
    {"fleetInfo", "functionArn", TEXT},
    {"fleetInfo", "vCPUs", NUMBER},
    {"agentInfo", "type", TEXT},
    {"agentInfo", "version", TEXT},
    {"agentOverhead", "memoryInMB", NUMBER},
    {"agentOverhead", "timeInMs", NUMBER},
    {"metrics", "numThreads", NUMBER},
};

static const struct member *known(const char *object, struct sp_span key)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(members[i].object, object) == 0 && sp_span_is(key, members[i].name))
            return &members[i];
    return NULL;
}

static void check_number(struct sp_cg_check *c, struct sp_span raw, const char *path)
{
    if (raw.n && *raw.p == '-' && !sp_cg_is_zero(raw))
        sp_cg_find(c, SP_E467, raw.p, path, NULL, "%s is negative: %.*s", path,
                   (int)(raw.n < 40 ? raw.n : 40), raw.p);
}

static bool is_kind(enum kind kind, enum sp_json_type type)
{
    return type == SP_JSON_NULL || (kind == TEXT     ? type == SP_JSON_STRING
                                    : kind == NUMBER ? type == SP_JSON_NUMBER
                                                     : type == SP_JSON_OBJECT);
}

/* agentMetadata.sampleWeights["RUNNABLE"] */
static const char *weight_path(struct sp_buf *path, const char *name, size_t n)
{
    sp_buf_clear(path);
    sp_buf_puts(path, "agentMetadata.sampleWeights[");
    sp_json_string(path, name, n < 60 ? n : 60);
    sp_buf_puts(path, n < 60 ? "]" : "…]");
    return sp_buf_cstr(path);
}

/* {"RUNNABLE":16.0}: any names. */
static void check_weights(struct sp_cg_check *c, struct sp_span raw)
{
    struct sp_json j;
    struct sp_span key, v;
    struct sp_buf path;
    uint32_t search = ++c->searches;
    sp_json_init(&j, raw.p, raw.n);
    sp_buf_init(&path, 4096);
    for (sp_json_object(&j); sp_json_key(&j, &key);) {
        bool number = sp_json_type(&j) == SP_JSON_NUMBER,
             again = sp_cg_again(c, search, sp_intern(&c->names, key.p, key.n));
        weight_path(&path, key.p, key.n);
        if (!sp_json_skip(&j, &v))
            break;
        if (again)
            sp_cg_find(c, SP_E491, v.p, sp_buf_cstr(&path), NULL, "a weight");
        if (!number)
            sp_cg_find(c, SP_E467, v.p, sp_buf_cstr(&path), NULL, "a weight that is no number");
        else
            check_number(c, v, sp_buf_cstr(&path));
    }
    sp_buf_free(&path);
    sp_json_free(&j);
}

/* The members of agentMetadata, or of an object in it; those do not nest further. */
static void check_object(struct sp_cg_check *c, struct sp_span raw, const char *object)
{
    struct sp_json j;
    struct sp_span key, v;
    char path[120];
    uint32_t there = 0; /* bits of `members` */
    sp_json_init(&j, raw.p, raw.n);
    for (sp_json_object(&j); sp_json_key(&j, &key);) {
        const struct member *m = known(object, key);
        enum sp_json_type type = sp_json_type(&j);
        if (!sp_json_skip(&j, &v))
            break;
        if (!m)
            continue;
        snprintf(path, sizeof path, "agentMetadata%s%s.%s", *object ? "." : "", object, m->name);
        if (there & UINT32_C(1) << (m - members))
            sp_cg_find(c, SP_E491, v.p, path, NULL, "%s", path);
        there |= UINT32_C(1) << (m - members);
        if (!is_kind(m->kind, type))
            sp_cg_find(c, SP_E467, v.p, path, NULL, "%s is no %s", path,
                       m->kind == TEXT     ? "string"
                       : m->kind == NUMBER ? "number"
                                           : "object");
        else if (type == SP_JSON_NUMBER)
            check_number(c, v, path);
        else if (m->kind == WEIGHTS && type == SP_JSON_OBJECT)
            check_weights(c, v);
        else if (m->kind == OBJECT && type == SP_JSON_OBJECT)
            check_object(c, v, m->name);
    }
    sp_json_free(&j);
}

/* ---- what contradicts ---- */

static bool is_bee(struct sp_span raw)
{
    struct sp_span info = sp_cg_member(raw, "agentInfo");
    struct sp_span type = info.n ? sp_cg_member(info, "type") : info;
    return sp_span_is(type, "\"profile-bee\"");
}

/* Counters and their weights: agents write one for each. */
static void check_counters(struct sp_cg_check *c, struct sp_span raw, int64_t ms)
{
    struct sp_span weights = sp_cg_member(raw, "sampleWeights"), v;
    struct sp_buf path;
    bool bee = is_bee(raw);
    sp_buf_init(&path, 4096);
    for (size_t i = 0; weights.n && *weights.p == '{' && i < c->counters.n; i++) {
        struct sp_str name = sp_str_at(&c->names, c->counters.v[i].name);
        char key[128];
        if (name.n >= sizeof key || memchr(name.p, '\0', name.n))
            continue;
        memcpy(key, name.p, name.n);
        key[name.n] = '\0';
        v = sp_cg_member(weights, key);
        double sum = (double)c->counters.v[i].sum / (double)SP_CG_ONE;
        double want = ms > 0 ? sum * 1000 / (double)ms : 0;
        double is = v.n ? sp_text_double(v.p, v.n) : 0;
        if (!v.n)
            sp_cg_find(c, SP_W484, weights.p, "agentMetadata.sampleWeights", NULL,
                       "there are counts of %s, and sampleWeights has none for it", key);
        else if (bee && want > 0 && (is > 1.02 * want || is < 0.98 * want))
            sp_cg_find(c, SP_W484, v.p, weight_path(&path, name.p, name.n), NULL,
                       "the sampleWeights of %s are %.*s, and its counts are %.4g a second", key,
                       (int)(v.n < 40 ? v.n : 40), v.p, want);
    }
    sp_buf_free(&path);
}

/* profile-bee counts each sample once; other agents mean other things by it. */
static void check_sum(struct sp_cg_check *c, struct sp_span raw)
{
    struct sp_span v = sp_cg_member(raw, "numTimesSampled");
    __int128 sum = 0;
    uint64_t said;
    char text[64];
    for (size_t i = 0; i < c->counters.n; i++)
        if (__builtin_add_overflow(sum, c->counters.v[i].sum, &sum))
            return;
    if (v.n && is_bee(raw) && sp_parse_u64(v.p, v.p + v.n, &said) == v.n && (__int128)said * SP_CG_ONE != sum)
        sp_cg_find(c, SP_W484, v.p, "agentMetadata.numTimesSampled", NULL,
                   "numTimesSampled is %" PRIu64 ", and the counts add up to %.*s", said,
                   (int)sp_scaled_text(sum, SP_CG_DIGITS, text), text);
}

void sp_cg_check_agent(struct sp_cg_check *c, struct sp_span raw, int64_t ms)
{
    if (!raw.n) {
        sp_cg_find(c, SP_W485, c->j.start, "agentMetadata", NULL, "agentMetadata");
    } else if (*raw.p != '{') {
        sp_cg_find(c, SP_E467, raw.p, "agentMetadata", NULL, "agentMetadata is no object");
    } else {
        check_object(c, raw, "");
        check_counters(c, raw, ms);
        check_sum(c, raw);
    }
}
