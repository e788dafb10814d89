#include "analysis/owner_names.h"

#include "analysis/own_name.h"
#include "analysis/redacted_name.h"
#include "symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

enum how {
    IS,
    BEGINS,
    ENDS,
    JEMALLOC,
    TCMALLOC,
    RUST,
    TRAIT,
    GO,
    GO_NAME,
    LIBRARY,
    BINARY,
    HOLDS,
    BEGINS_FILE
};
/* What is compared: words of a group that begin alike are a chain, in the order of the table. */
enum group { NAMES, ENDINGS, RUST_PATHS, TRAITS, PACKAGES, GO_NAMES, BINARIES, SOURCES, GROUPS };

enum { CHAINS = 1024 };

static const struct owner_rule {
    const char *words;
    uint8_t kind, how;
} rules[] = {
#define SP_OWNER(kind, how, words) {words, SP_##kind, how},
#include "analysis/owners.def"
#undef SP_OWNER
};

struct owner_word {
    struct sp_str text;
    uint16_t next; /* 1 + number of the next word in the chain; 0: none */
    uint8_t kind, how;
};

struct sp_owner_names {
    SP_VEC(struct owner_word) words;
    uint16_t first[GROUPS][CHAINS], last[GROUPS][CHAINS]; /* 1 + number */
    struct sp_buf plain, mangled, demangled;
};

static enum group group_of(enum how how)
{
    static const unsigned char groups[] = {
        [IS] = NAMES,           [BEGINS] = NAMES,     [ENDS] = ENDINGS,    [JEMALLOC] = NAMES,
        [TCMALLOC] = NAMES,     [RUST] = RUST_PATHS,  [TRAIT] = TRAITS,    [GO] = PACKAGES,
        [GO_NAME] = GO_NAMES,   [LIBRARY] = BINARIES, [BINARY] = BINARIES, [HOLDS] = SOURCES,
        [BEGINS_FILE] = SOURCES};
    return (enum group)groups[how];
}

/* By the first two bytes; words that are compared with all of a name, or its end, have none to go by. */
static size_t chain_of(enum group g, struct sp_str s)
{
    if (g == ENDINGS || g == TRAITS || g == SOURCES || s.n < 2)
        return 0;
    return ((size_t)(unsigned char)s.p[0] * 37 + (unsigned char)s.p[1]) % CHAINS;
}

static bool add_word(struct sp_owner_names *t, struct sp_str text, const struct owner_rule *r)
{
    enum group g = group_of((enum how)r->how);
    size_t chain = chain_of(g, text);
    struct owner_word word = {text, 0, r->kind, r->how};
    if (t->words.n >= UINT16_MAX || !sp_vec_push(&t->words, word))
        return false;
    uint16_t number = (uint16_t)t->words.n;
    if (t->last[g][chain])
        t->words.v[t->last[g][chain] - 1].next = number;
    else
        t->first[g][chain] = number;
    t->last[g][chain] = number;
    return true;
}

struct sp_owner_names *sp_owner_names(void)
{
    struct sp_owner_names *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    sp_buf_init(&t->plain, UINT32_MAX);
    sp_buf_init(&t->mangled, UINT32_MAX);
    sp_buf_init(&t->demangled, UINT32_MAX);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        for (const char *p = rules[i].words; *p;) {
            size_t n = strcspn(p, "|");
            if (!add_word(t, (struct sp_str){p, (uint32_t)n}, &rules[i])) {
                sp_owner_names_free(t);
                return NULL;
            }
            p += n + (p[n] == '|');
        }
    }
    return t;
}

void sp_owner_names_free(struct sp_owner_names *t)
{
    if (!t)
        return;
    sp_vec_free(&t->words);
    sp_buf_free(&t->plain);
    sp_buf_free(&t->mangled);
    sp_buf_free(&t->demangled);
    free(t);
}

bool sp_owner_names_failed(const struct sp_owner_names *t)
{
    return t->plain.nomem || t->mangled.nomem || t->demangled.nomem;
}

/* ---- comparing ---- */

static bool owner_begins(struct sp_str s, struct sp_str with)
{
    return s.n >= with.n && memcmp(s.p, with.p, with.n) == 0;
}

static bool owner_ends(struct sp_str s, struct sp_str with)
{
    return s.n >= with.n && memcmp(s.p + s.n - with.n, with.p, with.n) == 0;
}

/* "internal/" is the package internal and all beneath it, "internal" that one alone. */
static bool is_package(struct sp_str s, struct sp_str with)
{
    bool beneath = with.n && with.p[with.n - 1] == '/';
    return owner_begins(s, with) ? beneath || s.n == with.n
                                 : beneath && s.n == with.n - 1 && memcmp(s.p, with.p, s.n) == 0;
}

