/* Names as symbol tables have them, kept once each, and demangled once. */
#include "symbols/internal.h"

#include "model/functions.h"
#include "symbols/demangle.h"

#include <string.h>

bool sp_symbols_fail(struct sp_symbols *s, spaa_status st)
{
    if (st == SPAA_ERR_NOMEM)
        sp_nomem(s->d);
    if (st && !s->failed)
        s->failed = st;
    return false;
}

/* The demangled form of an interned name: SP_STR_FAIL when it is not mangled, SP_STR_NONE for want of memory.
 */
static uint32_t names_demangled(struct sp_symbols *s, uint32_t name)
{
    if (name >= s->plain.n) {
        if (!sp_vec_reserve(&s->plain, (size_t)name + 1))
            return SP_STR_NONE;
        memset(s->plain.v + s->plain.n, 0, (s->plain.cap - s->plain.n) * sizeof *s->plain.v);
        s->plain.n = s->plain.cap;
    }
    if (s->plain.v[name])
        return s->plain.v[name];
    struct sp_buf b;
    sp_buf_init(&b, 0);
    bool mangled = sp_demangle(sp_str_cstr(&s->names, name), &b);
    uint32_t id = mangled ? sp_intern(&s->names, b.data, b.len) : SP_STR_FAIL;
    bool failed = b.failed || (mangled && id == SP_STR_FAIL);
    sp_buf_free(&b);
    if (failed)
        return SP_STR_NONE;
    return s->plain.v[name] = id;
}

static bool names_intern(struct sp_symbols *s, const char *name, uint32_t *raw, uint32_t *plain)
{
    *raw = sp_intern_cstr(&s->names, name);
    *plain = *raw == SP_STR_FAIL ? SP_STR_NONE : names_demangled(s, *raw);
    if (*plain == SP_STR_NONE)
        sp_symbols_nomem(s);
    return *plain != SP_STR_NONE;
}

bool sp_symbols_names(struct sp_symbols *s, const char *name, struct sp_resolved *out)
{
    uint32_t raw, plain;
    if (!names_intern(s, name, &raw, &plain))
        return false;
    bool mangled = plain != SP_STR_FAIL && plain != raw;
    name = sp_str_cstr(&s->names, raw);
    out->func = mangled ? sp_str_cstr(&s->names, plain) : name;
    out->linkage = name;
    out->raw = mangled ? name : NULL;
    return true;
}

static struct sp_str names_str(const char *s)
{
    return (struct sp_str){s, (uint32_t)strlen(s)};
}

/* The last `n` of the closures, with the word and the number that later mangling has for all kinds of them.
 */
static void put_closures(struct sp_buf *b, const char *closures, size_t n)
{
    size_t all = 1;
    for (const char *p = closures; (p = strstr(p, "}::{")); p++)
        all++;
    for (; closures; all--) {
        const char *next = strstr(closures, "}::{"), *number = strchr(closures, '#');
        if (all <= n) {
            sp_buf_puts(b, "::{closure#");
            sp_buf_add(b, number ? number + 1 : "0", number ? strspn(number + 1, "0123456789") : 1);
            sp_buf_ch(b, '}');
        }
        closures = next ? next + 3 : NULL;
    }
}

/* "<app::main::{closure_env#0}, Vec<u8, alloc::alloc::Global>>" as later mangling has it. */
static void put_rust_arguments(struct sp_buf *b, const char *arguments)
{
    static const char env[] = "{closure_env#", usual[] = ", alloc::alloc::Global>";
    sp_buf_puts(b, "::");
    for (const char *p = arguments; *p;) {
        if (!strncmp(p, env, sizeof env - 1)) {
            sp_buf_puts(b, "{closure#");
            p += sizeof env - 1;
        } else if (!strncmp(p, usual, sizeof usual - 1)) { /* the argument that nobody writes */
            p += sizeof usual - 2;
        } else {
            sp_buf_ch(b, *p++);
        }
    }
}

/* "app::main::{{closure}}" with the closures' numbers, and the arguments of what they are in. */
static void put_generic(struct sp_buf *b, struct sp_str whole, const char *arguments, const char *closures)
{
    static const char word[] = "::{{closure}}";
    const uint32_t size = sizeof word - 1;
    size_t known = closures ? 1 : 0, n = 0;
    for (const char *p = closures; p && (p = strstr(p, "}::{")); p++)
        known++;
    while (n < known && whole.n > size && memcmp(whole.p + whole.n - size, word, size) == 0) {
        whole.n -= size;
        n++;
    }
    sp_buf_add(b, whole.p, whole.n);
    if (arguments)
        put_rust_arguments(b, arguments);
    if (n)
        put_closures(b, closures, n);
}

bool sp_symbols_arguments(struct sp_symbols *s, struct sp_resolved *r)
{
    const char *arguments = r->arguments, *closures = r->closures;
    r->arguments = r->closures = NULL;
    if ((!arguments && !closures) || !r->raw || !sp_linkage_is_hashed(names_str(r->raw)))
        return true;
    struct sp_buf b;
    sp_buf_init(&b, 64 << 10);
    put_generic(&b, sp_function_shown(names_str(r->func)), arguments, closures);
    uint32_t id = b.failed ? SP_STR_FAIL : sp_intern(&s->names, b.data, b.len);
    bool nomem = b.nomem || (!b.failed && id == SP_STR_FAIL);
    sp_buf_free(&b);
    if (nomem)
        return sp_symbols_nomem(s);
    r->func = id == SP_STR_FAIL ? r->func : sp_str_cstr(&s->names, id);
    return true;
}

const char *sp_symbols_demangle(struct sp_symbols *s, const char *name)
{
    uint32_t raw, plain;
    if (name[0] != '_' || !names_intern(s, name, &raw, &plain) || plain == SP_STR_FAIL)
        return NULL;
    return sp_str_cstr(&s->names, plain);
}
