#include "ask/memory_moment.h"

#include "json/find.h"

enum sp_memory_moment sp_memory_moment_of(const struct sp_profile *p, uint32_t event, bool told)
{
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    struct sp_str tracking = sp_pstr(p, p->events.v[event].allocation_tracking);
    struct sp_span header = {more.p, more.n}, unit;
    bool timed = tracking.n && sp_json_find_true((struct sp_span){tracking.p, tracking.n}, "has_timestamps");
    if (p->header.stopped)
        return SP_MOMENT_STOPPED;
    if (more.n && sp_json_find2(header, "x_dhat", "time_unit", &unit))
        return SP_MOMENT_END;
    if (timed && more.n && sp_json_find2(header, "x_massif", "time_unit", &unit))
        return SP_MOMENT_LAST_SNAPSHOT;
    return told || timed ? SP_MOMENT_END : SP_MOMENT_UNTOLD;
}

void sp_memory_moment_text(struct sp_buf *b, enum sp_memory_moment moment, const char *at)
{
    if (moment == SP_MOMENT_STOPPED)
        sp_buf_printf(b, " at %s s", at ? at : "?");
    else
        sp_buf_puts(b, moment == SP_MOMENT_END             ? " at the end"
                       : moment == SP_MOMENT_LAST_SNAPSHOT ? " at the last snapshot"
                                                           : "");
}
