/*
 * perf-PID.map: "START SIZE name of the function" a line, numbers in hex, written by just-in-time
 * compilers as they go. The name is the rest of the line and may hold spaces. A compiler that
 * reuses memory writes the range again: the later line is believed.
 *
 * A line whose end was lost, as buffers are that threads write at once, has the next one in its name: it is
 * taken for none, as neither name can be known.
 */
#include "base/num.h"
#include "symbols/jitdump.h"
#include "symbols/kallsyms.h"

#include <string.h>

/* A hex number with or without 0x, and the blanks behind it. */
static char *perfmap_number(char *p, char *end, uint64_t *v)
{
    if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        p += 2;
    size_t used = sp_parse_hex(p, end, v);
    if (!used || p + used >= end || (p[used] != ' ' && p[used] != '\t'))
        return NULL;
    for (p += used; p < end && (*p == ' ' || *p == '\t'); p++)
        ;
    return p;
}

/*
 * Whether a name goes on as another line does: with an address right behind other text, of as many digits as
 * the line's own (8 at least) and within 4 GiB of it, then a size and a name.
 */
static bool holds_line(char *name, char *end, uint64_t start, size_t digits)
{
    if (digits < 8)
        return false;
    for (char *p = name, *blank; (blank = memchr(p, ' ', (size_t)(end - p))) != NULL; p = blank + 1) {
        uint64_t at, size;
        char *number = (size_t)(blank - p) > digits ? blank - digits : NULL;
        if (number && sp_parse_hex(number, blank, &at) == digits &&
            at - start + UINT32_MAX <= UINT64_C(2) * UINT32_MAX && perfmap_number(blank + 1, end, &size))
            return true;
    }
    return false;
}

static size_t perfmap_digits(const char *p)
{
    uint64_t v;
    p += p[0] == '0' && (p[1] == 'x' || p[1] == 'X') ? 2 : 0;
    return sp_parse_hex(p, p + 16, &v);
}

/* One line; *why: it is something else, or not all of it is used. NULL: no name. */
static char *perfmap_line(char *p, char *end, uint64_t *start, uint64_t *size, const char **why)
{
    char *q = perfmap_number(p, end, start), *name = q ? perfmap_number(q, end, size) : NULL;
    while (name && end > name && (end[-1] == '\r' || end[-1] == ' '))
        end--;
    if (!name || end == name)
        *why = "no address, size and name";
    else if (memchr(name, 0, (size_t)(end - name)))
        *why = "a NUL in the name";
    else if (!sp_jit_is_code(*start, *size))
        *why = "a size that no code has";
    else if (holds_line(name, end, *start, perfmap_digits(p)))
        *why = "another line within it";
    if (*why)
        return NULL;
    size_t n = (size_t)(end - name), kept = sp_jit_name_length(name, n);
    if (kept < n)
        *why = "a name that is too long, and was cut";
    name[kept] = '\0';
    return name;
}

static bool perfmap_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool perfmap_is_empty(const char *p, const char *end)
{
    while (p < end && (*p == '\n' || perfmap_is_blank(*p)))
        p++;
    return p == end;
}

bool sp_perf_map_parse(char *text, size_t n, struct sp_symtab *out, struct sp_map_skipped *skipped)
{
    char *end = text + n, *next;
    uint64_t line = 1;
    *skipped = (struct sp_map_skipped){.empty = perfmap_is_empty(text, end)};
    for (char *p = text; p < end; p = next + 1, line++) {
        uint64_t start, size;
        const char *why = NULL;
        next = memchr(p, '\n', (size_t)(end - p));
        if (!next)
            next = end;
        if (perfmap_is_empty(p, next))
            continue;
        char *name = perfmap_line(p, next, &start, &size, &why);
        if (name && !sp_symtab_add(out, start, size, SP_BIND_GLOBAL, name))
            return false;
        if (name && !why && next == end) /* maps are copied while they are written */
            why = "no end of the line: its name may be cut";
        if (why && !skipped->n++) {
            skipped->first = line;
            skipped->why = why;
        }
    }
    return sp_symtab_finish(out, SP_RULES_JIT);
}