static bool owner_fits(const struct owner_word *w, struct sp_str s, unsigned signs)
{
    switch ((enum how)w->how) {
    case IS:
    case BINARY:
        return s.n == w->text.n && memcmp(s.p, w->text.p, s.n) == 0;
    case ENDS:
    case TRAIT:
        return owner_ends(s, w->text);
    case HOLDS:
        return s.n && memmem(s.p, s.n, w->text.p, w->text.n);
    case JEMALLOC:
        return signs & SP_SIGN_JEMALLOC && owner_begins(s, w->text);
    case TCMALLOC:
        return signs & SP_SIGN_TCMALLOC && owner_begins(s, w->text);
    case GO:
        return is_package(s, w->text);
    default:
        return owner_begins(s, w->text);
    }
}

static bool owner_look_up(const struct sp_owner_names *t, enum group g, struct sp_str s, unsigned signs,
                          enum sp_owner_kind *kind)
{
    for (uint16_t i = t->first[g][chain_of(g, s)]; i; i = t->words.v[i - 1].next) {
        if (!owner_fits(&t->words.v[i - 1], s, signs))
            continue;
        *kind = (enum sp_owner_kind)t->words.v[i - 1].kind;
        return true;
    }
    return false;
}

/* ---- signs ---- */

unsigned sp_owner_signs(struct sp_str name)
{
    static const struct {
        const char *text;
        unsigned sign;
    } signs[] = {{"runtime.", SP_SIGN_GO},
                 {"main.main", SP_SIGN_GO},
                 {"__rust_", SP_SIGN_RUST},
                 {"_$LT$", SP_SIGN_RUST},
                 {"_RN", SP_SIGN_RUST},
                 {"_RIN", SP_SIGN_RUST},
                 {"_ZN3std2rt", SP_SIGN_RUST},
                 {"_ZN4core3", SP_SIGN_RUST},
                 {"_ZN5alloc", SP_SIGN_RUST},
                 {"rust_begin_unwind", SP_SIGN_RUST},
                 {"std::rt::", SP_SIGN_RUST},
                 {"std::panicking::", SP_SIGN_RUST},
                 {"std::sys::", SP_SIGN_RUST},
                 {"core::fmt::", SP_SIGN_RUST},
                 {"core::iter::", SP_SIGN_RUST},
                 {"core::ops::function::", SP_SIGN_RUST},
                 {"core::panicking::", SP_SIGN_RUST},
                 {"alloc::alloc::", SP_SIGN_RUST},
                 {"alloc::raw_vec::", SP_SIGN_RUST},
                 {"alloc::vec::", SP_SIGN_RUST},
                 {"alloc::string::", SP_SIGN_RUST},
                 {"<alloc::", SP_SIGN_RUST},
                 {"<core::", SP_SIGN_RUST},
                 {"<std::", SP_SIGN_RUST},
                 {"_rjem_", SP_SIGN_JEMALLOC},
                 {"je_malloc", SP_SIGN_JEMALLOC},
                 {"je_calloc", SP_SIGN_JEMALLOC},
                 {"je_prof_", SP_SIGN_JEMALLOC},
                 {"prof_backtrace_impl", SP_SIGN_JEMALLOC},
                 {"prof_alloc_prep", SP_SIGN_JEMALLOC},
                 {"prof_tctx_create", SP_SIGN_JEMALLOC},
                 {"imalloc_body", SP_SIGN_JEMALLOC},
                 {"tcmalloc::", SP_SIGN_TCMALLOC},
                 {"tc_malloc", SP_SIGN_TCMALLOC},
                 {"tc_new", SP_SIGN_TCMALLOC},
                 {"MallocHook::", SP_SIGN_TCMALLOC},
                 {"TCMallocInternal", SP_SIGN_TCMALLOC}};
    if (!name.n || !strchr("rm_sca<jpitMT", name.p[0]))
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (name.p[0] != signs[i].text[0])
            continue;
        size_t n = strlen(signs[i].text);
        if (name.n >= n && memcmp(name.p, signs[i].text, n) == 0)
            return signs[i].sign;
    }
    return 0;
}

/* ---- names ---- */

static bool has(struct sp_str s, const char *any)
{
    for (uint32_t i = 0; i < s.n; i++)
        if (strchr(any, s.p[i]))
            return true;
    return false;
}

static struct sp_str before(struct sp_str s, char c)
{
    const char *at = s.n > 1 ? memchr(s.p + 1, c, s.n - 1) : NULL;
    return at ? (struct sp_str){s.p, (uint32_t)(at - s.p)} : s;
}

/* As its programmer wrote it, where it is still as the linker has it: lent until the next call. */
static struct sp_str owner_demangled(struct sp_owner_names *t, struct sp_str s)
{
    if (s.n < 3 || s.p[0] != '_' || (s.p[1] != 'Z' && s.p[1] != 'R' && s.p[1] != '_'))
        return s;
    sp_buf_clear(&t->mangled);
    sp_buf_clear(&t->demangled);
    sp_buf_add(&t->mangled, s.p, s.n);
    if (!sp_demangle(sp_buf_cstr(&t->mangled), &t->demangled))
        return s;
    return (struct sp_str){sp_buf_text(&t->demangled), (uint32_t)t->demangled.len};
}

