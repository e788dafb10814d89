#include "analysis/short_name.h"

#include "analysis/own_name.h"

#include <ctype.h>
#include <string.h>

/*
 * One pass over the name. What is copied is held back in `out` until all is understood: a name whose brackets
 * do not match is left as it is.
 */
struct shortening {
    const char *p, *end;
    struct sp_buf *out;
    size_t from;         /* where the name begins in out */
    size_t name_start;   /* where the function's name begins in out: behind a return type */
    size_t operator_end; /* behind the name of an operator in out; SIZE_MAX: none */
    unsigned kept;       /* open angle brackets that are no arguments: <T as Trait>::f */
    bool parameters;     /* some were dropped: what stands before the name is a return type */
    bool plain;          /* prefixes that are no return type: "non-virtual thunk to" */
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '~' || (unsigned char)c >= 0x80;
}

static char last_char(const struct shortening *s)
{
    return s->out->len > s->from ? s->out->data[s->out->len - 1] : '\0';
}

/* Behind "::"; a single colon parts a file or a module from a name, as in Python's "main:<module>". */
static bool behind_scope(const struct shortening *s)
{
    return s->out->len > s->from + 1 && memcmp(s->out->data + s->out->len - 2, "::", 2) == 0;
}

/* "operator" at p, as a word of its own. */
static bool at_operator(const struct shortening *s)
{
    return s->end - s->p > 8 && memcmp(s->p, "operator", 8) == 0 && !is_word(s->p[8]) &&
           !is_word(last_char(s));
}

/* The whole of an operator's name: operator<<, operator(), operator new. */
static void take_operator(struct shortening *s)
{
    sp_buf_add(s->out, s->p, 8);
    s->p += 8;
    if (s->end - s->p >= 2 && (memcmp(s->p, "()", 2) == 0 || memcmp(s->p, "[]", 2) == 0)) {
        sp_buf_add(s->out, s->p, 2);
        s->p += 2;
    }
    while (s->p < s->end && strchr("<>=!+-*/%^&|~,", *s->p))
        sp_buf_ch(s->out, *s->p++);
    if (s->p < s->end && *s->p == ' ' && last_char(s) == 'r') /* new, delete, a type */
        sp_buf_ch(s->out, *s->p++);
    else if (s->end - s->p > 1 && s->p[0] == ' ' && s->p[1] == '<')
        s->p++;
    s->operator_end = s->out->len;
}

/* Behind the bracket that closes the one at p; NULL: none does. */
static const char *short_name_close(const char *p, const char *end)
{
    unsigned round = 0, angle = 0;
    char open = *p;
    for (; p < end; p++) {
        bool arrow = *p == '>' && p[-1] == '-';
        if (*p == '(' || *p == '{')
            round++;
        else if (*p == ')' || *p == '}')
            round -= round > 0;
        else if (*p == '<' && open == '<' && !round)
            angle++;
        else if (*p == '>' && open == '<' && !round && !arrow)
            angle--;
        if (!round && !angle)
            return p + 1;
    }
    return NULL;
}

/* What may follow parameters: nothing, qualifiers, a scope, what compilers and tools add in brackets. */
static bool may_follow(const char *p, const char *end)
{
    static const char *const words[] = {"::", "#", " const", " volatile", " &", " noexcept",
                                        " [", "[", ".",      "}",         "@",  " ("};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((size_t)(end - p) >= strlen(words[i]) && memcmp(p, words[i], strlen(words[i])) == 0)
            return true;
    return p == end;
}

static void skip_qualifiers(struct shortening *s)
{
    static const char *const words[] = {" const", " volatile", " &&", " &", " noexcept"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(s->end - s->p) >= n && memcmp(s->p, words[i], n) == 0 && may_follow(s->p + n, s->end)) {
            s->p += n;
            i = SIZE_MAX; /* from the first word again */
        }
    }
}

/* A list of parameters, dropped; false: it is something else, and the name is not understood. */
static bool drop_parameters(struct shortening *s)
{
    const char *end = short_name_close(s->p, s->end);
    if (!end || !may_follow(end, s->end))
        return false;
    s->p = end;
    s->parameters = true;
    skip_qualifiers(s);
    return true;
}

static bool elide_arguments(struct shortening *s)
{
    const char *end = short_name_close(s->p, s->end);
    if (!end)
        return false;
    sp_buf_puts(s->out, end == s->p + 2 ? "<>" : "<…>");
    s->p = end;
    return true;
}

