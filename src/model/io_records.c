/* Reads the records of input and output that a report holds: model/io_records.h. */
#include "model/io_records.h"

#include "base/buf.h"
#include "base/num.h"
#include "json/find.h"

#include <string.h>

void sp_io_records_free(struct sp_io_records *r)
{
    sp_strtab_free(&r->strs);
    sp_vec_free(&r->tables);
    sp_vec_free(&r->buckets);
    sp_vec_free(&r->statistics);
}

static bool io_records_text(struct sp_io_records *r, struct sp_span record, const char *key, uint32_t *out)
{
    struct sp_span raw;
    struct sp_buf b;
    *out = SP_STR_NONE;
    if (!sp_json_find(record, key, &raw))
        return true;
    sp_buf_init(&b, 0);
    if (sp_json_text_to(&b, raw))
        *out = sp_intern(&r->strs, b.len ? b.data : "", b.len);
    bool ok = !b.failed && *out != SP_STR_FAIL;
    sp_buf_free(&b);
    return ok;
}

/* [begin, end or null, count, cdf] */
static bool io_records_bucket(struct sp_span row, struct sp_io_bucket *k)
{
    int64_t *to[] = {&k->begin, &k->end, &k->count, &k->cdf};
    struct sp_span item;
    for (int i = 0; i < 4; i++) {
        if (!sp_json_next(&row, &item))
            return false;
        if (i == 1 && sp_span_is(item, "null"))
            k->end = SP_ABSENT;
        else if (sp_parse_i64(item.p, item.p + item.n, to[i]) != item.n)
            return false;
    }
    return k->count >= 0;
}

static bool io_records_table(struct sp_io_records *r, struct sp_span record)
{
    struct sp_io_table t = {.first = (uint32_t)r->buckets.n};
    struct sp_span rows, row;
    if (!sp_json_find(record, "rows", &rows))
        return true;
    while (sp_json_next(&rows, &row)) {
        struct sp_io_bucket k;
        if (!io_records_bucket(row, &k))
            continue;
        if (r->buckets.n >= SP_NONE - 1 || !sp_vec_push(&r->buckets, k))
            return false;
        t.n++;
    }
    return io_records_text(r, record, "title", &t.title) && io_records_text(r, record, "unit", &t.unit) &&
           sp_vec_push(&r->tables, t);
}

static bool io_records_statistics(struct sp_io_records *r, struct sp_span record)
{
    struct sp_io_sums s = {0};
    int64_t *to[] = {&s.ios,   &s.mean_us,    &s.sd_us,  &s.max_us,
                     &s.reads, &s.read_bytes, &s.writes, &s.write_bytes};
    static const char *const keys[] = {"ios",   "latency_mean_us", "latency_sd_us", "latency_max_us",
                                       "reads", "read_bytes",      "writes",        "write_bytes"};
    for (int i = 0; i < 8; i++)
        if (!sp_json_find_i64(record, keys[i], to[i]))
            *to[i] = SP_ABSENT;
    return io_records_text(r, record, "title", &s.title) && sp_vec_push(&r->statistics, s);
}

static bool io_records_are(struct sp_str record, const char *suffix)
{
    static const char first[] = "{\"type\":\"x_";
    const char *start = record.p + sizeof first - 1;
    if (record.n < sizeof first || memcmp(record.p, first, sizeof first - 1) != 0)
        return false;
    const char *quote = memchr(start, '"', record.n - (sizeof first - 1));
    size_t n = strlen(suffix);
    return quote && (size_t)(quote - start) > n && memcmp(quote - n, suffix, n) == 0;
}

spaa_status sp_io_records_of(const struct sp_profile *p, struct sp_diags *d, struct sp_io_records *out)
{
    struct sp_io_records r = {0};
    bool ok = sp_strtab_init(&r.strs);
    for (size_t i = 0; ok && i < p->extensions.n; i++) {
        struct sp_str json = sp_pstr(p, p->extensions.v[i].json);
        struct sp_span record = {json.p, json.n};
        if (io_records_are(json, "_histogram"))
            ok = io_records_table(&r, record);
        else if (io_records_are(json, "_aggregate"))
            ok = io_records_statistics(&r, record);
    }
    if (!ok) {
        sp_io_records_free(&r);
        return sp_nomem(d);
    }
    *out = r;
    return SPAA_OK;
}
