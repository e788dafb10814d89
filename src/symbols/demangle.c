/*
 * Demangling with libiberty.
 *
 * Mangled names are input: a few hundred bytes can stand for gigabytes (each argument twice the one
 * before, by back reference), and libiberty recurses. So:
 * - names are cut off at NAME_MAX_BYTES; libiberty's own recursion limit stays on (it then refuses C++
 *   names of more than 1 KiB, which stay as they are);
 * - C++ and Rust use the callback forms, which need no heap, and are left by longjmp when the text
 *   grows beyond TEXT_MAX_BYTES: a callback has no other way to say stop, and nothing is lost by it;
 * - D has no callback form; what makes it grow is its back references (Q), so these are counted.
 *
 * Around the mangled name: a symbol version or @plt is kept (`foo@@V1` is demangle(foo) + `@@V1`), and
 * the underscore that Mach-O puts before every name is taken off. The hash of Rust's legacy names
 * (`::h0123456789abcdef`) is left out by libiberty.
 */
#include "symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>

#define NAME_MAX_BYTES        ((size_t)8 << 10)
#define TEXT_MAX_BYTES        ((size_t)64 << 10)
#define D_BACK_REFERENCES_MAX 40

struct catcher {
    struct sp_buf *out;
    size_t before;
    jmp_buf too_long;
};

static void take(const char *text, size_t n, void *opaque)
{
    struct catcher *c = opaque;
    if (n > TEXT_MAX_BYTES || c->out->len - c->before > TEXT_MAX_BYTES - n || !sp_buf_add(c->out, text, n))
        longjmp(c->too_long, 1);
}

typedef int demangler(const char *, int, demangle_callbackref, void *);

static bool through_callback(demangler *f, const char *name, struct sp_buf *out)
{
    struct catcher c = {.out = out, .before = out->len};
    if (!setjmp(c.too_long) && f(name, DMGL_PARAMS | DMGL_ANSI, take, &c) && c.out->len > c.before)
        return true;
    c.out->len = c.before;
    return false;
}

static bool d_name(const char *name, struct sp_buf *out)
{
    unsigned back_references = 0;
    for (const char *p = name; *p; p++)
        back_references += *p == 'Q';
    if (back_references > D_BACK_REFERENCES_MAX)
        return false;
    char *text = cplus_demangle(name, DMGL_DLANG | DMGL_PARAMS | DMGL_ANSI);
    size_t n = text ? strlen(text) : 0;
    bool ok = n && n <= TEXT_MAX_BYTES && sp_buf_add(out, text, n);
    free(text);
    return ok;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The name proper, NUL-terminated, without what stands around it. */
static bool bare(const char *name, struct sp_buf *out)
{
    if (name[0] != '_')
        return false;
    if (name[1] == '_' && (name[2] == 'Z' || name[2] == 'R'))
        name++;
    if (name[1] == 'R')
        return through_callback(rust_demangle_callback, name, out);
    if (name[1] == 'Z')
        return through_callback(rust_demangle_callback, name, out) ||
               through_callback(cplus_demangle_v3_callback, name, out);
    if (name[1] == 'D' && (is_digit(name[2]) || !strcmp(name, "_Dmain")))
        return d_name(name, out);
    return false;
}

bool sp_demangle(const char *name, struct sp_buf *out)
{
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
    sp_buf_free(&head);
    if (!ok)
        out->len = before;
    return ok;
}
