/*
 * The texts of rows of sample(1):
 *
 *     sym  (in image) + 10,20,...  [0xA,0xB,...]  file:line         ???  (in X)  load address 0x1000 + 0x9f
 * [0x109f] sym  (in <unknown binary>)  [0xA]                             0x1f  or  sym  alone, before 10.7
 *     Thread_N: name   DispatchQueue_1: label  (serial)             a thread
 */
#include "base/num.h"
#include "formats/sample/sample.h"

#include <string.h>

static bool sample_number_list(struct sp_span *s, struct sp_span *list)
{
    size_t n = 0;
    while (n < s->n && (sp_hang_digit(s->p[n]) || s->p[n] == ',' || s->p[n] == '.'))
        n++;
    if (!n || !sp_hang_digit(*s->p) || (n < s->n && s->p[n] != ' '))
        return false;
    *list = (struct sp_span){s->p, n};
    *s = sp_hang_after(*s, n);
    return true;
}

/* "load address 0x…", or the beginning of that. */
static bool sample_begins_load(struct sp_span s)
{
    static const char load[] = "load address 0x";
    return memcmp(s.p, load, s.n < sizeof load - 1 ? s.n : sizeof load - 1) == 0;
}

/* What follows an image's parenthesis; false: it is none. */
static bool sample_frame_rest(struct sp_span s, struct sp_sample_report_frame *f)
{
    struct sp_sample_report_frame g = *f;
    if (sp_hang_starts(s, " + ")) {
        s = sp_hang_after(s, 3);
        if (!sample_number_list(&s, &g.offsets) ||
            !sp_parse_u64(g.offsets.p, g.offsets.p + g.offsets.n, &g.offset) ||
            (*g.offsets.p == '0' && g.offsets.n > 1 && sp_hang_digit(g.offsets.p[1])))
            return false;
    } else if (sp_hang_starts(s, "  load address 0x")) {
        struct sp_span t = sp_hang_after(s, 15);
        const char *plus = memmem(t.p, t.n, " + 0x", 5);
        uint64_t base;
        if (!plus || !sp_parse_0x(t.p, (size_t)(plus - t.p), &base))
            return false;
        g.base = (struct sp_span){t.p, (size_t)(plus - t.p)};
        s = sp_hang_after(t, (size_t)(plus + 5 - t.p));
        size_t n = sp_parse_hex(s.p, s.p + s.n, &g.image_off);
        if (!n || (*s.p == '0' && n > 1))
            return false;
        s = sp_hang_after(s, n);
    }
    if (sp_hang_starts(s, "  [0x")) {
        const char *close = memchr(s.p, ']', s.n);
        if (!close)
            return false;
        g.addresses = (struct sp_span){s.p + 3, (size_t)(close - s.p - 3)};
        s = sp_hang_after(s, (size_t)(close + 1 - s.p));
    }
    if (sp_hang_starts(s, "  ") && s.n > 2 && !memchr(" [", s.p[2], 2) &&
        !sample_begins_load(sp_hang_after(s, 2))) {
        g.srcline = sp_hang_after(s, 2);
        s.n = 0;
    }
    if (s.n)
        return false;
    *f = g;
    return true;
}

/* The beginning of what stands before an image, at the end of s: how long it is. */
static size_t sample_cut_in(struct sp_span s)
{
    static const char in[] = "  (in ";
    for (size_t n = sizeof in - 2; n > 2; n--)
        if (s.n > n && memcmp(s.p + s.n - n, in, n) == 0)
            return n;
    return 0;
}

/*
 * Whatever follows an image is a part of it, or its end, and what it would go on with is missing: "sym  (in
 * libsyst", "sym  (in image) +", "sym  (in image) + 276  [0x19b4298", "???  (in image)  load addr".
 */
static bool sample_frame_torn(struct sp_span s, struct sp_sample_report_frame *f)
{
    const char *in = memmem(s.p, s.n, "  (in ", 6), *image = in ? in + 6 : s.p + s.n;
    size_t begun = in ? 0 : sample_cut_in(s);
    const char *close = in ? memrchr(image, ')', (size_t)(s.p + s.n - image)) : NULL;
    if ((!in || in == s.p) && !begun)
        return false;
    f->torn = true;
    f->symbol = (struct sp_span){s.p, in ? (size_t)(in - s.p) : s.n - begun};
    if (close && close > image)
        f->image = (struct sp_span){image, (size_t)(close - image)};
    return true;
}

void sp_sample_report_parse_frame(struct sp_span s, struct sp_sample_report_frame *f)
{
    memset(f, 0, sizeof *f);
    f->symbol = s;
    for (const char *in = s.p + s.n;
         in-- > s.p;) { /* symbols may look like this too: the last one that fits */
        struct sp_span here = {in, (size_t)(s.p + s.n - in)};
        if (*in != ' ' || in == s.p || !sp_hang_starts(here, "  (in "))
            continue;
        struct sp_span image = sp_hang_after(here, 6);
        for (const char *close = image.p; (close = memchr(close, ')', (size_t)(s.p + s.n - close)));
             close++) {
            if (close == image.p || !sample_frame_rest(sp_hang_after(s, (size_t)(close + 1 - s.p)), f))
                continue;
            f->symbol = (struct sp_span){s.p, (size_t)(in - s.p)};
            f->image = (struct sp_span){image.p, (size_t)(close - image.p)};
            return;
        }
    }
    if (sample_frame_torn(s, f))
        return;
    /* Without an image: an address may stand there all the same. */
    const char *bracket = memmem(s.p, s.n, "  [0x", 5);
    if (bracket && bracket > s.p && sample_frame_rest(sp_hang_after(s, (size_t)(bracket - s.p)), f))
        f->symbol = (struct sp_span){s.p, (size_t)(bracket - s.p)};
}

bool sp_sample_report_parse_thread(struct sp_span s, struct sp_sample_report_thread *t)
{
    *t = (struct sp_sample_report_thread){.tid = SP_ABSENT};
    if (!sp_hang_starts(s, "Thread_"))
        return false;
    s = sp_hang_after(s, 7);
    size_t n = 0;
    uint64_t id;
    while (n < s.n && s.p[n] != ':' && s.p[n] != ' ')
        n++;
    t->id = (struct sp_span){s.p, n};
    if (n && n == sp_parse_u64(s.p, s.p + n, &id) && id <= INT64_MAX && (*s.p != '0' || n == 1))
        t->tid = (int64_t)id;
    s = sp_hang_after(s, n);
    t->named = s.n && *s.p == ':';
    s = sp_hang_after(s, t->named);
    const char *queue = memmem(s.p, s.n, "DispatchQueue_", 14);
    while (queue && queue > s.p && queue[-1] != ' ')
        queue = memmem(queue + 1, (size_t)(s.p + s.n - queue - 1), "DispatchQueue_", 14);
    if (queue) {
        t->queue = sp_hang_trim(sp_hang_after(s, (size_t)(queue - s.p)));
        s.n = (size_t)(queue - s.p);
    }
    t->name = sp_hang_trim(s);
    return n > 0;
}
