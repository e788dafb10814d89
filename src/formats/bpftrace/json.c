/*
 * Lines of `bpftrace -f json`:
 *
 *     {"type": "map", "data": {"@a": {"\n    schedule+35\n,\n    0x7f…\n,comm": 1}}}
 *     {"type": "hist", "data": {"@h": {"KEY": [{"min": 4, "max": 7, "count": 1}]}}}
 *     {"type": "stats", "data": {"@s": {"KEY": {"count": 1, "average": 3, "total": 3}}}}
 *     {"type": "stats", "data": {"@a": {"KEY": 3}}}                 the average alone: avg()
 *     {"type": "lost_events", "data": {"events": 5}}
 *
 * The keys' stacks begin with a newline, and every one of their lines ends with one. From 0.24 on all blanks
 * of keys are left out; a tuple within a key is in parentheses, a record "{.a=1,.b=2}", an array "[1,2]".
 */
#include "base/num.h"
#include "formats/bpftrace/bpftrace.h"
#include "formats/common/aggregation/buckets.h"

static spaa_status bpftrace_key_text(struct bt_reader *r, const char *p, size_t n)
{
    const char *end = p + n;
    for (;;) {
        bool ok;
        if (p < end && *p == '\n') {
            ok = bt_stack(r);
            for (p++; ok && p < end && *p != ',';) {
                const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
                ok = p == eol || bt_frame(r, p, (size_t)(eol - p));
                p = nl ? nl + 1 : end;
            }
        } else {
            const char *stop = bt_key_end(p, end, ",");
            ok = p == stop ? bt_stack(r) : bt_scalar(r, p, (size_t)(stop - p));
            p = stop;
        }
        if (!ok)
            return sp_nomem(r->d);
        if (p == end)
            return SPAA_OK;
        p++; /* the comma */
    }
}

/* {"min": 4, "max": 7, "count": 1} as the row "[4, 8)" of the text form. */
static spaa_status bpftrace_json_bucket(struct bt_reader *r)
{
    struct sp_span key, n;
    bool has_min = false, has_max = false;
    int64_t min = 0, max = 0, count = 0;
    struct sp_buf b;
    if (!sp_json_object(&r->json))
        return SPAA_ERR_INPUT;
    while (sp_json_key(&r->json, &key)) {
        int64_t *to = sp_span_is(key, "min")     ? &min
                      : sp_span_is(key, "max")   ? &max
                      : sp_span_is(key, "count") ? &count
                                                 : NULL;
        if (!to ? !sp_json_skip(&r->json, &n)
                : !sp_json_number(&r->json, &n) || sp_parse_i64(n.p, n.p + n.n, to) != n.n)
            return SPAA_ERR_INPUT;
        has_min = has_min || to == &min;
        has_max = has_max || to == &max;
    }
    sp_buf_init(&b, 0);
    if (has_min && has_max && min == max) {
        sp_buf_ch(&b, '[');
        sp_agg_put_scaled(&b, min);
        sp_buf_ch(&b, ']');
    } else {
        sp_buf_puts(&b, has_min ? "[" : "(...");
        if (has_min)
            sp_agg_put_scaled(&b, min);
        sp_buf_puts(&b, ", ");
        if (has_max && max < INT64_MAX)
            sp_agg_put_scaled(&b, max + 1);
        else
            sp_buf_puts(&b, "...");
        sp_buf_ch(&b, ')');
    }
    spaa_status st = b.failed ? sp_nomem(r->d) : bt_bucket(r, b.data, b.len, count);
    sp_buf_free(&b);
    return st;
}

/*
 * A number. What doubles cannot hold stands in a string (from 0.24 on); other strings are consumed and are
 * none.
 */
static bool bpftrace_json_number(struct bt_reader *r, enum sp_json_type type, struct sp_span *n)
{
    int64_t v = 0;
    uint64_t u = 0;
    if (type == SP_JSON_NUMBER)
        return sp_json_number(&r->json, n);
    return type == SP_JSON_STRING && sp_json_string_value(&r->json, n) && n->n >= 16 &&
           (sp_parse_i64(n->p, n->p + n->n, &v) == n->n || sp_parse_u64(n->p, n->p + n->n, &u) == n->n);
}

