/* Is a text a dump of goroutines: headers, and frames below them, in most of its lines. */
#include "formats/go_goroutines/goroutines.h"

struct gor_seen {
    size_t headers, frames; /* frames: a call with its place below */
    size_t own, other;      /* lines that are of goroutines; that are none */
    bool open, call;        /* within a goroutine; the line before was a call */
    bool first;             /* the first line with text is a header */
};

static void gor_probe_line(struct gor_seen *s, const char *p, size_t n)
{
    struct sp_gor_header h;
    struct sp_gor_call call;
    struct sp_gor_place place;
    struct sp_str name;
    int64_t number;
    bool was_call = s->call;
    s->call = false;
    if (sp_gor_header(p, n, &h)) {
        s->first = s->first || (!s->own && !s->other);
        s->headers++;
        s->own++;
        s->open = true;
        return;
    }
    if (s->open && *p == '\t' && was_call && sp_gor_place(p + 1, n - 1, &place)) {
        s->frames++;
        s->own++;
        return;
    }
    s->call = s->open && (sp_gor_creator(p, n, &name, &number) || sp_gor_call(p, n, &call));
    bool fits = s->call || (s->open && sp_gor_elided(p, n, &number));
    *(fits ? &s->own : &s->other) += 1;
}

int sp_gor_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    struct gor_seen s = {0};
    if (!sp_probe_is_text(bytes, n) || !memmem(bytes, n, "goroutine ", 10))
        return 0;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !whole)
            break;
        size_t len = (size_t)((nl ? nl : end) - p);
        while (len && (p[len - 1] == '\r' || p[len - 1] == ' '))
            len--;
        if (len)
            gor_probe_line(&s, p, len);
        else
            s.open = s.call = false;
    }
    bool most = s.own > s.other;
    *reason = !s.headers ? "" : most ? "goroutines and their frames" : "goroutines, but most lines are none";
    if (!s.headers)
        return 0;
    if (s.frames && most)
        return s.first ? 95 : 85;
    return s.frames || s.first ? 30 : 0;
}
