/* Build-ids as text: whether it is one, and whether two name one build. */
#include "symbols/internal.h"

#include <string.h>

#define OLD_ID_DIGITS 40

bool sp_is_build_id(const char *s)
{
    size_t n = s ? strspn(s, "0123456789abcdef") : 0;
    return n >= 4 && n <= 2 * (size_t)SP_BUILD_ID_MAX && !s[n];
}

bool sp_same_build_id(const char *recorded, const char *file)
{
    size_t nr = strlen(recorded), nf = strlen(file), n = nr < nf ? nr : nf;
    if (!n || memcmp(recorded, file, n) != 0)
        return false;
    return nr == nf || (nr == OLD_ID_DIGITS && (nf > nr || strspn(recorded + nf, "0") == nr - nf));
}
