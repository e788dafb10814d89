/* Is it what bpftrace prints: "@name[" with keys and a value, or a JSON line of its kinds. */
#include "formats/bpftrace/bpftrace.h"

static bool bpftrace_json_line(const char *p, const char *end)
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
static bool bpftrace_ends_record(const char *p, const char *end)
{
    const char *at = NULL;
    for (const char *q = p; (q = memmem(q, (size_t)(end - q), "]:", 2)); q++)
        at = q + 2;
    while (at && at < end && (*at == ' ' || *at == '\r'))
        at++;
    return at && (at == end || *at == '-' || (*at >= '0' && *at <= '9') ||
                  ((size_t)(end - at) > 6 && memcmp(at, "count ", 6) == 0));
}

struct seen {
    bool attached, first; /* "Attaching 1 probe..." anywhere, and as the first line */
    bool json, record;
    bool open;         /* within the keys of a record */
    size_t own, other; /* lines of maps; what else a program, or a document, says */
};

static void bpftrace_probe_line(struct seen *s, const char *p, const char *eol)
{
    size_t len = (size_t)(eol - p), name = bt_map_name(p, eol);
    if (!len || (len == 1 && *p == '\r'))
        return;
    bool attached = len > 15 && memcmp(p, "Attach", 6) == 0 && memmem(p, len, " probe", 6);
    s->first = s->first || (attached && !s->own && !s->other);
    s->attached = s->attached || attached;
    s->json = s->json || bpftrace_json_line(p, eol);
    s->open = s->open || (name && p[name] == '[');
    if (s->open || name || *p == '[' || attached)
        s->own++;
    else
        s->other++;
    if (s->open && bpftrace_ends_record(p, eol)) {
        s->record = true;
        s->open = false;
    }
}

/*
 * What a program prints beside its maps is no matter where bpftrace's own first line stands before it.
 * Without that, most lines are to be of maps: scripts and documents quote such output.
 */
int bt_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    struct seen s = {0};
    if (!sp_probe_is_text(bytes, n))
        return 0;
    while (p < end && !s.json) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
        if (!nl && !whole)
            break;
        bpftrace_probe_line(&s, p, eol);
        p = nl ? nl + 1 : end;
    }
    *reason = s.json     ? "JSON lines of bpftrace"
              : s.record ? "a map with keys and a value"
                         : "what bpftrace prints first";
    if (s.json || (s.record && s.first))
        return 95;
    if (s.record && s.other <= 2 * s.own + 2)
        return 85;
    if (s.record)
        *reason = "maps with keys and values, but most lines are other text";
    return s.record ? 30 : s.attached ? SP_PROBE_SURE : 0;
}
