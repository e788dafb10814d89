/*
 * /proc/kallsyms: "ffffffff81000000 T _text" or "ffffffffc0a01000 t helper\t[module]", one a line.
 *
 * Types are nm's letters. Kept is what may be code or data at an address: not absolute symbols (a, A:
 * offsets of per-CPU variables) and not read-only data (r, R), of which there are many.
 * The kernel proper comes sorted, modules, ftrace trampolines and BPF programs behind it do not.
 */
#include "symbols/kallsyms.h"

#include "base/num.h"

#include <string.h>

static enum sp_bind kallsyms_bind_of(char type)
{
    if (type == 'W')
        return SP_BIND_WEAK;
    return type >= 'A' && type <= 'Z' ? SP_BIND_GLOBAL : SP_BIND_LOCAL;
}

/* Ends the name at p where it ends, and the module's in brackets behind it; returns the latter's place. */
static uint32_t end_names(char *p, char *end)
{
    static const char ends[] = {'\t', ' ', '\r'};
    char *q = end;
    for (size_t i = 0; i < sizeof ends; i++) {
        char *at = memchr(p, ends[i], (size_t)(q - p));
        q = at ? at : q;
    }
    char *open = q < end ? memchr(q, '[', (size_t)(end - q)) : NULL;
    char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    *q = '\0';
    if (!close)
        return 0;
    *close = '\0';
    return (uint32_t)(open + 1 - p);
}

bool sp_kallsyms_parse(char *text, size_t n, struct sp_symtab *out, uint64_t *text_start, uint64_t *stext,
                       bool *restricted)
{
    uint64_t addr, start = 0, any = 0;
    char *end = text + n, *next;
    bool seen = false;
    *stext = 0;
    if (!sp_vec_reserve(&out->syms, out->syms.n + n / 40 + 1)) /* a line is about that long */
        return false;
    for (char *p = text; p < end; p = next + 1) {
        next = memchr(p, '\n', (size_t)(end - p));
        if (!next)
            next = end;
        size_t used = sp_parse_hex(p, next, &addr);
        if (!used || next - p < (ptrdiff_t)used + 4 || p[used] != ' ' || p[used + 2] != ' ')
            continue;
        char type = p[used + 1], *name = p + used + 3;
        uint32_t module = end_names(name, next);
        if (!*name)
            continue;
        seen = true;
        any |= addr;
        if (*name == '_' && !module && !strcmp(name, "_text"))
            start = addr;
        else if (*name == '_' && !module && !strcmp(name, "_stext"))
            *stext = addr;
        if (memchr("aArR", type, 4) || *name == '$' || (*name == '.' && name[1] == 'L'))
            continue;
        if (!sp_symtab_add(out, addr, 0, kallsyms_bind_of(type), name))
            return false;
        out->syms.v[out->syms.n - 1].module = module;
    }
    *text_start = start ? start : *stext;
    *restricted = seen && !any;
    if (*restricted)
        out->syms.n = 0;
    return sp_symtab_finish(out, SP_RULES_KALLSYMS);
}
