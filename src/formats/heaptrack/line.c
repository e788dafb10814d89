/* What is the same of every line: its numbers, and what is said of one that was not understood. */
#include "formats/heaptrack/heaptrack.h"

/* 1 + the digit, 0 for what is none. */
static const unsigned char digits[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
};

bool sp_ht_hex(const char **at, const char *end, uint64_t *out)
{
    const char *p = *at;
    uint64_t v = 0;
    for (; p < end && digits[(unsigned char)*p]; p++) {
        if (v >> 60)
            return false;
        v = v << 4 | (digits[(unsigned char)*p] - 1u);
    }
    if (p == *at || (p < end && *p != ' '))
        return false;
    *at = p + (p < end);
    *out = v;
    return true;
}

spaa_status sp_ht_bad(struct sp_ht *ht, enum sp_code code, const char *what)
{
    ht->bad_lines++;
    sp_emit(ht->d, code, sp_ht_here(ht), "%s", what);
    return ht->opts->strict ? SPAA_ERR_INPUT : SPAA_OK;
}
