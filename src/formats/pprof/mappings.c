/* What reader and writer must see alike: which mapping an address is in, and how texts are spelled. */
#include "base/num.h"
#include "formats/pprof/pprof.h"

#define GUESSES 16u /* mappings of one DSO that are tried for an address */

const char *const sp_pprof_key_names[PPROF_KEYS] = {"pid", "tid", "comm"};
const char *const sp_pprof_has_names[4] = {"functions", "filenames", "lines", "inlines"};

bool sp_pprof_mappings_index(struct sp_pprof_mappings *m, size_t ndsos)
{
    if (!sp_vec_reserve(&m->first, ndsos + 1))
        return false;
    m->first.n = ndsos;
    for (size_t i = 0; i < ndsos; i++)
        m->first.v[i] = SP_NONE;
    for (size_t i = m->list.n; i-- > 0;) {
        struct sp_pprof_mapping *x = &m->list.v[i];
        x->next = SP_NONE;
        if (x->dso == SP_NONE)
            continue;
        x->next = m->first.v[x->dso];
        m->first.v[x->dso] = (uint32_t)i;
    }
    return true;
}

/*
 * Of a named DSO the one whose part of the file holds the ip, or the first one where there is no ip; of
 * "[unknown]" the one whose memory holds it.
 */
uint32_t sp_pprof_mapping_guess(const struct sp_pprof_mappings *m, uint32_t dso, bool has_ip, uint64_t ip)
{
    if (dso >= m->first.n)
        return SP_NONE;
    bool absolute = dso == m->unknown;
    uint32_t i = m->first.v[dso];
    if (!has_ip)
        return absolute ? SP_NONE : i;
    for (unsigned tries = 0; i != SP_NONE && tries < GUESSES; i = m->list.v[i].next, tries++) {
        const struct sp_pprof_mapping *x = &m->list.v[i];
        uint64_t from = absolute ? x->start : x->offset;
        if (ip >= from && (!x->limit || ip - from < x->limit - x->start))
            return i;
    }
    return SP_NONE;
}

bool sp_pprof_is_build_id(struct sp_str s)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return s.n;
}

struct sp_str sp_pprof_unit_in(struct sp_str unit)
{
    return sp_str_is(unit, "nanoseconds") ? sp_pprof_literal("ns") : unit;
}

struct sp_str sp_pprof_unit_out(struct sp_str unit)
{
    if (!unit.n)
        return sp_pprof_literal("count");
    return sp_str_is(unit, "ns") ? sp_pprof_literal("nanoseconds") : unit;
}
