/*
 * Demangling with libiberty.
 *
 * Mangled names are input: a few hundred bytes can stand for gigabytes (each argument twice the one
 * before, by back reference), and libiberty recurses. So:
 * - names are cut off at NAME_MAX_BYTES; libiberty's own recursion limit stays on (it then refuses C++
 *   names of more than 1 KiB, which stay as they are);
 * - C++ and Rust use the callback forms, which need no heap, and are left by longjmp when the text
 *   grows beyond SP_NAME_TEXT_MAX: a callback has no other way to say stop, and nothing is lost by it;
 * - names that it would search without a word are found before (demangle_cost.h);
 * - D has no callback form; what makes it grow is its back references (Q), so these are counted;
 * - it ends the process where D's names find no memory: the functions it calls for that are defined here, and
 *   leave by longjmp too (what it holds of the name, at most a few hundred bytes as a rule, is lost then).
 *
 * Around the mangled name: a symbol version or @plt is kept (`foo@@V1` is demangle(foo) + `@@V1`), and
 * the underscore that Mach-O puts before every name is taken off. The hash of Rust's legacy names
 * (`::h0123456789abcdef`) is left out by libiberty.
 */
#include "symbols/demangle.h"

#include "symbols/demangle_cost.h"

#include "symbols/msvc_name.h"

#include "base/num.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>

#define NAME_MAX_BYTES        ((size_t)8 << 10)
#define D_BACK_REFERENCES_MAX 40

struct catcher {
    struct sp_buf *out;
    size_t before;
    jmp_buf too_long;
};

static void demangle_take(const char *text, size_t n, void *opaque)
{
    struct catcher *c = opaque;
    if (n > SP_NAME_TEXT_MAX || c->out->len - c->before > SP_NAME_TEXT_MAX - n ||
        !sp_buf_add(c->out, text, n))
        longjmp(c->too_long, 1);
}

typedef int demangler(const char *, int, demangle_callbackref, void *);

static bool through_callback(demangler *f, const char *name, struct sp_buf *out)
{
    struct catcher c = {.out = out, .before = out->len};
    if (!setjmp(c.too_long) && f(name, DMGL_PARAMS | DMGL_ANSI, demangle_take, &c) && c.out->len > c.before)
        return true;
    c.out->len = c.before;
    return false;
}

/* Where to go when there is no memory for libiberty. */
static _Thread_local jmp_buf *no_memory;

/* Weak, so that a program that is linked with all of this may have its own. */
__attribute__((weak)) void *xrealloc(void *p, size_t n); /* NOLINT(readability-redundant-declaration): */
__attribute__((weak)) void *
xmalloc(size_t n); /* NOLINT(readability-redundant-declaration): weak here alone */

void *xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);
    if (!q && no_memory)
        longjmp(*no_memory, 1);
    if (!q)
        abort(); /* not called by us */
    return q;
}

void *xmalloc(size_t n)
{
    return xrealloc(NULL, n);
}

static char *d_text(const char *name)
{
    jmp_buf failed;
    char *volatile text = NULL;
    no_memory = &failed;
    if (!setjmp(failed))
        text = cplus_demangle(name, DMGL_DLANG | DMGL_PARAMS | DMGL_ANSI);
    no_memory = NULL;
    return text;
}

static bool d_name(const char *name, struct sp_buf *out)
{
    unsigned back_references = 0;
    for (const char *p = name; *p; p++)
        back_references += *p == 'Q';
    if (back_references > D_BACK_REFERENCES_MAX)
        return false;
    char *text = d_text(name);
    size_t n = text ? strlen(text) : 0;
    bool ok = n && n <= SP_NAME_TEXT_MAX && sp_buf_add(out, text, n);
    free(text);
    return ok;
}

