#include "symbols/rsds.h"

#include "base/num.h"

#include <string.h>

/* Which byte of the file each pair of digits is: the first three fields are numbers, little-endian. */
static const unsigned char at[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

static size_t rsds_digits(const unsigned char guid[static 16], bool upper, bool dashes, char *out)
{
    const char *hex = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    size_t n = 0;
    for (unsigned i = 0; i < 16; i++) {
        if (dashes && (i == 4 || i == 6 || i == 8 || i == 10))
            out[n++] = '-';
        out[n++] = hex[guid[at[i]] >> 4];
        out[n++] = hex[guid[at[i]] & 15];
    }
    return n;
}

void sp_guid_text(const unsigned char guid[static 16], char out[static SP_GUID_ROOM])
{
    size_t n = rsds_digits(guid, true, true, out + 1);
    out[0] = '{';
    out[n + 1] = '}';
    out[n + 2] = '\0';
}

size_t sp_rsds_key(const struct sp_rsds *r, bool upper, char out[static SP_RSDS_KEY_ROOM])
{
    size_t n = rsds_digits(r->guid, upper, false, out), more = sp_hex_text(r->age, out + n);
    for (size_t i = n; upper && i < n + more; i++)
        if (out[i] >= 'a')
            out[i] = (char)(out[i] - 'a' + 'A');
    out[n + more] = '\0';
    return n + more;
}

bool sp_rsds_from_key(const char *p, size_t n, struct sp_rsds *out)
{
    uint64_t v;
    if (n < 33 || n > 40 || sp_parse_hex(p + 32, p + n, &v) != n - 32)
        return false;
    out->age = (uint32_t)v;
    for (unsigned i = 0; i < 16; i++) {
        if (sp_parse_hex(p + (size_t)2 * i, p + (size_t)2 * i + 2, &v) != 2)
            return false;
        out->guid[at[i]] = (unsigned char)v;
    }
    return true;
}

bool sp_rsds_same_guid(const struct sp_rsds *a, const struct sp_rsds *b)
{
    return memcmp(a->guid, b->guid, sizeof a->guid) == 0;
}