/* Does `1, "average": …` follow? Then it is the statistics of a map without keys, not an average of the key
 * "count". */
static bool bpftrace_before_average(const struct sp_json *at)
{
    struct sp_json j;
    struct sp_span s;
    sp_json_init(&j, at->p, (size_t)(at->end - at->p));
    bool is = sp_json_skip(&j, &s);
    const char *p = j.p;
    while (is && p < j.end && (*p == ' ' || *p == ','))
        p++;
    static const char next[] = "\"average\"";
    is = is && (size_t)(j.end - p) >= sizeof next - 1 && memcmp(p, next, sizeof next - 1) == 0;
    sp_json_free(&j);
    return is;
}

/* Is the array that begins here the buckets of a distribution, or a tuple, or an array of numbers? */
static bool bpftrace_has_buckets(const struct sp_json *at)
{
    static const char *const members[] = {"\"min\"", "\"max\"", "\"count\""};
    const char *p = at->p;
    while (p < at->end && strchr(" [{", *p) && *p)
        p++;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        size_t n = strlen(members[i]);
        if ((size_t)(at->end - p) > n && memcmp(p, members[i], n) == 0)
            return true;
    }
    return p < at->end && *p == ']'; /* none was counted */
}

/* A member of statistics; what else an object has is no number of theirs. */
static spaa_status bpftrace_statistic(struct bt_reader *r, struct sp_span key)
{
    const char *metric = sp_span_is(key, "count")     ? ""
                         : sp_span_is(key, "average") ? "avg"
                         : sp_span_is(key, "total")   ? "total"
                                                      : NULL;
    struct sp_span n;
    if (metric ? !bpftrace_json_number(r, sp_json_type(&r->json), &n) : !sp_json_skip(&r->json, &n))
        return SPAA_ERR_INPUT;
    return !metric || bt_value(r, metric, n.p, n.n) ? SPAA_OK : sp_nomem(r->d);
}

static spaa_status bpftrace_json_stats(struct bt_reader *r)
{
    struct sp_span key;
    spaa_status st = SPAA_OK;
    while (!st && sp_json_key(&r->json, &key))
        st = bpftrace_statistic(r, key);
    return st;
}

/* The value of a map, or of one of its keys: a number, the buckets of a distribution, or statistics. */
static spaa_status bpftrace_json_value(struct bt_reader *r, enum sp_json_type type, bool is_stats)
{
    struct sp_span n;
    spaa_status st = SPAA_OK;
    if (bpftrace_json_number(r, type, &n)) {
        r->average = is_stats;
        st = bt_value(r, "", n.p, n.n) ? SPAA_OK : sp_nomem(r->d);
    } else if (type == SP_JSON_ARRAY && bpftrace_has_buckets(&r->json)) {
        r->in_rows = true;
        sp_json_array(&r->json);
        while (!st && sp_json_item(&r->json))
            st = sp_json_type(&r->json) == SP_JSON_OBJECT ? bpftrace_json_bucket(r) : SPAA_ERR_INPUT;
    } else if (is_stats && type == SP_JSON_OBJECT) {
        sp_json_object(&r->json);
        st = bpftrace_json_stats(r);
    } else { /* a string, or a tuple: no profile */
        if (r->json.error || (type != SP_JSON_STRING && !sp_json_skip(&r->json, &n)))
            return SPAA_ERR_INPUT;
        sp_agg_drop(&r->agg, r->first_block, r->first_value);
        r->open = false;
        r->other_lines++;
        return SPAA_OK;
    }
    if (!st && r->json.error)
        st = SPAA_ERR_INPUT;
    return st ? st : bt_end(r);
}

