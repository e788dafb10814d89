/* spindump: what the format can do, and whether a text is of it, or something that spindump must decode
 * first. */
#include "formats/spindump/spindump.h"

#include <string.h>

enum spindump_mark { FORM = 1, FIELD = 2, PROCESS = 4, THREAD = 8, ROW = 16, SAMPLE = 32, PASTED = 64 };

static bool spindump_is_row(struct sp_span s)
{
    s = sp_hang_trim(s);
    if (s.n && *s.p == '*')
        s = sp_hang_after(s, 1);
    size_t n = 0;
    while (n < s.n && sp_hang_digit(s.p[n]))
        n++;
    return n && n + 1 < s.n && s.p[n] == ' ';
}

/* What the line is a mark of, beside what was seen before. */
static unsigned spindump_marks(struct sp_span line, unsigned before)
{
    static const struct {
        const char *word;
        enum spindump_mark mark;
    } words[] = {{"Heavy format: stacks", FORM},
                 {"Timeline format: stacks", FORM},
                 {"Heaviest stack for", FORM},
                 {"Data Source:", FIELD},
                 {"Steps:", FIELD},
                 {"Report Version:", FIELD},
                 {"Process:", PROCESS},
                 {"Powerstats for:", PROCESS},
                 {"Analysis of sampling", SAMPLE},
                 {"Call graph:", SAMPLE}};
    struct sp_spindump_thread t;
    if (!(before & PASTED) && sp_hang_starts(line, "Thread 0x") && sp_spindump_parse_thread(line, &t) &&
        t.nsamples >= 0)
        return THREAD | PASTED;
    if (!sp_hang_starts(line, "  ")) {
        for (size_t i = 0; line.n && i < sizeof words / sizeof *words; i++)
            if (*line.p == *words[i].word && sp_hang_starts(line, words[i].word))
                return words[i].mark;
        return 0;
    }
    if (!(before & THREAD) && sp_hang_starts(line, "  Thread ") && sp_spindump_parse_thread(line, &t))
        return THREAD;
    return !(before & ROW) && spindump_is_row(line) ? ROW : 0;
}

int sp_spindump_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    unsigned marks = 0;
    (void)whole;
    if (sp_spindump_is_tailspin(bytes, n)) {
        *reason = "the magic number of a binary tailspin";
        return 60;
    }
    bool report = sp_hang_is_report(bytes, n);
    if (report && memmem(p, n, "Use spindump -i to generate textual report", 42)) {
        *reason = "a report that only spindump can decode";
        return 90;
    }
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        struct sp_span line = {p, (size_t)((nl ? nl : end) - p)};
        marks |= spindump_marks(line, marks);
        p = nl ? nl + 1 : end;
    }
    *reason = "fields, processes and threads of a spindump report";
    if (marks & SAMPLE || !sp_probe_is_text(bytes, n))
        return 0;
    if (!report) {
        *reason = "parts of a spindump report, but most lines are none";
        return marks & (FORM | THREAD) || (marks & FIELD && marks & PROCESS) ? 30 : 0;
    }
    if (marks & FORM || (marks & FIELD && marks & PROCESS))
        return marks & (PROCESS | FIELD) ? 95 : 60;
    if (marks & THREAD && marks & (PROCESS | ROW))
        return 85;
    return marks & FIELD ? 30 : 0;
}

const struct spaa_format spaa_format_spindump = {
    .name = "spindump",
    .title = "macOS spindump report",
    .extensions = "spindump spindump.txt ips hang",
    .media_type = "text/plain",
    .comes_back = "a report that reads back to the same profile",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_NAMES_LACKING,
    .probe = sp_spindump_probe,
    .read = sp_spindump_read,
    .write = sp_spindump_write,
};
