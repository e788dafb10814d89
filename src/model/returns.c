#include "model/returns.h"

#include "model/events.h"

struct sp_returns sp_returns_of(const struct sp_profile *p, uint32_t event)
{
    struct sp_returns r = {.callers = true};
    switch (p->header.ips) {
    case SP_IPS_CALL:
        r.callers = false;
        break;
    case SP_IPS_RETURN:
        r.leaf = true;
        break;
    default:
        r.callers = !sp_is_branches(p, event);
    }
    return r;
}
