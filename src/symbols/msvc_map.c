#include "symbols/msvc_map.h"

#include "base/num.h"

#include <string.h>

enum { SECTIONS_MAX = 4096 };

/* A section by its number: how far it reaches, and whether a row of it has class CODE. */
struct section {
    uint64_t end;
    bool code;
};

struct row {
    uint64_t rva, end; /* end: of its section; 0: unknown */
    const char *name;
    uint32_t order;
};

struct parser {
    SP_VEC(struct section) sections;
    SP_VEC(struct row) rows;
    uint64_t base;
    bool has_base;
};

static char *msvc_map_blanks(char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

static char *word_end(char *p, const char *end)
{
    while (p < end && *p != ' ' && *p != '\t' && *p != '\r')
        p++;
    return p;
}

/* "0001:00000000" and the blanks behind it; NULL where it is something else. */
static char *address(char *p, char *end, uint64_t *section, uint64_t *offset)
{
    size_t n = sp_parse_hex(p, end, section);
    if (!n || p + n >= end || p[n] != ':')
        return NULL;
    p += n + 1;
    n = sp_parse_hex(p, end, offset);
    if (!n || p + n >= end || (p[n] != ' ' && p[n] != '\t'))
        return NULL;
    return msvc_map_blanks(p + n, end);
}

/* "00012345H .text$mn   CODE" */
static bool section_row(struct parser *m, char *p, char *end, uint64_t number, uint64_t offset)
{
    uint64_t length, reach;
    size_t n = sp_parse_hex(p, end, &length);
    if (!n || p + n >= end || p[n] != 'H' || number >= SECTIONS_MAX)
        return true;
    char *last = end;
    while (last > p && (last[-1] == ' ' || last[-1] == '\r'))
        last--;
    bool code = last - p > 4 && memcmp(last - 4, "CODE", 4) == 0;
    while (m->sections.n <= number)
        if (!sp_vec_push(&m->sections, ((struct section){0, false})))
            return false;
    struct section *s = &m->sections.v[number];
    if (!__builtin_add_overflow(offset, length, &reach) && reach > s->end)
        s->end = reach;
    s->code |= code;
    return true;
}

/* "name   0000000140001000 f i lib:object" */
static bool symbol_row(struct parser *m, char *p, char *end, uint64_t number, uint64_t offset)
{
    char *stop = word_end(p, end);
    uint64_t at, last;
    char *q = msvc_map_blanks(stop, end);
    size_t n = sp_parse_hex(q, end, &at);
    if (stop == p || n < 8 || (q + n < end && q[n] != ' ' && q[n] != '\t' && q[n] != '\r') || !number)
        return true;
    bool known = number < m->sections.n;
    if (!m->has_base || at < m->base || (known && !m->sections.v[number].code))
        return true;
    struct row r = {.rva = at - m->base, .name = p, .order = (uint32_t)m->rows.n};
    if (known && m->sections.v[number].end > offset &&
        !__builtin_add_overflow(r.rva, m->sections.v[number].end - offset, &last))
        r.end = last;
    *stop = '\0';
    return m->rows.n >= SP_SYMS_MAX || sp_vec_push(&m->rows, r);
}

static bool line(struct parser *m, char *p, char *end)
{
    static const char load[] = "Preferred load address is ";
    uint64_t number, offset;
    p = msvc_map_blanks(p, end);
    if ((size_t)(end - p) > sizeof load && memcmp(p, load, sizeof load - 1) == 0) {
        if (sp_parse_hex(p + sizeof load - 1, end, &m->base))
            m->has_base = true;
        return true;
    }
    char *rest = address(p, end, &number, &offset);
    if (!rest)
        return true;
    uint64_t length;
    size_t n = sp_parse_hex(rest, end, &length);
    if (n && rest + n < end && rest[n] == 'H' && (rest + n + 1 == end || rest[n + 1] == ' '))
        return section_row(m, rest, end, number, offset);
    return symbol_row(m, rest, end, number, offset);
}

static int by_rva(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->rva != y->rva)
        return x->rva < y->rva ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool fill(struct parser *m, struct sp_symtab *out)
{
    if (m->rows.n)
        qsort(m->rows.v, m->rows.n, sizeof *m->rows.v, by_rva);
    for (size_t i = 0, next; i < m->rows.n; i = next) {
        const struct row *r = &m->rows.v[i];
        for (next = i + 1; next < m->rows.n && m->rows.v[next].rva == r->rva; next++)
            ;
        uint64_t end = next < m->rows.n ? m->rows.v[next].rva : r->end;
        if (r->end && r->end < end)
            end = r->end;
        if (!sp_symtab_add(out, r->rva, end > r->rva ? end - r->rva : 0, SP_BIND_GLOBAL, r->name))
            return false;
    }
    return sp_symtab_finish(out, SP_RULES_ELF);
}

bool sp_msvc_map_parse(char *text, size_t n, struct sp_symtab *out, struct sp_str *module, bool *found)
{
    struct parser m = {0};
    char *end = text + n, *next;
    bool ok = true;
    *module = (struct sp_str){"", 0};
    for (char *p = text; ok && p < end; p = next + 1) {
        next = memchr(p, '\n', (size_t)(end - p));
        next = next ? next : end;
        char *first = msvc_map_blanks(p, next), *stop = word_end(first, next);
        if (!module->n && stop > first)
            *module = (struct sp_str){first, (uint32_t)(stop - first)};
        ok = line(&m, p, next);
    }
    *found = m.has_base && m.rows.n;
    ok = ok && fill(&m, out);
    sp_vec_free(&m.sections);
    sp_vec_free(&m.rows);
    return ok;
}
