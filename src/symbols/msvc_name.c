/*
 * The scheme as far as it makes up qualified names. A decorated name is `?`, the name and its scopes from the
 * inside out, each ended by `@`, one more `@`, then what kind of thing it is, which is not looked at.
 * `?$name@…@` is a template with its arguments, `?0` to `?_Z` are special names, a digit is one of the names
 * so far.
 *
 * Names nested in functions (`?1??outer@@…`) need the whole type of the function to be parsed: they are left
 * decorated. Names are input: depth, length and the names that a digit can mean are bounded.
 */
#include "symbols/msvc_name.h"

#include <string.h>

enum { DEPTH_MAX = 24, SEEN_MAX = 10, PARTS_MAX = 64, TEXT_MAX_BYTES = 32 << 10 };

struct span {
    size_t at, n; /* in text */
};

/* What digits stand for: one such list for the name, and one for each template's inside. */
struct seen {
    struct span name[SEEN_MAX], type[SEEN_MAX];
    unsigned names, types;
};

struct parser {
    const char *p;
    struct sp_buf text; /* every part that was made, one behind the other */
};

static bool qualified(struct parser *m, struct seen *s, unsigned depth, struct span *out);

static bool msvc_name_put(struct parser *m, const char *text)
{
    return m->text.len < TEXT_MAX_BYTES && sp_buf_puts(&m->text, text);
}

static bool put_span(struct parser *m, struct span x)
{
    /* The buffer may move while it grows. */
    return m->text.len < TEXT_MAX_BYTES && sp_buf_reserve(&m->text, x.n) &&
           sp_buf_add(&m->text, m->text.data + x.at, x.n);
}

static struct span since(const struct parser *m, size_t at)
{
    return (struct span){at, m->text.len - at};
}

static void remember(const struct parser *m, struct seen *s, struct span x)
{
    for (unsigned i = 0; i < s->names; i++)
        if (s->name[i].n == x.n && memcmp(m->text.data + s->name[i].at, m->text.data + x.at, x.n) == 0)
            return;
    if (s->names < SEEN_MAX)
        s->name[s->names++] = x;
}

static bool msvc_name_take(struct parser *m, const char *what)
{
    size_t n = strlen(what);
    if (strncmp(m->p, what, n) != 0)
        return false;
    m->p += n;
    return true;
}

/* Characters up to `@`, which is used up. */
static bool plain(struct parser *m, struct seen *s, struct span *out)
{
    const char *end = strchr(m->p, '@');
    size_t at = m->text.len;
    if (!end || end == m->p || end - m->p > TEXT_MAX_BYTES - 1 || m->text.len > TEXT_MAX_BYTES)
        return false;
    sp_buf_add(&m->text, m->p, (size_t)(end - m->p));
    m->p = end + 1;
    *out = since(m, at);
    if (!m->text.failed)
        remember(m, s, *out);
    return !m->text.failed;
}

/* ?name of an operator; constructors and destructors are their class's name, which follows. */
static const char *operator_name(struct parser *m)
{
    static const char *const first[] = {
        ['2' - '0'] = "operator new", ['3' - '0'] = "operator delete", ['4' - '0'] = "operator=",
        ['5' - '0'] = "operator>>",   ['6' - '0'] = "operator<<",      ['7' - '0'] = "operator!",
        ['8' - '0'] = "operator==",   ['9' - '0'] = "operator!=",      ['A' - '0'] = "operator[]",
        ['C' - '0'] = "operator->",   ['D' - '0'] = "operator*",       ['E' - '0'] = "operator++",
        ['F' - '0'] = "operator--",   ['G' - '0'] = "operator-",       ['H' - '0'] = "operator+",
        ['I' - '0'] = "operator&",    ['J' - '0'] = "operator->*",     ['K' - '0'] = "operator/",
        ['L' - '0'] = "operator%",    ['M' - '0'] = "operator<",       ['N' - '0'] = "operator<=",
        ['O' - '0'] = "operator>",    ['P' - '0'] = "operator>=",      ['Q' - '0'] = "operator,",
        ['R' - '0'] = "operator()",   ['S' - '0'] = "operator~",       ['T' - '0'] = "operator^",
        ['U' - '0'] = "operator|",    ['V' - '0'] = "operator&&",      ['W' - '0'] = "operator||",
        ['X' - '0'] = "operator*=",   ['Y' - '0'] = "operator+=",      ['Z' - '0'] = "operator-="};
    static const struct {
        const char *code, *name;
    } second[] = {{"_0", "operator/="},
                  {"_1", "operator%="},
                  {"_2", "operator>>="},
                  {"_3", "operator<<="},
                  {"_4", "operator&="},
                  {"_5", "operator|="},
                  {"_6", "operator^="},
                  {"_7", "`vftable'"},
                  {"_8", "`vbtable'"},
                  {"_D", "`vbase destructor'"},
                  {"_E", "`vector deleting destructor'"},
                  {"_G", "`scalar deleting destructor'"},
                  {"_U", "operator new[]"},
                  {"_V", "operator delete[]"},
                  {"__L", "operator co_await"},
                  {"__M", "operator<=>"}};
    for (size_t i = 0; i < sizeof second / sizeof *second; i++)
        if (msvc_name_take(m, second[i].code))
            return second[i].name;
    size_t i = (size_t)((unsigned char)*m->p - (unsigned)'0');
    if ((unsigned char)*m->p < '0' || i >= sizeof first / sizeof *first || !first[i])
        return NULL;
    m->p++;
    return first[i];
}

