#include "model/returns.h"

struct sp_returns sp_returns_of(const struct sp_profile *p, uint32_t event)
{
    const struct sp_event *e = event == SP_NONE ? NULL : &p->events.v[event];
    struct sp_returns r = {.callers = true};
    switch (p->header.ips) {
    case SP_IPS_CALL:
        r.callers = false;
        break;
    case SP_IPS_RETURN:
        r.leaf = true;
        break;
    default:
        r.callers = !e || !sp_str_is(sp_pstr(p, e->name), "lbr");
    }
    return r;
}
