/*
 * Fields that `perf script -F` prints around the frame of a line, or on lines of their own below the frames:
 *
 *     cpu-clock:         7f12aa00     68100242 |OP LOAD|LVL L1 hit|           5     55c0e6de48a1 main
 * (/bin/a) cpu-clock:     55c0e6de48a1 main (/bin/a) ilen: 3 insn: 48 89 e5
 *
 * Addresses, weights and the frame's own address are padded to sixteen columns; the last is the frame's.
 */
#include "base/num.h"
#include "formats/perf_script/perf_script.h"

#include <string.h>

/* The number in hex at p, padded to its columns; behind it, or NULL. */
static const char *perf_script_padded(const char *p, const char *end, size_t blanks)
{
    uint64_t v;
    size_t n = sp_parse_hex(p, end, &v);
    return n && n + blanks >= SP_PS_WIDE_COLUMNS && (p + n == end || sp_ps_blank(p[n])) ? p + n : NULL;
}

/* Registers, the instruction, or a physical address alone. */
bool sp_ps_is_more(const char *p, const char *end)
{
    static const char *const words[] = {"ilen: ", "insn: ", "ABI:"};
    const char *line = p;
    while (p < end && sp_ps_blank(*p))
        p++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(end - p) > n && memcmp(p, words[i], n) == 0)
            return true;
    }
    return line < end && *line == ' ' && perf_script_padded(p, end, (size_t)(p - line)) == end;
}

/* What may stand behind the DSO of a frame: those, or a physical address. */
static bool perf_script_behind_frame(const char *p, const char *end)
{
    const char *q = p;
    while (q < end && sp_ps_blank(*q))
        q++;
    return q > p && (sp_ps_is_more(q, end) || perf_script_padded(q, end, (size_t)(q - p)));
}

struct sp_ps_text sp_ps_frame_of_line(struct sp_ps_text t)
{
    const char *p = t.p, *end = t.p + t.n, *frame = t.p;
    for (const char *q = p; p < end && end[-1] != ')' && (q = memchr(q, ')', (size_t)(end - q))); q++)
        if (perf_script_behind_frame(q + 1, end)) {
            const char *open = q;
            while (open > p && *open != '(')
                open--;
            /* "(1 hop)" of data_src stands before the frame; a DSO is a path, or in brackets */
            if (open[1] == '/' || open[1] == '[')
                end = q + 1;
        }
    for (const char *q = p; q < end;) {
        const char *blank = q;
        while (q < end && sp_ps_blank(*q))
            q++;
        const char *behind = q > p ? perf_script_padded(q, end, (size_t)(q - blank)) : NULL;
        if (behind && end - behind > 1 && !sp_ps_blank(behind[1]))
            frame = q;
        q = memchr(q, ' ', (size_t)(end - q));
        if (!q)
            break;
    }
    return (struct sp_ps_text){frame, (size_t)(end - frame)};
}
