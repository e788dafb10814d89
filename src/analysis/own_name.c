#include "analysis/own_name.h"

#include <string.h>

static bool own_name_at(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

static bool own_name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static bool own_name_digits(const char *p, const char *end)
{
    for (; p < end; p++)
        if (*p < '0' || *p > '9')
            return false;
    return true;
}

/* ---- files in names ---- */

/* "a/b.py:12" without its line, and "a/b.js:3:1" without both. */
static struct sp_str without_lines(const char *p, const char *end)
{
    for (int i = 0; i < 2; i++) {
        const char *colon = end;
        while (colon > p && colon[-1] != ':')
            colon--;
        if (colon == p || colon == end || !own_name_digits(colon, end))
            break;
        end = colon - 1;
    }
    return (struct sp_str){p, (uint32_t)(end - p)};
}

static bool own_name_ends(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n > n && memcmp(s.p + s.n - n, with, n) == 0;
}

static bool is_script(struct sp_str f)
{
    static const char *const kinds[] = {".js",  ".mjs", ".cjs", ".ts", ".tsx",
                                        ".jsx", ".py",  ".pyx", ".rb", ".php"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (own_name_ends(f, kinds[i]))
            return true;
    return own_name_at(f.p, f.p + f.n, "node:") || own_name_at(f.p, f.p + f.n, "<frozen ");
}

struct sp_str sp_own_name_file(struct sp_str name)
{
    const struct sp_str none = {"", 0};
    const char *p = name.p, *end = name.p + name.n, *from = end;
    if (p == end)
        return none;
    if (own_name_at(p, end, "py::")) {
        const char *colon = memchr(p + 4, ':', (size_t)(end - p - 4));
        return colon ? (struct sp_str){colon + 1, (uint32_t)(end - colon - 1)} : none;
    }
    if (end > p && end[-1] == ')') {
        while (from > p && from[-1] != '(')
            from--;
        end--;
    } else {
        while (from > p && from[-1] != ' ')
            from--;
    }
    bool whole = from == p && (*p == '/' || own_name_at(p, end, "file:") || own_name_at(p, end, "node:"));
    if (!whole && (from - p < 2 || (from[-1] == '(' && from[-2] != ' ')))
        return none;
    struct sp_str file = without_lines(from, end);
    if (own_name_at(file.p, file.p + file.n, "file://"))
        file = (struct sp_str){file.p + 7, file.n - 7};
    return is_script(file) ? file : none;
}

/* ---- plain names ---- */

struct walk {
    const char *p, *end;
    struct sp_buf *out;
    size_t start; /* of the name, in out */
};

/* One past the bracket that closes the one at p; end where none does. */
static const char *closed(const char *p, const char *end)
{
    size_t depth = 0;
    for (; p < end; p++) {
        if (*p == '(' || *p == '[' || *p == '{' || *p == '<')
            depth++;
        else if (*p == ')' || *p == ']' || *p == '}' || (*p == '>' && p[-1] != '-'))
            depth -= depth > 0;
        if (!depth)
            return p + 1;
    }
    return end;
}

/* How long the symbol of an operator is: `<` after it begins template arguments. */
static size_t own_name_symbol_at(const char *p, const char *end)
{
    static const char *const symbols[] = {
        "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
        "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "^=", "&=", "|=", "->", NULL};
    for (const char *const *s = symbols; *s; s++)
        if (own_name_at(p, end, *s))
            return strlen(*s);
    return p < end && strchr("<>=!+-*/%^&|~,", *p) ? 1 : 0;
}

/* "operator<< ", "operator()", "operator new[]", "operator std::string": all of it. */
static void take_operator(struct walk *w)
{
    const char *p = w->p + 8;
    if (own_name_at(p, w->end, "()") || own_name_at(p, w->end, "[]")) {
        p += 2;
    } else if (p < w->end && *p == ' ') {
        while (p < w->end && *p != '(')
            p = *p == '<' ? closed(p, w->end) : p + 1;
    } else {
        p += own_name_symbol_at(p, w->end);
    }
    sp_buf_add(w->out, w->p, (size_t)(p - w->p));
    if (own_name_at(p, w->end, " <"))
        p++; /* operator< <T> */
    w->p = p;
}

/* At a parenthesis: false where it begins the parameters, which end the name. */
static bool take_parenthesis(struct walk *w)
{
    const char *p = w->p, *after = closed(p, w->end);
    size_t n = w->out->len - w->start;
    const char *before = n ? w->out->data + w->out->len : "";
    if (own_name_at(p, w->end, "(anonymous")) {
        sp_buf_add(w->out, p, (size_t)(after - p));
    } else if (!n) { /* of a pointer to a function: (*f(int))(char) */
        after = p + 1;
        while (after < w->end && (*after == '*' || *after == '&'))
            after++;
    } else if (before[-1] == '.') { /* Go: pkg.(*T).f */
        sp_buf_add(w->out, p, (size_t)(after - p));
    } else if (!(n == 8 && memcmp(before - 8, "decltype", 8) == 0)) {
        const char *q = after; /* f(int) const::{lambda()#1} goes on */
        if (own_name_at(q, w->end, " const"))
            q += 6;
        if (!own_name_at(q, w->end, "::"))
            return false;
        after = q;
    }
    w->p = after;
    return true;
}

static bool is_operator(const struct walk *w)
{
    size_t n = w->out->len - w->start;
    return own_name_at(w->p, w->end, "operator") && !(w->end - w->p > 8 && own_name_letter(w->p[8])) &&
           (!n || !own_name_letter(w->out->data[w->out->len - 1]));
}

/* One step; false: the name ends here. */
static bool own_name_step(struct walk *w)
{
    char c = *w->p;
    if (is_operator(w)) {
        take_operator(w);
    } else if (c == '(') {
        return take_parenthesis(w);
    } else if (c == '<' && w->out->len > w->start) {
        w->p = closed(w->p, w->end);
    } else if (c == '{' || c == '[' || c == '<') {
        const char *after = closed(w->p, w->end);
        bool abi = own_name_at(w->p, w->end, "[abi:");
        const char *args = c == '{' ? memchr(w->p, '(', (size_t)(after - w->p)) : NULL;
        if (args) { /* {lambda(int)#1} */
            sp_buf_add(w->out, w->p, (size_t)(args - w->p));
            args = closed(args, after);
            sp_buf_add(w->out, args, (size_t)(after - args));
        } else if (!abi) {
            sp_buf_add(w->out, w->p, (size_t)(after - w->p));
        }
        w->p = after;
    } else if (c == ' ') {
        bool decltypes = w->out->len - w->start == 8 && memcmp(w->out->data + w->start, "decltype", 8) == 0;
        if (own_name_at(w->p, w->end, " [clone ") || own_name_at(w->p, w->end, " [."))
            return false;
        w->p = decltypes && w->p[1] == '(' ? closed(w->p + 1, w->end) : w->p + 1;
        w->out->len = w->start;
    } else if (own_name_at(w->p, w->end, "__cxx11::") ||
               (own_name_at(w->p, w->end, "__1::") && w->out->len > w->start)) {
        w->p += c == '_' && w->p[2] == 'c' ? 9 : 5;
    } else {
        sp_buf_ch(w->out, c);
        w->p++;
    }
    return true;
}

/* `<a::T<b::U> as c::V<d>>::f` without the arguments of the type and the trait. */
static void plain_impl(struct sp_buf *out, struct sp_str name)
{
    size_t depth = 0;
    for (uint32_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool close = c == '>' && !(i && name.p[i - 1] == '-');
        if (c == '<')
            depth++;
        if (depth <= 1)
            sp_buf_ch(out, c);
        if (close && depth)
            depth--;
    }
}

/* What is left of `a::<T>::b` and `f::<T>`. */
static void close_gaps(struct sp_buf *out, size_t start)
{
    size_t n = start;
    for (size_t i = start; i < out->len; i++) {
        if (n - start >= 2 && i + 2 <= out->len && memcmp(out->data + i, "::", 2) == 0 &&
            out->data[n - 1] == ':' && out->data[n - 2] == ':') {
            i++;
            continue;
        }
        out->data[n++] = out->data[i];
    }
    out->len = n;
    if (n - start > 2 && out->data[n - 1] == ':' && out->data[n - 2] == ':')
        out->len -= 2;
}

/* `_$LT$T$u20$as$u20$core..fmt..Display$GT$::fmt::h0123` as far as it matters here. */
static void unescape(struct sp_buf *out, struct sp_str name)
{
    static const char *const codes[][2] = {{"$LT$", "<"},  {"$GT$", ">"},  {"$u20$", " "}, {"$RF$", "&"},
                                           {"$u27$", "'"}, {"$C$", ","},   {"$LP$", "("},  {"$RP$", ")"},
                                           {"$u7b$", "{"}, {"$u7d$", "}"}, {"$BP$", "*"},  {"$u5b$", "["},
                                           {"$u5d$", "]"}, {"..", "::"}};
    const char *p = name.p, *end = p + name.n;
    if (own_name_at(p, end, "_$"))
        p++;
    while (p < end) {
        size_t i = 0, n = sizeof codes / sizeof *codes;
        while (i < n && !own_name_at(p, end, codes[i][0]))
            i++;
        if (i == n) {
            sp_buf_ch(out, *p++);
            continue;
        }
        sp_buf_puts(out, codes[i][1]);
        p += strlen(codes[i][0]);
    }
}

void sp_own_plain_name(struct sp_buf *out, struct sp_str name)
{
    static const char *const before[] = {
        "non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to ",
        "guard variable for ",   "vtable for ",       "typeinfo for "};
    struct walk w = {name.p, name.p + name.n, out, out->len};
    struct sp_buf text;
    sp_buf_init(&text, UINT32_MAX);
    if (own_name_at(w.p, w.end, "_$LT$")) {
        unescape(&text, name);
        name = (struct sp_str){sp_buf_text(&text), (uint32_t)text.len};
        w.p = name.p;
        w.end = name.p + name.n;
    }
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (own_name_at(w.p, w.end, before[i]))
            w.p += strlen(before[i]);
    struct sp_str type, trait;
    if (sp_own_impl(name, &type, &trait)) {
        plain_impl(out, name);
    } else if (sp_own_name_file(name).n) {
        sp_buf_add(out, name.p, name.n);
    } else {
        while (w.p < w.end && own_name_step(&w)) {
        }
        if (out->len == w.start) /* nothing but what is left out */
            sp_buf_add(out, name.p, name.n);
    }
    close_gaps(out, w.start);
    out->failed = out->failed || text.failed;
    out->nomem = out->nomem || text.nomem;
    sp_buf_free(&text);
}

/* ---- impls of Rust ---- */

/* The path in `&'a mut [dyn a::T<U>]`: a::T; of what has none, n 0. */
static struct sp_str own_name_path_of(const char *p, const char *end)
{
    static const char *const before[] = {"&", "*const ", "*mut ", "mut ", "dyn ", "impl ", "[", "(", " "};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        if (*p == '\'' && p < end) { /* a lifetime */
            while (p < end && *p != ' ')
                p++;
            i = 0;
        }
        if (own_name_at(p, end, before[i])) {
            p += strlen(before[i]);
            i = (size_t)-1;
        }
    }
    const char *q = p;
    while (q < end && (own_name_letter(*q) || *q == ':'))
        q++;
    struct sp_str path = {p, (uint32_t)(q - p)};
    return memmem(path.p, path.n, "::", 2) ? path : (struct sp_str){"", 0};
}

/* Where " as " or " for " stands outside of inner brackets; NULL: nowhere. */
static const char *word_in(const char *p, const char *end, const char *word)
{
    for (; p < end; p++) {
        if (*p == '<' || *p == '(' || *p == '[' || *p == '{')
            p = closed(p, end) - 1;
        else if (own_name_at(p, end, word))
            return p;
    }
    return NULL;
}

bool sp_own_impl(struct sp_str name, struct sp_str *type, struct sp_str *trait)
{
    const char *p = name.p, *end = name.p + name.n;
    if (name.n < 3 || *p != '<' || own_name_at(p, end, "<lambda") || own_name_at(p, end, "<frozen"))
        return false;
    const char *after = closed(p, end);
    if (!own_name_at(after, end, "::"))
        return false;
    p++;
    end = after - 1;
    bool impl = own_name_at(p, end, "impl ");
    const char *split = word_in(impl ? p + 5 : p, end, impl ? " for " : " as ");
    *type = *trait = (struct sp_str){"", 0};
    if (split && impl) {
        *trait = own_name_path_of(p + 5, split);
        *type = own_name_path_of(split + 5, end);
    } else {
        *type = own_name_path_of(impl ? p + 5 : p, split ? split : end);
        if (split)
            *trait = own_name_path_of(split + 4, end);
    }
    return true;
}

/* ---- packages of Go ---- */

struct sp_str sp_own_go_package(struct sp_str name)
{
    uint32_t n = 0, from = 0;
    for (; n < name.n && name.p[n] != '(' && name.p[n] != '['; n++)
        if (name.p[n] == '/')
            from = n;
    for (uint32_t i = from; i < n; i++)
        if (name.p[i] == '.')
            return (struct sp_str){name.p, i};
    return (struct sp_str){name.p, 0};
}
