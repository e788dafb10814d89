/*
 * The table in front of a symbolized profile, as `pprof --raw` writes it:
 *
 *     --- symbol
 *     binary=/usr/bin/server
 *     0x0000000000401136 parse_number--parse--main
 *     ---
 *     --- profile
 */
#include "base/num.h"
#include "formats/common/mapped/mapped.h"

static bool mapped_symbols_line_is(const char *p, size_t n, const char *literal)
{
    return n == strlen(literal) && memcmp(p, literal, n) == 0;
}

/* "--- symbol", with any number of blanks. */
static bool mapped_symbols_opens(const char *p, size_t n)
{
    static const char word[] = "symbol";
    if (n < 3 || memcmp(p, "---", 3) != 0)
        return false;
    struct sp_str rest = sp_mapped_trim(p + 3, n - 3);
    return mapped_symbols_line_is(rest.p, rest.n, word) || mapped_symbols_line_is(rest.p, rest.n, "symbolz");
}

/* "--- profile", "--- heap": what kind of profile follows. Titles that end in a colon or in --- are its own.
 */
static bool mapped_symbols_names_what_follows(const char *p, size_t n)
{
    if (n < 5 || memcmp(p, "--- ", 4) != 0)
        return false;
    for (size_t i = 4; i < n; i++)
        if (p[i] < 'a' || p[i] > 'z')
            return false;
    return true;
}

size_t sp_mapped_symbols_size(const char *p, const char *end)
{
    const char *at = p, *next;
    size_t n = sp_mapped_eol(at, end, &next);
    if (!mapped_symbols_opens(at, n))
        return 0;
    for (at = next; at < end; at = next) {
        n = sp_mapped_eol(at, end, &next);
        if (!mapped_symbols_line_is(at, n, "---"))
            continue;
        at = next;
        n = sp_mapped_eol(at, end, &next);
        return (size_t)((mapped_symbols_names_what_follows(at, n) ? next : at) - p);
    }
    return 0;
}

/* Perl's pprof tells functions of one name apart by where they begin: "work<00000000004011e1>". */
static struct sp_str mapped_symbols_without_start(struct sp_str name)
{
    uint32_t n = name.n;
    if (n < 11 || name.p[n - 1] != '>')
        return name;
    const char *open = memrchr(name.p, '<', n);
    uint64_t v;
    size_t digits = open ? (size_t)(name.p + n - 1 - open - 1) : 0;
    if (digits >= 8 && open > name.p && sp_parse_hex(open + 1, name.p + n - 1, &v) == digits)
        name.n = (uint32_t)(open - name.p);
    return name;
}

/* "0xADDR INNER--OUTER": names are separated, and may be ended, by --. */
static spaa_status mapped_symbols_take(struct sp_mapped *m, const char *p, const char *end, bool *known)
{
    uint64_t addr;
    const char *at = p + 2;
    spaa_status st = SPAA_OK;
    *known = end - p > 2 && p[0] == '0' && p[1] == 'x';
    size_t n = *known ? sp_parse_hex(at, end, &addr) : 0;
    at += n;
    *known = n && at < end && (*at == ' ' || *at == '\t');
    if (!*known)
        return SPAA_OK;
    at = sp_mapped_blank(at, end);
    sp_mapped_close_name(m);
    while (!st && at < end) {
        const char *sep = memmem(at, (size_t)(end - at), "--", 2);
        struct sp_str name = {at, (uint32_t)((sep ? sep : end) - at)};
        bool number = name.n > 2 && name.p[0] == '0' && name.p[1] == 'x'; /* it had no symbol */
        if (name.n && !number)
            st = sp_mapped_name(m, addr, mapped_symbols_without_start(name), (struct sp_str){"", 0},
                                (struct sp_str){"", 0});
        at = sep ? sep + 2 : end;
    }
    sp_mapped_close_name(m);
    return st;
}

spaa_status sp_mapped_symbols(struct sp_mapped *m, const char *p, const char *end, size_t *used,
                              struct sp_str *binary)
{
    const char *at = p, *stop, *next;
    uint64_t line = 1;
    spaa_status st = SPAA_OK;
    *used = sp_mapped_symbols_size(p, end);
    stop = p + *used;
    if (!*used) {
        sp_mapped_eol(p, end, &next);
        if (mapped_symbols_opens(p, sp_mapped_eol(p, end, &next)))
            sp_emit(m->d, SP_E765, SP_AT(0), "the table of symbols has no end (a line ---)");
        return mapped_symbols_opens(p, sp_mapped_eol(p, end, &next)) ? SPAA_ERR_INPUT : SPAA_OK;
    }
    for (; !st && at < stop; at = next, line++) {
        size_t n = sp_mapped_eol(at, stop, &next);
        bool known = line == 1 || !n || memcmp(at, "---", n < 3 ? n : 3) == 0;
        if (!known && n >= 7 && memcmp(at, "binary=", 7) == 0) {
            *binary = (struct sp_str){at + 7, (uint32_t)(n - 7)};
            known = true;
        }
        if (!known)
            st = mapped_symbols_take(m, at, at + n, &known);
        if (!known && !st)
            sp_emit(m->d, SP_L766, SP_AT_LINE(line, (uint64_t)(at - p)), "in the table of symbols");
    }
    return st;
}
