#include "remote/ini.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"

#include <ctype.h>
#include <strings.h>

/* ---- lines ---- */

/* The bytes of a character that str.strip() takes off, at p; 0: it is another. */
static size_t blank_at(const char *p, const char *end)
{
    static const char wide[][4] = {"\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
                                   "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a",
                                   "\u2028", "\u2029", "\u202f", "\u205f", "\u3000"};
    if (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r') || (*p >= 0x1c && *p <= 0x1f)))
        return 1;
    if (end - p >= 2 && (memcmp(p, "\xc2\x85", 2) == 0 || memcmp(p, "\xc2\xa0", 2) == 0))
        return 2;
    for (size_t i = 0; end - p >= 3 && i < sizeof wide / sizeof *wide; i++)
        if (memcmp(p, wide[i], 3) == 0)
            return 3;
    return 0;
}

/* The same of the last character. */
static size_t blank_before(const char *p, const char *end)
{
    for (size_t n = 1; n <= 3 && n <= (size_t)(end - p); n++)
        if (blank_at(end - n, end) == n)
            return n;
    return 0;
}

static struct sp_span trimmed(const char *p, const char *end)
{
    size_t n;
    while ((n = blank_at(p, end)))
        p += n;
    while ((n = blank_before(p, end)))
        end -= n;
    return (struct sp_span){p, (size_t)(end - p)};
}

/* Characters, not bytes: so indentation is counted. */
static size_t characters(const char *p, const char *end)
{
    size_t n = 0;
    for (; p < end; p++)
        n += ((unsigned char)*p & 0xc0) != 0x80;
    return n;
}

static const char *line_end(const char *p, const char *end)
{
    while (p < end && *p != '\n' && *p != '\r')
        p++;
    return p;
}

static const char *line_next(const char *nl, const char *end)
{
    if (end - nl > 1 && nl[0] == '\r' && nl[1] == '\n')
        nl++;
    return nl + (nl < end);
}

static bool is_nothing(struct sp_span line)
{
    return !line.n || *line.p == '#' || *line.p == ';';
}

/* ---- sections and settings ---- */

/* Where the value ends whose key stands before i->p: lines that are indented more belong to it. */
static const char *value_end(struct sp_ini *i, const char *end, size_t indent)
{
    uint64_t lines = i->next;
    for (const char *p = i->p, *nl; p < i->end; p = line_next(nl, i->end)) {
        nl = line_end(p, i->end);
        struct sp_span line = trimmed(p, nl);
        bool nothing = is_nothing(line);
        if (!nothing && characters(p, line.p) <= indent)
            break;
        lines++;
        if (nothing)
            continue;
        end = line.p + line.n;
        i->p = line_next(nl, i->end);
        i->next = lines;
    }
    return end;
}

/* A value keeps the end of the line before its first text: what follows is nested. */
static struct sp_span value_of(const char *p, const char *nl, const char *end)
{
    struct sp_span first = trimmed(p, nl);
    return first.n || end <= nl ? trimmed(p, end > nl ? end : nl) : (struct sp_span){nl, (size_t)(end - nl)};
}

static enum sp_ini_what wrong(struct sp_ini *i, const char *why)
{
    i->wrong = why;
    return SP_INI_WRONG;
}

enum sp_ini_what sp_ini_next(struct sp_ini *i)
{
    while (i->p < i->end) {
        const char *p = i->p, *nl = line_end(p, i->end), *close;
        struct sp_span line = trimmed(p, nl);
        i->p = line_next(nl, i->end);
        i->line = ++i->next;
        if (is_nothing(line))
            continue;
        if (*line.p == '[' && (close = memrchr(line.p, ']', line.n)) && close > line.p + 1) {
            i->section = (struct sp_span){line.p + 1, (size_t)(close - line.p - 1)};
            return SP_INI_SECTION;
        }
        size_t n = 0;
        while (n < line.n && line.p[n] != '=' && line.p[n] != ':')
            n++;
        i->key = trimmed(line.p, line.p + n);
        if (n == line.n && *line.p == '[')
            return wrong(i, "the name of a section has no end");
        if (!i->section.p)
            return wrong(i, "it stands before the first [section]");
        if (n == line.n)
            return wrong(i, "it is neither a [section] nor KEY = VALUE");
        if (!i->key.n)
            return wrong(i, "there is no key before the value");
        i->value = value_of(line.p + n + 1, nl, value_end(i, nl, characters(p, line.p)));
        return SP_INI_SETTING;
    }
    return SP_INI_END;
}

/* ---- what is refused ---- */

/* Names that were met: of sections (within 0), of keys within a section. */
struct names {
    struct sp_map map;
    SP_VEC(struct {
        uint32_t within;
        struct sp_span name;
    })
    list;
    bool failed;
};

/* The number of a name, from 1; *before: it was there. */
static uint32_t number_of(struct names *s, uint32_t within, struct sp_span name, bool *before)
{
    uint64_t hash = within;
    for (size_t c = 0; c < name.n; c++)
        hash = sp_hash_mix(hash, (uint64_t)(within ? tolower((unsigned char)name.p[c]) : name.p[c]));
    struct sp_probe at = sp_map_probe(&s->map, hash);
    for (uint32_t n; (n = sp_map_next(&s->map, &at)) != SP_MAP_NONE;) {
        struct sp_span other = s->list.v[n].name;
        if (s->list.v[n].within == within && other.n == name.n &&
            (within ? strncasecmp(other.p, name.p, name.n) : memcmp(other.p, name.p, name.n)) == 0) {
            *before = true;
            return n + 1;
        }
    }
    uint32_t n = (uint32_t)s->list.n;
    *before = false;
    if (!sp_vec_reserve(&s->list, s->list.n + 1) || !sp_map_add(&s->map, hash, n)) {
        s->failed = true;
        return 0;
    }
    s->list.v[s->list.n].within = within;
    s->list.v[s->list.n++].name = name;
    return n + 1;
}

static uint64_t lines_before(const char *text, const char *p)
{
    uint64_t n = 0;
    for (const char *nl = line_end(text, p); nl < p; nl = line_end(line_next(nl, p), p))
        n++;
    return n;
}

/* Every line of a nested value is KEY = VALUE; the line of the one that is not, counted from the key's. */
static uint64_t not_nested(struct sp_span v)
{
    uint64_t line = 0;
    const char *end = v.p + v.n;
    if (!v.n || (*v.p != '\n' && *v.p != '\r'))
        return 0;
    for (const char *p = v.p, *nl; p < end; p = line_next(nl, end), line++) {
        nl = line_end(p, end);
        struct sp_span text = trimmed(p, nl);
        if (!is_nothing(text) && !memchr(text.p, '=', text.n))
            return line;
    }
    return 0;
}

/* No INI at all: in another encoding. */
static const char *wrong_text(const char *text, size_t n, size_t *at)
{
    *at = 0;
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return "the file begins with a byte order mark: save it as UTF-8 without one";
    if (n >= 4 && (memcmp(text, "\xff\xfe\0\0", 4) == 0 || memcmp(text, "\0\0\xfe\xff", 4) == 0))
        return "the file is UTF-32: save it as UTF-8";
    if (n >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return "the file is UTF-16: save it as UTF-8";
    if (n && !*text)
        return "a byte of zero: is the file UTF-16 or UTF-32? save it as UTF-8";
    *at = sp_utf8_prefix(text, n);
    return *at < n ? "it is not UTF-8" : NULL;
}

/*
 * What Python reads, and perhaps not as we do: bytes of zero (UTF-16, mostly), a Kelvin sign, whose small
 * letter is `k`, and in nested settings the ends of lines that str.splitlines() knows beside the usual ones.
 */
static const char *uncertain(const struct sp_ini *i, enum sp_ini_what what)
{
    static const char *const ends[] = {"\v", "\f", "\x1c", "\x1d", "\x1e", "\xc2\x85", "\u2028", "\u2029"};
    const struct sp_span *v = &i->value, *name = what == SP_INI_SECTION ? &i->section : &i->key;
    bool setting = what == SP_INI_SETTING;
    if (memchr(name->p, '\0', name->n) || (setting && v->n && memchr(v->p, '\0', v->n)))
        return "a byte of zero: is the file UTF-16 or UTF-32? save it as UTF-8";
    if (setting && memmem(name->p, name->n, "\u212a", 3))
        return "a Kelvin sign in the name of a setting";
    for (size_t e = 0; setting && v->n && (*v->p == '\n' || *v->p == '\r') && e < sizeof ends / sizeof *ends;
         e++)
        if (memmem(v->p, v->n, ends[e], strlen(ends[e])))
            return "an unusual end of a line in nested settings";
    return NULL;
}

spaa_status sp_ini_check(const char *text, size_t n, uint64_t *line, const char **why)
{
    struct sp_ini i = {.p = text, .end = text + n};
    struct names names = {0};
    spaa_status st = SPAA_ERR_INPUT;
    uint32_t section = 0;
    size_t at;
    bool again = false;
    *why = wrong_text(text, n, &at);
    *line = *why ? 1 + lines_before(text, text + at) : 0;
    for (enum sp_ini_what what; !*why && !names.failed && (what = sp_ini_next(&i)) != SP_INI_END;) {
        uint64_t nested = 0;
        *line = i.line;
        if (what == SP_INI_WRONG) {
            *why = i.wrong;
        } else if (what == SP_INI_SECTION) {
            section = number_of(&names, 0, i.section, &again);
            if (again && !sp_span_is(i.section, "DEFAULT"))
                *why = "the section is there twice";
        } else {
            number_of(&names, section, i.key, &again);
            if (again)
                *why = "the key is there twice in its section";
            else if ((nested = not_nested(i.value)))
                *why = "a nested setting is no KEY = VALUE";
        }
        if (!*why && (*why = uncertain(&i, what)))
            st = SPAA_ERR_UNSUPPORTED;
        *line += nested;
    }
    sp_map_free(&names.map);
    sp_vec_free(&names.list);
    *line = *why ? *line : 0;
    return *why ? st : names.failed ? SPAA_ERR_NOMEM : SPAA_OK;
}

/* ---- finding ---- */

/*
 * Takes the next character of a word off `p`, as a shell does; -1: the word ends, -2: a quote that nothing
 * closes. quote: the one that is open, or 0.
 */
static int word_char(const char **p, const char *end, char *quote)
{
    for (;;) {
        if (*p == end)
            return *quote ? -2 : -1;
        char c = *(*p)++;
        if (*quote ? c == *quote : c == '\'' || c == '"') {
            *quote = *quote ? '\0' : c;
            continue;
        }
        if (!*quote && (c == ' ' || c == '\t'))
            return -1;
        if (c != '\\' || *quote == '\'')
            return (unsigned char)c;
        if (*p == end)
            return -2;
        return *quote && **p != '"' && **p != '\\' ? '\\' : (unsigned char)*(*p)++;
    }
}

/* The words of a section are two, of which the second is the name. */
static bool second_word_is(struct sp_span s, const char *name)
{
    const char *p = s.p, *end = s.p + s.n;
    bool same = true;
    int c = 0;
    for (int word = 0; word < 2; word++) {
        size_t n = 0, want = strlen(name);
        char quote = '\0';
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (p == end)
            return false;
        for (; (c = word_char(&p, end, &quote)) >= 0; n++)
            same = same && (!word || (n < want && (unsigned char)name[n] == c));
        if (c == -2)
            return false;
        same = same && (!word || n == want);
    }
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return same && p == end;
}

static bool is_section(struct sp_span s, const char *kind, const char *name)
{
    size_t k = kind ? strlen(kind) : 0;
    if (!kind || (strcmp(name, "default") == 0 && strcmp(kind, "profile") == 0 && sp_span_is(s, name)))
        return sp_span_is(s, name);
    return s.n > k && memcmp(s.p, kind, k) == 0 && second_word_is(s, name);
}

static bool is_key(struct sp_span s, const char *key)
{
    return !*key || (s.n == strlen(key) && strncasecmp(s.p, key, s.n) == 0);
}

bool sp_ini_find(const char *text, size_t n, const char *kind, const char *name, const char *key,
                 struct sp_span *value)
{
    struct sp_ini i = {.p = text, .end = text + n};
    struct sp_span common = {NULL, 0};
    bool in = false, in_common = false, there = false, found = false;
    for (enum sp_ini_what what; (what = sp_ini_next(&i)) != SP_INI_END;) {
        if (what == SP_INI_SECTION) {
            in_common = sp_span_is(i.section, "DEFAULT");
            in = !in_common && is_section(i.section, kind, name);
            there = there || in;
            found = found && !in;
        } else if (what == SP_INI_SETTING && key && (in || in_common) && is_key(i.key, key)) {
            *(in ? value : &common) = i.value;
            found = found || in;
        }
    }
    if (key && there && !found && common.p) {
        *value = common;
        found = true;
    }
    return key ? found : there;
}

bool sp_ini_nested(struct sp_span nested, const char *key, struct sp_span *value)
{
    const char *end = nested.p + nested.n;
    bool found = false;
    if (!nested.n || (*nested.p != '\n' && *nested.p != '\r'))
        return false;
    for (const char *p = nested.p, *nl; p < end; p = line_next(nl, end)) {
        nl = line_end(p, end);
        struct sp_span line = trimmed(p, nl);
        const char *equals = is_nothing(line) ? NULL : memchr(line.p, '=', line.n);
        if (equals && sp_span_is(trimmed(line.p, equals), key)) {
            *value = trimmed(equals + 1, line.p + line.n);
            found = true;
        }
    }
    return found;
}
