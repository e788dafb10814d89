/* Ids of stacks as text. */
#include "model/identity.h"

static size_t padded_hex(uint64_t v, size_t digits, char *out)
{
    for (size_t i = digits; i-- > 0; v >>= 4)
        out[i] = "0123456789abcdef"[v & 15];
    return digits;
}

size_t sp_stack_id_text(const struct sp_stack_id *id, char out[static 32])
{
    size_t n = 2;
    memcpy(out, "0x", 2);
    n += padded_hex(id->hash, 16, out + n);
    if (id->flags & SP_ID_SUFFIX) {
        out[n++] = '.';
        n += padded_hex(id->suffix, 8, out + n);
    }
    return n;
}
