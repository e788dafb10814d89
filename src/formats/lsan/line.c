/* The lines of LeakSanitizer's reports, each alone: see lsan.h. */
#include "base/num.h"
#include "formats/lsan/lsan.h"

#include <string.h>

/* Behind the first `what`, NULL: there is none. */
static const char *line_behind(const char *p, const char *end, const char *what)
{
    size_t n = strlen(what);
    const char *at = p < end ? memmem(p, (size_t)(end - p), what, n) : NULL;
    return at ? at + n : NULL;
}

static bool line_skip(const char **p, const char *end, const char *what)
{
    size_t n = strlen(what);
    if ((size_t)(end - *p) < n || memcmp(*p, what, n) != 0)
        return false;
    *p += n;
    return true;
}

/* A number that is not negative. */
static bool line_number(const char **p, const char *end, int64_t *out)
{
    size_t used = *p < end && **p != '-' ? sp_parse_i64(*p, end, out) : 0;
    *p += used;
    return used;
}

bool sp_lsan_leak(const char *p, size_t n, struct sp_lsan_leak *out)
{
    const char *end = p + n, *at = line_behind(p, end, "irect leak of ");
    if (!at || at - p < 15)
        return false;
    char before = at[-15]; /* of "Direct", "Indirect" */
    out->kind = before == 'D' ? SP_LSAN_DIRECT : SP_LSAN_INDIRECT;
    if (before != 'D' && before != 'd')
        return false;
    return line_number(&at, end, &out->bytes) && line_skip(&at, end, " byte(s) in ") &&
           line_number(&at, end, &out->objects) && line_skip(&at, end, " object(s) allocated from:");
}

bool sp_lsan_head(const char *p, size_t n, int64_t *pid)
{
    const char *end = p + n, *at = memmem(p, n, "ERROR: LeakSanitizer: detected memory leaks", 43);
    *pid = 0;
    if (!at)
        return false;
    const char *open = line_behind(p, at, "==");
    if (open && (!line_number(&open, end, pid) || !line_skip(&open, end, "==")))
        *pid = 0;
    return true;
}

bool sp_lsan_summary(const char *p, size_t n, int64_t *bytes, int64_t *objects)
{
    const char *end = p + n, *at = line_behind(p, end, "SUMMARY: ");
    at = at ? line_behind(at, end, "Sanitizer: ") : NULL;
    return at && line_number(&at, end, bytes) && line_skip(&at, end, " byte(s) leaked in ") &&
           line_number(&at, end, objects) && line_skip(&at, end, " allocation(s)");
}

static void line_blanks(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t'))
        ++*p;
}

bool sp_lsan_suppression(const char *p, size_t n, int64_t *count, int64_t *bytes, struct sp_str *name)
{
    const char *end = p + n;
    line_blanks(&p, end);
    if (!line_number(&p, end, count))
        return false;
    line_blanks(&p, end);
    if (!line_number(&p, end, bytes) || p == end || *p != ' ')
        return false;
    line_blanks(&p, end);
    *name = (struct sp_str){p, (uint32_t)(end - p)};
    return name->n;
}

/* ---- frames ---- */

/* " (BuildId: fe09…)" at the end is taken off. */
static void frame_build_id(const char *p, const char **end, struct sp_str *out)
{
    static const char word[] = " (BuildId: ";
    const char *at = *end > p && (*end)[-1] == ')' ? memrchr(p, '(', (size_t)(*end - p)) : NULL;
    if (!at || at == p || (size_t)(*end - at) < sizeof word - 1 || memcmp(at - 1, word, sizeof word - 1) != 0)
        return;
    *out = (struct sp_str){at + sizeof word - 2, (uint32_t)(*end - 1 - at) - (uint32_t)(sizeof word - 2)};
    for (uint32_t i = 0; i < out->n; i++)
        if (!memchr("0123456789abcdef", out->p[i], 16))
            out->n = 0;
    *end = at - 1;
}

/* Apple's files have the architecture behind them: "app:arm64+0x1000". */
static uint32_t frame_without_arch(const char *p, uint32_t n)
{
    static const char *const archs[] = {":x86_64", ":x86_64h", ":arm64", ":arm64e", ":i386"};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        uint32_t k = (uint32_t)strlen(archs[i]);
        if (n > k && memcmp(p + n - k, archs[i], k) == 0)
            return n - k;
    }
    return n;
}

