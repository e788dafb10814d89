/* What formats ask: the bytes that probes see, and the options they were given. */
#include "formats/format.h"

#include <string.h>

spaa_status sp_probe_view(struct sp_input *in, const unsigned char **p, size_t *n, bool *whole)
{
    size_t want = SP_PROBE_BYTES;
    for (;;) {
        spaa_status st = sp_input_peek(in, want, p, n);
        if (st)
            return st;
        *whole = *n < want;
        if (*n > want)
            *n = want;
        if (*whole || want >= SP_PROBE_LINE || memchr(*p, '\n', *n))
            return SPAA_OK;
        want = want * 4 < SP_PROBE_LINE ? want * 4 : SP_PROBE_LINE;
    }
}

bool sp_probe_is_text(const unsigned char *p, size_t n)
{
    static const char usual[] = "\t\n\v\f\r\b\033";
    size_t control = 0;
    n = n < SP_PROBE_BYTES ? n : SP_PROBE_BYTES;
    for (size_t i = 0; i < n; i++)
        control += p[i] < 0x20 && (!p[i] || !strchr(usual, p[i]));
    return control <= 1 || control * 50 <= n;
}

const char *sp_own_opt(const struct sp_own_opt *own, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(own[i].name, name) == 0)
            return own[i].value ? own[i].value : "";
    return NULL;
}
