/* Records of maps, whichever form they were printed in. */
#include "base/num.h"
#include "formats/bpftrace/bpftrace.h"

/* No program has nearly as many; they are looked up one by one. */
enum { MAPS_MAX = 4096 };

/* The number of a map in r->maps: made with its event when its first record is complete. */
static uint32_t bpftrace_map_of(struct bt_reader *r)
{
    for (uint32_t i = 0; i < r->maps.n; i++)
        if (r->maps.v[i].name == r->map)
            return i;
    if (r->maps.n == MAPS_MAX)
        return SP_NONE;
    struct sp_event e;
    struct bt_map m = {.name = r->map, .event = SP_NONE};
    struct sp_str name = sp_pstr(r->p, r->map);
    if (!sp_agg_event_named(r->p, name.p, name.n, "count", &e))
        return SP_NONE;
    m.event = sp_event_add(r->p, &e);
    return m.event != SP_NONE && sp_vec_push(&r->maps, m) ? (uint32_t)r->maps.n - 1 : SP_NONE;
}

bool bt_begin(struct bt_reader *r, const char *map, size_t n)
{
    r->open = true;
    r->in_stack = r->in_rows = r->average = false;
    r->keys.n = r->keys.stacks = 0;
    r->first_block = r->agg.blocks.n;
    r->first_value = r->agg.values.n;
    r->first_line = r->lines.line;
    r->rows_total = 0;
    struct sp_str last = sp_pstr(r->p, r->map);
    if (!r->map || last.n != n || memcmp(last.p, map, n) != 0)
        r->map = sp_profile_str(r->p, map, n);
    if (r->map != SP_STR_FAIL)
        return true;
    r->map = SP_STR_NONE;
    return false;
}

bool bt_stack(struct bt_reader *r)
{
    uint32_t place = r->keys.stacks;
    if (place == SP_AGG_STACKS_MAX)
        return true;
    r->keys.stacks++;
    return sp_agg_block_begin(&r->agg, sp_agg_keys_side(&r->keys, place), place);
}

bool bt_scalar(struct bt_reader *r, const char *p, size_t n)
{
    return sp_agg_key_add(&r->keys, p, n);
}

/* The bracket that closes the one at p; NULL: none does, so that it is a part of some name. */
static const char *bpftrace_closing(const char *p, const char *end)
{
    static const char open[] = "({[", close[] = ")}]";
    char wanted[32]; /* none has nearly as many within each other */
    size_t depth = 0;
    for (; p < end; p++) {
        const char *o = *p ? strchr(open, *p) : NULL, *c = *p ? strchr(close, *p) : NULL;
        if (o && depth == sizeof wanted)
            return NULL;
        if (o)
            wanted[depth++] = close[o - open];
        else if (c && (!depth || wanted[--depth] != *p))
            return NULL;
        if (!depth)
            return p;
    }
    return NULL;
}

const char *bt_key_end(const char *p, const char *end, const char *separator)
{
    size_t n = strlen(separator);
    const char *close = p < end && strchr("({[", *p) && *p ? bpftrace_closing(p, end) : NULL;
    if (close &&
        (close + 1 == end || ((size_t)(end - close - 1) >= n && memcmp(close + 1, separator, n) == 0)))
        return close + 1;
    const char *at = memmem(p, (size_t)(end - p), separator, n);
    return at ? at : end;
}

void bt_lost(struct bt_reader *r, uint64_t events)
{
    r->p->header.lost += events;
    sp_emit(r->d, SP_L303, SP_AT_LINE(r->lines.line, r->lines.offset), "%llu events",
            (unsigned long long)events);
}

bool bt_value(struct bt_reader *r, const char *metric, const char *p, size_t n)
{
    uint32_t m = *metric ? sp_metric_intern(r->p, metric, strlen(metric)) : SP_NONE;
    if (*metric && m == SP_NONE)
        return false;
    return sp_agg_value_text(&r->agg, m, p, n);
}

spaa_status bt_bucket(struct bt_reader *r, const char *label, size_t n, int64_t count)
{
    return sp_agg_bucket_add(&r->agg, "", label, n < 40 ? n : 40, count, &r->rows_total,
                             SP_AT_LINE(r->lines.line, r->lines.offset));
}

spaa_status bt_end(struct bt_reader *r)
{
    if (!bt_frames_inlined(r))
        return sp_nomem(r->d);
    if (r->in_rows && !sp_agg_value_add(&r->agg, SP_NONE, r->rows_total))
        return sp_nomem(r->d);
    bool primary = false;
    for (size_t i = r->first_value; i < r->agg.values.n; i++)
        primary = primary || r->agg.values.v[i].metric == SP_NONE;
    if (!primary) { /* statistics without a count */
        bt_abandon(r);
        return SPAA_OK;
    }
    uint32_t map = bpftrace_map_of(r);
    if (map == SP_NONE && r->maps.n == MAPS_MAX) {
        sp_emit(r->d, SP_E007, SP_AT_LINE(r->lines.line, r->lines.offset), "more than %d maps", MAPS_MAX);
        return SPAA_ERR_LIMIT;
    }
    if (map == SP_NONE)
        return sp_nomem(r->d);
    if (!r->in_rows && r->agg.values.n == r->first_value + 1) {
        struct sp_agg_seen *seen = &r->maps.v[map].seen;
        seen->bare = true;
        seen->averages = seen->averages || r->average;
        seen->negative = seen->negative || r->agg.values.v[r->first_value].v < 0;
    }
    uint32_t context = sp_agg_keys_context(&r->keys, r->maps.v[map].event, r->first_line);
    bool ok = context != SP_NONE && sp_agg_record_add(&r->agg, r->first_block, r->first_value, context);
    r->open = r->in_stack = r->in_rows = false;
    r->any = true;
    return ok ? SPAA_OK : sp_nomem(r->d);
}

void bt_abandon(struct bt_reader *r)
{
    if (r->open) {
        r->unfinished++;
        sp_emit_hint(r->d, SP_L302, SP_AT_LINE(r->first_line, SP_NOWHERE),
                     "the output may have been cut or mixed with other output",
                     "a map entry without a value");
        sp_agg_drop(&r->agg, r->first_block, r->first_value);
    }
    r->open = r->in_stack = r->in_rows = false;
}