/* "(/lib/libc.so.6+0x27249)" at the end is taken off. */
static void frame_module(const char *p, const char **end, struct sp_lsan_frame *out)
{
    const char *plus = *end > p && (*end)[-1] == ')' ? memrchr(p, '+', (size_t)(*end - p)) : NULL;
    if (!plus || (size_t)(*end - 1 - plus) < 4 ||
        !sp_parse_0x(plus + 1, (size_t)(*end - 2 - plus), &out->offset))
        return;
    const char *open = p; /* paths may have parentheses: the first that follows a blank, or nothing */
    while (open < plus && !(*open == '(' && (open == p || open[-1] == ' ') && open[1] != ')' &&
                            !(plus - open > 10 && memcmp(open, "(anonymous ", 11) == 0)))
        open++;
    const char *path = memrchr(p, '(', (size_t)(plus - p));
    if (open == plus || !path)
        return;
    if (open + 1 < plus && open[1] == '/') /* a path that may have parentheses itself */
        path = open;
    out->module = (struct sp_str){path + 1, frame_without_arch(path + 1, (uint32_t)(plus - path) - 1)};
    *end = path;
    while (*end > p && (*end)[-1] == ' ')
        --*end;
}

static bool frame_digits(const char *p, const char *end)
{
    bool any = p < end;
    for (; p < end; p++)
        any = any && *p >= '0' && *p <= '9';
    return any;
}

/* Cuts ":6" off the end; false: there is none. */
static bool frame_cut_number(const char *p, const char **end)
{
    const char *colon = memrchr(p, ':', (size_t)(*end - p));
    if (!colon || colon == p || !frame_digits(colon + 1, *end))
        return false;
    *end = colon;
    return true;
}

/* Where the file begins: an absolute path, which may have blanks, or else the last word. NULL: there is none.
 */
static const char *frame_file(const char *p, const char *end)
{
    for (const char *q = p; q + 2 < end; q++)
        if (*q == ' ' && (q[1] == '/' || (q[1] == '<' && end[-1] != '>') ||
                          (q + 3 < end && q[2] == ':' && (q[3] == '\\' || q[3] == '/'))))
            return q[1] == '<' ? NULL : q + 1;
    const char *blank = memrchr(p, ' ', (size_t)(end - p));
    return blank ? blank + 1 : NULL;
}

static void frame_place(const char *p, const char **end, struct sp_lsan_frame *out)
{
    const char *stop = *end, *line_end;
    if (!frame_cut_number(p, &stop))
        return;
    line_end = *end;
    const char *before = stop;
    if (frame_cut_number(p, &before)) /* the number behind was the column */
        line_end = stop;
    const char *file = frame_file(p, line_end);
    if (!file || file == p)
        return;
    out->file = (struct sp_str){file, (uint32_t)(line_end - file)};
    out->where = (struct sp_str){file, (uint32_t)(*end - file)};
    *end = file - 1;
}

/* Where "#3 0x" begins: behind blanks, and what a log puts before its lines. */
static const char *frame_start(const char *p, const char *end)
{
    for (const char *at = p; at < end && (at = memchr(at, '#', (size_t)(end - at))); at++) {
        const char *q = at + 1;
        int64_t number;
        if ((at == p || at[-1] == ' ' || at[-1] == '\t') && line_number(&q, end, &number) &&
            line_skip(&q, end, " 0x"))
            return q;
    }
    return NULL;
}

bool sp_lsan_frame(const char *p, size_t n, struct sp_lsan_frame *out)
{
    const char *end = p + n, *at = frame_start(p, end);
    struct sp_str none = {"", 0};
    *out =
        (struct sp_lsan_frame){.name = none, .file = none, .where = none, .module = none, .build_id = none};
    size_t used = at ? sp_parse_hex(at, end, &out->address) : 0;
    if (!used)
        return false;
    at += used;
    line_blanks(&at, end);
    while (end > at && end[-1] == ' ')
        end--;
    bool named = line_skip(&at, end, "in ");
    frame_build_id(at, &end, &out->build_id);
    frame_module(at, &end, out);
    if (!named)
        return true;
    frame_place(at, &end, out);
    out->name = (struct sp_str){at, (uint32_t)(end - at)};
    return true;
}

/* ---- the probe ---- */

int sp_lsan_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    size_t leaks = 0, frames = 0, others = 0;
    (void)whole;
    *reason = "leaks as LeakSanitizer reports them";
    if (!sp_probe_is_text(bytes, n) || !memmem(bytes, n, " object(s) allocated from:", 26))
        return 0;
    for (const char *nl; p < end; p = nl ? nl + 1 : end) {
        struct sp_lsan_leak leak;
        struct sp_lsan_frame frame;
        nl = memchr(p, '\n', (size_t)(end - p));
        size_t len = (size_t)((nl ? nl : end) - p);
        bool is_leak = sp_lsan_leak(p, len, &leak), is_frame = leaks && sp_lsan_frame(p, len, &frame);
        leaks += is_leak;
        frames += is_frame;
        others += !is_leak && !is_frame && len && *p != '=';
    }
    if (others > 9 * (leaks + frames)) { /* sources and documents that quote a report */
        *reason = "less than one line in ten is LeakSanitizer's";
        return leaks ? 30 : 0;
    }
    return leaks && frames ? 90 : leaks ? 60 : 0;
}