static bool rust_impl(const struct sp_owner_names *t, struct sp_str name, enum sp_owner_kind *kind)
{
    struct sp_str type, trait;
    enum sp_owner_kind of_type = SP_MAY_OWN, of_trait = SP_MAY_OWN;
    if (name.n < 3 || name.p[0] != '<' || !sp_own_impl(name, &type, &trait))
        return false;
    if (trait.n && owner_look_up(t, TRAITS, trait, 0, kind))
        return true;
    bool by_type = !type.n || owner_look_up(t, RUST_PATHS, type, 0, &of_type);
    bool by_trait = !trait.n || owner_look_up(t, RUST_PATHS, trait, 0, &of_trait);
    if (!by_type || !by_trait || (!type.n && !trait.n))
        return false;
    *kind = type.n ? of_type : of_trait;
    return true;
}

static bool go_name(const struct sp_owner_names *t, struct sp_str name, enum sp_owner_kind *kind)
{
    struct sp_str package = sp_own_go_package(name);
    return owner_look_up(t, GO_NAMES, name, 0, kind) ||
           (package.n && owner_look_up(t, PACKAGES, package, 0, kind));
}

static bool owner_plain(const struct sp_owner_names *t, struct sp_str plain, unsigned signs,
                        enum sp_owner_kind *kind)
{
    return owner_look_up(t, NAMES, plain, signs, kind) || owner_look_up(t, ENDINGS, plain, 0, kind) ||
           (signs & SP_SIGN_RUST && owner_look_up(t, RUST_PATHS, plain, 0, kind));
}

bool sp_owner_by_name(struct sp_owner_names *t, struct sp_str name, unsigned signs, enum sp_owner_kind *out)
{
    struct sp_redacted_name hidden;
    if (sp_redacted_name(name, &hidden)) {
        *out = hidden.kind;
        return true;
    }
    *out = SP_MAY_OWN;
    if (name.n && name.p[0] == '(' && owner_look_up(t, NAMES, name, signs, out))
        return true;                              /* (program), which has no plain name */
    name = owner_demangled(t, before(name, '@')); /* malloc@plt, malloc@@GLIBC_2.2.5 */
    if ((signs & SP_SIGN_GO && go_name(t, name, out)) || rust_impl(t, name, out))
        return true;
    struct sp_str plain = name;
    if (has(name, "<({[ $")) {
        sp_buf_clear(&t->plain);
        sp_own_plain_name(&t->plain, name);
        plain = (struct sp_str){sp_buf_text(&t->plain), (uint32_t)t->plain.len};
    }
    if (owner_plain(t, plain, signs, out) || (plain.p != name.p && rust_impl(t, plain, out)))
        return true;                         /* rust_impl: `_$LT$…` is readable only now */
    struct sp_str bare = before(plain, '.'); /* malloc.part.0 */
    return bare.n < plain.n && !(signs & SP_SIGN_GO) && !memmem(bare.p, bare.n, "::", 2) &&
           owner_plain(t, bare, signs, out);
}

enum sp_owner_kind sp_owner_by_binary(const struct sp_owner_names *t, struct sp_str base)
{
    enum sp_owner_kind kind = SP_MAY_OWN;
    owner_look_up(t, BINARIES, base, 0, &kind);
    return kind;
}

enum sp_owner_kind sp_owner_by_source(const struct sp_owner_names *t, struct sp_str file)
{
    enum sp_owner_kind kind = SP_MAY_OWN;
    owner_look_up(t, SOURCES, file, 0, &kind);
    return kind;
}

/* ---- what of a path is text of the table ---- */

void sp_owner_cover_source(struct sp_str file, unsigned char *of)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        for (const char *p = rules[i].words; rules[i].how == HOLDS && *p;) {
            size_t n = strcspn(p, "|");
            const char *at = file.n ? memmem(file.p, file.n, p, n) : NULL;
            if (at)
                memset(of + (at - file.p), 1, n);
            p += n + (p[n] == '|');
        }
    }
}

uint32_t sp_owner_cover_binary(struct sp_str base)
{
    uint32_t longest = 0;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        bool whole = rules[i].how == BINARY;
        for (const char *p = rules[i].words; (whole || rules[i].how == LIBRARY) && *p;) {
            uint32_t n = (uint32_t)strcspn(p, "|");
            if (n > longest && (whole ? base.n == n : base.n >= n) && memcmp(base.p, p, n) == 0)
                longest = n;
            p += n + (p[n] == '|');
        }
    }
    return longest;
}
