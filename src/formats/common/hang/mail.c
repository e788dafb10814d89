/*
 * The encoding of mails: lines of quoted-printable text are broken anywhere and end in `=`, and HTML keeps
 * columns with no-break spaces. Either may change names and counts, so that such a text is not read as it
 * stands. Nor is one whose lines all stand further right: columns tell what a line is.
 */
#include "formats/common/hang/mail.h"

#include "formats/common/hang/line.h"

#include <string.h>

enum { MAIL_LINES = 3, SOFT_BREAK = 70 /* lines are broken at 76 */ };

static bool mail_is_broken(struct sp_span line)
{
    while (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line.n >= SOFT_BREAK && line.p[line.n - 1] == '=';
}

/* Such a space before the text, or beside another blank: names may hold one between words. */
static bool mail_has_spaces(struct sp_span line)
{
    static const char space[] = "\xC2\xA0";
    for (const char *p = line.p, *end = line.p + line.n; (p = memmem(p, (size_t)(end - p), space, 2)); p += 2)
        if (p == line.p || sp_hang_blank(p[-1]) || (p + 2 < end && (sp_hang_blank(p[2]) || p[2] == *space)))
            return true;
    return false;
}

/* A field of a report, perhaps behind blanks. */
static bool mail_is_field(struct sp_span line, bool *indented)
{
    static const char *const keys[] = {"Date/Time:", "OS Version:", "Report Version:",      "Architecture:",
                                       "Process:",   "Path:",       "Identifier:",          "Code Type:",
                                       "Duration:",  "Steps:",      "Analysis of sampling "};
    const char *begin = line.p;
    while (line.n && (sp_hang_blank(*line.p)))
        line = sp_hang_after(line, 1);
    *indented = line.p > begin;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_hang_starts(line, keys[i]))
            return true;
    return false;
}

const char *sp_hang_mail(const char *p, size_t n, const char **advice)
{
    size_t broken = 0, spaces = 0, fields = 0, indented = 0;
    for (const char *end = p + n, *nl; p < end; p = nl ? nl + 1 : end) {
        nl = memchr(p, '\n', (size_t)(end - p));
        struct sp_span line = {p, (size_t)((nl ? nl : end) - p)};
        broken += mail_is_broken(line);
        spaces += mail_has_spaces(line);
        bool further, field = mail_is_field(line, &further);
        fields += field;
        indented += field && further;
        if (broken == MAIL_LINES) {
            *advice = "perl -MMIME::QuotedPrint -ne 'print decode_qp($_)' FILE > report.txt";
            return "the report is quoted-printable, as mails are sent";
        }
        if (spaces == MAIL_LINES) {
            *advice = "perl -pe 's/\\xC2\\xA0/ /g' FILE > report.txt";
            return "the report has no-break spaces (U+00A0) for blanks, as copies from mails and web pages "
                   "do";
        }
    }
    if (indented >= MAIL_LINES && indented == fields) {
        *advice = "perl -pe '$i //= $1 if /^([ \\t]+)\\S/; s/^$i//' FILE > report.txt";
        return "all lines of the report are indented";
    }
    return NULL;
}
