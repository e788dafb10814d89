/* Is it what bpftrace prints: "@name[" with keys and a value, or a JSON line of its kinds. */
#include "formats/bpftrace/bpftrace.h"

static bool json_line(const char *p, const char *end)
{
    static const char *const kinds[] = {"{\"type\": \"attached_probes\"", "{\"type\": \"map\"",
                                        "{\"type\": \"hist\"", "{\"type\": \"lhist\"",
                                        "{\"type\": \"stats\""};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((size_t)(end - p) > strlen(kinds[i]) && memcmp(p, kinds[i], strlen(kinds[i])) == 0)
            return memmem(p, (size_t)(end - p), "\"data\":", 7);
    return false;
}

/* "keys]: 5", "]: count 3, average 2, total 6", or "]:" before rows. */
static bool ends_record(const char *p, const char *end)
{
    const char *at = NULL;
    for (const char *q = p; (q = memmem(q, (size_t)(end - q), "]:", 2)); q++)
        at = q + 2;
    while (at && at < end && (*at == ' ' || *at == '\r'))
        at++;
    return at && (at == end || *at == '-' || (*at >= '0' && *at <= '9') ||
                  ((size_t)(end - at) > 6 && memcmp(at, "count ", 6) == 0));
}

int bt_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    bool attached = false, open = false;
    if (!sp_probe_is_text(bytes, n))
        return 0;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
        if (!nl && !whole)
            break;
        size_t len = (size_t)(eol - p), name = bt_map_name(p, eol);
        if (json_line(p, eol)) {
            *reason = "JSON lines of bpftrace";
            return 95;
        }
        if (len > 15 && memcmp(p, "Attach", 6) == 0 && memmem(p, len, " probe", 6))
            attached = true;
        if (name && p[name] == '[')
            open = true;
        if (open && ends_record(p, eol)) {
            *reason = "a map with keys and a value";
            return attached ? 95 : 85;
        }
        p = nl ? nl + 1 : end;
    }
    *reason = "what bpftrace prints first";
    return attached ? SP_PROBE_SURE : 0;
}
