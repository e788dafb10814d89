/* What the header says of DTrace's output, and the names of its events. */
#include "formats/dtrace/dtrace.h"
#include "json/json.h"

#include <string.h>

/* The names of several groups are their titles; of the only one, or the first, what was asked for if no title
 * is. */
static spaa_status dtrace_name_groups(struct dt_reader *r)
{
    bool asked = r->opts->event != NULL;
    for (uint32_t i = 0; asked && i < r->groups.n; i++)
        asked = !sp_str_is(sp_pstr(r->p, r->groups.v[i].title), r->opts->event);
    for (uint32_t i = 0; r->groups.n > 1 && i < r->groups.n; i++)
        if (r->groups.v[i].title && !(i == 0 && asked) &&
            !sp_event_rename(r->p, r->groups.v[i].event, r->groups.v[i].title))
            return sp_nomem(r->d);
    for (uint32_t i = 0; i < r->groups.n; i++)
        if (!sp_agg_function_settle(&r->functions, r->groups.v[i].event, sp_pstr(r->p, r->groups.v[i].title),
                                    true, &r->groups.v[i].seen))
            return sp_nomem(r->d);
    return SPAA_OK;
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
        sp_buf_add(&b, probe.p, probe.n);
    }
    sp_buf_ch(&b, '}');
    h->extra_json = b.failed ? SP_STR_FAIL : sp_profile_str(r->p, b.data, b.len);
    sp_buf_free(&b);
    if (h->extra_json == SP_STR_FAIL || h->source_tool == SP_STR_FAIL || h->version == SP_STR_FAIL)
        return sp_nomem(r->d);
    return dtrace_name_groups(r);
}
