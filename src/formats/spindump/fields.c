/* Lines of the form "Key:   value", and lines of no form. */
#include "formats/spindump/report.h"

#include <string.h>

void sp_spindump_not_understood(struct spindump_reader *r, struct sp_span line, struct sp_where at,
                                struct sp_buf *keep, const char *what)
{
    int n = line.n > 80 ? 80 : (int)line.n;
    sp_emit(r->d, SP_W515, at, "%s: \"%.*s\"", what, n, line.p);
    sp_hang_item(keep, line);
}

/* Keys as long as their column may have their value right behind the colon. */
enum { KEY_COLUMN = 17 };

bool sp_spindump_key_value(struct sp_span line, struct sp_span *key, struct sp_span *value)
{
    const char *p = line.p, *end = line.p + line.n;
    while ((p = memchr(p, ':', (size_t)(end - p)))) {
        if (p + 1 == end || sp_hang_blank(p[1]) || (p - line.p >= KEY_COLUMN && p[1] != ':'))
            break;
        p++;
    }
    if (!p || p == line.p || p - line.p > 64)
        return false;
    *key = (struct sp_span){line.p, (size_t)(p - line.p)};
    *value = sp_hang_trim((struct sp_span){p + 1, (size_t)(end - p - 1)});
    return sp_hang_trim(*key).n > 0;
}

bool sp_spindump_is_field(struct sp_span line)
{
    static const char *const keys[] = {
        "Path:",         "UUID:",          "Identifier:",      "Version:",
        "Shared Cache:", "Architecture:",  "Parent:",          "Responsible:",
        "UID:",          "Footprint:",     "Time Since Fork:", "Start time:",
        "End time:",     "Num samples:",   "Num threads:",     "CPU Time:",
        "Note:",         "Team ID:",       "Codesigning ID:",  "Build Version:",
        "Task size:",    "Memory Limit:",  "Jetsam Priority:", "Pageins:",
        "I/O:",          "Primary state:", "Coalition:",       "Sudden Term:"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (sp_hang_starts(line, keys[i]))
            return true;
    return false;
}

/* A selector that was broken behind its colon is a key by its form alone. */
bool sp_spindump_is_key(struct sp_span line)
{
    struct sp_span key, value;
    if (!sp_spindump_key_value(line, &key, &value))
        return false;
    size_t column = value.n ? (size_t)(value.p - line.p) : 0;
    return sp_spindump_is_field(line) ||
           ((column == KEY_COLUMN || column == KEY_COLUMN + 1) && *key.p >= 'A' && *key.p <= 'Z');
}

bool sp_spindump_is_begun(struct sp_span line, struct sp_span text)
{
    struct sp_spindump_thread t;
    struct sp_span key, value;
    return (sp_hang_starts(text, "Thread ") && sp_spindump_parse_thread(text, &t)) ||
           sp_hang_starts(text, "Heaviest stack for") || sp_hang_starts(text, "Binary Images") ||
           (line.p == text.p && (sp_spindump_tail_begins(line) ||
                                 (sp_spindump_key_value(line, &key, &value) && sp_spindump_is_key(line))));
}
