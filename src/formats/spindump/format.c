/* spindump: what the format can do, and whether a text is of it, or something that spindump must decode
 * first. */
#include "formats/common/hang/fences.h"
#include "formats/common/hang/mail.h"
#include "formats/spindump/spindump.h"

#include <string.h>

/* COUNTED: a thread that says how many samples it has. DETAIL: what each `Powerstats for:` has of its
 * process. */
enum spindump_mark {
    FORM = 1,
    SOURCE = 2,
    STEPS = 4,
    VERSION = 8,
    PROCESS = 16,
    THREAD = 32,
    COUNTED = 64,
    ROW = 128,
    SAMPLE = 256,
    POWER = 512,
    DETAIL = 1024,
    FIELD = SOURCE | STEPS | VERSION
};

/* Logs have numbers with words behind them too: a frame says where it is. */
static bool spindump_is_row(struct sp_span s)
{
    struct sp_spindump_frame f;
    s = sp_hang_trim(s);
    if (s.n && *s.p == '*')
        s = sp_hang_after(s, 1);
    size_t n = 0;
    while (n < s.n && sp_hang_digit(s.p[n]))
        n++;
    if (!n || n + 1 >= s.n || s.p[n] != ' ')
        return false;
    s = sp_hang_trim(sp_hang_after(s, n));
    int64_t from, to;
    sp_spindump_cut_range(&s, &from, &to);
    sp_spindump_parse_frame(s, &f);
    return f.has_off || f.image.n || f.address.n > 1 || sp_spindump_truncated(f.symbol);
}

static unsigned spindump_thread_marks(struct sp_span line, unsigned before)
{
    struct sp_spindump_thread t;
    if (before & COUNTED || !sp_hang_starts(line, "Thread ") || !sp_spindump_parse_thread(line, &t))
        return 0;
    return t.nsamples >= 0 ? THREAD | COUNTED : THREAD;
}

/* What the line is a mark of, beside what was seen before. */
static unsigned spindump_marks(struct sp_span line, unsigned before)
{
    static const struct {
        const char *word;
        unsigned mark;
    } words[] = {{"Heavy format: stacks", FORM},
                 {"Timeline format: stacks", FORM},
                 {"Heaviest stack for", FORM},
                 {"Data Source:", SOURCE},
                 {"Steps:", STEPS},
                 {"Report Version:", VERSION},
                 {"Process:", PROCESS},
                 {"Powerstats for:", PROCESS | POWER},
                 {"UUID:", DETAIL},
                 {"Path:", DETAIL},
                 {"Num samples:", DETAIL},
                 {"Primary state:", DETAIL},
                 {"Analysis of sampling", SAMPLE},
                 {"Call graph:", SAMPLE}};
    if (!sp_hang_starts(line, "  ")) {
        for (size_t i = 0; line.n && i < sizeof words / sizeof *words; i++)
            if (*line.p == *words[i].word && sp_hang_starts(line, words[i].word))
                return words[i].mark;
        unsigned thread = spindump_thread_marks(line, before);
        return thread & COUNTED ? thread : 0;
    }
    unsigned thread = spindump_thread_marks(sp_hang_after(line, 2), before);
    return thread ? thread : !(before & ROW) && spindump_is_row(line) ? ROW : 0;
}

/* Enough of a report to be one, where most lines are such as reports have; 0: not. */
static int spindump_judge(unsigned marks)
{
    unsigned fields = marks & FIELD;
    bool several = fields & (fields - 1);
    bool micro = marks & POWER && marks & DETAIL;
    bool tree = marks & ROW && (marks & COUNTED || micro || (marks & THREAD && marks & PROCESS));
    if (marks & FORM)
        return marks & (PROCESS | FIELD) ? 95 : 60;
    if (marks & FIELD && marks & PROCESS && (tree || several))
        return 95;
    return tree ? 85 : marks & FIELD ? 30 : 0;
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
    if (sp_spindump_is_crash(p, n)) {
        *reason = "a crash report";
        return 60;
    }
    bool report = sp_hang_is_report(bytes, n);
    if (report && memmem(p, n, "Use spindump -i to generate textual report", 42)) {
        *reason = "a report that only spindump can decode";
        return 90;
    }
    const char *advice;
    if (sp_probe_is_text(bytes, n) &&
        (memmem(p, n, " format: stacks are sorted", 26) || memmem(p, n, "Report Version:", 15)) &&
        sp_hang_mail(p, n, &advice)) {
        *reason = "a report as a mail has it";
        return 85;
    }
    struct sp_hang_fences fences = sp_hang_fences_of(p, n);
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        struct sp_span line = {p, (size_t)((nl ? nl : end) - p)};
        if (!sp_hang_fences_skip(&fences, line))
            marks |= spindump_marks(line, marks);
        p = nl ? nl + 1 : end;
    }
    *reason = "fields, processes and threads of a spindump report";
    if (marks & SAMPLE || !sp_probe_is_text(bytes, n))
        return 0;
    if (!report) {
        *reason = "parts of a spindump report, but most lines are none";
        return marks & (FORM | THREAD | POWER) || (marks & FIELD && marks & PROCESS) ? 30 : 0;
    }
    return spindump_judge(marks);
}

const struct spaa_format spaa_format_spindump = {
    .name = "spindump",
    .title = "macOS spindump report",
    .extensions = "spindump spindump.txt ips hang",
    .media_type = "text/plain",
    .comes_back = "a report that reads back to the same profile",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_SPELLS_STACKS | SP_NAMES_LACKING,
    .probe = sp_spindump_probe,
    .read = sp_spindump_read,
    .write = sp_spindump_write,
};