static spaa_status bpftrace_json_map(struct bt_reader *r, const char *name, size_t n, bool is_stats)
{
    struct sp_span key;
    spaa_status st = SPAA_OK;
    enum sp_json_type type = sp_json_type(&r->json);
    if (type != SP_JSON_OBJECT) /* a map without keys */
        return bt_begin(r, name, n) ? bpftrace_json_value(r, type, is_stats) : sp_nomem(r->d);
    sp_json_object(&r->json);
    while (!st && sp_json_key(&r->json, &key)) {
        bool bare = is_stats && sp_span_is(key, "count") && bpftrace_before_average(&r->json);
        st = bt_begin(r, name, n) ? SPAA_OK : sp_nomem(r->d);
        if (!st && !bare)
            st = bpftrace_key_text(r, key.p, key.n);
        if (!st && bare) {
            do {
                st = bpftrace_statistic(r, key);
            } while (!st && sp_json_key(&r->json, &key));
            if (st)
                return st;
            return r->json.error ? SPAA_ERR_INPUT : bt_end(r);
        }
        if (!st)
            st = bpftrace_json_value(r, sp_json_type(&r->json), is_stats);
    }
    return st;
}

static spaa_status bpftrace_json_data(struct bt_reader *r, bool is_stats)
{
    struct sp_span name;
    spaa_status st = SPAA_OK;
    if (sp_json_type(&r->json) != SP_JSON_OBJECT || !sp_json_object(&r->json))
        return SPAA_ERR_INPUT;
    while (!st && sp_json_key(&r->json, &name)) {
        char copy[128];
        size_t n = name.n < sizeof copy ? name.n : sizeof copy; /* names of maps are short */
        memcpy(copy, name.p, n);
        st = bpftrace_json_map(r, copy, n, is_stats);
    }
    return st;
}

static spaa_status bpftrace_json_lost(struct bt_reader *r)
{
    struct sp_span key;
    uint64_t n = 0;
    if (sp_json_type(&r->json) != SP_JSON_OBJECT || !sp_json_object(&r->json))
        return SPAA_ERR_INPUT;
    while (sp_json_key(&r->json, &key))
        if (!(sp_span_is(key, "events") ? sp_json_u64(&r->json, &n) : sp_json_skip(&r->json, &key)))
            return SPAA_ERR_INPUT;
    bt_lost(r, n);
    return SPAA_OK;
}

spaa_status bt_take_json(struct bt_reader *r, const char *p, size_t n)
{
    struct sp_span key, s;
    enum { OTHER, MAP, STATS, LOST } what = OTHER;
    bool taken = false;
    spaa_status st = SPAA_OK;
    sp_json_reset(&r->json, p, n);
    if (!sp_json_object(&r->json))
        st = SPAA_ERR_INPUT;
    while (!st && sp_json_key(&r->json, &key)) {
        if (sp_span_is(key, "type") && sp_json_type(&r->json) == SP_JSON_STRING) {
            if (sp_json_string_value(&r->json, &s))
                what = sp_span_is(s, "map") || sp_span_is(s, "hist") || sp_span_is(s, "lhist") ? MAP
                       : sp_span_is(s, "stats")                                                ? STATS
                       : sp_span_is(s, "lost_events")                                          ? LOST
                                                                                               : OTHER;
        } else if (sp_span_is(key, "data") && what != OTHER) {
            st = what == LOST ? bpftrace_json_lost(r) : bpftrace_json_data(r, what == STATS);
            taken = true;
        } else if (!sp_json_skip(&r->json, &s)) {
            break;
        }
    }
    if (r->json.error && strcmp(r->json.error, "out of memory") == 0)
        return sp_nomem(r->d);
    r->other_lines += !taken;
    if (st == SPAA_ERR_INPUT || (!st && r->json.error)) {
        sp_emit(r->d, SP_L302, SP_AT_LINE(r->lines.line, r->lines.offset), "%s",
                r->json.error ? r->json.error : "an object that bpftrace does not write");
        r->unfinished++;
        if (r->open)
            sp_agg_drop(&r->agg, r->first_block, r->first_value);
        r->open = r->in_rows = r->in_stack = false;
        return SPAA_OK;
    }
    return st;
}