static bool demangle_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The name proper, NUL-terminated, without what stands around it. */
static bool find_text(const char *name, struct sp_buf *out)
{
    if (name[0] != '_')
        return false;
    if (name[1] == '_' && (name[2] == 'Z' || name[2] == 'R'))
        name++;
    if (name[1] == 'R')
        return through_callback(rust_demangle_callback, name, out);
    if (name[1] == 'Z')
        return through_callback(rust_demangle_callback, name, out) ||
               (!sp_demangle_is_endless(name) && through_callback(cplus_demangle_v3_callback, name, out));
    if (name[1] == 'D' && (demangle_is_digit(name[2]) || !strcmp(name, "_Dmain")))
        return d_name(name, out);
    return false;
}

/* The same; a name that there was no memory for is not one that is not mangled. */
static bool bare(const char *name, struct sp_buf *out)
{
    errno = 0;
    bool ok = find_text(name, out);
    if (!ok && errno == ENOMEM)
        out->failed = out->nomem = true;
    return ok;
}

bool sp_demangle(const char *name, struct sp_buf *out)
{
    if (name[0] == '?')
        return sp_msvc_name(name, out);
    if (name[0] != '_')
        return false;
    size_t n = strnlen(name, NAME_MAX_BYTES + 1), before = out->len;
    if (n > NAME_MAX_BYTES)
        return false;
    const char *at = memchr(name, '@', n);
    if (!at)
        return bare(name, out);
    struct sp_buf head;
    sp_buf_init(&head, NAME_MAX_BYTES + 1);
    bool ok = sp_buf_add(&head, name, (size_t)(at - name)) && sp_buf_ch(&head, '\0') &&
              bare(head.data, out) && sp_buf_puts(out, at);
    out->failed = out->failed || head.failed;
    sp_buf_free(&head);
    if (!ok)
        out->len = before;
    return ok;
}

/* What a `$…$` escape at p stands for: its length, 0 when it is none. */
static size_t demangle_escape(const char *p, size_t n, struct sp_buf *out)
{
    static const struct {
        const char *code, *text;
    } names[] = {{"$SP$", "@"}, {"$BP$", "*"}, {"$RF$", "&"}, {"$LT$", "<"},
                 {"$GT$", ">"}, {"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t k = strlen(names[i].code);
        if (k <= n && memcmp(p, names[i].code, k) == 0) {
            sp_buf_puts(out, names[i].text);
            return k;
        }
    }
    uint64_t c;
    size_t digits = n > 4 && p[1] == 'u' ? sp_parse_hex(p + 2, p + (n < 8 ? n : 8), &c) : 0;
    if (!digits || digits + 2 >= n || p[2 + digits] != '$' || c < 0x20 || c >= 0x7f)
        return 0;
    sp_buf_ch(out, (char)c);
    return digits + 3;
}

/* Without " (.llvm.123)" and "::h0123456789abcdef" at its end. */
static size_t without_hash(const char *name, size_t n)
{
    uint64_t v;
    const char *llvm = memmem(name, n, " (.llvm.", 8);
    size_t end = llvm && name[n - 1] == ')' ? (size_t)(llvm - name) : n;
    if (end > 19 && memcmp(name + end - 19, "::h", 3) == 0 &&
        sp_parse_hex(name + end - 16, name + end, &v) == 16)
        return end - 19;
    return end == n ? n : end;
}

bool sp_demangle_escaped(const char *name, size_t n, struct sp_buf *out)
{
    size_t before = out->len, end = n && n <= NAME_MAX_BYTES ? without_hash(name, n) : n;
    bool any = end != n, start = true;
    if (!any && !memchr(name, '$', n))
        return false;
    for (size_t i = 0; i < end;) {
        size_t k = 0;
        if (name[i] == '$') {
            k = demangle_escape(name + i, end - i, out);
            any = any || k;
        } else if (start && name[i] == '_' && i + 1 < end && name[i + 1] == '$') {
            i++;
            start = false;
            continue;
        } else if (name[i] == '.' && i + 1 < end && name[i + 1] == '.') {
            sp_buf_puts(out, "::");
            k = 2;
        }
        start = i + 1 < end && name[i] == ':' && name[i + 1] != ':';
        if (!k)
            sp_buf_ch(out, name[i++]);
        i += k;
    }
    if (!any || out->failed)
        out->len = before;
    return any && !out->failed;
}
