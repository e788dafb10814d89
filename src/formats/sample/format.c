/* sample(1): what the format can do, and whether a text is of it. */
#include "formats/sample/sample.h"

#include "formats/common/hang/mail.h"

#include <string.h>

int sp_sample_report_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    static const char first[] = "Analysis of sampling ";
    const char *p = (const char *)bytes;
    (void)whole;
    bool begins = n >= sizeof first - 1 && memcmp(p, first, sizeof first - 1) == 0;
    if (!sp_probe_is_text(bytes, n) || (!begins && !memmem(p, n, "\nAnalysis of sampling ", sizeof first)) ||
        (!begins && !memmem(p, n, "\nCall graph:", 12)))
        return 0;
    *reason = begins ? "begins with `Analysis of sampling`" : "an analysis of sampling and its call graph";
    const char *advice;
    if (!sp_hang_is_report(bytes, n) && !sp_hang_mail(p, n, &advice)) {
        *reason = "an analysis of sampling, but most lines are none of a report";
        return 30;
    }
    return begins ? 95 : 80;
}

const struct spaa_format spaa_format_sample = {
    .name = "sample",
    .title = "macOS sample(1) report",
    .extensions = "sample.txt sample",
    .media_type = "text/plain",
    .comes_back = "a report that reads back to the same profile",
    .caps = SP_CAN_READ | SP_CAN_WRITE | SP_SPELLS_STACKS | SP_NAMES_LACKING,
    .probe = sp_sample_report_probe,
    .read = sp_sample_report_read,
    .write = sp_sample_report_write,
};
