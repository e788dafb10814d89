#include "analysis/signature.h"

#include <string.h>

static bool signature_at(struct sp_str s, size_t i, const char *word)
{
    size_t n = strlen(word);
    return s.n - i >= n && memcmp(s.p + i, word, n) == 0;
}

static bool signature_is(char c, const char *of)
{
    return c && strchr(of, c);
}

size_t sp_name_word(struct sp_str s, size_t i)
{
    static const char anonymous[] = "(anonymous namespace)";
    if (signature_at(s, i, anonymous))
        return strlen(anonymous);
    if (signature_at(s, i, "->"))
        return 2;
    size_t n = strlen("operator");
    if (!signature_at(s, i, "operator"))
        return 0;
    if (signature_at(s, i + n, "()"))
        return n + 2;
    while (i + n < s.n && signature_is(s.p[i + n], "<>=-"))
        n++;
    return n;
}

/* The name without what it returns and takes: p[*from, *to). */
static void signature_plain(struct sp_str s, size_t *from, size_t *to)
{
    size_t depth = 0, start = 0, open = 0;
    bool in_operator = false;
    *from = 0;
    *to = s.n;
    for (size_t i = 0; i < s.n;) {
        size_t word = sp_name_word(s, i);
        char c = s.p[i];
        if (word) {
            in_operator = in_operator || (!depth && c == 'o');
            i += word;
            continue;
        }
        if (!depth && c == '(' && i > 0)
            open = i; /* the last one is the parameters' */
        if (!depth && c == ' ' && !in_operator && !open)
            start = i + 1;
        depth += signature_is(c, "<({[");
        depth -= depth && signature_is(c, ">)}]");
        i++;
    }
    const char *end = s.p + s.n;
    static const char *const tails[] = {" const", " volatile", " &", " &&", " noexcept", NULL};
    for (size_t i = 0; open && tails[i]; i++) /* behind the parameters */
        for (size_t n = strlen(tails[i]); (size_t)(end - s.p) > n && memcmp(end - n, tails[i], n) == 0; i = 0)
            end -= n;
    if (!open || end[-1] != ')') {
        /* "int shop::price<int>" as folded stacks have it, not any two words */
        for (size_t i = start; start && i < s.n; i++)
            *from = signature_at(s, i, "::") || s.p[i] == '<' ? start : *from;
        return;
    }
    *from = start < open ? start : 0;
    *to = open;
}

bool sp_has_parameters(struct sp_str name)
{
    size_t from, to;
    signature_plain(name, &from, &to);
    return to < name.n;
}

/* Without template arguments; of Rust's <T as Trait>::f the first brackets stay. */
static void signature_bare(struct sp_buf *out, struct sp_str s)
{
    size_t depth = 0, lead = s.n && s.p[0] == '<';
    for (size_t i = 0; i < s.n;) {
        size_t word = sp_name_word(s, i), n = word ? word : 1;
        depth += !word && s.p[i] == '<';
        if (!word && s.p[i] == '<' && depth == lead + 1 && out->len > 2 &&
            memcmp(out->data + out->len - 2, "::", 2) == 0)
            out->len -= 2; /* Rust's price::<u32> */
        if (depth <= lead)
            sp_buf_add(out, s.p + i, n);
        if (!word && s.p[i] == '>' && depth) {
            depth--;
            lead = depth ? lead : 0;
        }
        i += n;
    }
    while (out->len && out->data[out->len - 1] == ' ') /* "operator<< <char>" */
        out->len--;
}

static size_t signature_last(struct sp_str s)
{
    size_t depth = 0, from = 0;
    for (size_t i = 0; i < s.n;) {
        size_t word = sp_name_word(s, i);
        if (!word && !depth && signature_at(s, i, "::"))
            from = i + 2;
        depth += !word && signature_is(s.p[i], "<({[");
        depth -= !word && depth && signature_is(s.p[i], ">)}]");
        i += word ? word : 1;
    }
    return from < s.n ? from : 0;
}

void sp_name_form(struct sp_buf *out, struct sp_str name, enum sp_name_form form)
{
    size_t from, to;
    struct sp_buf b;
    signature_plain(name, &from, &to);
    struct sp_str s = {name.p + from, (uint32_t)(to - from)};
    if (form == SP_NAME_PLAIN) {
        sp_buf_add(out, s.p, s.n);
        return;
    }
    sp_buf_init(&b, 0);
    signature_bare(&b, s);
    s = (struct sp_str){b.data ? b.data : "", (uint32_t)b.len};
    size_t skip = form == SP_NAME_LAST ? signature_last(s) : 0;
    sp_buf_add(out, s.p + skip, s.n - skip);
    sp_buf_free(&b);
}
