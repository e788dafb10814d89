/* What the header says of DTrace's output, and the names of its events. */
#include "formats/dtrace/dtrace.h"
#include "json/json.h"

#include <string.h>

/* The names of several groups are their titles; of the only one, what was asked for. */
static spaa_status name_groups(struct dt_reader *r)
{
    for (uint32_t i = 0; r->groups.n > 1 && i < r->groups.n; i++)
        if (r->groups.v[i].title && !(i == 0 && r->opts->event))
            r->p->events.v[r->groups.v[i].event].name = r->groups.v[i].title;
    if (r->aggregation || !r->negative)
        return SPAA_OK;
    uint32_t sum = sp_metric_intern(r->p, "sum", 3);
    for (uint32_t i = 0; i < r->groups.n; i++)
        r->p->events.v[r->groups.v[i].event].primary = sum;
    return sum == SP_NONE ? sp_nomem(r->d) : SPAA_OK;
}

spaa_status dt_header(struct dt_reader *r)
{
    struct sp_header *h = &r->p->header;
    struct sp_str probe = sp_pstr(r->p, r->probe);
    struct sp_buf b;
    sp_buf_init(&b, 0);
    h->source_tool = h->tool = sp_profile_cstr(r->p, "dtrace");
    h->version = sp_profile_cstr(r->p, "1.0");
    h->has_x_spaa = true;
    h->frames = r->agg.granularity == SP_FRAMES_ADDRESS ? SP_FRAMES_ADDRESS : SP_FRAMES_FUNCTION;
    h->group_by = sp_agg_keys_groups(&r->keys);
    sp_buf_puts(&b, "\"x_dtrace\":{");
    sp_agg_keys_header(&r->keys, &b);
    if (probe.n) {
        sp_buf_puts(&b, ",\"printed_by\":");
        sp_json_string(&b, probe.p, probe.n);
    }
    sp_buf_ch(&b, '}');
    h->more = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    if (h->more == SP_STR_FAIL || h->source_tool == SP_STR_FAIL || h->version == SP_STR_FAIL)
        return sp_nomem(r->d);
    return name_groups(r);
}
