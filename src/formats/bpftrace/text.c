/* Maps as text, line by line. */
#include "base/num.h"
#include "formats/bpftrace/bpftrace.h"

size_t bt_map_name(const char *p, const char *end)
{
    const char *s = p + 1;
    if (p == end || *p != '@')
        return 0;
    while (s < end &&
           ((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_'))
        s++;
    return s < end && (*s == '[' || *s == ':') ? (size_t)(s - p) : 0;
}

static struct sp_span bpftrace_text_trimmed(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return (struct sp_span){p, (size_t)(end - p)};
}

/* Digits of an integer at p: sums and times may be unsigned. */
static size_t bpftrace_integer_digits(const char *p, const char *end)
{
    int64_t v;
    uint64_t u;
    size_t n = sp_parse_i64(p, end, &v);
    return n ? n : sp_parse_u64(p, end, &u);
}

/* Numbers between these words, of which the last may be empty. */
static bool bpftrace_numbers_between(struct sp_span t, const char *const words[4], struct sp_span part[3])
{
    const char *p = t.p, *end = t.p + t.n;
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(end - p) <= n || memcmp(p, words[i], n) != 0)
            return false;
        p += n;
        size_t digits = bpftrace_integer_digits(p, end);
        part[i] = (struct sp_span){p, digits};
        if (!digits)
            return false;
        p += digits;
    }
    size_t n = strlen(words[3]);
    return (size_t)(end - p) == n && memcmp(p, words[3], n) == 0;
}

/* "count 198, average 0, total 0"; from 0.24 on "{ .count = 198, .average = 0, .total = 0 }" */
static bool bpftrace_text_stats(struct sp_span t, struct sp_span part[3])
{
    static const char *const old[] = {"count ", ", average ", ", total ", ""};
    static const char *const new[] = {"{ .count = ", ", .average = ", ", .total = ", " }"};
    return bpftrace_numbers_between(t, old, part) || bpftrace_numbers_between(t, new, part);
}

/* What may stand after "]: " of a profile's map. */
static bool bpftrace_is_value(struct sp_span t)
{
    struct sp_span part[3];
    return !t.n || bpftrace_integer_digits(t.p, t.p + t.n) == t.n || bpftrace_text_stats(t, part);
}

static spaa_status bpftrace_take_value(struct bt_reader *r, struct sp_span t)
{
    struct sp_span part[3];
    bool ok;
    if (!t.n) { /* rows follow */
        r->in_rows = true;
        r->in_stack = false;
        return SPAA_OK;
    }
    if (bpftrace_text_stats(t, part))
        ok = bt_value(r, "", part[0].p, part[0].n) && bt_value(r, "avg", part[1].p, part[1].n) &&
             bt_value(r, "total", part[2].p, part[2].n);
    else
        ok = bt_value(r, "", t.p, t.n);
    return ok ? bt_end(r) : sp_nomem(r->d);
}

/* The last "]: value" or "]:" of a line; NULL: keys go on. */
static const char *bpftrace_terminator(const char *p, const char *end, struct sp_span *value)
{
    for (const char *s = end; s-- > p;) {
        if (*s != ']' || s + 1 == end || s[1] != ':')
            continue;
        *value = bpftrace_text_trimmed(s + 2, end);
        if (bpftrace_is_value(*value))
            return s;
    }
    return NULL;
}

/* What has a value after all, which is a string, a tuple or a record, is no part of a profile. */
static void bpftrace_end_without_number(struct bt_reader *r, const char *p, const char *end)
{
    const char *at = memmem(p, (size_t)(end - p), "]: ", 3);
    if (!at || at + 3 >= end) {
        bt_abandon(r);
        return;
    }
    sp_agg_drop(&r->agg, r->first_block, r->first_value);
    r->open = r->in_stack = r->in_rows = false;
    r->other_lines++;
}

/* What stands where a key begins, up to the end of the line. */
static spaa_status bpftrace_read_keys(struct bt_reader *r, const char *p, const char *end)
{
    struct sp_span value;
    const char *begin = p, *stop = bpftrace_terminator(p, end, &value);
    for (;;) {
        if (p == end) { /* a stack begins with a newline */
            r->in_stack = true;
            return bt_stack(r) ? SPAA_OK : sp_nomem(r->d);
        }
        const char *limit = stop ? stop : end;
        const char *key_end = bt_key_end(p, limit, ", "), *comma = key_end < limit ? key_end : NULL;
        if (!comma && !stop && end[-1] == ',')
            key_end = comma = end - 1;
        bool ok = key_end == p ? bt_stack(r) : bt_scalar(r, p, (size_t)(key_end - p));
        if (!ok)
            return sp_nomem(r->d);
        if (!comma) {
            if (stop)
                return bpftrace_take_value(r, value);
            bpftrace_end_without_number(r, begin, end);
            return SPAA_OK;
        }
        p = comma + 2 < end ? comma + 2 : end;
    }
}

static spaa_status bpftrace_begin_record(struct bt_reader *r, const char *p, const char *end, size_t name)
{
    struct sp_span value = bpftrace_text_trimmed(p + name + 1, end);
    if (p[name] == ':' && !bpftrace_is_value(value)) {
        r->other_lines++;
        return SPAA_OK;
    }
    if (!bt_begin(r, p, name))
        return sp_nomem(r->d);
    return p[name] == ':' ? bpftrace_take_value(r, value) : bpftrace_read_keys(r, p + name + 1, end);
}

/* "[64K, 128K)            1 |@@@@|", "[0]  1", "(..., 0)  3" */
static spaa_status bpftrace_read_row(struct bt_reader *r, struct sp_span t, bool *taken)
{
    const char *end = t.p + t.n, *close = t.p;
    int64_t count;
    *taken = false;
    if (!t.n || (*t.p != '[' && *t.p != '('))
        return SPAA_OK;
    while (close < end && *close != ')' && *close != ']' && *close >= ' ' && *close < 0x7f)
        close++;
    if (close == end || (*close != ')' && *close != ']'))
        return SPAA_OK;
    struct sp_span rest = bpftrace_text_trimmed(close + 1, end);
    size_t digits = sp_parse_i64(rest.p, rest.p + rest.n, &count);
    if (!digits || (digits < rest.n && rest.p[digits] != ' '))
        return SPAA_OK;
    *taken = true;
    return bt_bucket(r, t.p, (size_t)(close + 1 - t.p), count);
}

/* What a time series begins with below its key: "       0        5", or that there is nothing. */
static bool bpftrace_begins_series(const struct bt_reader *r, struct sp_span t)
{
    size_t i = 0;
    if (r->agg.values.n > r->first_value || !t.n)
        return false;
    while (i < t.n && ((t.p[i] >= '0' && t.p[i] <= '9') || t.p[i] == '-' || t.p[i] == ' '))
        i++;
    return (i == t.n && memchr(t.p, ' ', t.n)) || sp_span_is(t, "<no data>");
}

/* Its values are of moments, of no stack: it is left out. */
static void bpftrace_begin_series(struct bt_reader *r)
{
    sp_agg_drop(&r->agg, r->first_block, r->first_value);
    r->open = r->in_rows = r->in_stack = false;
    r->in_series = true;
    r->other_lines += 2;
}

static spaa_status bpftrace_rows_end(struct bt_reader *r)
{
    if (!r->in_rows)
        return SPAA_OK;
    if (r->agg.values.n == r->first_value) { /* "]: " with nothing below */
        bt_abandon(r);
        return SPAA_OK;
    }
    return bt_end(r);
}

/* What bpftrace says on the terminal, which may stand anywhere: nothing of it is a frame. */
static bool bpftrace_is_message(struct bt_reader *r, const char *p, const char *end)
{
    static const char lost[] = "Lost ", warning[] = "WARNING: ", full[] = "Map full; can't update element";
    uint64_t events;
    size_t n = (size_t)(end - p), k = sizeof lost - 1,
           used = n > k && memcmp(p, lost, k) == 0 ? sp_parse_u64(p + k, end, &events) : 0;
    if (used && (size_t)(end - p) == k + used + 7 && memcmp(p + k + used, " events", 7) == 0) {
        bt_lost(r, events);
        return true;
    }
    const char *at =
        n && *p != ' ' && *p != '\t' && *p != '@' ? memmem(p, n, warning, sizeof warning - 1) : NULL;
    if (!at || (at > p && (at - p < 2 || memcmp(at - 2, ": ", 2) != 0)))
        return false;
    r->other_lines++;
    if (memmem(at, (size_t)(end - at), full, sizeof full - 1))
        sp_emit_hint(r->d, SP_L303, SP_AT_LINE(r->lines.line, r->lines.offset), "raise BPFTRACE_MAX_MAP_KEYS",
                     "a map was full: what it has no key of was not counted");
    return true;
}

static spaa_status bpftrace_take_line(struct bt_reader *r, const char *p, size_t n)
{
    const char *end = p + n;
    if (n && end[-1] == '\r')
        end--;
    if (bpftrace_is_message(r, p, end))
        return SPAA_OK;
    if (r->in_series) {
        r->in_series = p < end;
        r->other_lines += p < end;
        return SPAA_OK;
    }
    if (r->in_stack && p < end && *p != ',' && *p != ']' && *p != '@')
        return bt_frame(r, p, (size_t)(end - p)) ? SPAA_OK : sp_nomem(r->d);
    if (r->in_stack && p < end && *p != '@') {
        r->in_stack = false;
        if (*p == ']') {
            struct sp_span value = {NULL, 0};
            if (bpftrace_terminator(p, end, &value) == p)
                return bpftrace_take_value(r, value);
            bpftrace_end_without_number(r, p, end);
            return SPAA_OK;
        }
        return bpftrace_read_keys(r, end - p > 2 ? p + 2 : end, end);
    }
    if (r->in_rows) {
        bool taken;
        struct sp_span t = bpftrace_text_trimmed(p, end);
        spaa_status st = bpftrace_read_row(r, t, &taken);
        if (st || taken)
            return st;
        if (bpftrace_begins_series(r, t)) {
            bpftrace_begin_series(r);
            return SPAA_OK;
        }
        st = bpftrace_rows_end(r);
        if (st)
            return st;
    }
    if (r->open)
        bt_abandon(r);
    size_t name = bt_map_name(p, end);
    if (name)
        return bpftrace_begin_record(r, p, end, name);
    if (p < end && *p == '{' && end[-1] == '}')
        return bt_take_json(r, p, (size_t)(end - p));
    r->other_lines += p < end;
    return SPAA_OK;
}

/* The last line of a file that ends without a newline: a bar that is not closed, or what may be whole. */
static void bpftrace_say_cut(struct bt_reader *r, const char *p, size_t n)
{
    const char *bar = r->in_rows ? memchr(p, '|', n) : NULL;
    if (bar && (bar == p + n - 1 || p[n - 1] != '|'))
        sp_emit(r->d, SP_L301, SP_AT_LINE(r->lines.line, r->lines.offset),
                "the file ends inside the bar of a histogram: \"%.*s\"", (int)(n < 80 ? n : 80), p);
    else
        sp_lines_say_cut(r->d, r->lines.line, r->lines.offset);
}

spaa_status bt_take_line(void *reader, const char *p, size_t n)
{
    struct bt_reader *r = reader;
    spaa_status st = bpftrace_take_line(r, p, n);
    if (!st && r->lines.cut && n && (r->in_rows || !r->open))
        bpftrace_say_cut(r, p, n);
    return !st && r->opts->strict && r->unfinished ? SPAA_ERR_INPUT : st;
}

spaa_status bt_take_end(struct bt_reader *r)
{
    spaa_status st = bpftrace_rows_end(r);
    if (!st && r->open)
        bt_abandon(r);
    return st;
}
