#include "formats/common/hang/fences.h"

#include "formats/common/hang/line.h"

static bool hang_is_fence(struct sp_span line)
{
    line = sp_hang_trim(line);
    bool ticks = sp_hang_starts(line, "```");
    return (ticks || sp_hang_starts(line, "~~~")) && !(ticks && memchr(line.p + 3, '`', line.n - 3));
}

static bool hang_begins_report(struct sp_span line)
{
    static const char *const words[] = {"Process:", "Powerstats for:", "Thread ",
                                        "Date/Time:", "Analysis of sampling "};
    line = sp_hang_trim(line);
    for (size_t i = 0; line.n && i < sizeof words / sizeof *words; i++)
        if (sp_hang_starts(line, words[i]))
            return true;
    return false;
}

/* One fence alone closes what stands before it, where that is a report: its other one was not copied. */
struct sp_hang_fences sp_hang_fences_of(const char *p, size_t n)
{
    struct sp_hang_fences f = {.any = false};
    const char *end = p + n;
    bool begun = false;
    size_t fences = 0;
    if (!n || (!memmem(p, n, "```", 3) && !memmem(p, n, "~~~", 3)))
        return f;
    for (const char *nl; p < end && fences < 2; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        struct sp_span line = {p, (size_t)((nl ? nl : end) - p)};
        fences += hang_is_fence(line);
        begun = begun || (!fences && hang_begins_report(line));
    }
    f.any = fences;
    f.inside = fences == 1 && begun;
    return f;
}

bool sp_hang_fences_skip(struct sp_hang_fences *f, struct sp_span line)
{
    if (!f->any)
        return false;
    if (hang_is_fence(line)) {
        f->inside = !f->inside;
        return true;
    }
    f->outside += !f->inside && sp_hang_trim(line).n;
    return !f->inside;
}

void sp_hang_fences_say(const struct sp_hang_fences *f, struct sp_diags *d)
{
    if (f->outside)
        sp_emit(d, SP_I321, SP_AT_NOTHING, "%llu line%s of text around the report's code fence",
                (unsigned long long)f->outside, f->outside == 1 ? "" : "s");
}
