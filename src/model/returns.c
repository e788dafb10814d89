#include "model/returns.h"

#include <string.h>

/* Profiles of gperftools and jemalloc have return addresses only, but where a timer stopped the program. */
static bool leaf_returns(const struct sp_profile *p, const struct sp_event *e)
{
    struct sp_str more = sp_pstr(p, p->header.extra_json);
    return e && e->kind != SP_TIMER &&
           (memmem(more.p, more.n, "\"x_gperftools\":", 15) || memmem(more.p, more.n, "\"x_jemalloc\":", 13));
}

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
        r.leaf = leaf_returns(p, e);
        r.callers = !e || !sp_str_is(sp_pstr(p, e->name), "lbr");
    }
    return r;
}
