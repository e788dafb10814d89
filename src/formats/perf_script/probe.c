/* Is it `perf script` text: a sample line with a time, best followed by a frame. */
#include "formats/perf_script/perf_script.h"

#include <string.h>

static bool frame_at(const char *p, const char *end)
{
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    struct sp_ps_frame f;
    if (!eol)
        eol = end;
    if (eol > p && eol[-1] == '\r')
        eol--;
    return p < eol && sp_ps_blank(*p) && sp_ps_frame_line(p, eol, &f);
}

/* The score of a sample line, with what follows it. */
static int score(const char *p, const char *eol, const char *end, const char **reason)
{
    struct sp_ps_sample s;
    struct sp_ps_frame f;
    bool strict = sp_ps_sample_line(p, eol, false, &s);
    if (!strict && !sp_ps_sample_line(p, eol, true, &s))
        return 0;
    const char *next = eol < end ? memchr(eol, '\n', (size_t)(end - eol)) : NULL;
    bool one_line = s.rest.n && sp_ps_frame_line(s.rest.p, s.rest.p + s.rest.n, &f) && f.dso.p;
    bool frames = one_line || (next && frame_at(next + 1, end));
    *reason = frames ? "a sample line and its frames" : "a sample line";
    if (!strict)
        return !frames || !s.comm.n ? 0 : s.event.p ? 45 : 20;
    if (frames)
        return s.event.p ? 95 : 85;
    return s.event.p ? 75 : 0;
}

int sp_ps_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    unsigned lines = 0;
    bool perf_header = false;
    if (n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    while (p < end && lines < 20) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
        if (!nl && !whole)
            break;
        if (eol > p && eol[-1] == '\r')
            eol--;
        if (eol > p && *p == '#') {
            perf_header |= memmem(p, (size_t)(eol - p), "perf version", 12) != NULL;
        } else if (eol > p) {
            int s = score(p, eol, end, reason);
            if (s)
                return s;
            lines++;
        }
        p = nl ? nl + 1 : end;
    }
    *reason = "the header of perf script";
    return perf_header ? 80 : 0;
}
