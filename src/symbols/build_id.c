/* Build-ids as text: whether it is one, and whether two name one build. */
#include "symbols/internal.h"
#include "symbols/rsds.h"

#include "base/num.h"

#include <string.h>

#define OLD_ID_DIGITS 40

bool sp_is_build_id(const char *s)
{
    size_t n = s ? strspn(s, "0123456789abcdef") : 0;
    return n >= 4 && n <= 2 * (size_t)SP_BUILD_ID_MAX && !s[n];
}

/*
 * A GUID and age 0 of the first 16 bytes of an ELF file's build-id (shorter ones with zeros behind them), or
 * of a Mach-O file's UUID, as Breakpad makes them.
 */
static bool is_breakpad_of(const char *recorded, const char *file)
{
    struct sp_rsds r;
    uint64_t byte;
    size_t n = strlen(recorded), nf = strlen(file);
    if (n != 33 || nf < 8 || !sp_rsds_from_key(recorded, n, &r) || r.age)
        return false;
    if (nf == 32 && memcmp(recorded, file, 32) == 0)
        return true;
    for (size_t i = 0; i < 16; i++) {
        bool there = 2 * i + 2 <= nf;
        if ((there && sp_parse_hex(file + 2 * i, file + 2 * i + 2, &byte) != 2) ||
            r.guid[i] != (there ? byte : 0))
            return false;
    }
    return true;
}

bool sp_same_build_id(const char *recorded, const char *file)
{
    size_t nr = strlen(recorded), nf = strlen(file), n = nr < nf ? nr : nf;
    if (!n || memcmp(recorded, file, n) != 0)
        return is_breakpad_of(recorded, file);
    return nr == nf || (nr == OLD_ID_DIGITS && (nf > nr || strspn(recorded + nf, "0") == nr - nf)) ||
           is_breakpad_of(recorded, file);
}
