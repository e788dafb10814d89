/* Is it what DTrace prints: stacks of module`symbol lines that end in a number, or distributions. */
#include "formats/dtrace/dtrace.h"

#include <string.h>

int dt_probe(const unsigned char *bytes, size_t n, bool whole, const char **reason)
{
    const char *p = (const char *)bytes, *end = p + n;
    bool prologue = false, frames = false, ticks = false;
    unsigned lines = 0, found = 0;
    for (; p < end && lines < 4000; lines++) {
        const char *nl = memchr(p, '\n', (size_t)(end - p)), *eol = nl ? nl : end;
        struct dt_line l;
        if (!nl && !whole)
            break;
        dt_classify(p, (size_t)(eol - p), &l);
        if (l.kind == DT_PROLOGUE)
            prologue = true;
        if (l.kind == DT_FRAME && l.indent) {
            frames = true;
            ticks = ticks || memchr(l.text.p, '`', l.text.n);
        } else if (l.kind == DT_NUMBER || l.kind == DT_HEAD) {
            found += l.kind == DT_HEAD || (frames && ticks && l.indent);
            frames = false;
        } else if (l.kind == DT_TEXT) {
            /* Keys after the stack, with the value at their end. */
            found +=
                frames && ticks && l.indent && l.text.p[l.text.n - 1] >= '0' && l.text.p[l.text.n - 1] <= '9';
            frames = frames && l.indent;
        }
        p = nl ? nl + 1 : end;
    }
    *reason = prologue ? "DTrace's prologue" : "stacks of module`symbol lines with values, or distributions";
    return prologue && found ? 98 : found ? 80 : prologue ? 60 : 0;
}
