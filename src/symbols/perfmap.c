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

bool sp_perf_map_parse(char *text, size_t n, struct sp_symtab *out)
{
    char *end = text + n, *next;
    for (char *p = text; p < end; p = next + 1) {
        uint64_t start, size;
        next = memchr(p, '\n', (size_t)(end - p));
        if (!next)
            next = end;
        char *name = perfmap_number(p, next, &start);
        name = name ? perfmap_number(name, next, &size) : NULL;
        char *stop = next;
        while (name && stop > name && (stop[-1] == '\r' || stop[-1] == ' '))
            stop--;
        if (!name || stop == name)
            continue;
        *stop = '\0';
        if (!sp_symtab_add(out, start, size, SP_BIND_GLOBAL, name))
            return false;
    }
    return sp_symtab_finish(out, SP_RULES_JIT);
}
