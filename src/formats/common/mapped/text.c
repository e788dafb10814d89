/* Rows of numbers and addresses, and the estimate of what sampling did not see. */
#include "base/num.h"
#include "formats/common/mapped/mapped.h"

#include <math.h>

size_t sp_mapped_eol(const char *p, const char *end, const char **next)
{
    const char *nl = memchr(p, '\n', (size_t)(end - p));
    size_t n = (size_t)((nl ? nl : end) - p);
    *next = nl ? nl + 1 : end;
    return n && p[n - 1] == '\r' ? n - 1 : n;
}

struct sp_str sp_mapped_trim(const char *p, size_t n)
{
    while (n && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\r'))
        n--;
    while (n && (*p == ' ' || *p == '\t')) {
        p++;
        n--;
    }
    return (struct sp_str){p, n < UINT32_MAX ? (uint32_t)n : UINT32_MAX};
}

bool sp_mapped_int(const char **p, const char *end, int64_t *out)
{
    *p = sp_mapped_blank(*p, end);
    size_t n = sp_parse_i64(*p, end, out);
    *p += n;
    /* The two lowest mean something else in a profile. */
    return n && *out > SP_DECIMAL;
}

static bool mapped_is_next(const char **p, const char *end, char c)
{
    *p = sp_mapped_blank(*p, end);
    if (*p == end || **p != c)
        return false;
    ++*p;
    return true;
}

bool sp_mapped_counts(const char **p, const char *end, int64_t v[static 4])
{
    return sp_mapped_int(p, end, &v[0]) && mapped_is_next(p, end, ':') && sp_mapped_int(p, end, &v[1]) &&
           mapped_is_next(p, end, '[') && sp_mapped_int(p, end, &v[2]) && mapped_is_next(p, end, ':') &&
           sp_mapped_int(p, end, &v[3]) && mapped_is_next(p, end, ']');
}

spaa_status sp_mapped_addresses(struct sp_mapped *m, const char **at, const char *end, enum sp_mapped_are are)
{
    bool caller = are == SP_MAPPED_CALLERS;
    uint64_t addr;
    for (;;) {
        const char *p = *at = sp_mapped_blank(*at, end);
        if (end - p < 3 || p[0] != '0' || (p[1] | 0x20) != 'x')
            return SPAA_OK;
        size_t n = sp_parse_hex(p + 2, end, &addr);
        const char *q = p + 2 + n;
        if (!n || (q < end && *q != ' ' && *q != '\t'))
            return SPAA_OK;
        if (!sp_mapped_add(m, addr, caller))
            return sp_nomem(m->d);
        *at = q;
        caller = are != SP_MAPPED_EXACT;
    }
}

void sp_mapped_unbias(int64_t count, int64_t bytes, int64_t rate, double *all_count, double *all_bytes)
{
    *all_count = (double)count;
    *all_bytes = (double)bytes;
    if (rate <= 1)
        return;
    if (!count || !bytes) {
        *all_count = *all_bytes = 0;
        return;
    }
    double scale = 1 / (1 - exp(-((double)bytes / (double)count) / (double)rate));
    *all_count *= scale;
    *all_bytes *= scale;
}

int64_t sp_mapped_cut(double v)
{
    if (isnan(v))
        return 0;
    return v >= 9.2e18 ? INT64_MAX : v <= -9.2e18 ? -INT64_MAX : (int64_t)v;
}