/* One piece of the name; false: it is not understood. */
static bool short_name_step(struct shortening *s, enum sp_shortness how)
{
    char c = *s->p, before = last_char(s);
    if (c == 'o' && at_operator(s)) {
        take_operator(s);
        return true;
    }
    if (c == '<' && (is_word(before) || before == ':' || strchr("<>=!+-*/%^&|~,)", before)) && before &&
        !(before == ':' && (!behind_scope(s) || memmem(s->p, (size_t)(s->end - s->p), " as ", 4))))
        return elide_arguments(s);
    if (c == '<')
        s->kept++;
    if (c == '>' && before != '-') {
        if (!s->kept)
            return false;
        s->kept--;
    }
    bool group = c == '(' && !s->kept && how == SP_SHORTEST;
    if (group && (is_word(before) || s->operator_end == s->out->len || (before && strchr(">)]}", before))))
        return drop_parameters(s);
    if (group && before == ' ') /* of a pointer to a function, or of another language */
        return false;
    if (c == '(') { /* (anonymous namespace), (*Type): as it is */
        const char *end = short_name_close(s->p, s->end);
        if (!end)
            return false;
        sp_buf_add(s->out, s->p, (size_t)(end - s->p));
        s->p = end;
        return true;
    }
    sp_buf_ch(s->out, c);
    s->p++;
    if (c == ' ' && !s->kept && !s->parameters)
        s->name_start = s->out->len;
    return true;
}

/* "py::score:/srv/p.py", as CPython calls its trampolines, is "score p.py"; false: it is another name. */
static bool short_python(struct sp_buf *out, const char *p, size_t n, enum sp_shortness how)
{
    struct sp_str file = sp_own_name_file((struct sp_str){p, (uint32_t)n});
    if (n < 5 || memcmp(p, "py::", 4) != 0 || !file.n || file.p < p + 6)
        return false;
    const char *slash = how == SP_SHORTEST ? memrchr(file.p, '/', file.n) : NULL;
    const char *from = slash && slash + 1 < file.p + file.n ? slash + 1 : file.p;
    sp_buf_add(out, p + 4, (size_t)(file.p - 1 - (p + 4)));
    sp_buf_ch(out, ' ');
    sp_buf_add(out, from, (size_t)(file.p + file.n - from));
    return true;
}

/*
 * "sortRows /srv/app/render.js:11:18" is "sortRows render.js:11", and with its column where that is not
 * enough; false: the name has no such place.
 */
static bool short_script(struct sp_buf *out, const char *p, size_t n, enum sp_shortness how)
{
    struct sp_str file = sp_own_name_file((struct sp_str){p, (uint32_t)n});
    const char *end = p + n, *behind = file.n ? file.p + file.n : end;
    const char *begin = behind < end ? memrchr(p, ' ', (size_t)(file.p - p)) : NULL;
    if (behind == end || *behind != ':' || (!begin && *p != '/' && *p != 'f' && *p != 'n'))
        return false;
    const char *column = memchr(behind + 1, ':', (size_t)(end - behind - 1));
    struct sp_str base = {file.p, file.n};
    const char *slash = memrchr(file.p, '/', file.n);
    if (slash)
        base = (struct sp_str){slash + 1, (uint32_t)(behind - slash - 1)};
    if (!column || !base.n || end[-1] == ')')
        return false;
    if (begin)
        sp_buf_add(out, p, (size_t)(begin + 1 - p));
    sp_buf_add(out, base.p, base.n);
    sp_buf_add(out, behind, (size_t)((how == SP_SHORTEST ? column : end) - behind));
    return true;
}

void sp_short_name(struct sp_buf *out, const char *p, size_t n, enum sp_shortness how)
{
    if (how != SP_WHOLE_NAME && n && n < UINT32_MAX &&
        (short_python(out, p, n, how) || short_script(out, p, n, how)))
        return;
    struct shortening s = {
        .p = p, .end = p + n, .operator_end = SIZE_MAX, .out = out, .from = out->len, .name_start = out->len};
    bool odd = how == SP_WHOLE_NAME || (!memchr(p, '<', n) && !memchr(p, '(', n)) ||
               (n > 1 && (p[0] == '-' || p[0] == '+') && p[1] == '['); /* of Objective C */
    s.plain = memmem(p, n, " to ", 4) || memmem(p, n, " for ", 5);
    while (!odd && s.p < s.end && !out->failed)
        odd = !short_name_step(&s, how);
    if (odd || s.kept || out->len == s.from) {
        out->len = s.from;
        sp_buf_add(out, p, n);
    } else if (s.parameters && !s.plain && s.name_start > s.from) {
        size_t cut = s.name_start - s.from;
        memmove(out->data + s.from, out->data + s.name_start, out->len - s.name_start);
        out->len -= cut;
    }
}

struct sp_str sp_short_dso(const char *p, size_t n)
{
    const char *slash = n && *p == '/' ? memrchr(p, '/', n) : NULL;
    size_t at = slash && slash + 1 < p + n ? (size_t)(slash + 1 - p) : 0;
    return (struct sp_str){p + at, (uint32_t)(n - at)};
}
