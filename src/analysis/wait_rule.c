#include "analysis/wait_rule.h"

#include "analysis/own_name.h"

enum {
    UNSURE = 0x80,
    SP_WAIT_UNSURE_CONDITION = SP_WAIT_CONDITION | UNSURE,
    SP_WAIT_UNSURE_DISK = SP_WAIT_DISK | UNSURE
};
enum { CODE, KERNEL, IMAGE };
#define WAIT_RULE(where, name, reason, rank, idle)                                                           \
    {name,                                                                                                   \
     SP_WAIT_##reason & ~UNSURE,                                                                             \
     rank,                                                                                                   \
     (where) == KERNEL,                                                                                      \
     (where) == IMAGE,                                                                                       \
     idle,                                                                                                   \
     (SP_WAIT_##reason & UNSURE) != 0 || (int)SP_WAIT_##reason == (int)SP_WAIT_FUTEX},
const struct sp_wait_rule sp_wait_rules[] = {
#include "analysis/wait_reasons.def"
    {0},
};

static bool begins(struct sp_str s, const char *with)
{
    size_t n = strlen(with);
    return s.n >= n && memcmp(s.p, with, n) == 0;
}

static bool rule_fits(const char *pattern, struct sp_str name)
{
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*')
        return name.n >= n - 1 && memcmp(name.p, pattern, n - 1) == 0;
    return name.n == n && memcmp(name.p, pattern, n) == 0;
}

static struct sp_str cut_at(struct sp_str s, char c)
{
    const char *end = s.n ? memchr(s.p, c, s.n) : NULL;
    return end && end > s.p ? (struct sp_str){s.p, (uint32_t)(end - s.p)} : s;
}

/* Classes of Java as machine code of the JVM has them: "Ljava/lang/Object;::wait" is java.lang.Object.wait.
 */
static struct sp_str java_name(struct sp_str name, struct sp_buf *b)
{
    static const char *const packages[] = {"java/", "jdk/", "sun/", NULL};
    struct sp_str s = begins(name, "L") ? (struct sp_str){name.p + 1, name.n - 1} : name;
    for (size_t i = 0; packages[i]; i++) {
        if (!begins(s, packages[i]))
            continue;
        sp_buf_clear(b);
        for (uint32_t k = 0; k < s.n && s.p[k] != '('; k++) {
            if (s.p[k] == ';' || (s.p[k] == ':' && k + 1 < s.n && s.p[k + 1] == ':'))
                continue;
            sp_buf_ch(b, s.p[k] == '/' || s.p[k] == ':' ? '.' : s.p[k]);
        }
        return (struct sp_str){sp_buf_text(b), (uint32_t)b->len};
    }
    return name;
}

/* Names of Go, of Java and of C stand as they are; C++ and Rust lose parameters and template arguments. */
static struct sp_str code_name(struct sp_str name, struct sp_buf *b)
{
    struct sp_str java = java_name(name, b);
    if (java.p != name.p)
        return java;
    name = cut_at(name, '@');
    if (begins(name, "__GI_"))
        name = (struct sp_str){name.p + 5, name.n - 5};
    if (begins(name, "__libc_"))
        name = (struct sp_str){name.p + 7, name.n - 7};
    while (name.n > 1 && *name.p == '_')
        name = (struct sp_str){name.p + 1, name.n - 1};
    bool simple = !memchr(name.p, ':', name.n) && !memchr(name.p, ' ', name.n);
    if (simple) /* parameters of C++ and what compilers put behind C's, but not receivers of Go */
        return memchr(name.p, '.', name.n) || memchr(name.p, '*', name.n) ? name : cut_at(name, '(');
    sp_buf_clear(b);
    sp_own_plain_name(b, name);
    return (struct sp_str){sp_buf_text(b), (uint32_t)b->len};
}

struct sp_str sp_wait_call_name(struct sp_str name, bool kernel, struct sp_buf *scratch)
{
    sp_buf_clear(scratch);
    struct sp_str s = kernel ? name : code_name(name, scratch);
    return kernel ? cut_at(s, '.') : s;
}

const struct sp_wait_rule *sp_wait_rule_of(struct sp_str name, bool kernel, struct sp_buf *scratch)
{
    const struct sp_wait_rule *best = NULL;
    if (!name.n)
        return NULL;
    struct sp_str s = kernel ? cut_at(name, '.') : code_name(name, scratch);
    struct sp_str bare = kernel ? s : cut_at(s, '.'); /* .constprop.0 */
    for (const struct sp_wait_rule *r = sp_wait_rules; r->name; r++)
        if (r->kernel == kernel && !r->image && (!best || r->rank > best->rank) &&
            (rule_fits(r->name, s) || rule_fits(r->name, bare)))
            best = r;
    return best;
}

static const struct sp_wait_rule *rule_of_image(struct sp_str name)
{
    for (const struct sp_wait_rule *r = sp_wait_rules; r->name; r++)
        if (r->image && rule_fits(r->name, name))
            return r;
    return NULL;
}

const struct sp_wait_rule *sp_wait_rule_of_function(const struct sp_profile *p, uint32_t function,
                                                    bool kernel, struct sp_buf *scratch)
{
    const struct sp_function *f = &p->functions.v[function];
    const struct sp_wait_rule *r = sp_wait_rule_of(sp_pstr(p, f->name), kernel, scratch);
    return r || !kernel ? r : rule_of_image(sp_pstr(p, p->dsos.v[f->dso].name));
}