/* "0" is 1, "9" is 10, else hex digits A to P up to `@`. */
static bool msvc_name_number(struct parser *m, struct span *out)
{
    bool negative = msvc_name_take(m, "?");
    unsigned long long v = 0;
    size_t at = m->text.len;
    if (*m->p >= '0' && *m->p <= '9') {
        v = (unsigned long long)(*m->p++ - '0') + 1;
    } else {
        for (unsigned digits = 0; *m->p >= 'A' && *m->p <= 'P' && digits < 16; digits++)
            v = v << 4 | (unsigned)(*m->p++ - 'A');
        if (!msvc_name_take(m, "@"))
            return false;
    }
    sp_buf_printf(&m->text, "%s%llu", negative ? "-" : "", v);
    *out = since(m, at);
    return !m->text.failed;
}

static const char *simple_type(struct parser *m)
{
    static const char *const one[] = {
        "signed char",   "char", "unsigned char", "short",  "unsigned short", "int", "unsigned int", "long",
        "unsigned long", NULL,   "float",         "double", "long double"};
    static const struct {
        const char *code, *name;
    } more[] = {{"X", "void"},      {"_J", "__int64"}, {"_K", "unsigned __int64"},
                {"_N", "bool"},     {"_W", "wchar_t"}, {"_S", "char16_t"},
                {"_U", "char32_t"}, {"_Q", "char8_t"}, {"$$T", "std::nullptr_t"}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (msvc_name_take(m, more[i].code))
            return more[i].name;
    if (*m->p < 'C' || *m->p > 'O' || !one[*m->p - 'C'])
        return NULL;
    return one[*m->p++ - 'C'];
}

static const char *cv(struct parser *m)
{
    static const char *const words[] = {"", " const", " volatile", " const volatile"};
    return *m->p >= 'A' && *m->p <= 'D' ? words[*m->p++ - 'A'] : NULL;
}

/*
 * A type: any number of pointers and references around a simple one, a class, or one of those before. What
 * stands around is gathered on the way in (innermost last), so that nothing recurses but class names.
 */
static bool type(struct parser *m, struct seen *s, unsigned depth, struct span *out)
{
    const char *around[2 * PARTS_MAX], *name = NULL, *start = m->p;
    unsigned n = 0;
    struct span inner;
    for (; n + 2 < 2 * PARTS_MAX; n += 2) {
        const char *mark = msvc_name_take(m, "$$Q")                             ? " &&"
                           : msvc_name_take(m, "P") || msvc_name_take(m, "Q")   ? " *"
                           : msvc_name_take(m, "A")                             ? " &"
                           : msvc_name_take(m, "$$C") || msvc_name_take(m, "?") ? ""
                                                                                : NULL;
        if (!mark)
            break;
        while (*mark && (msvc_name_take(m, "E") || msvc_name_take(m, "I") || msvc_name_take(m, "F")))
            ;
        around[n] = mark;
        if (!(around[n + 1] = cv(m))) /* functions, members */
            return false;
    }
    size_t at = m->text.len;
    if (*m->p >= '0' && *m->p <= '9') {
        unsigned i = (unsigned)(*m->p++ - '0');
        if (i >= s->types)
            return false;
        inner = s->type[i];
    } else if (msvc_name_take(m, "V") || msvc_name_take(m, "U") || msvc_name_take(m, "T") ||
               msvc_name_take(m, "W4")) {
        if (!qualified(m, s, depth + 1, &inner))
            return false;
    } else {
        if (!(name = simple_type(m)) || !msvc_name_put(m, name))
            return false;
        inner = since(m, at);
    }
    at = m->text.len;
    if (!put_span(m, inner))
        return false;
    for (; n; n -= 2)
        if (!msvc_name_put(m, around[n - 1]) || !msvc_name_put(m, around[n - 2]))
            return false;
    *out = since(m, at);
    if (m->p - start > 1 && s->types < SEEN_MAX)
        s->type[s->types++] = *out;
    return true;
}

/* Behind `?$`: name, arguments, `@`. */
static bool template_name(struct parser *m, struct seen *outer, unsigned depth, struct span *out)
{
    struct seen s = {0};
    struct span name, argument[PARTS_MAX];
    unsigned n = 0;
    size_t at = m->text.len;
    if (depth > DEPTH_MAX)
        return false;
    if (msvc_name_take(m, "?")) {
        const char *op = operator_name(m);
        if (!op || !msvc_name_put(m, op))
            return false;
        name = since(m, at);
    } else if (!plain(m, &s, &name)) {
        return false;
    }
    while (!msvc_name_take(m, "@")) {
        if (msvc_name_take(m, "$$V") || msvc_name_take(m, "$$Z") ||
            msvc_name_take(m, "$S")) /* an empty pack, the end of one */
            continue;
        if (n == PARTS_MAX ||
            !(msvc_name_take(m, "$0") ? msvc_name_number(m, &argument[n]) : type(m, &s, depth, &argument[n])))
            return false;
        n++;
    }
    at = m->text.len;
    if (!put_span(m, name) || !msvc_name_put(m, "<"))
        return false;
    for (unsigned i = 0; i < n; i++)
        if ((i && !msvc_name_put(m, ", ")) || !put_span(m, argument[i]))
            return false;
    if (!msvc_name_put(m, ">"))
        return false;
    *out = since(m, at);
    remember(m, outer, *out);
    return true;
}

/* A scope, or a name that is not special. */
static bool part(struct parser *m, struct seen *s, unsigned depth, struct span *out)
{
    size_t at = m->text.len;
    if (*m->p >= '0' && *m->p <= '9') {
        unsigned i = (unsigned)(*m->p++ - '0');
        *out = s->name[i < SEEN_MAX ? i : 0];
        return i < s->names;
    }
    if (msvc_name_take(m, "?$"))
        return template_name(m, s, depth + 1, out);
    if (msvc_name_take(m, "?A")) {
        const char *end = strchr(m->p, '@');
        if (!end || !msvc_name_put(m, "`anonymous namespace'"))
            return false;
        m->p = end + 1;
        *out = since(m, at);
        remember(m, s, *out);
        return true;
    }
    return *m->p != '?' && plain(m, s, out);
}

/* Scopes up to `@`, behind the innermost name, joined from the outside in. */
static bool join(struct parser *m, struct seen *s, unsigned depth, struct span *parts, unsigned n,
                 struct span *out)
{
    while (!msvc_name_take(m, "@")) {
        if (n == PARTS_MAX || !part(m, s, depth, &parts[n]))
            return false;
        n++;
    }
    size_t at = m->text.len;
    while (n--)
        if (!put_span(m, parts[n]) || (n && !msvc_name_put(m, "::")))
            return false;
    *out = since(m, at);
    return true;
}

static bool qualified(struct parser *m, struct seen *s, unsigned depth, struct span *out)
{
    struct span parts[PARTS_MAX];
    return depth <= DEPTH_MAX && part(m, s, depth, &parts[0]) && join(m, s, depth, parts, 1, out);
}

/* The name of all: it may be an operator, a constructor (?0) or a destructor (?1). */
static bool whole(struct parser *m, struct span *out)
{
    struct seen s = {0};
    struct span parts[PARTS_MAX];
    size_t at = m->text.len;
    if (*m->p != '?' || m->p[1] == '$')
        return qualified(m, &s, 0, out);
    m->p++;
    bool destructor = *m->p == '1';
    if (*m->p == '0' || destructor) {
        m->p++;
        if (!part(m, &s, 0, &parts[1]) || !msvc_name_put(m, destructor ? "~" : ""))
            return false;
        struct span class = parts[1];
        const char *open = memchr(m->text.data + class.at, '<', class.n);
        at = m->text.len - destructor;
        if (open)
            class.n = (size_t)(open - m->text.data) - class.at;
        if (!put_span(m, class))
            return false;
        parts[0] = since(m, at);
        return join(m, &s, 0, parts, 2, out);
    }
    const char *op = operator_name(m);
    if (!op || !msvc_name_put(m, op))
        return false;
    parts[0] = since(m, at);
    return join(m, &s, 0, parts, 1, out);
}

bool sp_msvc_name(const char *name, struct sp_buf *out)
{
    struct parser m = {.p = name + 1};
    struct span found;
    if (name[0] != '?')
        return false;
    sp_buf_init(&m.text, 0);
    bool ok = whole(&m, &found) && sp_buf_add(out, m.text.data + found.at, found.n);
    out->failed |= m.text.failed;
    sp_buf_free(&m.text);
    return ok;
}
