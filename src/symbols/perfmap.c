/*
 * perf-PID.map: "START SIZE name of the function" a line, numbers in hex, written by just-in-time
 * compilers as they go. The name is the rest of the line and may hold spaces. A compiler that
 * reuses memory writes the range again: the later line is believed.
 */
#include "base/num.h"
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

static bool perfmap_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* One line; false: it is something else. */
static bool perfmap_line(char *p, char *end, uint64_t *start, uint64_t *size, char **name)
{
    char *q = perfmap_number(p, end, start);
    *name = q ? perfmap_number(q, end, size) : NULL;
    while (*name && end > *name && (end[-1] == '\r' || end[-1] == ' '))
        end--;
    if (!*name || end == *name)
        return false;
    *end = '\0';
    return true;
}

bool sp_perf_map_parse(char *text, size_t n, struct sp_symtab *out, struct sp_map_skipped *skipped)
{
    char *end = text + n, *next;
    uint64_t line = 1;
    *skipped = (struct sp_map_skipped){0};
    for (char *p = text; p < end; p = next + 1, line++) {
        uint64_t start, size;
        char *name;
        next = memchr(p, '\n', (size_t)(end - p));
        if (!next)
            next = end;
        if (perfmap_line(p, next, &start, &size, &name)) {
            if (!sp_symtab_add(out, start, size, SP_BIND_GLOBAL, name))
                return false;
            continue;
        }
        while (p < next && perfmap_is_blank(*p))
            p++;
        if (p < next && !skipped->n++)
            skipped->first = line;
    }
    return sp_symtab_finish(out, SP_RULES_JIT);
}
