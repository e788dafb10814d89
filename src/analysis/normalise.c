#include "analysis/normalise.h"

#include <string.h>

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool normalise_hex(char c)
{
    return digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t normalise_count(const char *p, const char *end, bool (*is)(char))
{
    size_t n = 0;
    while (p + n < end && is(p[n]))
        n++;
    return n;
}

static bool normalise_starts(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

static bool normalise_ends(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(end - n, word, n) == 0;
}

/* ---- what stands at the end of a function's name ---- */

/* Bytes of ".word" or ".word.123" that end at `end`; 0: something else stands there. */
static size_t clone_suffix(const char *p, const char *end)
{
    static const char *const words[] = {".isra",   ".part",        ".constprop",  ".cold",
                                        ".llvm",   ".lto_priv",    ".localalias", ".__uniq",
                                        ".__part", ".specialized", ".clone",      NULL};
    const char *at = end;
    if (!memchr(p, '.', (size_t)(end - p)))
        return 0;
    while (at > p && normalise_hex(at[-1]))
        at--;
    if (at > p && at < end && at[-1] == '.')
        at--; /* the number, perhaps */
    else
        at = end;
    for (int pass = 0; pass < 2; pass++, at = end)
        for (size_t i = 0; words[i]; i++)
            if (normalise_ends(p, at, words[i]))
                return (size_t)(end - at) + strlen(words[i]);
    return 0;
}

/* Bytes of " [clone .isra.0]" at the end. */
static size_t clone_note(const char *p, const char *end)
{
    if (end == p || end[-1] != ']')
        return 0;
    const char *at = end - 1;
    while (at > p && *at != '[')
        at--;
    if (!normalise_starts(at, end, "[clone .") || at == p || at[-1] != ' ')
        return 0;
    const char *inner = at + strlen("[clone ");
    return clone_suffix(inner, end - 1) == (size_t)(end - 1 - inner) ? (size_t)(end - at) + 1 : 0;
}

/* Bytes of "::h0123456789abcdef". */
static size_t rust_hash(const char *p, const char *end)
{
    const char *at = end - 19;
    return end - p > 19 && normalise_starts(at, end, "::h") &&
                   normalise_count(at + 3, end, normalise_hex) == 16
               ? 19
               : 0;
}

/* Bytes of "@@GLIBC_2.34"; "@plt" is part of the name. */
static size_t symbol_version(const char *p, const char *end)
{
    const char *at = end;
    while (at > p && (digit(at[-1]) || at[-1] == '.' || at[-1] == '_' || (at[-1] >= 'A' && at[-1] <= 'Z')))
        at--;
    if (at == end || at == p || at[-1] != '@' || !digit(end[-1]))
        return 0;
    at -= at - p > 1 && at[-2] == '@' ? 2 : 1;
    return (size_t)(end - at);
}

/* Bytes of the number in "lambda$run$5", "_block_invoke_2", "GeneratedMethodAccessor12", "$Proxy7". */
static size_t end_number(const char *p, const char *end)
{
    const char *at = end;
    while (at > p && digit(at[-1]))
        at--;
    if (at == end)
        return 0;
    if (normalise_ends(p, at, "_block_invoke_"))
        return (size_t)(end - at) + 1;
    if (normalise_ends(p, at, "GeneratedMethodAccessor") || normalise_ends(p, at, "$Proxy"))
        return (size_t)(end - at);
    const char *last = at > p && at[-1] == '$' ? at - 1 : NULL;
    for (const char *q = last; q && q > p && q[-1] != '.' && q[-1] != ':'; q--)
        if (normalise_starts(q - 1, last, "lambda$"))
            return (size_t)(end - last);
    return 0;
}

/* Bytes of the numbers in Go's "main.run.func1", "main.run.func2.1", "main.run.gowrap1", "main.run-range1".
 */
static size_t go_number(const char *p, const char *end)
{
    static const char *const words[] = {".func", ".gowrap", ".deferwrap", "-range", NULL};
    const char *at = end;
    while (at > p && (digit(at[-1]) || (at[-1] == '.' && at < end && digit(*at))))
        at--;
    for (size_t i = 0; at < end && digit(*at) && words[i]; i++)
        if (normalise_ends(p, at, words[i]))
            return (size_t)(end - at);
    return 0;
}

/* Without what is counted, where `counters`; without suffixes in any case. */
static const char *cut_end(const char *p, const char *end, bool counters)
{
    for (;;) {
        size_t n = clone_suffix(p, end);
        n = n ? n : clone_note(p, end);
        n = n ? n : rust_hash(p, end);
        n = n ? n : symbol_version(p, end);
        n = n || !counters ? n : end_number(p, end);
        n = n || !counters ? n : go_number(p, end);
        if (!n || n >= (size_t)(end - p))
            return end;
        end -= n;
    }
}

/* ---- what stands within ---- */

/* Bytes of a counter at p that are taken out; *keep of them stay in front. 0: there is none. */
static size_t normalise_counter(const char *p, const char *end, bool in_braces, size_t *keep)
{
    static const char *const before[] = {"$_",      "'lambda", "'unnamed", "auto:", "__lambda",
                                         "._anon_", "._anon.", "<lambda_", NULL};
    size_t n;
    *keep = 0;
    if (*p == '#' && in_braces && (n = normalise_count(p + 1, end, digit)) > 0 &&
        (p + 1 + n == end || p[1 + n] == '}'))
        return 1 + n; /* {lambda(int)#2} */
    if (*p == '[' && normalise_count(p + 1, end, normalise_hex) == 16 && p + 17 < end && p[17] == ']')
        return 18; /* core[0123456789abcdef] */
    if (normalise_starts(p, end, "$$Lambda")) {
        const char *at = p + strlen("$$Lambda");
        if (at < end && *at == '$')
            at += 1 + normalise_count(at + 1, end, digit);
        if (normalise_starts(at, end, "/0x"))
            at += 3 + normalise_count(at + 3, end, normalise_hex);
        else if (at < end && *at == '/')
            at += 1 + normalise_count(at + 1, end, digit);
        *keep = strlen("$$Lambda");
        return (size_t)(at - p);
    }
    for (size_t i = 0; before[i]; i++) {
        if (!normalise_starts(p, end, before[i]))
            continue;
        size_t word = strlen(before[i]);
        n = normalise_count(p + word, end, before[i][0] == '<' ? normalise_hex : digit);
        *keep = before[i][word - 1] == ':' ? word - 1 : word;
        return n ? word + n : 0;
    }
    return 0;
}

static const char *cut_mark(struct sp_buf *out, const char *p, const char *end)
{
    static const char *const kinds[] = {"LazyCompile:", "Function:", "Script:", "Eval:", "JS:", NULL};
    for (size_t i = 0; kinds[i]; i++) {
        size_t n = strlen(kinds[i]);
        if (normalise_starts(p, end, kinds[i])) {
            sp_buf_add(out, p, n);
            p += n;
            return p < end && strchr("*~^+", *p) ? p + 1 : p;
        }
    }
    bool script = false, mark = strchr("~^+", *p) != NULL; /* "~run /srv/app.js:12:3", but not "~Thing()" */
    for (const char *q = p; mark && q < end && !script; q++)
        script = normalise_starts(q, end, "js:") || normalise_starts(q, end, "ts:") ||
                 normalise_starts(q, end, "node:");
    return end - p > 1 && (*p == '*' || script) ? p + 1 : p;
}

struct sp_str sp_without_suffixes(struct sp_str name)
{
    return (struct sp_str){name.p, (uint32_t)(cut_end(name.p, name.p + name.n, false) - name.p)};
}

void sp_normal_function(struct sp_buf *out, struct sp_str name)
{
    const char *p = name.p, *end = cut_end(name.p, name.p + name.n, true);
    size_t from = out->len;
    unsigned braces = 0;
    p = p < end ? cut_mark(out, p, end) : p;
    while (p < end) {
        static const char closure[] = "{{closure}}"; /* what Rust's v0 names have as {closure#0} */
        if (*p == '{' && normalise_starts(p, end, closure)) {
            sp_buf_puts(out, "{closure}");
            p += strlen(closure);
            continue;
        }
        size_t keep = 0, n = strchr("#[$'a_.<", *p) && *p ? normalise_counter(p, end, braces > 0, &keep) : 0;
        if (n) {
            sp_buf_add(out, p, keep);
            p += n;
            continue;
        }
        braces += *p == '{';
        braces -= braces && *p == '}';
        sp_buf_ch(out, *p++);
    }
    if (out->len == from)
        sp_buf_add(out, name.p, name.n);
}

/* ---- DSOs ---- */

/* The end without "-1.2.3", ".1", "3.11": a version is digits with a dot within, or after one where `any`. */
static const char *cut_version(const char *p, const char *end, bool any)
{
    const char *at = end;
    bool dots = false;
    while (at > p && (digit(at[-1]) || (at[-1] == '.' && at < end))) {
        at--;
        dots = dots || (*at == '.' && at > p && digit(at[-1]));
    }
    if (at < end && *at == '.')
        at++; /* ".1.2" began with a separator */
    bool after_dot = at > p && at < end && at[-1] == '.';
    if (at == end || !digit(*at) || !(dots || (any && after_dot)))
        return end;
    if (at > p && strchr("-._", at[-1]))
        at--;
    return at > p ? at : end;
}

struct sp_str sp_last_part(struct sp_str path)
{
    for (uint32_t i = path.n; i-- > 0;)
        if ((path.p[i] == '/' || path.p[i] == '\\') && i + 1 < path.n)
            return (struct sp_str){path.p + i + 1, path.n - i - 1};
    return path;
}

void sp_normal_dso(struct sp_buf *out, struct sp_str name)
{
    const char *p = name.p, *end = name.p + name.n;
    if (name.n && *p == '[') {
        bool kernel =
            normalise_starts(p, end, "[kernel.kallsyms]") || normalise_starts(p, end, "[guest.kernel");
        sp_buf_add(out, kernel ? "[kernel]" : p, kernel ? 8 : name.n);
        return;
    }
    p = sp_last_part(name).p;
    if (normalise_starts(p, end, "perf-") && normalise_ends(p, end, ".map")) {
        sp_buf_puts(out, "[jit]");
        return;
    }
    const char *so = NULL; /* ".so", followed by nothing or a version */
    for (const char *q = p; q + 3 <= end; q++)
        if (normalise_starts(q, end, ".so") && (q + 3 == end || q[3] == '.'))
            so = q;
    static const char *const kinds[] = {".dylib", ".dll", ".jar", ".exe", NULL};
    const char *tail = so;
    for (size_t i = 0; !tail && kinds[i]; i++)
        if (normalise_ends(p, end, kinds[i]) && end - p > (long)strlen(kinds[i]))
            tail = end - strlen(kinds[i]);
    const char *stem = tail ? tail : end;
    if (normalise_ends(p, stem, "-SNAPSHOT"))
        stem -= strlen("-SNAPSHOT");
    if (normalise_starts(p, stem, "vmlinux-") || normalise_starts(p, stem, "vmlinuz-"))
        stem = p + strlen("vmlinux");
    sp_buf_add(out, p, (size_t)(cut_version(p, stem, tail != NULL) - p));
    if (tail)
        sp_buf_add(out, tail, so ? 3 : (size_t)(end - tail));
}
