/* Is it jemalloc's: heap_v2/N, also behind a table of symbols or warnings. */
#include "formats/jemalloc/jemalloc.h"

int sp_je_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n, *next;
    (void)whole;
    p += sp_mapped_symbols_size(p, end);
    while (p < end && *p == '%') {
        sp_mapped_eol(p, end, &next);
        p = next;
    }
    if (end - p < 9 || memcmp(p, "heap_v2/", 8) != 0)
        return 0;
    struct sp_str rate = sp_mapped_trim(p + 8, sp_mapped_eol(p + 8, end, &next));
    for (uint32_t i = 0; i < rate.n; i++)
        if (rate.p[i] < '0' || rate.p[i] > '9')
            return 0;
    if (!rate.n)
        return 0;
    *reason = "begins with `heap_v2/`";
    return 95;
}
